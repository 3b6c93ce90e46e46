//! Distribution of loops with carried state (loop distribution with scalar expansion). Where iterations pass
//! on values that are no prefix scans, as in a linear recurrence or an elimination, C compilers keep the whole
//! loop in order. Often most of its work depends on nothing that is passed on. Such a loop becomes two loops
//! over strips: the first one computes what depends on no earlier iteration, for vector instructions, and the
//! second one does the rest in order.
//!
//! Local arrays hold the values that the second loop needs of the first (scalar expansion). Elements, and what
//! costs next to nothing, are read and computed again.

use super::linear::Definitions;
use super::operations::vector_form;
use super::recurrences::is_filter;
use super::{Map, Strips};
use nova_diag::deep;
use nova_loop::cost::work;
use nova_loop::ir::{Command, Expression, Level, Program, Type, Variable};
use nova_loop::walk;
use nova_machine::{PROCESSOR, figures};
use nova_plan::Choice;
use std::collections::BTreeSet;

/// The cost of an element that does not lie beside that of the next iteration, in instructions.
const GATHER_WORK: u32 = figures::STRIPS.gather_work;

/// The two loops that a body becomes.
struct Parts<'a> {
    program: &'a mut Program,
    definitions: Definitions,
    /// The variables that depend on earlier iterations.
    dependent: BTreeSet<Variable>,
    first: Vec<Command>,
    second: Vec<Command>,
}

impl Strips<'_> {
    /// Returns the commands that replace a loop with carried state.
    pub(super) fn distribute(&mut self, map: &Map) -> Option<Vec<Command>> {
        // The stores of a filter take all the slots in which the processor could overlap iterations.
        let types = |variable| self.program.variable(variable).ty;
        let is_filter = is_filter(map, &types);
        let least = match is_filter {
            true => 0,
            false => PROCESSOR.overlapped_work,
        };
        if map.in_place || (map.is_local && !is_filter) || map.work() < least {
            return None;
        }
        if !self.program.plan.allows(map.place, Choice::Distribution) {
            return None;
        }
        let parts = Parts::of(self.program, map)?;
        let at = parts.first.len();
        let body = [parts.first, parts.second].concat();
        let map = Map {
            body: &body,
            definitions: parts.definitions,
            folds: Vec::new(),
            ..*map
        };
        let split = self.split_at(&map, at)?;
        let mut moved = 0;
        for (k, command) in body[..at].iter().enumerate() {
            if !split.again.contains(&k) {
                moved += vector_work(&map, command)?;
            }
        }
        let price = PROCESSOR.store_and_load * split.expanded.len() as u32;
        let is_worth = moved >= i64::from(least + price);
        let flags = match is_filter {
            true => flags(&map, at),
            false => None,
        };
        is_worth.then(|| self.in_strips(&map, &split, Level::Independent, flags.as_deref()))
    }
}

