//! Expressions: each is lowered to the atoms of its components.

use crate::builder::Lowerer;
use crate::error::{LowerError, Result};
use crate::values::{Vector, next, take};
use nova_core::ir::{Arm, ExpressionId, ExpressionKind, Variable as CoreVariable};
use nova_core::{ErrorKind, SumId, Type};
use nova_core::{core_bindings, core_branches, core_calls, core_constants, core_data};
use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, FunctionId, Variable};
use std::sync::Arc;

impl Lowerer<'_> {
    /// Lowers an expression, and returns the components of its value.
    pub fn lower(&mut self, id: ExpressionId) -> Result<Vec<Atom>> {
        deep(|| {
            let place = self.place.clone();
            let atoms = self.lower_spine(id).map_err(|mut error| {
                error.place.get_or_insert_with(|| self.place.clone());
                error
            });
            self.place = place;
            atoms
        })
    }

    /// Lowers an expression. A loop follows the bodies of its `let`s.
    fn lower_spine(&mut self, mut id: ExpressionId) -> Result<Vec<Atom>> {
        let source = self.source;
        loop {
            let expression = source.program.expression(id);
            self.place = expression.place.clone();
            match &expression.kind {
                ExpressionKind::Let {
                    variable,
                    value,
                    body,
                } => {
                    let atoms = self.lower(*value)?;
                    self.bind_core(*variable, atoms);
                    id = *body;
                }
                kind @ (ExpressionKind::Variable(_)
                | ExpressionKind::Lambda { .. }
                | ExpressionKind::Letrec { .. }
                | core_constants!()
                | core_calls!()
                | core_branches!()
                | core_data!()) => return self.lower_kind(kind, &expression.ty),
            }
        }
    }

    fn lower_kind(&mut self, kind: &ExpressionKind, ty: &Type) -> Result<Vec<Atom>> {
        match kind {
            ExpressionKind::Literal(value) => Ok(vec![Atom::Constant(*value)]),
            ExpressionKind::Unit => Ok(Vec::new()),
            ExpressionKind::Text(bytes) => Ok(self.lower_text(bytes)),
            ExpressionKind::Variable(variable) => Ok(self.look_up(*variable)?.to_vec()),
            ExpressionKind::Apply {
                function,
                arguments,
            } => self.lower_call(*function, arguments, ty),
            ExpressionKind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.lower_one(*condition)?;
                let then = self.body(|b| b.lower(*then))?;
                let otherwise = self.body(|b| b.lower(*otherwise))?;
                Ok(self.bind_value(
                    ty,
                    Expression::If {
                        condition,
                        then,
                        otherwise,
                    },
                ))
            }
            ExpressionKind::Case {
                scrutinee,
                arms,
                default,
            } => self.lower_case(*scrutinee, arms, *default, ty),
            ExpressionKind::Tuple(elements) => {
                let mut atoms = Vec::new();
                for element in elements {
                    atoms.extend(self.lower(*element)?);
                }
                Ok(atoms)
            }
            ExpressionKind::Project(tuple, k) => self.lower_project(*tuple, *k as usize),
            ExpressionKind::Construct {
                constructor,
                payload,
            } => {
                let payload = self.lower(*payload)?;
                self.construct(ty, *constructor, payload)
            }
            ExpressionKind::Vector(elements) => self.lower_vector(elements, ty),
            ExpressionKind::Builtin { builtin, arguments } => {
                self.lower_builtin(*builtin, arguments, ty)
            }
            ExpressionKind::Foreign { foreign, arguments } => {
                let arguments = self.lower_all(arguments)?;
                Ok(self.bind_value(
                    ty,
                    Expression::Foreign {
                        foreign: *foreign,
                        arguments,
                    },
                ))
            }
            ExpressionKind::Lambda { .. }
            | ExpressionKind::Let { .. }
            | ExpressionKind::Letrec { .. } => {
                Err(LowerError::new("a function where a value was expected"))
            }
        }
    }

    /// Binds the components of the value of an expression.
    pub fn bind_value(&mut self, ty: &Type, expression: Expression) -> Vec<Atom> {
        let pattern = self.fresh(ty);
        let atoms = pattern.iter().map(|v| Atom::Variable(*v)).collect();
        self.emit(pattern, expression);
        atoms
    }

    /// Lowers an expression of one component.
    pub fn lower_one(&mut self, id: ExpressionId) -> Result<Atom> {
        let atoms = self.lower(id)?;
        next(&mut atoms.iter())
    }

    fn lower_all(&mut self, ids: &[ExpressionId]) -> Result<Vec<Atom>> {
        let mut atoms = Vec::new();
        for id in ids {
            atoms.extend(self.lower(*id)?);
        }
        Ok(atoms)
    }

    fn lower_text(&mut self, bytes: &Arc<[u8]>) -> Vec<Atom> {
        let length = Atom::index(bytes.len() as i64);
        let expression = Expression::Bytes(bytes.clone());
        let text = self.bind_array("text", nova_core::Scalar::U8, vec![length], expression);
        vec![length, text]
    }

    fn lower_call(
        &mut self,
        function: ExpressionId,
        arguments: &[ExpressionId],
        ty: &Type,
    ) -> Result<Vec<Atom>> {
        let index = match &self.source.program.expression(function).kind {
            ExpressionKind::Variable(variable) => self.source.function_of.get(variable),
            ExpressionKind::Lambda { .. }
            | core_constants!()
            | core_calls!()
            | core_bindings!()
            | core_branches!()
            | core_data!() => None,
        };
        let function = index.map(|k| FunctionId(*k as u32));
        let function = function.ok_or_else(|| LowerError::new("a call of an unknown function"))?;
        let arguments = self.lower_all(arguments)?;
        Ok(self.bind_value(
            ty,
            Expression::Call {
                function,
                arguments,
                tail: false,
            },
        ))
    }

    fn lower_project(&mut self, tuple: ExpressionId, k: usize) -> Result<Vec<Atom>> {
        let atoms = self.lower(tuple)?;
        let Type::Tuple(types) = &self.source.program.expression(tuple).ty else {
            return Err(LowerError::new("an element of something that is no tuple"));
        };
        let mut atoms = atoms.iter();
        for ty in types.iter().take(k) {
            let width = self.components(ty).len();
            take(&mut atoms, width)?;
        }
        let ty = types.get(k);
        let ty = ty.ok_or_else(|| LowerError::new("a tuple has too few elements"))?;
        let width = self.components(ty).len();
        take(&mut atoms, width)
    }

    fn lower_vector(&mut self, elements: &[ExpressionId], ty: &Type) -> Result<Vec<Atom>> {
        let Type::Vector(element) = ty else {
            return Err(LowerError::new("a literal that is no vector"));
        };
        let mut values = Vec::with_capacity(elements.len());
        for id in elements {
            values.push(self.lower(*id)?);
        }
        let vector = Vector {
            length: Atom::index(elements.len() as i64),
            element: (**element).clone(),
            lifted: self.literal(element, &values)?,
        };
        Ok(vector.atoms())
    }

    /// Returns a value of a sum from the payload of one of its constructors.
    fn construct(&mut self, ty: &Type, constructor: u32, payload: Vec<Atom>) -> Result<Vec<Atom>> {
        let id = sum_of(ty)?;
        let sum = self.output.sums[id.index()].clone();
        if sum.is_recursive() {
            return Ok(self.bind_value(
                ty,
                Expression::NodeNew {
                    sum: id,
                    constructor,
                    payload,
                },
            ));
        }
        let tag = nova_core::ScalarValue::I32(constructor as i32);
        let mut atoms = vec![Atom::Constant(tag)];
        for (k, other) in sum.constructors.iter().enumerate() {
            if k == constructor as usize {
                atoms.extend(&payload);
            } else {
                atoms.extend(self.zero(&other.payload));
            }
        }
        Ok(atoms)
    }

    fn lower_case(
        &mut self,
        scrutinee: ExpressionId,
        arms: &[Option<Arm>],
        default: Option<ExpressionId>,
        ty: &Type,
    ) -> Result<Vec<Atom>> {
        let value = self.lower(scrutinee)?;
        if arms.is_empty() {
            // No function ever flows here, since the expression that should give one does not
            // terminate.
            return Ok(self.bind_value(
                ty,
                Expression::Fail {
                    error: ErrorKind::Recursion,
                    arguments: Vec::new(),
                },
            ));
        }
        let id = sum_of(&self.source.program.expression(scrutinee).ty)?;
        let case = Case { id, value, default };
        if let [arm] = arms {
            return self.lower_arm(&case, 0, arm.as_ref());
        }
        let tag = self.tag(&case)?;
        let defaulted = arms.iter().filter(|a| a.is_none()).count();
        let explicit = arms.iter().take_while(|a| a.is_some()).count();
        let (scrutinee, order): (Atom, Vec<usize>) = if defaulted <= 1 {
            (tag, (0..arms.len()).collect())
        } else if explicit + defaulted == arms.len() {
            (tag, (0..=explicit).collect())
        } else {
            let mut order: Vec<usize> = (0..arms.len()).filter(|k| arms[*k].is_some()).collect();
            let scrutinee = self.rank_of(tag, arms)?;
            order.extend(arms.iter().position(|a| a.is_none()));
            (scrutinee, order)
        };
        let mut cases: Vec<Body> = Vec::with_capacity(order.len());
        for k in order {
            cases.push(self.body(|b| b.lower_arm(&case, k, arms[k].as_ref()))?);
        }
        Ok(self.bind_value(ty, Expression::Switch { scrutinee, cases }))
    }

    /// Returns for each constructor with an arm its number among these, and for all others the number
    /// after the last.
    fn rank_of(&mut self, tag: Atom, arms: &[Option<Arm>]) -> Result<Atom> {
        let explicit = arms.iter().flatten().count();
        let mut rank = 0;
        let mut cases = Vec::with_capacity(arms.len());
        for arm in arms {
            let number = if arm.is_some() { rank } else { explicit };
            rank += usize::from(arm.is_some());
            let value = nova_core::ScalarValue::I32(number as i32);
            cases.push(self.body(|_| Ok(vec![Atom::Constant(value)]))?);
        }
        let expression = Expression::Switch {
            scrutinee: tag,
            cases,
        };
        Ok(self.bind_scalar("rank", nova_core::Scalar::I32, expression))
    }

    fn tag(&mut self, case: &Case) -> Result<Atom> {
        let first = next(&mut case.value.iter())?;
        if !self.output.sums[case.id.index()].is_recursive() {
            return Ok(first);
        }
        let expression = Expression::NodeTag {
            sum: case.id,
            link: first,
        };
        Ok(self.bind_scalar("tag", nova_core::Scalar::I32, expression))
    }

    /// Lowers an arm, or the default.
    fn lower_arm(&mut self, case: &Case, k: usize, arm: Option<&Arm>) -> Result<Vec<Atom>> {
        let Some(arm) = arm else {
            let default = case.default;
            let default = default.ok_or_else(|| LowerError::new("a case lacks an arm"))?;
            return self.lower(default);
        };
        if let Some(variable) = arm.variable {
            let payload = self.payload(case, k)?;
            self.bind_core(variable, payload);
        }
        self.lower(arm.body)
    }

    /// Returns the payload of constructor `k`, which is the active one.
    fn payload(&mut self, case: &Case, k: usize) -> Result<Vec<Atom>> {
        let sum = self.output.sums[case.id.index()].clone();
        let constructor = sum.constructors.get(k);
        let payload = constructor.map(|c| c.payload.clone());
        let payload = payload.ok_or_else(|| LowerError::new("a case has too many arms"))?;
        let mut value = case.value.iter();
        let first = next(&mut value)?;
        if sum.is_recursive() {
            if self.components(&payload).is_empty() {
                return Ok(Vec::new());
            }
            let expression = Expression::NodePayload {
                sum: case.id,
                constructor: k as u32,
                link: first,
            };
            return Ok(self.bind_value(&payload, expression));
        }
        for other in sum.constructors.iter().take(k) {
            let width = self.components(&other.payload).len();
            take(&mut value, width)?;
        }
        let width = self.components(&payload).len();
        take(&mut value, width)
    }

    /// Lowers the body of a lambda that is an argument of a built-in, for these parameters.
    pub fn inline(&mut self, lambda: ExpressionId, arguments: Vec<Vec<Atom>>) -> Result<Vec<Atom>> {
        let (parameters, body) = self.lambda_parts(lambda)?;
        if parameters.len() != arguments.len() {
            return Err(LowerError::new(
                "a lambda with other parameters than it is given",
            ));
        }
        for (parameter, atoms) in parameters.into_iter().zip(arguments) {
            self.bind_core(parameter, atoms);
        }
        self.lower(body)
    }

    /// Returns the parameters and the body of a lambda.
    pub fn lambda_parts(&self, lambda: ExpressionId) -> Result<(Vec<CoreVariable>, ExpressionId)> {
        let parts = self.source.program.expression(lambda).kind.as_lambda();
        let (parameters, body) =
            parts.ok_or_else(|| LowerError::new("a built-in was not given a lambda"))?;
        Ok((parameters.to_vec(), body))
    }

    /// Returns the result type of a lambda.
    pub fn lambda_result(&self, lambda: ExpressionId) -> Result<Type> {
        let (_, body) = self.lambda_parts(lambda)?;
        Ok(self.type_of(body))
    }

    /// Returns the type of an expression.
    pub fn type_of(&self, id: ExpressionId) -> Type {
        self.source.program.expression(id).ty.clone()
    }

    /// Returns variables as atoms.
    pub fn atoms(variables: &[Variable]) -> Vec<Atom> {
        variables.iter().map(|v| Atom::Variable(*v)).collect()
    }
}

/// A `case` being lowered.
struct Case {
    id: SumId,
    value: Vec<Atom>,
    default: Option<ExpressionId>,
}

fn sum_of(ty: &Type) -> Result<SumId> {
    match ty {
        Type::Sum(id) => Ok(*id),
        Type::Scalar(_)
        | Type::Unit
        | Type::Tuple(_)
        | Type::Vector(_)
        | Type::Array(..)
        | Type::Function(..) => Err(LowerError::new("a match on something that is no sum")),
    }
}
