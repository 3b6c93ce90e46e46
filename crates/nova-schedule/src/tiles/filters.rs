//! Filters in tiles, for devices: a work-group takes a tile, as for a scan ([`super::scans`]), and
//! counts the survivors in local memory. For compaction, the survivor of each position is found by
//! bisection in the running counts. So neighbouring threads write neighbouring elements, one each.
//!
//! If groups may use ordered regions and none can fail, they propagate the number of survivors so far,
//! and each writes its survivors from there on. That is a single pass over memory. It writes to an
//! array for as many elements as there are, whose first part is the result.
//!
//! Elsewhere the first grid of groups counts the survivors of each tile. The host finds their starts,
//! since it must know the size of the result, and the second grid computes each tile again.
//!
//! A tile writes as many elements as it propagates, or as were counted for it, by construction: it
//! makes an array of that length.

use super::{Tile, Tiles, compute_at, fill_tile, is_single_pass, tile, tiles};
use crate::code::{Code, fresh_operation};
use crate::grid::reduction_of;
use crate::group::{
    Running, SOME, THREADS, arrays_like, fold, running_in_tile, starts, sums_of_threads,
};
use crate::ordered::zeros;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Bracketing, Expression, Lambda, Output, SliceDimension, Variable,
    View,
};

/// The type of counts in a tile, of which local memory has room for more than of others.
pub(super) const COUNT: Scalar = Scalar::I32;
const NONE: Atom = Atom::Constant(ScalarValue::I32(0));

/// A tile whose elements have been computed, as arrays of the group.
struct Filled {
    /// The flags of the survivors, 1 or 0, and the elements.
    flags: Vec<Variable>,
    elements: Vec<Variable>,
    /// The number of survivors of each thread, and of each sequence of some threads.
    sums: Vec<Variable>,
    of_some: Vec<Variable>,
}

/// Writes a filter that [has tiles](has_tiles). `pattern` is what it binds: the number of
/// survivors, and arrays of them.
pub(super) fn filter_in_tiles(code: &mut Code, operation: &ArrayOperation, pattern: &[Variable]) {
    let Some((total, arrays)) = pattern.split_first() else {
        return;
    };
    let single_pass = is_single_pass(operation, code.parallelism);
    let tiles = tiles(code, operation, single_pass);
    let counter = counter(code);
    if single_pass {
        return filter_single_pass(code, operation, &counter, (*total, arrays), &tiles);
    }
    let counts = count_tiles(code, operation, &counter, &tiles);
    let begins = code.like(*total, vec![tiles.count]);
    let sum = |code: &mut Code| code.lambda(ScalarOperation::Add);
    let outputs = vec![
        Output::Scan {
            lambda: sum(code),
            start: vec![Atom::index(0)],
            exclusive: true,
        },
        Output::Reduce {
            lambda: sum(code),
            start: vec![Atom::index(0)],
            commutes: true,
            bracketing: Bracketing::Whole,
        },
    ];
    let by_host = reduction_of(code, &[counts, counts], tiles.count, outputs);
    code.push(vec![begins, *total], Expression::Operation(by_host));
    if arrays.is_empty() {
        return;
    }
    write_survivors(
        code,
        operation,
        &counter,
        (counts, begins),
        (*total, arrays),
        &tiles,
    );
}

/// Returns the counter of survivors: a scan of zeros and ones.
fn counter(code: &mut Code) -> Running {
    let [left, right, sum] = ["a", "b", "sum"].map(|name| code.fresh(name, COUNT));
    let (statements, ()) = code.apart(|code| {
        let add = Expression::Scalar {
            operation: ScalarOperation::Add,
            operand: COUNT,
            arguments: vec![Atom::Variable(left), Atom::Variable(right)],
        };
        code.push(vec![sum], add);
    });
    let lambda = Lambda {
        parameters: vec![left, right],
        body: Body {
            statements,
            results: vec![Atom::Variable(sum)],
        },
    };
    Running {
        lambda,
        start: vec![NONE],
        exclusive: false,
        own: vec![code.fresh("kept", COUNT)],
    }
}

