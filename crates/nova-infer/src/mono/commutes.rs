//! Functions that are known to commute (language §5, `reduce`): a commuting operation by name or as
//! `(lambda (a b) (+ a b))`, and functions of two tuples that combine each component so.

use crate::builtins::Lowering;
use crate::resolve::{BindingId, Resolution};
use crate::source::{Source, spine};
use nova_syntax::ast::{self, ExpressionKind as Syntax, Pattern, PatternKind};

/// True if a function, as written, is known to commute.
pub(super) fn commutes(source: Source, id: ast::ExpressionId) -> bool {
    if is_commuting_operation(source, id) {
        return true;
    }
    let Some(lambda) = as_lambda(source, id) else {
        return false;
    };
    let Syntax::Lambda {
        parameters, body, ..
    } = &source.program.expression(lambda).kind
    else {
        return false;
    };
    let [left, right] = parameters.as_slice() else {
        return false;
    };
    let first = source.resolved.first_binding[lambda.0 as usize];
    let second = BindingId(first.0 + crate::resolve::count_names(left));
    if let Syntax::Tuple(elements) = &source.program.expression(*body).kind {
        return elements.iter().enumerate().all(|(index, element)| {
            combines(source, *element, |argument, side| match side {
                Side::Left => is_component(source, argument, left, first, index),
                Side::Right => is_component(source, argument, right, second, index),
            })
        });
    }
    combines(source, *body, |argument, side| match side {
        Side::Left => is_name(left) && is_binding(source, argument, first),
        Side::Right => is_name(right) && is_binding(source, argument, second),
    })
}

fn is_commuting_operation(source: Source, id: ast::ExpressionId) -> bool {
    source.builtin_named(id).is_some_and(|builtin| {
        matches!(builtin.get().lowering, Lowering::And | Lowering::Or)
            || builtin
                .scalar_operation()
                .is_some_and(|operation| operation.commutes())
    })
}

/// True if an expression is a commuting operation of the two sides.
fn combines(
    source: Source,
    id: ast::ExpressionId,
    is: impl Fn(ast::ExpressionId, Side) -> bool,
) -> bool {
    let (head, arguments) = spine(source.program, source.resolved, id);
    match arguments.as_slice() {
        [left, right] => {
            is_commuting_operation(source, head) && is(*left, Side::Left) && is(*right, Side::Right)
        }
        [..] => false,
    }
}

fn is_binding(source: Source, id: ast::ExpressionId, binding: BindingId) -> bool {
    matches!(source.program.expression(id).kind, Syntax::Name(_))
        && source.resolved.names[id.0 as usize] == Resolution::Binding(binding)
}

/// True if an expression is the component `index` of a parameter.
fn is_component(
    source: Source,
    id: ast::ExpressionId,
    parameter: &Pattern,
    first: BindingId,
    index: usize,
) -> bool {
    match (&parameter.kind, &source.program.expression(id).kind) {
        (PatternKind::Name(_), Syntax::Project(tuple, k, _)) => {
            *k as usize == index && is_binding(source, *tuple, first)
        }
        (PatternKind::Tuple(elements), Syntax::Name(_)) => {
            let before = elements[..index.min(elements.len())]
                .iter()
                .map(crate::resolve::count_names)
                .sum::<u32>();
            elements.get(index).is_some_and(is_name)
                && is_binding(source, id, BindingId(first.0 + before))
        }
        (_, _) => false,
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

/// Returns the lambda under annotations, if an expression is one.
pub(super) fn as_lambda(source: Source, mut id: ast::ExpressionId) -> Option<ast::ExpressionId> {
    while let Syntax::Annotate(inner, _) = &source.program.expression(id).kind {
        id = *inner;
    }
    matches!(source.program.expression(id).kind, Syntax::Lambda { .. }).then_some(id)
}
