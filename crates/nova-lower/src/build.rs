//! Lifting: an operation whose body gives a value of any type for every index.
//!
//! Scalars become arrays. A vector is collected: its rows are concatenated, and the operation gives
//! their starts and ends. A vector of vectors is made dense first; each level below is collected on
//! its own, with the lengths of its rows among the elements of the level above, and starts and ends
//! are scans of the lengths afterwards.

use crate::builder::Lowerer;
use crate::error::Result;
use crate::facts::Fact;
use crate::values::{has_rows, next, take};
use nova_core::{Scalar, ScalarOperation, Type};
use nova_diag::deep;
use nova_flat::ir::{ArrayOperation, Atom, Expression, Output, Type as FlatType, Variable};
use std::rc::Rc;
use std::slice::Iter;

/// What the body of an operation gives besides its carries.
#[derive(Default)]
pub(crate) struct Gift {
    pub outputs: Vec<Output>,
    /// What the outputs consume.
    pub results: Vec<Atom>,
    kinds: Vec<Kind>,
}

enum Kind {
    Map(Scalar),
    /// The length of the rows, and the scalars of what is concatenated.
    Collect(Atom, Vec<Scalar>),
}

/// What a level of a nested value holds for each of its elements.
enum Piece {
    /// An array as it is.
    Array(Atom),
    /// Rows of a vector: their lengths, the total, and the dense level below.
    Rows(Atom, Atom, Type, Vec<Atom>),
    /// Rows of arrays: the extents in each dimension, the total, and the dense level below.
    Arrays(Vec<Atom>, Atom, Type, Vec<Atom>),
}

/// The results of an operation's outputs, to be taken in order.
struct Received<'a> {
    atoms: Iter<'a, Atom>,
    /// Per collect: the length of its rows where all have the same.
    regular: std::vec::IntoIter<Option<Atom>>,
    count: Option<Atom>,
}

