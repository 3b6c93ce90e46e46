//! Checks that no part of a filter fills more than was counted for it.
//!
//! A filter in parts computes its condition twice: one loop over the parts counts, a scan says where
//! each part begins, and another loop writes what the part keeps from there on. That both find the
//! same number follows from how they were made, but cannot be read off the program: other passes
//! write the two loops differently. So each part says at its end that it has not come further than
//! to the beginning of the next one, which is what the interference checker needs. That is one
//! comparison for each part.
//!
//! ```text
//! for p in n { begins[p] = last; last = last + counts[p] }
//! parallel for p in n {
//!   start = begins[p]; kept = 0
//!   … if c { out[start + kept] = x; kept = kept + 1 } …
//!   check p + 1 >= n || start + kept <= begins[p + 1]
//! }
//! ```

use crate::interference::{growing, written};
use crate::ir::{Command, Expression, Level, Program, Type, Variable};
use crate::walk::each_command;
use nova_core::error::ErrorKind;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::{Place, deep};
use std::collections::{BTreeMap, BTreeSet};

/// Adds the checks wherever a loop over the parts of a filter is run by several.
pub fn run(program: &mut Program) {
    let mut functions = std::mem::take(&mut program.functions);
    for function in &mut functions {
        let mut times = BTreeMap::new();
        each_command(&function.body, |command| {
            each_writable(program, command, &mut |v| {
                *times.entry(v).or_insert(0) += 1;
            });
        });
        in_list(program, &times, &mut function.body);
    }
    program.functions = functions;
}

/// The pointers that a command writes through, or copies.
fn each_writable(program: &Program, command: &Command, visit: &mut dyn FnMut(Variable)) {
    for place in written(command) {
        place.each_variable(visit);
    }
    match command {
        Command::Declare {
            variable,
            value: Some(value),
        }
        | Command::Assign { variable, value }
            if matches!(program.variable(*variable).ty, Type::Pointer(_)) =>
        {
            value.each_variable(visit);
        }
        Command::Call { arguments, .. } | Command::Foreign { arguments, .. } => {
            for argument in arguments {
                argument.each_variable(visit);
            }
        }
        _others => {}
    }
}

/// Goes through a list, with the tables of beginnings that it has written; `stores` says how many
/// commands write through a pointer.
fn in_list(program: &Program, stores: &BTreeMap<Variable, usize>, list: &mut [Command]) {
    let mut tables = BTreeSet::new();
    for command in list.iter_mut() {
        match &mut *command {
            Command::For {
                variable,
                level: Level::Sequential,
                body,
                ..
            } => {
                tables.extend(begins(*variable, body).filter(|table| stores.get(table) == Some(&1)))
            }
            Command::For {
                variable,
                count,
                level: Level::Grid,
                body,
                place,
            } => {
                let part = Part {
                    index: *variable,
                    count,
                    place,
                };
                part.check(program, &tables, body);
            }
            _others => {}
        }
        for inner in command.lists_mut() {
            deep(|| in_list(program, stores, inner));
        }
    }
}

/// Where the body of a loop stores a number that it adds to: `begins[i] = last; last = last + …`.
fn begins(index: Variable, body: &[Command]) -> impl Iterator<Item = Variable> {
    body.iter().enumerate().filter_map(move |(at, command)| match command {
        Command::Store {
            pointer,
            index: Expression::Variable(i),
            value: Expression::Variable(last),
        } if *i == index => {
            let adds = |command: &Command| {
                matches!(command, Command::Assign { variable, value } if variable == last && is_sum(value, *last))
            };
            body[at..].iter().any(adds).then_some(*pointer)
        }
        _others => None,
    })
}

fn is_sum(value: &Expression, of: Variable) -> bool {
    matches!(value, Expression::Scalar { operation: ScalarOperation::Add, operand: Scalar::I64, arguments }
        if matches!(arguments.first(), Some(Expression::Variable(v)) if *v == of))
}

