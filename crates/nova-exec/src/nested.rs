//! Nested vectors as data and offsets (nova.txt fig. 7).

use crate::elements::{element, from_bytes, write_bytes};
use nova_core::{Elements, Scalar, Value};
use std::sync::Arc;

/// Concatenates rows. Returns the offset of each and the total, with the elements. `inner` is the
/// rows' element type where that is a scalar.
pub fn flatten(inner: Option<Scalar>, rows: &Elements) -> (Vec<i64>, Elements) {
    let mut offsets = Vec::with_capacity(rows.len() + 1);
    offsets.push(0);
    let mut values = Vec::new();
    let mut bytes = Vec::new();
    let mut total = 0;
    for k in 0..rows.len() {
        if let Value::Vector(row) = element(rows, k) {
            total += row.len();
            match (inner, &row) {
                (None, Elements::Values(row)) => values.extend(row.iter().cloned()),
                (_, row) => write_bytes(row, &mut bytes),
            }
        }
        offsets.push(total as i64);
    }
    let data = match inner {
        Some(scalar) => from_bytes(scalar, &bytes),
        None => Elements::Values(Arc::new(values)),
    };
    (offsets, data)
}

/// Returns rows of data from their offsets. The error says what is wrong with the offsets.
pub fn unflatten(offsets: &[i64], data: &Elements) -> Result<Elements, String> {
    let total = data.len();
    if offsets.first() != Some(&0) {
        return Err("the offsets must start with 0".to_string());
    }
    if offsets.last() != i64::try_from(total).ok().as_ref() {
        return Err(format!(
            "the last offset must be the number of elements, {total}"
        ));
    }
    let mut rows = Vec::with_capacity(offsets.len() - 1);
    for pair in offsets.windows(2) {
        match (usize::try_from(pair[0]), usize::try_from(pair[1])) {
            (Ok(from), Ok(upto)) if from <= upto && upto <= total => {
                let row = data.slice(from..upto);
                rows.push(Value::Vector(row.map_err(|_| "out of memory".to_string())?));
            }
            _ => {
                return Err(format!(
                    "the offsets must rise: {} stands before {}",
                    pair[0], pair[1]
                ));
            }
        }
    }
    Ok(Elements::Values(Arc::new(rows)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_back() {
        let data = Elements::I32(Arc::new(vec![1, 2, 3]));
        let rows = unflatten(&[0, 2, 2, 3], &data).expect("good offsets");
        assert_eq!(rows.len(), 3);
        let (offsets, back) = flatten(Some(Scalar::I32), &rows);
        assert_eq!(offsets, [0, 2, 2, 3]);
        assert!(Value::Vector(back).same(&Value::Vector(data)));
    }

    #[test]
    fn bad_offsets() {
        let data = Elements::I32(Arc::new(vec![1, 2, 3]));
        for offsets in [
            &[][..],
            &[1, 3],
            &[0, 2],
            &[0, 4, 3],
            &[0, -1, 3],
            &[0, i64::MAX],
        ] {
            assert!(unflatten(offsets, &data).is_err(), "{offsets:?}");
        }
    }
}
