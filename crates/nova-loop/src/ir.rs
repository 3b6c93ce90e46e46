//! The data types of Loop; see the crate's page for what they mean.

pub use crate::{
    block_commands, bulk_commands, calls, errors, fixed_block_commands, jumps, memory_commands,
    remarks, structures, variable_commands,
};

mod access;
mod fixed_blocks;
mod gathers;
pub use access::{HostAccess, Stays};
pub use fixed_blocks::{
    Combined, FIXED_BLOCK, PARTIAL_LANES, PREFIX_WIDTH, prefix_scans, tree_reduces,
};
pub use gathers::{GATHER_WIDTH, Gather, gathers_indexed, gathers_strided, indexes_gathers};

pub use crate::interference::{Reason, Witness};
use nova_core::ir::{Foreign, ForeignKind};
pub use nova_core::strategy::Space;
use nova_core::{
    ErrorKind, Scalar, ScalarOperation, ScalarValue, SumId, SumType, Type as CoreType, strategy,
};
use nova_diag::Place;
pub use nova_flat::ir::Destination;
use nova_flat::representation::holds_arrays;
use std::collections::BTreeMap;
use std::sync::Arc;

nova_diag::ids! {
    /// Names a variable of a program, declared once in it.
    pub struct Variable;

    /// Names a function of a program.
    pub struct FunctionId;
}

/// A program: functions over shared tables.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The sum types, for borders and node tables.
    pub sums: Vec<SumType>,
    /// The foreign functions.
    pub foreigns: Vec<Foreign>,
    /// All functions; [`FunctionId`] indexes them. Callees may stand behind their callers.
    pub functions: Vec<Function>,
    /// What the program offers.
    pub entries: Vec<Entry>,
    /// What is known of each [`Variable`].
    pub variables: Vec<VariableInfo>,
    /// Why the iterations of parallel loops do not meet, by the indices of the loops: what
    /// [`crate::interference`] has found.
    pub witnesses: BTreeMap<Variable, Witness>,
    /// The strategies that loops carry, by their indices, as the translation found them. It is no part
    /// of the text.
    pub strategies: BTreeMap<Variable, Strategy>,
    /// True if it was translated for `--fp strict`: math functions come from our own table and
    /// nothing may be contracted.
    pub strict: bool,
    /// True if threads that do iterations of one loop may append nodes to one table, if these hold no
    /// arrays: on a device, where a node's index is taken by one operation.
    pub nodes_by_threads: bool,
}

/// What the program says of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strategy {
    /// Who should run its rounds.
    pub level: strategy::Level,
    /// The first index of its operation in Flat.
    pub index: nova_flat::ir::Variable,
    /// True if it makes rows of varying lengths.
    pub has_rows: bool,
}

/// A function that the program offers: a function of Loop and the types its users see.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: Arc<str>,
    /// Names and types of its inputs. The function's parameters are the components
    /// (`nova_flat::representation`) of each in order; an array component is pointer and block. Those
    /// that are fields of structures (`nova_flat::representation::input_fields`) point to that field
    /// of the first one.
    pub inputs: Vec<(Arc<str>, CoreType)>,
    /// The type of its value; the function's results are its components in the same way
    /// (`nova_flat::representation::result_fields`).
    pub result: CoreType,
    /// The code.
    pub function: FunctionId,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// A name for people, unique in the program.
    pub name: Arc<str>,
    /// Its parameters.
    pub parameters: Vec<Variable>,
    /// Its results: assigned by the body before it ends or returns.
    pub results: Vec<Variable>,
    /// Its code.
    pub body: Vec<Command>,
    /// True if its entry must check that stack is left.
    pub recursive: bool,
    /// True if a call moves a reference of each handle among its arguments into the function.
    pub takes: bool,
    /// Where it is defined; what "recursion too deep" names.
    pub place: Place,
}

/// What is known of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableInfo {
    /// A name for people, not unique.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// In which memory of a device the array is to lie that it points to, if the program says so.
    pub space: Option<Space>,
}

