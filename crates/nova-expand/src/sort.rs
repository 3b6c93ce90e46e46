//! The stable bottom-up merge sort of docs/order.md. It sorts indices in two buffers. Keys that a
//! device sorts without kernels are sorted in the same way, others by their digits.

use crate::address::pointer_to;
use crate::allocation::{allocate_here, destination};
use crate::loops::{each, each_index};
use crate::operators::apply_to;
use crate::source::info_of;
use crate::terms::Term;
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result, Writer};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::ir::{Command, Expression, Type, Variable};

/// A sort of keys.
pub(crate) struct KeySort {
    pub(crate) count: Expression,
    /// The number of the least keys that are wanted.
    pub(crate) first: Expression,
    pub(crate) keys: flat::Variable,
    /// The number of bits of a key that do not count.
    pub(crate) low: u32,
    /// The results that are wanted, with pointers to where they go.
    pub(crate) results: Vec<(flat::Sorted, Expression)>,
    pub(crate) place: Place,
}

impl KeySort {
    /// True if a result is wanted.
    pub(crate) fn gives(&self, wanted: flat::Sorted) -> bool {
        self.results.iter().any(|(sorted, _)| *sorted == wanted)
    }
}

/// Returns the type of pointers to a result.
pub(crate) fn pointer_of(
    cx: &Translator<'_>,
    sort: &KeySort,
    sorted: flat::Sorted,
) -> Result<Type> {
    Ok(Type::Pointer(match sorted {
        flat::Sorted::Positions => Scalar::I64,
        flat::Sorted::Keys => info_of(cx.source, sort.keys)?.ty.element(),
    }))
}

/// The rule by which one of two elements comes first.
#[derive(Clone, Copy)]
enum Before<'a> {
    /// A comparison of two indices.
    Compare(&'a flat::Lambda),
    /// Keys, which ascend.
    Keys(flat::Variable),
}

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
    cx.flush_conflicts(to.block)?;
    sort_indices(cx, result, count, Before::Compare(compare), place)
}

/// Sorts keys by merges.
pub(crate) fn merge_keys(cx: &mut Translator<'_>, sort: &KeySort) -> Result<()> {
    let pointer = Type::Pointer(Scalar::I64);
    let order = cx.add_variable("order", pointer);
    let block = cx.add_variable("order_block", Type::Block);
    allocate_here(cx, order, block, sort.count.clone(), None, &sort.place)?;
    let (result, count) = (Expression::Variable(order), sort.count.clone());
    sort_indices(cx, result, count, Before::Keys(sort.keys), &sort.place)?;
    for (sorted, result) in &sort.results {
        let pointer = pointer_of(cx, sort, *sorted)?;
        let to = cx.declare("to", pointer, result.clone());
        each(cx, "i", sort.first.clone(), &sort.place, |cx, index| {
            let at = Expression::load(order, index.clone());
            let value = match sorted {
                flat::Sorted::Positions => at,
                flat::Sorted::Keys => {
                    let keys = cx.place(sort.keys)?;
                    cx.load(keys, vec![at])?
                }
            };
            cx.set_element(to, index, value);
            Ok(())
        })?;
    }
    cx.emit(Command::Release(block));
    Ok(())
}

/// Sorts the indices 0..count into memory.
fn sort_indices<'a>(
    cx: &mut Translator<'a>,
    result: Expression,
    count: Expression,
    before: Before<'a>,
    place: &Place,
) -> Result<()> {
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
    cx.endless_loop(place, |cx| sort_pass(cx, &sort, away, before))?;
    cx.when(Expression::Variable(away), |cx| {
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
    before: Before<'a>,
) -> Result<()> {
    leave_at_count(cx, sort, sort.width);
    let first = cx.declare("first", INDEX, Expression::index(0));
    cx.endless_loop(&sort.place, |cx| sort_pair(cx, sort, first, before))?;
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
    before: Before<'a>,
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
        merge_step(cx, sort, &merge, index, before)
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
    before: Before<'a>,
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
        match before {
            Before::Compare(compare) => {
                let arguments = [left, right].into_iter().map(|value| Term {
                    size: 3,
                    ..Term::new(value)
                });
                apply_to(cx, compare, arguments.collect(), &[take_left])
            }
            Before::Keys(array) => {
                let keys = cx.place(array)?;
                let (left, right) = (cx.load(keys, vec![left])?, cx.load(keys, vec![right])?);
                let operand = info_of(cx.source, array)?.ty.element();
                cx.assign(take_left, compare_words(operand, left, right));
                Ok(())
            }
        }
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

/// Returns the condition that one key is at most another.
fn compare_words(operand: Scalar, left: Expression, right: Expression) -> Expression {
    Expression::Scalar {
        operation: ScalarOperation::LessEqual,
        operand,
        arguments: vec![left, right],
    }
}
