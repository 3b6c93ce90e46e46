//! Contractions ([`selection`] finds them): maps whose elements are sums of products, where one factor does
//! not depend on the column of the result and the other not on its row. Products of matrices, covariances and
//! convolutions are such maps.
//!
//! A block of rows and a block of columns are computed together. The factors of so many steps are computed
//! once into two panels, as the inner loop reads them, and [`Command::MultiplyPanels`] adds their products to
//! totals. So the factors may be any expressions, read from memory in any order. The last columns that do
//! not fill a row of lanes are in one that overlaps the previous one. So are the last rows that do not fill a
//! group. A left factor that is the same for all iterations of the loops around is computed once for all of
//! them. Of a symmetric result only the blocks from the diagonal on are computed, and stored twice.

mod panels;
pub(crate) mod selection;
mod symmetry;

use self::panels::{Panels, allocate, fill_left, fill_right};
use self::selection::{Contraction, Factor};
use crate::accumulators::{at, zero};
use crate::loops::{each, each_pair, each_part, groups_of, wrap};
use crate::nest::consume_result;
use crate::operators::bind_reduced;
use crate::output::Output;
use crate::outputs::start_outputs;
use crate::source::name_of;
use crate::space::{Rows, Space};
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::ir::{Command, Expression, PANEL_ROWS, panel_lanes};
use nova_plan::Choice;

/// Translates a contraction: by panels if its extents are worth them, and otherwise as `otherwise` does.
pub(crate) fn contraction<'a>(
    cx: &mut Translator<'a>,
    contraction: &Contraction<'a>,
    pattern: &'a [flat::Variable],
    place: &Place,
    otherwise: impl FnOnce(&mut Translator<'a>) -> Result<()>,
) -> Result<()> {
    let map = contraction.map;
    let extents = cx.simple_values(&map.shape)?;
    let space = Space::unordered(&extents, Rows::None, place);
    let outputs = start_outputs(cx, map, pattern, &space)?;
    cx.flush_loads()?;
    let mut steps = Expression::index(1);
    for (_, extent) in &contraction.steps {
        steps = steps.times(cx.simple(*extent)?);
    }
    let steps = cx.simplify(steps, "steps", INDEX);
    let fits = contraction.fits(&extents, &steps);
    let by_panels = |cx: &mut Translator<'a>| {
        cx.loops += 1;
        let blocks = Blocks::new(cx, contraction, outputs, &extents, steps, place);
        by_panels(cx, &blocks)?;
        cx.loops -= 1;
        Ok(())
    };
    cx.choose(fits, by_panels, otherwise)
}

/// The extents and the sizes of blocks of a contraction under translation.
pub(crate) struct Blocks<'s, 'a> {
    contraction: &'s Contraction<'a>,
    outputs: Vec<Output<'a>>,
    /// The extents of the map.
    extents: Vec<Expression>,
    /// The number of rows, columns and steps.
    rows: Expression,
    columns: Expression,
    steps: Expression,
    /// The number of columns in a row of lanes.
    lanes: i64,
    /// The maximum number of rows, of rows of lanes, and of steps in a block.
    rows_of_block: i64,
    tiles_of_block: i64,
    steps_of_block: i64,
    place: Place,
}

impl<'s, 'a> Blocks<'s, 'a> {
    fn new(
        cx: &Translator<'a>,
        contraction: &'s Contraction<'a>,
        outputs: Vec<Output<'a>>,
        extents: &[Expression],
        steps: Expression,
        place: &Place,
    ) -> Self {
        let extent = |dimension: usize| extents.get(dimension).cloned().unwrap_or(zero());
        let plan = &cx.program.plan;
        let groups = plan.choose(place, Choice::PanelRows, cx.tiles.contracted_groups);
        let tiles = plan.choose(place, Choice::PanelColumns, cx.tiles.contracted_tiles);
        let steps_of_block = plan.choose(place, Choice::Steps, i64::from(cx.tiles.steps));
        Blocks {
            contraction,
            outputs,
            extents: extents.to_vec(),
            rows: extent(contraction.row),
            columns: extent(contraction.lane),
            steps,
            lanes: i64::from(panel_lanes(contraction.element)),
            rows_of_block: i64::from(PANEL_ROWS) * groups,
            tiles_of_block: tiles,
            steps_of_block,
            place: place.clone(),
        }
    }

