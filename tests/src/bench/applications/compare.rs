//! Comparison of two values of one type, which were computed in different orders.

use nova_core::{Elements, ScalarValue, Value};

/// The difference that is allowed between two results.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    /// The difference of two floats over the largest magnitude in their array, at most.
    pub relative: f64,
    /// The part of the elements of an array that may differ more. Such are decisions that depend on rounding: the
    /// number of steps at the edge of a set, the nearest of two centres.
    pub outliers: f64,
}

impl Tolerance {
    /// Integers are equal, and floats differ by no more than this part of the largest.
    pub const fn within(relative: f64) -> Tolerance {
        Tolerance {
            relative,
            outliers: 0.0,
        }
    }
}

/// Compares two values. The error is the first difference as text.
pub fn compare(found: &Value, expected: &Value, tolerance: Tolerance) -> Result<(), String> {
    match (found, expected) {
        (Value::Scalar(a), Value::Scalar(b)) => compare_numbers(&[*a], &[*b], tolerance),
        (Value::Unit, Value::Unit) => Ok(()),
        (Value::Tuple(a), Value::Tuple(b)) if a.len() == b.len() => {
            let mut parts = a.iter().zip(b.iter()).enumerate();
            parts.try_for_each(|(k, (a, b))| {
                compare(a, b, tolerance).map_err(|why| format!("part {k}: {why}"))
            })
        }
        (Value::Vector(a), Value::Vector(b)) => compare_elements(a, b, tolerance),
        // The extents of an array without elements are not compared: text has only some of them.
        (Value::Array(m, a), Value::Array(n, b)) if m == n || (a.is_empty() && b.is_empty()) => {
            compare_elements(a, b, tolerance)
        }
        (Value::Array(m, _), Value::Array(n, _)) => Err(format!("extents {m:?} instead of {n:?}")),
        _ => Err("a value of another form".to_string()),
    }
}

fn compare_elements(
    found: &Elements,
    expected: &Elements,
    tolerance: Tolerance,
) -> Result<(), String> {
    let (n, m) = (found.len(), expected.len());
    if n != m {
        return Err(format!("{n} elements instead of {m}"));
    }
    // Tuples are compared column by column, so that each column has a magnitude of its own.
    match (found, expected) {
        (Elements::Values(a), Elements::Values(b)) => compare_rows(a, b, tolerance),
        _ => compare_numbers(&scalars(found), &scalars(expected), tolerance),
    }
}

/// Compares rows: vectors of any lengths, or tuples.
fn compare_rows(found: &[Value], expected: &[Value], tolerance: Tolerance) -> Result<(), String> {
    let width = match expected.first() {
        Some(Value::Tuple(parts)) => parts.len(),
        _ => {
            let mut rows = found.iter().zip(expected).enumerate();
            return rows.try_for_each(|(k, (a, b))| {
                compare(a, b, tolerance).map_err(|why| format!("row {k}: {why}"))
            });
        }
    };
    for column in 0..width {
        let part = |rows: &[Value]| -> Result<Vec<ScalarValue>, String> {
            let part = |row: &Value| match row {
                Value::Tuple(parts) => match parts.get(column) {
                    Some(Value::Scalar(value)) => Ok(*value),
                    _ => Err("a tuple without such a number".to_string()),
                },
                _ => Err("a value that is no tuple".to_string()),
            };
            rows.iter().map(part).collect()
        };
        compare_numbers(&part(found)?, &part(expected)?, tolerance)
            .map_err(|why| format!("column {column}: {why}"))?;
    }
    Ok(())
}

fn scalars(elements: &Elements) -> Vec<ScalarValue> {
    let values = elements.iter().filter_map(|value| value.as_scalar());
    values.collect()
}

fn compare_numbers(
    found: &[ScalarValue],
    expected: &[ScalarValue],
    tolerance: Tolerance,
) -> Result<(), String> {
    let magnitude = expected.iter().filter_map(|x| float(*x)).map(f64::abs);
    let bound = tolerance.relative * magnitude.fold(0.0, f64::max);
    let same = |a: &ScalarValue, b: &ScalarValue| match (float(*a), float(*b)) {
        (Some(a), Some(b)) => (a - b).abs() <= bound || (a.is_nan() && b.is_nan()),
        _ => a == b,
    };
    let pairs = found.iter().zip(expected).enumerate();
    let mut differ = pairs.filter(|(_, (a, b))| !same(a, b));
    let Some((at, (a, b))) = differ.next() else {
        return Ok(());
    };
    let (count, all) = (1 + differ.count(), expected.len());
    match count as f64 <= tolerance.outliers * all as f64 {
        true => Ok(()),
        false => Err(format!(
            "{count} of {all} differ, element {at}: {a:?} instead of {b:?}"
        )),
    }
}

/// Returns a float as a double.
fn float(value: ScalarValue) -> Option<f64> {
    match value {
        ScalarValue::F32(x) => Some(x.into()),
        ScalarValue::F64(x) => Some(x),
        ScalarValue::I8(_)
        | ScalarValue::I16(_)
        | ScalarValue::I32(_)
        | ScalarValue::I64(_)
        | ScalarValue::U8(_)
        | ScalarValue::U16(_)
        | ScalarValue::U32(_)
        | ScalarValue::U64(_)
        | ScalarValue::Bool(_) => None,
    }
}
