//! The data types of Flat. The page of the crate explains their semantics.

mod outputs;

pub use crate::atom::{Atom, Variable};
pub use outputs::{Bracketing, Output, Positions};

use crate::memory::Memory;
use nova_core::ir::Foreign;
use nova_core::{
    ErrorKind, Member, Scalar, ScalarOperation, Strategy, SumId, SumType, Type as CoreType,
};
use nova_diag::Place;
use std::sync::Arc;

nova_diag::ids! {
    /// Names a function of a program.
    pub struct FunctionId;
}

/// A program: functions over shared tables.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The sum types, including those of closures. Representations, ABIs and node tables refer to them.
    pub sums: Vec<SumType>,
    /// The foreign functions.
    pub foreigns: Vec<Foreign>,
    /// All functions, indexed by [`FunctionId`].
    pub functions: Vec<Function>,
    /// The functions that the program exports.
    pub entries: Vec<Entry>,
    /// The facts about each [`Variable`].
    pub variables: Vec<VariableInfo>,
}

/// An exported function: a function of Flat, and the types that its users see.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: Arc<str>,
    /// Names and types of its inputs. The function's parameters are their components in order.
    pub inputs: Vec<(Arc<str>, CoreType)>,
    /// The type of its value. The function's results are its components.
    pub result: CoreType,
    /// The code.
    pub function: FunctionId,
}

/// A first-order function.
#[derive(Clone, Debug)]
pub struct Function {
    /// A name for people, unique in the program.
    pub name: Arc<str>,
    /// Its parameters. Sizes of array parameters are earlier parameters.
    pub parameters: Vec<Variable>,
    /// A binder for each result, which gives its type. Sizes of array results are constants,
    /// parameters, or earlier binders.
    pub results: Vec<Variable>,
    /// Its code.
    pub body: Body,
    /// True if it may call itself, directly or indirectly, other than by tail calls to itself. Then its
    /// entry checks the stack.
    pub recursive: bool,
    /// True if callers give it a reference to each array, which it releases. So it can change arrays
    /// that nothing else holds. Only in Mem.
    pub takes: bool,
    /// The place of its definition, which "recursion too deep" names.
    pub place: Place,
}

/// Facts about a variable.
#[derive(Clone, Debug)]
pub struct VariableInfo {
    /// A name for people, not unique.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// The memory of the array: `None` in Flat, given for every array in Mem.
    pub memory: Option<Memory>,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A scalar.
    Scalar(Scalar),
    /// An array of scalars, row-major in meaning, of rank 1 or more. Extents are `i64` atoms.
    Array(Scalar, Vec<Atom>),
    /// A memory block for elements of this type; only in Mem.
    Block(Scalar),
}

/// Statements in order, and the results that they give.
#[derive(Debug, Default)]
pub struct Body {
    /// The statements.
    pub statements: Vec<Statement>,
    /// The results.
    pub results: Vec<Atom>,
}

/// Binds the results of one expression.
#[derive(Clone, Debug)]
pub struct Statement {
    /// A variable for each result, each bound here. An array type here may name sizes bound earlier in
    /// the same pattern.
    pub pattern: Vec<Variable>,
    /// The expression that computes the results.
    pub expression: Expression,
    /// Its place in the source, which errors name.
    pub place: Place,
}

impl Statement {
    /// Creates a statement that binds one variable.
    pub fn binding(variable: Variable, expression: Expression, place: Place) -> Statement {
        Statement {
            pattern: vec![variable],
            expression,
            place,
        }
    }
}

