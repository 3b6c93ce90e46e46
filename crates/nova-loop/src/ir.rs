//! The data types of Loop. The crate's page explains their meaning.

pub use crate::{
    block_commands, bulk_commands, calls, errors, fixed_block_commands, jumps, memory_commands,
    remarks, structures, variable_commands,
};

mod access;
mod attributes;
mod fixed_blocks;
mod gathers;
mod groups;
mod lists;
mod table;
mod table_commands;
mod witness;
pub use access::{HostAccess, Stays};
pub use attributes::Attribute;
pub(crate) use attributes::LEVELS;
pub use fixed_blocks::{
    Combined, FIXED_BLOCK, PANEL_ROWS, PARTIAL_LANES, PREFIX_WIDTH, panel_lanes, prefix_scans,
    tree_reduces,
};
pub use gathers::{
    GATHER_WIDTH, GATHERED_ROWS, Gather, gathers_indexed, gathers_strided, indexes_gathers,
};
pub use lists::drop_commands;
pub(crate) use table::command_table;
pub use table::{Extent, Operand, OperandMut, Role, Use, Wants, operands, operands_mut};
pub use table_commands::{Members, Sums, TableCommand};
pub use witness::{Reason, Witness};

use nova_core::ir::{Foreign, ForeignKind};
pub use nova_core::strategy::Space;
use nova_core::{
    ErrorKind, Scalar, ScalarOperation, ScalarValue, SumId, SumType, Type as CoreType, strategy,
};
use nova_diag::Place;
pub use nova_flat::ir::Destination;
use nova_flat::representation::holds_arrays;
use nova_plan::Plan;
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
    /// The sum types, for the FFI boundary and for node tables.
    pub sums: Vec<SumType>,
    /// The foreign functions.
    pub foreigns: Vec<Foreign>,
    /// All functions; [`FunctionId`] indexes them. A callee may stand after its callers.
    pub functions: Vec<Function>,
    /// The functions that the program exports.
    pub entries: Vec<Entry>,
    /// The facts about each [`Variable`].
    pub variables: Vec<VariableInfo>,
    /// The reasons why the iterations of parallel loops do not interfere, by the indices of the loops.
    /// The checker of races (nova-race) finds them.
    pub witnesses: BTreeMap<Variable, Witness>,
    /// The strategies that the source program gives for loops, by the indices of the loops. The
    /// translation collects them; they are not part of the text.
    pub strategies: BTreeMap<Variable, Strategy>,
    /// True if the program was translated for `--fp strict`: math functions come from our own table, and
    /// no floating-point operations may be contracted.
    pub strict: bool,
    /// The number of iterations of a loop that are taken in lockstep, a power of two. The translation chooses it;
    /// it is not part of the text, which leaves the number to the processor (0).
    pub lanes: u32,
    /// The choices for loops, by the places of these. The translation sets them; they are not part of the text.
    pub plan: Plan,
    /// True if threads that run iterations of one loop may append nodes to one table. The nodes must hold
    /// no arrays. An atomic operation of the runtime takes a node's index, or those of several nodes.
    pub nodes_by_threads: bool,
    /// For functions whose loops work-groups run, the functions of the same meaning that one thread of a
    /// kernel calls. They exist until it is known which loops become kernels.
    pub thread_instances: BTreeMap<FunctionId, FunctionId>,
}

/// The strategy that the source program states for a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strategy {
    /// The threads that run its iterations.
    pub level: strategy::Level,
    /// The first index of its operation in Flat.
    pub index: nova_flat::ir::Variable,
    /// True if the operation makes rows of varying lengths.
    pub has_rows: bool,
}

