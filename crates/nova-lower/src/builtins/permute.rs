//! `permute`, `gather` and `scatter`: moving elements to or from given indices.

use super::argument::{Argument, scalar_type};
use super::selection::gather_tops;
use crate::builder::{Builder, atoms, operation};
use crate::dead_rows::compact_dead_rows;
use crate::error::Result;
use crate::join::join_below;
use crate::rows;
use crate::scalars::{check_index, check_lengths, in_range, index_from};
use crate::values::{self, Below, Leaf, Vector, leaves, lifted_width, next, take};
use nova_core::{ErrorKind, Scalar, ScalarOperation, ScalarValue, Type};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Output, Positions, Type as FlatType, Variable,
};
use std::slice::Iter;

pub(super) fn gather(b: &mut Builder, [indices, x]: &[Argument; 2]) -> Result<Vec<Atom>> {
    let (indices, x) = (indices.vector()?, x.vector()?);
    let scalar = scalar_type(&indices.element)?;
    let lifted = gather_tops(b, &x.element, &x.lifted, indices.length, |b, k| {
        let index = b.index(indices.lifted[0], &[k])?;
        Ok(check_index(b, index, scalar, x.length))
    })?;
    Ok(values::with_extents(vec![indices.length], lifted))
}

/// Stores each element at its index, in any order. All indices of the result are taken if and only
/// if the indices are a permutation. Otherwise a loop in order finds the first wrong index.
pub(super) fn permute(b: &mut Builder, [indices, x]: &[Argument; 2]) -> Result<Vec<Atom>> {
    let (indices, x) = (indices.vector()?, x.vector()?);
    let scalar = scalar_type(&indices.element)?;
    check_lengths(b, indices.length, x.length);
    let n = x.length;
    let taken = b.array_variable("taken", Scalar::Bool, vec![n]);
    let mut destinations = vec![everywhere(b, "free", n, ScalarValue::Bool(false))];
    let mut pattern = vec![taken];
    let lifted = values::map_tops(b, &x.element, &x.lifted, |b, atom| {
        let (_, scalar) = b.array(atom)?;
        let zero = ScalarValue::from_integer_wrapping(scalar, 0);
        destinations.push(everywhere(b, "none", n, zero));
        let moved = b.array_variable("t", scalar, vec![n]);
        pattern.push(moved);
        Ok(Atom::Variable(moved))
    })?;
    let index = b.index_variable(0);
    let k = Atom::Variable(index);
    let body = b.body(|b| {
        let index = b.index(indices.lifted[0], &[k])?;
        let place = index_from(b, index, scalar);
        let mut results = vec![place, Atom::Constant(ScalarValue::Bool(true))];
        results.extend(values::descriptor(b, &x.element, &x.lifted, &[k])?);
        Ok(results)
    })?;
    let operation = operation(
        vec![n],
        vec![index],
        body,
        vec![Output::Scatter {
            destinations,
            positions: Positions::Unordered,
        }],
    );
    b.emit(pattern, operation);
    let taken_count = rows::add_up(b, "places", n, |b, place| {
        let is_taken = b.index(Atom::Variable(taken), &[place])?;
        b.select(
            Scalar::I64,
            is_taken,
            |_| Ok(Atom::index(1)),
            |_| Ok(Atom::index(0)),
        )
    })?;
    let condition = b.compare(ScalarOperation::Equal, taken_count, n);
    let otherwise = b.body(|b| find_wrong(b, &indices, scalar))?;
    let choice = Expression::If {
        condition,
        then: Body::default(),
        otherwise,
    };
    b.emit(Vec::new(), choice);
    Ok(values::with_extents(vec![x.length], lifted))
}

/// Fails with the first index that is out of range or a duplicate.
fn find_wrong(b: &mut Builder, indices: &Vector, scalar: Scalar) -> Result<Vec<Atom>> {
    let n = indices.length;
    let start = everywhere(b, "free", n, ScalarValue::Bool(true));
    let [free, left] = ["free", "left"].map(|name| {
        let ty = FlatType::Array(Scalar::Bool, vec![n]);
        b.output.add_variable(name, ty)
    });
    let index = b.index_variable(0);
    let k = Atom::Variable(index);
    let body = b.body(|b| {
        let index = b.index(indices.lifted[0], &[k])?;
        let place = index_from(b, index, scalar);
        let condition = in_range(b, place, scalar, n);
        b.check(condition, ErrorKind::Permutation, vec![index]);
        let is_free = b.index(Atom::Variable(free), &[place])?;
        b.check(is_free, ErrorKind::Permutation, vec![index]);
        let expression = Expression::Update {
            array: free,
            indices: vec![place],
            value: Atom::Constant(ScalarValue::Bool(false)),
        };
        let next = b.bind_array("free", Scalar::Bool, vec![n], expression);
        Ok(vec![next])
    })?;
    let operation = ArrayOperation {
        shape: vec![n],
        indices: vec![index],
        level: Level::Sequential,
        strategy: None,
        carries: vec![(free, Atom::Variable(start))],
        body,
        outputs: Vec::new(),
    };
    b.emit(vec![left], Expression::Operation(operation));
    Ok(Vec::new())
}