/// The expressions of Flat. Operands that are called index, extent or count are `i64`.
#[derive(Clone, Debug)]
pub enum Expression {
    /// The operand itself.
    Atom(Atom),
    /// A scalar operation on operands of type `operand`. Where it is not defined (see
    /// [`ScalarOperation`]) a check precedes it. Bits may be those of truth values: `and` and `or` of
    /// two that are known, as in the operator of a reduction.
    Scalar {
        operation: ScalarOperation,
        operand: Scalar,
        arguments: Vec<Atom>,
    },
    /// Stops the program with `error` unless `condition` holds. It has no results. `arguments` are
    /// integers of any type, as many as the message of the error shows.
    Check {
        condition: Atom,
        error: ErrorKind,
        arguments: Vec<Atom>,
    },
    /// Stops the program. Its pattern has whatever types its context needs.
    Fail {
        error: ErrorKind,
        arguments: Vec<Atom>,
    },
    /// An element. There is one index per dimension, in range.
    Index { array: Variable, indices: Vec<Atom> },
    /// Another view of the same elements.
    View { array: Variable, view: View },
    /// A vector of given elements.
    Literal {
        element: Scalar,
        elements: Vec<Atom>,
    },
    /// A constant `[n]u8`.
    Bytes(Arc<[u8]>),
    /// `start + k·step` for k in 0..count, all representable in the type of `start`.
    Iota {
        count: Atom,
        start: Atom,
        step: Atom,
    },
    /// An array of `shape` with `value` everywhere.
    Replicate { shape: Vec<Atom>, value: Atom },
    /// The same array, in other memory.
    Copy(Variable),
    /// Vectors one after another. `count` is the sum of their lengths.
    Concat { arrays: Vec<Variable>, count: Atom },
    /// The array with one element replaced. Indices are in range.
    Update {
        array: Variable,
        indices: Vec<Atom>,
        value: Atom,
    },
    /// The stable sorting permutation of 0..count. `compare(i, j)` (two `i64`) tells whether element i
    /// may precede element j. It is a bottom-up merge sort (docs/order.md), and gives `[count]i64`.
    Sort { count: Atom, compare: Lambda },
    /// The stable ascending order of `[count]u32` or `[count]u64` keys, at most 2³², by their bits from `low` on.
    /// Of the least `first` keys, at most `count`, it gives arrays of this length: their positions (`i64`), the
    /// keys themselves, or both. Only a sort that gives all keys, and no positions, leaves out bits.
    SortKeys {
        count: Atom,
        first: Atom,
        keys: Variable,
        low: u32,
        gives: Vec<Sorted>,
    },
    /// The one array operation.
    Operation(ArrayOperation),
    /// A conditional.
    If {
        condition: Atom,
        then: Body,
        otherwise: Body,
    },
    /// Case `k` for `scrutinee` = k (an `i32`). The last case is also that of every other value.
    Switch { scrutinee: Atom, cases: Vec<Body> },
    /// While `condition` (a body giving one bool) holds of the parameters, `body` gives the next ones.
    /// The results are the last ones. Sizes of array parameters are constants, variables from outside,
    /// or earlier parameters.
    While {
        parameters: Vec<(Variable, Atom)>,
        condition: Body,
        body: Body,
    },
    /// A call. If `tail`, it is the last statement of its function (perhaps inside conditionals) and
    /// its results are those of the function, so it reuses the caller's stack frame.
    Call {
        function: FunctionId,
        arguments: Vec<Atom>,
        tail: bool,
    },
    /// A call of a foreign function, from components of its arguments to components of its result.
    Foreign { foreign: u32, arguments: Vec<Atom> },
    /// Appends a node to the table of a recursive sum, with the components of the constructor's
    /// payload. Gives its link, an `i64`.
    NodeNew {
        sum: SumId,
        constructor: u32,
        payload: Vec<Atom>,
    },
    /// The constructor of a node, an `i32`.
    NodeTag { sum: SumId, link: Atom },
    /// The components of the payload of a node, which must have this constructor.
    NodePayload {
        sum: SumId,
        constructor: u32,
        link: Atom,
    },
    /// The nodes that a link reaches, and their numbers. `members` are the types of the group. The first is that of the link. For each member in order there are
    /// five results. `count` (i64) nodes of the member are reached. `order` (`[count]i64`) gives the link
    /// of each number. The number of link `l` is `number[l - lowest]` (`lowest` i64, `span` i64, `number`
    /// `[span]i32`). Elements of `number` for other nodes must not be read.
    ///
    /// The order is breadth first, over one queue of the nodes of all members, and each node has one
    /// number. All nodes of a constructor without payload share one number. See [`crate::links`].
    NodesReached { members: Vec<Member>, link: Atom },
    /// The tables of the datum at a link, root first: for each member the components of a vector of its
    /// nodes, with `int` links. Members and order are as in `NodesReached`. If it is not `exact`, the order
    /// of the nodes behind the root does not matter, nor do further nodes with links to nodes of the
    /// tables.
    TableOpen {
        exact: bool,
        members: Vec<Member>,
        link: Atom,
    },
    /// The link of the datum that tables represent, given by their components as `TableOpen` gives them.
    /// `root` is the number of a node of the first member, an `i64`. If `checked`, a link or root that is
    /// out of range is an error, and so is a node that contains itself. Otherwise there are none.
    TableClose {
        checked: bool,
        members: Vec<Member>,
        root: Atom,
        tables: Vec<Atom>,
    },
    /// The tables of the same datum, of which node 0 of the first is the root. Nodes to which no node links
    /// may be missing, so that later operations have less to do. Operands and results are the components
    /// of tables, as `TableOpen` gives them.
    TableShrink {
        members: Vec<Member>,
        tables: Vec<Atom>,
    },
    /// Reserves places for `count` nodes that follow each other, and gives the link of the first, an
    /// `i64`. Each must be stored once before it is read.
    NodesReserve { sum: SumId, count: Atom },
    /// Stores a node in a reserved place, with the components of the constructor's payload. It has no
    /// results.
    NodeStore {
        sum: SumId,
        constructor: u32,
        link: Atom,
        payload: Vec<Atom>,
    },
    /// Gives the same link, an `i64`, through which nodes stored before may be read.
    NodesSeal { sum: SumId, link: Atom },
    /// True if no node of the ranges contains itself. There is a range for each member: `count` nodes from
    /// the link `first` on.
    NodesAcyclic {
        members: Vec<Member>,
        first: Vec<Atom>,
        counts: Vec<Atom>,
    },
    /// True if other threads wait for work, so that an operation of unknown cost is worth
    /// parallelising. The answer is a bool and unspecified, so the result of a program must not depend
    /// on it.
    MaySplit,
    /// Writes text and a value of type `ty`, given by its components, to standard error. It has no
    /// results.
    Trace {
        text: Arc<[u8]>,
        ty: CoreType,
        components: Vec<Atom>,
    },
    /// A block for `count` elements, not initialised. Only in Mem.
    Allocate {
        element: Scalar,
        count: Atom,
        destination: Option<Destination>,
    },
    /// The same array in a block that nothing else holds, row-major. It is the array's own block if
    /// nothing else holds that at run time, else a copy. Nothing in the array's block may be used
    /// afterwards. Only in Mem.
    Unique(Variable),
}

