//! Symbolic values of indices: the positions at which elements are read and stored, as sums of
//! loop-invariant numbers and loop indices.
//!
//! An operation that stores a block of an array may read elements of that array and still change it in
//! place. Each such element must be the one that is stored in the same iteration, or lie outside of the
//! block. [`Sums`] recognises such reads.

use crate::ir::{Atom, Body, Expression, Program, Statement, Variable};
use crate::memory::{Polynomial, polynomial_of};
use crate::visit::{bodies, each_statement};
use nova_core::{Scalar, ScalarOperation};
use std::collections::{HashMap, HashSet};

/// The largest number of terms of a sum. Nothing is known of numbers with longer sums.
const LONGEST: usize = 8;

/// The sums, differences and products of `i64` numbers that code computes.
#[derive(Default)]
pub struct Sums<'a> {
    /// The sums of the enclosing code.
    enclosing: Option<&'a Sums<'a>>,
    values: HashMap<Variable, Polynomial>,
    /// The first variable that is the result of the same operation on the same operands.
    first: HashMap<Computed, Variable>,
    /// Variables that equal an earlier one.
    same: HashMap<Variable, Variable>,
    /// The indices of operations, which are not negative.
    indices: HashSet<Variable>,
}

/// An operation on integers, with its operands.
type Computed = (ScalarOperation, Scalar, Vec<Operand>);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Operand {
    Variable(Variable),
    Number(i128),
}

/// A block of an array, stored by an operation.
pub struct Block<'a> {
    /// The first index in each dimension.
    pub starts: &'a [Atom],
    /// The indices of the operation, counted from there.
    pub indices: &'a [Variable],
    /// The extents of the operation, and so of the block.
    pub extents: &'a [Atom],
}