impl Lowerer<'_> {
    /// Runs `element` for every index of the shape; gives its values lifted over the shape. Where
    /// they hold vectors the shape has one dimension.
    pub fn build(
        &mut self,
        shape: &[Atom],
        ty: &Type,
        element: impl FnOnce(&mut Self, &[Atom]) -> Result<Vec<Atom>>,
    ) -> Result<Vec<Atom>> {
        let (_, lifted) =
            self.build_carrying(shape, &Type::Unit, Vec::new(), ty, |b, index, _| {
                Ok((Vec::new(), element(b, index)?))
            })?;
        Ok(lifted)
    }

    /// As [`Lowerer::build`], in order, with a state of type `state` passed along: `step` gives the
    /// next state and the element. Gives the final state and the lifted elements.
    pub fn build_carrying(
        &mut self,
        shape: &[Atom],
        state: &Type,
        start: Vec<Atom>,
        ty: &Type,
        step: impl FnOnce(&mut Self, &[Atom], Vec<Atom>) -> Result<(Vec<Atom>, Vec<Atom>)>,
    ) -> Result<(Vec<Atom>, Vec<Atom>)> {
        let first_inner = self.output.variables.len() as u32;
        let indices: Vec<Variable> = (0..shape.len()).map(|k| self.index_variable(k)).collect();
        let index: Vec<Atom> = indices.iter().map(|i| Atom::Variable(*i)).collect();
        let carried = self.fresh(state);
        let carried_atoms = carried.iter().map(|c| Atom::Variable(*c)).collect();
        let mut gift = Gift::default();
        let body = self.body(|b| {
            let (next, value) = step(b, &index, carried_atoms)?;
            b.give(ty, &mut value.iter(), &mut gift)?;
            let mut results = next;
            results.append(&mut gift.results);
            Ok(results)
        })?;
        let mut pattern = self.fresh(state);
        let last: Vec<Atom> = pattern.iter().map(|p| Atom::Variable(*p)).collect();
        let given = self.gift_pattern(shape, &gift);
        pattern.extend(&given);
        let operation = ArrayOperation {
            shape: shape.to_vec(),
            indices,
            carries: carried.into_iter().zip(start).collect(),
            body,
            outputs: gift.outputs,
        };
        self.emit(pattern, Expression::Operation(operation));
        let regular: Vec<Option<Atom>> = gift
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

    /// Variables for the results of the outputs.
    fn gift_pattern(&mut self, shape: &[Atom], gift: &Gift) -> Vec<Variable> {
        let mut pattern = Vec::new();
        for kind in &gift.kinds {
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

    /// In the body: what the outputs consume for a value of the type.
    fn give(&mut self, ty: &Type, value: &mut Iter<Atom>, gift: &mut Gift) -> Result<()> {
        match ty {
            Type::Unit | Type::Function(..) => Ok(()),
            Type::Scalar(scalar) => {
                self.give_scalar(next(value)?, *scalar, gift);
                Ok(())
            }
            Type::Tuple(types) => types
                .iter()
                .try_for_each(|t| deep(|| self.give(t, value, gift))),
            Type::Sum(id) => {
                let sum = self.output.sums[id.0 as usize].clone();
                if sum.is_recursive() {
                    self.give_scalar(next(value)?, Scalar::I64, gift);
                    return Ok(());
                }
                self.give_scalar(next(value)?, Scalar::I32, gift);
                let mut constructors = sum.constructors.iter();
                constructors.try_for_each(|c| deep(|| self.give(&c.payload, value, gift)))
            }
            Type::Vector(inner) => {
                let length = next(value)?;
                let lifted = take(value, self.lifted_width(inner))?;
                self.give_level(inner, &lifted, length, gift)
            }
            Type::Array(rank, inner) => {
                let extents = take(value, *rank as usize)?;
                let lifted = take(value, self.lifted_width(inner))?;
                for extent in &extents {
                    self.give_scalar(*extent, Scalar::I64, gift);
                }
                let count = self.product(&extents);
                let flat = self.reshape(inner, &lifted, &[count])?;
                self.give_level(inner, &flat, count, gift)
            }
        }
    }

    fn give_scalar(&mut self, atom: Atom, scalar: Scalar, gift: &mut Gift) {
        gift.outputs.push(Output::Map);
        gift.results.push(atom);
        gift.kinds.push(Kind::Map(scalar));
    }

    /// In the body: collects `count` elements, and the levels below them.
    fn give_level(
        &mut self,
        ty: &Type,
        lifted: &[Atom],
        count: Atom,
        gift: &mut Gift,
    ) -> Result<()> {
        let lifted = self.make_dense(ty, lifted, count)?;
        let mut pieces = Vec::new();
        self.pieces(ty, &mut lifted.iter(), count, &mut pieces)?;
        let mut arrays = Vec::new();
        for piece in &pieces {
            match piece {
                Piece::Array(array) => arrays.push(*array),
                Piece::Rows(lengths, ..) => arrays.push(*lengths),
                Piece::Arrays(extents, ..) => arrays.extend(extents),
            }
        }
        let mut scalars = Vec::with_capacity(arrays.len());
        for array in &arrays {
            scalars.push(self.array(*array)?.1);
        }
        gift.outputs.push(Output::Collect {
            values: arrays.len(),
        });
        gift.kinds.push(Kind::Collect(count, scalars));
        gift.results.push(count);
        gift.results.extend(arrays);
        for piece in pieces {
            match piece {
                Piece::Array(_) => {}
                Piece::Rows(_, total, inner, below) | Piece::Arrays(_, total, inner, below) => {
                    deep(|| self.give_level(&inner, &below, total, gift))?;
                }
            }
        }
        Ok(())
    }

    /// The pieces of a dense level of `count` elements, in order.
    fn pieces(
        &mut self,
        ty: &Type,
        lifted: &mut Iter<Atom>,
        count: Atom,
        list: &mut Vec<Piece>,
    ) -> Result<()> {
        match ty {
            Type::Unit | Type::Function(..) => Ok(()),
            Type::Scalar(_) => {
                list.push(Piece::Array(next(lifted)?));
                Ok(())
            }
            Type::Tuple(types) => types
                .iter()
                .try_for_each(|t| deep(|| self.pieces(t, lifted, count, list))),
            Type::Sum(id) => {
                list.push(Piece::Array(next(lifted)?));
                let sum = self.output.sums[id.0 as usize].clone();
                if sum.is_recursive() {
                    return Ok(());
                }
                let mut constructors = sum.constructors.iter();
                constructors.try_for_each(|c| deep(|| self.pieces(&c.payload, lifted, count, list)))
            }
            Type::Vector(inner) => {
                let rows = take(lifted, 3)?;
                let below = take(lifted, self.lifted_width(inner))?;
                let lengths = self.lengths(count, rows[0], rows[1])?;
                list.push(Piece::Rows(lengths, rows[2], (**inner).clone(), below));
                Ok(())
            }
            Type::Array(rank, inner) => {
                let extents = take(lifted, *rank as usize)?;
                let total = take(lifted, 2)?[1];
                let below = take(lifted, self.lifted_width(inner))?;
                list.push(Piece::Arrays(extents, total, (**inner).clone(), below));
                Ok(())
            }
        }
    }

    /// The same level with every row in it dense, by copying it where that is not known.
    fn make_dense(&mut self, ty: &Type, lifted: &[Atom], count: Atom) -> Result<Vec<Atom>> {
        let mut starts = Vec::new();
        self.starts_of_rows(ty, &mut lifted.iter(), &mut starts)?;
        if starts.iter().all(|s| self.is_dense(*s)) {
            return Ok(lifted.to_vec());
        }
        self.build(&[count], ty, |b, index| b.element(ty, lifted, index))
    }

    /// The starts of all rows of a level.
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
                let mut constructors = sums[id.0 as usize].constructors.iter();
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

    /// The lengths of rows.
    pub fn lengths(&mut self, count: Atom, starts: Atom, ends: Atom) -> Result<Atom> {
        self.map_scalar("lengths", count, Scalar::I64, |b, i| {
            let end = b.index(ends, &[i])?;
            let start = b.index(starts, &[i])?;
            Ok(b.subtract(end, start))
        })
    }

    /// Dense starts and ends of rows with these lengths.
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
            carries: Vec::new(),
            body,
            outputs,
        };
        self.emit(vec![starts, ends], Expression::Operation(operation));
        self.note(Atom::Variable(starts), Fact::Dense);
        Ok((Atom::Variable(starts), Atom::Variable(ends)))
    }
}

