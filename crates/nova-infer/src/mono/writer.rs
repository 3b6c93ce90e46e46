//! The Core program being written.

use crate::source::Source;
use nova_core::ir::{self, ExpressionKind, Variable};
use nova_core::{Builtin, Type};
use nova_syntax::ast;

/// Values to be bound before an expression.
pub(super) type Pending = Vec<(Variable, ir::ExpressionId)>;

/// Writes Core: adds expressions and variables at places of the source.
pub(super) struct Writer<'p> {
    pub source: Source<'p>,
    pub core: ir::Program,
}

impl Writer<'_> {
    /// Adds an expression that stands at `at` in the source.
    pub fn add(
        &mut self,
        kind: ExpressionKind,
        ty: Type,
        at: ast::ExpressionId,
    ) -> ir::ExpressionId {
        let place = self.source.sources.place(self.source.span(at));
        self.core.add(kind, ty, place)
    }

    /// Adds a use of a variable.
    pub fn variable(&mut self, variable: Variable, at: ast::ExpressionId) -> ir::ExpressionId {
        let ty = self.core.variable(variable).ty.clone();
        self.add(ExpressionKind::Variable(variable), ty, at)
    }

    /// Binds `value` around `body`.
    pub fn bind(
        &mut self,
        variable: Variable,
        value: ir::ExpressionId,
        body: ir::ExpressionId,
        at: ast::ExpressionId,
    ) -> ir::ExpressionId {
        let ty = self.core.expression(body).ty.clone();
        let kind = ExpressionKind::Let {
            variable,
            value,
            body,
        };
        self.add(kind, ty, at)
    }

    /// Adds a lambda.
    pub fn lambda(
        &mut self,
        parameters: Vec<Variable>,
        body: ir::ExpressionId,
        at: ast::ExpressionId,
    ) -> ir::ExpressionId {
        let types: Vec<Type> = parameters
            .iter()
            .map(|parameter| self.core.variable(*parameter).ty.clone())
            .collect();
        let ty = Type::function(&types, self.core.expression(body).ty.clone());
        self.add(ExpressionKind::Lambda { parameters, body }, ty, at)
    }

    /// Translates an application of a built-in of Core.
    pub fn builtin(
        &mut self,
        builtin: Builtin,
        arguments: Vec<ir::ExpressionId>,
        ty: Type,
        id: ast::ExpressionId,
    ) -> ir::ExpressionId {
        let kind = ExpressionKind::Builtin { builtin, arguments };
        self.add(kind, ty, id)
    }

    /// Binds pending values around `body`.
    pub fn wrap(
        &mut self,
        pending: Pending,
        body: ir::ExpressionId,
        at: ast::ExpressionId,
    ) -> ir::ExpressionId {
        pending
            .into_iter()
            .rev()
            .fold(body, |body, (variable, value)| {
                self.bind(variable, value, body, at)
            })
    }

    /// Returns a variable for a value, unless it is a constant or a variable already.
    pub fn bind_value(
        &mut self,
        value: ir::ExpressionId,
        pending: &mut Pending,
        at: ast::ExpressionId,
    ) -> ir::ExpressionId {
        let constant = matches!(
            self.core.expression(value).kind,
            ExpressionKind::Literal(_)
                | ExpressionKind::Unit
                | ExpressionKind::Text(_)
                | ExpressionKind::Variable(_)
        );
        if constant {
            return value;
        }
        let ty = self.core.expression(value).ty.clone();
        let variable = self.core.add_variable("v", ty);
        pending.push((variable, value));
        self.variable(variable, at)
    }

    /// Binds the parts of a pattern around `body`.
    pub fn wrap_pieces(
        &mut self,
        pieces: &[(Variable, Variable, u32)],
        body: ir::ExpressionId,
        at: ast::ExpressionId,
    ) -> ir::ExpressionId {
        let mut body = body;
        for &(part, whole, index) in pieces.iter().rev() {
            let whole = self.variable(whole, at);
            let ty = self.core.variable(part).ty.clone();
            let value = self.add(ExpressionKind::Project(whole, index), ty, at);
            body = self.bind(part, value, body, at);
        }
        body
    }
}
