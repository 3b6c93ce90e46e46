//! Sorts by keys. A sort whose comparison has the order of numbers ([`crate::orders`]) becomes a sort of
//! unsigned keys ([`crate::keys`]), which every machine has a fast way for. Numbers that fill more than one
//! key are sorted key by key, from the least significant one on, each time stably.
//!
//! Elements that are read from an array of these numbers at sorted positions are computed from the sorted
//! keys, so that nothing is gathered. A sort of numbers alone needs no positions at all.
//!
//! A sort gives only the first positions if no others are used, as of the nearest of many records.
//!
//! Short vectors are merged, as others whose comparison has no order of numbers.
//!
//! A comparison of floats may have no order if one of them is nan. Then the sort stays the merge sort of
//! docs/order.md, to the bit; whether there is a nan is found out before. A nan and a -0.0 have no key of
//! their own: where there are some, numbers are gathered.

mod carried;
mod first_ones;
mod neighbours;
mod selection;
mod uses;

use self::carried::{Carried, carry};
use self::first_ones::FirstOnes;
use self::selection::Producers;
use self::uses::{first_of, pass_on, replace};
use crate::keys::{NAN, Packed, Place, bits_of_all, decode, key_at, kind_of, pack, word};
use crate::orders::{Nans, Number, Order, order_of};
use crate::policy::Parallelism;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_flat::ir::{
    Atom, Body, Expression, Lambda, Level, Program, Sorted, Statement, Type, Variable,
};
use nova_flat::places::places;
use nova_flat::visit::{bodies_mut, each_function};
use nova_machine::{Machine, figures};
use nova_opt::effects::FunctionEffects;
use std::collections::{HashMap, HashSet};

/// The most elements: their positions have 32 bits while they are sorted.
const MOST_POSITIONS: i64 = 1 << 32;

/// Sorts by keys in every function, where there are at least so many elements.
pub fn run(program: &mut Program, least: i64, machine: Machine) {
    let effects = FunctionEffects::new(program);
    each_function(program, |program, body| {
        let facts = Facts {
            effects: &effects,
            places: places(body),
            least,
            machine,
        };
        in_body(program, &facts, body);
    });
}

/// Facts about a function.
struct Facts<'a> {
    effects: &'a FunctionEffects,
    /// The vectors whose elements are their own indices.
    places: HashSet<Variable>,
    /// The number of elements from which keys are worth it.
    least: i64,
    machine: Machine,
}

fn in_body(program: &mut Program, facts: &Facts, body: &mut Body) {
    let mut left = std::mem::take(&mut body.statements).into_iter();
    while let Some(mut statement) = left.next() {
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| in_body(program, facts, inner));
        });
        let Some(order) = order_of_sort(facts, &statement) else {
            body.statements.push(statement);
            continue;
        };
        // The rest is as after any other sort, but for what it reads of the numbers.
        let mut rest = Body {
            statements: left.collect(),
            results: std::mem::take(&mut body.results),
        };
        let found = match facts.machine {
            Machine::Processor => first_ones::find(program, facts, &rest, (&statement, &order)),
            Machine::Device => None,
        };
        match (found, first_of(&rest, &statement)) {
            (Some(found), _) => {
                if !found.gather(&statement, &mut rest) {
                    first_ones(
                        program,
                        (&statement, &order, &found),
                        facts,
                        &mut rest,
                        body,
                    );
                }
            }
            // The number of positions may be computed after the sort.
            (None, Some((_, later))) if later > 0 => rest.statements.insert(later, statement),
            (None, found) => {
                let first = found.map(|(first, _)| first);
                sort(program, facts, (&statement, &order, first), &mut rest, body);
            }
        }
        body.results = std::mem::take(&mut rest.results);
        left = std::mem::take(&mut rest.statements).into_iter();
    }
}

