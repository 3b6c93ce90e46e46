//! Rows that lanes read apart, again in each iteration of a loop. They are packed before their first use: a row of
//! each lane becomes an array that is private to the lane, and the lanes of an element lie side by side.
//!
//! ```text
//! for i in 0 .. n {                                  for i in 0 .. n {
//!     for j in 0 .. k {                                  packed = false;
//!         for l in 0 .. d { s += f(a[d i + l], …) }      for j in 0 .. k {
//!         …                                         ⇒        if !packed { for l { p[l] = a[d i + l] }; packed = true }
//!     } }                                                    for l in 0 .. d { s += f(p[l], …) }
//!                                                            … } }
//! ```
//!
//! The copy is made where the first read would be, so that nothing is read that the loop would not read.

use super::block::Block;
use super::transposed::lane_loop;
use super::varying::reads;
use crate::limits::BYTES_OF_LANES;
use crate::strip_mining::non_temporal::when;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::{Place, deep};
use nova_loop::copies;
use nova_loop::ir::{
    Command, Expression, GATHERED_ROWS, Gather, Level, Program, Type, Variable, gathers_strided,
};
use nova_loop::streams::LinearReads;
use nova_loop::walk;
use nova_machine::PROCESSOR;
use std::collections::{BTreeMap, BTreeSet};

/// The body of a loop whose rows are packed.
pub(super) struct Packing {
    pub(super) body: Vec<Command>,
    rows: Vec<Row>,
}

/// A row of each iteration.
struct Row {
    /// The element of the row, at a loop's index.
    element: Expression,
    index: Variable,
    /// The number of elements, and its upper bound.
    count: Expression,
    most: u32,
    /// The array that has the row, and the variable that states whether it does.
    array: Variable,
    packed: Variable,
}

impl Packing {
    /// Returns the arrays that have rows.
    pub(super) fn arrays(&self) -> impl Iterator<Item = Variable> {
        self.rows.iter().map(|row| row.array)
    }

    /// Returns the conditions under which rows fit into their arrays.
    pub(super) fn conditions(&self) -> impl Iterator<Item = Expression> {
        self.rows.iter().map(|row| {
            let most = Expression::index(i64::from(row.most));
            row.count.clone().compare(ScalarOperation::LessEqual, most)
        })
    }
}

/// Returns the body of a loop over `index` with its rows packed. It is the body itself if it has none.
pub(super) fn of(program: &mut Program, index: Variable, body: &[Command], lanes: i64) -> Packing {
    let mut steady = BTreeSet::new();
    declared(body, &mut steady);
    let mut assigned = BTreeSet::new();
    walk::each_command(body, |command| {
        if let Command::Assign { variable, .. } = command {
            assigned.insert(*variable);
        }
    });
    steady.retain(|variable| !assigned.contains(variable));
    let mut search = Search {
        program,
        index,
        body,
        inside: walk::assigned(body),
        steady,
        bytes: BYTES_OF_LANES / lanes,
        rows: Vec::new(),
    };
    let mut made = search.list(body, false);
    let mut packed = Vec::new();
    for row in &search.rows {
        packed.push(Command::Local {
            pointer: row.array,
            count: row.most,
        });
        packed.push(Command::declare(row.packed, Expression::bool(false)));
    }
    packed.append(&mut made);
    Packing {
        body: packed,
        rows: search.rows,
    }
}

/// Adds the variables that commands declare outside of loops.
fn declared(commands: &[Command], found: &mut BTreeSet<Variable>) {
    for command in commands {
        match command {
            Command::Declare { variable, .. } => {
                found.insert(*variable);
            }
            Command::For { .. } | Command::Loop { .. } => {}
            other => other
                .lists()
                .into_iter()
                .for_each(|list| deep(|| declared(list, found))),
        }
    }
}

/// The search for rows in the body of a loop.
struct Search<'s> {
    program: &'s mut Program,
    index: Variable,
    body: &'s [Command],
    /// The variables that the body declares or assigns, and those of them that have one value in an iteration.
    inside: BTreeSet<Variable>,
    steady: BTreeSet<Variable>,
    /// The bytes of a lane that are left for rows.
    bytes: i64,
    rows: Vec<Row>,
}

