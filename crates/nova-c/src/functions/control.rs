//! Emits conditionals, switches and loops of Loop as C statements.

use crate::context::function::{Emitter, LoopState};
use crate::device::kernels::kernel;
use crate::device::work_groups::{group_barrier, loop_of_threads};
use crate::dialect;
use crate::dialect::Parallel;
use crate::emit::exits::leaves;
use crate::emit::expression::{assigned, expression, negated, plain, value};
use crate::emit::races::{traced_barrier, traced_loop};
use crate::functions::region::region;
use crate::syntax::{int64, literal};
use nova_c_ast::ast::{Binary, Expression, Statement};
use nova_diag::Place;
use nova_loop::idioms::Idiom;
use nova_loop::ir::{
    self, Command, Level, Variable, calls, errors, memory_commands, variable_commands,
};
use nova_loop::ordered_commands;

/// Emits a command of control flow.
pub(crate) fn control(code: &mut Emitter, command: &Command) {
    match command {
        Command::If {
            condition,
            then,
            otherwise,
        } => conditional(code, condition, then, otherwise),
        Command::Switch { scrutinee, cases } => switch(code, scrutinee, cases),
        Command::For {
            variable,
            count,
            level,
            body,
            place,
        } => {
            counted_loop(code, *variable, count, *level, body, place);
        }
        Command::Loop { body, place } => {
            endless_loop(code, body, place);
        }
        Command::Break => break_loop(code),
        Command::Continue => code.push(Statement::Continue),
        Command::Barrier(Level::Thread) if code.is_on_device() => group_barrier(code),
        Command::Barrier(level) if code.unit.traces() => traced_barrier(code, *level),
        // One thread needs no barrier, and regions end together.
        Command::Barrier(_) => {}
        // `command` passes no commands without control flow to this function.
        Command::Return
        | Command::Prefetch { .. }
        | ordered_commands!()
        | Command::StoreFence
        | Command::OnHost { .. }
        | Command::Comment(_)
        | variable_commands!()
        | memory_commands!()
        | errors!()
        | calls!() => {}
    }
}

fn conditional(
    code: &mut Emitter,
    condition: &ir::Expression,
    then: &[Command],
    otherwise: &[Command],
) {
    let (condition, then, otherwise) = if then.is_empty() && !otherwise.is_empty() {
        (negated(code, condition).own(), otherwise, then)
    } else {
        (expression(code, condition), then, otherwise)
    };
    let leaves = then.last().is_some_and(leaves);
    let then = code.block(then);
    if leaves {
        // No `else` is needed.
        code.push(Statement::when(condition, then));
        code.commands(otherwise);
        return;
    }
    let otherwise = code.block(otherwise);
    if then.is_empty() && !otherwise.is_empty() {
        code.push(Statement::when(nova_c_ast::ast::not(condition), otherwise));
        return;
    }
    code.push(Statement::If {
        condition,
        then: then.into(),
        otherwise: otherwise.into(),
    });
}

fn switch(code: &mut Emitter, scrutinee: &ir::Expression, cases: &[Vec<Command>]) {
    match cases {
        [] => {}
        [only] => {
            let block = code.block(only);
            code.push(Statement::Block(block.into()));
        }
        [first, second] => {
            let value = expression(code, scrutinee);
            let condition = Expression::binary(Binary::Equal, value, literal(0));
            let (then, otherwise) = (code.block(first), code.block(second));
            code.push(if then.is_empty() {
                Statement::when(nova_c_ast::ast::not(condition), otherwise)
            } else {
                Statement::If {
                    condition,
                    then: then.into(),
                    otherwise: otherwise.into(),
                }
            });
        }
        many => {
            let value = expression(code, scrutinee);
            enter_switch(code, 1);
            let cases = many.iter().map(|case| code.block(case).into()).collect();
            enter_switch(code, -1);
            code.push(Statement::Switch { value, cases });
        }
    }
}

fn enter_switch(code: &mut Emitter, by: isize) {
    if let Some(state) = code.loops.last_mut() {
        state.switches = state.switches.wrapping_add_signed(by);
    }
}

/// Emits the place of a loop. A comment is not repeated where the loop before has the same place.
fn remark(code: &mut Emitter, place: &Place) {
    let is_known = code.remarked.as_ref() == Some(place) && !code.unit.options.lines;
    if !place.file.is_empty() && !is_known {
        code.push(Statement::Place(place.clone()));
        code.remarked = Some(place.clone());
    }
}

