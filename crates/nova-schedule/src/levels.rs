//! Operations at the levels of a device, written as strategies that a program could state itself
//! (dpia.txt §2): loops over work-groups, loops over the threads of a group, and loops of one thread.

use crate::writer::Writer;
use nova_core::strategy::{self, Space, Strategy};
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Level, Output, Variable};

impl Writer<'_> {
    /// Writes a `map_workgroup`, whose groups may propagate prefixes.
    pub(crate) fn map_groups(
        &mut self,
        pattern: Vec<Variable>,
        (count, index): (Atom, Variable),
        carries: Vec<(Variable, Atom)>,
        body: Body,
        outputs: Vec<Output>,
    ) {
        let strategy = Strategy::of(strategy::Level::Workgroup);
        let operation = ArrayOperation {
            shape: vec![count],
            indices: vec![index],
            level: Level::Grid,
            strategy: Some(strategy),
            carries,
            body,
            outputs,
        };
        self.push(pattern, Expression::Operation(operation));
    }

    /// Writes a `map_local`, whose results lie in this memory.
    pub(crate) fn map_threads(
        &mut self,
        pattern: Vec<Variable>,
        (count, index): (Atom, Variable),
        body: Body,
        outputs: Vec<Output>,
        space: Option<Space>,
    ) {
        let level = strategy::Level::Local;
        let operation = ArrayOperation {
            shape: vec![count],
            indices: vec![index],
            level: Level::Sequential,
            strategy: Some(Strategy { level, space }),
            carries: Vec::new(),
            body,
            outputs,
        };
        self.push(pattern, Expression::Operation(operation));
    }

    /// Writes a loop of one thread with loop-carried values, which start as given.
    pub(crate) fn loop_of_thread(
        &mut self,
        pattern: Vec<Variable>,
        (count, index): (Atom, Variable),
        carries: Vec<(Variable, Atom)>,
        body: Body,
        outputs: Vec<Output>,
    ) {
        let operation = ArrayOperation {
            shape: vec![count],
            indices: vec![index],
            level: Level::Sequential,
            strategy: None,
            carries,
            body,
            outputs,
        };
        self.push(pattern, Expression::Operation(operation));
    }
}
