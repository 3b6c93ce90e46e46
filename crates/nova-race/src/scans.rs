//! Scans of offsets: a sequential loop writes the start of each chunk, from which follows that chunks do not
//! meet (the scan offsets of architecture, invariant 9).
//!
//! ```text
//! for i in n { begins[i] = total; total = total + counts[i]; ends[i] = total }
//! ```
//!
//! If no addend is negative, `begins[i] + counts[i] ≤ begins[j]` for all i < j.

use crate::state::State;
use crate::symbolic::{Base, Polynomial, Value};
use crate::tables::{Scan, Tables};
use crate::walk::Walk;
use nova_core::Scalar;
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Level, Type, Variable};
use nova_loop::uses::written;
use nova_loop::walk::{each_assigned, each_command};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the scans of offsets that a loop does.
pub(crate) fn scan(
    walk: &mut Walk,
    index: Variable,
    count: &Expression,
    body: &[Command],
) -> Vec<Scan> {
    if body.len() > MOST_COMMANDS || !is_simple(body) {
        return Vec::new();
    }
    let count = walk.state.number(count);
    let assigned = walk.assigned(body);
    let state = &mut walk.state;
    let mut first = BTreeMap::new();
    let before = state.left(&assigned);
    for variable in assigned.iter().copied() {
        state.forget(variable);
        if state.program.variable(variable).ty == Type::Scalar(Scalar::I64) {
            first.insert(variable, state.number_of(variable));
        }
    }
    let symbol = state.facts.fresh(Scalar::I64);
    let at = Polynomial::variable(symbol);
    state.values.insert(index, Value::Number(at.clone()));
    let loads = std::mem::take(&mut state.loads);
    state.scanned = Some(BTreeSet::new());
    let stores = follow(state, body);
    state.scanned = None;
    let loads = std::mem::replace(&mut state.loads, loads);
    let mut found = Vec::new();
    for (total, before) in &first {
        let after = state.number_of(*total);
        let Some(addend) = after.minus(before) else {
            continue;
        };
        let of = |value: &Polynomial| {
            let mut own = stores.iter().filter(|s| s.index == at && s.value == *value);
            own.next().map(|store| store.base)
        };
        let Some(begins) = of(before) else { continue };
        let ends = of(&after).filter(|ends| *ends != begins);
        let from = loads
            .iter()
            .find(|(_, loaded)| addend.as_variable() == Some(**loaded));
        let counts = from.map(|((base, place), _)| (*base, place == &at));
        let rises = rises(state, &walk.tables, &addend, counts);
        let written = |base: Base| {
            let other = |store: &&Element| store.base != base;
            let is_met = stores
                .iter()
                .filter(other)
                .any(|s| state.bases.meet(s.base, base));
            let own = stores.iter().filter(|store| store.base == base).count();
            if is_met { usize::MAX } else { own }
        };
        let counts = counts
            .filter(|(_, here)| *here)
            .map(|(base, _)| base)
            .filter(|base| written(*base) == 0);
        let once = |base: Base| written(base) == 1;
        if state.bases[begins].is_new && once(begins) && ends.is_none_or(once) {
            found.push(Scan {
                id: 0,
                index,
                count: count.clone(),
                begins,
                counts,
                ends,
                rises,
            });
        }
    }
    // The walk has yet to go through the loop itself.
    state.restore(&assigned, before);
    found
}

/// Follows the commands of one iteration of a loop; returns the elements that they store.
fn follow(state: &mut State, body: &[Command]) -> Vec<Element> {
    let mut stores = Vec::new();
    for command in body {
        match command {
            Command::Declare {
                variable,
                value: Some(value),
            }
            | Command::Assign { variable, value } => state.assign(*variable, value),
            Command::Store {
                pointer,
                index,
                value,
            } => {
                let (index, mut value) = (state.number(index), state.number(value));
                let spots = state.spots(&Expression::Variable(*pointer));
                if spots.len() > 1 {
                    // The value is in one of these places; the others have what was there before.
                    value = Polynomial::variable(state.facts.fresh(Scalar::I64));
                }
                for spot in spots {
                    let index = state.facts.sum(&spot.index, &index);
                    let (base, value) = (spot.base, value.clone());
                    stores.push(Element { base, index, value });
                    if let Some(stored) = &mut state.scanned {
                        stored.insert(base);
                    }
                }
            }
            other => follow_any(state, other, &mut stores),
        }
    }
    stores
}

/// Adds elements with unknown indices and values for the stores of a command that may run often.
fn follow_any(state: &mut State, command: &Command, stores: &mut Vec<Element>) {
    each_command(std::slice::from_ref(command), |command| {
        each_assigned(command, &mut |variable| state.forget(variable));
        for place in written(command) {
            for spot in state.spots(&place) {
                let unknown = Polynomial::variable(state.facts.fresh(Scalar::I64));
                let (base, value) = (spot.base, unknown.clone());
                stores.push(Element {
                    base,
                    index: unknown,
                    value,
                });
                if let Some(stored) = &mut state.scanned {
                    stored.insert(base);
                }
            }
        }
    });
}

/// True if an addend is never negative: by itself, or since nothing negative was stored in the block from
/// which it is read.
fn rises(state: &State, tables: &Tables, addend: &Polynomial, from: Option<(Base, bool)>) -> bool {
    if state.facts.is_never_negative(addend) {
        return true;
    }
    let Some((base, _)) = from else { return false };
    let info = &state.bases[base];
    let Some(stores) = tables.stores(&state.bases, base) else {
        return false;
    };
    info.is_new
        && info.depth == state.bases.depth
        && stores.iter().all(|stored| {
            let facts = state
                .facts
                .known(stored.context, &[&stored.value], &stored.late);
            state.facts.provers.that_knows(&facts).holds(&stored.value)
        })
}

/// An element that is stored.
struct Element {
    base: Base,
    index: Polynomial,
    value: Polynomial,
}

/// True if each command of the body of a loop runs once in an iteration and does not leave it.
fn is_simple(body: &[Command]) -> bool {
    body.iter().all(|command| match command {
        Command::Declare { value: Some(_), .. }
        | Command::Assign { .. }
        | Command::Store { .. }
        | Command::Comment(_)
        | Command::Prefetch { .. }
        | Command::OnHost { .. } => true,
        Command::If { .. } => stays(std::slice::from_ref(command), false),
        Command::Loop { body, .. } => stays(body, true),
        Command::For {
            level: Level::Sequential | Level::Unrolled,
            body,
            ..
        } => stays(body, true),
        _others => false,
    })
}

/// True if commands only compute and store, and leave only loops inside of them.
fn stays(commands: &[Command], in_loop: bool) -> bool {
    commands.iter().all(|command| match command {
        Command::Declare { .. }
        | Command::Assign { .. }
        | Command::Store { .. }
        | Command::Local { .. }
        | Command::Check { .. }
        | Command::Comment(_)
        | Command::Prefetch { .. }
        | Command::OnHost { .. } => true,
        Command::Break | Command::Continue => in_loop,
        Command::If {
            then, otherwise, ..
        } => deep(|| stays(then, in_loop) && stays(otherwise, in_loop)),
        Command::Loop { body, .. } => deep(|| stays(body, true)),
        Command::For {
            level: Level::Sequential | Level::Unrolled,
            body,
            ..
        } => deep(|| stays(body, true)),
        _others => false,
    })
}

/// Loops with more commands than this are no scans of offsets.
const MOST_COMMANDS: usize = 24;
