//! Conversion of the memory of a call's results to values, and its release.

use crate::elements::from_bytes;
use crate::layout::{Items, Layout, LayoutKind, Passing, WORD};
use crate::nested::unflatten;
use crate::nodes::{self, Nodes};
use nova_core::value::Link;
use nova_core::{Elements, Scalar, Value};
use nova_diag::deep;
use std::ffi::c_void;
use std::ptr::with_exposed_provenance_mut;
use std::sync::Arc;

unsafe extern "C" {
    /// The function of the C library that releases results (abi §2).
    fn free(pointer: *mut c_void);
}

/// The places that the result parameters of a call point at.
#[derive(Debug)]
pub struct Results {
    /// A place for each C result, zero before the call.
    cells: Vec<Box<[u64]>>,
}

/// The way in which the called function broke its contract.
pub type Broken = String;

impl Results {
    /// Creates places for the result of an entry.
    pub fn new(passing: &Passing) -> Results {
        let words = match passing {
            Passing::Value(layout) => layout.size.div_ceil(WORD),
            Passing::Nothing(_)
            | Passing::Bool
            | Passing::Vector { .. }
            | Passing::Array { .. } => 1,
        };
        Results {
            cells: (0..passing.cells())
                .map(|_| vec![0; words].into_boxed_slice())
                .collect(),
        }
    }

    /// Returns a pointer to each place.
    pub fn pointers(&mut self) -> Vec<*mut u64> {
        self.cells
            .iter_mut()
            .map(|cell| cell.as_mut_ptr())
            .collect()
    }

    /// Returns the value in the places, and releases all of its memory.
    ///
    /// # Safety
    ///
    /// The places hold the result that an entry with this result type wrote when it returned 0.
    pub unsafe fn take(self, passing: &Passing) -> Result<Value, Broken> {
        let cells: Vec<Vec<u8>> = self.cells.iter().map(|cell| bytes_of(cell)).collect();
        let word = |k: usize| cells.get(k).map_or(0, |cell| word_at(cell, 0));
        let length = |k: usize| count(word(k));
        match passing {
            Passing::Nothing(layout) => unsafe { read(layout, &[], &Nodes::default()) },
            Passing::Bool => {
                let truth = cells
                    .first()
                    .is_some_and(|c| c[..4].iter().any(|b| *b != 0));
                Ok(Value::Scalar(nova_core::ScalarValue::Bool(truth)))
            }
            Passing::Value(layout) => match cells.first() {
                Some(cell) => unsafe { read(layout, cell, &Nodes::default()) },
                None => Err("no result".to_string()),
            },
            Passing::Array { rank, items } => {
                let extents: Result<Vec<usize>, Broken> = (0..*rank).map(length).collect();
                let extents = extents?;
                let elements = unsafe {
                    take_data(items, product(&extents)?, word(*rank), &Nodes::default())
                }?;
                Ok(Value::Array(extents.into(), elements))
            }
            Passing::Vector { levels, items } => {
                let mut total = length(0)?;
                let mut offsets = Vec::new();
                for level in 1..*levels {
                    let taken = unsafe { take_packed(Scalar::I64, total + 1, word(level)) }?;
                    let Elements::I64(taken) = taken else {
                        return Err("offsets of another type".to_string());
                    };
                    total = count(taken.last().copied().unwrap_or(0) as u64)?;
                    offsets.push(taken);
                }
                let mut elements =
                    unsafe { take_data(items, total, word(*levels), &Nodes::default()) }?;
                for offsets in offsets.iter().rev() {
                    elements = unflatten(offsets, &elements)?;
                }
                Ok(Value::Vector(elements))
            }
        }
    }
}

fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

pub fn word_at(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..at + WORD).and_then(|b| b.try_into().ok());
    word.map_or(0, u64::from_ne_bytes)
}

/// Converts a length that a call gave.
pub fn count(word: u64) -> Result<usize, Broken> {
    match isize::try_from(word as i64) {
        Ok(count) if count >= 0 => Ok(count as usize),
        Ok(_) | Err(_) => Err(format!("a length of {}", word as i64)),
    }
}

/// Returns a pointer that a call gave.
pub fn pointer_at(bytes: &[u8], at: usize) -> *mut u8 {
    with_exposed_provenance_mut(word_at(bytes, at) as usize)
}

/// Returns the constructor of a sum.
pub fn tag_of(bytes: &[u8]) -> Result<u32, Broken> {
    let tag = part(bytes, 0, 4)?.try_into();
    tag.map(u32::from_ne_bytes)
        .map_err(|_| "too short a value".to_string())
}

/// Returns some of the bytes.
pub fn part(bytes: &[u8], at: usize, size: usize) -> Result<&[u8], Broken> {
    bytes
        .get(at..at + size)
        .ok_or_else(|| "too short a value".to_string())
}

