//! Arrays that are only read element by element. Every reader computes its element itself.

use super::replaced::{Moved, Reader, Replaced, Writes};
use crate::cheap;
use crate::effects::FunctionEffects;
use crate::limits::{STATEMENTS_OF_A_REPEATED_ELEMENT, STATEMENTS_OF_AN_ELEMENT};
use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Lambda, Output, Program, Statement, Variable,
};
use nova_flat::visit::{
    Substitution, binders, bodies, count_uses, each_statement, fresh_copy, holds_strategies, size,
    substitute, used_variables,
};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The number of uses of each variable, and of its uses as an array that is indexed, in the
/// functions so far. There is one for all functions, because the tables are as long as the program.
#[derive(Default)]
pub(super) struct Counts {
    uses: Vec<u32>,
    reads: Vec<u32>,
}

/// Makes readers compute elements in a function. Adds the function's uses to `counts`.
pub(super) fn run(
    program: &mut Program,
    (effects, replaced): (&FunctionEffects, &Replaced),
    counts: &mut Counts,
    body: &mut Body,
) {
    count_uses(program, body, &mut counts.uses);
    let reads = &mut counts.reads;
    reads.resize(program.variables.len(), 0);
    each_statement(body, &mut |statement| {
        if let Expression::Index { array, .. } = &statement.expression
            && let Some(count) = reads.get_mut(array.0 as usize)
        {
            *count += 1;
        }
    });
    let mut walk = Elements {
        program,
        effects,
        replaced,
        counts,
        known: HashMap::new(),
        loops: Vec::new(),
        open: Vec::new(),
    };
    walk.body(body);
}

/// The computation of the elements of an array, and the position of the operation that computes
/// them.
#[derive(Clone)]
struct Element {
    place: Stand,
    code: Code,
}

/// The position of a statement in the bodies being walked.
#[derive(Clone, Copy)]
struct Stand {
    /// The number of bodies that enclose it.
    level: usize,
    /// Its position in the innermost of them.
    place: usize,
}

/// The code that computes the elements of an array.
#[derive(Clone)]
enum Code {
    /// A few statements, which every reader copies.
    Copied {
        indices: Rc<[Variable]>,
        body: Rc<Body>,
    },
    /// The operation itself, which `depth` loops enclose. Its only reader takes it away from there,
    /// so that nothing is computed twice.
    Moved { depth: usize },
}

/// A loop that encloses a statement.
enum Loop {
    /// An array operation.
    Operation {
        indices: Vec<Variable>,
        /// The variables that its iterations bind, indices included.
        bound: Vec<Variable>,
        /// The arrays that it writes over.
        writes: Writes,
    },
    /// Another construct that runs a body several times.
    Other,
}

struct Elements<'a> {
    program: &'a mut Program,
    effects: &'a FunctionEffects,
    replaced: &'a Replaced,
    counts: &'a Counts,
    known: HashMap<Variable, Element>,
    loops: Vec<Loop>,
    /// The statements so far of the bodies being walked, outermost first. A statement that was
    /// moved leaves `None`.
    open: Vec<Vec<Option<Statement>>>,
}

