//! Lifting: an operation whose body gives a value of any type for every index.
//!
//! Scalars become arrays. Vectors are collected: their rows are concatenated, and the operation gives
//! their starts and ends. A vector of vectors is made dense first. Then each level below is collected
//! on its own. The lengths of its rows are among the elements of the level above, and starts and ends
//! are scans of the lengths afterwards.

use crate::builder::Lowerer;
use crate::error::Result;
use crate::facts::Fact;
use crate::receive::Received;
use crate::values::{has_rows, next, take};
use nova_core::{Scalar, ScalarOperation, Strategy, Type};
use nova_diag::deep;
use nova_flat::ir::{ArrayOperation, Atom, Expression, Level, Output, Type as FlatType, Variable};
use std::slice::Iter;

/// The results that the body of an operation gives besides its carries.
#[derive(Default)]
pub(crate) struct Lifting {
    pub outputs: Vec<Output>,
    /// The atoms that the outputs consume.
    pub results: Vec<Atom>,
    kinds: Vec<Kind>,
}

enum Kind {
    Map(Scalar),
    /// The length of the rows, and the scalar types of the arrays that are concatenated.
    Collect(Atom, Vec<Scalar>),
}

/// The components of a level of a nested value.
enum Column {
    /// An array of scalars, tags or links.
    Array(Atom),
    /// The rows of a vector: their lengths, the total, and the dense level below.
    Rows(Atom, Atom, Type, Vec<Atom>),
    /// The rows of arrays: the extents in each dimension, the total, and the dense level below.
    Arrays(Vec<Atom>, Atom, Type, Vec<Atom>),
}

