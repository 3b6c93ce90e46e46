//! The single elements that a command reads. Each has an index that can be computed before the
//! command, so that only these elements need to be copied to the host.

use crate::addresses::root;
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Variable};
use nova_loop::walk::reads;
use nova_machine::DEVICE;
use std::collections::BTreeMap;

/// For each pointer, the indices of the elements that the expressions of a command read through it.
/// `None` if they are not known before the command, or are many.
pub(super) type Elements = BTreeMap<Variable, Option<Vec<Expression>>>;

/// Returns the elements that the expressions of a command read. Commands that move arrays have
/// none.
pub(super) fn elements(command: &Command) -> Elements {
    let mut found = Found::default();
    let computes = matches!(
        command,
        Command::Declare { .. }
            | Command::Assign { .. }
            | Command::Store { .. }
            | Command::If { .. }
            | Command::Switch { .. }
            | Command::For { .. }
            | Command::Call { .. }
            | Command::Check { .. }
            | Command::Fail { .. }
    );
    if computes {
        reads(command, &mut |expression| found.expression(expression));
    }
    found.elements
}

#[derive(Default)]
struct Found {
    elements: Elements,
    /// The conditions under which the current expression is evaluated.
    conditions: Vec<Expression>,
}

impl Found {
    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Load { pointer, index } => {
                deep(|| self.expression(index));
                deep(|| self.element(pointer, index));
            }
            Expression::Select {
                condition,
                then,
                otherwise,
            } => {
                deep(|| self.expression(condition));
                self.under((**condition).clone(), then);
                self.under((**condition).clone().negated(), otherwise);
            }
            Expression::Constant(_)
            | Expression::Bytes(_)
            | Expression::Data(..)
            | Expression::Variable(_)
            | Expression::Scalar { .. }
            | Expression::Offset { .. }
            | Expression::NullPointer(_)
            | Expression::NullBlock
            | Expression::NodeTag { .. } => {
                for child in expression.children() {
                    deep(|| self.expression(child));
                }
            }
        }
    }

    fn under(&mut self, condition: Expression, expression: &Expression) {
        self.conditions.push(condition);
        deep(|| self.expression(expression));
        self.conditions.pop();
    }

    /// Notes a load.
    fn element(&mut self, pointer: &Expression, index: &Expression) {
        let Expression::Variable(pointer) = pointer else {
            if let Some(root) = root(pointer) {
                self.elements.insert(root, None);
            }
            return self.expression(pointer);
        };
        let index = self.conditions.iter().rev().fold(index.clone(), guarded);
        let noted = self
            .elements
            .entry(*pointer)
            .or_insert_with(|| Some(Vec::new()));
        match noted {
            Some(_) if index.reads_memory() => *noted = None,
            Some(known) if known.contains(&index) => {}
            Some(known) if known.len() < DEVICE.single_transfers as usize => known.push(index),
            Some(_) | None => *noted = None,
        }
    }
}

/// Returns an index that is evaluated under a condition only, and is `i64::MIN` otherwise.
fn guarded(index: Expression, condition: &Expression) -> Expression {
    Expression::Select {
        condition: Box::new(condition.clone()),
        then: Box::new(index),
        otherwise: Box::new(Expression::index(i64::MIN)),
    }
}
