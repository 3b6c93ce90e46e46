//! The operations on arrays that an interpreter needs, the one difference between Flat and Mem.

use crate::ir::{Variable, View};
use crate::memory::Memory;
use crate::values::{ArrayValue, Fault, count, filled, internal, zero};
use nova_core::{Elements, Scalar, ScalarValue};

/// A value in a slot.
#[derive(Clone, Debug)]
pub enum Held<A: Arrays> {
    /// A scalar.
    Scalar(ScalarValue),
    /// An array.
    Array(A::Array),
    /// A block of memory.
    Block(A::Block),
}

/// The variables of an activation, by slot.
pub type Slots<A> = Vec<Option<Held<A>>>;

/// Facts about a slot.
#[derive(Clone, Debug)]
pub struct SlotInfo {
    /// The name of the variable, for messages.
    pub name: std::sync::Arc<str>,
    /// The type of the scalar or of the elements.
    pub element: Scalar,
    /// The memory of the array, with slots for variables.
    pub memory: Option<Memory>,
    /// True if the block is bound together with arrays, by no `Allocate`.
    pub own_block: bool,
}

/// A view with evaluated operands.
#[derive(Clone, Debug)]
pub enum ViewValue {
    /// The same array.
    Same,
    /// Start, step and count of each dimension.
    Slice(Vec<(i64, i64, i64)>),
    /// As [`View::Transpose`].
    Transpose(Vec<u32>),
    /// The extents.
    Reshape(Vec<usize>),
    /// The leading indices.
    Row(Vec<i64>),
}

/// The representation of arrays in an interpreter.
pub trait Arrays: Sized + Clone + std::fmt::Debug {
    /// An array.
    type Array: Clone + std::fmt::Debug;
    /// A block of memory.
    type Block: Clone + std::fmt::Debug;

    /// Returns the extents.
    fn shape(array: &Self::Array) -> &[usize];
    /// Returns an element.
    fn element(array: &Self::Array, indices: &[i64]) -> Result<ScalarValue, Fault>;
    /// Replaces an element.
    fn write(array: &mut Self::Array, indices: &[i64], value: ScalarValue) -> Result<(), Fault>;
    /// Returns all elements in row-major order.
    fn packed(array: &Self::Array) -> Result<ArrayValue, Fault>;
    /// Creates an array of these elements that shares nothing with others.
    fn adopt(value: ArrayValue) -> Result<Self::Array, Fault>;
    /// Returns the first `n` elements of a vector.
    fn truncate(array: Self::Array, n: usize) -> Result<Self::Array, Fault>;

    /// Allocates a block of `n` elements.
    fn allocate(element: Scalar, n: usize) -> Result<Self::Block, Fault>;
    /// Returns the array to which the value of a slot is to be written. Its elements have no values
    /// yet.
    fn place(slots: &Slots<Self>, target: &SlotInfo, shape: &[usize])
    -> Result<Self::Array, Fault>;
    /// As [`Arrays::place`], with the elements of `source`.
    fn copy(
        slots: &Slots<Self>,
        target: &SlotInfo,
        source: Self::Array,
    ) -> Result<Self::Array, Fault>;
    /// As [`Arrays::copy`], for an array that is read until each of its elements is replaced. Returns
    /// `source` too if both have the same memory. Then [`Arrays::take_over`] must follow.
    fn replace(
        slots: &Slots<Self>,
        target: &SlotInfo,
        source: Self::Array,
    ) -> Result<(Self::Array, Option<Self::Array>), Fault> {
        Ok((Self::copy(slots, target, source)?, None))
    }
    /// Takes over the elements of an array in the same memory that were not replaced.
    fn take_over(_array: &mut Self::Array, _source: &Self::Array) -> Result<(), Fault> {
        Ok(())
    }
    /// Returns the array of a slot that is a view of another array.
    fn view(
        slots: &Slots<Self>,
        target: &SlotInfo,
        source: Self::Array,
        view: ViewValue,
    ) -> Result<Self::Array, Fault>;
    /// Returns the array of a slot that is given an array made elsewhere.
    fn hand(
        slots: &mut Slots<Self>,
        target: &SlotInfo,
        array: Self::Array,
    ) -> Result<Self::Array, Fault>;
    /// Returns the array of a slot that comes from outside of the program.
    fn receive(
        slots: &mut Slots<Self>,
        target: &SlotInfo,
        value: ArrayValue,
    ) -> Result<Self::Array, Fault> {
        let array = Self::adopt(value)?;
        Self::hand(slots, target, array)
    }
}

