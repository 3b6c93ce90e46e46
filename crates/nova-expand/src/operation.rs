//! Translation of the array operation to one loop nest, which runs the body, passes its results to every
//! output, and replaces the carries.

use crate::compaction::{stage_survivors, wrap_in_staged_chunks};
use crate::contractions::contraction;
use crate::contractions::selection::contraction_of;
use crate::early_exit::{may_end_early, operation_until_absorbed};
use crate::env::Env;
use crate::groups::{grouping_of, operation_in_groups};
use crate::growing::{end_rows_in_place, grow_rows};
use crate::lanes::{lane_schedule, operation_in_rows};
use crate::lockstep::lockstep_of;
use crate::lockstep_loops::operation_in_lockstep;
use crate::loops::{wrap, wrap_flat};
use crate::ordered::{Surrounding, make_ordered};
use crate::output::{Output, is_staged};
use crate::outputs::{consume_all, finish_output, start_outputs};
use crate::places::State;
use crate::references::Moving;
use crate::source::array_block;
use crate::space::{space_of, split};
use crate::states::{bind_states, replace, start_states};
use crate::stored::{stores_in_chunks, wrap_in_chunks};
use crate::strided::{tiles_of_map, wrap_in_tiles};
use crate::tiles::operation_in_tiles;
use crate::tiles::tiling::{tiling_of, tiling_without_panels};
use crate::translator::Translator;
use crate::writer::{Nesting, Result, Writer};
use nova_core::strategy;
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::ir::{Command, Expression, Level, Variable};
use nova_loop::walk::set_levels;
use nova_machine::Machine;
use nova_plan::Choice;

/// Translates an array operation.
pub(crate) fn array_operation<'a>(
    cx: &mut Translator<'a>,
    operation: &'a flat::ArrayOperation,
    pattern: &'a [flat::Variable],
    place: &Place,
) -> Result<()> {
    if is_planned(cx, operation) {
        if let Some(found) = contraction_of(cx, operation, pattern)
            && cx.program.plan.allows(place, Choice::Panels)
        {
            return contraction(
                cx,
                &found,
                pattern,
                place,
                |cx| match tiling_without_panels(cx, operation, pattern) {
                    Some(tiling) => operation_in_tiles(cx, tiling, pattern, place),
                    None => other_operation(cx, operation, pattern, place),
                },
            );
        }
        if let Some(tiling) = tiling_of(cx, operation, pattern)
            && cx.program.plan.allows(place, Choice::Tiles)
        {
            return operation_in_tiles(cx, tiling, pattern, place);
        }
    }
    other_operation(cx, operation, pattern, place)
}

/// True if a thread runs an operation by itself, so that the translation chooses how. Chunks of a grid are long,
/// and each belongs to one thread. An operation with a strategy becomes the loop that the strategy states.
fn is_planned(cx: &Translator<'_>, operation: &flat::ArrayOperation) -> bool {
    let in_order = operation.level == flat::Level::Sequential && !operation.is_marked();
    in_order && cx.machine == Machine::Processor && !cx.lockstep
}

