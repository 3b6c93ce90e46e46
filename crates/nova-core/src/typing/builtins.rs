//! The typing rules of built-ins.

use super::{Result, apply, count, equal};
use crate::{Builtin, Scalar, ScalarOperation, SumType, Type, nodes};

/// Returns the type of a built-in applied to arguments of these types (see [`super::type_of`]).
pub fn builtin_type(
    sums: &[SumType],
    builtin: Builtin,
    arguments: &[Type],
    stated: Option<&Type>,
) -> Result<Type> {
    let a = Arguments(arguments);
    match builtin {
        Builtin::Scalar(operation) => scalar(operation, arguments),
        Builtin::Map { .. } | Builtin::Imap | Builtin::Tabulate | Builtin::TabulateArray => {
            mapping(builtin, a)
        }
        Builtin::Reduce { .. } | Builtin::Scan { .. } | Builtin::Foldl => folding(builtin, a),
        Builtin::ReduceSeq { .. } => folding(Builtin::Foldl, a),
        Builtin::Histogram | Builtin::Iterate | Builtin::While => folding(builtin, a),
        Builtin::Scanl => folding(builtin, a),
        Builtin::Filter | Builtin::Partition | Builtin::Sort => selecting(builtin, a),
        Builtin::Permute | Builtin::Gather | Builtin::Slice | Builtin::Range => {
            indexing(builtin, a)
        }
        Builtin::Index | Builtin::ArrayIndex | Builtin::Scatter => indexing(builtin, a),
        Builtin::Rotate | Builtin::Update | Builtin::Unflatten => indexing(builtin, a),
        Builtin::UpdateSlice => indexing(builtin, a),
        Builtin::ArraySlice | Builtin::ArrayUpdate => blocks(builtin, a),
        Builtin::ArrayUpdateSlice => blocks(builtin, a),
        Builtin::Trace | Builtin::Zip | Builtin::Unzip | Builtin::Concat => whole(builtin, a),
        Builtin::Reverse | Builtin::Replicate => whole(builtin, a),
        Builtin::Length | Builtin::Shape | Builtin::Segments => sizes(builtin, a, stated),
        Builtin::Count => counting(a, stated),
        Builtin::Reshape | Builtin::Transpose | Builtin::Flatten => shapes(builtin, a),
        Builtin::Rows | Builtin::Unrows => shapes(builtin, a),
        Builtin::Split | Builtin::AsVector { .. } | Builtin::AsScalar => splitting(builtin, a),
        Builtin::Table { .. } => table(sums, a, stated),
        Builtin::Datum { .. } => datum(sums, a),
        Builtin::NodeAt => {
            a.count(2)?;
            a.is(1, &Type::INT)?;
            a.vector(0)
        }
    }
}

/// The rule of `table`, whose type the expression states.
fn table(sums: &[SumType], a: Arguments, stated: Option<&Type>) -> Result<Type> {
    a.count(1)?;
    let tables = stated.ok_or("a table of unknown nodes")?;
    let members = nodes::members(sums, tables).ok_or("a table of what are no nodes")?;
    nodes::check(sums, &members)?;
    a.is(0, &Type::Sum(members[0].data))?;
    Ok(tables.clone())
}

/// The rule of `datum`.
fn datum(sums: &[SumType], a: Arguments) -> Result<Type> {
    a.count(2)?;
    a.integer(0)?;
    let members = nodes::members(sums, a.get(1)?).ok_or("a datum of what are no nodes")?;
    nodes::check(sums, &members)?;
    Ok(Type::Sum(members[0].data))
}

/// The rules of built-ins that make a vector of the results of a function.
fn mapping(builtin: Builtin, a: Arguments) -> Result<Type> {
    let last = a.0.len().saturating_sub(1);
    match builtin {
        Builtin::Map { .. } if last == 0 => Err("a map over nothing".into()),
        Builtin::Map { .. } => {
            let elements = (1..=last).map(|k| a.vector(k));
            let elements = elements.collect::<Result<Vec<Type>>>()?;
            Ok(Type::vector(a.function(0, &elements)?))
        }
        Builtin::Imap => {
            a.count(2)?;
            let element = a.vector(1)?;
            Ok(Type::vector(a.function(0, &[Type::INT, element])?))
        }
        Builtin::Tabulate => {
            a.count(2)?;
            let index = a.integer(0)?;
            Ok(Type::vector(a.function(1, &[index])?))
        }
        Builtin::TabulateArray => {
            let indices = (0..last).map(|k| a.integer(k));
            let indices = indices.collect::<Result<Vec<Type>>>()?;
            Ok(Type::array(last as u32, a.function(last, &indices)?))
        }
        other => Err(format!("no rule for {other:?}")),
    }
}

