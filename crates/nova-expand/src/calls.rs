//! Translation of functions, calls, foreign calls, node tables and traces.

use crate::env::Env;
use crate::lifetimes::release_everything_but;
use crate::places::{State, variables};
use crate::references::Moving;
use crate::source::array_block;
use crate::states::{
    add_states, arguments_of, bind_parameters, bind_states, declare_states, deliver, replace,
};
use crate::taking::give;
use crate::translator::{Flow, Tail, Translator};
use crate::writer::{Nesting, Result};
use nova_flat::ir as flat;
use nova_flat::{
    array_expressions, call_expressions, control_expressions, node_expressions, other_expressions,
    pure_expressions,
};
use nova_loop::error::internal;
use nova_loop::first_fields::add_first_fields;
use nova_loop::ir;
use nova_loop::ir::{Command, TableCommand, Variable};

/// Translates a function.
pub(crate) fn translate_function<'a>(
    cx: &mut Translator<'a>,
    id: flat::FunctionId,
    function: &'a flat::Function,
) -> Result<ir::Function> {
    let parameters = add_states(cx, &function.parameters)?;
    for entry in cx.source.entries.iter().filter(|e| e.function == id) {
        let parameters = variables(&parameters);
        let sums = &cx.source.sums;
        add_first_fields(&entry.inputs, sums, &parameters, &mut cx.structures);
    }
    let results = add_states(cx, &function.results)?;
    let calls_itself = cx.facts.tail_calls.get(id.index()) == Some(&true);
    let takes = function.takes && !calls_itself;
    bind_parameters(cx, &function.parameters, &parameters, takes)?;
    let (body, ()) = cx.nested(|cx| match calls_itself {
        true => repeated_body(cx, id, function, &parameters, &results),
        false => {
            cx.body(&function.body, |cx, r| {
                deliver(cx, r, &results, Moving::Body)
            })?;
            Ok(())
        }
    })?;
    Ok(ir::Function {
        name: function.name.clone(),
        parameters: variables(&parameters),
        results: variables(&results),
        body,
        recursive: function.recursive,
        takes: function.takes,
        place: function.place.clone(),
    })
}

/// Translates the body of a function that calls itself in tail position to a loop. The states of the
/// loop are the parameters, which hold references of their own.
fn repeated_body<'a>(
    cx: &mut Translator<'a>,
    id: flat::FunctionId,
    function: &'a flat::Function,
    parameters: &[State],
    results: &[State],
) -> Result<()> {
    let handles: Vec<Variable> = parameters.iter().filter_map(|p| p.handle()).collect();
    for handle in handles.iter().filter(|_| !function.takes) {
        cx.emit(Command::Retain(*handle));
    }
    for (parameter, state) in function.parameters.iter().zip(parameters) {
        let block = array_block(cx.source, flat::Atom::Variable(*parameter))?;
        if let (Some(block), Some(handle)) = (block, state.handle()) {
            cx.lifetimes.hold(block, handle);
        }
    }
    cx.tail = Some(Tail {
        function: id,
        parameters: parameters.to_vec(),
    });
    cx.endless_loop(&function.place, |cx| {
        let end = cx.body(&function.body, |cx, r| {
            deliver(cx, r, results, Moving::Body)
        })?;
        if end.is_some() {
            for handle in &handles {
                if !cx.lifetimes.is_gone(*handle) {
                    cx.emit(Command::Release(*handle));
                }
            }
            cx.emit(Command::Break);
        }
        Ok(())
    })?;
    cx.tail = None;
    Ok(())
}

/// Translates a call.
pub(crate) fn call_statement<'a>(
    cx: &mut Translator<'a>,
    statement: &'a flat::Statement,
) -> Result<Flow> {
    let pattern = &statement.pattern;
    match &statement.expression {
        flat::Expression::Call {
            function,
            arguments,
            tail,
        } => {
            if *tail && cx.tail.as_ref().is_some_and(|t| t.function == *function) {
                tail_call(cx, arguments)?;
                return Ok(Flow::Diverges);
            }
            let takes = |f: &flat::Function| f.takes;
            if cx.source.functions.get(function.index()).is_some_and(takes) {
                give(cx, arguments)?;
            }
            let arguments = arguments_of(cx, arguments)?;
            let states = add_states(cx, pattern)?;
            declare_states(cx, &states);
            cx.emit(Command::Call {
                function: ir::FunctionId(function.0),
                arguments,
                results: variables(&states),
            });
            bind_states(cx, pattern, &states, true)?;
        }
        flat::Expression::Foreign { foreign, arguments } => {
            let arguments = arguments_of(cx, arguments)?;
            let states = add_states(cx, pattern)?;
            declare_states(cx, &states);
            cx.emit(Command::Foreign {
                foreign: *foreign,
                arguments,
                results: variables(&states),
                place: statement.place.clone(),
            });
            bind_states(cx, pattern, &states, true)?;
        }
        pure_expressions!()
        | array_expressions!()
        | control_expressions!()
        | node_expressions!()
        | other_expressions!() => {
            return Err(internal("no call"));
        }
    }
    Ok(Flow::Continues)
}

