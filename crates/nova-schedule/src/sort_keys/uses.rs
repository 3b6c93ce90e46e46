//! The uses of a sort: positions, elements of arrays at these, or only the first of them.

use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, Output, Program, Statement, Variable};
use nova_flat::visit::{binding, bodies, bodies_mut, each_statement, used_variables};
use std::collections::{HashMap, HashSet};

/// Returns the number of positions if only the first ones are used, each by the iteration of its index,
/// and the first statement that does so.
pub(super) fn first_of(rest: &Body, sort: &Statement) -> Option<(Atom, usize)> {
    let (Expression::Sort { count, .. }, &[positions]) = (&sort.expression, &sort.pattern[..])
    else {
        return None;
    };
    if rest.results.contains(&Atom::Variable(positions)) {
        return None;
    }
    let mut found: Option<(Atom, usize)> = None;
    for (k, statement) in rest.statements.iter().enumerate() {
        let uses = uses_in(&statement.expression, &|_| true, positions);
        if uses == 0 {
            continue;
        }
        let Expression::Operation(operation) = &statement.expression else {
            return None;
        };
        let (&[first], &[index]) = (&operation.shape[..], &operation.indices[..]) else {
            return None;
        };
        let is_own = |indices: &[Atom]| indices == [Atom::Variable(index)];
        if uses_in(&statement.expression, &is_own, positions) != uses
            || found.is_some_and(|(known, _)| known != first)
        {
            return None;
        }
        found = found.or(Some((first, k)));
    }
    found.filter(|(first, _)| first != count)
}

/// Counts the uses of an array in an expression and its bodies; of its elements those where `counts` of the
/// indices.
fn uses_in(expression: &Expression, counts: &dyn Fn(&[Atom]) -> bool, array: Variable) -> usize {
    let mut found = 0;
    match expression {
        Expression::Index { array: of, indices } if *of == array => {
            found += usize::from(counts(indices));
        }
        _others => used_variables(expression, &mut |variable| {
            found += usize::from(variable == array && counts(&[]));
        }),
    }
    bodies(expression, &mut |body| {
        for statement in &body.statements {
            found += deep(|| uses_in(&statement.expression, counts, array));
        }
        let is_it = |atom: &&Atom| **atom == Atom::Variable(array);
        found += body.results.iter().filter(is_it).count() * usize::from(counts(&[]));
    });
    found
}

/// The uses of a sort.
#[derive(Default)]
pub(super) struct Used {
    pub(super) values: HashSet<Variable>,
    pub(super) positions: bool,
}

/// Returns the arrays that a body reads at sorted positions.
pub(super) fn arrays_at(body: &Body, positions: Variable) -> Vec<Variable> {
    let mut known: HashSet<Variable> = HashSet::new();
    let mut read = Vec::new();
    each_statement(body, &mut |statement| match &statement.expression {
        Expression::Index { array, .. } if *array == positions => known.extend(&statement.pattern),
        Expression::Index { array, indices } => {
            if let [Atom::Variable(at)] = &indices[..]
                && known.contains(at)
                && !read.contains(array)
            {
                read.push(*array);
            }
        }
        _others => {}
    });
    read
}

/// Reads from the sorted values what a body reads from arrays at sorted positions.
pub(super) fn replace(
    body: &mut Body,
    positions: Variable,
    arrays: &HashMap<Variable, Variable>,
) -> Used {
    let mut used = Used::default();
    if !arrays.is_empty() {
        let mut known = HashMap::new();
        replace_in(body, (positions, arrays), &mut known, &mut used.values);
    }
    used.positions = uses(body, positions, &mut HashSet::new());
    if !used.positions {
        remove(body, positions);
    }
    used
}

fn replace_in(
    body: &mut Body,
    (positions, arrays): (Variable, &HashMap<Variable, Variable>),
    known: &mut HashMap<Variable, Vec<Atom>>,
    used: &mut HashSet<Variable>,
) {
    for statement in &mut body.statements {
        if let Expression::Index { array, indices } = &mut statement.expression {
            if *array == positions {
                known.extend(statement.pattern.iter().map(|v| (*v, indices.clone())));
            } else if let ([Atom::Variable(at)], Some(values)) = (&indices[..], arrays.get(array))
                && let Some(place) = known.get(at)
            {
                *indices = place.clone();
                *array = *values;
                used.insert(*values);
            }
        }
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| replace_in(inner, (positions, arrays), known, used));
        });
    }
}

/// Replaces maps of a body that only copy sorted values by these.
pub(super) fn pass_on(program: &Program, body: &mut Body, values: &HashSet<Variable>) {
    for statement in std::mem::take(&mut body.statements) {
        match copies(program, &statement, values) {
            Some(copies) => body.statements.extend(copies),
            None => body.statements.push(statement),
        }
    }
}

/// Returns the copies that a map makes of sorted values, if it does nothing else.
fn copies(
    program: &Program,
    statement: &Statement,
    values: &HashSet<Variable>,
) -> Option<Vec<Statement>> {
    let Expression::Operation(operation) = &statement.expression else {
        return None;
    };
    let is_read = |s: &Statement| matches!(s.expression, Expression::Index { .. });
    let is_map = operation.outputs.iter().all(|o| matches!(o, Output::Map))
        && operation.body.statements.iter().all(is_read)
        && operation.carries.is_empty()
        && !operation.is_marked();
    let given = statement.pattern.iter().zip(&operation.body.results);
    let copy = |(variable, result): (&Variable, &Atom)| {
        let read = &binding(&operation.body, *result)?.expression;
        let Expression::Index { array, indices } = read else {
            return None;
        };
        let own = operation.indices.iter().copied().map(Atom::Variable);
        let is_own = values.contains(array) && indices.iter().copied().eq(own);
        let is_whole = program.ty(*array).shape() == operation.shape;
        (is_own && is_whole).then(|| Statement {
            pattern: vec![*variable],
            expression: Expression::Atom(Atom::Variable(*array)),
            place: statement.place.clone(),
        })
    };
    let copies: Option<_> = given.map(copy).collect();
    copies.filter(|_| is_map)
}

/// True if a body uses positions otherwise than to read one that nobody uses. `dead` has the variables
/// that are read from them.
fn uses(body: &Body, positions: Variable, dead: &mut HashSet<Variable>) -> bool {
    let mut found = false;
    for statement in &body.statements {
        let mut is_read = false;
        used_variables(&statement.expression, &mut |variable| {
            is_read |= variable == positions;
            found |= dead.contains(&variable);
        });
        match &statement.expression {
            Expression::Index { array, .. } if *array == positions => {
                dead.extend(&statement.pattern);
            }
            _others => found |= is_read,
        }
        bodies(&statement.expression, &mut |inner| {
            found |= deep(|| uses(inner, positions, dead));
        });
    }
    let is_it = |atom: &Atom| match atom {
        Atom::Variable(variable) => *variable == positions || dead.contains(variable),
        Atom::Constant(_) => false,
    };
    found || body.results.iter().any(is_it)
}

/// Removes what reads positions, where nobody uses it.
fn remove(body: &mut Body, positions: Variable) {
    body.statements.retain(|statement| {
        !matches!(&statement.expression, Expression::Index { array, .. } if *array == positions)
    });
    for statement in &mut body.statements {
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| remove(inner, positions));
        });
    }
}
