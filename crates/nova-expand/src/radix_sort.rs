//! The sort of unsigned keys on a processor, digit by digit, from the last one on (LSD), each time stably by
//! counting. A digit is a byte, so that the counts of all digits and the ends of the sequences that are
//! written lie in the first cache. All digits are counted in one pass over the keys, and digits that are the
//! same in all keys cost no pass.
//!
//! Positions have 32 bits while they are moved. Few keys, and more than such positions can name, are sorted
//! by merges ([`crate::sort`]).

use crate::allocation::allocate_here;
use crate::loops::each_index;
use crate::sort::merge_keys;
use crate::source::info_of;
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::ir::{Command, Expression, Type, Variable};

/// The bits of a digit, and the number of digits.
const BITS: u32 = 8;
const DIGITS: i64 = 1 << BITS;

/// The most keys: their positions have 32 bits.
const MOST: i64 = 1 << 32;

/// A sort of keys.
pub(crate) struct KeySort {
    pub(crate) count: Expression,
    /// The number of the least keys that are wanted.
    pub(crate) first: Expression,
    pub(crate) keys: flat::Variable,
    /// What is wanted of them, with pointers to where it goes.
    pub(crate) results: Vec<(flat::Sorted, Expression)>,
    pub(crate) place: Place,
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

/// An array that is sorted: where it is read from and written to in turn.
#[derive(Clone, Copy)]
struct Moved {
    scalar: Scalar,
    from: Variable,
    to: Variable,
    blocks: [Variable; 2],
}

/// The variables of a sort by digits.
struct Digits {
    count: Expression,
    word: Scalar,
    keys: Moved,
    /// The positions, if they are wanted.
    positions: Option<Moved>,
    /// For each digit of a key, [`DIGITS`] counts.
    counts: Variable,
    place: Place,
}

/// Sorts keys by their digits, or by merges if there are few.
pub(crate) fn sort_by_digits(cx: &mut Translator<'_>, sort: &KeySort) -> Result<()> {
    let count = || sort.count.clone();
    let least = Expression::index(cx.tiles.radix_keys.max(1));
    let many = count().compare(ScalarOperation::GreaterEqual, least);
    let fits = count().compare(ScalarOperation::LessEqual, Expression::index(MOST));
    cx.choose(
        many.and(fits),
        |cx| by_digits(cx, sort),
        |cx| merge_keys(cx, sort),
    )
}

fn by_digits(cx: &mut Translator<'_>, sort: &KeySort) -> Result<()> {
    let word = info_of(cx.source, sort.keys)?.ty.element();
    let digits = i64::from(word.bits() / BITS);
    let counts = cx.add_variable("counts", Type::Pointer(Scalar::I64));
    cx.emit(Command::Local {
        pointer: counts,
        count: (digits * DIGITS) as u32,
    });
    let wants_positions = sort
        .results
        .iter()
        .any(|(s, _)| *s == flat::Sorted::Positions);
    let digits_of = Digits {
        count: sort.count.clone(),
        word,
        keys: moved(cx, "keys", word, sort)?,
        positions: match wants_positions {
            true => Some(moved(cx, "order", Scalar::U32, sort)?),
            false => None,
        },
        counts,
        place: sort.place.clone(),
    };
    count_digits(cx, &digits_of, sort.keys, digits)?;
    let all = Expression::index(digits);
    each_of(cx, all, &sort.place, |cx, digit| {
        sort_by_digit(cx, &digits_of, digit)
    })?;
    give(cx, &digits_of, sort)?;
    for moved in digits_of.moved() {
        moved
            .blocks
            .into_iter()
            .for_each(|block| cx.emit(Command::Release(block)));
    }
    Ok(())
}

/// Allocates two buffers for an array that is sorted.
fn moved(cx: &mut Translator<'_>, name: &str, scalar: Scalar, sort: &KeySort) -> Result<Moved> {
    let pointer = Type::Pointer(scalar);
    let mut own = Vec::new();
    let mut blocks = Vec::new();
    for _ in 0..2 {
        let buffer = cx.add_variable(format!("{name}_buffer"), pointer);
        let block = cx.add_variable(format!("{name}_block"), Type::Block);
        allocate_here(cx, buffer, block, sort.count.clone(), None, &sort.place)?;
        own.push(Expression::Variable(buffer));
        blocks.push(block);
    }
    let mut own = own.into_iter();
    let mut next = |name: String| {
        let value = own.next().unwrap_or(Expression::NullPointer(scalar));
        cx.declare(name, pointer, value)
    };
    Ok(Moved {
        scalar,
        from: next(format!("{name}_from")),
        to: next(format!("{name}_to")),
        blocks: [blocks[0], blocks[1]],
    })
}

impl Digits {
    /// Iterates over the arrays that are sorted.
    fn moved(&self) -> impl Iterator<Item = Moved> + '_ {
        std::iter::once(self.keys).chain(self.positions)
    }

    /// Returns a digit of a key as an index.
    fn digit(&self, key: Expression, shift: Expression) -> Expression {
        let word = |bits: u64| {
            Expression::Constant(match self.word {
                Scalar::U64 => ScalarValue::U64(bits),
                _narrow => ScalarValue::U32(bits as u32),
            })
        };
        let scalar = |operation, operand, arguments| Expression::Scalar {
            operation,
            operand,
            arguments,
        };
        let wrap = ScalarOperation::Wrap(self.word);
        let shift = scalar(wrap, Scalar::I64, vec![shift]);
        let shifted = scalar(ScalarOperation::ShiftRight, self.word, vec![key, shift]);
        let mask = word(DIGITS as u64 - 1);
        let digit = scalar(ScalarOperation::BitAnd, self.word, vec![shifted, mask]);
        scalar(
            ScalarOperation::Convert(Scalar::I64),
            self.word,
            vec![digit],
        )
    }

