//! The C syntax tree that all dialects share. It holds the C that is emitted, without layout.
//!
//! Names are final. Every local variable of a function has a name that is unique in the function, so
//! that passes over the tree need no scopes.

mod statement;

pub use statement::{Block, Hint, Statement};
pub(crate) use statement::{jump_statements, mark_statements, nested_statements, value_statements};

use std::collections::HashSet;
use std::sync::Arc;

/// An identifier.
pub type Name = Arc<str>;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `void`, a scalar, a typedef.
    Name(Name),
    /// `struct NAME`.
    Struct(Name),
    /// `T *`.
    Pointer(Arc<Type>),
    /// `const T`.
    Const(Arc<Type>),
    /// `T name[count]`; only of a variable.
    Array(Arc<Type>, u32),
}

impl Type {
    /// Returns a named type.
    pub fn name(name: impl Into<Name>) -> Type {
        Type::Name(name.into())
    }

    /// `self *`.
    pub fn pointer(self) -> Type {
        Type::Pointer(Arc::new(self))
    }

    /// `const self`.
    pub fn constant(self) -> Type {
        Type::Const(Arc::new(self))
    }
}

/// Operators before their operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Minus,
    Not,
    Complement,
    Dereference,
    AddressOf,
}

/// Operators between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A variable, function or macro.
    Name(Name),
    /// A number as written, perhaps with a minus sign.
    Literal(Name),
    /// A string, of these bytes.
    Text(Arc<[u8]>),
    /// An operator before its operand.
    Unary(Unary, Box<Expression>),
    /// An operator between its operands.
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// `c ? a : b`.
    Conditional(Box<[Expression; 3]>),
    /// A call of a function without side effects; it may be left out when its value is not used.
    Pure(Name, Vec<Expression>),
    /// A call of a function or macro.
    Call(Name, Vec<Expression>),
    /// `a[i]`.
    Index(Box<Expression>, Box<Expression>),
    /// `a.f`.
    Member(Box<Expression>, Name),
    /// `a->f`.
    Arrow(Box<Expression>, Name),
    /// `(T)a`.
    Cast(Type, Box<Expression>),
    /// `sizeof(T)`.
    SizeOf(Type),
    /// `{a, b, …}`, only to initialise.
    Braces(Vec<Expression>),
}

impl Expression {
    /// Returns a name.
    pub fn name(name: impl Into<Name>) -> Expression {
        Expression::Name(name.into())
    }

    /// Returns a literal.
    pub fn literal(text: impl Into<Name>) -> Expression {
        Expression::Literal(text.into())
    }

    /// Returns the value of a literal of an integer without a suffix.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Expression::Literal(text) => text.parse().ok(),
            _others => None,
        }
    }

    /// Returns a string.
    pub fn text(text: impl AsRef<[u8]>) -> Expression {
        Expression::Text(text.as_ref().into())
    }

    /// Returns an operator before an operand.
    pub fn unary(operator: Unary, operand: Expression) -> Expression {
        Expression::Unary(operator, Box::new(operand))
    }

    /// Returns an operator between operands.
    pub fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
        Expression::Binary(operator, Box::new(left), Box::new(right))
    }

    /// `condition ? then : otherwise`.
    pub fn conditional(condition: Self, then: Self, otherwise: Self) -> Expression {
        Expression::Conditional(Box::new([condition, then, otherwise]))
    }

    /// Returns a call without side effects.
    pub fn pure(function: impl Into<Name>, arguments: Vec<Expression>) -> Expression {
        Expression::Pure(function.into(), arguments)
    }

    /// Returns a call.
    pub fn call(function: impl Into<Name>, arguments: Vec<Expression>) -> Expression {
        Expression::Call(function.into(), arguments)
    }

    /// `self[index]`.
    pub fn index(self, index: Expression) -> Expression {
        Expression::Index(Box::new(self), Box::new(index))
    }

    /// `self.field`.
    pub fn member(self, field: impl Into<Name>) -> Expression {
        Expression::Member(Box::new(self), field.into())
    }

    /// `self->field`.
    pub fn arrow(self, field: impl Into<Name>) -> Expression {
        Expression::Arrow(Box::new(self), field.into())
    }

    /// `(ty)self`.
    pub fn cast(self, ty: Type) -> Expression {
        Expression::Cast(ty, Box::new(self))
    }

    /// Returns the text of a literal; `None` for other expressions.
    pub fn as_literal(&self) -> Option<&Name> {
        match self {
            Expression::Literal(text) => Some(text),
            Expression::Name(_)
            | Expression::Text(_)
            | Expression::Unary(..)
            | Expression::Binary(..)
            | Expression::Conditional(_)
            | Expression::Pure(..)
            | Expression::Call(..)
            | Expression::Index(..)
            | Expression::Member(..)
            | Expression::Arrow(..)
            | Expression::Cast(..)
            | Expression::SizeOf(_)
            | Expression::Braces(_) => None,
        }
    }

    /// `&self`; of `*p` it is `p`.
    pub fn address(self) -> Expression {
        if let Expression::Unary(Unary::Dereference, pointer) = self {
            return *pointer;
        }
        Expression::unary(Unary::AddressOf, self)
    }

    /// Returns the expressions directly inside.
    pub fn operands(&self) -> Vec<&Expression> {
        match self {
            Expression::Name(_)
            | Expression::Literal(_)
            | Expression::Text(_)
            | Expression::SizeOf(_) => Vec::new(),
            Expression::Unary(_, a)
            | Expression::Member(a, _)
            | Expression::Arrow(a, _)
            | Expression::Cast(_, a) => vec![a],
            Expression::Binary(_, a, b) | Expression::Index(a, b) => vec![a, b],
            Expression::Conditional(parts) => parts.iter().collect(),
            Expression::Pure(_, list) | Expression::Call(_, list) | Expression::Braces(list) => {
                list.iter().collect()
            }
        }
    }

    /// Returns the expressions directly inside.
    pub fn operands_mut(&mut self) -> Vec<&mut Expression> {
        match self {
            Expression::Name(_)
            | Expression::Literal(_)
            | Expression::Text(_)
            | Expression::SizeOf(_) => Vec::new(),
            Expression::Unary(_, a)
            | Expression::Member(a, _)
            | Expression::Arrow(a, _)
            | Expression::Cast(_, a) => vec![a],
            Expression::Binary(_, a, b) | Expression::Index(a, b) => vec![a, b],
            Expression::Conditional(parts) => parts.iter_mut().collect(),
            Expression::Pure(_, list) | Expression::Call(_, list) | Expression::Braces(list) => {
                list.iter_mut().collect()
            }
        }
    }

    /// `*self`.
    pub fn dereference(self) -> Expression {
        Expression::unary(Unary::Dereference, self)
    }
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its type.
    pub ty: Type,
    /// Its name.
    pub name: Name,
}

