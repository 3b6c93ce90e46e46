//! `reduce` and `histogram` of values that hold vectors, where the operator combines them
//! [element by element](super::elementwise). Each element is combined on its own, as a bin of a histogram of
//! numbers. So nothing is sorted, no value is made for each step, and threads share the values.

use super::argument::Argument;
use super::elementwise::{Elementwise, Part, Places, elementwise};
use super::maps::check_product;
use super::shapes::rows_of;
use crate::builder::{Builder, atoms, operation};
use crate::error::Result;
use crate::facts::Fact;
use crate::lowerer::Lowerer;
use crate::scalars::index_from;
use crate::values::{self, Array, Vector};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{Atom, Body, Bracketing, Expression, Output, Variable};

/// The bins of a histogram, and the bin of each value.
pub(super) struct Bins {
    /// Their number.
    pub count: Atom,
    /// For each value its bin.
    pub indices: Vector,
    /// The type of these indices.
    pub index_type: Scalar,
}

impl Bins {
    /// Returns the bin of the value at `k`, and whether there is such a bin.
    pub fn at(&self, b: &mut Builder, k: Atom) -> Result<(Atom, Atom)> {
        let bin = b.index(self.indices.lifted[0], &[k])?;
        let bin = index_from(b, bin, self.index_type);
        let natural = b.compare(ScalarOperation::LessEqual, Atom::index(0), bin);
        let below = b.compare(ScalarOperation::Less, bin, self.count);
        let inside = vec![natural, below];
        let inside = b.scalar(ScalarOperation::BitAnd, Scalar::Bool, inside);
        Ok((bin, inside))
    }
}

/// Combines values in bins, or all of them without bins. The operator must be elementwise, and each array of the start
/// value must have one number for all elements. Returns nothing for others.
pub(super) fn combine_by_elements(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    function: &Argument,
    start: &Argument,
    bins: Option<&Bins>,
    x: &Vector,
) -> Result<Option<Vec<Atom>>> {
    let Some(operator) = elementwise(b, lowerer, function, &start.ty)? else {
        return Ok(None);
    };
    let combination = Combination {
        start: &start.atoms,
        bins,
        x,
    };
    let parts = operator.parts.iter();
    let starts: Option<Vec<_>> = parts.map(|part| combination.start_of(b, part)).collect();
    let Some(starts) = starts else {
        return Ok(None);
    };
    combination.check_extents(b, &operator)?;
    let mut combined = Vec::new();
    for (part, start) in operator.parts.into_iter().zip(starts) {
        combined.extend(combination.part(b, part, start)?);
    }
    combined.sort_by_key(|(place, _)| *place);
    let combined = combined.into_iter().flat_map(|(_, atoms)| atoms).collect();
    let count = bins.map(|bins| bins.count).into_iter().collect();
    Ok(Some(values::with_extents(count, combined)))
}

/// The values that are combined, and how.
struct Combination<'a> {
    /// The components of the start value.
    start: &'a [Atom],
    bins: Option<&'a Bins>,
    x: &'a Vector,
}

