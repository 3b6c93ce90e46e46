//! A pass on Loop for sums of small integers, such as the number of elements that satisfy a
//! condition. An innermost loop that adds to totals of a wide type adds to lanes of a narrow type
//! instead, of which more fit into a vector. The lanes are added to the totals before they can
//! overflow.
//!
//! Integers that wrap have the same sum in any order, so the value does not change, strict or not.
//! The type of the lanes is at least as wide as the types that the elements are computed from,
//! since a comparison of four bytes gives a mask for lanes of four bytes.

mod small;

use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::{Place, deep};
use nova_loop::functions::each_function;
use nova_loop::ir::{Command, Expression, Level, Program, Type, Variable};
use nova_loop::streams::{Stream, streams};
use nova_loop::{copies, walk};
use nova_machine::{PROCESSOR, figures};
use nova_plan::Choice;
use small::Elements;
use std::collections::BTreeMap;

/// Loops with fewer iterations are left alone.
const LEAST_ITERATIONS: i64 = figures::ROWS.narrowed_iterations;
/// The least number of rows that are added to the lanes before the lanes are added to the totals.
const FEWEST_ROWS: i64 = figures::ROWS.fewest_narrowed;
/// The greatest such number.
const LANE_ROWS: i64 = figures::ROWS.most_narrowed;

/// Rewrites all functions of a program.
pub fn run(program: &mut Program) {
    each_function(program, |program, function| {
        let body = std::mem::take(&mut function.body);
        function.body = list(program, body, false);
    });
}

fn list(program: &mut Program, commands: Vec<Command>, inside: bool) -> Vec<Command> {
    let mut made = Vec::with_capacity(commands.len());
    for mut command in commands {
        let repeats = matches!(command, Command::For { .. } | Command::Loop { .. });
        for list_inside in command.lists_mut() {
            let body = std::mem::take(list_inside);
            *list_inside = deep(|| list(program, body, inside || repeats));
        }
        match Sums::of(program, &command) {
            Some(sums) => sums.write(program, command, inside, &mut made),
            None => made.push(command),
        }
    }
    made
}

/// The totals of a loop that does nothing but add small numbers to them.
struct Sums {
    /// The type of the lanes.
    lane: Scalar,
    /// The number of rows that may be added to the lanes without overflow.
    rows: i64,
    totals: Vec<Total>,
}

/// A variable that numbers are added to.
struct Total {
    variable: Variable,
    scalar: Scalar,
    /// Its lanes.
    lanes: Variable,
}

impl Sums {
    /// Returns the totals of a command, if it is such a loop.
    fn of(program: &mut Program, command: &Command) -> Option<Sums> {
        let Command::For {
            variable,
            body,
            level: Level::Sequential,
            place,
            ..
        } = command
        else {
            return None;
        };
        let elements = Elements::new(program, body, *variable);
        let mut totals: Vec<(Variable, Scalar)> = Vec::new();
        let (mut bits, mut most) = (8, 1);
        for command in body {
            match command {
                Command::Declare { value: Some(_), .. } => {}
                Command::Assign { variable, value } => {
                    let (element, scalar) = addend(*variable, value)?;
                    bits = bits.max(elements.width(element));
                    most = most.max(elements.most(element)?);
                    totals.push((*variable, scalar));
                }
                _ => return None,
            }
        }
        if !only_added_to(body, &totals) {
            return None;
        }
        let narrowest = totals.iter().map(|(_, scalar)| scalar.bits()).min()?;
        let candidates = [(8, Scalar::U8), (16, Scalar::U16), (32, Scalar::U32)];
        let fitting = candidates.into_iter().find_map(|(width, lane)| {
            let rows = ((1i64 << width) - 1) / most;
            let suits = width >= bits && width < narrowest && rows >= FEWEST_ROWS;
            suits.then(|| (lane, 1i64 << rows.min(LANE_ROWS).ilog2()))
        });
        let (lane, rows) = fitting?;
        if !program.plan.allows(place, Choice::Narrow) {
            return None;
        }
        let totals = totals.into_iter().map(|(variable, scalar)| Total {
            variable,
            scalar,
            lanes: program.add_variable("lanes", Type::Pointer(lane)),
        });
        let totals = totals.collect();
        Some(Sums { lane, rows, totals })
    }

    /// Returns the number of lanes of a total.
    fn width(&self) -> i64 {
        i64::from(8 * PROCESSOR.vector_bytes) / i64::from(self.lane.bits())
    }

