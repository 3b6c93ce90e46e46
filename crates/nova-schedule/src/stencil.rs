//! Stencils, for devices: maps that compute an element from neighbours in arrays. Each index of a
//! neighbour is the element's own index in that dimension plus a small number, or such a sum clamped to
//! the array. The threads of a work-group take neighbouring elements and read mostly the same data. So
//! they bring these to local memory first, each element once ([`halo_tiles`]).
//!
//! The indices alone determine these elements ([`range`]), whatever clamps them to the array. So the
//! body stays as it is, and only reads elsewhere.

pub(crate) mod halo_tiles;
mod range;

pub(crate) use range::Definitions;

use crate::notes::Step;
use crate::policy::Parallelism;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Level, Program, Type, Variable};
use nova_flat::kinds::is_map;
use nova_flat::visit::each_statement;
use nova_machine::{DEVICE, figures};
use nova_symbolic::Interval;
use range::Ranges;
use std::collections::BTreeSet;

/// The possible numbers of neighbouring elements that a group computes; the most for which there is
/// room is taken.
const TILE_SIZES: [i64; 3] = figures::STENCILS.tile_sizes;
/// The largest distance of a neighbour.
const REACH: i64 = figures::STENCILS.reach;
/// The least number of neighbours in one array, and the least average number of times that a thread
/// reads what it brings.
const READS: usize = figures::STENCILS.reads;
const TIMES: i64 = figures::STENCILS.times;

/// A stencil, with the size of its tiles.
#[derive(Debug)]
pub(crate) struct Stencil {
    arrays: Vec<Neighbours>,
    /// The number of elements that a group computes.
    tile: i64,
    /// True if indices are computed in 32 bits.
    narrow: bool,
}

/// An array whose neighbours are read.
#[derive(Clone, Debug)]
struct Neighbours {
    array: Variable,
    /// For each dimension, the least and the greatest distance of neighbours from the index.
    reach: Vec<(i64, i64)>,
    /// The number of different neighbours.
    reads: usize,
    /// The bytes of an element.
    bytes: i64,
}

impl Neighbours {
    /// Returns the number of rows of a halo tile: one for each of the distances in the dimensions
    /// before the last.
    fn rows(&self) -> i64 {
        let before = self.reach.iter().rev().skip(1);
        before.map(|(low, high)| high - low + 1).product()
    }

    /// Returns the number of elements in a row of a halo tile.
    fn length(&self, tile: i64) -> i64 {
        let (low, high) = self.reach.last().copied().unwrap_or_default();
        tile + high - low
    }

    fn is_worth(&self) -> bool {
        self.reads >= READS && self.reads as i64 >= TIMES * self.rows()
    }

    fn size(&self, tile: i64) -> i64 {
        self.rows() * self.length(tile) * self.bytes
    }
}

impl Stencil {
    /// Returns the stencil of an operation, if it is one and bringing neighbours to local memory is
    /// worth it.
    pub(crate) fn of(
        program: &Program,
        operation: &ArrayOperation,
        definitions: &Definitions,
        parallelism: Parallelism,
    ) -> Option<Stencil> {
        let rank = operation.shape.len();
        let plain = operation.level == Level::Sequential && !operation.is_marked();
        if !parallelism.kernels
            || !plain
            || !is_map(operation)
            || operation.outputs.is_empty()
            || !(1..=3).contains(&rank)
            || !computes_numbers(program, &operation.body)
        {
            return None;
        }
        let mut ranges = Ranges::new(program, definitions);
        let mut arrays: Vec<Neighbours> = Vec::new();
        let mut room = DEVICE.tile_bytes();
        for (array, reads) in reads(&operation.body, rank) {
            let found = neighbours(&mut ranges, operation, array, &reads);
            let least = TILE_SIZES.iter().min().copied().unwrap_or_default();
            if let Some(found) = found.filter(Neighbours::is_worth)
                && !(rank > 1 && definitions.is_scattered(array))
                && found.size(least) <= room
            {
                room -= found.size(least);
                arrays.push(found);
            }
        }
        let size = |tile: i64| arrays.iter().map(|a| a.size(tile)).sum::<i64>();
        let tile = TILE_SIZES
            .into_iter()
            .find(|s| size(*s) <= DEVICE.tile_bytes())?;
        let narrow = ranges.narrow;
        (!arrays.is_empty()).then_some(Stencil {
            arrays,
            tile,
            narrow,
        })
    }

