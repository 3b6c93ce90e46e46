//! Branches: the facts that hold in each, and the values of variables after them.

use crate::refusal::Rule;
use crate::steps::Step;
use crate::symbolic::{Case, Polynomial, Spot, Value};
use crate::walk::Walk;
use nova_core::Scalar;
use nova_loop::ir::{Command, Expression, Type, Variable};

/// The values that a branch has left in variables.
type Left = Vec<Option<Value>>;

impl<'p> Walk<'p> {
    /// Walks over a conditional.
    pub(crate) fn choice(
        &mut self,
        condition: &Expression,
        then: &'p [Command],
        otherwise: &'p [Command],
    ) {
        let truth = self.truth(condition);
        let assigned = self.assigned_in(&[then, otherwise]);
        let symbols = self.definitions.len();
        let before = self.left(&assigned);
        self.open();
        let first = self.branch(then, truth.yes.clone(), &assigned);
        let one = self.close();
        self.restore(&assigned, before);
        self.open();
        let second = self.branch(otherwise, truth.no.clone(), &assigned);
        let other = self.close();
        self.step(Step::Branches(vec![one, other]));
        match (ends(then), ends(otherwise)) {
            (true, false) => {
                self.restore(&assigned, second);
                truth.no.into_iter().for_each(|sum| self.learn(sum));
            }
            (false, true) => {
                self.restore(&assigned, first);
                truth.yes.into_iter().for_each(|sum| self.learn(sum));
            }
            (true, true) | (false, false) => self.join(&assigned, &[first, second], symbols),
        }
    }

    /// Walks over a switch.
    pub(crate) fn switch(&mut self, cases: &'p [Vec<Command>]) {
        let lists: Vec<&[Command]> = cases.iter().map(Vec::as_slice).collect();
        let assigned = self.assigned_in(&lists);
        let symbols = self.definitions.len();
        let before = self.left(&assigned);
        let mut results = Vec::new();
        let mut steps = Vec::new();
        for case in cases {
            self.restore(&assigned, before.clone());
            self.open();
            let left = self.branch(case, Vec::new(), &assigned);
            steps.push(self.close());
            if !ends(case) {
                results.push(left);
            }
        }
        self.step(Step::Branches(steps));
        self.join(&assigned, &results, symbols);
    }

    fn assigned_in(&self, lists: &[&[Command]]) -> Vec<Variable> {
        let mut found: Vec<Variable> = lists.iter().flat_map(|list| self.assigned(list)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn left(&self, variables: &[Variable]) -> Left {
        variables
            .iter()
            .map(|v| self.values.get(v).cloned())
            .collect()
    }

    fn restore(&mut self, variables: &[Variable], values: Left) {
        for (variable, value) in variables.iter().zip(values) {
            self.truths.remove(variable);
            match value {
                Some(value) => self.values.insert(*variable, value),
                None => self.values.remove(variable),
            };
        }
    }

    fn branch(
        &mut self,
        list: &'p [Command],
        known: Vec<Polynomial>,
        assigned: &[Variable],
    ) -> Left {
        let context = self.context;
        known.into_iter().for_each(|sum| self.learn(sum));
        self.branches += 1;
        self.list(list);
        self.branches -= 1;
        self.context = context;
        self.left(assigned)
    }

    /// Joins the values that branches leave: a number is one of them, or unknown. Facts about a
    /// symbol hold where it is computed, so values with symbols from inside the branches are dropped.
    fn join(&mut self, assigned: &[Variable], branches: &[Left], symbols: usize) {
        let is_old = |value: &Polynomial| value.variables().copied().all(|s| s.index() < symbols);
        for (k, variable) in assigned.iter().enumerate() {
            let values: Option<Vec<Case>> = branches
                .iter()
                .map(|left| match &left[k] {
                    Some(Value::Number(value)) if is_old(value) => Some(Case::of(value.clone())),
                    Some(Value::Number(_) | Value::Spots(_)) | None => None,
                })
                .collect();
            let chosen = self.joined(branches.iter().map(|left| left[k].as_ref()), &is_old);
            let is_rising = self.rising.contains_key(variable);
            let is_number = self.program.variable(*variable).ty == Type::Scalar(Scalar::I64);
            self.forget(*variable);
            match values {
                Some(values) if is_number && !is_rising && !values.is_empty() => {
                    let value = self.one_of(values);
                    self.values.insert(*variable, Value::Number(value));
                }
                Some(_) | None => {}
            }
            if let Some(spots) = chosen {
                self.values.insert(*variable, Value::Spots(spots));
            }
        }
    }

    /// *Chosen pointers.* After branches, a pointer leads where one of them has left it: to one of a
    /// few places, or somewhere into their blocks.
    fn joined<'v>(
        &mut self,
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
        if self.without.contains(&Rule::Chosen) {
            found.truncate(1);
        }
        let is_known = found.iter().all(|spot| is_old(&spot.index));
        let found: Vec<Spot> = found.into_iter().cloned().collect();
        (!found.is_empty()).then(|| self.one_spot_of(found, is_known))
    }
}

/// True if control does not reach the end of a list.
fn ends(commands: &[Command]) -> bool {
    matches!(
        commands.last(),
        Some(Command::Break | Command::Continue | Command::Return | Command::Fail { .. })
    )
}
