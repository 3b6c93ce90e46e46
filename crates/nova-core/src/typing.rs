//! The typing rules of Core: the type of an expression from those of its parts. The parser derives
//! types with them, the verifier compares.

use crate::ir::{ExpressionId, ExpressionKind, Program};
use crate::{Builtin, Scalar, ScalarOperation, Type};

/// Why an expression has no type.
pub type Result<T> = std::result::Result<T, String>;

/// The type of an expression of this kind, whose parts and variables have their types.
///
/// `stated` is the type it is said to have. It decides where the parts do not: the sum of a
/// construction, the elements of a vector, the integer type of `length`, `shape` and `segments`
/// (without it `int`).
pub fn type_of(program: &Program, kind: &ExpressionKind, stated: Option<&Type>) -> Result<Type> {
    let ty = |id: &ExpressionId| &program.expression(*id).ty;
    match kind {
        ExpressionKind::Literal(value) => Ok(Type::Scalar(value.scalar())),
        ExpressionKind::Unit => Ok(Type::Unit),
        ExpressionKind::Text(_) => Ok(Type::vector(Type::Scalar(Scalar::U8))),
        ExpressionKind::Variable(variable) => Ok(program.variable(*variable).ty.clone()),
        ExpressionKind::Lambda { parameters, body } => {
            let parameters = parameters.iter().map(|p| program.variable(*p).ty.clone());
            let parameters: Vec<Type> = parameters.collect();
            match parameters.is_empty() {
                true => Err("a lambda without parameters".into()),
                false => Ok(Type::function(&parameters, ty(body).clone())),
            }
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
        ExpressionKind::Vector(elements) => {
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
        ExpressionKind::Builtin { builtin, arguments } => {
            let types: Vec<Type> = arguments.iter().map(|a| ty(a).clone()).collect();
            builtin_type(*builtin, &types, stated)
        }
        ExpressionKind::Foreign { foreign, arguments } => {
            let Some(foreign) = program.foreigns.get(*foreign as usize) else {
                return Err("an unknown foreign function".into());
            };
            count(arguments.len(), foreign.parameters.len())?;
            for (argument, parameter) in arguments.iter().zip(&foreign.parameters) {
                equal("an argument", ty(argument), parameter)?;
            }
            Ok(foreign.result.clone())
        }
    }
}

fn equal(what: &str, found: &Type, expected: &Type) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(format!(
            "{what} has type {}, not {}",
            crate::print::print_type(found),
            crate::print::print_type(expected)
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
    let sum = program.sums.get(id.0 as usize).ok_or("an unknown sum")?;
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
    let sum = program.sums.get(id.0 as usize).ok_or("an unknown sum")?;
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

/// The type of a built-in applied to arguments of these types; see [`type_of`].
pub fn builtin_type(builtin: Builtin, arguments: &[Type], stated: Option<&Type>) -> Result<Type> {
    let a = Arguments(arguments);
    match builtin {
        Builtin::Scalar(operation) => scalar(operation, arguments),
        Builtin::Map => {
            let vectors = arguments.get(1..).unwrap_or_default();
            if vectors.is_empty() {
                return Err("a map over nothing".into());
            }
            let elements = (1..arguments.len()).map(|k| a.vector(k));
            let elements = elements.collect::<Result<Vec<Type>>>()?;
            Ok(Type::vector(a.function(0, &elements)?))
        }
        Builtin::Imap => {
            a.count(2)?;
            let element = a.vector(1)?;
            Ok(Type::vector(a.function(0, &[Type::INT, element])?))
        }
        Builtin::Reduce { .. } | Builtin::Scan { .. } => {
            a.count(3)?;
            let element = a.vector(2)?;
            a.function_to(0, &[element.clone(), element.clone()], &element)?;
            a.is(1, &element)?;
            match builtin {
                Builtin::Scan { .. } => Ok(Type::vector(element)),
                _ => Ok(element),
            }
        }
        Builtin::Foldl => {
            a.count(3)?;
            let state = a.get(1)?.clone();
            a.function_to(0, &[state.clone(), a.vector(2)?], &state)?;
            Ok(state)
        }
        Builtin::Filter | Builtin::Partition => {
            a.count(2)?;
            let element = a.vector(1)?;
            a.function_to(0, &[element], &Type::BOOL)?;
            let vector = a.get(1)?.clone();
            match builtin {
                Builtin::Partition => Ok(Type::tuple(vec![vector.clone(), vector])),
                _ => Ok(vector),
            }
        }
        Builtin::Sort => {
            a.count(2)?;
            let element = a.vector(1)?;
            a.function_to(0, &[element.clone(), element], &Type::BOOL)?;
            a.get(1).cloned()
        }
        Builtin::Histogram => {
            a.count(5)?;
            let element = a.vector(4)?;
            a.function_to(0, &[element.clone(), element.clone()], &element)?;
            a.is(1, &element)?;
            a.integer(2)?;
            a.indices(3)?;
            a.get(4).cloned()
        }
        Builtin::Tabulate => {
            a.count(2)?;
            let index = a.integer(0)?;
            Ok(Type::vector(a.function(1, &[index])?))
        }
        Builtin::TabulateArray => {
            let rank = arguments.len().saturating_sub(1);
            let indices = (0..rank).map(|k| a.integer(k));
            let indices = indices.collect::<Result<Vec<Type>>>()?;
            Ok(Type::array(rank as u32, a.function(rank, &indices)?))
        }
        Builtin::Iterate => {
            a.count(3)?;
            a.integer(0)?;
            let state = a.get(2)?.clone();
            a.function_to(1, std::slice::from_ref(&state), &state)?;
            Ok(state)
        }
        Builtin::While => {
            a.count(3)?;
            let state = a.get(2)?.clone();
            a.function_to(0, std::slice::from_ref(&state), &Type::BOOL)?;
            a.function_to(1, std::slice::from_ref(&state), &state)?;
            Ok(state)
        }
        Builtin::Permute | Builtin::Gather | Builtin::Slice | Builtin::Range => {
            indexing(builtin, a)
        }
        Builtin::Index | Builtin::ArrayIndex | Builtin::Scatter => indexing(builtin, a),
        Builtin::Rotate | Builtin::Update | Builtin::Unflatten => indexing(builtin, a),
        Builtin::Trace | Builtin::Zip | Builtin::Unzip | Builtin::Concat => whole(builtin, a),
        Builtin::Reverse | Builtin::Replicate => whole(builtin, a),
        Builtin::Length | Builtin::Shape | Builtin::Segments => sizes(builtin, a, stated),
        Builtin::Reshape | Builtin::Transpose | Builtin::Flatten => shapes(builtin, a),
        Builtin::Rows | Builtin::Unrows => shapes(builtin, a),
    }
}

fn scalar(operation: ScalarOperation, arguments: &[Type]) -> Result<Type> {
    count(arguments.len(), operation.arity())?;
    let Some(operand) = arguments[0].as_scalar() else {
        return Err("an operand that is no scalar".into());
    };
    for argument in arguments {
        equal("an operand", argument, &arguments[0])?;
    }
    let accepted = match (operation, operation.info()) {
        (ScalarOperation::Wrap(to), _) => to.is_integer(),
        (_, Some(info)) => info.class.contains(operand),
        (_, None) => true,
    };
    match accepted {
        true => Ok(Type::Scalar(operation.result(operand))),
        false => Err(format!("{} of {operand}", operation.short())),
    }
}

/// Rules of built-ins that take indices.
fn indexing(builtin: Builtin, a: Arguments) -> Result<Type> {
    match builtin {
        Builtin::Permute | Builtin::Gather => {
            a.count(2)?;
            a.indices(0)?;
            a.vector(1)?;
            a.get(1).cloned()
        }
        Builtin::Slice => {
            a.count(4)?;
            (0..3).try_for_each(|k| a.integer(k).map(drop))?;
            a.vector(3)?;
            a.get(3).cloned()
        }
        Builtin::Range => {
            a.count(3)?;
            let index = a.integer(0)?;
            a.is(1, &index)?;
            a.is(2, &index)?;
            Ok(Type::vector(index))
        }
        Builtin::Index => {
            a.count(2)?;
            a.integer(1)?;
            a.vector(0)
        }
        Builtin::ArrayIndex => {
            let (rank, element) = a.array(0)?;
            a.count(rank as usize + 1)?;
            (1..a.0.len()).try_for_each(|k| a.integer(k).map(drop))?;
            Ok(element)
        }
        Builtin::Scatter => {
            a.count(3)?;
            a.vector(0)?;
            a.indices(1)?;
            a.is(2, a.get(0)?)?;
            a.get(0).cloned()
        }
        Builtin::Rotate => {
            a.count(2)?;
            a.integer(0)?;
            a.vector(1)?;
            a.get(1).cloned()
        }
        Builtin::Update => {
            a.count(3)?;
            a.integer(1)?;
            a.is(2, &a.vector(0)?)?;
            a.get(0).cloned()
        }
        Builtin::Unflatten => {
            a.count(2)?;
            a.indices(0)?;
            a.vector(1)?;
            Ok(Type::vector(a.get(1)?.clone()))
        }
        other => Err(format!("no rule for {other:?}")),
    }
}

/// Rules of built-ins on whole vectors.
fn whole(builtin: Builtin, a: Arguments) -> Result<Type> {
    match builtin {
        Builtin::Trace => {
            a.count(2)?;
            a.is(0, &Type::vector(Type::Scalar(Scalar::U8)))?;
            a.get(1).cloned()
        }
        Builtin::Zip => {
            a.count(2)?;
            let pair = vec![a.vector(0)?, a.vector(1)?];
            Ok(Type::vector(Type::tuple(pair)))
        }
        Builtin::Unzip => {
            a.count(1)?;
            match a.vector(0)? {
                Type::Tuple(types) => Ok(Type::tuple(
                    types.iter().map(|t| Type::vector(t.clone())).collect(),
                )),
                _ => Err("an unzip of what is no vector of tuples".into()),
            }
        }
        Builtin::Concat => {
            a.count(2)?;
            a.vector(0)?;
            a.is(1, a.get(0)?)?;
            a.get(0).cloned()
        }
        Builtin::Reverse => {
            a.count(1)?;
            a.vector(0)?;
            a.get(0).cloned()
        }
        Builtin::Replicate => {
            a.count(2)?;
            a.integer(0)?;
            Ok(Type::vector(a.get(1)?.clone()))
        }
        other => Err(format!("no rule for {other:?}")),
    }
}

/// Rules of built-ins that give lengths, of the integer type stated.
fn sizes(builtin: Builtin, a: Arguments, stated: Option<&Type>) -> Result<Type> {
    a.count(1)?;
    let integer = |ty: Option<&Type>| match ty {
        Some(Type::Scalar(scalar)) if scalar.is_integer() => Type::Scalar(*scalar),
        Some(_) | None => Type::INT,
    };
    match (builtin, stated) {
        (Builtin::Shape, stated) => {
            let (rank, _) = a.array(0)?;
            let component = |k| match stated {
                Some(Type::Tuple(types)) => types.get(k),
                Some(_) | None => None,
            };
            let types = (0..rank as usize).map(|k| integer(component(k)));
            Ok(Type::tuple(types.collect()))
        }
        (Builtin::Segments, stated) => {
            let inner = a.vector(0)?;
            if !matches!(inner, Type::Vector(_) | Type::Array(..)) {
                return Err("segments of what is no nested vector".into());
            }
            let element = match stated {
                Some(Type::Vector(element)) => Some(&**element),
                Some(_) | None => None,
            };
            Ok(Type::vector(integer(element)))
        }
        (_, stated) => {
            if !matches!(a.get(0)?, Type::Vector(_) | Type::Array(..)) {
                return Err("the length of what is no vector".into());
            }
            Ok(integer(stated))
        }
    }
}

/// Rules of built-ins between vectors and arrays.
fn shapes(builtin: Builtin, a: Arguments) -> Result<Type> {
    match builtin {
        Builtin::Reshape => {
            let rank = a.0.len().saturating_sub(1);
            (0..rank).try_for_each(|k| a.integer(k).map(drop))?;
            match a.get(rank)? {
                Type::Vector(element) | Type::Array(_, element) if rank > 0 => {
                    Ok(Type::array(rank as u32, Type::clone(element)))
                }
                _ => Err("a reshape of what is no vector".into()),
            }
        }
        Builtin::Transpose => {
            a.count(1)?;
            match a.array(0)? {
                (2, element) => Ok(Type::array(2, element)),
                _ => Err("a transpose of what is no vector#2".into()),
            }
        }
        Builtin::Flatten => {
            a.count(1)?;
            match a.get(0)? {
                Type::Array(_, element) => Ok(Type::Vector(element.clone())),
                Type::Vector(row) if matches!(**row, Type::Vector(_)) => Ok(Type::clone(row)),
                Type::Vector(row) => match &**row {
                    Type::Array(_, element) => Ok(Type::Vector(element.clone())),
                    _ => Err("a flatten of what is not nested".into()),
                },
                _ => Err("a flatten of what is not nested".into()),
            }
        }
        Builtin::Rows => {
            a.count(1)?;
            let (rank, element) = a.array(0)?;
            Ok(Type::vector(Type::array(rank - 1, element)))
        }
        Builtin::Unrows => {
            a.count(1)?;
            match a.vector(0)? {
                Type::Vector(element) => Ok(Type::Array(2, element)),
                Type::Array(rank, element) => Ok(Type::Array(rank + 1, element)),
                _ => Err("an unrows of what is not nested".into()),
            }
        }
        other => Err(format!("no rule for {other:?}")),
    }
}

/// The types of a built-in's arguments.
#[derive(Clone, Copy)]
struct Arguments<'a>(&'a [Type]);

impl<'a> Arguments<'a> {
    fn count(self, expected: usize) -> Result<()> {
        count(self.0.len(), expected)
    }

    fn get(self, k: usize) -> Result<&'a Type> {
        self.0.get(k).ok_or_else(|| format!("no argument {k}"))
    }

    fn is(self, k: usize, expected: &Type) -> Result<()> {
        equal(&format!("argument {k}"), self.get(k)?, expected)
    }

    /// The element type of argument `k`, a vector.
    fn vector(self, k: usize) -> Result<Type> {
        match self.get(k)? {
            Type::Vector(element) => Ok(Type::clone(element)),
            _ => Err(format!("argument {k} is no vector")),
        }
    }

    /// Rank (at least 2) and element type of argument `k`.
    fn array(self, k: usize) -> Result<(u32, Type)> {
        match self.get(k)? {
            Type::Array(rank, element) if *rank >= 2 => Ok((*rank, Type::clone(element))),
            _ => Err(format!("argument {k} is no vector#n")),
        }
    }

    fn integer(self, k: usize) -> Result<Type> {
        match self.get(k)? {
            Type::Scalar(scalar) if scalar.is_integer() => Ok(Type::Scalar(*scalar)),
            _ => Err(format!("argument {k} is no integer")),
        }
    }

    fn indices(self, k: usize) -> Result<()> {
        match self.vector(k)? {
            Type::Scalar(scalar) if scalar.is_integer() => Ok(()),
            _ => Err(format!("argument {k} is no vector of integers")),
        }
    }

    /// The result of argument `k`, a function of these parameters.
    fn function(self, k: usize, parameters: &[Type]) -> Result<Type> {
        apply(self.get(k)?, parameters.iter()).map_err(|m| format!("argument {k}: {m}"))
    }

    fn function_to(self, k: usize, parameters: &[Type], result: &Type) -> Result<()> {
        let found = self.function(k, parameters)?;
        equal(&format!("the result of argument {k}"), &found, result)
    }
}
