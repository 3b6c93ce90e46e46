//! The outputs of array operations: the code before the loop, in it, and after it.

use crate::address::in_range;
use crate::allocation::destination;
use crate::arrays::{copy_to, copy_unless_same, fill};
use crate::compaction::store_local;
use crate::env::Env;
use crate::loops::each_index;
use crate::output::{Collect, Compaction, Output, Positions, ScatterMode};
use crate::places::Place;
use crate::reduction::{consume_reduction, finish_reduction, start_reduction};
use crate::result_buffers::{concatenate_buffers, start_result_buffers, store_result_buffers};
use crate::scan::{consume_scan, finish_scan, start_scan};
use crate::source::{array_block, info_of, name_of};
use crate::space::{Space, single, split};
use crate::terms::Term;
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result};
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir as flat;
use nova_flat::memory::{Polynomial, polynomial_of};
use nova_loop::cost::work;
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression, Stays, Variable};
use nova_machine::{Machine, PROCESSOR};

/// Prepares an output before the loop over these extents.
pub(crate) fn start_output<'a>(
    env: &mut Env<'a>,
    output: &'a flat::Output,
    (pattern, extents): (&'a [flat::Variable], &[flat::Atom]),
    space: &Space,
) -> Result<Output<'a>> {
    match output {
        flat::Output::Map => {
            let array = single(pattern)?;
            destination(env, array, space.count.clone(), &space.place)?;
            Ok(Output::Map(array))
        }
        flat::Output::Reduce {
            lambda,
            start,
            commutes,
            bracketing,
        } => {
            let order = (*commutes, *bracketing);
            let reduction = start_reduction(env, lambda, start, order, pattern, space)?;
            Ok(Output::Reduction(reduction))
        }
        flat::Output::Scan {
            lambda,
            start,
            exclusive,
        } => {
            let scan = start_scan(env, lambda, start, *exclusive, pattern, space)?;
            Ok(Output::Scan(scan))
        }
        flat::Output::Filter { .. } => start_filter(env, (pattern, extents), space),
        flat::Output::Scatter {
            destinations,
            positions,
        } => {
            let positions = start_scatter(env, destinations, positions, pattern, space)?;
            Ok(Output::Scatter {
                positions,
                arrays: pattern,
            })
        }
        flat::Output::Histogram {
            lambda,
            start,
            bins,
            guarded,
        } => {
            let bins = env.simple(*bins)?;
            for (array, start) in pattern.iter().zip(start) {
                let to = destination(env, *array, bins.clone(), &space.place)?;
                fill(env, to, *start, &space.place)?;
            }
            Ok(Output::Histogram {
                lambda,
                bins: (!guarded).then_some(bins),
                arrays: pattern,
            })
        }
        flat::Output::Collect { .. } => start_collect(env, pattern, space),
        flat::Output::Join { shape } => {
            let array = single(pattern)?;
            let mut count = Expression::index(1);
            for extent in shape {
                count = count.times(env.simple(*extent)?);
            }
            destination(env, array, count, &space.place)?;
            Ok(Output::Join(array))
        }
    }
}

/// Starts a filter: the memory of its arrays, and the number of survivors so far.
fn start_filter<'a>(
    env: &mut Env<'a>,
    (pattern, extents): (&'a [flat::Variable], &[flat::Atom]),
    space: &Space,
) -> Result<Output<'a>> {
    let (count, arrays) = split(pattern, 1)?;
    for array in arrays {
        destination(env, *array, space.count.clone(), &space.place)?;
    }
    let compaction = match arrays.iter().all(|array| has_room(env, *array, extents)) {
        true => Compaction::Branchless,
        false => Compaction::Branching,
    };
    Ok(Output::Filter {
        count: declare_counter(env, single(count)?)?,
        arrays,
        compaction,
    })
}

/// Declares a counter that starts at 0, whose final value is a scalar result.
fn declare_counter(env: &mut Env<'_>, variable: flat::Variable) -> Result<Variable> {
    let name = name_of(env.source, variable);
    let counter = env.declare(name, INDEX, Expression::index(0));
    env.bind_simple(variable, Expression::Variable(counter))?;
    Ok(counter)
}

