//! The code of a tile: it fills the panels, runs the steps of the reductions in blocks, and computes the
//! results from the totals.

use super::tiling::Panel;
use super::{Component, RowBlock, Tile, convert, first, last};
use crate::accumulators::{at, zero};
use crate::address::element_term;
use crate::env::Env;
use crate::loops::{each, each_pair, groups_of};
use crate::nest::consume_result;
use crate::operators::bind_reduced;
use crate::rows::{combine_lane, start_lane};
use crate::source::{name_of, scalar_type};
use crate::space::split;
use crate::terms::Term;
use crate::translator::Translator;
use crate::writer::{INDEX, Result};
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir as flat;
use nova_flat::visit::used_variables;
use nova_loop::error::internal;
use nova_loop::ir::{Expression, Type};

/// Sets the totals of a block of rows to the identities.
pub(super) fn start_totals(env: &mut Env<'_>, tile: &Tile<'_>, block: &RowBlock) -> Result<()> {
    let size = i64::from(tile.tiling.rows);
    let rows = match tile.panels.is_empty() {
        true => Expression::index(1),
        // Rows after the last one have totals too.
        false => groups_of(block.rows.clone(), size).times(Expression::index(size)),
    };
    let count = rows.times(tile.lanes.clone());
    each(env, "lane", count, &tile.place, |env, lane| {
        for component in tile.components.iter().flatten() {
            let identity = Expression::Constant(component.identity);
            env.set_element(component.totals, lane.clone(), identity);
        }
        Ok(())
    })
}

/// Copies the elements that rows share into panels, for the steps from `base`.
pub(super) fn fill_panels(
    env: &mut Env<'_>,
    tile: &Tile<'_>,
    block: &RowBlock,
    base: &Expression,
    length: &Expression,
) -> Result<()> {
    let lanes = tile.lanes.clone();
    for (source, panel) in tile.tiling.panels.iter().zip(&tile.panels) {
        // Memory is read along its lines.
        let (names, counts) = match source.is_transposed {
            true => (["lane", "step"], [&lanes, length]),
            false => (["step", "lane"], [length, &lanes]),
        };
        each_pair(env, names, counts, &tile.place, |env, outer, inner| {
            let (step, lane) = match source.is_transposed {
                true => (inner, outer),
                false => (outer, inner),
            };
            bind_lane(env, tile, block, &lane)?;
            bind_step(env, tile, base.clone().plus(step.clone()))?;
            let flat::Expression::Index { array, indices } = &source.statement.expression else {
                return Err(internal("a panel of what is no element"));
            };
            let element = element_term(env, *array, indices)?.expression;
            let to = step.times(lanes.clone()).plus(lane);
            env.set_element(*panel, to, element);
            Ok(())
        })?;
    }
    Ok(())
}

/// Computes the steps from `base` of one tile. Its rows are counted from the first row of the block.
pub(super) fn tile_block<'a>(
    cx: &mut Translator<'a>,
    tile: &Tile<'a>,
    block: &RowBlock,
    rows: &[Expression],
    base: &Expression,
    length: &Expression,
) -> Result<()> {
    let lanes = tile.lanes.clone();
    // Rows after the last one compute the last one again.
    let bottom = block.rows.clone().minus(Expression::index(1));
    let mut sources = Vec::with_capacity(rows.len());
    for row in rows {
        let row = match tile.panels.is_empty() {
            true => row.clone(),
            false => row
                .clone()
                .compare(ScalarOperation::Minimum, bottom.clone()),
        };
        let row = block.row.clone().plus(row);
        sources.push(cx.simplify(row, "row", INDEX));
    }
    fill_lanes(cx, tile, block, (&sources, base), length)?;
    each(cx, "lane", lanes.clone(), &tile.place, |cx, lane| {
        for (r, row) in rows.iter().enumerate() {
            let to = row.clone().times(lanes.clone()).plus(lane.clone());
            add_to_totals(cx, tile, r, &lane, to)?;
        }
        Ok(())
    })
}

/// Computes a tile of one row with so few steps that its lanes are its totals.
pub(super) fn short_tile<'a>(
    cx: &mut Translator<'a>,
    tile: &Tile<'a>,
    block: &RowBlock,
    length: &Expression,
) -> Result<()> {
    fill_lanes(cx, tile, block, (&[zero()], &zero()), length)?;
    each(cx, "lane", tile.lanes.clone(), &tile.place, |cx, lane| {
        finish_result(cx, tile, block, (zero(), lane), Totals::Lanes)
    })
}

