//! Scalar built-ins, with the checks that make them defined, and indices of any integer type.

use crate::builder::{Lowerer, constant_bool};
use nova_core::{ErrorKind, LONGEST, Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::Atom;

/// True if every value of `from` converts to `to`.
pub(crate) fn always_fits(from: Scalar, to: Scalar) -> bool {
    if from == Scalar::Bool || to == Scalar::Bool || to.is_float() {
        return true;
    }
    if from.is_float() {
        return false;
    }
    match (from.is_signed(), to.is_signed()) {
        (true, false) => false,
        (false, true) => from.bits() < to.bits(),
        (true, true) | (false, false) => from.bits() <= to.bits(),
    }
}

impl Lowerer<'_> {
    /// Emits a scalar built-in of Core: its check, then the operation.
    pub fn checked_scalar(
        &mut self,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: Vec<Atom>,
    ) -> Atom {
        use ScalarOperation as O;
        match operation {
            O::Divide | O::Remainder => {
                if let Some(divisor) = arguments.get(1)
                    && operand.is_integer()
                {
                    self.check_divisor(*divisor, operand);
                }
            }
            O::ShiftLeft | O::ShiftRight => {
                if let Some(amount) = arguments.get(1) {
                    self.check_shift(*amount, operand);
                }
            }
            O::Convert(to) if operand == to => {
                if let Some(argument) = arguments.first() {
                    return *argument;
                }
            }
            O::Convert(to) => {
                if !always_fits(operand, to) {
                    let fits = self.scalar(O::Fits(to), operand, arguments.clone());
                    self.check(fits, ErrorKind::Conversion, Vec::new());
                }
            }
            // The others are defined for all arguments, as the table says.
            total => debug_assert!(total.is_total(operand), "{total:?} needs a check"),
        }
        self.scalar(operation, operand, arguments)
    }

    fn check_divisor(&mut self, divisor: Atom, operand: Scalar) {
        let zero = ScalarValue::from_integer_wrapping(operand, 0);
        if let Atom::Constant(value) = divisor
            && !value.same(zero)
        {
            return;
        }
        let arguments = vec![divisor, Atom::Constant(zero)];
        let condition = self.scalar(ScalarOperation::NotEqual, operand, arguments);
        self.check(condition, ErrorKind::Division, Vec::new());
    }

    fn check_shift(&mut self, amount: Atom, operand: Scalar) {
        let bits = i64::from(operand.bits());
        if let Atom::Constant(value) = amount
            && value
                .as_integer()
                .is_some_and(|v| (0..i128::from(bits)).contains(&v))
        {
            return;
        }
        let index = self.index_from(amount, operand);
        let condition = self.in_range(index, operand, Atom::index(bits));
        let last = Atom::index(bits - 1);
        self.check(condition, ErrorKind::Shift, vec![amount, last]);
    }

    /// Returns an integer as an `i64`. A `uint64` that is too large becomes negative.
    pub fn index_from(&mut self, atom: Atom, scalar: Scalar) -> Atom {
        if let Atom::Constant(value) = atom
            && let Some(value) = value.as_integer()
        {
            return Atom::index(value as i64);
        }
        match scalar {
            Scalar::I64 => atom,
            Scalar::U64 => self.scalar(ScalarOperation::Wrap(Scalar::I64), scalar, vec![atom]),
            Scalar::I8
            | Scalar::I16
            | Scalar::I32
            | Scalar::U8
            | Scalar::U16
            | Scalar::U32
            | Scalar::F32
            | Scalar::F64
            | Scalar::Bool => {
                self.scalar(ScalarOperation::Convert(Scalar::I64), scalar, vec![atom])
            }
        }
    }

    /// Returns an integer as an `i64`. A `uint64` that is too large becomes the largest `i64`.
    pub fn bound_from(&mut self, atom: Atom, scalar: Scalar) -> Atom {
        if scalar != Scalar::U64 {
            return self.index_from(atom, scalar);
        }
        let largest = Atom::Constant(ScalarValue::U64(i64::MAX as u64));
        let least = match atom {
            Atom::Constant(ScalarValue::U64(value)) => {
                Atom::Constant(ScalarValue::U64(value.min(i64::MAX as u64)))
            }
            Atom::Constant(_) | Atom::Variable(_) => {
                self.scalar(ScalarOperation::Minimum, scalar, vec![atom, largest])
            }
        };
        self.index_from(least, scalar)
    }

    /// Returns the condition `0 <= index < length`, by one unsigned comparison. `index` is the `i64`
    /// for a number of type `scalar`.
    pub fn in_range(&mut self, index: Atom, scalar: Scalar, length: Atom) -> Atom {
        if !scalar.is_signed() && scalar != Scalar::U64 {
            return self.compare(ScalarOperation::Less, index, length);
        }
        if let (Atom::Constant(ScalarValue::I64(i)), Atom::Constant(ScalarValue::I64(n))) =
            (index, length)
        {
            return Atom::Constant(ScalarValue::Bool((0..n).contains(&i)));
        }
        let operands = [index, length].map(|a| self.unsigned_from(a));
        self.scalar(ScalarOperation::Less, Scalar::U64, operands.to_vec())
    }

    /// Returns an `i64` as a `u64` of the same bits.
    pub fn unsigned_from(&mut self, atom: Atom) -> Atom {
        match atom {
            Atom::Constant(ScalarValue::I64(value)) => {
                Atom::Constant(ScalarValue::U64(value as u64))
            }
            Atom::Constant(_) | Atom::Variable(_) => {
                self.scalar(ScalarOperation::Wrap(Scalar::U64), Scalar::I64, vec![atom])
            }
        }
    }

    /// Checks an index of an integer type against a length, and returns it as an `i64`.
    pub fn check_index(&mut self, atom: Atom, scalar: Scalar, length: Atom) -> Atom {
        let index = self.index_from(atom, scalar);
        let condition = self.in_range(index, scalar, length);
        self.check(condition, ErrorKind::Index, vec![atom, length]);
        index
    }

    /// Checks a count of an integer type, and returns it as an `i64`.
    pub fn check_count(&mut self, atom: Atom, scalar: Scalar) -> Atom {
        let count = self.bound_from(atom, scalar);
        if scalar.is_signed() {
            let condition = self.compare(ScalarOperation::GreaterEqual, count, Atom::index(0));
            self.check(condition, ErrorKind::Negative, vec![atom]);
            if constant_bool(condition) == Some(false) {
                return Atom::index(0);
            }
        }
        count
    }

    /// Fails with an out-of-memory error if a length made from a number of type `scalar` is too long.
    /// Returns the length to use afterwards.
    pub fn check_longest(&mut self, length: Atom, scalar: Scalar) -> Atom {
        if scalar.bits() <= 32 {
            return length;
        }
        let condition = self.compare(ScalarOperation::LessEqual, length, Atom::index(LONGEST));
        self.check(condition, ErrorKind::Memory, Vec::new());
        match constant_bool(condition) {
            Some(false) => Atom::index(0),
            Some(true) | None => length,
        }
    }

    /// Returns a length as a value of an integer type, checked to fit.
    pub fn length_as(&mut self, length: Atom, scalar: Scalar) -> Atom {
        if let Atom::Constant(ScalarValue::I64(value)) = length {
            let converted = ScalarValue::from_integer_wrapping(scalar, i128::from(value));
            if converted.as_integer() == Some(i128::from(value)) {
                return Atom::Constant(converted);
            }
        }
        self.check_length_fits(length, scalar);
        self.index_as(length, scalar)
    }

    /// Checks that a length fits an integer type.
    pub fn check_length_fits(&mut self, length: Atom, scalar: Scalar) {
        if !matches!(scalar, Scalar::I64 | Scalar::U64) {
            let fits = self.scalar(ScalarOperation::Fits(scalar), Scalar::I64, vec![length]);
            self.check(fits, ErrorKind::LengthOverflow, vec![length]);
        }
    }

    /// Returns an `i64` that is known to fit as a value of an integer type.
    pub fn index_as(&mut self, index: Atom, scalar: Scalar) -> Atom {
        match (index, scalar) {
            (_, Scalar::I64) => index,
            (Atom::Constant(ScalarValue::I64(value)), _) => Atom::Constant(
                ScalarValue::from_integer_wrapping(scalar, i128::from(value)),
            ),
            (Atom::Constant(_) | Atom::Variable(_), _) => {
                self.scalar(ScalarOperation::Convert(scalar), Scalar::I64, vec![index])
            }
        }
    }

    /// Checks that lengths agree.
    pub fn check_lengths(&mut self, left: Atom, right: Atom) {
        let condition = self.compare(ScalarOperation::Equal, left, right);
        if constant_bool(condition) != Some(true) {
            self.check(condition, ErrorKind::Length, vec![left, right]);
        }
    }
}
