//! Conversion of the memory of a call's results to values, and its release.

use crate::bytes::{Broken, count, word_at};
use crate::layout::{Passing, WORD};
use crate::nested::unflatten;
use crate::nodes::Nodes;
use crate::read::{product, read, take_data, take_packed};
use nova_core::{Elements, Scalar, Value};

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
