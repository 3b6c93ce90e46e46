//! The sort of unsigned keys on a processor, digit by digit, from the last one on (LSD), each time stably by
//! counting. A digit is a byte, so that the counts of all digits and the ends of the sequences that are
//! written lie in the first cache. All digits are counted in one pass over the keys, and digits that are the
//! same in all keys cost no pass.
//!
//! Positions have 32 bits while they are moved: there are no more keys than such positions can name. Devices
//! sort by merges ([`crate::sort`]) what kernels do not sort.

mod select;
mod words;

use self::select::{Selected, bucket, leading, select};
use self::words::{counts, increment, index_of, narrowed, on_words, shifted, word_of};
use crate::address::pointer_to;
use crate::allocation::{allocate_here, destination};
use crate::loops::{each, each_part};
use crate::sort::{KeySort, merge_keys};
use crate::source::info_of;
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::ir::{Command, Expression, Type, Variable};
use nova_machine::Machine;

/// The bits of a digit, and the number of digits.
const BITS: u32 = 8;
const DIGITS: i64 = 1 << BITS;
/// The keys that are looked at together for a selected one: some vectors.
const KEYS_OF_A_BLOCK: i64 = 64;

/// Sorts keys: gives the positions of the least ones, the keys themselves, or both.
pub(crate) fn sort_keys(
    cx: &mut Translator<'_>,
    statement: &flat::Statement,
    [count, first]: [flat::Atom; 2],
    keys: flat::Variable,
    gives: &[flat::Sorted],
) -> Result<()> {
    let place = &statement.place;
    let count = cx.simple(count)?;
    let first = cx.simple(first)?;
    let mut results = Vec::with_capacity(gives.len());
    for (given, sorted) in statement.pattern.iter().zip(gives) {
        let to = destination(cx, *given, first.clone(), place)?;
        cx.flush_conflicts(to.block)?;
        results.push((*sorted, pointer_to(cx, *given)?));
    }
    cx.flush_loads()?;
    let sort = KeySort {
        count,
        first,
        keys,
        results,
        place: place.clone(),
    };
    match cx.machine {
        Machine::Processor => {
            let count = sort.count.clone();
            let some = count.compare(ScalarOperation::Greater, Expression::index(0));
            cx.when(some, |cx| by_digits(cx, &sort))
        }
        Machine::Device => merge_keys(cx, &sort),
    }
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

/// Sorts keys by their digits.
fn by_digits(cx: &mut Translator<'_>, sort: &KeySort) -> Result<()> {
    let word = info_of(cx.source, sort.keys)?.ty.element();
    let digits = i64::from(word.bits() / BITS);
    let wants = |wanted| sort.results.iter().any(|(sorted, _)| *sorted == wanted);
    let selected = match sort.first == sort.count {
        true => None,
        false => Some(select(cx, sort, word)?),
    };
    let count = match &selected {
        Some(selected) => Expression::Variable(selected.count),
        None => sort.count.clone(),
    };
    let (counts, counts_block) = counts(cx, "counts", digits * DIGITS, &sort.place)?;
    let order = wants(flat::Sorted::Positions).then_some(("order", Scalar::U32));
    let sorted = Digits {
        word,
        keys: moved(cx, ("keys", word), &count, &sort.place)?,
        positions: match order {
            Some(order) => Some(moved(cx, order, &count, &sort.place)?),
            None => None,
        },
        count,
        counts,
        place: sort.place.clone(),
    };
    match &selected {
        Some(selected) => {
            take_selected(cx, &sorted, selected, sort)?;
            let count = sorted.count.clone();
            each(cx, "i", count, &sort.place, |cx, index| {
                let key = Expression::load(sorted.keys.from, index);
                let key = cx.declare("key", Type::Scalar(word), key);
                count_digits(cx, &sorted, Expression::Variable(key), digits);
                Ok(())
            })?;
        }
        None => take_all(cx, &sorted, sort, digits)?,
    }
    let all = Expression::index(digits);
    each(cx, "i", all, &sort.place, |cx, digit| {
        sort_by_digit(cx, &sorted, digit)
    })?;
    give(cx, &sorted, sort)?;
    cx.emit(Command::Release(counts_block));
    for moved in sorted.moved() {
        let blocks = moved.blocks.into_iter();
        blocks.for_each(|block| cx.emit(Command::Release(block)));
    }
    Ok(())
}

/// Takes the selected keys, with their positions. Looks at a block of keys at a time: most have no selected one,
/// which vector instructions tell.
fn take_selected(
    cx: &mut Translator<'_>,
    sorted: &Digits,
    selected: &Selected,
    sort: &KeySort,
) -> Result<()> {
    let variable = Expression::Variable;
    let taken = cx.declare("taken", INDEX, Expression::index(0));
    let names = ["block", "base", "length"];
    let parts = (&sort.count, KEYS_OF_A_BLOCK);
    each_part(cx, names, parts, &sort.place, |cx, base, length| {
        let most = word_of(sorted.word, u64::MAX);
        let least = cx.declare("least", Type::Scalar(sorted.word), most);
        each(cx, "i", length.clone(), &sort.place, |cx, index| {
            let array = cx.place(sort.keys)?;
            let key = cx.load(array, vec![base.clone().plus(index)])?;
            let leading = leading(sorted.word, key, selected);
            let least_of_both = on_words(
                ScalarOperation::Minimum,
                sorted.word,
                variable(least),
                leading,
            );
            cx.assign(least, least_of_both);
            Ok(())
        })?;
        let least = index_of(sorted.word, variable(least));
        let takes = least.compare(ScalarOperation::LessEqual, variable(selected.limit));
        cx.when(takes, |cx| {
            take_of_block(cx, sorted, selected, sort, (&base, length, taken))
        })
    })
}

/// Takes the selected keys of a block of `length` keys from `base` on.
fn take_of_block(
    cx: &mut Translator<'_>,
    sorted: &Digits,
    selected: &Selected,
    sort: &KeySort,
    (base, length, taken): (&Expression, Expression, Variable),
) -> Result<()> {
    let variable = Expression::Variable;
    each(cx, "i", length, &sort.place, |cx, index| {
        let index = base.clone().plus(index);
        let index = cx.simplify(index, "at", INDEX);
        let array = cx.place(sort.keys)?;
        let key = cx.load(array, vec![index.clone()])?;
        let key = variable(cx.declare("key", Type::Scalar(sorted.word), key));
        let leading = bucket(sorted.word, key.clone(), selected);
        let takes = leading.compare(ScalarOperation::LessEqual, variable(selected.limit));
        cx.when(takes, |cx| {
            cx.set_element(sorted.keys.from, variable(taken), key);
            if let Some(positions) = sorted.positions {
                let position = narrowed(positions.scalar, index);
                cx.set_element(positions.from, variable(taken), position);
            }
            cx.assign(taken, variable(taken).plus(Expression::index(1)));
            Ok(())
        })
    })
}

/// Allocates two buffers for an array that is sorted.
fn moved(
    cx: &mut Translator<'_>,
    (name, scalar): (&str, Scalar),
    count: &Expression,
    place: &Place,
) -> Result<Moved> {
    let pointer = Type::Pointer(scalar);
    let mut buffer = |name: String| {
        let buffer = cx.add_variable(format!("{name}_buffer"), pointer);
        let block = cx.add_variable(format!("{name}_block"), Type::Block);
        allocate_here(cx, buffer, block, count.clone(), None, place)?;
        let value = Expression::Variable(buffer);
        Result::Ok((cx.declare(name, pointer, value), block))
    };
    let (from, first) = buffer(format!("{name}_from"))?;
    let (to, second) = buffer(format!("{name}_to"))?;
    Ok(Moved {
        scalar,
        from,
        to,
        blocks: [first, second],
    })
}

impl Digits {
    /// Iterates over the arrays that are sorted.
    fn moved(&self) -> impl Iterator<Item = Moved> + '_ {
        std::iter::once(self.keys).chain(self.positions)
    }

    /// Returns a digit of a key as an index.
    fn digit(&self, key: Expression, shift: Expression) -> Expression {
        let mask = word_of(self.word, DIGITS as u64 - 1);
        let shifted = shifted(self.word, key, shift);
        let digit = on_words(ScalarOperation::BitAnd, self.word, shifted, mask);
        index_of(self.word, digit)
    }

    /// Returns the index of the first count of a digit.
    fn first_count(&self, digit: Expression) -> Expression {
        digit.times(Expression::index(DIGITS))
    }
}

