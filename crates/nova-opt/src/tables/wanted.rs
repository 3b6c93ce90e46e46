//! The links whose tables somebody opens.

use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Statement, Variable};
use nova_flat::visit::each_statement;
use std::collections::{HashMap, HashSet};

/// Returns the links from which tables are opened, and those that become such links: by a copy, as the
/// result of a branch, or as the start or next state of a loop.
pub(super) fn wanted(body: &Body) -> HashSet<Variable> {
    let mut flows: Vec<(Variable, Variable)> = Vec::new();
    let mut wanted: HashSet<Variable> = HashSet::new();
    each_statement(body, &mut |statement| {
        if let Expression::TableOpen {
            link: Atom::Variable(link),
            ..
        } = statement.expression
        {
            wanted.insert(link);
        }
        flows_of(statement, &mut flows);
    });
    for (from, to) in &mut flows {
        std::mem::swap(from, to);
    }
    reached(wanted, &flows)
}

/// Returns these variables, and those to which their values flow.
pub(super) fn reached(
    from: HashSet<Variable>,
    flows: &[(Variable, Variable)],
) -> HashSet<Variable> {
    let mut next: HashMap<Variable, Vec<Variable>> = HashMap::new();
    for (from, to) in flows {
        next.entry(*from).or_default().push(*to);
    }
    let mut work: Vec<Variable> = from.iter().copied().collect();
    let mut found = from;
    while let Some(variable) = work.pop() {
        for to in next.get(&variable).into_iter().flatten() {
            if found.insert(*to) {
                work.push(*to);
            }
        }
    }
    found
}

/// Adds the pairs of variables of which the second gets the value of the first.
pub(super) fn flows_of(statement: &Statement, flows: &mut Vec<(Variable, Variable)>) {
    let pattern = &statement.pattern;
    let mut add = |from: &[Atom], to: &[Variable]| {
        for (from, to) in from.iter().zip(to) {
            if let Atom::Variable(from) = from {
                flows.push((*from, *to));
            }
        }
    };
    match &statement.expression {
        Expression::Atom(source) => add(&[*source], pattern),
        Expression::If {
            then, otherwise, ..
        } => {
            add(&then.results, pattern);
            add(&otherwise.results, pattern);
        }
        Expression::Switch { cases, .. } => {
            cases.iter().for_each(|case| add(&case.results, pattern));
        }
        Expression::While {
            parameters, body, ..
        } => {
            let (states, starts): (Vec<Variable>, Vec<Atom>) = parameters.iter().copied().unzip();
            loop_flows(&states, &starts, &body.results, pattern, &mut add);
        }
        Expression::Operation(ArrayOperation { carries, body, .. }) => {
            let (states, starts): (Vec<Variable>, Vec<Atom>) = carries.iter().copied().unzip();
            loop_flows(&states, &starts, &body.results, pattern, &mut add);
        }
        _other => {}
    }
}

fn loop_flows(
    states: &[Variable],
    starts: &[Atom],
    next: &[Atom],
    last: &[Variable],
    add: &mut dyn FnMut(&[Atom], &[Variable]),
) {
    let own: Vec<Atom> = states.iter().copied().map(Atom::Variable).collect();
    add(starts, states);
    add(next, states);
    add(&own, last);
    add(starts, last);
    add(next, &last[..states.len().min(last.len())]);
}
