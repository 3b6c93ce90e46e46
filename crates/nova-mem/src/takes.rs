//! The choice of functions that take over the references of their array arguments.
//!
//! A function borrows its arrays as a rule, so that a call costs nothing but the call. But a function
//! that changes arrays, or calls one that does, could never change borrowed arrays in place. It would
//! copy them each time. Such a function takes references: the caller counts one where it goes on using
//! the array, moves it where it does not, and the function releases it. Entries borrow, since their
//! callers own the arrays. Functions that threads call borrow as well, since nothing counts references
//! for threads.

use nova_diag::deep;
use nova_flat::ir::{Body, Expression, Level, Output, Program};
use nova_flat::visit::bodies;

/// Sets [`nova_flat::ir::Function::takes`] of those functions.
pub(crate) fn mark(program: &mut Program) {
    let count = program.functions.len();
    let mut found = Found {
        changes: vec![false; count],
        shared: vec![false; count],
        callees: vec![Vec::new(); count],
    };
    for (index, function) in program.functions.iter().enumerate() {
        found.body(index, &function.body, false);
    }
    found.spread();
    for entry in &program.entries {
        found.shared[entry.function.index()] = true;
    }
    for (index, function) in program.functions.iter_mut().enumerate() {
        function.takes = found.changes[index] && !found.shared[index];
    }
}

/// Facts about each function.
struct Found {
    /// True if it changes elements of arrays.
    changes: Vec<bool>,
    /// True if threads call it, or callers from outside.
    shared: Vec<bool>,
    callees: Vec<Vec<usize>>,
}

impl Found {
    fn body(&mut self, function: usize, body: &Body, by_threads: bool) {
        for statement in &body.statements {
            let mut inside = by_threads;
            match &statement.expression {
                Expression::Update { .. } => self.changes[function] = true,
                Expression::Operation(operation) => {
                    let scatters = |output: &Output| matches!(output, Output::Scatter { .. });
                    self.changes[function] |= operation.outputs.iter().any(scatters);
                    inside |= operation.level == Level::Grid;
                }
                Expression::Call {
                    function: callee, ..
                } => {
                    self.callees[function].push(callee.index());
                    self.shared[callee.index()] |= by_threads;
                }
                _others => {}
            }
            bodies(&statement.expression, &mut |inner| {
                deep(|| self.body(function, inner, inside));
            });
        }
    }

    /// Propagates the facts along calls. A caller of a function that changes arrays changes them too,
    /// and threads that call a function call its callees too.
    fn spread(&mut self) {
        let mut goes_on = true;
        while goes_on {
            goes_on = false;
            for function in 0..self.callees.len() {
                for callee in self.callees[function].clone() {
                    let (changes, shared) = (self.changes[callee], self.shared[function]);
                    goes_on |= set(&mut self.changes, function, changes);
                    goes_on |= set(&mut self.shared, callee, shared);
                }
            }
        }
    }
}

/// Sets a flag if `value` is true. Returns true if the flag was not set before.
fn set(flags: &mut [bool], index: usize, value: bool) -> bool {
    let new = value && !flags[index];
    flags[index] |= value;
    new
}
