//! Induction variables. A state of a loop to which every iteration adds the same number is computed
//! from the index of the iteration. So `(iterate n (lambda ((s, i)) (… (X ! i) …, (+ i 1))) (s0,
//! 0))` reads its elements in order, as far as later passes can see. Its iterations depend on each
//! other only by the remaining states.
//!
//! Loops with a condition on a counter first become operations ([`counted`]).
//!
//! Integers wrap around, so `start + k · step` is the result of k additions, whichever of them
//! wrap.

mod added;
mod counted;

use crate::writer::Writer;
use added::added_to;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Level, Program, Type, Variable};
use nova_flat::visit::{binding, each_body_mut, each_function};

/// Changes the loops of every function.
pub fn run(program: &mut Program) {
    each_function(program, |program, body| {
        each_body_mut(body, &mut |inner| in_body(program, inner));
    });
}

/// Changes the loops of a body. The loops inside of them have been changed before.
fn in_body(program: &mut Program, body: &mut Body) {
    let mut statements = Vec::with_capacity(body.statements.len());
    for mut statement in std::mem::take(&mut body.statements) {
        statements.append(&mut counted::make_operation(program, &mut statement));
        let mut after = Vec::new();
        if let Expression::Operation(operation) = &mut statement.expression {
            let mut write = Writer {
                program,
                place: &statement.place,
                statements: &mut after,
            };
            in_operation(operation, &mut statement.pattern, &mut write);
        }
        statements.push(statement);
        statements.append(&mut after);
    }
    body.statements = statements;
}

/// Removes counters from the states of an operation. Writes their final values after it.
fn in_operation(operation: &mut ArrayOperation, pattern: &mut Vec<Variable>, write: &mut Writer) {
    let ([count], [index]) = (&operation.shape[..], &operation.indices[..]) else {
        return;
    };
    let (count, index) = (*count, Atom::Variable(*index));
    if operation.is_marked() || operation.level != Level::Sequential {
        return;
    }
    let mut k = 0;
    while let (Some((carry, start)), Some(last)) = (operation.carries.get(k), pattern.get(k)) {
        let (carry, start, last) = (*carry, *start, *last);
        let counter = Counter::of(write.program, operation, k, (carry, start));
        let counter = counter.filter(|_| {
            let states = operation.carries.iter().map(|(state, _)| state);
            let mut arrays = states.chain(pattern.iter());
            !arrays.any(|array| is_extent(write.program, *array, &[carry, last]))
        });
        let Some(counter) = counter else {
            k += 1;
            continue;
        };
        let mut inside = Vec::new();
        let mut body = Writer {
            program: &mut *write.program,
            place: write.place,
            statements: &mut inside,
        };
        counter.bind(carry, index, &mut body);
        operation.body.statements.splice(0..0, inside);
        let iterations = iterations_of(count, write);
        counter.bind(last, iterations, write);
        operation.carries.remove(k);
        operation.body.results.remove(k);
        pattern.remove(k);
    }
}

/// True if an array has one of these extents.
fn is_extent(program: &Program, array: Variable, extents: &[Variable]) -> bool {
    let mut shape = program.ty(array).shape().iter();
    shape.any(|extent| extents.iter().any(|v| Atom::Variable(*v) == *extent))
}

/// Returns the number of iterations over an extent.
fn iterations_of(extent: Atom, write: &mut Writer) -> Atom {
    let zero = Atom::index(0);
    match extent {
        Atom::Constant(ScalarValue::I64(number)) => Atom::index(number.max(0)),
        extent => write.scalar("rounds", ScalarOperation::Maximum, [extent, zero]),
    }
}

/// A number that a loop begins with, and the number that each iteration adds or subtracts.
struct Counter {
    scalar: Scalar,
    start: Atom,
    change: ScalarOperation,
    step: Atom,
}

impl Counter {
    /// Returns the counter that state `k` of an operation is, if it is one.
    fn of(
        program: &Program,
        operation: &ArrayOperation,
        k: usize,
        (carry, start): (Variable, Atom),
    ) -> Option<Counter> {
        let Type::Scalar(scalar) = *program.ty(carry) else {
            return None;
        };
        let result = *operation.body.results.get(k)?;
        let is_own = |atom: Atom| {
            let carries = operation.carries.iter().map(|(carry, _)| carry);
            let mut own = carries.chain(&operation.indices);
            binding(&operation.body, atom).is_some() || own.any(|v| Atom::Variable(*v) == atom)
        };
        let (change, step) = added_to(carry, &operation.body, result)?;
        (scalar.is_integer() && !is_own(step)).then_some(Counter {
            scalar,
            start,
            change,
            step,
        })
    }

    /// Binds a variable to the value of the counter after a number of iterations.
    fn bind(&self, variable: Variable, iterations: Atom, write: &mut Writer) {
        let Counter {
            scalar,
            start,
            change,
            step,
        } = *self;
        let one = Atom::Constant(ScalarValue::from_integer_wrapping(scalar, 1));
        let zero = Atom::Constant(ScalarValue::from_integer_wrapping(scalar, 0));
        let apply = |operation, operand, arguments| Expression::Scalar {
            operation,
            operand,
            arguments,
        };
        let mut distance = iterations;
        if scalar != Scalar::I64 {
            let wrapped = apply(ScalarOperation::Wrap(scalar), Scalar::I64, vec![iterations]);
            distance = write.bound("round", scalar, wrapped);
        }
        if step != one {
            let product = apply(ScalarOperation::Multiply, scalar, vec![distance, step]);
            distance = write.bound("distance", scalar, product);
        }
        let expression = match (start == zero, change) {
            (true, ScalarOperation::Add) => Expression::Atom(distance),
            (_, _) => apply(change, scalar, vec![start, distance]),
        };
        write.push(vec![variable], expression);
    }
}
