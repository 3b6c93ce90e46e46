//! Values of programs, which `run` and `eval` read and print, and on which the interpreters compute.

use crate::{Scalar, ScalarValue, SumType, Type};
use nova_diag::deep;
use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

/// A value of a concrete type. Clones are cheap, since large data are shared.
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
    Array(Extents, Elements),
    /// A value of a sum: constructor index and payload.
    Sum(u32, Link),
    /// A function. Only the interpreter of Core makes them.
    Function(Arc<Closure>),
}

/// The extents of an array, behind one word.
pub type Extents = Arc<Vec<usize>>;

/// Large recursive data are mostly made of these.
const _: () = assert!(size_of::<Value>() == 24);

/// A function with the values it captured and the arguments it has so far.
#[derive(Clone, Debug)]
pub struct Closure {
    pub(crate) function: u32,
    pub(crate) captures: Arc<[Value]>,
    pub(crate) applied: Vec<Value>,
}

impl Drop for Closure {
    fn drop(&mut self) {
        // A chain of functions is as long as a program makes it.
        let holds_functions = |values: &[Value]| {
            values
                .iter()
                .any(|v| matches!(v, Value::Function(_) | Value::Tuple(_)))
        };
        if holds_functions(&self.captures) && Arc::strong_count(&self.captures) == 1 {
            let captures = std::mem::take(&mut self.captures);
            release(Arc::new(Value::Tuple(captures)));
        }
        if holds_functions(&self.applied) {
            let applied = std::mem::take(&mut self.applied);
            release(Arc::new(Value::Tuple(applied.into())));
        }
    }
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
    /// Elements of any other type.
    Values(Arc<Vec<Value>>),
}

/// A vector larger than memory, or than [`LARGEST_VECTOR`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

/// The largest size in bytes of a vector in the interpreters. A larger one is
/// [`crate::ErrorKind::Memory`], so that the machine does not swap.
pub const LARGEST_VECTOR: usize = 1 << 33;

/// Repeats `$body` for every representation of elements, where `$vector` is the shared vector.
macro_rules! each_representation {
    ($elements:expr, $vector:ident => $body:expr) => {
        match $elements {
            Elements::I8($vector) => $body,
            Elements::I16($vector) => $body,
            Elements::I32($vector) => $body,
            Elements::I64($vector) => $body,
            Elements::U8($vector) => $body,
            Elements::U16($vector) => $body,
            Elements::U32($vector) => $body,
            Elements::U64($vector) => $body,
            Elements::F32($vector) => $body,
            Elements::F64($vector) => $body,
            Elements::Bool($vector) => $body,
            Elements::Values($vector) => $body,
        }
    };
}

/// As [`each_representation`], giving elements of the same representation again.
macro_rules! same_representation {
    ($elements:expr, $vector:ident => $body:expr) => {
        match $elements {
            Elements::I8($vector) => Elements::I8(Arc::new($body)),
            Elements::I16($vector) => Elements::I16(Arc::new($body)),
            Elements::I32($vector) => Elements::I32(Arc::new($body)),
            Elements::I64($vector) => Elements::I64(Arc::new($body)),
            Elements::U8($vector) => Elements::U8(Arc::new($body)),
            Elements::U16($vector) => Elements::U16(Arc::new($body)),
            Elements::U32($vector) => Elements::U32(Arc::new($body)),
            Elements::U64($vector) => Elements::U64(Arc::new($body)),
            Elements::F32($vector) => Elements::F32(Arc::new($body)),
            Elements::F64($vector) => Elements::F64(Arc::new($body)),
            Elements::Bool($vector) => Elements::Bool(Arc::new($body)),
            Elements::Values($vector) => Elements::Values(Arc::new($body)),
        }
    };
}

/// Evaluates `$body` for elements and a scalar of one representation, with the bare vector and scalar,
/// and `$otherwise` for any other pair.
macro_rules! matching_scalar {
    ($elements:expr, $value:expr, ($vector:ident, $scalar:ident) => $body:expr, $otherwise:expr) => {
        match ($elements, $value) {
            (Elements::I8($vector), ScalarValue::I8($scalar)) => $body,
            (Elements::I16($vector), ScalarValue::I16($scalar)) => $body,
            (Elements::I32($vector), ScalarValue::I32($scalar)) => $body,
            (Elements::I64($vector), ScalarValue::I64($scalar)) => $body,
            (Elements::U8($vector), ScalarValue::U8($scalar)) => $body,
            (Elements::U16($vector), ScalarValue::U16($scalar)) => $body,
            (Elements::U32($vector), ScalarValue::U32($scalar)) => $body,
            (Elements::U64($vector), ScalarValue::U64($scalar)) => $body,
            (Elements::F32($vector), ScalarValue::F32($scalar)) => $body,
            (Elements::F64($vector), ScalarValue::F64($scalar)) => $body,
            (Elements::Bool($vector), ScalarValue::Bool($scalar)) => $body,
            (_, _) => $otherwise,
        }
    };
}

