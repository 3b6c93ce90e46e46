//! `histogram` and `count`. Over values without vectors they are an output of an operation. So they are where the
//! operator combines vectors element by element: each of their elements has a bin of its own. Otherwise the elements
//! are sorted by bin and each bin is folded in order.

use super::argument::{Argument, scalar_type};
use super::by_elements::{Bins, combine_by_elements};
use super::operators::{only_scalars, operator};
use super::reductions::carry;
use super::selection::sorting_permutation;
use crate::build::build;
use crate::builder::{Builder, atoms, operation};
use crate::error::{LowerError, Result};
use crate::lowerer::Lowerer;
use crate::rows;
use crate::scalars::{
    check_count, check_length_fits, check_lengths, check_longest, index_from, literal_of,
};
use crate::values::{self, Vector};
use nova_core::{Scalar, ScalarOperation, Type};
use nova_flat::ir::{Atom, Output, Type as FlatType, Variable};

pub(super) fn histogram(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    [function, start, bins, indices, x]: &[Argument; 5],
) -> Result<Vec<Atom>> {
    let (bins, scalar) = bins.scalar()?;
    let bins = check_count(b, bins, scalar);
    let bins = check_longest(b, bins, scalar);
    let (indices, x) = (indices.vector()?, x.vector()?);
    check_lengths(b, indices.length, x.length);
    let Some(scalars) = only_scalars(b, &start.ty) else {
        let bins = Bins {
            count: bins,
            index_type: scalar_type(&indices.element)?,
            indices,
        };
        return match combine_by_elements(b, lowerer, function, start, Some(&bins), &x)? {
            Some(combined) => Ok(combined),
            None => in_order(b, lowerer, function, start, &bins, &x),
        };
    };
    let index_type = scalar_type(&indices.element)?;
    let index = b.index_variable(0);
    let position = [Atom::Variable(index)];
    let body = b.body(|b| {
        let bin = b.index(indices.lifted[0], &position)?;
        let mut results = vec![index_from(b, bin, index_type)];
        results.extend(x.at(b, &position)?);
        Ok(results)
    })?;
    let lambda = operator(b, lowerer, function, &scalars)?;
    let output = Output::Histogram {
        lambda,
        start: start.atoms.clone(),
        bins,
        guarded: false,
    };
    let operation = operation(vec![indices.length], vec![index], body, vec![output]);
    let mut pattern: Vec<Variable> = Vec::with_capacity(scalars.len());
    for scalar in scalars {
        pattern.push(b.array_variable("bins", scalar, vec![bins]));
    }
    let lifted = atoms(&pattern);
    b.emit(pattern, operation);
    Ok(values::with_extents(vec![bins], lifted))
}

/// Lowers a histogram of ones. The sums cannot overflow: the length of the indices fits their type.
pub(super) fn count_indices(
    b: &mut Builder,
    [bins, indices]: &[Argument; 2],
    ty: &Type,
) -> Result<Vec<Atom>> {
    let (bins, scalar) = bins.scalar()?;
    let bins = check_count(b, bins, scalar);
    let bins = check_longest(b, bins, scalar);
    let Type::Vector(element) = ty else {
        return Err(LowerError::new("counts that are no vector"));
    };
    let counted = scalar_type(element)?;
    let indices = indices.vector()?;
    check_length_fits(b, indices.length, counted);
    let index_type = scalar_type(&indices.element)?;
    let counts = occurrences(b, (indices.length, bins), counted, |b, k| {
        let bin = b.index(indices.lifted[0], &[k])?;
        Ok(index_from(b, bin, index_type))
    })?;
    Ok(vec![bins, counts])
}

/// Lowers any histogram: sorts the values by their bins, and folds those of each bin in order.
fn in_order(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    function: &Argument,
    start: &Argument,
    bins: &Bins,
    x: &Vector,
) -> Result<Vec<Atom>> {
    let (n, count) = (x.length, bins.count);
    // Elements outside of the bins sort after the last bin.
    let bins_of = b.map_scalar("places", n, Scalar::I64, |b, k| {
        let (index, inside) = bins.at(b, k)?;
        b.select(Scalar::I64, inside, |_| Ok(index), |_| Ok(count))
    })?;
    let order = sorting_permutation(b, n, |b, left, right| {
        let left = b.index(bins_of, &[left])?;
        let right = b.index(bins_of, &[right])?;
        Ok(b.compare(ScalarOperation::LessEqual, left, right))
    })?;
    let counts = occurrences(b, (n, count), Scalar::I64, |b, k| b.index(bins_of, &[k]))?;
    let (starts, ends) = rows::offsets(b, count, counts)?;
    let lifted = build(b, &[count], &start.ty, |b, bin| {
        let first = b.index(starts, bin)?;
        let last = b.index(ends, bin)?;
        let count = b.subtract(last, first);
        carry(
            b,
            None,
            count,
            (&start.ty, start.atoms.clone()),
            |b, k, state| {
                let at = b.add(first, k);
                let position = b.index(order, &[at])?;
                let value = x.at(b, &[position])?;
                lowerer.inline(b, function.id, vec![state, value])
            },
        )
    })?;
    Ok(values::with_extents(vec![count], lifted))
}

/// Counts the occurrences of each bin among `n` indices, in a type that holds `n`.
fn occurrences(
    b: &mut Builder,
    (n, bins): (Atom, Atom),
    scalar: Scalar,
    bin: impl FnOnce(&mut Builder, Atom) -> Result<Atom>,
) -> Result<Atom> {
    let index = b.index_variable(0);
    let one = literal_of(scalar, 1);
    let body = b.body(|b| Ok(vec![bin(b, Atom::Variable(index))?, one]))?;
    let lambda = b.lambda(&[scalar, scalar], |b, p| {
        Ok(vec![b.scalar(ScalarOperation::Add, scalar, p.to_vec())])
    })?;
    let output = Output::Histogram {
        lambda,
        start: vec![literal_of(scalar, 0)],
        bins,
        guarded: false,
    };
    let operation = operation(vec![n], vec![index], body, vec![output]);
    let ty = FlatType::Array(scalar, vec![bins]);
    Ok(Atom::Variable(b.bind("counts", ty, operation)))
}
