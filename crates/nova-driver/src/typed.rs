//! Rust's own types as values of programs, for calls from Rust.
//!
//! | NOVA | Rust |
//! | --- | --- |
//! | `int8` … `uint64`, `float`, `double`, `bool` | `i8` … `u64`, `f32`, `f64`, `bool` |
//! | `unit`, tuples | `()`, tuples of up to four |
//! | `vector T` | `Vec<T>` |
//!
//! All other types are built and taken apart as a [`Value`], which converts to itself.

use nova_core::value::Link;
use nova_core::{Elements, ScalarValue, Value};
use std::sync::Arc;

/// A Rust type that converts to and from values of programs.
pub trait Typed: Sized {
    /// Converts this to a value.
    fn into_value(self) -> Value;
    /// Converts a value to this type. Returns `None` when it has another type.
    fn from_value(value: &Value) -> Option<Self>;

    /// Makes a vector of these.
    fn into_elements(list: Vec<Self>) -> Elements {
        let values = list.into_iter().map(Self::into_value);
        Elements::Values(Arc::new(values.collect()))
    }

    /// Returns the elements of a vector, or `None` when they have another type.
    fn from_elements(elements: &Elements) -> Option<Vec<Self>> {
        elements
            .iter()
            .map(|value| Self::from_value(&value))
            .collect()
    }
}

macro_rules! scalars {
    ($($rust:ty, $variant:ident;)*) => {$(
        impl Typed for $rust {
            fn into_value(self) -> Value {
                Value::Scalar(ScalarValue::$variant(self))
            }

            fn from_value(value: &Value) -> Option<Self> {
                let Value::Scalar(ScalarValue::$variant(value)) = value else {
                    return None;
                };
                Some(*value)
            }

            fn into_elements(list: Vec<Self>) -> Elements {
                Elements::$variant(Arc::new(list))
            }

            fn from_elements(elements: &Elements) -> Option<Vec<Self>> {
                let Elements::$variant(list) = elements else {
                    return None;
                };
                Some(list.to_vec())
            }
        }
    )*};
}

scalars! {
    i8, I8; i16, I16; i32, I32; i64, I64;
    u8, U8; u16, U16; u32, U32; u64, U64;
    f32, F32; f64, F64; bool, Bool;
}

impl Typed for () {
    fn into_value(self) -> Value {
        Value::Unit
    }

    fn from_value(value: &Value) -> Option<Self> {
        matches!(value, Value::Unit).then_some(())
    }
}

impl<T: Typed> Typed for Vec<T> {
    fn into_value(self) -> Value {
        Value::Vector(T::into_elements(self))
    }

    fn from_value(value: &Value) -> Option<Self> {
        let Value::Vector(elements) = value else {
            return None;
        };
        T::from_elements(elements)
    }
}

impl Typed for Value {
    fn into_value(self) -> Value {
        self
    }

    fn from_value(value: &Value) -> Option<Self> {
        Some(value.clone())
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),*);)*) => {$(
        impl<$($name: Typed),*> Typed for ($($name,)*) {
            fn into_value(self) -> Value {
                Value::Tuple(vec![$(self.$index.into_value()),*].into())
            }

            fn from_value(value: &Value) -> Option<Self> {
                let Value::Tuple(elements) = value else {
                    return None;
                };
                let whole = elements.len() == [$($index),*].len();
                whole.then(|| Some(($($name::from_value(elements.get($index)?)?,)*)))?
            }
        }
    )*};
}

tuples! {
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
}

/// Makes a sum's value from the constructor's position in its type and the payload.
pub fn construct(constructor: u32, payload: impl Typed) -> Value {
    Value::Sum(constructor, Link::new(payload.into_value()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back<T: Typed + Clone + PartialEq + std::fmt::Debug>(value: T) {
        assert_eq!(T::from_value(&value.clone().into_value()), Some(value));
    }

    #[test]
    fn values_there_and_back() {
        there_and_back(-3i8);
        there_and_back((true, vec![1.5f32, 2.0]));
        there_and_back(vec![vec![1u64], vec![]]);
        there_and_back(vec![((), 1i32, 2.0f64)]);
        assert_eq!(f32::from_value(&1.0f64.into_value()), None);
        assert_eq!(
            <(i32, i32)>::from_value(&(1i32, 2i32, 3i32).into_value()),
            None
        );
    }
}
