//! `update`, `update_slice` and slices of arrays: reads and replaces parts of arrays.
//!
//! Tops are replaced. The levels below new rows are appended to those of the old ones.

use super::Argument;
use super::permute::Merge;
use crate::builder::Lowerer;
use crate::error::{LowerError, Result};
use crate::values::{Array, has_rows};
use nova_core::{Scalar, ScalarOperation, ScalarValue, Type};
use nova_flat::ir::{
    ArrayOperation, Atom, Expression, Level, Output, Positions, Type as FlatType, Variable, View,
};

impl Lowerer<'_> {
    /// Lowers `array_slice`.
    pub(super) fn array_slice(&mut self, args: &[Argument]) -> Result<Vec<Atom>> {
        let (array, bounds) = args
            .split_last()
            .ok_or_else(|| LowerError::new("a slice of nothing"))?;
        let x = array.array()?;
        let rank = x.extents.len();
        if bounds.len() != 3 * rank {
            return Err(LowerError::new("a slice with other bounds"));
        }
        let mut dimensions = Vec::with_capacity(rank);
        for (d, extent) in x.extents.iter().enumerate() {
            let bounds = [&bounds[d], &bounds[d + rank], &bounds[d + 2 * rank]];
            dimensions.push(self.sliced(bounds, *extent)?);
        }
        let extents: Vec<Atom> = dimensions.iter().map(|dimension| dimension.count).collect();
        let lifted = self.view(&x.element, &x.lifted, &extents, |_| {
            Ok(View::Slice(dimensions.clone()))
        })?;
        let array = Array {
            extents,
            element: x.element,
            lifted,
        };
        Ok(array.atoms())
    }

    /// Lowers `update` and `array_update`, of an array, an index for each dimension, and an element.
    pub(super) fn update(&mut self, args: &[Argument]) -> Result<Vec<Atom>> {
        let [array, indices @ .., value] = args else {
            return Err(LowerError::new("an update of nothing"));
        };
        let x = array.array()?;
        let mut position = Vec::with_capacity(indices.len());
        for (argument, extent) in indices.iter().zip(&x.extents) {
            let (index, scalar) = argument.scalar()?;
            position.push(self.check_index(index, scalar, *extent));
        }
        let lifted = match (&x.element, &position[..]) {
            (Type::Vector(_), [index]) => self.replace_row(&x, *index, value)?,
            _ => self.replace(&x, &position, value)?,
        };
        Ok(Array { lifted, ..x }.atoms())
    }

    /// Returns the components with the element at an index replaced. The data of its rows follow those
    /// of the other rows.
    fn replace(&mut self, x: &Array, position: &[Atom], value: &Argument) -> Result<Vec<Atom>> {
        let single = self.literal(&x.element, std::slice::from_ref(&value.atoms))?;
        let merge = self.merge_into(x, &single)?;
        let mut tops = Vec::with_capacity(merge.tops.len());
        for (old, source, shift) in &merge.tops {
            let new = self.index(*source, &[Atom::index(0)])?;
            let value = self.add_to_rows(new, *shift);
            let old = self.shaped(*old, &x.extents)?;
            let (array, scalar) = self.array(old)?;
            let expression = Expression::Update {
                array,
                indices: position.to_vec(),
                value,
            };
            tops.push(self.bind_array("t", scalar, x.extents.clone(), expression));
        }
        merge.with_tops(&tops)
    }

    /// As [`Lowerer::replace`], for a vector of rows. If the old row has the same length and overlaps
    /// no other row, its elements are replaced in place.
    fn replace_row(&mut self, x: &Array, index: Atom, value: &Argument) -> Result<Vec<Atom>> {
        let (Type::Vector(inner), [starts, ends, total, below @ ..], [length]) =
            (&x.element, &x.lifted[..], &x.extents[..])
        else {
            return Err(LowerError::new("a vector of rows was expected"));
        };
        let row = value.array()?;
        let (begin, end) = (self.index(*starts, &[index])?, self.index(*ends, &[index])?);
        let size = self.subtract(end, begin);
        let count = self.product(&row.extents);
        let as_long = self.compare(ScalarOperation::Equal, size, count);
        let fits = self.select(
            Scalar::Bool,
            as_long,
            |b| b.is_alone((*starts, *ends), (begin, end), *length),
            |_| Ok(Atom::Constant(ScalarValue::Bool(false))),
        )?;
        let then = self.body(|b| {
            let data = Array {
                extents: vec![*total],
                element: (**inner).clone(),
                lifted: below.to_vec(),
            };
            let replaced = b.store(&data, &row, vec![begin])?;
            Ok([*starts, *ends, *total]
                .into_iter()
                .chain(replaced)
                .collect())
        })?;
        let otherwise = self.body(|b| b.replace(x, &[index], value))?;
        let tops = [starts, ends].map(|_| {
            let ty = FlatType::Array(Scalar::I64, vec![*length]);
            self.output.add_variable("rows", ty)
        });
        let mut pattern = tops.to_vec();
        pattern.extend(self.fresh(&x.element));
        let lifted = Self::atoms(&pattern);
        let choice = Expression::If {
            condition: fits,
            then,
            otherwise,
        };
        self.emit(pattern, choice);
        Ok(lifted)
    }

    /// Returns the condition that only one row overlaps the range from `begin` to `end`, which is that
    /// of a row.
    fn is_alone(
        &mut self,
        (starts, ends): (Atom, Atom),
        (begin, end): (Atom, Atom),
        length: Atom,
    ) -> Result<Atom> {
        if self.is_dense(starts) {
            return Ok(Atom::Constant(ScalarValue::Bool(true)));
        }
        let shared = self.add_up("shared", length, |b, other| {
            let (start, stop) = (b.index(starts, &[other])?, b.index(ends, &[other])?);
            let first = b.maximum(start, begin);
            let last = b.minimum(stop, end);
            let shares = b.compare(ScalarOperation::Less, first, last);
            b.select(
                Scalar::I64,
                shares,
                |_| Ok(Atom::index(1)),
                |_| Ok(Atom::index(0)),
            )
        })?;
        // The row itself is one of them.
        Ok(self.compare(ScalarOperation::LessEqual, shared, Atom::index(1)))
    }

    /// Lowers `update_slice` and `array_update_slice`, of an array, the start of the block in each
    /// dimension, and the block.
    pub(super) fn update_slice(&mut self, args: &[Argument]) -> Result<Vec<Atom>> {
        let [array, begins @ .., block] = args else {
            return Err(LowerError::new("an update of nothing"));
        };
        let (x, block) = (array.array()?, block.array()?);
        let mut starts = Vec::with_capacity(begins.len());
        for ((begin, count), extent) in begins.iter().zip(&block.extents).zip(&x.extents) {
            starts.push(self.block_start(begin, *count, *extent)?);
        }
        let lifted = self.store(&x, &block, starts)?;
        Ok(Array { lifted, ..x }.atoms())
    }

    /// Returns the components of an array after a block is stored at these indices.
    fn store(&mut self, x: &Array, block: &Array, starts: Vec<Atom>) -> Result<Vec<Atom>> {
        let merge = self.merge_into(x, &block.lifted)?;
        let (mut destinations, mut pattern): (Vec<Variable>, Vec<Variable>) = Default::default();
        for (old, _, _) in &merge.tops {
            let old = self.shaped(*old, &x.extents)?;
            let (old, scalar) = self.array(old)?;
            let ty = FlatType::Array(scalar, x.extents.clone());
            destinations.push(old);
            pattern.push(self.output.add_variable("t", ty));
        }
        let tops = Self::atoms(&pattern);
        if !pattern.is_empty() {
            let operation = self.store_block(block, &merge, destinations, starts)?;
            self.emit(pattern, operation);
        }
        merge.with_tops(&tops)
    }

    /// Returns the operation that stores the tops of a block.
    fn store_block(
        &mut self,
        block: &Array,
        merge: &Merge,
        destinations: Vec<Variable>,
        starts: Vec<Atom>,
    ) -> Result<Expression> {
        let rank = block.extents.len();
        let indices: Vec<Variable> = (0..rank).map(|k| self.index_variable(k)).collect();
        let position = Self::atoms(&indices);
        let body = self.body(|b| {
            let mut results = Vec::with_capacity(merge.tops.len());
            for (_, source, shift) in &merge.tops {
                let value = b.index(*source, &position)?;
                results.push(b.add_to_rows(value, *shift));
            }
            Ok(results)
        })?;
        Ok(Expression::Operation(ArrayOperation {
            shape: block.extents.clone(),
            indices,
            level: Level::Sequential,
            strategy: None,
            carries: Vec::new(),
            body,
            outputs: vec![Output::Scatter {
                destinations,
                positions: Positions::Block(starts),
            }],
        }))
    }

    /// Pairs the tops of an array with those of `source`. Levels below rows are joined as those of a
    /// vector are.
    fn merge_into(&mut self, x: &Array, source: &[Atom]) -> Result<Merge> {
        let length = self.product(&x.extents);
        let flat = match has_rows(&x.element, &self.output.sums) {
            true => self.reshape(&x.element, &x.lifted, &[length])?,
            false => x.lifted.clone(),
        };
        let mut merge = Merge::into(length);
        let (mut from, mut to) = (source.iter(), flat.iter());
        self.merge_levels(&x.element, &mut from, &mut to, &mut merge)?;
        Ok(merge)
    }

    /// Returns an array with these extents of the same product.
    fn shaped(&mut self, atom: Atom, extents: &[Atom]) -> Result<Atom> {
        let (_, scalar) = self.array(atom)?;
        let shaped = self.reshape(&Type::Scalar(scalar), &[atom], extents)?;
        Ok(shaped.first().copied().unwrap_or(atom))
    }
}
