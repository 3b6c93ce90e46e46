//! The iterations that compute the elements of strips of rows ([`crate::row_strips`]), each for
//! [`GATHER_WIDTH`] elements: all checks of an iteration come first, then its elements. A full iteration
//! checks indices directly in memory. Elements that it would read with a stride or at such indices are
//! gathered into local arrays first ([`nova_loop::ir::Gather`]). Compilers generate slower loops for both. The
//! last iteration has fewer elements, and plain loops.

mod find;

use crate::grouping::{BOOL, Strip};
use crate::prefetch::{Ahead, prefetch_row};
use crate::space::split;
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result, Writer};
use find::{FindGather, bounds_test, each_load, indexed, replace_loads, strided};
use nova_flat::ir as flat;
use nova_loop::ir::{Command, Expression, GATHER_WIDTH, Gather, Type, Variable};
use nova_loop::streams::LinearReads;
use nova_loop::uses::drop_unused;
use nova_loop::walk;
use nova_machine::figures;
use std::collections::BTreeSet;

/// The maximum number of local arrays of an iteration. Each costs as many loads and stores again.
const GATHERED_ARRAYS: usize = figures::STRIPS.gathered_arrays;

/// A loop over the elements of an iteration.
struct Elements {
    /// The index of the loop.
    offset: Variable,
    /// The index in the strip.
    index: Variable,
    body: Vec<Command>,
}

/// Writes a full iteration: computes its elements from element `first` of a strip on if no check fails.
/// Otherwise it records the failure and leaves. The iteration has its own variable for the failure, which
/// is faster than one that iterations share.
pub(crate) fn full_iteration<'a>(
    cx: &mut Translator<'a>,
    strip: &Strip<'_, 'a>,
    first: &Expression,
    leave: impl FnOnce(&mut Translator<'a>),
) -> Result<()> {
    let fails = cx.declare("fails", BOOL, Expression::bool(false));
    let mut check = check_loop(cx, strip, fails, first)?;
    precheck_indices(cx, &mut check, fails);
    let count = Expression::index(i64::from(GATHER_WIDTH));
    if !check.body.is_empty() {
        each_element(cx, check, count.clone(), strip);
    }
    cx.choose(
        Expression::Variable(fails),
        |cx| {
            cx.assign(strip.fails, Expression::bool(true));
            leave(cx);
            Ok(())
        },
        |cx| {
            let mut compute = computation(cx, strip, first)?;
            gather_loads(cx, &mut compute, indexed);
            drop_unused(&mut compute.body, &mut BTreeSet::new());
            gather_loads(cx, &mut compute, strided);
            each_element(cx, compute, count, strip);
            Ok(())
        },
    )
}

/// Writes the last iteration: computes the `count` elements from element `first` of a strip on if no
/// check fails. Otherwise it records the failure.
pub(crate) fn last_iteration<'a>(
    cx: &mut Translator<'a>,
    strip: &Strip<'_, 'a>,
    first: &Expression,
    count: Expression,
) -> Result<()> {
    let fails = cx.declare("fails", BOOL, Expression::bool(false));
    let check = check_loop(cx, strip, fails, first)?;
    each_element(cx, check, count.clone(), strip);
    cx.choose(
        Expression::Variable(fails),
        |cx| {
            cx.assign(strip.fails, Expression::bool(true));
            Ok(())
        },
        |cx| {
            let compute = computation(cx, strip, first)?;
            each_element(cx, compute, count, strip);
            Ok(())
        },
    )
}

fn each_element(out: &mut Writer, elements: Elements, count: Expression, strip: &Strip<'_, '_>) {
    out.emit(Command::sequential(
        elements.offset,
        count,
        elements.body,
        strip.place,
    ));
}

/// Returns the checks of elements. Prefetches the elements that the next iterations will read.
fn check_loop<'a>(
    cx: &mut Translator<'a>,
    strip: &Strip<'_, 'a>,
    fails: Variable,
    first: &Expression,
) -> Result<Elements> {
    let check = element_loop(cx, strip, first, |cx, _| any_failure(cx, strip, fails))?;
    let ahead = Ahead::of(i64::from(GATHER_WIDTH));
    prefetch_row(cx, &check.body, check.index, first, ahead, strip.place);
    Ok(check)
}

/// Returns the computation of elements without their checks.
fn computation<'a>(
    cx: &mut Translator<'a>,
    strip: &Strip<'_, 'a>,
    first: &Expression,
) -> Result<Elements> {
    element_loop(cx, strip, first, |cx, index| {
        unchecked_element(cx, strip, index)
    })
}

