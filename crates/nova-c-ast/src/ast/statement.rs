//! Statements of the C syntax tree: blocks, walks over the direct children of a statement, and patterns
//! for groups of statements.

use crate::ast::{Expression, Name, Type};
use nova_diag::{Place, deep};

/// Statements in order. They nest as deep as the program does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block(pub Vec<Statement>);

impl Drop for Block {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            deep(|| self.0.clear());
        }
    }
}

impl From<Vec<Statement>> for Block {
    fn from(statements: Vec<Statement>) -> Self {
        Block(statements)
    }
}

impl Block {
    /// Takes the statements out of the block, which is empty afterwards.
    pub fn take(&mut self) -> Vec<Statement> {
        std::mem::take(&mut self.0)
    }
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `T name = value;`
    Declare {
        ty: Type,
        name: Name,
        value: Option<Expression>,
    },
    /// `target = value;`
    Assign {
        target: Expression,
        value: Expression,
    },
    /// `expression;`
    Expression(Expression),
    /// `if (condition) { then } else { otherwise }`
    If {
        condition: Expression,
        then: Block,
        otherwise: Block,
    },
    /// `for (ty variable = 0; variable < count; variable++) { body }`.
    For {
        ty: Type,
        variable: Name,
        count: Expression,
        body: Block,
    },
    /// A counted loop over an `int64_t` with a hint for compilers, so that they find vector
    /// instructions for it.
    Lanes {
        hint: Hint,
        variable: Name,
        count: Expression,
        body: Block,
    },
    /// `while (condition) { body }`; without a condition `for (;;) { body }`.
    While {
        condition: Option<Expression>,
        body: Block,
    },
    /// `switch (value) { case 0: … default: … }`: the last case is the default.
    Switch {
        value: Expression,
        cases: Vec<Block>,
    },
    /// `break;` of a loop; it never leaves a `Switch`.
    Break,
    /// `continue;`
    Continue,
    /// `return;` or `return value;`
    Return(Option<Expression>),
    /// `goto label;`
    Goto(Name),
    /// `label:;`
    Label(Name),
    /// `{ … }`
    Block(Block),
    /// `/* text */`
    Comment(Name),
    /// `/* file:line:column */`: the place in the source of the loop that follows.
    Place(Place),
    /// `#line …`: what follows comes from this line of the source; without a place, from the C file
    /// itself ([`crate::passes::lines`]).
    Line(Option<Place>),
}

/// Patterns for groups of statements. A match over some statements names the groups of the others, and
/// stays exhaustive.
mod groups {
    /// Statements that compute values.
    macro_rules! value_statements {
        () => {
            crate::ast::Statement::Declare { .. }
                | crate::ast::Statement::Assign { .. }
                | crate::ast::Statement::Expression(_)
        };
    }

    /// Statements with blocks inside.
    macro_rules! nested_statements {
        () => {
            crate::ast::Statement::If { .. }
                | crate::ast::Statement::For { .. }
                | crate::ast::Statement::Lanes { .. }
                | crate::ast::Statement::While { .. }
                | crate::ast::Statement::Switch { .. }
                | crate::ast::Statement::Block(_)
        };
    }

    /// Statements that jump: the next one does not follow.
    macro_rules! jump_statements {
        () => {
            crate::ast::Statement::Break
                | crate::ast::Statement::Continue
                | crate::ast::Statement::Return(_)
                | crate::ast::Statement::Goto(_)
        };
    }

    /// Lines that do nothing themselves.
    macro_rules! mark_statements {
        () => {
            crate::ast::Statement::Label(_)
                | crate::ast::Statement::Comment(_)
                | crate::ast::Statement::Place(_)
                | crate::ast::Statement::Line(_)
        };
    }

    pub(crate) use {jump_statements, mark_statements, nested_statements, value_statements};
}

pub(crate) use groups::{jump_statements, mark_statements, nested_statements, value_statements};

/// A hint to compilers about a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// It has few iterations and is not to be unrolled; if it were, gcc would find no vector
    /// instructions.
    NotUnrolled,
    /// No iteration reads or writes what another one writes.
    Independent,
    /// It has at most eight iterations, which are to be unrolled.
    Unrolled,
    /// All threads of a kernel share its iterations.
    SharedByThreads,
    /// The work-groups of a kernel share its iterations; each iteration belongs to one group.
    SharedByGroups,
    /// The threads of a work-group share its iterations.
    SharedInGroup,
}

impl Hint {
    /// Returns the line before the loop, or the macro that stands for the loop.
    pub fn text(self) -> &'static str {
        match self {
            Hint::NotUnrolled => "#pragma GCC unroll 1",
            Hint::Independent => "NOVA_INDEPENDENT",
            Hint::Unrolled => "#pragma GCC unroll 8",
            Hint::SharedByThreads => "NOVA_SHARED_LOOP",
            Hint::SharedByGroups => "NOVA_GROUP_LOOP",
            Hint::SharedInGroup => "NOVA_LOCAL_LOOP",
        }
    }
}

/// Declares the walks over direct children, for shared or for exclusive references.
macro_rules! walks {
    ($blocks:ident, $expressions:ident, $iter:ident $(, $mutable:tt)?) => {
        /// Returns the blocks directly inside.
        pub fn $blocks(& $($mutable)? self) -> Vec<& $($mutable)? Block> {
            match self {
                Statement::If { then, otherwise, .. } => vec![then, otherwise],
                Statement::For { body, .. }
                | Statement::Lanes { body, .. }
                | Statement::While { body, .. }
                | Statement::Block(body) => vec![body],
                Statement::Switch { cases, .. } => cases.$iter().collect(),
                value_statements!() | jump_statements!() | mark_statements!() => Vec::new(),
            }
        }

        /// Returns the expressions directly inside, in the order of their evaluation; not those of the
        /// blocks inside.
        pub fn $expressions(& $($mutable)? self) -> Vec<& $($mutable)? Expression> {
            match self {
                Statement::Assign { target, value } => vec![value, target],
                Statement::Declare { value, .. } | Statement::Return(value) => {
                    value.$iter().collect()
                }
                Statement::While { condition, .. } => condition.$iter().collect(),
                Statement::Expression(value)
                | Statement::If { condition: value, .. }
                | Statement::Switch { value, .. }
                | Statement::For { count: value, .. }
                | Statement::Lanes { count: value, .. } => vec![value],
                Statement::Break | Statement::Continue | Statement::Goto(_) => Vec::new(),
                Statement::Block(_) | mark_statements!() => Vec::new(),
            }
        }
    };
}

impl Statement {
    /// `target = value;`
    pub fn assign(target: Expression, value: Expression) -> Statement {
        Statement::Assign { target, value }
    }

    /// `ty name = value;`
    pub fn declare(ty: Type, name: impl Into<Name>, value: Expression) -> Statement {
        Statement::Declare {
            ty,
            name: name.into(),
            value: Some(value),
        }
    }

    /// `if (condition) { then }`
    pub fn when(condition: Expression, then: Vec<Statement>) -> Statement {
        Statement::If {
            condition,
            then: then.into(),
            otherwise: Block::default(),
        }
    }

    /// Returns a call whose result is not used.
    pub fn call(function: impl Into<Name>, arguments: Vec<Expression>) -> Statement {
        Statement::Expression(Expression::call(function, arguments))
    }

    walks!(blocks, expressions, iter);
    walks!(blocks_mut, expressions_mut, iter_mut, mut);
}
