//! The result of a call as parts that a host keeps: arrays stay in the memory that the call gave, and each
//! is freed by itself.

use crate::bytes::{Broken, count, free_memory, part, pointer_at, word_at};
use crate::check::{is_plain, product};
use crate::elements::scalar_at;
use crate::layout::{Items, Layout, LayoutKind, Passing, WORD};
use crate::nodes::Nodes;
use crate::read::read;
use crate::unmarshal::{Returned, bytes_of};
use nova_core::{ScalarValue, Value};

/// Memory that a call left to its caller. It is freed when this is dropped.
#[derive(Debug)]
pub struct Block {
    pointer: *mut u8,
}

// SAFETY: a block is the only owner of its memory.
unsafe impl Send for Block {}
// SAFETY: a shared block only gives its address.
unsafe impl Sync for Block {}

impl Block {
    /// Returns the address, which may be null where the memory has no bytes.
    pub fn pointer(&self) -> *mut u8 {
        self.pointer
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the function leaves this memory to its caller, and this is its only owner.
        unsafe { free_memory(self.pointer) };
    }
}

/// A result, or a component of one.
#[derive(Debug)]
pub enum Part {
    /// A value that has no arrays of its own.
    Value(Value),
    /// The components of a tuple.
    Tuple(Vec<Part>),
    /// A vector whose innermost elements are scalars or tuples of scalars.
    Vector {
        /// Its length.
        length: usize,
        /// For each further level of vectors its offsets, outermost first, and their number.
        offsets: Vec<(Block, usize)>,
        /// The innermost elements, in the form of C.
        data: Block,
        /// The number of the innermost elements.
        count: usize,
    },
    /// An array whose elements are scalars or tuples of scalars.
    Array {
        /// Its extents.
        extents: Vec<usize>,
        /// Its elements, in the form of C.
        data: Block,
    },
}

/// True if the elements are passed as they are in memory: scalars, and tuples of scalars.
pub fn is_lendable(items: &Items) -> bool {
    is_plain(&items.layout)
}

impl Returned<'_> {
    /// Returns the parts of the result. Arrays are not copied.
    ///
    /// # Errors
    /// The result breaks the contract of its header.
    pub fn into_parts(mut self) -> Result<Part, Broken> {
        match self.passing {
            Passing::Value(layout) => {
                let bytes = self.cells.first().map(|cell| bytes_of(cell));
                // SAFETY: the memory was checked.
                unsafe { self.part(layout, &bytes.unwrap_or_default()) }
            }
            Passing::Vector { levels, items } if is_plain(&items.layout) => {
                let (levels, length) = (*levels, self.length(0)?);
                let (rows, count) = self.rows(levels)?;
                let counts: Vec<usize> = rows.iter().map(|row| row.len()).collect();
                let numbered = (1..levels).zip(counts);
                let offsets = numbered
                    .map(|(level, count)| (self.take(self.pointer(level)), count))
                    .collect();
                let data = self.take(self.pointer(levels));
                Ok(Part::Vector {
                    length,
                    offsets,
                    data,
                    count,
                })
            }
            Passing::Array { rank, items } if is_plain(&items.layout) => {
                let extents = self.extents(*rank)?;
                let data = self.take(self.pointer(*rank));
                Ok(Part::Array { extents, data })
            }
            Passing::Nothing(_)
            | Passing::Bool
            | Passing::Vector { .. }
            | Passing::Array { .. } => Ok(Part::Value(self.value()?)),
        }
    }

    /// Returns the part of a result that is in a place.
    ///
    /// # Safety
    ///
    /// The memory was checked.
    unsafe fn part(&mut self, layout: &Layout, bytes: &[u8]) -> Result<Part, Broken> {
        match &layout.kind {
            LayoutKind::Unit => Ok(Part::Value(Value::Unit)),
            LayoutKind::Scalar(scalar) => {
                let value = scalar_at(*scalar, bytes).unwrap_or(ScalarValue::Bool(false));
                Ok(Part::Value(Value::Scalar(value)))
            }
            LayoutKind::Tuple(members) => {
                let members = members.iter();
                let parts = members.map(|(offset, member)| {
                    let bytes = part(bytes, *offset, member.size)?;
                    unsafe { self.part(member, bytes) }
                });
                Ok(Part::Tuple(parts.collect::<Result<_, Broken>>()?))
            }
            LayoutKind::Vector(items) if is_plain(&items.layout) => {
                let length = count(word_at(bytes, 0))?;
                Ok(Part::Vector {
                    length,
                    offsets: Vec::new(),
                    data: self.take_of(items, bytes, WORD),
                    count: length,
                })
            }
            LayoutKind::Array(rank, items) if is_plain(&items.layout) => {
                let rank = *rank as usize;
                let extents = (0..rank).map(|k| count(word_at(bytes, k * WORD)));
                let extents = extents.collect::<Result<Vec<usize>, Broken>>()?;
                product(&extents)?;
                let data = self.take_of(items, bytes, rank * WORD);
                Ok(Part::Array { extents, data })
            }
            LayoutKind::Sum(..)
            | LayoutKind::Vector(_)
            | LayoutKind::Array(..)
            | LayoutKind::Data(_)
            | LayoutKind::Link(_) => {
                let value = unsafe { read(layout, bytes, &Nodes::default()) }?;
                Ok(Part::Value(value))
            }
        }
    }

    /// Takes the elements whose address is at a place of a struct, if they have memory.
    fn take_of(&mut self, items: &Items, bytes: &[u8], at: usize) -> Block {
        match items.layout.size {
            0 => self.take(std::ptr::null_mut()),
            _ => self.take(pointer_at(bytes, at)),
        }
    }

    /// Takes memory out of the result.
    fn take(&mut self, pointer: *mut u8) -> Block {
        // A pointer that the check has not collected is null.
        let place = self.pointers.iter().position(|p| *p == pointer);
        let owned = place.map(|place| self.pointers.swap_remove(place));
        Block {
            pointer: owned.unwrap_or(std::ptr::null_mut()),
        }
    }
}
