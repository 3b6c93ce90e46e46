//! The data types of Flat; see the crate's page for what they mean.

use crate::memory::Memory;
use crate::visit::each_statement;
use nova_core::ir::Foreign;
use nova_core::{
    ErrorKind, Scalar, ScalarOperation, ScalarValue, Strategy, SumId, SumType, Type as CoreType,
};
use nova_diag::Place;
use std::collections::BTreeSet;
use std::sync::Arc;

nova_diag::ids! {
    /// Names a variable of a program, bound once in it.
    pub struct Variable;

    /// Names a function of a program.
    pub struct FunctionId;
}

/// A program: functions over shared tables.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The sum types, those of closures included; for representations, borders and node tables.
    pub sums: Vec<SumType>,
    /// The foreign functions.
    pub foreigns: Vec<Foreign>,
    /// All functions; [`FunctionId`] indexes them.
    pub functions: Vec<Function>,
    /// What the program offers.
    pub entries: Vec<Entry>,
    /// What is known of each [`Variable`].
    pub variables: Vec<VariableInfo>,
}

/// A function that the program offers: a function of Flat and the types its users see.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: Arc<str>,
    /// Names and types of its inputs; the function's parameters are their components in order.
    pub inputs: Vec<(Arc<str>, CoreType)>,
    /// The type of its value; the function's results are its components.
    pub result: CoreType,
    /// The code.
    pub function: FunctionId,
}

/// A first-order function.
#[derive(Clone, Debug)]
pub struct Function {
    /// A name for people, unique in the program.
    pub name: Arc<str>,
    /// Its parameters; sizes of array parameters are earlier parameters.
    pub parameters: Vec<Variable>,
    /// A binder for each result, which gives its type; sizes of array results are constants,
    /// parameters, or earlier binders.
    pub results: Vec<Variable>,
    /// Its code.
    pub body: Body,
    /// True if it may call itself, directly or not, other than by tail calls to itself: then its
    /// entry checks the stack.
    pub recursive: bool,
    /// True where callers give it a reference of each array, which it releases: it can change arrays that
    /// nobody else holds. Only in Mem.
    pub takes: bool,
    /// Where it is defined; what "recursion too deep" names.
    pub place: Place,
}

/// What is known of a variable.
#[derive(Clone, Debug)]
pub struct VariableInfo {
    /// A name for people, not unique.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// Where the array lives; `None` in Flat, given for every array in Mem.
    pub memory: Option<Memory>,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A scalar.
    Scalar(Scalar),
    /// An array of scalars, row-major in meaning, of rank 1 or more; extents are `i64` atoms.
    Array(Scalar, Vec<Atom>),
    /// A memory block for elements of this type; only in Mem.
    Block(Scalar),
}

/// An operand.
#[derive(Clone, Copy, Debug)]
pub enum Atom {
    /// A variable in scope.
    Variable(Variable),
    /// A scalar constant.
    Constant(ScalarValue),
}

/// Statements in order, and what they give.
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
    /// A variable for each result, each bound here. An array type here may name sizes bound earlier
    /// in the same pattern.
    pub pattern: Vec<Variable>,
    /// What is computed.
    pub expression: Expression,
    /// Where it comes from in the source; what errors name.
    pub place: Place,
}

