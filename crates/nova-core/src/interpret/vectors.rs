//! The built-ins on whole vectors. Each reports the first of its errors in the order documented here,
//! as the code emitted by the lowering to Flat does.

use super::blocks::{array_slice, array_update, progression, update_block};
use super::code::Site;
use super::machine::{as_integer, as_scalar};
use super::{Options, stop};
use crate::value::grow;
use crate::{
    Builtin, Elements, ErrorKind, LONGEST, OutOfMemory, RuntimeError, ScalarValue, SumType, Type,
    Value,
};
use std::sync::Arc;

type Result<T> = std::result::Result<T, RuntimeError>;

/// The operands of a built-in, from left to right.
pub struct Operands(std::vec::IntoIter<Value>);

impl Operands {
    pub fn new(values: Vec<Value>) -> Self {
        Operands(values.into_iter())
    }

    pub fn value(&mut self) -> Value {
        self.0.next().unwrap_or(Value::Unit)
    }

    pub fn integer(&mut self) -> i128 {
        as_integer(&self.value())
    }

    /// Returns the elements of a vector, or all of an array in row-major order.
    pub fn elements(&mut self) -> Elements {
        match self.value() {
            Value::Vector(elements) | Value::Array(_, elements) => elements,
            Value::Scalar(_) | Value::Unit | Value::Tuple(_) => Elements::new(&Type::Unit),
            Value::Sum(..) | Value::Function(_) => Elements::new(&Type::Unit),
        }
    }

    pub fn array(&mut self) -> (Arc<[usize]>, Elements) {
        match self.value() {
            Value::Array(extents, elements) => (extents, elements),
            Value::Vector(elements) => ([elements.len()].into(), elements),
            Value::Scalar(_) | Value::Unit | Value::Tuple(_) => {
                (Arc::default(), Elements::new(&Type::Unit))
            }
            Value::Sum(..) | Value::Function(_) => (Arc::default(), Elements::new(&Type::Unit)),
        }
    }
}

/// Applies a built-in that takes no functions.
pub fn apply(
    site: &Site,
    operands: Vec<Value>,
    sums: &[SumType],
    options: &Options,
) -> Result<Value> {
    let count = operands.len();
    let mut o = Operands::new(operands);
    match site.builtin {
        Builtin::Permute => permute(o.elements(), o.elements()),
        Builtin::Gather => gather(o.elements(), o.elements()),
        Builtin::Slice => slice([o.integer(), o.integer(), o.integer()], o.elements()),
        Builtin::ArraySlice => {
            let bounds: Vec<i128> = (1..count).map(|_| o.integer()).collect();
            array_slice(&bounds, o.array())
        }
        Builtin::Range => range([o.value(), o.value(), o.value()], &site.result),
        Builtin::Trace => {
            let (text, value) = (o.elements(), o.value());
            trace(&text, &value, &site.result, sums, options);
            Ok(value)
        }
        Builtin::Length => length(o.array().0.first().copied().unwrap_or(0), &site.result),
        Builtin::ArrayIndex => {
            let (extents, elements) = o.array();
            array_index(&extents, elements, || o.integer())
        }
        Builtin::Scatter => scatter(o.elements(), o.elements(), o.elements()),
        Builtin::Zip => zip(o.elements(), o.elements(), &site.result),
        Builtin::Unzip => unzip(o.elements(), &site.result),
        Builtin::Concat => {
            let mut elements = o.elements();
            elements.append(&o.elements())?;
            Ok(Value::Vector(elements))
        }
        Builtin::Reverse => {
            let elements = o.elements();
            Ok(Value::Vector(elements.pick((0..elements.len()).rev())?))
        }
        Builtin::Replicate => replicate(o.integer(), o.value(), &site.result),
        Builtin::Rotate => rotate(o.integer(), o.elements()),
        Builtin::Update => update(o.elements(), o.integer(), o.value()),
        Builtin::ArrayUpdate => array_update(o.array(), o),
        Builtin::UpdateSlice => {
            let (_, elements) = update_block(o.array(), o)?;
            Ok(Value::Vector(elements))
        }
        Builtin::ArrayUpdateSlice => {
            let (extents, elements) = update_block(o.array(), o)?;
            Ok(Value::Array(extents, elements))
        }
        Builtin::Count => occurrences(o.integer(), o.elements(), &site.result),
        Builtin::Shape => shape(&o.array().0, &site.result),
        Builtin::Reshape => {
            let extents: Vec<i128> = (1..count).map(|_| o.integer()).collect();
            reshape(&extents, o.elements())
        }
        Builtin::Transpose => transpose(o.array()),
        Builtin::Flatten => flatten(o.value(), &site.result),
        Builtin::Rows => rows(o.array()),
        Builtin::Unrows => unrows(o.elements(), &site.result),
        Builtin::Segments => segments(o.elements(), &site.result),
        Builtin::Unflatten => unflatten(o.elements(), o.elements()),
        Builtin::Split => split(o.integer(), o.elements()),
        Builtin::AsVector { lanes } => as_vector(lanes, o.elements(), &site.result),
        Builtin::AsScalar => as_scalar_elements(o.elements(), &site.result),
        // Scalar operations and indexing are instructions. The other built-ins take functions.
        Builtin::Scalar(_) | Builtin::Index | Builtin::Map { .. } => Ok(Value::Unit),
        Builtin::Imap | Builtin::ReduceSeq { .. } => Ok(Value::Unit),
        Builtin::Reduce { .. } | Builtin::Scan { .. } | Builtin::Foldl => Ok(Value::Unit),
        Builtin::Filter | Builtin::Histogram | Builtin::Sort | Builtin::Tabulate => Ok(Value::Unit),
        Builtin::Scanl => Ok(Value::Unit),
        Builtin::TabulateArray | Builtin::Partition => Ok(Value::Unit),
        Builtin::Iterate | Builtin::While => Ok(Value::Unit),
    }
}