/// Writes the choice between a table and a sort that only tells first ones.
fn first_ones(
    program: &mut Program,
    (statement, order, found): (&Statement, &Order, &FirstOnes),
    facts: &Facts,
    rest: &mut Body,
    out: &mut Body,
) {
    let Expression::Sort { count, .. } = &statement.expression else {
        return;
    };
    let mut taken = found.take(rest);
    let Some(pattern) = taken.last().map(|scatter| scatter.pattern.clone()) else {
        return;
    };
    let mut code = Writer::new(program, statement.place.clone(), Parallelism::DEFAULT);
    found.write(&mut code, (*count, order), &pattern, |code, own| {
        if let Some(scatter) = taken.last_mut() {
            scatter.pattern.clone_from(&own);
        }
        let mut rest = Body {
            statements: taken,
            results: own.into_iter().map(Atom::Variable).collect(),
        };
        let mut sorted = Body::default();
        let sort_of = (statement, order, None);
        sort(code.program, facts, sort_of, &mut rest, &mut sorted);
        code.out.append(&mut sorted.statements);
        code.out.append(&mut rest.statements);
    });
    out.statements.append(&mut code.out);
}

/// Returns the order of a sort that has one. Its comparison must be allowed to be made of any two elements.
fn order_of_sort(facts: &Facts, statement: &Statement) -> Option<Order> {
    match &statement.expression {
        Expression::Sort { compare, .. } if facts.effects.of_body(&compare.body).is_pure() => {
            order_of(compare, &facts.places)
        }
        _others => None,
    }
}

/// A sort by keys that is being written.
struct SortByKeys<'a> {
    count: Atom,
    /// The number of positions and of values that are used.
    first: Atom,
    /// The number of elements from which keys are worth it.
    least: i64,
    compare: &'a Lambda,
    order: &'a Order,
    keys: Vec<Packed<'a>>,
    /// The numbers that are read at sorted positions.
    read: Vec<Read<'a>>,
    /// True if positions are needed besides.
    positions: bool,
    /// The lower halves of words, where all elements are sorted.
    carried: Option<Carried>,
}

/// A number of the most significant key that is an element of an array, which is read at sorted positions.
#[derive(Clone, Copy)]
struct Read<'a> {
    number: &'a Number,
    place: Place,
    array: Variable,
    /// The elements in sorted order.
    values: Variable,
}

/// Writes the sort of a statement to `out`; `rest` is what follows.
fn sort(
    program: &mut Program,
    facts: &Facts,
    (statement, order, first): (&Statement, &Order, Option<Atom>),
    rest: &mut Body,
    out: &mut Body,
) {
    let (Expression::Sort { count, compare }, &[positions]) =
        (&statement.expression, &statement.pattern[..])
    else {
        return;
    };
    let keys = pack(order);
    let first = first.unwrap_or(*count);
    program.variables[positions.index()].ty = Type::Array(Scalar::I64, vec![first]);
    let mut reads = reads(program, first, &keys);
    let arrays: HashMap<Variable, Variable> = reads.iter().map(|r| (r.array, r.values)).collect();
    let mut code = Writer::new(program, statement.place.clone(), Parallelism::DEFAULT);
    let (carried, used) = match first == *count && facts.machine == Machine::Processor {
        true => carry(&mut code, (*count, &keys), (rest, positions), &arrays),
        false => (None, replace(rest, positions, &arrays)),
    };
    pass_on(code.program, rest, &used.values);
    reads.retain(|read| used.values.contains(&read.values));
    let sort = SortByKeys {
        count: *count,
        first,
        least: facts.least,
        compare,
        order,
        keys,
        read: reads,
        positions: used.positions,
        carried,
    };
    let selects = sort.is_selected(facts);
    let producers = selects.then(|| Producers::of(program, facts, out, rest));
    let mut code = Writer::new(program, statement.place.clone(), Parallelism::DEFAULT);
    match producers {
        Some(producers) => sort.select(&mut code, positions, &producers),
        None => sort.write_all(&mut code, &sort.pattern(positions)),
    }
    out.statements.append(&mut code.out);
}

