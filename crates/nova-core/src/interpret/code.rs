//! The instructions that the interpreter of Core executes.
//!
//! A stack machine: an activation of a function has its slots (parameters first, then what `let`,
//! `case` and loop bodies bind) on the stack, and above them the values being computed.

use crate::ir::ExpressionId;
use crate::{Builtin, ScalarOperation, Type, Value};

/// A compiled program.
#[derive(Debug, Default)]
pub struct Code {
    /// The functions; the entry is number 0.
    pub functions: Vec<Function>,
    /// Constants.
    pub constants: Vec<Value>,
    /// What [`Instruction::Builtin`] refers to.
    pub sites: Vec<Site>,
    /// Targets of [`Instruction::Case`] by constructor.
    pub tables: Vec<Vec<u32>>,
    /// Types of [`Instruction::Vector`]'s elements.
    pub types: Vec<Type>,
}

/// A function.
#[derive(Debug, Default)]
pub struct Function {
    /// The number of parameters it has.
    pub arity: usize,
    /// The number of slots an activation has, parameters included.
    pub slots: usize,
    /// Its instructions.
    pub code: Vec<Instruction>,
}

/// A vector built-in where it stands.
#[derive(Debug)]
pub struct Site {
    /// Which.
    pub builtin: Builtin,
    /// The expression: its place is that of errors.
    pub expression: ExpressionId,
    /// The type of its value.
    pub result: Type,
    /// True if the values it combines hold no vectors.
    pub scalars_only: bool,
    /// How many arguments that are no functions it takes from the stack.
    pub operands: usize,
    /// Its functions.
    pub blocks: Vec<Block>,
}

/// A function given to a built-in: instructions of the function around it, which run in that
/// function's activation up to an [`Instruction::End`].
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Its first instruction.
    pub start: u32,
    /// The slot of its first parameter; the others follow.
    pub slot: u32,
    /// The number of parameters it has.
    pub parameters: u32,
}

/// An instruction. "Push" and "pop" are about the stack of values.
#[derive(Clone, Copy, Debug)]
pub enum Instruction {
    /// Pushes a constant.
    Constant(u32),
    /// Pushes the value of a slot.
    Local(u32),
    /// Moves the value out of a slot, which nothing will read again.
    Take(u32),
    /// Pushes a component of the tuple in a slot; moves it when nothing will read it again.
    Field { slot: u32, index: u32, take: bool },
    /// Pushes a captured value.
    Captured(u32),
    /// Pushes another function of the group that the running one belongs to.
    Sibling(u32),
    /// Pops into a slot.
    Store(u32),
    /// Drops the top.
    Drop,
    /// Pops captured values, pushes a function of them.
    Closure { function: u32, captures: u32 },
    /// Pops captured values, puts the functions `first`, `first + 1`, … of them into the slots from
    /// `slot` on.
    Group {
        first: u32,
        count: u32,
        captures: u32,
        slot: u32,
    },
    /// Goes on elsewhere.
    Jump(u32),
    /// Pops a bool; goes on elsewhere when it is false.
    JumpUnless(u32),
    /// Pops a sum's value, pushes its payload, goes on where the table says.
    Case(u32),
    /// Pops n values, pushes the tuple of them.
    Tuple(u32),
    /// Pops a tuple, pushes a component.
    Project(u32),
    /// Pops a payload, pushes a sum's value.
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
    /// As `Call`, and returns with that result: the activation ends before the call.
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
    /// Ends the activation; its result is on top.
    Return,
    /// Ends a block or the entry; its result is on top.
    End,
}
