//! Propagation of prefixes among the work-groups of a device, in ordered regions. The translation first
//! writes a loop of one thread, with states that each iteration replaces. If an iteration only combines the
//! received prefix with a number of its own before it passes the result on, the iterations can run
//! concurrently, with an ordered region for this step:
//!
//! ```text
//! s = start                               last[0] = start
//! for g { A; B(s); s = s + own }    ⇒     for g in groups { A; begin ordered g; b = last[0];
//!                                                           last[0] = b + own; end ordered g; B(b) }
//!                                         s = last[0]
//! ```
//!
//! The ordered region comes as soon as the iteration's own number is known, since other iterations wait for
//! its result.
//!
//! Such regions need not wait for each other: the numbers of several iterations can be combined before the
//! prefix of the first one is known. This is decoupled look-back (`runtime-c/cuda/ordered.h`).

use nova_core::{Scalar, ScalarOperation};
use nova_diag::{Place, deep};
use nova_loop::ir::{Command, Expression, Level, Program, Type, Variable};
use nova_loop::ordered_regions::is_associative;
use nova_loop::walk::{each_assigned, each_command, each_mentioned, reads_mut};
use nova_loop::{calls, errors, jumps, result_buffer_commands};
use std::collections::{BTreeMap, BTreeSet};

/// The commands before and after a loop with an ordered region.
pub(crate) struct Surrounding {
    pub(crate) before: Vec<Command>,
    pub(crate) after: Vec<Command>,
}

/// A loop state that becomes a propagated prefix.
struct Propagated {
    state: Variable,
    scalar: Scalar,
    /// True if its final value is used after the loop.
    is_used_after: bool,
    operation: ScalarOperation,
    /// The iteration's own number.
    own: Expression,
}

/// Changes the body of a loop with states into one with an ordered region, if that is possible. Each state
/// comes with a flag that says whether its value is used after the loop.
pub(crate) fn make_ordered(
    program: &mut Program,
    index: Variable,
    states: &[(Variable, bool)],
    body: &mut Vec<Command>,
    place: &Place,
) -> Option<Surrounding> {
    if !runs_through(body) {
        return None;
    }
    let all: BTreeSet<Variable> = states.iter().map(|(state, _)| *state).collect();
    let mut propagated = Vec::with_capacity(states.len());
    for (state, is_used_after) in states {
        propagated.push(find(program, body, (*state, *is_used_after), &all)?);
    }
    let mentions_state = |command: &Command| mentions(std::slice::from_ref(command), &all);
    let first = body.iter().position(mentions_state)?;
    let known = known_from(body, &propagated)?;
    if known > first {
        return None;
    }
    let mut rest = body.split_off(known);
    rest.retain(
        |command| !matches!(command, Command::Assign { variable, .. } if all.contains(variable)),
    );
    let mut renamed = BTreeMap::new();
    let mut surrounding = Surrounding {
        before: Vec::new(),
        after: Vec::new(),
    };
    let mut region = Vec::new();
    for state in &propagated {
        let begin = add(program, "begin", state.scalar);
        renamed.insert(state.state, begin);
        let last = propagate(program, state, place, &mut surrounding);
        let own = match state.own.is_simple() {
            true => state.own.clone(),
            false => {
                let own = add(program, "own", state.scalar);
                body.push(Command::declare(own, state.own.clone()));
                Expression::Variable(own)
            }
        };
        region.push(Command::declare(
            begin,
            Expression::load(last, Expression::index(0)),
        ));
        region.push(Command::Store {
            pointer: last,
            index: Expression::index(0),
            value: Expression::Scalar {
                operation: state.operation,
                operand: state.scalar,
                arguments: vec![Expression::Variable(begin), own],
            },
        });
    }
    rename(&mut rest, &renamed);
    body.push(Command::BeginOrdered(index));
    body.append(&mut region);
    body.push(Command::EndOrdered(index));
    body.append(&mut rest);
    Some(surrounding)
}

