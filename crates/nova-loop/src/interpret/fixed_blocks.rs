//! Execution of commands on blocks of a fixed size.

use super::machine::Machine;
use super::{Cell, Step, wrong};
use crate::ir::{Command, GATHER_WIDTH, GATHERED_ROWS, Gather};
use crate::ir::{block_commands, calls, errors, jumps, remarks, structures, variable_commands};
use nova_core::ScalarValue;

impl<'p> Machine<'p> {
    /// Executes a command on blocks of a fixed size.
    pub(super) fn fixed_block(&mut self, command: &'p Command) -> Step<()> {
        match command {
            Command::PaddedCopy { count, pad, .. } => {
                let [to, from] = self.addresses(command)?;
                let count = self.evaluate(count)?.index()?;
                let pad = self.evaluate(pad)?.scalar()?;
                self.heap.padded_copy(to, from, count, pad)
            }
            Command::TreeReduce {
                operation, into, ..
            } => {
                let [pointer] = self.addresses(command)?;
                let strict = self.program.strict;
                self.heap.tree_reduce(pointer, *operation, *into, strict)
            }
            Command::PlanRows { joins } => self.set(*joins, Cell::Scalar(ScalarValue::Bool(true))),
            Command::LaneReduce {
                element,
                operation,
                count,
                ..
            } => {
                let [to, from] = self.addresses(command)?;
                let count = self.evaluate(count)?.index()?;
                let strict = self.program.strict;
                self.heap
                    .lane_reduce((to, from), count, *element, *operation, strict)
            }
            Command::MultiplyPanels { element, steps, .. } => {
                let panels = self.addresses(command)?;
                let steps = self.evaluate(steps)?.index()?;
                self.heap.multiply_panels(panels, *element, steps)
            }
            Command::SortWords { count, low, .. } => {
                let arrays = self.addresses(command)?;
                let count = self.evaluate(count)?.index()?;
                let low = self.evaluate(low)?.index()?;
                self.heap.sort_words(arrays, count, low)
            }
            Command::PrefixScan {
                operation,
                exclusive,
                last,
                ..
            } => {
                let [to, from] = self.addresses(command)?;
                let before = self.get(*last)?.scalar()?;
                let operation = (*operation, self.program.strict);
                let after = self
                    .heap
                    .prefix_scan((to, from), operation, *exclusive, before)?;
                self.set(*last, Cell::Scalar(after))
            }
            Command::Gather(gather) => self.gather(command, gather),
            Command::Copy { .. }
            | Command::PlanNonTemporal { .. }
            | Command::NonTemporalStore { .. }
            | block_commands!()
            | variable_commands!()
            | structures!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => wrong("no command on a fixed-size block"),
        }
    }

    /// Executes a command that prepares a loop over [`GATHER_WIDTH`] elements.
    fn gather(&mut self, command: &'p Command, gather: &'p Gather) -> Step<()> {
        let places =
            |stride: u32| (0..i64::from(GATHER_WIDTH)).map(move |k| (k, k * i64::from(stride)));
        match gather {
            Gather::Strided { stride, .. } => {
                let [to, from] = self.addresses(command)?;
                for (k, place) in places(*stride) {
                    let value = self.heap.load(from, place)?;
                    self.heap.store(to, k, value)?;
                }
                Ok(())
            }
            Gather::Precheck {
                outside,
                stride,
                limit,
                ..
            } => {
                let [indices] = self.addresses(command)?;
                let limit = self.evaluate(limit)?.scalar()?;
                let mut any = false;
                for (_, place) in places(*stride) {
                    let index = self.heap.load(indices, place)?;
                    any |= i128::from(integer(index)?) < 0
                        || i128::from(integer(index)?) >= unsigned(limit)?;
                }
                self.set(*outside, Cell::Scalar(ScalarValue::Bool(any)))
            }
            Gather::Indexed { stride, .. } => {
                let [to, from, indices] = self.addresses(command)?;
                for (k, place) in places(*stride) {
                    let index = integer(self.heap.load(indices, place)?)?;
                    let value = self.heap.load(from, index)?;
                    self.heap.store(to, k, value)?;
                }
                Ok(())
            }
            Gather::Rows { stride, count, .. } => {
                let [to, from] = self.addresses(command)?;
                let stride = self.evaluate(stride)?.index()?;
                let count = self.evaluate(count)?.index()?;
                let rows = i64::from(GATHERED_ROWS);
                for (k, row) in (0..count).flat_map(|k| (0..rows).map(move |row| (k, row))) {
                    let place = row.wrapping_mul(stride).wrapping_add(k);
                    let value = self.heap.load(from, place)?;
                    self.heap.store(to, k * rows + row, value)?;
                }
                Ok(())
            }
        }
    }
}

fn integer(value: ScalarValue) -> Step<i64> {
    match value {
        ScalarValue::I32(index) => Ok(i64::from(index)),
        ScalarValue::I64(index) => Ok(index),
        _others => wrong("an index is no `i32` or `i64`"),
    }
}

fn unsigned(value: ScalarValue) -> Step<i128> {
    match value {
        ScalarValue::U64(limit) => Ok(i128::from(limit)),
        _others => wrong("a limit is no `u64`"),
    }
}
