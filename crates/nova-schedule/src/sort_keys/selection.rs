//! The first elements of a sort, if few are used. A sample of the keys tells a limit below which there are probably
//! enough keys. One pass over all elements takes those up to the limit, and only these are sorted. Where they are
//! too few, or an element is nan in a comparison without an order of nan, everything is sorted.
//!
//! Arrays that only the sort reads are not made for it: the pass computes their elements itself.

use super::{Facts, SortByKeys};
use crate::keys::{bits_of_all, key_at, word};
use crate::limits::STATEMENTS_OF_A_SELECTED_ELEMENT;
use crate::orders::Nans;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation as Operation, ScalarValue};
use nova_diag::deep;
use nova_flat::ir::{
    Atom, Body, Expression, Lambda, Level, Output, Program, Sorted, Statement, Variable,
};
use nova_flat::visit::{
    Substitution, bodies, count_uses, each_statement, fresh_variable, size, substitute,
};
use nova_machine::figures;
use std::collections::HashMap;

/// Elements are few where there may be at least so many times as many.
const FEW: i64 = figures::SORTS.first_share;
/// The least number of elements that are sampled, as a multiple of those that keys are worth.
const LEAST: i64 = figures::SORTS.first_sampled;
/// A sample has at least 1 << `LEAST_BITS` elements. They are `DISTANCE` places apart, if there are so many elements,
/// or more places where a sample would have more than 1 << `MOST_BITS` elements.
const LEAST_BITS: i64 = figures::SORTS.first_least_bits;
const DISTANCE: i64 = figures::SORTS.first_distance;
const MOST_BITS: i64 = figures::SORTS.first_most_bits;
/// The elements of a sample up to the limit, beside twice those that are expected among the ones that are used. With
/// three the limit is hardly ever too low.
const SPARE: i64 = figures::SORTS.first_spare;

/// The arrays that only a sort reads, element by element, with the functions that compute their elements.
pub(super) struct Producers {
    lambdas: HashMap<Variable, Lambda>,
}

impl Producers {
    /// Finds the arrays that `before` makes for a sort of these elements alone. `rest` follows the sort.
    pub(super) fn of(program: &Program, facts: &Facts, before: &Body, rest: &Body) -> Producers {
        let mut uses = Vec::new();
        count_uses(program, rest, &mut uses);
        let mut lambdas: HashMap<Variable, Lambda> = HashMap::new();
        for statement in before.statements.iter().rev() {
            let given = elements(facts, statement);
            let is_own = |(array, _): &(Variable, Lambda)| uses.get(array.index()) == Some(&0);
            let own: Vec<_> = given.into_iter().filter(is_own).collect();
            if own.is_empty() {
                let body = Body {
                    statements: vec![statement.clone()],
                    results: Vec::new(),
                };
                count_uses(program, &body, &mut uses);
            }
            lambdas.extend(own);
        }
        Producers { lambdas }
    }

    /// Writes code, and computes in it the elements that it reads of arrays that are not made.
    fn compute<R>(&self, code: &mut Writer, write: impl FnOnce(&mut Writer) -> R) -> R {
        let (statements, result) = code.apart(write);
        self.add(code, statements);
        result
    }

    fn add(&self, code: &mut Writer, statements: Vec<Statement>) {
        for mut statement in statements {
            if let Expression::Index { array, indices } = &statement.expression
                && let Some(lambda) = self.lambdas.get(array)
            {
                let (statements, values) = code.apart(|code| code.apply(lambda, indices));
                deep(|| self.add(code, statements));
                if let Some(value) = values.first() {
                    statement.expression = Expression::Atom(*value);
                }
            }
            code.out.push(statement);
        }
    }

    /// Makes the arrays that statements read.
    fn make(&self, code: &mut Writer, statements: Vec<Statement>) -> Vec<Statement> {
        let mut body = Body {
            statements,
            results: Vec::new(),
        };
        let mut uses = Vec::new();
        count_uses(code.program, &body, &mut uses);
        let is_read = |array: &&Variable| uses.get(array.index()).is_some_and(|uses| *uses > 0);
        let mut read: Vec<Variable> = self.lambdas.keys().filter(is_read).copied().collect();
        read.sort();
        let mut names = Substitution::default();
        let (mut made, ()) = code.apart(|code| {
            for array in read {
                let own = fresh_variable(code.program, array, &mut names);
                code.map(own, Level::Sequential, |code, index| {
                    self.compute(code, |code| code.element(array, index))
                });
            }
        });
        substitute(code.program, &mut body, &names);
        made.append(&mut body.statements);
        made
    }
}

