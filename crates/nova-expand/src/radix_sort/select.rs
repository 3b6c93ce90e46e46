//! The keys that may be among the least ones, where few are wanted.

use super::words::{Range, clear, counts, increment, index_of, narrowed, on_words, shifted};
use crate::loops::{each, groups_of};
use crate::sort::KeySort;
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result};
use nova_core::{Scalar, ScalarOperation};
use nova_loop::ir::{Command, Expression, Type, Variable};
use nova_machine::figures;

/// The share of keys below which the others are left out before the sort: one in so many.
const FEW: i64 = figures::SORTS.selected_share;
/// The share of keys that are counted by their leading bits: one in so many.
const SAMPLED: i64 = figures::SORTS.sampled_share;
/// The number of counts of leading bits, which lie in the first cache.
const BUCKETS: i64 = 1 << BUCKET_BITS;
const BUCKET_BITS: i64 = figures::SORTS.bucket_bits;

/// The keys that may be among the least ones: those whose leading bits are at most a limit.
pub(super) struct Selected {
    /// The number of bits below the leading ones.
    pub(super) shift: Variable,
    pub(super) limit: Variable,
    pub(super) count: Variable,
}

/// Finds the keys that may be among the least ones, if few are wanted: those whose leading bits, of the bits in
/// which keys differ, are at most a limit. If many are wanted, all keys are selected.
pub(super) fn select(cx: &mut Translator<'_>, sort: &KeySort, range: &Range) -> Result<Selected> {
    let variable = Expression::Variable;
    let shift = variable(range.width).minus(Expression::index(BUCKET_BITS));
    let shift = shift.compare(ScalarOperation::Maximum, Expression::index(0));
    let selected = Selected {
        shift: cx.declare("shift", INDEX, shift),
        limit: cx.declare("limit", INDEX, Expression::index(i64::MAX)),
        count: cx.declare("selected", INDEX, sort.count.clone()),
    };
    let few = sort.first.clone().times(Expression::index(FEW));
    let few = few.compare(ScalarOperation::Less, sort.count.clone());
    cx.when(few, |cx| {
        // At least one key is sorted, even if none is wanted.
        let wanted = sort.first.clone();
        let wanted = wanted.compare(ScalarOperation::Maximum, Expression::index(1));
        let wanted = cx.simplify(wanted, "wanted", INDEX);
        guess_limit(cx, sort, range, &selected, &wanted)?;
        count_selected(cx, sort, range, &selected, &wanted)
    })?;
    Ok(selected)
}

/// Sets the limit to a guess: counts a sample of the keys by their leading bits, and takes twice as many as are
/// wanted.
fn guess_limit(
    cx: &mut Translator<'_>,
    sort: &KeySort,
    range: &Range,
    selected: &Selected,
    wanted: &Expression,
) -> Result<()> {
    let variable = Expression::Variable;
    let buckets = Expression::index(BUCKETS);
    let (counts, block) = counts(cx, "buckets", buckets.clone(), &sort.place)?;
    clear(cx, counts, buckets, &sort.place)?;
    let sampled = groups_of(sort.count.clone(), SAMPLED);
    each(cx, "i", sampled, &sort.place, |cx, index| {
        let array = cx.place(sort.keys)?;
        let key = cx.load(array, vec![index.times(Expression::index(SAMPLED))])?;
        let at = bucket(key, range, selected);
        let at = cx.declare("at", INDEX, at);
        increment(cx, counts, variable(at));
        Ok(())
    })?;
    cx.assign(selected.limit, Expression::index(0));
    let first = Expression::load(counts, Expression::index(0));
    let found = cx.declare("found", INDEX, first);
    cx.endless_loop(&sort.place, |cx| {
        let expected = variable(found).times(Expression::index(SAMPLED / 2));
        cx.break_if(expected.compare(ScalarOperation::GreaterEqual, wanted.clone()));
        let next = variable(selected.limit).plus(Expression::index(1));
        cx.assign(selected.limit, next);
        let more = Expression::load(counts, variable(selected.limit));
        cx.assign(found, variable(found).plus(more));
        Ok(())
    })?;
    cx.emit(Command::Release(block));
    Ok(())
}

/// Counts the keys up to the limit, which grows until there are enough.
fn count_selected(
    cx: &mut Translator<'_>,
    sort: &KeySort,
    range: &Range,
    selected: &Selected,
    wanted: &Expression,
) -> Result<()> {
    let variable = Expression::Variable;
    let word = range.word;
    cx.endless_loop(&sort.place, |cx| {
        cx.assign(selected.count, Expression::index(0));
        let limit = cx.declare(
            "last",
            Type::Scalar(word),
            narrowed(word, variable(selected.limit)),
        );
        each(cx, "i", sort.count.clone(), &sort.place, |cx, index| {
            let array = cx.place(sort.keys)?;
            let key = cx.load(array, vec![index])?;
            let leading = leading(key, range, selected);
            let takes = on_words(ScalarOperation::LessEqual, word, leading, variable(limit));
            let one = index_of(Scalar::Bool, takes);
            cx.assign(selected.count, variable(selected.count).plus(one));
            Ok(())
        })?;
        let enough =
            variable(selected.count).compare(ScalarOperation::GreaterEqual, wanted.clone());
        cx.break_if(enough);
        // All keys are at most the last limit, so that there are enough then.
        let more = variable(selected.limit)
            .times(Expression::index(2))
            .plus(Expression::index(1));
        cx.assign(selected.limit, more);
        Ok(())
    })
}

/// Returns the leading bits of the difference of a key to the least one.
pub(super) fn leading(key: Expression, range: &Range, selected: &Selected) -> Expression {
    let shift = Expression::Variable(selected.shift);
    shifted(range.word, range.difference(key), shift)
}

/// Returns the number that the leading bits of a key make.
pub(super) fn bucket(key: Expression, range: &Range, selected: &Selected) -> Expression {
    index_of(range.word, leading(key, range, selected))
}
