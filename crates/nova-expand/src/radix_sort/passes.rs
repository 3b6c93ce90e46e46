//! The passes of a sort by digits, and the results that are read from the sorted words.

use super::Moved;
use super::words::{Words, counts, index_of, narrowed, on_words, shifted};
use crate::loops::each;
use crate::sort::KeySort;
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::ir::{Expression, Type, Variable};
use nova_machine::figures;

/// The most bits of a digit of many keys: with more, the ends of the sequences that are written fill the caches
/// of addresses and of lines.
const BITS: i64 = figures::SORTS.digit_bits;
/// The most bits of a digit of fewer keys than `1 << BITS`, and of keys beside positions, which are two arrays that
/// are written.
const FEWER_BITS: i64 = figures::SORTS.fewer_digit_bits;

/// The variables of the passes.
pub(super) struct Passes {
    pub(super) count: Expression,
    pub(super) words: Words,
    pub(super) moved: Moved,
    /// The positions, if they are wanted and no parts of the words.
    pub(super) positions: Option<Moved>,
    pub(super) digits: Digits,
    /// The pointer to a count for each value of a digit, and its block.
    pub(super) counts: (Variable, Variable),
    pub(super) place: Place,
}

/// The digits of the differences.
#[derive(Clone, Copy)]
pub(super) struct Digits {
    /// The number of digits, at least one.
    number: Variable,
    /// The bits of a digit, and the number of different digits.
    bits: Variable,
    values: Variable,
}

/// Divides the bits of the range into digits, as few as there may be.
pub(super) fn digits_of(
    cx: &mut Translator<'_>,
    words: &Words,
    count: &Expression,
) -> Result<Digits> {
    let variable = Expression::Variable;
    let most = match words.has_separate_positions {
        true => FEWER_BITS,
        false => BITS,
    };
    let most = cx.declare("most", INDEX, Expression::index(most));
    let few = Expression::index(1 << BITS);
    let few = count.clone().compare(ScalarOperation::Less, few);
    cx.when(few, |cx| {
        cx.assign(most, Expression::index(FEWER_BITS));
        Ok(())
    })?;
    let quotient = |number: Expression, by: Variable| {
        let last = variable(by).minus(Expression::index(1));
        let number = number.plus(last);
        number.compare(ScalarOperation::Divide, variable(by))
    };
    let width = words.range.width;
    let number = quotient(variable(width), most);
    let number = number.compare(ScalarOperation::Maximum, Expression::index(1));
    let number = cx.declare("digits", INDEX, number);
    let bits = quotient(variable(width), number);
    let bits = cx.declare("bits", INDEX, bits);
    let one = Expression::index(1);
    let values = one.compare(ScalarOperation::ShiftLeft, variable(bits));
    Ok(Digits {
        number,
        bits,
        values: cx.declare("values", INDEX, values),
    })
}

impl Passes {
    /// Iterates over the arrays that are sorted.
    pub(super) fn arrays(&self) -> impl Iterator<Item = Moved> + '_ {
        std::iter::once(self.moved).chain(self.positions)
    }

    /// Swaps the arrays that are read and written.
    fn swap(&self, cx: &mut Translator<'_>) {
        for moved in self.arrays() {
            let from = (moved.from, Expression::Variable(moved.to));
            let to = (moved.to, Expression::Variable(moved.from));
            cx.assign_together(vec![from, to]);
        }
    }

    /// Chooses the buffer that the first pass writes so that the last pass writes the first one: the second one
    /// may be memory of a result.
    pub(super) fn end_in_first_buffer(&self, cx: &mut Translator<'_>) -> Result<()> {
        let number = Expression::Variable(self.digits.number);
        let last = number.compare(ScalarOperation::BitAnd, Expression::index(1));
        let is_even = last.compare(ScalarOperation::Equal, Expression::index(0));
        cx.when(is_even, |cx| {
            self.swap(cx);
            Ok(())
        })
    }

    /// Stores a word, and its position if that is no part of it, where the next pass reads.
    pub(super) fn set_first(
        &self,
        cx: &mut Translator<'_>,
        word: Expression,
        position: Expression,
        at: Expression,
    ) {
        cx.set_element(self.moved.from, at.clone(), word);
        if let Some(positions) = self.positions {
            let position = narrowed(positions.scalar, position);
            cx.set_element(positions.from, at, position);
        }
    }

    /// Returns the digit at the lowest bits of a number.
    fn digit(&self, scalar: Scalar, number: Expression, mask: Variable) -> Expression {
        let mask = Expression::Variable(mask);
        index_of(
            scalar,
            on_words(ScalarOperation::BitAnd, scalar, number, mask),
        )
    }

    /// Declares the mask of a digit.
    fn mask(&self, cx: &mut Translator<'_>, scalar: Scalar) -> Variable {
        let values = Expression::Variable(self.digits.values);
        let mask = narrowed(scalar, values.minus(Expression::index(1)));
        cx.declare("mask", Type::Scalar(scalar), mask)
    }

    /// Sets the count of each digit to the place where its first word goes.
    fn places(&self, cx: &mut Translator<'_>) -> Result<()> {
        let variable = Expression::Variable;
        let counts = self.counts.0;
        let begin = cx.declare("begin", INDEX, Expression::index(0));
        let values = variable(self.digits.values);
        each(cx, "i", values, &self.place, |cx, index| {
            let counted = Expression::load(counts, index.clone());
            let counted = cx.declare("counted", INDEX, counted);
            cx.set_element(counts, index, variable(begin));
            cx.assign(begin, variable(begin).plus(variable(counted)));
            Ok(())
        })
    }

    /// Takes the place of the next word with a digit.
    fn take_place(&self, cx: &mut Translator<'_>, digit: Expression) -> Variable {
        let digit = cx.declare("digit", INDEX, digit);
        let digit = Expression::Variable(digit);
        let place = Expression::load(self.counts.0, digit.clone());
        let place = cx.declare("place", INDEX, place);
        let next = Expression::Variable(place).plus(Expression::index(1));
        cx.set_element(self.counts.0, digit, next);
        place
    }

    fn clear_counts(&self, cx: &mut Translator<'_>) -> Result<()> {
        let values = Expression::Variable(self.digits.values);
        each(cx, "i", values, &self.place, |cx, index| {
            cx.set_element(self.counts.0, index, Expression::index(0));
            Ok(())
        })
    }

    fn count(&self, cx: &mut Translator<'_>, digit: Expression) {
        let digit = Expression::Variable(cx.declare("digit", INDEX, digit));
        let counted = Expression::load(self.counts.0, digit.clone());
        let counted = counted.plus(Expression::index(1));
        cx.set_element(self.counts.0, digit, counted);
    }
}