/// Memory in which a component of an entry's result is handed to the caller. It is the caller's buffer
/// if that is writable, else memory that becomes the caller's. Elements of `count` structures lie
/// `stride` apart, from the start of the block on. The elements in between do not belong to the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The index of the result of the entry's function.
    pub component: u32,
    /// The distance of adjacent elements, in elements.
    pub stride: u32,
}

/// A result of [`Expression::SortKeys`], an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sorted {
    /// The positions of the keys in ascending order.
    Positions,
    /// The keys in ascending order.
    Keys,
}

impl Sorted {
    /// All results.
    pub const ALL: [Sorted; 2] = [Sorted::Positions, Sorted::Keys];

    /// Returns its word in the text of programs.
    pub fn word(self) -> &'static str {
        match self {
            Sorted::Positions => "positions",
            Sorted::Keys => "keys",
        }
    }
}

/// The views, which move no elements.
#[derive(Clone, Debug)]
pub enum View {
    /// In each dimension `count` elements from `start` by `step` (any sign), all in range.
    Slice(Vec<SliceDimension>),
    /// Dimension k of the result is dimension `permutation[k]` of the array.
    Transpose(Vec<u32>),
    /// The same elements in row-major order with other extents of the same product.
    Reshape(Vec<Atom>),
    /// The sub-array at leading indices, fewer than the rank.
    Row(Vec<Atom>),
}

/// One dimension of a slice.
#[derive(Clone, Copy, Debug)]
pub struct SliceDimension {
    /// The first index.
    pub start: Atom,
    /// The distance between elements.
    pub step: Atom,
    /// The number of elements.
    pub count: Atom,
}

/// An anonymous function.
#[derive(Clone, Debug)]
pub struct Lambda {
    /// Its parameters.
    pub parameters: Vec<Variable>,
    /// Its code.
    pub body: Body,
}

