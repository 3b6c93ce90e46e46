//! Radix sorts, for devices. If a comparison has the order of a key ([`crate::keys`]), the keys are
//! mapped to unsigned numbers. The indices are sorted by these, digit by digit, from the last one on
//! (LSD), each time stably. There are as many passes as needed for the digits in which keys differ,
//! which a reduction finds out before.
//!
//! A pass has these kernels ([`crate::radix_pass`]), and the host reads nothing between them:
//!
//! 1. The tiles are sorted. A thread sorts its tile of the keys and indices by the digit, by counting,
//!    and stores the start of each digit in the tile.
//! 2. The positions are computed. Elements of digit `d` in tile `t` come after those of all digits
//!    before `d`, and those of `d` in all tiles before `t`. So the counts are scanned, in the order of
//!    digits and, within a digit, of tiles. The result is a table of *runs*, with the start of each in
//!    the whole.
//! 3. Chunks of the result take their elements from the tiles. A thread finds by bisection the run in
//!    which its chunk begins, and then goes from run to run.
//!
//! Everything is read from computed positions and written in order, so these loops need no more proof
//! than that of a map. The alternative, to write each element to its position, is as much work, but its
//! positions differ only because the counts are right.
//!
//! A comparison of floats has the order of no key if one of them is nan. Then the sort is the merge
//! sort of docs/order.md ([`crate::sort`]), to the bit.

use crate::keys::{Key, is_nan, key_bits, word, word_of};
use crate::policy::Parallelism;
use crate::radix_pass::{BITS, Pass, radix_pass};
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{Atom, Bracketing, Lambda, Level, Output, Type, Variable};
use nova_machine::DEVICE;

/// The most elements: indices have 32 bits. The host sorts longer arrays.
const LARGEST_32_BIT_COUNT: i64 = 1 << 32;

/// Returns the number of elements above which there is a radix sort.
pub(crate) fn least(parallelism: Parallelism) -> i64 {
    parallelism.grain.saturating_mul(DEVICE.sort_work)
}

/// The keys of a sort.
struct Keys {
    /// The bits of the keys, the type of these, and the indices of the keys.
    bits: Variable,
    ty: Scalar,
    of: Variable,
    /// The bits in which some keys differ.
    differing: Atom,
    /// 1 if some keys have no order, else 0; `None` if all keys of the type have one.
    disordered: Option<Atom>,
}

/// Computes whether there are so few elements that their positions have 32 bits.
pub(crate) fn has_positions(code: &mut Writer, count: Atom) -> Atom {
    code.compare(
        ScalarOperation::LessEqual,
        count,
        Atom::index(LARGEST_32_BIT_COUNT),
    )
}

/// Computes the keys, and the bits in which they differ. Of equal keys, the one that stands first
/// comes first in the result.
fn keys(code: &mut Writer, count: Atom, key: &Key) -> Keys {
    let ty = word_of(key.scalar);
    let bits = code.fresh_array("keys", ty, count);
    let of = code.fresh_array("order", Scalar::U32, count);
    let index = code.fresh("i", Scalar::I64);
    let body = code.body(|code| {
        let at = match key.reverses {
            true => {
                let last = code.scalar(ScalarOperation::Subtract, count, Atom::index(1));
                code.scalar(ScalarOperation::Subtract, last, Atom::Variable(index))
            }
            false => Atom::Variable(index),
        };
        let value = key_at(code, key, at);
        let bits = key_bits(code, value, key);
        let narrow = ScalarOperation::Wrap(Scalar::U32);
        let at = code.compute(narrow, Scalar::I64, &[at], Scalar::U32);
        vec![bits, at]
    });
    let outputs = vec![Output::Map, Output::Map];
    code.operation(vec![bits, of], count, index, Level::Grid, body, outputs);
    let (differing, disordered) = differing(code, count, bits, key);
    Keys {
        bits,
        ty,
        of,
        differing,
        disordered,
    }
}

fn key_at(code: &mut Writer, key: &Key, index: Atom) -> Atom {
    let values = code.apply(&key.lambda, &[index]);
    values.first().copied().unwrap_or(index)
}

/// Computes the bits in which keys differ from the first one, and whether one of them has no order:
/// 1 or 0.
fn differing(code: &mut Writer, count: Atom, bits: Variable, key: &Key) -> (Atom, Option<Atom>) {
    let ty = word_of(key.scalar);
    let mut scalars = vec![("differing", ty)];
    if key.scalar.is_float() {
        scalars.push(("disordered", Scalar::U32));
    }
    let index = code.fresh("i", Scalar::I64);
    let body = code.body(|code| {
        let own = code.element(bits, Atom::Variable(index));
        let first = code.element(bits, Atom::index(0));
        let mut results = vec![code.compute(ScalarOperation::BitXor, ty, &[own, first], ty)];
        if key.scalar.is_float() {
            let value = key_at(code, key, Atom::Variable(index));
            results.push(is_nan(code, value, key.scalar));
        }
        results
    });
    let mut outputs = Vec::new();
    let mut pattern = Vec::new();
    for (name, ty) in scalars {
        pattern.push(code.fresh(name, ty));
        outputs.push(Output::Reduce {
            lambda: either(code, ty),
            start: vec![word(ty, 0)],
            commutes: true,
            bracketing: Bracketing::Whole,
        });
    }
    // The reduction is worth kernels of its own.
    code.to_parallelise.extend(pattern.first());
    let level = Level::Sequential;
    code.operation(pattern.clone(), count, index, level, body, outputs);
    let atoms: Vec<Atom> = pattern.into_iter().map(Atom::Variable).collect();
    (atoms[0], atoms.get(1).copied())
}

