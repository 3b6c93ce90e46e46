//! Reductions, in the order of docs/order.md. Elements go to the lanes of a block, or to contiguous chunks,
//! whose results the tree of adjacent pairs combines ([`crate::tree`]). Where the order makes no difference,
//! or need not be strict, a reduction is a left fold into variables. [`crate::lanes`] has the loops that fill
//! whole rows of lanes; here each element finds its lane by its number.

use crate::accumulators::{
    Blocks, Kind, Reduction, RowLanes, at, firsts, make_accumulators, remainder, unset, zero,
};
use crate::env::Env;
use crate::loops::each_index;
use crate::operators::{apply_to, combine, fold_chunk, fold_from_first};
use crate::rows::{bounds_of, combine_alone, combine_rows, is_number};
use crate::source::{name_of, scalar_type};
use crate::space::{Rows, Space};
use crate::terms::variables_as_terms;
use crate::translator::Translator;
use crate::tree::{combine_subtrees, push_subtree, start_tree};
use crate::writer::{INDEX, Nesting, Result};
use nova_core::order::{BLOCK, LANES};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_flat::ir::Bracketing;
use nova_flat::operators::by_component;
use nova_loop::error::internal;
use nova_loop::ir::{Expression, Type, Variable};

/// Prepares a reduction.
pub(crate) fn start_reduction<'a>(
    env: &mut Env<'a>,
    lambda: &'a flat::Lambda,
    start: &[flat::Atom],
    (commutes, bracketing): (bool, Bracketing),
    pattern: &'a [flat::Variable],
    space: &Space,
) -> Result<Reduction<'a>> {
    let operators = by_component(lambda);
    let exact = operators
        .as_ref()
        .is_some_and(|all| all.iter().all(|operator| operator.exact));
    let mut starts = Vec::with_capacity(start.len());
    for atom in start {
        starts.push((env.scalar(*atom)?, scalar_type(env.source, *atom)?));
    }
    let scalars: Vec<Scalar> = starts.iter().map(|s| s.1).collect();
    let numbers: Vec<bool> = starts.iter().map(|s| is_number(&s.0)).collect();
    let names: Vec<_> = pattern.iter().map(|v| name_of(env.source, *v)).collect();
    let names: Vec<&str> = names.iter().map(|n| &**n).collect();
    let kind = if let (Rows::Of(schedule), Some(operators)) = (&space.rows, operators) {
        let lanes = env.buffers("lanes", &scalars, schedule.width);
        let blocks = match schedule.whole {
            true => Blocks::Whole(make_accumulators(env, &names, &starts)),
            false => Blocks::Tree(start_tree(env, starts, bracketing)),
        };
        let bounds = match env.program.strict {
            true => None,
            false => bounds_of(&operators, &numbers),
        };
        let identities = match &bounds {
            Some(bounds) => bounds.iter().map(|b| b.farthest).collect(),
            None => operators.iter().map(|o| o.identity).collect(),
        };
        Kind::Rows(RowLanes {
            lanes,
            width: schedule.width,
            fixed_block: Vec::new(),
            identities,
            bounds,
            blocks,
        })
    } else if env.lockstep {
        Kind::Fold(make_accumulators(env, &names, &starts))
    } else if bracketing == Bracketing::Pairs {
        Kind::Pairs(start_tree(env, starts, bracketing))
    } else if bracketing == Bracketing::Left {
        Kind::Left(make_accumulators(env, &names, &starts))
    } else if commutes && !exact {
        let lanes = env.buffers("lanes", &scalars, LANES as u32);
        let tree = start_tree(env, starts, bracketing);
        Kind::Lanes { lanes, tree }
    } else if env.program.strict && !commutes {
        let tree = start_tree(env, starts, bracketing);
        let running = unset(env, "piece", &scalars);
        Kind::Chunks { running, tree }
    } else if bracketing == Bracketing::Chunk {
        Kind::Left(make_accumulators(env, &names, &starts))
    } else {
        Kind::Fold(make_accumulators(env, &names, &starts))
    };
    Ok(Reduction {
        lambda,
        pattern,
        scalars,
        kind,
    })
}

/// Consumes the next element.
pub(crate) fn consume_reduction<'a>(
    cx: &mut Translator<'a>,
    reduction: &Reduction<'a>,
    values: &[flat::Atom],
    space: &Space,
) -> Result<()> {
    let lambda = reduction.lambda;
    match &reduction.kind {
        Kind::Fold(accumulators) => {
            let mut arguments = variables_as_terms(accumulators);
            for value in values {
                arguments.push(cx.term(*value)?);
            }
            apply_to(cx, lambda, arguments, accumulators)
        }
        Kind::Lanes { lanes, tree } => {
            let values = cx.simple_values(values)?;
            cx.flush_loads()?;
            fill_lanes(cx, reduction, lanes, &values, space)?;
            let last = is_block_end(space, BLOCK);
            cx.when(last, |cx| {
                combine_lanes(cx, reduction, lanes, space)?;
                let (block, number) = (firsts(lanes), group(space, BLOCK));
                push_subtree(cx, reduction, tree, block, number, &space.place)
            })
        }
        Kind::Rows(rows) => {
            let values = cx.scalars(values)?;
            match &space.rows {
                Rows::At { lane } => combine_rows(cx, reduction, rows, lane, values),
                Rows::Alone => combine_alone(cx, reduction, rows, values),
                Rows::FixedBlock { lane } => {
                    for (pointer, value) in rows.fixed_block.iter().zip(values) {
                        cx.set_element(*pointer, lane.clone(), value);
                    }
                    Ok(())
                }
                Rows::None | Rows::Of(_) => Err(internal("a row without a lane")),
            }
        }
        Kind::Pairs(tree) => {
            let values = cx.simple_values(values)?;
            cx.flush_loads()?;
            let number = space.number.clone();
            push_subtree(cx, reduction, tree, values, number, &space.place)
        }
        Kind::Left(accumulators) => {
            let values = cx.simple_values(values)?;
            cx.flush_loads()?;
            let first = space.number.clone();
            let first = first.compare(ScalarOperation::Equal, zero());
            fold_from_first(cx, lambda, accumulators, &values, first)
        }
        Kind::Chunks { running, tree } => {
            let values = cx.simple_values(values)?;
            cx.flush_loads()?;
            fold_chunk(cx, lambda, running, &values, space)?;
            let last = is_block_end(space, LANES);
            cx.when(last, |cx| {
                let chunk = running.iter().map(|r| Expression::Variable(*r)).collect();
                let number = group(space, LANES);
                push_subtree(cx, reduction, tree, chunk, number, &space.place)
            })
        }
    }
}

