//! `permute`, `gather` and `scatter`: moving elements to or from given indices.

use super::Argument;
use crate::builder::Lowerer;
use crate::error::Result;
use crate::join::Below;
use crate::values::{Vector, next, take};
use nova_core::{ErrorKind, Scalar, ScalarOperation, Type};
use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Expression, Level, Output, Positions, Type as FlatType, Variable,
};
use std::slice::Iter;

impl Lowerer<'_> {
    pub(super) fn gather(&mut self, [indices, x]: &[Argument; 2]) -> Result<Vec<Atom>> {
        let (indices, x) = (indices.vector()?, x.vector()?);
        let scalar = super::scalar_type(&indices.element)?;
        let lifted = self.gather_tops(&x.element, &x.lifted, indices.length, |b, k| {
            let index = b.index(indices.lifted[0], &[k])?;
            Ok(b.check_index(index, scalar, x.length))
        })?;
        let vector = Vector {
            length: indices.length,
            element: x.element,
            lifted,
        };
        Ok(vector.atoms())
    }

    /// The inverse permutation is scattered from the last index to the first, so that the first to
    /// name a place owns it; an index whose place has another owner is a duplicate.
    pub(super) fn permute(&mut self, [indices, x]: &[Argument; 2]) -> Result<Vec<Atom>> {
        let (indices, x) = (indices.vector()?, x.vector()?);
        let scalar = super::scalar_type(&indices.element)?;
        self.check_lengths(indices.length, x.length);
        let n = x.length;
        let owners = self.owners(&indices, scalar, n)?;
        self.for_each(n, |b, k| {
            let index = b.index(indices.lifted[0], &[k])?;
            let place = b.index_from(index, scalar);
            let condition = b.in_range(place, scalar, n);
            b.check(condition, ErrorKind::Permutation, vec![index]);
            let owner = b.index(owners, &[place])?;
            let condition = b.compare(ScalarOperation::Equal, owner, k);
            b.check(condition, ErrorKind::Permutation, vec![index]);
            Ok(())
        })?;
        let lifted = self.gather_tops(&x.element, &x.lifted, n, |b, k| b.index(owners, &[k]))?;
        let vector = Vector { lifted, ..x };
        Ok(vector.atoms())
    }

    /// For each place the first index that names it.
    fn owners(&mut self, indices: &Vector, scalar: Scalar, n: Atom) -> Result<Atom> {
        let expression = Expression::Replicate {
            shape: vec![n],
            value: Atom::index(0),
        };
        let ty = FlatType::Array(Scalar::I64, vec![n]);
        let destination = self.bind("none", ty, expression);
        let index = self.index_variable(0);
        let body = self.body(|b| {
            let last = b.subtract(n, Atom::index(1));
            let k = b.subtract(last, Atom::Variable(index));
            let place = b.index(indices.lifted[0], &[k])?;
            Ok(vec![b.index_from(place, scalar), k])
        })?;
        let operation = ArrayOperation {
            shape: vec![n],
            indices: vec![index],
            level: Level::Sequential,
            strategy: None,
            carries: Vec::new(),
            body,
            outputs: vec![Output::Scatter {
                destinations: vec![destination],
                positions: Positions::Given,
            }],
        };
        let operation = Expression::Operation(operation);
        Ok(self.bind_array("owner", Scalar::I64, vec![n], operation))
    }

    pub(super) fn scatter(
        &mut self,
        [destination, indices, x]: &[Argument; 3],
    ) -> Result<Vec<Atom>> {
        let (d, indices, x) = (destination.vector()?, indices.vector()?, x.vector()?);
        let scalar = super::scalar_type(&indices.element)?;
        self.check_lengths(indices.length, x.length);
        let mut merge = Merge::into(d.length);
        let (mut from, mut to) = (x.lifted.iter(), d.lifted.iter());
        self.merge_levels(&x.element, &mut from, &mut to, &mut merge)?;
        let mut destinations = Vec::new();
        let mut scalars = Vec::new();
        for (array, _, _) in &merge.tops {
            let (variable, element) = self.array(*array)?;
            destinations.push(variable);
            scalars.push(element);
        }
        let index = self.index_variable(0);
        let position = [Atom::Variable(index)];
        let body = self.body(|b| {
            let place = b.index(indices.lifted[0], &position)?;
            let mut results = vec![b.index_from(place, scalar)];
            for (_, source, shift) in &merge.tops {
                let value = b.index(*source, &position)?;
                results.push(b.add_to_rows(value, *shift));
            }
            Ok(results)
        })?;
        let mut pattern: Vec<Variable> = Vec::new();
        for element in scalars {
            let ty = FlatType::Array(element, vec![d.length]);
            pattern.push(self.output.add_variable("t", ty));
        }
        let operation = ArrayOperation {
            shape: vec![indices.length],
            indices: vec![index],
            level: Level::Sequential,
            strategy: None,
            carries: Vec::new(),
            body,
            outputs: vec![Output::Scatter {
                destinations,
                positions: Positions::Given,
            }],
        };
        let tops = Self::atoms(&pattern);
        self.emit(pattern, Expression::Operation(operation));
        let lifted = merge.with_tops(&tops)?;
        let vector = Vector { lifted, ..d };
        Ok(vector.atoms())
    }

    /// A value moved between levels: rows are shifted, other tops are not.
    pub(super) fn add_to_rows(&mut self, value: Atom, shift: Option<Atom>) -> Atom {
        match shift {
            Some(shift) => self.add(value, shift),
            None => value,
        }
    }

    /// Walks two lifted values of one type: their tops side by side, their levels below joined.
    pub(super) fn merge_levels(
        &mut self,
        ty: &Type,
        from: &mut Iter<Atom>,
        to: &mut Iter<Atom>,
        merge: &mut Merge,
    ) -> Result<()> {
        match ty {
            Type::Unit | Type::Function(..) => Ok(()),
            Type::Scalar(_) => merge.top(from, to, None),
            Type::Tuple(types) => types
                .iter()
                .try_for_each(|t| deep(|| self.merge_levels(t, from, to, merge))),
            Type::Sum(id) => {
                merge.top(from, to, None)?;
                let sum = self.output.sums[id.index()].clone();
                if sum.is_recursive() {
                    return Ok(());
                }
                let mut constructors = sum.constructors.iter();
                constructors
                    .try_for_each(|c| deep(|| self.merge_levels(&c.payload, from, to, merge)))
            }
            Type::Vector(inner) => self.merge_rows(inner, 0, 2, from, to, merge),
            Type::Array(rank, inner) => self.merge_rows(inner, *rank as usize, 1, from, to, merge),
        }
    }

    /// Rows: `extents` tops that stay, `offsets` ones that count into the level below.
    fn merge_rows(
        &mut self,
        inner: &Type,
        extents: usize,
        offsets: usize,
        from: &mut Iter<Atom>,
        to: &mut Iter<Atom>,
        merge: &mut Merge,
    ) -> Result<()> {
        let width = self.lifted_width(inner) + 1;
        let rows = extents + offsets;
        let below = |atoms: &mut Iter<Atom>| -> Result<(Vec<Atom>, Below)> {
            let tops = take(atoms, rows)?;
            let mut level = take(atoms, width)?;
            let length = level.remove(0);
            let lifted = level;
            Ok((tops, Below { length, lifted }))
        };
        let (sources, own) = below(from)?;
        let (mut destinations, mut other) = below(to)?;
        self.drop_waste(inner, extents, merge.length, &mut destinations, &mut other)?;
        let (joined, shifts) = self.join_below(inner, &[other, own])?;
        for (k, (source, destination)) in sources.into_iter().zip(destinations).enumerate() {
            let shift = (k >= extents).then_some(shifts[1]);
            merge.tops.push((destination, source, shift));
            merge.places.push(None);
        }
        merge.places.push(Some(joined.length));
        merge.places.extend(joined.lifted.into_iter().map(Some));
        Ok(())
    }
}

/// Two lifted values side by side.
pub(super) struct Merge {
    /// The length of the destination.
    length: Atom,
    /// For each top: the destination's, the source's, and what a source's row is shifted by.
    pub tops: Vec<(Atom, Atom, Option<Atom>)>,
    /// The components in order; `None` for a top.
    places: Vec<Option<Atom>>,
}

impl Merge {
    /// Into a destination of this length.
    pub fn into(length: Atom) -> Self {
        Merge {
            length,
            tops: Vec::new(),
            places: Vec::new(),
        }
    }

    fn top(
        &mut self,
        from: &mut Iter<Atom>,
        to: &mut Iter<Atom>,
        shift: Option<Atom>,
    ) -> Result<()> {
        let (source, destination) = (next(from)?, next(to)?);
        self.tops.push((destination, source, shift));
        self.places.push(None);
        Ok(())
    }

    /// The lifted components with these tops.
    pub fn with_tops(self, tops: &[Atom]) -> Result<Vec<Atom>> {
        let mut tops = tops.iter();
        let places = self.places.into_iter();
        places
            .map(|place| match place {
                Some(atom) => Ok(atom),
                None => next(&mut tops),
            })
            .collect()
    }
}
