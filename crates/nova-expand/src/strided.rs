//! Reads of elements in another order than they lie in memory: copies of arrays that are transposed, reversed
//! or sliced, and maps that read such arrays.
//!
//! If neighbouring elements lie along different dimensions in the source and in the destination, as in a
//! transposed matrix, the loops are tiled. So a cache line that is read or written is used completely while
//! it is in the cache. On a device each thread of a grid copies one element, since the host would have to
//! transfer both whole arrays.

use crate::env::Env;
use crate::loops::{NAMES, wrap, wrap_flat};
use crate::places::Place;
use crate::writer::{INDEX, Nesting, Result, Writer};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_flat::ir as flat;
use nova_flat::memory::{Polynomial, polynomial_of};
use nova_loop::ir::{Command, Expression, Level, Variable};
use nova_machine::{DEVICE, Machine, PROCESSOR};

/// A dimension that is split into tiles.
pub(crate) struct Tiled {
    dimension: usize,
    size: i64,
}

/// Copies the elements of an array one by one.
pub(crate) fn copy_strided(
    env: &mut Env<'_>,
    to: Place<'_>,
    from: Place<'_>,
    place: &nova_diag::Place,
) -> Result<()> {
    let extents = from.shape.iter().map(|extent| env.simple(*extent));
    let extents = extents.collect::<Result<Vec<_>>>()?;
    let on_device = env.machine == Machine::Device && env.grids == 0;
    if !on_device || !to.lmad.is_row_major() {
        let tiles = tiles(to, from, i64::from(env.tiles.line));
        return copy_in_order(env, to, from, &extents, tiles, place);
    }
    let (threads, ()) = env.nested(|env| {
        let indices: Vec<Variable> = extents
            .iter()
            .map(|_| env.add_variable("i", INDEX))
            .collect();
        let (code, ()) = env.nested(|env| copy_element(env, to, from, &indices))?;
        wrap_flat(env, Level::Grid, &extents, &indices, code, place);
        Ok(())
    })?;
    let (order, ()) = env.nested(|env| copy_in_order(env, to, from, &extents, None, place))?;
    let all = extents.iter().cloned();
    let count = all.fold(Expression::index(1), Expression::times);
    let is_large =
        Expression::index(DEVICE.copied_elements).compare(ScalarOperation::LessEqual, count);
    env.emit(Command::If {
        condition: is_large,
        then: threads,
        otherwise: order,
    });
    Ok(())
}

fn copy_element(
    env: &mut Env<'_>,
    to: Place<'_>,
    from: Place<'_>,
    indices: &[Variable],
) -> Result<()> {
    let indices: Vec<Expression> = indices.iter().map(|v| Expression::Variable(*v)).collect();
    let value = env.load(from, indices.clone())?;
    env.store(to, indices, value)
}

/// Copies the elements of an array one by one, by one thread.
fn copy_in_order(
    env: &mut Env<'_>,
    to: Place<'_>,
    from: Place<'_>,
    extents: &[Expression],
    tiles: Option<[Tiled; 2]>,
    place: &nova_diag::Place,
) -> Result<()> {
    let indices: Vec<Variable> = (0..extents.len())
        .map(|d| env.add_variable(NAMES[d.min(NAMES.len() - 1)], INDEX))
        .collect();
    let (code, ()) = env.nested(|env| copy_element(env, to, from, &indices))?;
    match tiles {
        Some(tiles) => wrap_in_tiles(env, extents, &indices, &tiles, code, place),
        None => wrap(env, extents, &indices, code, place),
    }
    Ok(())
}

/// Returns the tiles of a sequential map whose reads have their neighbours in another dimension than its
/// results.
pub(crate) fn tiles_of_map(env: &Env<'_>, operation: &flat::ArrayOperation) -> Option<[Tiled; 2]> {
    let maps = |output: &flat::Output| matches!(output, flat::Output::Map);
    let is_map = operation.level == flat::Level::Sequential
        && operation.carries.is_empty()
        && operation.outputs.iter().all(maps);
    if env.machine == Machine::Device || !is_map || operation.shape.len() < 2 {
        return None;
    }
    let written = operation.shape.len() - 1;
    let (read, element) = TransposedReads { env, operation }.read_along(written)?;
    let element = env.source.ty(element).element();
    Some(sizes(read, written, element, i64::from(env.tiles.line)))
}

