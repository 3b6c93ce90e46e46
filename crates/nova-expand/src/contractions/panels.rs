//! The panels of contractions: their memory, and the loops that compute the factors into them.

use super::selection::Factor;
use super::{Block, Blocks, bind};
use crate::allocation::allocate_here;
use crate::loops::{each, groups_of};
use crate::source::name_of;
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_loop::ir::{Command, Expression, Level, PANEL_ROWS, Type, Variable};

/// The arrays of a contraction.
pub(super) struct Panels {
    /// Totals, for each tile of a block its groups of rows.
    pub(super) totals: Variable,
    /// Left factors: for each group of rows its steps, with the factors of all rows. Left factors that the
    /// loops around share lie here for all blocks.
    pub(super) left: Variable,
    /// Right factors: for each tile its steps, with the factors of all lanes.
    pub(super) right: Variable,
    /// The handles of their blocks.
    pub(super) handles: [Variable; 3],
}

impl Panels {
    /// Returns where the left factors of a block begin, whose first row and first step these are.
    pub(super) fn left_at(
        &self,
        blocks: &Blocks<'_, '_>,
        top: &Expression,
        base: &Expression,
    ) -> Expression {
        if !blocks.contraction.shares_left() {
            return Expression::index(0);
        }
        // Blocks of rows before this one are full, so that their rows fill groups.
        let rows = blocks.rows.clone().minus(top.clone());
        let rows = rows.compare(
            ScalarOperation::Minimum,
            Expression::index(blocks.rows_of_block),
        );
        let group = i64::from(PANEL_ROWS);
        let rows = groups_of(rows, group).times(Expression::index(group));
        let before = top.clone().times(blocks.steps.clone());
        before.plus(base.clone().times(rows))
    }
}

/// Allocates the arrays, as large as the extents want them.
pub(super) fn allocate(cx: &mut Translator<'_>, blocks: &Blocks<'_, '_>) -> Result<Panels> {
    let group = i64::from(PANEL_ROWS);
    let least = |count: Expression, most: i64| {
        count.compare(ScalarOperation::Minimum, Expression::index(most))
    };
    let groups = groups_of(blocks.rows.clone(), group);
    let all = groups.clone().times(Expression::index(group));
    let rows = least(groups, blocks.rows_of_block / group).times(Expression::index(group));
    let rows = cx.simplify(rows, "rows", INDEX);
    let columns = least(blocks.tiles(), blocks.tiles_of_block);
    let columns = columns.times(Expression::index(blocks.lanes));
    let columns = cx.simplify(columns, "columns", INDEX);
    let steps = least(blocks.steps.clone(), blocks.steps_of_block);
    let steps = cx.simplify(steps, "steps", INDEX);
    let left = match blocks.contraction.shares_left() {
        true => all.times(blocks.steps.clone()),
        false => rows.clone().times(steps.clone()),
    };
    let element = blocks.contraction.element;
    let mut array = |name: &str, element: Scalar, count: Expression| {
        let pointer = cx.add_variable(name, Type::Pointer(element));
        let handle = cx.add_variable(format!("{name}_block"), Type::Block);
        allocate_here(cx, pointer, handle, count, None, &blocks.place)?;
        Ok((pointer, handle))
    };
    let (totals, totals_block) = array("totals", Scalar::F64, rows.times(columns.clone()))?;
    let (left, left_block) = array("left", element, left)?;
    let (right, right_block) = array("right", element, columns.times(steps))?;
    Ok(Panels {
        totals,
        left,
        right,
        handles: [totals_block, left_block, right_block],
    })
}

/// Computes the left factors of rows for a block of steps.
pub(super) fn fill_left<'a>(
    cx: &mut Translator<'a>,
    blocks: &Blocks<'_, 'a>,
    panels: &Panels,
    (top, rows): (&Expression, &Expression),
    (base, length): (&Expression, &Expression),
) -> Result<()> {
    let factor = &blocks.contraction.left;
    let row = blocks.contraction.map.indices[blocks.contraction.row];
    let group = i64::from(PANEL_ROWS);
    let origin = panels.left_at(blocks, top, base);
    let origin = cx.simplify(origin, "origin", INDEX);
    let groups = groups_of(rows.clone(), group);
    let size = Expression::index(group);
    let place = &blocks.place;
    each(cx, "group", groups, place, |cx, number| {
        let first = blocks.first_row(cx, top, &number);
        let origin = number
            .times(size.clone())
            .times(length.clone())
            .plus(origin);
        let origin = cx.simplify(origin, "origin", INDEX);
        let store = |cx: &mut Translator<'a>, r: Expression, step: Expression| {
            bind(cx, row, first.clone().plus(r.clone()))?;
            let to = origin.plus(step.times(size.clone())).plus(r);
            store_factor(cx, factor, (panels.left, to))
        };
        match blocks.near_steps(factor) {
            Some(index) => each(cx, "row", size.clone(), place, |cx, r| {
                each_independent(cx, "step", length.clone(), place, |cx, step| {
                    bind(cx, index, base.clone().plus(step.clone()))?;
                    store(cx, r, step)
                })
            }),
            None => each_step(cx, blocks, (base, length), |cx, step| {
                each_independent(cx, "row", size.clone(), place, |cx, r| store(cx, r, step))
            }),
        }
    })
}