/// Runs some steps of the reductions of a tile from `base` on, in its lanes.
fn fill_lanes<'a>(
    cx: &mut Translator<'a>,
    tile: &Tile<'a>,
    block: &RowBlock,
    (sources, base): (&[Expression], &Expression),
    length: &Expression,
) -> Result<()> {
    let lanes = tile.lanes.clone();
    each(cx, "lane", lanes.clone(), &tile.place, |cx, lane| {
        for reduction in tile.sums.iter().flatten() {
            start_lane(cx, reduction, &lane);
        }
        Ok(())
    })?;
    each(cx, "step", length.clone(), &tile.place, |cx, step| {
        bind_step(cx, tile, base.clone().plus(step.clone()))?;
        cx.scope(|cx| {
            common_statements(cx, tile, &tile.tiling.reduction.body.statements)?;
            each(cx, "lane", lanes.clone(), &tile.place, |cx, lane| {
                bind_lane(cx, tile, block, &lane)?;
                tile_step(cx, tile, sources, &step, &lane)
            })
        })
    })
}

/// Translates those of some statements that all lanes have in common, if a tile has no panels. Their values are
/// variables.
pub(super) fn common_statements<'a>(
    cx: &mut Translator<'a>,
    tile: &Tile<'a>,
    statements: &'a [flat::Statement],
) -> Result<()> {
    for statement in statements.iter().filter(|s| is_common(tile, s)) {
        cx.statements(std::slice::from_ref(statement))?;
        // Several loops over lanes use a value, each of which is translated from the same statements.
        for variable in &statement.pattern {
            if !cx.source.variable(*variable).ty.is_array() && !cx.facts.is_unused(*variable) {
                let value = cx.simple(flat::Atom::Variable(*variable))?;
                cx.bind_simple(*variable, value)?;
            }
        }
    }
    Ok(())
}

/// True if a statement before or in the reductions is translated once for all lanes.
fn is_common(tile: &Tile<'_>, statement: &flat::Statement) -> bool {
    let mut differs = !tile.panels.is_empty();
    let by_lane = &tile.tiling.by_lane;
    used_variables(&statement.expression, &mut |v| {
        differs |= by_lane.contains(&v)
    });
    !differs
}

/// Translates those of some statements that each lane has for itself.
fn own_statements<'a>(
    cx: &mut Translator<'a>,
    tile: &Tile<'a>,
    statements: &'a [flat::Statement],
) -> Result<()> {
    for statement in statements.iter().filter(|s| !is_common(tile, s)) {
        cx.statements(std::slice::from_ref(statement))?;
    }
    Ok(())
}

