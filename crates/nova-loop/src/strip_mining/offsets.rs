//! Tables of offsets: where the parts of a parallel loop begin, which a loop of one thread has added up
//! before. There are so few parts that adding up their sizes in vectors would gain nothing, and
//! the interference checker reads in that loop why parts do not meet. So it stays as it is.

use super::Map;
use crate::ir::{Command, Expression, Function, Level, Variable};
use crate::walk::each_command;
use nova_core::{Scalar, ScalarOperation};
use std::collections::BTreeSet;

/// The tables in which the iterations of parallel loops look up their own numbers.
pub(super) fn of(function: &Function) -> BTreeSet<Variable> {
    let mut found = BTreeSet::new();
    each_command(&function.body, |command| {
        let Command::For {
            variable: part,
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
                && matches!(**index, Expression::Variable(index) if index == *part)
            {
                found.insert(table);
            }
        }
    });
    found
}

/// True if a loop stores in such a table what it adds sizes to.
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