/// A parallel loop over parts.
struct Part<'l> {
    index: Variable,
    count: &'l Expression,
    place: &'l Place,
}

impl Part<'_> {
    /// Checks at the end of what a part keeps that it has stayed where it belongs.
    fn check(&self, program: &Program, tables: &BTreeSet<Variable>, body: &mut Vec<Command>) {
        let starts: Vec<(Variable, Variable)> = body
            .iter()
            .filter_map(|command| self.start(tables, command))
            .collect();
        if starts.is_empty() {
            return;
        }
        let mut ends: Vec<(Variable, usize)> = growing(program, body).into_iter().collect();
        ends.sort_by_key(|(_, last)| std::cmp::Reverse(*last));
        for (kept, last) in ends {
            let start = starts.iter().find(|(start, _)| fills(body, *start, kept));
            if let Some((start, begins)) = start {
                body.insert(last + 1, self.stays(*start, *begins, kept));
            }
        }
    }

    /// `start = begins[part]`.
    fn start(
        &self,
        tables: &BTreeSet<Variable>,
        command: &Command,
    ) -> Option<(Variable, Variable)> {
        let Command::Declare {
            variable,
            value: Some(Expression::Load { pointer, index }),
        } = command
        else {
            return None;
        };
        match (&**pointer, &**index) {
            (Expression::Variable(table), Expression::Variable(index))
                if *index == self.index && tables.contains(table) =>
            {
                Some((*variable, *table))
            }
            _others => None,
        }
    }

    /// `check part + 1 >= n || start + kept <= begins[part + 1]`, which says otherwise how many elements
    /// the part has kept and how many it should have.
    fn stays(&self, start: Variable, begins: Variable, kept: Variable) -> Command {
        use ScalarOperation as O;
        let of = Expression::Variable;
        let next = of(self.index).plus(Expression::index(1));
        let end = Expression::load(begins, next.clone());
        let is_last = next.compare(O::GreaterEqual, self.count.clone());
        let stays = of(start).plus(of(kept)).compare(O::LessEqual, end.clone());
        Command::Check {
            condition: is_last.or(stays),
            error: ErrorKind::Length,
            arguments: vec![of(kept), end.minus(of(start))],
            place: self.place.clone(),
        }
    }
}

/// True if commands store at `start + kept`, in memory that the part has not made itself; or at
/// `start + i`, in a loop over i that runs as often as the part has kept elements, which it has
/// collected first.
fn fills(body: &[Command], start: Variable, kept: Variable) -> bool {
    let mut own = BTreeSet::new();
    let mut counters = BTreeSet::from([kept]);
    each_command(body, |command| match command {
        Command::Declare { variable: v, .. }
        | Command::Local { pointer: v, .. }
        | Command::Shared { pointer: v, .. }
        | Command::Spare { pointer: v, .. } => {
            own.insert(*v);
        }
        Command::Assign {
            variable,
            value: Expression::Variable(value),
        } if *value == kept => {
            counters.insert(*variable);
        }
        Command::For {
            variable,
            count: Expression::Variable(count),
            level: Level::Sequential,
            ..
        } if counters.contains(count) => {
            counters.insert(*variable);
        }
        _others => {}
    });
    let mut found = false;
    each_command(body, |command| {
        if let Command::Store { pointer, index, .. } = command
            && !own.contains(pointer)
        {
            let ends = counters.iter().any(|counter| has_term(index, *counter));
            found |= ends && has_term(index, start);
        }
    });
    found
}

/// True if a variable is a term of a sum.
fn has_term(sum: &Expression, variable: Variable) -> bool {
    match sum {
        Expression::Variable(v) => *v == variable,
        Expression::Scalar {
            operation: ScalarOperation::Add,
            operand: Scalar::I64,
            arguments,
        } => arguments
            .iter()
            .any(|term| deep(|| has_term(term, variable))),
        _others => false,
    }
}