/// The type of a variable or expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A scalar.
    Scalar(Scalar),
    /// A pointer to elements.
    Pointer(Scalar),
    /// A handle of a block.
    Block,
}

/// What runs a loop's iterations (dpia.txt §2, architecture §3 invariant 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// In order, by one thread.
    Sequential,
    /// By all threads of a device, or those of a pool: `map_global`.
    Grid,
    /// By the work-groups of a device, one each: `map_workgroup`.
    Block,
    /// By the threads of the work-group that does the iteration of a loop at the level of a block
    /// around it: `map_local`.
    Thread,
    /// By the lanes of a vector unit.
    Vector,
    /// In any order: no iteration reads what another one writes, and no two write the same.
    Independent,
    /// In order, all in one piece: there are few, [`PARTIAL_LANES`] at most, and they overlap better so.
    WrittenOut,
    /// By the ranks of a communicator.
    Rank,
}

impl Level {
    /// True if a loop of this level on the host starts a kernel, where there is a device.
    pub fn starts_kernel(self) -> bool {
        matches!(self, Level::Grid | Level::Block)
    }

    /// True if several threads share the iterations, in no order that is known.
    pub fn is_parallel(self) -> bool {
        matches!(self, Level::Grid | Level::Block | Level::Thread)
    }
}