/// Returns the operator `|` of two unsigned numbers.
fn either(code: &mut Writer, ty: Scalar) -> Lambda {
    let parameters = ["a", "b"].map(|name| code.fresh(name, ty));
    let [a, b] = parameters.map(Atom::Variable);
    let body = code.body(|code| vec![code.compute(ScalarOperation::BitOr, ty, &[a, b], ty)]);
    Lambda {
        parameters: parameters.to_vec(),
        body,
    }
}

/// Sorts by a key: in passes, or as `merge` writes it if some keys have no order.
pub(crate) fn sort_by_key(
    code: &mut Writer,
    order: Variable,
    count: Atom,
    key: &Key,
    merge: impl Fn(&mut Writer, Variable),
) {
    let keys = keys(code, count, key);
    let Some(disordered) = keys.disordered else {
        return radix_passes(code, order, count, &keys);
    };
    let zero = word(Scalar::U32, 0);
    let equal = ScalarOperation::Equal;
    let condition = code.compute(equal, Scalar::U32, &[disordered, zero], Scalar::Bool);
    code.choose_way(
        &[order],
        condition,
        |code, own| {
            own.iter()
                .for_each(|order| radix_passes(code, *order, count, &keys))
        },
        |code, own| own.iter().for_each(|order| merge(code, *order)),
    );
}

/// Sorts by each digit in which keys differ, from the last digit on.
fn radix_passes(code: &mut Writer, order: Variable, count: Atom, keys: &Keys) {
    let ty = keys.ty;
    let arrays = [keys.bits, keys.of].map(|array| code.program.ty(array).clone());
    let [bits, of] = arrays;
    let states = vec![
        ("keys", bits, Atom::Variable(keys.bits)),
        ("order", of, Atom::Variable(keys.of)),
        // The bits from `shift` on in which keys differ.
        ("left", Type::Scalar(ty), keys.differing),
        ("shift", Type::Scalar(ty), word(ty, 0)),
    ];
    let results = code.repeat(
        states,
        |code, states| is_left(code, states.get(2).copied(), ty),
        |code, states| match states {
            [Atom::Variable(bits), Atom::Variable(order), left, shift] => {
                let (left, shift) = skip_equal_bits(code, *left, *shift, ty);
                let pass = Pass {
                    count,
                    bits: *bits,
                    order: *order,
                    ty,
                    shift,
                };
                let [bits, order] = radix_pass(code, &pass);
                let (left, shift) = after_digit(code, left, shift, ty);
                vec![Atom::Variable(bits), Atom::Variable(order), left, shift]
            }
            _ => Vec::new(),
        },
    );
    let Some(Atom::Variable(sorted)) = results.get(1).copied() else {
        return;
    };
    let index = code.fresh("i", Scalar::I64);
    let body = code.body(|code| {
        let narrow = code.element(sorted, Atom::Variable(index));
        let wide = ScalarOperation::Convert(Scalar::I64);
        vec![code.compute(wide, Scalar::U32, &[narrow], Scalar::I64)]
    });
    let outputs = vec![Output::Map];
    code.operation(vec![order], count, index, Level::Grid, body, outputs);
}

/// True if keys differ in some of the remaining bits.
fn is_left(code: &mut Writer, left: Option<Atom>, ty: Scalar) -> Atom {
    let none = word(ty, 0);
    let arguments = [left.unwrap_or(none), none];
    code.compute(ScalarOperation::NotEqual, ty, &arguments, Scalar::Bool)
}

/// Skips the lowest bits in which no keys differ.
fn skip_equal_bits(code: &mut Writer, left: Atom, shift: Atom, ty: Scalar) -> (Atom, Atom) {
    let one = word(ty, 1);
    let number = Type::Scalar(ty);
    let states = vec![("left", number.clone(), left), ("shift", number, shift)];
    let found = code.repeat(
        states,
        |code, states| {
            let left = states.first().copied().unwrap_or(one);
            let lowest = code.compute(ScalarOperation::BitAnd, ty, &[left, one], ty);
            let arguments = [lowest, word(ty, 0)];
            code.compute(ScalarOperation::Equal, ty, &arguments, Scalar::Bool)
        },
        |code, states| match states {
            [left, shift] => vec![
                code.compute(ScalarOperation::ShiftRight, ty, &[*left, one], ty),
                code.compute(ScalarOperation::Add, ty, &[*shift, one], ty),
            ],
            _ => Vec::new(),
        },
    );
    match found[..] {
        [left, shift] => (left, shift),
        _ => (left, shift),
    }
}

fn after_digit(code: &mut Writer, left: Atom, shift: Atom, ty: Scalar) -> (Atom, Atom) {
    let bits = word(ty, BITS);
    (
        code.compute(ScalarOperation::ShiftRight, ty, &[left, bits], ty),
        code.compute(ScalarOperation::Add, ty, &[shift, bits], ty),
    )
}