impl Elements {
    /// Returns no elements of type `element`.
    pub fn new(element: &Type) -> Elements {
        match element.as_scalar() {
            Some(Scalar::I8) => Elements::I8(Arc::default()),
            Some(Scalar::I16) => Elements::I16(Arc::default()),
            Some(Scalar::I32) => Elements::I32(Arc::default()),
            Some(Scalar::I64) => Elements::I64(Arc::default()),
            Some(Scalar::U8) => Elements::U8(Arc::default()),
            Some(Scalar::U16) => Elements::U16(Arc::default()),
            Some(Scalar::U32) => Elements::U32(Arc::default()),
            Some(Scalar::U64) => Elements::U64(Arc::default()),
            Some(Scalar::F32) => Elements::F32(Arc::default()),
            Some(Scalar::F64) => Elements::F64(Arc::default()),
            Some(Scalar::Bool) => Elements::Bool(Arc::default()),
            None => Elements::Values(Arc::default()),
        }
    }

    /// Returns no elements, with room for `n`.
    pub fn with_capacity(element: &Type, n: usize) -> Result<Elements, OutOfMemory> {
        let mut elements = Elements::new(element);
        elements.reserve(n)?;
        Ok(elements)
    }

    /// Returns their number.
    pub fn len(&self) -> usize {
        each_representation!(self, v => v.len())
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns element `k`.
    pub fn get(&self, k: usize) -> Option<Value> {
        let scalar = match self {
            Elements::I8(v) => ScalarValue::I8(*v.get(k)?),
            Elements::I16(v) => ScalarValue::I16(*v.get(k)?),
            Elements::I32(v) => ScalarValue::I32(*v.get(k)?),
            Elements::I64(v) => ScalarValue::I64(*v.get(k)?),
            Elements::U8(v) => ScalarValue::U8(*v.get(k)?),
            Elements::U16(v) => ScalarValue::U16(*v.get(k)?),
            Elements::U32(v) => ScalarValue::U32(*v.get(k)?),
            Elements::U64(v) => ScalarValue::U64(*v.get(k)?),
            Elements::F32(v) => ScalarValue::F32(*v.get(k)?),
            Elements::F64(v) => ScalarValue::F64(*v.get(k)?),
            Elements::Bool(v) => ScalarValue::Bool(*v.get(k)?),
            Elements::Values(v) => return v.get(k).cloned(),
        };
        Some(Value::Scalar(scalar))
    }

    /// Returns all elements in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Value> + '_ {
        (0..self.len()).map(|k| self.get(k).unwrap_or(Value::Unit))
    }

    /// Makes room for `n` more.
    pub fn reserve(&mut self, n: usize) -> Result<(), OutOfMemory> {
        each_representation!(self, v => grow(Arc::make_mut(v), n))
    }

    /// Adds an element at the end. An element of another type is accepted, at the cost of storing all
    /// as [`Elements::Values`].
    pub fn push(&mut self, value: Value) -> Result<(), OutOfMemory> {
        match (&mut *self, value) {
            (Elements::Values(v), value) => push(Arc::make_mut(v), value),
            (elements, Value::Scalar(scalar)) => {
                matching_scalar!(elements, scalar, (v, x) => push(Arc::make_mut(v), x), {
                    self.push_other(Value::Scalar(scalar))
                })
            }
            (_, value) => self.push_other(value),
        }
    }

    fn push_other(&mut self, value: Value) -> Result<(), OutOfMemory> {
        let mut values = Vec::new();
        grow(&mut values, self.len() + 1)?;
        values.extend(self.iter());
        values.push(value);
        *self = Elements::Values(Arc::new(values));
        Ok(())
    }

    /// Replaces element `k`, in place if nothing else shares the elements. Does nothing if there is no
    /// such element.
    pub fn set(&mut self, k: usize, value: Value) -> Result<(), OutOfMemory> {
        if k >= self.len() {
            return Ok(());
        }
        match (&mut *self, value) {
            (Elements::Values(v), value) => replace(v, k, value),
            (elements, Value::Scalar(scalar)) => {
                matching_scalar!(elements, scalar, (v, x) => replace(v, k, x), Ok(()))
            }
            (_, _) => Ok(()),
        }
    }

    /// Returns the elements in `range`, truncated to those that exist.
    pub fn slice(&self, range: std::ops::Range<usize>) -> Result<Elements, OutOfMemory> {
        let end = range.end.min(self.len());
        let start = range.start.min(end);
        self.pick(start..end)
    }