fn start_scatter(
    env: &mut Env<'_>,
    destinations: &[flat::Variable],
    positions: &flat::Positions,
    pattern: &[flat::Variable],
    space: &Space,
) -> Result<Positions> {
    let mut length = Expression::index(0);
    for (from, to) in destinations.iter().zip(pattern) {
        let from = env.place(*from)?;
        length = env.product(from.shape)?;
        let to = destination(env, *to, length.clone(), &space.place)?;
        copy_unless_same(env, to, from, &space.place)?;
    }
    let mode = match (positions, space.parallel) {
        (flat::Positions::Unordered, true) => ScatterMode::Contends(Stays::Any),
        (flat::Positions::Greatest, true) => ScatterMode::Contends(Stays::Greatest),
        (flat::Positions::Greatest, false) => ScatterMode::IfGreater,
        (flat::Positions::Given | flat::Positions::Unordered | flat::Positions::Block(_), _) => {
            ScatterMode::Overwrite
        }
    };
    match positions {
        flat::Positions::Given | flat::Positions::Unordered | flat::Positions::Greatest => {
            Ok(Positions::Given { length, mode })
        }
        flat::Positions::Block(starts) => {
            let starts = starts.iter().map(|start| env.simple(*start));
            let starts = starts.collect::<Result<_>>()?;
            Ok(Positions::Block { starts })
        }
    }
}

fn start_collect<'a>(
    env: &mut Env<'a>,
    pattern: &'a [flat::Variable],
    space: &Space,
) -> Result<Output<'a>> {
    let ([starts, ends, total], arrays) = pattern
        .split_at_checked(3)
        .and_then(|(fixed, arrays)| Some((<&[_; 3]>::try_from(fixed).ok()?, arrays)))
        .ok_or_else(|| internal("a collect with too few results"))?;
    for array in [starts, ends] {
        destination(env, *array, space.count.clone(), &space.place)?;
    }
    let total = declare_counter(env, *total)?;
    for array in arrays {
        let block = array_block(env.source, flat::Atom::Variable(*array))?;
        let block = block.ok_or_else(|| internal("a collect of scalars"))?;
        let flat::Type::Array(element, _) = info_of(env.source, *array)?.ty else {
            return Err(internal("a collect of scalars"));
        };
        let (pointer, handle) = env.block_variables(block, element);
        let (null, none) = (Expression::NullPointer(element), Expression::NullBlock);
        for (variable, value) in [(pointer, null), (handle, none)] {
            // Result buffers are copied to memory of the right size, rows to memory that grows.
            let value = (!space.parallel).then_some(value);
            env.emit(Command::Declare { variable, value });
        }
        env.bind_block(block, pointer, handle)?;
    }
    let buffers = space
        .parallel
        .then(|| start_result_buffers(env, arrays, &space.count, &space.place));
    Ok(Output::Collect(Collect {
        starts: *starts,
        ends: *ends,
        total,
        arrays,
        buffers,
    }))
}

/// Consumes the values that the body passes to an output.
pub(crate) fn consume<'a>(
    cx: &mut Translator<'a>,
    output: &Output<'a>,
    values: &[flat::Atom],
    space: &Space,
) -> Result<()> {
    match output {
        Output::Map(array) => {
            let value = cx.scalar(single_value(values)?)?;
            let place = cx.place(*array)?;
            cx.store(place, space.indices.clone(), value)
        }
        Output::Reduction(reduction) => consume_reduction(cx, reduction, values, space),
        Output::Scan(scan) => consume_scan(cx, scan, values, space),
        Output::Filter {
            count,
            arrays,
            compaction,
        } => consume_filter(cx, *count, arrays, compaction, values),
        Output::Scatter {
            positions: Positions::Given { length, mode },
            arrays,
        } => consume_scatter(cx, length, *mode, arrays, values),
        Output::Scatter {
            positions: Positions::Block { starts },
            arrays,
        } => {
            let indices = space.indices.iter().zip(starts);
            let indices: Vec<_> = indices
                .map(|(i, start)| start.clone().plus(i.clone()))
                .collect();
            store_all(cx, arrays, &indices, values)
        }
        Output::Histogram {
            lambda,
            bins,
            arrays,
        } => consume_histogram(cx, lambda, bins.as_ref(), arrays, values),
        Output::Collect(collect) => consume_collect(cx, collect, values, space),
        Output::Join(array) => consume_join(cx, *array, values, space),
    }
}