/// Computes the right factors of a block's columns for a block of steps.
pub(super) fn fill_right<'a>(
    cx: &mut Translator<'a>,
    blocks: &Blocks<'_, 'a>,
    panels: &Panels,
    block: &Block,
    (base, length): (&Expression, &Expression),
) -> Result<()> {
    let factor = &blocks.contraction.right;
    let column = blocks.contraction.map.indices[blocks.contraction.lane];
    let size = Expression::index(blocks.lanes);
    let place = &blocks.place;
    let store = |cx: &mut Translator<'a>, [tile, start, lane, step]: [&Expression; 4]| {
        bind(cx, column, start.clone().plus(lane.clone()))?;
        let to = tile.clone().times(length.clone()).plus(step.clone());
        let to = to.times(size.clone()).plus(lane.clone());
        store_factor(cx, factor, (panels.right, to))
    };
    if let Some(index) = blocks.near_steps(factor) {
        return each(cx, "tile", block.tiles.clone(), place, |cx, tile| {
            let start = block.column(cx, blocks, &tile);
            each(cx, "lane", size.clone(), place, |cx, lane| {
                each_independent(cx, "step", length.clone(), place, |cx, step| {
                    bind(cx, index, base.clone().plus(step.clone()))?;
                    store(cx, [&tile, &start, &lane, &step])
                })
            })
        });
    }
    each_step(cx, blocks, (base, length), |cx, step| {
        each(cx, "tile", block.tiles.clone(), place, |cx, tile| {
            let start = block.column(cx, blocks, &tile);
            each_independent(cx, "lane", size.clone(), place, |cx, lane| {
                store(cx, [&tile, &start, &lane, &step])
            })
        })
    })
}

/// Runs `write` for each index below a count, in any order.
fn each_independent<'a>(
    cx: &mut Translator<'a>,
    name: &str,
    count: Expression,
    place: &Place,
    write: impl FnOnce(&mut Translator<'a>, Expression) -> Result<()>,
) -> Result<()> {
    let variable = cx.add_variable(name, INDEX);
    let (body, ()) = cx.nested(|cx| write(cx, Expression::Variable(variable)))?;
    cx.emit(Command::For {
        variable,
        count,
        level: Level::Independent,
        body,
        place: place.clone(),
    });
    Ok(())
}

/// Computes a factor and stores it.
fn store_factor<'a>(
    cx: &mut Translator<'a>,
    factor: &Factor<'a>,
    (panel, to): (Variable, Expression),
) -> Result<()> {
    cx.scope(|cx| {
        for statement in &factor.statements {
            cx.statements(std::slice::from_ref(statement))?;
        }
        let value = cx.scalar(factor.value)?;
        cx.set_element(panel, to, value);
        Ok(())
    })
}

/// Runs `write` for the number of each step of a block. The indices of the reductions are bound to the step. Those of
/// several reductions are counted, since a division takes longer than a step.
fn each_step<'a>(
    cx: &mut Translator<'a>,
    blocks: &Blocks<'_, 'a>,
    (base, length): (&Expression, &Expression),
    write: impl FnOnce(&mut Translator<'a>, Expression) -> Result<()>,
) -> Result<()> {
    let place = &blocks.place;
    if let [(index, _)] = blocks.contraction.steps[..] {
        return each(cx, "step", length.clone(), place, |cx, step| {
            bind(cx, index, base.clone().plus(step.clone()))?;
            write(cx, step)
        });
    }
    let counters = counters(cx, blocks, base)?;
    each(cx, "step", length.clone(), place, |cx, step| {
        write(cx, step)?;
        count_up(cx, &counters)
    })
}

/// Declares variables for the indices of the reductions at a step, of which the last one changes fastest. Returns them
/// with their extents.
fn counters<'a>(
    cx: &mut Translator<'a>,
    blocks: &Blocks<'_, 'a>,
    step: &Expression,
) -> Result<Vec<(Variable, Expression)>> {
    let mut counters = Vec::new();
    let mut rest = step.clone();
    for (at, (index, extent)) in blocks.contraction.steps.iter().enumerate().rev() {
        let extent = cx.simple(*extent)?;
        let value = match at {
            0 => rest.clone(),
            _ => {
                let all = cx.simplify(rest, "rest", INDEX);
                rest = all.clone().compare(ScalarOperation::Divide, extent.clone());
                all.compare(ScalarOperation::Remainder, extent.clone())
            }
        };
        let name = name_of(cx.source, *index);
        let counter = cx.declare(name, INDEX, value);
        cx.bind_simple(*index, Expression::Variable(counter))?;
        counters.push((counter, extent));
    }
    counters.reverse();
    Ok(counters)
}

/// Advances counters by one step.
fn count_up(cx: &mut Translator<'_>, counters: &[(Variable, Expression)]) -> Result<()> {
    let Some(((counter, extent), slower)) = counters.split_last() else {
        return Ok(());
    };
    let counter_value = Expression::Variable(*counter);
    cx.assign(*counter, counter_value.clone().plus(Expression::index(1)));
    if slower.is_empty() {
        return Ok(());
    }
    let is_full = counter_value.compare(ScalarOperation::Equal, extent.clone());
    cx.when(is_full, |cx| {
        cx.assign(*counter, Expression::index(0));
        count_up(cx, slower)
    })
}
