//! The heap interpreter (funmem.txt fig. 10): blocks are buffers, arrays are read and written through
//! their LMADs, and mistakes are detected.
//!
//! These mistakes are internal failures:
//! - an access outside of a block,
//! - a read of an element that was never written or that another array has overwritten (validity,
//!   funmem.txt §3.3.1),
//! - a view whose memory is not that of its variable,
//! - an array that is not row-major where it must be.
//!
//! If the memory of a program is right, its value is that of Flat.
//!
//! To detect overwritten elements, every array that is made gets a number in its block. Every element
//! stores the number of the array that it was last written for. Views and arrays that are passed on
//! keep their number. An array that is built in the memory of another one takes its elements over.

use nova_core::error::Failure;
use nova_core::interpret::Options;
use nova_core::{Elements, Scalar, ScalarValue, Type, Value};
use nova_flat::interpret::{Arrays, Held, SlotInfo, Slots, ViewValue, evaluate_with, slot};
use nova_flat::ir::{Program, Variable};
use nova_flat::memory::{Lmad, Memory, Polynomial};
use nova_flat::values::{ArrayValue, Fault, count, element_type, filled, internal, zero};
use std::cell::RefCell;
use std::rc::Rc;

/// Returns the value of an entry for inputs of its types, as [`nova_flat::interpret::evaluate`] does.
pub fn evaluate(
    program: &Program,
    entry: usize,
    inputs: &[Value],
    options: &Options,
) -> Result<Value, Failure> {
    evaluate_with::<Heap>(program, entry, inputs, options)
}

/// The contents of a block.
#[derive(Debug)]
struct Buffer {
    elements: Elements,
    /// By element, the number of the array that wrote it last, or [`NO_ARRAY`] before the first write.
    writers: Vec<u32>,
    /// The number of arrays that have been made in the block.
    arrays: u32,
}

/// The number that no array has.
const NO_ARRAY: u32 = 0;

/// A position in a buffer, at which another block may begin.
#[derive(Clone, Debug)]
pub struct BlockValue {
    buffer: Rc<RefCell<Buffer>>,
    first: i64,
}

/// An array in memory.
#[derive(Clone, Debug)]
pub struct HeapArray {
    block: BlockValue,
    /// The address of the first element in the buffer.
    offset: i64,
    shape: Vec<usize>,
    strides: Vec<i64>,
    /// The number of the array in the buffer.
    number: u32,
}

/// Arrays of Mem.
#[derive(Clone, Copy, Debug)]
pub struct Heap;

impl HeapArray {
    fn address(&self, indices: &[i64]) -> Result<usize, Fault> {
        if indices.len() != self.shape.len() {
            return internal("an index does not have an array's rank");
        }
        let mut address = self.offset;
        for ((index, extent), stride) in indices.iter().zip(&self.shape).zip(&self.strides) {
            if !usize::try_from(*index).is_ok_and(|index| index < *extent) {
                return internal(format!("index {index} is out of range for {extent}"));
            }
            address = address.wrapping_add(index.wrapping_mul(*stride));
        }
        match usize::try_from(address) {
            Ok(address) if address < self.block.buffer.borrow().elements.len() => Ok(address),
            Ok(_) | Err(_) => internal(format!("address {address} is outside of its block")),
        }
    }

    fn read(&self, indices: &[i64]) -> Result<ScalarValue, Fault> {
        let address = self.address(indices)?;
        let buffer = self.block.buffer.borrow();
        match buffer.writers.get(address) {
            Some(writer) if *writer == self.number => {}
            Some(&NO_ARRAY) | None => {
                return internal(format!(
                    "element {address} of a block is read, but not written"
                ));
            }
            Some(_) => {
                return internal(format!(
                    "element {address} of a block is read, but another array lies there now"
                ));
            }
        }
        match buffer.elements.get(address).and_then(|v| v.as_scalar()) {
            Some(value) => Ok(value),
            None => internal("a block of no scalars"),
        }
    }

    /// True if an element has been written.
    fn has_value(&self, indices: &[i64]) -> Result<bool, Fault> {
        let address = self.address(indices)?;
        let writer = self.block.buffer.borrow().writers.get(address).copied();
        Ok(writer.is_some_and(|writer| writer != NO_ARRAY))
    }

    /// Returns the same memory for a new array.
    fn anew(mut self) -> Self {
        let mut buffer = self.block.buffer.borrow_mut();
        buffer.arrays += 1;
        self.number = buffer.arrays;
        drop(buffer);
        self
    }

