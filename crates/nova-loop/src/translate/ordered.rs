//! Numbers that the work-groups of a device hand on, each in its turn. The loop is written as one of one
//! thread first, with states that each iteration replaces. If all that an iteration does with the number
//! that it is given before it hands one on is to combine that with a number of its own, the iterations
//! may run at the same time, and take turns there:
//!
//! ```text
//! s = start                               last[0] = start
//! for g { A; B(s); s = s + own }    ⇒     for g in groups { A; await turn of g; b = last[0];
//!                                                           last[0] = b + own; end turn of g; B(b) }
//!                                         s = last[0]
//! ```
//!
//! A turn is taken as soon as the iteration's own number is known: others wait for what it says.
//!
//! Such turns can be taken without waiting for each other's, since what several iterations come to can
//! be put together before it is known what comes before them (`runtime-c/cuda/turns.h`).

use crate::ir::{Command, Expression, Level, Program, Type, Variable};
use crate::ordered_regions::is_associative;
use crate::walk::{each_command, reads, reads_mut, writes};
use crate::{calls, errors, jumps, result_buffer_commands};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::{Place, deep};
use std::collections::{BTreeMap, BTreeSet};

/// What stands around a loop whose iterations take turns.
pub(super) struct Around {
    pub(super) before: Vec<Command>,
    pub(super) after: Vec<Command>,
}

/// A state of a loop on its way into turns.
struct Handed {
    state: Variable,
    scalar: Scalar,
    /// True if somebody asks what it is in the end.
    asked: bool,
    operation: ScalarOperation,
    /// The iteration's own number.
    own: Expression,
}

/// Makes of the body of a loop, whose states are those numbers, one in which iterations take turns, if
/// that can be done; with each state whether somebody asks what it is behind the loop.
pub(super) fn take_turns(
    program: &mut Program,
    index: Variable,
    states: &[(Variable, bool)],
    body: &mut Vec<Command>,
    place: &Place,
) -> Option<Around> {
    if !runs_through(body) {
        return None;
    }
    let all: BTreeSet<Variable> = states.iter().map(|(state, _)| *state).collect();
    let mut handed = Vec::with_capacity(states.len());
    for (state, asked) in states {
        handed.push(find(program, body, (*state, *asked), &all)?);
    }
    let mentions_state = |command: &Command| mentions(std::slice::from_ref(command), &all);
    let first = body.iter().position(mentions_state)?;
    let known = known_from(body, &handed)?;
    if known > first {
        return None;
    }
    let mut rest = body.split_off(known);
    rest.retain(
        |command| !matches!(command, Command::Assign { variable, .. } if all.contains(variable)),
    );
    let mut renamed = BTreeMap::new();
    let mut around = Around {
        before: Vec::new(),
        after: Vec::new(),
    };
    let mut turn = Vec::new();
    for state in &handed {
        let begin = add(program, "begin", state.scalar);
        renamed.insert(state.state, begin);
        let last = hand_on(program, state, place, &mut around);
        let own = match state.own.is_simple() {
            true => state.own.clone(),
            false => {
                let own = add(program, "own", state.scalar);
                body.push(Command::declare(own, state.own.clone()));
                Expression::Variable(own)
            }
        };
        turn.push(Command::declare(
            begin,
            Expression::load(last, Expression::index(0)),
        ));
        turn.push(Command::Store {
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
    body.append(&mut turn);
    body.push(Command::EndOrdered(index));
    body.append(&mut rest);
    Some(around)
}

/// Where a state lies while iterations hand it on.
fn hand_on(program: &mut Program, state: &Handed, place: &Place, around: &mut Around) -> Variable {
    let last = program.add_variable("last", Type::Pointer(state.scalar));
    let handle = program.add_variable("last_block", Type::Block);
    for variable in [last, handle] {
        around.before.push(Command::Declare {
            variable,
            value: None,
        });
    }
    around.before.push(Command::Allocate {
        block: handle,
        pointer: last,
        element: state.scalar,
        count: Expression::index(1),
        destination: None,
        place: place.clone(),
    });
    around.before.push(Command::Store {
        pointer: last,
        index: Expression::index(0),
        value: Expression::Variable(state.state),
    });
    if state.asked {
        around.after.push(Command::Assign {
            variable: state.state,
            value: Expression::load(last, Expression::index(0)),
        });
    }
    around.after.push(Command::Release(handle));
    last
}

/// How an iteration replaces a state: by it and a number of its own.
fn find(
    program: &Program,
    body: &[Command],
    (state, asked): (Variable, bool),
    states: &BTreeSet<Variable>,
) -> Option<Handed> {
    let Type::Scalar(scalar) = program.variable(state).ty else {
        return None;
    };
    let mut written = 0;
    each_command(body, |command| {
        writes(command, &mut |v| written += usize::from(v == state));
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
    fits.then(|| Handed {
        state,
        scalar,
        asked,
        operation: *operation,
        own: own.clone(),
    })
}

/// What a variable of a list is declared as.
fn declaration(body: &[Command], of: Variable) -> Option<&Expression> {
    body.iter().find_map(|command| match command {
        Command::Declare {
            variable,
            value: Some(value),
        } if *variable == of => Some(value),
        _others => None,
    })
}

/// True if commands run to their end whatever happens.
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

/// From which command of a body on the numbers are known that iterations hand on: there they take their
/// turns, so that later ones wait for as little as possible.
fn known_from(body: &[Command], handed: &[Handed]) -> Option<usize> {
    let mut needed = BTreeSet::new();
    for state in handed {
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
            writes(command, &mut |v| gives |= needed.contains(&v));
        });
        gives
    };
    Some(body.iter().rposition(gives_needed).map_or(0, |at| at + 1))
}

/// True if commands name one of these variables.
fn mentions(commands: &[Command], variables: &BTreeSet<Variable>) -> bool {
    let mut found = false;
    each_command(commands, |command| {
        writes(command, &mut |v| found |= variables.contains(&v));
        reads(command, &mut |e| {
            e.each_variable(&mut |v| found |= variables.contains(&v))
        });
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