/// Writes code inside the loops of a space. The loops over tiles enclose the loops in a tile.
pub(crate) fn wrap_in_tiles(
    out: &mut Writer,
    extents: &[Expression],
    indices: &[Variable],
    tiles: &[Tiled; 2],
    code: Vec<Command>,
    place: &nova_diag::Place,
) {
    let loop_of = |variable, count, body| Command::sequential(variable, count, body, place);
    let mut code = code;
    let mut outer = Vec::new();
    for tile in tiles.iter().rev() {
        let (Some(extent), Some(index)) =
            (extents.get(tile.dimension), indices.get(tile.dimension))
        else {
            return;
        };
        let [number, first, own] =
            ["tile", "first", "own"].map(|name| out.add_variable(name, INDEX));
        let begin = Expression::Variable(first);
        code.insert(
            0,
            Command::declare(*index, begin.clone().plus(Expression::Variable(own))),
        );
        let left = extent.clone().minus(begin);
        let length = number_of(ScalarOperation::Minimum, left, tile.size);
        code = vec![loop_of(own, length, code)];
        let start = Expression::Variable(number).times(Expression::index(tile.size));
        let sum = extent.clone().plus(Expression::index(tile.size - 1));
        let count = number_of(ScalarOperation::Divide, sum, tile.size);
        outer.push((number, count, Command::declare(first, start)));
    }
    for (number, count, start) in outer {
        code.insert(0, start);
        code = vec![loop_of(number, count, code)];
    }
    let others = (0..extents.len()).filter(|d| tiles.iter().all(|tile| tile.dimension != *d));
    for d in others.rev() {
        if let (Some(extent), Some(index)) = (extents.get(d), indices.get(d)) {
            code = vec![loop_of(*index, extent.clone(), code)];
        }
    }
    out.commands.extend(code);
}

fn number_of(operation: ScalarOperation, left: Expression, right: i64) -> Expression {
    Expression::Scalar {
        operation,
        operand: Scalar::I64,
        arguments: vec![left, Expression::index(right)],
    }
}

/// Returns the dimensions of neighbours in the source and in the destination, if they differ.
fn tiles(to: Place<'_>, from: Place<'_>, line: i64) -> Option<[Tiled; 2]> {
    let neighbours = |place: Place<'_>| {
        let dimensions = place.lmad.dimensions.iter();
        let strides = dimensions.map(|(_, stride)| stride.as_constant());
        strides
            .rev()
            .position(|stride| matches!(stride, Some(1 | -1)))
    };
    let last = to.lmad.dimensions.len().checked_sub(1)?;
    let (read, written) = (last - neighbours(from)?, last - neighbours(to)?);
    (read != written).then(|| sizes(read, written, to.element, line))
}

fn sizes(read: usize, written: usize, element: Scalar, line: i64) -> [Tiled; 2] {
    let elements = (line / i64::from(element.bits() / 8)).max(1);
    let tiled = |dimension, lines| Tiled {
        dimension,
        size: lines * elements,
    };
    let [lines_read, lines_written] = PROCESSOR.transposed_lines;
    [tiled(read, lines_read), tiled(written, lines_written)]
}

/// Finds reads along another dimension than the last one, as of transposed arrays.
struct TransposedReads<'o, 'e> {
    env: &'o Env<'e>,
    operation: &'o flat::ArrayOperation,
}

impl TransposedReads<'_, '_> {
    /// Returns the dimension along which an array is read from neighbour to neighbour, and the array, if the
    /// dimension `written` counts its rows. Returns none if the body does anything but read elements and
    /// compute, such as an error, a trace or a loop, since that would happen in another order.
    fn read_along(&self, written: usize) -> Option<(usize, flat::Variable)> {
        let mut found = None;
        for statement in &self.operation.body.statements {
            match &statement.expression {
                flat::Expression::Index { array, indices } => {
                    let along: Vec<Option<usize>> =
                        indices.iter().map(|index| self.dimension(*index)).collect();
                    if let [rows @ .., Some(last)] = &along[..]
                        && *last != written
                        && rows.contains(&Some(written))
                    {
                        found = found.or(Some((*last, *array)));
                    }
                    if let [only] = indices[..]
                        && let Some(along) = self.line_along(*array, only, written)
                    {
                        found = found.or(Some((along, *array)));
                    }
                }
                flat::Expression::Scalar { .. } | flat::Expression::Atom(_) => {}
                _others => return None,
            }
        }
        found
    }