/// Binds the results.
pub(crate) fn finish_reduction<'a>(
    cx: &mut Translator<'a>,
    reduction: Reduction<'a>,
    place: &Place,
) -> Result<()> {
    let tree = match &reduction.kind {
        Kind::Fold(accumulators)
        | Kind::Left(accumulators)
        | Kind::Rows(RowLanes {
            blocks: Blocks::Whole(accumulators),
            ..
        }) => {
            for (variable, accumulator) in reduction.pattern.iter().zip(accumulators) {
                cx.bind_simple(*variable, Expression::Variable(*accumulator))?;
            }
            return Ok(());
        }
        Kind::Lanes { tree, .. }
        | Kind::Chunks { tree, .. }
        | Kind::Pairs(tree)
        | Kind::Rows(RowLanes {
            blocks: Blocks::Tree(tree),
            ..
        }) => tree,
    };
    combine_subtrees(cx, &reduction, tree, None, place)?;
    let components = reduction.pattern.iter().zip(&reduction.scalars);
    for ((variable, scalar), subtrees) in components.zip(&tree.subtrees) {
        let name = name_of(cx.source, *variable);
        let result = cx.declare(name, Type::Scalar(*scalar), at(*subtrees, zero()));
        cx.bind_simple(*variable, Expression::Variable(result))?;
    }
    Ok(())
}

/// Returns the condition that this element is the last of a group of `size`, or of all.
fn is_block_end(space: &Space, size: usize) -> Expression {
    let last = Expression::index(size as i64 - 1);
    let at_end = remainder(&space.number, size).compare(ScalarOperation::Equal, last);
    at_end.or(is_last(space))
}

/// `lane[k % 32] ⊕= x`, or `= x` for the first element of each lane in the block.
fn fill_lanes<'a>(
    cx: &mut Translator<'a>,
    reduction: &Reduction<'a>,
    lanes: &[Variable],
    values: &[Expression],
    space: &Space,
) -> Result<()> {
    let lane = cx.declare("lane", INDEX, remainder(&space.number, LANES));
    let lane = Expression::Variable(lane);
    let count = Expression::index(LANES as i64);
    let first = remainder(&space.number, BLOCK).compare(ScalarOperation::Less, count);
    cx.choose(
        first,
        |cx| {
            for (pointer, value) in lanes.iter().zip(values) {
                cx.set_element(*pointer, lane.clone(), value.clone());
            }
            Ok(())
        },
        |cx| combine(cx, reduction, lanes, &lane, values.to_vec()),
    )
}

/// `lane[l] ⊕= lane[l + half]` for half = 16, 8, 4, 2, 1, where both exist.
fn combine_lanes<'a>(
    cx: &mut Translator<'a>,
    reduction: &Reduction<'a>,
    lanes: &[Variable],
    space: &Space,
) -> Result<()> {
    let half = cx.declare("half", INDEX, Expression::index(LANES as i64 / 2));
    let half_now = || Expression::Variable(half);
    let filled = remainder(&space.number, BLOCK).plus(Expression::index(1));
    let filled = cx.declare("filled", INDEX, filled);
    cx.endless_loop(&space.place, |cx| {
        let done = half_now().compare(ScalarOperation::Equal, zero());
        cx.break_if(done);
        let others = Expression::Variable(filled).minus(half_now());
        let pairs = half_now().compare(ScalarOperation::Minimum, others);
        each_index(cx, &[pairs], &space.place, |cx, indices| {
            let lane = indices.first().cloned().unwrap_or(zero());
            let other = lane.clone().plus(half_now());
            let right = lanes.iter().map(|p| at(*p, other.clone())).collect();
            combine(cx, reduction, lanes, &lane, right)
        })?;
        let next = half_now().compare(ScalarOperation::ShiftRight, Expression::index(1));
        cx.assign(half, next);
        Ok(())
    })
}

/// Returns the number of the group of `size` elements that this element is in.
fn group(space: &Space, size: usize) -> Expression {
    let shift = Expression::index(i64::from(size.trailing_zeros()));
    let number = space.number.clone();
    number.compare(ScalarOperation::ShiftRight, shift)
}

/// Returns the condition that this is the last element of all.
fn is_last(space: &Space) -> Expression {
    let last = space.count.clone().minus(Expression::index(1));
    space.number.clone().compare(ScalarOperation::Equal, last)
}