/// Returns the type of a vector's elements, or any other type itself.
pub fn element_type(ty: &Type) -> &Type {
    match ty {
        Type::Vector(element) | Type::Array(_, element) => element,
        Type::Scalar(_) | Type::Unit | Type::Tuple(_) | Type::Function(..) | Type::Sum(_) => ty,
    }
}

/// Returns the integer in element `k` of a vector of indices.
pub fn integer_at(indices: &Elements, k: usize) -> i128 {
    indices.get(k).map_or(0, |value| as_integer(&value))
}

/// Returns `index` as an index of a vector of length `n`, if it is one.
pub fn in_range(index: i128, n: usize) -> Option<usize> {
    usize::try_from(index).ok().filter(|k| *k < n)
}

/// Returns `index` if it is in range, or the error.
pub(super) fn checked(index: i128, n: usize) -> Result<usize> {
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
fn not_too_long(n: i128) -> std::result::Result<usize, OutOfMemory> {
    match n <= i128::from(LONGEST) {
        true => usize::try_from(n).map_err(|_| OutOfMemory),
        false => Err(OutOfMemory),
    }
}

/// Returns an empty list of indices with room for `n`.
pub(super) fn index_list(n: usize) -> Result<Vec<usize>> {
    let mut list = Vec::new();
    grow(&mut list, n)?;
    Ok(list)
}

/// Checks that the lengths agree, then in order of k that `I[k]` is in range and new.
fn permute(indices: Elements, elements: Elements) -> Result<Value> {
    let n = elements.len();
    same_length(indices.len(), n)?;
    let mut source = index_list(n)?;
    source.resize(n, usize::MAX);
    for k in 0..n {
        let index = integer_at(&indices, k);
        match in_range(index, n) {
            Some(i) if source[i] == usize::MAX => source[i] = k,
            _ => return Err(stop(ErrorKind::Permutation, &[index])),
        }
    }
    Ok(Value::Vector(elements.pick(source.into_iter())?))
}

/// Checks in order of k that `I[k]` is in range.
fn gather(indices: Elements, elements: Elements) -> Result<Value> {
    let mut source = index_list(indices.len())?;
    for k in 0..indices.len() {
        source.push(checked(integer_at(&indices, k), elements.len())?);
    }
    Ok(Value::Vector(elements.pick(source.into_iter())?))
}

/// Counts the numbers of `b, b + s, …` before `e`. A step of 0 is an error.
pub(super) fn steps(b: i128, s: i128, e: i128) -> Result<i128> {
    match s.signum() {
        0 => Err(stop(ErrorKind::Step, &[])),
        1 => Ok((e - b + (s - 1)).div_euclid(s).max(0)),
        _ => Ok((b - e + (-s - 1)).div_euclid(-s).max(0)),
    }
}

/// Checks that the step is not 0, then that the indices, in their order, are in range.
fn slice([b, s, e]: [i128; 3], elements: Elements) -> Result<Value> {
    let used = progression([b, s, e], elements.len())?;
    let mut source = index_list(used.count)?;
    source.extend((0..used.count).map(|k| used.index(k)));
    Ok(Value::Vector(elements.pick(source.into_iter())?))
}

/// Checks that the step is not 0.
fn range([b, s, e]: [Value; 3], ty: &Type) -> Result<Value> {
    let scalar = as_scalar(&b).scalar();
    let (b, s, e) = (as_integer(&b), as_integer(&s), as_integer(&e));
    let count = not_too_long(steps(b, s, e)?)?;
    let mut elements = Elements::with_capacity(element_type(ty), count)?;
    for k in 0..count as i128 {
        let value = ScalarValue::from_integer_wrapping(scalar, b + k * s);
        elements.push(Value::Scalar(value))?;
    }
    Ok(Value::Vector(elements))
}

fn trace(text: &Elements, value: &Value, ty: &Type, sums: &[SumType], options: &Options) {
    let bytes = match text {
        Elements::U8(bytes) => &bytes[..],
        _ => &[],
    };
    let text = String::from_utf8_lossy(bytes);
    let value = crate::text::print_value(value, ty, sums);
    (options.trace)(&format!("{text} {value}"));
}

/// Returns a length as a value of an integer type that must hold it.
fn length(n: usize, ty: &Type) -> Result<Value> {
    let scalar = ty.as_scalar().unwrap_or(crate::Scalar::I32);
    let value = ScalarValue::from_integer_wrapping(scalar, n as i128);
    match value.as_integer() == Some(n as i128) {
        true => Ok(Value::Scalar(value)),
        false => Err(stop(ErrorKind::LengthOverflow, &[n as i128])),
    }
}

/// Checks that n is not negative, then that the number of indices fits the type of the counts.
fn occurrences(n: i128, indices: Elements, ty: &Type) -> Result<Value> {
    let n = non_negative(n)?;
    length(indices.len(), element_type(ty))?;
    let mut counts: Vec<i128> = Vec::new();
    grow(&mut counts, n)?;
    counts.resize(n, 0);
    for k in 0..indices.len() {
        if let Some(bin) = in_range(integer_at(&indices, k), n) {
            counts[bin] += 1;
        }
    }
    let scalar = element_type(ty).as_scalar().unwrap_or(crate::Scalar::I32);
    let mut elements = Elements::with_capacity(element_type(ty), n)?;
    for count in counts {
        let value = ScalarValue::from_integer_wrapping(scalar, count);
        elements.push(Value::Scalar(value))?;
    }
    Ok(Value::Vector(elements))
}

/// Checks that the indices, from left to right, are in range.
fn array_index(
    extents: &[usize],
    elements: Elements,
    mut index: impl FnMut() -> i128,
) -> Result<Value> {
    let mut position = 0;
    for extent in extents {
        position = position * extent + checked(index(), *extent)?;
    }
    Ok(elements.get(position).unwrap_or(Value::Unit))
}

/// Checks that the lengths of I and X agree.
fn scatter(mut target: Elements, indices: Elements, elements: Elements) -> Result<Value> {
    same_length(indices.len(), elements.len())?;
    for k in 0..indices.len() {
        if let Some(i) = in_range(integer_at(&indices, k), target.len())
            && let Some(value) = elements.get(k)
        {
            target.set(i, value)?;
        }
    }
    Ok(Value::Vector(target))
}

/// Checks that the lengths agree.
fn zip(a: Elements, b: Elements, ty: &Type) -> Result<Value> {
    same_length(a.len(), b.len())?;
    let mut pairs = Elements::with_capacity(element_type(ty), a.len())?;
    for (x, y) in a.iter().zip(b.iter()) {
        pairs.push(Value::Tuple([x, y].into()))?;
    }
    Ok(Value::Vector(pairs))
}

fn unzip(pairs: Elements, ty: &Type) -> Result<Value> {
    let types = match ty {
        Type::Tuple(types) => &types[..],
        _ => &[],
    };
    let mut results = Vec::new();
    for (k, component) in types.iter().enumerate() {
        let mut elements = Elements::with_capacity(element_type(component), pairs.len())?;
        for pair in pairs.iter() {
            if let Value::Tuple(values) = &pair {
                elements.push(values.get(k).cloned().unwrap_or(Value::Unit))?;
            }
        }
        results.push(Value::Vector(elements));
    }
    Ok(Value::tuple(results))
}

/// Checks that n is not negative.
fn replicate(n: i128, value: Value, ty: &Type) -> Result<Value> {
    let n = non_negative(n)?;
    let mut elements = Elements::with_capacity(element_type(ty), n)?;
    for _ in 0..n {
        elements.push(value.clone())?;
    }
    Ok(Value::Vector(elements))
}

fn rotate(k: i128, elements: Elements) -> Result<Value> {
    let n = elements.len();
    let shift = k.rem_euclid((n as i128).max(1)) as usize;
    let source = (0..n).map(|i| {
        if i < n - shift {
            i + shift
        } else {
            i + shift - n
        }
    });
    Ok(Value::Vector(elements.pick(source)?))
}

/// Checks that the index is in range.
fn update(mut elements: Elements, index: i128, value: Value) -> Result<Value> {
    let k = checked(index, elements.len())?;
    elements.set(k, value)?;
    Ok(Value::Vector(elements))
}

/// Checks that every extent, from left to right, fits its type.
fn shape(extents: &[usize], ty: &Type) -> Result<Value> {
    let types = match ty {
        Type::Tuple(types) => &types[..],
        other => std::slice::from_ref(other),
    };
    let values = extents.iter().zip(types).map(|(n, ty)| length(*n, ty));
    Ok(Value::tuple(values.collect::<Result<Vec<Value>>>()?))
}

/// Checks that the extents, from left to right, are not negative, then that their product is `n`, if
/// given. Neither an extent nor the product may be too long.
pub fn extents(given: &[i128], n: Option<usize>) -> Result<Arc<[usize]>> {
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
            Ok(extents.collect::<std::result::Result<_, OutOfMemory>>()?)
        }
    }
}

