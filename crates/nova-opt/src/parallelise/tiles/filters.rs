//! Filters in tiles, for devices: a work-group takes a tile, as for a scan ([`super::scans`]), and counts
//! in memory of its own which elements are kept. The element that comes to a place is found by bisection
//! in the running counts, so that neighbouring threads write neighbouring elements, each one.
//!
//! Where groups may take turns and none can fail, they hand on how many are kept so far, and each writes
//! its elements from there on, in one pass over memory for as many elements as there are, of which the
//! result is the first part. Elsewhere the first grid of groups says how many each tile keeps, the host
//! finds where they begin, since the size of the result must be known there, and the second grid computes
//! each tile again.
//!
//! That a tile writes as many elements as it hands on, or as were counted for it, is so by construction:
//! it makes an array of that length.

use super::{Tile, Tiles, takes_turns};
use crate::parallelise::Parallelism;
use crate::parallelise::code::{Code, fresh_operation};
use crate::parallelise::group::{Running, SOME, THREADS};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Bracketing, Expression, Lambda, Output, SliceDimension, Variable,
    View,
};

/// The type of counts in a tile, of which a group has room for more than of others.
pub(super) const COUNT: Scalar = Scalar::I32;
const NONE: Atom = Atom::Constant(ScalarValue::I32(0));

/// A tile whose elements have been computed: arrays of the group.
struct Filled {
    /// True if each is kept, and what it is.
    kept: Vec<Variable>,
    elements: Vec<Variable>,
    /// How many each thread keeps, and each of some threads.
    sums: Vec<Variable>,
    of_some: Vec<Variable>,
}

