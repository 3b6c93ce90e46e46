//! Conditionals in lanes.

use super::block::Block;
use crate::masks::{MASK, flag, number};
use nova_loop::ir::{Command, Expression, Variable};

impl Block<'_> {
    /// Adds a conditional whose condition is the same in all lanes.
    pub(super) fn conditional(
        &mut self,
        condition: &Expression,
        then: &[Command],
        otherwise: &[Command],
    ) -> Option<()> {
        self.is_safe(condition)?;
        let then = self.inner(|block| block.list(then))?;
        let otherwise = self.inner(|block| block.list(otherwise))?;
        self.made.push(Command::If {
            condition: condition.clone(),
            then,
            otherwise,
        });
        Some(())
    }

    /// Adds a conditional whose condition differs between lanes. Both cases run, each under a mask, or each lane
    /// chooses between the values of both.
    pub(super) fn parted(
        &mut self,
        condition: &Expression,
        then: &[Command],
        otherwise: &[Command],
    ) -> Option<()> {
        if let Some(assigned) = self.blended([then, otherwise]) {
            return self.blend(condition, [then, otherwise], assigned);
        }
        let condition = self.gathered(condition)?;
        let chosen = self.array("chosen", MASK);
        let condition = flag(self.own(&condition));
        let value = self.under_mask(condition, number(0), MASK);
        self.set(chosen, value);
        if otherwise.is_empty() {
            return self.masked(then, chosen);
        }
        let others = self.array("others", MASK);
        let not_chosen = flag(self.is_in(chosen).negated());
        let value = self.under_mask(not_chosen, number(0), MASK);
        self.set(others, value);
        self.masked(then, chosen)?;
        self.masked(otherwise, others)
    }

    /// Returns the values that the cases of a conditional assign, if all lanes may compute both cases: these only
    /// compute values that are defined for all operands, and assign each variable once.
    fn blended<'c>(&self, cases: [&'c [Command]; 2]) -> Option<Vec<Assigned<'c>>> {
        let mut assigned: Vec<Assigned<'c>> = Vec::new();
        for (case, commands) in cases.into_iter().enumerate() {
            let mut done: Vec<Variable> = Vec::new();
            for command in commands {
                let value = match command {
                    Command::Comment(_) => continue,
                    Command::Declare { value: None, .. } => continue,
                    Command::Declare { value: Some(v), .. } | Command::Assign { value: v, .. } => v,
                    _others => return None,
                };
                let mut is_new = self.is_total(value);
                value.each_variable(&mut |v| is_new &= !done.contains(&v));
                if !is_new {
                    return None;
                }
                let Command::Assign { variable, .. } = command else {
                    continue;
                };
                if done.contains(variable) || !self.arrays.contains_key(variable) {
                    return None;
                }
                done.push(*variable);
                match assigned.iter_mut().find(|a| a.variable == *variable) {
                    Some(known) => known.values[case] = Some(value),
                    None => {
                        let mut values = [None, None];
                        values[case] = Some(value);
                        let variable = *variable;
                        assigned.push(Assigned { variable, values });
                    }
                }
            }
        }
        // Each value is computed before any variable changes.
        let alone = |a: &Assigned<'_>| {
            let mut alone = true;
            for value in a.values.into_iter().flatten() {
                value.each_variable(&mut |v| {
                    alone &= v == a.variable || assigned.iter().all(|other| other.variable != v);
                });
            }
            alone
        };
        assigned.iter().all(alone).then_some(assigned)
    }

    fn blend(
        &mut self,
        condition: &Expression,
        cases: [&[Command]; 2],
        assigned: Vec<Assigned<'_>>,
    ) -> Option<()> {
        let condition = self.gathered(condition)?;
        let chosen = self.array("chosen", MASK);
        let condition = flag(self.own(&condition));
        let condition = self.unless_total(condition, number(0), MASK);
        self.set(chosen, condition);
        for command in cases.into_iter().flatten() {
            if let Command::Declare { variable, value } = command {
                self.declare(*variable, value.as_ref())?;
            }
        }
        for Assigned { variable, values } in assigned {
            let scalar = self.scalar(variable)?;
            let array = *self.arrays.get(&variable)?;
            let [then, otherwise] = values.map(|value| match value {
                Some(value) => {
                    let value = self.own(value);
                    self.apart(value, scalar)
                }
                None => self.at(array),
            });
            let value = Expression::Select {
                condition: Box::new(self.is_in(chosen)),
                then: Box::new(then),
                otherwise: Box::new(otherwise),
            };
            self.assign(array, value, scalar);
        }
        Some(())
    }
}

/// A variable that a conditional assigns, and its value in each case that does so.
struct Assigned<'c> {
    variable: Variable,
    values: [Option<&'c Expression>; 2],
}
