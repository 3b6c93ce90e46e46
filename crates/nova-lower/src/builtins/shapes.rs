//! Lengths, shapes and changes of shape.

use super::argument::{Argument, scalar_type};
use super::maps::saturating_product;
use crate::builder::{Builder, constant_bool, operation};
use crate::error::{LowerError, Result};
use crate::facts::Fact;
use crate::rows;
use crate::scalars::{check_count, check_lengths, check_longest, length_as};
use crate::values::{self, Array, Vector, lifted_width, tops};
use nova_core::{ErrorKind, Scalar, ScalarOperation, Type};
use nova_flat::ir::{Atom, Bracketing, Expression, Output, Type as FlatType, Variable, View};
use std::rc::Rc;

pub(super) fn length(b: &mut Builder, [x]: &[Argument; 1], ty: &Type) -> Result<Vec<Atom>> {
    let length = x.array()?.extents[0];
    Ok(vec![length_as(b, length, scalar_type(ty)?)])
}

pub(super) fn shape(b: &mut Builder, [x]: &[Argument; 1], ty: &Type) -> Result<Vec<Atom>> {
    let extents = x.array()?.extents;
    let types: Vec<Type> = match ty {
        Type::Tuple(types) => types.to_vec(),
        _ => vec![ty.clone()],
    };
    let mut shape = Vec::with_capacity(extents.len());
    for (extent, ty) in extents.into_iter().zip(types) {
        shape.push(length_as(b, extent, scalar_type(&ty)?));
    }
    Ok(shape)
}

pub(super) fn reshape(b: &mut Builder, args: &[Argument], ty: &Type) -> Result<Vec<Atom>> {
    let (x, counts) = args
        .split_last()
        .ok_or_else(|| LowerError::new("a reshape of nothing"))?;
    let x = x.array()?;
    let mut extents = Vec::with_capacity(counts.len());
    let mut types = Vec::with_capacity(counts.len());
    let mut wide = counts.len() > 2;
    for argument in counts {
        let (count, scalar) = argument.scalar()?;
        wide |= scalar.bits() > 32 && count.as_i64().is_none();
        wide |= scalar == Scalar::U32;
        extents.push(check_count(b, count, scalar));
        types.push(scalar);
    }
    let product = match wide {
        true => saturating_product(b, &extents)?,
        false => b.product(&extents),
    };
    let have = b.product(&x.extents);
    let condition = b.compare(ScalarOperation::Equal, product, have);
    if constant_bool(condition) == Some(false) {
        let expression = Expression::Fail {
            error: ErrorKind::Shape,
            arguments: vec![product, have],
        };
        return Ok(b.bind_value(ty, expression));
    }
    b.check(condition, ErrorKind::Shape, vec![product, have]);
    // Only an array without elements has an extent larger than its length.
    for (extent, ty) in extents.iter_mut().zip(types) {
        *extent = check_longest(b, *extent, ty);
    }
    let lifted = values::reshape(b, &x.element, &x.lifted, &extents)?;
    Ok(values::with_extents(extents, lifted))
}

pub(super) fn transpose(b: &mut Builder, [x]: &[Argument; 1]) -> Result<Vec<Atom>> {
    let x = x.array()?;
    let extents: Vec<Atom> = x.extents.iter().rev().copied().collect();
    let order: Vec<u32> = (0..extents.len() as u32).rev().collect();
    let lifted = values::view(b, &x.element, &x.lifted, &extents, |_| {
        Ok(View::Transpose(order.clone()))
    })?;
    Ok(values::with_extents(extents, lifted))
}

pub(super) fn flatten(b: &mut Builder, [x]: &[Argument; 1]) -> Result<Vec<Atom>> {
    if let Type::Array(..) = x.ty {
        let x = x.array()?;
        let length = b.product(&x.extents);
        let lifted = values::reshape(b, &x.element, &x.lifted, &[length])?;
        return Ok(values::with_extents(vec![length], lifted));
    }
    let x = x.vector()?;
    let Type::Vector(inner) = &x.element else {
        return Err(LowerError::new("a flatten of a vector that is not nested"));
    };
    if b.is_dense(x.lifted[0]) {
        return Ok(x.lifted[2..].to_vec());
    }
    collect_rows(b, &x, inner)
}