    /// Returns the elements with these indices, in order. An index out of range is skipped.
    pub fn pick(
        &self,
        indices: impl ExactSizeIterator<Item = usize>,
    ) -> Result<Elements, OutOfMemory> {
        Ok(same_representation!(self, v => {
            let mut picked = Vec::new();
            grow(&mut picked, indices.len())?;
            picked.extend(indices.filter_map(|k| v.get(k).cloned()));
            picked
        }))
    }

    /// Adds all of `other`, which has the same type.
    pub fn append(&mut self, other: &Elements) -> Result<(), OutOfMemory> {
        macro_rules! append {
            ($($representation:ident)*) => {
                match (&mut *self, other) {
                    $((Elements::$representation(a), Elements::$representation(b)) => {
                        let a = Arc::make_mut(a);
                        grow(a, b.len())?;
                        a.extend_from_slice(b);
                        Ok(())
                    })*
                    (_, other) => other.iter().try_for_each(|value| self.push(value)),
                }
            };
        }
        append!(I8 I16 I32 I64 U8 U16 U32 U64 F32 F64 Bool Values)
    }
}

/// Makes room for `n` more, in total no more than [`LARGEST_VECTOR`].
pub(crate) fn grow<T>(vector: &mut Vec<T>, n: usize) -> Result<(), OutOfMemory> {
    let total = vector.len().checked_add(n).ok_or(OutOfMemory)?;
    let bytes = total.checked_mul(size_of::<T>()).ok_or(OutOfMemory)?;
    if bytes > LARGEST_VECTOR {
        return Err(OutOfMemory);
    }
    vector.try_reserve(n).map_err(|_| OutOfMemory)
}

fn push<T>(vector: &mut Vec<T>, value: T) -> Result<(), OutOfMemory> {
    if vector.len() == vector.capacity() {
        grow(vector, 1)?;
    }
    vector.push(value);
    Ok(())
}

fn replace<T: Clone>(vector: &mut Arc<Vec<T>>, k: usize, value: T) -> Result<(), OutOfMemory> {
    if Arc::get_mut(vector).is_none() {
        let mut copy = Vec::new();
        grow(&mut copy, vector.len())?;
        copy.extend_from_slice(vector);
        *vector = Arc::new(copy);
    }
    if let Some(slot) = Arc::get_mut(vector).and_then(|v| v.get_mut(k)) {
        *slot = value;
    }
    Ok(())
}

impl Value {
    /// Returns a vector of these elements, all of type `element`, stored as densely as that allows.
    pub fn from_elements(element: &Type, values: Vec<Value>) -> Value {
        if element.as_scalar().is_none() {
            return Value::Vector(Elements::Values(Arc::new(values)));
        }
        let mut elements = Elements::new(element);
        for value in values {
            // These are smaller than the values that already exist.
            if elements.push(value).is_err() {
                break;
            }
        }
        Value::Vector(elements)
    }

    /// Returns a tuple. It is `nil` for no values, and the value itself for one.
    pub fn tuple(mut values: Vec<Value>) -> Value {
        match values.len() {
            0 => Value::Unit,
            1 => values.remove(0),
            _ => Value::Tuple(values.into()),
        }
    }

    /// Returns the scalar that it is, if it is one.
    pub fn as_scalar(&self) -> Option<ScalarValue> {
        match self {
            Value::Scalar(scalar) => Some(*scalar),
            Value::Unit | Value::Tuple(_) | Value::Vector(_) => None,
            Value::Array(..) | Value::Sum(..) | Value::Function(_) => None,
        }
    }

    /// True if both are the same, bit for bit, where all nans are one value. Functions are the same
    /// only as the same object. Shared data are compared once, however often they are reached.
    pub fn same(&self, other: &Value) -> bool {
        let mut work = vec![(self, other)];
        let mut seen = HashSet::new();
        while let Some(pair) = work.pop() {
            let equal = match pair {
                (Value::Scalar(a), Value::Scalar(b)) => a.same(*b),
                (Value::Unit, Value::Unit) => true,
                (Value::Tuple(a), Value::Tuple(b)) => {
                    work.extend(a.iter().zip(b.iter()));
                    a.len() == b.len()
                }
                (Value::Vector(a), Value::Vector(b)) => same_elements(a, b, &mut work),
                (Value::Array(m, a), Value::Array(n, b)) => {
                    m == n && same_elements(a, b, &mut work)
                }
                (Value::Sum(c, a), Value::Sum(d, b)) => {
                    let pair: (*const Value, *const Value) = (a.get(), b.get());
                    if !a.is(b) && seen.insert(pair) {
                        work.push((a.get(), b.get()));
                    }
                    c == d
                }
                (Value::Function(a), Value::Function(b)) => Arc::ptr_eq(a, b),
                (_, _) => false,
            };
            if !equal {
                return false;
            }
        }
        true
    }