/// Translates an operation that has no tiles.
fn other_operation<'a>(
    cx: &mut Translator<'a>,
    operation: &'a flat::ArrayOperation,
    pattern: &'a [flat::Variable],
    place: &Place,
) -> Result<()> {
    if is_planned(cx, operation) {
        if let Some(grouping) = grouping_of(cx, operation)
            && cx.program.plan.allows(place, Choice::Groups)
            && operation_in_groups(cx, &grouping, pattern, place)?
        {
            return Ok(());
        }
        if let Some(lockstep) = lockstep_of(cx, operation)
            && cx.program.plan.allows(place, Choice::Lockstep)
        {
            return operation_in_lockstep(cx, operation, &lockstep, pattern, place);
        }
    }
    if !cx.lockstep
        && let Some(schedule) = lane_schedule(cx, operation)
    {
        return operation_in_rows(cx, operation, schedule, pattern, place);
    }
    if !cx.lockstep && may_end_early(operation) && cx.program.plan.allows(place, Choice::EarlyExit)
    {
        return operation_until_absorbed(cx, operation, pattern, place);
    }
    let states = start_states(cx, &operation.carries)?;
    let extents = cx.simple_values(&operation.shape)?;
    let indices = cx.bind_indices(&operation.indices)?;
    let (space, counter) = space_of(cx, operation, &extents, &indices, place)?;
    let (carried, made) = split(pattern, operation.carries.len())?;
    let mut outputs = start_outputs(cx, operation, made, &space)?;
    stage_survivors(cx, operation, &mut outputs)?;
    let made_in_place = match cx.machine {
        Machine::Processor => grow_rows(cx, operation, &outputs)?,
        Machine::Device => Vec::new(),
    };
    cx.flush_loads()?;
    let sequential = u32::from(operation.level == flat::Level::Sequential);
    cx.loops += sequential;
    cx.grids += 1 - sequential;
    let (code, ()) = cx.nested(|cx| {
        cx.body(&operation.body, |cx, results| {
            let (next, rest) = split(results, operation.carries.len())?;
            consume_all(cx, operation, &outputs, rest, &space)?;
            replace(cx, next, &states, Moving::Body)?;
            if let Some(counter) = counter {
                let next = Expression::Variable(counter).plus(Expression::index(1));
                cx.assign(counter, next);
            }
            Ok(())
        })?;
        Ok(())
    })?;
    end_rows_in_place(cx, &made_in_place);
    cx.loops -= sequential;
    cx.grids -= 1 - sequential;
    let mut code = code;
    let carries = (carried, &states[..]);
    let surrounding = order_iterations(cx, operation, carries, &indices, &mut code, place);
    let level = match operation.carries.is_empty() || surrounding.is_some() {
        true => level_of(cx.machine, operation),
        false => Level::Sequential,
    };
    note_space(cx, operation, made)?;
    let (before, after) = surrounding.map_or_else(Default::default, |e| (e.before, e.after));
    before.into_iter().for_each(|command| cx.emit(command));
    let nest = (level, &extents[..], &indices[..]);
    wrap_operation(cx, operation, &outputs, nest, code, place)?;
    note_strategy(cx, operation);
    after.into_iter().for_each(|command| cx.emit(command));
    for output in outputs {
        finish_output(cx, output, place)?;
    }
    bind_states(cx, carried, &states, true)
}

/// Writes the loops around the body of an operation, in the form that its outputs and its level ask for.
fn wrap_operation<'a>(
    cx: &mut Translator<'a>,
    operation: &'a flat::ArrayOperation,
    outputs: &[Output<'a>],
    (level, extents, indices): (Level, &[Expression], &[Variable]),
    code: Vec<Command>,
    place: &Place,
) -> Result<()> {
    if let ([extent], [index]) = (extents, indices)
        && outputs.iter().any(is_staged)
    {
        wrap_in_staged_chunks(cx, outputs, (extent, *index), code, place)?;
    } else if level == Level::Grid && stores_in_chunks(cx.machine, operation) {
        wrap_in_chunks(cx, extents, indices, code, place);
    } else if let Some(tiles) = tiles_of_map(cx, operation)
        && cx.program.plan.allows(place, Choice::Transpose)
    {
        wrap_in_tiles(cx, extents, indices, &tiles, code, place);
    } else {
        wrap_at(cx, level, extents, indices, code, place);
    }
    Ok(())
}