impl Lowerer<'_> {
    /// Runs `element` for every index of the shape. Returns its values lifted over the shape. If the
    /// values hold vectors, the shape must have one dimension.
    pub fn build(
        &mut self,
        shape: &[Atom],
        ty: &Type,
        element: impl FnOnce(&mut Self, &[Atom]) -> Result<Vec<Atom>>,
    ) -> Result<Vec<Atom>> {
        self.build_with(None, shape, ty, element)
    }

    /// As [`Lowerer::build`], by an operation that carries a strategy.
    pub fn build_with(
        &mut self,
        strategy: Option<Strategy>,
        shape: &[Atom],
        ty: &Type,
        element: impl FnOnce(&mut Self, &[Atom]) -> Result<Vec<Atom>>,
    ) -> Result<Vec<Atom>> {
        let (unit, none) = (Type::Unit, Vec::new());
        let (_, lifted) =
            self.build_carrying(strategy, shape, (&unit, none), ty, |b, index, _| {
                Ok((Vec::new(), element(b, index)?))
            })?;
        Ok(lifted)
    }

    /// As [`Lowerer::build_with`], in order, with a state of type `state` passed along. `step` gives
    /// the next state and the element. Returns the final state and the lifted elements.
    pub fn build_carrying(
        &mut self,
        strategy: Option<Strategy>,
        shape: &[Atom],
        (state, start): (&Type, Vec<Atom>),
        ty: &Type,
        step: impl FnOnce(&mut Self, &[Atom], Vec<Atom>) -> Result<(Vec<Atom>, Vec<Atom>)>,
    ) -> Result<(Vec<Atom>, Vec<Atom>)> {
        let first_inner = self.output.variables.len() as u32;
        let indices: Vec<Variable> = (0..shape.len()).map(|k| self.index_variable(k)).collect();
        let index: Vec<Atom> = indices.iter().map(|i| Atom::Variable(*i)).collect();
        let carried = self.fresh(state);
        let carried_atoms = carried.iter().map(|c| Atom::Variable(*c)).collect();
        let mut lifting = Lifting::default();
        let body = self.body(|b| {
            let (next, value) = step(b, &index, carried_atoms)?;
            b.give(ty, &mut value.iter(), &mut lifting)?;
            let mut results = next;
            results.append(&mut lifting.results);
            Ok(results)
        })?;
        let mut pattern = self.fresh(state);
        let last: Vec<Atom> = pattern.iter().map(|p| Atom::Variable(*p)).collect();
        let given = self.result_pattern(shape, &lifting);
        pattern.extend(&given);
        let operation = ArrayOperation {
            shape: shape.to_vec(),
            indices,
            level: Level::Sequential,
            strategy,
            carries: carried.into_iter().zip(start).collect(),
            body,
            outputs: lifting.outputs,
        };
        self.emit(pattern, Expression::Operation(operation));
        let regular: Vec<Option<Atom>> = lifting
            .kinds
            .iter()
            .filter_map(|kind| match kind {
                Kind::Map(_) => None,
                Kind::Collect(length, _) => Some(invariant(*length, first_inner)),
            })
            .collect();
        let given: Vec<Atom> = given.into_iter().map(Atom::Variable).collect();
        let mut received = Received {
            atoms: given.iter(),
            regular: regular.into_iter(),
            count: shape.first().copied().filter(|_| shape.len() == 1),
        };
        let mut lifted = Vec::new();
        self.receive(ty, &mut received, &mut lifted)?;
        Ok((last, lifted))
    }

    /// Adds variables for the results of the outputs.
    fn result_pattern(&mut self, shape: &[Atom], lifting: &Lifting) -> Vec<Variable> {
        let mut pattern = Vec::new();
        for kind in &lifting.kinds {
            match kind {
                Kind::Map(scalar) => {
                    let ty = FlatType::Array(*scalar, shape.to_vec());
                    pattern.push(self.output.add_variable("t", ty));
                }
                Kind::Collect(_, scalars) => {
                    let rows = FlatType::Array(Scalar::I64, shape.to_vec());
                    pattern.push(self.output.add_variable("starts", rows.clone()));
                    pattern.push(self.output.add_variable("ends", rows));
                    let total = FlatType::Scalar(Scalar::I64);
                    let total = self.output.add_variable("total", total);
                    pattern.push(total);
                    for scalar in scalars {
                        let ty = FlatType::Array(*scalar, vec![Atom::Variable(total)]);
                        pattern.push(self.output.add_variable("t", ty));
                    }
                }
            }
        }
        pattern
    }

    /// Adds the outputs for a value of the type. It is called in the body of the operation.
    fn give(&mut self, ty: &Type, value: &mut Iter<Atom>, lifting: &mut Lifting) -> Result<()> {
        match ty {
            Type::Unit | Type::Function(..) => Ok(()),
            Type::Scalar(scalar) => {
                self.give_scalar(next(value)?, *scalar, lifting);
                Ok(())
            }
            Type::Tuple(types) => types
                .iter()
                .try_for_each(|t| deep(|| self.give(t, value, lifting))),
            Type::Sum(id) => {
                let sum = self.output.sums[id.index()].clone();
                if sum.is_recursive() {
                    self.give_scalar(next(value)?, Scalar::I64, lifting);
                    return Ok(());
                }
                self.give_scalar(next(value)?, Scalar::I32, lifting);
                let mut constructors = sum.constructors.iter();
                constructors.try_for_each(|c| deep(|| self.give(&c.payload, value, lifting)))
            }
            Type::Vector(inner) => {
                let length = next(value)?;
                let lifted = take(value, self.lifted_width(inner))?;
                self.give_level(inner, &lifted, length, lifting)
            }
            Type::Array(rank, inner) => {
                let extents = take(value, *rank as usize)?;
                let lifted = take(value, self.lifted_width(inner))?;
                for extent in &extents {
                    self.give_scalar(*extent, Scalar::I64, lifting);
                }
                let count = self.product(&extents);
                let flat = self.reshape(inner, &lifted, &[count])?;
                self.give_level(inner, &flat, count, lifting)
            }
        }
    }

    fn give_scalar(&mut self, atom: Atom, scalar: Scalar, lifting: &mut Lifting) {
        lifting.outputs.push(Output::Map);
        lifting.results.push(atom);
        lifting.kinds.push(Kind::Map(scalar));
    }

    /// Collects `count` elements and the levels below them. It is called in the body of the operation.
    fn give_level(
        &mut self,
        ty: &Type,
        lifted: &[Atom],
        count: Atom,
        lifting: &mut Lifting,
    ) -> Result<()> {
        let lifted = self.make_dense(ty, lifted, count)?;
        let mut columns = Vec::new();
        self.columns(ty, &mut lifted.iter(), count, &mut columns)?;
        let mut arrays = Vec::new();
        for column in &columns {
            match column {
                Column::Array(array) => arrays.push(*array),
                Column::Rows(lengths, ..) => arrays.push(*lengths),
                Column::Arrays(extents, ..) => arrays.extend(extents),
            }
        }
        let mut scalars = Vec::with_capacity(arrays.len());
        for array in &arrays {
            scalars.push(self.array(*array)?.1);
        }
        lifting.outputs.push(Output::Collect {
            values: arrays.len(),
        });
        lifting.kinds.push(Kind::Collect(count, scalars));
        lifting.results.push(count);
        lifting.results.extend(arrays);
        for column in columns {
            match column {
                Column::Array(_) => {}
                Column::Rows(_, total, inner, below) | Column::Arrays(_, total, inner, below) => {
                    deep(|| self.give_level(&inner, &below, total, lifting))?;
                }
            }
        }
        Ok(())
    }

    /// Adds the columns of a dense level of `count` elements, in order.
    fn columns(
        &mut self,
        ty: &Type,
        lifted: &mut Iter<Atom>,
        count: Atom,
        list: &mut Vec<Column>,
    ) -> Result<()> {
        match ty {
            Type::Unit | Type::Function(..) => Ok(()),
            Type::Scalar(_) => {
                list.push(Column::Array(next(lifted)?));
                Ok(())
            }
            Type::Tuple(types) => types
                .iter()
                .try_for_each(|t| deep(|| self.columns(t, lifted, count, list))),
            Type::Sum(id) => {
                list.push(Column::Array(next(lifted)?));
                let sum = self.output.sums[id.index()].clone();
                if sum.is_recursive() {
                    return Ok(());
                }
                let mut constructors = sum.constructors.iter();
                constructors
                    .try_for_each(|c| deep(|| self.columns(&c.payload, lifted, count, list)))
            }
            Type::Vector(inner) => {
                let rows = take(lifted, 3)?;
                let below = take(lifted, self.lifted_width(inner))?;
                let lengths = self.lengths(count, rows[0], rows[1])?;
                list.push(Column::Rows(lengths, rows[2], (**inner).clone(), below));
                Ok(())
            }
            Type::Array(rank, inner) => {
                let extents = take(lifted, *rank as usize)?;
                let total = take(lifted, 2)?[1];
                let below = take(lifted, self.lifted_width(inner))?;
                list.push(Column::Arrays(extents, total, (**inner).clone(), below));
                Ok(())
            }
        }
    }

    /// Returns the same level with all rows dense. It is copied unless they are known to be.
    fn make_dense(&mut self, ty: &Type, lifted: &[Atom], count: Atom) -> Result<Vec<Atom>> {
        let mut starts = Vec::new();
        self.starts_of_rows(ty, &mut lifted.iter(), &mut starts)?;
        if starts.iter().all(|s| self.is_dense(*s)) {
            return Ok(lifted.to_vec());
        }
        self.build(&[count], ty, |b, index| b.element(ty, lifted, index))
    }

    /// Collects the starts of all rows of a level.
    fn starts_of_rows(
        &self,
        ty: &Type,
        lifted: &mut Iter<Atom>,
        list: &mut Vec<Atom>,
    ) -> Result<()> {
        let sums = &self.output.sums;
        if !has_rows(ty, sums) {
            take(lifted, self.lifted_width(ty))?;
            return Ok(());
        }
        match ty {
            Type::Unit | Type::Function(..) | Type::Scalar(_) => Ok(()),
            Type::Tuple(types) => types
                .iter()
                .try_for_each(|t| deep(|| self.starts_of_rows(t, lifted, list))),
            Type::Sum(id) => {
                next(lifted)?;
                let mut constructors = sums[id.index()].constructors.iter();
                constructors
                    .try_for_each(|c| deep(|| self.starts_of_rows(&c.payload, lifted, list)))
            }
            Type::Vector(inner) => {
                list.push(take(lifted, 3)?[0]);
                take(lifted, self.lifted_width(inner))?;
                Ok(())
            }
            Type::Array(rank, inner) => {
                let rank = *rank as usize;
                list.push(take(lifted, rank + 2)?[rank]);
                take(lifted, self.lifted_width(inner))?;
                Ok(())
            }
        }
    }

    /// Returns the lengths of rows.
    pub fn lengths(&mut self, count: Atom, starts: Atom, ends: Atom) -> Result<Atom> {
        self.map_scalar("lengths", count, Scalar::I64, |b, i| {
            let end = b.index(ends, &[i])?;
            let start = b.index(starts, &[i])?;
            Ok(b.subtract(end, start))
        })
    }

    /// Returns dense starts and ends of rows with these lengths.
    pub fn offsets(&mut self, count: Atom, lengths: Atom) -> Result<(Atom, Atom)> {
        let index = self.index_variable(0);
        let body = self.body(|b| {
            let length = b.index(lengths, &[Atom::Variable(index)])?;
            Ok(vec![length, length])
        })?;
        let mut outputs = Vec::new();
        for exclusive in [true, false] {
            let lambda = self.lambda(&[Scalar::I64, Scalar::I64], |b, p| {
                let arguments = p.to_vec();
                Ok(vec![b.scalar(ScalarOperation::Add, Scalar::I64, arguments)])
            })?;
            outputs.push(Output::Scan {
                lambda,
                start: vec![Atom::index(0)],
                exclusive,
            });
        }
        let ty = FlatType::Array(Scalar::I64, vec![count]);
        let starts = self.output.add_variable("starts", ty.clone());
        let ends = self.output.add_variable("ends", ty);
        let operation = ArrayOperation {
            shape: vec![count],
            indices: vec![index],
            level: Level::Sequential,
            strategy: None,
            carries: Vec::new(),
            body,
            outputs,
        };
        self.emit(vec![starts, ends], Expression::Operation(operation));
        self.note(Atom::Variable(starts), Fact::Dense);
        Ok((Atom::Variable(starts), Atom::Variable(ends)))
    }
}

/// Returns the atom if it means the same outside of a body whose variables begin at `first_inner`.
fn invariant(atom: Atom, first_inner: u32) -> Option<Atom> {
    match atom {
        Atom::Constant(_) => Some(atom),
        Atom::Variable(variable) => (variable.0 < first_inner).then_some(atom),
    }
}