/// A body run for every index of a space (see the page of the crate).
///
/// The results of the body are the next carries, then the values that each output consumes, in order.
/// The results of the operation are the final carries, then the results of each output, in order.
#[derive(Clone, Debug)]
pub struct ArrayOperation {
    /// The extents of the index space.
    pub shape: Vec<Atom>,
    /// The index in each dimension, `i64`. Elements run in row-major order.
    pub indices: Vec<Variable>,
    /// The threads that may run its indices.
    pub level: Level,
    /// The strategy that the program prescribes. It is binding: no pass turns such an operation into
    /// other loops.
    pub strategy: Option<Strategy>,
    /// The state passed from each index to the next, with its start values. Without state the indices
    /// are independent.
    pub carries: Vec<(Variable, Atom)>,
    /// The code that runs for each index.
    pub body: Body,
    /// The outputs that consume its results.
    pub outputs: Vec<Output>,
}

/// The threads that may run the indices of an operation (dpia.txt §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// One thread, in order.
    Sequential,
    /// The threads of a pool, each running some of the indices, in any order. The outputs are `Map`,
    /// `Join`, `Collect` and a `Scatter` that has no order. Only a loop over work-groups may have
    /// carries. Its groups propagate them in order, where a device supports ordered regions. Elsewhere
    /// one thread runs such a loop.
    Grid,
}

impl Program {
    /// Returns the facts about a variable of this program.
    pub fn variable(&self, variable: Variable) -> &VariableInfo {
        &self.variables[variable.index()]
    }

    /// Returns the type of a variable of this program.
    pub fn ty(&self, variable: Variable) -> &Type {
        &self.variable(variable).ty
    }

    /// Returns the scalar type of an atom that is no array.
    pub fn scalar_of(&self, atom: Atom) -> Option<Scalar> {
        match atom {
            Atom::Constant(value) => Some(value.scalar()),
            Atom::Variable(variable) => match self.ty(variable) {
                Type::Scalar(scalar) => Some(*scalar),
                Type::Array(..) | Type::Block(_) => None,
            },
        }
    }

    /// Adds a variable.
    pub fn add_variable(&mut self, name: impl Into<Arc<str>>, ty: Type) -> Variable {
        self.variables.push(VariableInfo {
            name: name.into(),
            ty,
            memory: None,
        });
        Variable(self.variables.len() as u32 - 1)
    }

    /// Returns a function of this program.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }
}

impl Type {
    /// Returns the extents of an array, or none for other types.
    pub fn shape(&self) -> &[Atom] {
        match self {
            Type::Array(_, shape) => shape,
            Type::Scalar(_) | Type::Block(_) => &[],
        }
    }

    /// Returns the type of the scalar or of the elements.
    pub fn element(&self) -> Scalar {
        match self {
            Type::Scalar(scalar) | Type::Array(scalar, _) | Type::Block(scalar) => *scalar,
        }
    }

    /// True if it is an array.
    pub fn is_array(&self) -> bool {
        match self {
            Type::Array(..) => true,
            Type::Scalar(_) | Type::Block(_) => false,
        }
    }
}

impl Clone for Body {
    /// Bodies nest as deep as the program does.
    fn clone(&self) -> Body {
        nova_diag::deep(|| Body {
            statements: self.statements.clone(),
            results: self.results.clone(),
        })
    }
}

impl Drop for Body {
    /// Bodies nest as deep as the program does.
    fn drop(&mut self) {
        if !self.statements.is_empty() {
            nova_diag::deep(|| self.statements.clear());
        }
    }
}

impl Expression {
    /// True if its bodies run any number of times. Otherwise one of them runs once.
    pub fn repeats(&self) -> bool {
        matches!(
            self,
            Expression::Sort { .. } | Expression::Operation(_) | Expression::While { .. }
        )
    }

    /// True if it binds a block of its own, which shares memory with no other block.
    pub fn is_allocation(&self) -> bool {
        matches!(self, Expression::Allocate { .. })
    }

    /// True if that block is memory in which a result is handed to the caller.
    pub fn is_destination(&self) -> bool {
        matches!(
            self,
            Expression::Allocate {
                destination: Some(_),
                ..
            }
        )
    }
}

impl ArrayOperation {
    /// True if the program prescribes a strategy, which is a barrier to passes that fuse, parallelise
    /// or move operations.
    pub fn is_marked(&self) -> bool {
        self.strategy.is_some()
    }
}