/// Stores the values of an element that survives.
fn consume_filter(
    env: &mut Env<'_>,
    count: Variable,
    arrays: &[flat::Variable],
    compaction: &Compaction,
    values: &[flat::Atom],
) -> Result<()> {
    let (condition, values) = split(values, 1)?;
    let condition = env.scalar(single_value(condition)?)?;
    flush_for(env, arrays)?;
    let (count, for_all) = match compaction {
        Compaction::Branching => (count, false),
        Compaction::Branchless => (count, are_cheap(env, values)),
        Compaction::Staged(staging) => (staging.count, are_cheap(env, values)),
    };
    let index = Expression::Variable(count);
    let store = |env: &mut Env<'_>| match compaction {
        Compaction::Branching | Compaction::Branchless => {
            store_all(env, arrays, std::slice::from_ref(&index), values)
        }
        Compaction::Staged(staging) => store_local(env, &staging.locals, &index, values),
    };
    if for_all {
        store(env)?;
        let increment = Expression::Scalar {
            operation: ScalarOperation::Convert(Scalar::I64),
            operand: Scalar::Bool,
            arguments: vec![condition],
        };
        env.assign(count, index.clone().plus(increment));
        return Ok(());
    }
    env.when(condition, |env| {
        store(env)?;
        env.assign(count, index.clone().plus(Expression::index(1)));
        Ok(())
    })
}

/// Stores values at an index, if the index is in range.
fn consume_scatter(
    env: &mut Env<'_>,
    length: &Expression,
    mode: ScatterMode,
    arrays: &[flat::Variable],
    values: &[flat::Atom],
) -> Result<()> {
    let (index, values) = split(values, 1)?;
    let index = env.simple(single_value(index)?)?;
    flush_for(env, arrays)?;
    env.when(in_range(&index, length), |env| match mode {
        ScatterMode::Overwrite => store_all(env, arrays, &[index], values),
        ScatterMode::IfGreater => store_greater(env, arrays, index, values),
        ScatterMode::Contends(stays) => contend(env, arrays, &index, values, stays),
    })
}

/// True if a filter over these extents may write after its survivors, on a processor. The array must lie
/// at the start of a block with room for an element of each index. Then a store for every index, of
/// which only those of survivors remain, needs no branch that a processor would mispredict. In programs
/// with parallel loops the branch stays, since the interference checker only knows stores of survivors.
fn has_room(env: &Env<'_>, array: flat::Variable, extents: &[flat::Atom]) -> bool {
    let memory = info_of(env.source, array)
        .ok()
        .and_then(|info| info.memory.as_ref());
    memory.is_some_and(|memory| {
        env.machine == Machine::Processor
            && !env.facts.grids
            && memory.lmad.offset.as_constant() == Some(0)
            && memory.lmad.is_row_major()
            && extents.len() == 1
            && env.facts.block(memory.block).room.as_ref() == extents.first()
    })
}

/// True if values cost less than a branch that is sometimes mispredicted.
fn are_cheap(env: &Env<'_>, values: &[flat::Atom]) -> bool {
    let pending = values.iter().filter_map(|value| env.pending(*value));
    pending.map(work).sum::<u32>() <= PROCESSOR.branch_work
}

/// Evaluates the pending terms that read the memory of these arrays.
fn flush_for(env: &mut Env<'_>, arrays: &[flat::Variable]) -> Result<()> {
    for array in arrays {
        let block = env.place(*array)?.block;
        env.flush_conflicts(block)?;
    }
    Ok(())
}

