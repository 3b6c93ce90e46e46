//! Rows that are written at last, each by a lane: a step writes one element of every row, and these lie far apart.
//! Such a loop is tiled. A tile writes a cache line of each row before the next row, where the loop would come
//! back to the line so many times.
//!
//! ```text
//! for i in 0 .. n {                            for tile in 0 .. ⌈n/8⌉ {
//!     for lane { a[n lane + i] = x[i, lane] }      first = min(8 tile, n - 8);
//! }                                        ⇒       for lane { for k in 0 .. 8 {
//!                                                      a[n lane + first + k] = x[first + k, lane] } } }
//! ```
//!
//! The last tile overlaps the one before. It writes the same values, since the loop reads nothing that it writes.

use super::block::Block;
use super::varying::{INDEX, reads};
use nova_core::ScalarOperation;
use nova_diag::Place;
use nova_loop::copies;
use nova_loop::ir::{Command, Expression, Type, Variable};
use nova_loop::streams::LinearReads;
use nova_machine::PROCESSOR;
use std::collections::{BTreeMap, BTreeSet};

impl Block<'_> {
    /// Returns the loops that replace a loop over `index` whose body is a loop over lanes, if that only writes an
    /// element of each lane's row.
    pub(super) fn tiled(
        &mut self,
        index: Variable,
        count: &Expression,
        body: &[Command],
        place: &Place,
    ) -> Option<Vec<Command>> {
        let (lane, row) = lane_loop(body)?;
        let size = self.line_of(index, *lane, row)?;
        let mut made = Vec::new();
        let length = self.declared("length", count.clone(), &mut made);
        let number = length.clone().plus(Expression::index(size - 1));
        let shift = Expression::index(i64::from(size.trailing_zeros()));
        let number = number.compare(ScalarOperation::ShiftRight, shift);
        let [tile, first, own] =
            ["tile", "first", "own"].map(|name| self.program.add_variable(name, INDEX));
        let start = Expression::Variable(tile).times(Expression::index(size));
        let last = length.clone().minus(Expression::index(size));
        let start = start.compare(ScalarOperation::Minimum, last);
        let at = Expression::Variable(first).plus(Expression::Variable(own));
        let own_index = copies::copy_of(self.program, index);
        let own_lane = copies::copy_of(self.program, *lane);
        let mut names = BTreeMap::from([(index, own_index), (*lane, own_lane)]);
        let mut inner = vec![Command::declare(own_index, at)];
        inner.extend(copies::copy(self.program, row, &mut names));
        let line = Command::sequential(own, Expression::index(size), inner, place);
        let width = Expression::index(self.width);
        let lanes = Command::sequential(own_lane, width, vec![line], place);
        self.lanes.insert(own_lane);
        let tiles = vec![Command::declare(first, start), lanes];
        made.push(Command::If {
            condition: Expression::index(size).compare(ScalarOperation::LessEqual, length.clone()),
            then: vec![Command::sequential(tile, number, tiles, place)],
            otherwise: vec![Command::sequential(index, length, body.to_vec(), place)],
        });
        Some(made)
    }

    /// Returns the number of elements of a cache line, if the body of a loop over lanes only stores an element
    /// which is the neighbour of that of the next index, and far from that of the next lane.
    fn line_of(&self, index: Variable, lane: Variable, row: &[Command]) -> Option<i64> {
        let (store, declared) = row.split_last()?;
        let of_lane = |c: &Command| {
            matches!(c, Command::Declare { value: Some(value), .. }
            if !reads(&BTreeSet::from([index]), value) && !value.reads_memory())
        };
        let Command::Store {
            pointer,
            index: address,
            value,
        } = store
        else {
            return None;
        };
        let is_other = !self.locals.contains(pointer) && !self.private.contains(pointer);
        let reads_itself = reads(&BTreeSet::from([*pointer]), value);
        if !self.lanes.contains(&lane) || !is_other || reads_itself || !declared.iter().all(of_lane)
        {
            return None;
        }
        let along = LinearReads::of(index, &[]).linear(address);
        let across = LinearReads::of(lane, row).linear(address);
        let is_apart = across.is_none_or(|(_, stride)| stride.abs() > PROCESSOR.neighbour_stride());
        let Type::Pointer(scalar) = self.program.variable(*pointer).ty else {
            return None;
        };
        let line = PROCESSOR.line_bytes / i64::from(scalar.bits() / 8).max(1);
        (matches!(along, Some((_, 1))) && is_apart && line > 1).then_some(line)
    }

    /// Returns an expression itself if it is simple, otherwise a new variable with its value.
    fn declared(&mut self, name: &str, value: Expression, made: &mut Vec<Command>) -> Expression {
        if value.is_simple() {
            return value;
        }
        let variable = self.program.add_variable(name, INDEX);
        made.push(Command::declare(variable, value));
        Expression::Variable(variable)
    }
}

/// Returns the lane and the body of the loop that a body consists of.
pub(super) fn lane_loop(body: &[Command]) -> Option<(&Variable, &[Command])> {
    match body {
        [
            Command::For {
                variable: lane,
                body: row,
                ..
            },
        ] => Some((lane, row)),
        _others => None,
    }
}
