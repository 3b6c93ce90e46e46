//! The interpreter of Loop: it runs commands on a heap of reference-counted blocks.
//!
//! Inputs and results are values of Core types. Inside a run all values are scalars, pointers and handles.
//! The interpreter has its own stack, so recursion of the program takes no stack of the host. An action
//! that a correct program cannot take is a [`Failure::Internal`]. Examples are a read of memory that is
//! freed, not yet written or outside of its block, the release of a block that is not held, and blocks
//! that are left at the end.

mod commands;
mod expressions;
mod ffi;
mod fixed_blocks;
mod grids;
mod heap;
mod machine;
mod prefix_scans;
mod reclaim;
mod result_buffers;
mod tables;

use crate::error::{Failure, InternalError, internal};
use crate::ir::Program;
pub use grids::GridOrder;
use heap::BlockId;
use machine::Machine;
use nova_core::interpret::Options;
use nova_core::{ErrorKind, RuntimeError, ScalarValue, Value};

/// Returns the value of an entry for inputs of its types.
///
/// [`mod@crate::verify`] must accept the program, and the inputs must conform to their types. A violation that
/// is detected is an internal failure.
pub fn evaluate(
    program: &Program,
    entry: usize,
    inputs: &[Value],
    options: &Options,
) -> Result<Value, Failure> {
    run(Machine::new(program, options), entry, inputs)
}

/// Does the same as [`evaluate`], with the iterations of parallel loops in an order of the caller's choice.
/// It is an internal failure if two iterations of one loop use the same memory and one of them writes it,
/// since threads that run the loop would race. If there are several errors, another one may come first.
pub fn evaluate_grids(
    program: &Program,
    entry: usize,
    inputs: &[Value],
    options: &Options,
    order: GridOrder,
) -> Result<Value, Failure> {
    let mut machine = Machine::new(program, options);
    machine.grid_order = order;
    machine.heap.watch_accesses();
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

/// The reason why execution stops.
struct Stop(Box<Failure>);

type Step<T> = Result<T, Stop>;

impl From<InternalError> for Stop {
    fn from(error: InternalError) -> Stop {
        Stop(Box::new(Failure::Internal(error)))
    }
}

/// Stops the program with a runtime error.
fn runtime(kind: ErrorKind, arguments: Vec<i64>, place: Option<&nova_diag::Place>) -> Stop {
    Stop(Box::new(Failure::Runtime(RuntimeError {
        kind,
        arguments,
        place: place.cloned(),
    })))
}

/// Stops because the program violates the rules of Loop.
fn wrong<T>(message: impl Into<String>) -> Step<T> {
    Err(internal(message).into())
}

/// A pointer: a block, or none for the null pointer, an index into it, and the bounds of the part of the
/// block that accesses through the pointer must lie in.
#[derive(Clone, Copy, Debug)]
struct Pointer {
    block: Option<BlockId>,
    index: i64,
    bounds: Option<(i64, i64)>,
    /// True if the command only reads elements through the pointer.
    read_only: bool,
}

impl Pointer {
    /// Returns a pointer to the first element of a block.
    fn start(block: BlockId) -> Pointer {
        Pointer {
            block: Some(block),
            ..Pointer::null()
        }
    }

    /// Returns the null pointer.
    fn null() -> Pointer {
        Pointer {
            block: None,
            index: 0,
            bounds: None,
            read_only: false,
        }
    }
}

/// The content of a variable.
#[derive(Clone, Copy, Debug)]
enum Cell {
    /// No value yet.
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