/// Stores a value to each array.
fn store_all(
    env: &mut Env<'_>,
    arrays: &[flat::Variable],
    indices: &[Expression],
    values: &[flat::Atom],
) -> Result<()> {
    for (array, value) in arrays.iter().zip(values) {
        let value = env.scalar(*value)?;
        let place = env.place(*array)?;
        env.store(place, indices.to_vec(), value)?;
    }
    Ok(())
}

/// Stores a value to each array if it is greater than the element.
fn store_greater(
    env: &mut Env<'_>,
    arrays: &[flat::Variable],
    index: Expression,
    values: &[flat::Atom],
) -> Result<()> {
    for (array, value) in arrays.iter().zip(values) {
        let value = env.simple(*value)?;
        let place = env.place(*array)?;
        let element = place.element;
        let before = env.load(place, vec![index.clone()])?;
        let is_greater = Expression::Scalar {
            operation: ScalarOperation::Greater,
            operand: element,
            arguments: vec![value.clone(), before],
        };
        env.when(is_greater, |env| {
            env.store(place, vec![index.clone()], value)
        })?;
    }
    Ok(())
}

/// Stores a value to each array atomically.
fn contend(
    env: &mut Env<'_>,
    arrays: &[flat::Variable],
    index: &Expression,
    values: &[flat::Atom],
    stays: Stays,
) -> Result<()> {
    for (array, value) in arrays.iter().zip(values) {
        let value = env.scalar(*value)?;
        let place = env.place(*array)?;
        let index = env.address(place.lmad, vec![index.clone()])?;
        env.flush_conflicts(place.block)?;
        env.emit(Command::Contend {
            pointer: place.pointer,
            index,
            value,
            stays,
        });
    }
    Ok(())
}

fn consume_histogram<'a>(
    cx: &mut Translator<'a>,
    lambda: &'a flat::Lambda,
    bins: Option<&Expression>,
    arrays: &[flat::Variable],
    values: &[flat::Atom],
) -> Result<()> {
    let (guard, values) = split(values, usize::from(bins.is_none()))?;
    let (index, values) = split(values, 1)?;
    let index = cx.simple(single_value(index)?)?;
    let has_bin = match bins {
        Some(bins) => in_range(&index, bins),
        None => cx.scalar(single_value(guard)?)?,
    };
    flush_for(cx, arrays)?;
    cx.when(has_bin, |cx| {
        let mut arguments = Vec::with_capacity(2 * arrays.len());
        for array in arrays {
            let place = cx.place(*array)?;
            let address = cx.address(place.lmad, vec![index.clone()])?;
            arguments.push(Term {
                expression: Expression::load(place.pointer, address),
                size: 4,
                loads: vec![place.block],
            });
        }
        for value in values {
            arguments.push(cx.term(*value)?);
        }
        cx.apply(lambda, arguments, |cx, results| {
            store_all(cx, arrays, std::slice::from_ref(&index), results)
        })?;
        Ok(())
    })
}

fn consume_collect(
    env: &mut Env<'_>,
    collect: &Collect<'_>,
    values: &[flat::Atom],
    space: &Space,
) -> Result<()> {
    let (length, rows) = split(values, 1)?;
    let length = env.simple(single_value(length)?)?;
    if let Some(buffers) = &collect.buffers {
        let (number, place) = (&space.number, &space.place);
        return store_result_buffers(env, collect, buffers, (length, rows), number, place);
    }
    let total = Expression::Variable(collect.total);
    let starts = env.place(collect.starts)?;
    env.store(starts, vec![space.number.clone()], total.clone())?;
    for (array, row) in collect.arrays.iter().zip(rows) {
        let flat::Atom::Variable(row) = row else {
            return Err(internal("a row that is no array"));
        };
        let to = env.place(*array)?;
        let from = env.place(*row)?;
        let made_there = env.growing.get(&from.block).map(|growing| growing.rows);
        if made_there == Some(to.block) {
            continue;
        }
        env.flush_conflicts(to.block)?;
        let block = env.block(to.block)?.handle;
        env.emit(Command::Reserve {
            block,
            pointer: to.pointer,
            element: to.element,
            used: total.clone(),
            count: total.clone().plus(length.clone()),
            place: space.place.clone(),
        });
        copy_to(env, to, total.clone(), from, length.clone(), &space.place)?;
    }
    env.assign(collect.total, total.clone().plus(length));
    let ends = env.place(collect.ends)?;
    env.store(ends, vec![space.number.clone()], total)
}

