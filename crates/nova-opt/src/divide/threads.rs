//! Operations with strategies (dpia.txt §6.2) as a program could write them itself: maps of work-groups
//! and of the threads of one, and loops of one thread.

use super::parts::Code;
use nova_core::strategy::{self, Space, Strategy};
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Level, Output, Variable};

impl Code<'_> {
    /// `map_workgroup`.
    pub(super) fn map_groups(
        &mut self,
        pattern: Vec<Variable>,
        count: Atom,
        index: Variable,
        body: Body,
        outputs: Vec<Output>,
    ) {
        let strategy = Strategy::of(strategy::Level::Workgroup);
        let (level, carries) = (Level::Grid, Vec::new());
        let operation = ArrayOperation {
            shape: vec![count],
            indices: vec![index],
            level,
            strategy: Some(strategy),
            carries,
            body,
            outputs,
        };
        self.push(pattern, Expression::Operation(operation));
    }

    /// `map_local`, whose results lie in this memory.
    pub(super) fn map_threads(
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

    /// A loop of one thread that hands on running results, which start with these values.
    pub(super) fn loop_of_thread(
        &mut self,
        pattern: Vec<Variable>,
        (count, index): (Atom, Variable),
        (carries, start): (Vec<Variable>, Vec<Atom>),
        body: Body,
        outputs: Vec<Output>,
    ) {
        let operation = ArrayOperation {
            shape: vec![count],
            indices: vec![index],
            level: Level::Sequential,
            strategy: None,
            carries: carries.into_iter().zip(start).collect(),
            body,
            outputs,
        };
        self.push(pattern, Expression::Operation(operation));
    }
}
