//! Patterns for groups of expressions. A match over some of them names the other groups and stays
//! exhaustive.

/// A pattern for scalars computed without side effects.
#[macro_export]
macro_rules! pure_expressions {
    () => {
        $crate::ir::Expression::Atom(_)
            | $crate::ir::Expression::Scalar { .. }
            | $crate::ir::Expression::Index { .. }
            | $crate::ir::Expression::NodeTag { .. }
            | $crate::ir::Expression::MaySplit
    };
}

/// A pattern for arrays made without an array operation.
#[macro_export]
macro_rules! array_expressions {
    () => {
        $crate::ir::Expression::Literal { .. }
            | $crate::ir::Expression::Bytes(_)
            | $crate::ir::Expression::Iota { .. }
            | $crate::ir::Expression::Replicate { .. }
            | $crate::ir::Expression::Copy(_)
            | $crate::ir::Expression::Concat { .. }
            | $crate::ir::Expression::Update { .. }
    };
}

/// A pattern for conditionals and loops.
#[macro_export]
macro_rules! control_expressions {
    () => {
        $crate::ir::Expression::If { .. }
            | $crate::ir::Expression::Switch { .. }
            | $crate::ir::Expression::While { .. }
    };
}

/// A pattern for calls.
#[macro_export]
macro_rules! call_expressions {
    () => {
        $crate::ir::Expression::Call { .. } | $crate::ir::Expression::Foreign { .. }
    };
}

/// A pattern for expressions that make, read and number nodes, and for traces.
#[macro_export]
macro_rules! node_expressions {
    () => {
        $crate::ir::Expression::NodeNew { .. }
            | $crate::ir::Expression::NodePayload { .. }
            | $crate::ir::Expression::TableOpen { .. }
            | $crate::ir::Expression::TableClose { .. }
            | $crate::ir::Expression::TableShrink { .. }
            | $crate::ir::Expression::NodesReached { .. }
            | $crate::ir::Expression::NodesReserve { .. }
            | $crate::ir::Expression::NodeStore { .. }
            | $crate::ir::Expression::NodesSeal { .. }
            | $crate::ir::Expression::NodesAcyclic { .. }
            | $crate::ir::Expression::Trace { .. }
    };
}

/// A pattern for all other expressions: views, errors, memory, sorts and array operations.
#[macro_export]
macro_rules! other_expressions {
    () => {
        $crate::ir::Expression::View { .. }
            | $crate::ir::Expression::Check { .. }
            | $crate::ir::Expression::Fail { .. }
            | $crate::ir::Expression::Allocate { .. }
            | $crate::ir::Expression::Unique(_)
            | $crate::ir::Expression::Sort { .. }
            | $crate::ir::Expression::SortKeys { .. }
            | $crate::ir::Expression::Operation(_)
    };
}
