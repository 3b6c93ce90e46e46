//! The sort of unsigned keys on a processor, digit by digit, from the last one on (LSD), each time stably by
//! counting. What is sorted are the differences of the keys to the least one, so that only the bits that the
//! range of the keys has cost passes. These bits are divided into digits of nearly equal length.
//!
//! A difference of at most 32 bits and the position of its key are one word, which is moved as a whole. Wider
//! keys are moved beside their positions. Positions have 32 bits while they are moved: there are no more keys
//! than such positions can name. Devices sort by merges ([`crate::sort`]) what kernels do not sort.

mod minima;
mod passes;
mod select;
mod whole;
mod words;

use self::minima::{are_few, by_minima};
use self::passes::{Passes, counts_of_digits, digits_of, first_pass, give, later_passes};
use self::select::{Selected, bucket, leading, select};
use self::whole::{is_whole, sort_whole};
use self::words::{Form, Range, Words, index_of, key_type, on_words, range, word_of};
use crate::address::pointer_to;
use crate::allocation::{allocate_here, destination};
use crate::loops::{each, each_part};
use crate::sort::{KeySort, merge_keys};
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::ir::{Command, Expression, Type, Variable};
use nova_machine::{Machine, figures};

/// The keys that are looked at together for a selected one: some vectors.
const KEYS_OF_A_BLOCK: i64 = figures::SORTS.selected_block;

/// Sorts keys: gives the positions of the least ones, the keys themselves, or both.
pub(crate) fn sort_keys(
    cx: &mut Translator<'_>,
    statement: &flat::Statement,
    [count, first]: [flat::Atom; 2],
    (keys, low): (flat::Variable, u32),
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
        low,
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
    blocks: [Option<Variable>; 2],
}

/// Sorts keys by their digits, or finds the least ones where few are wanted.
fn by_digits(cx: &mut Translator<'_>, sort: &KeySort) -> Result<()> {
    if is_whole(sort) {
        return sort_whole(cx, sort);
    }
    let range = range(cx, sort)?;
    if sort.first == sort.count {
        return in_its_form(cx, sort, &range, &None);
    }
    let few = are_few(sort, &range);
    cx.choose(
        few,
        |cx| by_minima(cx, sort, &range),
        |cx| {
            let selected = Some(select(cx, sort, &range)?);
            in_its_form(cx, sort, &range, &selected)
        },
    )
}

/// Sorts keys by their digits, in the form that their range allows.
fn in_its_form(
    cx: &mut Translator<'_>,
    sort: &KeySort,
    range: &Range,
    selected: &Option<Selected>,
) -> Result<()> {
    let narrow = range.fits(Scalar::U32.bits());
    match key_type(cx, sort)? {
        Scalar::U64 => cx.choose(
            narrow,
            |cx| sort_in_form(cx, sort, range, selected, Form::Narrow),
            |cx| sort_in_form(cx, sort, range, selected, Form::Wide),
        ),
        _narrow => sort_in_form(cx, sort, range, selected, Form::Narrow),
    }
}

/// Sorts keys in a form.
fn sort_in_form(
    cx: &mut Translator<'_>,
    sort: &KeySort,
    range: &Range,
    selected: &Option<Selected>,
    form: Form,
) -> Result<()> {
    let count = match selected {
        Some(selected) => Expression::Variable(selected.count),
        None => sort.count.clone(),
    };
    let positions = sort.gives(flat::Sorted::Positions);
    let words = Words::new(range, form, positions);
    let digits = digits_of(cx, &words, &count)?;
    let memory = match selected {
        None => words.memory(sort),
        Some(_) => None,
    };
    let passes = Passes {
        moved: moved(cx, ("words", words.scalar), &count, memory, &sort.place)?,
        positions: match words.has_separate_positions {
            true => Some(moved(
                cx,
                ("order", Scalar::U32),
                &count,
                None,
                &sort.place,
            )?),
            false => None,
        },
        counts: counts_of_digits(cx, &digits, &sort.place)?,
        words,
        count,
        digits,
        place: sort.place.clone(),
    };
    match selected {
        Some(selected) => {
            take_selected(cx, &passes, selected, sort)?;
            later_passes(cx, &passes, 0)?;
        }
        None => {
            passes.end_in_first_buffer(cx)?;
            first_pass(cx, &passes, sort)?;
            later_passes(cx, &passes, 1)?;
        }
    }
    give(cx, &passes, sort)?;
    cx.emit(Command::Release(passes.counts.1));
    for moved in passes.arrays() {
        let blocks = moved.blocks.into_iter().flatten();
        blocks.for_each(|block| cx.emit(Command::Release(block)));
    }
    Ok(())
}

