//! Expressions that are functions by their form, so that they generalise (language §3), and those
//! that may be evaluated any number of times without a difference.

use crate::builtins::{Arity, BuiltinId};
use crate::resolve::{Resolution, Resolved};
use crate::source::spine;
use nova_diag::deep;
use nova_syntax::ast::{self, ExpressionId, ExpressionKind};

/// The data that decide which expressions are values.
#[derive(Clone, Copy)]
pub(crate) struct Forms<'a> {
    pub program: &'a ast::Program,
    pub resolved: &'a Resolved,
    /// The number of arguments each binding takes as far as its value shows.
    pub arities: &'a [usize],
    /// The same for each definition.
    pub definition_arities: &'a [usize],
}

impl Forms<'_> {
    /// Returns the number of arguments that an expression takes as far as its form shows.
    pub fn arity(self, id: ExpressionId) -> usize {
        match &self.program.expression(id).kind {
            ExpressionKind::Lambda {
                parameters, body, ..
            } => {
                let more = self.is_duplicable(*body);
                parameters.len() + if more { deep(|| self.arity(*body)) } else { 0 }
            }
            ExpressionKind::Mu { value, .. } => deep(|| self.arity(*value)),
            ExpressionKind::Annotate(inner, _) => deep(|| self.arity(*inner)),
            ExpressionKind::Name(_) => self.name_arity(id),
            ExpressionKind::Apply(function, arguments) => {
                let arity = deep(|| self.arity(*function));
                arity.saturating_sub(arguments.len())
            }
            _ => 0,
        }
    }

    fn name_arity(self, id: ExpressionId) -> usize {
        match self.resolved.names[id.0 as usize] {
            Resolution::Unbound => 0,
            Resolution::Binding(binding) => self.arities[binding.index()],
            Resolution::Definition(definition) => self.definition_arities[definition as usize],
            Resolution::Builtin(builtin) => builtin_arity(builtin),
            Resolution::Constructor(..) | Resolution::Foreign(_) => 1,
        }
    }

    /// True if a binding of this value generalises: a function by its form, or a name.
    pub fn generalises(self, id: ExpressionId) -> bool {
        match &self.program.expression(id).kind {
            ExpressionKind::Name(_) => true,
            ExpressionKind::Annotate(inner, _) => deep(|| self.generalises(*inner)),
            ExpressionKind::Apply(..) => self.arity(id) > 0 && self.has_duplicable_head(id),
            ExpressionKind::Lambda { .. } | ExpressionKind::Mu { .. } => true,
            _ => false,
        }
    }

    /// True if the head of an application may be evaluated again.
    fn has_duplicable_head(self, id: ExpressionId) -> bool {
        let (head, _) = spine(self.program, self.resolved, id);
        deep(|| self.is_duplicable(head))
    }

    /// True if evaluating it again, or not at all, makes no difference.
    pub fn is_duplicable(self, id: ExpressionId) -> bool {
        match &self.program.expression(id).kind {
            ExpressionKind::Name(_)
            | ExpressionKind::Number(_)
            | ExpressionKind::Bool(_)
            | ExpressionKind::Nil
            | ExpressionKind::Text(_)
            | ExpressionKind::Lambda { .. }
            | ExpressionKind::Mu { .. } => true,
            ExpressionKind::Annotate(inner, _) => deep(|| self.is_duplicable(*inner)),
            ExpressionKind::Apply(..) => {
                let (_, arguments) = spine(self.program, self.resolved, id);
                self.arity(id) > 0
                    && self.has_duplicable_head(id)
                    && deep(|| {
                        arguments
                            .iter()
                            .all(|argument| self.is_duplicable(*argument))
                    })
            }
            _ => false,
        }
    }

    /// Returns the application under annotations, when a value is one.
    pub fn application(self, mut id: ExpressionId) -> Option<ExpressionId> {
        while let ExpressionKind::Annotate(inner, _) = &self.program.expression(id).kind {
            id = *inner;
        }
        matches!(self.program.expression(id).kind, ExpressionKind::Apply(..)).then_some(id)
    }

    /// True if a value is a lambda, also under annotations.
    pub fn is_lambda(self, mut id: ExpressionId) -> bool {
        while let ExpressionKind::Annotate(inner, _) = &self.program.expression(id).kind {
            id = *inner;
        }
        matches!(
            self.program.expression(id).kind,
            ExpressionKind::Lambda { .. }
        )
    }
}

/// Returns the least number of arguments of a built-in.
fn builtin_arity(builtin: BuiltinId) -> usize {
    match builtin.arity() {
        Arity::Map | Arity::Function => 2,
        Arity::Range => 1,
        Arity::Fixed(count) => count,
    }
}
