//! The words that a sort moves: differences of keys to the least one, and positions; expressions on them.

use crate::allocation::allocate_here;
use crate::loops::each;
use crate::sort::KeySort;
use crate::source::info_of;
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::ir::{Expression, Type, Variable};

/// The range of the keys of a sort.
#[derive(Clone, Copy)]
pub(super) struct Range {
    /// The type of the keys.
    pub(super) word: Scalar,
    /// The least key.
    least: Variable,
    /// The number of bits of the largest difference to the least key.
    pub(super) width: Variable,
}

/// The form in which keys are sorted.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// Differences of at most 32 bits, in one word with positions, if these are wanted.
    Narrow,
    /// Differences of 64 bits, beside positions.
    Wide,
}

/// The words that are moved.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub(super) range: Range,
    pub(super) scalar: Scalar,
    /// True if the lower half of a word is a position.
    has_position: bool,
    pub(super) has_separate_positions: bool,
}

/// The type of words with positions: that of the positions that a sort gives, whose memory they use.
const WITH_POSITION: Scalar = Scalar::I64;

/// Returns the type of the keys of a sort.
pub(super) fn key_type(cx: &Translator<'_>, sort: &KeySort) -> Result<Scalar> {
    Ok(info_of(cx.source, sort.keys)?.ty.element())
}

/// Finds the range of keys, of which there is one at least.
pub(super) fn range(cx: &mut Translator<'_>, sort: &KeySort) -> Result<Range> {
    let variable = Expression::Variable;
    let word = key_type(cx, sort)?;
    let array = cx.place(sort.keys)?;
    let key = cx.load(array, vec![Expression::index(0)])?;
    let least = cx.declare("least", Type::Scalar(word), key);
    let greatest = cx.declare("greatest", Type::Scalar(word), variable(least));
    each(cx, "i", sort.count.clone(), &sort.place, |cx, index| {
        let array = cx.place(sort.keys)?;
        let key = cx.load(array, vec![index])?;
        let key = variable(cx.declare("key", Type::Scalar(word), key));
        let bound = |operation, bound| on_words(operation, word, variable(bound), key.clone());
        cx.assign(least, bound(ScalarOperation::Minimum, least));
        cx.assign(greatest, bound(ScalarOperation::Maximum, greatest));
        Ok(())
    })?;
    let largest = difference(word, variable(greatest), least);
    let rest = cx.declare("rest", Type::Scalar(word), largest);
    let width = cx.declare("width", INDEX, Expression::index(0));
    cx.endless_loop(&sort.place, |cx| {
        let none = on_words(
            ScalarOperation::Equal,
            word,
            variable(rest),
            word_of(word, 0),
        );
        cx.break_if(none);
        cx.assign(rest, shifted(word, variable(rest), Expression::index(1)));
        cx.assign(width, variable(width).plus(Expression::index(1)));
        Ok(())
    })?;
    Ok(Range { word, least, width })
}

impl Range {
    /// Returns whether all differences fit this number of bits.
    pub(super) fn fits(&self, bits: u32) -> Expression {
        let width = Expression::Variable(self.width);
        width.compare(ScalarOperation::LessEqual, Expression::index(bits.into()))
    }

    /// Returns the difference of a key to the least one.
    pub(super) fn difference(&self, key: Expression) -> Expression {
        difference(self.word, key, self.least)
    }
}

fn difference(word: Scalar, key: Expression, least: Variable) -> Expression {
    let least = Expression::Variable(least);
    on_words(ScalarOperation::Subtract, word, key, least)
}

impl Words {
    /// Returns the words of a sort, which wants positions or not.
    pub(super) fn new(range: &Range, form: Form, positions: bool) -> Words {
        let has_position = positions && form == Form::Narrow;
        Words {
            range: *range,
            scalar: match form {
                Form::Narrow if has_position => WITH_POSITION,
                Form::Narrow => Scalar::U32,
                Form::Wide => Scalar::U64,
            },
            has_position,
            has_separate_positions: positions && form == Form::Wide,
        }
    }

    /// Returns words of differences of at most 32 bits with positions, whose order is that of unsigned numbers.
    pub(super) fn ordered(range: &Range) -> Words {
        Words {
            scalar: Scalar::U64,
            ..Words::new(range, Form::Narrow, true)
        }
    }

    /// Returns the memory of a result of a sort that has room for all words: that of the positions.
    pub(super) fn memory(&self, sort: &KeySort) -> Option<Expression> {
        let is_positions = |sorted: flat::Sorted| sorted == flat::Sorted::Positions;
        let mut results = sort.results.iter();
        let found = results.find(|(sorted, _)| self.has_position && is_positions(*sorted));
        found.map(|(_, memory)| memory.clone())
    }

