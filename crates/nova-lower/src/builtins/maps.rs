//! `map`, `imap` and the tabulations.

use super::{Argument, scalar_type};
use crate::builder::{Lowerer, constant};
use crate::error::{LowerError, Result};
use crate::values::{Array, Vector, has_rows};
use nova_core::{ErrorKind, LONGEST, Scalar, ScalarOperation, Strategy};
use nova_flat::ir::Atom;

impl Lowerer<'_> {
    pub(super) fn map(
        &mut self,
        args: &[Argument],
        strategy: Option<Strategy>,
    ) -> Result<Vec<Atom>> {
        let (function, rest) = args
            .split_first()
            .ok_or_else(|| LowerError::new("a map without a function"))?;
        let mut vectors = Vec::with_capacity(rest.len());
        for argument in rest {
            vectors.push(argument.vector()?);
        }
        let first = vectors
            .first()
            .ok_or_else(|| LowerError::new("a map without a vector"))?;
        let length = first.length;
        for vector in &vectors[1..] {
            self.check_lengths(length, vector.length);
        }
        let element = self.lambda_result(function.id)?;
        let lifted = self.build_with(strategy, &[length], &element, |b, index| {
            let mut arguments = Vec::with_capacity(vectors.len());
            for vector in &vectors {
                arguments.push(b.element(&vector.element, &vector.lifted, index)?);
            }
            b.inline(function.id, arguments)
        })?;
        let vector = Vector {
            length,
            element,
            lifted,
        };
        Ok(vector.atoms())
    }

    pub(super) fn imap(&mut self, [function, x]: &[Argument; 2]) -> Result<Vec<Atom>> {
        let x = x.vector()?;
        let index_type = self.first_parameter(function)?;
        self.check_length_fits(x.length, index_type);
        let element = self.lambda_result(function.id)?;
        let lifted = self.build(&[x.length], &element, |b, index| {
            let number = b.index_as(index[0], index_type);
            let value = b.element(&x.element, &x.lifted, index)?;
            b.inline(function.id, vec![vec![number], value])
        })?;
        let vector = Vector {
            length: x.length,
            element,
            lifted,
        };
        Ok(vector.atoms())
    }

    pub(super) fn tabulate(&mut self, [count, function]: &[Argument; 2]) -> Result<Vec<Atom>> {
        let (count, index_type) = count.scalar()?;
        let length = self.check_count(count, index_type);
        let length = self.check_longest(length, index_type);
        let element = self.lambda_result(function.id)?;
        let lifted = self.build(&[length], &element, |b, index| {
            let number = b.index_as(index[0], index_type);
            b.inline(function.id, vec![vec![number]])
        })?;
        let vector = Vector {
            length,
            element,
            lifted,
        };
        Ok(vector.atoms())
    }

    /// Lowers `tabulate` of an array: an operation of as many dimensions over scalars, of one dimension
    /// over vectors.
    pub(super) fn tabulate_array(&mut self, args: &[Argument]) -> Result<Vec<Atom>> {
        let (function, counts) = args
            .split_last()
            .ok_or_else(|| LowerError::new("a tabulate without a function"))?;
        let mut extents = Vec::with_capacity(counts.len());
        let mut types = Vec::with_capacity(counts.len());
        for argument in counts {
            let (count, scalar) = argument.scalar()?;
            extents.push(self.check_count(count, scalar));
            types.push(scalar);
        }
        for (extent, ty) in extents.iter_mut().zip(&types) {
            *extent = self.check_longest(*extent, *ty);
        }
        self.check_product(&extents, &types)?;
        let element = self.lambda_result(function.id)?;
        let numbers = |b: &mut Self, index: &[Atom]| -> Vec<Vec<Atom>> {
            let pairs = index.iter().zip(&types);
            pairs.map(|(i, t)| vec![b.index_as(*i, *t)]).collect()
        };
        let lifted = if has_rows(&element, &self.output.sums) {
            let count = self.product(&extents);
            let flat = self.build(&[count], &element, |b, index| {
                let index = b.split_index(index[0], &extents);
                let numbers = numbers(b, &index);
                b.inline(function.id, numbers)
            })?;
            self.reshape(&element, &flat, &extents)?
        } else {
            self.build(&extents, &element, |b, index| {
                let numbers = numbers(b, index);
                b.inline(function.id, numbers)
            })?
        };
        let array = Array {
            extents,
            element,
            lifted,
        };
        Ok(array.atoms())
    }

    /// Returns the index in each dimension for a row-major index.
    fn split_index(&mut self, index: Atom, extents: &[Atom]) -> Vec<Atom> {
        let mut rest = index;
        let mut split = Vec::with_capacity(extents.len());
        for extent in extents.iter().skip(1).rev() {
            let arguments = vec![rest, *extent];
            split.push(self.scalar(ScalarOperation::Remainder, Scalar::I64, arguments));
            rest = self.divide(rest, *extent);
        }
        split.push(rest);
        split.reverse();
        split
    }

    /// Fails with an out-of-memory error if the product of extents is too long. That of two `int`s
    /// needs no check here, though no memory holds that many elements either.
    fn check_product(&mut self, extents: &[Atom], types: &[Scalar]) -> Result<()> {
        let mut bits = 0;
        for (extent, ty) in extents.iter().zip(types) {
            bits += match constant(*extent) {
                Some(value) => 64 - value.leading_zeros(),
                None => ty.bits() - u32::from(ty.is_signed()),
            };
        }
        if bits < 63 {
            return Ok(());
        }
        let product = self.saturating_product(extents)?;
        let condition = self.compare(ScalarOperation::LessEqual, product, Atom::index(LONGEST));
        self.check(condition, ErrorKind::Memory, Vec::new());
        Ok(())
    }

    /// Returns the product of extents, none negative, or the largest `i64` on overflow.
    pub fn saturating_product(&mut self, extents: &[Atom]) -> Result<Atom> {
        let mut product = Atom::index(1);
        for extent in extents {
            if product == Atom::index(1) {
                product = *extent;
                continue;
            }
            let (left, right) = (product, *extent);
            let positive = self.compare(ScalarOperation::Greater, right, Atom::index(0));
            product = self.select(
                Scalar::I64,
                positive,
                |b| {
                    let most = b.divide(Atom::index(i64::MAX), right);
                    let fits = b.compare(ScalarOperation::LessEqual, left, most);
                    b.select(
                        Scalar::I64,
                        fits,
                        |b| Ok(b.multiply(left, right)),
                        |_| Ok(Atom::index(i64::MAX)),
                    )
                },
                |_| Ok(Atom::index(0)),
            )?;
        }
        Ok(product)
    }

    /// Returns the type of a lambda's first parameter, a scalar.
    fn first_parameter(&self, function: &Argument) -> Result<Scalar> {
        let (parameters, _) = self.lambda_parts(function.id)?;
        let first = parameters
            .first()
            .ok_or_else(|| LowerError::new("a lambda without parameters"))?;
        scalar_type(&self.source.program.variable(*first).ty)
    }

    pub(super) fn zip(&mut self, [x, y]: &[Argument; 2]) -> Result<Vec<Atom>> {
        let (x, y) = (x.vector()?, y.vector()?);
        self.check_lengths(x.length, y.length);
        let second = self.reshape(&y.element, &y.lifted, &[x.length])?;
        let mut atoms = x.atoms();
        atoms.extend(second);
        Ok(atoms)
    }
}
