//! Variables for the components of values that are passed on: the results of conditionals and calls, and the
//! states of loops, which each iteration replaces.

use crate::address::pointer_to;
use crate::env::Env;
use crate::facts::Origin;
use crate::lifetimes::provide_references;
use crate::places::{State, variables};
use crate::references::Moving;
use crate::source::{array_block, info_of, name_of, scalar_type};
use crate::taking::give_up;
use crate::writer::{Result, Writer};
use nova_flat::ir as flat;
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression, Type};
use std::collections::HashSet;

/// Adds variables, not yet declared, for a variable of the source.
pub(crate) fn add_state(env: &mut Env<'_>, variable: flat::Variable) -> Result<State> {
    let info = info_of(env.source, variable)?;
    let name = name_of(env.source, variable);
    match &info.ty {
        flat::Type::Scalar(scalar) => {
            let added = env.add_variable(name, Type::Scalar(*scalar));
            Ok(State::Scalar(added))
        }
        flat::Type::Array(..) if is_placed(env, variable)? => Ok(State::Placed),
        flat::Type::Array(element, _) => {
            let pointer = env.add_variable(name.clone(), Type::Pointer(*element));
            let handle = env.add_variable(format!("{name}_block"), Type::Block);
            Ok(State::Array { pointer, handle })
        }
        flat::Type::Block(_) => Err(internal("a block among components")),
    }
}

/// True if an array that is passed on has its own memory: an allocated block, or the block of an array
/// that has a single holder.
fn is_placed(env: &Env<'_>, array: flat::Variable) -> Result<bool> {
    let block = array_block(env.source, flat::Atom::Variable(array))?;
    Ok(
        block
            .is_some_and(|b| matches!(env.facts.block(b).origin, Origin::Allocated | Origin::Sole)),
    )
}

/// Adds variables for several variables of the source, as [`add_state`] does.
pub(crate) fn add_states(env: &mut Env<'_>, variables: &[flat::Variable]) -> Result<Vec<State>> {
    variables.iter().map(|v| add_state(env, *v)).collect()
}

/// Declares the variables, which are assigned later.
pub(crate) fn declare_states(out: &mut Writer, states: &[State]) {
    for variable in variables(states) {
        out.declare_later(variable);
    }
}

/// Binds a variable of the source to these variables.
pub(crate) fn bind_state(env: &mut Env<'_>, variable: flat::Variable, state: State) -> Result<()> {
    match state {
        State::Scalar(scalar) => env.bind_simple(variable, Expression::Variable(scalar)),
        State::Placed => Ok(()),
        State::Array { pointer, handle } => {
            let atom = flat::Atom::Variable(variable);
            match array_block(env.source, atom)? {
                Some(block) => env.bind_block(block, pointer, handle),
                None => Err(internal("a scalar where an array is expected")),
            }
        }
    }
}

/// Binds a pattern to variables; the innermost body owns the arrays if `owned`.
pub(crate) fn bind_states(
    env: &mut Env<'_>,
    pattern: &[flat::Variable],
    states: &[State],
    owned: bool,
) -> Result<()> {
    for (variable, state) in pattern.iter().zip(states) {
        bind_state(env, *variable, *state)?;
        if owned
            && state.handle().is_some()
            && let Some(block) = array_block(env.source, flat::Atom::Variable(*variable))?
        {
            env.own(block)?;
        }
    }
    Ok(())
}

/// Binds the parameters of a function; with `takes` its body owns the arrays.
pub(crate) fn bind_parameters(
    env: &mut Env<'_>,
    parameters: &[flat::Variable],
    states: &[State],
    takes: bool,
) -> Result<()> {
    bind_states(env, parameters, states, false)?;
    for (parameter, state) in parameters.iter().zip(states) {
        let block = array_block(env.source, flat::Atom::Variable(*parameter))?;
        if let (true, Some(block), Some(handle)) = (takes, block, state.handle()) {
            let last_use = env.facts.block(block).last_use;
            env.lifetimes.own_parameter(block, last_use, handle);
        }
    }
    Ok(())
}

