//! `filter`, `partition` and `sort`: choosing and ordering elements by their tops.

use super::argument::Argument;
use crate::builder::{Builder, operation};
use crate::error::{LowerError, Result};
use crate::lowerer::Lowerer;
use crate::values::{self, Vector, next, tops};
use nova_core::{Scalar, ScalarOperation, Type};
use nova_flat::ir::{Atom, Expression, Output, Type as FlatType, Variable};

pub(super) fn filter(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    [function, x]: &[Argument; 2],
) -> Result<Vec<Atom>> {
    let mut selected = select_elements(b, lowerer, function, x, &[true])?;
    match selected.pop() {
        Some(elements) => Ok(elements.atoms()),
        None => Err(LowerError::new("`filter` without its elements")),
    }
}

pub(super) fn partition(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    [function, x]: &[Argument; 2],
) -> Result<Vec<Atom>> {
    let selected = select_elements(b, lowerer, function, x, &[true, false])?;
    Ok(selected.into_iter().flat_map(Vector::atoms).collect())
}

/// Returns the elements for which the function gives each of the answers, in order.
fn select_elements(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    function: &Argument,
    x: &Argument,
    answers: &[bool],
) -> Result<Vec<Vector>> {
    let x = x.vector()?;
    let index = b.index_variable(0);
    let position = [Atom::Variable(index)];
    let mut values = 0;
    let body = b.body(|b| {
        let descriptor = values::descriptor(b, &x.element, &x.lifted, &position)?;
        let element = values::element_from(b, &x.element, &x.lifted, &descriptor, &position)?;
        let answer = lowerer.inline(b, function.id, vec![element])?;
        let answer = next(&mut answer.iter())?;
        values = descriptor.len();
        let mut results = Vec::new();
        for wanted in answers {
            results.push(match wanted {
                true => answer,
                false => b.scalar(ScalarOperation::Not, Scalar::Bool, vec![answer]),
            });
            results.extend(&descriptor);
        }
        Ok(results)
    })?;
    let mut pattern = Vec::new();
    let mut selected = Vec::with_capacity(answers.len());
    for _ in answers {
        selected.push(filter_result(b, &x, &mut pattern)?);
    }
    let operation = operation(
        vec![x.length],
        vec![index],
        body,
        vec![Output::Filter { values }; answers.len()],
    );
    b.emit(pattern, operation);
    Ok(selected)
}

/// Adds variables for the result of a filter of a vector to the pattern.
fn filter_result(b: &mut Builder, x: &Vector, pattern: &mut Vec<Variable>) -> Result<Vector> {
    let count = b
        .output
        .add_variable("count", FlatType::Scalar(Scalar::I64));
    pattern.push(count);
    let length = Atom::Variable(count);
    let lifted = values::map_tops(b, &x.element, &x.lifted, |b, atom| {
        let (_, scalar) = b.array(atom)?;
        let survivors = b.array_variable("kept", scalar, vec![length]);
        pattern.push(survivors);
        Ok(Atom::Variable(survivors))
    })?;
    Ok(Vector {
        length,
        element: x.element.clone(),
        lifted,
    })
}

/// Lowers a sort to the stable sorting permutation and a gather.
pub(super) fn sort(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    [function, x]: &[Argument; 2],
) -> Result<Vec<Atom>> {
    let x = x.vector()?;
    let order = sorting_permutation(b, x.length, |b, left, right| {
        let left = x.at(b, &[left])?;
        let right = x.at(b, &[right])?;
        let answer = lowerer.inline(b, function.id, vec![left, right])?;
        next(&mut answer.iter())
    })?;
    let lifted = gather_tops(b, &x.element, &x.lifted, x.length, |b, k| {
        b.index(order, &[k])
    })?;
    Ok(values::with_extents(vec![x.length], lifted))
}

/// Returns the stable permutation that sorts 0..count by a comparison of positions.
pub(super) fn sorting_permutation(
    b: &mut Builder,
    count: Atom,
    compare: impl FnOnce(&mut Builder, Atom, Atom) -> Result<Atom>,
) -> Result<Atom> {
    let compare = b.lambda(&[Scalar::I64, Scalar::I64], |b, p| {
        Ok(vec![compare(b, p[0], p[1])?])
    })?;
    let expression = Expression::Sort { count, compare };
    Ok(b.bind_array("order", Scalar::I64, vec![count], expression))
}

/// Returns the elements at the positions that `position` gives for 0..count, moved by their tops.
pub(super) fn gather_tops(
    b: &mut Builder,
    ty: &Type,
    lifted: &[Atom],
    count: Atom,
    position: impl FnOnce(&mut Builder, Atom) -> Result<Atom>,
) -> Result<Vec<Atom>> {
    let index = b.index_variable(0);
    let body = b.body(|b| {
        let at = position(b, Atom::Variable(index))?;
        values::descriptor(b, ty, lifted, &[at])
    })?;
    let mut pattern = Vec::new();
    let moved = values::map_tops(b, ty, lifted, |b, atom| {
        let (_, scalar) = b.array(atom)?;
        let variable = b.array_variable("t", scalar, vec![count]);
        pattern.push(variable);
        Ok(Atom::Variable(variable))
    })?;
    let outputs = tops(ty, &b.output.sums)
        .into_iter()
        .filter(|top| *top)
        .map(|_| Output::Map)
        .collect();
    let operation = operation(vec![count], vec![index], body, outputs);
    b.emit(pattern, operation);
    Ok(moved)
}
