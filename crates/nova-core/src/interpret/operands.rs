//! Values as the operands of built-ins: their parts, lengths and indices, and the checks that built-ins share.

use crate::error::{Failure, internal};
use crate::value::{Extents, grow};
use crate::{Elements, ErrorKind, LONGEST, OutOfMemory, RuntimeError, ScalarValue, Type, Value};

pub type Result<T> = std::result::Result<T, Failure>;

/// Returns an error without a place. It gets that of the instruction being executed.
pub fn stop(kind: ErrorKind, arguments: &[i128]) -> Failure {
    let clamp = |v: &i128| (*v).clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    Failure::Runtime(RuntimeError {
        kind,
        arguments: arguments.iter().map(clamp).collect(),
        place: None,
    })
}

impl From<OutOfMemory> for Failure {
    fn from(_: OutOfMemory) -> Self {
        stop(ErrorKind::Memory, &[])
    }
}

/// The operands of a built-in, from left to right.
pub struct Operands(std::vec::IntoIter<Value>);

impl Operands {
    pub fn new(values: Vec<Value>) -> Self {
        Operands(values.into_iter())
    }

    pub fn value(&mut self) -> Result<Value> {
        let next = self.0.next();
        next.ok_or_else(|| internal("a built-in has too few operands"))
    }

    pub fn integer(&mut self) -> Result<i128> {
        as_integer(&self.value()?)
    }

    /// Returns the elements of a vector, or all of an array in row-major order.
    pub fn elements(&mut self) -> Result<Elements> {
        Ok(array(self.value()?)?.1)
    }

    pub fn array(&mut self) -> Result<(Extents, Elements)> {
        array(self.value()?)
    }
}

/// Returns the extents and the elements of a vector or array.
pub fn array(value: Value) -> Result<(Extents, Elements)> {
    match value {
        Value::Array(extents, elements) => Ok((extents, elements)),
        Value::Vector(elements) => Ok((vec![elements.len()].into(), elements)),
        Value::Scalar(_) | Value::Unit | Value::Tuple(_) | Value::Sum(..) | Value::Function(_) => {
            Err(internal("a value is no vector"))
        }
    }
}

/// Returns the scalar that a value is.
pub fn as_scalar(value: &Value) -> Result<ScalarValue> {
    value
        .as_scalar()
        .ok_or_else(|| internal("a value is no scalar"))
}

/// Returns the truth value that a value is.
pub fn as_bool(value: &Value) -> Result<bool> {
    match as_scalar(value)? {
        ScalarValue::Bool(value) => Ok(value),
        _ => Err(internal("a value is no `bool`")),
    }
}

/// Returns the integer that a value is.
pub fn as_integer(value: &Value) -> Result<i128> {
    let integer = as_scalar(value)?.as_integer();
    integer.ok_or_else(|| internal("a value is no integer"))
}

/// Returns the type of a vector's elements, or any other type itself.
pub fn element_type(ty: &Type) -> &Type {
    match ty {
        Type::Vector(element) | Type::Array(_, element) => element,
        Type::Scalar(_) | Type::Unit | Type::Tuple(_) | Type::Function(..) | Type::Sum(_) => ty,
    }
}

/// Returns element `k`, which exists.
pub fn at(elements: &Elements, k: usize) -> Result<Value> {
    let element = elements.get(k);
    element.ok_or_else(|| internal("a vector has too few elements"))
}

/// Returns the integer in element `k` of a vector of indices.
pub fn integer_at(indices: &Elements, k: usize) -> Result<i128> {
    as_integer(&at(indices, k)?)
}

/// Returns `index` as an index of a vector of length `n`, if it is one.
pub fn in_range(index: i128, n: usize) -> Option<usize> {
    usize::try_from(index).ok().filter(|k| *k < n)
}

/// Returns `index` if it is in range, or the error.
pub fn checked(index: i128, n: usize) -> Result<usize> {
    in_range(index, n).ok_or_else(|| stop(ErrorKind::Index, &[index, n as i128]))
}

/// Checks that two lengths agree.
pub fn same_length(a: usize, b: usize) -> Result<()> {
    match a == b {
        true => Ok(()),
        false => Err(stop(ErrorKind::Length, &[a as i128, b as i128])),
    }
}

/// Checks that a length is not negative. One beyond any memory is [`ErrorKind::Memory`].
pub fn non_negative(n: i128) -> Result<usize> {
    if n < 0 {
        return Err(stop(ErrorKind::Negative, &[n]));
    }
    not_too_long(n).map_err(|_| OutOfMemory.into())
}

/// Returns a length, or an extent, that is not negative, if it is not too long.
pub fn not_too_long(n: i128) -> std::result::Result<usize, OutOfMemory> {
    match n <= i128::from(LONGEST) {
        true => usize::try_from(n).map_err(|_| OutOfMemory),
        false => Err(OutOfMemory),
    }
}

/// Returns an empty list of indices with room for `n`.
pub fn index_list(n: usize) -> Result<Vec<usize>> {
    let mut list = Vec::new();
    grow(&mut list, n)?;
    Ok(list)
}

/// Counts the numbers of `b, b + s, …` before `e`. A step of 0 is an error.
pub fn steps(b: i128, s: i128, e: i128) -> Result<i128> {
    match s.signum() {
        0 => Err(stop(ErrorKind::Step, &[])),
        1 => Ok((e - b + (s - 1)).div_euclid(s).max(0)),
        _ => Ok((b - e + (-s - 1)).div_euclid(-s).max(0)),
    }
}

/// Checks that the extents, from left to right, are not negative, then that their product is `n`, if
/// given. Neither an extent nor the product may be too long.
pub fn extents(given: &[i128], n: Option<usize>) -> Result<Extents> {
    if let Some(negative) = given.iter().find(|e| **e < 0) {
        return Err(stop(ErrorKind::Negative, &[*negative]));
    }
    let product = match given.contains(&0) {
        true => 0,
        false => given.iter().fold(1i128, |p, e| p.saturating_mul(*e)),
    };
    let shape_error = |n: usize| stop(ErrorKind::Shape, &[product, n as i128]);
    match n {
        Some(n) if product != n as i128 => Err(shape_error(n)),
        Some(_) | None => {
            not_too_long(product)?;
            let extents = given.iter().map(|e| not_too_long(*e));
            let extents: std::result::Result<Vec<usize>, OutOfMemory> = extents.collect();
            Ok(extents?.into())
        }
    }
}

/// Returns a vector or an array of these extents.
pub fn shaped(extents: &[usize], elements: Elements) -> Value {
    match extents.len() {
        0 | 1 => Value::Vector(elements),
        _ => Value::Array(extents.to_vec().into(), elements),
    }
}

/// Advances to the next index tuple in row-major order.
pub fn advance(indices: &mut [usize], extents: &[usize]) {
    for (index, extent) in indices.iter_mut().zip(extents).rev() {
        *index += 1;
        if *index < *extent {
            return;
        }
        *index = 0;
    }
}
