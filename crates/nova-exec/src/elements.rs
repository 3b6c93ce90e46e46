//! Elements of vectors as bytes, and the operations on them that file formats and the FFI share.

use nova_core::{Elements, Scalar, ScalarValue, Value};
use std::sync::Arc;

/// Returns element `k`, which is in range.
pub fn element(elements: &Elements, k: usize) -> Value {
    elements.get(k).unwrap_or(Value::Unit)
}

/// Appends the little-endian bytes of the elements. Values that are no scalars have no bytes.
pub fn write_bytes(elements: &Elements, out: &mut Vec<u8>) {
    match elements {
        Elements::I8(v) => out.extend(v.iter().map(|x| *x as u8)),
        Elements::U8(v) => out.extend_from_slice(v),
        Elements::Bool(v) => out.extend(v.iter().map(|x| u8::from(*x))),
        Elements::I16(v) => v
            .iter()
            .for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
        Elements::I32(v) => v
            .iter()
            .for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
        Elements::I64(v) => v
            .iter()
            .for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
        Elements::U16(v) => v
            .iter()
            .for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
        Elements::U32(v) => v
            .iter()
            .for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
        Elements::U64(v) => v
            .iter()
            .for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
        Elements::F32(v) => v
            .iter()
            .for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
        Elements::F64(v) => v
            .iter()
            .for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
        Elements::Values(v) => v.iter().for_each(|value| {
            if let Value::Scalar(scalar) = value {
                let bytes = usize::from(scalar.scalar().info().bytes);
                out.extend_from_slice(&raw_bits(*scalar).to_le_bytes()[..bytes]);
            }
        }),
    }
}

/// Returns the bits of a scalar, zero-extended. Those of a nan are unchanged.
pub fn raw_bits(value: ScalarValue) -> u64 {
    match value {
        ScalarValue::F32(v) => u64::from(v.to_bits()),
        ScalarValue::F64(v) => v.to_bits(),
        _ => value.canonical_bits(),
    }
}

/// Reads the elements of a type from their little-endian bytes. A rest shorter than an element is
/// ignored.
pub fn from_bytes(scalar: Scalar, bytes: &[u8]) -> Elements {
    /// Reads a vector of numbers from its bytes.
    macro_rules! numbers {
        ($variant:ident $number:ty) => {{
            let chunks = bytes.as_chunks::<{ size_of::<$number>() }>().0;
            let numbers = chunks.iter().map(|c| <$number>::from_le_bytes(*c));
            Elements::$variant(Arc::new(numbers.collect()))
        }};
    }
    match scalar {
        Scalar::I8 => numbers!(I8 i8),
        Scalar::I16 => numbers!(I16 i16),
        Scalar::I32 => numbers!(I32 i32),
        Scalar::I64 => numbers!(I64 i64),
        Scalar::U8 => Elements::U8(Arc::new(bytes.to_vec())),
        Scalar::U16 => numbers!(U16 u16),
        Scalar::U32 => numbers!(U32 u32),
        Scalar::U64 => numbers!(U64 u64),
        Scalar::F32 => numbers!(F32 f32),
        Scalar::F64 => numbers!(F64 f64),
        Scalar::Bool => Elements::Bool(Arc::new(bytes.iter().map(|b| *b != 0).collect())),
    }
}

/// Reads a scalar from its little-endian bytes, if there are enough.
pub fn scalar_at(scalar: Scalar, bytes: &[u8]) -> Option<ScalarValue> {
    /// Reads a number from its bytes.
    macro_rules! number {
        ($variant:ident $number:ty) => {
            ScalarValue::$variant(<$number>::from_le_bytes(*bytes.first_chunk()?))
        };
    }
    Some(match scalar {
        Scalar::I8 => number!(I8 i8),
        Scalar::I16 => number!(I16 i16),
        Scalar::I32 => number!(I32 i32),
        Scalar::I64 => number!(I64 i64),
        Scalar::U8 => number!(U8 u8),
        Scalar::U16 => number!(U16 u16),
        Scalar::U32 => number!(U32 u32),
        Scalar::U64 => number!(U64 u64),
        Scalar::F32 => number!(F32 f32),
        Scalar::F64 => number!(F64 f64),
        Scalar::Bool => ScalarValue::Bool(*bytes.first()? != 0),
    })
}

/// Returns the elements in the form that the type demands: scalars packed, all others as values.
pub fn from_values(scalar: Option<Scalar>, values: Vec<Value>) -> Elements {
    match scalar {
        None => Elements::Values(Arc::new(values)),
        Some(scalar) => {
            let mut bytes = Vec::new();
            write_bytes(&Elements::Values(Arc::new(values)), &mut bytes);
            from_bytes(scalar, &bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_back() {
        let vector = Elements::F32(Arc::new(vec![1.5, -0.0, f32::INFINITY]));
        let mut bytes = Vec::new();
        write_bytes(&vector, &mut bytes);
        assert_eq!(bytes.len(), 12);
        let Elements::F32(back) = from_bytes(Scalar::F32, &bytes) else {
            panic!("other type");
        };
        assert_eq!(back[1].to_bits(), (-0.0f32).to_bits());
    }

    #[test]
    fn values_are_packed() {
        let values = vec![
            Value::Scalar(ScalarValue::I16(-2)),
            Value::Scalar(ScalarValue::I16(7)),
        ];
        let Elements::I16(packed) = from_values(Some(Scalar::I16), values) else {
            panic!("other type");
        };
        assert_eq!(*packed, [-2, 7]);
    }
}