    fn count(&self) -> Result<usize, Fault> {
        count(&self.shape)
    }

    /// True if two arrays are the same elements of the same buffer.
    fn same_memory(&self, other: &HeapArray) -> bool {
        let strides = |array: &HeapArray| -> Vec<i64> {
            let pairs = array.shape.iter().zip(&array.strides);
            pairs
                .filter(|(extent, _)| **extent > 1)
                .map(|(_, stride)| *stride)
                .collect()
        };
        if self.shape != other.shape {
            return false;
        }
        if self.shape.contains(&0) {
            return true;
        }
        Rc::ptr_eq(&self.block.buffer, &other.block.buffer)
            && self.offset == other.offset
            && strides(self) == strides(other)
    }

    fn is_row_major(&self) -> bool {
        let expected = HeapArray {
            strides: row_major_strides(&self.shape),
            ..self.clone()
        };
        self.same_memory(&expected)
    }
}

fn row_major_strides(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![1i64; shape.len()];
    for k in (1..shape.len()).rev() {
        strides[k - 1] = strides[k].wrapping_mul(shape[k] as i64);
    }
    strides
}

/// Calls `visit` on every index of a space, in row-major order.
fn each_index(
    shape: &[usize],
    mut visit: impl FnMut(&[i64]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut index = vec![0i64; shape.len()];
    for _ in 0..count(shape)? {
        visit(&index)?;
        for (index, extent) in index.iter_mut().zip(shape).rev() {
            *index += 1;
            if *index < *extent as i64 {
                break;
            }
            *index = 0;
        }
    }
    Ok(())
}

/// Returns the value of an `i64` slot.
fn value_of(slots: &Slots<Heap>, variable: Variable) -> Result<i64, Fault> {
    match slots.get(slot(variable)) {
        Some(Some(Held::Scalar(ScalarValue::I64(value)))) => Ok(*value),
        _ => internal("an address with a variable that has no value"),
    }
}

fn polynomial(slots: &Slots<Heap>, polynomial: &Polynomial) -> Result<i64, Fault> {
    let mut sum = 0i64;
    for (product, coefficient) in polynomial.products() {
        let mut term = coefficient;
        for variable in product {
            term = term.wrapping_mul(value_of(slots, *variable)?);
        }
        sum = sum.wrapping_add(term);
    }
    Ok(sum)
}

fn block(slots: &Slots<Heap>, variable: Variable) -> Result<BlockValue, Fault> {
    match slots.get(slot(variable)) {
        Some(Some(Held::Block(block))) => Ok(block.clone()),
        _ => internal("a block without value"),
    }
}

fn memory(target: &SlotInfo) -> Result<&Memory, Fault> {
    match &target.memory {
        Some(memory) => Ok(memory),
        None => internal(format!("array {} has no memory", target.name)),
    }
}

/// Evaluates an LMAD in a block.
fn locate(slots: &Slots<Heap>, block: BlockValue, lmad: &Lmad) -> Result<HeapArray, Fault> {
    let mut array = HeapArray {
        offset: block.first.wrapping_add(polynomial(slots, &lmad.offset)?),
        block,
        shape: Vec::new(),
        strides: Vec::new(),
        number: NO_ARRAY,
    };
    for (extent, stride) in &lmad.dimensions {
        match usize::try_from(polynomial(slots, extent)?) {
            Ok(extent) => array.shape.push(extent),
            Err(_) => return internal("a negative extent"),
        }
        array.strides.push(polynomial(slots, stride)?);
    }
    Ok(array)
}

impl Arrays for Heap {
    type Array = HeapArray;
    type Block = BlockValue;

    fn shape(array: &HeapArray) -> &[usize] {
        &array.shape
    }

    fn element(array: &HeapArray, indices: &[i64]) -> Result<ScalarValue, Fault> {
        array.read(indices)
    }

    fn write(array: &mut HeapArray, indices: &[i64], value: ScalarValue) -> Result<(), Fault> {
        let address = array.address(indices)?;
        let mut buffer = array.block.buffer.borrow_mut();
        if element_type(&buffer.elements) != Some(value.scalar()) {
            return internal("a value of another type than its block");
        }
        if let Some(writer) = buffer.writers.get_mut(address) {
            *writer = array.number;
        }
        Ok(buffer.elements.set(address, Value::Scalar(value))?)
    }

    fn packed(array: &HeapArray) -> Result<ArrayValue, Fault> {
        let n = array.count()?;
        let Some(scalar) = element_type(&array.block.buffer.borrow().elements) else {
            return internal("a block of elements that are no scalars");
        };
        let mut elements = Elements::with_capacity(&Type::Scalar(scalar), n)?;
        each_index(&array.shape, |index| {
            Ok(elements.push(Value::Scalar(array.read(index)?))?)
        })?;
        Ok(ArrayValue::row_major(elements, array.shape.clone()))
    }

    fn adopt(value: ArrayValue) -> Result<HeapArray, Fault> {
        let shape = value.shape().to_vec();
        let elements = value.packed()?;
        let buffer = Buffer {
            writers: vec![1; elements.len()],
            elements,
            arrays: 1,
        };
        let buffer = Rc::new(RefCell::new(buffer));
        let strides = row_major_strides(&shape);
        Ok(HeapArray {
            block: BlockValue { buffer, first: 0 },
            offset: 0,
            shape,
            strides,
            number: 1,
        })
    }

    fn truncate(mut array: HeapArray, n: usize) -> Result<HeapArray, Fault> {
        match array.shape.as_mut_slice() {
            [extent] if n <= *extent => *extent = n,
            _ => return internal("a vector that is not as long"),
        }
        Ok(array)
    }

    fn allocate(element: Scalar, n: usize) -> Result<BlockValue, Fault> {
        let elements = filled(zero(element), n)?;
        let buffer = Buffer {
            elements,
            writers: vec![NO_ARRAY; n],
            arrays: 0,
        };
        Ok(BlockValue {
            buffer: Rc::new(RefCell::new(buffer)),
            first: 0,
        })
    }

    fn place(slots: &Slots<Heap>, target: &SlotInfo, shape: &[usize]) -> Result<HeapArray, Fault> {
        Ok(lies(slots, target, shape)?.anew())
    }

    fn copy(slots: &Slots<Heap>, target: &SlotInfo, source: HeapArray) -> Result<HeapArray, Fault> {
        let mut array = Self::place(slots, target, &source.shape)?;
        // If source and target are the same memory, this takes the elements over.
        each_index(&source.shape, |index| {
            Self::write(&mut array, index, source.read(index)?)
        })?;
        Ok(array)
    }

    fn replace(
        slots: &Slots<Heap>,
        target: &SlotInfo,
        source: HeapArray,
    ) -> Result<(HeapArray, Option<HeapArray>), Fault> {
        let mut array = Self::place(slots, target, &source.shape)?;
        if array.same_memory(&source) {
            return Ok((array, Some(source)));
        }
        // Elements without values may be replaced by some later, and are not read before.
        each_index(&source.shape, |index| match source.has_value(index)? {
            true => Self::write(&mut array, index, source.read(index)?),
            false => Ok(()),
        })?;
        Ok((array, None))
    }

    fn take_over(array: &mut HeapArray, source: &HeapArray) -> Result<(), Fault> {
        each_index(&source.shape, |index| {
            let address = source.address(index)?;
            let mut buffer = array.block.buffer.borrow_mut();
            match buffer.writers.get_mut(address) {
                Some(writer) if *writer == source.number => *writer = array.number,
                Some(_) | None => {}
            }
            Ok(())
        })
    }

    fn view(
        slots: &Slots<Heap>,
        target: &SlotInfo,
        source: HeapArray,
        view: ViewValue,
    ) -> Result<HeapArray, Fault> {
        let expected = apply(source, view)?;
        let mut array = lies(slots, target, &expected.shape)?;
        if !array.same_memory(&expected) {
            return internal(format!("{} does not lie where its view does", target.name));
        }
        array.number = expected.number;
        Ok(array)
    }

    fn hand(
        slots: &mut Slots<Heap>,
        target: &SlotInfo,
        array: HeapArray,
    ) -> Result<HeapArray, Fault> {
        let memory = memory(target)?;
        if target.own_block {
            let first = if array.count()? == 0 { 0 } else { array.offset };
            let block = BlockValue {
                first,
                ..array.block.clone()
            };
            match slots.get_mut(slot(memory.block)) {
                Some(place) => *place = Some(Held::Block(block)),
                None => return internal("a block without slot"),
            }
        }
        let mut placed = lies(slots, target, &array.shape)?;
        if !placed.same_memory(&array) {
            return internal(format!(
                "{} is handed an array that lies elsewhere",
                target.name
            ));
        }
        placed.number = array.number;
        Ok(placed)
    }

    /// The elements are as far apart as the caller holds them, with nothing in between.
    fn receive(
        slots: &mut Slots<Heap>,
        target: &SlotInfo,
        value: ArrayValue,
    ) -> Result<HeapArray, Fault> {
        let dense = Self::adopt(value)?;
        let last = memory(target)?.lmad.dimensions.last();
        let stride = last.map_or(Ok(1), |(_, stride)| polynomial(slots, stride))?;
        if stride == 1 {
            return Self::hand(slots, target, dense);
        }
        let room = i64::try_from(dense.count()?)
            .ok()
            .and_then(|n| n.checked_mul(stride));
        let room = usize::try_from(room.unwrap_or(-1)).map_err(|_| Fault::Memory)?;
        let scalar = target.element;
        let strides = dense.strides.iter().map(|s| s.wrapping_mul(stride));
        let mut array = HeapArray {
            block: Self::allocate(scalar, room)?,
            offset: 0,
            shape: dense.shape.clone(),
            strides: strides.collect(),
            number: NO_ARRAY,
        }
        .anew();
        each_index(&dense.shape, |index| {
            Self::write(&mut array, index, dense.read(index)?)
        })?;
        Self::hand(slots, target, array)
    }
}

/// Returns the memory of the array in a slot, without the number of an array.
fn lies(slots: &Slots<Heap>, target: &SlotInfo, shape: &[usize]) -> Result<HeapArray, Fault> {
    let memory = memory(target)?;
    let array = locate(slots, block(slots, memory.block)?, &memory.lmad)?;
    if array.shape != shape {
        let (is, should) = (&array.shape, shape);
        return internal(format!("{} lies as {is:?}, not {should:?}", target.name));
    }
    Ok(array)
}

/// Returns a view of an array, computed from the definition of views alone.
fn apply(mut array: HeapArray, view: ViewValue) -> Result<HeapArray, Fault> {
    match view {
        ViewValue::Same => Ok(array),
        ViewValue::Slice(dimensions) => slice(array, dimensions),
        ViewValue::Transpose(permutation) => {
            let pick = |k: &u32| {
                let k = *k as usize;
                Some((*array.shape.get(k)?, *array.strides.get(k)?))
            };
            match permutation.iter().map(pick).collect::<Option<Vec<_>>>() {
                Some(dimensions) => {
                    (array.shape, array.strides) = dimensions.into_iter().unzip();
                    Ok(array)
                }
                None => internal("a transpose that is no permutation"),
            }
        }
        ViewValue::Reshape(shape) => {
            if count(&shape)? != array.count()? || !array.is_row_major() {
                return internal("a reshape of other elements, or of what is not row-major");
            }
            array.strides = row_major_strides(&shape);
            array.shape = shape;
            Ok(array)
        }
        ViewValue::Row(indices) => {
            if indices.len() >= array.shape.len() {
                return internal("a row at as many indices as dimensions");
            }
            for (k, index) in indices.iter().enumerate() {
                if !usize::try_from(*index).is_ok_and(|index| index < array.shape[k]) {
                    return internal("a row out of range");
                }
                array.offset = array
                    .offset
                    .wrapping_add(index.wrapping_mul(array.strides[k]));
            }
            array.shape.drain(..indices.len());
            array.strides.drain(..indices.len());
            Ok(array)
        }
    }
}

fn slice(mut array: HeapArray, dimensions: Vec<(i64, i64, i64)>) -> Result<HeapArray, Fault> {
    if dimensions.len() != array.shape.len() {
        return internal("a slice does not have an array's rank");
    }
    for (k, (start, step, count)) in dimensions.into_iter().enumerate() {
        let last = i128::from(start) + i128::from(step) * (i128::from(count) - 1);
        let range = 0..array.shape[k] as i128;
        let inside = range.contains(&i128::from(start)) && range.contains(&last);
        if count < 0 || (count > 0 && !inside) {
            return internal("a slice out of range");
        }
        array.offset = array
            .offset
            .wrapping_add(start.wrapping_mul(array.strides[k]));
        array.strides[k] = array.strides[k].wrapping_mul(step);
        array.shape[k] = count as usize;
    }
    Ok(array)
}
