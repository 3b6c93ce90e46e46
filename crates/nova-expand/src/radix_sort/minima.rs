//! The least keys, if only a few of not too many are wanted. Each is the least one of those behind the one before it,
//! which vector instructions find. So there is nothing to count or to move.

use super::words::{Range, Words, on_words, word_of};
use crate::loops::each;
use crate::sort::KeySort;
use crate::translator::Translator;
use crate::writer::Result;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir as flat;
use nova_loop::ir::{Expression, Type};
use nova_machine::figures;

/// The most keys that are found in this way, and the most keys of which they are the least ones.
const FEW: i64 = figures::SORTS.minima;
const MANY: i64 = figures::SORTS.minima_keys;

/// Returns whether so few keys are wanted.
pub(super) fn are_few(sort: &KeySort, range: &Range) -> Expression {
    let few = |number: &Expression, most: i64| {
        number
            .clone()
            .compare(ScalarOperation::LessEqual, Expression::index(most))
    };
    let both = |one: Expression, other: Expression| {
        on_words(ScalarOperation::BitAnd, Scalar::Bool, one, other)
    };
    let few = both(few(&sort.first, FEW), few(&sort.count, MANY));
    match range.word {
        Scalar::U64 => both(few, range.fits(Scalar::U32.bits())),
        _narrow => few,
    }
}

/// Finds the wanted keys one after the other. Words of keys and positions are all different, and their order is that
/// of a stable sort.
pub(super) fn by_minima(cx: &mut Translator<'_>, sort: &KeySort, range: &Range) -> Result<()> {
    let variable = Expression::Variable;
    let words = Words::ordered(range);
    let ty = Type::Scalar(words.scalar);
    let next = cx.declare("next", ty, word_of(words.scalar, 0));
    each(cx, "k", sort.first.clone(), &sort.place, |cx, wanted| {
        let least = cx.declare("least", ty, word_of(words.scalar, u64::MAX));
        each(cx, "i", sort.count.clone(), &sort.place, |cx, index| {
            let array = cx.place(sort.keys)?;
            let key = cx.load(array, vec![index.clone()])?;
            let word = variable(cx.declare("word", ty, words.word(key, index)));
            let behind = on_words(
                ScalarOperation::GreaterEqual,
                words.scalar,
                word.clone(),
                variable(next),
            );
            let word = Expression::Select {
                condition: Box::new(behind),
                then: Box::new(word),
                otherwise: Box::new(word_of(words.scalar, u64::MAX)),
            };
            let both = on_words(
                ScalarOperation::Minimum,
                words.scalar,
                variable(least),
                word,
            );
            cx.assign(least, both);
            Ok(())
        })?;
        for (sorted, result) in &sort.results {
            let (value, scalar) = match sorted {
                flat::Sorted::Positions => (words.position(variable(least)), Scalar::I64),
                flat::Sorted::Keys => (words.key(variable(least)), range.word),
            };
            let to = cx.declare("to", Type::Pointer(scalar), result.clone());
            cx.set_element(to, wanted.clone(), value);
        }
        let one = word_of(words.scalar, 1);
        cx.assign(
            next,
            on_words(ScalarOperation::Add, words.scalar, variable(least), one),
        );
        Ok(())
    })
}
