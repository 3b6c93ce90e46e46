//! A pass on Loop that takes the rows of a nest four at a time where neighbouring rows read the
//! same memory, as those of a stencil do (unroll-and-jam). What rows share is then read and
//! computed once.
//!
//! ```text
//! for i in 0 .. n {            for i in 0 .. n {
//!     A;                           A;
//!     for j { f(i, j) }   ⇒        if i mod 4 = 0 {
//!     B;                               together = streams and i + 4 <= n;
//! }                                    if together { for j { f(i, j); … f(i+3, j) } } }
//!                                  if not together { for j { f(i, j) } }
//!                                  B; }
//! ```
//!
//! **Why that means the same.** The body of the outer loop declares scalars, and writes elements of
//! memory to which no other pointer leads and which the body does not read. It does nothing else.
//! So what an iteration computes depends on no other iteration. Their order shows only in elements
//! that are written twice: it decides which of the two values is left in the end. The elements that
//! A and B write are written in the same order as before. The inner loop writes through one pointer
//! p and nothing else. Its elements are written earlier than before, by at most three rows. So the
//! transformation is correct if no element that it writes of four consecutive rows is also written
//! by another of these rows, or by A or B through p.
//!
//! [`writes`] answers this question with addresses as polynomials. The inner loop writes
//! `p[s + iW + j]` for j < c. Here s, W and c are the same in all rows, and W - c is a constant k ≥ 0. What A
//! and B write through p lies at a constant distance before s + iW, or at or after s + iW + c. It
//! lies at most a elements before and b elements after, where a + b ≤ k. So what a row writes lies
//! in a window of W elements, from s + iW - a on, and A and B write no element that the inner loop
//! writes. The windows of four rows do not overlap: they begin W apart, and 4W is less than 2⁶⁴.
//! The reason is that rows are taken together only where c is at least 1, and c elements lie in
//! memory, so that W = c + k is positive and small.
//!
//! Whether elements that rows read are the same is guessed ([`forms`]). The guess is that clamps do
//! nothing. Where it is not certain, a comparison of the addresses decides at run time. Clamps do
//! something only at the edges, and only for rows that no other row reads.
//!
//! **When it gains.** The pass is for loops whose rows share at least a quarter of what they read,
//! and that write a large result. Such a result is written with non-temporal stores
//! ([`crate::strip_mining::non_temporal`]), here from strips of four rows, so that all rows must
//! begin at the same place in a line. All other loops keep the loop over one row: rows that begin
//! at different places are faster one by one, and what lies in the caches is read again at little
//! cost.

mod atom;
mod forms;
mod rows;
mod writes;

use crate::strip_mining::filled::{Filled, Row};
use crate::strip_mining::linear::Definitions;
use crate::strip_mining::non_temporal::{Plan, Target, when};
use crate::strip_mining::{Map, Strips, each_function};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::{Place, deep};
use nova_loop::ir::{Command, Expression, Function, Level, Program, Type, Variable};
use nova_loop::walk;
use nova_machine::{PROCESSOR, figures};
use nova_plan::Choice;
use rows::Together;
use writes::Written;

/// The number of rows that are taken together: a power of two.
const ROWS: i64 = figures::ROWS.unroll_and_jam;

/// Rewrites all functions of a program that do not recurse. Recursive ones stay as they are, since
/// strips need room on the stack.
pub fn run(program: &mut Program) {
    each_function(program, |strips, function| {
        UnrollAndJam { strips }.function(function);
    });
}

/// The state of the walk over a function.
struct UnrollAndJam<'a> {
    strips: Strips<'a>,
}

/// A nest of two loops whose rows may be written together.
struct Nest<'c> {
    /// The index of the outer loop.
    row: Variable,
    rows: &'c Expression,
    body: &'c [Command],
    place: &'c Place,
    /// The position of the inner loop in its body.
    at: usize,
    inner: Map<'c>,
    /// The declarations of both loops.
    definitions: Definitions,
    /// The pointer through which the inner loop writes; its index follows.
    pointer: Variable,
    index: &'c Expression,
}

