//! Rows whose results are combined from left to right, as to find the nearest of several centres. Each group
//! of rows is reduced together, and its results are combined one after the other. This gains where rows are
//! short: what they share is read once, and what follows the elements of a row, as sums across lanes, is done
//! for all rows of a group side by side.

use super::{Rows, empty};
use nova_diag::Place;
use nova_flat::ir::{ArrayOperation, Atom, Body, Bracketing, Lambda, Output, Statement, Variable};
use nova_flat::operators::by_component;
use nova_flat::visit::{Substitution, fresh_copy};

/// True if an operation combines its results from left to right. In the strict order it does not.
pub(super) fn folds(operation: &ArrayOperation, strict: bool) -> bool {
    match &operation.outputs[..] {
        [
            Output::Reduce {
                lambda,
                commutes: false,
                bracketing: Bracketing::Whole,
                ..
            },
        ] => !strict && by_component(lambda).is_none(),
        _others => false,
    }
}

/// Returns the operator and the start of an operation that folds.
fn operator(operation: &ArrayOperation) -> Option<(&Lambda, &[Atom])> {
    match operation.outputs.first() {
        Some(Output::Reduce { lambda, start, .. }) => Some((lambda, start)),
        _others => None,
    }
}

impl Rows<'_> {
    /// Returns the fold of four rows at a time.
    pub(super) fn fold_together(
        &mut self,
        map: &ArrayOperation,
        index: Variable,
        groups: Atom,
        place: &Place,
    ) -> ArrayOperation {
        let Some((lambda, start)) = operator(map) else {
            return empty();
        };
        let group = self.like(index);
        let states: Vec<Variable> = self.states(lambda, start.len());
        let mut statements = Vec::new();
        let (_, results) = self.group(map, (index, group), &mut statements, place);
        let rows = results.first().map_or(0, Vec::len);
        let mut now: Vec<Atom> = states.iter().map(|state| Atom::Variable(*state)).collect();
        for row in 0..rows {
            let values = results.iter().filter_map(|all| all.get(row).copied());
            now = self.combined(lambda, now, values.collect(), &mut statements);
        }
        ArrayOperation {
            shape: vec![groups],
            indices: vec![group],
            carries: states.into_iter().zip(start.iter().copied()).collect(),
            body: Body {
                statements,
                results: now,
            },
            ..empty()
        }
    }

    /// Returns the fold of the rows that are left. It goes on with the results of the fold of four rows at a
    /// time.
    pub(super) fn fold_one_by_one(
        &mut self,
        map: &ArrayOperation,
        (index, left, grouped): (Variable, Atom, Atom),
        made: &[Variable],
        place: &Place,
    ) -> ArrayOperation {
        let Some((lambda, start)) = operator(map) else {
            return empty();
        };
        let number = self.like(index);
        let states: Vec<Variable> = self.states(lambda, start.len());
        let mut body = self.row_behind(map, (index, number, grouped), place);
        let now = states.iter().map(|state| Atom::Variable(*state)).collect();
        let values = std::mem::take(&mut body.results);
        body.results = self.combined(lambda, now, values, &mut body.statements);
        let made = made.iter().map(|v| Atom::Variable(*v));
        ArrayOperation {
            shape: vec![left],
            indices: vec![number],
            carries: states.into_iter().zip(made).collect(),
            body,
            ..empty()
        }
    }

    /// Makes variables for the states of a fold.
    fn states(&mut self, lambda: &Lambda, count: usize) -> Vec<Variable> {
        let parameters = lambda.parameters.iter().take(count);
        parameters.map(|parameter| self.like(*parameter)).collect()
    }

    /// Combines states with the results of a row.
    fn combined(
        &mut self,
        lambda: &Lambda,
        states: Vec<Atom>,
        values: Vec<Atom>,
        statements: &mut Vec<Statement>,
    ) -> Vec<Atom> {
        let mut substitution = Substitution::default();
        for (parameter, value) in lambda
            .parameters
            .iter()
            .zip(states.into_iter().chain(values))
        {
            substitution.insert(*parameter, value);
        }
        let mut copy = fresh_copy(self.program, &lambda.body, &mut substitution);
        statements.append(&mut copy.statements);
        std::mem::take(&mut copy.results)
    }
}