impl Combination<'_> {
    /// Returns the bin of the value at `k`, and whether there is such a bin.
    fn bin_at(&self, b: &mut Builder, k: Atom) -> Result<(Atom, Atom)> {
        match self.bins {
            Some(bins) => bins.at(b, k),
            None => Ok((Atom::index(0), Atom::Constant(ScalarValue::Bool(true)))),
        }
    }

    /// Returns the numbers that each element of a part begins with, if all begin with the same.
    fn start_of(&self, b: &Builder, part: &Part) -> Option<Vec<Atom>> {
        let number = |(place, _): &(usize, Scalar)| {
            let atom = *self.start.get(*place)?;
            match (part.places.extents.is_empty(), b.fact(atom)) {
                (true, _) => Some(atom),
                (false, Some(Fact::Uniform(number))) => Some(number),
                (false, _) => None,
            }
        };
        part.places.numbers.iter().map(number).collect()
    }

    /// Does the operator's checks of extents for all values that have a bin. Others meet no value, and may have any
    /// extents. An error is that of the first bin that has one, as if one bin was folded after the other.
    fn check_extents(&self, b: &mut Builder, operator: &Elementwise) -> Result<()> {
        let Some(bins) = self.bins else {
            return b.for_each(self.x.length, |b, k| {
                let value = self.x.at(b, &[k])?;
                operator.check(b, [self.start, &value]);
                Ok(())
            });
        };
        b.for_each(self.x.length, |b, k| {
            let (_, fails) = self.fails_at(b, bins, operator, k)?;
            let then = b.body(|b| self.fail_in_first_bin(b, bins, operator))?;
            b.emit(
                Vec::new(),
                Expression::If {
                    condition: fails,
                    then,
                    otherwise: Body::default(),
                },
            );
            Ok(())
        })
    }

    /// Returns the bin of the value at `k`, and whether there is such a bin and the value does not fit.
    fn fails_at(
        &self,
        b: &mut Builder,
        bins: &Bins,
        operator: &Elementwise,
        k: Atom,
    ) -> Result<(Atom, Atom)> {
        let (bin, inside) = bins.at(b, k)?;
        let value = self.x.at(b, &[k])?;
        let fits = operator.fits(b, [self.start, &value]);
        let misfits = b.scalar(ScalarOperation::Not, Scalar::Bool, vec![fits]);
        let both = vec![inside, misfits];
        let fails = b.scalar(ScalarOperation::BitAnd, Scalar::Bool, both);
        Ok((bin, fails))
    }

    /// Emits the failure of the first bin that has a value that does not fit. There is one.
    fn fail_in_first_bin(
        &self,
        b: &mut Builder,
        bins: &Bins,
        operator: &Elementwise,
    ) -> Result<Vec<Atom>> {
        let index = b.index_variable(0);
        let none = Atom::index(i64::MAX);
        let body = b.body(|b| {
            let (bin, fails) = self.fails_at(b, bins, operator, Atom::Variable(index))?;
            Ok(vec![b.select(
                Scalar::I64,
                fails,
                |_| Ok(bin),
                |_| Ok(none),
            )?])
        })?;
        let output = Output::Reduce {
            lambda: b.lambda(&[Scalar::I64, Scalar::I64], |b, p| {
                Ok(vec![b.minimum(p[0], p[1])])
            })?,
            start: vec![none],
            commutes: true,
            bracketing: Bracketing::Whole,
        };
        let search = operation(vec![self.x.length], vec![index], body, vec![output]);
        let first = b.bind_scalar("first", Scalar::I64, search);
        b.for_each(self.x.length, |b, k| {
            let (bin, _) = bins.at(b, k)?;
            let value = self.x.at(b, &[k])?;
            let is_first = b.compare(ScalarOperation::Equal, bin, first);
            let then = b.body(|b| {
                operator.check(b, [self.start, &value]);
                Ok(Vec::new())
            })?;
            b.emit(
                Vec::new(),
                Expression::If {
                    condition: is_first,
                    then,
                    otherwise: Body::default(),
                },
            );
            Ok(())
        })?;
        Ok(Vec::new())
    }

    /// Combines a part of all values. Returns its components, with their places among those of a value. Where there are
    /// bins they are lifted.
    fn part(
        &self,
        b: &mut Builder,
        part: Part,
        start: Vec<Atom>,
    ) -> Result<Vec<(usize, Vec<Atom>)>> {
        let extents: Vec<Atom> = part.places.extents.iter().map(|k| self.start[*k]).collect();
        let mut shape: Vec<Atom> = self.bins.map(|bins| bins.count).into_iter().collect();
        shape.extend(&extents);
        check_product(b, &shape, &vec![Scalar::I64; shape.len()])?;
        let Part { places, lambda } = part;
        let made = match places.numbers.is_empty() {
            true => Vec::new(),
            false => {
                let output = Output::Histogram {
                    lambda,
                    start,
                    bins: b.product(&shape),
                    guarded: !extents.is_empty(),
                };
                self.elements(b, &places, &extents, output)?
            }
        };
        let Some(first) = places.extents.first() else {
            let mut components = Vec::with_capacity(made.len());
            for ((place, _), array) in places.numbers.iter().zip(made) {
                let component = match self.bins {
                    Some(_) => array,
                    None => b.index(array, &[Atom::index(0)])?,
                };
                components.push((*place, vec![component]));
            }
            return Ok(components);
        };
        let array = Array {
            lifted: values::reshape(b, &places.element, &made, &shape)?,
            extents: shape,
            element: places.element,
        };
        let components = match self.bins {
            Some(_) => rows_of(b, &array)?.split_off(1),
            None => array.atoms(),
        };
        Ok(vec![(*first, components)])
    }

    /// Emits the histogram of a part's elements, over all values. Returns its arrays.
    fn elements(
        &self,
        b: &mut Builder,
        places: &Places,
        extents: &[Atom],
        histogram: Output,
    ) -> Result<Vec<Atom>> {
        let indices: Vec<Variable> = (0..=extents.len()).map(|k| b.index_variable(k)).collect();
        let index = atoms(&indices);
        let body = b.body(|b| {
            let (bin, inside) = self.bin_at(b, index[0])?;
            let place = place_of_element(b, bin, extents, &index[1..]);
            // To be in range is enough for numbers, and not for elements of arrays.
            let mut results = match extents.is_empty() {
                true => vec![place],
                false => vec![inside, place],
            };
            let value = self.x.at(b, &index[..1])?;
            for (place, _) in &places.numbers {
                results.push(match extents.is_empty() {
                    true => value[*place],
                    false => b.index(value[*place], &index[1..])?,
                });
            }
            Ok(results)
        })?;
        let mut pattern = Vec::with_capacity(places.numbers.len());
        if let Output::Histogram { bins, .. } = &histogram {
            for (_, scalar) in &places.numbers {
                pattern.push(b.array_variable("bins", *scalar, vec![*bins]));
            }
        }
        let made = atoms(&pattern);
        let shape = [&[self.x.length][..], extents].concat();
        b.emit(pattern, operation(shape, indices, body, vec![histogram]));
        Ok(made)
    }
}

/// Returns the number of an element of a bin, where the bins before have as many each.
fn place_of_element(b: &mut Builder, bin: Atom, extents: &[Atom], index: &[Atom]) -> Atom {
    let mut place = bin;
    for (extent, index) in extents.iter().zip(index) {
        let before = b.multiply(place, *extent);
        place = b.add(before, *index);
    }
    place
}