    /// Returns the first row of a group of a block whose first row is `top`. The last group overlaps the one
    /// before it.
    fn first_row(
        &self,
        cx: &mut Translator<'a>,
        top: &Expression,
        group: &Expression,
    ) -> Expression {
        let size = Expression::index(i64::from(PANEL_ROWS));
        let first = top.clone().plus(group.clone().times(size.clone()));
        let last = self.rows.clone().minus(size);
        let first = first.compare(ScalarOperation::Minimum, last);
        Expression::Variable(cx.declare("first", INDEX, first))
    }

    /// Returns the index of the only reduction, if the values from which a factor is computed lie side by side for
    /// its steps.
    fn near_steps(&self, factor: &Factor<'_>) -> Option<flat::Variable> {
        match self.contraction.steps[..] {
            [(index, _)] if factor.steps_are_near => Some(index),
            _ => None,
        }
    }

    /// Returns the number of rows of lanes.
    fn tiles(&self) -> Expression {
        groups_of(self.columns.clone(), self.lanes)
    }
}

/// A block of results: its first row and tile, and how many groups of rows and tiles it has.
struct Block {
    top: Expression,
    rows: Expression,
    groups: Expression,
    first_tile: Expression,
    tiles: Expression,
}

impl Block {
    /// Returns the first column of a tile of the block.
    fn column<'a>(
        &self,
        cx: &mut Translator<'a>,
        blocks: &Blocks<'_, 'a>,
        tile: &Expression,
    ) -> Expression {
        let number = self.first_tile.clone().plus(tile.clone());
        let start = number.times(Expression::index(blocks.lanes));
        let last = blocks
            .columns
            .clone()
            .minus(Expression::index(blocks.lanes));
        let start = start.compare(ScalarOperation::Minimum, last);
        Expression::Variable(cx.declare("start", INDEX, start))
    }
}

/// Writes the loops over all blocks.
fn by_panels<'a>(cx: &mut Translator<'a>, blocks: &Blocks<'_, 'a>) -> Result<()> {
    let contraction = blocks.contraction;
    let panels = allocate(cx, blocks)?;
    let map = contraction.map;
    let is_outer = |d: &usize| *d != contraction.row && *d != contraction.lane;
    let outer: Vec<usize> = (0..map.indices.len()).filter(is_outer).collect();
    let indices: Vec<flat::Variable> = outer.iter().map(|d| map.indices[*d]).collect();
    let extents: Vec<Expression> = outer.iter().map(|d| blocks.extents[*d].clone()).collect();
    if contraction.shares_left() {
        each_block_of_rows(cx, blocks, |cx, top, rows| {
            each_block_of_steps(cx, blocks, |cx, base, length| {
                fill_left(cx, blocks, &panels, (&top, &rows), (&base, &length))
            })
        })?;
    }
    let indices = cx.bind_indices(&indices)?;
    let (code, ()) = cx.nested(|cx| {
        each_block_of_rows(cx, blocks, |cx, top, rows| {
            blocks_of_columns(cx, blocks, &panels, top, rows)
        })
    })?;
    wrap(cx, &extents, &indices, code, &blocks.place);
    for handle in panels.handles {
        cx.emit(Command::Release(handle));
    }
    Ok(())
}

/// Runs `write` for the first row of each block of rows, and their number.
fn each_block_of_rows<'a>(
    cx: &mut Translator<'a>,
    blocks: &Blocks<'_, 'a>,
    write: impl FnOnce(&mut Translator<'a>, Expression, Expression) -> Result<()>,
) -> Result<()> {
    let size = blocks.rows_of_block;
    each_part(
        cx,
        ["chunk", "top", "rows"],
        (&blocks.rows, size),
        &blocks.place,
        write,
    )
}