/// A function that the program exports: a function of Loop and the types that its users see.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: Arc<str>,
    /// The names and types of its inputs. The function's parameters are the components of each input
    /// in order (`nova_flat::representation`); an array component is a pointer and a block. A component
    /// that is a field of structures (`nova_flat::representation::input_fields`) points to this field
    /// of the first structure.
    pub inputs: Vec<(Arc<str>, CoreType)>,
    /// The type of its value. The function's results are its components in the same way
    /// (`nova_flat::representation::result_fields`).
    pub result: CoreType,
    /// The function of Loop that implements it.
    pub function: FunctionId,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// A name for people, unique in the program.
    pub name: Arc<str>,
    /// Its parameters.
    pub parameters: Vec<Variable>,
    /// Its results, which the body assigns before it ends or returns.
    pub results: Vec<Variable>,
    /// Its code.
    pub body: Vec<Command>,
    /// True if the function must check on entry that enough stack is left.
    pub recursive: bool,
    /// True if a call moves one reference of each handle among the arguments into the function.
    pub takes: bool,
    /// The place of its definition, which the error "recursion too deep" reports.
    pub place: Place,
}

/// Facts about a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableInfo {
    /// A name for people, not unique.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// The memory space of a device for the array that it points to, if the program states one.
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

/// The threads or lanes that run a loop's iterations (dpia.txt §2, architecture, invariant 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// In order, by one thread.
    Sequential,
    /// By all threads of a device, or those of a pool: `map_global`.
    Grid,
    /// By the work-groups of a device, one each: `map_workgroup`.
    Block,
    /// By the threads of the work-group that executes the iteration of the enclosing loop at the level of
    /// a block: `map_local`.
    Thread,
    /// By the lanes of a vector unit.
    Vector,
    /// In any order: no iteration reads what another one writes, and no two write the same element.
    Independent,
    /// In order, unrolled completely. There are at most [`PARTIAL_LANES`] iterations, which overlap better
    /// this way.
    Unrolled,
    /// By the ranks of a communicator.
    Rank,
}

impl Level {
    /// True if a loop of this level in host code starts a kernel, where there is a device.
    pub fn starts_kernel(self) -> bool {
        matches!(self, Level::Grid | Level::Block)
    }

    /// True if several threads execute the iterations, in an unknown order.
    pub fn is_parallel(self) -> bool {
        matches!(self, Level::Grid | Level::Block | Level::Thread)
    }
}

