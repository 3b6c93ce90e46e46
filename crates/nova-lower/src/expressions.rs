//! Expressions: each is lowered to the atoms of its components.

use crate::builder::Builder;
use crate::builtins;
use crate::error::{LowerError, Result};
use crate::join;
use crate::lowerer::Lowerer;
use crate::sums;
use crate::values::{self, next, take};
use nova_core::ir::{Arm, ExpressionId, ExpressionKind};
use nova_core::{ErrorKind, SumId, Type};
use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, FunctionId};
use std::sync::Arc;

impl Lowerer<'_> {
    /// Lowers an expression, and returns the components of its value.
    pub fn lower(&mut self, b: &mut Builder, id: ExpressionId) -> Result<Vec<Atom>> {
        deep(|| {
            let place = b.place.clone();
            let atoms = lower_spine(b, self, id).map_err(|mut error| {
                error.place.get_or_insert_with(|| b.place.clone());
                error
            });
            b.place = place;
            atoms
        })
    }

    /// Lowers the body of a lambda that is an argument of a built-in, for these parameters.
    pub fn inline(
        &mut self,
        b: &mut Builder,
        lambda: ExpressionId,
        arguments: Vec<Vec<Atom>>,
    ) -> Result<Vec<Atom>> {
        let (parameters, body) = self.lambda_parts(lambda)?;
        if parameters.len() != arguments.len() {
            return Err(LowerError::new(
                "a lambda with other parameters than it is given",
            ));
        }
        for (parameter, atoms) in parameters.into_iter().zip(arguments) {
            self.bind_core(b, parameter, atoms);
        }
        self.lower(b, body)
    }
}

/// Lowers an expression. A loop follows the bodies of its `let`s.
fn lower_spine(b: &mut Builder, lowerer: &mut Lowerer, mut id: ExpressionId) -> Result<Vec<Atom>> {
    let source = lowerer.source;
    loop {
        let expression = source.program.expression(id);
        b.place = expression.place.clone();
        match &expression.kind {
            ExpressionKind::Let {
                variable,
                value,
                body,
            } => {
                let atoms = lowerer.lower(b, *value)?;
                lowerer.bind_core(b, *variable, atoms);
                id = *body;
            }
            kind => return lower_kind(b, lowerer, kind, &expression.ty),
        }
    }
}