/// Writes the first grid, which counts the survivors of each tile.
fn count_tiles(
    code: &mut Code,
    operation: &ArrayOperation,
    counter: &Running,
    tiles: &Tiles,
) -> Variable {
    let scans = std::slice::from_ref(counter);
    let number = code.fresh("tile", Scalar::I64);
    let body = code.body(|code| {
        let tile = tile(code, number, tiles);
        let flags = arrays_like(code, scans, Atom::index(tiles.size));
        fill_survivors(code, operation, &flags, &tile);
        let sums = sums_of_threads(code, scans, &flags, THREADS, tiles.each);
        let of_some = sums_of_threads(code, scans, &sums, SOME, SOME);
        vec![count_of(code, scans, &of_some)]
    });
    let count = code.fresh("kept", Scalar::I64);
    let counts = code.like(count, vec![tiles.count]);
    let outputs = vec![Output::Map];
    code.map_groups(
        vec![counts],
        (tiles.count, number),
        Vec::new(),
        body,
        outputs,
    );
    counts
}

/// Computes the number of survivors of a tile, from those of each sequence of some threads.
fn count_of(code: &mut Code, scans: &[Running], of_some: &[Variable]) -> Atom {
    let all = (Atom::index(0), Atom::index(SOME));
    let count = fold(code, scans, of_some, all, vec![NONE]);
    let widen = ScalarOperation::Convert(Scalar::I64);
    let count = code.compute(widen, COUNT, &count, Scalar::I64);
    // The maximum tells later stages that tiles do not begin before those before them.
    code.scalar(ScalarOperation::Maximum, count, Atom::index(0))
}

/// Fills arrays of the group: with 1 for survivors and 0 for others, and with the elements, as far
/// as there are arrays for them.
fn fill_survivors(code: &mut Code, operation: &ArrayOperation, arrays: &[Variable], tile: &Tile) {
    let copy = fresh_operation(code.program, operation);
    let padding = zeros(code.program, arrays);
    let count = arrays.len();
    fill_tile(code, arrays, tile, padding, |code, index| {
        let mut results = copy.body.results.clone();
        results.truncate(count);
        compute_at(code, copy, tile, index);
        if let Some(flag) = results.first_mut() {
            let number = ScalarOperation::Convert(COUNT);
            *flag = code.compute(number, Scalar::Bool, &[*flag], COUNT);
        }
        results
    });
}

/// Writes the only grid, in which tiles propagate the number of survivors so far.
fn filter_single_pass(
    code: &mut Code,
    operation: &ArrayOperation,
    counter: &Running,
    (total, pattern): (Variable, &[Variable]),
    tiles: &Tiles,
) {
    let mut whole = Vec::with_capacity(pattern.len());
    for array in pattern {
        whole.push(code.like(*array, vec![tiles.n]));
    }
    let number = code.fresh("tile", Scalar::I64);
    let first = code.fresh("first", Scalar::I64);
    let body = code.body(|code| {
        let tile = tile(code, number, tiles);
        let filled = fill_tile_survivors(code, operation, counter, &tile, pattern, tiles);
        let count = count_of(code, std::slice::from_ref(counter), &filled.of_some);
        let next = code.scalar(ScalarOperation::Add, Atom::Variable(first), count);
        let arrays = compact_survivors(code, &filled, counter, count, tiles);
        let chunks = arrays.into_iter().map(Atom::Variable);
        let joined = chunks.flat_map(|chunk| [Atom::Variable(first), chunk]);
        std::iter::once(next).chain(joined).collect()
    });
    let join = |_: &Variable| Output::Join {
        shape: vec![tiles.n],
    };
    let outputs = pattern.iter().map(join).collect();
    let given = std::iter::once(total).chain(whole.iter().copied());
    let propagated = vec![(first, Atom::index(0))];
    code.map_groups(
        given.collect(),
        (tiles.count, number),
        propagated,
        body,
        outputs,
    );
    for (array, whole) in pattern.iter().zip(whole) {
        let view = View::Slice(vec![SliceDimension {
            start: Atom::index(0),
            step: Atom::index(1),
            count: Atom::Variable(total),
        }]);
        code.push(vec![*array], Expression::View { array: whole, view });
    }
}

/// Writes the second grid: each tile's survivors, from their start on.
fn write_survivors(
    code: &mut Code,
    operation: &ArrayOperation,
    counter: &Running,
    (counts, begins): (Variable, Variable),
    (total, pattern): (Variable, &[Variable]),
    tiles: &Tiles,
) {
    let number = code.fresh("tile", Scalar::I64);
    let body = code.body(|code| {
        let tile = tile(code, number, tiles);
        let first = code.element(begins, Atom::Variable(tile.number));
        let count = code.element(counts, Atom::Variable(tile.number));
        let filled = fill_tile_survivors(code, operation, counter, &tile, pattern, tiles);
        let arrays = compact_survivors(code, &filled, counter, count, tiles);
        let arrays = arrays.into_iter();
        arrays.flat_map(|a| [first, Atom::Variable(a)]).collect()
    });
    let join = |_: &Variable| Output::Join {
        shape: vec![Atom::Variable(total)],
    };
    let outputs = pattern.iter().map(join).collect();
    code.map_groups(
        pattern.to_vec(),
        (tiles.count, number),
        Vec::new(),
        body,
        outputs,
    );
}

