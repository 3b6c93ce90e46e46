//! Values that have no array of their own: sums, recursive data, vectors of them. They are converted between
//! Python's objects and the values of the interpreter. Depth costs no stack, and what is shared stays shared.

use crate::arguments::{Arguments, Place, components, data, helper, kind_of, scalar_of};
use crate::form::dtype_name;
use nova_core::value::Link;
use nova_core::{Elements, Scalar, ScalarValue, SumType, Type, Value};
use nova_exec::Lent;
use nova_exec::layout::Passing;
use numpy::{PyArray1, PyArrayDescr, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple};
use std::collections::HashMap;

/// What is left to do with the objects that were made last.
enum Making<'a> {
    /// Convert a value.
    Visit(&'a Value, &'a Type),
    /// Make a tuple of this many.
    Tuple(usize),
    /// Make a list of this many.
    List(usize),
    /// Make an array of objects with these extents.
    Objects(&'a [usize], usize),
    /// Make a variant of a constructor, for the payload at this address.
    Variant(&'a str, bool, (usize, u32)),
}

/// Returns a value as an object of Python.
pub fn to_python<'py>(
    py: Python<'py>,
    value: &Value,
    ty: &Type,
    sums: &[SumType],
) -> PyResult<Bound<'py, PyAny>> {
    let mut work = vec![Making::Visit(value, ty)];
    let mut made: Vec<Bound<'py, PyAny>> = Vec::new();
    let mut known: HashMap<(usize, u32), Bound<'py, PyAny>> = HashMap::new();
    while let Some(step) = work.pop() {
        match step {
            Making::Visit(Value::Scalar(scalar), _) => made.push(scalar_to_python(py, *scalar)?),
            Making::Visit(Value::Unit, _) => made.push(py.None().into_bound(py)),
            Making::Visit(Value::Tuple(values), Type::Tuple(types)) => {
                work.push(Making::Tuple(values.len()));
                let pairs = values.iter().zip(types.iter()).rev();
                work.extend(pairs.map(|(value, ty)| Making::Visit(value, ty)));
            }
            Making::Visit(Value::Vector(Elements::Values(values)), Type::Vector(element)) => {
                work.push(Making::List(values.len()));
                let values = values.iter().rev();
                work.extend(values.map(|value| Making::Visit(value, element)));
            }
            Making::Visit(Value::Array(extents, Elements::Values(values)), Type::Array(_, ty)) => {
                work.push(Making::Objects(extents, values.len()));
                let values = values.iter().rev();
                work.extend(values.map(|value| Making::Visit(value, ty)));
            }
            Making::Visit(Value::Vector(elements), _) => made.push(packed(py, elements)?),
            Making::Visit(Value::Array(extents, elements), _) => {
                let flat = packed(py, elements)?;
                made.push(flat.call_method1("reshape", (extents.to_vec(),))?);
            }
            Making::Visit(Value::Sum(tag, payload), Type::Sum(id)) => {
                let key = (std::ptr::from_ref(payload.get()).addr(), *tag);
                if let Some(object) = known.get(&key) {
                    made.push(object.clone());
                    continue;
                }
                let sum = sums.get(id.0 as usize);
                let constructor = sum.and_then(|sum| sum.constructors.get(*tag as usize));
                let constructor = constructor.ok_or_else(broken)?;
                let has_payload = constructor.payload != Type::Unit;
                work.push(Making::Variant(&constructor.name, has_payload, key));
                if has_payload {
                    work.push(Making::Visit(payload.get(), &constructor.payload));
                }
            }
            Making::Visit(Value::Tuple(_) | Value::Sum(..) | Value::Function(_), _) => {
                return Err(broken());
            }
            Making::Tuple(count) => {
                let parts = last(&mut made, count);
                made.push(PyTuple::new(py, parts)?.into_any());
            }
            Making::List(count) => {
                let parts = last(&mut made, count);
                made.push(PyList::new(py, parts)?.into_any());
            }
            Making::Objects(extents, count) => {
                let parts = PyList::new(py, last(&mut made, count))?;
                made.push(helper(py, &OBJECTS, "objects_of")?.call1((extents.to_vec(), parts))?);
            }
            Making::Variant(name, has_payload, key) => {
                let variant = helper(py, &VARIANT, "Variant")?;
                let object = match has_payload {
                    true => variant.call1((name, made.pop().ok_or_else(broken)?))?,
                    false => variant.call1((name,))?,
                };
                known.insert(key, object.clone());
                made.push(object);
            }
        }
    }
    made.pop().ok_or_else(broken)
}

