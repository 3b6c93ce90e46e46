//! Copies of slices. A block may read elements of the array that it changes at positions that only some of its
//! indices tell: the first element of each row, for instance, while it changes all of the row. Such elements are
//! a slice of fewer dimensions. The slice is copied before the block, which costs little beside the block itself,
//! and lets the block be stored in place.

use super::super::affine::Affine;
use crate::bounds::code::Code;
use crate::bounds::state::Bounds;
use nova_core::Scalar;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Output, Type, Variable};
use nova_flat::visit::each_body_mut;

/// A slice of an array: in some dimensions all indices, in others one.
#[derive(PartialEq)]
struct Slice {
    array: Variable,
    /// The only index of a dimension, where there is one. It is known before the operation.
    only: Vec<Option<Affine>>,
}

impl Bounds<'_> {
    /// Replaces reads of slices of the arrays that a block changes by reads of copies. Returns false if there are
    /// none. `operation` is the map that the block was made from, whose indices the reads name.
    pub(super) fn copy_slices(
        &mut self,
        operation: &ArrayOperation,
        (block, arrays): (&mut Expression, &[Variable]),
        start: usize,
        code: &mut Code,
    ) -> bool {
        let Expression::Operation(block) = block else {
            return false;
        };
        let mut body = std::mem::take(&mut block.body);
        let mut copies: Vec<(Slice, Variable)> = Vec::new();
        each_body_mut(&mut body, &mut |inner: &mut Body| {
            for statement in &mut inner.statements {
                let Expression::Index { array, indices } = &statement.expression else {
                    continue;
                };
                if !arrays.contains(array) {
                    continue;
                }
                let Some(slice) = self.slice(operation, *array, indices, start) else {
                    continue;
                };
                let own = indices.iter().zip(&slice.only);
                let own = own.filter(|(_, only)| only.is_none());
                let indices: Vec<Atom> = own.map(|(index, _)| *index).collect();
                let known = copies.iter().find(|(other, _)| *other == slice);
                let copy = match known {
                    Some((_, copy)) => *copy,
                    None => {
                        let Some(copy) = self.copy(operation, &slice, code) else {
                            continue;
                        };
                        copies.push((slice, copy));
                        copy
                    }
                };
                statement.expression = match indices.is_empty() {
                    true => Expression::Atom(Atom::Variable(copy)),
                    false => Expression::Index {
                        array: copy,
                        indices,
                    },
                };
            }
        });
        block.body = body;
        !copies.is_empty()
    }

    /// Returns the slice of an array that a read at these indices is in, if it has fewer dimensions than the array
    /// and is within it.
    fn slice(
        &self,
        operation: &ArrayOperation,
        array: Variable,
        indices: &[Atom],
        start: usize,
    ) -> Option<Slice> {
        let shape = self.program.ty(array).shape();
        let mut only = Vec::new();
        for (index, extent) in indices.iter().zip(shape) {
            // A column may also be read by the index of rows.
            let mut own = operation.indices.iter().zip(&operation.shape);
            if own.any(|(own, count)| *index == Atom::Variable(*own) && count == extent) {
                only.push(None);
                continue;
            }
            let at = self.value(*index)?;
            let last = self.value(*extent)?.shifted(-1)?;
            let is_inside = self.is_outside(&at, start)
                && self.is_at_most(&Affine::constant(0), &at)
                && self.is_at_most(&at, &last);
            if !is_inside {
                return None;
            }
            only.push(Some(at));
        }
        let is_whole = |all: &[Option<Affine>]| all.iter().all(Option::is_none);
        (only.len() == shape.len() && !is_whole(&only)).then_some(Slice { array, only })
    }

    /// Adds code that copies a slice. Returns the copy: an array of the dimensions in which the slice has all
    /// indices, or a scalar. Returns `None` where the code might overflow.
    fn copy(
        &mut self,
        operation: &ArrayOperation,
        slice: &Slice,
        code: &mut Code,
    ) -> Option<Variable> {
        let info = self.program.variable(slice.array);
        let (name, ty) = (info.name.clone(), info.ty.clone());
        let (scalar, extents) = match ty {
            Type::Array(scalar, extents) => (scalar, extents),
            Type::Scalar(scalar) => (scalar, Vec::new()),
            Type::Block(_) => (Scalar::I64, Vec::new()),
        };
        let (mut shape, mut own, mut indices) = (Vec::new(), Vec::new(), Vec::new());
        for (only, extent) in slice.only.iter().zip(extents) {
            let index = match only {
                Some(at) => self.sum(at, code)?,
                None => {
                    let index = self.program.add_variable("i", Type::Scalar(Scalar::I64));
                    shape.push(extent);
                    own.push(index);
                    Atom::Variable(index)
                }
            };
            indices.push(index);
        }
        let element = self
            .program
            .add_variable(name.clone(), Type::Scalar(scalar));
        let array = slice.array;
        let read = code.statement(vec![element], Expression::Index { array, indices });
        if own.is_empty() {
            code.statements.push(read);
            return Some(element);
        }
        let copy = self
            .program
            .add_variable(name, Type::Array(scalar, shape.clone()));
        let map = Expression::Operation(ArrayOperation {
            shape,
            indices: own,
            level: operation.level,
            strategy: None,
            carries: Vec::new(),
            body: Body {
                statements: vec![read],
                results: vec![Atom::Variable(element)],
            },
            outputs: vec![Output::Map],
        });
        code.statements.push(code.statement(vec![copy], map));
        Some(copy)
    }
}
