//! Lengths, shapes and changes of shape.

use super::{Argument, scalar_type};
use crate::builder::{Lowerer, constant, constant_bool};
use crate::error::{LowerError, Result};
use crate::facts::Fact;
use crate::values::{Array, Vector, tops};
use nova_core::{ErrorKind, Scalar, ScalarOperation, Type};
use nova_flat::ir::{
    ArrayOperation, Atom, Bracketing, Expression, Level, Output, Type as FlatType, Variable, View,
};
use std::rc::Rc;

impl Lowerer<'_> {
    pub(super) fn length(&mut self, [x]: &[Argument; 1], ty: &Type) -> Result<Vec<Atom>> {
        let length = x.array()?.extents[0];
        Ok(vec![self.length_as(length, scalar_type(ty)?)])
    }

    pub(super) fn shape(&mut self, [x]: &[Argument; 1], ty: &Type) -> Result<Vec<Atom>> {
        let extents = x.array()?.extents;
        let types: Vec<Type> = match ty {
            Type::Tuple(types) => types.to_vec(),
            Type::Scalar(_)
            | Type::Unit
            | Type::Vector(_)
            | Type::Array(..)
            | Type::Function(..)
            | Type::Sum(_) => vec![ty.clone()],
        };
        let mut shape = Vec::with_capacity(extents.len());
        for (extent, ty) in extents.into_iter().zip(types) {
            shape.push(self.length_as(extent, scalar_type(&ty)?));
        }
        Ok(shape)
    }

    pub(super) fn reshape_builtin(&mut self, args: &[Argument], ty: &Type) -> Result<Vec<Atom>> {
        let (x, counts) = args
            .split_last()
            .ok_or_else(|| LowerError::new("a reshape of nothing"))?;
        let x = x.array()?;
        let mut extents = Vec::with_capacity(counts.len());
        let mut types = Vec::with_capacity(counts.len());
        let mut wide = counts.len() > 2;
        for argument in counts {
            let (count, scalar) = argument.scalar()?;
            wide |= scalar.bits() > 32 && constant(count).is_none();
            wide |= scalar == Scalar::U32;
            extents.push(self.check_count(count, scalar));
            types.push(scalar);
        }
        let product = match wide {
            true => self.saturating_product(&extents)?,
            false => self.product(&extents),
        };
        let have = self.product(&x.extents);
        let condition = self.compare(ScalarOperation::Equal, product, have);
        if constant_bool(condition) == Some(false) {
            let expression = Expression::Fail {
                error: ErrorKind::Shape,
                arguments: vec![product, have],
            };
            return Ok(self.bind_value(ty, expression));
        }
        self.check(condition, ErrorKind::Shape, vec![product, have]);
        // Only an array without elements has an extent larger than its length.
        for (extent, ty) in extents.iter_mut().zip(types) {
            *extent = self.check_longest(*extent, ty);
        }
        let lifted = self.reshape(&x.element, &x.lifted, &extents)?;
        let array = Array {
            extents,
            element: x.element,
            lifted,
        };
        Ok(array.atoms())
    }

    pub(super) fn transpose(&mut self, [x]: &[Argument; 1]) -> Result<Vec<Atom>> {
        let x = x.array()?;
        let extents: Vec<Atom> = x.extents.iter().rev().copied().collect();
        let order: Vec<u32> = (0..extents.len() as u32).rev().collect();
        let lifted = self.view(&x.element, &x.lifted, &extents, |_| {
            Ok(View::Transpose(order.clone()))
        })?;
        let array = Array {
            extents,
            element: x.element,
            lifted,
        };
        Ok(array.atoms())
    }

    pub(super) fn flatten(&mut self, [x]: &[Argument; 1]) -> Result<Vec<Atom>> {
        if let Type::Array(..) = x.ty {
            let x = x.array()?;
            let length = self.product(&x.extents);
            let lifted = self.reshape(&x.element, &x.lifted, &[length])?;
            let vector = Vector {
                length,
                element: x.element,
                lifted,
            };
            return Ok(vector.atoms());
        }
        let x = x.vector()?;
        let Type::Vector(inner) = &x.element else {
            return Err(LowerError::new("a flatten of a vector that is not nested"));
        };
        if self.is_dense(x.lifted[0]) {
            return Ok(x.lifted[2..].to_vec());
        }
        self.collect_rows(&x, inner)
    }

    /// Concatenates the rows of a nested vector. Their tops are collected, the levels below stay.
    fn collect_rows(&mut self, x: &Vector, inner: &Type) -> Result<Vec<Atom>> {
        let below = &x.lifted[3..];
        let index = self.index_variable(0);
        let inner_tops = tops(inner, &self.output.sums);
        let body = self.body(|b| {
            let row = b.element(&x.element, &x.lifted, &[Atom::Variable(index)])?;
            let (length, lifted) = row
                .split_first()
                .ok_or_else(|| LowerError::new("a row without a length"))?;
            let mut results = vec![*length];
            let pairs = inner_tops.iter().zip(lifted);
            results.extend(pairs.filter(|(top, _)| **top).map(|(_, atom)| *atom));
            Ok(results)
        })?;
        let values = body.results.len() - 1;
        let rows = FlatType::Array(Scalar::I64, vec![x.length]);
        let mut pattern: Vec<Variable> = vec![
            self.output.add_variable("starts", rows.clone()),
            self.output.add_variable("ends", rows),
        ];
        let total = self
            .output
            .add_variable("total", FlatType::Scalar(Scalar::I64));
        pattern.push(total);
        let length = Atom::Variable(total);
        let lifted = self.map_tops(inner, below, |b, atom| {
            let (_, scalar) = b.array(atom)?;
            let ty = FlatType::Array(scalar, vec![length]);
            let variable = b.output.add_variable("t", ty);
            pattern.push(variable);
            Ok(Atom::Variable(variable))
        })?;
        let operation = self.over(x.length, index, body, Output::Collect { values });
        self.emit(pattern, operation);
        let mut atoms = vec![length];
        atoms.extend(lifted);
        Ok(atoms)
    }

    /// Lowers `rows`: row i of an array is `[i·m, (i+1)·m)` of its elements in order.
    pub(super) fn rows(&mut self, [x]: &[Argument; 1]) -> Result<Vec<Atom>> {
        let x = x.array()?;
        let inner = x.extents[1..].to_vec();
        let n = x.extents[0];
        let size = self.product(&inner);
        let total = self.multiply(n, size);
        let flat = self.reshape(&x.element, &x.lifted, &[total])?;
        let starts = self.iota(n, Atom::index(0), size);
        self.note(starts, Fact::Rows(Rc::from(x.clone().atoms())));
        let mut atoms = vec![n];
        match inner.as_slice() {
            [_] => {
                let ends = self.iota(n, size, size);
                atoms.extend([starts, ends]);
            }
            _ => {
                for extent in inner {
                    let expression = Expression::Replicate {
                        shape: vec![n],
                        value: extent,
                    };
                    atoms.push(self.bind_array("dim", Scalar::I64, vec![n], expression));
                }
                atoms.push(starts);
            }
        }
        atoms.push(total);
        atoms.extend(flat);
        Ok(atoms)
    }

    fn iota(&mut self, count: Atom, start: Atom, step: Atom) -> Atom {
        let expression = Expression::Iota { count, start, step };
        self.bind_array("rows", Scalar::I64, vec![count], expression)
    }

    /// Lowers `unrows`: rows of one shape as an array. Without rows every extent is 0.
    pub(super) fn unrows(&mut self, [x]: &[Argument; 1]) -> Result<Vec<Atom>> {
        let x = x.vector()?;
        let n = x.length;
        let Some((rank, inner)) = x.element.as_array() else {
            return Err(LowerError::new("an unrows of a vector that is not nested"));
        };
        let rank = rank as usize;
        let inner = inner.clone();
        let starts = x.lifted[if rank == 1 { 0 } else { rank }];
        let known = match self.fact(starts) {
            Some(Fact::Rows(atoms)) => Some(atoms),
            Some(Fact::Dense | Fact::Constant(_)) | None => None,
        };
        let some = self.compare(ScalarOperation::Greater, n, Atom::index(0));
        let mut extents = vec![n];
        for k in 0..rank {
            let extent = self.select(
                Scalar::I64,
                some,
                |b| match &known {
                    Some(atoms) => Ok(atoms[k + 1]),
                    None => b.row_extent(&x, rank, k, Atom::index(0)),
                },
                |_| Ok(Atom::index(0)),
            )?;
            extents.push(extent);
        }
        let lifted = match known {
            Some(atoms) => {
                let lifted = &atoms[rank + 1..];
                self.reshape(&inner, lifted, &extents)?
            }
            None => {
                self.check_rows(&x, rank)?;
                self.gather_rows(&x, &inner, starts, &extents)?
            }
        };
        let array = Array {
            extents,
            element: inner,
            lifted,
        };
        Ok(array.atoms())
    }

    /// Returns extent `k` of row `i`.
    fn row_extent(&mut self, x: &Vector, rank: usize, k: usize, i: Atom) -> Result<Atom> {
        if rank > 1 {
            return self.index(x.lifted[k], &[i]);
        }
        let end = self.index(x.lifted[1], &[i])?;
        let start = self.index(x.lifted[0], &[i])?;
        Ok(self.subtract(end, start))
    }

    /// Checks that all rows have the shape of the first one. That is read in each iteration, so that
    /// the simplifier sees both sides to be equal if the extent of all rows is known.
    fn check_rows(&mut self, x: &Vector, rank: usize) -> Result<()> {
        self.for_each(x.length, |b, i| {
            for k in 0..rank {
                let first = b.row_extent(x, rank, k, Atom::index(0))?;
                let extent = b.row_extent(x, rank, k, i)?;
                b.check_lengths(first, extent);
            }
            Ok(())
        })
    }

    /// Returns the elements of rows of one shape in order, as an array.
    fn gather_rows(
        &mut self,
        x: &Vector,
        inner: &Type,
        starts: Atom,
        extents: &[Atom],
    ) -> Result<Vec<Atom>> {
        let width = self.lifted_width(inner);
        let below = x.lifted[x.lifted.len() - width..].to_vec();
        if self.is_dense(starts) {
            return self.reshape(inner, &below, extents);
        }
        let size = self.product(&extents[1..]);
        let shape = vec![extents[0], size];
        let indices = vec![self.index_variable(0), self.index_variable(1)];
        let body = self.body(|b| {
            let start = b.index(starts, &[Atom::Variable(indices[0])])?;
            let at = b.add(start, Atom::Variable(indices[1]));
            b.descriptor(inner, &below, &[at])
        })?;
        let mut pattern: Vec<Variable> = Vec::new();
        let lifted = self.map_tops(inner, &below, |b, atom| {
            let (_, scalar) = b.array(atom)?;
            let ty = FlatType::Array(scalar, shape.clone());
            let variable = b.output.add_variable("t", ty);
            pattern.push(variable);
            Ok(Atom::Variable(variable))
        })?;
        let operation = ArrayOperation {
            shape,
            indices,
            level: Level::Sequential,
            strategy: None,
            carries: Vec::new(),
            body,
            outputs: vec![Output::Map; pattern.len()],
        };
        self.emit(pattern, Expression::Operation(operation));
        self.reshape(inner, &lifted, extents)
    }

    pub(super) fn segments(&mut self, [x]: &[Argument; 1], ty: &Type) -> Result<Vec<Atom>> {
        let x = x.vector()?;
        let Type::Vector(element) = ty else {
            return Err(LowerError::new("segments that are no vector"));
        };
        let scalar = scalar_type(element)?;
        let rank = x.element.as_array().map_or(1, |(rank, _)| rank as usize);
        let lengths = self.map_scalar("segments", x.length, scalar, |b, i| {
            let length = b.row_extent(&x, rank, 0, i)?;
            Ok(b.length_as(length, scalar))
        })?;
        Ok(vec![x.length, lengths])
    }

    pub(super) fn unflatten(&mut self, [lengths, x]: &[Argument; 2]) -> Result<Vec<Atom>> {
        let (lengths, x) = (lengths.vector()?, x.vector()?);
        let scalar = scalar_type(&lengths.element)?;
        let n = lengths.length;
        let index = self.index_variable(0);
        let body = self.body(|b| {
            let length = b.index(lengths.lifted[0], &[Atom::Variable(index)])?;
            let length = b.check_count(length, scalar);
            Ok(vec![length, length])
        })?;
        let adding = self.lambda(&[Scalar::I64, Scalar::I64], |b, p| {
            let sum = b.add(p[0], p[1]);
            let fits = b.compare(ScalarOperation::GreaterEqual, sum, Atom::index(0));
            let largest = Atom::index(i64::MAX);
            Ok(vec![b.select(
                Scalar::I64,
                fits,
                |_| Ok(sum),
                |_| Ok(largest),
            )?])
        })?;
        let outputs = vec![
            Output::Map,
            Output::Reduce {
                lambda: adding,
                start: vec![Atom::index(0)],
                commutes: true,
                bracketing: Bracketing::Whole,
            },
        ];
        let ty = FlatType::Array(Scalar::I64, vec![n]);
        let wide = self.output.add_variable("lengths", ty);
        let sum = self
            .output
            .add_variable("sum", FlatType::Scalar(Scalar::I64));
        let operation = ArrayOperation {
            shape: vec![n],
            indices: vec![index],
            level: Level::Sequential,
            strategy: None,
            carries: Vec::new(),
            body,
            outputs,
        };
        self.emit(vec![wide, sum], Expression::Operation(operation));
        self.check_lengths(Atom::Variable(sum), x.length);
        let (starts, ends) = self.offsets(n, Atom::Variable(wide))?;
        let mut atoms = vec![n, starts, ends];
        atoms.extend(x.atoms());
        Ok(atoms)
    }
}
