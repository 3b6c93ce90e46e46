//! Sorts that only tell the first one of equal elements. An operation that scatters to the positions of sorted
//! elements whether each differs from the one before it marks the first elements with their number: the sort is
//! stable. Where the numbers have a small range, a table of the numbers that were found tells the same, and
//! nothing is sorted.

use super::Facts;
use super::neighbours::{Before, Neighbours, Sorted, Value};
use crate::keys::{Packed, key_at, pack, word};
use crate::orders::Order;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation as Operation, ScalarValue};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Bracketing, Expression, Level, Output, Program, Statement, Variable,
};
use nova_flat::visit::each_variable;
use nova_machine::figures;
use std::collections::HashSet;

/// The largest range of numbers that are marked in a table: so many for each element.
const RANGE: i64 = figures::SORTS.marked_range;

/// A scatter that tells the first one of equal elements.
pub(super) struct FirstOnes {
    /// The place of the scatter among the statements after the sort.
    at: usize,
    /// The places of the statements that only it needs, in order.
    needed: Vec<usize>,
    /// What it gives for first ones and for others.
    values: [ScalarValue; 2],
}

/// Finds a scatter for which alone a sort is made. `rest` is what follows the sort.
pub(super) fn find(
    program: &Program,
    facts: &Facts,
    rest: &Body,
    (statement, order): (&Statement, &Order),
) -> Option<FirstOnes> {
    let (Expression::Sort { count, .. }, &[positions]) =
        (&statement.expression, &statement.pattern[..])
    else {
        return None;
    };
    let [number] = &order.numbers[..] else {
        return None;
    };
    if order.reverses || number.scalar.is_float() {
        return None;
    }
    let numbers = match &number.lambda.body.statements[..] {
        [
            Statement {
                expression: Expression::Index { array, indices },
                ..
            },
        ] if indices[..] == [Atom::Variable(*number.lambda.parameters.first()?)] => *array,
        _others => return None,
    };
    let sorted = Sorted {
        order: positions,
        count: *count,
        numbers,
        descends: number.descends,
        places: &facts.places,
    };
    let (at, values) = rest
        .statements
        .iter()
        .enumerate()
        .find_map(|(at, statement)| {
            let Expression::Operation(operation) = &statement.expression else {
                return None;
            };
            Some((at, values(program, facts, &sorted, rest, operation)?))
        })?;
    let needed = needed(program, facts, rest, (positions, at))?;
    Some(FirstOnes { at, needed, values })
}

/// Returns what a scatter gives for the first one of equal elements, and for others.
fn values(
    program: &Program,
    facts: &Facts,
    sorted: &Sorted,
    rest: &Body,
    operation: &ArrayOperation,
) -> Option<[ScalarValue; 2]> {
    let (
        [
            Output::Scatter {
                destinations,
                positions,
            },
        ],
        &[index],
        &[position, value],
    ) = (
        &operation.outputs[..],
        &operation.indices[..],
        &operation.body.results[..],
    )
    else {
        return None;
    };
    let &[destination] = &destinations[..] else {
        return None;
    };
    let is_whole = operation.shape[..] == [sorted.count]
        && program.ty(destination).shape() == [sorted.count]
        && operation.carries.is_empty()
        && positions.are_given();
    if !is_whole || !facts.effects.of_body(&operation.body).is_pure() {
        return None;
    }
    let given = |before| {
        let neighbours = Neighbours::new(sorted, rest, before);
        let own = (index, 0);
        let is_own = neighbours.value(position, own)? == Value::Position(0);
        match neighbours.value(value, own)? {
            Value::Constant(value) if is_own => Some(value),
            _other => None,
        }
    };
    let first = given(Before::None)?;
    let other = given(Before::Equal)?;
    let is_told = first.same(given(Before::Different)?) && !first.same(other);
    is_told.then_some([first, other])
}

/// Returns the statements that only the scatter needs, if the sort is one of them.
fn needed(
    program: &Program,
    facts: &Facts,
    rest: &Body,
    (positions, at): (Variable, usize),
) -> Option<Vec<usize>> {
    let mut used = HashSet::new();
    let mut note = |body: &Body| {
        each_variable(program, body, &mut |_| {}, &mut |v| {
            used.insert(v);
        })
    };
    let results = Body {
        statements: rest.statements.get(at + 1..)?.to_vec(),
        results: rest.results.clone(),
    };
    note(&results);
    let mut found = Vec::new();
    for (k, statement) in rest.statements.iter().enumerate().take(at).rev() {
        let is_used = statement.pattern.iter().any(|v| used.contains(v));
        if !is_used && facts.effects.of(&statement.expression).is_pure() {
            found.push(k);
            continue;
        }
        each_use(program, statement, &mut |variable| {
            used.insert(variable);
        });
    }
    found.reverse();
    (!used.contains(&positions)).then_some(found)
}

/// Calls `visit` on every variable that a statement uses, at any depth.
fn each_use(program: &Program, statement: &Statement, visit: &mut dyn FnMut(Variable)) {
    let body = Body {
        statements: vec![statement.clone()],
        results: Vec::new(),
    };
    each_variable(program, &body, &mut |_| {}, visit);
}

