//! Rewrites a program into first-order functions.
//!
//! Expressions are rewritten in place in the arena. The body of a lambda becomes the body of its
//! function when it is first called. Free variables keep their names as parameters, so nothing is
//! renamed.

use super::classes::{ClassId, Classes};
use super::flow::{Arrow, Flow, LambdaId};
use super::types::{ClosureType, Types};
use super::{FirstOrder, Function};
use crate::error::{LowerError, Result};
use nova_core::Type;
use nova_core::ir::{ExpressionId, ExpressionKind, Program, Variable};
use nova_diag::{Place, deep};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Converts everything that the entries reach.
pub(super) fn run(
    program: Program,
    flow: Flow,
    classes: Classes,
    free: Vec<Vec<Variable>>,
    types: Types,
) -> Result<FirstOrder> {
    let lambdas = flow.lambdas.len();
    let mut converter = Converter {
        program,
        flow,
        classes,
        free,
        types,
        functions: Vec::new(),
        function_of: BTreeMap::new(),
        function_of_lambda: vec![None; lambdas],
        function_of_apply: BTreeMap::new(),
        pending: Vec::new(),
    };
    for k in 0..converter.program.entries.len() {
        let entry = converter.program.entries[k].clone();
        let place = converter.program.expression(entry.body).place.clone();
        converter.functions.push(Function {
            name: entry.name,
            parameters: entry.inputs,
            body: entry.body,
            place,
        });
    }
    for k in 0..converter.program.entries.len() {
        converter.convert(converter.program.entries[k].body)?;
        converter.drain()?;
    }
    Ok(FirstOrder {
        program: converter.program,
        functions: converter.functions,
        function_of: converter.function_of,
    })
}

/// A function that is named but not converted yet.
pub(super) enum Pending {
    Lambda(LambdaId),
    Apply(ClassId, usize, usize),
}

/// The function that is applied.
pub(super) enum Target {
    /// A lambda. `held` are its captures and the arguments it already has.
    Lambda {
        lambda: LambdaId,
        given: usize,
        held: Vec<ExpressionId>,
    },
    /// A closure.
    Value { value: ExpressionId, arrow: Arrow },
}

pub(super) struct Converter {
    pub program: Program,
    pub flow: Flow,
    pub classes: Classes,
    pub free: Vec<Vec<Variable>>,
    pub types: Types,
    pub functions: Vec<Function>,
    pub function_of: BTreeMap<Variable, usize>,
    function_of_lambda: Vec<Option<Variable>>,
    /// By class and number of arguments.
    pub function_of_apply: BTreeMap<(ClassId, usize), Variable>,
    pub pending: Vec<Pending>,
}

