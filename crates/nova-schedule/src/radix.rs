//! Radix sorts, for devices. Keys ([`crate::keys`]) and their indices are sorted digit by digit, from the
//! last one on (LSD), each time stably. There are as many passes as needed for the digits in which keys
//! differ, which a reduction finds out before.
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

use crate::keys::{bits_of_all, word};
use crate::policy::Parallelism;
use crate::radix_pass::{BITS, Pass, radix_pass};
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{Atom, Level, Type, Variable};
use nova_machine::DEVICE;

/// Returns the number of elements above which there is a radix sort.
pub(crate) fn least(parallelism: Parallelism) -> i64 {
    parallelism.grain.saturating_mul(DEVICE.sort_work)
}

/// Computes the bits in which keys differ from the first one.
fn differing(code: &mut Writer, count: Atom, keys: Variable, ty: Scalar) -> Atom {
    let differing = bits_of_all(code, "differing", (count, ty), |code, index| {
        let own = code.element(keys, index);
        let first = code.element(keys, Atom::index(0));
        code.compute(ScalarOperation::BitXor, ty, &[own, first], ty)
    });
    // The reduction is worth kernels of its own.
    code.to_parallelise.insert(differing);
    Atom::Variable(differing)
}

/// Returns the indices of keys, with 32 bits.
fn indices(code: &mut Writer, count: Atom) -> Variable {
    let of = code.fresh_array("order", Scalar::U32, count);
    code.map(of, Level::Grid, |code, index| {
        let narrow = ScalarOperation::Wrap(Scalar::U32);
        code.compute(narrow, Scalar::I64, &[index], Scalar::U32)
    });
    of
}

/// Sorts keys by each digit in which they differ, from the last digit on. Returns the sorted keys, and the
/// positions of the first ones of them as indices.
pub(crate) fn radix_passes(
    code: &mut Writer,
    (count, first): (Atom, Atom),
    keys: Variable,
) -> Option<[Variable; 2]> {
    let ty = code.program.ty(keys).element();
    let differing = differing(code, count, keys, ty);
    let of = indices(code, count);
    let [bits, order] = [keys, of].map(|array| code.program.ty(array).clone());
    let states = vec![
        ("keys", bits, Atom::Variable(keys)),
        ("order", order, Atom::Variable(of)),
        // The bits from `shift` on in which keys differ.
        ("left", Type::Scalar(ty), differing),
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
    let [Atom::Variable(sorted), Atom::Variable(narrow), ..] = results[..] else {
        return None;
    };
    let order = code.fresh_array("order", Scalar::I64, first);
    code.map(order, Level::Grid, |code, index| {
        let narrow = code.element(narrow, index);
        let wide = ScalarOperation::Convert(Scalar::I64);
        code.compute(wide, Scalar::U32, &[narrow], Scalar::I64)
    });
    Some([sorted, order])
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
