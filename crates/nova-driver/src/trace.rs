//! The record of a run of the passes.

use crate::honoured::{Dropped, Stranded};
use nova_flat::ir as flat;
use nova_race::Unproved;
use nova_schedule::Alone;
use std::collections::BTreeSet;
use std::time::Duration;

/// The record of a run of the pipeline.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The passes that ran, with the time each took.
    pub times: Vec<(&'static str, Duration)>,
    /// The program as text after the pass that was asked for.
    pub dump: Option<String>,
    /// The notes on operations on all nodes of recursive data: the source of their nodes.
    pub tables: Vec<nova_opt::tables::Note>,
    /// Loops for several threads that have no proof. Once one thread runs them instead, warnings
    /// are about them.
    pub unproved: Vec<Unproved>,
    /// Such loops from the last run of the passes that have not been handled yet.
    pub open: Vec<Unproved>,
    /// The number of times that passes have run for such loops.
    pub rounds: usize,
    /// The operations that one thread runs instead.
    pub alone: Alone,
    /// True if one thread runs everything, since that was not enough.
    pub one_thread: bool,
    /// The operations that carry a strategy of the program.
    pub(crate) asked: BTreeSet<flat::Variable>,
    /// The loops that do not run as the program demands.
    pub(crate) dropped: Vec<Dropped>,
    /// The calls of functions of the device that the host cannot make.
    pub(crate) stranded: Vec<Stranded>,
}

impl Trace {
    /// Takes the operations that one thread runs from another trace.
    pub(crate) fn settled(&mut self, other: Trace) {
        self.unproved = other.unproved;
        self.alone = other.alone;
        self.one_thread = other.one_thread;
    }

    /// Returns the times as a table for people.
    pub fn times_text(&self) -> String {
        let total: Duration = self.times.iter().map(|(_, time)| *time).sum();
        let rows = self.times.iter().copied().chain([("total", total)]);
        rows.map(|(name, time)| format!("{:>12.6} s  {name}\n", time.as_secs_f64()))
            .collect()
    }
}