fn lower_kind(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    kind: &ExpressionKind,
    ty: &Type,
) -> Result<Vec<Atom>> {
    match kind {
        ExpressionKind::Literal(value) => Ok(vec![Atom::Constant(*value)]),
        ExpressionKind::Unit => Ok(Vec::new()),
        ExpressionKind::Text(bytes) => Ok(lower_text(b, bytes)),
        ExpressionKind::Variable(variable) => Ok(lowerer.look_up(*variable)?.to_vec()),
        ExpressionKind::Apply {
            function,
            arguments,
        } => lower_call(b, lowerer, *function, arguments, ty),
        ExpressionKind::If {
            condition,
            then,
            otherwise,
        } => {
            let condition = lower_one(b, lowerer, *condition)?;
            let then = b.body(|b| lowerer.lower(b, *then))?;
            let otherwise = b.body(|b| lowerer.lower(b, *otherwise))?;
            Ok(b.bind_value(
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
        } => lower_case(b, lowerer, *scrutinee, arms, *default, ty),
        ExpressionKind::Tuple(elements) => {
            let mut atoms = Vec::new();
            for element in elements {
                atoms.extend(lowerer.lower(b, *element)?);
            }
            Ok(atoms)
        }
        ExpressionKind::Project(tuple, k) => lower_project(b, lowerer, *tuple, *k as usize),
        ExpressionKind::Construct {
            constructor,
            payload,
        } => {
            let payload = lowerer.lower(b, *payload)?;
            sums::construct(b, sum_of(ty)?, *constructor, payload)
        }
        ExpressionKind::Vector(elements) => lower_vector(b, lowerer, elements, ty),
        ExpressionKind::Builtin { builtin, arguments } => {
            builtins::lower(b, lowerer, *builtin, arguments, ty)
        }
        ExpressionKind::Foreign { foreign, arguments } => {
            let arguments = lower_all(b, lowerer, arguments)?;
            Ok(b.bind_value(
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

/// Lowers an expression of one component.
pub(crate) fn lower_one(b: &mut Builder, lowerer: &mut Lowerer, id: ExpressionId) -> Result<Atom> {
    let atoms = lowerer.lower(b, id)?;
    next(&mut atoms.iter())
}

fn lower_all(b: &mut Builder, lowerer: &mut Lowerer, ids: &[ExpressionId]) -> Result<Vec<Atom>> {
    let mut atoms = Vec::new();
    for id in ids {
        atoms.extend(lowerer.lower(b, *id)?);
    }
    Ok(atoms)
}

fn lower_text(b: &mut Builder, bytes: &Arc<[u8]>) -> Vec<Atom> {
    let length = Atom::index(bytes.len() as i64);
    let expression = Expression::Bytes(bytes.clone());
    let text = b.bind_array("text", nova_core::Scalar::U8, vec![length], expression);
    vec![length, text]
}

fn lower_call(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    function: ExpressionId,
    arguments: &[ExpressionId],
    ty: &Type,
) -> Result<Vec<Atom>> {
    let index = match &lowerer.source.program.expression(function).kind {
        ExpressionKind::Variable(variable) => lowerer.source.function_of.get(variable),
        _ => None,
    };
    let function = index.map(|k| FunctionId(*k as u32));
    let function = function.ok_or_else(|| LowerError::new("a call of an unknown function"))?;
    let arguments = lower_all(b, lowerer, arguments)?;
    Ok(b.bind_value(
        ty,
        Expression::Call {
            function,
            arguments,
            tail: false,
        },
    ))
}

fn lower_project(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    tuple: ExpressionId,
    k: usize,
) -> Result<Vec<Atom>> {
    let atoms = lowerer.lower(b, tuple)?;
    let Type::Tuple(types) = &lowerer.source.program.expression(tuple).ty else {
        return Err(LowerError::new("an element of something that is no tuple"));
    };
    let mut atoms = atoms.iter();
    for ty in types.iter().take(k) {
        let width = b.components(ty).len();
        take(&mut atoms, width)?;
    }
    let ty = types.get(k);
    let ty = ty.ok_or_else(|| LowerError::new("a tuple has too few elements"))?;
    let width = b.components(ty).len();
    take(&mut atoms, width)
}

fn lower_vector(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    elements: &[ExpressionId],
    ty: &Type,
) -> Result<Vec<Atom>> {
    let Type::Vector(element) = ty else {
        return Err(LowerError::new("a literal that is no vector"));
    };
    let mut values = Vec::with_capacity(elements.len());
    for id in elements {
        values.push(lowerer.lower(b, *id)?);
    }
    Ok(values::with_extents(
        vec![Atom::index(elements.len() as i64)],
        join::literal(b, element, &values)?,
    ))
}

fn lower_case(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    scrutinee: ExpressionId,
    arms: &[Option<Arm>],
    default: Option<ExpressionId>,
    ty: &Type,
) -> Result<Vec<Atom>> {
    let value = lowerer.lower(b, scrutinee)?;
    if arms.is_empty() {
        // No function ever flows here, since the expression that should give one does not
        // terminate.
        return Ok(b.bind_value(
            ty,
            Expression::Fail {
                error: ErrorKind::Recursion,
                arguments: Vec::new(),
            },
        ));
    }
    let id = sum_of(&lowerer.source.program.expression(scrutinee).ty)?;
    let case = Case { id, value, default };
    if let [arm] = arms {
        return lower_arm(b, lowerer, &case, 0, arm.as_ref());
    }
    let tag = sums::tag(b, case.id, &case.value)?;
    let defaulted = arms.iter().filter(|a| a.is_none()).count();
    let explicit = arms.iter().take_while(|a| a.is_some()).count();
    let (scrutinee, order): (Atom, Vec<usize>) = if defaulted <= 1 {
        (tag, (0..arms.len()).collect())
    } else if explicit + defaulted == arms.len() {
        (tag, (0..=explicit).collect())
    } else {
        let mut order: Vec<usize> = (0..arms.len()).filter(|k| arms[*k].is_some()).collect();
        let scrutinee = rank_of(b, tag, arms)?;
        order.extend(arms.iter().position(|a| a.is_none()));
        (scrutinee, order)
    };
    let mut cases: Vec<Body> = Vec::with_capacity(order.len());
    for k in order {
        cases.push(b.body(|b| lower_arm(b, lowerer, &case, k, arms[k].as_ref()))?);
    }
    Ok(b.bind_value(ty, Expression::Switch { scrutinee, cases }))
}

/// Returns for each constructor with an arm its number among these, and for all others the number
/// after the last.
fn rank_of(b: &mut Builder, tag: Atom, arms: &[Option<Arm>]) -> Result<Atom> {
    let explicit = arms.iter().flatten().count();
    let mut rank = 0;
    let mut cases = Vec::with_capacity(arms.len());
    for arm in arms {
        let number = if arm.is_some() { rank } else { explicit };
        rank += usize::from(arm.is_some());
        let value = nova_core::ScalarValue::I32(number as i32);
        cases.push(b.body(|_| Ok(vec![Atom::Constant(value)]))?);
    }
    let expression = Expression::Switch {
        scrutinee: tag,
        cases,
    };
    Ok(b.bind_scalar("rank", nova_core::Scalar::I32, expression))
}

/// Lowers an arm, or the default.
fn lower_arm(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    case: &Case,
    k: usize,
    arm: Option<&Arm>,
) -> Result<Vec<Atom>> {
    let Some(arm) = arm else {
        let default = case.default;
        let default = default.ok_or_else(|| LowerError::new("a case lacks an arm"))?;
        return lowerer.lower(b, default);
    };
    if let Some(variable) = arm.variable {
        let payload = sums::payload(b, case.id, &case.value, k)?;
        lowerer.bind_core(b, variable, payload);
    }
    lowerer.lower(b, arm.body)
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
        _ => Err(LowerError::new("a match on something that is no sum")),
    }
}
