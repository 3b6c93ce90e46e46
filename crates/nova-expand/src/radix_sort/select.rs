//! The keys that may be among the least ones, where few are wanted.

use super::words::{counts, increment, index_of, narrowed, on_words, shifted, word_of};
use crate::loops::{each, groups_of};
use crate::sort::KeySort;
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result};
use nova_core::{Scalar, ScalarOperation};
use nova_loop::ir::{Command, Expression, Type, Variable};

/// The share of keys below which the others are left out before the sort: one in so many.
const FEW: i64 = 8;
/// The share of keys that are counted by their leading bits: one in so many.
const SAMPLED: i64 = 16;
/// The number of counts of leading bits, which lie in the first cache.
const BUCKETS: i64 = 1 << 11;

/// The keys that may be among the least ones: those whose leading bits are at most a limit.
pub(super) struct Selected {
    /// The number of bits below the leading ones.
    pub(super) shift: Variable,
    pub(super) limit: Variable,
    pub(super) count: Variable,
}

/// Finds the keys that may be among the least ones, if few are wanted: those whose leading bits, of the bits in
/// which keys differ, are at most a limit. If many are wanted, all keys are selected.
pub(super) fn select(cx: &mut Translator<'_>, sort: &KeySort, word: Scalar) -> Result<Selected> {
    let variable = Expression::Variable;
    let selected = Selected {
        shift: cx.declare("shift", INDEX, Expression::index(0)),
        limit: cx.declare("limit", INDEX, Expression::index(i64::MAX)),
        count: cx.declare("selected", INDEX, sort.count.clone()),
    };
    let few = sort.first.clone().times(Expression::index(FEW));
    let few = few.compare(ScalarOperation::Less, sort.count.clone());
    cx.when(few, |cx| {
        let differing = cx.declare("differing", Type::Scalar(word), word_of(word, 0));
        let array = cx.place(sort.keys)?;
        let key = cx.load(array, vec![Expression::index(0)])?;
        let one = cx.declare("one", Type::Scalar(word), key);
        each(cx, "i", sort.count.clone(), &sort.place, |cx, index| {
            let array = cx.place(sort.keys)?;
            let key = cx.load(array, vec![index])?;
            let bits = on_words(ScalarOperation::BitXor, word, key, variable(one));
            let all = on_words(ScalarOperation::BitOr, word, variable(differing), bits);
            cx.assign(differing, all);
            Ok(())
        })?;
        cx.endless_loop(&sort.place, |cx| {
            let leading = shifted(word, variable(differing), variable(selected.shift));
            let most = word_of(word, BUCKETS as u64 - 1);
            cx.break_if(on_words(ScalarOperation::LessEqual, word, leading, most));
            let next = variable(selected.shift).plus(Expression::index(1));
            cx.assign(selected.shift, next);
            Ok(())
        })?;
        // At least one key is sorted, even if none is wanted.
        let wanted = sort.first.clone();
        let wanted = wanted.compare(ScalarOperation::Maximum, Expression::index(1));
        let wanted = cx.simplify(wanted, "wanted", INDEX);
        guess_limit(cx, sort, word, &selected, &wanted)?;
        count_selected(cx, sort, word, &selected, &wanted)
    })?;
    Ok(selected)
}

/// Sets the limit to a guess: counts a sample of the keys by their leading bits, and takes twice as many as are
/// wanted.
fn guess_limit(
    cx: &mut Translator<'_>,
    sort: &KeySort,
    word: Scalar,
    selected: &Selected,
    wanted: &Expression,
) -> Result<()> {
    let variable = Expression::Variable;
    let (counts, block) = counts(cx, "buckets", BUCKETS, &sort.place)?;
    let sampled = groups_of(sort.count.clone(), SAMPLED);
    each(cx, "i", sampled, &sort.place, |cx, index| {
        let array = cx.place(sort.keys)?;
        let key = cx.load(array, vec![index.times(Expression::index(SAMPLED))])?;
        let at = bucket(word, key, selected);
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
    word: Scalar,
    selected: &Selected,
    wanted: &Expression,
) -> Result<()> {
    let variable = Expression::Variable;
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
            let leading = leading(word, key, selected);
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

/// Returns the leading bits of a key, of those in which keys differ.
pub(super) fn leading(word: Scalar, key: Expression, selected: &Selected) -> Expression {
    let leading = shifted(word, key, Expression::Variable(selected.shift));
    let mask = word_of(word, BUCKETS as u64 - 1);
    on_words(ScalarOperation::BitAnd, word, leading, mask)
}

/// Returns the number that the leading bits of a key make.
pub(super) fn bucket(word: Scalar, key: Expression, selected: &Selected) -> Expression {
    index_of(word, leading(word, key, selected))
}