impl Search<'_> {
    /// Returns commands with rows packed. `repeats` states that a loop repeats them.
    fn list(&mut self, commands: &[Command], repeats: bool) -> Vec<Command> {
        let mut made = Vec::with_capacity(commands.len());
        for command in commands {
            let mut command = command.clone();
            match &mut command {
                Command::For {
                    variable,
                    count,
                    level: Level::Sequential | Level::Unrolled,
                    body,
                    place,
                } => {
                    if repeats && self.has_rows(count, body) {
                        self.row_loop((*variable, count, place), body, &mut made);
                    } else {
                        *body = deep(|| self.list(body, true));
                    }
                }
                Command::If {
                    then, otherwise, ..
                } => {
                    for list in [then, otherwise] {
                        *list = deep(|| self.list(list, repeats));
                    }
                }
                _others => {}
            }
            made.push(command);
        }
        made
    }

    /// True if a loop has a length that no iteration of the outer loop changes, and a body that runs to its end.
    fn has_rows(&self, count: &Expression, body: &[Command]) -> bool {
        let is_plain = |c: &Command| {
            matches!(
                c,
                Command::Declare { .. } | Command::Assign { .. } | Command::Store { .. }
            )
        };
        !count.reads_memory() && !self.changes(count) && body.iter().all(is_plain)
    }

    /// True if an expression reads something that the body of the outer loop computes, or its index.
    fn changes(&self, expression: &Expression) -> bool {
        reads(&self.inside, expression) || reads(&BTreeSet::from([self.index]), expression)
    }

    /// Replaces the rows of a loop, and adds the commands that pack them before it.
    fn row_loop(
        &mut self,
        (index, count, place): (Variable, &Expression, &Place),
        body: &mut [Command],
        made: &mut Vec<Command>,
    ) {
        let mut found = Vec::new();
        for command in &*body {
            walk::reads(command, &mut |e| self.elements(index, e, &mut found));
        }
        let mut arrays: Vec<(Expression, Expression)> = Vec::new();
        for element in found {
            if arrays.iter().all(|(known, _)| *known != element)
                && let Some(row) = self.row(&element, index, count)
            {
                made.push(self.pack(row, &element, (index, count, place)));
                let array = self.rows[row].array;
                arrays.push((
                    element,
                    Expression::load(array, Expression::Variable(index)),
                ));
            }
        }
        for command in body {
            walk::reads_mut(command, &mut |e| replace(e, &arrays));
        }
    }

    /// Returns the command that packs a row if it is not packed.
    fn pack(
        &mut self,
        row: usize,
        element: &Expression,
        (index, count, place): (Variable, &Expression, &Place),
    ) -> Command {
        let own = copies::copy_of(self.program, index);
        let mut value = element.clone();
        value.rename(&BTreeMap::from([(index, own)]));
        let row = &self.rows[row];
        let store = Command::Store {
            pointer: row.array,
            index: Expression::Variable(own),
            value,
        };
        let done = Command::Assign {
            variable: row.packed,
            value: Expression::bool(true),
        };
        let copy = Command::sequential(own, count.clone(), vec![store], place);
        when(Expression::Variable(row.packed).negated(), vec![copy, done])
    }

    /// Adds the elements of rows that an expression always reads.
    fn elements(&self, index: Variable, expression: &Expression, found: &mut Vec<Expression>) {
        let children = match expression {
            Expression::Load { .. } if self.is_apart(index, expression) => {
                found.push(expression.clone());
                return;
            }
            Expression::Select { condition, .. } => vec![&**condition],
            other => other.children(),
        };
        for child in children {
            deep(|| self.elements(index, child, found));
        }
    }

    /// True for an element at a place that depends on the outer loop's iteration and on the index of the row
    /// alone, where neighbours of the outer loop do not read neighbours.
    fn is_apart(&self, row: Variable, element: &Expression) -> bool {
        let Expression::Load { pointer, index } = element else {
            return false;
        };
        let is_steady =
            |v: Variable| v == row || !self.inside.contains(&v) || self.steady.contains(&v);
        let mut known = matches!(**pointer, Expression::Variable(p) if !self.inside.contains(&p))
            && !index.reads_memory()
            && reads(&BTreeSet::from([row]), index);
        index.each_variable(&mut |v| known &= is_steady(v));
        let across = LinearReads::of(self.index, self.body).linear(index);
        known && !matches!(across, Some((_, 0 | 1)))
    }

    /// Returns the number of a row, which may be new.
    fn row(&mut self, element: &Expression, index: Variable, count: &Expression) -> Option<usize> {
        let known = self.rows.iter().position(|row| {
            let mut own = row.element.clone();
            own.rename(&BTreeMap::from([(row.index, index)]));
            own == *element && row.count == *count
        });
        known.or_else(|| self.new_row(element, index, count))
    }

    /// Adds a row, if there are bytes left for it.
    fn new_row(
        &mut self,
        element: &Expression,
        index: Variable,
        count: &Expression,
    ) -> Option<usize> {
        let Expression::Load { pointer, .. } = element else {
            return None;
        };
        let Expression::Variable(pointer) = **pointer else {
            return None;
        };
        let info = self.program.variable(pointer).clone();
        let Type::Pointer(scalar) = info.ty else {
            return None;
        };
        let bytes = PROCESSOR.packed_row_bytes;
        let most = u32::try_from(bytes / i64::from(scalar.bits().max(8) / 8)).ok()?;
        if self.bytes < bytes {
            return None;
        }
        self.bytes -= bytes;
        let array = self.program.add_variable(info.name, Type::Pointer(scalar));
        let flag = Type::Scalar(Scalar::Bool);
        let packed = self.program.add_variable("packed", flag);
        self.rows.push(Row {
            element: element.clone(),
            index,
            count: count.clone(),
            most,
            array,
            packed,
        });
        Some(self.rows.len() - 1)
    }
}

