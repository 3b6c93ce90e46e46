//! Expressions on keys, and counts of them.

use crate::allocation::allocate_here;
use crate::loops::each;
use crate::translator::Translator;
use crate::writer::Result;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_loop::ir::{Expression, Type, Variable};

/// Allocates counts that are 0; returns the pointer and the block. They are no local array, since a function
/// that recurses may have many frames.
pub(super) fn counts(
    cx: &mut Translator<'_>,
    name: &str,
    count: i64,
    place: &Place,
) -> Result<(Variable, Variable)> {
    let pointer = cx.add_variable(name, Type::Pointer(Scalar::I64));
    let block = cx.add_variable(format!("{name}_block"), Type::Block);
    let number = Expression::index(count);
    allocate_here(cx, pointer, block, number.clone(), None, place)?;
    each(cx, "i", number, place, |cx, index| {
        cx.set_element(pointer, index, Expression::index(0));
        Ok(())
    })?;
    Ok((pointer, block))
}

/// Adds 1 to a count.
pub(super) fn increment(cx: &mut Translator<'_>, counts: Variable, at: Expression) {
    let counted = Expression::load(counts, at.clone()).plus(Expression::index(1));
    cx.set_element(counts, at, counted);
}

/// Returns a number of an unsigned type of keys.
pub(super) fn word_of(word: Scalar, bits: u64) -> Expression {
    Expression::Constant(match word {
        Scalar::U64 => ScalarValue::U64(bits),
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
    Expression::Scalar {
        operation: ScalarOperation::Convert(Scalar::I64),
        operand: word,
        arguments: vec![number],
    }
}

/// Returns an index as a number of an unsigned type.
pub(super) fn narrowed(word: Scalar, index: Expression) -> Expression {
    Expression::Scalar {
        operation: ScalarOperation::Wrap(word),
        operand: Scalar::I64,
        arguments: vec![index],
    }
}
