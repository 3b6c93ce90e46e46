//! Writes the loops of [`super`]: one over blocks of steps, and one over the steps that are left.

use super::Steps;
use crate::copies::copy;
use crate::temporal_blocking::emit::{Loop, blocked_loops, map};
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Level, Output, Positions};
use nova_flat::ir::{Statement, Variable};
use nova_flat::memory::Polynomial;
use nova_flat::visit::Substitution;
use nova_schedule::Writer;
use std::collections::BTreeSet;

/// The position of an element of the array.
struct Point {
    at: Vec<Atom>,
    /// The same as sums of the first step's number and of indices, where they are known. An index is not negative.
    sums: Vec<Option<Polynomial>>,
}

/// A block of steps under way.
struct Blocks<'w, 'p, 's> {
    code: &'w mut Writer<'p>,
    steps: &'s Steps,
    /// The array before the block.
    array: Variable,
    /// The names that the steps so far have for what the loop's body binds.
    names: Vec<Substitution>,
    /// The indices of the operations that are written.
    indices: BTreeSet<Variable>,
}

/// Writes a loop over blocks of steps, then one over the steps that are left. They bind the results of the loop.
pub(in super::super) fn blocked(code: &mut Writer<'_>, statement: &Statement, steps: &Steps) {
    let [result] = statement.pattern[..] else {
        return;
    };
    let task = Loop {
        array: steps.array,
        shape: &steps.extents,
        count: steps.count,
        block: steps.block,
        result,
    };
    blocked_loops(code, &task, &|code, array, here, block| {
        let mut blocks = Blocks {
            code,
            steps,
            array,
            names: Vec::with_capacity(block),
            indices: BTreeSet::new(),
        };
        for k in 0..block {
            blocks.prepare(here, k);
        }
        blocks.parts()
    });
}

