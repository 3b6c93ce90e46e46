//! Branches: the facts that hold in each, and the values of variables after them.

use crate::refusal::Rule;
use crate::state::{Left, State};
use crate::steps::Step;
use crate::symbolic::{Case, Polynomial, Spot, Value};
use crate::walk::Walk;
use nova_core::Scalar;
use nova_loop::ir::{Command, Expression, Type, Variable};

/// Walks over a conditional.
pub(crate) fn choice<'p>(
    walk: &mut Walk<'p>,
    condition: &Expression,
    then: &'p [Command],
    otherwise: &'p [Command],
) {
    let truth = walk.state.truth(condition);
    let assigned = assigned_in(walk, &[then, otherwise]);
    let symbols = walk.state.facts.definitions.len();
    let before = walk.state.left(&assigned);
    walk.waits.open();
    let first = branch(walk, then, truth.yes.clone(), &assigned);
    let one = walk.waits.close();
    walk.state.restore(&assigned, before);
    walk.waits.open();
    let second = branch(walk, otherwise, truth.no.clone(), &assigned);
    let other = walk.waits.close();
    walk.waits.step(Step::Branches(vec![one, other]));
    match (ends(then), ends(otherwise)) {
        (true, false) => {
            walk.state.restore(&assigned, second);
            walk.state.facts.learn_all(truth.no);
        }
        (false, true) => {
            walk.state.restore(&assigned, first);
            walk.state.facts.learn_all(truth.yes);
        }
        (true, true) | (false, false) => {
            join(&mut walk.state, &assigned, &[first, second], symbols)
        }
    }
}

/// Walks over a switch.
pub(crate) fn switch<'p>(walk: &mut Walk<'p>, cases: &'p [Vec<Command>]) {
    let lists: Vec<&[Command]> = cases.iter().map(Vec::as_slice).collect();
    let assigned = assigned_in(walk, &lists);
    let symbols = walk.state.facts.definitions.len();
    let before = walk.state.left(&assigned);
    let mut results = Vec::new();
    let mut steps = Vec::new();
    for case in cases {
        walk.state.restore(&assigned, before.clone());
        walk.waits.open();
        let left = branch(walk, case, Vec::new(), &assigned);
        steps.push(walk.waits.close());
        if !ends(case) {
            results.push(left);
        }
    }
    walk.waits.step(Step::Branches(steps));
    join(&mut walk.state, &assigned, &results, symbols);
}

fn assigned_in(walk: &Walk, lists: &[&[Command]]) -> Vec<Variable> {
    let mut found: Vec<Variable> = lists.iter().flat_map(|list| walk.assigned(list)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn branch<'p>(
    walk: &mut Walk<'p>,
    list: &'p [Command],
    known: Vec<Polynomial>,
    assigned: &[Variable],
) -> Left {
    let context = walk.state.facts.context;
    walk.state.facts.learn_all(known);
    walk.branches += 1;
    walk.list(list);
    walk.branches -= 1;
    walk.state.facts.context = context;
    walk.state.left(assigned)
}

/// Joins the values that branches leave: a number is one of them, or unknown. Facts about a
/// symbol hold where it is computed, so values with symbols from inside the branches are dropped.
fn join(state: &mut State, assigned: &[Variable], branches: &[Left], symbols: usize) {
    let is_old = |value: &Polynomial| value.variables().copied().all(|s| s.index() < symbols);
    for (k, variable) in assigned.iter().enumerate() {
        let values: Option<Vec<Case>> = branches
            .iter()
            .map(|left| match &left[k] {
                Some(Value::Number(value)) if is_old(value) => Some(Case::of(value.clone())),
                Some(Value::Number(_) | Value::Spots(_)) | None => None,
            })
            .collect();
        let chosen = joined(state, branches.iter().map(|left| left[k].as_ref()), &is_old);
        let is_rising = state.rising.contains_key(variable);
        let is_number = state.program.variable(*variable).ty == Type::Scalar(Scalar::I64);
        state.forget(*variable);
        match values {
            Some(values) if is_number && !is_rising && !values.is_empty() => {
                let value = state.facts.one_of(values);
                state.values.insert(*variable, Value::Number(value));
            }
            Some(_) | None => {}
        }
        if let Some(spots) = chosen {
            state.values.insert(*variable, Value::Spots(spots));
        }
    }
}

/// *Chosen pointers.* After branches, a pointer leads where one of them has left it: to one of a
/// few places, or somewhere into their blocks.
fn joined<'v>(
    state: &mut State,
    left: impl Iterator<Item = Option<&'v Value>>,
    is_old: &dyn Fn(&Polynomial) -> bool,
) -> Option<Vec<Spot>> {
    let mut found: Vec<&Spot> = Vec::new();
    for value in left {
        let Some(Value::Spots(spots)) = value else {
            return None;
        };
        for spot in spots {
            if !found.contains(&spot) {
                found.push(spot);
            }
        }
    }
    if state.without.contains(&Rule::Chosen) {
        found.truncate(1);
    }
    let is_known = found.iter().all(|spot| is_old(&spot.index));
    let found: Vec<Spot> = found.into_iter().cloned().collect();
    (!found.is_empty()).then(|| state.bases.one_spot_of(found, is_known))
}

/// True if control does not reach the end of a list.
fn ends(commands: &[Command]) -> bool {
    matches!(
        commands.last(),
        Some(Command::Break | Command::Continue | Command::Return | Command::Fail { .. })
    )
}