/// Runs `write` for the first step of each block of steps, and their number.
fn each_block_of_steps<'a>(
    cx: &mut Translator<'a>,
    blocks: &Blocks<'_, 'a>,
    write: impl FnOnce(&mut Translator<'a>, Expression, Expression) -> Result<()>,
) -> Result<()> {
    let size = blocks.steps_of_block;
    each_part(
        cx,
        ["block", "base", "length"],
        (&blocks.steps, size),
        &blocks.place,
        write,
    )
}

/// Writes the loop over the blocks of columns of a block of rows.
fn blocks_of_columns<'a>(
    cx: &mut Translator<'a>,
    blocks: &Blocks<'_, 'a>,
    panels: &Panels,
    top: Expression,
    rows: Expression,
) -> Result<()> {
    let groups = groups_of(rows.clone(), i64::from(PANEL_ROWS));
    let groups = Expression::Variable(cx.declare("groups", INDEX, groups));
    let all = cx.simplify(blocks.tiles(), "tiles", INDEX);
    let skipped = match blocks.contraction.is_symmetric {
        true => top
            .clone()
            .compare(ScalarOperation::Divide, Expression::index(blocks.lanes)),
        false => zero(),
    };
    let skipped = cx.simplify(skipped, "skipped", INDEX);
    let all = cx.simplify(all.minus(skipped.clone()), "tiles", INDEX);
    let parts = (&all, blocks.tiles_of_block);
    each_part(
        cx,
        ["part", "tile", "tiles"],
        parts,
        &blocks.place,
        |cx, first_tile, tiles| {
            let first_tile = cx.simplify(skipped.plus(first_tile), "first_tile", INDEX);
            let block = Block {
                top,
                rows,
                groups,
                first_tile,
                tiles,
            };
            start_totals(cx, blocks, panels, &block)?;
            each_block_of_steps(cx, blocks, |cx, base, length| {
                if !blocks.contraction.shares_left() {
                    let rows = (&block.top, &block.rows);
                    fill_left(cx, blocks, panels, rows, (&base, &length))?;
                }
                fill_right(cx, blocks, panels, &block, (&base, &length))?;
                multiply(cx, blocks, panels, &block, (&base, &length))
            })?;
            finish(cx, blocks, panels, &block)
        },
    )
}

/// Sets the totals of a block to the identity.
fn start_totals<'a>(
    cx: &mut Translator<'a>,
    blocks: &Blocks<'_, 'a>,
    panels: &Panels,
    block: &Block,
) -> Result<()> {
    let size = Expression::index(i64::from(PANEL_ROWS) * blocks.lanes);
    let count = block.tiles.clone().times(block.groups.clone()).times(size);
    let count = cx.simplify(count, "count", INDEX);
    each(cx, "lane", count, &blocks.place, |cx, lane| {
        let identity = Expression::Constant(nova_core::ScalarValue::F64(-0.0));
        cx.set_element(panels.totals, lane, identity);
        Ok(())
    })
}

/// Multiplies the panels of a block of steps.
fn multiply<'a>(
    cx: &mut Translator<'a>,
    blocks: &Blocks<'_, 'a>,
    panels: &Panels,
    block: &Block,
    (base, length): (&Expression, &Expression),
) -> Result<()> {
    let (names, counts) = (["tile", "group"], [&block.tiles, &block.groups]);
    each_pair(cx, names, counts, &blocks.place, |cx, tile, group| {
        let row = tile.clone().times(block.groups.clone()).plus(group.clone());
        let size = Expression::index(i64::from(PANEL_ROWS) * blocks.lanes);
        let left = panels.left_at(blocks, &block.top, base);
        let group = group.times(length.clone());
        let left = left.plus(group.times(Expression::index(i64::from(PANEL_ROWS))));
        let right = tile.times(length.clone());
        let right = right.times(Expression::index(blocks.lanes));
        cx.emit(Command::MultiplyPanels {
            totals: Expression::offset(panels.totals, row.times(size)),
            left: Expression::offset(panels.left, left),
            right: Expression::offset(panels.right, right),
            element: blocks.contraction.element,
            steps: length.clone(),
        });
        Ok(())
    })
}

