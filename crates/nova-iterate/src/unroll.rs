//! Unrolling of short loops: reductions and folds over a few elements inside of other operations become
//! straight-line code.
//!
//! A stencil may sum its neighbours by a reduction over `[-1 0 1]`. As long as the offset is an element of an array,
//! nothing is known of an index that it is added to, and the offset is read for each element. In straight-line code
//! offsets are numbers: neighbours share what they compute, indices are proved to be in range, and loops are split at
//! the clamps.
//!
//! Loops whose iterations differ by numbers are unrolled: those that read a literal at their index, or that compare what
//! they compute from it. Of the others only the shortest are. Sums have the order of docs/order.md, so that values stay
//! the same to the bit.

use crate::limits::{ITERATIONS_OF_A_TINY_LOOP, ITERATIONS_UNROLLED, STATEMENTS_UNROLLED};
use nova_core::ScalarOperation as Op;
use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Bracketing, Expression, Lambda, Level, Output, Program, Statement,
    Variable,
};
use nova_flat::visit::{Substitution, bodies_mut, each_function, each_statement, fresh_copy, size};
use std::collections::{HashMap, HashSet};

/// Unrolls the short loops inside of operations. `strict` says whether values have one order to the bit.
pub fn run(program: &mut Program, strict: bool) {
    each_function(program, |program, body| {
        let mut unroll = Unroll {
            program,
            strict,
            literals: HashMap::new(),
        };
        unroll.body(body, false, false);
    });
}

struct Unroll<'a> {
    program: &'a mut Program,
    strict: bool,
    /// The elements of the literals so far.
    literals: HashMap<Variable, Vec<Atom>>,
}

