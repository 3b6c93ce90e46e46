//! Values by their components: reading elements, slices and other views of lifted values.
//!
//! The *lifted* components of a type are its components for all indices of a shape in parallel
//! ([`nova_flat::representation`]). Those that have this shape are the *tops*: scalars, tags, links,
//! and the starts and ends of rows. Moving elements moves only the tops. The totals and the levels
//! below stay as they are.

use crate::builder::Builder;
use crate::error::{LowerError, Result};
use crate::facts::Fact;
use nova_core::{Scalar, ScalarValue, SumType, Type};
use nova_diag::deep;
use nova_flat::ir::{Atom, Expression, SliceDimension, View};
use nova_flat::representation;
use std::slice::Iter;
use std::sync::Arc;

/// A `vector`: its length and its lifted elements.
#[derive(Clone, Debug)]
pub(crate) struct Vector {
    pub length: Atom,
    pub element: Type,
    pub lifted: Vec<Atom>,
}

/// A `vector#n`, or a `vector` treated as one of rank 1.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub extents: Vec<Atom>,
    pub element: Type,
    pub lifted: Vec<Atom>,
}

/// Components lifted over a vector of this length.
#[derive(Clone)]
pub(crate) struct Part {
    pub length: Atom,
    pub lifted: Vec<Atom>,
}

/// The level below rows: its total and its lifted components.
pub(crate) type Below = Part;

impl Vector {
    /// Creates a vector from its type and components.
    pub fn new(ty: &Type, atoms: Vec<Atom>) -> Result<Vector> {
        let Type::Vector(element) = ty else {
            return Err(LowerError::new("a vector was expected"));
        };
        let (length, lifted) = atoms
            .split_first()
            .ok_or_else(|| LowerError::new("a vector without components"))?;
        Ok(Vector {
            length: *length,
            element: (**element).clone(),
            lifted: lifted.to_vec(),
        })
    }

    /// Returns the element at an index.
    pub fn at(&self, b: &mut Builder, index: &[Atom]) -> Result<Vec<Atom>> {
        element(b, &self.element, &self.lifted, index)
    }

    /// Returns its components.
    pub fn atoms(self) -> Vec<Atom> {
        with_extents(vec![self.length], self.lifted)
    }
}

impl Array {
    /// Creates an array from its type, a `vector#n` or `vector`, and components.
    pub fn new(ty: &Type, mut atoms: Vec<Atom>) -> Result<Array> {
        let Some((rank, element)) = ty.as_array() else {
            return Err(LowerError::new("an array was expected"));
        };
        let rank = rank as usize;
        if atoms.len() < rank {
            return Err(LowerError::new("an array without extents"));
        }
        let lifted = atoms.split_off(rank);
        Ok(Array {
            extents: atoms,
            element: element.clone(),
            lifted,
        })
    }

    /// Returns its components.
    pub fn atoms(self) -> Vec<Atom> {
        with_extents(self.extents, self.lifted)
    }
}

/// Returns the components of a vector or an array: the extents, then the lifted elements.
pub(crate) fn with_extents(extents: Vec<Atom>, lifted: Vec<Atom>) -> Vec<Atom> {
    [extents, lifted].concat()
}

/// A component of a type, or rows.
pub(crate) enum Leaf {
    /// A scalar, a tag or a link.
    Scalar(Scalar),
    /// The rows of a vector, by the type of their elements.
    Vector(Arc<Type>),
    /// The rows of arrays of this rank.
    Array(usize, Arc<Type>),
}

/// Returns the components of a type in order. Rows are one leaf each.
pub(crate) fn leaves(ty: &Type, sums: &[SumType]) -> Vec<Leaf> {
    let leaf = |leaf: representation::Leaf| match leaf.ty {
        Type::Scalar(scalar) => Leaf::Scalar(scalar),
        Type::Vector(inner) => Leaf::Vector(inner),
        Type::Array(rank, inner) => Leaf::Array(rank as usize, inner),
        // Of sums, only links are leaves.
        Type::Sum(_) | Type::Unit | Type::Tuple(_) | Type::Function(..) => {
            Leaf::Scalar(Scalar::I64)
        }
    };
    representation::leaves(ty, sums)
        .into_iter()
        .map(leaf)
        .collect()
}

/// True if a value of the type holds vectors (not counting those in nodes).
pub(crate) fn has_rows(ty: &Type, sums: &[SumType]) -> bool {
    let leaves = leaves(ty, sums);
    leaves.iter().any(|leaf| !matches!(leaf, Leaf::Scalar(_)))
}