/// The commands of Loop.
#[derive(Clone, Debug)]
pub enum Command {
    /// Declares a variable. Without a value it must be assigned before it is read.
    Declare {
        variable: Variable,
        value: Option<Expression>,
    },
    /// Declares a pointer to a new uninitialised array of `count` elements, which lives to the end of
    /// the command list. Its address does not leave the function.
    Local { pointer: Variable, count: u32 },
    /// Declares a pointer to a new uninitialised array of `count` elements that the threads of the
    /// work-group share. It stands in a loop at the level of a block, but not in a loop at the level of a
    /// thread. The count is the same in every iteration. The memory is that of the group (`__local`,
    /// `__shared__`), and other arrays use it once the iteration has ended.
    Shared {
        pointer: Variable,
        count: Expression,
    },
    /// Declares a pointer to one of several slots for an uninitialised array of `count` elements. The
    /// slots are adjacent and start at `places`; there is one more than `apart` has pointers. The pointer
    /// gets the first slot into which none of the pointers in `apart` leads. So an array that a loop makes
    /// anew in each iteration does not overlap those of earlier iterations that are still used. The
    /// command stands in a loop at the level of a block.
    Spare {
        pointer: Variable,
        places: Expression,
        count: Expression,
        apart: Vec<Expression>,
    },
    /// Assigns a variable that is declared before.
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
    /// Writes an element atomically. Other iterations of a parallel loop may write it with the same
    /// command at the same time. Afterwards the element holds one of the values, or the greatest.
    Contend {
        pointer: Variable,
        index: Expression,
        value: Expression,
        stays: Stays,
    },
    /// Allocates an uninitialised block of `count` elements, and assigns its handle and pointer, both
    /// declared before. A negative or too large count is an out-of-memory error. With a destination the
    /// block is room for `count` structures in the memory of the result, and the handle is null.
    Allocate {
        block: Variable,
        pointer: Variable,
        element: Scalar,
        count: Expression,
        destination: Option<Destination>,
        place: Place,
    },
    /// Makes room for `count` elements in a block that only this handle holds, or in a new block if the
    /// handle is null. A block that grows does so by at least half. The first `used` elements keep their
    /// values. Reassigns handle and pointer.
    Reserve {
        block: Variable,
        pointer: Variable,
        element: Scalar,
        used: Expression,
        count: Expression,
        place: Place,
    },
    /// Makes this handle the only holder of the `count` elements from the pointer on. If the handle has
    /// the only reference of a block, nothing is done. Otherwise the elements are copied to a new block,
    /// and the reference to the old one is given up. Reassigns handle and pointer.
    Unique {
        block: Variable,
        pointer: Variable,
        element: Scalar,
        count: Expression,
        place: Place,
    },
    /// Assigns a bool: true if other threads wait for work. Results do not depend on it.
    MaySplit { splits: Variable },
    /// Makes a table of result buffers for the `count` iterations of a loop, one for each, and assigns
    /// its handle, declared before.
    ResultBuffers {
        pieces: Variable,
        count: Expression,
        place: Place,
    },
    /// Stores the `count` elements from the pointer on as the result buffer of an index. Any thread may
    /// run the iteration. If the handle has the only reference of the block and the elements begin it,
    /// they are moved out of the block; otherwise they are copied. They must not be read there afterwards.
    StoreBuffer {
        pieces: Variable,
        index: Expression,
        block: Expression,
        pointer: Expression,
        element: Scalar,
        count: Expression,
        place: Place,
    },
    /// Assigns a pointer, declared before, to the first element of a result buffer.
    Buffer {
        pointer: Variable,
        pieces: Variable,
        element: Scalar,
        index: Expression,
    },
    /// Frees a table of `count` result buffers with its buffers, and gives up its handle.
    DropBuffers { pieces: Variable, count: Expression },
    /// Copies `count` elements between arrays that do not overlap.
    Copy {
        to: Expression,
        from: Expression,
        element: Scalar,
        count: Expression,
    },
    /// Decides whether non-temporal stores pay off for `count` structures from element `start` on, of
    /// `total` in the memory of the result. `fields` points to their fields, which are of one type.
    /// Assigns `shift`: -1 if ordinary stores are better. Otherwise `shift` is the number of structures
    /// that the first strip of `width` lacks, so that all other strips begin at a cache line.
    PlanNonTemporal {
        shift: Variable,
        fields: Vec<Variable>,
        start: Expression,
        count: Expression,
        total: Expression,
        width: u32,
    },
    /// Writes `count` adjacent structures from `from` on to the memory of the result, from element
    /// `start` on, by non-temporal stores where the processor has them. `fields` points to all their
    /// fields in order. `lines` states that they begin at a cache line and fill whole lines.
    NonTemporalStore {
        fields: Vec<Variable>,
        start: Expression,
        from: Expression,
        count: Expression,
        lines: bool,
    },
    /// Copies `count` elements, 0 to [`FIXED_BLOCK`], to an array that does not overlap, and writes `pad`
    /// after them, so that the array has [`FIXED_BLOCK`] elements.
    PaddedCopy {
        to: Expression,
        from: Expression,
        element: Scalar,
        count: Expression,
        pad: Expression,
    },
    /// Tree reduction of the [`FIXED_BLOCK`] elements of a local array: `a[l] := a[l] ⊕ a[l+h]` for each
    /// l < h, where h starts at half of their number and halves in each step. The elements of the upper
    /// halves must not be read afterwards.
    TreeReduce {
        pointer: Variable,
        element: Scalar,
        operation: ScalarOperation,
        into: Combined,
    },
    /// Assigns a bool: true if it pays off to compute the elements of adjacent rows together.
    PlanRows { joins: Variable },
    /// Partial reduction in lanes: combines any number of elements into [`PARTIAL_LANES`], written to an
    /// array that does not overlap. Twice as many lanes start as the neutral element; element k goes to
    /// lane k modulo their number. At last the upper half of the lanes is combined with the lower half.
    LaneReduce {
        to: Expression,
        from: Expression,
        element: Scalar,
        operation: ScalarOperation,
        count: Expression,
    },
    /// Adds to [`PANEL_ROWS`] rows of totals of [`panel_lanes`] lanes each. The total of row r and lane l
    /// gets the sum of `left[PANEL_ROWS * s + r] * right[lanes * s + l]` over s from 0 to `steps` - 1. The
    /// sum is one of values of type `element`, from -0.0 on, and totals are doubles. The arrays do not
    /// overlap.
    MultiplyPanels {
        totals: Expression,
        left: Expression,
        right: Expression,
        element: Scalar,
        steps: Expression,
    },
    /// Sorts `count` unsigned words stably by their bits from `low` on, to `to`. The words at `beside` are
    /// undefined afterwards. These arrays do not overlap, but that `from` may be `beside`.
    SortWords {
        to: Expression,
        beside: Expression,
        from: Expression,
        element: Scalar,
        count: Expression,
        low: Expression,
    },
    /// Computes an inclusive or `exclusive` prefix scan of [`PREFIX_WIDTH`] elements, starting from `last`,
    /// and assigns the result of all elements to `last`. For h = 1, 2, 4, … it computes
    /// `a[k] := a[(k & -h) - 1] ⊕ a[k]` for each k with `k & h`, and finally writes `last ⊕ a[k]`. The
    /// results go to the array itself or to one that does not overlap.
    PrefixScan {
        to: Expression,
        from: Expression,
        element: Scalar,
        operation: ScalarOperation,
        exclusive: bool,
        last: Variable,
    },
    /// Prepares a loop over [`GATHER_WIDTH`] elements.
    Gather(Gather),
    /// Adds a reference.
    Retain(Variable),
    /// Removes a reference.
    Release(Variable),
    /// A conditional.
    If {
        condition: Expression,
        then: Vec<Command>,
        otherwise: Vec<Command>,
    },
    /// Runs case k for the `i32` k, and the last case also for every other value.
    Switch {
        scrutinee: Expression,
        cases: Vec<Vec<Command>>,
    },
    /// Runs the body for `variable` (an `i64`, declared here) from 0 to `count` - 1. `count` is evaluated
    /// once.
    For {
        variable: Variable,
        count: Expression,
        level: Level,
        body: Vec<Command>,
        place: Place,
    },
    /// Repeats the body until `Break` or `Return`.
    Loop { body: Vec<Command>, place: Place },
    /// Leaves the innermost `Loop`. No `For` may stand between.
    Break,
    /// Starts the next iteration of the innermost `Loop`. No `For` may stand between.
    Continue,
    /// Leaves the function, whose results are assigned.
    Return,
    /// A call. Its results are assigned to variables declared before.
    Call {
        function: FunctionId,
        arguments: Vec<Expression>,
        results: Vec<Variable>,
    },
    /// A call of a foreign function. Arguments and results are components, as at an entry. Array results
    /// carry a reference.
    Foreign {
        foreign: u32,
        arguments: Vec<Expression>,
        results: Vec<Variable>,
        place: Place,
    },
    /// Stops the program with the error unless the condition holds. The arguments are integers.
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
    /// Appends a node to the table of a recursive sum, which takes a reference of each array, and assigns
    /// the link of the node.
    NodeNew {
        sum: SumId,
        constructor: u32,
        payload: Vec<Expression>,
        link: Variable,
        place: Place,
    },
    /// Reads the components of a node's payload. Arrays are borrowed from the table.
    NodePayload {
        sum: SumId,
        constructor: u32,
        link: Expression,
        results: Vec<Variable>,
    },
    /// Numbers, reserves, fills or checks nodes of whole tables.
    Table(TableCommand),
    /// Writes text and a value, given by its components, to standard error.
    Trace {
        text: Arc<[u8]>,
        ty: CoreType,
        components: Vec<Expression>,
    },
    /// Waits for all threads of the enclosing level. At the level of a thread it stands in a loop at the
    /// level of a block, outside of the loops at the level of a thread. There the threads of the
    /// work-group wait for each other, and see what the others have written.
    Barrier(Level),
    /// Begins the ordered region of an iteration of the parallel loop with this index: waits until the
    /// previous iteration has ended its region.
    BeginOrdered(Variable),
    /// Ends the ordered region of an iteration. The next iteration sees what this one has written so far.
    EndOrdered(Variable),
    /// Makes non-temporal stores visible to all threads that see later stores.
    StoreFence,
    /// Prefetches an element that will soon be read, if the index lies in the array. Computes nothing.
    Prefetch {
        pointer: Variable,
        index: Expression,
        /// True if the loop accesses memory only by reading arrays from front to back. Some processors
        /// are faster at that without software prefetch.
        only_linear: bool,
    },
    /// Makes host memory hold the accessed elements of the array that a pointer leads into, from here to
    /// the next kernel, where arrays have a copy on a device. Computes nothing.
    OnHost {
        pointer: Variable,
        access: HostAccess,
    },
    /// A remark for people who read the output.
    Comment(Arc<str>),
}

