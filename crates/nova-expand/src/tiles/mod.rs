//! Tiled maps of reductions ([`tiling`] selects them). The reductions of neighbouring results do not run one
//! after the other, but side by side, one in each lane. So vector instructions need no sum across lanes, and
//! elements that do not depend on the lane are read once. If rows of results share elements, as in a product
//! of matrices, a tile has several rows, and the shared elements lie in a panel. Several tiles read the
//! panel from a near cache.
//!
//! Each reduction runs in blocks of steps. The sums of blocks are added to totals, sums of floats as doubles,
//! so that a sum is precise for any length. The last results that do not fill a tile are in one that overlaps
//! the previous tile. If all results together do not fill a tile, a narrower one is tried if there is no
//! panel, and then one that they fill in part. Fewer results are translated like others.

mod steps;
pub(crate) mod tiling;

use self::tiling::Tiling;
use crate::accumulators::{Reduction, zero};
use crate::env::Env;
use crate::loops::{each, each_part, groups_of, wrap};
use crate::output::Output;
use crate::outputs::{consume_all, start_outputs};
use crate::source::scalar_type;
use crate::space::{Rows, Space, split};
use crate::tiles::steps::{
    common_statements, fill_panels, finish_row_block, short_tile, start_totals, tile_block,
};
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_flat::operators::Operator;
use nova_loop::error::internal;
use nova_loop::ir::{Expression, Variable};

/// One component of a reduction.
struct Component {
    scalar: Scalar,
    /// The identity of the operator, in the type of totals.
    identity: ScalarValue,
    /// The totals of all results of the rows that share a panel.
    totals: Variable,
    /// True if totals are doubles, even if values are not.
    is_wider: bool,
}

/// A tile under translation.
struct Tile<'a> {
    tiling: Tiling<'a>,
    place: Place,
    /// The lanes of each row, for each output of the reduction.
    sums: Vec<Vec<Reduction<'a>>>,
    components: Vec<Vec<Component>>,
    panels: Vec<Variable>,
    outputs: Vec<Output<'a>>,
    /// The extents of the rows and lanes.
    extents: Vec<Expression>,
    /// The number of lanes in use.
    lanes: Expression,
}

/// A block of rows of results that share a panel.
struct RowBlock {
    /// The first row.
    row: Expression,
    /// The number of rows.
    rows: Expression,
    /// The index of the first lane's result.
    lane: Expression,
}

/// Translates a map of reductions in tiles.
pub(crate) fn operation_in_tiles<'a>(
    cx: &mut Translator<'a>,
    tiling: Tiling<'a>,
    pattern: &'a [flat::Variable],
    place: &Place,
) -> Result<()> {
    cx.frame += tiling.bytes;
    let map = tiling.map;
    let extents = cx.simple_values(&map.shape)?;
    let space = Space::unordered(&extents, Rows::None, place);
    let outputs = start_outputs(cx, map, pattern, &space)?;
    cx.flush_loads()?;
    cx.loops += 1;
    cx.choose(
        tiling.fits(&extents),
        |cx| all_tiles(cx, tiling.clone(), outputs, extents.clone(), place),
        |cx| {
            let outputs = maps_to(pattern);
            match tiling.narrow() {
                Some(narrow) => {
                    let partial = narrow.clone();
                    cx.choose(
                        narrow.fits(&extents),
                        |cx| all_tiles(cx, narrow, outputs, extents.clone(), place),
                        |cx| part_or_none(cx, partial, pattern, &extents, place),
                    )
                }
                None if tiling.panels.is_empty() => {
                    part_or_none(cx, tiling.clone(), pattern, &extents, place)
                }
                None => untiled(cx, map, &outputs, &extents, place),
            }
        },
    )?;
    cx.loops -= 1;
    Ok(())
}

/// Translates a map of reductions in tiles that its rows fill in part, if these have enough results.
fn part_or_none<'a>(
    cx: &mut Translator<'a>,
    partial: Tiling<'a>,
    pattern: &'a [flat::Variable],
    extents: &[Expression],
    place: &Place,
) -> Result<()> {
    let map = partial.map;
    let outputs = maps_to(pattern);
    cx.choose(
        partial.fits_in_part(extents),
        |cx| partial_tiles(cx, partial, outputs, extents.to_vec(), place),
        |cx| untiled(cx, map, &maps_to(pattern), extents, place),
    )
}

/// Translates a map whose results are too few for a tile.
fn untiled<'a>(
    cx: &mut Translator<'a>,
    map: &'a flat::ArrayOperation,
    outputs: &[Output<'a>],
    extents: &[Expression],
    place: &Place,
) -> Result<()> {
    let indices = cx.bind_indices(&map.indices)?;
    let values = indices.iter().map(|v| Expression::Variable(*v)).collect();
    let space = Space {
        indices: values,
        ..Space::unordered(extents, Rows::None, place)
    };
    let (code, ()) = cx.nested(|cx| {
        cx.body(&map.body, |cx, results| {
            consume_all(cx, map, outputs, results, &space)
        })?;
        Ok(())
    })?;
    wrap(cx, extents, &indices, code, place);
    Ok(())
}

