//! Rows of varying length that are made in place: after the previous rows, in an array that grows by the
//! room of each row before the row is made.
//!
//! Otherwise a row has a block of its own, and is copied. A row can be made in place if the body that gives
//! it allocates its block, and if no reference to this block leaves the body.

use crate::env::Env;
use crate::output::Output;
use crate::places::Growing;
use crate::source::{array_block, name_of};
use crate::writer::Result;
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_flat::visit::{bodies, each_statement, used_variables};
use nova_flat::{array_expressions, call_expressions, node_expressions, pure_expressions};
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression, Type};

/// Arranges that the rows that a body gives to outputs are made in place, where possible. Returns their
/// blocks.
pub(crate) fn grow_rows<'a>(
    env: &mut Env<'a>,
    operation: &'a flat::ArrayOperation,
    outputs: &[Output<'a>],
) -> Result<Vec<flat::Variable>> {
    let mut made = Vec::new();
    let results = &operation.body.results;
    let mut first = operation.carries.len();
    let mut passed_on = Vec::with_capacity(first);
    for state in results.iter().take(first) {
        passed_on.push(array_block(env.source, *state)?);
    }
    for (output, state) in operation.outputs.iter().zip(outputs) {
        let rows = results.get(first + 1..first + output.consumes());
        first += output.consumes();
        let Output::Collect(collect) = state else {
            continue;
        };
        if collect.buffers.is_some() {
            continue;
        }
        let Some(rows) = rows else {
            return Err(internal(
                "a body gives fewer values than its outputs consume",
            ));
        };
        for (array, row) in collect.arrays.iter().zip(rows) {
            let total = collect.total;
            let own = array_block(env.source, *row)?;
            let all = array_block(env.source, flat::Atom::Variable(*array))?;
            if let (Some(own), Some(rows)) = (own, all)
                && is_at_start(env.source, *row)
                && !passed_on.contains(&Some(own))
                && !env.growing.contains_key(&own)
                && is_made_for_one(env.source, own, &operation.body)
            {
                env.growing.insert(own, Growing { rows, total });
                made.push(own);
            }
        }
    }
    Ok(made)
}

/// Ends the body that makes these rows.
pub(crate) fn end_rows_in_place(env: &mut Env<'_>, made: &[flat::Variable]) {
    for block in made {
        env.growing.remove(block);
    }
}

/// True if an array lies at the start of its block, in row-major order.
fn is_at_start(source: &flat::Program, array: flat::Atom) -> bool {
    let flat::Atom::Variable(array) = array else {
        return false;
    };
    let memory = &source.variable(array).memory;
    memory.as_ref().is_some_and(|memory| {
        memory.lmad.is_row_major() && memory.lmad.offset.as_constant() == Some(0)
    })
}

/// True if a body allocates a block, and no reference to it leaves the body.
fn is_made_for_one(source: &flat::Program, block: flat::Variable, body: &flat::Body) -> bool {
    let is_allocated = body.statements.iter().any(|statement| {
        let free = matches!(
            statement.expression,
            flat::Expression::Allocate {
                destination: None,
                ..
            }
        );
        free && statement.pattern == [block]
    });
    let own_block = OwnBlock { source, block };
    let mut leaves = false;
    each_statement(body, &mut |statement| {
        leaves |= own_block.leaves_by(statement)
    });
    is_allocated && !leaves
}

/// Allocates the block of a row if the row is made in place. Returns true if it is.
pub(crate) fn allocate_row(
    env: &mut Env<'_>,
    block: flat::Variable,
    count: &Expression,
    place: &Place,
) -> Result<bool> {
    let Some(Growing { rows, total }) = env.growing.get(&block).copied() else {
        return Ok(false);
    };
    let Type::Pointer(element) = env.program.variable(env.block(rows)?.pointer).ty else {
        return Err(internal("no pointer"));
    };
    let all = env.block(rows)?;
    let used = Expression::Variable(total);
    env.emit(Command::Reserve {
        block: all.handle,
        pointer: all.pointer,
        element,
        used: used.clone(),
        count: used.clone().plus(count.clone()),
        place: place.clone(),
    });
    let name = env
        .facts
        .block(block)
        .name
        .unwrap_or_else(|| name_of(env.source, block));
    let pointer = env.add_variable(name, Type::Pointer(element));
    env.emit(Command::declare(
        pointer,
        Expression::offset(all.pointer, used),
    ));
    env.bind_block(block, pointer, all.handle)?;
    Ok(true)
}

/// A block that a body allocates, whose references must not leave the body.
struct OwnBlock<'a> {
    source: &'a flat::Program,
    block: flat::Variable,
}

impl OwnBlock<'_> {
    fn has(&self, variable: flat::Variable) -> bool {
        let memory = &self.source.variable(variable).memory;
        memory
            .as_ref()
            .is_some_and(|memory| memory.block == self.block)
    }

    fn has_atom(&self, atom: flat::Atom) -> bool {
        match atom {
            flat::Atom::Variable(variable) => self.has(variable),
            flat::Atom::Constant(_) => false,
        }
    }

    /// True if any of these arrays lies in the block and is passed to a variable that does not.
    fn leaves(&self, atoms: &[flat::Atom], to: &[flat::Variable]) -> bool {
        let mut pairs = atoms.iter().zip(to);
        pairs.any(|(atom, to)| self.has_atom(*atom) && !self.has(*to))
    }

    /// True if a statement, without those inside it, may pass a reference to the block to anything but arrays
    /// that lie in it.
    fn leaves_by(&self, statement: &flat::Statement) -> bool {
        let pattern = &statement.pattern;
        match &statement.expression {
            flat::Expression::Operation(operation) => {
                let (states, starts): (Vec<_>, Vec<_>) = operation.carries.iter().copied().unzip();
                let last: Vec<_> = states.iter().map(|s| flat::Atom::Variable(*s)).collect();
                self.leaves(&starts, &states)
                    || self.leaves(&operation.body.results, &states)
                    || self.leaves(&last, pattern)
            }
            flat::Expression::If {
                then, otherwise, ..
            } => self.leaves(&then.results, pattern) || self.leaves(&otherwise.results, pattern),
            flat::Expression::Switch { cases, .. } => {
                cases.iter().any(|case| self.leaves(&case.results, pattern))
            }
            flat::Expression::While { .. }
            | flat::Expression::Unique(_)
            | flat::Expression::Sort { .. }
            | call_expressions!()
            | node_expressions!() => {
                let mut uses = pattern.iter().any(|v| self.has(*v));
                used_variables(&statement.expression, &mut |v| uses |= self.has(v));
                bodies(&statement.expression, &mut |body| {
                    uses |= body.results.iter().any(|result| self.has_atom(*result));
                });
                uses
            }
            pure_expressions!()
            | array_expressions!()
            | flat::Expression::SortKeys { .. }
            | flat::Expression::View { .. }
            | flat::Expression::Check { .. }
            | flat::Expression::Fail { .. }
            | flat::Expression::Allocate { .. } => false,
        }
    }
}