static VARIANT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static OBJECTS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static SEQUENCE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static OBJECTS_IN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

fn broken() -> PyErr {
    PyRuntimeError::new_err("a value of another type than its entry declares")
}

/// Takes the last objects.
fn last<T>(made: &mut Vec<T>, count: usize) -> Vec<T> {
    made.split_off(made.len().saturating_sub(count))
}

fn scalar_to_python(py: Python<'_>, scalar: ScalarValue) -> PyResult<Bound<'_, PyAny>> {
    Ok(match scalar {
        ScalarValue::I8(v) => v.into_pyobject(py)?.into_any(),
        ScalarValue::I16(v) => v.into_pyobject(py)?.into_any(),
        ScalarValue::I32(v) => v.into_pyobject(py)?.into_any(),
        ScalarValue::I64(v) => v.into_pyobject(py)?.into_any(),
        ScalarValue::U8(v) => v.into_pyobject(py)?.into_any(),
        ScalarValue::U16(v) => v.into_pyobject(py)?.into_any(),
        ScalarValue::U32(v) => v.into_pyobject(py)?.into_any(),
        ScalarValue::U64(v) => v.into_pyobject(py)?.into_any(),
        ScalarValue::F32(v) => f64::from(v).into_pyobject(py)?.into_any(),
        ScalarValue::F64(v) => v.into_pyobject(py)?.into_any(),
        ScalarValue::Bool(v) => v.into_pyobject(py)?.to_owned().into_any(),
    })
}

/// Returns an array of scalars, as a copy.
fn packed<'py>(py: Python<'py>, elements: &Elements) -> PyResult<Bound<'py, PyAny>> {
    Ok(match elements {
        Elements::I8(v) => PyArray1::from_slice(py, v).into_any(),
        Elements::I16(v) => PyArray1::from_slice(py, v).into_any(),
        Elements::I32(v) => PyArray1::from_slice(py, v).into_any(),
        Elements::I64(v) => PyArray1::from_slice(py, v).into_any(),
        Elements::U8(v) => PyArray1::from_slice(py, v).into_any(),
        Elements::U16(v) => PyArray1::from_slice(py, v).into_any(),
        Elements::U32(v) => PyArray1::from_slice(py, v).into_any(),
        Elements::U64(v) => PyArray1::from_slice(py, v).into_any(),
        Elements::F32(v) => PyArray1::from_slice(py, v).into_any(),
        Elements::F64(v) => PyArray1::from_slice(py, v).into_any(),
        Elements::Bool(v) => PyArray1::from_slice(py, v).into_any(),
        Elements::Values(_) => return Err(broken()),
    })
}

/// Returns the elements of a vector of vectors of so many levels in one array, and the offsets of the rows of
/// each level, outermost first. Returns nothing where there are no rows or the elements are no scalars.
pub fn nested<'py>(
    py: Python<'py>,
    value: &Value,
    levels: usize,
) -> Option<(Bound<'py, PyAny>, Vec<Vec<i64>>)> {
    let mut offsets = Vec::new();
    let mut rows: Vec<&Elements> = match value {
        Value::Vector(elements) => vec![elements],
        _ => return None,
    };
    for _ in 1..levels {
        let mut inner = Vec::new();
        let mut bounds = vec![0];
        for row in &rows {
            let Elements::Values(values) = row else {
                return None;
            };
            for value in values.iter() {
                let Value::Vector(elements) = value else {
                    return None;
                };
                bounds.push(bounds.last()? + elements.len() as i64);
                inner.push(elements);
            }
        }
        offsets.push(bounds);
        rows = inner;
    }
    Some((joined(py, &rows)?, offsets))
}

