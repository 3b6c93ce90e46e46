//! Keys of sorts: numbers are mapped to unsigned numbers whose order is that of a comparison
//! ([`crate::orders`]). Several numbers become the digits of one key, the most significant one first, so that
//! elements can be sorted by [`Expression::SortKeys`](nova_flat::ir::Expression::SortKeys).

use crate::orders::{Nans, Number, Order};
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation as Operation, ScalarValue};
use nova_flat::ir::{Atom, Bracketing, Lambda, Level, Output, Variable};

/// The bits of the widest key.
const WIDEST: u32 = 64;

/// Numbers that become one key, with the place of each in it.
pub(crate) struct Packed<'a> {
    pub(crate) numbers: Vec<(&'a Number, Place)>,
    /// The type of the key, `u32` or `u64`.
    pub(crate) word: Scalar,
}

/// The bits of a key that hold a number.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The lowest bit, and the number of bits.
    pub(crate) shift: u32,
    pub(crate) width: u32,
}

/// Returns the numbers of an order in keys, the most significant key first.
pub(crate) fn pack(order: &Order) -> Vec<Packed<'_>> {
    let mut keys: Vec<Packed> = Vec::new();
    let mut used = WIDEST;
    for number in order.numbers.iter().rev() {
        let width = width(number.scalar);
        if used + width > WIDEST {
            keys.push(Packed {
                numbers: Vec::new(),
                word: Scalar::U32,
            });
            used = 0;
        }
        let place = Place { shift: used, width };
        used += width;
        if let Some(key) = keys.last_mut() {
            key.numbers.push((number, place));
            if used > Scalar::U32.bits() {
                key.word = Scalar::U64;
            }
        }
    }
    keys.reverse();
    keys
}

/// Returns the number of bits that hold a number.
fn width(scalar: Scalar) -> u32 {
    match scalar {
        Scalar::Bool => 1,
        number => number.bits(),
    }
}

/// Returns a number of an unsigned type of keys.
pub(crate) fn word(scalar: Scalar, bits: u64) -> Atom {
    Atom::Constant(match scalar {
        Scalar::U64 => ScalarValue::U64(bits),
        _narrow => ScalarValue::U32(bits as u32),
    })
}

/// Returns a word with the lowest bits set.
fn mask(ty: Scalar, width: u32) -> Atom {
    word(ty, u64::MAX >> (WIDEST - width))
}

/// Returns the unsigned type that has the bits of a float.
fn bits_type(float: Scalar) -> Scalar {
    match float {
        Scalar::F64 => Scalar::U64,
        _narrow => Scalar::U32,
    }
}

/// Computes the key of an element: the numbers at their places.
pub(crate) fn key_at(code: &mut Writer, key: &Packed, nans: Nans, index: Atom) -> Atom {
    let ty = key.word;
    let mut sum = word(ty, 0);
    for (number, place) in &key.numbers {
        let values = code.apply(&number.lambda, &[index]);
        let value = values.first().copied().unwrap_or(index);
        let bits = encode(code, value, (number, *place), (ty, nans));
        let shift = word(ty, u64::from(place.shift));
        let bits = match place.shift {
            0 => bits,
            _ => code.compute(Operation::ShiftLeft, ty, &[bits, shift], ty),
        };
        sum = match sum == word(ty, 0) {
            true => bits,
            false => code.compute(Operation::BitOr, ty, &[sum, bits], ty),
        };
    }
    sum
}

/// Computes the bits of a number, in the order of the comparison.
fn encode(
    code: &mut Writer,
    value: Atom,
    (number, place): (&Number, Place),
    (ty, nans): (Scalar, Nans),
) -> Atom {
    let scalar = number.scalar;
    let bits = match scalar {
        Scalar::Bool => code.compute(Operation::Convert(ty), scalar, &[value], ty),
        _ if scalar == ty => value,
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => {
            code.compute(Operation::Wrap(ty), scalar, &[value], ty)
        }
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => {
            let bits = code.compute(Operation::Wrap(ty), scalar, &[value], ty);
            let bits = match place.width == ty.bits() {
                true => bits,
                false => code.compute(Operation::BitAnd, ty, &[bits, mask(ty, place.width)], ty),
            };
            turn_sign(code, bits, place, ty)
        }
        Scalar::F32 | Scalar::F64 => {
            let own = bits_type(scalar);
            let bits = float_bits(code, value, scalar, nans);
            match own == ty {
                true => bits,
                false => code.compute(Operation::Convert(ty), own, &[bits], ty),
            }
        }
    };
    turn_order(code, bits, (number, place), ty)
}

/// Inverts the bits of numbers that descend.
fn turn_order(
    code: &mut Writer,
    bits: Atom,
    (number, place): (&Number, Place),
    ty: Scalar,
) -> Atom {
    match number.descends {
        true => code.compute(Operation::BitXor, ty, &[bits, mask(ty, place.width)], ty),
        false => bits,
    }
}

/// Inverts the sign bit of integers.
fn turn_sign(code: &mut Writer, bits: Atom, place: Place, ty: Scalar) -> Atom {
    let sign = word(ty, 1 << (place.width - 1));
    code.compute(Operation::BitXor, ty, &[bits, sign], ty)
}

