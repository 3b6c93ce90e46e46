//! The built-ins on whole vectors. Each reports the first of its errors in the order documented here,
//! as the code emitted by the lowering to Flat does.

use super::Options;
use super::blocks::{array_slice, array_update, progression, update_block};
use super::code::Site;
use super::nodes::{self, Group};
use super::operands::{
    Operands, Result, array, as_integer, as_scalar, at, checked, element_type, extents, in_range,
    index_list, integer_at, non_negative, not_too_long, same_length, shaped, steps, stop,
};
use crate::error::internal;
use crate::value::{Extents, grow};
use crate::{Builtin, Elements, ErrorKind, Scalar, ScalarValue, SumType, Type, Value};
use std::sync::Arc;

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
        Builtin::Permute => permute(o.elements()?, o.elements()?),
        Builtin::Gather => gather(o.elements()?, o.elements()?),
        Builtin::Slice => slice([o.integer()?, o.integer()?, o.integer()?], o.elements()?),
        Builtin::ArraySlice => {
            let bounds: Vec<i128> = (1..count).map(|_| o.integer()).collect::<Result<_>>()?;
            array_slice(&bounds, o.array()?)
        }
        Builtin::Range => range([o.value()?, o.value()?, o.value()?], &site.result),
        Builtin::Trace => {
            let (text, value) = (o.elements()?, o.value()?);
            trace(&text, &value, &site.result, sums, options);
            Ok(value)
        }
        Builtin::Length => length(o.array()?.0.first().copied().unwrap_or(0), &site.result),
        Builtin::ArrayIndex => {
            let (extents, elements) = o.array()?;
            array_index(&extents, elements, o)
        }
        Builtin::Scatter => scatter(o.elements()?, o.elements()?, o.elements()?),
        Builtin::Zip => zip(o.elements()?, o.elements()?, &site.result),
        Builtin::Unzip => unzip(o.elements()?, &site.result),
        Builtin::Concat => {
            let mut elements = o.elements()?;
            elements.append(&o.elements()?)?;
            Ok(Value::Vector(elements))
        }
        Builtin::Reverse => {
            let elements = o.elements()?;
            Ok(Value::Vector(elements.pick((0..elements.len()).rev())?))
        }
        Builtin::Replicate => replicate(o.integer()?, o.value()?, &site.result),
        Builtin::Rotate => rotate(o.integer()?, o.elements()?),
        Builtin::Update => update(o.elements()?, o.integer()?, o.value()?),
        Builtin::ArrayUpdate => array_update(o.array()?, o),
        Builtin::UpdateSlice => {
            let (_, elements) = update_block(o.array()?, o)?;
            Ok(Value::Vector(elements))
        }
        Builtin::ArrayUpdateSlice => {
            let (extents, elements) = update_block(o.array()?, o)?;
            Ok(Value::Array(extents, elements))
        }
        Builtin::Count => occurrences(o.integer()?, o.elements()?, &site.result),
        Builtin::Shape => shape(&o.array()?.0, &site.result),
        Builtin::Reshape => {
            let extents: Vec<i128> = (1..count).map(|_| o.integer()).collect::<Result<_>>()?;
            reshape(&extents, o.elements()?)
        }
        Builtin::Transpose => transpose(o.array()?),
        Builtin::Flatten => flatten(o.value()?, &site.result),
        Builtin::Rows => rows(o.array()?),
        Builtin::Unrows => unrows(o.elements()?, &site.result),
        Builtin::Segments => segments(o.elements()?, &site.result),
        Builtin::Unflatten => unflatten(o.elements()?, o.elements()?),
        Builtin::Split => split(o.integer()?, o.elements()?),
        Builtin::AsVector { lanes } => as_vector(lanes, o.elements()?, &site.result),
        Builtin::AsScalar => as_scalar_elements(o.elements()?, &site.result),
        Builtin::Table { .. } | Builtin::Datum { .. } => on_nodes(site, o, sums),
        Builtin::NodeAt => node_at(o.elements()?, o.integer()?),
        // Scalar operations and indexing are instructions.
        Builtin::Scalar(_) | Builtin::Index => Err(internal("an instruction as a built-in")),
        Builtin::Map { .. } | Builtin::Imap | Builtin::ReduceSeq { .. } => needs_function(),
        Builtin::Reduce { .. } | Builtin::Scan { .. } | Builtin::Foldl => needs_function(),
        Builtin::Filter | Builtin::Histogram | Builtin::Sort => needs_function(),
        Builtin::Tabulate | Builtin::TabulateArray | Builtin::Partition => needs_function(),
        Builtin::Scanl | Builtin::Iterate | Builtin::While => needs_function(),
    }
}

fn on_nodes(site: &Site, mut o: Operands, sums: &[SumType]) -> Result<Value> {
    let members = &site.members;
    match site.builtin {
        Builtin::Table { .. } => nodes::table(o.value()?, Group { sums, members }),
        _datum => nodes::datum(o.integer()?, o.value()?, Group { sums, members }),
    }
}

