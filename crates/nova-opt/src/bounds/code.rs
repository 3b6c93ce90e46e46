//! Statements that are being written before an operation.

use nova_diag::Place;
use nova_flat::ir::{Expression, Statement, Variable};

/// Statements that are being written.
pub(super) struct Code {
    pub statements: Vec<Statement>,
    pub place: Place,
}

impl Code {
    /// Returns a statement at the same place.
    pub(super) fn statement(&self, pattern: Vec<Variable>, expression: Expression) -> Statement {
        Statement {
            pattern,
            expression,
            place: self.place.clone(),
        }
    }
}