    /// Returns the word of the key at a position.
    pub(super) fn word(&self, key: Expression, position: Expression) -> Expression {
        let difference = self.range.difference(key);
        let difference = resized(self.range.word, self.scalar, difference);
        match self.has_position {
            true => {
                let half = word_of(self.scalar, Scalar::U32.bits().into());
                let high = on_words(ScalarOperation::ShiftLeft, self.scalar, difference, half);
                let position = resized(Scalar::I64, self.scalar, position);
                on_words(ScalarOperation::BitOr, self.scalar, high, position)
            }
            false => difference,
        }
    }

    /// Returns the key of a word.
    pub(super) fn key(&self, word: Expression) -> Expression {
        let difference = match self.has_position {
            // The sign bit belongs to the difference.
            true => {
                let high = shifted(self.scalar, word, self.low_bits());
                let high = resized(self.scalar, Scalar::U32, high);
                resized(Scalar::U32, self.range.word, high)
            }
            false => resized(self.scalar, self.range.word, word),
        };
        let least = Expression::Variable(self.range.least);
        on_words(ScalarOperation::Add, self.range.word, difference, least)
    }

    /// Returns the position in a word.
    pub(super) fn position(&self, word: Expression) -> Expression {
        let low = resized(self.scalar, Scalar::U32, word);
        index_of(Scalar::U32, low)
    }

    /// Returns the number of bits below the difference.
    pub(super) fn low_bits(&self) -> Expression {
        Expression::index(match self.has_position {
            true => Scalar::U32.bits().into(),
            false => 0,
        })
    }
}

/// Returns an unsigned number in another type, without the bits that do not fit.
fn resized(from: Scalar, to: Scalar, number: Expression) -> Expression {
    if from == to {
        return number;
    }
    let operation = match from.bits() < to.bits() {
        true => ScalarOperation::Convert(to),
        false => ScalarOperation::Wrap(to),
    };
    Expression::Scalar {
        operation,
        operand: from,
        arguments: vec![number],
    }
}

/// Allocates counts; returns the pointer and the block. They are no local array, since a function that recurses
/// may have many frames.
pub(super) fn counts(
    cx: &mut Translator<'_>,
    name: &str,
    count: Expression,
    place: &Place,
) -> Result<(Variable, Variable)> {
    let pointer = cx.add_variable(name, Type::Pointer(Scalar::I64));
    let block = cx.add_variable(format!("{name}_block"), Type::Block);
    allocate_here(cx, pointer, block, count, None, place)?;
    Ok((pointer, block))
}

/// Sets counts to 0.
pub(super) fn clear(
    cx: &mut Translator<'_>,
    counts: Variable,
    count: Expression,
    place: &Place,
) -> Result<()> {
    each(cx, "i", count, place, |cx, index| {
        cx.set_element(counts, index, Expression::index(0));
        Ok(())
    })
}

/// Adds 1 to a count.
pub(super) fn increment(cx: &mut Translator<'_>, counts: Variable, at: Expression) {
    let counted = Expression::load(counts, at.clone()).plus(Expression::index(1));
    cx.set_element(counts, at, counted);
}

/// Returns a number of a type of keys or words.
pub(super) fn word_of(word: Scalar, bits: u64) -> Expression {
    Expression::Constant(match word {
        Scalar::U64 => ScalarValue::U64(bits),
        Scalar::I64 => ScalarValue::I64(bits as i64),
        _narrow => ScalarValue::U32(bits as u32),
    })
}

pub(super) fn on_words(
    operation: ScalarOperation,
    word: Scalar,
    left: Expression,
    right: Expression,
) -> Expression {
    Expression::Scalar {
        operation,
        operand: word,
        arguments: vec![left, right],
    }
}

/// Returns a key without its lowest bits, as many as an index says.
pub(super) fn shifted(word: Scalar, key: Expression, shift: Expression) -> Expression {
    let shift = narrowed(word, shift);
    on_words(ScalarOperation::ShiftRight, word, key, shift)
}

/// Returns a small number as an index.
pub(super) fn index_of(word: Scalar, number: Expression) -> Expression {
    if word == Scalar::I64 {
        return number;
    }
    Expression::Scalar {
        operation: ScalarOperation::Convert(Scalar::I64),
        operand: word,
        arguments: vec![number],
    }
}

/// Returns an index as a number of another type.
pub(super) fn narrowed(word: Scalar, index: Expression) -> Expression {
    if word == Scalar::I64 {
        return index;
    }
    Expression::Scalar {
        operation: ScalarOperation::Wrap(word),
        operand: Scalar::I64,
        arguments: vec![index],
    }
}
