//! Bugs of operations on nodes. Each rewrites a program that has these operations.

use nova_core::{ErrorKind, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, Program, Statement, Variable};
use nova_flat::visit::{self, bodies_mut, each_body_mut};
use std::collections::HashSet;

/// Rewrites each statement of a program.
fn each_statement_mut(program: &mut Program, visit: &mut dyn FnMut(&mut Statement)) {
    for function in &mut program.functions {
        each_body_mut(&mut function.body, &mut |body| {
            body.statements.iter_mut().for_each(&mut *visit);
        });
    }
}

/// Returns the variables that statements of a kind bind.
fn bound_by(program: &Program, is: fn(&Expression) -> bool) -> HashSet<Variable> {
    let mut found = HashSet::new();
    for function in &program.functions {
        visit::each_statement(&function.body, &mut |statement| {
            if is(&statement.expression) {
                found.extend(&statement.pattern);
            }
        });
    }
    found
}

/// Forgets the first of the places that were reserved, where links are made from numbers.
pub fn forget_first(program: &mut Program) {
    let first = bound_by(program, |expression| {
        matches!(expression, Expression::NodesReserve { .. })
    });
    each_statement_mut(program, &mut |statement| {
        if let Expression::Scalar {
            operation: ScalarOperation::Add,
            arguments,
            ..
        } = &mut statement.expression
        {
            for argument in arguments {
                if matches!(argument, Atom::Variable(variable) if first.contains(variable)) {
                    *argument = Atom::index(0);
                }
            }
        }
    });
}

/// Reserves one place whatever the number of nodes is.
pub fn reserve_one(program: &mut Program) {
    each_statement_mut(program, &mut |statement| {
        if let Expression::NodesReserve { count, .. } = &mut statement.expression {
            *count = Atom::index(1);
        }
    });
}

/// Stores nodes without payload as those of the next constructor.
pub fn change_constructor(program: &mut Program) {
    each_statement_mut(program, &mut |statement| {
        if let Expression::NodeStore {
            constructor,
            payload,
            ..
        } = &mut statement.expression
            && payload.is_empty()
        {
            *constructor += 1;
        }
    });
}

/// Drops the checks of links.
pub fn drop_link_checks(program: &mut Program) {
    each_statement_mut(program, &mut |statement| {
        if let Expression::Check {
            condition, error, ..
        } = &mut statement.expression
            && *error == ErrorKind::Link
        {
            *condition = Atom::Constant(ScalarValue::Bool(true));
        }
    });
}

/// Reads the number of a link at the index of the node that has it.
pub fn number_by_node(program: &mut Program) {
    let reached = bound_by(program, |expression| {
        matches!(expression, Expression::NodesReached { .. })
    });
    for function in &mut program.functions {
        number_by_node_in(&mut function.body, &reached, None);
    }
}

fn number_by_node_in(body: &mut Body, reached: &HashSet<Variable>, own: Option<Variable>) {
    for statement in &mut body.statements {
        if let (Expression::Index { array, indices }, Some(own)) = (&mut statement.expression, own)
            && reached.contains(array)
            && indices.len() == 1
        {
            indices[0] = Atom::Variable(own);
        }
        let own = match &statement.expression {
            Expression::Operation(operation) => operation.indices.first().copied(),
            _no_operation => own,
        };
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| number_by_node_in(inner, reached, own));
        });
    }
}
