//! Statements of the C syntax tree: blocks, what is directly inside a statement, and groups of
//! statements for matches.

use super::{Expression, Name, Type};
use nova_diag::deep;

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
    /// The statements, leaving none.
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
    /// `for (int64_t variable = 0; variable < count; variable++) { body }`; the name is another
    /// integer type's where that is given.
    For {
        ty: Type,
        variable: Name,
        count: Expression,
        body: Block,
    },
    /// The same with a hint, so that C compilers find vector instructions for it.
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
    /// `break;` of a loop; a `Switch` does not count.
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
    /// A line of the preprocessor, without `#`.
    Directive(Name),
}

/// Patterns for groups of statements: a match over some of them names the groups of the others and
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

    /// Statements after which another than the next comes.
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
                | crate::ast::Statement::Directive(_)
        };
    }

    pub(crate) use {jump_statements, mark_statements, nested_statements, value_statements};
}

pub(crate) use groups::{jump_statements, mark_statements, nested_statements, value_statements};

/// What compilers are told of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// It has few iterations and is not to be written out, after which gcc would find no vector
    /// instructions.
    NotWrittenOut,
    /// No iteration reads or writes what another one writes.
    Independent,
    /// It has eight iterations at most, which are to be written out.
    WrittenOut,
    /// All threads of a kernel share its iterations.
    SharedByThreads,
    /// The work-groups of a kernel do, one each.
    SharedByGroups,
    /// The threads of a work-group do.
    SharedInGroup,
}

impl Hint {
    /// The line before the loop, or the macro that stands for it.
    pub fn text(self) -> &'static str {
        match self {
            Hint::NotWrittenOut => "#pragma GCC unroll 1",
            Hint::Independent => "NOVA_INDEPENDENT",
            Hint::WrittenOut => "#pragma GCC unroll 8",
            Hint::SharedByThreads => "NOVA_SHARED_LOOP",
            Hint::SharedByGroups => "NOVA_GROUP_LOOP",
            Hint::SharedInGroup => "NOVA_LOCAL_LOOP",
        }
    }
}

/// Declares the shallow walks, for shared or for exclusive references.
macro_rules! walks {
    ($blocks:ident, $expressions:ident, $iter:ident $(, $mutable:tt)?) => {
        /// The blocks directly inside.
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

        /// The expressions directly inside, in the order in which they are evaluated; not those of
        /// the blocks inside.
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

    /// A call for its effect.
    pub fn call(function: impl Into<Name>, arguments: Vec<Expression>) -> Statement {
        Statement::Expression(Expression::call(function, arguments))
    }

    walks!(blocks, expressions, iter);
    walks!(blocks_mut, expressions_mut, iter_mut, mut);
}
