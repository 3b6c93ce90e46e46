//! The reference interpreter (nova.txt fig. 5): strict, from left to right, call by value.
//!
//! A Core entry is compiled to instructions for a stack machine and executed, so that calls use no
//! stack of the host. Tail calls run in constant space, and other calls nest as deep as
//! [`Options::depth_limit`] allows. `uses` finds the last use of each variable, so that values that
//! nothing else holds are changed in place. `vectors` are the built-ins on whole vectors, `loops` those
//! that call functions. Both document the error that each built-in reports first.

mod blocks;
mod code;
mod compile;
mod loops;
mod machine;
pub mod nodes;
mod operands;
mod uses;
mod vectors;

use crate::error::{Failure, internal};
use crate::ir::{Foreign, Program};
use crate::{ErrorKind, Value};

/// A function that runs a foreign function on its arguments.
pub type ForeignHandler<'a> = &'a dyn Fn(&Foreign, &[Value]) -> Result<Value, ErrorKind>;

/// Options of the evaluation.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Strict floating point: the order of [`crate::order`], the functions of [`crate::math`].
    pub strict: bool,
    /// The number of calls that may be active at once. One more is [`ErrorKind::Recursion`].
    pub depth_limit: usize,
    /// Receives the lines of `trace`, without their line ends.
    pub trace: &'a dyn Fn(&str),
    /// Runs foreign functions. Callers without a handler must reject programs with foreign functions
    /// first. A foreign call without a handler stops with [`ErrorKind::Memory`].
    pub foreign: Option<ForeignHandler<'a>>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            strict: false,
            depth_limit: 1_000_000,
            trace: &|line| eprintln!("{line}"),
            foreign: None,
        }
    }
}

/// Returns the value of an entry for inputs of its types.
///
/// The program must be one that [`crate::verify`] accepts and the inputs must conform to their types.
/// Neither is checked again. A value that they exclude is an internal error.
pub fn evaluate(
    program: &Program,
    entry: usize,
    inputs: &[Value],
    options: &Options,
) -> Result<Value, Failure> {
    let Some(entry) = program.entries.get(entry) else {
        return Err(internal("there is no such entry"));
    };
    let last = uses::last_uses(program, entry.body, &entry.inputs);
    let code = compile::compile(program, &entry.inputs, entry.body, last);
    machine::Machine::new(program, &code, options).run(inputs)
}

#[cfg(test)]
mod node_tests;
#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;