/// Concatenates the rows of a nested vector. Their tops are collected, the levels below stay.
fn collect_rows(b: &mut Builder, x: &Vector, inner: &Type) -> Result<Vec<Atom>> {
    let below = &x.lifted[3..];
    let index = b.index_variable(0);
    let inner_tops = tops(inner, &b.output.sums);
    let body = b.body(|b| {
        let row = x.at(b, &[Atom::Variable(index)])?;
        let (length, lifted) = row
            .split_first()
            .ok_or_else(|| LowerError::new("a row without a length"))?;
        let mut results = vec![*length];
        let pairs = inner_tops.iter().zip(lifted);
        results.extend(pairs.filter(|(top, _)| **top).map(|(_, atom)| *atom));
        Ok(results)
    })?;
    let values = body.results.len() - 1;
    let rows = FlatType::Array(Scalar::I64, vec![x.length]);
    let mut pattern: Vec<Variable> = vec![
        b.output.add_variable("starts", rows.clone()),
        b.output.add_variable("ends", rows),
    ];
    let total = b
        .output
        .add_variable("total", FlatType::Scalar(Scalar::I64));
    pattern.push(total);
    let length = Atom::Variable(total);
    let lifted = values::map_tops(b, inner, below, |b, atom| {
        let (_, scalar) = b.array(atom)?;
        let variable = b.array_variable("t", scalar, vec![length]);
        pattern.push(variable);
        Ok(Atom::Variable(variable))
    })?;
    let operation = operation(
        vec![x.length],
        vec![index],
        body,
        vec![Output::Collect { values }],
    );
    b.emit(pattern, operation);
    let mut atoms = vec![length];
    atoms.extend(lifted);
    Ok(atoms)
}

/// Lowers `rows`: row i of an array is `[i·m, (i+1)·m)` of its elements in order.
pub(super) fn rows(b: &mut Builder, [x]: &[Argument; 1]) -> Result<Vec<Atom>> {
    rows_of(b, &x.array()?)
}

/// Returns the vector of the rows of an array.
pub(super) fn rows_of(b: &mut Builder, x: &Array) -> Result<Vec<Atom>> {
    let inner = x.extents[1..].to_vec();
    let n = x.extents[0];
    let size = b.product(&inner);
    let total = b.multiply(n, size);
    let flat = values::reshape(b, &x.element, &x.lifted, &[total])?;
    let starts = iota(b, n, Atom::index(0), size);
    b.note(starts, Fact::Rows(Rc::from(x.clone().atoms())));
    let mut atoms = vec![n];
    match inner.as_slice() {
        [_] => {
            let ends = iota(b, n, size, size);
            atoms.extend([starts, ends]);
        }
        _ => {
            for extent in inner {
                let expression = Expression::Replicate {
                    shape: vec![n],
                    value: extent,
                };
                atoms.push(b.bind_array("dim", Scalar::I64, vec![n], expression));
            }
            atoms.push(starts);
        }
    }
    atoms.push(total);
    atoms.extend(flat);
    Ok(atoms)
}

fn iota(b: &mut Builder, count: Atom, start: Atom, step: Atom) -> Atom {
    let expression = Expression::Iota { count, start, step };
    b.bind_array("rows", Scalar::I64, vec![count], expression)
}

/// Lowers `unrows`: rows of one shape as an array. Without rows every extent is 0.
pub(super) fn unrows(b: &mut Builder, [x]: &[Argument; 1]) -> Result<Vec<Atom>> {
    let x = x.vector()?;
    let n = x.length;
    let Some((rank, inner)) = x.element.as_array() else {
        return Err(LowerError::new("an unrows of a vector that is not nested"));
    };
    let rank = rank as usize;
    let inner = inner.clone();
    let starts = x.lifted[if rank == 1 { 0 } else { rank }];
    let known = match b.fact(starts) {
        Some(Fact::Rows(atoms)) => Some(atoms),
        Some(Fact::Dense | Fact::Constant(_) | Fact::Uniform(_)) | None => None,
    };
    let some = b.compare(ScalarOperation::Greater, n, Atom::index(0));
    let mut extents = vec![n];
    for k in 0..rank {
        let extent = b.select(
            Scalar::I64,
            some,
            |b| match &known {
                Some(atoms) => Ok(atoms[k + 1]),
                None => row_extent(b, &x, rank, k, Atom::index(0)),
            },
            |_| Ok(Atom::index(0)),
        )?;
        extents.push(extent);
    }
    let lifted = match known {
        Some(atoms) => {
            let lifted = &atoms[rank + 1..];
            values::reshape(b, &inner, lifted, &extents)?
        }
        None => {
            check_rows(b, &x, rank)?;
            gather_rows(b, &x, &inner, starts, &extents)?
        }
    };
    Ok(values::with_extents(extents, lifted))
}

