//! Translation of strategies to Core (language §7). Address spaces are marks on the maps and
//! reductions whose results they hold. A `vec#n` is the tuple of its elements, and an operation on
//! it is one on each element.

use super::Mono;
use super::known::{Item, Known, arguments};
use super::writer::{Pending, Writer};
use crate::builtins::Lowering;
use crate::resolve::Resolution;
use crate::source::Source;
use nova_core::ir::{self, ExpressionKind};
use nova_core::strategy::Space;
use nova_core::{Builtin, ScalarOperation, Type};
use nova_diag::{Diagnostic, codes};
use nova_syntax::ast;

/// Returns the space and the function of `(to_local f)`, applied to nothing else.
pub(super) fn placed_function(
    source: Source,
    head: ast::ExpressionId,
    arguments: &[ast::ExpressionId],
) -> Option<(Space, ast::ExpressionId)> {
    let Resolution::Builtin(builtin) = source.resolved.names[head.0 as usize] else {
        return None;
    };
    match (builtin.get().lowering, arguments) {
        (Lowering::To(space), [function]) => Some((space, *function)),
        (_, _) => None,
    }
}

/// Translates `as_vector`, whose literal is part of the built-in in Core.
pub(super) fn emit_as_vector(
    w: &mut Writer,
    known: &Known,
    items: Vec<Item>,
    id: ast::ExpressionId,
) -> ir::ExpressionId {
    let lanes = match &known.result {
        Type::Vector(element) => element.as_lanes().map_or(0, |(lanes, _)| lanes),
        _ => 0,
    };
    let items = items.into_iter().skip(1).collect();
    let arguments = arguments(w, items, id);
    let builtin = Builtin::AsVector { lanes };
    w.builtin(builtin, arguments, known.result.clone(), id)
}

/// Applies a scalar operation to each element of its operands.
pub(super) fn emit_by_element(
    w: &mut Writer,
    known: &Known,
    operation: ScalarOperation,
    items: Vec<Item>,
    id: ast::ExpressionId,
) -> ir::ExpressionId {
    let Some((lanes, scalar)) = known.result.as_lanes() else {
        return w.add(ExpressionKind::Unit, Type::Unit, id);
    };
    let mut pending = Pending::new();
    let mut operands = Vec::new();
    for value in arguments(w, items, id) {
        let ty = w.core.expression(value).ty.clone();
        let variable = w.core.add_variable("v", ty);
        pending.push((variable, value));
        operands.push(variable);
    }
    let mut elements = Vec::new();
    for lane in 0..lanes {
        let mut arguments = Vec::new();
        for operand in &operands {
            let whole = w.variable(*operand, id);
            let kind = ExpressionKind::Project(whole, lane);
            arguments.push(w.add(kind, Type::Scalar(scalar), id));
        }
        let builtin = Builtin::Scalar(operation);
        elements.push(w.builtin(builtin, arguments, Type::Scalar(scalar), id));
    }
    let tuple = ExpressionKind::Tuple(elements);
    let value = w.add(tuple, known.result.clone(), id);
    w.wrap(pending, value, id)
}

impl Mono<'_, '_> {
    /// Translates `to_local` and its function. The result is that function, with its result in the
    /// space.
    pub(super) fn emit_placed(
        &mut self,
        items: Vec<Item>,
        space: Space,
        id: ast::ExpressionId,
    ) -> ir::ExpressionId {
        for item in &items {
            if let Item::Function { body, .. } = item {
                self.place_result(*body, space, id);
            }
        }
        match arguments(&mut self.writer, items, id).first() {
            Some(function) => *function,
            None => self.writer.add(ExpressionKind::Unit, Type::Unit, id),
        }
    }

    /// Puts the result of a function into a space, as the space of the map or reduction with a
    /// strategy that computes it. A result computed without a strategy has no particular place.
    pub(super) fn place_result(
        &mut self,
        body: ir::ExpressionId,
        space: Space,
        at: ast::ExpressionId,
    ) {
        let mut work = vec![body];
        while let Some(id) = work.pop() {
            match &self.writer.core.expression(id).kind {
                ExpressionKind::Let { body, .. } | ExpressionKind::Letrec { body, .. } => {
                    work.push(*body);
                }
                ExpressionKind::If {
                    then, otherwise, ..
                } => work.extend([*otherwise, *then]),
                ExpressionKind::Case { arms, default, .. } => {
                    work.extend(arms.iter().flatten().map(|arm| arm.body));
                    work.extend(*default);
                }
                ExpressionKind::Apply { function, .. } => {
                    match self.writer.core.expression(*function).kind.as_lambda() {
                        Some((_, body)) => work.push(body),
                        None => return self.unplaced(space, at),
                    }
                }
                ExpressionKind::Builtin { builtin, arguments } => {
                    let Some(builtin) = builtin.placed(space) else {
                        return self.unplaced(space, at);
                    };
                    let arguments = arguments.clone();
                    let kind = ExpressionKind::Builtin { builtin, arguments };
                    self.writer.core.arena[id.index()].kind = kind;
                }
                _ => return self.unplaced(space, at),
            }
        }
    }

    fn unplaced(&mut self, space: Space, at: ast::ExpressionId) {
        let word = space.word();
        let message = format!("`to_{word}` takes a map or reduction that carries a strategy");
        let diagnostic = Diagnostic::error(codes::BAD_ADDRESS_SPACE, self.source.span(at), message)
            .label("this gives the result of something else")
            .help(format!(
                "write it around the map itself: `((to_{word} (map_seq f)) X)`"
            ));
        self.report(diagnostic);
    }
}