/// Writes the loops over all tiles.
fn all_tiles<'a>(
    cx: &mut Translator<'a>,
    tiling: Tiling<'a>,
    outputs: Vec<Output<'a>>,
    extents: Vec<Expression>,
    place: &Place,
) -> Result<()> {
    let lanes = Expression::index(i64::from(tiling.lanes));
    let tile = start_tile(cx, tiling, outputs, extents, lanes, place)?;
    loops_of_tiles(cx, &tile, blocks_of_tiles)
}

/// Writes the loops over tiles that have a lane for each result of a row.
fn partial_tiles<'a>(
    cx: &mut Translator<'a>,
    tiling: Tiling<'a>,
    outputs: Vec<Output<'a>>,
    extents: Vec<Expression>,
    place: &Place,
) -> Result<()> {
    let lanes = last(&extents)?.clone();
    let tile = start_tile(cx, tiling, outputs, extents, lanes, place)?;
    loops_of_tiles(cx, &tile, |cx, tile| {
        let (row, rows, lane) = (zero(), Expression::index(1), zero());
        tile_row_block(cx, tile, &RowBlock { row, rows, lane })
    })
}

/// Writes the loops over the dimensions of a map that are not tiled, around what `write` adds.
fn loops_of_tiles<'a>(
    cx: &mut Translator<'a>,
    tile: &Tile<'a>,
    write: impl FnOnce(&mut Translator<'a>, &Tile<'a>) -> Result<()>,
) -> Result<()> {
    let outer = tile.extents.len() - tile_dimensions(&tile.tiling);
    let (before, _) = tile.extents.split_at(outer);
    let indices = cx.bind_indices(&tile.tiling.map.indices[..outer])?;
    let (code, ()) = cx.nested(|cx| write(cx, tile))?;
    wrap(cx, before, &indices, code, &tile.place);
    Ok(())
}

/// Declares the local arrays of tiles.
fn start_tile<'a>(
    cx: &mut Translator<'a>,
    tiling: Tiling<'a>,
    outputs: Vec<Output<'a>>,
    extents: Vec<Expression>,
    lanes: Expression,
    place: &Place,
) -> Result<Tile<'a>> {
    let (mut sums, mut components) = (Vec::new(), Vec::new());
    let rows = tiling.rows;
    let mut rest = tiling.sums;
    for (output, operators) in tiling.reduction.outputs.iter().zip(&tiling.operators) {
        let flat::Output::Reduce { lambda, start, .. } = output else {
            return Err(internal("a tile of what is no reduction"));
        };
        let (pattern, others) = split(rest, start.len())?;
        rest = others;
        let mut scalars = Vec::with_capacity(start.len());
        for atom in start {
            scalars.push(scalar_type(cx.source, *atom)?);
        }
        let mut of_rows = Vec::with_capacity(rows as usize);
        for _ in 0..rows {
            let lanes = cx.buffers("lanes", &scalars, tiling.lanes);
            of_rows.push(Reduction::in_lanes(
                lambda, pattern, &scalars, lanes, operators,
            ));
        }
        sums.push(of_rows);
        components.push(tile_components(cx, &tiling, &scalars, operators));
    }
    let mut panels = Vec::with_capacity(tiling.panels.len());
    for panel in &tiling.panels {
        let variable = *first(&panel.statement.pattern)?;
        let scalar = scalar_type(cx.source, flat::Atom::Variable(variable))?;
        let count = cx.tiles.steps * tiling.lanes;
        panels.extend(cx.buffers("panel", &[scalar], count));
    }
    Ok(Tile {
        tiling,
        place: place.clone(),
        sums,
        components,
        panels,
        outputs,
        extents,
        lanes,
    })
}

/// Declares the totals of a reduction's components.
fn tile_components(
    env: &mut Env<'_>,
    tiling: &Tiling<'_>,
    scalars: &[Scalar],
    operators: &[Operator],
) -> Vec<Component> {
    let rows = match tiling.panels.is_empty() {
        true => 1,
        false => env.tiles.rows,
    };
    let mut components = Vec::with_capacity(scalars.len());
    // Only sums start as -0.0.
    let is_sum = |operator: &Operator| operator.identity.same(ScalarValue::F32(-0.0));
    let is_wider = operators.iter().all(is_sum);
    for (scalar, operator) in scalars.iter().zip(operators) {
        let (ty, identity) = match is_wider {
            true => (Scalar::F64, ScalarValue::F64(-0.0)),
            false => (*scalar, operator.identity),
        };
        let totals = env.buffers("totals", &[ty], rows * tiling.lanes);
        components.extend(totals.into_iter().map(|totals| Component {
            scalar: *scalar,
            identity,
            totals,
            is_wider,
        }));
    }
    components
}