/// Returns extent `k` of row `i`.
fn row_extent(b: &mut Builder, x: &Vector, rank: usize, k: usize, i: Atom) -> Result<Atom> {
    if rank > 1 {
        return b.index(x.lifted[k], &[i]);
    }
    let end = b.index(x.lifted[1], &[i])?;
    let start = b.index(x.lifted[0], &[i])?;
    Ok(b.subtract(end, start))
}

/// Checks that all rows have the shape of the first one. That is read in each iteration, so that
/// the simplifier sees both sides to be equal if the extent of all rows is known.
fn check_rows(b: &mut Builder, x: &Vector, rank: usize) -> Result<()> {
    b.for_each(x.length, |b, i| {
        for k in 0..rank {
            let first = row_extent(b, x, rank, k, Atom::index(0))?;
            let extent = row_extent(b, x, rank, k, i)?;
            check_lengths(b, first, extent);
        }
        Ok(())
    })
}

/// Returns the elements of rows of one shape in order, as an array.
fn gather_rows(
    b: &mut Builder,
    x: &Vector,
    inner: &Type,
    starts: Atom,
    extents: &[Atom],
) -> Result<Vec<Atom>> {
    let width = lifted_width(b, inner);
    let below = x.lifted[x.lifted.len() - width..].to_vec();
    if b.is_dense(starts) {
        return values::reshape(b, inner, &below, extents);
    }
    let size = b.product(&extents[1..]);
    let shape = vec![extents[0], size];
    let indices = vec![b.index_variable(0), b.index_variable(1)];
    let body = b.body(|b| {
        let start = b.index(starts, &[Atom::Variable(indices[0])])?;
        let at = b.add(start, Atom::Variable(indices[1]));
        values::descriptor(b, inner, &below, &[at])
    })?;
    let mut pattern: Vec<Variable> = Vec::new();
    let lifted = values::map_tops(b, inner, &below, |b, atom| {
        let (_, scalar) = b.array(atom)?;
        let variable = b.array_variable("t", scalar, shape.clone());
        pattern.push(variable);
        Ok(Atom::Variable(variable))
    })?;
    let operation = operation(shape, indices, body, vec![Output::Map; pattern.len()]);
    b.emit(pattern, operation);
    values::reshape(b, inner, &lifted, extents)
}

pub(super) fn segments(b: &mut Builder, [x]: &[Argument; 1], ty: &Type) -> Result<Vec<Atom>> {
    let x = x.vector()?;
    let Type::Vector(element) = ty else {
        return Err(LowerError::new("segments that are no vector"));
    };
    let scalar = scalar_type(element)?;
    let rank = x.element.as_array().map_or(1, |(rank, _)| rank as usize);
    let lengths = b.map_scalar("segments", x.length, scalar, |b, i| {
        let length = row_extent(b, &x, rank, 0, i)?;
        Ok(length_as(b, length, scalar))
    })?;
    Ok(vec![x.length, lengths])
}

pub(super) fn unflatten(b: &mut Builder, [lengths, x]: &[Argument; 2]) -> Result<Vec<Atom>> {
    let (lengths, x) = (lengths.vector()?, x.vector()?);
    let scalar = scalar_type(&lengths.element)?;
    let n = lengths.length;
    let index = b.index_variable(0);
    let body = b.body(|b| {
        let length = b.index(lengths.lifted[0], &[Atom::Variable(index)])?;
        let length = check_count(b, length, scalar);
        Ok(vec![length, length])
    })?;
    let adding = b.lambda(&[Scalar::I64, Scalar::I64], |b, p| {
        let sum = b.add(p[0], p[1]);
        let fits = b.compare(ScalarOperation::GreaterEqual, sum, Atom::index(0));
        let largest = Atom::index(i64::MAX);
        Ok(vec![b.select(
            Scalar::I64,
            fits,
            |_| Ok(sum),
            |_| Ok(largest),
        )?])
    })?;
    let outputs = vec![
        Output::Map,
        Output::Reduce {
            lambda: adding,
            start: vec![Atom::index(0)],
            commutes: true,
            bracketing: Bracketing::Whole,
        },
    ];
    let wide = b.array_variable("lengths", Scalar::I64, vec![n]);
    let sum = b.output.add_variable("sum", FlatType::Scalar(Scalar::I64));
    let operation = operation(vec![n], vec![index], body, outputs);
    b.emit(vec![wide, sum], operation);
    check_lengths(b, Atom::Variable(sum), x.length);
    let (starts, ends) = rows::offsets(b, n, Atom::Variable(wide))?;
    let mut atoms = vec![n, starts, ends];
    atoms.extend(x.atoms());
    Ok(atoms)
}
