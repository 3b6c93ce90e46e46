//! Parallel loops that are being walked, and the paths of their iterations.

use super::blocks::Root;
use super::handed::Sum;
use super::polynomial::{Polynomial, Symbol};
use super::prover::Fact;
use super::values::Base;
use super::walk::Context;
use crate::ir::{Command, FunctionId, Level, Program, Stays, Type, Variable};
use nova_core::Scalar;
use std::collections::{BTreeMap, BTreeSet};

/// What an iteration has done of its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Turn {
    Before,
    In,
    After,
}

/// What a command does to elements.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    /// It reads them.
    Reads,
    /// It writes them.
    Writes,
    /// It writes this number.
    Stores(Polynomial),
    /// It writes what others may write in the same way.
    Contends(Stays),
}

/// A path on which an iteration reads or writes elements (funmem.txt eq. 4).
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) base: Base,
    pub(super) index: Polynomial,
    pub(super) writes: bool,
    /// Which value stays, where it writes what others may write as it does.
    pub(super) contends: Option<Stays>,
    /// What is known there.
    pub(super) context: Context,
    /// What the iterations of the parallel loops around it have done of their turns, from the outermost
    /// loop on.
    pub(super) turns: Vec<Turn>,
    /// Between which barriers of the innermost parallel loops it lies.
    pub(super) phases: Vec<u32>,
    /// The pointer, for messages.
    pub(super) pointer: Variable,
}

/// A variable that only grows in an iteration: its first and its last value there.
#[derive(Clone, Debug)]
pub(super) struct Rising {
    pub(super) first: Polynomial,
    pub(super) last: Polynomial,
}

/// A parallel loop that is being walked.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) index: Variable,
    pub(super) level: Level,
    pub(super) count: Polynomial,
    /// The symbol of its index: later ones may differ between iterations.
    pub(super) symbol: Symbol,
    /// The first base that was made inside.
    pub(super) first_base: usize,
    /// The first path inside.
    pub(super) first_path: usize,
    /// Where the blocks come from that are allocated inside.
    pub(super) sites: BTreeSet<Root>,
    /// Where blocks come from that are written inside.
    pub(super) written: BTreeSet<Root>,
    /// The same: through pointers from around the loop whose values are known, and through others.
    pub(super) written_there: BTreeSet<Base>,
    pub(super) written_somewhere: BTreeSet<Root>,
    /// Known of an iteration once it has ended.
    pub(super) late: Vec<Fact>,
    /// The same, where the first sums are not negative.
    pub(super) late_where: Vec<(Vec<Polynomial>, Vec<Polynomial>)>,
    /// What no iteration may do.
    pub(super) refused: Vec<(super::Rule, String)>,
    pub(super) turn: Turn,
    /// What has been handed on in the turn.
    pub(super) handed: Vec<Sum>,
    /// Barriers before the command, and loops and branches around the body.
    pub(super) phase: u32,
    pub(super) depth: usize,
    pub(super) branches: usize,
    /// Numbers that the body declares directly.
    pub(super) numbers: Vec<Variable>,
    /// Functions that are called inside.
    pub(super) calls: BTreeSet<FunctionId>,
    /// What is known of the loop around it.
    pub(super) outer_loads: BTreeMap<(Base, Polynomial), Symbol>,
}

/// Where the blocks come from that a command makes.
pub(super) fn each_site(command: &Command, visit: &mut dyn FnMut(Root)) {
    match command {
        Command::Declare {
            variable,
            value: Some(value),
        } if value.is_part() => visit(Root::Site(*variable)),
        Command::Local { pointer, .. }
        | Command::Shared { pointer, .. }
        | Command::Spare { pointer, .. }
        | Command::Allocate { pointer, .. }
        | Command::Reserve { pointer, .. }
        | Command::Unique { pointer, .. } => visit(Root::Site(*pointer)),
        Command::Call { results, .. } | Command::Foreign { results, .. } => {
            results
                .iter()
                .take(1)
                .for_each(|result| visit(Root::Site(*result)));
        }
        Command::ResultBuffers { pieces, .. } => visit(Root::Table(*pieces)),
        Command::Declare { .. }
        | Command::Assign { .. }
        | Command::Store { .. }
        | Command::Contend { .. }
        | Command::Retain(_)
        | Command::Release(_)
        | Command::MaySplit { .. }
        | Command::StoreBuffer { .. }
        | Command::Buffer { .. }
        | Command::DropBuffers { .. }
        | Command::NodeNew { .. }
        | Command::NodePayload { .. }
        | Command::Trace { .. }
        | crate::bulk_commands!()
        | crate::structures!()
        | crate::errors!()
        | crate::jumps!()
        | crate::remarks!() => {}
    }
}

/// The numbers that commands declare directly.
pub(super) fn numbers(program: &Program, commands: &[Command]) -> Vec<Variable> {
    let declared = commands.iter().filter_map(|command| match command {
        Command::Declare {
            variable,
            value: Some(_),
        } => Some(*variable),
        _other => None,
    });
    let is_number = |v: &Variable| program.variable(*v).ty == Type::Scalar(Scalar::I64);
    declared.filter(is_number).collect()
}
