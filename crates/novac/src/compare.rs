//! Comparison of a value with the one that a test expects.

use nova_core::{ScalarValue, Value};

/// Relative difference that floats may have.
const FLOAT: f64 = 1e-5;
/// Relative difference that doubles may have.
const DOUBLE: f64 = 1e-12;

/// True if a value is the expected one of its type: bit for bit where `exact`, else up to the
/// rounding that depends on the order of operations. If an array without elements is expected as
/// its rows, its extents after the first 0 are not compared.
pub fn agree(found: &Value, expected: &Value, exact: bool) -> bool {
    let mut work = vec![(found.clone(), expected.clone())];
    while let Some(pair) = work.pop() {
        let same = match &pair {
            (Value::Scalar(a), Value::Scalar(b)) => scalars_agree(*a, *b, exact),
            (Value::Unit, Value::Unit) => true,
            (Value::Tuple(a), Value::Tuple(b)) => {
                work.extend(a.iter().cloned().zip(b.iter().cloned()));
                a.len() == b.len()
            }
            (Value::Vector(a), Value::Vector(b)) => {
                work.extend(a.iter().zip(b.iter()));
                a.len() == b.len()
            }
            (Value::Array(m, a), Value::Array(n, b)) => {
                work.extend(a.iter().zip(b.iter()));
                m == n || is_same_rows(m, n)
            }
            (Value::Sum(c, a), Value::Sum(d, b)) => {
                work.push((a.get().clone(), b.get().clone()));
                c == d
            }
            _ => false,
        };
        if !same {
            return false;
        }
    }
    true
}

/// True if the expected array has no elements and its extents agree up to the first 0, and are 0
/// from there on.
fn is_same_rows(found: &[usize], expected: &[usize]) -> bool {
    let Some(first) = expected.iter().position(|&extent| extent == 0) else {
        return false;
    };
    found.len() == expected.len()
        && found[..=first] == expected[..=first]
        && expected[first..].iter().all(|&extent| extent == 0)
}

fn scalars_agree(a: ScalarValue, b: ScalarValue, exact: bool) -> bool {
    if a.same(b) {
        return true;
    }
    let (a, b, part) = match (a, b) {
        (ScalarValue::F32(a), ScalarValue::F32(b)) => (f64::from(a), f64::from(b), FLOAT),
        (ScalarValue::F64(a), ScalarValue::F64(b)) => (a, b, DOUBLE),
        _ => return false,
    };
    // 0.0 and -0.0 agree as well.
    !exact && (a == b || (a - b).abs() <= part * a.abs().max(b.abs())) && a.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_say_what_they_show() {
        assert!(is_same_rows(&[0, 3], &[0, 0]));
        assert!(is_same_rows(&[2, 0, 5], &[2, 0, 0]));
        assert!(!is_same_rows(&[0, 3], &[0, 2]));
        assert!(!is_same_rows(&[3, 0], &[2, 0]));
        assert!(!is_same_rows(&[0, 0], &[0, 3]));
        assert!(!is_same_rows(&[2, 2], &[2, 3]));
    }

    #[test]
    fn rounding_is_forgiven_unless_exact() {
        let value = |v: f32| Value::Scalar(ScalarValue::F32(v));
        assert!(agree(&value(1.0), &value(1.000001), false));
        assert!(!agree(&value(1.0), &value(1.000001), true));
        assert!(!agree(&value(1.0), &value(1.001), false));
        assert!(agree(&value(f32::NAN), &value(f32::NAN), true));
        assert!(!agree(&value(f32::INFINITY), &value(1.0), false));
    }
}