/// Returns the arrays that a statement makes by a map without effects, with the functions of their elements.
fn elements(facts: &Facts, statement: &Statement) -> Vec<(Variable, Lambda)> {
    let Expression::Operation(operation) = &statement.expression else {
        return Vec::new();
    };
    let mut is_flat = true;
    each_statement(&operation.body, &mut |inner| {
        let mut is_plain = true;
        bodies(&inner.expression, &mut |_| is_plain = false);
        is_flat &= is_plain || matches!(inner.expression, Expression::If { .. });
    });
    let is_map = operation.outputs.iter().all(|o| matches!(o, Output::Map))
        && operation.indices.len() == 1
        && operation.carries.is_empty()
        && !operation.is_marked();
    let is_copied = is_flat
        && size(&operation.body) <= STATEMENTS_OF_A_SELECTED_ELEMENT
        && facts.effects.of_body(&operation.body).is_pure();
    if !is_map || !is_copied {
        return Vec::new();
    }
    let given = statement.pattern.iter().zip(&operation.body.results);
    let lambda = |result: &Atom| Lambda {
        parameters: operation.indices.clone(),
        body: Body {
            statements: operation.body.statements.clone(),
            results: vec![*result],
        },
    };
    given.map(|(v, result)| (*v, lambda(result))).collect()
}

/// The elements that a pass takes: how many, their positions and keys, and the numbers that are read of them.
struct Taken {
    count: Variable,
    positions: Variable,
    keys: Variable,
    values: Vec<Variable>,
}