impl Converter {
    fn drain(&mut self) -> Result<()> {
        while let Some(pending) = self.pending.pop() {
            match pending {
                Pending::Lambda(lambda) => {
                    self.convert(self.flow.lambdas[lambda.index()].body)?;
                }
                Pending::Apply(class, count, index) => {
                    self.define_apply(class, count, index)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the variable that names the function of a lambda.
    pub fn function_of_lambda(&mut self, lambda: LambdaId) -> Variable {
        if let Some(variable) = self.function_of_lambda[lambda.index()] {
            return variable;
        }
        let info = &self.flow.lambdas[lambda.index()];
        let mut parameters = self.free[lambda.index()].clone();
        parameters.extend(&info.parameters);
        let function = Function {
            name: info.name.clone(),
            parameters,
            body: info.body,
            place: self.program.expression(info.expression).place.clone(),
        };
        let (variable, _) = self.add_function(function);
        self.function_of_lambda[lambda.index()] = Some(variable);
        self.pending.push(Pending::Lambda(lambda));
        variable
    }

    /// Adds a function and the variable that names it.
    pub fn add_function(&mut self, function: Function) -> (Variable, usize) {
        let index = self.functions.len();
        let variable = self.program.add_variable(function.name.clone(), Type::Unit);
        self.functions.push(function);
        self.function_of.insert(variable, index);
        (variable, index)
    }

    fn convert(&mut self, id: ExpressionId) -> Result<()> {
        deep(|| self.convert_spine(id))
    }

    /// Converts an expression. A loop follows the bodies of its `let`s.
    fn convert_spine(&mut self, mut id: ExpressionId) -> Result<()> {
        loop {
            match &self.program.expression(id).kind {
                ExpressionKind::Let {
                    variable,
                    value,
                    body,
                } => {
                    let (variable, value, body) = (*variable, *value, *body);
                    if self.flow.known[variable.index()].is_some() {
                        self.move_here(id, body);
                        continue;
                    }
                    self.convert(value)?;
                    id = body;
                }
                ExpressionKind::Letrec { body, .. } => {
                    let body = *body;
                    self.move_here(id, body);
                }
                _ => return self.convert_kind(id),
            }
        }
    }

    /// Replaces the expression `to` by `from`.
    fn move_here(&mut self, to: ExpressionId, from: ExpressionId) {
        let expression = &mut self.program.arena[from.index()];
        let place = expression.place.clone();
        let ty = expression.ty.clone();
        let kind = std::mem::replace(&mut expression.kind, ExpressionKind::Unit);
        self.program.arena[to.index()] = nova_core::ir::Expression { kind, ty, place };
        if let Some(lambda) = self.flow.lambda_at.get(from.index()).copied().flatten() {
            self.flow.lambda_at[to.index()] = Some(lambda);
        }
    }

    fn convert_kind(&mut self, id: ExpressionId) -> Result<()> {
        let place = self.program.expression(id).place.clone();
        match &self.program.expression(id).kind {
            ExpressionKind::Variable(variable) => {
                if let Some(lambda) = self.flow.known[variable.index()] {
                    self.make_closure(id, lambda, place)?;
                }
            }
            ExpressionKind::Lambda { .. } => {
                let lambda = self.lambda_at(id)?;
                self.make_closure(id, lambda, place)?;
            }
            ExpressionKind::Apply {
                function,
                arguments,
            } => {
                let (function, arguments) = (*function, arguments.clone());
                self.convert_apply(id, function, arguments, place)?;
            }
            ExpressionKind::Builtin { builtin, arguments } => {
                let functions = builtin.functions(arguments.len());
                for (k, argument) in arguments.clone().into_iter().enumerate() {
                    let lambda = self.program.expression(argument).kind.as_lambda();
                    match lambda.filter(|_| functions.contains(&k)) {
                        Some((_, body)) => self.convert(body)?,
                        None => self.convert(argument)?,
                    }
                }
            }
            kind => {
                for child in kind.children() {
                    self.convert(child)?;
                }
            }
        }
        Ok(())
    }

    fn lambda_at(&self, id: ExpressionId) -> Result<LambdaId> {
        let lambda = self.flow.lambda_at.get(id.index()).copied().flatten();
        lambda.ok_or_else(|| LowerError::new("a lambda that the flow analysis has not seen"))
    }

    fn make_closure(&mut self, id: ExpressionId, lambda: LambdaId, place: Place) -> Result<()> {
        let held = self.captures(lambda, &place);
        let closure = self.closure(lambda, 0, held, &place)?;
        self.move_here(id, closure);
        Ok(())
    }

    fn convert_apply(
        &mut self,
        id: ExpressionId,
        function: ExpressionId,
        arguments: Vec<ExpressionId>,
        place: Place,
    ) -> Result<()> {
        let known = match &self.program.expression(function).kind {
            ExpressionKind::Variable(variable) => self.flow.known[variable.index()],
            ExpressionKind::Lambda { .. } => Some(self.lambda_at(function)?),
            _ => None,
        };
        let target = match known {
            Some(lambda) => Target::Lambda {
                lambda,
                given: 0,
                held: self.captures(lambda, &place),
            },
            None => {
                let arrow = self.flow.expressions.get(function.index()).copied();
                let arrow = arrow.flatten().ok_or_else(|| {
                    LowerError::new("an application of something that is no function")
                })?;
                self.convert(function)?;
                Target::Value {
                    value: function,
                    arrow,
                }
            }
        };
        for argument in &arguments {
            self.convert(*argument)?;
        }
        let applied = self.apply(target, arguments, &place)?;
        self.move_here(id, applied);
        Ok(())
    }

    /// Returns uses of the free variables of a lambda, where it is in scope.
    fn captures(&mut self, lambda: LambdaId, place: &Place) -> Vec<ExpressionId> {
        let variables = self.free[lambda.index()].clone();
        variables
            .into_iter()
            .map(|variable| self.variable(variable, place))
            .collect()
    }

    /// Returns a use of a variable.
    pub fn variable(&mut self, variable: Variable, place: &Place) -> ExpressionId {
        let ty = self.program.variable(variable).ty.clone();
        self.program
            .add(ExpressionKind::Variable(variable), ty, place.clone())
    }

    /// Returns a lambda with `given` of its arguments as a value. `held` are its captures and those
    /// arguments.
    pub fn closure(
        &mut self,
        lambda: LambdaId,
        given: usize,
        held: Vec<ExpressionId>,
        place: &Place,
    ) -> Result<ExpressionId> {
        let arrow = self.flow.lambdas[lambda.index()].arrows[given];
        let class = self.classes.of(&mut self.flow, arrow);
        let class = class.ok_or_else(|| LowerError::new("a closure without a class"))?;
        let members = self.classes.members(class);
        let constructor = members
            .iter()
            .position(|m| m.lambda == lambda && m.given == given)
            .ok_or_else(|| LowerError::new("a closure that is no member of its class"))?;
        let payload = self.tuple(held, place);
        Ok(match self.types.of[class.index()] {
            ClosureType::Tuple(_) => payload,
            ClosureType::Sum(sum) => {
                let kind = ExpressionKind::Construct {
                    constructor: constructor as u32,
                    payload,
                };
                self.program.add(kind, Type::Sum(sum), place.clone())
            }
        })
    }

    /// Returns the tuple of expressions: `nil` for none, the expression itself for one.
    fn tuple(&mut self, elements: Vec<ExpressionId>, place: &Place) -> ExpressionId {
        let types = elements.iter().map(|e| &self.program.expression(*e).ty);
        let ty = Type::tuple(types.cloned().collect());
        match elements.as_slice() {
            [] => self.program.add(ExpressionKind::Unit, ty, place.clone()),
            [one] => *one,
            _ => self
                .program
                .add(ExpressionKind::Tuple(elements), ty, place.clone()),
        }
    }

    /// Adds a variable of a type.
    pub fn fresh(&mut self, name: &str, ty: Type) -> Variable {
        self.program.add_variable(Arc::from(name), ty)
    }
}
