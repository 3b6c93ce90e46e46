//! The least keys of many, by threads of a processor: each chunk gives as many of its least keys as are
//! wanted, and of these the least ones are taken.
//!
//! Chunks have several times as many keys as are wanted, so that few are left. Those of earlier chunks stand
//! first, and both sorts are stable, so equal keys stay in their order.

use crate::chunks::even_bounds;
use crate::sample_sort::{KeySort, part, sort_with_positions};
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation as Operation};
use nova_flat::ir::{Atom, Level, Output, Variable};
use nova_machine::figures;

/// Keys are few where a chunk may have at least so many times as many.
const FEW: i64 = figures::SORTS.least_keys_share;

/// Computes whether few of the keys are wanted, and the size of chunks, at least `size`.
pub(crate) fn few(code: &mut Writer, sort: &KeySort, size: Atom) -> (Atom, Atom) {
    let most = code.scalar(Operation::Multiply, sort.first, Atom::index(FEW));
    let few = code.compare(Operation::Less, most, sort.count);
    (few, code.scalar(Operation::Maximum, size, most))
}

/// Finds the least keys, which are few, in chunks of a size. Returns their positions and the keys.
pub(crate) fn least_keys(code: &mut Writer, sort: &KeySort, size: Atom) -> [Variable; 2] {
    let chunks = code.quotient_up(sort.count, size);
    let last = code.scalar(Operation::Subtract, chunks, Atom::index(1));
    let before = code.scalar(Operation::Multiply, last, size);
    let left = code.scalar(Operation::Subtract, sort.count, before);
    let left = code.scalar(Operation::Minimum, left, sort.first);
    let before = code.scalar(Operation::Multiply, last, sort.first);
    let count = code.scalar(Operation::Add, before, left);
    let candidates = code.like(sort.keys, vec![count]);
    let positions = code.fresh_array("positions", Scalar::I64, count);
    let chunk = code.fresh("chunk", Scalar::I64);
    let body = code.body(|code| {
        let own = Atom::Variable(chunk);
        let (first, length) = even_bounds(code, own, sort.count, size);
        let least = code.scalar(Operation::Minimum, sort.first, length);
        let keys = part(code, sort.keys, first, length);
        let [order, keys] = sort_with_positions(code, keys, (length, least));
        let positions = code.fresh_array("positions", Scalar::I64, least);
        code.map(positions, Level::Sequential, |code, index| {
            let own = code.element(order, index);
            code.scalar(Operation::Add, first, own)
        });
        let begin = code.scalar(Operation::Multiply, own, sort.first);
        let [positions, keys] = [positions, keys].map(Atom::Variable);
        vec![begin, positions, begin, keys]
    });
    let shape = vec![count];
    let outputs = vec![Output::Join { shape }; 2];
    let pattern = vec![positions, candidates];
    code.operation(pattern, chunks, chunk, Level::Grid, body, outputs);
    let [order, keys] = sort_with_positions(code, candidates, (count, sort.first));
    let found = code.like(positions, vec![sort.first]);
    code.map(found, Level::Sequential, |code, index| {
        let at = code.element(order, index);
        code.element(positions, at)
    });
    [found, keys]
}
