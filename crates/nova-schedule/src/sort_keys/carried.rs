//! Sorts that carry along what is read at sorted positions. A key of 32 bits and as many bits besides are one
//! word: those of an element of an array, if all that is read at sorted positions is that element, and those of
//! the position otherwise. Words are sorted by their keys, so nothing is gathered afterwards.

use super::SortByKeys;
use super::uses::{Used, arrays_at, replace};
use crate::keys::{Packed, Place, decode, key_at};
use crate::orders::Number;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation as Operation};
use nova_flat::ir::{Atom, Body, Expression, Lambda, Level, Sorted, Variable};
use nova_flat::visit::free_variables;
use std::collections::HashMap;

/// The type of words, and of their halves.
const WORD: Scalar = Scalar::U64;
const HALF: Scalar = Scalar::U32;

/// The lower halves of words, below their keys.
pub(super) struct Carried {
    /// The number that they hold of an element.
    number: Number,
    /// The array that is read, and its elements in sorted order; none for positions.
    pub(super) element: Option<(Variable, Variable)>,
}

/// Reads what a sort of `count` elements carries, or from sorted values as [`replace`] does, in `rest`. Returns
/// what it carries, if its one key leaves room, and what is used besides.
pub(super) fn carry(
    code: &mut Writer,
    (count, keys): (Atom, &[Packed]),
    (rest, positions): (&mut Body, Variable),
    arrays: &HashMap<Variable, Variable>,
) -> (Option<Carried>, Used) {
    let has_room = keys.len() == 1 && keys.iter().all(|key| key.word == HALF);
    let mut read = arrays_at(rest, positions);
    read.retain(|array| !arrays.contains_key(array));
    if let (true, &[array]) = (has_room, &read[..])
        && code.program.ty(array).shape() == [count]
        && code.program.ty(array).element().bits() <= HALF.bits()
        && free_variables(code.program, rest).contains(&array)
    {
        let values = code.like(array, vec![count]);
        let mut replaced = rest.clone();
        let mut arrays = arrays.clone();
        arrays.insert(array, values);
        let used = replace(&mut replaced, positions, &arrays);
        if !used.positions {
            *rest = replaced;
            let number = number(code, Some(array));
            let element = Some((array, values));
            return (Some(Carried { number, element }), used);
        }
    }
    let used = replace(rest, positions, arrays);
    let carries = has_room && used.positions;
    let carried = carries.then(|| Carried {
        number: number(code, None),
        element: None,
    });
    (carried, used)
}

/// Returns the number that stands for an element of an array, or for its position. That of a float has its bits.
fn number(code: &mut Writer, array: Option<Variable>) -> Number {
    let index = code.fresh("i", Scalar::I64);
    let mut scalar = HALF;
    let body = code.body(|code| {
        let Some(array) = array else {
            let position = [Atom::Variable(index)];
            return vec![code.compute(Operation::Wrap(HALF), Scalar::I64, &position, HALF)];
        };
        let value = code.element(array, Atom::Variable(index));
        match code.program.ty(array).element() {
            Scalar::F32 => vec![code.compute(Operation::Bits(HALF), Scalar::F32, &[value], HALF)],
            other => {
                scalar = other;
                vec![value]
            }
        }
    });
    Number {
        lambda: Lambda {
            parameters: vec![index],
            body,
        },
        scalar,
        descends: false,
    }
}

impl SortByKeys<'_> {
    /// Writes the sort of words.
    pub(super) fn by_words(
        &self,
        code: &mut Writer,
        (key, carried): (&Packed, &Carried),
        pattern: &[Variable],
    ) {
        let above = |place: Place| Place {
            shift: place.shift + HALF.bits(),
            ..place
        };
        let (shift, width) = (0, HALF.bits());
        let below = Place { shift, width };
        let numbers = key.numbers.iter().map(|n| (n.0, above(n.1)));
        let packed = Packed {
            numbers: numbers.chain([(&carried.number, below)]).collect(),
            word: WORD,
        };
        let words = code.fresh_array("words", WORD, self.count);
        code.map(words, Level::Sequential, |code, index| {
            let at = self.turned(code, index);
            key_at(code, &packed, self.order.nans, at)
        });
        let sorted = code.fresh_array("sorted", WORD, self.count);
        let sort = Expression::SortKeys {
            count: self.count,
            first: self.count,
            keys: words,
            low: HALF.bits(),
            gives: vec![Sorted::Keys],
        };
        code.push(vec![sorted], sort);
        let (positions, values) = self.split(pattern);
        let decoded = |code: &mut Writer, index: Atom, number: (&Number, Place)| {
            let word = code.element(sorted, index);
            decode(code, word, number, WORD)
        };
        for (read, values) in self.read.iter().zip(values) {
            code.map(*values, Level::Sequential, |code, index| {
                decoded(code, index, (read.number, above(read.place)))
            });
        }
        let values = carried.element.and(values.last());
        if let Some(values) = positions.as_ref().or(values) {
            let scalar = code.program.ty(*values).element();
            code.map(*values, Level::Sequential, |code, index| {
                let bits = decoded(code, index, (&carried.number, below));
                match scalar {
                    Scalar::I64 => code.compute(Operation::Convert(scalar), HALF, &[bits], scalar),
                    Scalar::F32 => code.compute(Operation::Bits(scalar), HALF, &[bits], scalar),
                    _same => bits,
                }
            });
        }
    }
}
