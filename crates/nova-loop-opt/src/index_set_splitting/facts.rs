//! Facts about integers, collected while a function is walked: each integer is a root plus a
//! constant, roots have ranges, and the index of a loop lies below the loop's count.

use nova_core::{Scalar, ScalarValue};
use nova_loop::ir::{Expression, Program, Type, Variable};
use nova_symbolic::{Interval, Shifted};

/// An integer that is a root, if it has one, plus a constant. Roots are variables that are never assigned
/// again.
pub(super) type Integer = Shifted<Variable>;

/// Facts about a variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Its value in terms of another variable.
    pub(super) definition: Integer,
    /// The interval of its values.
    pub(super) range: Interval,
    /// Another upper bound.
    pub(super) at_most: Option<Integer>,
}

/// Facts about all variables, with a log by which to forget the facts from a list of commands.
pub(super) struct Facts {
    known: Vec<Option<Known>>,
    log: Vec<(Variable, Option<Known>)>,
}

impl Facts {
    /// Returns an empty set of facts.
    pub(super) fn new(count: usize) -> Facts {
        Facts {
            known: vec![None; count],
            log: Vec::new(),
        }
    }

    /// Returns the current position in the log.
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Forgets all facts added since `mark`.
    pub(super) fn forget(&mut self, mark: usize) {
        while self.log.len() > mark {
            if let Some((variable, known)) = self.log.pop() {
                self.known[variable.index()] = known;
            }
        }
    }

    /// Returns the facts about a variable.
    pub(super) fn get(&self, variable: Variable) -> Option<&Known> {
        self.known.get(variable.index())?.as_ref()
    }

    fn set(&mut self, variable: Variable, known: Known) {
        if self.known.len() <= variable.index() {
            self.known.resize(variable.index() + 1, None);
        }
        let old = self.known[variable.index()].replace(known);
        self.log.push((variable, old));
    }

    /// Makes an integer variable that is never assigned again a root.
    pub(super) fn add_root(&mut self, program: &Program, variable: Variable) {
        if let Type::Scalar(scalar) = program.variable(variable).ty
            && let Some(range) = range_of(scalar)
        {
            let definition = Integer::variable(variable);
            self.set(
                variable,
                Known {
                    definition,
                    range,
                    at_most: None,
                },
            );
        }
    }

    /// Sets the definition of an integer variable that is never assigned again.
    pub(super) fn define(&mut self, variable: Variable, definition: Integer) {
        let range = self.range(definition);
        self.set(
            variable,
            Known {
                definition,
                range,
                at_most: None,
            },
        );
    }

    /// Narrows the range of a value to the numbers in an interval.
    pub(super) fn narrow(&mut self, value: Integer, to: Interval) {
        if let Some(root) = value.root
            && let Some(known) = self.get(root)
        {
            let mut known = *known;
            let of_root = to.plus_number(-i128::from(value.offset));
            known.range = known.range.intersection(of_root);
            self.set(root, known);
        }
    }

    /// Notes that a root is at most another value.
    pub(super) fn bound(&mut self, root: Variable, at_most: Integer) {
        let below = Interval {
            least: None,
            most: self.range(at_most).most,
        };
        if let Some(known) = self.get(root) {
            let mut known = *known;
            known.range = known.range.intersection(below);
            known.at_most = Some(at_most);
            self.set(root, known);
        }
    }

    /// Returns the interval of a value.
    pub(super) fn range(&self, value: Integer) -> Interval {
        let of_root = match value.root {
            None => Interval::exactly(0),
            Some(root) => match self.get(root) {
                Some(known) => known.range,
                None => Interval::between(i64::MIN.into(), i64::MAX.into()),
            },
        };
        of_root.plus_number(value.offset.into())
    }

    /// True if every value in the range fits a type.
    pub(super) fn fits(&self, value: Integer, scalar: Scalar) -> bool {
        range_of(scalar).is_some_and(|all| all.includes(self.range(value)))
    }

    /// Returns an upper bound of the difference of two values.
    pub(super) fn difference(&self, left: Integer, right: Integer) -> i128 {
        let offset = i128::from(left.offset) - i128::from(right.offset);
        if left.root == right.root {
            return offset;
        }
        let ends = self.range(left).most.zip(self.range(right).least);
        let most = ends.map_or(i128::MAX, |(most, least)| most.saturating_sub(least));
        let bound = left.root.and_then(|root| self.get(root)?.at_most);
        match bound {
            Some(bound) if bound.root == right.root => most.min(offset + i128::from(bound.offset)),
            Some(_) | None => most,
        }
    }

    /// Returns an integer expression as root and constant, if it already has that form.
    pub(super) fn affine(&self, expression: &Expression) -> Option<Integer> {
        use nova_core::ScalarOperation as O;
        match expression {
            Expression::Constant(value) => integer(*value).map(Integer::constant),
            Expression::Variable(variable) => Some(self.get(*variable)?.definition),
            Expression::Scalar {
                operation: O::Convert(to),
                arguments,
                ..
            } => {
                let value = self.affine(arguments.first()?)?;
                self.fits(value, *to).then_some(value)
            }
            Expression::Scalar {
                operation,
                operand: Scalar::I64,
                arguments,
            } => {
                let [Expression::Variable(variable), other] = &arguments[..] else {
                    return None;
                };
                let number = other.as_index()?;
                let number = match operation {
                    O::Add => number,
                    O::Subtract => number.checked_neg()?,
                    _ => return None,
                };
                let sum = self.get(*variable)?.definition.plus(number)?;
                self.fits(sum, Scalar::I64).then_some(sum)
            }
            _others => None,
        }
    }
}

/// Returns the interval of the values of an integer type that lies within `i64`.
pub(super) fn range_of(scalar: Scalar) -> Option<Interval> {
    if !scalar.is_integer() || scalar == Scalar::U64 {
        return None;
    }
    let bits = scalar.bits();
    Some(match scalar.is_signed() {
        true => Interval::between(-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => Interval::between(0, (1i128 << bits) - 1),
    })
}

/// Returns the interval of the `i64` numbers from `least` on.
pub(super) fn from(least: i128) -> Interval {
    Interval::between(least, i64::MAX.into())
}

/// Returns the value of an integer constant within `i64`.
pub(super) fn integer(value: ScalarValue) -> Option<i64> {
    range_of(value.scalar())?;
    i64::try_from(value.as_integer()?).ok()
}
