//! The instructions that the interpreter of Core executes.
//!
//! They are for a stack machine. An activation of a function has its slots on the stack, and above them
//! the values being computed. Its slots are the parameters, then the variables that `let`, `case` and
//! loop bodies bind.

use crate::ir::ExpressionId;
use crate::{Builtin, Member, ScalarOperation, Type, Value};

/// A compiled program.
#[derive(Debug, Default)]
pub struct Code {
    /// The functions. The entry is number 0.
    pub functions: Vec<Function>,
    /// Constants.
    pub constants: Vec<Value>,
    /// The sites that [`Instruction::Builtin`] refers to.
    pub sites: Vec<Site>,
    /// The targets of [`Instruction::Case`] by constructor.
    pub tables: Vec<Vec<u32>>,
    /// The types of [`Instruction::Vector`]'s elements.
    pub types: Vec<Type>,
}

/// A function.
#[derive(Debug, Default)]
pub struct Function {
    /// The number of its parameters.
    pub arity: usize,
    /// The number of slots of an activation, including the parameters.
    pub slots: usize,
    /// Its instructions.
    pub code: Vec<Instruction>,
}

/// An occurrence of a vector built-in.
#[derive(Debug)]
pub struct Site {
    /// The built-in.
    pub builtin: Builtin,
    /// The expression, whose place is that of errors.
    pub expression: ExpressionId,
    /// The type of its value.
    pub result: Type,
    /// True if the values it combines hold no vectors.
    pub scalars_only: bool,
    /// The number of arguments, other than functions, that it takes from the stack.
    pub operands: usize,
    /// Its functions.
    pub blocks: Vec<Block>,
    /// The members of the tables of a `table` or `datum`.
    pub members: Vec<Member>,
}

/// A function given to a built-in: instructions of the enclosing function, which run in the activation
/// of that function up to an [`Instruction::End`].
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Its first instruction.
    pub start: u32,
    /// The slot of its first parameter. The others follow.
    pub slot: u32,
    /// The number of its parameters.
    pub parameters: u32,
}

/// An instruction. "Push" and "pop" refer to the stack of values.
#[derive(Clone, Copy, Debug)]
pub enum Instruction {
    /// Pushes a constant.
    Constant(u32),
    /// Pushes the value of a slot.
    Local(u32),
    /// Moves the value out of a slot that nothing reads again.
    Take(u32),
    /// Pushes a component of the tuple in a slot. If nothing reads it again, it is moved.
    Field { slot: u32, index: u32, take: bool },
    /// Pushes a captured value.
    Captured(u32),
    /// Pushes another function of the group of the running function.
    Sibling(u32),
    /// Pops into a slot.
    Store(u32),
    /// Drops the top value.
    Drop,
    /// Pops captured values, pushes a function with them.
    Closure { function: u32, captures: u32 },
    /// Pops captured values, stores the functions `first`, `first + 1`, … with them in the slots from
    /// `slot` on.
    Group {
        first: u32,
        count: u32,
        captures: u32,
        slot: u32,
    },
    /// Continues at the target.
    Jump(u32),
    /// Pops a bool, continues at the target if it is false.
    JumpUnless(u32),
    /// Pops a value of a sum, pushes its payload, continues at the target in the table.
    Case(u32),
    /// Pops n values, pushes the tuple of them.
    Tuple(u32),
    /// Pops a tuple, pushes a component.
    Project(u32),
    /// Pops a payload, pushes a value of a sum.
    Construct(u32),
    /// Pops n values, pushes the vector of them.
    Vector { count: u32, element: u32 },
    /// Pops the operands, pushes the result.
    Scalar {
        operation: ScalarOperation,
        expression: ExpressionId,
    },
    /// Pops an index and a vector, pushes the element.
    Index(ExpressionId),
    /// Pops the operands of a site, pushes its result.
    Builtin(u32),
    /// Pops the arguments, pushes the result of a foreign function.
    Foreign {
        foreign: u32,
        count: u32,
        expression: ExpressionId,
    },
    /// Pops n arguments and below them a function, pushes its result.
    Call {
        count: u32,
        expression: ExpressionId,
    },
    /// As `Call`, and returns the result. The activation ends before the call.
    TailCall {
        count: u32,
        expression: ExpressionId,
    },
    /// Pops the arguments of a function of the running group and an unused value below them.
    CallSibling {
        function: u32,
        tail: bool,
        expression: ExpressionId,
    },
    /// Ends the activation. Its result is on top.
    Return,
    /// Ends a block or the entry. Its result is on top.
    End,
}