/// Computes the survivors of a tile, with elements like those of `pattern`.
fn fill_tile_survivors(
    code: &mut Code,
    operation: &ArrayOperation,
    counter: &Running,
    tile: &Tile,
    pattern: &[Variable],
    tiles: &Tiles,
) -> Filled {
    let scans = std::slice::from_ref(counter);
    let size = Atom::index(tiles.size);
    let mut arrays = arrays_like(code, scans, size);
    let flags = arrays.clone();
    let elements: Vec<Variable> =
        (pattern.iter().map(|array| code.like(*array, vec![size]))).collect();
    arrays.extend(&elements);
    fill_survivors(code, operation, &arrays, tile);
    let sums = sums_of_threads(code, scans, &flags, THREADS, tiles.each);
    let of_some = sums_of_threads(code, scans, &sums, SOME, SOME);
    Filled {
        flags,
        elements,
        sums,
        of_some,
    }
}

/// Compacts the survivors of a tile, which are `count`.
fn compact_survivors(
    code: &mut Code,
    filled: &Filled,
    counter: &Running,
    count: Atom,
    tiles: &Tiles,
) -> Vec<Variable> {
    let scans = std::slice::from_ref(counter);
    let starts = starts(code, scans, (&filled.sums, &filled.of_some), vec![NONE]);
    let running = running_in_tile(code, scans, &filled.flags, &starts, tiles.each);
    let index = code.fresh("j", Scalar::I64);
    let body = code.body(|code| {
        let counts = running.iter().copied();
        let place = counts.map(|counts| place_of(code, Atom::Variable(index), counts, tiles.size));
        let place = place.last().unwrap_or(Atom::index(0));
        let elements = filled.elements.iter();
        elements.map(|array| code.element(*array, place)).collect()
    });
    let mut arrays = Vec::with_capacity(filled.elements.len());
    for array in &filled.elements {
        arrays.push(code.like(*array, vec![count]));
    }
    let outputs = arrays.iter().map(|_| Output::Map).collect();
    code.map_threads(arrays.clone(), (count, index), body, outputs, None);
    arrays
}

/// Finds the survivor of a tile that has `before` survivors before it: the first position whose
/// running count is larger. The bisection has as many iterations as any tile needs.
fn place_of(code: &mut Code, before: Atom, counts: Variable, size: i64) -> Atom {
    let states = ["low", "high"].map(|name| code.fresh(name, Scalar::I64));
    let [low, high] = states.map(Atom::Variable);
    let last = Atom::index(size - 1);
    let body = code.body(|code| {
        let sum = code.scalar(ScalarOperation::Add, low, high);
        let middle = code.scalar(ScalarOperation::ShiftRight, sum, Atom::index(1));
        let middle = code.scalar(ScalarOperation::Minimum, middle, last);
        let count = code.element(counts, middle);
        let widen = ScalarOperation::Convert(Scalar::I64);
        let count = code.compute(widen, COUNT, &[count], Scalar::I64);
        let after = code.compare(ScalarOperation::Greater, count, before);
        let next = code.scalar(ScalarOperation::Add, middle, Atom::index(1));
        let low = code.choose_one(after, Scalar::I64, |_| low, |_| next);
        let high = code.choose_one(after, Scalar::I64, |_| middle, |_| high);
        vec![low, high]
    });
    let found = ["low", "high"].map(|name| code.fresh(name, Scalar::I64));
    let starts = [Atom::index(0), Atom::index(size)];
    let iterations = i64::from(i64::BITS - size.leading_zeros());
    let indices = (Atom::index(iterations), code.fresh("round", Scalar::I64));
    let carries = states.into_iter().zip(starts).collect();
    code.loop_of_thread(found.to_vec(), indices, carries, body, Vec::new());
    let [low, _] = found.map(Atom::Variable);
    code.scalar(ScalarOperation::Minimum, low, last)
}
