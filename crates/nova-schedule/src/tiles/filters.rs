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
use crate::grid::reduction_of;
use crate::group::{Running, SOME, Sums, arrays_like, fold, running_in_tile, starts, sums_of_tile};
use crate::ordered::zeros;
use crate::writer::{Writer, fresh_operation};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Bracketing, Expression, Lambda, Output, SliceDimension, Variable,
    View,
};

/// The type of counts in a tile, of which local memory has room for more than of others.
pub(super) const COUNT: Scalar = Scalar::I32;
const NONE: Atom = Atom::Constant(ScalarValue::I32(0));

/// A filter in tiles.
struct Filter<'a> {
    operation: &'a ArrayOperation,
    tiles: Tiles,
    /// The counter of survivors: a scan of zeros and ones.
    counter: [Running; 1],
    /// What the filter binds: the number of survivors, and arrays of them.
    total: Variable,
    arrays: &'a [Variable],
}

/// A tile whose elements have been computed, as arrays of the group.
struct Filled {
    /// The flags of the survivors, 1 or 0, and the elements.
    flags: Vec<Variable>,
    elements: Vec<Variable>,
    /// The numbers of survivors.
    sums: Sums,
}

/// Writes a filter that [has tiles](super::has_tiles). `pattern` is what it binds.
pub(super) fn filter_in_tiles(code: &mut Writer, operation: &ArrayOperation, pattern: &[Variable]) {
    let Some((total, arrays)) = pattern.split_first() else {
        return;
    };
    let single_pass = is_single_pass(operation, code.parallelism);
    let filter = Filter {
        operation,
        tiles: tiles(code, operation, single_pass),
        counter: [counter(code)],
        total: *total,
        arrays,
    };
    match single_pass {
        true => filter.write_single_pass(code),
        false => filter.write_in_two_passes(code),
    }
}