fn shift_of(digit: Expression) -> Expression {
    digit.times(Expression::index(i64::from(BITS)))
}

/// Copies the keys, numbers them, and counts all digits.
fn take_all(cx: &mut Translator<'_>, sorted: &Digits, sort: &KeySort, digits: i64) -> Result<()> {
    each(cx, "i", sort.count.clone(), &sort.place, |cx, index| {
        let array = cx.place(sort.keys)?;
        let key = cx.load(array, vec![index.clone()])?;
        let key = Expression::Variable(cx.declare("key", Type::Scalar(sorted.word), key));
        cx.set_element(sorted.keys.from, index.clone(), key.clone());
        if let Some(positions) = sorted.positions {
            let position = narrowed(positions.scalar, index.clone());
            cx.set_element(positions.from, index, position);
        }
        count_digits(cx, sorted, key, digits);
        Ok(())
    })
}

/// Counts all digits of a key.
fn count_digits(cx: &mut Translator<'_>, sort: &Digits, key: Expression, digits: i64) {
    for digit in (0..digits).map(Expression::index) {
        let own = sort.digit(key.clone(), shift_of(digit.clone()));
        let at = cx.declare("at", INDEX, sort.first_count(digit).plus(own));
        increment(cx, sort.counts, Expression::Variable(at));
    }
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
        each(
            cx,
            "i",
            Expression::index(DIGITS),
            &sort.place,
            |cx, index| {
                let at = cx.declare("at", INDEX, variable(first).plus(index));
                let counted = Expression::load(sort.counts, variable(at));
                let counted = cx.declare("counted", INDEX, counted);
                cx.set_element(sort.counts, variable(at), variable(begin));
                cx.assign(begin, variable(begin).plus(variable(counted)));
                Ok(())
            },
        )?;
        each(cx, "i", sort.count.clone(), &sort.place, |cx, index| {
            let key = Expression::load(sort.keys.from, index.clone());
            let key = cx.declare("key", Type::Scalar(sort.word), key);
            let own = sort.digit(variable(key), variable(shift));
            let at = cx.declare("at", INDEX, variable(first).plus(own));
            let place = Expression::load(sort.counts, variable(at));
            let place = cx.declare("place", INDEX, place);
            increment(cx, sort.counts, variable(at));
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
                each(cx, "i", sort.first.clone(), &sort.place, |cx, index| {
                    let position = Expression::load(positions.from, index.clone());
                    let position = index_of(positions.scalar, position);
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
