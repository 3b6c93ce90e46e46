//! Tables of offsets: the start of each chunk of a parallel loop, which a sequential loop has
//! computed before as a prefix sum. There are so few chunks that summing their sizes in vectors
//! would gain nothing. The interference checker also reads in that loop why chunks do not overlap.
//! So the loop stays as it is.

use super::Map;
use nova_core::{Scalar, ScalarOperation};
use nova_loop::ir::{Command, Expression, Function, Level, Variable};
use nova_loop::walk::each_command;
use std::collections::BTreeSet;

/// Returns the tables in which the iterations of parallel loops look up their own numbers.
pub(super) fn of(function: &Function) -> BTreeSet<Variable> {
    let mut found = BTreeSet::new();
    each_command(&function.body, |command| {
        let Command::For {
            variable: chunk,
            level: Level::Grid | Level::Block | Level::Rank,
            body,
            ..
        } = command
        else {
            return;
        };
        for command in body {
            if let Command::Declare {
                value: Some(Expression::Load { pointer, index }),
                ..
            } = command
                && let Expression::Variable(table) = **pointer
                && matches!(**index, Expression::Variable(index) if index == *chunk)
            {
                found.insert(table);
            }
        }
    });
    found
}

/// True if a loop stores its running sum of sizes in such a table.
pub(super) fn are_written(map: &Map, tables: &BTreeSet<Variable>) -> bool {
    let mut sums = BTreeSet::new();
    for at in &map.folds {
        if let Some(Command::Assign { variable, value }) = map.body.get(*at)
            && let Expression::Scalar {
                operation: ScalarOperation::Add,
                operand: Scalar::I64,
                ..
            } = value
        {
            sums.insert(*variable);
        }
    }
    map.body.iter().any(|command| match command {
        Command::Store { pointer, value, .. } => {
            let is_sum = matches!(value, Expression::Variable(v) if sums.contains(v));
            is_sum && tables.contains(pointer)
        }
        _others => false,
    })
}
