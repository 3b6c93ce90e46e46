//! The iterations of a parallel loop that is being walked: the facts that hold as they proceed, and once
//! they have ended.

use crate::prefixes;
use crate::state::Rising;
use crate::symbolic::{Fact, Polynomial, Value};
use crate::walk::Walk;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_loop::counters::growing;
use nova_loop::ir::{Command, Expression};

/// Walks over the body of a parallel loop, with the variables that only grow in it.
pub(crate) fn iteration<'p>(walk: &mut Walk<'p>, body: &'p [Command]) {
    let scope = walk.begin_scope();
    let growing = growing(walk.state.program, body);
    for (at, command) in body.iter().enumerate() {
        walk.command(command);
        if let Command::EndOrdered(_) = command {
            prefixes::end_ordered(walk, body);
        }
        ends_with(walk, command);
        if let Command::Declare { variable, .. } = command
            && growing.contains_key(variable)
        {
            let first = walk.state.number_of(*variable);
            let symbol = walk.state.facts.fresh(Scalar::I64);
            let last = Polynomial::variable(symbol);
            walk.state.facts.define(symbol, last.minus(&first));
            walk.state.rising.insert(*variable, Rising { first, last });
        }
        for (variable, last_at) in &growing {
            if *last_at == at
                && let Some(rising) = walk.state.rising.get(variable)
            {
                let last = Value::Number(rising.last.clone());
                walk.state.values.insert(*variable, last);
            }
        }
    }
    walk.end_scope(scope);
}

/// Records facts about an iteration that has ended: its checks have held, and the arrays that it has
/// stored in result buffers have lengths that are not negative.
fn ends_with(walk: &mut Walk, command: &Command) {
    let known = match command {
        Command::Check { condition, .. } if unless(condition).is_some() => {
            let both = unless(condition).and_then(|(index, count, otherwise)| {
                let (index, count) = (walk.state.number(index), walk.state.number(count));
                let inside = index.gap_to(&count);
                Some((vec![inside?], walk.state.truth(otherwise).yes))
            });
            if let Some(parallel_loop) = walk.nest.last_mut() {
                parallel_loop.late_where.extend(both);
            }
            return;
        }
        Command::Check { condition, .. } => walk.state.truth(condition).yes,
        Command::StoreBuffer { count, .. } => vec![walk.state.number(count)],
        _others => return,
    };
    if let Some(parallel_loop) = walk.nest.last_mut() {
        parallel_loop
            .late
            .extend(known.into_iter().map(Fact::AtLeastZero));
    }
}

/// Returns the operands of `index >= count || otherwise`.
fn unless(condition: &Expression) -> Option<(&Expression, &Expression, &Expression)> {
    let Expression::Select {
        condition,
        then,
        otherwise,
    } = condition
    else {
        return None;
    };
    match (&**condition, &**then) {
        (
            Expression::Scalar {
                operation: ScalarOperation::GreaterEqual,
                operand: Scalar::I64,
                arguments,
            },
            Expression::Constant(ScalarValue::Bool(true)),
        ) => match &arguments[..] {
            [index, count] => Some((index, count, otherwise)),
            _others => None,
        },
        _others => None,
    }
}