    /// Adds the loop: blocks of full rows, then the remaining iterations as they were.
    fn write(self, program: &mut Program, command: Command, inside: bool, made: &mut Vec<Command>) {
        let Command::For {
            variable,
            count,
            level,
            body,
            place,
        } = command
        else {
            return made.push(command);
        };
        let mut declare = |program: &mut Program, name: &str, value: Expression| {
            let variable = program.add_variable(name, Type::Scalar(Scalar::I64));
            made.push(Command::Declare {
                variable,
                value: Some(value),
            });
            Expression::Variable(variable)
        };
        let count = declare(program, "count", count);
        let ahead = self.ahead(&body, variable, inside);
        let full = shifted_right(count.clone(), self.width());
        let enough = count.clone().compare(
            ScalarOperation::GreaterEqual,
            Expression::index(LEAST_ITERATIONS),
        );
        let full = choose(enough, full, Expression::index(0));
        let full = declare(program, "rows", full);
        for total in &self.totals {
            made.push(Command::Local {
                pointer: total.lanes,
                count: self.width() as u32,
            });
        }
        made.push(self.blocks(program, (variable, &body), &full, &ahead, &place));
        let done = full.times(Expression::index(self.width()));
        let left = program.add_variable("left", Type::Scalar(Scalar::I64));
        let mut rest = vec![Command::Declare {
            variable,
            value: Some(done.clone().plus(Expression::Variable(left))),
        }];
        rest.extend(body);
        made.push(Command::For {
            variable: left,
            count: count.minus(done),
            level,
            body: rest,
            place,
        });
    }

    /// Returns the arrays that the rows of a loop with this body prefetch: those that it reads from
    /// front to back, if they are few.
    fn ahead(&self, body: &[Command], index: Variable, inside: bool) -> Vec<Stream> {
        let mut ahead = streams(body, index);
        // Elements that every iteration of the enclosing loop reads again stay in a cache.
        ahead.retain(|stream| !inside || stream.before.is_some());
        if ahead.len() > PROCESSOR.prefetched_arrays {
            ahead.clear();
        }
        ahead
    }

    /// Returns the loop over all full rows. It consists of blocks, after each of which the lanes
    /// are added to the totals.
    fn blocks(
        &self,
        program: &mut Program,
        (index, body): (Variable, &[Command]),
        full: &Expression,
        ahead: &[Stream],
        place: &Place,
    ) -> Command {
        let [block, first] = ["block", "first"].map(|name| add_index(program, name));
        let number = Expression::index;
        let blocks = shifted_right(full.clone().plus(number(self.rows - 1)), self.rows);
        let before = Expression::Variable(block).times(number(self.rows));
        let mut code = vec![Command::declare(first, before)];
        let first = Expression::Variable(first);
        let left = full.clone().minus(first.clone());
        let rows = (
            first,
            left.compare(ScalarOperation::Minimum, number(self.rows)),
        );
        code.extend(self.block(program, (index, body), rows, ahead, place));
        Command::sequential(block, blocks, code, place)
    }

    /// Returns a block of so many rows from the first one on: the lanes are set to 0, the rows are
    /// added to them, and the lanes are added to the totals.
    fn block(
        &self,
        program: &mut Program,
        (index, body): (Variable, &[Command]),
        (first, rows): (Expression, Expression),
        ahead: &[Stream],
        place: &Place,
    ) -> Vec<Command> {
        let zero = Expression::Constant(ScalarValue::from_integer_wrapping(self.lane, 0));
        let clear = self.each_lane(program, place, |total, lane| Command::Store {
            pointer: total.lanes,
            index: lane,
            value: zero.clone(),
        });
        let [row, start] = ["row", "start"].map(|name| add_index(program, name));
        let number = first.plus(Expression::Variable(row));
        let mut code = vec![Command::declare(
            start,
            number.times(Expression::index(self.width())),
        )];
        let start = Expression::Variable(start);
        for stream in ahead {
            let bytes = stream.bytes(ahead.len());
            code.extend(stream.ahead_of_row(program, &start, self.width(), bytes));
        }
        code.push(self.row(program, body, index, start, place));
        let finish = self.each_lane(program, place, |total, lane| {
            let lane = Expression::load(total.lanes, lane);
            let lane = converted(self.lane, total.scalar, lane);
            Command::Assign {
                variable: total.variable,
                value: sum(total.scalar, Expression::Variable(total.variable), lane),
            }
        });
        vec![clear, Command::sequential(row, rows, code, place), finish]
    }