/// The expressions of Flat. `i64` where an operand is called an index, extent or count.
#[derive(Clone, Debug)]
pub enum Expression {
    /// The operand itself.
    Atom(Atom),
    /// A scalar operation on operands of type `operand`; where it is not defined (see
    /// [`ScalarOperation`]) a check stands before it.
    Scalar {
        operation: ScalarOperation,
        operand: Scalar,
        arguments: Vec<Atom>,
    },
    /// Stops the program with `error` unless `condition` holds; no results. `arguments` are
    /// integers of any type, as many as the kind's message shows.
    Check {
        condition: Atom,
        error: ErrorKind,
        arguments: Vec<Atom>,
    },
    /// Stops the program; its pattern has whatever types its context needs.
    Fail {
        error: ErrorKind,
        arguments: Vec<Atom>,
    },
    /// An element; one index per dimension, in range.
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
    /// `start + k·step` for k in 0..count, all of them numbers of the type of `start`.
    Iota {
        count: Atom,
        start: Atom,
        step: Atom,
    },
    /// An array of `shape` with `value` everywhere.
    Replicate { shape: Vec<Atom>, value: Atom },
    /// The same array, elsewhere.
    Copy(Variable),
    /// Vectors behind each other; `count` is the sum of their lengths.
    Concat { arrays: Vec<Variable>, count: Atom },
    /// The array with one element replaced; indices in range.
    Update {
        array: Variable,
        indices: Vec<Atom>,
        value: Atom,
    },
    /// The stable sorting permutation of 0..count: `compare(i, j)` (two `i64`) says whether element
    /// i may stand before element j. A bottom-up merge sort (docs/order.md); gives `[count]i64`.
    Sort { count: Atom, compare: Lambda },
    /// The one array operation.
    Operation(ArrayOperation),
    /// A conditional.
    If {
        condition: Atom,
        then: Body,
        otherwise: Body,
    },
    /// Case `k` for `scrutinee` = k (an `i32`); the last case also for every other value.
    Switch { scrutinee: Atom, cases: Vec<Body> },
    /// While `condition` (a body giving one bool) holds of the parameters, `body` gives the next
    /// ones; the results are the last ones. Sizes of array parameters are constants, variables from
    /// outside, or earlier parameters.
    While {
        parameters: Vec<(Variable, Atom)>,
        condition: Body,
        body: Body,
    },
    /// A call. `tail`: it is the last statement of its function (perhaps inside conditionals) and
    /// its results are the function's: it runs in the caller's space.
    Call {
        function: FunctionId,
        arguments: Vec<Atom>,
        tail: bool,
    },
    /// A call of a foreign function: components of its arguments, components of its result.
    Foreign { foreign: u32, arguments: Vec<Atom> },
    /// A new node in the table of a recursive sum: the components of the constructor's payload;
    /// gives its link, an `i64`.
    NodeNew {
        sum: SumId,
        constructor: u32,
        payload: Vec<Atom>,
    },
    /// The constructor of a node, an `i32`.
    NodeTag { sum: SumId, link: Atom },
    /// The components of the payload of a node whose constructor this is.
    NodePayload {
        sum: SumId,
        constructor: u32,
        link: Atom,
    },
    /// True if other threads wait for work, so that an operation of unknown cost is worth dividing:
    /// a bool. Nobody says when it is which, so what a program gives must not depend on it.
    MaySplit,
    /// Writes text and a value of type `ty`, given by its components, to standard error; no
    /// results.
    Trace {
        text: Arc<[u8]>,
        ty: CoreType,
        components: Vec<Atom>,
    },
    /// A block for `count` elements, not initialised; only in Mem.
    Allocate {
        element: Scalar,
        count: Atom,
        destination: Option<Destination>,
    },
    /// The same array in a block that nobody else holds, row-major: its own block if that is so when
    /// the program runs, else a copy. Nothing in the array's block may be used afterwards; only in
    /// Mem.
    Unique(Variable),
}

/// Memory in which a component of an entry's result is handed to the caller: his buffer where that
/// may be written to, else memory that becomes his. Elements of `count` structures lie `stride`
/// apart, from the start of the block on; what lies between them is not this block's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Which result of the entry's function.
    pub component: u32,
    /// In elements.
    pub stride: u32,
}

/// Views: no element is moved.
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
    /// First index.
    pub start: Atom,
    /// Distance.
    pub step: Atom,
    /// How many.
    pub count: Atom,
}

/// An anonymous function in place.
#[derive(Clone, Debug)]
pub struct Lambda {
    /// Its parameters.
    pub parameters: Vec<Variable>,
    /// Its code.
    pub body: Body,
}

