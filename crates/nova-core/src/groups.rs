//! Patterns for groups of Core's expressions. A match over some of them names the other groups and
//! stays exhaustive.

/// A pattern for constants.
#[macro_export]
macro_rules! core_constants {
    () => {
        $crate::ir::ExpressionKind::Literal(_)
            | $crate::ir::ExpressionKind::Unit
            | $crate::ir::ExpressionKind::Text(_)
    };
}

/// A pattern for expressions that bind variables to values.
#[macro_export]
macro_rules! core_bindings {
    () => {
        $crate::ir::ExpressionKind::Let { .. } | $crate::ir::ExpressionKind::Letrec { .. }
    };
}

/// A pattern for expressions that evaluate one of several children.
#[macro_export]
macro_rules! core_branches {
    () => {
        $crate::ir::ExpressionKind::If { .. } | $crate::ir::ExpressionKind::Case { .. }
    };
}

/// A pattern for expressions that construct data and select components.
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
