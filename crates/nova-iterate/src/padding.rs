//! Reads of a padded vector read the vector itself, or its padding. A program may write a stencil over a vector that
//! has become longer at its ends, `(concat [a a] (concat X [b b]))`, so that no index needs a clamp.
//!
//! ```text
//! P = concat [[a a] X [b b]]                  map i { f(X[i - 1], …) }, with
//! map i { f(P[i + 1], …) }            ⇒       P[i + 1] = if i + 1 < 2 { a } else
//!                                                        { if i + 1 < n + 2 { X[i - 1] } else { b } }
//! ```
//!
//! The longer vector is then neither written nor read. Later passes split the loop at its ends, where the conditions
//! change, and in the middle no condition is left.
//!
//! All reads must be at the index of an operation plus a constant. Other conditions would stay in the loop, where
//! they may cost more than the copy.

use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, Program, Variable};
use nova_flat::visit::{bodies_mut, count_uses, each_function, each_statement};
use nova_schedule::{Parallelism, Writer};
use std::collections::{HashMap, HashSet};

/// Rewrites the reads of padded vectors in every function.
pub fn run(program: &mut Program) {
    each_function(program, |program, body| {
        // A padded vector may itself be part of one, whose reads become reads of it.
        while let Some((array, pieces)) = Facts::of(program, body).replaceable(program, body) {
            rewrite(program, array, &pieces, body);
        }
    });
}

/// A part of a vector that is put together.
#[derive(Clone)]
struct Piece {
    array: Variable,
    extent: Atom,
    /// The element, if all elements are this one.
    element: Option<Atom>,
}

/// The plain indices and the padded vectors of a function.
#[derive(Default)]
struct Facts {
    /// The indices of operations, and the numbers that are one plus a constant.
    plain: HashSet<Variable>,
    /// The padded vectors, with their pieces, in the order in which they are bound.
    padded: Vec<(Variable, Vec<Piece>)>,
}

impl Facts {
    fn of(program: &Program, body: &Body) -> Facts {
        let mut facts = Facts::default();
        let mut elements: HashMap<Variable, Atom> = HashMap::new();
        each_statement(body, &mut |statement| {
            if let Expression::Operation(operation) = &statement.expression {
                facts.plain.extend(&operation.indices);
            }
            let [variable] = statement.pattern[..] else {
                return;
            };
            match &statement.expression {
                Expression::Scalar {
                    operation,
                    operand,
                    arguments,
                } if operand.is_integer() && facts.is_plain(*operation, arguments) => {
                    facts.plain.insert(variable);
                }
                Expression::Literal { elements: all, .. } => {
                    if let Some((first, others)) = all.split_first()
                        && others.iter().all(|other| other == first)
                    {
                        elements.insert(variable, *first);
                    }
                }
                Expression::Replicate { value, .. } => {
                    elements.insert(variable, *value);
                }
                Expression::Concat { arrays, .. } => {
                    let pieces = arrays.iter().map(|array| Piece {
                        array: *array,
                        extent: program
                            .ty(*array)
                            .shape()
                            .first()
                            .copied()
                            .unwrap_or(Atom::index(0)),
                        element: elements.get(array).copied(),
                    });
                    let pieces: Vec<Piece> = pieces.collect();
                    let long = pieces.iter().filter(|p| p.extent.as_i64().is_none());
                    if long.count() == 1 {
                        facts.padded.push((variable, pieces));
                    }
                }
                _others => {}
            }
        });
        facts
    }

    /// Returns the last vector of which all uses are reads that are replaced.
    fn replaceable(mut self, program: &Program, body: &Body) -> Option<(Variable, Vec<Piece>)> {
        let mut counts = Vec::new();
        count_uses(program, body, &mut counts);
        while let Some((array, pieces)) = self.padded.pop() {
            let uses = counts.get(array.index()).copied().unwrap_or_default();
            if uses > 0 && self.plain_reads(array, body) == uses {
                return Some((array, pieces));
            }
        }
        None
    }

    /// True if an operation on integers gives the index of an operation plus a constant.
    fn is_plain(&self, operation: ScalarOperation, arguments: &[Atom]) -> bool {
        let plain = |atom: &Atom| atom.as_variable().is_some_and(|v| self.plain.contains(&v));
        match (operation, arguments) {
            (ScalarOperation::Convert(_) | ScalarOperation::Wrap(_), [only]) => plain(only),
            (ScalarOperation::Add, [a, Atom::Constant(_)] | [Atom::Constant(_), a])
            | (ScalarOperation::Subtract, [a, Atom::Constant(_)]) => plain(a),
            _others => false,
        }
    }

    /// Returns the number of reads of a vector at the index of an operation plus a constant.
    fn plain_reads(&self, array: Variable, body: &Body) -> u32 {
        let mut reads = 0;
        each_statement(body, &mut |statement| {
            if let Expression::Index {
                array: read,
                indices,
            } = &statement.expression
                && let ([Atom::Variable(index)], true) = (&indices[..], *read == array)
            {
                reads += u32::from(self.plain.contains(index));
            }
        });
        reads
    }
}

/// Replaces the reads of a padded vector, and drops it.
fn rewrite(program: &mut Program, array: Variable, pieces: &[Piece], body: &mut Body) {
    for mut statement in std::mem::take(&mut body.statements) {
        if statement.pattern == [array] {
            continue;
        }
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| rewrite(program, array, pieces, inner));
        });
        let read = match &statement.expression {
            Expression::Index {
                array: read,
                indices,
            } if *read == array => indices.first().copied(),
            _others => None,
        };
        if let Some(index) = read {
            let scalar = program.ty(array).element();
            let mut code = Writer::new(program, statement.place.clone(), Parallelism::DEFAULT);
            let value = element(&mut code, pieces, scalar, index, Atom::index(0));
            body.statements.append(&mut code.out);
            statement.expression = Expression::Atom(value);
        }
        body.statements.push(statement);
    }
}

/// Writes the element at an index of pieces, of which the first one begins at `start`. The index is in range.
fn element(
    code: &mut Writer<'_>,
    pieces: &[Piece],
    scalar: Scalar,
    index: Atom,
    start: Atom,
) -> Atom {
    let Some((piece, others)) = pieces.split_first() else {
        return Atom::Constant(ScalarValue::from_integer_wrapping(scalar, 0));
    };
    let own = |code: &mut Writer<'_>| match piece.element {
        Some(element) => element,
        None => {
            let at = code.scalar(ScalarOperation::Subtract, index, start);
            code.element(piece.array, at)
        }
    };
    if others.is_empty() {
        return own(code);
    }
    let end = code.scalar(ScalarOperation::Add, start, piece.extent);
    let inside = code.compare(ScalarOperation::Less, index, end);
    code.choose_one(inside, scalar, own, |code| {
        deep(|| element(code, others, scalar, index, end))
    })
}