/// Computes the bits of a float in the order of numbers, in which 0.0 and -0.0 are equal. All bits
/// of negative numbers are inverted, and the sign bit of others.
fn float_bits(code: &mut Writer, value: Atom, scalar: Scalar, nans: Nans) -> Atom {
    let ty = bits_type(scalar);
    let sign = word(ty, 1 << (ty.bits() - 1));
    let bits = code.compute(Operation::Bits(ty), scalar, &[value], ty);
    let is_negative_zero = code.compute(Operation::Equal, ty, &[bits, sign], Scalar::Bool);
    let bits = code.choose_one(is_negative_zero, ty, |_| word(ty, 0), |_| bits);
    let last = word(ty, u64::from(ty.bits()) - 1);
    let negative = code.compute(Operation::ShiftRight, ty, &[bits, last], ty);
    let all = code.compute(Operation::Subtract, ty, &[word(ty, 0), negative], ty);
    let turned = code.compute(Operation::BitOr, ty, &[all, sign], ty);
    let turned = code.compute(Operation::BitXor, ty, &[bits, turned], ty);
    let of_nan = match nans {
        Nans::Greatest => mask(ty, ty.bits()),
        Nans::Least => word(ty, 0),
        Nans::Unordered => return turned,
    };
    let is_nan = code.compute(Operation::NotEqual, scalar, &[value, value], Scalar::Bool);
    code.choose_one(is_nan, ty, |_| of_nan, |_| turned)
}

/// Computes a number from the key that holds it. A nan and a -0.0 have no key of their own.
pub(crate) fn decode(
    code: &mut Writer,
    key: Atom,
    (number, place): (&Number, Place),
    ty: Scalar,
) -> Atom {
    let scalar = number.scalar;
    let mut bits = key;
    if place.shift > 0 {
        let shift = word(ty, u64::from(place.shift));
        bits = code.compute(Operation::ShiftRight, ty, &[bits, shift], ty);
    }
    if place.shift + place.width < ty.bits() {
        bits = code.compute(Operation::BitAnd, ty, &[bits, mask(ty, place.width)], ty);
    }
    bits = turn_order(code, bits, (number, place), ty);
    match scalar {
        Scalar::Bool => code.compute(Operation::NotEqual, ty, &[bits, word(ty, 0)], scalar),
        _ if scalar == ty => bits,
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => {
            code.compute(Operation::Wrap(scalar), ty, &[bits], scalar)
        }
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => {
            let bits = turn_sign(code, bits, place, ty);
            code.compute(Operation::Wrap(scalar), ty, &[bits], scalar)
        }
        Scalar::F32 | Scalar::F64 => {
            let own = bits_type(scalar);
            if own != ty {
                bits = code.compute(Operation::Wrap(own), ty, &[bits], own);
            }
            float_of(code, bits, scalar)
        }
    }
}

/// Computes the float of bits in the order of numbers.
fn float_of(code: &mut Writer, bits: Atom, scalar: Scalar) -> Atom {
    let ty = bits_type(scalar);
    let sign = word(ty, 1 << (ty.bits() - 1));
    let last = word(ty, u64::from(ty.bits()) - 1);
    let positive = code.compute(Operation::ShiftRight, ty, &[bits, last], ty);
    let all = code.compute(Operation::Subtract, ty, &[positive, word(ty, 1)], ty);
    let turned = code.compute(Operation::BitOr, ty, &[all, sign], ty);
    let bits = code.compute(Operation::BitXor, ty, &[bits, turned], ty);
    code.compute(Operation::Bits(scalar), ty, &[bits], scalar)
}

/// The kinds of floats that have no key of their own, as bits of a number.
pub(crate) const NAN: u64 = 1;
pub(crate) const NEGATIVE_ZERO: u64 = 2;

/// Computes which kind of float without a key of its own a number is, or 0: a `u32`.
pub(crate) fn kind_of(code: &mut Writer, value: Atom, scalar: Scalar) -> Atom {
    let ty = bits_type(scalar);
    let sign = word(ty, 1 << (ty.bits() - 1));
    let is_nan = code.compute(Operation::NotEqual, scalar, &[value, value], Scalar::Bool);
    let bits = code.compute(Operation::Bits(ty), scalar, &[value], ty);
    let is_negative_zero = code.compute(Operation::Equal, ty, &[bits, sign], Scalar::Bool);
    let mut number = |is: Atom, kind: u64| {
        let ty = Scalar::U32;
        let one = code.compute(Operation::Convert(ty), Scalar::Bool, &[is], ty);
        code.compute(Operation::Multiply, ty, &[one, word(ty, kind)], ty)
    };
    let kinds = [number(is_nan, NAN), number(is_negative_zero, NEGATIVE_ZERO)];
    code.compute(Operation::BitOr, Scalar::U32, &kinds, Scalar::U32)
}

/// Computes the bits that some of the unsigned numbers of a vector have. Returns the variable.
pub(crate) fn bits_of_all(
    code: &mut Writer,
    name: &str,
    (count, ty): (Atom, Scalar),
    bits: impl FnOnce(&mut Writer, Atom) -> Atom,
) -> Variable {
    let index = code.fresh("i", Scalar::I64);
    let body = code.body(|code| vec![bits(code, Atom::Variable(index))]);
    let all = code.fresh(name, ty);
    let reduce = Output::Reduce {
        lambda: either(code, ty),
        start: vec![word(ty, 0)],
        commutes: true,
        bracketing: Bracketing::Whole,
    };
    let level = Level::Sequential;
    code.operation(vec![all], count, index, level, body, vec![reduce]);
    all
}

/// Returns the operator `|` of two unsigned numbers.
fn either(code: &mut Writer, ty: Scalar) -> Lambda {
    let parameters = ["a", "b"].map(|name| code.fresh(name, ty));
    let [a, b] = parameters.map(Atom::Variable);
    let body = code.body(|code| vec![code.compute(Operation::BitOr, ty, &[a, b], ty)]);
    Lambda {
        parameters: parameters.to_vec(),
        body,
    }
}
