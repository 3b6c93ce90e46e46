//! Lifting: an operation whose body gives a value of any type for every index.
//!
//! Scalars become arrays. Vectors are collected: their rows are concatenated, and the operation gives
//! their starts and ends. A vector of vectors is made dense first. Then each level below is collected
//! on its own. The lengths of its rows are among the elements of the level above, and starts and ends
//! are scans of the lengths afterwards.

use crate::builder::Builder;
use crate::error::Result;
use crate::facts::Fact;
use crate::receive::{Received, receive};
use crate::rows;
use crate::values::{self, Leaf, leaves, lifted_width, next, take};
use nova_core::{Scalar, Strategy, Type};
use nova_diag::deep;
use nova_flat::ir::{ArrayOperation, Atom, Expression, Level, Output, Type as FlatType, Variable};
use std::slice::Iter;
use std::sync::Arc;

/// The results that the body of an operation gives besides its carries.
#[derive(Default)]
pub(crate) struct Lifting {
    pub outputs: Vec<Output>,
    /// The atoms that the outputs consume.
    pub results: Vec<Atom>,
    kinds: Vec<Kind>,
}

enum Kind {
    /// The value that becomes an element of an array, and its type.
    Map(Atom, Scalar),
    /// The length of the rows, and the scalar types of the arrays that are concatenated.
    Collect(Atom, Vec<Scalar>),
}

/// The components of a level of a nested value.
enum Column {
    /// An array of scalars, tags or links.
    Array(Atom),
    /// The rows of a vector: their lengths, the total, and the dense level below.
    Rows(Atom, Atom, Arc<Type>, Vec<Atom>),
    /// The rows of arrays: the extents in each dimension, the total, and the dense level below.
    Arrays(Vec<Atom>, Atom, Arc<Type>, Vec<Atom>),
}

/// Runs `element` for every index of the shape. Returns its values lifted over the shape. If the
/// values hold vectors, the shape must have one dimension.
pub(crate) fn build(
    b: &mut Builder,
    shape: &[Atom],
    ty: &Type,
    element: impl FnOnce(&mut Builder, &[Atom]) -> Result<Vec<Atom>>,
) -> Result<Vec<Atom>> {
    build_with(b, None, shape, ty, element)
}

/// As [`build()`], by an operation that carries a strategy.
pub(crate) fn build_with(
    b: &mut Builder,
    strategy: Option<Strategy>,
    shape: &[Atom],
    ty: &Type,
    element: impl FnOnce(&mut Builder, &[Atom]) -> Result<Vec<Atom>>,
) -> Result<Vec<Atom>> {
    let (unit, none) = (Type::Unit, Vec::new());
    let (_, lifted) = build_carrying(b, strategy, shape, (&unit, none), ty, |b, index, _| {
        Ok((Vec::new(), element(b, index)?))
    })?;
    Ok(lifted)
}