/// Computes one step of the reductions in one lane.
fn tile_step<'a>(
    cx: &mut Translator<'a>,
    tile: &Tile<'a>,
    rows: &[Expression],
    step: &Expression,
    lane: &Expression,
) -> Result<()> {
    let lanes = tile.lanes.clone();
    for (source, panel) in tile.tiling.panels.iter().zip(&tile.panels) {
        let variable = *first(&source.statement.pattern)?;
        let index = step.clone().times(lanes.clone()).plus(lane.clone());
        let scalar = scalar_type(cx.source, flat::Atom::Variable(variable))?;
        let element = at(*panel, index);
        let name = name_of(cx.source, variable);
        let element = cx.simplify(element, &name, Type::Scalar(scalar));
        cx.bind_simple(variable, element)?;
    }
    let body = &tile.tiling.reduction.body;
    for (r, row) in rows.iter().enumerate() {
        bind_row(cx, tile, row)?;
        cx.scope(|cx| {
            own_statements(cx, tile, tile.tiling.before)?;
            for statement in &body.statements {
                let is_panel = |panel: &Panel<'_>| std::ptr::eq(panel.statement, statement);
                if !tile.tiling.panels.iter().any(is_panel) {
                    own_statements(cx, tile, std::slice::from_ref(statement))?;
                }
            }
            let mut rest = &body.results[..];
            for (output, sums) in tile.tiling.reduction.outputs.iter().zip(&tile.sums) {
                let (consumed, others) = split(rest, output.consumes())?;
                rest = others;
                let values = cx.scalars(consumed)?;
                let sum = sums
                    .get(r)
                    .ok_or_else(|| internal("a tile without lanes"))?;
                combine_lane(cx, sum, lane, values)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Adds the value of row `r` of a tile in a lane to the totals at `to`.
fn add_to_totals<'a>(
    cx: &mut Translator<'a>,
    tile: &Tile<'a>,
    r: usize,
    lane: &Expression,
    to: Expression,
) -> Result<()> {
    for (sums, components) in tile.sums.iter().zip(&tile.components) {
        let sum = sums
            .get(r)
            .ok_or_else(|| internal("a tile without lanes"))?;
        let mut arguments = Vec::with_capacity(2 * components.len());
        for component in components {
            arguments.push(Term::new(at(component.totals, to.clone())));
        }
        let values: Vec<Expression> = sum
            .row_lanes()
            .iter()
            .map(|l| at(*l, lane.clone()))
            .collect();
        if components.iter().all(|component| component.is_wider) {
            for (component, value) in components.iter().zip(values) {
                let value = convert(value, Scalar::F32, Scalar::F64);
                let total = Expression::Scalar {
                    operation: ScalarOperation::Add,
                    operand: Scalar::F64,
                    arguments: vec![at(component.totals, to.clone()), value],
                };
                cx.set_element(component.totals, to.clone(), total);
            }
            continue;
        }
        arguments.extend(values.into_iter().map(Term::new));
        cx.apply(sum.lambda, arguments, |cx, results| {
            for (component, result) in components.iter().zip(results) {
                let value = cx.scalar(*result)?;
                cx.set_element(component.totals, to.clone(), value);
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Computes the results of the tiles that share a panel.
pub(super) fn finish_row_block<'a>(
    cx: &mut Translator<'a>,
    tile: &Tile<'a>,
    block: &RowBlock,
) -> Result<()> {
    let lanes = tile.lanes.clone();
    if tile.panels.is_empty() {
        return each(cx, "lane", lanes, &tile.place, |cx, lane| {
            finish_result(cx, tile, block, (zero(), lane), Totals::Own)
        });
    }
    let (names, counts) = (["row", "lane"], [&block.rows, &lanes]);
    each_pair(cx, names, counts, &tile.place, |cx, row, lane| {
        bind_row(cx, tile, &block.row.clone().plus(row.clone()))?;
        finish_result(cx, tile, block, (row, lane), Totals::Own)
    })
}

/// The place of a tile's totals.
#[derive(Clone, Copy)]
enum Totals {
    /// They are in arrays of their own.
    Own,
    /// They are in the lanes of a tile's only row.
    Lanes,
}

/// Computes one result from its totals.
fn finish_result<'a>(
    cx: &mut Translator<'a>,
    tile: &Tile<'a>,
    block: &RowBlock,
    (row, lane): (Expression, Expression),
    totals: Totals,
) -> Result<()> {
    let lanes = tile.lanes.clone();
    let from = row.times(lanes).plus(lane.clone());
    bind_lane(cx, tile, block, &lane)?;
    cx.scope(|cx| {
        own_statements(cx, tile, tile.tiling.before)?;
        for (output, (sums, components)) in
            (tile.tiling.reduction.outputs.iter()).zip(tile.sums.iter().zip(&tile.components))
        {
            let sum = first(sums)?;
            let totals = match totals {
                Totals::Own => totals_at(components, &from),
                Totals::Lanes => sum
                    .row_lanes()
                    .iter()
                    .map(|l| at(*l, lane.clone()))
                    .collect(),
            };
            bind_reduced(cx, output, sum.pattern, totals)?;
        }
        cx.statements(tile.tiling.after)?;
        consume_result(cx, tile.tiling.map, &tile.outputs, &tile.place)
    })
}

/// Returns the totals of a reduction at `from`, in the types of its components.
fn totals_at(components: &[Component], from: &Expression) -> Vec<Expression> {
    let total = |component: &Component| {
        let total = at(component.totals, from.clone());
        match component.is_wider {
            true => convert(total, Scalar::F64, component.scalar),
            false => total,
        }
    };
    components.iter().map(total).collect()
}

/// Binds the index of the lanes' dimension.
fn bind_lane(
    env: &mut Env<'_>,
    tile: &Tile<'_>,
    block: &RowBlock,
    lane: &Expression,
) -> Result<()> {
    let index = *last(&tile.tiling.map.indices)?;
    let value = block.lane.clone().plus(lane.clone());
    let name = name_of(env.source, index);
    let value = env.simplify(value, &name, INDEX);
    env.bind_simple(index, value)
}

/// Binds the index of the rows' dimension, if the tile has rows.
fn bind_row(env: &mut Env<'_>, tile: &Tile<'_>, row: &Expression) -> Result<()> {
    if tile.panels.is_empty() {
        return Ok(());
    }
    let indices = &tile.tiling.map.indices;
    let value = env.simplify(row.clone(), "row", INDEX);
    env.bind_simple(indices[indices.len() - 2], value)
}

/// Binds the index of the reduction.
fn bind_step(env: &mut Env<'_>, tile: &Tile<'_>, step: Expression) -> Result<()> {
    let index = *first(&tile.tiling.reduction.indices)?;
    let name = name_of(env.source, index);
    let value = env.simplify(step, &name, INDEX);
    env.bind_simple(index, value)
}