    /// Returns the step that is reported for the stencil.
    pub(crate) fn step(&self) -> Step {
        Step::Neighbours {
            tile: self.tile,
            arrays: self.arrays.len(),
        }
    }
}

/// True if a body only computes numbers and reads arrays, and cannot fail.
fn computes_numbers(program: &Program, body: &Body) -> bool {
    let mut all = true;
    each_statement(body, &mut |statement| {
        all &= match &statement.expression {
            Expression::Atom(_)
            | Expression::Scalar { .. }
            | Expression::Index { .. }
            | Expression::If { .. }
            | Expression::Switch { .. } => true,
            _does_more => false,
        };
        let mut bound = statement.pattern.iter();
        all &= bound.all(|v| matches!(program.ty(*v), Type::Scalar(_)));
    });
    all
}

/// Returns the arrays that a body reads with `rank` indices, in the order of the program, each with the
/// indices of its reads.
fn reads(body: &Body, rank: usize) -> Vec<(Variable, Vec<&[Atom]>)> {
    let mut found: Vec<(Variable, Vec<&[Atom]>)> = Vec::new();
    each_statement(body, &mut |statement| {
        if let Expression::Index { array, indices } = &statement.expression
            && indices.len() == rank
        {
            match found.iter_mut().find(|(other, _)| other == array) {
                Some((_, reads)) => reads.push(indices),
                None => found.push((*array, vec![indices])),
            }
        }
    });
    found
}

/// Returns the neighbours that an operation reads in an array, if it reads no other elements there.
fn neighbours(
    ranges: &mut Ranges,
    operation: &ArrayOperation,
    array: Variable,
    reads: &[&[Atom]],
) -> Option<Neighbours> {
    let Type::Array(element, shape) = ranges.type_of(array) else {
        return None;
    };
    let mut reach = Vec::with_capacity(shape.len());
    let dimensions = operation.indices.iter().zip(&operation.shape).zip(shape);
    for (k, ((index, extent), own)) in dimensions.enumerate() {
        let extent = ranges.sum(*extent);
        // Rows must be as long as those of the result, so that neighbours have one distance everywhere.
        if k > 0 && (extent.is_none() || ranges.sum(*own) != extent) {
            return None;
        }
        let mut all = (0, 0);
        for indices in reads {
            let Interval {
                least: Some(low),
                most: Some(high),
            } = ranges.range(*indices.get(k)?, *index, extent)
            else {
                return None;
            };
            let (low, high) = (i64::try_from(low).ok()?, i64::try_from(high).ok()?);
            all = (low.min(all.0), high.max(all.1));
        }
        reach.push(all);
    }
    let near = reach
        .iter()
        .all(|(low, high)| *low >= -REACH && *high <= REACH);
    near.then_some(Neighbours {
        array,
        reach,
        reads: different(reads),
        bytes: i64::from(element.info().bytes),
    })
}

/// Returns the number of different index lists.
fn different(reads: &[&[Atom]]) -> usize {
    let name = |atom: &Atom| match atom {
        Atom::Variable(variable) => (Some(*variable), 0),
        Atom::Constant(value) => (None, value.as_integer().unwrap_or_default()),
    };
    let all = reads.iter().map(|r| r.iter().map(name).collect::<Vec<_>>());
    all.collect::<BTreeSet<_>>().len()
}
