//! What differs between targets in the code of functions: how a loop at a level runs and how the
//! threads of a level wait for each other. Everything else is the same C.

use crate::Target;
use crate::ast::{Expression, Hint, Name, Statement, Type};
use nova_loop::ir::Level;

/// A loop over `0 … count - 1`.
pub fn counted_loop(
    target: Target,
    level: Level,
    variable: Name,
    count: Expression,
    body: Vec<Statement>,
) -> Vec<Statement> {
    match (target, level) {
        (Target::Seq | Target::Pthreads, Level::Vector) => vec![Statement::Lanes {
            hint: Hint::NotWrittenOut,
            variable,
            count,
            body: body.into(),
        }],
        (Target::Seq | Target::Pthreads, Level::Independent) => vec![Statement::Lanes {
            hint: Hint::Independent,
            variable,
            count,
            body: body.into(),
        }],
        (Target::Seq | Target::Pthreads, Level::WrittenOut) => vec![Statement::Lanes {
            hint: Hint::WrittenOut,
            variable,
            count,
            body: body.into(),
        }],
        // What threads share is a region of its own.
        (
            Target::Seq | Target::Pthreads,
            Level::Sequential | Level::Grid | Level::Block | Level::Thread | Level::Rank,
        ) => vec![Statement::For {
            ty: Type::name("int64_t"),
            variable,
            count,
            body: body.into(),
        }],
    }
}

/// What waits for all threads of a level.
pub fn barrier(target: Target, level: Level) -> Vec<Statement> {
    match (target, level) {
        // One thread waits for nobody, and regions end together.
        (
            Target::Seq | Target::Pthreads,
            Level::Sequential
            | Level::Grid
            | Level::Block
            | Level::Thread
            | Level::Vector
            | Level::Independent
            | Level::WrittenOut
            | Level::Rank,
        ) => Vec::new(),
    }
}