fn node_at(nodes: Elements, number: i128) -> Result<Value> {
    at(&nodes, checked(number, nodes.len())?)
}

/// The result of a built-in that takes functions, where it has none.
fn needs_function() -> Result<Value> {
    Err(internal("a built-in without its function"))
}

/// Checks that the lengths agree, then in order of k that `I[k]` is in range and new.
fn permute(indices: Elements, elements: Elements) -> Result<Value> {
    let n = elements.len();
    same_length(indices.len(), n)?;
    let mut source = index_list(n)?;
    source.resize(n, usize::MAX);
    for k in 0..n {
        let index = integer_at(&indices, k)?;
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
        source.push(checked(integer_at(&indices, k)?, elements.len())?);
    }
    Ok(Value::Vector(elements.pick(source.into_iter())?))
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
    let scalar = as_scalar(&b)?.scalar();
    let (b, s, e) = (as_integer(&b)?, as_integer(&s)?, as_integer(&e)?);
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
    let scalar = ty.as_scalar().unwrap_or(Scalar::I32);
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
        if let Some(bin) = in_range(integer_at(&indices, k)?, n) {
            counts[bin] += 1;
        }
    }
    let scalar = element_type(ty).as_scalar().unwrap_or(Scalar::I32);
    let mut elements = Elements::with_capacity(element_type(ty), n)?;
    for count in counts {
        let value = ScalarValue::from_integer_wrapping(scalar, count);
        elements.push(Value::Scalar(value))?;
    }
    Ok(Value::Vector(elements))
}

/// Checks that the indices, from left to right, are in range.
fn array_index(extents: &[usize], elements: Elements, mut o: Operands) -> Result<Value> {
    let mut position = 0;
    for extent in extents {
        position = position * extent + checked(o.integer()?, *extent)?;
    }
    at(&elements, position)
}

/// Checks that the lengths of I and X agree.
fn scatter(mut target: Elements, indices: Elements, elements: Elements) -> Result<Value> {
    same_length(indices.len(), elements.len())?;
    for k in 0..indices.len() {
        if let Some(i) = in_range(integer_at(&indices, k)?, target.len())
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
    let Type::Tuple(types) = ty else {
        return Err(internal("`unzip` to no tuple"));
    };
    let mut results = Vec::new();
    for (k, component) in types.iter().enumerate() {
        let mut elements = Elements::with_capacity(element_type(component), pairs.len())?;
        for pair in pairs.iter() {
            elements.push(component_of(&pair, k)?)?;
        }
        results.push(Value::Vector(elements));
    }
    Ok(Value::tuple(results))
}

/// Returns component `k` of a tuple.
fn component_of(tuple: &Value, k: usize) -> Result<Value> {
    let component = match tuple {
        Value::Tuple(values) => values.get(k),
        _ => None,
    };
    let component = component.cloned();
    component.ok_or_else(|| internal("a value without a component of its type"))
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

fn reshape(given: &[i128], elements: Elements) -> Result<Value> {
    let extents = extents(given, Some(elements.len()))?;
    Ok(shaped(&extents, elements))
}

fn transpose((extents, elements): (Extents, Elements)) -> Result<Value> {
    let [rows, columns] = **extents else {
        return Err(internal("`transpose` of no matrix"));
    };
    let divisor = rows.max(1);
    let source = (0..elements.len()).map(|k| (k % divisor) * columns + k / divisor);
    let elements = elements.pick(source)?;
    Ok(Value::Array(vec![columns, rows].into(), elements))
}

fn flatten(value: Value, ty: &Type) -> Result<Value> {
    let (extents, inner) = array(value)?;
    if extents.len() > 1 {
        return Ok(Value::Vector(inner));
    }
    let mut all = Elements::new(element_type(ty));
    for row in inner.iter() {
        all.append(&array(row)?.1)?;
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
        let Value::Tuple(lanes) = vector else {
            return Err(internal("a value is no vector of lanes"));
        };
        for lane in lanes.iter() {
            all.push(lane.clone())?;
        }
    }
    Ok(Value::Vector(all))
}

fn rows((extents, elements): (Extents, Elements)) -> Result<Value> {
    let [count, inner @ ..] = &**extents else {
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
    let mut inner: Option<Extents> = None;
    for row in rows.iter() {
        let (extents, elements) = array(row)?;
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
        let (extents, _) = array(inner)?;
        lengths.push(length(extents.first().copied().unwrap_or(0), element)?)?;
    }
    Ok(Value::Vector(lengths))
}

/// Checks that no length is negative, then that their sum is the length of X.
fn unflatten(lengths: Elements, elements: Elements) -> Result<Value> {
    let mut sum = 0i128;
    for k in 0..lengths.len() {
        let length = integer_at(&lengths, k)?;
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
        let end = start + integer_at(&lengths, k)? as usize;
        parts.push(Value::Vector(elements.slice(start..end)?));
        start = end;
    }
    Ok(Value::Vector(Elements::Values(Arc::new(parts))))
}
