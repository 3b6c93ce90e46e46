//! The text of commands on blocks of a fixed size.

use super::Printer;
use crate::ir::{
    Command, Gather, block_commands, calls, errors, jumps, remarks, structures, variable_commands,
};

impl Printer<'_> {
    /// Prints a command on blocks of a fixed size.
    pub(super) fn fixed_block(&mut self, command: &Command) {
        match command {
            Command::PaddedCopy {
                to,
                from,
                element,
                count,
                pad,
            } => {
                self.out.text("padded_copy");
                self.argument(to);
                self.argument(from);
                self.scalar(*element);
                self.argument(count);
                self.argument(pad);
            }
            Command::PlanRows { joins } => {
                self.out.text("plan_rows");
                self.variable(*joins);
            }
            Command::LaneReduce {
                to,
                from,
                element,
                operation,
                count,
            } => {
                self.out.text("lane_reduce");
                self.argument(to);
                self.argument(from);
                self.scalar(*element);
                self.out.text(&format!(" {}", operation.short()));
                self.argument(count);
            }
            Command::TreeReduce {
                pointer,
                element,
                operation,
                into,
            } => {
                self.out.text("tree_reduce");
                self.variable(*pointer);
                self.scalar(*element);
                self.out
                    .text(&format!(" {} {}", operation.short(), into.name()));
            }
            Command::PrefixScan {
                to,
                from,
                element,
                operation,
                exclusive,
                last,
            } => {
                self.out.text("prefix_scan");
                self.argument(to);
                self.argument(from);
                self.scalar(*element);
                let which = if *exclusive { "exclusive" } else { "inclusive" };
                self.out.text(&format!(" {} {which}", operation.short()));
                self.variable(*last);
            }
            Command::Gather(gather) => self.gather(gather),
            Command::Copy { .. }
            | Command::PlanNonTemporal { .. }
            | Command::NonTemporalStore { .. }
            | block_commands!()
            | variable_commands!()
            | structures!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => {}
        }
    }

    /// Prints a command that prepares a loop over [`crate::ir::GATHER_WIDTH`] elements.
    fn gather(&mut self, gather: &Gather) {
        let stride = match gather {
            Gather::Strided {
                to,
                from,
                element,
                stride,
            } => {
                self.out.text("gather_strided");
                self.argument(to);
                self.argument(from);
                self.scalar(*element);
                stride
            }
            Gather::Precheck {
                outside,
                indices,
                index,
                stride,
                limit,
            } => {
                self.out.text("gather_precheck");
                self.variable(*outside);
                self.argument(limit);
                self.argument(indices);
                self.scalar(*index);
                stride
            }
            Gather::Indexed {
                to,
                from,
                element,
                indices,
                index,
                stride,
            } => {
                self.out.text("gather_indexed");
                self.argument(to);
                self.argument(from);
                self.scalar(*element);
                self.argument(indices);
                self.scalar(*index);
                stride
            }
        };
        self.out.text(&format!(" {stride}"));
    }
}
