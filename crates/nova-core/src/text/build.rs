//! The parts of a value in the order of its text, which the reader gives, and from which a builder makes a
//! value in its representation. [`Values`] makes [`Value`]s.

use super::stack::Stack;
use crate::value::Link;
use crate::{Elements, OutOfMemory, ScalarValue, Type, Value};
use std::sync::Arc;

/// Receives the parts of a value in the order of the text. Each part is of the type that is due.
///
/// A tuple and a sum are complete with their last component. A vector and an array have an end.
pub trait Build {
    /// A scalar.
    fn scalar(&mut self, value: ScalarValue) -> Result<(), OutOfMemory>;
    /// `nil`.
    fn unit(&mut self) -> Result<(), OutOfMemory>;
    /// A whole `vector uint8`.
    fn bytes(&mut self, bytes: Vec<u8>) -> Result<(), OutOfMemory>;
    /// A tuple of `count` components, which follow.
    fn tuple(&mut self, count: usize) -> Result<(), OutOfMemory>;
    /// A value with this constructor. Its payload follows, also where that is `nil`.
    fn sum(&mut self, tag: u32) -> Result<(), OutOfMemory>;
    /// A vector, whose elements of type `element` follow.
    fn vector(&mut self, element: &Type) -> Result<(), OutOfMemory>;
    /// The end of the innermost vector.
    fn end_vector(&mut self) -> Result<(), OutOfMemory>;
    /// An array, all of whose elements of type `element` follow in row-major order.
    fn array(&mut self, element: &Type) -> Result<(), OutOfMemory>;
    /// The end of the innermost array, with its extents.
    fn end_array(&mut self, extents: &[usize]) -> Result<(), OutOfMemory>;
}

/// A value whose components follow.
enum Open {
    /// A tuple: its components, and those of them that are still to come.
    Tuple(u32, u32),
    /// The payload of a constructor.
    Sum(u32),
    /// Elements of the innermost of [`Values::elements`].
    Elements,
}

/// Builds a [`Value`].
#[derive(Default)]
pub struct Values {
    open: Stack<Open>,
    /// The components of the open tuples, those of the innermost last. At the end the value.
    components: Stack<Value>,
    /// The elements of the open vectors and arrays.
    elements: Vec<Elements>,
}

impl Values {
    /// Returns the complete value.
    pub fn finish(mut self) -> Value {
        self.components.pop().unwrap_or(Value::Unit)
    }

    /// Adds a complete value to the innermost open one, which may then be complete, too.
    fn give(&mut self, mut value: Value) -> Result<(), OutOfMemory> {
        loop {
            match self.open.last_mut() {
                None => return self.components.push(value),
                Some(Open::Elements) => {
                    return match self.elements.last_mut() {
                        Some(elements) => elements.push(value),
                        None => Ok(()),
                    };
                }
                Some(Open::Tuple(_, missing)) if *missing > 1 => {
                    *missing -= 1;
                    return self.components.push(value);
                }
                Some(Open::Tuple(count, _)) => {
                    let count = *count;
                    self.components.push(value)?;
                    value = self.take_tuple(count);
                }
                Some(Open::Sum(tag)) => value = Value::Sum(*tag, Link::new(value)),
            }
            self.open.pop();
        }
    }

    /// Returns the tuple of the last components.
    fn take_tuple(&mut self, count: u32) -> Value {
        let mut tuple: Arc<[Value]> = (0..count).map(|_| Value::Unit).collect();
        for place in Arc::get_mut(&mut tuple)
            .unwrap_or_default()
            .iter_mut()
            .rev()
        {
            if let Some(value) = self.components.pop() {
                *place = value;
            }
        }
        Value::Tuple(tuple)
    }

    fn take_elements(&mut self) -> Elements {
        self.open.pop();
        let elements = self.elements.pop();
        elements.unwrap_or(Elements::Values(Arc::default()))
    }
}

impl Build for Values {
    fn scalar(&mut self, value: ScalarValue) -> Result<(), OutOfMemory> {
        self.give(Value::Scalar(value))
    }

    fn unit(&mut self) -> Result<(), OutOfMemory> {
        self.give(Value::Unit)
    }

    fn bytes(&mut self, bytes: Vec<u8>) -> Result<(), OutOfMemory> {
        self.give(Value::Vector(Elements::U8(Arc::new(bytes))))
    }

    fn tuple(&mut self, count: usize) -> Result<(), OutOfMemory> {
        let count = u32::try_from(count).map_err(|_| OutOfMemory)?;
        match count {
            0 => self.give(Value::Unit),
            _ => self.open.push(Open::Tuple(count, count)),
        }
    }

    fn sum(&mut self, tag: u32) -> Result<(), OutOfMemory> {
        self.open.push(Open::Sum(tag))
    }

    fn vector(&mut self, element: &Type) -> Result<(), OutOfMemory> {
        self.elements.try_reserve(1).map_err(|_| OutOfMemory)?;
        self.elements.push(Elements::new(element));
        self.open.push(Open::Elements)
    }

    fn end_vector(&mut self) -> Result<(), OutOfMemory> {
        let elements = self.take_elements();
        self.give(Value::Vector(elements))
    }

    fn array(&mut self, element: &Type) -> Result<(), OutOfMemory> {
        self.vector(element)
    }

    fn end_array(&mut self, extents: &[usize]) -> Result<(), OutOfMemory> {
        let elements = self.take_elements();
        self.give(Value::Array(extents.to_vec().into(), elements))
    }
}
