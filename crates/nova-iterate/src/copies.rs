//! Copies of statements, for code that several forms of a loop have.

use nova_flat::ir::{Body, Statement};
use nova_flat::visit::{Substitution, fresh_copy};
use nova_schedule::Writer;

/// Writes a copy of statements, with new variables for all that they bind.
pub(crate) fn copy(code: &mut Writer<'_>, statements: &[Statement], names: &mut Substitution) {
    let body = Body {
        statements: statements.to_vec(),
        results: Vec::new(),
    };
    let mut copied = fresh_copy(code.program, &body, names);
    code.out.append(&mut copied.statements);
}