/// Allocates the counts of digits. They are no local array, since a function that recurses may have many frames.
pub(super) fn counts_of_digits(
    cx: &mut Translator<'_>,
    digits: &Digits,
    place: &Place,
) -> Result<(Variable, Variable)> {
    counts(cx, "counts", Expression::Variable(digits.values), place)
}

/// Sorts the keys of the array by their last digit.
pub(super) fn first_pass(cx: &mut Translator<'_>, passes: &Passes, sort: &KeySort) -> Result<()> {
    let range = passes.words.range;
    let mask = passes.mask(cx, range.word);
    let key_at = |cx: &mut Translator<'_>, index: Expression| {
        let array = cx.place(sort.keys)?;
        let key = cx.load(array, vec![index])?;
        let key = cx.declare("key", Type::Scalar(range.word), key);
        let difference = range.difference(Expression::Variable(key));
        let digit = passes.digit(range.word, difference, mask);
        Result::Ok((Expression::Variable(key), digit))
    };
    passes.clear_counts(cx)?;
    each(cx, "i", sort.count.clone(), &sort.place, |cx, index| {
        let (_, digit) = key_at(cx, index)?;
        passes.count(cx, digit);
        Ok(())
    })?;
    passes.places(cx)?;
    each(cx, "i", sort.count.clone(), &sort.place, |cx, index| {
        let (key, digit) = key_at(cx, index.clone())?;
        let place = passes.take_place(cx, digit);
        let word = passes.words.word(key, index.clone());
        passes.set_first(cx, word, index, Expression::Variable(place));
        Ok(())
    })
}

/// Sorts the words by the digits from one on.
pub(super) fn later_passes(cx: &mut Translator<'_>, passes: &Passes, first: i64) -> Result<()> {
    let variable = Expression::Variable;
    let scalar = passes.words.scalar;
    let mask = passes.mask(cx, scalar);
    let number = variable(passes.digits.number).minus(Expression::index(first));
    each(cx, "pass", number, &passes.place, |cx, pass| {
        let digit = pass.plus(Expression::index(first));
        let shift = digit.times(variable(passes.digits.bits));
        let shift = shift.plus(passes.words.low_bits());
        let shift = cx.declare("shift", INDEX, shift);
        let word_at = |cx: &mut Translator<'_>, index: Expression| {
            let word = Expression::load(passes.moved.from, index);
            let word = variable(cx.declare("word", Type::Scalar(scalar), word));
            let shifted = shifted(scalar, word.clone(), variable(shift));
            (word, passes.digit(scalar, shifted, mask))
        };
        passes.clear_counts(cx)?;
        each(cx, "i", passes.count.clone(), &passes.place, |cx, index| {
            let (_, digit) = word_at(cx, index);
            passes.count(cx, digit);
            Ok(())
        })?;
        passes.places(cx)?;
        each(cx, "i", passes.count.clone(), &passes.place, |cx, index| {
            let (word, digit) = word_at(cx, index.clone());
            let place = passes.take_place(cx, digit);
            cx.set_element(passes.moved.to, variable(place), word);
            if let Some(positions) = passes.positions {
                let position = Expression::load(positions.from, index);
                cx.set_element(positions.to, variable(place), position);
            }
            Ok(())
        })?;
        passes.swap(cx);
        Ok(())
    })
}

/// Writes the results.
pub(super) fn give(cx: &mut Translator<'_>, passes: &Passes, sort: &KeySort) -> Result<()> {
    let words = passes.words;
    for (sorted, result) in &sort.results {
        let scalar = match sorted {
            flat::Sorted::Positions => Scalar::I64,
            flat::Sorted::Keys => words.range.word,
        };
        let to = cx.declare("to", Type::Pointer(scalar), result.clone());
        each(cx, "i", sort.first.clone(), &sort.place, |cx, index| {
            let value = match (sorted, passes.positions) {
                (flat::Sorted::Positions, Some(positions)) => {
                    let position = Expression::load(positions.from, index.clone());
                    index_of(positions.scalar, position)
                }
                (flat::Sorted::Positions, None) => {
                    words.position(Expression::load(passes.moved.from, index.clone()))
                }
                (flat::Sorted::Keys, _) => {
                    words.key(Expression::load(passes.moved.from, index.clone()))
                }
            };
            cx.set_element(to, index, value);
            Ok(())
        })?;
    }
    Ok(())
}
