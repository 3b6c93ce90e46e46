//! `reduce`, `scan`, `foldl` and `scanl`.
//!
//! Over values without vectors the first two are outputs of an operation, whose bracketing is free.
//! Over values with vectors, and for `foldl` and `scanl` always, they are an operation that carries the
//! state. Reductions of many vectors by an operator that is elementwise are combined
//! [by elements](super::by_elements).

use super::argument::Argument;
use super::by_elements::combine_by_elements;
use super::operators::{only_scalars, operator};
use crate::build::build_carrying;
use crate::builder::{Builder, atoms, constant_bool, operation};
use crate::error::Result;
use crate::lowerer::Lowerer;
use crate::values::{self, Vector};
use nova_core::{ScalarOperation, Strategy, Type};
use nova_flat::ir::{Atom, Bracketing, Expression, Output, Variable};

/// The most vectors that are reduced one after the other. With more, each thread has some.
const FEW: i64 = 64;

pub(super) fn reduce(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    [function, start, x]: &[Argument; 3],
    commutes: bool,
) -> Result<Vec<Atom>> {
    let vector = x.vector()?;
    let Some(scalars) = only_scalars(b, &start.ty) else {
        return reduce_vectors(b, lowerer, function, start, &vector);
    };
    let index = b.index_variable(0);
    let body = b.body(|b| vector.at(b, &[Atom::Variable(index)]))?;
    let lambda = operator(b, lowerer, function, &scalars)?;
    let output = Output::Reduce {
        lambda,
        start: start.atoms.clone(),
        commutes,
        bracketing: Bracketing::Whole,
    };
    let operation = operation(vec![vector.length], vec![index], body, vec![output]);
    Ok(b.bind_value(&start.ty, operation))
}

/// Combines many vectors element by element, where the operator is elementwise: threads share the vectors. Of few ones,
/// threads share the elements of each step.
fn reduce_vectors(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    function: &Argument,
    start: &Argument,
    x: &Vector,
) -> Result<Vec<Atom>> {
    let many = b.compare(ScalarOperation::Greater, x.length, Atom::index(FEW));
    if constant_bool(many) == Some(false) {
        return fold(b, lowerer, function, start, x, None);
    }
    let mut combined = None;
    let then = b.body(|b| {
        combined = combine_by_elements(b, lowerer, function, start, None, x)?;
        Ok(combined.clone().unwrap_or_default())
    })?;
    if combined.is_none() {
        return fold(b, lowerer, function, start, x, None);
    }
    let otherwise = b.body(|b| fold(b, lowerer, function, start, x, None))?;
    let expression = Expression::If {
        condition: many,
        then,
        otherwise,
    };
    Ok(b.bind_value(&start.ty, expression))
}

pub(super) fn scan(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    [function, start, x]: &[Argument; 3],
    exclusive: bool,
) -> Result<Vec<Atom>> {
    let x = x.vector()?;
    let Some(scalars) = only_scalars(b, &start.ty) else {
        return scan_in_order(b, lowerer, function, start, x, exclusive);
    };
    let index = b.index_variable(0);
    let body = b.body(|b| x.at(b, &[Atom::Variable(index)]))?;
    let lambda = operator(b, lowerer, function, &scalars)?;
    let output = Output::Scan {
        lambda,
        start: start.atoms.clone(),
        exclusive,
    };
    let operation = operation(vec![x.length], vec![index], body, vec![output]);
    let mut pattern: Vec<Variable> = Vec::with_capacity(scalars.len());
    for scalar in scalars {
        pattern.push(b.array_variable("scan", scalar, vec![x.length]));
    }
    let lifted = atoms(&pattern);
    b.emit(pattern, operation);
    Ok(values::with_extents(vec![x.length], lifted))
}

fn scan_in_order(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    function: &Argument,
    start: &Argument,
    x: Vector,
    exclusive: bool,
) -> Result<Vec<Atom>> {
    let (state, first) = (&start.ty, start.atoms.clone());
    let (_, lifted) = build_carrying(
        b,
        None,
        &[x.length],
        (state, first),
        state,
        |b, index, state| {
            let value = x.at(b, index)?;
            let next = lowerer.inline(b, function.id, vec![state.clone(), value])?;
            let shown = if exclusive { state } else { next.clone() };
            Ok((next, shown))
        },
    )?;
    Ok(values::with_extents(vec![x.length], lifted))
}

pub(super) fn scanl(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    [function, start, x]: &[Argument; 3],
) -> Result<Vec<Atom>> {
    let x = x.vector()?;
    scan_in_order(b, lowerer, function, start, x, false)
}

pub(super) fn foldl(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    [function, start, x]: &[Argument; 3],
    strategy: Option<Strategy>,
) -> Result<Vec<Atom>> {
    let x = x.vector()?;
    fold(b, lowerer, function, start, &x, strategy)
}

/// Emits a fold in order.
fn fold(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    function: &Argument,
    start: &Argument,
    x: &Vector,
    strategy: Option<Strategy>,
) -> Result<Vec<Atom>> {
    let first = (&start.ty, start.atoms.clone());
    carry(b, strategy, x.length, first, |b, index, state| {
        let value = x.at(b, &[index])?;
        lowerer.inline(b, function.id, vec![state, value])
    })
}

/// Emits `count` steps from a state to the next one.
pub(super) fn carry(
    b: &mut Builder,
    strategy: Option<Strategy>,
    count: Atom,
    start: (&Type, Vec<Atom>),
    step: impl FnOnce(&mut Builder, Atom, Vec<Atom>) -> Result<Vec<Atom>>,
) -> Result<Vec<Atom>> {
    let (last, _) = build_carrying(
        b,
        strategy,
        &[count],
        start,
        &Type::Unit,
        |b, index, state| Ok((step(b, index[0], state)?, Vec::new())),
    )?;
    Ok(last)
}
