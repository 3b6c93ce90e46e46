//! Invariant values: results of conditionals that are the same in every branch, and parameters of
//! loops that every iteration leaves unchanged.

use super::forward::{ends_in_failure, fail, retain};
use super::state::Forward;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Output, Statement, Variable};
use nova_flat::visit::{Substitution, fresh_variable};
use std::collections::HashSet;

impl Forward<'_> {
    /// Replaces results of a conditional that are the same in every branch by that value.
    pub fn drop_equal_results(&mut self, statement: &mut Statement) {
        let branches: Vec<&mut Body> = match &mut statement.expression {
            Expression::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            Expression::Switch { cases, .. } => cases.iter_mut().collect(),
            _ => return,
        };
        let count = statement.pattern.len();
        let mut keep = Vec::with_capacity(count);
        let statements = branches.iter().flat_map(|b| &b.statements);
        let bound: HashSet<Variable> = match count {
            0 => HashSet::new(),
            _ => statements.flat_map(|s| s.pattern.iter().copied()).collect(),
        };
        for (k, variable) in statement.pattern.iter().copied().enumerate() {
            keep.push(true);
            self.substitution.info(self.program, variable);
            // A branch that fails may give anything.
            let mut given = branches
                .iter()
                .filter(|b| !ends_in_failure(b))
                .map(|b| b.results.get(k).copied());
            let Some(Some(first)) = given.next() else {
                continue;
            };
            let same = given.all(|other| other == Some(first));
            let inside = matches!(first, Atom::Variable(v) if bound.contains(&v));
            if same && !inside && self.same_type(variable, first) {
                self.substitution.insert(variable, first);
                keep[k] = false;
            }
        }
        retain(&mut statement.pattern, &keep);
        for branch in branches {
            if ends_in_failure(branch) {
                self.give_anything(branch, &statement.pattern);
            } else {
                retain(&mut branch.results, &keep);
            }
        }
    }

    /// Simplifies the survivors of a filter. A conditional on the filter's condition gives its
    /// `then` value there.
    pub fn simplify_survivors(&self, statement: &mut Statement) {
        let Expression::Operation(operation) = &mut statement.expression else {
            return;
        };
        let body = &mut operation.body;
        let mut place = operation.carries.len();
        for output in &operation.outputs {
            let consumed = place..place + output.consumes();
            place = consumed.end;
            let Output::Filter { .. } = output else {
                continue;
            };
            let Some([condition, values @ ..]) = body.results.get_mut(consumed) else {
                continue;
            };
            for value in values {
                let survivor = given_where(&body.statements, *condition, *value);
                if let (Some(survivor), Atom::Variable(variable)) = (survivor, *value)
                    && self.same_type(variable, survivor)
                {
                    *value = survivor;
                }
            }
        }
    }

    /// Makes a branch that fails give fresh variables for the whole pattern.
    fn give_anything(&mut self, branch: &mut Body, pattern: &[Variable]) {
        let mut substitution = Substitution::default();
        let given: Vec<Variable> = pattern
            .iter()
            .map(|v| fresh_variable(self.program, *v, &mut substitution))
            .collect();
        branch.results = given.iter().map(|v| Atom::Variable(*v)).collect();
        if let Some(last) = branch.statements.last_mut() {
            fail(last);
            last.pattern = given;
        }
    }

    /// Replaces parameters of a loop that do not change by their starts.
    pub fn drop_invariant_parameters(&mut self, statement: &mut Statement) {
        if let Expression::While {
            parameters, body, ..
        } = &mut statement.expression
        {
            let keep = self.varying(parameters, &body.results, &statement.pattern);
            retain(parameters, &keep);
            retain(&mut body.results, &keep);
            retain(&mut statement.pattern, &keep);
        }
    }

    /// Replaces carries of an operation that do not change by their starts.
    pub fn drop_invariant_carries(&mut self, statement: &mut Statement) {
        if let Expression::Operation(ArrayOperation { carries, body, .. }) =
            &mut statement.expression
        {
            let mut keep = self.varying(carries, &body.results, &statement.pattern);
            retain(carries, &keep);
            keep.resize(body.results.len().max(statement.pattern.len()), true);
            retain(&mut body.results, &keep);
            retain(&mut statement.pattern, &keep);
        }
    }

    /// Returns a flag for each parameter of a loop: true if its value changes. The others, and
    /// their final values, become their initial values.
    fn varying(
        &mut self,
        parameters: &[(Variable, Atom)],
        next: &[Atom],
        last: &[Variable],
    ) -> Vec<bool> {
        let mut keep = Vec::with_capacity(parameters.len());
        for (k, (parameter, start)) in parameters.iter().enumerate() {
            self.substitution.info(self.program, *parameter);
            let next = next.get(k).map(|atom| self.substitution.atom(*atom));
            let same = next == Some(Atom::Variable(*parameter)) || next == Some(*start);
            let invariant = same && self.same_type(*parameter, *start);
            if let Some(result) = last.get(k) {
                self.substitution.info(self.program, *result);
                if invariant {
                    self.substitution.insert(*result, *start);
                }
            }
            if invariant {
                self.substitution.insert(*parameter, *start);
            }
            keep.push(!invariant);
        }
        keep
    }
}

/// Returns the value that a conditional among the statements gives where its condition holds. The
/// value must be known outside the conditional.
fn given_where(statements: &[Statement], condition: Atom, value: Atom) -> Option<Atom> {
    let Atom::Variable(variable) = value else {
        return None;
    };
    let given = |statement: &Statement| {
        let place = statement.pattern.iter().position(|v| *v == variable)?;
        match &statement.expression {
            Expression::If {
                condition: asked,
                then,
                ..
            } if *asked == condition && !ends_in_failure(then) => {
                let result = *then.results.get(place)?;
                let is_bound =
                    |s: &Statement| s.pattern.iter().any(|v| result == Atom::Variable(*v));
                (!then.statements.iter().any(is_bound)).then_some(result)
            }
            _others => None,
        }
    };
    statements.iter().rev().find_map(given)
}
