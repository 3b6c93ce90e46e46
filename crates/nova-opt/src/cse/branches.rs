//! Values that every branch of a conditional computes: they are computed once, before it.
//!
//! All branches are numbered alike: the first variable that has a value stands for it. A variable of
//! another branch has the same value if the same operation gives it of the same operands. So the operands
//! of a common value are common or come from outside, and one pass over each branch finds all.

use super::{Key, key};
use crate::total::is_total_expression;
use nova_flat::ir::{Atom, Body, Expression, Program, Statement, Variable};
use nova_flat::visit::{Substitution, substitute};
use std::collections::{HashMap, HashSet};

/// The values of all branches, each with the first variable that has it.
type Values = HashMap<Key, Variable>;

/// Takes from the branches of a conditional the statements whose values all of them compute. Returns them,
/// in order. They are to stand before the conditional.
pub(super) fn hoist(program: &mut Program, expression: &mut Expression) -> Vec<Statement> {
    let mut branches: Vec<&mut Body> = match expression {
        Expression::If {
            then, otherwise, ..
        } => vec![then, otherwise],
        Expression::Switch { cases, .. } => cases.iter_mut().collect(),
        _others => return Vec::new(),
    };
    let Some((first, others)) = branches.split_first_mut() else {
        return Vec::new();
    };
    if others.is_empty() || first.statements.is_empty() {
        return Vec::new();
    }
    let mut values = Values::new();
    let mut common: HashSet<Variable> = number(first, &mut values).into_values().collect();
    let mut numbered = Vec::with_capacity(others.len());
    for other in others.iter() {
        let found = number(other, &mut values);
        let has: HashSet<Variable> = found.values().copied().collect();
        common.retain(|value| has.contains(value));
        numbered.push(found);
    }
    if common.is_empty() {
        return Vec::new();
    }
    for (other, found) in others.iter_mut().zip(numbered) {
        let mut renamed = Substitution::default();
        for (variable, value) in found {
            if common.contains(&value) {
                renamed.insert(variable, Atom::Variable(value));
            }
        }
        let goes = |variable: &Variable| renamed.get(*variable).is_some();
        other.statements.retain(|s| !s.pattern.iter().any(goes));
        substitute(program, other, &renamed);
    }
    let goes = |statement: &mut Statement| statement.pattern.iter().any(|v| common.contains(v));
    first.statements.extract_if(.., goes).collect()
}

/// Returns the variables of a branch that may be computed before the conditional, each with that which
/// stands for its value.
fn number(body: &Body, values: &mut Values) -> HashMap<Variable, Variable> {
    let mut found = HashMap::new();
    let mut known = Substitution::default();
    // Elements and constructors are surely defined before the first check only.
    let mut is_unchecked = true;
    for statement in &body.statements {
        let has_key = key(&statement.expression).is_some();
        is_unchecked &= has_key;
        let may_move = is_unchecked || is_total_expression(&statement.expression);
        let ([variable], true) = (&statement.pattern[..], has_key && may_move) else {
            continue;
        };
        let mut expression = statement.expression.clone();
        known.operands(&mut expression);
        let Some(key) = key(&expression) else {
            continue;
        };
        let value = *values.entry(key).or_insert(*variable);
        found.insert(*variable, value);
        known.insert(*variable, Atom::Variable(value));
    }
    found
}
