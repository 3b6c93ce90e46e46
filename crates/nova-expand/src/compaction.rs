//! Compaction of filter survivors in stages. Where threads fill one array, a filter must not write after its
//! survivors, since the memory there belongs to another thread. So chunks of the indices are filtered to
//! local arrays, which have room for all elements, without a branch that a processor would mispredict. Then
//! the survivors of a chunk are stored after those of the previous chunks.
//!
//! ```text
//! for chunk in n / 512 {
//!   staged = 0
//!   for i in chunk { local[staged] = x; staged = staged + (c ? 1 : 0) }
//!   for k in staged { result[count] = local[k]; count = count + 1 }
//! }
//! ```

use crate::env::Env;
use crate::output::{Compaction, Output, Staging};
use crate::source::info_of;
use crate::stored::{binary, quotient_up};
use crate::writer::{INDEX, Nesting, Result};
use nova_core::ScalarOperation;
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::ir::{Command, Expression, Type, Variable};
use nova_machine::{Machine, PROCESSOR, figures};

/// The maximum number of arrays that are staged. Chunks of more arrays would not stay in the cache.
const STAGED_ARRAYS: usize = figures::STRIPS.staged_arrays;
/// The number of indices of a chunk: as many as have elements of eight bytes of all arrays in the cache.
const CHUNK: u32 = PROCESSOR.cached_elements(8 * STAGED_ARRAYS as i64) as u32;

/// Arranges that an operation stages survivors in local arrays, if all its outputs are filters and would
/// otherwise take branches.
pub(crate) fn stage_survivors(
    env: &mut Env<'_>,
    operation: &flat::ArrayOperation,
    outputs: &mut [Output<'_>],
) -> Result<()> {
    let is_short = |extent: &flat::Atom| match extent {
        flat::Atom::Constant(extent) => extent.as_integer() < Some(CHUNK.into()),
        flat::Atom::Variable(_) => false,
    };
    let is_loop = env.machine == Machine::Processor
        && operation.level == flat::Level::Sequential
        && operation.carries.is_empty()
        && matches!(&operation.shape[..], [extent] if !is_short(extent));
    let arrays_of = |output: &Output| match output {
        Output::Filter {
            arrays,
            compaction: Compaction::Branching,
            ..
        } => Some(arrays.len()),
        _others => None,
    };
    let count = outputs.iter().map(arrays_of).sum::<Option<usize>>();
    if !is_loop || !count.is_some_and(|count| (1..=STAGED_ARRAYS).contains(&count)) {
        return Ok(());
    }
    for output in outputs {
        if let Output::Filter {
            arrays, compaction, ..
        } = output
        {
            let mut locals = Vec::with_capacity(arrays.len());
            for array in *arrays {
                let element = info_of(env.source, *array)?.ty.element();
                locals.push(env.add_variable("held", Type::Pointer(element)));
            }
            let count = env.add_variable("held", INDEX);
            *compaction = Compaction::Staged(Staging { locals, count });
        }
    }
    Ok(())
}

/// Stores a value into each local array.
pub(crate) fn store_local(
    env: &mut Env<'_>,
    locals: &[Variable],
    index: &Expression,
    values: &[flat::Atom],
) -> Result<()> {
    for (local, value) in locals.iter().zip(values) {
        let value = env.scalar(*value)?;
        env.set_element(*local, index.clone(), value);
    }
    Ok(())
}

/// Writes the code of an iteration inside a loop over chunks. After the iterations of a chunk its
/// survivors are stored.
pub(crate) fn wrap_in_staged_chunks<'a>(
    env: &mut Env<'a>,
    outputs: &[Output<'a>],
    (extent, index): (&Expression, Variable),
    code: Vec<Command>,
    place: &Place,
) -> Result<()> {
    let width = || Expression::index(CHUNK.into());
    let [chunk, first, own] = ["piece", "first", "own"].map(|name| env.add_variable(name, INDEX));
    let begin = Expression::Variable(first);
    let mut iteration = vec![Command::declare(
        index,
        begin.clone().plus(Expression::Variable(own)),
    )];
    iteration.extend(code);
    let start = Expression::Variable(chunk).times(width());
    let mut body = vec![Command::declare(first, start)];
    let mut stores = Vec::with_capacity(outputs.len());
    for output in outputs {
        let Output::Filter {
            count,
            arrays,
            compaction: Compaction::Staged(staging),
        } = output
        else {
            continue;
        };
        body.extend(staging.locals.iter().map(|local| Command::Local {
            pointer: *local,
            count: CHUNK,
        }));
        body.push(Command::declare(staging.count, Expression::index(0)));
        stores.push(store_staged(env, staging, *count, arrays, place)?);
    }
    let left = binary(
        ScalarOperation::Minimum,
        extent.clone().minus(begin),
        width(),
    );
    body.push(Command::sequential(own, left, iteration, place));
    body.append(&mut stores);
    let chunks = quotient_up(extent.clone(), width());
    env.emit(Command::sequential(chunk, chunks, body, place));
    Ok(())
}

/// Returns the loop that stores the survivors of a chunk after those of the previous chunks.
fn store_staged<'a>(
    env: &mut Env<'a>,
    staging: &Staging,
    count: Variable,
    arrays: &'a [flat::Variable],
    place: &Place,
) -> Result<Command> {
    let from = env.add_variable("k", INDEX);
    let (body, ()) = env.nested(|env| {
        let at = Expression::Variable(count);
        for (array, local) in arrays.iter().zip(&staging.locals) {
            let place = env.place(*array)?;
            let value = Expression::load(*local, Expression::Variable(from));
            env.store(place, vec![at.clone()], value)?;
        }
        // The counter advances one by one: the interference checker and the count assertion need that.
        env.assign(count, at.plus(Expression::index(1)));
        Ok(())
    })?;
    Ok(Command::sequential(
        from,
        Expression::Variable(staging.count),
        body,
        place,
    ))
}