/// A body run for every index of a space (see the crate's page).
///
/// The body's results are the next carries, then what each output consumes, in order. The
/// operation's results are the final carries, then the results of each output, in order.
#[derive(Clone, Debug)]
pub struct ArrayOperation {
    /// Extents of the index space.
    pub shape: Vec<Atom>,
    /// The index in each dimension, `i64`; elements run in row-major order.
    pub indices: Vec<Variable>,
    /// What may run its indices.
    pub level: Level,
    /// What the program says of it; binding: no pass makes other loops of such an operation.
    pub strategy: Option<Strategy>,
    /// State passed from each index to the next, and its start; none: indices are independent.
    pub carries: Vec<(Variable, Atom)>,
    /// What runs for each index.
    pub body: Body,
    /// What becomes of its results.
    pub outputs: Vec<Output>,
}

/// What may run the indices of an operation (dpia.txt §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// One thread, in order.
    Sequential,
    /// The threads of a pool, each some of them, in any order: the outputs are `Map`, `Join`, `Collect` and
    /// a `Scatter` that has no order, and there are no carries but those of a loop over work-groups, which hand them on in
    /// order where a device can have them take turns; elsewhere one thread runs such a loop.
    Grid,
}

/// What a reduction makes of its elements: all that docs/order.md says, or one of the steps of it, for
/// elements that are reduced in parts. Where every part has the same `2^k` blocks, and the last one
/// what is left, the parts are subtrees of the tree of adjacent pairs over all blocks: `Pairs` of what
/// `Part` gives of each of them is what `Whole` gives of all, to the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bracketing {
    /// `start ⊕ r`, where `r` is what the blocks give; `start` of no elements.
    Whole,
    /// `r` alone; `start` of no elements.
    Part,
    /// `start ⊕ r`, where `r` is what the tree of adjacent pairs gives of the elements themselves;
    /// `start` of no elements. Strict or not, commuting or not.
    Pairs,
    /// The elements from left to right, as those of a piece; `start` of no elements. Strict or not,
    /// commuting or not.
    Left,
}

/// The places at which a scatter stores its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Positions {
    /// At the index that the body gives with them; outside of the destinations they are skipped, and
    /// the last of several wins.
    Given,
    /// At the operation's own indices, each counted from one of these starts; in range, if there are any. So
    /// each element of a block of the destinations is written once.
    Block(Vec<Atom>),
    /// As `Given`, but of several values for one element any one may win: they are equal, or nobody reads
    /// the element. So threads may share the values.
    Unordered,
    /// As `Given`, but of the values for one element and what it was before the greatest wins. The elements
    /// are integers. Threads may share the values.
    Greatest,
}

impl Positions {
    /// True if the body gives an index with the values.
    pub fn are_given(&self) -> bool {
        match self {
            Positions::Given | Positions::Unordered | Positions::Greatest => true,
            Positions::Block(_) => false,
        }
    }

    /// True if what becomes of the destinations does not depend on the order in which values are stored.
    pub fn are_orderless(&self) -> bool {
        match self {
            Positions::Given => false,
            Positions::Block(_) | Positions::Unordered | Positions::Greatest => true,
        }
    }
}

/// What an array operation makes of the values its body gives. `n` is the number of indices; all
/// outputs but `Map`, `Reduce` and a `Scatter` of a block demand a space of rank 1.
#[derive(Clone, Debug)]
pub enum Output {
    /// Consumes a scalar; gives the array of them, with the space's extents.
    Map,
    /// Consumes `start.len()` scalars; gives as many: `start ⊕ v0 ⊕ v1 …` in the order of
    /// docs/order.md, or a part of that. The lambda takes left then right operand.
    Reduce {
        lambda: Lambda,
        start: Vec<Atom>,
        commutes: bool,
        bracketing: Bracketing,
    },
    /// Consumes `start.len()` scalars; gives as many `[n]` arrays of the running results.
    Scan {
        lambda: Lambda,
        start: Vec<Atom>,
        exclusive: bool,
    },
    /// Consumes a bool and `values` scalars; gives the number of times it was true and, for each
    /// scalar, the array `[count]` of those kept, in order.
    Filter { values: usize },
    /// Consumes a scalar per destination, behind an index where positions are given; gives the
    /// destinations with those elements replaced. Destinations are arrays of one shape, and of the
    /// space's rank.
    Scatter {
        destinations: Vec<Variable>,
        positions: Positions,
    },
    /// Consumes an index and `start.len()` scalars; gives as many `[bins]` arrays: each bin is
    /// `start ⊕` its values in order; an index outside is skipped. The lambda commutes.
    Histogram {
        lambda: Lambda,
        start: Vec<Atom>,
        bins: Atom,
    },
    /// Consumes a length and `values` arrays `[length]`; gives `starts` and `ends` (`[n]i64`, from 0,
    /// dense), the total, and for each array the concatenation `[total]` in order.
    Collect { values: usize },
    /// Consumes an index and an array; gives the array of this shape in which element i of that array
    /// stands at the index plus i (`join` of dpia.txt §3), each its own part; behind the first one their
    /// extents are those of the shape. What no array fills, nobody may read.
    Join { shape: Vec<Atom> },
}