/// Writes the loops over the blocks of rows, and over the tiles of each. All tiles of a block read the same
/// elements of its rows, which stay in a near cache.
fn blocks_of_tiles<'a>(cx: &mut Translator<'a>, tile: &Tile<'a>) -> Result<()> {
    if tile.panels.is_empty() {
        return tiles_of_block(cx, tile, zero(), Expression::index(1));
    }
    let size = Expression::index(cx.tiles.rows.into());
    let parts = (&tile.extents[tile.extents.len() - 2], &size);
    let names = ["chunk", "top", "rows"];
    each_part(cx, names, parts, &tile.place, |cx, row, rows| {
        tiles_of_block(cx, tile, row, rows)
    })
}

/// Writes the loop over the tiles of a block of rows.
fn tiles_of_block<'a>(
    cx: &mut Translator<'a>,
    tile: &Tile<'a>,
    row: Expression,
    rows: Expression,
) -> Result<()> {
    let lanes = i64::from(tile.tiling.lanes);
    let extent = last(&tile.extents)?;
    let count = groups_of(extent.clone(), lanes);
    each(cx, "tile", count, &tile.place, |cx, number| {
        let start = number.times(Expression::index(lanes));
        let end = extent.clone().minus(Expression::index(lanes));
        let start = start.compare(ScalarOperation::Minimum, end);
        let lane = Expression::Variable(cx.declare("start", INDEX, start));
        tile_row_block(cx, tile, &RowBlock { row, rows, lane })
    })
}

/// Computes the tiles that share a panel: all steps of their reductions, then their results.
fn tile_row_block<'a>(cx: &mut Translator<'a>, tile: &Tile<'a>, block: &RowBlock) -> Result<()> {
    cx.scope(|cx| {
        common_statements(cx, tile, tile.tiling.before)?;
        let length = cx.simple(*first(&tile.tiling.reduction.shape)?)?;
        if !tile.tiling.irregular {
            return blocks_of_steps(cx, tile, block, &length);
        }
        let steps = Expression::index(cx.tiles.steps.into());
        let length = cx.simplify(length, "length", INDEX);
        cx.choose(
            length.clone().compare(ScalarOperation::LessEqual, steps),
            |cx| short_tile(cx, tile, block, &length),
            |cx| blocks_of_steps(cx, tile, block, &length),
        )
    })
}

/// Computes the tiles that share a panel in blocks of steps.
fn blocks_of_steps<'a>(
    cx: &mut Translator<'a>,
    tile: &Tile<'a>,
    block: &RowBlock,
    length: &Expression,
) -> Result<()> {
    start_totals(cx, tile, block)?;
    let size = Expression::index(cx.tiles.steps.into());
    let parts = (length, &size);
    let names = ["block", "base", "length"];
    each_part(cx, names, parts, &tile.place, |cx, base, length| {
        fill_panels(cx, tile, block, &base, &length)?;
        if tile.panels.is_empty() {
            return tile_block(cx, tile, block, &[zero()], &base, &length);
        }
        let size = i64::from(tile.tiling.rows);
        let count = groups_of(block.rows.clone(), size);
        each(cx, "group", count, &tile.place, |cx, number| {
            let first = number.times(Expression::index(size));
            let first = Expression::Variable(cx.declare("row", INDEX, first));
            let rows: Vec<Expression> = (0..size)
                .map(|r| first.clone().plus(Expression::index(r)))
                .collect();
            tile_block(cx, tile, block, &rows, &base, &length)
        })
    })?;
    finish_row_block(cx, tile, block)
}

/// Returns the number of dimensions of the map that are tiled.
fn tile_dimensions(tiling: &Tiling<'_>) -> usize {
    match tiling.panels.is_empty() {
        true => 1,
        false => 2,
    }
}

fn convert(value: Expression, from: Scalar, to: Scalar) -> Expression {
    Expression::Scalar {
        operation: ScalarOperation::Convert(to),
        operand: from,
        arguments: vec![value],
    }
}

fn first<T>(list: &[T]) -> Result<&T> {
    list.first().ok_or_else(|| internal("a tile of nothing"))
}

fn last<T>(list: &[T]) -> Result<&T> {
    list.last().ok_or_else(|| internal("a tile of nothing"))
}

/// Returns the outputs of a map that writes arrays.
fn maps_to<'a>(arrays: &[flat::Variable]) -> Vec<Output<'a>> {
    arrays.iter().map(|array| Output::Map(*array)).collect()
}