impl Parts<'_> {
    /// Distributes the commands of a body. Returns none if a C compiler makes vectors of the whole loop: nothing
    /// but its sums depends on earlier iterations.
    fn of<'a>(program: &'a mut Program, map: &Map) -> Option<Parts<'a>> {
        let mut parts = Parts {
            program,
            definitions: map.definitions.clone(),
            dependent: BTreeSet::new(),
            first: Vec::new(),
            second: Vec::new(),
        };
        for at in &map.folds {
            if let Some(Command::Assign { variable, .. }) = map.body.get(*at) {
                parts.dependent.insert(*variable);
            }
        }
        let mut is_recurrence = false;
        for command in map.body {
            is_recurrence |= parts.reads_what_is_carried(map, command);
            parts.command(command.clone());
        }
        is_recurrence.then_some(parts)
    }

    /// True if a command needs what earlier iterations pass on, unless it does nothing but add to it.
    fn reads_what_is_carried(&self, map: &Map, command: &Command) -> bool {
        let mut depends = false;
        walk::reads(command, &mut |e| depends |= self.depends(e));
        let sum = match command {
            Command::Declare {
                variable,
                value: Some(value),
            } => map.sum_of(*variable).map(|sum| (sum, value)),
            Command::Assign { variable, value } => match value {
                Expression::Variable(result) if map.sum_of(*result) == Some(*variable) => {
                    return false;
                }
                _others => Some((*variable, value)),
            },
            _others => None,
        };
        depends && !sum.is_some_and(|(sum, value)| is_reduction(sum, value))
    }

    fn depends(&self, expression: &Expression) -> bool {
        let mut depends = false;
        expression.each_variable(&mut |v| depends |= self.dependent.contains(&v));
        depends
    }

    fn command(&mut self, mut command: Command) {
        match &mut command {
            Command::Declare {
                variable,
                value: Some(value),
            } => {
                if !self.depends(value) {
                    return self.first.push(command);
                }
                self.dependent.insert(*variable);
                self.take(value);
            }
            Command::Assign { value, .. } | Command::Store { value, .. } => self.take(value),
            _others => {}
        }
        self.second.push(command);
    }

    /// Declares the parts of a value that depend on no earlier iteration in the first loop.
    fn take(&mut self, value: &mut Expression) {
        let Expression::Scalar {
            operation,
            operand,
            arguments,
        } = value
        else {
            return;
        };
        if self.depends_on_none(arguments) {
            let ty = Type::Scalar(operation.result(*operand));
            let part = self.program.add_variable("t", ty);
            let value = std::mem::replace(value, Expression::Variable(part));
            self.definitions.add(part, &value);
            return self.first.push(Command::declare(part, value));
        }
        for argument in arguments {
            deep(|| self.take(argument));
        }
    }

    fn depends_on_none(&self, expressions: &[Expression]) -> bool {
        !expressions.iter().any(|e| self.depends(e))
    }
}

impl Map<'_> {
    /// Returns the variable from outside the loop to which a variable of the body is assigned.
    fn sum_of(&self, result: Variable) -> Option<Variable> {
        self.folds.iter().find_map(|at| match self.body.get(*at) {
            Some(Command::Assign {
                variable,
                value: Expression::Variable(assigned),
            }) if *assigned == result => Some(*variable),
            _others => None,
        })
    }
}

/// True if a value adds to a variable, or combines it by another operation of a reduction, with something else.
fn is_reduction(variable: Variable, value: &Expression) -> bool {
    let own = |e: &Expression| matches!(e, Expression::Variable(v) if *v == variable);
    match value {
        Expression::Scalar {
            operation,
            arguments,
            ..
        } => operation.commutes() && arguments.iter().filter(|e| own(e)).count() == 1,
        _others => false,
    }
}

/// Returns the numbers that the second loop of a filter, from a position of the body on, adds to its places. Where
/// all of them are 0, the elements of a strip are stored to the same places, one over the other, so that the last
/// iteration alone has the same effect.
fn flags(map: &Map, at: usize) -> Option<Vec<Variable>> {
    let second = map.body.get(at..)?;
    let mut flags = Vec::new();
    let mut places = BTreeSet::new();
    for command in second {
        if let Command::Assign { variable, value } = command {
            let Expression::Scalar { arguments, .. } = value else {
                return None;
            };
            let [Expression::Variable(one), Expression::Variable(other)] = arguments[..] else {
                return None;
            };
            let flag = if one == *variable { other } else { one };
            flags.push(flag);
            places.insert(*variable);
        }
    }
    let is_place = |command: &Command| match command {
        Command::Store { index, .. } => {
            let mut own = true;
            index.each_variable(&mut |v| {
                own &=
                    places.contains(&v) || (v != map.index && map.definitions.value(v).is_none());
            });
            own
        }
        Command::Declare { .. } | Command::Assign { .. } | Command::Comment(_) => true,
        _others => false,
    };
    second.iter().all(is_place).then_some(flags)
}

/// Returns the instructions of a command of the first loop that vector instructions save, less those that
/// gather elements. Returns none if there are no vector instructions for it.
fn vector_work(map: &Map, command: &Command) -> Option<i64> {
    let Command::Declare {
        value: Some(value), ..
    } = command
    else {
        return None;
    };
    vector_form(&map.definitions, value)
        .map(|gathers| i64::from(work(value)) - i64::from(GATHER_WORK) * gathers)
}
