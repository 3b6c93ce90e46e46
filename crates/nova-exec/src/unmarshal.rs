//! The memory of a call's results: its check, its conversion to values and to text, its release.

#[cfg(test)]
mod tests;

use crate::bytes::{Broken, count, free_memory};
use crate::check::{Check, product};
use crate::layout::{Passing, WORD};
use crate::nested::unflatten;
use crate::nodes::Nodes;
use crate::read::{read, read_data};
use crate::view::{self, MemoryView};
use nova_core::text::{Style, write_view};
use nova_core::{ScalarValue, SumType, Type, Value};
use std::io::{self, Write};
use std::ptr::with_exposed_provenance_mut;

/// The places that the result parameters of a call point at.
#[derive(Debug)]
pub struct Results {
    /// A place for each C result, zero before the call.
    cells: Vec<Box<[u64]>>,
}

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

    /// Creates places for a result that fills a buffer with these extents. Only vectors and arrays do.
    pub fn into_buffer(passing: &Passing, extents: &[usize], data: *mut u8) -> Option<Results> {
        let (rank, items) = match passing {
            Passing::Vector { levels: 1, items } => (1, items),
            Passing::Array { rank, items } => (*rank, items),
            Passing::Nothing(_) | Passing::Bool | Passing::Value(_) | Passing::Vector { .. } => {
                return None;
            }
        };
        if extents.len() != rank || items.layout.size == 0 {
            return None;
        }
        let words = extents.iter().map(|extent| *extent as u64);
        let words = words.chain([data.expose_provenance() as u64]);
        Some(Results {
            cells: words.map(|word| vec![word].into_boxed_slice()).collect(),
        })
    }

    /// Returns the extents of a result that fills a buffer.
    pub fn filled(&self, data: *mut u8) -> Result<Vec<usize>, Broken> {
        let mut words = self.cells.iter().filter_map(|cell| cell.first()).copied();
        match words.next_back() {
            Some(address) if address == data.expose_provenance() as u64 => {
                words.map(count).collect()
            }
            Some(_) | None => Err("the result is not in its buffer".to_string()),
        }
    }

    /// Returns a pointer to each place.
    pub fn pointers(&mut self) -> Vec<*mut u64> {
        self.cells
            .iter_mut()
            .map(|cell| cell.as_mut_ptr())
            .collect()
    }

    /// Checks the result in the places.
    ///
    /// # Safety
    ///
    /// The places hold the result that an entry with this result type wrote when it returned 0.
    pub unsafe fn returned(self, passing: &Passing) -> Result<Returned<'_>, Broken> {
        let cells: Vec<Vec<u8>> = self.cells.iter().map(|cell| bytes_of(cell)).collect();
        let mut returned = Returned {
            passing,
            cells: self.cells,
            pointers: Vec::new(),
        };
        let mut check = Check::default();
        match passing {
            Passing::Nothing(_) | Passing::Bool => {}
            Passing::Value(layout) => match cells.first() {
                Some(cell) => unsafe { check.value(layout, cell, &[]) }?,
                None => return Err("no result".to_string()),
            },
            Passing::Array { rank, items } => {
                let total = product(&returned.extents(*rank)?)?;
                unsafe { check.elements(items, total, returned.pointer(*rank), &[]) }?;
            }
            Passing::Vector { levels, items } => {
                let mut total = returned.length(0)?;
                for level in 1..*levels {
                    let count = total.checked_add(1).ok_or("too long a vector")?;
                    let pointer = returned.pointer(level);
                    unsafe { check.bytes(count, WORD, pointer, "length") }?;
                    total = rising(unsafe { returned.offsets(level, count) }, total)?;
                }
                unsafe { check.elements(items, total, returned.pointer(*levels), &[]) }?;
            }
        }
        returned.pointers = check.pointers;
        Ok(returned)
    }
}

/// Checks the offsets of `rows` rows. Returns the number of elements.
fn rising(offsets: &[i64], rows: usize) -> Result<usize, Broken> {
    if offsets.first() != Some(&0) || offsets.len() != rows + 1 {
        return Err("the offsets must start with 0".to_string());
    }
    match offsets.windows(2).find(|pair| pair[0] > pair[1]) {
        Some(pair) => Err(format!(
            "the offsets must rise: {} stands before {}",
            pair[0], pair[1]
        )),
        None => count(offsets.last().copied().unwrap_or(0) as u64),
    }
}

/// The result of a call in the memory that the function gave, which was checked. It is released when
/// this is dropped.
#[derive(Debug)]
pub struct Returned<'a> {
    pub(crate) passing: &'a Passing,
    pub(crate) cells: Vec<Box<[u64]>>,
    /// The memory to release.
    pub(crate) pointers: Vec<*mut u8>,
}

