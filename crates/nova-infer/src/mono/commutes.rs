//! Functions that are known to commute (language §5, `reduce`): a commuting operation by name or as
//! `(lambda (a b) (+ a b))`, and functions of two tuples that combine each component so.

use super::Mono;
use crate::application::spine;
use crate::builtins::Lowering;
use crate::resolve::{BindingId, Resolution};
use nova_syntax::ast::{self, ExpressionKind as Syntax, Pattern, PatternKind};

impl Mono<'_, '_> {
    /// True if a function, as written, is known to commute.
    pub(super) fn commutes(&self, id: ast::ExpressionId) -> bool {
        if self.is_commuting_operation(id) {
            return true;
        }
        let Some(lambda) = self.as_lambda(id) else {
            return false;
        };
        let Syntax::Lambda {
            parameters, body, ..
        } = &self.program().expression(lambda).kind
        else {
            return false;
        };
        let [left, right] = parameters.as_slice() else {
            return false;
        };
        let first = self.inference.resolved.first_binding[lambda.0 as usize];
        let second = BindingId(first.0 + crate::resolve::count_names(left));
        if let Syntax::Tuple(elements) = &self.program().expression(*body).kind {
            return elements.iter().enumerate().all(|(index, element)| {
                self.combines(*element, |argument, side| match side {
                    Side::Left => self.is_component(argument, left, first, index),
                    Side::Right => self.is_component(argument, right, second, index),
                })
            });
        }
        self.combines(*body, |argument, side| match side {
            Side::Left => is_name(left) && self.is_binding(argument, first),
            Side::Right => is_name(right) && self.is_binding(argument, second),
        })
    }

    fn is_commuting_operation(&self, id: ast::ExpressionId) -> bool {
        self.inference.builtin_named(id).is_some_and(|builtin| {
            matches!(builtin.get().lowering, Lowering::And | Lowering::Or)
                || builtin
                    .scalar_operation()
                    .is_some_and(|operation| operation.commutes())
        })
    }

    /// True if an expression is a commuting operation of the two sides.
    fn combines(
        &self,
        id: ast::ExpressionId,
        is: impl Fn(ast::ExpressionId, Side) -> bool,
    ) -> bool {
        let (head, arguments) = spine(self.program(), self.inference.resolved, id);
        match arguments.as_slice() {
            [left, right] => {
                self.is_commuting_operation(head)
                    && is(*left, Side::Left)
                    && is(*right, Side::Right)
            }
            [..] => false,
        }
    }

    fn is_binding(&self, id: ast::ExpressionId, binding: BindingId) -> bool {
        matches!(self.program().expression(id).kind, Syntax::Name(_))
            && self.inference.resolved.names[id.0 as usize] == Resolution::Binding(binding)
    }

    /// True if an expression is the component `index` of a parameter.
    fn is_component(
        &self,
        id: ast::ExpressionId,
        parameter: &Pattern,
        first: BindingId,
        index: usize,
    ) -> bool {
        match (&parameter.kind, &self.program().expression(id).kind) {
            (PatternKind::Name(_), Syntax::Project(tuple, k, _)) => {
                *k as usize == index && self.is_binding(*tuple, first)
            }
            (PatternKind::Tuple(elements), Syntax::Name(_)) => {
                let before = elements[..index.min(elements.len())]
                    .iter()
                    .map(crate::resolve::count_names)
                    .sum::<u32>();
                elements.get(index).is_some_and(is_name)
                    && self.is_binding(id, BindingId(first.0 + before))
            }
            (_, _) => false,
        }
    }
}

#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

fn is_name(pattern: &Pattern) -> bool {
    matches!(pattern.kind, PatternKind::Name(_))
}