/// Copies an array to its part of the joined array, unless it was made there.
fn consume_join(
    env: &mut Env<'_>,
    joined: flat::Variable,
    values: &[flat::Atom],
    space: &Space,
) -> Result<()> {
    let [first, flat::Atom::Variable(chunk)] = values else {
        return Err(internal("a join of no array"));
    };
    let (to, from) = (env.place(joined)?, env.place(*chunk)?);
    let stride = to.lmad.dimensions.first().map(|d| d.1.clone());
    let offset = polynomial_of(*first).and_then(|first| Some(first.times(&stride?)));
    let offset = offset.ok_or_else(|| internal("a join at no index"))?;
    let strides = |place: &Place<'_>| -> Vec<Polynomial> {
        place.lmad.dimensions.iter().map(|d| d.1.clone()).collect()
    };
    if to.block == from.block
        && from.lmad.offset == to.lmad.offset.plus(&offset)
        && strides(&to) == strides(&from)
    {
        return Ok(());
    }
    let first = env.simple(*first)?;
    let extents = env.simple_values(from.shape)?;
    // For arrays that threads join, the interference checker needs single stores.
    if let ([count], Machine::Processor, false) = (&extents[..], env.machine, space.parallel)
        && to.block != from.block
    {
        return copy_to(env, to, first, from, count.clone(), &space.place);
    }
    env.flush_conflicts(to.block)?;
    each_index(env, &extents, &space.place, |env, indices| {
        let value = env.load(from, indices.clone())?;
        let mut indices = indices;
        if let Some(outermost) = indices.first_mut() {
            *outermost = first.clone().plus(outermost.clone());
        }
        env.store(to, indices, value)
    })
}

/// Binds the results of an output after the loop.
pub(crate) fn finish_output<'a>(
    cx: &mut Translator<'a>,
    output: Output<'a>,
    place: &nova_diag::Place,
) -> Result<()> {
    match output {
        Output::Reduction(reduction) => finish_reduction(cx, reduction, place),
        Output::Scan(scan) => finish_scan(scan),
        Output::Collect(collect) => {
            if let Some(buffers) = &collect.buffers {
                concatenate_buffers(cx, &collect, buffers, place)?;
            }
            for array in collect.arrays {
                if let Some(block) = array_block(cx.source, flat::Atom::Variable(*array))? {
                    cx.own(block)?;
                }
            }
            Ok(())
        }
        Output::Map(_)
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Histogram { .. }
        | Output::Join(_) => Ok(()),
    }
}

/// Returns the only value of an output.
fn single_value(values: &[flat::Atom]) -> Result<flat::Atom> {
    match values {
        [value] => Ok(*value),
        _ => Err(internal("an output with other values")),
    }
}

/// Prepares the outputs of an operation, which bind the variables of `pattern`.
pub(crate) fn start_outputs<'a>(
    env: &mut Env<'a>,
    operation: &'a flat::ArrayOperation,
    pattern: &'a [flat::Variable],
    space: &Space,
) -> Result<Vec<Output<'a>>> {
    let mut outputs = Vec::with_capacity(operation.outputs.len());
    let mut rest = pattern;
    for output in &operation.outputs {
        let (given, next) = split(rest, output.gives())?;
        rest = next;
        let extents = &operation.shape;
        outputs.push(start_output(env, output, (given, extents), space)?);
    }
    Ok(outputs)
}

/// Passes the values of a map's body to its outputs.
pub(crate) fn consume_all<'a>(
    cx: &mut Translator<'a>,
    map: &'a flat::ArrayOperation,
    outputs: &[Output<'a>],
    results: &'a [flat::Atom],
    space: &Space,
) -> Result<()> {
    let mut rest = results;
    for (output, state) in map.outputs.iter().zip(outputs) {
        let (consumed, others) = split(rest, output.consumes())?;
        rest = others;
        consume(cx, state, consumed, space)?;
    }
    Ok(())
}