    /// Returns the index of the first count of a digit.
    fn first_count(&self, digit: Expression) -> Expression {
        digit.times(Expression::index(DIGITS))
    }
}

fn shift_of(digit: Expression) -> Expression {
    digit.times(Expression::index(i64::from(BITS)))
}

/// Runs `write` for all indices of a vector.
fn each_of(
    cx: &mut Translator<'_>,
    count: Expression,
    place: &Place,
    write: impl FnOnce(&mut Translator<'_>, Expression) -> Result<()>,
) -> Result<()> {
    each_index(cx, &[count], place, |cx, indices| {
        write(
            cx,
            indices.into_iter().next().unwrap_or(Expression::index(0)),
        )
    })
}

/// Copies the keys, numbers them, and counts all digits.
fn count_digits(
    cx: &mut Translator<'_>,
    sort: &Digits,
    keys: flat::Variable,
    digits: i64,
) -> Result<()> {
    let all = Expression::index(digits * DIGITS);
    each_of(cx, all, &sort.place, |cx, index| {
        cx.set_element(sort.counts, index, Expression::index(0));
        Ok(())
    })?;
    each_of(cx, sort.count.clone(), &sort.place, |cx, index| {
        let array = cx.place(keys)?;
        let key = cx.load(array, vec![index.clone()])?;
        let key = Expression::Variable(cx.declare("key", Type::Scalar(sort.word), key));
        cx.set_element(sort.keys.from, index.clone(), key.clone());
        if let Some(positions) = sort.positions {
            let position = Expression::Scalar {
                operation: ScalarOperation::Wrap(positions.scalar),
                operand: Scalar::I64,
                arguments: vec![index.clone()],
            };
            cx.set_element(positions.from, index, position);
        }
        for digit in 0..digits {
            let digit = Expression::index(digit);
            let own = sort.digit(key.clone(), shift_of(digit.clone()));
            let at = cx.declare("at", INDEX, sort.first_count(digit).plus(own));
            let counted = Expression::load(sort.counts, Expression::Variable(at));
            let counted = counted.plus(Expression::index(1));
            cx.set_element(sort.counts, Expression::Variable(at), counted);
        }
        Ok(())
    })
}

/// Sorts by one digit, unless it is the same in all keys.
fn sort_by_digit(cx: &mut Translator<'_>, sort: &Digits, digit: Expression) -> Result<()> {
    let variable = Expression::Variable;
    let first = cx.declare("first", INDEX, sort.first_count(digit.clone()));
    let shift = cx.declare("shift", INDEX, shift_of(digit));
    let key = Expression::load(sort.keys.from, Expression::index(0));
    let at = variable(first).plus(sort.digit(key, variable(shift)));
    let counted = Expression::load(sort.counts, at);
    let differ = counted.compare(ScalarOperation::NotEqual, sort.count.clone());
    cx.when(differ, |cx| {
        let begin = cx.declare("begin", INDEX, Expression::index(0));
        each_of(cx, Expression::index(DIGITS), &sort.place, |cx, index| {
            let at = cx.declare("at", INDEX, variable(first).plus(index));
            let counted = Expression::load(sort.counts, variable(at));
            let counted = cx.declare("counted", INDEX, counted);
            cx.set_element(sort.counts, variable(at), variable(begin));
            cx.assign(begin, variable(begin).plus(variable(counted)));
            Ok(())
        })?;
        each_of(cx, sort.count.clone(), &sort.place, |cx, index| {
            let key = Expression::load(sort.keys.from, index.clone());
            let key = cx.declare("key", Type::Scalar(sort.word), key);
            let own = sort.digit(variable(key), variable(shift));
            let at = cx.declare("at", INDEX, variable(first).plus(own));
            let place = Expression::load(sort.counts, variable(at));
            let place = cx.declare("place", INDEX, place);
            let next = variable(place).plus(Expression::index(1));
            cx.set_element(sort.counts, variable(at), next);
            cx.set_element(sort.keys.to, variable(place), variable(key));
            if let Some(positions) = sort.positions {
                let position = Expression::load(positions.from, index);
                cx.set_element(positions.to, variable(place), position);
            }
            Ok(())
        })?;
        for moved in sort.moved() {
            let from = (moved.from, variable(moved.to));
            let to = (moved.to, variable(moved.from));
            cx.assign_together(vec![from, to]);
        }
        Ok(())
    })
}

/// Writes the results.
fn give(cx: &mut Translator<'_>, digits: &Digits, sort: &KeySort) -> Result<()> {
    for (sorted, result) in &sort.results {
        match (sorted, digits.positions) {
            (flat::Sorted::Positions, Some(positions)) => {
                let to = cx.declare("to", Type::Pointer(Scalar::I64), result.clone());
                each_of(cx, sort.first.clone(), &sort.place, |cx, index| {
                    let position = Expression::Scalar {
                        operation: ScalarOperation::Convert(Scalar::I64),
                        operand: positions.scalar,
                        arguments: vec![Expression::load(positions.from, index.clone())],
                    };
                    cx.set_element(to, index, position);
                    Ok(())
                })?;
            }
            (flat::Sorted::Positions, None) => {}
            (flat::Sorted::Keys, _) => cx.emit(Command::Copy {
                to: result.clone(),
                from: Expression::Variable(digits.keys.from),
                element: digits.word,
                count: sort.first.clone(),
            }),
        }
    }
    Ok(())
}