// SAFETY: a result is the only owner of its memory.
unsafe impl Send for Returned<'_> {}

impl Drop for Returned<'_> {
    fn drop(&mut self) {
        for pointer in &self.pointers {
            // SAFETY: the function leaves this memory to its caller, and each pointer was met once.
            unsafe { free_memory(*pointer) };
        }
    }
}

impl Returned<'_> {
    fn word(&self, k: usize) -> u64 {
        let cell = self.cells.get(k).and_then(|cell| cell.first());
        cell.copied().unwrap_or(0)
    }

    pub(crate) fn length(&self, k: usize) -> Result<usize, Broken> {
        count(self.word(k))
    }

    pub(crate) fn extents(&self, rank: usize) -> Result<Vec<usize>, Broken> {
        (0..rank).map(|k| self.length(k)).collect()
    }

    pub(crate) fn pointer(&self, k: usize) -> *mut u8 {
        with_exposed_provenance_mut(self.word(k) as usize)
    }

    /// Returns the offsets of a level of a vector.
    ///
    /// # Safety
    ///
    /// The function wrote `count` of them, at least one.
    unsafe fn offsets(&self, level: usize, count: usize) -> &[i64] {
        // SAFETY: as above. The pointer is not null.
        unsafe { std::slice::from_raw_parts(self.pointer(level).cast(), count) }
    }

    /// Returns the value.
    pub fn value(&self) -> Result<Value, Broken> {
        let nodes = Nodes::default();
        // SAFETY: the memory was checked.
        unsafe {
            match self.passing {
                Passing::Nothing(layout) => read(layout, &[], &nodes),
                Passing::Bool => Ok(Value::Scalar(ScalarValue::Bool(self.truth()))),
                Passing::Value(layout) => match self.cells.first() {
                    Some(cell) => read(layout, &bytes_of(cell), &nodes),
                    None => Err("no result".to_string()),
                },
                Passing::Array { rank, items } => {
                    let extents = self.extents(*rank)?;
                    let total = product(&extents)?;
                    let elements = read_data(items, total, self.word(*rank), &nodes)?;
                    Ok(Value::Array(extents.into(), elements))
                }
                Passing::Vector { levels, items } => {
                    let (offsets, total) = self.rows(*levels)?;
                    let mut elements = read_data(items, total, self.word(*levels), &nodes)?;
                    for offsets in offsets.iter().rev() {
                        elements = unflatten(offsets, &elements)?;
                    }
                    Ok(Value::Vector(elements))
                }
            }
        }
    }

    fn truth(&self) -> bool {
        self.word(0) as u32 != 0
    }

    /// Returns the offsets of each level of a vector but the first, and the number of elements.
    pub(crate) fn rows(&self, levels: usize) -> Result<(Vec<&[i64]>, usize), Broken> {
        let mut total = self.length(0)?;
        let mut offsets = Vec::new();
        for level in 1..levels {
            // SAFETY: the offsets were checked.
            let row = unsafe { self.offsets(level, total + 1) };
            total = row.last().map_or(0, |end| *end as usize);
            offsets.push(row);
        }
        Ok((offsets, total))
    }

    /// Writes the text of the value, which is of type `ty`.
    pub fn write(
        &self,
        out: &mut impl Write,
        ty: &Type,
        sums: &[SumType],
        style: Style,
    ) -> io::Result<()> {
        let (rows, array);
        let view = match self.passing {
            Passing::Bool => MemoryView::Bool(self.truth()),
            Passing::Nothing(layout) | Passing::Value(layout) => {
                let cell = self.cells.first();
                let pointer = cell.map_or(std::ptr::dangling(), |cell| cell.as_ptr().cast());
                // SAFETY: the memory was checked.
                unsafe { MemoryView::at(layout, pointer, None) }
            }
            Passing::Array { rank, items } => {
                let extents = self.extents(*rank).map_err(io::Error::other)?;
                array = view::Array {
                    extents: extents.into(),
                    items,
                    data: self.pointer(*rank),
                };
                MemoryView::Array(&array)
            }
            Passing::Vector { levels, items } => {
                let (offsets, _) = self.rows(*levels).map_err(io::Error::other)?;
                rows = view::Rows {
                    offsets,
                    items,
                    data: self.pointer(*levels),
                };
                let length = self.length(0).map_err(io::Error::other)?;
                MemoryView::Rows(&rows, 0, 0, length)
            }
        };
        write_view(out, view, ty, sums, style)
    }
}

pub(crate) fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}