fn counted_loop(
    code: &mut Emitter,
    variable: Variable,
    count: &ir::Expression,
    level: Level,
    body: &[Command],
    place: &Place,
) {
    let count = match count {
        ir::Expression::Constant(_) => plain(code, count),
        ir::Expression::Variable(v) if code.unit.is_constant(*v) => plain(code, count),
        _varies => {
            let value = assigned(code, count);
            code.variable(int64().constant(), "count", value)
        }
    };
    remark(code, place);
    if code.unit.traces() {
        return traced_loop(code, variable, count, level, body, place);
    }
    if let Some(idiom) = Idiom::of(code.program(), variable, body)
        && let Some(call) = call_of(code, &idiom, &count)
    {
        return code.push(call);
    }
    let dialect = code.unit.options.dialect;
    if level.starts_kernel() && !code.is_on_device() {
        match dialect.parallel {
            Parallel::Regions if level == Level::Grid => {
                return region(code, variable, count, body);
            }
            Parallel::OpenClKernels | Parallel::CudaKernels => {
                return kernel(code, variable, count, level, body, place);
            }
            Parallel::InOrder | Parallel::Traced | Parallel::Regions => {}
        }
    }
    if level == Level::Thread && code.is_on_device() {
        return loop_of_threads(code, variable, count, body);
    }
    let name = code.declare(variable);
    code.add_index(variable);
    let body = code.block(body);
    // Compilers of kernels do not know these hints.
    let level = if code.is_on_device() {
        Level::Sequential
    } else {
        level
    };
    let counted = dialect::counted_loop(level, name, count, body);
    code.push(counted);
}

fn endless_loop(code: &mut Emitter, body: &[Command], place: &Place) {
    remark(code, place);
    let enclosing = code.tracing.at(place);
    code.loops.push(LoopState::default());
    let (condition, body) = loop_parts(code, body);
    code.push(Statement::While {
        condition,
        body: body.into(),
    });
    code.tracing.place = enclosing;
    if let Some(label) = code.loops.pop().and_then(|state| state.label) {
        code.push(Statement::Label(label));
    }
}

/// Splits the body of a loop into the condition that it starts with, if any, and the rest.
fn loop_parts(code: &mut Emitter, body: &[Command]) -> (Option<Expression>, Vec<Statement>) {
    let body = match body {
        [rest @ .., Command::Continue] => rest,
        other => other,
    };
    if let [
        Command::If {
            condition,
            then,
            otherwise,
        },
        rest @ ..,
    ] = body
    {
        let parts = match (&**then, &**otherwise) {
            ([Command::Break], []) => Some((true, None, rest)),
            ([], [Command::Break]) => Some((false, None, rest)),
            ([Command::Break], other) if rest.is_empty() => Some((true, Some(other), rest)),
            (other, [Command::Break]) if rest.is_empty() => Some((false, Some(other), rest)),
            _ => None,
        };
        if let Some((negate, inside, rest)) = parts {
            let (before, value) = code.apart(|code| match negate {
                true => negated(code, condition),
                false => value(code, condition),
            });
            if before.is_empty() {
                return (Some(value.own()), code.block(inside.unwrap_or(rest)));
            }
        }
    }
    (None, code.block(body))
}

fn break_loop(code: &mut Emitter) {
    let inside_switch = code.loops.last().is_some_and(|state| state.switches > 0);
    if !inside_switch {
        code.push(Statement::Break);
        return;
    }
    let known = code.loops.last().and_then(|state| state.label.clone());
    let label = match known {
        Some(label) => label,
        None => code.fresh("done"),
    };
    if let Some(state) = code.loops.last_mut() {
        state.label = Some(label.clone());
    }
    code.push(Statement::Goto(label));
}

/// Returns the call of the runtime that does what a loop of so many iterations does; `None` where the loop
/// stays.
fn call_of(code: &mut Emitter, idiom: &Idiom, count: &Expression) -> Option<Statement> {
    if code.program().strict && !idiom.is_exact() {
        return None;
    }
    let (function, arguments, sum) = idiom.call();
    let arguments = arguments.iter().map(|argument| expression(code, argument));
    let mut arguments: Vec<Expression> = arguments.collect();
    arguments.push(count.clone());
    let Some(sum) = sum else {
        return Some(Statement::call(function, arguments));
    };
    let sum = code.named(sum);
    let call = Expression::call(function, arguments);
    let added = Expression::binary(Binary::Add, sum.clone(), call);
    Some(Statement::assign(sum, added))
}
