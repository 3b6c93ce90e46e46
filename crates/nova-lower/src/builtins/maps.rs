//! `map`, `imap` and the tabulations.

use super::argument::{Argument, scalar_type};
use crate::build::{build, build_with};
use crate::builder::Builder;
use crate::error::{LowerError, Result};
use crate::lowerer::Lowerer;
use crate::scalars::{check_count, check_length_fits, check_lengths, check_longest, index_as};
use crate::values::{self, has_rows};
use nova_core::{ErrorKind, LONGEST, Scalar, ScalarOperation, Strategy};
use nova_flat::ir::Atom;

pub(super) fn map(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    args: &[Argument],
    strategy: Option<Strategy>,
) -> Result<Vec<Atom>> {
    let (function, rest) = args
        .split_first()
        .ok_or_else(|| LowerError::new("a map without a function"))?;
    let mut vectors = Vec::with_capacity(rest.len());
    for argument in rest {
        vectors.push(argument.vector()?);
    }
    let first = vectors
        .first()
        .ok_or_else(|| LowerError::new("a map without a vector"))?;
    let length = first.length;
    for vector in &vectors[1..] {
        check_lengths(b, length, vector.length);
    }
    let element = lowerer.lambda_result(function.id)?;
    let lifted = build_with(b, strategy, &[length], &element, |b, index| {
        let mut arguments = Vec::with_capacity(vectors.len());
        for vector in &vectors {
            arguments.push(vector.at(b, index)?);
        }
        lowerer.inline(b, function.id, arguments)
    })?;
    Ok(values::with_extents(vec![length], lifted))
}

pub(super) fn imap(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    [function, x]: &[Argument; 2],
) -> Result<Vec<Atom>> {
    let x = x.vector()?;
    let index_type = first_parameter(lowerer, function)?;
    check_length_fits(b, x.length, index_type);
    let element = lowerer.lambda_result(function.id)?;
    let lifted = build(b, &[x.length], &element, |b, index| {
        let number = index_as(b, index[0], index_type);
        let value = x.at(b, index)?;
        lowerer.inline(b, function.id, vec![vec![number], value])
    })?;
    Ok(values::with_extents(vec![x.length], lifted))
}

pub(super) fn tabulate(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    [count, function]: &[Argument; 2],
) -> Result<Vec<Atom>> {
    let (count, index_type) = count.scalar()?;
    let length = check_count(b, count, index_type);
    let length = check_longest(b, length, index_type);
    let element = lowerer.lambda_result(function.id)?;
    let lifted = build(b, &[length], &element, |b, index| {
        let number = index_as(b, index[0], index_type);
        lowerer.inline(b, function.id, vec![vec![number]])
    })?;
    Ok(values::with_extents(vec![length], lifted))
}

/// Lowers `tabulate` of an array: an operation of as many dimensions over scalars, of one dimension
/// over vectors.
pub(super) fn tabulate_array(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    args: &[Argument],
) -> Result<Vec<Atom>> {
    let (function, counts) = args
        .split_last()
        .ok_or_else(|| LowerError::new("a tabulate without a function"))?;
    let mut extents = Vec::with_capacity(counts.len());
    let mut types = Vec::with_capacity(counts.len());
    for argument in counts {
        let (count, scalar) = argument.scalar()?;
        extents.push(check_count(b, count, scalar));
        types.push(scalar);
    }
    for (extent, ty) in extents.iter_mut().zip(&types) {
        *extent = check_longest(b, *extent, *ty);
    }
    check_product(b, &extents, &types)?;
    let element = lowerer.lambda_result(function.id)?;
    let numbers = |b: &mut Builder, index: &[Atom]| -> Vec<Vec<Atom>> {
        let pairs = index.iter().zip(&types);
        pairs.map(|(i, t)| vec![index_as(b, *i, *t)]).collect()
    };
    let lifted = if has_rows(&element, &b.output.sums) {
        let count = b.product(&extents);
        let flat = build(b, &[count], &element, |b, index| {
            let index = split_index(b, index[0], &extents);
            let numbers = numbers(b, &index);
            lowerer.inline(b, function.id, numbers)
        })?;
        values::reshape(b, &element, &flat, &extents)?
    } else {
        build(b, &extents, &element, |b, index| {
            let numbers = numbers(b, index);
            lowerer.inline(b, function.id, numbers)
        })?
    };
    Ok(values::with_extents(extents, lifted))
}

/// Returns the index in each dimension for a row-major index.
fn split_index(b: &mut Builder, index: Atom, extents: &[Atom]) -> Vec<Atom> {
    let mut rest = index;
    let mut split = Vec::with_capacity(extents.len());
    for extent in extents.iter().skip(1).rev() {
        let arguments = vec![rest, *extent];
        split.push(b.scalar(ScalarOperation::Remainder, Scalar::I64, arguments));
        rest = b.divide(rest, *extent);
    }
    split.push(rest);
    split.reverse();
    split
}

/// Fails with an out-of-memory error if the product of extents is too long. That of two `int`s
/// needs no check here, though no memory holds that many elements either.
pub(super) fn check_product(b: &mut Builder, extents: &[Atom], types: &[Scalar]) -> Result<()> {
    let mut bits = 0;
    for (extent, ty) in extents.iter().zip(types) {
        bits += match extent.as_i64() {
            Some(value) => 64 - value.leading_zeros(),
            None => ty.bits() - u32::from(ty.is_signed()),
        };
    }
    if bits < 63 {
        return Ok(());
    }
    let product = saturating_product(b, extents)?;
    let condition = b.compare(ScalarOperation::LessEqual, product, Atom::index(LONGEST));
    b.check(condition, ErrorKind::Memory, Vec::new());
    Ok(())
}

/// Returns the product of extents, none negative, or the largest `i64` on overflow.
pub(crate) fn saturating_product(b: &mut Builder, extents: &[Atom]) -> Result<Atom> {
    let mut product = Atom::index(1);
    for extent in extents {
        if product == Atom::index(1) {
            product = *extent;
            continue;
        }
        let (left, right) = (product, *extent);
        let positive = b.compare(ScalarOperation::Greater, right, Atom::index(0));
        product = b.select(
            Scalar::I64,
            positive,
            |b| {
                let most = b.divide(Atom::index(i64::MAX), right);
                let fits = b.compare(ScalarOperation::LessEqual, left, most);
                b.select(
                    Scalar::I64,
                    fits,
                    |b| Ok(b.multiply(left, right)),
                    |_| Ok(Atom::index(i64::MAX)),
                )
            },
            |_| Ok(Atom::index(0)),
        )?;
    }
    Ok(product)
}

/// Returns the type of a lambda's first parameter, a scalar.
fn first_parameter(lowerer: &Lowerer, function: &Argument) -> Result<Scalar> {
    let (parameters, _) = lowerer.lambda_parts(function.id)?;
    let first = parameters
        .first()
        .ok_or_else(|| LowerError::new("a lambda without parameters"))?;
    scalar_type(&lowerer.source.program.variable(*first).ty)
}

pub(super) fn zip(b: &mut Builder, [x, y]: &[Argument; 2]) -> Result<Vec<Atom>> {
    let (x, y) = (x.vector()?, y.vector()?);
    check_lengths(b, x.length, y.length);
    let second = values::reshape(b, &y.element, &y.lifted, &[x.length])?;
    let mut atoms = x.atoms();
    atoms.extend(second);
    Ok(atoms)
}
