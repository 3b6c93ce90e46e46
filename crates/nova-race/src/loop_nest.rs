//! The nest of parallel loops around the command that the walk has reached, and the paths on which their
//! iterations access memory.

use crate::blocks::Root;
use crate::symbolic::{Base, Context, Fact, Polynomial, Prefix, Symbol};
use nova_core::Scalar;
use nova_loop::ir::{Command, FunctionId, Level, Program, Stays, TableCommand, Type, Variable};
use nova_loop::uses::made;
use std::collections::BTreeSet;

/// A position in the body of an iteration, relative to its ordered region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ordered {
    Before,
    In,
    After,
}

/// The effect of a command on elements.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    /// It reads them.
    Reads,
    /// It writes them.
    Writes,
    /// It writes this number.
    Stores(Polynomial),
    /// It writes elements that other iterations may write in the same way.
    Contends(Stays),
}

/// A path on which an iteration reads or writes elements (funmem.txt eq. 4).
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) base: Base,
    pub(crate) index: Polynomial,
    pub(crate) writes: bool,
    /// The value that stays, if other iterations may write the elements in the same way.
    pub(crate) contends: Option<Stays>,
    /// The context whose facts hold there.
    pub(crate) context: Context,
    /// Its position relative to the ordered region of each enclosing parallel loop, outermost first.
    pub(crate) ordered: Vec<Ordered>,
    /// For each enclosing parallel loop, outermost first, the number of its barriers before the path.
    pub(crate) phases: Vec<u32>,
    /// The pointer, for messages.
    pub(crate) pointer: Variable,
}

/// A parallel loop that encloses the command that the walk has reached.
#[derive(Debug)]
pub(crate) struct ParallelLoop {
    pub(crate) index: Variable,
    pub(crate) level: Level,
    pub(crate) count: Polynomial,
    /// The symbol of its index. Symbols after it may have another value in each iteration.
    pub(crate) symbol: Symbol,
    /// The first base that was made inside.
    pub(crate) first_base: usize,
    /// The first path inside.
    pub(crate) first_path: usize,
    /// The roots of the blocks that are allocated inside.
    pub(crate) sites: BTreeSet<Root>,
    /// The roots of the blocks that are written inside.
    pub(crate) written: BTreeSet<Root>,
    /// Facts about an iteration that has ended.
    pub(crate) late: Vec<Fact>,
    /// Such facts that hold under conditions: if the first sums are not negative, nor are the second ones.
    pub(crate) late_where: Vec<(Vec<Polynomial>, Vec<Polynomial>)>,
    /// The rules that iterations break, with messages.
    pub(crate) refused: Vec<(crate::refusal::Rule, String)>,
    pub(crate) ordered: Ordered,
    /// The prefixes that the ordered region has propagated.
    pub(crate) prefixes: Vec<Prefix>,
    /// The number of barriers before the command.
    pub(crate) phase: u32,
    /// The number of loops around the body, the loop itself included.
    pub(crate) depth: usize,
    /// The number of branches around the loop.
    pub(crate) branches: usize,
    /// The `i64` variables that the body declares directly, with a value.
    pub(crate) numbers: Vec<Variable>,
    /// The functions that are called inside.
    pub(crate) calls: BTreeSet<FunctionId>,
}

/// Calls `visit` on the roots of the blocks that a command makes.
pub(crate) fn each_site(command: &Command, visit: &mut dyn FnMut(Root)) {
    match command {
        Command::Declare {
            variable,
            value: Some(value),
        } if value.is_part() => visit(Root::Site(*variable)),
        Command::Call { results, .. } | Command::Foreign { results, .. } => {
            results
                .iter()
                .take(1)
                .for_each(|result| visit(Root::Site(*result)));
        }
        Command::Table(TableCommand::Reached { results, .. }) => {
            results.iter().for_each(|result| visit(Root::Site(*result)));
        }
        Command::ResultBuffers { pieces, .. } => visit(Root::Table(*pieces)),
        others => made(others, &mut |pointer| visit(Root::Site(pointer))),
    }
}

/// Returns the `i64` variables that commands declare directly, with a value.
pub(crate) fn numbers(program: &Program, commands: &[Command]) -> Vec<Variable> {
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