/// Returns the numbers of the most significant key that are elements of vectors.
fn reads<'a>(program: &mut Program, first: Atom, keys: &[Packed<'a>]) -> Vec<Read<'a>> {
    let numbers = keys.first().into_iter().flat_map(|key| &key.numbers);
    let read = numbers.filter_map(|(number, place)| Some((*number, *place, number.array()?)));
    let mut found: Vec<Read> = Vec::new();
    for (number, place, array) in read.collect::<Vec<_>>() {
        if found.iter().any(|other| other.array == array) {
            continue;
        }
        let name = program.variable(array).name.clone();
        let ty = Type::Array(number.scalar, vec![first]);
        let values = program.add_variable(name, ty);
        found.push(Read {
            number,
            place,
            array,
            values,
        });
    }
    found
}

impl SortByKeys<'_> {
    /// Returns what a sort binds: the positions, if they are used, and the values that are read.
    fn pattern(&self, positions: Variable) -> Vec<Variable> {
        let positions = self.positions.then_some(positions).into_iter();
        positions
            .chain(self.read.iter().map(|read| read.values))
            .chain(self.carried_element().map(|(_, values)| values))
            .collect()
    }

    /// Returns the array whose elements are carried, with these elements in sorted order.
    fn carried_element(&self) -> Option<(Variable, Variable)> {
        self.carried.as_ref()?.element
    }

    /// Writes the sort of all elements.
    fn write_all(&self, code: &mut Writer, pattern: &[Variable]) {
        let floats = self.order.numbers.iter().filter(|n| n.scalar.is_float());
        let floats: Vec<&Number> = floats.collect();
        let reads_floats = self.read.iter().any(|read| read.number.scalar.is_float());
        let is_total = self.order.nans != Nans::Unordered;
        let sorts = self.is_worth_keys(code);
        if floats.is_empty() || (is_total && !reads_floats) {
            return self.by_keys_or_merges(code, pattern, sorts, true);
        }
        let kinds = self.kinds(code, &floats);
        if !reads_floats {
            return self.by_keys_without_nan(code, pattern, kinds);
        }
        let is_plain = is_zero(code, kinds);
        let is_plain = code.both(sorts, is_plain);
        code.choose_way(
            pattern,
            is_plain,
            |code, own| self.by_keys(code, &own, true),
            |code, own| match is_total {
                true => self.by_keys_or_merges(code, &own, sorts, false),
                false => self.by_keys_without_nan(code, &own, kinds),
            },
        );
    }

    /// Computes whether there are so many elements that keys are worth it, and so few that positions of 32
    /// bits can name them.
    fn is_worth_keys(&self, code: &mut Writer) -> Atom {
        let reads_floats = self.read.iter().any(|read| read.number.scalar.is_float());
        let is_words = self.carried.is_some() && self.keys.len() == 1 && !reads_floats;
        let least = Atom::index(match is_words {
            true => self.least.min(figures::SORTS.words),
            false => self.least,
        });
        let many = code.compare(ScalarOperation::GreaterEqual, self.count, least);
        let most = Atom::index(MOST_POSITIONS);
        let nameable = code.compare(ScalarOperation::LessEqual, self.count, most);
        code.both(many, nameable)
    }

    /// Writes the sort by keys where a condition holds, else the merge sort.
    fn by_keys_or_merges(
        &self,
        code: &mut Writer,
        pattern: &[Variable],
        condition: Atom,
        decodes: bool,
    ) {
        code.choose_way(
            pattern,
            condition,
            |code, own| self.by_keys(code, &own, decodes),
            |code, own| self.by_merges(code, &own),
        );
    }

    /// Writes the sort by keys if there is no nan, else the merge sort.
    fn by_keys_without_nan(&self, code: &mut Writer, pattern: &[Variable], kinds: Atom) {
        let ty = Scalar::U32;
        let nans = code.compute(ScalarOperation::BitAnd, ty, &[kinds, word(ty, NAN)], ty);
        let is_ordered = is_zero(code, nans);
        let sorts = self.is_worth_keys(code);
        let is_ordered = code.both(sorts, is_ordered);
        self.by_keys_or_merges(code, pattern, is_ordered, false);
    }

    /// Returns the positions among the variables of a pattern, if they are used, and the values.
    fn split<'v>(&self, pattern: &'v [Variable]) -> (Option<Variable>, &'v [Variable]) {
        match pattern.split_first() {
            Some((positions, values)) if self.positions => (Some(*positions), values),
            _values => (None, pattern),
        }
    }

    /// Writes the sort by keys. If `decodes`, floats are computed from keys, else gathered.
    fn by_keys(&self, code: &mut Writer, pattern: &[Variable], decodes: bool) {
        let (positions, values) = self.split(pattern);
        let is_decoded = |read: &Read| decodes || !read.number.scalar.is_float();
        let gathers = !self.read.iter().all(is_decoded);
        if let (false, Some(carried), [key]) = (gathers, &self.carried, &self.keys[..]) {
            return self.by_words(code, (key, carried), pattern);
        }
        let gathers = gathers || self.carried_element().is_some();
        let mut order = None;
        let mut sorted = None;
        for (k, key) in self.keys.iter().enumerate().rev() {
            let keys = self.keys_in(code, key, order);
            let first = if k == 0 { self.first } else { self.count };
            let mut gives = Vec::new();
            let mut given = Vec::new();
            if k > 0 || gathers || positions.is_some() {
                gives.push(Sorted::Positions);
                given.push(code.fresh_array("order", Scalar::I64, first));
            }
            let own = given.first().copied();
            if k == 0 && self.read.iter().any(is_decoded) {
                gives.push(Sorted::Keys);
                let array = code.fresh_array("sorted", key.word, first);
                given.push(array);
                sorted = Some((array, key.word));
            }
            let count = self.count;
            code.push(
                given,
                Expression::SortKeys {
                    count,
                    first,
                    keys,
                    low: 0,
                    gives,
                },
            );
            order = match (order, own) {
                (Some(before), Some(own)) => Some(self.gather(code, before, own)),
                (before, own) => own.or(before),
            };
        }
        let order = order.map(|order| self.positions(code, positions, order));
        for (read, values) in self.read.iter().zip(values) {
            match (sorted, order) {
                (Some(sorted), _) if is_decoded(read) => {
                    self.decode_to(code, *values, read, sorted)
                }
                (_, Some(order)) => self.gather_to(code, *values, (read.array, order)),
                (_, None) => {}
            }
        }
        if let Some(order) = order {
            self.gather_carried(code, values, order);
        }
    }

    /// Gathers the elements that words would carry, to the last variable of a pattern.
    fn gather_carried(&self, code: &mut Writer, values: &[Variable], order: Variable) {
        if let (Some((array, _)), Some(values)) = (self.carried_element(), values.last()) {
            self.gather_to(code, *values, (array, order));
        }
    }

    fn decode_to(
        &self,
        code: &mut Writer,
        values: Variable,
        read: &Read,
        (sorted, ty): (Variable, Scalar),
    ) {
        if self.keys.iter().any(|key| self.own_keys(key).is_some()) {
            return code.push(vec![values], Expression::Atom(Atom::Variable(sorted)));
        }
        code.map(values, Level::Sequential, |code, index| {
            let key = code.element(sorted, index);
            decode(code, key, (read.number, read.place), ty)
        });
    }

    /// Returns the array whose elements are the keys, if they need no change and all are sorted.
    fn own_keys(&self, key: &Packed) -> Option<Variable> {
        let [(number, _)] = key.numbers[..] else {
            return None;
        };
        let is_same = number.scalar == key.word && !number.descends && !self.order.reverses;
        let is_only = self.keys.len() == 1 && self.first == self.count;
        let array = number.array()?;
        (is_same && is_only).then_some(array)
    }

    /// Computes the keys, in an order if there is one.
    fn keys_in(&self, code: &mut Writer, key: &Packed, order: Option<Variable>) -> Variable {
        if let Some(array) = self.own_keys(key)
            && code.program.ty(array).shape() == [self.count]
        {
            return array;
        }
        let keys = code.fresh_array("keys", key.word, self.count);
        code.map(keys, Level::Sequential, |code, index| {
            // Positions of earlier sorts count from the end, too.
            let at = match order {
                Some(order) => code.element(order, index),
                None => index,
            };
            let at = self.turned(code, at);
            key_at(code, key, self.order.nans, at)
        });
        keys
    }

    /// Returns an index, or the one as far from the end where the later one of equal elements comes first.
    fn turned(&self, code: &mut Writer, index: Atom) -> Atom {
        if !self.order.reverses {
            return index;
        }
        let last = code.scalar(ScalarOperation::Subtract, self.count, Atom::index(1));
        code.scalar(ScalarOperation::Subtract, last, index)
    }

    /// Returns the positions of elements, under this name if there is one.
    fn positions(&self, code: &mut Writer, name: Option<Variable>, order: Variable) -> Variable {
        let positions = match (name, self.order.reverses) {
            (None, false) => return order,
            (Some(name), false) => {
                code.push(vec![name], Expression::Atom(Atom::Variable(order)));
                return name;
            }
            (name, true) => name.unwrap_or_else(|| code.like(order, vec![self.first])),
        };
        code.map(positions, Level::Sequential, |code, index| {
            let at = code.element(order, index);
            self.turned(code, at)
        });
        positions
    }

    /// Computes which kinds of floats without keys of their own there are among numbers.
    fn kinds(&self, code: &mut Writer, floats: &[&Number]) -> Atom {
        let ty = Scalar::U32;
        let kinds = bits_of_all(code, "kinds", (self.count, ty), |code, index| {
            let mut all = word(ty, 0);
            for number in floats {
                for value in code.apply(&number.lambda, &[index]) {
                    let kind = kind_of(code, value, number.scalar);
                    all = code.compute(ScalarOperation::BitOr, ty, &[all, kind], ty);
                }
            }
            all
        });
        Atom::Variable(kinds)
    }

    /// Writes the merge sort.
    fn by_merges(&self, code: &mut Writer, pattern: &[Variable]) {
        let (positions, values) = self.split(pattern);
        let order = code.fresh_array("order", Scalar::I64, self.count);
        let sort = Expression::Sort {
            count: self.count,
            compare: self.compare.clone(),
        };
        code.push(vec![order], sort);
        if let Some(positions) = positions {
            code.map(positions, Level::Sequential, |code, index| {
                code.element(order, index)
            });
        }
        for (read, values) in self.read.iter().zip(values) {
            self.gather_to(code, *values, (read.array, order));
        }
        self.gather_carried(code, values, order);
    }

    /// Returns the elements of an array at positions.
    fn gather(&self, code: &mut Writer, array: Variable, positions: Variable) -> Variable {
        let shape = code.program.ty(positions).shape().to_vec();
        let gathered = code.like(array, shape);
        self.gather_to(code, gathered, (array, positions));
        gathered
    }

    fn gather_to(&self, code: &mut Writer, to: Variable, (array, positions): (Variable, Variable)) {
        code.map(to, Level::Sequential, |code, index| {
            let at = code.element(positions, index);
            code.element(array, at)
        });
    }
}

fn is_zero(code: &mut Writer, number: Atom) -> Atom {
    let arguments = [number, word(Scalar::U32, 0)];
    code.compute(
        ScalarOperation::Equal,
        Scalar::U32,
        &arguments,
        Scalar::Bool,
    )
}