/// The rules of reductions and loops.
fn folding(builtin: Builtin, a: Arguments) -> Result<Type> {
    match builtin {
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
        Builtin::Foldl | Builtin::Scanl => {
            a.count(3)?;
            let state = a.get(1)?.clone();
            a.function_to(0, &[state.clone(), a.vector(2)?], &state)?;
            match builtin {
                Builtin::Scanl => Ok(Type::vector(state)),
                _ => Ok(state),
            }
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
        other => Err(format!("no rule for {other:?}")),
    }
}

/// The rules of built-ins that select or order elements by a function to bool.
fn selecting(builtin: Builtin, a: Arguments) -> Result<Type> {
    a.count(2)?;
    let element = a.vector(1)?;
    let vector = a.get(1)?.clone();
    match builtin {
        Builtin::Sort => {
            a.function_to(0, &[element.clone(), element], &Type::BOOL)?;
            Ok(vector)
        }
        Builtin::Partition => {
            a.function_to(0, &[element], &Type::BOOL)?;
            Ok(Type::tuple(vec![vector.clone(), vector]))
        }
        _ => {
            a.function_to(0, &[element], &Type::BOOL)?;
            Ok(vector)
        }
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
        (ScalarOperation::Bits(to), _) => operand.holds_bits_of(to),
        (_, Some(info)) => info.class.contains(operand),
        (_, None) => true,
    };
    match accepted {
        true => Ok(Type::Scalar(operation.result(operand))),
        false => Err(format!("{} of {operand}", operation.short())),
    }
}

/// The rules of built-ins that take indices.
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
        Builtin::UpdateSlice => {
            a.count(3)?;
            a.vector(0)?;
            a.integer(1)?;
            a.is(2, a.get(0)?)?;
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

/// The rules of built-ins that take an array and indices of all of its dimensions.
fn blocks(builtin: Builtin, a: Arguments) -> Result<Type> {
    let at = match builtin {
        Builtin::ArraySlice => a.0.len().saturating_sub(1),
        _ => 0,
    };
    let (rank, element) = a.array(at)?;
    let rank = rank as usize;
    let indices = match builtin {
        Builtin::ArraySlice => 0..3 * rank,
        _ => 1..rank + 1,
    };
    match builtin {
        Builtin::ArraySlice => a.count(3 * rank + 1)?,
        Builtin::ArrayUpdate => {
            a.count(rank + 2)?;
            a.is(rank + 1, &element)?;
        }
        _ => {
            a.count(rank + 2)?;
            a.is(rank + 1, a.get(0)?)?;
        }
    }
    for k in indices {
        a.integer(k)?;
    }
    a.get(at).cloned()
}

/// The rule of `count`, whose elements have the stated integer type.
fn counting(a: Arguments, stated: Option<&Type>) -> Result<Type> {
    a.count(2)?;
    a.integer(0)?;
    a.indices(1)?;
    match stated {
        Some(Type::Vector(element)) if element.as_scalar().is_some_and(Scalar::is_integer) => {
            Ok(Type::Vector(element.clone()))
        }
        Some(_) | None => Ok(Type::vector(Type::INT)),
    }
}

/// The rules of built-ins on whole vectors.
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

/// The rules of built-ins that give lengths, of the stated integer type.
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

/// The rules of built-ins between vectors and arrays.
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

/// The rules of built-ins that split a vector into rows or lanes of one length, or join those.
fn splitting(builtin: Builtin, a: Arguments) -> Result<Type> {
    match builtin {
        Builtin::Split => {
            a.count(2)?;
            a.integer(0)?;
            Ok(Type::array(2, a.vector(1)?))
        }
        Builtin::AsVector { lanes } => {
            a.count(1)?;
            let element = a.vector(0)?;
            match element.as_scalar().is_some_and(|s| s != Scalar::Bool) {
                true => Ok(Type::vector(Type::tuple(vec![element; lanes as usize]))),
                false => Err("an as_vector of what are no numbers".into()),
            }
        }
        Builtin::AsScalar => {
            a.count(1)?;
            let element = a.vector(0)?;
            match element.as_lanes() {
                Some((_, scalar)) => Ok(Type::vector(Type::Scalar(scalar))),
                None => Err("an as_scalar of what is no vec#n".into()),
            }
        }
        other => Err(format!("no rule for {other:?}")),
    }
}

/// The types of the arguments of a built-in.
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

    /// Returns the element type of argument `k`, a vector.
    fn vector(self, k: usize) -> Result<Type> {
        match self.get(k)? {
            Type::Vector(element) => Ok(Type::clone(element)),
            _ => Err(format!("argument {k} is no vector")),
        }
    }

    /// Returns rank (at least 2) and element type of argument `k`.
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

    /// Returns the result type of argument `k`, a function of these parameters.
    fn function(self, k: usize, parameters: &[Type]) -> Result<Type> {
        apply(self.get(k)?, parameters.iter()).map_err(|m| format!("argument {k}: {m}"))
    }

    fn function_to(self, k: usize, parameters: &[Type], result: &Type) -> Result<()> {
        let found = self.function(k, parameters)?;
        equal(&format!("the result of argument {k}"), &found, result)
    }
}