/// The commands of Loop.
#[derive(Clone, Debug)]
pub enum Command {
    /// Declares a variable; without a value it must be assigned before it is read.
    Declare {
        variable: Variable,
        value: Option<Expression>,
    },
    /// Declares a pointer to a new array of `count` elements, not initialised, which lives to the end
    /// of the command list. Its address stays in the function.
    Local { pointer: Variable, count: u32 },
    /// Declares a pointer to a new array of `count` elements, not initialised, that the threads of the
    /// work-group share which does the iteration; it stands in a loop at the level of a block, not in
    /// one of its threads. The count is the same in every iteration. The memory is that of the group
    /// (`__local`, `__shared__`), and other arrays have it once the iteration has ended.
    Shared {
        pointer: Variable,
        count: Expression,
    },
    /// Declares a pointer to one of several places for an array of `count` elements, not initialised.
    /// The places lie behind each other from `places` on, one more than `apart` has pointers; it is the
    /// first into which none of these leads. So an array that each round of a loop makes anew does not
    /// lie over those of earlier rounds that are still used. It stands in a loop at the level of a block.
    Spare {
        pointer: Variable,
        places: Expression,
        count: Expression,
        apart: Vec<Expression>,
    },
    /// Assigns a variable declared before.
    Assign {
        variable: Variable,
        value: Expression,
    },
    /// Writes an element.
    Store {
        pointer: Variable,
        index: Expression,
        value: Expression,
    },
    /// Writes an element that other iterations of a parallel loop may write by this command at the same
    /// time: as one step each, after which what is there is one of the values, or the greatest.
    Contend {
        pointer: Variable,
        index: Expression,
        value: Expression,
        stays: Stays,
    },
    /// A new block of `count` elements, not initialised: assigns handle and pointer, both declared
    /// before. A negative or too large count is out of memory. Of a destination it is room for
    /// `count` structures in the memory of the result, and the handle is null.
    Allocate {
        block: Variable,
        pointer: Variable,
        element: Scalar,
        count: Expression,
        destination: Option<Destination>,
        place: Place,
    },
    /// Makes room for `count` elements in a block held by this handle alone (or null, for a first
    /// one), growing by at least half, keeping the first `used` elements; reassigns both.
    Reserve {
        block: Variable,
        pointer: Variable,
        element: Scalar,
        used: Expression,
        count: Expression,
        place: Place,
    },
    /// Makes this handle hold alone the `count` elements from the pointer on: nothing is done where
    /// it has the only reference of a block, else they are copied to a new block, and the reference
    /// is given up; reassigns both.
    Unique {
        block: Variable,
        pointer: Variable,
        element: Scalar,
        count: Expression,
        place: Place,
    },
    /// True if other threads wait for work: assigns a bool, which results do not depend on.
    MaySplit { splits: Variable },
    /// A table for the arrays that the `count` iterations of a loop keep, one each: assigns its
    /// handle, declared before.
    ResultBuffers {
        pieces: Variable,
        count: Expression,
        place: Place,
    },
    /// Keeps the `count` elements from the pointer on as the piece of an index, whoever does the
    /// iteration. They are taken out of their block where the handle has its only reference and they
    /// begin it, else copied: they are not to be read there any more.
    StoreBuffer {
        pieces: Variable,
        index: Expression,
        block: Expression,
        pointer: Expression,
        element: Scalar,
        count: Expression,
        place: Place,
    },
    /// Assigns a pointer, declared before, to the first element of a piece.
    Buffer {
        pointer: Variable,
        pieces: Variable,
        element: Scalar,
        index: Expression,
    },
    /// Frees a table of `count` pieces with all of them, and gives up its handle.
    DropBuffers { pieces: Variable, count: Expression },
    /// Copies `count` elements between places that do not overlap.
    Copy {
        to: Expression,
        from: Expression,
        element: Scalar,
        count: Expression,
    },
    /// Decides whether `count` structures from element `start` on, of `total` in the memory of the
    /// result, are worth writing past the caches; the pointers are those of their fields, which are
    /// of one type. Assigns `shift`: -1 where they are not, else how many structures the first strip
    /// of `width` lacks, so that all others begin where a line of memory does.
    PlanNonTemporal {
        shift: Variable,
        fields: Vec<Variable>,
        start: Expression,
        count: Expression,
        total: Expression,
        width: u32,
    },
    /// Writes `count` structures that lie behind each other from `from` on to the memory of the
    /// result, from element `start` on, past the caches where the processor can; the pointers are
    /// those of all their fields in order. `lines` says that they begin where a line of memory does
    /// and fill lines.
    NonTemporalStore {
        fields: Vec<Variable>,
        start: Expression,
        from: Expression,
        count: Expression,
        lines: bool,
    },
    /// Copies `count` elements, 0 to [`FIXED_BLOCK`], to a place that does not overlap, and writes `pad`
    /// behind them, so that there are [`FIXED_BLOCK`].
    PaddedCopy {
        to: Expression,
        from: Expression,
        element: Scalar,
        count: Expression,
        pad: Expression,
    },
    /// Combines the [`FIXED_BLOCK`] elements of a local array by halves: `a[l] := a[l] ⊕ a[l+h]` for each
    /// l < h, where h halves from half of them on. Those that are combined with others before them
    /// are not to be read after.
    TreeReduce {
        pointer: Variable,
        element: Scalar,
        operation: ScalarOperation,
        into: Combined,
    },
    /// Decides whether the elements of rows that follow each other are worth being computed
    /// together: assigns a bool.
    PlanRows { joins: Variable },
    /// Combines any number of elements into [`PARTIAL_LANES`], written to a place that does not overlap:
    /// twice as many lanes start as what changes nothing, element k goes to lane k modulo their
    /// number, and the upper half of the lanes is combined with the lower one.
    LaneReduce {
        to: Expression,
        from: Expression,
        element: Scalar,
        operation: ScalarOperation,
        count: Expression,
    },
    /// Lets [`PREFIX_WIDTH`] elements run: each becomes what `last`, the elements before it and, unless it is
    /// `exclusive`, itself are combined into, and `last`, assigned before, becomes what all of them
    /// are. The elements are `a[0] …`; for h = 1, 2, 4, … `a[k] := a[(k & -h) - 1] ⊕ a[k]` for each k
    /// with `k & h`, and at last `last ⊕ a[k]` is written, to the same place or one that does not
    /// overlap.
    PrefixScan {
        to: Expression,
        from: Expression,
        element: Scalar,
        operation: ScalarOperation,
        exclusive: bool,
        last: Variable,
    },
    /// Prepares a round of [`GATHER_WIDTH`] elements.
    Gather(Gather),
    /// One more reference.
    Retain(Variable),
    /// One reference less.
    Release(Variable),
    /// A conditional.
    If {
        condition: Expression,
        then: Vec<Command>,
        otherwise: Vec<Command>,
    },
    /// Case k for the `i32` k; the last case also for every other value.
    Switch {
        scrutinee: Expression,
        cases: Vec<Vec<Command>>,
    },
    /// For `variable` (an `i64`, declared here) from 0 to `count` - 1; `count` is evaluated once.
    For {
        variable: Variable,
        count: Expression,
        level: Level,
        body: Vec<Command>,
        place: Place,
    },
    /// Runs the body again and again, until `Break` or `Return`.
    Loop { body: Vec<Command>, place: Place },
    /// Leaves the innermost `Loop` (not inside a `For` within it).
    Break,
    /// Starts the innermost `Loop` (not inside a `For` within it) again.
    Continue,
    /// Leaves the function; results are assigned.
    Return,
    /// A call; results are assigned to variables declared before.
    Call {
        function: FunctionId,
        arguments: Vec<Expression>,
        results: Vec<Variable>,
    },
    /// A call of a foreign function: components in, components out, as at an entry. Array results
    /// carry a reference.
    Foreign {
        foreign: u32,
        arguments: Vec<Expression>,
        results: Vec<Variable>,
        place: Place,
    },
    /// Stops the program with the error unless the condition holds; arguments are integers.
    Check {
        condition: Expression,
        error: ErrorKind,
        arguments: Vec<Expression>,
        place: Place,
    },
    /// Stops the program with the error.
    Fail {
        error: ErrorKind,
        arguments: Vec<Expression>,
        place: Place,
    },
    /// Appends a node to the table of a recursive sum, which takes a reference of each array;
    /// assigns its link.
    NodeNew {
        sum: SumId,
        constructor: u32,
        payload: Vec<Expression>,
        link: Variable,
        place: Place,
    },
    /// Reads the components of a node's payload; arrays are borrowed from the table.
    NodePayload {
        sum: SumId,
        constructor: u32,
        link: Expression,
        results: Vec<Variable>,
    },
    /// Writes text and a value, given by its components, to standard error.
    Trace {
        text: Arc<[u8]>,
        ty: CoreType,
        components: Vec<Expression>,
    },
    /// Waits for all threads of the enclosing level. At the level of threads, in a loop at the level of
    /// a block and outside of those of its threads: the threads of the work-group wait for each other,
    /// and see what they have written.
    Barrier(Level),
    /// Waits, in an iteration of a loop at the level of a grid with this index, until the iteration
    /// before has ended its turn.
    BeginOrdered(Variable),
    /// Ends the turn of an iteration. The one after sees what this one has written so far.
    EndOrdered(Variable),
    /// Threads that see what follows also see what was streamed before.
    StoreFence,
    /// The element behind a pointer will soon be read, if the index lies in the array; computes
    /// nothing.
    Prefetch {
        pointer: Variable,
        index: Expression,
        /// True where the loop does nothing with memory but read arrays from front to back. Some
        /// processors do that faster unasked.
        only_streams: bool,
    },
    /// Where arrays have a copy on a device: host memory holds what is accessed of the array that a pointer
    /// leads into from here on, until the next kernel. Computes nothing.
    OnHost {
        pointer: Variable,
        access: HostAccess,
    },
    /// A remark for people who read the output.
    Comment(Arc<str>),
}