/// As [`build_with`], in order, with a state of type `state` passed along. `step` gives
/// the next state and the element. Returns the final state and the lifted elements.
pub(crate) fn build_carrying(
    b: &mut Builder,
    strategy: Option<Strategy>,
    shape: &[Atom],
    (state, start): (&Type, Vec<Atom>),
    ty: &Type,
    step: impl FnOnce(&mut Builder, &[Atom], Vec<Atom>) -> Result<(Vec<Atom>, Vec<Atom>)>,
) -> Result<(Vec<Atom>, Vec<Atom>)> {
    let first_inner = b.output.variables.len() as u32;
    let indices: Vec<Variable> = (0..shape.len()).map(|k| b.index_variable(k)).collect();
    let index: Vec<Atom> = indices.iter().map(|i| Atom::Variable(*i)).collect();
    let carried = b.fresh(state);
    let carried_atoms = carried.iter().map(|c| Atom::Variable(*c)).collect();
    let mut lifting = Lifting::default();
    let body = b.body(|b| {
        let (next, value) = step(b, &index, carried_atoms)?;
        give(b, ty, &mut value.iter(), &mut lifting)?;
        let mut results = next;
        results.append(&mut lifting.results);
        Ok(results)
    })?;
    let mut pattern = b.fresh(state);
    let last: Vec<Atom> = pattern.iter().map(|p| Atom::Variable(*p)).collect();
    let given = result_pattern(b, shape, &lifting);
    pattern.extend(&given);
    let operation = ArrayOperation {
        shape: shape.to_vec(),
        indices,
        level: Level::Sequential,
        strategy,
        carries: carried.into_iter().zip(start).collect(),
        body,
        outputs: lifting.outputs,
    };
    b.emit(pattern, Expression::Operation(operation));
    let regular: Vec<Option<Atom>> = lifting
        .kinds
        .iter()
        .filter_map(|kind| match kind {
            Kind::Map(..) => None,
            Kind::Collect(length, _) => Some(invariant(*length, first_inner)),
        })
        .collect();
    let given: Vec<Atom> = given.into_iter().map(Atom::Variable).collect();
    note_uniform(b, &lifting.kinds, &given, first_inner);
    let mut received = Received {
        atoms: given.iter(),
        regular: regular.into_iter(),
        count: shape.first().copied().filter(|_| shape.len() == 1),
    };
    let mut lifted = Vec::new();
    receive(b, ty, &mut received, &mut lifted)?;
    Ok((last, lifted))
}

/// Notes which arrays among the results have one number for all elements: one from outside of the body.
fn note_uniform(b: &mut Builder, kinds: &[Kind], given: &[Atom], first_inner: u32) {
    let mut given = given.iter();
    for kind in kinds {
        match kind {
            Kind::Map(element, _) => {
                if let (Some(array), Some(number)) =
                    (given.next(), invariant(*element, first_inner))
                {
                    b.note(*array, Fact::Uniform(number));
                }
            }
            // Starts, ends and the total come before the arrays.
            Kind::Collect(_, scalars) => {
                given.nth(2 + scalars.len());
            }
        }
    }
}

/// Adds variables for the results of the outputs.
fn result_pattern(b: &mut Builder, shape: &[Atom], lifting: &Lifting) -> Vec<Variable> {
    let mut pattern = Vec::new();
    for kind in &lifting.kinds {
        match kind {
            Kind::Map(_, scalar) => {
                pattern.push(b.array_variable("t", *scalar, shape.to_vec()));
            }
            Kind::Collect(_, scalars) => {
                let rows = FlatType::Array(Scalar::I64, shape.to_vec());
                pattern.push(b.output.add_variable("starts", rows.clone()));
                pattern.push(b.output.add_variable("ends", rows));
                let total = FlatType::Scalar(Scalar::I64);
                let total = b.output.add_variable("total", total);
                pattern.push(total);
                for scalar in scalars {
                    pattern.push(b.array_variable("t", *scalar, vec![Atom::Variable(total)]));
                }
            }
        }
    }
    pattern
}

/// Adds the outputs for a value of the type. It is called in the body of the operation.
fn give(b: &mut Builder, ty: &Type, value: &mut Iter<Atom>, lifting: &mut Lifting) -> Result<()> {
    for leaf in leaves(ty, &b.output.sums) {
        match leaf {
            Leaf::Scalar(scalar) => give_scalar(next(value)?, scalar, lifting),
            Leaf::Vector(inner) => {
                let length = next(value)?;
                let lifted = take(value, lifted_width(b, &inner))?;
                give_level(b, &inner, &lifted, length, lifting)?;
            }
            Leaf::Array(rank, inner) => {
                let extents = take(value, rank)?;
                let lifted = take(value, lifted_width(b, &inner))?;
                for extent in &extents {
                    give_scalar(*extent, Scalar::I64, lifting);
                }
                let count = b.product(&extents);
                let flat = values::reshape(b, &inner, &lifted, &[count])?;
                give_level(b, &inner, &flat, count, lifting)?;
            }
        }
    }
    Ok(())
}

fn give_scalar(atom: Atom, scalar: Scalar, lifting: &mut Lifting) {
    lifting.outputs.push(Output::Map);
    lifting.results.push(atom);
    lifting.kinds.push(Kind::Map(atom, scalar));
}