impl Unroll<'_> {
    /// Unrolls loops in a body. `inside` says whether it runs for each index of an operation, and `is_element` whether that
    /// is a map.
    fn body(&mut self, body: &mut Body, inside: bool, is_element: bool) {
        for mut statement in std::mem::take(&mut body.statements) {
            if let ([array], Expression::Literal { elements, .. }) =
                (&statement.pattern[..], &statement.expression)
                && elements.len() <= ITERATIONS_UNROLLED
            {
                self.literals.insert(*array, elements.clone());
            }
            let repeats = inside || statement.expression.repeats();
            let maps = is_element_of_map(&statement.expression);
            bodies_mut(&mut statement.expression, &mut |inner| {
                deep(|| self.body(inner, repeats, maps));
            });
            match &statement.expression {
                Expression::Operation(operation)
                    if inside && self.is_short(operation, is_element) =>
                {
                    self.unroll(&statement, operation, &mut body.statements);
                }
                _ => body.statements.push(statement),
            }
        }
    }

    /// True if an operation is worth unrolling. `is_element` says whether it computes an element of a map.
    fn is_short(&self, operation: &ArrayOperation, is_element: bool) -> bool {
        let [Atom::Constant(extent)] = operation.shape[..] else {
            return false;
        };
        let count = extent.as_integer().and_then(|n| usize::try_from(n).ok());
        let Some(count) = count.filter(|n| (1..=ITERATIONS_UNROLLED).contains(n)) else {
            return false;
        };
        let is_scalar = |(carry, _): &(Variable, Atom)| !self.program.ty(*carry).is_array();
        operation.level == Level::Sequential
            && !operation.is_marked()
            && operation.carries.iter().all(is_scalar)
            && operation.outputs.iter().all(is_unrolled)
            && size(&operation.body) * count <= STATEMENTS_UNROLLED
            && (self.differs(operation) || (is_element && is_tiny(operation, count)))
    }

    /// True if the iterations of an operation differ by numbers.
    fn differs(&self, operation: &ArrayOperation) -> bool {
        let mut derived: HashSet<Variable> = operation.indices.iter().copied().collect();
        let mut differs = false;
        each_statement(&operation.body, &mut |statement| {
            let is_derived = |a: &Atom| a.as_variable().is_some_and(|v| derived.contains(&v));
            match &statement.expression {
                Expression::Index { array, indices } if self.literals.contains_key(array) => {
                    differs |= indices.iter().any(is_derived);
                }
                Expression::Scalar {
                    operation,
                    operand,
                    arguments,
                } if operand.is_integer() && arguments.iter().any(is_derived) => {
                    differs |= matches!(
                        operation,
                        Op::Minimum
                            | Op::Maximum
                            | Op::Less
                            | Op::LessEqual
                            | Op::Greater
                            | Op::GreaterEqual
                            | Op::Equal
                            | Op::NotEqual
                    ) && *operand != nova_core::Scalar::U64;
                    derived.extend(&statement.pattern);
                }
                _ => {}
            }
        });
        differs
    }

    /// Writes the iterations of an operation one after the other, and then what the outputs make of their values.
    fn unroll(
        &mut self,
        statement: &Statement,
        operation: &ArrayOperation,
        out: &mut Vec<Statement>,
    ) {
        let [Atom::Constant(extent)] = operation.shape[..] else {
            return;
        };
        let count = extent.as_integer().and_then(|n| i64::try_from(n).ok());
        let mut carried: Vec<Atom> = operation.carries.iter().map(|(_, start)| *start).collect();
        let mut values = Vec::new();
        for k in 0..count.unwrap_or_default() {
            let mut names = Substitution::default();
            for index in &operation.indices {
                names.insert(*index, Atom::index(k));
            }
            for ((carry, _), value) in operation.carries.iter().zip(&carried) {
                names.insert(*carry, *value);
            }
            let mut copy = fresh_copy(self.program, &operation.body, &mut names);
            for mut inner in std::mem::take(&mut copy.statements) {
                self.read_literal(&mut inner);
                out.push(inner);
            }
            let mut results = copy.results.clone();
            values.push(results.split_off(carried.len()));
            carried = results;
        }
        let mut results = carried;
        let mut first = 0;
        for output in &operation.outputs {
            let next = first + output.consumes();
            let elements = values.iter().map(|v| v[first..next].to_vec()).collect();
            results.append(&mut self.reduce(output, elements, out));
            first = next;
        }
        for (variable, result) in statement.pattern.iter().zip(results) {
            let place = statement.place.clone();
            out.push(Statement::binding(
                *variable,
                Expression::Atom(result),
                place,
            ));
        }
    }

    /// Replaces the read of a literal at a known index by the element.
    fn read_literal(&self, statement: &mut Statement) {
        if let Expression::Index { array, indices } = &statement.expression
            && let [index] = indices[..]
            && let Some(index) = index.as_i64().and_then(|k| usize::try_from(k).ok())
            && let Some(element) = self.literals.get(array).and_then(|e| e.get(index))
        {
            statement.expression = Expression::Atom(*element);
        }
    }

    /// Writes the reduction of a few elements, in the order of docs/order.md.
    fn reduce(
        &mut self,
        output: &Output,
        mut elements: Vec<Vec<Atom>>,
        out: &mut Vec<Statement>,
    ) -> Vec<Atom> {
        let Output::Reduce {
            lambda,
            start,
            commutes,
            ..
        } = output
        else {
            return Vec::new();
        };
        if !*commutes && !self.strict {
            let start = start.clone();
            return (elements.into_iter()).fold(start, |total, element| {
                self.combined(lambda, [total, element], out)
            });
        }
        if *commutes {
            let mut half = elements.len().next_power_of_two() / 2;
            while half > 0 {
                for lane in half..elements.len() {
                    let pair = [elements[lane - half].clone(), elements[lane].clone()];
                    elements[lane - half] = self.combined(lambda, pair, out);
                }
                elements.truncate(half);
                half /= 2;
            }
        }
        let mut elements = elements.into_iter();
        let Some(mut total) = elements.next() else {
            return start.clone();
        };
        for element in elements {
            total = self.combined(lambda, [total, element], out);
        }
        self.combined(lambda, [start.clone(), total], out)
    }

    /// Writes the combination of two values by an operator.
    fn combined(
        &mut self,
        lambda: &Lambda,
        pair: [Vec<Atom>; 2],
        out: &mut Vec<Statement>,
    ) -> Vec<Atom> {
        let mut names = Substitution::default();
        for (parameter, value) in lambda.parameters.iter().zip(pair.concat()) {
            names.insert(*parameter, value);
        }
        let mut copy = fresh_copy(self.program, &lambda.body, &mut names);
        out.append(&mut copy.statements);
        copy.results.clone()
    }
}

/// True for the outputs that become straight-line code.
fn is_unrolled(output: &Output) -> bool {
    match output {
        Output::Reduce { bracketing, .. } => *bracketing == Bracketing::Whole,
        _ => false,
    }
}

/// True for a map, each element of which its body computes.
fn is_element_of_map(expression: &Expression) -> bool {
    match expression {
        Expression::Operation(operation) => {
            operation.carries.is_empty()
                && (operation.outputs.iter()).all(|output| matches!(output, Output::Map))
        }
        _ => false,
    }
}

/// True for so few iterations that lanes and panels of sums cost more than the sums.
fn is_tiny(operation: &ArrayOperation, count: usize) -> bool {
    let mut nests = false;
    each_statement(&operation.body, &mut |statement| {
        nests |= statement.expression.repeats();
    });
    count <= ITERATIONS_OF_A_TINY_LOOP && operation.carries.is_empty() && !nests
}