/// Tells, for each lifted component of the type, whether it is a top.
pub(crate) fn tops(ty: &Type, sums: &[SumType]) -> Vec<bool> {
    let mut list = Vec::new();
    add_tops(ty, sums, true, &mut list);
    list
}

fn add_tops(ty: &Type, sums: &[SumType], top: bool, list: &mut Vec<bool>) {
    for leaf in leaves(ty, sums) {
        match leaf {
            Leaf::Scalar(_) => list.push(top),
            Leaf::Vector(element) => {
                list.extend([top, top, false]);
                deep(|| add_tops(&element, sums, false, list));
            }
            Leaf::Array(rank, element) => {
                list.extend(vec![top; rank]);
                list.extend([top, false]);
                deep(|| add_tops(&element, sums, false, list));
            }
        }
    }
}

/// Returns the next atom of a list of components.
pub(crate) fn next(atoms: &mut Iter<Atom>) -> Result<Atom> {
    atoms
        .next()
        .copied()
        .ok_or_else(|| LowerError::new("a value has too few components"))
}

/// Returns the next `count` atoms of a list of components.
pub(crate) fn take(atoms: &mut Iter<Atom>, count: usize) -> Result<Vec<Atom>> {
    let slice = atoms.as_slice();
    if slice.len() < count {
        return Err(LowerError::new("a value has too few components"));
    }
    let (taken, rest) = slice.split_at(count);
    *atoms = rest.iter();
    Ok(taken.to_vec())
}

/// Returns the number of lifted components of the type.
pub(crate) fn lifted_width(b: &Builder, ty: &Type) -> usize {
    tops(ty, &b.output.sums).len()
}

/// Returns the element at an index of lifted components.
pub(crate) fn element(
    b: &mut Builder,
    ty: &Type,
    lifted: &[Atom],
    index: &[Atom],
) -> Result<Vec<Atom>> {
    let descriptor = descriptor(b, ty, lifted, index)?;
    element_from(b, ty, lifted, &descriptor, index)
}

/// Returns the tops at an index.
pub(crate) fn descriptor(
    b: &mut Builder,
    ty: &Type,
    lifted: &[Atom],
    index: &[Atom],
) -> Result<Vec<Atom>> {
    let tops = tops(ty, &b.output.sums);
    let mut descriptor = Vec::new();
    for (top, atom) in tops.into_iter().zip(lifted) {
        if top {
            descriptor.push(b.index(*atom, index)?);
        }
    }
    Ok(descriptor)
}

/// Returns the element at `index`, whose tops are given.
pub(crate) fn element_from(
    b: &mut Builder,
    ty: &Type,
    lifted: &[Atom],
    descriptor: &[Atom],
    index: &[Atom],
) -> Result<Vec<Atom>> {
    let mut element = Vec::new();
    assemble(
        b,
        ty,
        &mut lifted.iter(),
        &mut descriptor.iter(),
        index,
        &mut element,
    )?;
    Ok(element)
}

fn assemble(
    b: &mut Builder,
    ty: &Type,
    lifted: &mut Iter<Atom>,
    descriptor: &mut Iter<Atom>,
    index: &[Atom],
    element: &mut Vec<Atom>,
) -> Result<()> {
    for leaf in leaves(ty, &b.output.sums) {
        match leaf {
            Leaf::Scalar(_) => {
                next(lifted)?;
                element.push(next(descriptor)?);
            }
            Leaf::Vector(inner) => {
                let starts = take(lifted, 3)?[0];
                let below = take(lifted, lifted_width(b, &inner))?;
                let (start, end) = (next(descriptor)?, next(descriptor)?);
                if let Some(row) = known_row(b, starts, &inner, index)? {
                    element.extend(row);
                    continue;
                }
                let length = b.subtract(end, start);
                element.push(length);
                element.extend(slice(b, &inner, &below, start, Atom::index(1), length)?);
            }
            Leaf::Array(rank, inner) => {
                let starts = take(lifted, rank + 2)?[rank];
                let below = take(lifted, lifted_width(b, &inner))?;
                let extents = take(descriptor, rank)?;
                let start = next(descriptor)?;
                if let Some(row) = known_row(b, starts, &inner, index)? {
                    element.extend(row);
                    continue;
                }
                let count = b.product(&extents);
                let flat = slice(b, &inner, &below, start, Atom::index(1), count)?;
                let shaped = reshape(b, &inner, &flat, &extents)?;
                element.extend(extents);
                element.extend(shaped);
            }
        }
    }
    Ok(())
}