/// Taking what an operation has given.
impl Lowerer<'_> {
    fn receive(
        &mut self,
        ty: &Type,
        received: &mut Received,
        lifted: &mut Vec<Atom>,
    ) -> Result<()> {
        match ty {
            Type::Unit | Type::Function(..) => Ok(()),
            Type::Scalar(_) => {
                lifted.push(next(&mut received.atoms)?);
                Ok(())
            }
            Type::Tuple(types) => types
                .iter()
                .try_for_each(|t| deep(|| self.receive(t, received, lifted))),
            Type::Sum(id) => {
                lifted.push(next(&mut received.atoms)?);
                let sum = self.output.sums[id.0 as usize].clone();
                if sum.is_recursive() {
                    return Ok(());
                }
                let mut constructors = sum.constructors.iter();
                constructors.try_for_each(|c| deep(|| self.receive(&c.payload, received, lifted)))
            }
            Type::Vector(inner) => {
                let level = self.receive_level(inner, received)?;
                self.note_rows(inner, &level, received.count)?;
                lifted.extend([level.starts, level.ends, level.total]);
                lifted.extend(level.below);
                Ok(())
            }
            Type::Array(rank, inner) => {
                lifted.extend(take(&mut received.atoms, *rank as usize)?);
                let level = self.receive_level(inner, received)?;
                self.note(level.starts, Fact::Dense);
                lifted.extend([level.starts, level.total]);
                lifted.extend(level.below);
                Ok(())
            }
        }
    }

    /// Notes that collected rows are dense, and an array when all have one length.
    fn note_rows(&mut self, inner: &Type, level: &Level, count: Option<Atom>) -> Result<()> {
        let fact = match (level.regular, count) {
            (Some(length), Some(count)) => {
                let mut array = vec![count, length];
                array.extend(self.reshape(inner, &level.below, &[count, length])?);
                Fact::Rows(Rc::from(array))
            }
            _ => Fact::Dense,
        };
        self.note(level.starts, fact);
        Ok(())
    }

    fn receive_level(&mut self, ty: &Type, received: &mut Received) -> Result<Level> {
        let rows = take(&mut received.atoms, 3)?;
        let regular = received.regular.next().flatten();
        let arrays = take(&mut received.atoms, self.level_width(ty))?;
        let mut below = Vec::new();
        let total = rows[2];
        self.receive_pieces(ty, total, &mut arrays.iter(), received, &mut below)?;
        Ok(Level {
            starts: rows[0],
            ends: rows[1],
            total,
            below,
            regular,
        })
    }

    /// How many arrays the pieces of a level of the type are.
    fn level_width(&self, ty: &Type) -> usize {
        match ty {
            Type::Unit | Type::Function(..) => 0,
            Type::Scalar(_) | Type::Vector(_) => 1,
            Type::Array(rank, _) => *rank as usize,
            Type::Tuple(types) => types.iter().map(|t| deep(|| self.level_width(t))).sum(),
            Type::Sum(id) => {
                let sum = &self.output.sums[id.0 as usize];
                if sum.is_recursive() {
                    return 1;
                }
                let payloads = sum.constructors.iter();
                1 + payloads
                    .map(|c| deep(|| self.level_width(&c.payload)))
                    .sum::<usize>()
            }
        }
    }

    fn receive_pieces(
        &mut self,
        ty: &Type,
        count: Atom,
        arrays: &mut Iter<Atom>,
        received: &mut Received,
        lifted: &mut Vec<Atom>,
    ) -> Result<()> {
        match ty {
            Type::Unit | Type::Function(..) => Ok(()),
            Type::Scalar(_) => {
                lifted.push(next(arrays)?);
                Ok(())
            }
            Type::Tuple(types) => types
                .iter()
                .try_for_each(|t| deep(|| self.receive_pieces(t, count, arrays, received, lifted))),
            Type::Sum(id) => {
                lifted.push(next(arrays)?);
                let sum = self.output.sums[id.0 as usize].clone();
                if sum.is_recursive() {
                    return Ok(());
                }
                sum.constructors.iter().try_for_each(|c| {
                    deep(|| self.receive_pieces(&c.payload, count, arrays, received, lifted))
                })
            }
            Type::Vector(inner) => {
                let lengths = next(arrays)?;
                let (starts, ends) = self.offsets(count, lengths)?;
                let level = deep(|| self.receive_level(inner, received))?;
                lifted.extend([starts, ends, level.total]);
                lifted.extend(level.below);
                Ok(())
            }
            Type::Array(rank, inner) => {
                let extents = take(arrays, *rank as usize)?;
                let sizes = self.map_scalar("sizes", count, Scalar::I64, |b, i| {
                    let mut size = Vec::with_capacity(extents.len());
                    for extent in &extents {
                        size.push(b.index(*extent, &[i])?);
                    }
                    Ok(b.product(&size))
                })?;
                let (starts, _) = self.offsets(count, sizes)?;
                let level = deep(|| self.receive_level(inner, received))?;
                lifted.extend(extents);
                lifted.extend([starts, level.total]);
                lifted.extend(level.below);
                Ok(())
            }
        }
    }
}

/// A collected level and the rows that lie in it.
struct Level {
    starts: Atom,
    ends: Atom,
    total: Atom,
    below: Vec<Atom>,
    regular: Option<Atom>,
}

/// The atom when it means the same outside of a body whose variables begin at `first_inner`.
fn invariant(atom: Atom, first_inner: u32) -> Option<Atom> {
    match atom {
        Atom::Constant(_) => Some(atom),
        Atom::Variable(variable) => (variable.0 < first_inner).then_some(atom),
    }
}
