//! Strips that are filled in a local array and moved from there with non-temporal stores: the loop
//! over the strips, and the commands of one strip. A strip covers one row, or several that one loop
//! computes.

use super::non_temporal::{Plan, Target, chosen, when};
use super::{Map, Strips, at_least, at_most};
use nova_core::ScalarOperation;
use nova_loop::ir::{Command, Expression, Type, Variable};

/// A loop that fills the local array of a strip, for one row or several.
pub(crate) struct Filled {
    /// The index of an iteration.
    pub(crate) index: Variable,
    /// The position of the iteration in the strip.
    pub(crate) offset: Variable,
    /// Its body. Structures are written through the pointers of their row, from `offset` on.
    pub(crate) body: Vec<Command>,
    /// The rows.
    pub(crate) rows: Vec<Row>,
}

/// A row that a loop in strips writes.
pub(crate) struct Row {
    /// The distance from the first row.
    pub(crate) distance: Expression,
    /// Pointers to the fields of its structures in a strip, which the strip declares.
    pub(crate) places: Vec<Variable>,
}

impl Plan {
    /// Returns one of two values: the first one if strips are written with non-temporal stores.
    fn chosen(&self, then: Expression, otherwise: Expression) -> Expression {
        match self.is_certain {
            true => then,
            false => chosen(self.non_temporal, then, otherwise),
        }
    }

    /// Returns commands that run only if strips are written with non-temporal stores.
    pub(super) fn when_non_temporal(&self, commands: Vec<Command>) -> Vec<Command> {
        match self.is_certain || commands.is_empty() {
            true => commands,
            false => vec![when(Expression::Variable(self.non_temporal), commands)],
        }
    }
}

impl Strips<'_> {
    /// Returns a loop over the strips. `inside` adds the commands of a strip to its body; it is
    /// given the variables with the bounds of the strip.
    pub(crate) fn over_strips(
        &mut self,
        map: &Map,
        plan: &Plan,
        inside: impl FnOnce(&mut Self, (Variable, Variable), &mut Vec<Command>),
    ) -> Vec<Command> {
        let mut made = Vec::new();
        let width = || Expression::index(i64::from(plan.width));
        let reach = plan.count.clone().plus(plan.shift.clone());
        let strips = reach.plus(Expression::index(i64::from(plan.width) - 1));
        let strips = strips.compare(ScalarOperation::Divide, width());
        let strips = plan.chosen(strips, Expression::index(1));
        let strips = self.simple("strips", strips, &mut made);

        let strip = self.add_index("strip");
        let (begin, end) = (self.add_index("begin"), self.add_index("end"));
        let unshifted = Expression::Variable(strip)
            .times(width())
            .minus(plan.shift.clone());
        let above = at_least(unshifted.clone(), 0);
        let mut body = vec![Command::declare(
            begin,
            plan.chosen(above, Expression::index(0)),
        )];
        let below = at_most(unshifted.plus(width()), plan.count.clone());
        body.push(Command::declare(
            end,
            plan.chosen(below, plan.count.clone()),
        ));
        inside(self, (begin, end), &mut body);
        made.push(map.counted(strip, strips, body));
        made
    }

    /// Returns a loop that writes one row, for strips.
    pub(super) fn filled(&mut self, map: &Map, target: &Target) -> Filled {
        let offset = self.add_index("k");
        let stride = Expression::index(target.fields.len() as i64);
        let add = |_: &Variable| self.place(target);
        let places: Vec<Variable> = target.fields.iter().map(add).collect();
        let mut body = map.body.to_vec();
        for command in &mut body {
            if let Command::Store { pointer, index, .. } = command
                && let Some(field) = target.fields.iter().position(|field| field == pointer)
            {
                *pointer = places[field];
                *index = Expression::Variable(offset).times(stride.clone());
            }
        }
        Filled {
            index: map.index,
            offset,
            body,
            rows: vec![Row {
                distance: Expression::index(0),
                places,
            }],
        }
    }

    /// Adds a pointer to the structures of a row in a strip.
    pub(crate) fn place(&mut self, target: &Target) -> Variable {
        self.program
            .add_variable("to", Type::Pointer(target.element))
    }

    /// Adds the commands of a strip.
    pub(crate) fn strip(
        &mut self,
        map: &Map,
        target: &Target,
        plan: &Plan,
        filled: Filled,
        (begin, end): (Variable, Variable),
        made: &mut Vec<Command>,
    ) {
        let start = &plan.start;
        let ty = Type::Pointer(target.element);
        let buffer = self.program.add_variable("chunk", ty);
        let stride = target.fields.len() as u32;
        let of_row = i64::from(plan.width * stride);
        made.push(Command::Local {
            pointer: buffer,
            count: plan.width * stride * filled.rows.len() as u32,
        });
        for (row, first) in filled.rows.iter().zip((0..).step_by(of_row as usize)) {
            let there = start.clone().plus(row.distance.clone());
            for ((field, place), k) in target.fields.iter().zip(&row.places).zip(0..) {
                let local = Expression::offset(buffer, Expression::index(first + k));
                let there = Expression::offset(*field, there.clone());
                made.push(Command::declare(*place, plan.chosen(local, there)));
            }
        }
        let length = Expression::Variable(end).minus(Expression::Variable(begin));
        let from = (filled.index, begin);
        made.push(map.independent(from, filled.offset, length.clone(), filled.body));
        let first = Expression::Variable(begin).times(Expression::index(i64::from(stride)));
        let store = |(row, at): (&Row, i64)| Command::NonTemporalStore {
            fields: target.fields.clone(),
            start: start.clone().plus(row.distance.clone()).plus(first.clone()),
            from: Expression::offset(buffer, Expression::index(at)),
            count: length.clone(),
            lines: false,
        };
        let rows = filled.rows.iter().zip((0..).step_by(of_row as usize));
        made.extend(plan.when_non_temporal(rows.map(store).collect()));
    }
}