impl UnrollAndJam<'_> {
    fn function(&mut self, function: &mut Function) {
        let mut made = Vec::with_capacity(function.body.len());
        for command in std::mem::take(&mut function.body) {
            deep(|| self.command(command, &mut made));
            if std::mem::take(&mut self.strips.needs_fence) {
                made.push(Command::StoreFence);
            }
        }
        function.body = self.strips.totals.declare(made);
    }

    fn command(&mut self, mut command: Command, made: &mut Vec<Command>) {
        for list in command.lists_mut() {
            let mut inside = Vec::with_capacity(list.len());
            for command in std::mem::take(list) {
                deep(|| self.command(command, &mut inside));
            }
            *list = inside;
        }
        match self.unrolled_and_jammed(&command) {
            Some(commands) => made.extend(commands),
            None => made.push(command),
        }
    }

    /// Returns the commands that replace a nest, if the transformation gains.
    fn unrolled_and_jammed(&mut self, command: &Command) -> Option<Vec<Command>> {
        let Command::For { body, .. } = command else {
            return None;
        };
        let is_apart = self.are_independent(body) && self.strips.memory.is_apart(body);
        (0..body.len()).filter(|_| is_apart).find_map(|at| {
            let nest = self.nest(command, at)?;
            let target = self.strips.target(&nest.inner)?;
            let written = nest.written()?;
            let together = rows::together(&mut self.strips, &nest)?;
            if !self
                .strips
                .program
                .plan
                .allows(nest.place, Choice::UnrollAndJam)
            {
                return None;
            }
            Some(self.rewritten(&nest, &target, &written, together))
        })
    }

    /// True if commands only declare scalars and write memory of their own.
    fn are_independent(&self, commands: &[Command]) -> bool {
        let mut are = true;
        walk::each_command(commands, |command| {
            are &= match command {
                Command::Declare {
                    variable,
                    value: Some(_),
                } => matches!(self.strips.program.variable(*variable).ty, Type::Scalar(_)),
                Command::Store { pointer, .. } => self.strips.memory.is_own(*pointer),
                Command::For { level, .. } => *level == Level::Sequential,
                Command::If { .. } | Command::Comment(_) => true,
                _ => false,
            };
        });
        are
    }

    /// Returns a loop with the inner loop at a position of its body, if they form a suitable nest.
    fn nest<'c>(&self, command: &'c Command, at: usize) -> Option<Nest<'c>> {
        let Command::For {
            variable: row,
            count: rows,
            level: Level::Sequential,
            body,
            place,
        } = command
        else {
            return None;
        };
        let inner = self.strips.map(body.get(at)?).filter(|map| !map.in_place)?;
        let is_small = inner.work() <= PROCESSOR.memory_bound_work;
        if !inner.folds.is_empty() || inner.stores != 1 || !is_small {
            return None;
        }
        let mut definitions = Definitions::new(inner.index);
        walk::each_command(body, |command| {
            if let Command::Declare {
                variable,
                value: Some(value),
            } = command
            {
                definitions.add(*variable, value);
            }
        });
        let (pointer, index) = inner.body.iter().find_map(|command| match command {
            Command::Store { pointer, index, .. } => Some((*pointer, index)),
            _ => None,
        })?;
        Some(Nest {
            pointer,
            index,
            row: *row,
            rows,
            body,
            place,
            at,
            inner,
            definitions,
        })
    }

    /// Returns the nest with its rows together where that is possible.
    fn rewritten(
        &mut self,
        nest: &Nest,
        target: &Target,
        written: &Written,
        copies: Together,
    ) -> Vec<Command> {
        let mut made = Vec::new();
        let rows = self.strips.simple("rows", nest.rows.clone(), &mut made);
        let plan = self.plan(target, written, &rows, &mut made);
        let together = self.add_bool("together");
        made.push(Command::declare(together, Expression::bool(false)));
        let row = Expression::Variable(nest.row);
        let of_group = row
            .clone()
            .compare(ScalarOperation::BitAnd, Expression::index(ROWS - 1));
        let is_first = of_group.compare(ScalarOperation::Equal, Expression::index(0));
        let left = rows.clone().minus(row);
        let are_there = Expression::Variable(plan.non_temporal).and(at_least(left, ROWS));
        let mut first = vec![Command::Assign {
            variable: together,
            value: are_there,
        }];
        let group = self.group(nest, target, plan, written, copies, together);
        first.push(when(Expression::Variable(together), group));
        let mut body = nest.body.to_vec();
        let alone = std::mem::replace(&mut body[nest.at], when(is_first, first));
        let is_alone = Expression::Variable(together).negated();
        body.insert(nest.at + 1, when(is_alone, vec![alone]));
        made.push(Command::sequential(nest.row, rows, body, nest.place));
        made
    }

    /// Adds the commands before the nest that decide whether rows are written together with
    /// non-temporal stores. If so, all rows have the same shift.
    fn plan(
        &mut self,
        target: &Target,
        written: &Written,
        rows: &Expression,
        made: &mut Vec<Command>,
    ) -> Plan {
        let count = self.strips.simple("count", written.count.clone(), made);
        let shift = self.strips.add_index("shift");
        made.push(Command::declare(shift, Expression::index(-1)));
        let width = target.width();
        let planned = vec![Command::PlanNonTemporal {
            shift,
            fields: target.fields.clone(),
            start: written.first.clone(),
            count: count.clone(),
            total: self.strips.total(target),
            width,
        }];
        let are_enough = at_least(rows.clone(), ROWS).and(at_least(count.clone(), 1));
        made.push(when(are_enough, planned));
        let shift = Expression::Variable(shift);
        let non_temporal = self.add_bool("streams");
        let value = at_least(shift.clone(), 0).and(fills_lines(&written.distance, target));
        made.push(Command::declare(non_temporal, value));
        self.strips.needs_fence = true;
        Plan {
            start: written.first.clone(),
            count,
            width,
            shift,
            non_temporal,
            is_certain: true,
        }
    }

    /// Returns the commands that write four rows, unless they find at run time that the rows may
    /// not be written together.
    fn group(
        &mut self,
        nest: &Nest,
        target: &Target,
        mut plan: Plan,
        written: &Written,
        mut copies: Together,
        together: Variable,
    ) -> Vec<Command> {
        let mut made = std::mem::take(&mut copies.outer);
        made.extend(copies.declarations());
        let before = Expression::Variable(nest.row).times(written.distance.clone());
        plan.start = self
            .strips
            .simple("start", plan.start.plus(before), &mut made);
        let conditions = copies.conditions().into_iter().reduce(Expression::and);
        let loops = self.loops(nest, target, &plan, &written.distance, copies);
        match conditions {
            None => made.extend(loops),
            Some(value) => {
                made.push(Command::Assign {
                    variable: together,
                    value,
                });
                made.push(when(Expression::Variable(together), loops));
            }
        }
        made
    }

    fn add_bool(&mut self, name: &str) -> Variable {
        let ty = Type::Scalar(Scalar::Bool);
        self.strips.program.add_variable(name, ty)
    }

    /// Returns the loops over the strips of four rows and their columns.
    fn loops(
        &mut self,
        nest: &Nest,
        target: &Target,
        plan: &Plan,
        distance: &Expression,
        copies: Together,
    ) -> Vec<Command> {
        let offset = self.strips.add_index("k");
        let places = (0..ROWS).map(|_| self.strips.place(target)).collect();
        let filled = filled(copies, distance, offset, places);
        let inner = &nest.inner;
        self.strips
            .over_strips(inner, plan, |strips, bounds, made| {
                strips.strip(inner, target, plan, filled, bounds, made);
            })
    }
}