    /// Returns one row: a copy of the body for each lane.
    fn row(
        &self,
        program: &mut Program,
        body: &[Command],
        index: Variable,
        start: Expression,
        place: &Place,
    ) -> Command {
        let lane = program.add_variable("lane", Type::Scalar(Scalar::I64));
        let own = copies::copy_of(program, index);
        let mut variables = BTreeMap::from([(index, own)]);
        let copy = copies::copy(program, body, &mut variables);
        let mut code = vec![Command::Declare {
            variable: own,
            value: Some(start.plus(Expression::Variable(lane))),
        }];
        let elements = Elements::new(program, &copy, own);
        let lane_of = |command: &Command| {
            let Command::Assign { variable, value } = command else {
                return None;
            };
            let total = self.totals.iter().find(|t| t.variable == *variable)?;
            let (element, _) = addend(*variable, value)?;
            let old = Expression::load(total.lanes, Expression::Variable(lane));
            Some(Command::Store {
                pointer: total.lanes,
                index: Expression::Variable(lane),
                value: sum(self.lane, old, elements.narrowed(element, self.lane)),
            })
        };
        code.extend(copy.iter().map(|c| lane_of(c).unwrap_or_else(|| c.clone())));
        // If it were unrolled before it is vectorised, a loop that reads neighbours twice would get
        // no vectors and would run at a sixth of the speed.
        Command::For {
            variable: lane,
            count: Expression::index(self.width()),
            level: Level::Vector,
            body: code,
            place: place.clone(),
        }
    }

    /// Returns a loop over the lanes of all totals.
    fn each_lane(
        &self,
        program: &mut Program,
        place: &Place,
        write: impl Fn(&Total, Expression) -> Command,
    ) -> Command {
        let lane = program.add_variable("lane", Type::Scalar(Scalar::I64));
        let totals = self.totals.iter();
        let code = totals.map(|total| write(total, Expression::Variable(lane)));
        let code = code.collect();
        Command::sequential(lane, Expression::index(self.width()), code, place)
    }
}

/// Returns the number that a command adds to a total, and the total's type, if it is an addition of
/// integers.
fn addend(total: Variable, value: &Expression) -> Option<(&Expression, Scalar)> {
    let Expression::Scalar {
        operation: ScalarOperation::Add,
        operand,
        arguments,
    } = value
    else {
        return None;
    };
    let is_total = |e: &Expression| matches!(e, Expression::Variable(v) if *v == total);
    match &arguments[..] {
        [old, element] | [element, old] if operand.is_integer() && is_total(old) => {
            Some((element, *operand))
        }
        _ => None,
    }
}

/// True if each total is added to once and read nowhere else.
fn only_added_to(body: &[Command], totals: &[(Variable, Scalar)]) -> bool {
    let mut reads = 0;
    for command in body {
        walk::reads(command, &mut |e| {
            e.each_variable(&mut |v| reads += usize::from(totals.iter().any(|(t, _)| *t == v)));
        });
    }
    let once = |k: usize, total: Variable| totals.iter().skip(k + 1).all(|(t, _)| *t != total);
    reads == totals.len() && totals.iter().enumerate().all(|(k, (t, _))| once(k, *t))
}

/// Returns a sum of integers of a type.
fn sum(operand: Scalar, left: Expression, right: Expression) -> Expression {
    Expression::Scalar {
        operation: ScalarOperation::Add,
        operand,
        arguments: vec![left, right],
    }
}

/// Returns a number that fits both types, converted to the other type.
fn converted(from: Scalar, to: Scalar, value: Expression) -> Expression {
    Expression::Scalar {
        operation: ScalarOperation::Convert(to),
        operand: from,
        arguments: vec![value],
    }
}

fn choose(condition: Expression, then: Expression, otherwise: Expression) -> Expression {
    Expression::Select {
        condition: Box::new(condition),
        then: Box::new(then),
        otherwise: Box::new(otherwise),
    }
}

/// Returns a number of rows or steps divided by a power of two.
fn shifted_right(number: Expression, by: i64) -> Expression {
    let shift = Expression::index(i64::from(by.ilog2()));
    number.compare(ScalarOperation::ShiftRight, shift)
}

fn add_index(program: &mut Program, name: &str) -> Variable {
    program.add_variable(name, Type::Scalar(Scalar::I64))
}