/// Gives a loop over work-groups an ordered region in which its iterations propagate prefixes, if that is
/// possible.
fn order_iterations(
    env: &mut Env<'_>,
    operation: &flat::ArrayOperation,
    (carried, states): (&[flat::Variable], &[State]),
    indices: &[Variable],
    code: &mut Vec<Command>,
    place: &Place,
) -> Option<Surrounding> {
    let [index] = indices else { return None };
    if operation.carries.is_empty() || level_of(env.machine, operation) != Level::Block {
        return None;
    }
    let mut carried_states = Vec::with_capacity(states.len());
    for (state, result) in states.iter().zip(carried) {
        match state {
            State::Scalar(state) => carried_states.push((*state, !env.facts.is_unused(*result))),
            State::Array { .. } | State::Placed => return None,
        }
    }
    make_ordered(&mut env.program, *index, &carried_states, code, place)
}

/// Returns the level of an operation's loop. Processors have no work-groups: their threads run the groups
/// in parallel, and the loops inside a group run in order.
fn level_of(machine: Machine, operation: &flat::ArrayOperation) -> Level {
    let by = operation.strategy.map(|strategy| strategy.level);
    let writes_apart =
        |output: &flat::Output| matches!(output, flat::Output::Map | flat::Output::Join { .. });
    let is_map = operation.outputs.iter().all(writes_apart);
    let has_carries = !operation.carries.is_empty();
    match (operation.level, by, machine) {
        // Groups with carries propagate prefixes in ordered regions.
        (flat::Level::Grid, Some(strategy::Level::Workgroup), Machine::Device) if is_map => {
            Level::Block
        }
        (flat::Level::Sequential, Some(strategy::Level::Local), Machine::Device)
            if is_map && !has_carries =>
        {
            Level::Thread
        }
        (flat::Level::Grid, _, _) => Level::Grid,
        (flat::Level::Sequential, _, _) => Level::Sequential,
    }
}

/// Records the strategy of the source program for the loop that was written last.
fn note_strategy(out: &mut Writer, operation: &flat::ArrayOperation) {
    let (Some(strategy), [index, ..]) = (operation.strategy, &operation.indices[..]) else {
        return;
    };
    let is_rows = |output: &flat::Output| matches!(output, flat::Output::Collect { .. });
    if let Some(Command::For { variable, .. }) = out.commands.last() {
        let strategy = nova_loop::ir::Strategy {
            level: strategy.level,
            index: *index,
            has_rows: operation.outputs.iter().any(is_rows),
        };
        out.program.strategies.insert(*variable, strategy);
    }
}

/// Records the memory space for the arrays that an operation makes.
fn note_space(
    env: &mut Env<'_>,
    operation: &flat::ArrayOperation,
    made: &[flat::Variable],
) -> Result<()> {
    let space = operation.strategy.and_then(|strategy| strategy.space);
    let (Some(space), Machine::Device) = (space, env.machine) else {
        return Ok(());
    };
    for array in made {
        if let Some(block) = array_block(env.source, flat::Atom::Variable(*array))?
            && let Some(bound) = env.blocks.get(block.index()).copied().flatten()
        {
            env.program.variables[bound.pointer.index()].space = Some(space);
        }
    }
    Ok(())
}

/// Writes code inside the loops of a space. The outermost loop has level `level`.
fn wrap_at(
    env: &mut Env<'_>,
    level: Level,
    extents: &[Expression],
    indices: &[Variable],
    code: Vec<Command>,
    place: &Place,
) {
    if level == Level::Grid && env.machine == Machine::Device && indices.len() > 1 {
        return wrap_flat(env, level, extents, indices, code, place);
    }
    wrap(env, extents, indices, code, place);
    if let Some(Command::For {
        level: outermost,
        body,
        ..
    }) = env.commands.last_mut()
    {
        *outermost = level;
        if level == Level::Thread {
            run_in_one_thread(body);
        }
    }
}

/// Makes the loops inside a loop over the threads of a group sequential, since Loop has no nests of such
/// loops. Flat keeps strategies as they were written: only the driver, which sees the source, can report
/// an error with a place.
fn run_in_one_thread(commands: &mut [Command]) {
    set_levels(commands, (), &|(), _, level, _| match level.is_parallel() {
        true => (Level::Sequential, ()),
        false => (level, ()),
    });
}
