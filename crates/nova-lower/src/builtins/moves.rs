//! `reverse`, `rotate`, `concat`, `replicate`, `unzip` and indexing.

use super::Argument;
use crate::builder::{Lowerer, constant};
use crate::error::{LowerError, Result};
use crate::join::Part;
use crate::values::{Vector, take};
use nova_core::{Scalar, ScalarOperation, ScalarValue, Type};
use nova_flat::ir::Atom;

impl Lowerer<'_> {
    pub(super) fn index_builtin(&mut self, [x, index]: &[Argument; 2]) -> Result<Vec<Atom>> {
        let x = x.vector()?;
        let (index, scalar) = index.scalar()?;
        let index = self.check_index(index, scalar, x.length);
        self.element(&x.element, &x.lifted, &[index])
    }

    pub(super) fn array_index(&mut self, args: &[Argument]) -> Result<Vec<Atom>> {
        let (array, indices) = args
            .split_first()
            .ok_or_else(|| LowerError::new("an index without an array"))?;
        let array = array.array()?;
        let mut position = Vec::with_capacity(indices.len());
        for (argument, extent) in indices.iter().zip(&array.extents) {
            let (index, scalar) = argument.scalar()?;
            position.push(self.check_index(index, scalar, *extent));
        }
        self.element(&array.element, &array.lifted, &position)
    }

    pub(super) fn reverse(&mut self, [x]: &[Argument; 1]) -> Result<Vec<Atom>> {
        let x = x.vector()?;
        let last = self.subtract(x.length, Atom::index(1));
        let lifted = self.slice(&x.element, &x.lifted, last, Atom::index(-1), x.length)?;
        let vector = Vector { lifted, ..x };
        Ok(vector.atoms())
    }

    pub(super) fn concat_builtin(&mut self, [x, y]: &[Argument; 2]) -> Result<Vec<Atom>> {
        let (x, y) = (x.vector()?, y.vector()?);
        let length = self.add(x.length, y.length);
        let element = x.element.clone();
        let parts = [x, y].map(|v| Part {
            length: v.length,
            lifted: v.lifted,
        });
        let vector = Vector {
            length,
            lifted: self.concat(&element, &parts, length)?,
            element,
        };
        Ok(vector.atoms())
    }

    pub(super) fn replicate_builtin(
        &mut self,
        [count, value]: &[Argument; 2],
    ) -> Result<Vec<Atom>> {
        let (count, scalar) = count.scalar()?;
        let length = self.check_count(count, scalar);
        let length = self.check_longest(length, scalar);
        let vector = Vector {
            length,
            lifted: self.repeat(&value.ty, &value.atoms, length)?,
            element: value.ty.clone(),
        };
        Ok(vector.atoms())
    }

    /// Lowers `rotate`: element i of the result is element (i + k) mod n, with k reduced to 0..n first.
    pub(super) fn rotate(&mut self, [count, x]: &[Argument; 2]) -> Result<Vec<Atom>> {
        let (count, scalar) = count.scalar()?;
        let x = x.vector()?;
        let n = x.length;
        let divisor = self.maximum(n, Atom::index(1));
        let distance = self.remainder(count, scalar, divisor)?;
        let lifted = self.gather_tops(&x.element, &x.lifted, n, |b, i| {
            let moved = b.add(i, distance);
            let beyond = b.compare(ScalarOperation::GreaterEqual, moved, n);
            b.select(
                Scalar::I64,
                beyond,
                |b| Ok(b.subtract(moved, n)),
                |_| Ok(moved),
            )
        })?;
        let vector = Vector { lifted, ..x };
        Ok(vector.atoms())
    }

    /// Returns `count` modulo a positive divisor, in 0..divisor.
    fn remainder(&mut self, count: Atom, scalar: Scalar, divisor: Atom) -> Result<Atom> {
        if scalar == Scalar::U64 {
            let divisor = self.unsigned_from(divisor);
            let operands = vec![count, divisor];
            let rest = self.scalar(ScalarOperation::Remainder, scalar, operands);
            return Ok(self.index_from(rest, scalar));
        }
        let count = self.index_from(count, scalar);
        if let (Some(count), Some(divisor)) = (constant(count), constant(divisor)) {
            return Ok(Atom::index(count.rem_euclid(divisor)));
        }
        let operands = vec![count, divisor];
        let rest = self.scalar(ScalarOperation::Remainder, Scalar::I64, operands);
        if !scalar.is_signed() {
            return Ok(rest);
        }
        let negative = self.compare(ScalarOperation::Less, rest, Atom::index(0));
        self.select(
            Scalar::I64,
            negative,
            |b| Ok(b.add(rest, divisor)),
            |_| Ok(rest),
        )
    }

    pub(super) fn unzip(&mut self, [z]: &[Argument; 1]) -> Result<Vec<Atom>> {
        let z = z.vector()?;
        let Type::Tuple(types) = &z.element else {
            return Err(LowerError::new("an unzip of elements that are no tuples"));
        };
        let mut lifted = z.lifted.iter();
        let mut atoms = Vec::new();
        for ty in types.iter() {
            let width = self.lifted_width(ty);
            atoms.push(z.length);
            atoms.extend(take(&mut lifted, width)?);
        }
        Ok(atoms)
    }

    /// Returns the constant of a type, for comparisons with literals.
    pub(super) fn literal_of(scalar: Scalar, value: i64) -> Atom {
        Atom::Constant(ScalarValue::from_integer_wrapping(
            scalar,
            i128::from(value),
        ))
    }
}