fn reshape(given: &[i128], elements: Elements) -> Result<Value> {
    let extents = extents(given, Some(elements.len()))?;
    Ok(shaped(&extents, elements))
}

/// Returns a vector or an array of these extents.
pub fn shaped(extents: &[usize], elements: Elements) -> Value {
    match extents.len() {
        0 | 1 => Value::Vector(elements),
        _ => Value::Array(extents.into(), elements),
    }
}

fn transpose((extents, elements): (Arc<[usize]>, Elements)) -> Result<Value> {
    let [rows, columns] = *extents else {
        return Ok(Value::Vector(elements));
    };
    let divisor = rows.max(1);
    let source = (0..elements.len()).map(|k| (k % divisor) * columns + k / divisor);
    let elements = elements.pick(source)?;
    Ok(Value::Array([columns, rows].into(), elements))
}

fn flatten(value: Value, ty: &Type) -> Result<Value> {
    let inner = match value {
        Value::Vector(elements) => elements,
        Value::Array(_, elements) => return Ok(Value::Vector(elements)),
        Value::Scalar(_) | Value::Unit | Value::Tuple(_) => return Ok(Value::Unit),
        Value::Sum(..) | Value::Function(_) => return Ok(Value::Unit),
    };
    let mut all = Elements::new(element_type(ty));
    for row in inner.iter() {
        if let Value::Vector(row) | Value::Array(_, row) = &row {
            all.append(row)?;
        }
    }
    Ok(Value::Vector(all))
}