    /// True if it is a value of type `ty`. Shared data are checked once for each type.
    pub fn conforms(&self, ty: &Type, sums: &[SumType]) -> bool {
        let mut work = vec![(self, ty)];
        let mut seen = HashSet::new();
        while let Some((value, ty)) = work.pop() {
            let fits = match (value, ty) {
                (Value::Scalar(v), Type::Scalar(s)) => v.scalar() == *s,
                (Value::Unit, Type::Unit) => true,
                (Value::Tuple(values), Type::Tuple(types)) => {
                    work.extend(values.iter().zip(types.iter()));
                    values.len() == types.len()
                }
                (Value::Vector(elements), Type::Vector(element)) => {
                    elements_conform(elements, element, &mut work)
                }
                (Value::Array(extents, elements), Type::Array(rank, element)) => {
                    let count = extents.iter().try_fold(1usize, |n, e| n.checked_mul(*e));
                    extents.len() == *rank as usize
                        && count == Some(elements.len())
                        && elements_conform(elements, element, &mut work)
                }
                (Value::Sum(tag, payload), Type::Sum(id)) => {
                    let sum = sums.get(id.index());
                    match sum.and_then(|s| s.constructors.get(*tag as usize)) {
                        Some(constructor) => {
                            let pair: (*const Value, *const Type) =
                                (payload.get(), &constructor.payload);
                            if seen.insert(pair) {
                                work.push((payload.get(), &constructor.payload));
                            }
                            true
                        }
                        None => false,
                    }
                }
                (Value::Function(_), Type::Function(..)) => true,
                (_, _) => false,
            };
            if !fits {
                return false;
            }
        }
        true
    }
}

fn same_elements<'a>(
    a: &'a Elements,
    b: &'a Elements,
    work: &mut Vec<(&'a Value, &'a Value)>,
) -> bool {
    if a.len() != b.len() {
        return false;
    }
    match (a, b) {
        (Elements::Values(a), Elements::Values(b)) => {
            if !Arc::ptr_eq(a, b) {
                work.extend(a.iter().zip(b.iter()));
            }
            true
        }
        (a, b) => a.iter().zip(b.iter()).all(|(x, y)| x.same(&y)),
    }
}

fn elements_conform<'a>(
    elements: &'a Elements,
    element: &'a Type,
    work: &mut Vec<(&'a Value, &'a Type)>,
) -> bool {
    match elements {
        Elements::Values(values) => {
            work.extend(values.iter().map(|v| (v, element)));
            element.as_scalar().is_none()
        }
        packed => {
            let expected = Elements::new(element);
            std::mem::discriminant(packed) == std::mem::discriminant(&expected)
        }
    }
}

/// The payload of a sum. It is shared, and dropped without recursion over long chains.
#[derive(Clone, Debug)]
pub struct Link(Option<Arc<Value>>);

impl Link {
    /// Creates a payload.
    pub fn new(value: Value) -> Self {
        Link(Some(Arc::new(value)))
    }

    /// Returns the payload.
    pub fn get(&self) -> &Value {
        // It is `None` only while `drop` runs.
        self.0.as_deref().unwrap_or(&Value::Unit)
    }

    /// Returns the payload, moved out if nothing shares it.
    pub fn into_value(mut self) -> Value {
        match self.0.take().map(Arc::try_unwrap) {
            Some(Ok(value)) => value,
            Some(Err(shared)) => Value::clone(&shared),
            None => Value::Unit,
        }
    }

    /// True if both are the same object.
    fn is(&self, other: &Link) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (_, _) => false,
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(payload) = self.0.take() {
            release(payload);
        }
    }
}

thread_local! {
    /// The values that wait to be dropped while something is being dropped, or `None` if nothing is.
    static WAITING: RefCell<Option<Vec<Arc<Value>>>> = const { RefCell::new(None) };
}

/// Drops a shared value, or defers it if a drop is already running further up the stack.
pub(crate) fn release(value: Arc<Value>) {
    if Arc::strong_count(&value) > 1 {
        return;
    }
    let waits = WAITING.try_with(|waiting| match &mut *waiting.borrow_mut() {
        Some(queue) => {
            queue.push(value.clone());
            true
        }
        nothing => {
            *nothing = Some(Vec::new());
            false
        }
    });
    match waits {
        Ok(true) => {}
        Ok(false) => {
            let mut next = Some(value);
            while next.is_some() {
                drop(next.take());
                next = WAITING.with(|w| w.borrow_mut().as_mut().and_then(Vec::pop));
            }
            WAITING.with(|w| *w.borrow_mut() = None);
        }
        // The thread is ending.
        Err(_) => deep(move || drop(value)),
    }
}
