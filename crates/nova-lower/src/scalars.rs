//! Scalar built-ins, with the checks that make them defined, and indices of any integer type.

use crate::builder::{Builder, constant_bool};
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

/// Emits a scalar built-in of Core: its check, then the operation.
pub(crate) fn checked_scalar(
    b: &mut Builder,
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
                check_divisor(b, *divisor, operand);
            }
        }
        O::ShiftLeft | O::ShiftRight => {
            if let Some(amount) = arguments.get(1) {
                check_shift(b, *amount, operand);
            }
        }
        O::Convert(to) if operand == to => {
            if let Some(argument) = arguments.first() {
                return *argument;
            }
        }
        O::Convert(to) => {
            if !always_fits(operand, to) {
                let fits = b.scalar(O::Fits(to), operand, arguments.clone());
                b.check(fits, ErrorKind::Conversion, Vec::new());
            }
        }
        // The others are defined for all arguments, as the table says.
        total => debug_assert!(total.is_total(operand), "{total:?} needs a check"),
    }
    b.scalar(operation, operand, arguments)
}

fn check_divisor(b: &mut Builder, divisor: Atom, operand: Scalar) {
    let zero = ScalarValue::from_integer_wrapping(operand, 0);
    if let Atom::Constant(value) = divisor
        && !value.same(zero)
    {
        return;
    }
    let arguments = vec![divisor, Atom::Constant(zero)];
    let condition = b.scalar(ScalarOperation::NotEqual, operand, arguments);
    b.check(condition, ErrorKind::Division, Vec::new());
}

fn check_shift(b: &mut Builder, amount: Atom, operand: Scalar) {
    let bits = i64::from(operand.bits());
    if let Atom::Constant(value) = amount
        && value
            .as_integer()
            .is_some_and(|v| (0..i128::from(bits)).contains(&v))
    {
        return;
    }
    let index = index_from(b, amount, operand);
    let condition = in_range(b, index, operand, Atom::index(bits));
    let last = Atom::index(bits - 1);
    b.check(condition, ErrorKind::Shift, vec![amount, last]);
}

/// Returns an integer as an `i64`. A `uint64` that is too large becomes negative.
pub(crate) fn index_from(b: &mut Builder, atom: Atom, scalar: Scalar) -> Atom {
    if let Atom::Constant(value) = atom
        && let Some(value) = value.as_integer()
    {
        return Atom::index(value as i64);
    }
    match scalar {
        Scalar::I64 => atom,
        Scalar::U64 => b.scalar(ScalarOperation::Wrap(Scalar::I64), scalar, vec![atom]),
        _ => b.scalar(ScalarOperation::Convert(Scalar::I64), scalar, vec![atom]),
    }
}

/// Returns an integer as an `i64`. A `uint64` that is too large becomes the largest `i64`.
pub(crate) fn bound_from(b: &mut Builder, atom: Atom, scalar: Scalar) -> Atom {
    if scalar != Scalar::U64 {
        return index_from(b, atom, scalar);
    }
    let largest = Atom::Constant(ScalarValue::U64(i64::MAX as u64));
    let least = match atom {
        Atom::Constant(ScalarValue::U64(value)) => {
            Atom::Constant(ScalarValue::U64(value.min(i64::MAX as u64)))
        }
        Atom::Constant(_) | Atom::Variable(_) => {
            b.scalar(ScalarOperation::Minimum, scalar, vec![atom, largest])
        }
    };
    index_from(b, least, scalar)
}

/// Returns the condition `0 <= index < length`, by one unsigned comparison. `index` is the `i64`
/// for a number of type `scalar`.
pub(crate) fn in_range(b: &mut Builder, index: Atom, scalar: Scalar, length: Atom) -> Atom {
    if !scalar.is_signed() && scalar != Scalar::U64 {
        return b.compare(ScalarOperation::Less, index, length);
    }
    if let (Atom::Constant(ScalarValue::I64(i)), Atom::Constant(ScalarValue::I64(n))) =
        (index, length)
    {
        return Atom::Constant(ScalarValue::Bool((0..n).contains(&i)));
    }
    let operands = [index, length].map(|a| unsigned_from(b, a));
    b.scalar(ScalarOperation::Less, Scalar::U64, operands.to_vec())
}