impl Elements<'_> {
    fn body(&mut self, body: &mut Body) {
        let statements = std::mem::take(&mut body.statements);
        self.open.push(Vec::with_capacity(statements.len()));
        for mut statement in statements {
            self.inner(&mut statement.expression);
            self.note(&statement);
            self.read(&mut statement);
            self.add([statement]);
        }
        let statements = self.open.pop().into_iter().flatten().flatten();
        body.statements.extend(statements);
    }

    /// Adds statements to the innermost body.
    fn add(&mut self, statements: impl IntoIterator<Item = Statement>) {
        if let Some(out) = self.open.last_mut() {
            out.extend(statements.into_iter().map(Some));
        }
    }

    fn inner(&mut self, expression: &mut Expression) {
        let mut bound = Vec::new();
        binders(expression, &mut |variable| bound.push(*variable));
        match expression {
            Expression::Operation(operation) => {
                // Code outside an operation with a strategy is not fused with it.
                let outside = operation
                    .is_marked()
                    .then(|| std::mem::take(&mut self.known));
                let enclosing = Loop::Operation {
                    indices: operation.indices.clone(),
                    bound,
                    writes: self.replaced.writes(operation),
                };
                self.within(enclosing, &mut operation.body);
                if let Some(outside) = outside {
                    self.known = outside;
                }
                for output in &mut operation.outputs {
                    if let Some(lambda) = output.lambda_mut() {
                        self.within(Loop::Other, &mut lambda.body);
                    }
                }
            }
            Expression::Sort {
                compare: Lambda { body, .. },
                ..
            } => self.within(Loop::Other, body),
            Expression::While {
                condition, body, ..
            } => {
                self.within(Loop::Other, condition);
                self.within(Loop::Other, body);
            }
            other => nova_flat::visit::bodies_mut(other, &mut |body| deep(|| self.body(body))),
        }
    }

    fn within(&mut self, enclosing: Loop, body: &mut Body) {
        self.loops.push(enclosing);
        deep(|| self.body(body));
        self.loops.pop();
    }

    /// Notes the arrays of an operation that need not be made.
    fn note(&mut self, statement: &Statement) {
        let Expression::Operation(operation) = &statement.expression else {
            return;
        };
        let is_only_read = |array: &Variable| {
            let uses = self
                .counts
                .uses
                .get(array.index())
                .copied()
                .unwrap_or_default();
            uses > 0 && self.counts.reads.get(array.index()) == Some(&uses)
        };
        if !operation.carries.is_empty()
            || operation.is_marked()
            || !statement.pattern.iter().any(is_only_read)
            || !self.effects.of_body(&operation.body).is_pure()
            || holds_strategies(&operation.body)
        {
            return;
        }
        let mut known = Vec::new();
        let mut given = statement.pattern.iter();
        let mut consumed = operation.body.results.iter();
        for output in &operation.outputs {
            let arrays: Vec<_> = given.by_ref().take(output.gives()).collect();
            let values: Vec<_> = consumed.by_ref().take(output.consumes()).collect();
            if let (Output::Map, [array], [value]) = (output, &arrays[..], &values[..])
                && is_only_read(array)
                && let Some(element) = self.element(**array, **value, operation)
            {
                known.push((**array, element));
            }
        }
        self.known.extend(known);
    }

    /// Returns the way in which readers compute the elements of one of an operation's arrays, if
    /// they should.
    fn element(&self, array: Variable, value: Atom, operation: &ArrayOperation) -> Option<Element> {
        let place = Stand {
            level: self.open.len(),
            place: self.open.last().map_or(0, Vec::len),
        };
        if let Some(body) =
            slice(&operation.body, value, STATEMENTS_OF_A_REPEATED_ELEMENT).filter(is_cheap)
        {
            let indices = operation.indices.clone().into();
            let code = Code::Copied {
                indices,
                body: Rc::new(body),
            };
            return Some(Element { place, code });
        }
        let only = operation.outputs.len() == 1 && self.counts.uses.get(array.index()) == Some(&1);
        (only && size(&operation.body) <= STATEMENTS_OF_AN_ELEMENT).then(|| Element {
            place,
            code: Code::Moved {
                depth: self.loops.len(),
            },
        })
    }

    /// Computes the element that a statement reads.
    fn read(&mut self, statement: &mut Statement) {
        let Expression::Index { array, indices } = &statement.expression else {
            return;
        };
        let Some(Element { place, code }) = self.known.get(array) else {
            return;
        };
        let place = *place;
        let found = match code {
            Code::Copied {
                indices: from,
                body,
            } => {
                let moved = Moved {
                    body,
                    from,
                    at: indices,
                };
                let stays = self.is_written_over(&moved, place);
                let (from, body) = (from.clone(), body.clone());
                let mut substitution = arguments(&from, indices);
                (!stays).then(|| fresh_copy(self.program, &body, &mut substitution))
            }
            Code::Moved { depth } => {
                let stays = !self.runs_once_each(*depth, place, indices)
                    || self.would_be_written_over(place, indices);
                if stays {
                    return;
                }
                self.known.remove(array);
                self.take(place, indices)
            }
        };
        let Some(mut code) = found else {
            return;
        };
        let Some(value) = code.results.first().copied() else {
            return;
        };
        for between in self.following(place) {
            self.replaced.follow(&mut code, between);
        }
        self.add(std::mem::take(&mut code.statements));
        statement.expression = Expression::Atom(value);
    }

    /// Returns the statements so far that follow a position.
    fn following(&self, place: Stand) -> impl Iterator<Item = &Statement> {
        let outer = place.level.saturating_sub(1);
        let bodies = self.open.iter().enumerate().skip(outer);
        let statements = bodies.flat_map(move |(level, body)| {
            let first = if level == outer { place.place + 1 } else { 0 };
            body.iter().skip(first)
        });
        statements.flatten()
    }

    /// Returns the operation at a position.
    fn operation_at(&self, place: Stand) -> Option<&ArrayOperation> {
        let body = self.open.get(place.level.checked_sub(1)?)?;
        match &body.get(place.place)?.as_ref()?.expression {
            Expression::Operation(operation) => Some(operation),
            _others => None,
        }
    }

    /// True if an enclosing loop, or a statement after the origin of code, writes over arrays that
    /// the code reads.
    fn is_written_over(&self, code: &Moved<'_>, place: Stand) -> bool {
        let by_loop = self.loops.iter().any(|enclosing| match enclosing {
            Loop::Operation { writes, .. } => self.replaced.reads_what_changes(code, writes),
            Loop::Other => false,
        });
        let is_passed = |between| self.replaced.is_passed(Reader::Body(code.body), between);
        by_loop || self.following(place).any(is_passed)
    }

    /// Does the same for the operation at a position.
    fn would_be_written_over(&self, place: Stand, at: &[Atom]) -> bool {
        self.operation_at(place).is_some_and(|operation| {
            let code = Moved {
                body: &operation.body,
                from: &operation.indices,
                at,
            };
            self.is_written_over(&code, place)
        })
    }

    /// Takes away an operation. Returns the code of its element at these indices.
    fn take(&mut self, place: Stand, indices: &[Atom]) -> Option<Body> {
        let body = self.open.get_mut(place.level.checked_sub(1)?)?;
        let slot = body.get_mut(place.place)?;
        let Expression::Operation(operation) = slot.take()?.expression else {
            return None;
        };
        let mut body = operation.body;
        let substitution = arguments(&operation.indices, indices);
        substitute(self.program, &mut body, &substitution);
        Some(body)
    }

    /// True if a read inside the loops from `depth` on reads each element at most once. Every index
    /// of those loops must be an index of the read, perhaps plus terms that these loops do not
    /// change.
    fn runs_once_each(&self, depth: usize, place: Stand, indices: &[Atom]) -> bool {
        let loops = self.loops.get(depth..).unwrap_or_default();
        let is_changed = |variable: &Variable| {
            let by_loop = loops.iter().any(|enclosing| match enclosing {
                Loop::Operation { bound, .. } => bound.contains(variable),
                Loop::Other => true,
            });
            let inside = self.open.get(place.level..).unwrap_or_default();
            let mut statements = inside.iter().flatten().flatten();
            by_loop || statements.any(|s| s.pattern.contains(variable))
        };
        let is_read = |index: &Variable| {
            indices.contains(&Atom::Variable(*index))
                || indices.iter().any(|number| {
                    let added = self.replaced.added_to(*index, *number);
                    added.is_some_and(|added| !added.iter().any(is_changed))
                })
        };
        loops.iter().all(|enclosing| match enclosing {
            Loop::Other => false,
            Loop::Operation { indices: own, .. } => own.iter().all(is_read),
        })
    }
}