/// Returns the scalars of several vectors in one array.
fn joined<'py>(py: Python<'py>, rows: &[&Elements]) -> Option<Bound<'py, PyAny>> {
    macro_rules! all {
        ($variant:ident) => {{
            let mut all = Vec::with_capacity(rows.iter().map(|row| row.len()).sum());
            for row in rows {
                match row {
                    Elements::$variant(elements) => all.extend_from_slice(elements),
                    _ => return None,
                }
            }
            PyArray1::from_vec(py, all).into_any()
        }};
    }
    Some(match rows.first()? {
        Elements::I8(_) => all!(I8),
        Elements::I16(_) => all!(I16),
        Elements::I32(_) => all!(I32),
        Elements::I64(_) => all!(I64),
        Elements::U8(_) => all!(U8),
        Elements::U16(_) => all!(U16),
        Elements::U32(_) => all!(U32),
        Elements::U64(_) => all!(U64),
        Elements::F32(_) => all!(F32),
        Elements::F64(_) => all!(F64),
        Elements::Bool(_) => all!(Bool),
        Elements::Values(_) => return None,
    })
}

/// What is left to do with the values that were read last.
enum Reading<'py, 'a> {
    /// Convert an object.
    Visit(Bound<'py, PyAny>, &'a Type),
    /// Make a tuple of this many.
    Tuple(usize),
    /// Make a vector of this many.
    Vector(usize, &'a Type),
    /// Make an array of this many.
    Array(Vec<usize>, usize, &'a Type),
    /// Make a sum of a constructor, for the object at this address.
    Sum(u32, usize),
    /// An object is no longer among those that are being read.
    Close(usize),
}

/// Returns an object of Python as a value of a port's type.
pub fn from_python<'py>(
    arguments: &mut Arguments<'py>,
    place: Place<'_>,
    object: &Bound<'py, PyAny>,
) -> PyResult<Value> {
    let (py, sums) = (arguments.py, arguments.sums);
    let mut work = vec![Reading::Visit(object.clone(), &place.port.ty)];
    let mut read: Vec<Value> = Vec::new();
    // Objects that are being read have no value yet.
    let mut known: HashMap<usize, Option<Value>> = HashMap::new();
    while let Some(step) = work.pop() {
        match step {
            Reading::Visit(object, Type::Unit) if object.is_none() => read.push(Value::Unit),
            Reading::Visit(object, Type::Scalar(scalar)) => {
                read.push(Value::Scalar(scalar_of(place, *scalar, &object)?));
            }
            Reading::Visit(object, Type::Tuple(types)) => {
                let parts = components(place, &object, types.len())?;
                work.push(Reading::Tuple(parts.len()));
                let pairs = parts.into_iter().zip(types.iter()).rev();
                work.extend(pairs.map(|(object, ty)| Reading::Visit(object, ty)));
            }
            Reading::Visit(object, ty @ Type::Vector(element)) => match element.as_scalar() {
                Some(scalar) => read.push(packed_value(arguments, place, &object, scalar, 1, ty)?),
                None => {
                    let address = object.as_ptr().addr();
                    if known.insert(address, None).is_some() {
                        return Err(cyclic(place));
                    }
                    let sequence = helper(py, &SEQUENCE, "sequence")?;
                    let items = sequence.call1((object, place.subject()))?;
                    let items = items.extract::<Vec<Bound<'py, PyAny>>>()?;
                    work.push(Reading::Close(address));
                    work.push(Reading::Vector(items.len(), element));
                    let items = items.into_iter().rev();
                    work.extend(items.map(|object| Reading::Visit(object, element)));
                }
            },
            Reading::Visit(object, ty @ Type::Array(rank, element)) => match element.as_scalar() {
                Some(scalar) => {
                    let rank = *rank as usize;
                    read.push(packed_value(arguments, place, &object, scalar, rank, ty)?);
                }
                None => {
                    let made = helper(py, &OBJECTS_IN, "objects_in")?;
                    let made = made.call1((object, *rank, place.subject()))?;
                    let (extents, items): (Vec<usize>, Vec<Bound<'py, PyAny>>) = made.extract()?;
                    work.push(Reading::Array(extents, items.len(), element));
                    let items = items.into_iter().rev();
                    work.extend(items.map(|object| Reading::Visit(object, element)));
                }
            },
            Reading::Visit(object, Type::Sum(id)) => {
                let address = object.as_ptr().addr();
                match known.get(&address) {
                    Some(Some(value)) => {
                        read.push(value.clone());
                        continue;
                    }
                    Some(None) => return Err(cyclic(place)),
                    None => {}
                }
                let sum = sums.get(id.0 as usize).ok_or_else(broken)?;
                let (tag, payload) = constructor(place, sum, &object)?;
                known.insert(address, None);
                work.push(Reading::Sum(tag, address));
                let ty = &sum.constructors[tag as usize].payload;
                work.push(Reading::Visit(payload, ty));
            }
            Reading::Visit(object, Type::Unit | Type::Function(..)) => {
                return Err(PyTypeError::new_err(format!(
                    "{}: None is needed where the type is unit, not {}",
                    place.subject(),
                    kind_of(&object)
                )));
            }
            Reading::Tuple(count) => {
                let parts = last(&mut read, count);
                read.push(Value::tuple(parts));
            }
            Reading::Vector(count, element) => {
                let parts = last(&mut read, count);
                read.push(Value::from_elements(element, parts));
            }
            Reading::Array(extents, count, element) => {
                let parts = last(&mut read, count);
                if let Value::Vector(elements) = Value::from_elements(element, parts) {
                    read.push(Value::Array(extents.into(), elements));
                }
            }
            Reading::Sum(tag, address) => {
                let value = Value::Sum(tag, Link::new(read.pop().ok_or_else(broken)?));
                known.insert(address, Some(value.clone()));
                read.push(value);
            }
            Reading::Close(address) => {
                known.remove(&address);
            }
        }
    }
    read.pop().ok_or_else(broken)
}

fn cyclic(place: Place<'_>) -> PyErr {
    PyValueError::new_err(format!("{}: a value contains itself", place.subject()))
}

/// Returns the constructor of a variant, and its payload.
fn constructor<'py>(
    place: Place<'_>,
    sum: &SumType,
    object: &Bound<'py, PyAny>,
) -> PyResult<(u32, Bound<'py, PyAny>)> {
    let variant = helper(object.py(), &VARIANT, "Variant")?;
    let known = || {
        let names = sum.constructors.iter().map(|c| format!("\"{}\"", c.name));
        names.collect::<Vec<_>>().join(", ")
    };
    if !object.is_instance(variant)? {
        return Err(PyTypeError::new_err(format!(
            "{}: novac.Variant(name, value) with one of the names {} is needed, not {}",
            place.subject(),
            known(),
            kind_of(object)
        )));
    }
    let name: String = object.getattr("name")?.extract()?;
    let position = sum.constructors.iter().position(|c| *c.name == name);
    match position {
        Some(tag) => Ok((tag as u32, object.getattr("value")?)),
        None => Err(PyValueError::new_err(format!(
            "{}: there is no constructor \"{name}\"; the constructors are {}",
            place.subject(),
            known()
        ))),
    }
}

/// Returns a vector or an array of scalars, as a copy.
fn packed_value<'py>(
    arguments: &mut Arguments<'py>,
    place: Place<'_>,
    object: &Bound<'py, PyAny>,
    scalar: Scalar,
    rank: usize,
    ty: &Type,
) -> PyResult<Value> {
    let element = PyArrayDescr::new(arguments.py, dtype_name(scalar))?;
    let array = arguments.array(place, object, &element, rank)?;
    let lent = match rank {
        1 => Lent::Vector {
            length: array.len(),
            offsets: Vec::new(),
            data: data(&array),
        },
        _ => Lent::Array {
            extents: array.shape().to_vec(),
            data: data(&array),
        },
    };
    let passing = Passing::of(ty, arguments.sums).map_err(PyValueError::new_err)?;
    // SAFETY: the array has these extents and elements of this type.
    let value = unsafe { lent.to_value(&passing) };
    // Nothing else refers to an array that was made for this copy.
    if !array.as_any().is(object) {
        arguments.kept.pop();
    }
    value.map_err(PyValueError::new_err)
}