/// Returns an `i64` as a `u64` of the same bits.
pub(crate) fn unsigned_from(b: &mut Builder, atom: Atom) -> Atom {
    match atom {
        Atom::Constant(ScalarValue::I64(value)) => Atom::Constant(ScalarValue::U64(value as u64)),
        Atom::Constant(_) | Atom::Variable(_) => {
            b.scalar(ScalarOperation::Wrap(Scalar::U64), Scalar::I64, vec![atom])
        }
    }
}

/// Checks an index of an integer type against a length, and returns it as an `i64`.
pub(crate) fn check_index(b: &mut Builder, atom: Atom, scalar: Scalar, length: Atom) -> Atom {
    let index = index_from(b, atom, scalar);
    let condition = in_range(b, index, scalar, length);
    b.check(condition, ErrorKind::Index, vec![atom, length]);
    index
}

/// Checks a count of an integer type, and returns it as an `i64`.
pub(crate) fn check_count(b: &mut Builder, atom: Atom, scalar: Scalar) -> Atom {
    let count = bound_from(b, atom, scalar);
    if scalar.is_signed() {
        let condition = b.compare(ScalarOperation::GreaterEqual, count, Atom::index(0));
        b.check(condition, ErrorKind::Negative, vec![atom]);
        if constant_bool(condition) == Some(false) {
            return Atom::index(0);
        }
    }
    count
}

/// Fails with an out-of-memory error if a length made from a number of type `scalar` is too long.
/// Returns the length to use afterwards.
pub(crate) fn check_longest(b: &mut Builder, length: Atom, scalar: Scalar) -> Atom {
    if scalar.bits() <= 32 {
        return length;
    }
    let condition = b.compare(ScalarOperation::LessEqual, length, Atom::index(LONGEST));
    b.check(condition, ErrorKind::Memory, Vec::new());
    match constant_bool(condition) {
        Some(false) => Atom::index(0),
        Some(true) | None => length,
    }
}

/// Returns a length as a value of an integer type, checked to fit.
pub(crate) fn length_as(b: &mut Builder, length: Atom, scalar: Scalar) -> Atom {
    if let Atom::Constant(ScalarValue::I64(value)) = length {
        let converted = ScalarValue::from_integer_wrapping(scalar, i128::from(value));
        if converted.as_integer() == Some(i128::from(value)) {
            return Atom::Constant(converted);
        }
    }
    check_length_fits(b, length, scalar);
    index_as(b, length, scalar)
}

/// Checks that a length fits an integer type.
pub(crate) fn check_length_fits(b: &mut Builder, length: Atom, scalar: Scalar) {
    if !matches!(scalar, Scalar::I64 | Scalar::U64) {
        let fits = b.scalar(ScalarOperation::Fits(scalar), Scalar::I64, vec![length]);
        b.check(fits, ErrorKind::LengthOverflow, vec![length]);
    }
}

/// Returns an `i64` that is known to fit as a value of an integer type.
pub(crate) fn index_as(b: &mut Builder, index: Atom, scalar: Scalar) -> Atom {
    match (index, scalar) {
        (_, Scalar::I64) => index,
        (Atom::Constant(ScalarValue::I64(value)), _) => Atom::Constant(
            ScalarValue::from_integer_wrapping(scalar, i128::from(value)),
        ),
        (Atom::Constant(_) | Atom::Variable(_), _) => {
            b.scalar(ScalarOperation::Convert(scalar), Scalar::I64, vec![index])
        }
    }
}

/// Checks that lengths agree.
pub(crate) fn check_lengths(b: &mut Builder, left: Atom, right: Atom) {
    let condition = b.compare(ScalarOperation::Equal, left, right);
    if constant_bool(condition) != Some(true) {
        b.check(condition, ErrorKind::Length, vec![left, right]);
    }
}

/// Returns the constant of a type, for comparisons with literals.
pub(crate) fn literal_of(scalar: Scalar, value: i64) -> Atom {
    Atom::Constant(ScalarValue::from_integer_wrapping(
        scalar,
        i128::from(value),
    ))
}