/// Releases memory that a call gave.
///
/// # Safety
///
/// The memory is null or came from `malloc`, and it is not used after this.
pub unsafe fn free_memory(pointer: *mut u8) {
    unsafe { free(pointer.cast()) };
}

fn product(extents: &[usize]) -> Result<usize, Broken> {
    let product = extents.iter().try_fold(1usize, |n, e| n.checked_mul(*e));
    product.ok_or_else(|| format!("extents {extents:?}"))
}

/// Takes the elements at a pointer and frees it.
///
/// # Safety
///
/// As [`Results::take`].
unsafe fn take_data(
    items: &Items,
    count: usize,
    address: u64,
    nodes: &Nodes,
) -> Result<Elements, Broken> {
    if let Some(scalar) = items.scalar {
        return unsafe { take_packed(scalar, count, address) };
    }
    if items.layout.size == 0 {
        // There is no memory, but the elements may be tuples of `nil`.
        let value = unsafe { read(&items.layout, &[], nodes) }?;
        return Ok(Elements::Values(Arc::new(vec![value; count])));
    }
    let stride = items.layout.size;
    let read_all = |bytes: &[u8]| {
        let elements = bytes.chunks(stride);
        elements
            .map(|element| unsafe { read(&items.layout, element, nodes) })
            .collect()
    };
    let values: Result<Vec<Value>, Broken> =
        unsafe { take_bytes(count, stride, address, read_all) }?;
    Ok(Elements::Values(Arc::new(values?)))
}

/// Takes packed scalars.
///
/// # Safety
///
/// As [`Results::take`].
unsafe fn take_packed(scalar: Scalar, count: usize, address: u64) -> Result<Elements, Broken> {
    let size = usize::from(scalar.info().bytes);
    unsafe { take_bytes(count, size, address, |bytes| from_bytes(scalar, bytes)) }
}

/// Passes the bytes of `count` elements of `size` bytes to `body`, and then frees them.
///
/// # Safety
///
/// As [`Results::take`].
unsafe fn take_bytes<R>(
    count: usize,
    size: usize,
    address: u64,
    body: impl FnOnce(&[u8]) -> R,
) -> Result<R, Broken> {
    let pointer: *mut u8 = with_exposed_provenance_mut(address as usize);
    let bytes = count.checked_mul(size).ok_or("too long a vector")?;
    if pointer.is_null() {
        return match bytes {
            0 => Ok(body(&[])),
            _ => Err(format!("a null pointer with length {count}")),
        };
    }
    // SAFETY: the function wrote this many elements there, and leaves the memory to its caller.
    unsafe {
        let result = body(std::slice::from_raw_parts(pointer, bytes));
        free(pointer.cast());
        Ok(result)
    }
}

/// Reads a value from its place and frees the memory it points to. Links are to `nodes`.
///
/// # Safety
///
/// As [`Results::take`].
pub unsafe fn read(layout: &Layout, bytes: &[u8], nodes: &Nodes) -> Result<Value, Broken> {
    let part = |at: usize, size: usize| part(bytes, at, size);
    deep(|| match &layout.kind {
        LayoutKind::Unit => Ok(Value::Unit),
        LayoutKind::Scalar(scalar) => {
            let elements = from_bytes(*scalar, part(0, layout.size)?);
            elements
                .get(0)
                .ok_or_else(|| "too short a value".to_string())
        }
        LayoutKind::Tuple(members) => {
            let values: Result<Vec<Value>, Broken> = members
                .iter()
                .map(|(offset, member)| unsafe { read(member, part(*offset, member.size)?, nodes) })
                .collect();
            Ok(Value::Tuple(values?.into()))
        }
        LayoutKind::Sum(union, payloads) => {
            let tag = tag_of(bytes)?;
            let member = payloads.get(tag as usize);
            let member = member.ok_or_else(|| format!("a constructor numbered {tag}"))?;
            let payload = unsafe { read(member, part(*union, member.size)?, nodes) }?;
            Ok(Value::Sum(tag, Link::new(payload)))
        }
        LayoutKind::Vector(items) => {
            let (count, address) = (count(word_at(bytes, 0))?, word_at(bytes, WORD));
            let elements = unsafe { take_data(items, count, address, nodes) }?;
            Ok(Value::Vector(elements))
        }
        LayoutKind::Array(rank, items) => {
            let rank = *rank as usize;
            let extents: Result<Vec<usize>, Broken> =
                (0..rank).map(|k| count(word_at(bytes, k * WORD))).collect();
            let extents = extents?;
            let address = word_at(bytes, rank * WORD);
            let elements = unsafe { take_data(items, product(&extents)?, address, nodes) }?;
            Ok(Value::Array(extents.into(), elements))
        }
        LayoutKind::Link(member) => nodes.get((*member, count(word_at(bytes, 0))?)),
        LayoutKind::Data(tables) => unsafe { nodes::take(tables, bytes) },
    })
}
