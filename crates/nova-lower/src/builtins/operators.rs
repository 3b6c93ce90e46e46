//! Operators of reductions, scans and histograms: those over values without vectors as lambdas of Flat.

use super::argument::Argument;
use crate::builder::Builder;
use crate::error::Result;
use crate::lowerer::Lowerer;
use crate::values::has_rows;
use nova_core::{Scalar, ScalarOperation, ScalarValue, Type};
use nova_flat::ir::{Atom, Expression, Lambda};

/// Returns the scalars of a value that has only scalars, and at least one.
pub(super) fn only_scalars(b: &mut Builder, ty: &Type) -> Option<Vec<Scalar>> {
    if has_rows(ty, &b.output.sums) {
        return None;
    }
    let scalars: Vec<Scalar> = b.components(ty).iter().map(|c| c.scalar).collect();
    (!scalars.is_empty()).then_some(scalars)
}

/// Converts a lambda of Core over two values of these scalars to one of Flat.
pub(super) fn operator(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    function: &Argument,
    scalars: &[Scalar],
) -> Result<Lambda> {
    let parameters = [scalars, scalars].concat();
    let mut lambda = b.lambda(&parameters, |b, atoms| {
        let (left, right) = atoms.split_at(scalars.len());
        lowerer.inline(b, function.id, vec![left.to_vec(), right.to_vec()])
    })?;
    mark_connectives(&mut lambda);
    Ok(lambda)
}

/// Makes operations on truth values of the `and` and `or` of an operator whose operands are known.
pub(super) fn mark_connectives(lambda: &mut Lambda) {
    for statement in &mut lambda.body.statements {
        if let Some(operation) = connective(&statement.expression) {
            statement.expression = operation;
        }
    }
}

/// Returns the operation on truth values that `and` or `or` of two known ones is. In an operator it tells later
/// passes that the order is free.
fn connective(expression: &Expression) -> Option<Expression> {
    let Expression::If {
        condition,
        then,
        otherwise,
    } = expression
    else {
        return None;
    };
    let truth = |value| Atom::Constant(ScalarValue::Bool(value));
    let is_empty = then.statements.is_empty() && otherwise.statements.is_empty();
    let (operation, other) = match (&then.results[..], &otherwise.results[..]) {
        ([other], [constant]) if *constant == truth(false) => (ScalarOperation::BitAnd, *other),
        ([constant], [other]) if *constant == truth(true) => (ScalarOperation::BitOr, *other),
        (_, _) => return None,
    };
    is_empty.then(|| Expression::Scalar {
        operation,
        operand: Scalar::Bool,
        arguments: vec![*condition, other],
    })
}
