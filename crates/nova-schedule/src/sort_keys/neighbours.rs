//! What an operation on sorted elements computes of one element and the one before it. Its values are found for
//! each way in which the two may relate: there is none before, both are equal, or they differ. So they are known
//! however the operation is written.

use nova_core::{ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, Output, Statement, Variable};
use nova_flat::visit::each_statement;
use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

/// The most values that are examined.
const STEPS: usize = 1024;

/// How a sorted element relates to the one before it.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Before {
    /// There is none before.
    None,
    /// Both have the same number.
    Equal,
    /// They have different numbers.
    Different,
}

/// A sort by one number, which is an element of an array.
pub(super) struct Sorted<'a> {
    pub(super) order: Variable,
    pub(super) count: Atom,
    pub(super) numbers: Variable,
    pub(super) descends: bool,
    /// The vectors whose elements are their own indices.
    pub(super) places: &'a HashSet<Variable>,
}

/// A value that is known. Distances are those to the index of the operation.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Value {
    Constant(ScalarValue),
    /// An index of sorted elements.
    Index(i64),
    /// The position that an element had before the sort.
    Position(i64),
    /// The number by which elements are sorted.
    Number(i64),
}

/// The statements after a sort that bind variables, with the places in their patterns.
pub(super) struct Neighbours<'a> {
    sorted: &'a Sorted<'a>,
    made: HashMap<Variable, (&'a Statement, usize)>,
    before: Before,
    left: Cell<usize>,
}

/// The index of an operation, with its distance to the index that is examined.
type Own = (Variable, i64);