impl Program {
    /// What is known of a variable of this program.
    pub fn variable(&self, variable: Variable) -> &VariableInfo {
        &self.variables[variable.index()]
    }

    /// The type of a variable of this program.
    pub fn ty(&self, variable: Variable) -> &Type {
        &self.variable(variable).ty
    }

    /// The scalar type of an atom that is no array.
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

    /// The functions that are those of one entry and that nothing calls.
    pub fn entry_functions(&self) -> BTreeSet<FunctionId> {
        let mut apart = BTreeSet::new();
        let mut others = BTreeSet::new();
        for entry in &self.entries {
            if !apart.insert(entry.function) {
                others.insert(entry.function);
            }
        }
        for function in &self.functions {
            each_statement(&function.body, &mut |statement| {
                if let Expression::Call { function, .. } = &statement.expression {
                    others.insert(*function);
                }
            });
        }
        apart.retain(|function| !others.contains(function));
        apart
    }

    /// A function of this program.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }
}

impl Type {
    /// The extents of an array; none of what is no array.
    pub fn shape(&self) -> &[Atom] {
        match self {
            Type::Array(_, shape) => shape,
            Type::Scalar(_) | Type::Block(_) => &[],
        }
    }

    /// The scalar, or the type of the elements.
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

impl Atom {
    /// The `i64` constant.
    pub fn index(value: i64) -> Atom {
        Atom::Constant(ScalarValue::I64(value))
    }
}

/// Atoms are equal when they are the same variable or the same constant to the bit.
impl PartialEq for Atom {
    fn eq(&self, other: &Atom) -> bool {
        match (self, other) {
            (Atom::Variable(a), Atom::Variable(b)) => a == b,
            (Atom::Constant(a), Atom::Constant(b)) => a.same(*b),
            (Atom::Variable(_), Atom::Constant(_)) | (Atom::Constant(_), Atom::Variable(_)) => {
                false
            }
        }
    }
}

impl Eq for Atom {}

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
    /// True if it binds a block of its own, which no other block shares memory with.
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
    /// True if the program says who runs it: a barrier to what fuses, divides or moves operations.
    pub fn is_marked(&self) -> bool {
        self.strategy.is_some()
    }
}

impl Output {
    /// How many results of the body it consumes.
    pub fn consumes(&self) -> usize {
        match self {
            Output::Map => 1,
            Output::Reduce { start, .. } | Output::Scan { start, .. } => start.len(),
            Output::Filter { values } | Output::Collect { values } => values + 1,
            Output::Scatter {
                destinations,
                positions,
            } => destinations.len() + usize::from(positions.are_given()),
            Output::Histogram { start, .. } => start.len() + 1,
            Output::Join { .. } => 2,
        }
    }

    /// How many results of the operation it gives.
    pub fn gives(&self) -> usize {
        match self {
            Output::Map => 1,
            Output::Reduce { start, .. }
            | Output::Scan { start, .. }
            | Output::Histogram { start, .. } => start.len(),
            Output::Filter { values } => values + 1,
            Output::Scatter { destinations, .. } => destinations.len(),
            Output::Collect { values } => values + 3,
            Output::Join { .. } => 1,
        }
    }
}