/// Returns the substitution of an operation's indices by those of an element.
fn arguments(indices: &[Variable], atoms: &[Atom]) -> Substitution {
    let mut substitution = Substitution::default();
    for (index, atom) in indices.iter().zip(atoms) {
        substitution.insert(*index, *atom);
    }
    substitution
}

/// Returns the statements of a body that one of its results needs, and that result. Returns `None`
/// where there are more than `largest`.
fn slice(body: &Body, result: Atom, largest: usize) -> Option<Body> {
    let mut needed = HashSet::new();
    if let Atom::Variable(variable) = result {
        needed.insert(variable);
    }
    let mut statements = Vec::new();
    for statement in body.statements.iter().rev() {
        if statement.pattern.iter().any(|v| needed.contains(v)) {
            if statements.len() == largest {
                return None;
            }
            add_uses(&statement.expression, &mut needed);
            statements.push(statement.clone());
        }
    }
    statements.reverse();
    Some(Body {
        statements,
        results: vec![result],
    })
}

/// Adds the variables that an expression uses, in its bodies too.
fn add_uses(expression: &Expression, used: &mut HashSet<Variable>) {
    used_variables(expression, &mut |v| {
        used.insert(v);
    });
    bodies(expression, &mut |body| {
        deep(|| {
            for statement in &body.statements {
                add_uses(&statement.expression, used);
            }
        });
        used.extend(body.results.iter().filter_map(|atom| atom.as_variable()));
    });
}

/// True if computing an element again costs less than keeping it in memory.
fn is_cheap(body: &Body) -> bool {
    if size(body) > STATEMENTS_OF_A_REPEATED_ELEMENT {
        return false;
    }
    let mut cheap = true;
    each_statement(body, &mut |statement| {
        cheap &= is_cheap_expression(&statement.expression);
    });
    cheap
}

fn is_cheap_expression(expression: &Expression) -> bool {
    match expression {
        Expression::If { .. } => true,
        Expression::View { .. } => false,
        other => cheap::is_cheap(other),
    }
}
