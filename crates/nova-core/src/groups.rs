//! Patterns for groups of Core's expressions: a match over some of them names the groups of the
//! others and stays exhaustive.

/// A pattern for constants.
#[macro_export]
macro_rules! core_constants {
    () => {
        $crate::ir::ExpressionKind::Literal(_)
            | $crate::ir::ExpressionKind::Unit
            | $crate::ir::ExpressionKind::Text(_)
    };
}

/// A pattern for what binds variables to values.
#[macro_export]
macro_rules! core_bindings {
    () => {
        $crate::ir::ExpressionKind::Let { .. } | $crate::ir::ExpressionKind::Letrec { .. }
    };
}

/// A pattern for what evaluates one of several parts.
#[macro_export]
macro_rules! core_branches {
    () => {
        $crate::ir::ExpressionKind::If { .. } | $crate::ir::ExpressionKind::Case { .. }
    };
}

/// A pattern for what makes and takes apart data.
#[macro_export]
macro_rules! core_data {
    () => {
        $crate::ir::ExpressionKind::Tuple(_)
            | $crate::ir::ExpressionKind::Project(..)
            | $crate::ir::ExpressionKind::Construct { .. }
            | $crate::ir::ExpressionKind::Vector(_)
    };
}

/// A pattern for applications: of functions, of built-ins and of foreign functions.
#[macro_export]
macro_rules! core_calls {
    () => {
        $crate::ir::ExpressionKind::Apply { .. }
            | $crate::ir::ExpressionKind::Builtin { .. }
            | $crate::ir::ExpressionKind::Foreign { .. }
    };
}