    /// Returns the dimension along which neighbours of an array without rows are read, if those along `written`
    /// lie apart.
    fn line_along(
        &self,
        array: flat::Variable,
        index: flat::Atom,
        written: usize,
    ) -> Option<usize> {
        let memory = self.env.source.variable(array).memory.as_ref()?;
        let address = memory.lmad.address(&[self.sum(index)?]);
        let factors: Option<Vec<Option<i64>>> = self
            .operation
            .indices
            .iter()
            .map(|own| Some(address.split(own)?.0.as_constant()))
            .collect();
        let factors = factors?;
        let apart = !matches!(factors.get(written), Some(Some(-1..=1)) | None);
        let line = factors.iter().position(|f| matches!(f, Some(1 | -1)));
        line.filter(|_| apart)
    }

    /// Returns an index as a sum of products of indices and of variables from outside.
    fn sum(&self, atom: flat::Atom) -> Option<Polynomial> {
        let definition = atom.as_variable().and_then(|variable| {
            let mut statements = self.operation.body.statements.iter();
            statements.find(|s| s.pattern == [variable])
        });
        let Some(definition) = definition else {
            return polynomial_of(atom);
        };
        let flat::Expression::Scalar {
            operation,
            operand: Scalar::I64,
            arguments,
        } = &definition.expression
        else {
            return None;
        };
        let [left, right] = arguments[..] else {
            return None;
        };
        let (left, right) = (deep(|| self.sum(left))?, deep(|| self.sum(right))?);
        match operation {
            ScalarOperation::Add => Some(left.plus(&right)),
            ScalarOperation::Subtract => Some(left.minus(&right)),
            ScalarOperation::Multiply => Some(left.times(&right)),
            _others => None,
        }
    }

    fn added(&self, atom: flat::Atom) -> Option<usize> {
        deep(|| self.dimension(atom))
    }

    /// Returns the dimension whose index an atom is, up to an added offset.
    fn dimension(&self, atom: flat::Atom) -> Option<usize> {
        let flat::Atom::Variable(variable) = atom else {
            return None;
        };
        if let Some(own) = self.operation.indices.iter().position(|v| *v == variable) {
            return Some(own);
        }
        let mut statements = self.operation.body.statements.iter();
        let definition = statements.find(|s| s.pattern == [variable])?;
        match &definition.expression {
            flat::Expression::Scalar {
                operation: ScalarOperation::Add | ScalarOperation::Subtract,
                arguments,
                ..
            } => match &arguments[..] {
                [left, right] => match (self.added(*left), self.added(*right)) {
                    (Some(own), None) | (None, Some(own)) => Some(own),
                    (_, _) => None,
                },
                _others => None,
            },
            _others => None,
        }
    }
}

/// Copies so many elements between row-major arrays, to an index on.
pub(crate) fn copy_block(
    env: &mut Env<'_>,
    to: Place<'_>,
    first: Expression,
    from: Place<'_>,
    count: Expression,
) -> Result<()> {
    let to_offset = env.polynomial(&to.lmad.offset)?.plus(first);
    let from_offset = env.polynomial(&from.lmad.offset)?;
    env.emit(Command::Copy {
        to: Expression::offset(to.pointer, to_offset),
        from: Expression::offset(from.pointer, from_offset),
        element: to.element,
        count,
    });
    Ok(())
}

/// Copies all elements of an array into another array of the same extents.
pub(crate) fn copy_array(
    env: &mut Env<'_>,
    to: Place<'_>,
    from: Place<'_>,
    place: &nova_diag::Place,
) -> Result<()> {
    env.flush_conflicts(to.block)?;
    if to.lmad.is_row_major() && from.lmad.is_row_major() {
        let count = env.product(from.shape)?;
        return copy_block(env, to, Expression::index(0), from, count);
    }
    copy_strided(env, to, from, place)
}
