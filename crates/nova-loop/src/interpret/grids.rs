//! The iterations of parallel loops: the order in which the interpreter runs them, and the detection of
//! races between them.
//!
//! Threads run the iterations of a parallel loop concurrently. The interpreter runs them one after the
//! other, so a program that depends on their order could give the right value in this order. Hence the
//! order can be chosen, and every element remembers the iterations that have used it. A write of one
//! iteration to an element that another one reads or writes is found in any order.

use super::{Step, wrong};
use crate::ir::Stays;

/// The order in which the iterations of parallel loops run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GridOrder {
    /// From the first to the last.
    #[default]
    Rising,
    /// From the last to the first.
    Falling,
    /// In a pseudo-random order of this seed.
    Shuffled(u64),
}

impl GridOrder {
    /// Returns the index of the iteration that runs in position `position` of `count`.
    pub(super) fn index(self, position: i64, count: i64) -> i64 {
        match self {
            GridOrder::Rising => position,
            GridOrder::Falling => count - 1 - position,
            GridOrder::Shuffled(seed) => {
                let count = i128::from(count);
                let mut step = i128::from(seed % 1_000_003) + count / 3 + 1;
                while common_divisor(step, count) != 1 {
                    step += 1;
                }
                let index = (i128::from(position) * step + i128::from(seed >> 1)) % count;
                // The index is less than the count, which has 64 bits.
                index as i64
            }
        }
    }
}

fn common_divisor(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The number of an iteration of a parallel loop in this run; 0 is the call itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Iteration(u32);

/// The origin of an iteration.
struct Origin {
    /// The run of a loop that it belongs to.
    grid: u32,
    /// The iteration that runs the loop.
    enclosing: Iteration,
}

/// The iterations that have begun in this run.
#[derive(Default)]
pub(super) struct Iterations {
    /// True if accesses are watched.
    watched: bool,
    origins: Vec<Origin>,
    grids: u32,
    current: Iteration,
    /// True if the current iteration is in its ordered region.
    in_ordered: bool,
}

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    /// An atomic write, which other iterations may do in the same way at the same time.
    Contend(Stays),
}

/// The iterations that have used an element, or the reference count of a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Touch {
    writer: Iteration,
    first_reader: Iteration,
    last_reader: Iteration,
    /// The last iteration that has written it atomically, and the kind of this write.
    contender: Option<(Iteration, Stays)>,
}

impl Iterations {
    /// Starts to watch accesses.
    pub(super) fn watch(&mut self) {
        self.watched = true;
    }

    /// Returns the current iteration, which the end of a loop that it begins restores.
    pub(super) fn current(&self) -> Iteration {
        self.current
    }

    /// Returns a number for a loop that begins.
    pub(super) fn begin_grid(&mut self) -> u32 {
        self.grids += 1;
        self.grids
    }

    /// Begins an iteration of a loop.
    pub(super) fn begin_iteration(&mut self, grid: u32, enclosing: Iteration) {
        if self.watched {
            self.origins.push(Origin { grid, enclosing });
            self.current = Iteration(self.origins.len() as u32);
        }
    }

    /// Ends a loop that this iteration has begun.
    pub(super) fn end_grid(&mut self, enclosing: Iteration) {
        self.current = enclosing;
    }

    /// True inside of a loop whose accesses are watched.
    pub(super) fn is_inside(&self) -> bool {
        self.current != Iteration::default()
    }

    /// True if an access must be noted. No iteration is concurrent with the call itself, and ordered
    /// regions run one after the other.
    pub(super) fn must_note(&self) -> bool {
        self.is_inside() && !self.in_ordered
    }

    /// Begins the ordered region of the current iteration.
    pub(super) fn begin_ordered(&mut self) {
        self.in_ordered = true;
    }

    /// Ends the ordered region of the current iteration.
    pub(super) fn end_ordered(&mut self) {
        self.in_ordered = false;
    }

    fn origin(&self, iteration: Iteration) -> Option<&Origin> {
        let index = iteration.0.checked_sub(1)?;
        self.origins.get(index as usize)
    }

    /// True if an iteration may run concurrently with the current one.
    fn is_concurrent(&self, iteration: Iteration) -> bool {
        let mut left = iteration;
        while let Some(theirs) = self.origin(left) {
            let mut right = self.current;
            while let Some(ours) = self.origin(right) {
                if theirs.grid == ours.grid {
                    return left != right;
                }
                right = ours.enclosing;
            }
            left = theirs.enclosing;
        }
        false
    }

    /// Fails if the current iteration may not know a node, since one that runs at the same time has made it.
    pub(super) fn check_maker(&self, maker: Iteration) -> Step<()> {
        match self.is_concurrent(maker) {
            true => wrong("an iteration of a grid reads a node that another one makes"),
            false => Ok(()),
        }
    }

    /// Notes an access of the current iteration. Fails if it races with an earlier one.
    pub(super) fn note(&self, touch: &mut Touch, access: Access) -> Step<()> {
        let meets_writer = self.is_concurrent(touch.writer);
        let meets_reader =
            self.is_concurrent(touch.first_reader) || self.is_concurrent(touch.last_reader);
        let meets_contender = touch.contender.is_some_and(|(iteration, stays)| {
            self.is_concurrent(iteration) && access != Access::Contend(stays)
        });
        match access {
            Access::Read => {
                if !self.is_concurrent(touch.first_reader) {
                    touch.first_reader = self.current;
                }
                touch.last_reader = self.current;
            }
            Access::Write => touch.writer = self.current,
            Access::Contend(stays) => touch.contender = Some((self.current, stays)),
        }
        if meets_writer || meets_contender || (access != Access::Read && meets_reader) {
            return wrong(
                "two iterations of a grid use the same memory, and one of them writes it",
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_a_permutation() {
        let orders = [GridOrder::Rising, GridOrder::Falling];
        let seeds = [0, 1, 7, 1 << 40, u64::MAX].map(GridOrder::Shuffled);
        for order in orders.into_iter().chain(seeds) {
            for count in [0, 1, 2, 3, 12, 97, 360] {
                let mut indices: Vec<i64> = (0..count).map(|k| order.index(k, count)).collect();
                indices.sort_unstable();
                assert_eq!(indices, (0..count).collect::<Vec<_>>(), "{order:?}");
            }
        }
    }

    #[test]
    fn iterations_of_one_grid_are_concurrent() {
        let mut iterations = Iterations::default();
        iterations.watch();
        let outer = iterations.begin_grid();
        let call = iterations.current();
        iterations.begin_iteration(outer, call);
        let (first, mut touch) = (iterations.current(), Touch::default());
        assert!(iterations.note(&mut touch, Access::Write).is_ok());
        assert!(iterations.note(&mut touch, Access::Read).is_ok());
        // An iteration is not concurrent with the one that encloses it, but with those of its own loop.
        let inner = iterations.begin_grid();
        iterations.begin_iteration(inner, first);
        assert!(iterations.note(&mut touch, Access::Read).is_ok());
        iterations.begin_iteration(inner, first);
        assert!(iterations.note(&mut touch, Access::Read).is_ok());
        assert!(iterations.note(&mut touch, Access::Write).is_err());
        iterations.end_grid(first);
        assert!(iterations.note(&mut touch, Access::Write).is_ok());
        iterations.begin_iteration(outer, call);
        assert!(iterations.note(&mut touch, Access::Read).is_err());
        iterations.end_grid(call);
        // Another run of the loop comes after this one.
        let again = iterations.begin_grid();
        iterations.begin_iteration(again, call);
        assert!(iterations.note(&mut touch, Access::Write).is_ok());
    }
}
