//! Distances of numbers from an index. The analysis follows sums with small numbers, and minima, maxima
//! and choices of numbers whose distance is known. So `max 0 (min (i - 1) (n - 1))` lies between `i -
//! 1` and `i`, where `i` runs up to `n - 1`.

use crate::limits::NESTED_DEFINITIONS;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{Atom, Body, Expression, Program, Statement, Type, Variable, View};
use nova_flat::visit::each_statement;
use nova_machine::figures;
use nova_symbolic::{Interval, Shifted};
use std::collections::HashMap;

/// Distances beyond this are given up.
pub(super) const FAR: i64 = figures::STENCILS.far;

/// The definition of a variable.
#[derive(Debug)]
enum Definition {
    Scalar {
        operation: ScalarOperation,
        operand: Scalar,
        arguments: Vec<Atom>,
    },
    /// One of these atoms.
    Choice(Vec<Atom>),
    /// A view whose elements are not contiguous as those of an array are.
    Scattered,
}

/// The definitions of the variables of a program.
#[derive(Debug, Default)]
pub(crate) struct Definitions(HashMap<Variable, Definition>);

impl Definitions {
    /// Adds the definitions in a body, and in all bodies in it.
    pub(crate) fn add(&mut self, body: &Body) {
        each_statement(body, &mut |statement| self.add_statement(statement));
    }

    fn add_statement(&mut self, statement: &Statement) {
        let mut choices = |bodies: &[&Body]| {
            for (k, variable) in statement.pattern.iter().enumerate() {
                let results = bodies.iter().map(|body| body.results.get(k).copied());
                if let Some(results) = results.collect() {
                    self.0.insert(*variable, Definition::Choice(results));
                }
            }
        };
        match &statement.expression {
            Expression::If {
                then, otherwise, ..
            } => return choices(&[then, otherwise]),
            Expression::Switch { cases, .. } => {
                return choices(&cases.iter().collect::<Vec<_>>());
            }
            _one_result => {}
        }
        let definition = match &statement.expression {
            Expression::Atom(atom) => Definition::Choice(vec![*atom]),
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => Definition::Scalar {
                operation: *operation,
                operand: *operand,
                arguments: arguments.clone(),
            },
            Expression::View {
                view: View::Slice(_) | View::Transpose(_),
                ..
            } => Definition::Scattered,
            _nothing_is_known => return,
        };
        if let [variable] = statement.pattern[..] {
            self.0.insert(variable, definition);
        }
    }

    /// True if an array is a view whose elements may not be contiguous.
    pub(super) fn is_scattered(&self, array: Variable) -> bool {
        matches!(self.0.get(&array), Some(Definition::Scattered))
    }
}

/// A variable, or 0, and a number that is added to it.
pub(super) type Sum = Shifted<Variable>;

/// Forgets distances that are too far.
fn near(distances: Interval) -> Interval {
    let is_near = |distance: &i128| (-i128::from(FAR)..=FAR.into()).contains(distance);
    Interval {
        least: distances.least.filter(is_near),
        most: distances.most.filter(is_near),
    }
}

/// Returns the distances of the sum with a number. The sum may overflow on the side on which nothing is
/// known.
fn shifted(distances: Interval, number: i64) -> Interval {
    let bounded = match number >= 0 {
        true => distances.most,
        false => distances.least,
    };
    match bounded {
        Some(_) => distances.plus_number(number.into()),
        None => Interval::default(),
    }
}

/// Facts about numbers in the body of an operation. They hold if extents are small enough that slightly
/// larger numbers fit their type.
pub(super) struct Ranges<'a> {
    program: &'a Program,
    definitions: &'a Definitions,
    /// True if something is computed in 32 bits.
    pub(super) narrow: bool,
}

