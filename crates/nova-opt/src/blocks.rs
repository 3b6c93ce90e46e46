//! Scatters to neighbours become blocks. Where value k of a scatter goes to index `a + k`, the
//! values whose index is in range are a block of the destination.
//!
//! A block is stored without a comparison for each value. Each of its elements is written once, and
//! the threads of a device can share it. The values that are in range are found before the loop.
//! The others are not computed, so their computation must have no effects.

use crate::effects::FunctionEffects;
use crate::limits::SUMS_OF_A_POSITION;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation as Operation};
use nova_flat::ir::{
    ArrayOperation, Atom, Expression, Output, Positions, Program, Statement, Type, Variable,
};
use nova_flat::visit::{each_body_mut, each_function};

/// Turns all scatters to neighbours into stores of blocks.
pub fn run(program: &mut Program) {
    let effects = FunctionEffects::new(program);
    each_function(program, |program, body| {
        each_body_mut(body, &mut |inner| {
            let mut statements = Vec::with_capacity(inner.statements.len());
            for mut statement in std::mem::take(&mut inner.statements) {
                if let Expression::Operation(operation) = &mut statement.expression
                    && let Some(found) = Neighbours::of(program, operation, &effects)
                {
                    let mut write = Writer {
                        program,
                        place: &statement.place,
                        statements: &mut statements,
                    };
                    found.store_block(operation, &mut write);
                }
                statements.push(statement);
            }
            inner.statements = statements;
        });
    });
}

/// A scatter whose value k goes to a sum of k and numbers that are known before.
struct Neighbours {
    /// The numbers that are added to k, and those that are subtracted from it.
    added: Vec<Atom>,
    taken: Vec<Atom>,
    index: Variable,
    /// The number of values, and the number of elements of the destinations.
    count: Atom,
    extent: Atom,
}

impl Neighbours {
    fn of(
        program: &Program,
        operation: &ArrayOperation,
        effects: &FunctionEffects,
    ) -> Option<Neighbours> {
        let [
            Output::Scatter {
                destinations,
                positions: Positions::Given | Positions::Unordered,
            },
        ] = operation.outputs.as_slice()
        else {
            return None;
        };
        let ([count], [index]) = (operation.shape.as_slice(), operation.indices.as_slice()) else {
            return None;
        };
        let [extent] = program.ty(*destinations.first()?).shape() else {
            return None;
        };
        let alone = operation.carries.is_empty() && !operation.is_marked();
        if !alone || !effects.of_body(&operation.body).is_pure() {
            return None;
        }
        let mut found = Neighbours {
            added: Vec::new(),
            taken: Vec::new(),
            index: *index,
            count: *count,
            extent: *extent,
        };
        let position = *operation.body.results.first()?;
        found.add_terms(operation, position, 0)?;
        Some(found)
    }

    /// Adds the terms of a sum that contains the index once.
    fn add_terms(&mut self, operation: &ArrayOperation, sum: Atom, depth: u32) -> Option<()> {
        let Atom::Variable(variable) = sum else {
            return None;
        };
        if variable == self.index {
            return Some(());
        }
        let statements = &operation.body.statements;
        let binds = |s: &&Statement| s.pattern.contains(&variable);
        let Expression::Scalar {
            operation: operator @ (Operation::Add | Operation::Subtract),
            operand: Scalar::I64,
            arguments,
        } = &statements.iter().find(binds)?.expression
        else {
            return None;
        };
        let [left, right] = arguments[..] else {
            return None;
        };
        if depth > SUMS_OF_A_POSITION {
            return None;
        }
        let known = |atom: Atom| match atom {
            Atom::Variable(v) => {
                v != self.index && !statements.iter().any(|s| s.pattern.contains(&v))
            }
            Atom::Constant(_) => true,
        };
        let (rest, terms) = match (operator, known(left), known(right)) {
            (Operation::Subtract, false, true) => (left, (&mut self.taken, right)),
            (Operation::Add, false, true) => (left, (&mut self.added, right)),
            (Operation::Add, true, false) => (right, (&mut self.added, left)),
            (_, _, _) => return None,
        };
        terms.0.push(terms.1);
        self.add_terms(operation, rest, depth + 1)
    }

    /// Stores the values that are in range, counted from the first of them.
    fn store_block(&self, operation: &mut ArrayOperation, write: &mut Writer) {
        let zero = Atom::index(0);
        let mut first = zero;
        for term in &self.added {
            first = write.scalar("first", Operation::Add, [first, *term]);
        }
        for term in &self.taken {
            first = write.scalar("first", Operation::Subtract, [first, *term]);
        }
        // A difference that wraps belongs to a scatter all of whose values are out of range. The
        // count is 0 then.
        let before = write.scalar("before", Operation::Subtract, [zero, first]);
        let before = write.scalar("before", Operation::Maximum, [before, zero]);
        let before = write.scalar("before", Operation::Minimum, [before, self.count]);
        let room = write.scalar("room", Operation::Subtract, [self.extent, first]);
        let room = write.scalar("room", Operation::Maximum, [room, zero]);
        let end = write.scalar("end", Operation::Minimum, [self.count, room]);
        let count = write.scalar("count", Operation::Subtract, [end, before]);
        let count = write.scalar("count", Operation::Maximum, [count, zero]);
        let start = write.scalar("start", Operation::Add, [first, before]);

        let own = write.program.add_variable("i", Type::Scalar(Scalar::I64));
        let index = Expression::Scalar {
            operation: Operation::Add,
            operand: Scalar::I64,
            arguments: vec![before, Atom::Variable(own)],
        };
        let statement = Statement::binding(self.index, index, write.place.clone());
        operation.body.statements.insert(0, statement);
        operation.body.results.remove(0);
        operation.indices = vec![own];
        operation.shape = vec![count];
        for output in &mut operation.outputs {
            if let Output::Scatter { positions, .. } = output {
                *positions = Positions::Block(vec![start]);
            }
        }
    }
}