/// Adds the memory of a propagated state: allocates and initialises it before the loop, and reads and
/// releases it after the loop. Returns the pointer to it.
fn propagate(
    program: &mut Program,
    state: &Propagated,
    place: &Place,
    surrounding: &mut Surrounding,
) -> Variable {
    let last = program.add_variable("last", Type::Pointer(state.scalar));
    let handle = program.add_variable("last_block", Type::Block);
    for variable in [last, handle] {
        surrounding.before.push(Command::Declare {
            variable,
            value: None,
        });
    }
    surrounding.before.push(Command::Allocate {
        block: handle,
        pointer: last,
        element: state.scalar,
        count: Expression::index(1),
        destination: None,
        place: place.clone(),
    });
    surrounding.before.push(Command::Store {
        pointer: last,
        index: Expression::index(0),
        value: Expression::Variable(state.state),
    });
    if state.is_used_after {
        surrounding.after.push(Command::Assign {
            variable: state.state,
            value: Expression::load(last, Expression::index(0)),
        });
    }
    surrounding.after.push(Command::Release(handle));
    last
}

/// Returns a state that iterations replace by its combination with a number of their own, if they do.
fn find(
    program: &Program,
    body: &[Command],
    (state, is_used_after): (Variable, bool),
    states: &BTreeSet<Variable>,
) -> Option<Propagated> {
    let Type::Scalar(scalar) = program.variable(state).ty else {
        return None;
    };
    let mut written = 0;
    each_command(body, |command| {
        each_assigned(command, &mut |v| written += usize::from(v == state));
    });
    let assigned = body.iter().find_map(|command| match command {
        Command::Assign { variable, value } if *variable == state => Some(value),
        _others => None,
    })?;
    let next = match assigned {
        Expression::Variable(next) => declaration(body, *next)?,
        others => others,
    };
    let Expression::Scalar {
        operation,
        operand,
        arguments,
    } = next
    else {
        return None;
    };
    let is_state = |e: &Expression| matches!(e, Expression::Variable(v) if *v == state);
    let own = match &arguments[..] {
        [a, own] if is_state(a) => own,
        [own, b] if is_state(b) => own,
        _others => return None,
    };
    let mut of_own = false;
    own.each_variable(&mut |v| of_own |= states.contains(&v));
    let fits = written == 1 && *operand == scalar && !of_own && is_associative(*operation, scalar);
    fits.then(|| Propagated {
        state,
        scalar,
        is_used_after,
        operation: *operation,
        own: own.clone(),
    })
}

/// Returns the value with which a list declares a variable.
fn declaration(body: &[Command], of: Variable) -> Option<&Expression> {
    body.iter().find_map(|command| match command {
        Command::Declare {
            variable,
            value: Some(value),
        } if *variable == of => Some(value),
        _others => None,
    })
}

/// True if commands always run to their end.
fn runs_through(body: &[Command]) -> bool {
    let mut fine = true;
    each_command(body, |command| {
        fine &= !matches!(
            command,
            Command::Loop { .. } | result_buffer_commands!() | jumps!() | errors!() | calls!()
        );
        fine &= !matches!(
            command,
            Command::For {
                level: Level::Grid | Level::Block,
                ..
            }
        );
    });
    fine
}

/// Returns the index of the first command of a body where the iteration's own numbers are known. The ordered
/// region goes there, so that later iterations wait as little as possible.
fn known_from(body: &[Command], propagated: &[Propagated]) -> Option<usize> {
    let mut needed = BTreeSet::new();
    for state in propagated {
        if state.own.reads_memory() {
            return None;
        }
        state.own.each_variable(&mut |v| {
            needed.insert(v);
        });
    }
    let gives_needed = |command: &Command| {
        let mut gives = false;
        each_command(std::slice::from_ref(command), |command| {
            each_assigned(command, &mut |v| gives |= needed.contains(&v));
        });
        gives
    };
    Some(body.iter().rposition(gives_needed).map_or(0, |at| at + 1))
}

/// True if commands mention one of these variables.
fn mentions(commands: &[Command], variables: &BTreeSet<Variable>) -> bool {
    let mut found = false;
    each_command(commands, |command| {
        each_mentioned(command, &mut |v| found |= variables.contains(&v));
    });
    found
}

fn rename(commands: &mut [Command], renamed: &BTreeMap<Variable, Variable>) {
    for command in commands {
        reads_mut(command, &mut |expression| expression.rename(renamed));
        for list in command.lists_mut() {
            deep(|| rename(list, renamed));
        }
    }
}

fn add(program: &mut Program, name: &str, scalar: Scalar) -> Variable {
    program.add_variable(name, Type::Scalar(scalar))
}
