//! Index-set splitting. An innermost loop may have conditions that depend on whether the index is
//! one of the first or last few. Each of those iterations becomes a copy of the body where the
//! index is known. Between them stands a loop over the other iterations, where the conditions are
//! decided.

use super::Splitter;
use super::expressions::Undecided;
use super::expressions::expression_size;
use super::facts::{Integer, from};
use super::straighten::Accesses;
use crate::limits::{NODES_OF_A_SPLIT_BODY, SPLIT_ITERATIONS};
use nova_core::ScalarOperation;
use nova_diag::{Place, deep};
use nova_loop::ir::{Command, Expression, Level, Variable};
use nova_loop::{copies, walk};
use nova_machine::figures;
use nova_plan::Choice;
use nova_symbolic::Interval;
use std::collections::BTreeMap;

/// Loops of fewer iterations, where their number is known, are left to compilers, which unroll
/// them.
const SHORTEST: i64 = figures::STRIPS.shortest_split;

/// A counted loop.
struct Counted {
    variable: Variable,
    count: Expression,
    level: Level,
    place: Place,
}

/// The numbers of iterations that are split off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ends {
    first: i64,
    last: i64,
}

impl Splitter<'_> {
    /// Rewrites a counted loop.
    pub(super) fn counted_loop(&mut self, command: Command, made: &mut Vec<Command>) {
        let guarded = self.guarded.len();
        self.rewrite_loop(command, made);
        self.guarded.truncate(guarded);
    }

    fn rewrite_loop(&mut self, command: Command, made: &mut Vec<Command>) {
        let Command::For {
            variable,
            mut count,
            level,
            body,
            place,
        } = command
        else {
            return;
        };
        let length = self.rewrite(&mut count);
        let counted = Counted {
            variable,
            count,
            level,
            place,
        };
        if !is_straight(&body) {
            let mark = self.facts.mark();
            self.enter(variable, length);
            let body = self.list(body);
            self.facts.forget(mark);
            return made.push(counted.with_body(body));
        }
        let is_shared = self.on_device && counted.level.is_parallel();
        let is_long = length.is_some_and(|l| l.root.is_some() || l.offset >= SHORTEST);
        let is_short = is_long && size(&body) <= NODES_OF_A_SPLIT_BODY;
        let may_split = is_short && !is_shared;
        let original = may_split.then(|| body.clone());
        self.undecided.clear();
        let mark = self.facts.mark();
        self.enter(variable, length);
        let mut whole = Vec::with_capacity(body.len());
        self.commands(body, &mut whole);
        let undecided = std::mem::take(&mut self.undecided);
        let accesses = Accesses::of(&whole, &self.facts, &self.chunks, variable);
        let ends = length.map(|length| self.ends(&undecided, variable, length));
        if let (Some(original), Some(length), Some(ends)) = (original, length, ends)
            && ends != Ends::default()
            && self.program.plan.allows(&counted.place, Choice::Split)
        {
            self.facts.forget(mark);
            return self.split(counted, original, length, ends, accesses, made);
        }
        let whole = self.straighten(whole, &accesses.within(0, 0, variable));
        self.facts.forget(mark);
        made.push(counted.with_body(whole));
    }

    /// Notes that an index lies below a count, which is then positive.
    fn enter(&mut self, variable: Variable, count: Option<Integer>) {
        self.add_root(variable);
        let index = Integer::variable(variable);
        let below = i128::from(i64::MAX) - 1;
        self.facts.narrow(index, Interval::between(0, below));
        if let Some(count) = count {
            self.facts.narrow(count, from(1));
            if let Some(last) = count.plus(-1) {
                self.facts.bound(variable, last);
            }
            self.learn_guarded();
        }
    }

    fn split(
        &mut self,
        counted: Counted,
        body: Vec<Command>,
        length: Integer,
        ends: Ends,
        accesses: Accesses,
        made: &mut Vec<Command>,
    ) {
        for number in 0..ends.first {
            let value = Expression::index(number);
            self.iteration(&counted, &body, length, number + 1, value, made);
        }
        self.interior(&counted, body.clone(), length, ends, accesses, made);
        for number in (1..=ends.last).rev() {
            let value = counted.count.clone().minus(Expression::index(number));
            self.iteration(&counted, &body, length, ends.first + number, value, made);
        }
    }

    /// Adds one iteration as a copy of the body, which runs if the loop has at least `least`
    /// iterations.
    fn iteration(
        &mut self,
        counted: &Counted,
        body: &[Command],
        length: Integer,
        least: i64,
        value: Expression,
        made: &mut Vec<Command>,
    ) {
        let index = self.add_constant(counted.variable);
        let mut variables = BTreeMap::from([(counted.variable, index)]);
        let mut copy = vec![Command::Declare {
            variable: index,
            value: Some(value),
        }];
        copy.extend(self.copy(body, &mut variables));
        let condition = counted
            .count
            .clone()
            .compare(ScalarOperation::GreaterEqual, Expression::index(least));
        let least = i128::from(least);
        let always = self.facts.range(length).least.is_some_and(|l| l >= least);
        let mark = self.facts.mark();
        self.facts.narrow(length, from(least));
        let mut then = self.list(copy);
        self.facts.forget(mark);
        if always {
            return made.append(&mut then);
        }
        made.push(Command::If {
            condition,
            then,
            otherwise: Vec::new(),
        });
    }

    /// Adds a loop over the iterations between the ends.
    fn interior(
        &mut self,
        counted: &Counted,
        body: Vec<Command>,
        length: Integer,
        ends: Ends,
        accesses: Accesses,
        made: &mut Vec<Command>,
    ) {
        let Some(inner) = length.plus(-ends.first - ends.last) else {
            return;
        };
        let mark = self.facts.mark();
        let mut code = Vec::with_capacity(body.len() + 1);
        let variable = match ends.first {
            0 => counted.variable,
            first => {
                let variable = self.add_constant(counted.variable);
                code.push(Command::Declare {
                    variable: counted.variable,
                    value: Some(Expression::Variable(variable).plus(Expression::index(first))),
                });
                variable
            }
        };
        code.extend(body);
        self.enter(variable, Some(inner));
        let mut rewritten = Vec::with_capacity(code.len());
        self.commands(code, &mut rewritten);
        let accesses = accesses.within(ends.first, ends.last, variable);
        let rewritten = self.straighten(rewritten, &accesses);
        self.facts.forget(mark);
        let off = Expression::index(ends.first + ends.last);
        made.push(Command::For {
            variable,
            count: counted.count.clone().minus(off),
            level: counted.level,
            body: rewritten,
            place: counted.place.clone(),
        });
    }

    /// Returns the numbers of iterations to split off at each end, so that most comparisons are
    /// decided between them.
    fn ends(&self, undecided: &[Undecided], index: Variable, length: Integer) -> Ends {
        let mut ends = Ends::default();
        for comparison in undecided {
            let [left, right] = comparison.operands;
            // The number of indices of the loop, or of the whole range of which it covers a chunk.
            let whole = |side: Integer| match side.root == Some(index) {
                true => Some(length),
                false => self.chunks.whole(side.root, index),
            };
            let (at, other, swapped, length) = match (whole(left), whole(right)) {
                (Some(length), None) => (left, right, false, length),
                (None, Some(length)) => (right, left, true, length),
                (Some(_), Some(_)) | (None, None) => continue,
            };
            let Some(equal) = at.offset.checked_neg().and_then(|c| other.plus(c)) else {
                continue;
            };
            // True if the outcome may differ between the indices before `equal` and `equal` itself,
            // and between `equal` and those after it.
            use ScalarOperation as O;
            let (before, after) = match (comparison.operation, swapped) {
                (O::Equal | O::NotEqual, _) => (true, true),
                (O::Less | O::GreaterEqual, false) | (O::LessEqual | O::Greater, true) => {
                    (true, false)
                }
                (O::LessEqual | O::Greater, false) | (O::Less | O::GreaterEqual, true) => {
                    (false, true)
                }
                // Where both are equal either will do.
                _ => (false, false),
            };
            match equal.root {
                None => {
                    let first = equal.offset.saturating_add(i64::from(after));
                    if (1..=SPLIT_ITERATIONS).contains(&first) {
                        ends.first = ends.first.max(first);
                    }
                }
                Some(_) if equal.root == length.root => {
                    let last = length.offset.saturating_sub(equal.offset);
                    let last = last.saturating_sub(i64::from(!before));
                    if (1..=SPLIT_ITERATIONS).contains(&last) {
                        ends.last = ends.last.max(last);
                    }
                }
                Some(_) => {}
            }
        }
        ends
    }

    /// Returns a copy of straight-line commands with variables of its own.
    fn copy(
        &mut self,
        commands: &[Command],
        variables: &mut BTreeMap<Variable, Variable>,
    ) -> Vec<Command> {
        let copies = copies::copy(self.program, commands, variables);
        self.constant.resize(self.program.variables.len(), true);
        for (old, new) in variables {
            self.constant[new.index()] = self.is_constant(*old);
        }
        copies
    }
}

impl Counted {
    fn with_body(self, body: Vec<Command>) -> Command {
        Command::For {
            variable: self.variable,
            count: self.count,
            level: self.level,
            body,
            place: self.place,
        }
    }
}

/// True if commands have no loops, calls or blocks in them.
fn is_straight(commands: &[Command]) -> bool {
    commands.iter().all(|command| match command {
        Command::Declare { .. }
        | Command::Assign { .. }
        | Command::Store { .. }
        | Command::Contend { .. }
        | Command::Check { .. }
        | Command::Comment(_) => true,
        Command::If {
            then, otherwise, ..
        } => deep(|| is_straight(then) && is_straight(otherwise)),
        _others => false,
    })
}

/// Returns the number of expressions in commands.
fn size(commands: &[Command]) -> usize {
    let mut count = 0;
    for command in commands {
        walk::reads(command, &mut |e| count += expression_size(e));
        count += command
            .lists()
            .into_iter()
            .map(|l| deep(|| size(l)))
            .sum::<usize>();
    }
    count
}