impl<'a> Neighbours<'a> {
    /// Makes the statements of a body known.
    pub(super) fn new(sorted: &'a Sorted<'a>, body: &'a Body, before: Before) -> Neighbours<'a> {
        let mut made = HashMap::new();
        each_statement(body, &mut |statement| {
            let bound = statement.pattern.iter().enumerate();
            made.extend(bound.map(|(k, variable)| (*variable, (statement, k))));
        });
        Neighbours {
            sorted,
            made,
            before,
            left: Cell::new(STEPS),
        }
    }

    /// Returns the value of a scalar in an operation whose index has a distance.
    pub(super) fn value(&self, atom: Atom, own: Own) -> Option<Value> {
        self.left.set(self.left.get().checked_sub(1)?);
        let variable = match atom {
            Atom::Constant(value) => return Some(Value::Constant(value)),
            Atom::Variable(variable) if variable == own.0 => return Some(Value::Index(own.1)),
            Atom::Variable(variable) => variable,
        };
        let (statement, place) = self.made.get(&variable)?;
        match &statement.expression {
            Expression::Atom(of) => deep(|| self.value(*of, own)),
            Expression::Scalar {
                operation,
                arguments,
                ..
            } => deep(|| self.computed(*operation, arguments, own)),
            Expression::Index { array, indices } => {
                let &[index] = &indices[..] else {
                    return None;
                };
                match deep(|| self.value(index, own))? {
                    Value::Index(distance) => deep(|| self.element(*array, distance)),
                    Value::Position(distance) if self.sorted.places.contains(array) => {
                        Some(Value::Position(distance))
                    }
                    Value::Position(distance) if *array == self.sorted.numbers => {
                        Some(Value::Number(distance))
                    }
                    _other => None,
                }
            }
            Expression::If {
                condition,
                then,
                otherwise,
            } => {
                let taken = match deep(|| self.value(*condition, own))? {
                    Value::Constant(ScalarValue::Bool(true)) => then,
                    Value::Constant(ScalarValue::Bool(false)) => otherwise,
                    _unknown => return None,
                };
                deep(|| self.value(*taken.results.get(*place)?, own))
            }
            _others => None,
        }
    }

    /// Returns the value of an element of an array that is made after the sort, with an element for each sorted
    /// one.
    fn element(&self, array: Variable, distance: i64) -> Option<Value> {
        if array == self.sorted.order {
            return Some(Value::Position(distance));
        }
        if self.sorted.places.contains(&array) {
            return Some(Value::Index(distance));
        }
        let (statement, place) = self.made.get(&array)?;
        match &statement.expression {
            Expression::Atom(Atom::Variable(other)) => self.element(*other, distance),
            Expression::Operation(operation) => {
                let &[index] = &operation.indices[..] else {
                    return None;
                };
                let is_map = operation.outputs.iter().all(|o| matches!(o, Output::Map));
                let is_whole = operation.shape[..] == [self.sorted.count];
                let result = operation.body.results.get(*place)?;
                (is_map && is_whole && operation.carries.is_empty())
                    .then(|| self.value(*result, (index, distance)))?
            }
            _others => None,
        }
    }

    fn computed(&self, operation: ScalarOperation, arguments: &[Atom], own: Own) -> Option<Value> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.value(*argument, own)?);
        }
        let constant = |value: &Value| match value {
            Value::Constant(value) => Some(*value),
            _other => None,
        };
        if let Some(all) = values.iter().map(constant).collect::<Option<Vec<_>>>() {
            let value = nova_core::operations::evaluate(operation, &all, true).ok()?;
            return Some(Value::Constant(value));
        }
        match (operation, &values[..]) {
            // Both fit every type that they are converted to.
            (ScalarOperation::Convert(to), &[value @ (Value::Index(_) | Value::Position(_))]) => {
                to.is_integer().then_some(value)
            }
            (ScalarOperation::Add, &[Value::Index(at), Value::Constant(by)])
            | (ScalarOperation::Add, &[Value::Constant(by), Value::Index(at)]) => {
                Some(Value::Index(at.checked_add(integer(by)?)?))
            }
            (ScalarOperation::Subtract, &[Value::Index(at), Value::Constant(by)]) => {
                Some(Value::Index(at.checked_sub(integer(by)?)?))
            }
            (_, &[left, right]) => {
                let mut answers = self.orderings(left, right).into_iter();
                let first = holds(operation, answers.next()?)?;
                let is_known = answers.all(|ordering| holds(operation, ordering) == Some(first));
                is_known.then_some(Value::Constant(ScalarValue::Bool(first)))
            }
            _others => None,
        }
    }

    /// Returns the ways in which two values may compare; none if it is not known.
    fn orderings(&self, left: Value, right: Value) -> Vec<Ordering> {
        match (left, right) {
            (Value::Index(at), Value::Constant(number)) => self.index_against(at, number),
            (Value::Constant(number), Value::Index(at)) => {
                let turned = self.index_against(at, number).into_iter();
                turned.map(Ordering::reverse).collect()
            }
            (Value::Index(one), Value::Index(other)) => vec![one.cmp(&other)],
            (Value::Number(one), Value::Number(other)) if one == other => vec![Ordering::Equal],
            (Value::Number(0), Value::Number(-1)) => self.number_against_before(),
            (Value::Number(-1), Value::Number(0)) => {
                let turned = self.number_against_before().into_iter();
                turned.map(Ordering::reverse).collect()
            }
            _others => Vec::new(),
        }
    }

    /// Returns how the index at a distance may compare with a constant.
    fn index_against(&self, distance: i64, number: ScalarValue) -> Vec<Ordering> {
        let (Some(number), Some(least)) = (integer(number), distance.checked_add(1)) else {
            return Vec::new();
        };
        // Where there is an element before, the index is at least 1.
        match (self.before, least.cmp(&number)) {
            (Before::None, _) => vec![distance.cmp(&number)],
            (_, Ordering::Greater) => vec![Ordering::Greater],
            (_, Ordering::Equal) => vec![Ordering::Equal, Ordering::Greater],
            (_, Ordering::Less) => Vec::new(),
        }
    }

    fn number_against_before(&self) -> Vec<Ordering> {
        match (self.before, self.sorted.descends) {
            (Before::None, _) => Vec::new(),
            (Before::Equal, _) => vec![Ordering::Equal],
            (Before::Different, false) => vec![Ordering::Greater],
            (Before::Different, true) => vec![Ordering::Less],
        }
    }
}

fn integer(value: ScalarValue) -> Option<i64> {
    value.as_integer()?.try_into().ok()
}

/// Returns whether a comparison holds.
fn holds(operation: ScalarOperation, ordering: Ordering) -> Option<bool> {
    Some(match operation {
        ScalarOperation::Less => ordering.is_lt(),
        ScalarOperation::LessEqual => ordering.is_le(),
        ScalarOperation::Greater => ordering.is_gt(),
        ScalarOperation::GreaterEqual => ordering.is_ge(),
        ScalarOperation::Equal => ordering.is_eq(),
        ScalarOperation::NotEqual => ordering.is_ne(),
        _no_comparison => return None,
    })
}