/// Declares the states of a loop with their first values. Takes over the references of arrays that
/// nothing else needs.
pub(crate) fn start_states(
    env: &mut Env<'_>,
    parameters: &[(flat::Variable, flat::Atom)],
) -> Result<Vec<State>> {
    let mut states = Vec::with_capacity(parameters.len());
    for (parameter, start) in parameters {
        let state = add_state(env, *parameter)?;
        let values = state_values(env, *start, state)?;
        if let Some(Expression::Variable(handle)) = values.get(1)
            && !give_up(env, *start)?
        {
            env.emit(Command::Retain(*handle));
        }
        for (variable, value) in state.variables().into_iter().zip(values) {
            env.emit(Command::declare(variable, value));
        }
        states.push(state);
    }
    for ((parameter, _), state) in parameters.iter().zip(&states) {
        bind_state(env, *parameter, *state)?;
        let block = array_block(env.source, flat::Atom::Variable(*parameter))?;
        if let (Some(block), Some(handle)) = (block, state.handle()) {
            env.lifetimes.hold(block, handle);
        }
    }
    Ok(states)
}

/// Returns a component as arguments: a scalar, or pointer and handle.
pub(crate) fn components_of(env: &mut Env<'_>, atom: flat::Atom) -> Result<Vec<Expression>> {
    match (array_block(env.source, atom)?, atom) {
        (Some(block), flat::Atom::Variable(array)) => {
            let handle = env.block(block)?.handle;
            Ok(vec![pointer_to(env, array)?, Expression::Variable(handle)])
        }
        (Some(_), flat::Atom::Constant(_)) | (None, _) => Ok(vec![env.scalar(atom)?]),
    }
}

/// Returns the values for the variables of a state.
fn state_values(env: &mut Env<'_>, atom: flat::Atom, state: State) -> Result<Vec<Expression>> {
    match state {
        State::Placed => Ok(Vec::new()),
        State::Scalar(_) | State::Array { .. } => components_of(env, atom),
    }
}

/// Returns several components as arguments, as [`components_of`] does.
pub(crate) fn arguments_of(env: &mut Env<'_>, atoms: &[flat::Atom]) -> Result<Vec<Expression>> {
    let mut arguments = Vec::new();
    for atom in atoms {
        arguments.extend(components_of(env, *atom)?);
    }
    Ok(arguments)
}

/// Assigns the results of a body, at its end, to variables that have no value yet.
pub(crate) fn deliver(
    env: &mut Env<'_>,
    results: &[flat::Atom],
    states: &[State],
    moving: Moving,
) -> Result<()> {
    provide_references(env, results, states, false, moving)?;
    for (result, state) in results.iter().zip(states) {
        let values = state_values(env, *result, *state)?;
        for (variable, value) in state.variables().into_iter().zip(values) {
            env.assign(variable, value);
        }
    }
    Ok(())
}

/// Replaces the states by the next ones in parallel, at the end of an iteration. Returns the blocks whose
/// references have moved into the states.
pub(crate) fn replace(
    env: &mut Env<'_>,
    next: &[flat::Atom],
    states: &[State],
    moving: Moving,
) -> Result<HashSet<flat::Variable>> {
    let mut assignments = Vec::new();
    let mut released = Vec::new();
    for (atom, state) in next.iter().zip(states) {
        if let (Some(block), Some(handle)) = (array_block(env.source, *atom)?, state.handle())
            && env.block(block)?.handle != handle
            && !env.lifetimes.is_gone(handle)
        {
            released.push(handle);
        }
    }
    for (atom, state) in next.iter().zip(states) {
        let values = match state {
            // Values that are read from a released state must be read before.
            State::Scalar(_) if !released.is_empty() || moving == Moving::Everything => {
                let term = env.term(*atom)?;
                let scalar = scalar_type(env.source, *atom)?;
                let expression = match term.loads.is_empty() {
                    true => term.expression,
                    false => env.simplify(term.expression, "next", Type::Scalar(scalar)),
                };
                vec![expression]
            }
            State::Scalar(_) | State::Array { .. } | State::Placed => {
                state_values(env, *atom, *state)?
            }
        };
        assignments.extend(state.variables().into_iter().zip(values));
    }
    let moved = provide_references(env, next, states, true, moving)?;
    for handle in released {
        env.emit(Command::Release(handle));
    }
    env.assign_together(assignments);
    Ok(moved)
}
