//! Combination of values: literals, concatenation, and replacing elements.
//!
//! Rows of different vectors lie in different data. To become rows of one vector, the data are
//! concatenated and the later rows are shifted. If the data are already the same, nothing below the
//! tops moves.

use crate::builder::Lowerer;
use crate::error::Result;
use crate::facts::Fact;
use crate::values::{next, take};
use nova_core::{Scalar, Type};
use nova_diag::deep;
use nova_flat::ir::{Atom, Expression};
use std::rc::Rc;
use std::slice::Iter;

/// Components lifted over a vector of this length.
#[derive(Clone)]
pub(crate) struct Part {
    pub length: Atom,
    pub lifted: Vec<Atom>,
}

/// The level below rows: its total and its lifted components.
pub(crate) type Below = Part;

/// The state of a concatenation.
struct Concatenation<'a> {
    /// The lengths of the parts.
    lengths: Vec<Atom>,
    /// Their sum.
    count: Atom,
    /// The remaining components of each part.
    parts: Vec<Iter<'a, Atom>>,
    /// The components that are done.
    lifted: Vec<Atom>,
}

impl Lowerer<'_> {
    /// Returns the concatenation of parts. `count` is the sum of their lengths.
    pub fn concat(&mut self, ty: &Type, parts: &[Part], count: Atom) -> Result<Vec<Atom>> {
        if let [part] = parts {
            return Ok(part.lifted.clone());
        }
        let mut joint = Concatenation {
            lengths: parts.iter().map(|p| p.length).collect(),
            count,
            parts: parts.iter().map(|p| p.lifted.iter()).collect(),
            lifted: Vec::new(),
        };
        self.concat_into(ty, &mut joint)?;
        Ok(joint.lifted)
    }

    fn concat_into(&mut self, ty: &Type, joint: &mut Concatenation) -> Result<()> {
        match ty {
            Type::Unit | Type::Function(..) => Ok(()),
            Type::Scalar(_) => self.concat_next(joint),
            Type::Tuple(types) => types
                .iter()
                .try_for_each(|t| deep(|| self.concat_into(t, joint))),
            Type::Sum(id) => {
                self.concat_next(joint)?;
                let sum = self.output.sums[id.index()].clone();
                if sum.is_recursive() {
                    return Ok(());
                }
                sum.constructors
                    .iter()
                    .try_for_each(|c| deep(|| self.concat_into(&c.payload, joint)))
            }
            Type::Vector(inner) => self.concat_rows(inner, 0, 2, joint),
            Type::Array(rank, inner) => self.concat_rows(inner, *rank as usize, 1, joint),
        }
    }

    /// Concatenates the next array of every part.
    fn concat_next(&mut self, joint: &mut Concatenation) -> Result<()> {
        let arrays = next_of_all(&mut joint.parts)?;
        let joined = self.concat_arrays(&arrays, joint.count)?;
        joint.lifted.push(joined);
        Ok(())
    }

    /// Concatenates rows: `extents` arrays that stay as they are, then `offsets` arrays that count from
    /// the start of the level below (starts, ends).
    fn concat_rows(
        &mut self,
        inner: &Type,
        extents: usize,
        offsets: usize,
        joint: &mut Concatenation,
    ) -> Result<()> {
        let mut tops = vec![Vec::new(); extents + offsets];
        for list in &mut tops {
            *list = next_of_all(&mut joint.parts)?;
        }
        let width = self.lifted_width(inner);
        let mut belows = Vec::with_capacity(joint.parts.len());
        for part in &mut joint.parts {
            belows.push(Below {
                length: next(part)?,
                lifted: take(part, width)?,
            });
        }
        let same = same_below(&belows);
        let dense = tops[extents].iter().all(|starts| self.is_dense(*starts));
        if !same {
            for (k, below) in belows.iter_mut().enumerate() {
                let mut own: Vec<Atom> = tops.iter().map(|list| list[k]).collect();
                self.compact_dead_rows(inner, extents, joint.lengths[k], &mut own, below)?;
                for (list, atom) in tops.iter_mut().zip(own) {
                    list[k] = atom;
                }
            }
        }
        let (below, shifts) = self.join_below(inner, &belows)?;
        for (k, mut arrays) in tops.into_iter().enumerate() {
            if k >= extents {
                for ((array, length), shift) in arrays.iter_mut().zip(&joint.lengths).zip(&shifts) {
                    *array = self.shift(*array, *length, *shift)?;
                }
            }
            let joined = self.concat_arrays(&arrays, joint.count)?;
            if k == extents && dense && !same {
                self.note(joined, Fact::Dense);
            }
            joint.lifted.push(joined);
        }
        joint.lifted.push(below.length);
        joint.lifted.extend(below.lifted);
        Ok(())
    }

    /// Joins several levels into one. Returns it with the number to add to the rows of each.
    pub fn join_below(&mut self, ty: &Type, belows: &[Below]) -> Result<(Below, Vec<Atom>)> {
        if let Some(first) = belows.first()
            && same_below(belows)
        {
            return Ok((first.clone(), vec![Atom::index(0); belows.len()]));
        }
        let mut total = Atom::index(0);
        let mut shifts = Vec::with_capacity(belows.len());
        for below in belows {
            shifts.push(total);
            total = self.add(total, below.length);
        }
        let lifted = match belows {
            [] => self.empty_lifted(ty),
            _ => deep(|| self.concat(ty, belows, total))?,
        };
        let length = total;
        Ok((Below { length, lifted }, shifts))
    }

    /// Returns `array + shift`, by element.
    fn shift(&mut self, array: Atom, length: Atom, shift: Atom) -> Result<Atom> {
        if shift == Atom::index(0) {
            return Ok(array);
        }
        self.map_scalar("shifted", length, Scalar::I64, |b, i| {
            let old = b.index(array, &[i])?;
            Ok(b.add(old, shift))
        })
    }

    fn concat_arrays(&mut self, arrays: &[Atom], count: Atom) -> Result<Atom> {
        let mut variables = Vec::with_capacity(arrays.len());
        let mut scalar = Scalar::I64;
        for array in arrays {
            let (variable, element) = self.array(*array)?;
            variables.push(variable);
            scalar = element;
        }
        let expression = Expression::Concat {
            arrays: variables,
            count,
        };
        Ok(self.bind_array("t", scalar, vec![count], expression))
    }

    /// Returns the lifted components of a vector with these elements.
    pub fn literal(&mut self, ty: &Type, elements: &[Vec<Atom>]) -> Result<Vec<Atom>> {
        if elements.is_empty() {
            return Ok(self.empty_lifted(ty));
        }
        let mut iterators: Vec<Iter<Atom>> = elements.iter().map(|e| e.iter()).collect();
        let mut lifted = Vec::new();
        self.literal_into(ty, &mut iterators, &mut lifted)?;
        Ok(lifted)
    }

    fn literal_into(
        &mut self,
        ty: &Type,
        elements: &mut [Iter<Atom>],
        lifted: &mut Vec<Atom>,
    ) -> Result<()> {
        match ty {
            Type::Unit | Type::Function(..) => Ok(()),
            Type::Scalar(scalar) => {
                let atoms = next_of_all(elements)?;
                lifted.push(self.literal_array(*scalar, atoms));
                Ok(())
            }
            Type::Tuple(types) => types
                .iter()
                .try_for_each(|t| deep(|| self.literal_into(t, elements, lifted))),
            Type::Sum(id) => {
                let sum = self.output.sums[id.index()].clone();
                let atoms = next_of_all(elements)?;
                let scalar = match sum.is_recursive() {
                    true => Scalar::I64,
                    false => Scalar::I32,
                };
                lifted.push(self.literal_array(scalar, atoms));
                if sum.is_recursive() {
                    return Ok(());
                }
                let mut constructors = sum.constructors.iter();
                constructors
                    .try_for_each(|c| deep(|| self.literal_into(&c.payload, elements, lifted)))
            }
            Type::Vector(inner) => {
                let belows = self.rows_of_all(inner, 1, elements, lifted)?;
                let (below, shifts) = self.join_below(inner, &belows)?;
                let mut ends = Vec::with_capacity(belows.len());
                for (start, below) in shifts.iter().zip(&belows) {
                    ends.push(self.add(*start, below.length));
                }
                let dense = belows.len() == 1 || !same_below(&belows);
                let starts = self.literal_array(Scalar::I64, shifts);
                if dense {
                    self.note(starts, Fact::Dense);
                }
                lifted.push(starts);
                lifted.push(self.literal_array(Scalar::I64, ends));
                lifted.push(below.length);
                lifted.extend(below.lifted);
                Ok(())
            }
            Type::Array(rank, inner) => {
                let belows = self.rows_of_all(inner, *rank as usize, elements, lifted)?;
                let (below, shifts) = self.join_below(inner, &belows)?;
                lifted.push(self.literal_array(Scalar::I64, shifts));
                lifted.push(below.length);
                lifted.extend(below.lifted);
                Ok(())
            }
        }
    }

    /// Takes a vector or array of each element, as one dimension. The extents of arrays become
    /// literals.
    fn rows_of_all(
        &mut self,
        inner: &Type,
        rank: usize,
        elements: &mut [Iter<Atom>],
        lifted: &mut Vec<Atom>,
    ) -> Result<Vec<Below>> {
        let width = self.lifted_width(inner);
        let mut extents: Vec<Vec<Atom>> = vec![Vec::new(); rank];
        let mut belows = Vec::with_capacity(elements.len());
        let is_array = rank > 1;
        for element in elements {
            let own = take(element, rank)?;
            let shaped = take(element, width)?;
            let length = self.product(&own);
            for (list, extent) in extents.iter_mut().zip(own) {
                list.push(extent);
            }
            belows.push(Below {
                length,
                lifted: self.reshape(inner, &shaped, &[length])?,
            });
        }
        if is_array {
            for list in extents {
                lifted.push(self.literal_array(Scalar::I64, list));
            }
        }
        Ok(belows)
    }

    fn literal_array(&mut self, element: Scalar, elements: Vec<Atom>) -> Atom {
        let count = Atom::index(elements.len() as i64);
        let expression = Expression::Literal { element, elements };
        self.bind_array("t", element, vec![count], expression)
    }

    /// Returns the lifted components of a vector of `count` equal values.
    pub fn repeat(&mut self, ty: &Type, value: &[Atom], count: Atom) -> Result<Vec<Atom>> {
        let mut lifted = Vec::new();
        self.repeat_into(ty, &mut value.iter(), count, &mut lifted)?;
        Ok(lifted)
    }

    fn repeat_into(
        &mut self,
        ty: &Type,
        value: &mut Iter<Atom>,
        count: Atom,
        lifted: &mut Vec<Atom>,
    ) -> Result<()> {
        match ty {
            Type::Unit | Type::Function(..) => Ok(()),
            Type::Scalar(scalar) => {
                let atom = next(value)?;
                lifted.push(self.replicate(*scalar, atom, count));
                Ok(())
            }
            Type::Tuple(types) => types
                .iter()
                .try_for_each(|t| deep(|| self.repeat_into(t, value, count, lifted))),
            Type::Sum(id) => {
                let sum = self.output.sums[id.index()].clone();
                let scalar = match sum.is_recursive() {
                    true => Scalar::I64,
                    false => Scalar::I32,
                };
                let atom = next(value)?;
                lifted.push(self.replicate(scalar, atom, count));
                if sum.is_recursive() {
                    return Ok(());
                }
                let mut constructors = sum.constructors.iter();
                constructors
                    .try_for_each(|c| deep(|| self.repeat_into(&c.payload, value, count, lifted)))
            }
            Type::Vector(inner) => {
                let length = next(value)?;
                let below = take(value, self.lifted_width(inner))?;
                let starts = self.replicate(Scalar::I64, Atom::index(0), count);
                let mut row = vec![length];
                row.extend(&below);
                self.note(starts, Fact::Constant(Rc::from(row)));
                lifted.push(starts);
                lifted.push(self.replicate(Scalar::I64, length, count));
                lifted.push(length);
                lifted.extend(below);
                Ok(())
            }
            Type::Array(rank, inner) => {
                let extents = take(value, *rank as usize)?;
                let below = take(value, self.lifted_width(inner))?;
                for extent in &extents {
                    lifted.push(self.replicate(Scalar::I64, *extent, count));
                }
                let starts = self.replicate(Scalar::I64, Atom::index(0), count);
                let total = self.product(&extents);
                let flat = self.reshape(inner, &below, &[total])?;
                let mut row = extents;
                row.extend(below);
                self.note(starts, Fact::Constant(Rc::from(row)));
                lifted.extend([starts, total]);
                lifted.extend(flat);
                Ok(())
            }
        }
    }

    fn replicate(&mut self, scalar: Scalar, value: Atom, count: Atom) -> Atom {
        let shape = vec![count];
        let expression = Expression::Replicate {
            shape: shape.clone(),
            value,
        };
        self.bind_array("t", scalar, shape, expression)
    }
}

/// True if all levels are the same arrays.
pub(crate) fn same_below(belows: &[Below]) -> bool {
    belows.windows(2).all(|pair| {
        pair[0].length == pair[1].length
            && !pair[0].lifted.is_empty()
            && pair[0].lifted == pair[1].lifted
    })
}

fn next_of_all(iterators: &mut [Iter<Atom>]) -> Result<Vec<Atom>> {
    iterators.iter_mut().map(next).collect()
}