/// The expressions of Loop. They have no side effects. `Load` reads memory as it is when the command runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A scalar constant.
    Constant(ScalarValue),
    /// A constant array of bytes: a pointer to `u8` that is valid during the whole program.
    Bytes(Arc<[u8]>),
    /// A constant array of scalars of one type: a pointer to them that is valid during the whole program.
    Data(Scalar, Arc<[ScalarValue]>),
    /// A variable.
    Variable(Variable),
    /// A scalar operation on operands of type `operand`. It must be defined for them.
    Scalar {
        operation: ScalarOperation,
        operand: Scalar,
        arguments: Vec<Expression>,
    },
    /// `condition ? then : otherwise`. Only the chosen operand is evaluated.
    Select {
        condition: Box<Expression>,
        then: Box<Expression>,
        otherwise: Box<Expression>,
    },
    /// The element at an index from a pointer on.
    Load {
        pointer: Box<Expression>,
        index: Box<Expression>,
    },
    /// The pointer `index` elements further. With an extent, it leads to an uninitialised array of that
    /// many elements, which is a part of the array that the pointer leads into. Accesses through the
    /// result must lie in it.
    Offset {
        pointer: Box<Expression>,
        index: Box<Expression>,
        extent: Option<Box<Expression>>,
    },
    /// The null pointer to elements of this type.
    NullPointer(Scalar),
    /// The null handle.
    NullBlock,
    /// The number of a node's constructor, an `i32`.
    NodeTag { sum: SumId, link: Box<Expression> },
}

impl Program {
    /// True if a foreign function is device code, where there is a device.
    pub fn is_of_device(&self, foreign: u32) -> bool {
        let foreign = self.foreigns.get(foreign as usize);
        foreign.is_some_and(|foreign| match foreign.kind {
            ForeignKind::Device => true,
            ForeignKind::Plain | ForeignKind::Effect => false,
        })
    }

    /// True if calls of a foreign function must keep their order in the whole program: they have side
    /// effects, number the nodes of its tables, or append to them.
    pub fn is_ordered(&self, foreign: u32) -> bool {
        self.foreigns.get(foreign as usize).is_none_or(|foreign| {
            let effect = match foreign.kind {
                ForeignKind::Effect => true,
                ForeignKind::Plain | ForeignKind::Device => false,
            };
            effect || foreign.holds_links(&self.sums)
        })
    }

    /// Returns the facts about a variable of this program.
    pub fn variable(&self, variable: Variable) -> &VariableInfo {
        &self.variables[variable.index()]
    }

    /// True if a variable is a pointer to elements.
    pub fn is_pointer(&self, variable: Variable) -> bool {
        matches!(self.variable(variable).ty, Type::Pointer(_))
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