/// Returns an array of one value.
fn everywhere(b: &mut Builder, name: &str, count: Atom, value: ScalarValue) -> Variable {
    let ty = FlatType::Array(value.scalar(), vec![count]);
    let expression = Expression::Replicate {
        shape: vec![count],
        value: Atom::Constant(value),
    };
    b.bind(name, ty, expression)
}

pub(super) fn scatter(
    b: &mut Builder,
    [destination, indices, x]: &[Argument; 3],
) -> Result<Vec<Atom>> {
    let (d, indices, x) = (destination.vector()?, indices.vector()?, x.vector()?);
    let scalar = scalar_type(&indices.element)?;
    check_lengths(b, indices.length, x.length);
    let mut merge = Merge::into(d.length);
    let (mut from, mut to) = (x.lifted.iter(), d.lifted.iter());
    merge_levels(b, &x.element, &mut from, &mut to, &mut merge)?;
    let mut destinations = Vec::new();
    let mut scalars = Vec::new();
    for (array, _, _) in &merge.tops {
        let (variable, element) = b.array(*array)?;
        destinations.push(variable);
        scalars.push(element);
    }
    let index = b.index_variable(0);
    let position = [Atom::Variable(index)];
    let body = b.body(|b| {
        let place = b.index(indices.lifted[0], &position)?;
        let mut results = vec![index_from(b, place, scalar)];
        results.extend(merge.moved(b, &position)?);
        Ok(results)
    })?;
    let mut pattern: Vec<Variable> = Vec::new();
    for element in scalars {
        pattern.push(b.array_variable("t", element, vec![d.length]));
    }
    let operation = operation(
        vec![indices.length],
        vec![index],
        body,
        vec![Output::Scatter {
            destinations,
            positions: Positions::Given,
        }],
    );
    let tops = atoms(&pattern);
    b.emit(pattern, operation);
    let lifted = merge.with_tops(&tops)?;
    Ok(values::with_extents(vec![d.length], lifted))
}

/// Walks two lifted values of one type: pairs their tops, and joins the levels below.
pub(super) fn merge_levels(
    b: &mut Builder,
    ty: &Type,
    from: &mut Iter<Atom>,
    to: &mut Iter<Atom>,
    merge: &mut Merge,
) -> Result<()> {
    for leaf in leaves(ty, &b.output.sums) {
        match leaf {
            Leaf::Scalar(_) => merge.top(from, to, None)?,
            Leaf::Vector(inner) => merge_rows(b, &inner, 0, 2, from, to, merge)?,
            Leaf::Array(rank, inner) => merge_rows(b, &inner, rank, 1, from, to, merge)?,
        }
    }
    Ok(())
}

/// Walks rows: `extents` tops that stay, and `offsets` tops that are indices into the level below.
fn merge_rows(
    b: &mut Builder,
    inner: &Type,
    extents: usize,
    offsets: usize,
    from: &mut Iter<Atom>,
    to: &mut Iter<Atom>,
    merge: &mut Merge,
) -> Result<()> {
    let width = lifted_width(b, inner) + 1;
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
    compact_dead_rows(
        b,
        inner,
        extents,
        merge.length,
        &mut destinations,
        &mut other,
    )?;
    let (joined, shifts) = join_below(b, inner, &[other, own])?;
    for (k, (source, destination)) in sources.into_iter().zip(destinations).enumerate() {
        let shift = (k >= extents).then_some(shifts[1]);
        merge.tops.push((destination, source, shift));
        merge.components.push(None);
    }
    merge.components.push(Some(joined.length));
    merge.components.extend(joined.lifted.into_iter().map(Some));
    Ok(())
}

/// Two lifted values of one type, whose tops are paired.
pub(super) struct Merge {
    /// The length of the destination.
    length: Atom,
    /// For each top: that of the destination, that of the source, and the shift of the rows of the
    /// source.
    pub tops: Vec<(Atom, Atom, Option<Atom>)>,
    /// The components in order, or `None` for a top.
    components: Vec<Option<Atom>>,
}

impl Merge {
    /// Creates a merge into a destination of this length.
    pub fn into(length: Atom) -> Self {
        Merge {
            length,
            tops: Vec::new(),
            components: Vec::new(),
        }
    }

    /// Returns the elements of the source's tops at a position. Rows are shifted.
    pub fn moved(&self, b: &mut Builder, position: &[Atom]) -> Result<Vec<Atom>> {
        let tops = self.tops.iter().map(|(_, source, shift)| {
            let value = b.index(*source, position)?;
            Ok(shift.map_or(value, |shift| b.add(value, shift)))
        });
        tops.collect()
    }

    fn top(
        &mut self,
        from: &mut Iter<Atom>,
        to: &mut Iter<Atom>,
        shift: Option<Atom>,
    ) -> Result<()> {
        let (source, destination) = (next(from)?, next(to)?);
        self.tops.push((destination, source, shift));
        self.components.push(None);
        Ok(())
    }

    /// Returns the lifted components with these tops.
    pub fn with_tops(self, tops: &[Atom]) -> Result<Vec<Atom>> {
        let mut tops = tops.iter();
        let components = self.components.into_iter();
        components
            .map(|component| match component {
                Some(atom) => Ok(atom),
                None => next(&mut tops),
            })
            .collect()
    }
}