/// Returns the counter of survivors: a scan of zeros and ones.
fn counter(code: &mut Writer) -> Running {
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

impl Filter<'_> {
    /// Counts the survivors of each tile, and writes them when the host has found their starts.
    fn write_in_two_passes(&self, code: &mut Writer) {
        let counts = self.count_tiles(code);
        let count = self.tiles.count;
        let begins = code.like(self.total, vec![count]);
        let sum = |code: &mut Writer| code.lambda(ScalarOperation::Add);
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
        let by_host = reduction_of(code, &[counts, counts], count, outputs);
        code.push(vec![begins, self.total], Expression::Operation(by_host));
        if !self.arrays.is_empty() {
            self.write_survivors(code, counts, begins);
        }
    }

    /// Writes the first grid, which counts the survivors of each tile.
    fn count_tiles(&self, code: &mut Writer) -> Variable {
        let number = code.fresh("tile", Scalar::I64);
        let body = code.body(|code| {
            let tile = tile(code, number, &self.tiles);
            let flags = arrays_like(code, &self.counter, Atom::index(self.tiles.size));
            self.fill_arrays(code, &flags, &tile);
            let sums = sums_of_tile(code, &self.counter, &flags, self.tiles.each);
            vec![self.count_of(code, &sums)]
        });
        let count = code.fresh("kept", Scalar::I64);
        let counts = code.like(count, vec![self.tiles.count]);
        let outputs = vec![Output::Map];
        code.map_groups(
            vec![counts],
            (self.tiles.count, number),
            Vec::new(),
            body,
            outputs,
        );
        counts
    }

    /// Computes the number of survivors of a tile.
    fn count_of(&self, code: &mut Writer, sums: &Sums) -> Atom {
        let all = (Atom::index(0), Atom::index(SOME));
        let count = fold(code, &self.counter, &sums.of_some, all, vec![NONE]);
        let widen = ScalarOperation::Convert(Scalar::I64);
        let count = code.compute(widen, COUNT, &count, Scalar::I64);
        // The maximum tells later stages that tiles do not begin before those before them.
        code.scalar(ScalarOperation::Maximum, count, Atom::index(0))
    }

    /// Fills arrays of the group: with 1 for survivors and 0 for others, and with the elements, as far
    /// as there are arrays for them.
    fn fill_arrays(&self, code: &mut Writer, arrays: &[Variable], tile: &Tile) {
        let copy = fresh_operation(code.program, self.operation);
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
    fn write_single_pass(&self, code: &mut Writer) {
        let mut whole = Vec::with_capacity(self.arrays.len());
        for array in self.arrays {
            whole.push(code.like(*array, vec![self.tiles.n]));
        }
        let number = code.fresh("tile", Scalar::I64);
        let first = code.fresh("first", Scalar::I64);
        let body = code.body(|code| {
            let tile = tile(code, number, &self.tiles);
            let filled = self.fill(code, &tile);
            let count = self.count_of(code, &filled.sums);
            let next = code.scalar(ScalarOperation::Add, Atom::Variable(first), count);
            let arrays = self.compact_survivors(code, &filled, count);
            let chunks = arrays.into_iter().map(Atom::Variable);
            let joined = chunks.flat_map(|chunk| [Atom::Variable(first), chunk]);
            std::iter::once(next).chain(joined).collect()
        });
        let join = |_: &Variable| Output::Join {
            shape: vec![self.tiles.n],
        };
        let outputs = self.arrays.iter().map(join).collect();
        let given = std::iter::once(self.total).chain(whole.iter().copied());
        let propagated = vec![(first, Atom::index(0))];
        code.map_groups(
            given.collect(),
            (self.tiles.count, number),
            propagated,
            body,
            outputs,
        );
        for (array, whole) in self.arrays.iter().zip(whole) {
            let view = View::Slice(vec![SliceDimension {
                start: Atom::index(0),
                step: Atom::index(1),
                count: Atom::Variable(self.total),
            }]);
            code.push(vec![*array], Expression::View { array: whole, view });
        }
    }

    /// Writes the second grid: each tile's survivors, from their start on.
    fn write_survivors(&self, code: &mut Writer, counts: Variable, begins: Variable) {
        let number = code.fresh("tile", Scalar::I64);
        let body = code.body(|code| {
            let tile = tile(code, number, &self.tiles);
            let first = code.element(begins, Atom::Variable(tile.number));
            let count = code.element(counts, Atom::Variable(tile.number));
            let filled = self.fill(code, &tile);
            let arrays = self.compact_survivors(code, &filled, count);
            let arrays = arrays.into_iter();
            arrays.flat_map(|a| [first, Atom::Variable(a)]).collect()
        });
        let join = |_: &Variable| Output::Join {
            shape: vec![Atom::Variable(self.total)],
        };
        let outputs = self.arrays.iter().map(join).collect();
        code.map_groups(
            self.arrays.to_vec(),
            (self.tiles.count, number),
            Vec::new(),
            body,
            outputs,
        );
    }

    /// Computes the elements of a tile, and counts its survivors.
    fn fill(&self, code: &mut Writer, tile: &Tile) -> Filled {
        let size = Atom::index(self.tiles.size);
        let mut arrays = arrays_like(code, &self.counter, size);
        let flags = arrays.clone();
        let elements = self.arrays.iter();
        let elements: Vec<Variable> = elements
            .map(|array| code.like(*array, vec![size]))
            .collect();
        arrays.extend(&elements);
        self.fill_arrays(code, &arrays, tile);
        let sums = sums_of_tile(code, &self.counter, &flags, self.tiles.each);
        Filled {
            flags,
            elements,
            sums,
        }
    }

    /// Compacts the survivors of a tile, which are `count`.
    fn compact_survivors(&self, code: &mut Writer, filled: &Filled, count: Atom) -> Vec<Variable> {
        let starts = starts(code, &self.counter, &filled.sums, vec![NONE]);
        let running = running_in_tile(code, &self.counter, &filled.flags, &starts, self.tiles.each);
        let index = code.fresh("j", Scalar::I64);
        let body = code.body(|code| {
            let counts = running.iter().copied();
            let place =
                counts.map(|counts| place_of(code, Atom::Variable(index), counts, self.tiles.size));
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
}

/// Finds the survivor of a tile that has `before` survivors before it: the first position whose
/// running count is larger. The bisection has as many iterations as any tile needs.
fn place_of(code: &mut Writer, before: Atom, counts: Variable, size: i64) -> Atom {
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