/// Returns the number of rows of `size` elements in `n`. Checks that `size` is positive and divides
/// `n`.
fn rows_of(size: i128, n: usize) -> Result<usize> {
    match usize::try_from(size) {
        Ok(size) if size > 0 && n.is_multiple_of(size) => Ok(n / size),
        _ => Err(stop(ErrorKind::Split, &[size, n as i128])),
    }
}

fn split(size: i128, elements: Elements) -> Result<Value> {
    let count = rows_of(size, elements.len())?;
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    Ok(shaped(&[count, size], elements))
}

fn as_vector(lanes: u32, elements: Elements, ty: &Type) -> Result<Value> {
    let lanes = lanes as usize;
    let count = rows_of(lanes as i128, elements.len())?;
    let mut vectors = Elements::with_capacity(element_type(ty), count)?;
    for k in 0..count {
        let own = (k * lanes..(k + 1) * lanes).filter_map(|i| elements.get(i));
        vectors.push(Value::tuple(own.collect()))?;
    }
    Ok(Value::Vector(vectors))
}

fn as_scalar_elements(vectors: Elements, ty: &Type) -> Result<Value> {
    let mut all = Elements::new(element_type(ty));
    for vector in vectors.iter() {
        if let Value::Tuple(lanes) = vector {
            for lane in lanes.iter() {
                all.push(lane.clone())?;
            }
        }
    }
    Ok(Value::Vector(all))
}

