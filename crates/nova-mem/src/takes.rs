//! Which functions take over the references of the arrays that they are given.
//!
//! A function borrows its arrays as a rule: a call then costs nothing but the call. One that changes
//! arrays, or calls another that does, could never change those that it was given, and would copy them
//! each time. Such a function is given references, counted where the caller goes on using an array, moved
//! where it does not, and releases them. Entries borrow, since their callers own their arrays; so do
//! functions that threads call, for which nobody counts.

use nova_diag::deep;
use nova_flat::ir::{Body, Expression, Level, Output, Program};
use nova_flat::visit::bodies;

/// Marks those functions.
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

/// What is found of each function.
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

    /// Callers change what those change that they call; threads that call a function call its callees.
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

/// Sets a flag where it is to be set; whether that is new.
fn set(flags: &mut [bool], index: usize, value: bool) -> bool {
    let new = value && !flags[index];
    flags[index] |= value;
    new
}
