//! The text of commands.

use super::{LEVELS, Printer};
use crate::ir::{
    Command, Destination, HostAccess, Level, Variable, block_commands, bulk_commands, calls,
    errors, fixed_block_commands, jumps, memory_commands, remarks, structures, variable_commands,
};
use crate::result_buffer_commands;
use nova_core::Scalar;
use nova_core::forms::write::print_type;
use nova_syntax::datum::write_text;

impl Printer<'_> {
    pub(super) fn command(&mut self, command: &Command) {
        self.out.text("(");
        self.out.indent += 1;
        match command {
            structures!() => self.structure(command),
            variable_commands!() => self.variable_command(command),
            memory_commands!() => self.memory(command),
            jumps!() | errors!() | remarks!() => self.other(command),
            calls!() => self.call(command),
        }
        self.out.indent -= 1;
        self.out.text(")");
    }

    /// Prints a command that contains command lists.
    fn structure(&mut self, command: &Command) {
        match command {
            Command::If {
                condition,
                then,
                otherwise,
            } => {
                self.out.text("if");
                self.argument(condition);
                self.list(then);
                if !otherwise.is_empty() {
                    self.list(otherwise);
                }
            }
            Command::Switch { scrutinee, cases } => {
                self.out.text("switch");
                self.argument(scrutinee);
                cases.iter().for_each(|case| self.list(case));
            }
            Command::For {
                variable,
                count,
                level,
                body,
                place,
            } => {
                self.out.text("for");
                self.variable(*variable);
                self.argument(count);
                self.level(*level);
                self.place(place);
                self.lines(body);
            }
            Command::Loop { body, place } => {
                self.out.text("loop");
                self.place(place);
                self.lines(body);
            }
            variable_commands!()
            | memory_commands!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => {}
        }
    }

    fn level(&mut self, level: Level) {
        let word = LEVELS.iter().find(|l| l.0 == level).map_or("", |l| l.1);
        self.out.text(" ");
        self.out.text(word);
    }

    /// Prints a command that declares or assigns a variable.
    fn variable_command(&mut self, command: &Command) {
        match command {
            Command::Declare { variable, value } => {
                let binding = self.binding(*variable);
                self.out.text(&format!("declare {binding}"));
                if let Some(value) = value {
                    self.argument(value);
                }
            }
            Command::Local { pointer, count } => {
                let binding = self.binding(*pointer);
                self.out.text(&format!("local {binding} {count}"));
            }
            Command::Shared { pointer, count } => {
                let binding = self.binding(*pointer);
                self.out.text(&format!("shared {binding}"));
                self.argument(count);
            }
            Command::Spare {
                pointer,
                places,
                count,
                apart,
            } => {
                let binding = self.binding(*pointer);
                self.out.text(&format!("spare {binding}"));
                self.argument(places);
                self.argument(count);
                self.arguments(apart);
            }
            Command::Assign { variable, value } => {
                self.out.text("set");
                self.variable(*variable);
                self.argument(value);
            }
            memory_commands!() | structures!() | jumps!() | errors!() | calls!() | remarks!() => {}
        }
    }

    /// Prints a command on memory or its blocks.
    fn memory(&mut self, command: &Command) {
        match command {
            Command::Store {
                pointer,
                index,
                value,
            } => {
                self.out.text("store");
                self.variable(*pointer);
                self.argument(index);
                self.argument(value);
            }
            Command::Contend {
                pointer,
                index,
                value,
                stays,
            } => {
                self.out.text(&format!("contend_{}", stays.word()));
                self.variable(*pointer);
                self.argument(index);
                self.argument(value);
            }
            Command::Allocate {
                block,
                pointer,
                element,
                count,
                destination,
                place,
            } => {
                let word = match destination {
                    None => "allocate",
                    Some(_) => "allocate_result",
                };
                self.block(word, *block, *pointer, *element);
                self.argument(count);
                if let Some(Destination { component, stride }) = destination {
                    self.out.text(&format!(" {component} {stride}"));
                }
                self.place(place);
            }
            Command::Reserve {
                block,
                pointer,
                element,
                used,
                count,
                place,
            } => {
                self.block("reserve", *block, *pointer, *element);
                self.argument(used);
                self.argument(count);
                self.place(place);
            }
            Command::Unique {
                block,
                pointer,
                element,
                count,
                place,
            } => {
                self.block("unique", *block, *pointer, *element);
                self.argument(count);
                self.place(place);
            }
            bulk_commands!() => self.bulk(command),
            result_buffer_commands!() => self.result_buffers(command),
            Command::Retain(variable) => {
                self.out.text("retain");
                self.variable(*variable);
            }
            Command::Release(variable) => {
                self.out.text("release");
                self.variable(*variable);
            }
            variable_commands!() | structures!() | jumps!() | errors!() | calls!() | remarks!() => {
            }
        }
    }

    /// Prints a command that moves or combines many elements.
    fn bulk(&mut self, command: &Command) {
        match command {
            Command::Copy {
                to,
                from,
                element,
                count,
            } => {
                self.out.text("copy");
                self.argument(to);
                self.argument(from);
                self.scalar(*element);
                self.argument(count);
            }
            Command::PlanNonTemporal {
                shift,
                fields,
                start,
                count,
                total,
                width,
            } => {
                self.out.text("plan_non_temporal");
                self.variable(*shift);
                self.variables(fields);
                self.argument(start);
                self.argument(count);
                self.argument(total);
                self.out.text(&format!(" {width}"));
            }
            Command::NonTemporalStore {
                fields,
                start,
                from,
                count,
                lines,
            } => {
                self.out.text(if *lines {
                    "non_temporal_store_lines"
                } else {
                    "non_temporal_store"
                });
                self.variables(fields);
                self.argument(start);
                self.argument(from);
                self.argument(count);
            }
            fixed_block_commands!() => self.fixed_block(command),
            block_commands!()
            | variable_commands!()
            | structures!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => {}
        }
    }

    /// Prints the beginning of a command that assigns a block.
    fn block(&mut self, word: &str, block: Variable, pointer: Variable, element: Scalar) {
        self.out.text(word);
        self.variable(block);
        self.variable(pointer);
        self.scalar(element);
    }

    /// Prints a jump, an error or a remark.
    fn other(&mut self, command: &Command) {
        match command {
            Command::Break => self.out.text("break"),
            Command::Continue => self.out.text("continue"),
            Command::Return => self.out.text("return"),
            Command::Check {
                condition,
                error,
                arguments,
                place,
            } => {
                self.out.text("check");
                self.argument(condition);
                self.out.text(&format!(" {}", error.info().word));
                self.arguments(arguments);
                self.place(place);
            }
            Command::Fail {
                error,
                arguments,
                place,
            } => {
                self.out.text(&format!("fail {}", error.info().word));
                self.arguments(arguments);
                self.place(place);
            }
            Command::Barrier(level) => {
                self.out.text("barrier");
                self.level(*level);
            }
            Command::BeginOrdered(index) => {
                self.out.text("begin_ordered");
                self.variable(*index);
            }
            Command::EndOrdered(index) => {
                self.out.text("end_ordered");
                self.variable(*index);
            }
            Command::StoreFence => self.out.text("store_fence"),
            Command::Prefetch {
                pointer,
                index,
                only_linear,
            } => {
                self.out.text(match only_linear {
                    true => "prefetch_stream",
                    false => "prefetch",
                });
                self.variable(*pointer);
                self.argument(index);
            }
            Command::OnHost { pointer, access } => {
                self.out.text(match access {
                    HostAccess::Reads | HostAccess::Writes => "on_host",
                    HostAccess::ReadsElement(_) => "on_host_element",
                    HostAccess::WroteElement(_) => "wrote_element",
                });
                self.variable(*pointer);
                match access {
                    HostAccess::Reads => self.out.text(" reads"),
                    HostAccess::Writes => self.out.text(" writes"),
                    HostAccess::ReadsElement(index) | HostAccess::WroteElement(index) => {
                        self.argument(index);
                    }
                }
            }
            Command::Comment(text) => {
                self.out
                    .text(&format!("comment {}", write_text(text.as_bytes())));
            }
            structures!() | variable_commands!() | memory_commands!() | calls!() => {}
        }
    }

    /// Prints a call, a command on nodes or a trace.
    fn call(&mut self, command: &Command) {
        match command {
            Command::Call {
                function,
                arguments,
                results,
            } => {
                let name = write_text(self.function_name(function.0).as_bytes());
                self.out.text(&format!("call {name}"));
                self.arguments(arguments);
                self.variables(results);
            }
            Command::Foreign {
                foreign,
                arguments,
                results,
                place,
            } => {
                self.out.text(&format!("foreign {foreign}"));
                self.arguments(arguments);
                self.variables(results);
                self.place(place);
            }
            Command::Trace {
                text,
                ty,
                components,
            } => {
                self.out
                    .text(&format!("trace {} {}", write_text(text), print_type(ty)));
                self.arguments(components);
            }
            Command::NodeNew {
                sum,
                constructor,
                payload,
                link,
                place,
            } => {
                self.out.text(&format!("new {} {constructor}", sum.0));
                self.arguments(payload);
                self.variable(*link);
                self.place(place);
            }
            Command::NodePayload {
                sum,
                constructor,
                link,
                results,
            } => {
                self.out.text(&format!("payload {} {constructor}", sum.0));
                self.argument(link);
                self.variables(results);
            }
            structures!()
            | variable_commands!()
            | memory_commands!()
            | jumps!()
            | errors!()
            | remarks!() => {}
        }
    }

    /// Prints a command on the result buffers of a loop.
    fn result_buffers(&mut self, command: &Command) {
        match command {
            Command::MaySplit { splits } => {
                self.out.text("may_split");
                self.variable(*splits);
            }
            Command::ResultBuffers {
                pieces,
                count,
                place,
            } => {
                self.out.text("result_buffers");
                self.variable(*pieces);
                self.argument(count);
                self.place(place);
            }
            Command::StoreBuffer {
                pieces,
                index,
                block,
                pointer,
                element,
                count,
                place,
            } => {
                self.out.text("store_buffer");
                self.variable(*pieces);
                self.argument(index);
                self.argument(block);
                self.argument(pointer);
                self.scalar(*element);
                self.argument(count);
                self.place(place);
            }
            Command::Buffer {
                pointer,
                pieces,
                element,
                index,
            } => {
                self.block("buffer", *pointer, *pieces, *element);
                self.argument(index);
            }
            Command::DropBuffers { pieces, count } => {
                self.out.text("drop_buffers");
                self.variable(*pieces);
                self.argument(count);
            }
            Command::Store { .. }
            | Command::Contend { .. }
            | Command::Allocate { .. }
            | Command::Reserve { .. }
            | Command::Unique { .. }
            | Command::Retain(_)
            | Command::Release(_)
            | bulk_commands!()
            | variable_commands!()
            | structures!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => {}
        }
    }
}