/// Returns the row at `index` if a fact gives it.
fn known_row(
    b: &mut Builder,
    starts: Atom,
    inner: &Type,
    index: &[Atom],
) -> Result<Option<Vec<Atom>>> {
    match (b.fact(starts), index) {
        (Some(Fact::Rows(atoms)), [_]) => {
            let width = lifted_width(b, inner);
            let (extents, lifted) = atoms.split_at(atoms.len() - width);
            let mut row = extents[1..].to_vec();
            row.extend(view(b, inner, lifted, &extents[1..], |_| {
                Ok(View::Row(index.to_vec()))
            })?);
            Ok(Some(row))
        }
        (Some(Fact::Constant(atoms)), _) => Ok(Some(atoms.to_vec())),
        (Some(Fact::Dense | Fact::Rows(_) | Fact::Uniform(_)) | None, _) => Ok(None),
    }
}

/// Returns a view of every top, with the extents that it then has.
pub(crate) fn view(
    b: &mut Builder,
    ty: &Type,
    lifted: &[Atom],
    extents: &[Atom],
    view: impl Fn(usize) -> Result<View>,
) -> Result<Vec<Atom>> {
    map_tops(b, ty, lifted, |b, atom| {
        let (array, scalar) = b.array(atom)?;
        let expression = Expression::View {
            array,
            view: view(extents.len())?,
        };
        Ok(b.bind_array("t", scalar, extents.to_vec(), expression))
    })
}

/// Maps the tops. All other components stay.
pub(crate) fn map_tops(
    b: &mut Builder,
    ty: &Type,
    lifted: &[Atom],
    mut map: impl FnMut(&mut Builder, Atom) -> Result<Atom>,
) -> Result<Vec<Atom>> {
    let tops = tops(ty, &b.output.sums);
    let mut mapped = Vec::with_capacity(lifted.len());
    for (top, atom) in tops.into_iter().zip(lifted) {
        mapped.push(if top { map(b, *atom)? } else { *atom });
    }
    Ok(mapped)
}

/// Returns `count` elements from `start` by `step` of components lifted over a vector.
pub(crate) fn slice(
    b: &mut Builder,
    ty: &Type,
    lifted: &[Atom],
    start: Atom,
    step: Atom,
    count: Atom,
) -> Result<Vec<Atom>> {
    let dimension = SliceDimension { start, step, count };
    view(b, ty, lifted, &[count], |_| {
        Ok(View::Slice(vec![dimension]))
    })
}

/// Returns the same elements in row-major order with other extents. Tops that already have them
/// stay.
pub(crate) fn reshape(
    b: &mut Builder,
    ty: &Type,
    lifted: &[Atom],
    extents: &[Atom],
) -> Result<Vec<Atom>> {
    map_tops(b, ty, lifted, |b, atom| {
        let (array, scalar) = b.array(atom)?;
        if let nova_flat::ir::Type::Array(_, have) = b.output.ty(array)
            && have == extents
        {
            return Ok(atom);
        }
        let view = View::Reshape(extents.to_vec());
        let expression = Expression::View { array, view };
        Ok(b.bind_array("t", scalar, extents.to_vec(), expression))
    })
}

/// Returns the value of a type with zeros and no elements, for a payload that is not active.
pub(crate) fn zero(b: &mut Builder, ty: &Type) -> Vec<Atom> {
    let list = b.components(ty);
    let mut atoms: Vec<Atom> = Vec::with_capacity(list.len());
    for component in list.iter() {
        let scalar = component.scalar;
        atoms.push(match component.shape.len() {
            0 => Atom::Constant(ScalarValue::from_integer_wrapping(scalar, 0)),
            rank => empty(b, scalar, rank),
        });
    }
    atoms
}

/// Returns the elements of a vector without elements.
pub(crate) fn empty_lifted(b: &mut Builder, ty: &Type) -> Vec<Atom> {
    let whole = Type::vector(ty.clone());
    zero(b, &whole)[1..].to_vec()
}

fn empty(b: &mut Builder, scalar: Scalar, rank: usize) -> Atom {
    let shape = vec![Atom::index(0); rank];
    let expression = match rank {
        1 => Expression::Literal {
            element: scalar,
            elements: Vec::new(),
        },
        _ => Expression::Replicate {
            shape: shape.clone(),
            value: Atom::Constant(ScalarValue::from_integer_wrapping(scalar, 0)),
        },
    };
    b.bind_array("empty", scalar, shape, expression)
}
