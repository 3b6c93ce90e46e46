//! The text of commands on a few elements.

use super::Printer;
use crate::ir::{
    Command, Round, block_commands, calls, errors, jumps, remarks, structures, variable_commands,
};

impl Printer<'_> {
    /// Commands on a few elements.
    pub(super) fn few(&mut self, command: &Command) {
        match command {
            Command::CopyFew {
                to,
                from,
                element,
                count,
                pad,
            } => {
                self.out.text("copy_few");
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
            Command::CombineRow {
                to,
                from,
                element,
                operation,
                count,
            } => {
                self.out.text("combine_row");
                self.argument(to);
                self.argument(from);
                self.scalar(*element);
                self.out.text(&format!(" {}", operation.short()));
                self.argument(count);
            }
            Command::CombineFew {
                pointer,
                element,
                operation,
                into,
            } => {
                self.out.text("combine_few");
                self.variable(*pointer);
                self.scalar(*element);
                self.out
                    .text(&format!(" {} {}", operation.short(), into.name()));
            }
            Command::RunFew {
                to,
                from,
                element,
                operation,
                exclusive,
                last,
            } => {
                self.out.text("run_few");
                self.argument(to);
                self.argument(from);
                self.scalar(*element);
                let which = if *exclusive { "exclusive" } else { "inclusive" };
                self.out.text(&format!(" {} {which}", operation.short()));
                self.variable(*last);
            }
            Command::Round(round) => self.round(round),
            Command::Copy { .. }
            | Command::PlanStream { .. }
            | Command::Stream { .. }
            | block_commands!()
            | variable_commands!()
            | structures!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => {}
        }
    }

    /// Commands that prepare a round.
    fn round(&mut self, round: &Round) {
        let stride = match round {
            Round::Stride {
                to,
                from,
                element,
                stride,
            } => {
                self.out.text("stride_few");
                self.argument(to);
                self.argument(from);
                self.scalar(*element);
                stride
            }
            Round::Outside {
                outside,
                indices,
                index,
                stride,
                limit,
            } => {
                self.out.text("outside_few");
                self.variable(*outside);
                self.argument(limit);
                self.argument(indices);
                self.scalar(*index);
                stride
            }
            Round::Gather {
                to,
                from,
                element,
                indices,
                index,
                stride,
            } => {
                self.out.text("gather_few");
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
