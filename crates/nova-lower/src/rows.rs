//! The rows of nested vectors: their lengths, and the starts and ends for lengths.

use crate::builder::{Builder, operation};
use crate::error::Result;
use crate::facts::Fact;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{Atom, Bracketing, Output, Type as FlatType};

/// Returns the sum of an `i64` for each index.
pub(crate) fn add_up(
    b: &mut Builder,
    name: &str,
    length: Atom,
    build: impl FnOnce(&mut Builder, Atom) -> Result<Atom>,
) -> Result<Atom> {
    let index = b.index_variable(0);
    let body = b.body(|b| Ok(vec![build(b, Atom::Variable(index))?]))?;
    let adding = b.lambda(&[Scalar::I64, Scalar::I64], |b, p| {
        Ok(vec![b.add(p[0], p[1])])
    })?;
    let sum = b.output.add_variable(name, FlatType::Scalar(Scalar::I64));
    let operation = operation(
        vec![length],
        vec![index],
        body,
        vec![Output::Reduce {
            lambda: adding,
            start: vec![Atom::index(0)],
            commutes: true,
            bracketing: Bracketing::Whole,
        }],
    );
    b.emit(vec![sum], operation);
    Ok(Atom::Variable(sum))
}

/// Returns the lengths of rows.
pub(crate) fn lengths(b: &mut Builder, count: Atom, starts: Atom, ends: Atom) -> Result<Atom> {
    b.map_scalar("lengths", count, Scalar::I64, |b, i| {
        let end = b.index(ends, &[i])?;
        let start = b.index(starts, &[i])?;
        Ok(b.subtract(end, start))
    })
}

/// Returns dense starts and ends of rows with these lengths.
pub(crate) fn offsets(b: &mut Builder, count: Atom, lengths: Atom) -> Result<(Atom, Atom)> {
    let index = b.index_variable(0);
    let body = b.body(|b| {
        let length = b.index(lengths, &[Atom::Variable(index)])?;
        Ok(vec![length, length])
    })?;
    let mut outputs = Vec::new();
    for exclusive in [true, false] {
        let lambda = b.lambda(&[Scalar::I64, Scalar::I64], |b, p| {
            let arguments = p.to_vec();
            Ok(vec![b.scalar(ScalarOperation::Add, Scalar::I64, arguments)])
        })?;
        outputs.push(Output::Scan {
            lambda,
            start: vec![Atom::index(0)],
            exclusive,
        });
    }
    let ty = FlatType::Array(Scalar::I64, vec![count]);
    let starts = b.output.add_variable("starts", ty.clone());
    let ends = b.output.add_variable("ends", ty);
    let operation = operation(vec![count], vec![index], body, outputs);
    b.emit(vec![starts, ends], operation);
    b.note(Atom::Variable(starts), Fact::Dense);
    Ok((Atom::Variable(starts), Atom::Variable(ends)))
}
