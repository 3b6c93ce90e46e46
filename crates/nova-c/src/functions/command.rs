//! Emits commands of Loop as C statements.

use crate::context::function::Emitter;
use crate::context::writer::Writer;
use crate::device::ordered_regions::ordered_region;
use crate::device::vectors::vector;
use crate::device::work_groups::meet_at_end;
use crate::emit::calls::{call, foreign_call};
use crate::emit::exits::{fail, leave};
use crate::emit::expression::{assigned, negated};
use crate::emit::memory::{memory, on_host, spare};
use crate::emit::node_commands::{new_node, node_payload};
use crate::emit::races::{trace_shared, traced_ordered};
use crate::emit::runtime_calls::runtime_call;
use crate::emit::variables::{assign, declare_unset, local_array};
use crate::ffi::trace::trace;
use crate::functions::control::control;
use crate::groups::commands::table_command;
use crate::scalar::memory_type;
use crate::syntax::context;
use nova_c_ast::ast::{Expression, Statement};
use nova_diag::deep;
use nova_loop::ir::{
    self, Command, Variable, calls, errors, jumps, memory_commands, remarks, structures,
    variable_commands,
};

impl Emitter<'_, '_> {
    /// Emits commands into the current block.
    pub fn commands(&mut self, commands: &[Command]) {
        let mut left = commands;
        while let [first, rest @ ..] = left {
            left = match ordered_region(self, left).max(vector(self, left)) {
                0 => {
                    deep(|| command(self, first));
                    rest
                }
                width => left.get(width..).unwrap_or_default(),
            };
        }
    }

    /// Emits commands as a block of their own.
    pub(crate) fn block(&mut self, commands: &[ir::Command]) -> Vec<Statement> {
        let emit = |code: &mut Self| {
            code.commands(commands);
            meet_at_end(code, commands);
        };
        self.apart(emit).0
    }
}

fn command(code: &mut Emitter, command: &Command) {
    if !code.counts && is_for_handles(code, command) {
        return;
    }
    match command {
        Command::Declare { variable, value } => {
            code.declare(*variable);
            declare_unset(code, *variable);
            if let Some(value) = value {
                command_assign(code, *variable, value);
            }
        }
        Command::Local { pointer, count } => local_array(code, *pointer, *count),
        // Arrays of work-groups are parameters of kernels; the verifier allows the command nowhere
        // else.
        Command::Shared { pointer, count } => trace_shared(code, *pointer, count),
        Command::Spare {
            pointer,
            places,
            count,
            apart,
        } => spare(code, *pointer, places, count, apart),
        Command::Assign { variable, value } => command_assign(code, *variable, value),
        memory_commands!() => memory(code, command),
        Command::Break | Command::Continue | Command::Barrier(_) | structures!() => {
            control(code, command)
        }
        Command::Return => leave(code, false),
        calls!() => outside(code, command),
        Command::Check {
            condition,
            error,
            arguments,
            place,
        } => {
            let failed = negated(code, condition).own();
            let fail = fail(code, *error, arguments, place);
            code.push(Statement::when(failed, fail));
        }
        Command::Fail {
            error,
            arguments,
            place,
        } => {
            let fail = fail(code, *error, arguments, place);
            fail.into_iter().for_each(|statement| code.push(statement));
        }
        Command::OnHost { pointer, access } => on_host(code, *pointer, access),
        Command::Prefetch { .. } if code.is_on_device() => {}
        Command::Prefetch {
            pointer,
            index,
            only_linear,
        } => {
            if let ir::Type::Pointer(element) = code.unit.program.variable(*pointer).ty {
                let arguments = vec![
                    code.named(*pointer),
                    assigned(code, index),
                    Expression::SizeOf(memory_type(element)),
                ];
                let function = match only_linear {
                    true => "nova_prefetch_linear",
                    false => "nova_prefetch",
                };
                code.push(Statement::call(function, arguments));
            }
        }
        Command::BeginOrdered(_) if code.unit.traces() => traced_ordered(code, false),
        Command::EndOrdered(_) if code.unit.traces() => traced_ordered(code, true),
        Command::BeginOrdered(_) => {
            runtime_call(code, "nova_begin_ordered", vec![context()], command)
        }
        Command::EndOrdered(_) => runtime_call(code, "nova_end_ordered", vec![context()], command),
        Command::StoreFence => runtime_call(code, "nova_store_fence", Vec::new(), command),
        Command::Comment(text) => code.push(Statement::Comment(text.clone())),
    }
}

/// True if a command only manages blocks, of which kernels have none.
fn is_for_handles(code: &Writer, command: &Command) -> bool {
    match command {
        Command::Retain(_) | Command::Release(_) => true,
        Command::Declare { variable, .. } | Command::Assign { variable, .. } => {
            code.program().variable(*variable).ty == ir::Type::Block
        }
        _others => false,
    }
}

/// Emits a command that needs code outside of the function: calls, nodes, traces.
fn outside(code: &mut Emitter, command: &Command) {
    match command {
        Command::Call {
            function,
            arguments,
            results,
        } => call(code, *function, arguments, results),
        Command::Foreign {
            foreign,
            arguments,
            results,
            ..
        } => foreign_call(code, *foreign, arguments, results),
        Command::NodeNew {
            sum,
            constructor,
            payload,
            link,
            place,
        } => new_node(code, *sum, *constructor, payload, *link, place),
        Command::NodePayload {
            sum,
            constructor,
            link,
            results,
        } => node_payload(code, *sum, *constructor, link, results),
        Command::Table(command) => table_command(code, command),
        Command::Trace {
            text,
            ty,
            components,
        } => trace(code, text, ty, components),
        // `command` passes no other commands to this function.
        variable_commands!()
        | memory_commands!()
        | structures!()
        | jumps!()
        | errors!()
        | remarks!() => {}
    }
}

fn command_assign(code: &mut Emitter, variable: Variable, value: &ir::Expression) {
    let value = assigned(code, value);
    assign(code, variable, value);
}