impl SortByKeys<'_> {
    /// True if a selection may find the first elements.
    pub(super) fn is_selected(&self, facts: &Facts) -> bool {
        facts.machine == nova_machine::Machine::Processor
            && self.keys.len() == 1
            && self.first != self.count
    }

    /// Writes the selection and, for where it fails, the sort of all elements.
    pub(super) fn select(&self, code: &mut Writer, positions: Variable, producers: &Producers) {
        let pattern = self.pattern(positions);
        let taken = self.take(code, producers);
        let count = Atom::Variable(taken.count);
        let enough = code.compare(Operation::GreaterEqual, count, self.first);
        let no = Atom::Constant(ScalarValue::Bool(false));
        // Only what is taken is looked at, so that the pass that takes elements has nothing to add up.
        let ordered = |code: &mut Writer| self.has_no_nan(code, &taken, producers);
        let ordered = code.choose_one(enough, Scalar::Bool, ordered, |_| no);
        code.choose_way(
            &pattern,
            ordered,
            |code, own| {
                let order = code.fresh_array("order", Scalar::I64, self.first);
                let sort = Expression::SortKeys {
                    count,
                    first: self.first,
                    keys: taken.keys,
                    low: 0,
                    gives: vec![Sorted::Positions],
                };
                code.push(vec![order], sort);
                self.gather_taken(code, &own, (&taken, order));
            },
            |code, own| {
                let (statements, ()) = code.apart(|code| self.write_all(code, &own));
                let mut made = producers.make(code, statements);
                code.out.append(&mut made);
            },
        );
    }

    /// Takes the elements whose keys are at most a limit, in the order of the sort among equal ones.
    fn take(&self, code: &mut Writer, producers: &Producers) -> Taken {
        let most = code.scalar(Operation::Multiply, self.first, Atom::index(FEW));
        let few = code.compare(Operation::Less, most, self.count);
        let least = (self.least * LEAST).max(1 << LEAST_BITS);
        let many = code.compare(Operation::GreaterEqual, self.count, Atom::index(least));
        let samples = code.both(few, many);
        let nameable = code.compare(
            Operation::LessEqual,
            self.count,
            Atom::index(super::MOST_POSITIONS),
        );
        let samples = code.both(samples, nameable);
        // Nothing is taken where everything is sorted anyhow.
        let count = self.count;
        let none = Atom::index(0);
        let count = code.choose_one(samples, Scalar::I64, |_| count, |_| none);
        let limit = self.limit(code, (count, samples), producers);
        let ty = self.keys.first().map_or(Scalar::U32, |key| key.word);
        let taken = code.fresh("taken", Scalar::I64);
        let size = Atom::Variable(taken);
        let [positions, keys] = [Scalar::I64, ty].map(|ty| code.fresh_array("taken", ty, size));
        let values = self
            .read
            .iter()
            .map(|read| code.like(read.array, vec![size]));
        let values: Vec<Variable> = values.collect();
        let index = code.fresh("i", Scalar::I64);
        let body = code.body(|code| {
            let at = self.turned(code, Atom::Variable(index));
            let key = self.key(code, at, producers);
            let takes = code.compute(Operation::LessEqual, ty, &[key, limit], Scalar::Bool);
            let takes = match self.nan_at(code, at, producers) {
                Some(nan) => {
                    code.compute(Operation::BitOr, Scalar::Bool, &[takes, nan], Scalar::Bool)
                }
                None => takes,
            };
            let mut given = vec![takes, at, key];
            given.extend(
                self.read
                    .iter()
                    .map(|read| producers.compute(code, |code| code.element(read.array, at))),
            );
            given
        });
        let mut pattern = vec![taken, positions, keys];
        pattern.extend(&values);
        let outputs = vec![Output::Filter {
            values: pattern.len() - 1,
        }];
        code.operation(pattern, count, index, Level::Sequential, body, outputs);
        Taken {
            count: taken,
            positions,
            keys,
            values,
        }
    }

    /// Computes a key that probably twice as many keys as are used do not exceed.
    fn limit(
        &self,
        code: &mut Writer,
        (count, samples): (Atom, Atom),
        producers: &Producers,
    ) -> Atom {
        let part =
            |code: &mut Writer, bits| code.scalar(Operation::ShiftRight, count, Atom::index(bits));
        let [near, far] = [LEAST_BITS, MOST_BITS].map(|bits| part(code, bits));
        let near = code.scalar(Operation::Minimum, near, Atom::index(DISTANCE));
        let near = code.scalar(Operation::Maximum, near, Atom::index(1));
        let distance = code.scalar(Operation::Maximum, near, far);
        let size = code.scalar(Operation::Divide, count, distance);
        // It is so in any case, but later passes see it here.
        let size = code.scalar(Operation::Minimum, size, Atom::index(2 << MOST_BITS));
        let ty = self.keys.first().map_or(Scalar::U32, |key| key.word);
        let sample = code.fresh_array("sample", ty, size);
        code.map(sample, Level::Sequential, |code, index| {
            let at = code.scalar(Operation::Multiply, index, distance);
            self.key(code, at, producers)
        });
        let twice = code.scalar(Operation::Multiply, self.first, Atom::index(2));
        let at = code.scalar(Operation::Divide, twice, distance);
        let wanted = code.scalar(Operation::Add, at, Atom::index(SPARE));
        let first = code.scalar(Operation::Minimum, wanted, size);
        let sorted = code.like(sample, vec![first]);
        let sort = Expression::SortKeys {
            count: size,
            first,
            keys: sample,
            low: 0,
            gives: vec![Sorted::Keys],
        };
        code.push(vec![sorted], sort);
        let at = code.scalar(Operation::Subtract, first, Atom::index(1));
        let read = |code: &mut Writer| code.element(sorted, at);
        code.choose_one(samples, ty, read, |_| word(ty, 0))
    }

    fn key(&self, code: &mut Writer, at: Atom, producers: &Producers) -> Atom {
        let write = |code: &mut Writer| {
            let key = self.keys.first();
            key.map_or(at, |key| key_at(code, key, self.order.nans, at))
        };
        producers.compute(code, write)
    }

    /// Computes whether an element is nan, if that leaves it without a place in the order.
    fn nan_at(&self, code: &mut Writer, at: Atom, producers: &Producers) -> Option<Atom> {
        if self.order.nans != Nans::Unordered {
            return None;
        }
        let mut found = None;
        for number in self.order.numbers.iter().filter(|n| n.scalar.is_float()) {
            let write = |code: &mut Writer| code.apply(&number.lambda, &[at]);
            for value in producers.compute(code, write) {
                let pair = [value, value];
                let nan = code.compute(Operation::NotEqual, number.scalar, &pair, Scalar::Bool);
                found = Some(match found {
                    Some(other) => {
                        code.compute(Operation::BitOr, Scalar::Bool, &[other, nan], Scalar::Bool)
                    }
                    None => nan,
                });
            }
        }
        found
    }

    /// Computes whether all elements that were taken have a place in the order.
    fn has_no_nan(&self, code: &mut Writer, taken: &Taken, producers: &Producers) -> Atom {
        let has_floats = self.order.numbers.iter().any(|n| n.scalar.is_float());
        let yes = Atom::Constant(ScalarValue::Bool(true));
        if self.order.nans != Nans::Unordered || !has_floats {
            return yes;
        }
        let ty = Scalar::U32;
        let count = Atom::Variable(taken.count);
        let nans = bits_of_all(code, "nans", (count, ty), |code, index| {
            let at = code.element(taken.positions, index);
            match self.nan_at(code, at, producers) {
                Some(nan) => code.compute(Operation::Convert(ty), Scalar::Bool, &[nan], ty),
                None => word(ty, 0),
            }
        });
        super::is_zero(code, Atom::Variable(nans))
    }

    /// Gathers what is used of the elements that were taken, in sorted order.
    fn gather_taken(
        &self,
        code: &mut Writer,
        pattern: &[Variable],
        (taken, order): (&Taken, Variable),
    ) {
        let (positions, values) = self.split(pattern);
        let gathered = positions.into_iter().zip([taken.positions]);
        let gathered = gathered.chain(values.iter().copied().zip(taken.values.iter().copied()));
        for (to, from) in gathered {
            self.gather_to(code, to, (from, order));
        }
    }
}
