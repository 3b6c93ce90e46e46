//! The data types of Core. The page of the crate lists their guarantees.

use crate::core_constants;
use crate::{Builtin, ScalarValue, SumType, Type};
use nova_diag::Place;
pub use nova_syntax::ast::ForeignKind;
use std::sync::Arc;

nova_diag::ids! {
    /// Names a variable of a program, unique in it.
    pub struct Variable;

    /// Names an expression of a program.
    pub struct ExpressionId;
}

/// A program: entries over shared tables.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The concrete sum types, indexed by [`Type::Sum`].
    pub sums: Vec<SumType>,
    /// The foreign functions, indexed by [`ExpressionKind::Foreign`].
    pub foreigns: Vec<Foreign>,
    /// The functions that the program exports.
    pub entries: Vec<Entry>,
    /// Name and type of each [`Variable`].
    pub variables: Vec<VariableInfo>,
    /// The expressions.
    pub arena: Vec<Expression>,
}

/// A function written in C (language §2, abi §2). It is first-order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Its kind: its side effects, and the machine on which it runs.
    pub kind: ForeignKind,
    /// Its C name.
    pub name: Arc<str>,
    /// Its parameters, at least one.
    pub parameters: Vec<Type>,
    /// Its result.
    pub result: Type,
}

impl Foreign {
    /// True if it takes or returns values with links to nodes of recursive data.
    pub fn holds_links(&self, sums: &[SumType]) -> bool {
        let mut types = self.parameters.iter().chain([&self.result]);
        types.any(|ty| ty.holds_links(sums))
    }
}

/// A function that the program exports.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: Arc<str>,
    /// Its inputs, in order. None has a function type.
    pub inputs: Vec<Variable>,
    /// Its value, which is not of a function type.
    pub body: ExpressionId,
}

/// Facts about a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableInfo {
    /// The name in the source, not unique. Introduced variables have short descriptive names.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
}

/// An expression with its type and place.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The kind, with its children.
    pub kind: ExpressionKind,
    /// Its type.
    pub ty: Type,
    /// Its place in the source, which run-time errors name.
    pub place: Place,
}

/// The kinds of expression.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A scalar.
    Literal(ScalarValue),
    /// `nil`.
    Unit,
    /// A constant `vector uint8`.
    Text(Arc<[u8]>),
    /// A variable in scope.
    Variable(Variable),
    /// A function of one or more parameters. It is curried, so `(lambda (x y) e)` is also a function of
    /// `x` that gives a function.
    Lambda {
        parameters: Vec<Variable>,
        body: ExpressionId,
    },
    /// A function applied to one or more arguments. The function's type states how many it takes. With
    /// fewer arguments the result is a function, and the result may take further arguments. The
    /// function is evaluated first, then the arguments in order.
    Apply {
        function: ExpressionId,
        arguments: Vec<ExpressionId>,
    },
    /// A binding of a value.
    Let {
        variable: Variable,
        value: ExpressionId,
        body: ExpressionId,
    },
    /// Mutually recursive functions; each value is a `Lambda`.
    Letrec {
        bindings: Vec<(Variable, ExpressionId)>,
        body: ExpressionId,
    },
    /// A conditional.
    If {
        condition: ExpressionId,
        then: ExpressionId,
        otherwise: ExpressionId,
    },
    /// A match on a sum: for each constructor in order an arm, or `None` for the default.
    Case {
        scrutinee: ExpressionId,
        arms: Vec<Option<Arm>>,
        default: Option<ExpressionId>,
    },
    /// A tuple of at least two.
    Tuple(Vec<ExpressionId>),
    /// Element `k` of a tuple.
    Project(ExpressionId, u32),
    /// A constructor (index) applied; the type is [`Type::Sum`].
    Construct {
        constructor: u32,
        payload: ExpressionId,
    },
    /// A vector of given elements, perhaps none.
    Vector(Vec<ExpressionId>),
    /// A built-in applied to all its arguments.
    Builtin {
        builtin: Builtin,
        arguments: Vec<ExpressionId>,
    },
    /// A foreign function (index) applied to all its arguments.
    Foreign {
        foreign: u32,
        arguments: Vec<ExpressionId>,
    },
}

/// An arm of a `Case`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// The variable to which the payload is bound, if used.
    pub variable: Option<Variable>,
    /// The value of the arm.
    pub body: ExpressionId,
}

impl ExpressionKind {
    /// Returns the parameters and the body of a lambda.
    pub fn as_lambda(&self) -> Option<(&[Variable], ExpressionId)> {
        match self {
            ExpressionKind::Lambda { parameters, body } => Some((parameters, *body)),
            _ => None,
        }
    }

    /// Calls `visit` with each of its children, in the order of evaluation. That of a lambda is its
    /// body.
    pub fn for_each_child(&self, mut visit: impl FnMut(ExpressionId)) {
        match self {
            ExpressionKind::Variable(_) | core_constants!() => {}
            ExpressionKind::Lambda { body, .. } => visit(*body),
            ExpressionKind::Apply {
                function,
                arguments,
            } => {
                visit(*function);
                arguments.iter().copied().for_each(visit);
            }
            ExpressionKind::Let { value, body, .. } => {
                visit(*value);
                visit(*body);
            }
            ExpressionKind::Letrec { bindings, body } => {
                bindings.iter().for_each(|(_, value)| visit(*value));
                visit(*body);
            }
            ExpressionKind::If {
                condition,
                then,
                otherwise,
            } => {
                visit(*condition);
                visit(*then);
                visit(*otherwise);
            }
            ExpressionKind::Case {
                scrutinee,
                arms,
                default,
            } => {
                visit(*scrutinee);
                arms.iter().flatten().for_each(|arm| visit(arm.body));
                default.iter().copied().for_each(visit);
            }
            ExpressionKind::Project(tuple, _) => visit(*tuple),
            ExpressionKind::Construct { payload, .. } => visit(*payload),
            ExpressionKind::Tuple(elements) | ExpressionKind::Vector(elements) => {
                elements.iter().copied().for_each(visit);
            }
            ExpressionKind::Builtin { arguments, .. }
            | ExpressionKind::Foreign { arguments, .. } => {
                arguments.iter().copied().for_each(visit);
            }
        }
    }

    /// Returns its children, in the order of evaluation. That of a lambda is its body.
    pub fn children(&self) -> Vec<ExpressionId> {
        let mut children = Vec::new();
        self.for_each_child(|child| children.push(child));
        children
    }
}

impl Program {
    /// Returns the expression of an id of this program.
    pub fn expression(&self, id: ExpressionId) -> &Expression {
        &self.arena[id.index()]
    }

    /// Returns name and type of a variable of this program.
    pub fn variable(&self, variable: Variable) -> &VariableInfo {
        &self.variables[variable.index()]
    }

    /// Adds an expression.
    pub fn add(&mut self, kind: ExpressionKind, ty: Type, place: Place) -> ExpressionId {
        self.arena.push(Expression { kind, ty, place });
        ExpressionId(self.arena.len() as u32 - 1)
    }

    /// Adds a variable.
    pub fn add_variable(&mut self, name: impl Into<Arc<str>>, ty: Type) -> Variable {
        self.variables.push(VariableInfo {
            name: name.into(),
            ty,
        });
        Variable(self.variables.len() as u32 - 1)
    }
}