/// Replaces the parameters, releases everything else, and starts the function again.
fn tail_call(cx: &mut Translator<'_>, arguments: &[flat::Atom]) -> Result<()> {
    let Some(tail) = &cx.tail else {
        return Err(internal("a tail call outside its function"));
    };
    let parameters = tail.parameters.clone();
    let moved = replace(cx, arguments, &parameters, Moving::Everything)?;
    release_everything_but(cx, &moved);
    cx.emit(Command::Continue);
    Ok(())
}

/// Translates statements that access node tables, and traces.
pub(crate) fn node_statement<'a>(env: &mut Env<'a>, statement: &'a flat::Statement) -> Result<()> {
    let (pattern, place) = (&statement.pattern, &statement.place);
    match &statement.expression {
        flat::Expression::NodeNew {
            sum,
            constructor,
            payload,
        } => {
            let payload = arguments_of(env, payload)?;
            scalar_from(env, pattern, |link| Command::NodeNew {
                sum: *sum,
                constructor: *constructor,
                payload,
                link,
                place: place.clone(),
            })
        }
        flat::Expression::NodePayload {
            sum,
            constructor,
            link,
        } => {
            let link = env.scalar(*link)?;
            let states = add_states(env, pattern)?;
            declare_states(env, &states);
            env.emit(Command::NodePayload {
                sum: *sum,
                constructor: *constructor,
                link,
                results: variables(&states),
            });
            bind_states(env, pattern, &states, false)
        }
        flat::Expression::Trace {
            text,
            ty,
            components,
        } => {
            let components = arguments_of(env, components)?;
            env.emit(Command::Trace {
                text: text.clone(),
                ty: ty.clone(),
                components,
            });
            Ok(())
        }
        flat::Expression::TableOpen { .. }
        | flat::Expression::TableClose { .. }
        | flat::Expression::TableShrink { .. }
        | flat::Expression::NodesReached { .. }
        | flat::Expression::NodesReserve { .. }
        | flat::Expression::NodeStore { .. }
        | flat::Expression::NodesSeal { .. }
        | flat::Expression::NodesAcyclic { .. } => table_statement(env, statement),
        pure_expressions!()
        | array_expressions!()
        | control_expressions!()
        | call_expressions!()
        | other_expressions!() => Err(internal("neither node nor trace")),
    }
}

/// Translates statements that number, reserve, fill or check nodes of whole tables.
fn table_statement<'a>(env: &mut Env<'a>, statement: &'a flat::Statement) -> Result<()> {
    let (pattern, place) = (&statement.pattern, &statement.place);
    match &statement.expression {
        flat::Expression::NodesReached { members, link } => {
            let link = env.scalar(*link)?;
            let states = add_states(env, pattern)?;
            declare_states(env, &states);
            env.emit(Command::Table(TableCommand::Reached {
                members: members.clone(),
                link,
                results: variables(&states),
                place: place.clone(),
            }));
            bind_states(env, pattern, &states, true)
        }
        flat::Expression::NodesReserve { sum, count } => {
            let count = env.scalar(*count)?;
            scalar_from(env, pattern, |link| {
                Command::Table(TableCommand::Reserve {
                    sum: *sum,
                    count,
                    link,
                    place: place.clone(),
                })
            })
        }
        flat::Expression::NodeStore {
            sum,
            constructor,
            link,
            payload,
        } => {
            let link = env.scalar(*link)?;
            let payload = arguments_of(env, payload)?;
            env.emit(Command::Table(TableCommand::Store {
                sum: *sum,
                constructor: *constructor,
                link,
                payload,
            }));
            Ok(())
        }
        flat::Expression::NodesSeal { sum, link } => {
            let from = env.scalar(*link)?;
            scalar_from(env, pattern, |link| {
                Command::Table(TableCommand::Seal {
                    sum: *sum,
                    from,
                    link,
                })
            })
        }
        flat::Expression::NodesAcyclic {
            members,
            first,
            counts,
        } => {
            let (first, counts) = (arguments_of(env, first)?, arguments_of(env, counts)?);
            scalar_from(env, pattern, |acyclic| {
                Command::Table(TableCommand::Acyclic {
                    members: members.clone(),
                    first,
                    counts,
                    acyclic,
                    place: place.clone(),
                })
            })
        }
        _others => Err(internal("no statement on whole tables")),
    }
}

/// Emits a command that assigns one scalar, which the pattern binds.
fn scalar_from(
    env: &mut Env<'_>,
    pattern: &[flat::Variable],
    command: impl FnOnce(Variable) -> Command,
) -> Result<()> {
    let states = add_states(env, pattern)?;
    declare_states(env, &states);
    let [State::Scalar(variable)] = states.as_slice() else {
        return Err(internal("a result that is no scalar"));
    };
    env.emit(command(*variable));
    bind_states(env, pattern, &states, false)
}