/// The expressions of Loop: no effects; `Load` reads memory as it is when the command runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A scalar constant.
    Constant(ScalarValue),
    /// A constant array of bytes: a pointer to `u8` with the life of the program.
    Bytes(Arc<[u8]>),
    /// A constant array of scalars of one type: a pointer to them with the life of the program.
    Data(Scalar, Arc<[ScalarValue]>),
    /// A variable.
    Variable(Variable),
    /// A scalar operation on operands of type `operand`, defined where it stands.
    Scalar {
        operation: ScalarOperation,
        operand: Scalar,
        arguments: Vec<Expression>,
    },
    /// `condition ? then : otherwise`; only the chosen one is evaluated.
    Select {
        condition: Box<Expression>,
        then: Box<Expression>,
        otherwise: Box<Expression>,
    },
    /// The element behind a pointer.
    Load {
        pointer: Box<Expression>,
        index: Box<Expression>,
    },
    /// The pointer `index` elements further. With an extent, it leads to an array of so many elements,
    /// not initialised, which is a part of the one behind the pointer: what is reached from here lies
    /// in it.
    Offset {
        pointer: Box<Expression>,
        index: Box<Expression>,
        extent: Option<Box<Expression>>,
    },
    /// The null pointer to elements of this type.
    NullPointer(Scalar),
    /// The null handle.
    NullBlock,
    /// The constructor of a node, an `i32`.
    NodeTag { sum: SumId, link: Box<Expression> },
}