impl Blocks<'_, '_, '_> {
    /// Writes what a step needs before the array is changed.
    fn prepare(&mut self, here: Atom, number: usize) {
        let step = match number {
            0 => here,
            _ => {
                let number = Atom::index(number as i64);
                self.code.scalar(ScalarOperation::Add, here, number)
            }
        };
        let mut names = Substitution::default();
        names.insert(self.steps.index, step);
        for statement in &self.steps.before {
            match (&statement.expression, &statement.pattern[..]) {
                (Expression::Operation(operation), [made]) => {
                    self.slice(operation, *made, &mut names);
                }
                _others => self.statement(statement, &mut names),
            }
        }
        self.names.push(names);
    }

    /// Writes a copy of a statement of the next step. An element of the array is what the earlier steps make of it.
    fn statement(&mut self, statement: &Statement, names: &mut Substitution) {
        let (read, made) = match (&statement.expression, &statement.pattern[..]) {
            (Expression::Index { array, indices }, [made]) if *array == self.steps.array.0 => {
                (indices, *made)
            }
            _others => return copy(self.code, std::slice::from_ref(statement), names),
        };
        let number = self.names.len() as i64;
        let sums = read.iter().map(|atom| {
            let sum = self.steps.sum(*atom)?;
            let is_known = |v: &Variable| {
                !self.steps.inside.contains(v) || self.indices_of(v, names).is_some()
            };
            let here = sum
                .variables()
                .all(is_known)
                .then(|| self.steps.at(&sum, number))?;
            Some(here.substitute(|v| Polynomial::variable(self.indices_of(v, names).unwrap_or(*v))))
        });
        let point = Point {
            at: read.iter().map(|atom| names.atom(*atom)).collect(),
            sums: sums.collect(),
        };
        let value = self.element(self.array, &point);
        names.insert(made, value);
    }

    /// Returns the index of a written operation that replaces a variable of the loop's body.
    fn indices_of(&self, variable: &Variable, names: &Substitution) -> Option<Variable> {
        match names.get(*variable) {
            Some(Atom::Variable(index)) if self.indices.contains(&index) => Some(index),
            _ => None,
        }
    }

    /// Writes a map of the next step.
    fn slice(&mut self, operation: &ArrayOperation, made: Variable, names: &mut Substitution) {
        let shape: Vec<Atom> = operation.shape.iter().map(|e| names.atom(*e)).collect();
        let mut inner = names.clone();
        let mut indices = Vec::with_capacity(shape.len());
        for index in &operation.indices {
            let fresh = self.code.like_scalar(*index);
            inner.insert(*index, Atom::Variable(fresh));
            indices.push(fresh);
        }
        self.indices.extend(&indices);
        let before = std::mem::take(&mut self.code.out);
        for statement in &operation.body.statements {
            self.statement(statement, &mut inner);
        }
        let statements = std::mem::replace(&mut self.code.out, before);
        let value = operation.body.results.first().map(|r| inner.atom(*r));
        let copied = self.code.like(made, shape.clone());
        names.insert(made, Atom::Variable(copied));
        if let Some(value) = value {
            map(self.code, copied, (shape, indices), statements, value);
        }
    }

    /// Writes the value of an element after the steps so far.
    fn element(&mut self, array: Variable, point: &Point) -> Atom {
        let own = self.code.like_scalar(array);
        let indices = point.at.clone();
        self.code
            .push(vec![own], Expression::Index { array, indices });
        let mut value = Atom::Variable(own);
        for step in 0..self.names.len() {
            value = self.step(step, point, value);
        }
        value
    }

    /// Writes what a step makes of an element.
    fn step(&mut self, step: usize, point: &Point, value: Atom) -> Atom {
        let mut conditions = Vec::new();
        let mut names = self.names[step].clone();
        for (dimension, start) in self.steps.starts.iter().enumerate() {
            let at = point.at[dimension];
            let start_of_step = self.steps.sum(*start);
            let start_of_step = start_of_step.map(|s| self.steps.at(&s, step as i64));
            let known = point.sums[dimension].as_ref().zip(start_of_step);
            let distance = known.map(|(at, start)| at.minus(&start));
            let start = names.atom(*start);
            match distance.as_ref().map(|d| self.sign(d)) {
                Some(Some(true)) => {}
                Some(Some(false)) => return value,
                Some(None) | None => {
                    let operation = ScalarOperation::LessEqual;
                    let arguments = [start, at];
                    let is_in =
                        (self.code).compute(operation, Scalar::I64, &arguments, Scalar::Bool);
                    conditions.push(is_in);
                }
            }
            let index = match distance.as_ref().and_then(|d| self.index_and_number(d)) {
                Some((None, number)) => Atom::index(number),
                Some((Some(index), 0)) => Atom::Variable(index),
                Some((Some(index), number)) => {
                    let (index, number) = (Atom::Variable(index), Atom::index(number));
                    self.code.scalar(ScalarOperation::Add, index, number)
                }
                None => self.code.scalar(ScalarOperation::Subtract, at, start),
            };
            names.insert(self.steps.indices[dimension], index);
        }
        names.insert(self.steps.own, value);
        self.under(conditions, names, value)
    }

    /// Writes the body of a step, where the conditions hold.
    fn under(&mut self, mut conditions: Vec<Atom>, mut names: Substitution, value: Atom) -> Atom {
        let before = std::mem::take(&mut self.code.out);
        let then = match conditions.pop() {
            None => {
                copy(self.code, &self.steps.body.statements, &mut names);
                let result = self.steps.body.results.first();
                let result = result.map_or(value, |result| names.atom(*result));
                let mut written = std::mem::replace(&mut self.code.out, before);
                self.code.out.append(&mut written);
                return result;
            }
            Some(condition) => (condition, self.under(conditions, names, value)),
        };
        let statements = std::mem::replace(&mut self.code.out, before);
        let (condition, result) = then;
        let made = self.code.like_scalar(self.array);
        let body = |statements: Vec<Statement>, result: Atom| Body {
            statements,
            results: vec![result],
        };
        self.code.push(
            vec![made],
            Expression::If {
                condition,
                then: body(statements, result),
                otherwise: body(Vec::new(), value),
            },
        );
        Atom::Variable(made)
    }

    /// Writes the passes over the parts of the array. Returns the next array.
    fn parts(&mut self) -> Variable {
        let last = self.names.len() - 1;
        let mut array = self.array;
        for (dimension, by) in self.steps.moves.iter().enumerate() {
            let most = by * last as i64;
            if most > 0 {
                array = self.part(array, Some((dimension, most)));
            }
        }
        self.part(array, None)
    }

    /// Writes the pass over a part: the strip of a dimension that later steps do not change, or what all steps
    /// change. Dimensions before that of a strip begin where the last step begins.
    fn part(&mut self, array: Variable, strip: Option<(usize, i64)>) -> Variable {
        let last = self.names.len() - 1;
        let (mut starts, mut shape, mut sums) = (Vec::new(), Vec::new(), Vec::new());
        for dimension in 0..self.steps.starts.len() {
            let of = match strip {
                Some((strip, _)) if dimension >= strip => 0,
                _ => last,
            };
            let start = self.steps.starts[dimension];
            let extent = self.names[of].atom(self.steps.shape[dimension]);
            starts.push(self.names[of].atom(start));
            shape.push(match strip {
                Some((strip, most)) if strip == dimension => {
                    let most = Atom::index(most);
                    self.code.scalar(ScalarOperation::Minimum, extent, most)
                }
                _ => extent,
            });
            sums.push(self.steps.sum(start).map(|s| self.steps.at(&s, of as i64)));
        }
        let indices = self.steps.indices.iter();
        let indices: Vec<Variable> = indices.map(|i| self.code.like_scalar(*i)).collect();
        self.indices.extend(&indices);
        let before = std::mem::take(&mut self.code.out);
        let mut point = Point {
            at: Vec::new(),
            sums: Vec::new(),
        };
        for ((start, sum), index) in starts.iter().zip(sums).zip(&indices) {
            let at = (self.code).scalar(ScalarOperation::Add, *start, Atom::Variable(*index));
            point.at.push(at);
            let sum = sum.map(|sum| sum.plus(&Polynomial::variable(*index)));
            point.sums.push(sum);
        }
        let value = self.element(array, &point);
        let statements = std::mem::replace(&mut self.code.out, before);
        let next = self.code.like(array, self.steps.extents.clone());
        self.code.push(
            vec![next],
            Expression::Operation(ArrayOperation {
                shape,
                indices,
                level: Level::Sequential,
                strategy: None,
                carries: Vec::new(),
                body: Body {
                    statements,
                    results: vec![value],
                },
                outputs: vec![Output::Scatter {
                    destinations: vec![array],
                    positions: Positions::Block(starts),
                }],
            }),
        );
        next
    }

    /// Returns a sum as an index plus a number, or as a number.
    fn index_and_number(&self, sum: &Polynomial) -> Option<(Option<Variable>, i64)> {
        let (rest, number) = sum.split_number();
        if rest.as_constant() == Some(0) {
            return Some((None, number));
        }
        let index = rest.as_variable()?;
        (self.indices.contains(&index)).then_some((Some(index), number))
    }

    /// Says whether a sum is natural, or negative, where that is known.
    fn sign(&self, sum: &Polynomial) -> Option<bool> {
        match self.index_and_number(sum)? {
            (None, number) => Some(number >= 0),
            (Some(_), number) => (number >= 0).then_some(true),
        }
    }
}