/// Collects `count` elements and the levels below them. It is called in the body of the operation.
fn give_level(
    b: &mut Builder,
    ty: &Type,
    lifted: &[Atom],
    count: Atom,
    lifting: &mut Lifting,
) -> Result<()> {
    let lifted = make_dense(b, ty, lifted, count)?;
    let mut columns = Vec::new();
    add_columns(b, ty, &mut lifted.iter(), count, &mut columns)?;
    let mut arrays = Vec::new();
    for column in &columns {
        match column {
            Column::Array(array) => arrays.push(*array),
            Column::Rows(lengths, ..) => arrays.push(*lengths),
            Column::Arrays(extents, ..) => arrays.extend(extents),
        }
    }
    let mut scalars = Vec::with_capacity(arrays.len());
    for array in &arrays {
        scalars.push(b.array(*array)?.1);
    }
    lifting.outputs.push(Output::Collect {
        values: arrays.len(),
    });
    lifting.kinds.push(Kind::Collect(count, scalars));
    lifting.results.push(count);
    lifting.results.extend(arrays);
    for column in columns {
        match column {
            Column::Array(_) => {}
            Column::Rows(_, total, inner, below) | Column::Arrays(_, total, inner, below) => {
                deep(|| give_level(b, &inner, &below, total, lifting))?;
            }
        }
    }
    Ok(())
}

/// Adds the columns of a dense level of `count` elements, in order.
fn add_columns(
    b: &mut Builder,
    ty: &Type,
    lifted: &mut Iter<Atom>,
    count: Atom,
    list: &mut Vec<Column>,
) -> Result<()> {
    for leaf in leaves(ty, &b.output.sums) {
        match leaf {
            Leaf::Scalar(_) => list.push(Column::Array(next(lifted)?)),
            Leaf::Vector(inner) => {
                let rows = take(lifted, 3)?;
                let below = take(lifted, lifted_width(b, &inner))?;
                let lengths = rows::lengths(b, count, rows[0], rows[1])?;
                list.push(Column::Rows(lengths, rows[2], inner, below));
            }
            Leaf::Array(rank, inner) => {
                let extents = take(lifted, rank)?;
                let total = take(lifted, 2)?[1];
                let below = take(lifted, lifted_width(b, &inner))?;
                list.push(Column::Arrays(extents, total, inner, below));
            }
        }
    }
    Ok(())
}

/// Returns the same level with all rows dense. It is copied unless they are known to be.
fn make_dense(b: &mut Builder, ty: &Type, lifted: &[Atom], count: Atom) -> Result<Vec<Atom>> {
    let mut starts = Vec::new();
    starts_of_rows(b, ty, &mut lifted.iter(), &mut starts)?;
    if starts.iter().all(|s| b.is_dense(*s)) {
        return Ok(lifted.to_vec());
    }
    build(b, &[count], ty, |b, index| {
        values::element(b, ty, lifted, index)
    })
}

/// Collects the starts of all rows of a level.
fn starts_of_rows(
    b: &Builder,
    ty: &Type,
    lifted: &mut Iter<Atom>,
    list: &mut Vec<Atom>,
) -> Result<()> {
    for leaf in leaves(ty, &b.output.sums) {
        match leaf {
            Leaf::Scalar(_) => {
                next(lifted)?;
            }
            Leaf::Vector(inner) => {
                list.push(take(lifted, 3)?[0]);
                take(lifted, lifted_width(b, &inner))?;
            }
            Leaf::Array(rank, inner) => {
                list.push(take(lifted, rank + 2)?[rank]);
                take(lifted, lifted_width(b, &inner))?;
            }
        }
    }
    Ok(())
}

/// Returns the atom if it means the same outside of a body whose variables begin at `first_inner`.
fn invariant(atom: Atom, first_inner: u32) -> Option<Atom> {
    match atom {
        Atom::Constant(_) => Some(atom),
        Atom::Variable(variable) => (variable.0 < first_inner).then_some(atom),
    }
}