impl Program {
    /// True if a foreign function is code of the device, where there is one.
    pub fn is_of_device(&self, foreign: u32) -> bool {
        let foreign = self.foreigns.get(foreign as usize);
        foreign.is_some_and(|foreign| match foreign.kind {
            ForeignKind::Device => true,
            ForeignKind::Plain | ForeignKind::Effect => false,
        })
    }

    /// True if calls of a foreign function belong to the whole call of the program: they have effects,
    /// which keep their order, or append nodes to its tables.
    pub fn is_ordered(&self, foreign: u32) -> bool {
        self.foreigns.get(foreign as usize).is_none_or(|foreign| {
            let effect = match foreign.kind {
                ForeignKind::Effect => true,
                ForeignKind::Plain | ForeignKind::Device => false,
            };
            effect || foreign.result.holds_links(&self.sums)
        })
    }

    /// What is known of a variable of this program.
    pub fn variable(&self, variable: Variable) -> &VariableInfo {
        &self.variables[variable.index()]
    }

    /// True if the nodes of a recursive sum hold arrays.
    pub fn nodes_hold_arrays(&self, sum: SumId) -> bool {
        holds_arrays(&self.sums, sum)
    }

    /// Adds a variable.
    pub fn add_variable(&mut self, name: impl Into<Arc<str>>, ty: Type) -> Variable {
        self.variables.push(VariableInfo {
            name: name.into(),
            ty,
            space: None,
        });
        Variable(self.variables.len() as u32 - 1)
    }
}

impl Drop for Function {
    /// Commands nest as deep as the program does.
    fn drop(&mut self) {
        drop_commands(std::mem::take(&mut self.body));
    }
}

/// Drops commands without recursing over their nesting.
pub fn drop_commands(commands: Vec<Command>) {
    let mut left = vec![commands];
    while let Some(commands) = left.pop() {
        for mut command in commands {
            left.extend(command.lists_mut().into_iter().map(std::mem::take));
        }
    }
}

impl Command {
    /// Declares a variable with a value.
    pub fn declare(variable: Variable, value: Expression) -> Command {
        Command::Declare {
            variable,
            value: Some(value),
        }
    }

    /// The command lists directly inside.
    pub fn lists(&self) -> Vec<&Vec<Command>> {
        match self {
            Command::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            Command::Switch { cases, .. } => cases.iter().collect(),
            Command::For { body, .. } | Command::Loop { body, .. } => vec![body],
            variable_commands!()
            | memory_commands!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => Vec::new(),
        }
    }

    /// The command lists directly inside.
    pub fn lists_mut(&mut self) -> Vec<&mut Vec<Command>> {
        match self {
            Command::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            Command::Switch { cases, .. } => cases.iter_mut().collect(),
            Command::For { body, .. } | Command::Loop { body, .. } => vec![body],
            variable_commands!()
            | memory_commands!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => Vec::new(),
        }
    }
}