/// Computes the results of a block from its totals.
fn finish<'a>(
    cx: &mut Translator<'a>,
    blocks: &Blocks<'_, 'a>,
    panels: &Panels,
    block: &Block,
) -> Result<()> {
    let place = &blocks.place;
    let lanes = Expression::index(blocks.lanes);
    each(cx, "tile", block.tiles.clone(), place, |cx, tile| {
        let start = block.column(cx, blocks, &tile);
        let origin = tile.times(block.groups.clone()).times(rows_of_group());
        let origin = cx.simplify(origin, "origin", INDEX);
        let last = block.groups.clone().minus(Expression::index(1));
        let first = blocks.first_row(cx, &block.top, &last);
        let tiled = blocks
            .columns
            .clone()
            .minus(Expression::index(blocks.lanes - 1));
        cx.when(within(&start, &tiled), |cx| {
            each(cx, "row", block.rows.clone(), place, |cx, row| {
                let row = block.top.clone().plus(row);
                let row = cx.simplify(row, "row", INDEX);
                // The last group may begin with rows of the one before it.
                let before = last.clone().times(rows_of_group());
                let in_last = before.clone().plus(row.clone()).minus(first.clone());
                let in_block = row.clone().minus(block.top.clone());
                let is_before = in_block.clone().compare(ScalarOperation::Less, before);
                let total = Expression::Select {
                    condition: Box::new(is_before),
                    then: Box::new(in_block),
                    otherwise: Box::new(in_last),
                };
                let from = origin.plus(total).times(lanes.clone());
                let from = cx.simplify(from, "from", INDEX);
                let index = blocks.contraction.map.indices[blocks.contraction.row];
                bind(cx, index, row.clone())?;
                cx.when(within(&row, &blocks.rows), |cx| {
                    let column = blocks.contraction.map.indices[blocks.contraction.lane];
                    each(cx, "lane", lanes.clone(), place, |cx, lane| {
                        bind(cx, column, start.clone().plus(lane.clone()))?;
                        finish_result(cx, blocks, at(panels.totals, from.clone().plus(lane)))
                    })?;
                    if !blocks.contraction.is_symmetric {
                        return Ok(());
                    }
                    // Rows of later blocks, whose loops leave these columns out.
                    let below = block.top.clone().plus(block.rows.clone());
                    let end = start.clone().plus(lanes.clone());
                    cx.when(below.compare(ScalarOperation::Less, end), |cx| {
                        bind(cx, column, row)?;
                        each(cx, "lane", lanes.clone(), place, |cx, lane| {
                            bind(cx, index, start.plus(lane.clone()))?;
                            finish_result(cx, blocks, at(panels.totals, from.plus(lane)))
                        })
                    })
                })
            })
        })
    })
}

/// Returns the condition that an index is in range. It is so anyway; the condition makes proofs about results
/// short.
fn within(index: &Expression, count: &Expression) -> Expression {
    let is_positive = zero().compare(ScalarOperation::LessEqual, index.clone());
    is_positive.and(index.clone().compare(ScalarOperation::Less, count.clone()))
}

/// Computes one result from its total.
fn finish_result<'a>(
    cx: &mut Translator<'a>,
    blocks: &Blocks<'_, 'a>,
    total: Expression,
) -> Result<()> {
    let contraction = blocks.contraction;
    let total = match contraction.element {
        Scalar::F64 => total,
        element => Expression::Scalar {
            operation: ScalarOperation::Convert(element),
            operand: Scalar::F64,
            arguments: vec![total],
        },
    };
    cx.scope(|cx| {
        cx.statements(contraction.before)?;
        bind_reduced(cx, contraction.output, contraction.sums, vec![total])?;
        cx.statements(contraction.after)?;
        consume_result(cx, contraction.map, &blocks.outputs, &blocks.place)
    })
}

fn rows_of_group() -> Expression {
    Expression::index(i64::from(PANEL_ROWS))
}

/// Binds an index to a value.
fn bind(cx: &mut Translator<'_>, index: flat::Variable, value: Expression) -> Result<()> {
    let name = name_of(cx.source, index);
    let value = cx.simplify(value, &name, INDEX);
    cx.bind_simple(index, value)
}
