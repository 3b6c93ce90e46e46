//! Values of programs: what `run` and `eval` read and print, and what the interpreters compute on.

use crate::ScalarValue;
use nova_diag::deep;
use std::sync::Arc;

/// A value of a concrete type. Clones are cheap: what is large is shared.
#[derive(Clone, Debug)]
pub enum Value {
    /// A scalar.
    Scalar(ScalarValue),
    /// `nil`.
    Unit,
    /// A tuple of at least two.
    Tuple(Arc<[Value]>),
    /// A vector.
    Vector(Elements),
    /// A `vector#n`, n ≥ 2, row-major: extents and elements.
    Array(Arc<[usize]>, Elements),
    /// A sum's value: constructor index and payload.
    Sum(u32, Link),
    /// A function; only the interpreter of Core makes them.
    Function(Arc<crate::interpret::Closure>),
}

/// The elements of a vector or array, shared.
#[derive(Clone, Debug)]
pub enum Elements {
    I8(Arc<Vec<i8>>),
    I16(Arc<Vec<i16>>),
    I32(Arc<Vec<i32>>),
    I64(Arc<Vec<i64>>),
    U8(Arc<Vec<u8>>),
    U16(Arc<Vec<u16>>),
    U32(Arc<Vec<u32>>),
    U64(Arc<Vec<u64>>),
    F32(Arc<Vec<f32>>),
    F64(Arc<Vec<f64>>),
    Bool(Arc<Vec<bool>>),
    /// Elements of any type that is no scalar.
    Values(Arc<Vec<Value>>),
}

/// The payload of a sum's value: shared, and dropped without recursing over long chains.
#[derive(Clone, Debug)]
pub struct Link(Option<Arc<Value>>);

impl Link {
    /// A payload.
    pub fn new(value: Value) -> Self {
        Link(Some(Arc::new(value)))
    }

    /// The payload.
    pub fn get(&self) -> &Value {
        // `None` is only there while `drop` runs.
        self.0.as_deref().unwrap_or(&Value::Unit)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let payload = self.0.take();
        if payload.as_ref().is_some_and(|p| Arc::strong_count(p) == 1) {
            deep(move || drop(payload));
        }
    }
}
