//! The parts of grids: in which order they run here, and whether two of them use the same memory.
//!
//! Threads run the rounds of a loop at the level of a grid side by side. The interpreter runs them
//! one after the other, so a program that depends on their order would give the right value in that
//! order. Hence the order can be chosen, and every element remembers which parts have used it: a
//! write of one part to what another one reads or writes is found whatever the order.

use super::{Step, wrong};
use crate::ir::Stays;

/// In which order the rounds of loops at the level of a grid run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GridOrder {
    /// From the first to the last.
    #[default]
    Rising,
    /// From the last to the first.
    Falling,
    /// In an order that is drawn for this seed.
    Shuffled(u64),
}

impl GridOrder {
    /// The index of a round, of so many.
    pub(super) fn index(self, round: i64, count: i64) -> i64 {
        match self {
            GridOrder::Rising => round,
            GridOrder::Falling => count - 1 - round,
            GridOrder::Shuffled(seed) => {
                let count = i128::from(count);
                let mut step = i128::from(seed % 1_000_003) + count / 3 + 1;
                while common_divisor(step, count) != 1 {
                    step += 1;
                }
                let index = (i128::from(round) * step + i128::from(seed >> 1)) % count;
                // Less than the count, which is one of 64 bits.
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

/// Names a part of a grid of this run; 0 is the call itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Part(u32);

/// Where a part is from.
struct Origin {
    /// Which run of a loop.
    grid: u32,
    /// The part that runs the loop.
    around: Part,
}

/// The parts that have begun in this run.
#[derive(Default)]
pub(super) struct Parts {
    /// True if accesses are watched.
    watched: bool,
    origins: Vec<Origin>,
    grids: u32,
    current: Part,
    /// True if it is the current part's turn.
    in_turn: bool,
}

/// What is done to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    /// A write that others may do in the same way at the same time.
    Contend(Stays),
}

/// The parts that have used a piece of memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Touch {
    writer: Part,
    first_reader: Part,
    last_reader: Part,
    /// Who has written it last as others do, and how.
    contender: Option<(Part, Stays)>,
}

impl Parts {
    /// Watches accesses from now on.
    pub(super) fn watch(&mut self) {
        self.watched = true;
    }

    /// The part that runs, which is to be given back when a loop that it begins has ended.
    pub(super) fn current(&self) -> Part {
        self.current
    }

    /// A number for a loop that begins.
    pub(super) fn begin_grid(&mut self) -> u32 {
        self.grids += 1;
        self.grids
    }

    /// A round of a loop begins.
    pub(super) fn begin_part(&mut self, grid: u32, around: Part) {
        if self.watched {
            self.origins.push(Origin { grid, around });
            self.current = Part(self.origins.len() as u32);
        }
    }

    /// A loop has ended, that this part has begun.
    pub(super) fn end_grid(&mut self, around: Part) {
        self.current = around;
    }

    /// True if an access needs to be noted: no part runs beside the call itself, and what parts do
    /// in turn they do one after the other.
    pub(super) fn matter(&self) -> bool {
        self.current != Part::default() && !self.in_turn
    }

    /// What the current part does now, no other part does.
    pub(super) fn begin_turn(&mut self) {
        self.in_turn = true;
    }

    /// The turn of the current part ends.
    pub(super) fn end_ordered(&mut self) {
        self.in_turn = false;
    }

    fn origin(&self, part: Part) -> Option<&Origin> {
        let index = part.0.checked_sub(1)?;
        self.origins.get(index as usize)
    }

    /// True if a part would run at the same time as the current one.
    fn is_beside(&self, part: Part) -> bool {
        let mut left = part;
        while let Some(theirs) = self.origin(left) {
            let mut right = self.current;
            while let Some(ours) = self.origin(right) {
                if theirs.grid == ours.grid {
                    return left != right;
                }
                right = ours.around;
            }
            left = theirs.around;
        }
        false
    }

    /// Notes an access of the current part.
    pub(super) fn note(&self, touch: &mut Touch, access: Access) -> Step<()> {
        let meets_writer = self.is_beside(touch.writer);
        let meets_reader = self.is_beside(touch.first_reader) || self.is_beside(touch.last_reader);
        let meets_contender = touch
            .contender
            .is_some_and(|(part, stays)| self.is_beside(part) && access != Access::Contend(stays));
        match access {
            Access::Read => {
                if !self.is_beside(touch.first_reader) {
                    touch.first_reader = self.current;
                }
                touch.last_reader = self.current;
            }
            Access::Write => touch.writer = self.current,
            Access::Contend(stays) => touch.contender = Some((self.current, stays)),
        }
        if meets_writer || meets_contender || (access != Access::Read && meets_reader) {
            return wrong("two parts of a grid use the same memory, and one of them writes it");
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
    fn parts_of_one_grid_are_beside_each_other() {
        let mut parts = Parts::default();
        parts.watch();
        let outer = parts.begin_grid();
        let call = parts.current();
        parts.begin_part(outer, call);
        let (first, mut touch) = (parts.current(), Touch::default());
        assert!(parts.note(&mut touch, Access::Write).is_ok());
        assert!(parts.note(&mut touch, Access::Read).is_ok());
        // A part inside another one is not beside it, but beside the other parts of its grid.
        let inner = parts.begin_grid();
        parts.begin_part(inner, first);
        assert!(parts.note(&mut touch, Access::Read).is_ok());
        parts.begin_part(inner, first);
        assert!(parts.note(&mut touch, Access::Read).is_ok());
        assert!(parts.note(&mut touch, Access::Write).is_err());
        parts.end_grid(first);
        assert!(parts.note(&mut touch, Access::Write).is_ok());
        parts.begin_part(outer, call);
        assert!(parts.note(&mut touch, Access::Read).is_err());
        parts.end_grid(call);
        // Another run of the loop comes after this one.
        let again = parts.begin_grid();
        parts.begin_part(again, call);
        assert!(parts.note(&mut touch, Access::Write).is_ok());
    }
}