impl<'a> Sums<'a> {
    /// Returns the sums of all functions.
    pub fn of_program(program: &Program) -> Sums<'static> {
        let mut sums = Sums::default();
        for function in &program.functions {
            each_statement(&function.body, &mut |statement| sums.add(statement));
        }
        sums
    }

    /// Returns the sums of a body, which need not belong to the enclosing code.
    pub fn within(&'a self, body: &Body) -> Sums<'a> {
        self.within_at(body, &[], &[])
    }

    /// As [`Sums::within`], for these values of the body's indices.
    pub fn within_at(&'a self, body: &Body, indices: &[Variable], at: &[Atom]) -> Sums<'a> {
        let mut sums = self.inner();
        for (index, number) in indices.iter().zip(at) {
            sums.values
                .extend(self.value(*number).map(|sum| (*index, sum)));
        }
        each_statement(body, &mut |statement| sums.add(statement));
        sums
    }

    /// Returns the sums of the bodies of an expression, which need not belong to the enclosing code.
    pub fn inside_of(&'a self, expression: &Expression) -> Sums<'a> {
        let mut sums = self.inner();
        sums.add_indices(expression);
        bodies(expression, &mut |body| {
            each_statement(body, &mut |statement| sums.add(statement));
        });
        sums
    }

    /// Returns sums that add nothing to the enclosing ones.
    fn inner(&'a self) -> Sums<'a> {
        Sums {
            enclosing: Some(self),
            ..Sums::default()
        }
    }

    fn add_indices(&mut self, expression: &Expression) {
        if let Expression::Operation(operation) = expression {
            self.indices.extend(&operation.indices);
        }
    }

    fn add(&mut self, statement: &Statement) {
        self.add_indices(&statement.expression);
        let [result] = statement.pattern[..] else {
            return;
        };
        match &statement.expression {
            Expression::Atom(Atom::Variable(other)) => {
                let other = self.first_of(*other);
                self.same.insert(result, other);
            }
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } if operand.is_integer() => {
                let operands = arguments.iter().map(|atom| self.operand(*atom));
                if let Some(operands) = operands.collect::<Option<Vec<Operand>>>() {
                    let key = (*operation, *operand, operands);
                    let known = self.find(|sums| sums.first.get(&key).copied());
                    match known {
                        Some(first) if first != result => {
                            self.same.insert(result, first);
                        }
                        Some(_) => {}
                        None => {
                            self.first.insert(key, result);
                        }
                    }
                }
                if *operand == Scalar::I64 {
                    self.add_sum(result, *operation, arguments);
                }
            }
            _others => {}
        }
    }

    fn add_sum(&mut self, result: Variable, operation: ScalarOperation, arguments: &[Atom]) {
        let [left, right] = arguments else {
            return;
        };
        let (Some(left), Some(right)) = (self.value(*left), self.value(*right)) else {
            return;
        };
        let sum = match operation {
            ScalarOperation::Add => left.plus(&right),
            ScalarOperation::Subtract => left.minus(&right),
            ScalarOperation::Multiply => left.times(&right),
            _ => return,
        };
        if sum.terms() <= LONGEST {
            self.values.insert(result, sum);
        }
    }

    /// Returns the value of an `i64` as a sum.
    pub fn value(&self, atom: Atom) -> Option<Polynomial> {
        let Atom::Variable(variable) = atom else {
            return polynomial_of(atom);
        };
        let first = self.first_of(variable);
        let sum = self.find(|sums| sums.values.get(&first).cloned());
        sum.or_else(|| polynomial_of(Atom::Variable(first)))
    }

    /// Returns the first variable that equals this one.
    fn first_of(&self, variable: Variable) -> Variable {
        let same = self.find(|sums| sums.same.get(&variable).copied());
        same.unwrap_or(variable)
    }

    fn operand(&self, atom: Atom) -> Option<Operand> {
        match atom {
            Atom::Variable(variable) => Some(Operand::Variable(self.first_of(variable))),
            Atom::Constant(value) => value.as_integer().map(Operand::Number),
        }
    }

    /// Searches here, then in the enclosing code.
    fn find<T>(&self, look: impl Fn(&Sums) -> Option<T>) -> Option<T> {
        let mut sums = Some(self);
        while let Some(known) = sums {
            if let Some(found) = look(known) {
                return Some(found);
            }
            sums = known.enclosing;
        }
        None
    }

    /// True if an element is read in the iteration that stores it.
    pub fn is_at(&self, read: &[Atom], block: &Block) -> bool {
        let mut positions = block.starts.iter().zip(block.indices);
        let mut agree = |atom: &Atom| {
            let (start, index) = positions.next()?;
            let position = self.value(*start)?.plus(&Polynomial::variable(*index));
            Some(self.value(*atom)? == position)
        };
        read.len() == block.starts.len() && read.iter().all(|atom| agree(atom) == Some(true))
    }

    /// Returns the variables of `r`, if `number` is `index + r` or `r - index` and `r` does not depend
    /// on `index`.
    pub fn added_to(&self, index: Variable, number: Atom) -> Option<Vec<Variable>> {
        let (number, index_alone) = (self.value(number)?, Polynomial::variable(index));
        let rests = [number.minus(&index_alone), number.plus(&index_alone)];
        let variables = |rest: Polynomial| rest.variables().copied().collect();
        let mut added = rests.into_iter().map(variables);
        added.find(|added: &Vec<Variable>| !added.contains(&index))
    }

    /// True if an element that is read lies outside of the block, before or after it in some dimension.
    /// All indices are in range, so no difference wraps.
    pub fn is_apart(&self, read: &[Atom], block: &Block) -> bool {
        let is_at_least = |least: i64, from: &Polynomial, to: &Polynomial| {
            self.is_at_least(least, &to.minus(from))
        };
        let apart = |((read, start), extent): ((&Atom, &Atom), &Atom)| {
            let (read, start) = (self.value(*read)?, self.value(*start)?);
            let end = start.plus(&self.value(*extent)?);
            Some(is_at_least(1, &read, &start) || is_at_least(0, &end, &read))
        };
        let dimensions = read.iter().zip(block.starts).zip(block.extents);
        read.len() == block.starts.len() && dimensions.map(apart).any(|apart| apart == Some(true))
    }

    /// True if a sum is at least a number, since its other terms are multiples of indices.
    fn is_at_least(&self, least: i64, sum: &Polynomial) -> bool {
        let is_index = |variable: &Variable| {
            let known = |sums: &Sums| sums.indices.get(variable).copied();
            self.find(known).is_some()
        };
        let (others, constant) = sum.split_number();
        constant >= least && others.is_natural(is_index)
    }
}
