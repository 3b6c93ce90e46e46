//! Steps that change a trailing part of an array, as those of eliminations do: the rows and columns after the
//! step's own ones. A block of steps changes the part that all of them change in one pass. The rows and columns
//! that only its first steps change are strips, which are changed before.
//!
//! A step copies slices of the array, and single elements, before it changes the part. For a later step of a
//! block the earlier ones are taken for these elements alone, since the array still is as the block got it.
//!
//! [`shared`] moves what all elements of a row or a column share out of the body, [`emit`] writes the loops.

pub(super) mod emit;
mod shared;

use super::find::{
    Iterated, has_expensive_cases, is_prelude, is_pure, is_scalar, iterated, reads, uses,
};
use crate::limits::{STATEMENTS_OF_TRAILING_STEPS, STEPS_OF_A_BLOCK};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Output, Positions, Program, Statement, Variable,
};
use nova_flat::memory::Polynomial;
use nova_flat::positions::{Block, Sums};
use nova_flat::visit::{bodies, each_body_mut, each_statement, size};
use std::collections::{BTreeMap, BTreeSet};

/// The steps of a loop.
pub(super) struct Steps {
    /// The number of steps, and the number of a step.
    count: Atom,
    index: Variable,
    /// The array as a step gets it, and as the first step gets it.
    array: (Variable, Atom),
    /// The extents of the array.
    extents: Vec<Atom>,
    /// The statements of a step before it changes the array: numbers, elements, and copies of slices.
    before: Vec<Statement>,
    /// The first indices of the part that a step changes, and its extents. It ends where the array ends.
    starts: Vec<Atom>,
    shape: Vec<Atom>,
    /// By how much each start moves with the number of the step.
    moves: Vec<i64>,
    /// The indices of an element of the part, counted from the starts.
    indices: Vec<Variable>,
    /// The body that computes an element, where [`Self::own`] has the old value.
    body: Body,
    /// The old element.
    own: Variable,
    /// Integers of a step as sums, in the names of the loop's body.
    sums: BTreeMap<Variable, Polynomial>,
    /// Variables that a step binds.
    inside: BTreeSet<Variable>,
    /// The number of steps that one pass over the array takes.
    block: usize,
}

/// Returns the steps of a loop, if several can be taken at once. What elements share is moved out of the body.
pub(super) fn steps(program: &mut Program, statement: &Statement) -> Option<Steps> {
    let Iterated {
        count,
        index,
        array,
        body,
        before,
        made,
        operation,
    } = iterated(program, statement)?;
    let starts = starts_of(operation, array.0)?;
    let extents = program.ty(array.0).shape().to_vec();
    let rank = extents.len();
    let suits = before.iter().all(|s| is_before(s, array.0, rank));
    let copies = before.iter().any(|s| is_used_in(s, array.0));
    if !suits || !copies || !is_pure(&operation.body, array.0) {
        return None;
    }
    let mut steps = Steps {
        count,
        index,
        array,
        extents,
        before: before.to_vec(),
        starts: starts.to_vec(),
        shape: operation.shape.clone(),
        moves: Vec::new(),
        indices: operation.indices.clone(),
        body: operation.body.clone(),
        own: made,
        sums: BTreeMap::new(),
        inside: BTreeSet::new(),
        block: 1,
    };
    let known = Sums::default();
    let sums = known.within(body);
    steps.learn(body, &sums);
    steps.moves = steps.moves(&sums)?;
    if !steps.reads_own_only(&sums) {
        return None;
    }
    steps.without_reads();
    shared::hoist(program, &mut steps, &sums);
    steps.block = steps.block()?;
    Some(steps)
}

/// Returns where the block begins that a map stores into the array.
fn starts_of(operation: &ArrayOperation, array: Variable) -> Option<&[Atom]> {
    let is_map = operation.carries.is_empty()
        && operation.level == Level::Sequential
        && operation.strategy.is_none();
    match &operation.outputs[..] {
        [
            Output::Scatter {
                destinations,
                positions: Positions::Block(starts),
            },
        ] if is_map && *destinations == [array] => Some(starts),
        _ => None,
    }
}

/// True if a step may compute this before it changes the array: a number, an element, a check, or an array of fewer
/// dimensions than the array has.
fn is_before(statement: &Statement, array: Variable, rank: usize) -> bool {
    let Expression::Operation(operation) = &statement.expression else {
        return is_prelude(statement, array);
    };
    let mut is_plain = true;
    for inner in &operation.body.statements {
        let reads = reads(inner, array);
        is_plain &= is_scalar(&inner.expression) && inner.pattern.len() == 1;
        is_plain &= reads || !uses(&inner.expression, array);
    }
    is_plain
        && operation.carries.is_empty()
        && operation.level == Level::Sequential
        && operation.strategy.is_none()
        && operation.indices.len() < rank
        && matches!(operation.outputs[..], [Output::Map])
}