/// Takes the selected keys, with their positions. Looks at a block of keys at a time: most have no selected one,
/// which vector instructions tell.
fn take_selected(
    cx: &mut Translator<'_>,
    passes: &Passes,
    selected: &Selected,
    sort: &KeySort,
) -> Result<()> {
    let variable = Expression::Variable;
    let taken = cx.declare("taken", INDEX, Expression::index(0));
    let names = ["block", "base", "length"];
    let size = Expression::index(KEYS_OF_A_BLOCK);
    let parts = (&sort.count, &size);
    let word = passes.words.range.word;
    each_part(cx, names, parts, &sort.place, |cx, base, length| {
        let most = word_of(word, u64::MAX);
        let least = cx.declare("nearest", Type::Scalar(word), most);
        each(cx, "i", length.clone(), &sort.place, |cx, index| {
            let array = cx.place(sort.keys)?;
            let key = cx.load(array, vec![base.clone().plus(index)])?;
            let leading = leading(key, &passes.words.range, selected);
            let both = on_words(ScalarOperation::Minimum, word, variable(least), leading);
            cx.assign(least, both);
            Ok(())
        })?;
        let least = index_of(word, variable(least));
        let takes = least.compare(ScalarOperation::LessEqual, variable(selected.limit));
        cx.when(takes, |cx| {
            take_of_block(cx, passes, selected, sort, (&base, length, taken))
        })
    })
}

/// Takes the selected keys of a block of `length` keys from `base` on.
fn take_of_block(
    cx: &mut Translator<'_>,
    passes: &Passes,
    selected: &Selected,
    sort: &KeySort,
    (base, length, taken): (&Expression, Expression, Variable),
) -> Result<()> {
    let variable = Expression::Variable;
    let range = passes.words.range;
    each(cx, "i", length, &sort.place, |cx, index| {
        let index = base.clone().plus(index);
        let index = cx.simplify(index, "at", INDEX);
        let array = cx.place(sort.keys)?;
        let key = cx.load(array, vec![index.clone()])?;
        let key = variable(cx.declare("key", Type::Scalar(range.word), key));
        let leading = bucket(key.clone(), &range, selected);
        let takes = leading.compare(ScalarOperation::LessEqual, variable(selected.limit));
        cx.when(takes, |cx| {
            let word = passes.words.word(key, index.clone());
            passes.set_first(cx, word, index, variable(taken));
            cx.assign(taken, variable(taken).plus(Expression::index(1)));
            Ok(())
        })
    })
}

/// Makes two buffers for an array that is sorted. The second one may be memory that is there.
fn moved(
    cx: &mut Translator<'_>,
    (name, scalar): (&str, Scalar),
    count: &Expression,
    memory: Option<Expression>,
    place: &Place,
) -> Result<Moved> {
    let pointer = Type::Pointer(scalar);
    let mut buffer = |name: String, memory: Option<Expression>| {
        if let Some(memory) = memory {
            return Result::Ok((cx.declare(name, pointer, memory), None));
        }
        let buffer = cx.add_variable(format!("{name}_buffer"), pointer);
        let block = cx.add_variable(format!("{name}_block"), Type::Block);
        allocate_here(cx, buffer, block, count.clone(), None, place)?;
        let value = Expression::Variable(buffer);
        Ok((cx.declare(name, pointer, value), Some(block)))
    };
    let (from, first) = buffer(format!("{name}_from"), None)?;
    let (to, second) = buffer(format!("{name}_to"), memory)?;
    Ok(Moved {
        scalar,
        from,
        to,
        blocks: [first, second],
    })
}