/// Arrays of Flat: values.
#[derive(Clone, Copy, Debug)]
pub struct Values;

impl Arrays for Values {
    type Array = Box<ArrayValue>;
    /// Flat has no blocks.
    type Block = ();

    fn shape(array: &Self::Array) -> &[usize] {
        array.shape()
    }

    fn element(array: &Self::Array, indices: &[i64]) -> Result<ScalarValue, Fault> {
        array.get(indices)
    }

    fn write(array: &mut Self::Array, indices: &[i64], value: ScalarValue) -> Result<(), Fault> {
        array.set(indices, value)
    }

    fn packed(array: &Self::Array) -> Result<ArrayValue, Fault> {
        (**array).clone().into_packed()
    }

    fn adopt(value: ArrayValue) -> Result<Self::Array, Fault> {
        Ok(Box::new(value))
    }

    fn truncate(array: Self::Array, n: usize) -> Result<Self::Array, Fault> {
        Ok(Box::new(array.slice(&[(0, 1, n as i64)])?))
    }

    fn allocate(_: Scalar, _: usize) -> Result<(), Fault> {
        internal("an allocation in Flat")
    }

    fn place(_: &Slots<Self>, target: &SlotInfo, shape: &[usize]) -> Result<Self::Array, Fault> {
        let elements = filled(zero(target.element), count(shape)?)?;
        Ok(Box::new(ArrayValue::row_major(elements, shape.to_vec())))
    }

    fn copy(_: &Slots<Self>, _: &SlotInfo, source: Self::Array) -> Result<Self::Array, Fault> {
        Ok(Box::new(source.into_packed()?))
    }

    fn view(
        _: &Slots<Self>,
        _: &SlotInfo,
        source: Self::Array,
        view: ViewValue,
    ) -> Result<Self::Array, Fault> {
        let view = match view {
            ViewValue::Same => return Ok(source),
            ViewValue::Slice(dimensions) => source.slice(&dimensions)?,
            ViewValue::Transpose(permutation) => source.transpose(&permutation)?,
            ViewValue::Reshape(shape) => source.reshape(shape)?,
            ViewValue::Row(indices) => source.row(&indices)?,
        };
        Ok(Box::new(view))
    }

    fn hand(_: &mut Slots<Self>, _: &SlotInfo, array: Self::Array) -> Result<Self::Array, Fault> {
        Ok(array)
    }
}

/// Returns the slot of a variable of prepared code.
pub fn slot(variable: Variable) -> usize {
    super::prepare::slot(variable)
}

/// Creates a vector of these elements.
pub fn vector<A: Arrays>(elements: Elements) -> Result<Held<A>, Fault> {
    let n = elements.len();
    Ok(Held::Array(A::adopt(ArrayValue::row_major(
        elements,
        vec![n],
    ))?))
}

/// Evaluates the operands of a view.
pub(super) fn view_value<A: Arrays>(slots: &Slots<A>, view: &View) -> Result<ViewValue, Fault> {
    Ok(match view {
        View::Slice(dimensions) => {
            let mut values = Vec::with_capacity(dimensions.len());
            for d in dimensions {
                let [start, step, count] =
                    [d.start, d.step, d.count].map(|a| super::integer(slots, a));
                values.push((start?, step?, count?));
            }
            ViewValue::Slice(values)
        }
        View::Transpose(permutation) => ViewValue::Transpose(permutation.clone()),
        View::Reshape(shape) => ViewValue::Reshape(super::extents(slots, shape)?),
        View::Row(indices) => ViewValue::Row(super::integers(slots, indices)?),
    })
}
