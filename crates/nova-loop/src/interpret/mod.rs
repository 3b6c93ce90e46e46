//! The interpreter of Loop: commands over a heap of counted blocks.
//!
//! Inputs and results are values of Core types; between them everything is scalars, pointers and
//! handles. It keeps a stack of its own, so recursion of the program takes no stack of the host.
//! What a correct program cannot do is a [`Failure::Internal`]: reading memory that is freed, not
//! written yet or outside of its block, releasing what is not held, and blocks left at the end.

mod border;
mod commands;
mod expressions;
mod fixed_blocks;
mod grids;
mod heap;
mod machine;
mod prefix_scans;
mod result_buffers;

use crate::error::{Failure, InternalError, internal};
use crate::ir::Program;
pub use grids::GridOrder;
use heap::BlockId;
use machine::Machine;
use nova_core::interpret::Options;
use nova_core::{ErrorKind, RuntimeError, ScalarValue, Value};

/// The value of an entry for inputs of its types.
///
/// The program is one that [`crate::verify`] accepts and the inputs conform to their types; what is
/// found not to is an internal failure.
pub fn evaluate(
    program: &Program,
    entry: usize,
    inputs: &[Value],
    options: &Options,
) -> Result<Value, Failure> {
    run(Machine::new(program, options), entry, inputs)
}

/// As [`evaluate`], with the rounds of grids in an order of the caller's choice. That two rounds of
/// one grid use the same memory, and one of them writes it, is an internal failure: threads that
/// share the grid would race for it. Of several errors another one may be met first.
pub fn evaluate_grids(
    program: &Program,
    entry: usize,
    inputs: &[Value],
    options: &Options,
    order: GridOrder,
) -> Result<Value, Failure> {
    let mut machine = Machine::new(program, options);
    machine.grid_order = order;
    machine.heap.watch_parts();
    run(machine, entry, inputs)
}

fn run(mut machine: Machine, entry: usize, inputs: &[Value]) -> Result<Value, Failure> {
    let Some(entry) = machine.program.entries.get(entry) else {
        return Err(Failure::Internal(internal("there is no such entry")));
    };
    if inputs.len() != entry.inputs.len() {
        let message = "an entry has another number of inputs";
        return Err(Failure::Internal(internal(message)));
    }
    machine.entry(entry, inputs).map_err(|stop| *stop.0)
}

/// Why execution stops.
struct Stop(Box<Failure>);

type Step<T> = Result<T, Stop>;

impl From<InternalError> for Stop {
    fn from(error: InternalError) -> Stop {
        Stop(Box::new(Failure::Internal(error)))
    }
}

/// Stops the program with an error of it.
fn runtime(kind: ErrorKind, arguments: Vec<i64>, place: Option<&nova_diag::Place>) -> Stop {
    Stop(Box::new(Failure::Runtime(RuntimeError {
        kind,
        arguments,
        place: place.cloned(),
    })))
}

/// Stops because the program is wrong.
fn wrong<T>(message: impl Into<String>) -> Step<T> {
    Err(internal(message).into())
}

/// A pointer: a block, or none for the null pointer, an index into it, and where the part of it begins
/// and ends that the pointer may lead to.
#[derive(Clone, Copy, Debug)]
struct Pointer {
    block: Option<BlockId>,
    index: i64,
    part: Option<(i64, i64)>,
}

impl Pointer {
    /// To the first element of a block.
    fn start(block: BlockId) -> Pointer {
        Pointer {
            block: Some(block),
            ..Pointer::null()
        }
    }

    /// To nothing.
    fn null() -> Pointer {
        Pointer {
            block: None,
            index: 0,
            part: None,
        }
    }
}

/// What a variable holds.
#[derive(Clone, Copy, Debug)]
enum Cell {
    /// Nothing yet.
    Unset,
    Scalar(ScalarValue),
    Pointer(Pointer),
    /// A handle; `None` is the null handle.
    Block(Option<BlockId>),
}

impl Cell {
    fn scalar(self) -> Step<ScalarValue> {
        match self {
            Cell::Scalar(value) => Ok(value),
            Cell::Unset => wrong("a variable is read before it is assigned"),
            Cell::Pointer(_) | Cell::Block(_) => wrong("a scalar is expected"),
        }
    }

    fn index(self) -> Step<i64> {
        match self.scalar()? {
            ScalarValue::I64(value) => Ok(value),
            other => wrong(format!("a {} where an `i64` is expected", other.scalar())),
        }
    }

    fn bool(self) -> Step<bool> {
        match self.scalar()? {
            ScalarValue::Bool(value) => Ok(value),
            other => wrong(format!("a {} where a bool is expected", other.scalar())),
        }
    }

    fn pointer(self) -> Step<Pointer> {
        match self {
            Cell::Pointer(pointer) => Ok(pointer),
            Cell::Unset => wrong("a pointer is read before it is assigned"),
            Cell::Scalar(_) | Cell::Block(_) => wrong("a pointer is expected"),
        }
    }

    fn block(self) -> Step<Option<BlockId>> {
        match self {
            Cell::Block(block) => Ok(block),
            Cell::Unset => wrong("a handle is read before it is assigned"),
            Cell::Scalar(_) | Cell::Pointer(_) => wrong("a handle is expected"),
        }
    }
}