fn rows((extents, elements): (Arc<[usize]>, Elements)) -> Result<Value> {
    let [count, inner @ ..] = &*extents else {
        return Ok(Value::Vector(elements));
    };
    let size: usize = inner.iter().product();
    let mut rows = Vec::new();
    grow(&mut rows, *count)?;
    for row in 0..*count {
        let part = elements.slice(row * size..(row + 1) * size)?;
        rows.push(shaped(inner, part));
    }
    Ok(Value::Vector(Elements::Values(Arc::new(rows))))
}

/// Checks that all rows, from the second on, have the shape of the first. The error names the first
/// extents that differ.
fn unrows(rows: Elements, ty: &Type) -> Result<Value> {
    let rank = match ty {
        Type::Array(rank, _) => *rank as usize,
        _ => 2,
    };
    let mut all = Elements::new(element_type(ty));
    let mut inner: Option<Arc<[usize]>> = None;
    for row in rows.iter() {
        let (extents, elements) = Operands::new(vec![row]).array();
        let first = inner.get_or_insert_with(|| extents.clone());
        for (a, b) in first.iter().zip(extents.iter()) {
            same_length(*a, *b)?;
        }
        all.append(&elements)?;
    }
    let mut extents = vec![rows.len()];
    extents.extend(inner.iter().flat_map(|e| e.iter()));
    extents.resize(rank, 0);
    Ok(Value::Array(extents.into(), all))
}

/// Checks that every length, in order, fits its type.
fn segments(nested: Elements, ty: &Type) -> Result<Value> {
    let element = element_type(ty);
    let mut lengths = Elements::with_capacity(element, nested.len())?;
    for inner in nested.iter() {
        let (extents, _) = Operands::new(vec![inner]).array();
        lengths.push(length(extents.first().copied().unwrap_or(0), element)?)?;
    }
    Ok(Value::Vector(lengths))
}

/// Checks that no length is negative, then that their sum is the length of X.
fn unflatten(lengths: Elements, elements: Elements) -> Result<Value> {
    let mut sum = 0i128;
    for k in 0..lengths.len() {
        let length = integer_at(&lengths, k);
        if length < 0 {
            return Err(stop(ErrorKind::Negative, &[length]));
        }
        sum += length;
    }
    if sum != elements.len() as i128 {
        let arguments = [sum, elements.len() as i128];
        return Err(stop(ErrorKind::Length, &arguments));
    }
    let mut parts = Vec::new();
    grow(&mut parts, lengths.len())?;
    let mut start = 0;
    for k in 0..lengths.len() {
        let end = start + integer_at(&lengths, k) as usize;
        parts.push(Value::Vector(elements.slice(start..end)?));
        start = end;
    }
    Ok(Value::Vector(Elements::Values(Arc::new(parts))))
}