/// True if a statement uses a variable, in its bodies too.
fn is_used_in(statement: &Statement, variable: Variable) -> bool {
    let mut found = uses(&statement.expression, variable);
    bodies(&statement.expression, &mut |body| {
        each_statement(body, &mut |inner| {
            found |= uses(&inner.expression, variable)
        });
    });
    found
}

impl Steps {
    /// Learns which variables a step binds, and which of them are sums.
    fn learn(&mut self, body: &Body, sums: &Sums<'_>) {
        let (mut inside, mut known) = (BTreeSet::new(), BTreeMap::new());
        each_statement(body, &mut |statement| {
            if let Expression::Operation(operation) = &statement.expression {
                inside.extend(&operation.indices);
            }
            for variable in &statement.pattern {
                inside.insert(*variable);
                let sum = sums.value(Atom::Variable(*variable));
                known.extend(sum.map(|sum| (*variable, sum)));
            }
        });
        (self.inside, self.sums) = (inside, known);
    }

    /// Returns an integer of a step as a sum.
    fn sum(&self, atom: Atom) -> Option<Polynomial> {
        match atom.as_variable().and_then(|v| self.sums.get(&v)) {
            Some(sum) => Some(sum.clone()),
            None => nova_flat::memory::polynomial_of(atom),
        }
    }

    /// Returns the value that a sum has in a later step, from that of the first one.
    fn at(&self, sum: &Polynomial, step: i64) -> Polynomial {
        sum.substitute(|v| match *v == self.index {
            true => Polynomial::variable(*v).plus(&Polynomial::constant(step)),
            false => Polynomial::variable(*v),
        })
    }

    /// True if a sum has the same variables in all steps, but for the number of the step.
    fn is_plain(&self, sum: &Polynomial) -> bool {
        sum.variables().all(|v| !self.inside.contains(v))
    }

    /// Returns by how much each start moves with the number of the step, if the part ends where the array ends.
    fn moves(&self, sums: &Sums<'_>) -> Option<Vec<i64>> {
        let parts = self.starts.iter().zip(&self.shape).zip(&self.extents);
        let moves = parts.map(|((start, extent), whole)| {
            let start = self.sum(*start)?;
            let end = start.plus(&self.sum(*extent)?);
            let ends = end == sums.value(*whole)?;
            let by = start.coefficient(&[self.index]);
            let fixed = start.plus_times(-by, &Polynomial::variable(self.index));
            let is_linear = fixed.variables().all(|v| *v != self.index);
            (ends && is_linear && self.is_plain(&fixed) && (0..=1).contains(&by)).then_some(by)
        });
        moves.collect()
    }

    /// True if the body reads no element of the array but the one that it computes.
    fn reads_own_only(&self, sums: &Sums<'_>) -> bool {
        let block = Block {
            starts: &self.starts,
            indices: &self.indices,
            extents: &self.shape,
        };
        let mut suits = true;
        each_statement(&self.body, &mut |statement| {
            if let Expression::Index { array, indices } = &statement.expression {
                suits &= *array != self.array.0 || sums.is_at(indices, &block);
            }
        });
        suits
    }

    /// Replaces the reads of the array by the old element.
    fn without_reads(&mut self) {
        let (array, own) = (self.array.0, Atom::Variable(self.own));
        each_body_mut(&mut self.body, &mut |body| {
            for statement in &mut body.statements {
                if reads(statement, array) {
                    statement.expression = Expression::Atom(own);
                }
            }
        });
    }

    /// Returns the number of steps of a block, if the code is short enough.
    fn block(&self) -> Option<usize> {
        let mut points = 0;
        for statement in &self.before {
            points += usize::from(is_used_in(statement, self.array.0));
        }
        let parts = 1 + self.moves.iter().filter(|by| **by > 0).count();
        let statements = size(&self.body) + 1;
        let copies = |block: usize| block * (block - 1) / 2 * points + parts * block;
        let fits =
            |block: &usize| (copies(*block) + 1) * statements <= STATEMENTS_OF_TRAILING_STEPS;
        let block = [STEPS_OF_A_BLOCK, 2].into_iter().find(fits)?;
        (!has_expensive_cases(&self.body)).then_some(block)
    }
}
