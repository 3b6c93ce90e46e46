//! Patterns for groups of expressions of Mem: matches over one group name the others and stay
//! exhaustive.

/// Scalars computed without effect.
macro_rules! pure_expressions {
    () => {
        nova_flat::ir::Expression::Atom(_)
            | nova_flat::ir::Expression::Scalar { .. }
            | nova_flat::ir::Expression::Index { .. }
            | nova_flat::ir::Expression::NodeTag { .. }
    };
}

/// Arrays made without an array operation.
macro_rules! array_expressions {
    () => {
        nova_flat::ir::Expression::Literal { .. }
            | nova_flat::ir::Expression::Bytes(_)
            | nova_flat::ir::Expression::Iota { .. }
            | nova_flat::ir::Expression::Replicate { .. }
            | nova_flat::ir::Expression::Copy(_)
            | nova_flat::ir::Expression::Concat { .. }
            | nova_flat::ir::Expression::Update { .. }
    };
}

/// Conditionals and loops.
macro_rules! control_expressions {
    () => {
        nova_flat::ir::Expression::If { .. }
            | nova_flat::ir::Expression::Switch { .. }
            | nova_flat::ir::Expression::While { .. }
    };
}

/// Calls.
macro_rules! call_expressions {
    () => {
        nova_flat::ir::Expression::Call { .. } | nova_flat::ir::Expression::Foreign { .. }
    };
}

/// Node tables and traces.
macro_rules! node_expressions {
    () => {
        nova_flat::ir::Expression::NodeNew { .. }
            | nova_flat::ir::Expression::NodePayload { .. }
            | nova_flat::ir::Expression::Trace { .. }
    };
}

/// What is left: views, errors, allocations, sorts and array operations.
macro_rules! other_expressions {
    () => {
        nova_flat::ir::Expression::View { .. }
            | nova_flat::ir::Expression::Check { .. }
            | nova_flat::ir::Expression::Fail { .. }
            | nova_flat::ir::Expression::Allocate { .. }
            | nova_flat::ir::Expression::Sort { .. }
            | nova_flat::ir::Expression::Operation(_)
    };
}

pub(super) use {
    array_expressions, call_expressions, control_expressions, node_expressions, other_expressions,
    pure_expressions,
};