impl Code<'_> {
    /// Writes a filter that [has tiles](Code::has_tiles). `pattern` is what it gives: how many elements
    /// it keeps, and arrays of them.
    pub(super) fn filter_in_tiles(
        &mut self,
        operation: &ArrayOperation,
        pattern: &[Variable],
        parallelism: Parallelism,
    ) {
        let Some((total, arrays)) = pattern.split_first() else {
            return;
        };
        let tiles = self.tiles(operation);
        let counter = self.counter();
        if takes_turns(operation, parallelism) {
            return self.filter_in_turns(operation, &counter, (*total, arrays), &tiles);
        }
        let kept = self.count_tiles(operation, &counter, &tiles);
        let begins = self.like(*total, vec![tiles.count]);
        let sum = |code: &mut Self| code.lambda(ScalarOperation::Add);
        let outputs = vec![
            Output::Scan {
                lambda: sum(self),
                start: vec![Atom::index(0)],
                exclusive: true,
            },
            Output::Reduce {
                lambda: sum(self),
                start: vec![Atom::index(0)],
                commutes: true,
                bracketing: Bracketing::Whole,
            },
        ];
        let by_host = self.reduction_of(&[kept, kept], tiles.count, outputs);
        self.push(vec![begins, *total], Expression::Operation(by_host));
        if arrays.is_empty() {
            return;
        }
        self.write_kept(
            operation,
            &counter,
            (kept, begins),
            (*total, arrays),
            &tiles,
        );
    }

    /// How elements are counted: as a scan of zeros and ones.
    fn counter(&mut self) -> Running {
        let [left, right, sum] = ["a", "b", "sum"].map(|name| self.fresh(name, COUNT));
        let (statements, ()) = self.apart(|code| {
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
            own: vec![self.fresh("kept", COUNT)],
        }
    }

    /// The first grid: how many elements each tile keeps.
    fn count_tiles(
        &mut self,
        operation: &ArrayOperation,
        counter: &Running,
        tiles: &Tiles,
    ) -> Variable {
        let scans = std::slice::from_ref(counter);
        let number = self.fresh("tile", Scalar::I64);
        let body = self.body(|code| {
            let tile = code.tile(number, tiles);
            let kept = code.arrays_like(scans, Atom::index(tiles.size));
            code.fill_kept(operation, &kept, &tile);
            let sums = code.sums(scans, &kept, THREADS, tiles.each);
            let of_some = code.sums(scans, &sums, SOME, SOME);
            vec![code.count_of(scans, &of_some)]
        });
        let count = self.fresh("kept", Scalar::I64);
        let counts = self.like(count, vec![tiles.count]);
        let outputs = vec![Output::Map];
        self.map_groups(
            vec![counts],
            (tiles.count, number),
            Vec::new(),
            body,
            outputs,
        );
        counts
    }

    /// The number of elements a tile keeps, from how many each of some threads counts.
    fn count_of(&mut self, scans: &[Running], of_some: &[Variable]) -> Atom {
        let all = (Atom::index(0), Atom::index(SOME));
        let count = self.fold(scans, of_some, all, vec![NONE]);
        let widen = ScalarOperation::Convert(Scalar::I64);
        let count = self.compute(widen, COUNT, &count, Scalar::I64);
        // So that later stages know that tiles do not begin before those before them.
        self.scalar(ScalarOperation::Maximum, count, Atom::index(0))
    }

    /// Fills arrays of the group: with 1 for what is kept and 0 for what is not, and with what the
    /// elements are, as far as there are arrays for them.
    fn fill_kept(&mut self, operation: &ArrayOperation, arrays: &[Variable], tile: &Tile) {
        let copy = fresh_operation(self.program, operation);
        let behind = self.zeros(arrays);
        let count = arrays.len();
        self.fill_tile(arrays, tile, behind, |code, index| {
            let mut results = copy.body.results.clone();
            results.truncate(count);
            code.compute_at(copy, tile, index);
            if let Some(kept) = results.first_mut() {
                let number = ScalarOperation::Convert(COUNT);
                *kept = code.compute(number, Scalar::Bool, &[*kept], COUNT);
            }
            results
        });
    }

    /// The only grid: how many elements are kept so far goes from tile to tile.
    fn filter_in_turns(
        &mut self,
        operation: &ArrayOperation,
        counter: &Running,
        (total, pattern): (Variable, &[Variable]),
        tiles: &Tiles,
    ) {
        let mut whole = Vec::with_capacity(pattern.len());
        for array in pattern {
            whole.push(self.like(*array, vec![tiles.n]));
        }
        let number = self.fresh("tile", Scalar::I64);
        let first = self.fresh("first", Scalar::I64);
        let body = self.body(|code| {
            let tile = code.tile(number, tiles);
            let filled = code.fill_tile_kept(operation, counter, &tile, pattern, tiles);
            let count = code.count_of(std::slice::from_ref(counter), &filled.of_some);
            let next = code.scalar(ScalarOperation::Add, Atom::Variable(first), count);
            let arrays = code.gather_kept(&filled, counter, count, tiles);
            let parts = arrays.into_iter().map(Atom::Variable);
            let joined = parts.flat_map(|part| [Atom::Variable(first), part]);
            std::iter::once(next).chain(joined).collect()
        });
        let join = |_: &Variable| Output::Join {
            shape: vec![tiles.n],
        };
        let outputs = pattern.iter().map(join).collect();
        let given = std::iter::once(total).chain(whole.iter().copied());
        let handed = vec![(first, Atom::index(0))];
        self.map_groups(
            given.collect(),
            (tiles.count, number),
            handed,
            body,
            outputs,
        );
        for (array, whole) in pattern.iter().zip(whole) {
            let view = View::Slice(vec![SliceDimension {
                start: Atom::index(0),
                step: Atom::index(1),
                count: Atom::Variable(total),
            }]);
            self.push(vec![*array], Expression::View { array: whole, view });
        }
    }

    /// The second grid: each tile's elements, from where they begin.
    fn write_kept(
        &mut self,
        operation: &ArrayOperation,
        counter: &Running,
        (counts, begins): (Variable, Variable),
        (total, pattern): (Variable, &[Variable]),
        tiles: &Tiles,
    ) {
        let number = self.fresh("tile", Scalar::I64);
        let body = self.body(|code| {
            let tile = code.tile(number, tiles);
            let first = code.element(begins, Atom::Variable(tile.number));
            let count = code.element(counts, Atom::Variable(tile.number));
            let filled = code.fill_tile_kept(operation, counter, &tile, pattern, tiles);
            let arrays = code.gather_kept(&filled, counter, count, tiles);
            let arrays = arrays.into_iter();
            arrays.flat_map(|a| [first, Atom::Variable(a)]).collect()
        });
        let join = |_: &Variable| Output::Join {
            shape: vec![Atom::Variable(total)],
        };
        let outputs = pattern.iter().map(join).collect();
        self.map_groups(
            pattern.to_vec(),
            (tiles.count, number),
            Vec::new(),
            body,
            outputs,
        );
    }

    /// What a tile keeps, with the elements like those of `pattern`.
    fn fill_tile_kept(
        &mut self,
        operation: &ArrayOperation,
        counter: &Running,
        tile: &Tile,
        pattern: &[Variable],
        tiles: &Tiles,
    ) -> Filled {
        let scans = std::slice::from_ref(counter);
        let size = Atom::index(tiles.size);
        let mut arrays = self.arrays_like(scans, size);
        let kept = arrays.clone();
        let elements: Vec<Variable> =
            (pattern.iter().map(|array| self.like(*array, vec![size]))).collect();
        arrays.extend(&elements);
        self.fill_kept(operation, &arrays, tile);
        let sums = self.sums(scans, &kept, THREADS, tiles.each);
        let of_some = self.sums(scans, &sums, SOME, SOME);
        Filled {
            kept,
            elements,
            sums,
            of_some,
        }
    }

    /// The elements that a tile keeps, so many, behind each other.
    fn gather_kept(
        &mut self,
        filled: &Filled,
        counter: &Running,
        count: Atom,
        tiles: &Tiles,
    ) -> Vec<Variable> {
        let scans = std::slice::from_ref(counter);
        let starts = self.starts(scans, (&filled.sums, &filled.of_some), vec![NONE]);
        let running = self.running_in_tile(scans, &filled.kept, &starts, tiles.each);
        let index = self.fresh("j", Scalar::I64);
        let body = self.body(|code| {
            let counts = running.iter().copied();
            let place =
                counts.map(|counts| code.place_of(Atom::Variable(index), counts, tiles.size));
            let place = place.last().unwrap_or(Atom::index(0));
            let elements = filled.elements.iter();
            elements.map(|array| code.element(*array, place)).collect()
        });
        let mut arrays = Vec::with_capacity(filled.elements.len());
        for array in &filled.elements {
            arrays.push(self.like(*array, vec![count]));
        }
        let outputs = arrays.iter().map(|_| Output::Map).collect();
        self.map_threads(arrays.clone(), (count, index), body, outputs, None);
        arrays
    }

    /// Where in a tile the element stands before which `before` are kept: the first place whose running
    /// count is larger, by bisection in so many rounds as any tile needs.
    fn place_of(&mut self, before: Atom, counts: Variable, size: i64) -> Atom {
        let states = ["low", "high"].map(|name| self.fresh(name, Scalar::I64));
        let [low, high] = states.map(Atom::Variable);
        let last = Atom::index(size - 1);
        let body = self.body(|code| {
            let sum = code.scalar(ScalarOperation::Add, low, high);
            let middle = code.scalar(ScalarOperation::ShiftRight, sum, Atom::index(1));
            let middle = code.scalar(ScalarOperation::Minimum, middle, last);
            let count = code.element(counts, middle);
            let widen = ScalarOperation::Convert(Scalar::I64);
            let count = code.compute(widen, COUNT, &[count], Scalar::I64);
            let behind = code.compare(ScalarOperation::Greater, count, before);
            let next = code.scalar(ScalarOperation::Add, middle, Atom::index(1));
            let low = code.choose_one(behind, Scalar::I64, |_| low, |_| next);
            let high = code.choose_one(behind, Scalar::I64, |_| middle, |_| high);
            vec![low, high]
        });
        let found = ["low", "high"].map(|name| self.fresh(name, Scalar::I64));
        let starts = [Atom::index(0), Atom::index(size)];
        let rounds = i64::from(i64::BITS - size.leading_zeros());
        let indices = (Atom::index(rounds), self.fresh("round", Scalar::I64));
        let carries = states.into_iter().zip(starts).collect();
        self.loop_of_thread(found.to_vec(), indices, carries, body, Vec::new());
        let [low, _] = found.map(Atom::Variable);
        self.scalar(ScalarOperation::Minimum, low, last)
    }
}