/// Returns the loop whose body `write` writes for each element, from element `first` of a strip on.
fn element_loop<'a>(
    cx: &mut Translator<'a>,
    strip: &Strip<'_, 'a>,
    first: &Expression,
    write: impl FnOnce(&mut Translator<'a>, Variable) -> Result<()>,
) -> Result<Elements> {
    let offset = cx.add_variable("l", INDEX);
    let (body, index) = cx.nested(|cx| {
        let index = first.clone().plus(Expression::Variable(offset));
        let index = cx.declare("j", INDEX, index);
        cx.bind_simple(strip.grouping.inner, Expression::Variable(index))?;
        cx.scope(|cx| write(cx, index))?;
        Ok(index)
    })?;
    Ok(Elements {
        offset,
        index,
        body,
    })
}

/// Sets `fails` if a check of an element fails.
fn any_failure<'a>(cx: &mut Translator<'a>, strip: &Strip<'_, 'a>, fails: Variable) -> Result<()> {
    for statement in &strip.facts.needed {
        cx.statements(std::slice::from_ref(*statement))?;
    }
    for condition in &strip.facts.conditions {
        let this_one = cx.scalar(*condition)?.negated();
        let any = Expression::Variable(fails).or(this_one);
        cx.assign(fails, any);
    }
    Ok(())
}

/// Computes the element of a strip at an index, without its checks.
fn unchecked_element<'a>(
    cx: &mut Translator<'a>,
    strip: &Strip<'_, 'a>,
    index: Variable,
) -> Result<()> {
    let reduction = strip.grouping.nest.reduction;
    for statement in &reduction.body.statements {
        if !matches!(statement.expression, flat::Expression::Check { .. }) {
            cx.statements(std::slice::from_ref(statement))?;
        }
    }
    let mut rest = &reduction.body.results[..];
    for (output, buffers) in reduction.outputs.iter().zip(&strip.buffers) {
        let (values, others) = split(rest, output.consumes())?;
        rest = others;
        let values = cx.scalars(values)?;
        for (buffer, value) in buffers.iter().zip(values) {
            cx.set_element(*buffer, Expression::Variable(index), value);
        }
    }
    Ok(())
}

/// Removes from the checks of a full iteration those of indices that lie in memory, and writes
/// prechecks for them.
fn precheck_indices(out: &mut Writer, check: &mut Elements, fails: Variable) {
    let reads = LinearReads::of(check.offset, &check.body);
    let mut found = Vec::new();
    let mut stays = Vec::new();
    for command in &check.body {
        let outside = match command {
            Command::Assign { variable, value } if *variable == fails => {
                bounds_test(&out.program, &reads, value)
            }
            _others => None,
        };
        stays.push(outside.is_none());
        found.extend(outside);
    }
    let mut stays = stays.into_iter();
    check.body.retain(|_| stays.next().unwrap_or(true));
    drop_unused(&mut check.body, &mut BTreeSet::new());
    for (number, (indices, limit)) in found.into_iter().enumerate() {
        let outside = match number {
            0 => fails,
            _others => out.declare("outside", BOOL, Expression::bool(false)),
        };
        out.emit(Command::Gather(Gather::Precheck {
            outside,
            index: indices.element,
            stride: indices.stride,
            indices: indices.address(),
            limit,
        }));
        if outside != fails {
            let any = Expression::Variable(fails).or(Expression::Variable(outside));
            out.assign(fails, any);
        }
    }
}

/// Gathers the elements that a full iteration loads into local arrays, where `find` has a source.
fn gather_loads(out: &mut Writer, compute: &mut Elements, find: FindGather) {
    let reads = LinearReads::of(compute.offset, &compute.body);
    let mut loads = Vec::new();
    for command in &compute.body {
        walk::reads(command, &mut |e| {
            each_load(e, &mut |pointer, index| {
                loads.push(find(&out.program, &reads, pointer, index));
            });
        });
    }
    if loads.iter().flatten().count() > GATHERED_ARRAYS {
        return;
    }
    let mut arrays = Vec::with_capacity(loads.len());
    for source in loads {
        let Some(source) = source else {
            arrays.push(None);
            continue;
        };
        let (pointer, element) = source.array();
        let name = out.program.variable(pointer).name.clone();
        let array = out.add_variable(name, Type::Pointer(element));
        out.emit(Command::Local {
            pointer: array,
            count: GATHER_WIDTH,
        });
        out.emit(Command::Gather(source.fill(Expression::Variable(array))));
        arrays.push(Some(array));
    }
    let mut arrays = arrays.into_iter();
    for command in &mut compute.body {
        walk::reads_mut(command, &mut |e| {
            replace_loads(e, compute.offset, &mut arrays);
        });
    }
}
