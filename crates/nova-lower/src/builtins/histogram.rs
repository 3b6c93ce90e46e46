//! `histogram`: an output of an operation over values without vectors; otherwise the elements are
//! sorted by bin and each bin is folded in order.

use super::{Argument, scalar_type};
use crate::builder::Lowerer;
use crate::error::Result;
use crate::values::Vector;
use nova_core::{Scalar, ScalarOperation};
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
        let place_type = scalar_type(&indices.element)?;
        let index = self.index_variable(0);
        let position = [Atom::Variable(index)];
        let body = self.body(|b| {
            let place = b.index(indices.lifted[0], &position)?;
            let mut results = vec![b.index_from(place, place_type)];
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

    fn histogram_in_order(
        &mut self,
        function: &Argument,
        start: &Argument,
        bins: Atom,
        indices: &Vector,
        x: &Vector,
    ) -> Result<Vec<Atom>> {
        let place_type = scalar_type(&indices.element)?;
        let n = indices.length;
        // Elements outside go behind the last bin.
        let places = self.map_scalar("places", n, Scalar::I64, |b, k| {
            let place = b.index(indices.lifted[0], &[k])?;
            let index = b.index_from(place, place_type);
            let inside = b.in_range(index, place_type, bins);
            b.select(Scalar::I64, inside, |_| Ok(index), |_| Ok(bins))
        })?;
        let order = self.sorting_permutation(n, |b, left, right| {
            let left = b.index(places, &[left])?;
            let right = b.index(places, &[right])?;
            Ok(b.compare(ScalarOperation::LessEqual, left, right))
        })?;
        let counts = self.bin_counts(n, places, bins)?;
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

    /// How many of the places name each bin.
    fn bin_counts(&mut self, n: Atom, places: Atom, bins: Atom) -> Result<Atom> {
        let index = self.index_variable(0);
        let body = self.body(|b| {
            let place = b.index(places, &[Atom::Variable(index)])?;
            Ok(vec![place, Atom::index(1)])
        })?;
        let lambda = self.lambda(&[Scalar::I64, Scalar::I64], |b, p| {
            Ok(vec![b.add(p[0], p[1])])
        })?;
        let output = Output::Histogram {
            lambda,
            start: vec![Atom::index(0)],
            bins,
        };
        let operation = self.over(n, index, body, output);
        let ty = FlatType::Array(Scalar::I64, vec![bins]);
        Ok(Atom::Variable(self.bind("counts", ty, operation)))
    }
}
