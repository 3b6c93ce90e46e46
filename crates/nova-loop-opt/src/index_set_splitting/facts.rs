//! Facts about integers, collected while a function is walked: each integer is a root plus a
//! constant, roots have ranges, and the index of a loop lies below the loop's count.

use nova_core::{Scalar, ScalarValue};
use nova_loop::ir::{Expression, Program, Type, Variable};

/// An integer that is a root, if it has one, plus a constant. The sum does not wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Affine {
    /// A variable that is never assigned again.
    pub(super) root: Option<Variable>,
    /// The constant that is added to it.
    pub(super) offset: i64,
}

impl Affine {
    /// Returns a number.
    pub(super) fn constant(offset: i64) -> Affine {
        Affine { root: None, offset }
    }

    /// Returns the sum with a number, if the constant does not overflow.
    pub(super) fn plus(self, number: i64) -> Option<Affine> {
        let offset = self.offset.checked_add(number)?;
        Some(Affine { offset, ..self })
    }
}

/// Facts about a variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Its value in terms of another variable.
    pub(super) definition: Affine,
    /// The least and the greatest value.
    pub(super) range: (i128, i128),
    /// Another upper bound.
    pub(super) at_most: Option<Affine>,
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
            let definition = Affine {
                root: Some(variable),
                offset: 0,
            };
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
    pub(super) fn define(&mut self, variable: Variable, definition: Affine) {
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

    /// Narrows the range of a value to the numbers between `low` and `high`.
    pub(super) fn narrow(&mut self, value: Affine, low: i128, high: i128) {
        let offset = i128::from(value.offset);
        if let Some(root) = value.root
            && let Some(known) = self.get(root)
        {
            let mut known = *known;
            known.range.0 = known.range.0.max(low.saturating_sub(offset));
            known.range.1 = known.range.1.min(high.saturating_sub(offset));
            self.set(root, known);
        }
    }

    /// Notes that a root is at most another value.
    pub(super) fn bound(&mut self, root: Variable, at_most: Affine) {
        let (_, high) = self.range(at_most);
        if let Some(known) = self.get(root) {
            let mut known = *known;
            known.range.1 = known.range.1.min(high);
            known.at_most = Some(at_most);
            self.set(root, known);
        }
    }

    /// Returns the least and the greatest value.
    pub(super) fn range(&self, value: Affine) -> (i128, i128) {
        let offset = i128::from(value.offset);
        let (low, high) = match value.root {
            None => (0, 0),
            Some(root) => match self.get(root) {
                Some(known) => known.range,
                None => (i128::from(i64::MIN), i128::from(i64::MAX)),
            },
        };
        (low.saturating_add(offset), high.saturating_add(offset))
    }

    /// True if every value in the range fits a type.
    pub(super) fn fits(&self, value: Affine, scalar: Scalar) -> bool {
        let (low, high) = self.range(value);
        range_of(scalar).is_some_and(|(least, greatest)| least <= low && high <= greatest)
    }

    /// Returns an upper bound of the difference of two values.
    pub(super) fn difference(&self, left: Affine, right: Affine) -> i128 {
        let offset = i128::from(left.offset) - i128::from(right.offset);
        if left.root == right.root {
            return offset;
        }
        let most = self.range(left).1.saturating_sub(self.range(right).0);
        let bound = left.root.and_then(|root| self.get(root)?.at_most);
        match bound {
            Some(bound) if bound.root == right.root => most.min(offset + i128::from(bound.offset)),
            Some(_) | None => most,
        }
    }

    /// Returns an integer expression as root and constant, if it already has that form.
    pub(super) fn affine(&self, expression: &Expression) -> Option<Affine> {
        use nova_core::ScalarOperation as O;
        match expression {
            Expression::Constant(value) => integer(*value).map(Affine::constant),
            Expression::Variable(variable) => Some(self.get(*variable)?.definition),
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
            Expression::Scalar { .. }
            | Expression::Bytes(_)
            | Expression::Data(..)
            | Expression::Select { .. }
            | Expression::Load { .. }
            | Expression::Offset { .. }
            | Expression::NullPointer(_)
            | Expression::NullBlock
            | Expression::NodeTag { .. } => None,
        }
    }
}

/// Returns the least and greatest value of an integer type that lies within `i64`.
pub(super) fn range_of(scalar: Scalar) -> Option<(i128, i128)> {
    if !scalar.is_integer() || scalar == Scalar::U64 {
        return None;
    }
    let bits = scalar.bits();
    Some(match scalar.is_signed() {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    })
}

/// Returns the value of an integer constant within `i64`.
pub(super) fn integer(value: ScalarValue) -> Option<i64> {
    range_of(value.scalar())?;
    i64::try_from(value.as_integer()?).ok()
}
