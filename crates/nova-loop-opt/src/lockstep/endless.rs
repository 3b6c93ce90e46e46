//! Loops that breaks end, in lanes. Where lanes leave such a loop at different times, it runs until the last one
//! has left, and a mask has the lanes that are still inside.
//!
//! A loop that begins with its test and only computes values of lanes has one loop over lanes: the test, and
//! the step of the lanes that stay. It ends when no lane has stayed, so that the last step is one of no lane. Loops
//! with cheap steps run in [`super::batches`].

use super::block::{Block, break_if};
use super::varying::{has_checks, leaves_if, reads};
use crate::masks::{MASK, flag, number, on_masks, total_flag};
use nova_core::ScalarOperation;
use nova_diag::{Place, deep};
use nova_loop::ir::{Command, Expression, Type, Variable};
use nova_loop::walk;
use std::collections::BTreeSet;

impl Block<'_> {
    /// Adds a loop that breaks end, which stands after the commands `before`. Lanes that have left it may hold any
    /// values of the variables `ending`.
    pub(super) fn endless(
        &mut self,
        before: &[Command],
        body: &[Command],
        place: &Place,
        ending: &BTreeSet<Variable>,
    ) -> Option<()> {
        let parts = |c: &Expression| reads(&self.varying, c);
        let together = self.mask().is_none() && !body.iter().filter_map(leaves_if).any(parts);
        let has_lanes = self.occupied || self.mask().is_none();
        if together {
            let occupied = std::mem::replace(&mut self.occupied, has_lanes && !has_checks(body));
            let body = self.inner(|block| block.together(body))?;
            self.occupied = occupied;
            self.push_loop(body, place);
            return Some(());
        }
        let active = self.array("active", MASK);
        let value = match self.mask() {
            None => number(1),
            Some(mask) => self.at(mask),
        };
        self.set(active, value);
        self.masks.push(active);
        let deeper = self.deepen(ending);
        let fused = self.fused(body);
        let batch = fused.and_then(|(condition, step)| self.batch(before, condition, step));
        let occupied = has_lanes && !has_checks(body) && fused.is_none();
        let occupied = std::mem::replace(&mut self.occupied, occupied);
        let body = self.inner(|block| match (fused, batch) {
            (Some((_, step)), Some(batch)) => block.batched(batch, step, active, place),
            (Some((condition, step)), None) => block.test_and_step(condition, step),
            (None, _) => block.until_all_have_left(body),
        })?;
        self.occupied = occupied;
        self.depths.extend(deeper);
        self.masks.pop();
        self.push_loop(body, place);
        Some(())
    }

    pub(super) fn push_loop(&mut self, body: Vec<Command>, place: &Place) {
        self.made.push(Command::Loop {
            body,
            place: place.clone(),
        });
    }

    /// Notes that variables are seen under the innermost mask only. Returns the former depths of their arrays.
    fn deepen(&mut self, variables: &BTreeSet<Variable>) -> Vec<(Variable, usize)> {
        let mut former = Vec::new();
        for array in variables.iter().filter_map(|v| self.arrays.get(v)) {
            if let Some(depth) = self.depths.get_mut(array)
                && *depth + 1 == self.masks.len()
            {
                former.push((*array, *depth));
                *depth += 1;
            }
        }
        former
    }

    /// Adds the body of a loop that all lanes leave at the same time.
    fn together(&mut self, body: &[Command]) -> Option<()> {
        for (at, command) in body.iter().enumerate() {
            match leaves_if(command) {
                Some(condition) => {
                    self.end_group();
                    self.made.push(break_if(condition.clone()));
                }
                None => deep(|| self.command_at(body, at))?,
            }
        }
        Some(())
    }

    /// Adds the body of a loop that lanes leave at different times.
    fn until_all_have_left(&mut self, body: &[Command]) -> Option<()> {
        for (at, command) in body.iter().enumerate() {
            match leaves_if(command) {
                Some(condition) => {
                    let active = self.stay_unless(condition)?;
                    let none = self.end_group_with_any(active);
                    self.made.push(break_if(none));
                }
                None => deep(|| self.command_at(body, at))?,
            }
        }
        Some(())
    }

    /// Switches off the lanes for which a condition holds. Returns the mask of the loop.
    pub(super) fn stay_unless(&mut self, condition: &Expression) -> Option<Variable> {
        let active = self.masks.last().copied()?;
        let condition = self.gathered(condition)?;
        let stays = self.own(&condition).negated();
        let value = match self.is_total(&stays) {
            // Processors with masks move a number or 0 in one instruction.
            true if !matches!(stays, Expression::Select { .. }) => Expression::Select {
                condition: Box::new(stays),
                then: Box::new(self.at(active)),
                otherwise: Box::new(number(0)),
            },
            true => on_masks(ScalarOperation::BitAnd, self.at(active), total_flag(stays)),
            false => self.under_mask(flag(stays), number(0), MASK),
        };
        self.set(active, value);
        Some(active)
    }

    /// Returns the condition of a loop's only break, which comes first, and the commands after it, if these only
    /// compute values of lanes.
    fn fused<'c>(&self, body: &'c [Command]) -> Option<(&'c Expression, &'c [Command])> {
        let is_remark = |c: &&Command| matches!(c, Command::Comment(_));
        let remarks = body.iter().take_while(is_remark).count();
        let (first, step) = body.get(remarks..)?.split_first()?;
        let condition = leaves_if(first)?;
        let mut apart = false;
        walk::each_command(body, |command| {
            walk::reads(command, &mut |e| apart |= self.scatters(e));
        });
        let is_of_lanes = !apart && step.iter().all(|c| self.is_of_lanes(c));
        is_of_lanes.then_some((condition, step))
    }

    /// True if a command only computes values of variables that differ between lanes.
    fn is_of_lanes(&self, command: &Command) -> bool {
        match command {
            Command::Comment(_) => true,
            Command::Declare { variable, .. } => {
                self.varying.contains(variable) && !self.private.contains(variable)
            }
            Command::Assign { variable, .. } => self.varying.contains(variable),
            Command::If {
                condition,
                then,
                otherwise,
            } => {
                reads(&self.varying, condition)
                    && then
                        .iter()
                        .chain(otherwise)
                        .all(|c| deep(|| self.is_of_lanes(c)))
            }
            _others => false,
        }
    }

    /// Adds the body of a loop whose test and step are one loop over lanes.
    fn test_and_step(&mut self, condition: &Expression, step: &[Command]) -> Option<()> {
        let active = self.stay_unless(condition)?;
        let any = self.program.add_variable("any", Type::Scalar(MASK));
        self.made.push(Command::declare(any, number(0)));
        self.list(step)?;
        let value = on_masks(
            ScalarOperation::BitOr,
            Expression::Variable(any),
            self.at(active),
        );
        self.push(Command::Assign {
            variable: any,
            value,
        });
        self.end_group();
        let none = on_masks(ScalarOperation::Equal, Expression::Variable(any), number(0));
        self.made.push(break_if(none));
        Some(())
    }
}