/// A function, or its declaration when it has no body.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The words before its type: `static`, attributes.
    pub prefix: Vec<Name>,
    /// The type of its result.
    pub result: Type,
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Its code.
    pub body: Option<Block>,
}

impl Function {
    /// Its declaration.
    pub fn declaration(&self) -> Function {
        Function {
            prefix: self.prefix.clone(),
            result: self.result.clone(),
            name: self.name.clone(),
            parameters: self.parameters.clone(),
            body: None,
        }
    }
}

/// Functions that are compiled together, callees first where there is no cycle.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    /// The functions.
    pub list: Vec<Function>,
    /// The names of those that only the others call, so that passes may remove their parameters.
    pub own: HashSet<Name>,
}

/// The functions of a program. Passes from C to C rewrite them.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The functions of the host.
    pub host: Functions,
    /// The kernels of a device, after the functions that they call.
    pub device: Functions,
}

impl Program {
    /// Returns the functions of host and device.
    pub fn functions_mut(&mut self) -> impl Iterator<Item = &mut Function> {
        self.host.list.iter_mut().chain(&mut self.device.list)
    }
}

/// A field of a structure.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    /// `T name;`
    Plain(Type, Name),
    /// `union { … } name;`
    Union(Vec<Field>, Name),
    /// `struct { … } name;`
    Struct(Vec<Field>, Name),
}

/// An item of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A comment of one or more lines.
    Comment(String),
    /// A line of the preprocessor, without `#`.
    Directive(String),
    /// An empty line.
    Blank,
    /// A function or its declaration.
    Function(Function),
    /// `struct NAME { … };`, with `typedef … NAME;` if `typedef` is set.
    Struct {
        name: Name,
        fields: Vec<Field>,
        typedef: bool,
    },
    /// A variable outside of functions: the words before its type, its type, its name with brackets,
    /// and its value.
    Variable {
        prefix: Vec<Name>,
        ty: Type,
        name: Name,
        value: Option<Expression>,
    },
    /// C given as text: sections of the runtime.
    Text(String),
}

/// Returns the negation of a condition. Of comparisons only equality is inverted, since an inverted
/// order is wrong for nan.
pub fn not(condition: Expression) -> Expression {
    match condition {
        Expression::Unary(Unary::Not, inner) => *inner,
        Expression::Binary(Binary::Equal, a, b) => Expression::Binary(Binary::NotEqual, a, b),
        Expression::Binary(Binary::NotEqual, a, b) => Expression::Binary(Binary::Equal, a, b),
        Expression::Name(name) if &*name == "true" => Expression::name("false"),
        Expression::Name(name) if &*name == "false" => Expression::name("true"),
        other @ (Expression::Name(_)
        | Expression::Literal(_)
        | Expression::Text(_)
        | Expression::Unary(..)
        | Expression::Binary(..)
        | Expression::Conditional(_)
        | Expression::Pure(..)
        | Expression::Call(..)
        | Expression::Index(..)
        | Expression::Member(..)
        | Expression::Arrow(..)
        | Expression::Cast(..)
        | Expression::SizeOf(_)
        | Expression::Braces(_)) => Expression::unary(Unary::Not, other),
    }
}
