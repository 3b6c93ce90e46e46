//! Loops with non-temporal stores that read each array at one place. They work in strips of one
//! line of memory or a few. The C compiler knows the length of a strip, so that results go from
//! registers to memory past the caches. The iterations before the first line and after the last use
//! ordinary stores, in one more copy of the loop's body; so do all iterations where non-temporal
//! stores do not pay.

use super::non_temporal::{Plan, Prefetches, Target, chosen};
use super::{Map, Strips, at_most};
use nova_core::ScalarOperation;
use nova_loop::copies;
use nova_loop::ir::{Command, Expression, Type, Variable};
use std::collections::BTreeMap;

impl Strips<'_> {
    /// Returns the loops that replace a loop.
    pub(super) fn lines(
        &mut self,
        map: &Map,
        target: &Target,
        plan: &Plan,
        prefetches: Vec<Prefetches>,
    ) -> Vec<Command> {
        let mut made = Vec::new();
        let width = || Expression::index(i64::from(plan.width));
        let none = || Expression::index(0);
        let non_temporal = plan.non_temporal;
        let before = self.before(plan, &mut made);
        let whole = plan.count.clone().minus(before.clone());
        let whole = whole.compare(ScalarOperation::Divide, width());
        let strips = self.simple("strips", chosen(non_temporal, whole, none()), &mut made);
        let done = before.clone().plus(strips.clone().times(width()));
        let done = self.simple("done", done, &mut made);

        let strip = self.add_index("strip");
        let begin = self.add_index("begin");
        let first = before
            .clone()
            .plus(Expression::Variable(strip).times(width()));
        let mut body = vec![Command::declare(begin, first)];
        body.extend(
            prefetches
                .iter()
                .map(|prefetches| self.prefetch(map, prefetches, begin)),
        );
        self.line(map, target, plan, begin, &mut body);
        made.push(map.counted(strip, strips, body));
        made.push(self.sides(map, before, done, plan.count.clone()));
        made
    }

    /// Returns the number of iterations before the first whole strip, which begins at the start of
    /// a line.
    pub(super) fn before(&mut self, plan: &Plan, made: &mut Vec<Command>) -> Expression {
        let none = || Expression::index(0);
        let width = Expression::index(i64::from(plan.width));
        let left = at_most(width.minus(plan.shift.clone()), plan.count.clone());
        let before = Expression::Select {
            condition: Box::new(plan.shift.clone().compare(ScalarOperation::Greater, none())),
            then: Box::new(left),
            otherwise: Box::new(none()),
        };
        self.simple("before", before, made)
    }

    /// Adds a strip, which is computed in a local array and stored from there to the result.
    fn line(
        &mut self,
        map: &Map,
        target: &Target,
        plan: &Plan,
        begin: Variable,
        made: &mut Vec<Command>,
    ) {
        let stride = target.fields.len() as i64;
        let buffer = self
            .program
            .add_variable("chunk", Type::Pointer(target.element));
        made.push(Command::Local {
            pointer: buffer,
            count: plan.width * stride as u32,
        });
        let offset = self.add_index("k");
        let mut renamed = BTreeMap::new();
        let index = copies::copy_of(self.program, map.index);
        renamed.insert(map.index, index);
        let mut body = copies::copy(self.program, map.body, &mut renamed);
        for command in &mut body {
            if let Command::Store { pointer, index, .. } = command
                && let Some(field) = target.fields.iter().position(|field| field == pointer)
            {
                *pointer = buffer;
                let first = Expression::Variable(offset).times(Expression::index(stride));
                *index = first.plus(Expression::index(field as i64));
            }
        }
        let width = Expression::index(i64::from(plan.width));
        made.push(map.independent((index, begin), offset, width.clone(), body));
        let first = Expression::Variable(begin).times(Expression::index(stride));
        made.push(Command::NonTemporalStore {
            fields: target.fields.clone(),
            start: plan.start.clone().plus(first),
            from: Expression::Variable(buffer),
            count: width,
            lines: true,
        });
    }

    /// Returns a loop over both sides: the iterations up to `before`, and those from `done` to
    /// `count`.
    fn sides(
        &mut self,
        map: &Map,
        before: Expression,
        done: Expression,
        count: Expression,
    ) -> Command {
        let side = self.add_index("side");
        let either = |first, second| of_side(side, first, second);
        let (from, length) = (self.add_index("from"), self.add_index("count"));
        let mut body = vec![
            Command::declare(from, either(Expression::index(0), done)),
            Command::declare(
                length,
                either(before, count).minus(Expression::Variable(from)),
            ),
        ];
        let offset = self.add_index("k");
        let length = Expression::Variable(length);
        let rest = map.body.to_vec();
        body.push(map.independent((map.index, from), offset, length, rest));
        map.counted(side, Expression::index(2), body)
    }
}

/// Returns the one of two values that belongs to a side: the first for the iterations before the
/// strips, the second for those after them.
pub(super) fn of_side(side: Variable, first: Expression, second: Expression) -> Expression {
    let is_first = Expression::Variable(side).compare(ScalarOperation::Equal, Expression::index(0));
    Expression::Select {
        condition: Box::new(is_first),
        then: Box::new(first),
        otherwise: Box::new(second),
    }
}
