//! The keys that may be among the least ones, where few are wanted.

use super::words::{counts, increment, index_of, on_words, shifted, word_of};
use crate::loops::each;
use crate::sort::KeySort;
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result};
use nova_core::{Scalar, ScalarOperation};
use nova_loop::ir::{Command, Expression, Type, Variable};

/// The share of keys below which the others are left out before the sort: one in so many.
const FEW: i64 = 8;
/// The number of counts of leading bits, which lie in the first cache.
const BUCKETS: i64 = 1 << 11;

/// The keys that may be among the least ones: those whose leading bits are at most a limit.
pub(super) struct Selected {
    /// The number of bits below the leading ones.
    pub(super) shift: Variable,
    pub(super) limit: Variable,
    pub(super) count: Variable,
}

/// Finds the keys that may be among the least ones, if few are wanted: counts the keys by the leading bits in
/// which they differ, until there are enough. If many are wanted, all keys are selected.
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
        let (counts, block) = counts(cx, "buckets", BUCKETS, &sort.place)?;
        each(cx, "i", sort.count.clone(), &sort.place, |cx, index| {
            let array = cx.place(sort.keys)?;
            let key = cx.load(array, vec![index])?;
            let at = bucket(word, key, &selected);
            let at = cx.declare("at", INDEX, at);
            increment(cx, counts, variable(at));
            Ok(())
        })?;
        cx.assign(selected.limit, Expression::index(0));
        cx.assign(
            selected.count,
            Expression::load(counts, Expression::index(0)),
        );
        // At least one key is sorted, even if none is wanted.
        let wanted = sort.first.clone();
        let wanted = wanted.compare(ScalarOperation::Maximum, Expression::index(1));
        cx.endless_loop(&sort.place, |cx| {
            let enough = variable(selected.count).compare(ScalarOperation::GreaterEqual, wanted);
            cx.break_if(enough);
            let next = variable(selected.limit).plus(Expression::index(1));
            cx.assign(selected.limit, next);
            let more = Expression::load(counts, variable(selected.limit));
            cx.assign(selected.count, variable(selected.count).plus(more));
            Ok(())
        })?;
        cx.emit(Command::Release(block));
        Ok(())
    })?;
    Ok(selected)
}

/// Returns the number that the leading bits of a key make, of those in which keys differ.
pub(super) fn bucket(word: Scalar, key: Expression, selected: &Selected) -> Expression {
    let leading = shifted(word, key, Expression::Variable(selected.shift));
    let mask = word_of(word, BUCKETS as u64 - 1);
    let leading = on_words(ScalarOperation::BitAnd, word, leading, mask);
    index_of(word, leading)
}
