//! `histogram` and `count`. Over values without vectors they are an output of an operation. Otherwise
//! the elements are sorted by bin and each bin is folded in order.

use super::{Argument, scalar_type};
use crate::builder::Lowerer;
use crate::error::{LowerError, Result};
use crate::values::Vector;
use nova_core::{Scalar, ScalarOperation, Type};
use nova_flat::ir::{Atom, Output, Type as FlatType, Variable};

impl Lowerer<'_> {
    pub(super) fn histogram(
        &mut self,
        [function, start, bins, indices, x]: &[Argument; 5],
    ) -> Result<Vec<Atom>> {
        let (bins, scalar) = bins.scalar()?;
        let bins = self.check_count(bins, scalar);
        let bins = self.check_longest(bins, scalar);
        let (indices, x) = (indices.vector()?, x.vector()?);
        self.check_lengths(indices.length, x.length);
        let Some(scalars) = self.only_scalars(&start.ty) else {
            return self.histogram_in_order(function, start, bins, &indices, &x);
        };
        let index_type = scalar_type(&indices.element)?;
        let index = self.index_variable(0);
        let position = [Atom::Variable(index)];
        let body = self.body(|b| {
            let bin = b.index(indices.lifted[0], &position)?;
            let mut results = vec![b.index_from(bin, index_type)];
            results.extend(b.element(&x.element, &x.lifted, &position)?);
            Ok(results)
        })?;
        let lambda = self.operator(function, &scalars)?;
        let output = Output::Histogram {
            lambda,
            start: start.atoms.clone(),
            bins,
        };
        let operation = self.over(indices.length, index, body, output);
        let mut pattern: Vec<Variable> = Vec::with_capacity(scalars.len());
        for scalar in scalars {
            let ty = FlatType::Array(scalar, vec![bins]);
            pattern.push(self.output.add_variable("bins", ty));
        }
        let lifted = Self::atoms(&pattern);
        self.emit(pattern, operation);
        let vector = Vector {
            length: bins,
            element: x.element,
            lifted,
        };
        Ok(vector.atoms())
    }

    /// Lowers a histogram of ones. The sums cannot overflow: the length of the indices fits their type.
    pub(super) fn count_indices(
        &mut self,
        [bins, indices]: &[Argument; 2],
        ty: &Type,
    ) -> Result<Vec<Atom>> {
        let (bins, scalar) = bins.scalar()?;
        let bins = self.check_count(bins, scalar);
        let bins = self.check_longest(bins, scalar);
        let Type::Vector(element) = ty else {
            return Err(LowerError::new("counts that are no vector"));
        };
        let counted = scalar_type(element)?;
        let indices = indices.vector()?;
        self.check_length_fits(indices.length, counted);
        let index_type = scalar_type(&indices.element)?;
        let counts = self.occurrences((indices.length, bins), counted, |b, k| {
            let bin = b.index(indices.lifted[0], &[k])?;
            Ok(b.index_from(bin, index_type))
        })?;
        Ok(vec![bins, counts])
    }

    fn histogram_in_order(
        &mut self,
        function: &Argument,
        start: &Argument,
        bins: Atom,
        indices: &Vector,
        x: &Vector,
    ) -> Result<Vec<Atom>> {
        let index_type = scalar_type(&indices.element)?;
        let n = indices.length;
        // Elements outside of the bins sort after the last bin.
        let bins_of = self.map_scalar("places", n, Scalar::I64, |b, k| {
            let bin = b.index(indices.lifted[0], &[k])?;
            let index = b.index_from(bin, index_type);
            let inside = b.in_range(index, index_type, bins);
            b.select(Scalar::I64, inside, |_| Ok(index), |_| Ok(bins))
        })?;
        let order = self.sorting_permutation(n, |b, left, right| {
            let left = b.index(bins_of, &[left])?;
            let right = b.index(bins_of, &[right])?;
            Ok(b.compare(ScalarOperation::LessEqual, left, right))
        })?;
        let counts = self.occurrences((n, bins), Scalar::I64, |b, k| b.index(bins_of, &[k]))?;
        let (starts, ends) = self.offsets(bins, counts)?;
        let lifted = self.build(&[bins], &start.ty, |b, bin| {
            let first = b.index(starts, bin)?;
            let last = b.index(ends, bin)?;
            let count = b.subtract(last, first);
            b.carry(
                None,
                count,
                (&start.ty, start.atoms.clone()),
                |b, k, state| {
                    let at = b.add(first, k);
                    let position = b.index(order, &[at])?;
                    let value = b.element(&x.element, &x.lifted, &[position])?;
                    b.inline(function.id, vec![state, value])
                },
            )
        })?;
        let vector = Vector {
            length: bins,
            element: x.element.clone(),
            lifted,
        };
        Ok(vector.atoms())
    }

    /// Counts the occurrences of each bin among `n` indices, in a type that holds `n`.
    fn occurrences(
        &mut self,
        (n, bins): (Atom, Atom),
        scalar: Scalar,
        bin: impl FnOnce(&mut Self, Atom) -> Result<Atom>,
    ) -> Result<Atom> {
        let index = self.index_variable(0);
        let one = Self::literal_of(scalar, 1);
        let body = self.body(|b| Ok(vec![bin(b, Atom::Variable(index))?, one]))?;
        let lambda = self.lambda(&[scalar, scalar], |b, p| {
            Ok(vec![b.scalar(ScalarOperation::Add, scalar, p.to_vec())])
        })?;
        let output = Output::Histogram {
            lambda,
            start: vec![Self::literal_of(scalar, 0)],
            bins,
        };
        let operation = self.over(n, index, body, output);
        let ty = FlatType::Array(scalar, vec![bins]);
        Ok(Atom::Variable(self.bind("counts", ty, operation)))
    }
}
