//! `iterate` and `while`.

use super::argument::Argument;
use super::reductions::carry;
use crate::builder::{Builder, atoms};
use crate::error::Result;
use crate::lowerer::Lowerer;
use crate::scalars::bound_from;
use nova_flat::ir::{Atom, Expression};

pub(super) fn iterate(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    [count, function, start]: &[Argument; 3],
) -> Result<Vec<Atom>> {
    let (count, scalar) = count.scalar()?;
    let count = bound_from(b, count, scalar);
    let count = match scalar.is_signed() {
        true => b.maximum(count, Atom::index(0)),
        false => count,
    };
    let first = (&start.ty, start.atoms.clone());
    carry(b, None, count, first, |b, _, state| {
        lowerer.inline(b, function.id, vec![state])
    })
}

pub(super) fn while_loop(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    [predicate, function, start]: &[Argument; 3],
) -> Result<Vec<Atom>> {
    let parameters = b.fresh(&start.ty);
    let state = atoms(&parameters);
    let condition = b.body(|b| lowerer.inline(b, predicate.id, vec![state.clone()]))?;
    let body = b.body(|b| lowerer.inline(b, function.id, vec![state]))?;
    let parameters = parameters.into_iter().zip(start.atoms.iter().copied());
    let expression = Expression::While {
        parameters: parameters.collect(),
        condition,
        body,
    };
    Ok(b.bind_value(&start.ty, expression))
}
