//! Starts and ends of rows of one length. They are sums that are computed where they are read. They
//! are stored only for code that takes the rows as they are.

use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Output, Program, Statement, Type, Variable,
};
use std::collections::HashMap;

/// The arrays of starts and ends that have been written.
#[derive(Default)]
pub(super) struct Offsets {
    known: HashMap<Variable, Offset>,
}

/// The content of an array, either starts or ends, with the length of the rows.
#[derive(Clone, Copy)]
enum Offset {
    Start(Atom),
    End(Atom),
}

impl Offsets {
    /// Binds the starts and the ends of `count` rows of one length.
    pub(super) fn write(
        &mut self,
        write: &mut Writer,
        [starts, ends]: [Variable; 2],
        count: Atom,
        length: Atom,
    ) {
        self.known.insert(starts, Offset::Start(length));
        self.known.insert(ends, Offset::End(length));
        let index = write.program.add_variable("i", Type::Scalar(Scalar::I64));
        let mut inside = Vec::new();
        let mut body = Writer {
            program: &mut *write.program,
            place: write.place,
            statements: &mut inside,
        };
        let start = body.scalar(
            "start",
            ScalarOperation::Multiply,
            [Atom::Variable(index), length],
        );
        let end = body.scalar("end", ScalarOperation::Add, [start, length]);
        let operation = ArrayOperation {
            shape: vec![count],
            indices: vec![index],
            level: Level::Sequential,
            strategy: None,
            carries: Vec::new(),
            body: Body {
                statements: inside,
                results: vec![start, end],
            },
            outputs: vec![Output::Map, Output::Map],
        };
        write.push(vec![starts, ends], Expression::Operation(operation));
    }

    /// Replaces reads of the arrays in a body by computations.
    pub(super) fn compute(&self, program: &mut Program, body: &mut Body) {
        let read = |statement: &Statement| match (&statement.expression, &statement.pattern[..]) {
            (Expression::Index { array, indices }, [_]) => {
                self.known.get(array).copied().zip(indices.first().copied())
            }
            (_, _) => None,
        };
        if !body.statements.iter().any(|s| read(s).is_some()) {
            return;
        }
        let mut statements = Vec::with_capacity(body.statements.len());
        let mut starts: Vec<([Atom; 2], Atom)> = Vec::new();
        for mut statement in std::mem::take(&mut body.statements) {
            if let Some((offset, index)) = read(&statement) {
                let mut write = Writer {
                    program,
                    place: &statement.place,
                    statements: &mut statements,
                };
                let (Offset::Start(length) | Offset::End(length)) = offset;
                let product = [index, length];
                // One product serves both, so that their difference is seen to be the length.
                let known = starts.iter().find(|(of, _)| *of == product);
                let start = known.map(|(_, start)| *start).unwrap_or_else(|| {
                    let start = write.scalar("start", ScalarOperation::Multiply, product);
                    starts.push((product, start));
                    start
                });
                statement.expression = match offset {
                    Offset::Start(_) => Expression::Atom(start),
                    Offset::End(_) => Expression::Scalar {
                        operation: ScalarOperation::Add,
                        operand: Scalar::I64,
                        arguments: vec![start, length],
                    },
                };
            }
            statements.push(statement);
        }
        body.statements = statements;
    }
}
