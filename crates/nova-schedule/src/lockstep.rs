//! Maps whose elements are computed by loops, which processors take in lockstep, some elements at a time. Their
//! chunks have at least as many elements as there are lanes.
//!
//! The translation to loops decides which maps are taken in lockstep, since memory matters. Here it is enough to
//! know which ones may be.

use nova_core::ScalarOperation;
use nova_flat::freedom::is_exact;
use nova_flat::ir::{ArrayOperation, Body, Expression, Level, Output, Program, Type, Variable};
use nova_flat::visit::each_statement;
use nova_machine::cost::is_simple;

/// True if an operation makes elements or rows by loops whose states are scalars. Loops that make arrays must have
/// costly operations, as divisions, and reductions alone have lanes of their own.
pub(crate) fn may_be_in_lockstep(program: &Program, operation: &ArrayOperation) -> bool {
    let makes_rows = |o: &Output| matches!(o, Output::Map | Output::Join { .. });
    let plain = operation.shape.len() == 1 && operation.carries.is_empty();
    if !plain || !operation.outputs.iter().all(makes_rows) {
        return false;
    }
    let (mut suits, mut has_loops) = (true, false);
    let (mut makes_arrays, mut is_costly) = (false, false);
    let is_scalar = |state: Variable| matches!(program.ty(state), Type::Scalar(_));
    each_statement(
        &operation.body,
        &mut |statement| match &statement.expression {
            Expression::Scalar {
                operation, operand, ..
            } => is_costly |= !is_simple(*operation, *operand),
            Expression::Atom(_)
            | Expression::Index { .. }
            | Expression::View { .. }
            | Expression::If { .. }
            | Expression::Switch { .. }
            | Expression::Check { .. }
            | Expression::Fail { .. } => {}
            Expression::While { parameters, .. } => {
                has_loops = true;
                suits &= parameters.iter().all(|(state, _)| is_scalar(*state));
            }
            Expression::Operation(inner) => {
                has_loops |= !inner.carries.is_empty();
                makes_arrays |= !inner.carries.is_empty() && !inner.outputs.is_empty();
                suits &= inner.level == Level::Sequential && !inner.is_marked();
                suits &= inner.carries.iter().all(|(state, _)| is_scalar(*state));
                suits &= (inner.outputs.iter())
                    .all(|o| matches!(o, Output::Map | Output::Reduce { .. }));
            }
            _others => suits = false,
        },
    );
    suits && has_loops && (is_costly || !makes_arrays)
}

/// True if a body gives the same to the bit in chunks of any length. Math functions in vectors do not give what
/// they give alone, and lanes reduce in another order.
pub(crate) fn is_same_in_chunks(body: &Body) -> bool {
    let mut same = true;
    each_statement(body, &mut |statement| match &statement.expression {
        Expression::Scalar {
            operation, operand, ..
        } => {
            let is_rounded = matches!(operation, ScalarOperation::Divide | ScalarOperation::Sqrt);
            same &= !operand.is_float() || is_rounded || is_simple(*operation, *operand);
        }
        Expression::Operation(inner) => same &= is_exact(inner),
        Expression::Call { .. } | Expression::Foreign { .. } => same = false,
        _others => {}
    });
    same
}
