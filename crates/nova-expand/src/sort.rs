//! The stable bottom-up merge sort of docs/order.md. It sorts indices in two buffers.

use crate::address::pointer_to;
use crate::allocation::{allocate_here, destination};
use crate::loops::each_index;
use crate::operators::apply_to;
use crate::terms::Term;
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result, Writer};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::ir::{Command, Expression, Type, Variable};

/// The variables of a sort.
struct Sort {
    count: Expression,
    /// The width of the sorted runs.
    width: Variable,
    from: Variable,
    to: Variable,
    place: Place,
}

/// The variables of a merge: the next elements of the left and the right run, and the ends of the runs.
struct Merge {
    first: Variable,
    left: Variable,
    middle: Variable,
    right: Variable,
    last: Variable,
}

/// Sorts the indices 0..count.
pub(crate) fn sort_array<'a>(
    cx: &mut Translator<'a>,
    pattern: flat::Variable,
    count: flat::Atom,
    compare: &'a flat::Lambda,
    place: &Place,
) -> Result<()> {
    let count = cx.simple(count)?;
    let to = destination(cx, pattern, count.clone(), place)?;
    cx.flush_loads()?;
    let result = pointer_to(cx, pattern)?;
    let pointer = Type::Pointer(Scalar::I64);
    let from = cx.declare("from", pointer, result.clone());
    each_index(cx, std::slice::from_ref(&count), place, |cx, indices| {
        let index = indices.into_iter().next().unwrap_or(Expression::index(0));
        cx.set_element(from, index.clone(), index);
        Ok(())
    })?;
    let scratch = cx.add_variable("scratch", pointer);
    let scratch_block = cx.add_variable("scratch_block", Type::Block);
    allocate_here(cx, scratch, scratch_block, count.clone(), None, place)?;
    let sort = Sort {
        count: count.clone(),
        width: cx.declare("width", INDEX, Expression::index(1)),
        from,
        to: cx.declare("to", pointer, Expression::Variable(scratch)),
        place: place.clone(),
    };
    let away = cx.declare(
        "in_scratch",
        Type::Scalar(Scalar::Bool),
        Expression::bool(false),
    );
    cx.endless_loop(place, |cx| sort_pass(cx, &sort, away, compare))?;
    cx.when(Expression::Variable(away), |cx| {
        cx.flush_conflicts(to.block)?;
        cx.emit(Command::Copy {
            to: result,
            from: Expression::Variable(scratch),
            element: Scalar::I64,
            count,
        });
        Ok(())
    })?;
    cx.emit(Command::Release(scratch_block));
    Ok(())
}

/// Leaves the loop if a variable has reached the count.
fn leave_at_count(out: &mut Writer, sort: &Sort, variable: Variable) {
    let done = Expression::Variable(variable);
    let done = done.compare(ScalarOperation::GreaterEqual, sort.count.clone());
    out.break_if(done);
}

/// Merges all pairs of runs, then swaps the buffers.
fn sort_pass<'a>(
    cx: &mut Translator<'a>,
    sort: &Sort,
    away: Variable,
    compare: &'a flat::Lambda,
) -> Result<()> {
    leave_at_count(cx, sort, sort.width);
    let first = cx.declare("first", INDEX, Expression::index(0));
    cx.endless_loop(&sort.place, |cx| sort_pair(cx, sort, first, compare))?;
    let from = (sort.from, Expression::Variable(sort.to));
    let to = (sort.to, Expression::Variable(sort.from));
    cx.assign_together(vec![from, to]);
    cx.assign(away, Expression::Variable(away).negated());
    let twice = Expression::Variable(sort.width).times(Expression::index(2));
    cx.assign(sort.width, twice);
    Ok(())
}

/// Merges the two runs that start at `first`.
fn sort_pair<'a>(
    cx: &mut Translator<'a>,
    sort: &Sort,
    first: Variable,
    compare: &'a flat::Lambda,
) -> Result<()> {
    leave_at_count(cx, sort, first);
    let variable = Expression::Variable;
    let end = |from: Variable| {
        let end = variable(from).plus(variable(sort.width));
        end.compare(ScalarOperation::Minimum, sort.count.clone())
    };
    let middle = cx.declare("middle", INDEX, end(first));
    let merge = Merge {
        first,
        middle,
        last: cx.declare("last", INDEX, end(middle)),
        left: cx.declare("left", INDEX, variable(first)),
        right: cx.declare("right", INDEX, variable(middle)),
    };
    let length = variable(merge.last).minus(variable(first));
    each_index(cx, &[length], &sort.place, |cx, indices| {
        let index = indices.into_iter().next().unwrap_or(Expression::index(0));
        merge_step(cx, sort, &merge, index, compare)
    })?;
    cx.assign(first, variable(merge.last));
    Ok(())
}

/// Takes the next index: the right one only if the left one may not come before it.
fn merge_step<'a>(
    cx: &mut Translator<'a>,
    sort: &Sort,
    merge: &Merge,
    index: Expression,
    compare: &'a flat::Lambda,
) -> Result<()> {
    let variable = Expression::Variable;
    let take_left = cx.declare(
        "take_left",
        Type::Scalar(Scalar::Bool),
        variable(merge.left).compare(ScalarOperation::Less, variable(merge.middle)),
    );
    let both = variable(merge.right).compare(ScalarOperation::Less, variable(merge.last));
    let both = variable(take_left).and(both);
    cx.when(both, |cx| {
        let left = Expression::load(sort.from, variable(merge.left));
        let right = Expression::load(sort.from, variable(merge.right));
        let arguments = [left, right].into_iter().map(|value| Term {
            size: 3,
            ..Term::new(value)
        });
        apply_to(cx, compare, arguments.collect(), &[take_left])
    })?;
    let at = variable(merge.first).plus(index);
    let take = |source: Variable| {
        let at = at.clone();
        move |cx: &mut Translator<'a>| {
            cx.set_element(sort.to, at, Expression::load(sort.from, variable(source)));
            cx.assign(source, variable(source).plus(Expression::index(1)));
            Ok(())
        }
    };
    cx.choose(variable(take_left), take(merge.left), take(merge.right))
}