/// Replaces expressions by others, each with its replacement.
fn replace(expression: &mut Expression, others: &[(Expression, Expression)]) {
    if let Some((_, other)) = others.iter().find(|(old, _)| old == expression) {
        *expression = other.clone();
        return;
    }
    for child in expression.children_mut() {
        deep(|| replace(child, others));
    }
}

impl Block<'_> {
    /// Returns the command that stands for a loop over `index` whose body is a loop over lanes, if that only packs an
    /// element of each lane's row, and rows lie at a constant distance.
    pub(super) fn gathered_rows(
        &self,
        index: Variable,
        count: &Expression,
        body: &[Command],
    ) -> Option<Command> {
        let (lane, row) = lane_loop(body)?;
        let [
            Command::Declare { variable: own, .. },
            Command::Store {
                pointer: to,
                index: at,
                value:
                    Expression::Load {
                        pointer,
                        index: from,
                    },
            },
        ] = row
        else {
            return None;
        };
        let Expression::Variable(pointer) = **pointer else {
            return None;
        };
        let Type::Pointer(element) = self.program.variable(pointer).ty else {
            return None;
        };
        let width = Expression::index(self.width);
        let place = Expression::Variable(index)
            .times(width)
            .plus(Expression::Variable(*lane));
        let is_packed = self.private.contains(to) && *at == place && gathers_strided(element);
        let (start, stride) = LinearReads::of(index, &[]).linear(from)?;
        let start = start.unwrap_or(Expression::index(0));
        let is_row = stride == 1
            && degree(&start, *own).is_some_and(|d| d <= 1)
            && !reads(&BTreeSet::from([*lane]), &start);
        if !is_packed || !is_row || self.width != i64::from(GATHERED_ROWS) {
            return None;
        }
        let of_lane = |number: i64| {
            let own_index = Expression::Variable(self.base).plus(Expression::index(number));
            let mut start = start.clone();
            replace(&mut start, &[(Expression::Variable(*own), own_index)]);
            start
        };
        Some(Command::Gather(Gather::Rows {
            to: Expression::Variable(*to),
            from: Expression::offset(pointer, of_lane(0)),
            element,
            stride: of_lane(1).minus(of_lane(0)),
            count: count.clone(),
        }))
    }
}

/// Returns the degree of an expression as a polynomial of a variable, if it is one.
fn degree(expression: &Expression, variable: Variable) -> Option<u32> {
    match expression {
        Expression::Variable(other) => Some(u32::from(*other == variable)),
        Expression::Scalar {
            operation:
                operation @ (ScalarOperation::Add
                | ScalarOperation::Subtract
                | ScalarOperation::Multiply),
            operand: Scalar::I64,
            arguments,
        } => {
            let [left, right] = &arguments[..] else {
                return None;
            };
            let (left, right) = (
                deep(|| degree(left, variable))?,
                deep(|| degree(right, variable))?,
            );
            Some(match operation {
                ScalarOperation::Multiply => left.saturating_add(right),
                _sum => left.max(right),
            })
        }
        other => {
            let is_free = !reads(&BTreeSet::from([variable]), other) && !other.reads_memory();
            is_free.then_some(0)
        }
    }
}