impl<'a> Ranges<'a> {
    pub(super) fn new(program: &'a Program, definitions: &'a Definitions) -> Ranges<'a> {
        Ranges {
            program,
            definitions,
            narrow: false,
        }
    }

    /// Returns the type of a variable.
    pub(super) fn type_of(&self, variable: Variable) -> &'a Type {
        self.program.ty(variable)
    }

    /// Returns a number as a variable and a number that is added to it. The variable is not known to be
    /// such a sum itself.
    pub(super) fn sum(&mut self, atom: Atom) -> Option<Sum> {
        let (mut atom, mut number) = (atom, 0i64);
        for _ in 0..NESTED_DEFINITIONS {
            let variable = match atom {
                Atom::Constant(value) => {
                    let value = i64::try_from(value.as_integer()?).ok()?;
                    return Sum::constant(value).plus(number);
                }
                Atom::Variable(variable) => variable,
            };
            let (next, more) = match self.definitions.0.get(&variable) {
                Some(Definition::Scalar {
                    operation,
                    operand,
                    arguments,
                }) => match self.shift(*operation, *operand, arguments) {
                    Some(shift) => shift,
                    None => return Sum::variable(variable).plus(number),
                },
                Some(Definition::Choice(atoms)) => match atoms[..] {
                    [same] => (same, 0),
                    _ => return Sum::variable(variable).plus(number),
                },
                Some(Definition::Scattered) | None => return Sum::variable(variable).plus(number),
            };
            atom = next;
            number = number.checked_add(more)?;
            if !(-FAR..=FAR).contains(&number) {
                return None;
            }
        }
        None
    }

    /// Returns the atom and the number that an operation adds.
    fn shift(
        &mut self,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: &[Atom],
    ) -> Option<(Atom, i64)> {
        let number = |atom: &Atom| match atom {
            Atom::Constant(value) => i64::try_from(value.as_integer()?).ok(),
            Atom::Variable(_) => None,
        };
        if !self.is_plain(operand) {
            return None;
        }
        match (operation, arguments) {
            (ScalarOperation::Add, [one, other]) => match (number(one), number(other)) {
                (_, Some(number)) => Some((*one, number)),
                (Some(number), None) => Some((*other, number)),
                (None, None) => None,
            },
            (ScalarOperation::Subtract, [one, other]) => {
                Some((*one, number(other)?.checked_neg()?))
            }
            // The conversion is defined only if the number fits that type.
            (ScalarOperation::Convert(to), [same]) if self.is_plain(to) => Some((*same, 0)),
            _other_operations => None,
        }
    }

    /// True if numbers of a type are signed integers of 32 or 64 bits.
    fn is_plain(&mut self, scalar: Scalar) -> bool {
        self.narrow |= scalar == Scalar::I32;
        matches!(scalar, Scalar::I32 | Scalar::I64)
    }

    /// Computes the range of a number relative to an index that runs from 0 up to an extent.
    pub(super) fn range(&mut self, atom: Atom, index: Variable, extent: Option<Sum>) -> Interval {
        self.range_in(atom, (index, extent), NESTED_DEFINITIONS)
    }

    fn range_in(
        &mut self,
        atom: Atom,
        (index, extent): (Variable, Option<Sum>),
        depth: usize,
    ) -> Interval {
        let known = match (self.sum(atom), extent) {
            (Some(sum), _) if sum.root == Some(index) => Interval::exactly(sum.offset.into()),
            // If there is an index, it is at most the extent less 1, and at least 0.
            (Some(sum), Some(extent)) if sum.root == extent.root => Interval {
                least: Some(i128::from(sum.offset) - i128::from(extent.offset) + 1),
                most: sum.root.is_none().then_some(sum.offset.into()),
            },
            (Some(Sum { root: None, offset }), _) => Interval {
                least: None,
                most: Some(offset.into()),
            },
            (Some(_) | None, _) => Interval::default(),
        };
        let known = near(known);
        if known != Interval::default() || depth == 0 {
            return known;
        }
        let Atom::Variable(variable) = atom else {
            return known;
        };
        let definitions = self.definitions;
        let of = |ranges: &mut Self, atom: Atom| ranges.range_in(atom, (index, extent), depth - 1);
        let range = match definitions.0.get(&variable) {
            Some(Definition::Choice(atoms)) => {
                let mut all = atoms.iter().map(|atom| of(self, *atom));
                let first = all.next().unwrap_or_default();
                all.fold(first, Interval::hull)
            }
            Some(Definition::Scalar {
                operation,
                operand,
                arguments,
            }) => match (operation, &arguments[..]) {
                (ScalarOperation::Minimum, [a, b]) if self.is_plain(*operand) => {
                    of(self, *a).minimum(of(self, *b))
                }
                (ScalarOperation::Maximum, [a, b]) if self.is_plain(*operand) => {
                    of(self, *a).maximum(of(self, *b))
                }
                _sum => match self.shift(*operation, *operand, arguments) {
                    Some((atom, number)) => shifted(of(self, atom), number),
                    None => Interval::default(),
                },
            },
            Some(Definition::Scattered) | None => Interval::default(),
        };
        near(range)
    }
}