/// Returns a condition: rows this far apart begin at the same place in a line.
fn fills_lines(distance: &Expression, target: &Target) -> Expression {
    let bytes = Expression::index(i64::from(target.size));
    let beyond = distance.clone().times(bytes);
    let beyond = beyond.compare(
        ScalarOperation::BitAnd,
        Expression::index(PROCESSOR.line_bytes - 1),
    );
    beyond.compare(ScalarOperation::Equal, Expression::index(0))
}

/// Returns the loop that fills strips of several rows. `places` are the pointers to the rows in a
/// strip.
fn filled(
    rows: Together,
    distance: &Expression,
    offset: Variable,
    places: Vec<Variable>,
) -> Filled {
    let mut body = rows.body;
    for (value, place) in rows.values.into_iter().zip(&places) {
        body.push(Command::Store {
            pointer: *place,
            index: Expression::Variable(offset),
            value,
        });
    }
    let row = |(place, row)| Row {
        distance: row_distance(distance, row),
        places: vec![place],
    };
    Filled {
        index: rows.index,
        offset,
        body,
        rows: places.into_iter().zip(0..).map(row).collect(),
    }
}

/// Returns the distance of a row from the first one.
fn row_distance(distance: &Expression, row: i64) -> Expression {
    Expression::index(row).times(distance.clone())
}

fn at_least(expression: Expression, number: i64) -> Expression {
    expression.compare(ScalarOperation::GreaterEqual, Expression::index(number))
}
