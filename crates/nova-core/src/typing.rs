//! The typing rules of Core: the type of an expression from those of its children. The parser derives
//! types by them, and the verifier compares.

mod builtins;

use crate::ir::{ExpressionId, ExpressionKind, Program};
use crate::{Scalar, Type};
pub use builtins::builtin_type;

/// The type, or the reason why an expression has none.
pub type Result<T> = std::result::Result<T, String>;

/// Returns the type of an expression of this kind, whose children and variables have their types.
///
/// `stated` is the type that it should have. It decides where the children do not: the sum of a
/// construction, the elements of a vector, the integer type of `length`, `shape` and `segments`
/// (without it `int`), the node types of a `table`.
pub fn type_of(program: &Program, kind: &ExpressionKind, stated: Option<&Type>) -> Result<Type> {
    let ty = |id: &ExpressionId| &program.expression(*id).ty;
    match kind {
        ExpressionKind::Literal(value) => Ok(Type::Scalar(value.scalar())),
        ExpressionKind::Unit => Ok(Type::Unit),
        ExpressionKind::Text(_) => Ok(Type::vector(Type::Scalar(Scalar::U8))),
        ExpressionKind::Variable(variable) => Ok(program.variable(*variable).ty.clone()),
        ExpressionKind::Lambda { parameters, .. } if parameters.is_empty() => {
            Err("a lambda without parameters".into())
        }
        ExpressionKind::Lambda { parameters, body } => {
            let parameters = parameters.iter().map(|p| program.variable(*p).ty.clone());
            let parameters: Vec<Type> = parameters.collect();
            Ok(Type::function(&parameters, ty(body).clone()))
        }
        ExpressionKind::Apply {
            function,
            arguments,
        } => apply(ty(function), arguments.iter().map(ty)),
        ExpressionKind::Let {
            variable,
            value,
            body,
        } => {
            equal("the variable", &program.variable(*variable).ty, ty(value))?;
            Ok(ty(body).clone())
        }
        ExpressionKind::Letrec { bindings, body } => {
            for (variable, value) in bindings {
                equal("the variable", &program.variable(*variable).ty, ty(value))?;
            }
            Ok(ty(body).clone())
        }
        ExpressionKind::If {
            condition,
            then,
            otherwise,
        } => {
            equal("the condition", ty(condition), &Type::BOOL)?;
            equal("the alternative", ty(otherwise), ty(then))?;
            Ok(ty(then).clone())
        }
        ExpressionKind::Case { .. } => case(program, kind),
        ExpressionKind::Tuple(elements) => {
            let types: Vec<Type> = elements.iter().map(|e| ty(e).clone()).collect();
            match types.len() {
                0 | 1 => Err("a tuple of fewer than two".into()),
                _ => Ok(Type::Tuple(types.into())),
            }
        }
        ExpressionKind::Project(tuple, index) => match ty(tuple) {
            Type::Tuple(types) => match types.get(*index as usize) {
                Some(ty) => Ok(ty.clone()),
                None => Err(format!("a tuple has no element {index}")),
            },
            _ => Err("a projection of what is no tuple".into()),
        },
        ExpressionKind::Construct {
            constructor,
            payload,
        } => construct(program, *constructor, ty(payload), stated),
        ExpressionKind::Vector(elements) => vector(program, elements, stated),
        ExpressionKind::Builtin { builtin, arguments } => {
            let types: Vec<Type> = arguments.iter().map(|a| ty(a).clone()).collect();
            builtin_type(&program.sums, *builtin, &types, stated)
        }
        ExpressionKind::Foreign { foreign, arguments } => {
            foreign_call(program, *foreign, arguments.iter().map(ty))
        }
    }
}

fn vector(program: &Program, elements: &[ExpressionId], stated: Option<&Type>) -> Result<Type> {
    let ty = |id: &ExpressionId| &program.expression(*id).ty;
    let element = match (stated, elements.first()) {
        (Some(Type::Vector(element)), _) => Type::clone(element),
        (_, Some(first)) => ty(first).clone(),
        (_, None) => return Err("a vector of unknown type".into()),
    };
    for e in elements {
        equal("an element", ty(e), &element)?;
    }
    Ok(Type::vector(element))
}

fn foreign_call<'a>(
    program: &Program,
    foreign: u32,
    arguments: impl ExactSizeIterator<Item = &'a Type>,
) -> Result<Type> {
    let Some(foreign) = program.foreigns.get(foreign as usize) else {
        return Err("an unknown foreign function".into());
    };
    count(arguments.len(), foreign.parameters.len())?;
    for (argument, parameter) in arguments.zip(&foreign.parameters) {
        equal("an argument", argument, parameter)?;
    }
    Ok(foreign.result.clone())
}

fn equal(what: &str, found: &Type, expected: &Type) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(format!(
            "{what} has type {}, not {}",
            crate::forms::write::print_type(found),
            crate::forms::write::print_type(expected)
        )),
    }
}

fn count(found: usize, expected: usize) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{found} arguments, not {expected}")),
    }
}

fn apply<'a>(function: &Type, arguments: impl Iterator<Item = &'a Type>) -> Result<Type> {
    let mut ty = function.clone();
    for argument in arguments {
        let Type::Function(parameter, result) = ty else {
            return Err("an application of what is no function".into());
        };
        equal("an argument", argument, &parameter)?;
        ty = Type::clone(&result);
    }
    Ok(ty)
}

fn construct(
    program: &Program,
    constructor: u32,
    payload: &Type,
    stated: Option<&Type>,
) -> Result<Type> {
    let Some(Type::Sum(id)) = stated else {
        return Err("a construction of what is no sum".into());
    };
    let sum = program.sums.get(id.index()).ok_or("an unknown sum")?;
    let constructor = sum.constructors.get(constructor as usize);
    let constructor = constructor.ok_or("an unknown constructor")?;
    equal("the payload", payload, &constructor.payload)?;
    Ok(Type::Sum(*id))
}

fn case(program: &Program, kind: &ExpressionKind) -> Result<Type> {
    let ExpressionKind::Case {
        scrutinee,
        arms,
        default,
    } = kind
    else {
        return Err("no case".into());
    };
    let Type::Sum(id) = &program.expression(*scrutinee).ty else {
        return Err("a case of what is no sum".into());
    };
    let sum = program.sums.get(id.index()).ok_or("an unknown sum")?;
    if arms.len() != sum.constructors.len() {
        return Err(format!(
            "{} arms for {} constructors",
            arms.len(),
            sum.constructors.len()
        ));
    }
    let mut result: Option<&Type> = None;
    let mut bodies = Vec::new();
    for (arm, constructor) in arms.iter().zip(&sum.constructors) {
        match arm {
            Some(arm) => {
                if let Some(variable) = arm.variable {
                    let variable = &program.variable(variable).ty;
                    equal("the payload", variable, &constructor.payload)?;
                }
                bodies.push(arm.body);
            }
            None if default.is_none() => {
                return Err(format!("no arm for {}", constructor.name));
            }
            None => {}
        }
    }
    bodies.extend(*default);
    for body in bodies {
        let ty = &program.expression(body).ty;
        equal("an arm", ty, result.unwrap_or(ty))?;
        result.get_or_insert(ty);
    }
    result.cloned().ok_or("a case without arms".into())
}