impl FirstOnes {
    /// Moves a sort and what only the scatter needs before the scatter, behind all others. Returns whether they
    /// were elsewhere.
    pub(super) fn gather(&self, statement: &Statement, rest: &mut Body) -> bool {
        if self.needed.len() == self.at {
            return false;
        }
        let mut before = Vec::new();
        let mut needed = vec![statement.clone()];
        for (k, other) in rest.statements.drain(..self.at).enumerate() {
            match self.needed.contains(&k) {
                true => needed.push(other),
                false => before.push(other),
            }
        }
        before.append(&mut needed);
        rest.statements.splice(..0, before);
        true
    }

    /// Takes the scatter and what only it needs from the statements after the sort.
    pub(super) fn take(&self, rest: &mut Body) -> Vec<Statement> {
        rest.statements.drain(..=self.at).collect()
    }

    /// Writes a choice between a table and the scatter.
    pub(super) fn write(
        &self,
        code: &mut Writer,
        (count, order): (Atom, &Order),
        pattern: &[Variable],
        by_sort: impl FnOnce(&mut Writer, Vec<Variable>),
    ) {
        let packed = pack(order);
        let Some(key) = packed.first() else {
            return;
        };
        let [least, greatest] = bounds(code, count, (key, order));
        let wide = |code: &mut Writer, atom| match key.word {
            Scalar::U64 => atom,
            narrow => code.compute(
                Operation::Convert(Scalar::U64),
                narrow,
                &[atom],
                Scalar::U64,
            ),
        };
        let [low, high] = [least, greatest].map(|bound| wide(code, bound));
        let range = code.compute(Operation::Subtract, Scalar::U64, &[high, low], Scalar::U64);
        let most = code.scalar(Operation::Multiply, count, Atom::index(RANGE));
        let most = code.compute(
            Operation::Wrap(Scalar::U64),
            Scalar::I64,
            &[most],
            Scalar::U64,
        );
        let small = code.compute(Operation::Less, Scalar::U64, &[range, most], Scalar::Bool);
        code.choose_way(
            pattern,
            small,
            |code, own| {
                let last = Operation::Wrap(Scalar::I64);
                let last = code.compute(last, Scalar::U64, &[range], Scalar::I64);
                let size = code.scalar(Operation::Add, last, Atom::index(1));
                self.by_table(code, (count, order, key), (least, size), own);
            },
            by_sort,
        );
    }

    /// Writes a loop that marks in a table which numbers were found.
    fn by_table(
        &self,
        code: &mut Writer,
        (count, order, key): (Atom, &Order, &Packed),
        (least, size): (Atom, Atom),
        own: Vec<Variable>,
    ) {
        let bool = |value| Atom::Constant(ScalarValue::Bool(value));
        let [none, found, last] =
            ["none", "found", "last"].map(|name| code.fresh_array(name, Scalar::Bool, size));
        let shape = vec![size];
        let value = bool(false);
        code.push(vec![none], Expression::Replicate { shape, value });
        let index = code.fresh("i", Scalar::I64);
        let body = code.body(|code| {
            let own = key_at(code, key, order.nans, Atom::Variable(index));
            let number = code.compute(Operation::Subtract, key.word, &[own, least], key.word);
            let place = Operation::Wrap(Scalar::I64);
            let place = code.compute(place, key.word, &[number], Scalar::I64);
            let is_found = code.element(found, place);
            let scalar = self.values[0].scalar();
            let [first, other] = self.values.map(Atom::Constant);
            let given = code.choose_one(is_found, scalar, |_| other, |_| first);
            let next = code.fresh_array("found", Scalar::Bool, size);
            let update = Expression::Update {
                array: found,
                indices: vec![place],
                value: bool(true),
            };
            code.push(vec![next], update);
            vec![Atom::Variable(next), given]
        });
        let pattern = std::iter::once(last).chain(own).collect();
        let carries = vec![(found, Atom::Variable(none))];
        code.loop_of_thread(pattern, (count, index), carries, body, vec![Output::Map]);
    }
}

/// Computes the least and the greatest key.
fn bounds(code: &mut Writer, count: Atom, (key, order): (&Packed, &Order)) -> [Atom; 2] {
    let ty = key.word;
    let index = code.fresh("i", Scalar::I64);
    let body = code.body(|code| {
        let own = key_at(code, key, order.nans, Atom::Variable(index));
        vec![own, own]
    });
    let [least, greatest] = ["least", "greatest"].map(|name| code.fresh(name, ty));
    let bound = |code: &mut Writer, operation, start| {
        let parameters = ["a", "b"].map(|name| code.fresh(name, ty));
        let arguments = parameters.map(Atom::Variable);
        let body = code.body(|code| vec![code.compute(operation, ty, &arguments, ty)]);
        Output::Reduce {
            lambda: nova_flat::ir::Lambda {
                parameters: parameters.to_vec(),
                body,
            },
            start: vec![word(ty, start)],
            commutes: true,
            bracketing: Bracketing::Whole,
        }
    };
    let outputs = vec![
        bound(code, Operation::Minimum, u64::MAX),
        bound(code, Operation::Maximum, 0),
    ];
    let pattern = vec![least, greatest];
    code.operation(pattern, count, index, Level::Sequential, body, outputs);
    [least, greatest].map(Atom::Variable)
}
