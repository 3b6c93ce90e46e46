//! The data types of Core; see the crate's page for what they guarantee.

use crate::{Builtin, ScalarValue, SumType, Type};
use crate::{core_bindings, core_branches, core_calls, core_constants, core_data};
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
    /// The concrete sum types; [`Type::Sum`] indexes them.
    pub sums: Vec<SumType>,
    /// The foreign functions; [`ExpressionKind::Foreign`] indexes them.
    pub foreigns: Vec<Foreign>,
    /// The functions that the program offers.
    pub entries: Vec<Entry>,
    /// Name and type of each [`Variable`].
    pub variables: Vec<VariableInfo>,
    /// The expressions.
    pub arena: Vec<Expression>,
}

/// A function written in C (language §2, abi §2); first-order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// What it may do, and where it runs.
    pub kind: ForeignKind,
    /// Its C name.
    pub name: Arc<str>,
    /// Its parameters, at least one.
    pub parameters: Vec<Type>,
    /// Its result.
    pub result: Type,
}

/// A function that the program offers.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: Arc<str>,
    /// Its inputs, in order; none has a function type.
    pub inputs: Vec<Variable>,
    /// Its value; no function type.
    pub body: ExpressionId,
}

/// What is known of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableInfo {
    /// The name in the source, not unique; made-up variables have short telling names.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
}

/// An expression with its type and place.
#[derive(Clone, Debug)]
pub struct Expression {
    /// What it computes.
    pub kind: ExpressionKind,
    /// Its type.
    pub ty: Type,
    /// Where it stands in the source; run-time errors name it.
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
    /// A function of one or more parameters; curried, so `(lambda (x y) e)` is also a function of
    /// `x` that gives a function.
    Lambda {
        parameters: Vec<Variable>,
        body: ExpressionId,
    },
    /// A function applied to one or more arguments; the function's type says how many it takes,
    /// fewer give a function, its result may take the rest. The function is evaluated first, then
    /// the arguments in order.
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
    /// What the payload is bound to, if used.
    pub variable: Option<Variable>,
    /// The arm's value.
    pub body: ExpressionId,
}

impl ExpressionKind {
    /// The parameters and the body of a lambda.
    pub fn as_lambda(&self) -> Option<(&[Variable], ExpressionId)> {
        match self {
            ExpressionKind::Lambda { parameters, body } => Some((parameters, *body)),
            ExpressionKind::Variable(_)
            | core_constants!()
            | core_calls!()
            | core_bindings!()
            | core_branches!()
            | core_data!() => None,
        }
    }

    /// Calls `visit` with each of its parts, in the order of evaluation; of a lambda its body.
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

    /// Its parts, in the order of evaluation; of a lambda its body.
    pub fn children(&self) -> Vec<ExpressionId> {
        let mut children = Vec::new();
        self.for_each_child(|child| children.push(child));
        children
    }
}

impl Program {
    /// The expression of an id that this program gave out.
    pub fn expression(&self, id: ExpressionId) -> &Expression {
        &self.arena[id.index()]
    }

    /// Name and type of a variable of this program.
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
