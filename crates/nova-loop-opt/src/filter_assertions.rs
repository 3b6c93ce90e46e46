//! Count assertions of filters: checks that no chunk of a filter writes more elements than were
//! counted for it.
//!
//! A filter in chunks computes its condition twice. One loop over the chunks counts, a scan
//! computes the start of each chunk, and another loop writes the survivors of the chunk from there
//! on. Both loops find the same number because of how they were made. But this cannot be proved
//! from the program, since other passes change the two loops in different ways. So each chunk
//! checks at its end that it has not passed the start of the next one, which is what the
//! interference checker needs. That is one comparison for each chunk.
//!
//! ```text
//! for p in n { begins[p] = last; last = last + counts[p] }
//! parallel for p in n {
//!   start = begins[p]; survivors = 0
//!   … if c { out[start + survivors] = x; survivors = survivors + 1 } …
//!   check p + 1 >= n || start + survivors <= begins[p + 1]
//! }
//! ```

use nova_core::error::ErrorKind;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::{Place, deep};
use nova_loop::counters::growing;
use nova_loop::functions::each_function;
use nova_loop::ir::{Command, Expression, Level, Program, Type, Variable};
use nova_loop::uses::written;
use nova_loop::walk::each_command;
use std::collections::{BTreeMap, BTreeSet};

/// Adds the checks to all parallel loops over the chunks of a filter.
pub fn run(program: &mut Program) {
    each_function(program, |program, function| {
        let mut times = BTreeMap::new();
        each_command(&function.body, |command| {
            each_writable(program, command, &mut |v| {
                *times.entry(v).or_insert(0) += 1;
            });
        });
        in_list(program, &times, &mut function.body);
    });
}

/// Calls `visit` on the pointers that a command writes through, or copies.
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

/// Walks over a list, with the tables of starts that it has written. `stores` holds, for each
/// pointer, the number of commands that write through it.
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
                let chunk = Chunk {
                    index: *variable,
                    count,
                    place,
                };
                chunk.check(program, &tables, body);
            }
            _others => {}
        }
        for inner in command.lists_mut() {
            deep(|| in_list(program, stores, inner));
        }
    }
}

/// Returns the tables in which the body of a loop stores a number to which it adds: `begins[i] =
/// last; last = last + …`.
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

/// A parallel loop over chunks.
struct Chunk<'l> {
    index: Variable,
    count: &'l Expression,
    place: &'l Place,
}

impl Chunk<'_> {
    /// Adds a check after the last survivor of a chunk: the chunk must not reach into the next one.
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
        for (survivors, last) in ends {
            let start = starts
                .iter()
                .find(|(start, _)| stores_survivors(body, *start, survivors));
            if let Some((start, begins)) = start {
                body.insert(last + 1, self.assertion(*start, *begins, survivors));
            }
        }
    }

    /// Returns `start` and `begins` if the command is `start = begins[chunk]`.
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

    /// Returns `check chunk + 1 >= n || start + survivors <= begins[chunk + 1]`. The error tells
    /// how many survivors the chunk has and how many it should have.
    fn assertion(&self, start: Variable, begins: Variable, survivors: Variable) -> Command {
        use ScalarOperation as O;
        let of = Expression::Variable;
        let next = of(self.index).plus(Expression::index(1));
        let end = Expression::load(begins, next.clone());
        let is_last = next.compare(O::GreaterEqual, self.count.clone());
        let holds = of(start)
            .plus(of(survivors))
            .compare(O::LessEqual, end.clone());
        Command::Check {
            condition: is_last.or(holds),
            error: ErrorKind::Length,
            arguments: vec![of(survivors), end.minus(of(start))],
            place: self.place.clone(),
        }
    }
}

/// Tests whether commands store at `start + survivors`, in memory that the chunk has not made
/// itself. They may also store at `start + i`, in a loop over i with as many iterations as the
/// chunk has survivors; it has collected these first.
fn stores_survivors(body: &[Command], start: Variable, survivors: Variable) -> bool {
    let mut own = BTreeSet::new();
    let mut counters = BTreeSet::from([survivors]);
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
        } if *value == survivors => {
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
