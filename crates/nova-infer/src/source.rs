//! The program whose types are inferred: its syntax tree, its text, its declarations, and the meaning
//! of its names.

use crate::builtins::BuiltinId;
use crate::declarations::Declarations;
use crate::resolve::{Resolution, Resolved};
use nova_diag::{SourceMap, Span};
use nova_syntax::ast::{self, ExpressionId, ExpressionKind, Pattern, PatternKind};
use std::sync::Arc;

/// What is known about a program before its types.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub program: &'a ast::Program,
    pub sources: &'a SourceMap,
    pub declarations: &'a Declarations,
    pub resolved: &'a Resolved,
}

impl Source<'_> {
    /// Returns the span of an expression.
    pub fn span(&self, id: ExpressionId) -> Span {
        self.program.expression(id).span
    }

    /// Returns the source text of an expression, when it is short. In a front end's program only
    /// names are known.
    pub fn source_text(&self, id: ExpressionId) -> Option<String> {
        let text = match (
            self.sources.written(self.span(id)),
            &self.program.expression(id).kind,
        ) {
            (Some(text), _) => text,
            (None, ExpressionKind::Name(name)) => name,
            (None, _) => return None,
        };
        let short = !text.is_empty() && text.len() <= 30 && !text.contains('\n');
        short.then(|| text.to_string())
    }

    /// Returns the name of an expression that is a name.
    pub fn name_of(&self, id: ExpressionId) -> Option<Arc<str>> {
        if let ExpressionKind::Name(name) = &self.program.expression(id).kind {
            return Some(name.clone());
        }
        None
    }

    /// Returns the built-in that an expression names.
    pub fn builtin_named(&self, value: ExpressionId) -> Option<BuiltinId> {
        match self.resolved.names[value.0 as usize] {
            Resolution::Builtin(builtin) => Some(builtin),
            _ => None,
        }
    }

    /// True if an expression is a built-in's name.
    pub fn names_builtin(&self, value: ExpressionId) -> bool {
        self.builtin_named(value).is_some()
    }

    /// True if a let only gives a built-in another name.
    pub fn is_alias(&self, pattern: &Pattern, value: ExpressionId) -> bool {
        pattern.annotation.is_none()
            && matches!(pattern.kind, PatternKind::Name(_))
            && self.names_builtin(value)
    }

    /// True if a constructor's name alone is a value.
    pub fn is_constant(&self, sum: u32, constructor: u32) -> bool {
        self.declarations.sums[sum as usize].constructors[constructor as usize].constant
    }

    /// Returns the operand of an indexing expression that is the index.
    pub fn index_operand(&self, id: ExpressionId) -> ExpressionId {
        if let ExpressionKind::Index(_, index) = &self.program.expression(id).kind {
            return *index;
        }
        id
    }
}

/// Returns the head and the arguments of an application. `((f a) b)` is `(f a b)` where `f` is a
/// built-in, constructor or foreign function.
pub(crate) fn spine(
    program: &ast::Program,
    resolved: &Resolved,
    id: ExpressionId,
) -> (ExpressionId, Vec<ExpressionId>) {
    let mut groups: Vec<&[ExpressionId]> = Vec::new();
    let mut head = id;
    while let ExpressionKind::Apply(function, arguments) = &program.expression(head).kind {
        groups.push(arguments);
        head = *function;
        if !resolved.known_head[head.0 as usize] {
            break;
        }
    }
    let arguments = groups.into_iter().rev().flatten().copied().collect();
    (head, arguments)
}

/// Follows lets and annotations to the expression that gives the value.
pub(crate) fn innermost(source: Source, mut at: ExpressionId) -> ExpressionId {
    while let ExpressionKind::Let { body, .. } = &source.program.expression(at).kind {
        at = *body;
    }
    at
}
