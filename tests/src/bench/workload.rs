//! One run of a benchmark program: its arguments and results as C passes them, its amounts of data
//! and arithmetic, and the check of its result.

use super::memory::{Array, Block, Pages, Plain};
use crate::reference::Summation;
use std::ffi::c_void;
use std::rc::Rc;

/// The value of a C parameter.
#[derive(Clone)]
pub enum Argument {
    /// A length or extent.
    Length(usize),
    /// An `int32_t`.
    Int(i32),
    /// A `float`.
    Float(f32),
    /// A pointer to elements.
    Array(Rc<dyn Block>),
}

/// The form of a result, as C passes it.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A value of this many bytes.
    Value(usize),
    /// Elements of a size in bytes. Their number is given by the extents.
    Elements(Vec<usize>, usize),
}

/// The work that every program for the task must do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Bytes that are read from memory.
    pub read: usize,
    /// Bytes that are written to memory.
    pub written: usize,
    /// Multiplications of vectors of sixteen floats, where they may be the limit.
    pub operations: usize,
}

/// A check of a result, where additions may be done in this order. The error is the first
/// difference as text.
pub type Check = Box<dyn Fn(&Output, Summation) -> Result<(), String>>;

/// Data for one program, and the check of its result.
pub struct Workload {
    /// The amount of data, in words.
    pub size: String,
    /// The arguments.
    pub arguments: Vec<Argument>,
    /// The result.
    pub result: Shape,
    /// The least work.
    pub work: Work,
    /// The check of its result.
    pub check: Check,
}

/// Arguments in the form of C: a pointer to the value of each parameter.
pub struct Arguments {
    cells: Box<[u64]>,
    // Keeps the data that the cells point to alive.
    _arrays: Vec<Argument>,
}

impl Arguments {
    /// Converts arguments to the form of C.
    pub fn new(arguments: Vec<Argument>) -> Self {
        let cell = |argument: &Argument| {
            // The value is at the beginning of its cell.
            let mut cell = [0u8; 8];
            match argument {
                Argument::Length(n) => cell = n.to_ne_bytes(),
                Argument::Int(n) => cell[..4].copy_from_slice(&n.to_ne_bytes()),
                Argument::Float(x) => cell[..4].copy_from_slice(&x.to_ne_bytes()),
                Argument::Array(block) => cell = (block.address() as usize).to_ne_bytes(),
            }
            u64::from_ne_bytes(cell)
        };
        Arguments {
            cells: arguments.iter().map(cell).collect(),
            _arrays: arguments,
        }
    }

    /// Returns a pointer to each value.
    pub fn pointers(&self) -> Vec<*const c_void> {
        self.cells
            .iter()
            .map(|cell| (cell as *const u64).cast())
            .collect()
    }
}

impl Workload {
    /// Returns the arguments with arrays of their own, on pages of this kind.
    pub fn duplicate(&self, pages: Pages) -> Arguments {
        let duplicate = |argument: &Argument| match argument {
            Argument::Array(block) => Argument::Array(block.duplicate(pages)),
            Argument::Length(_) | Argument::Int(_) | Argument::Float(_) => argument.clone(),
        };
        Arguments::new(self.arguments.iter().map(duplicate).collect())
    }

    /// Returns the size of its arrays.
    pub fn bytes(&self) -> usize {
        let bytes = |argument: &Argument| match argument {
            Argument::Array(block) => block.bytes(),
            Argument::Length(_) | Argument::Int(_) | Argument::Float(_) => 0,
        };
        self.arguments.iter().map(bytes).sum()
    }
}

/// Memory for a result, used by every call.
pub struct Output {
    shape: Shape,
    /// The extents and the pointer to the elements.
    cells: Box<[u64]>,
    room: Array<u8>,
}

impl Output {
    /// Allocates memory for a result of this shape, on pages of this kind.
    pub fn new(shape: &Shape, pages: Pages) -> Self {
        let (extents, bytes) = match shape {
            Shape::Value(bytes) => (0, *bytes),
            Shape::Elements(extents, size) => {
                (extents.len() + 1, extents.iter().product::<usize>() * size)
            }
        };
        let mut output = Output {
            shape: shape.clone(),
            cells: vec![0; extents].into(),
            room: Array::zeros(bytes, pages),
        };
        output.reset();
        output
    }

    /// Prepares the memory for the next call.
    pub fn reset(&mut self) {
        if let Shape::Elements(extents, _) = &self.shape {
            let address = self.room.as_ptr() as u64;
            let extents = extents.iter().map(|&n| n as u64);
            for (cell, value) in self.cells.iter_mut().zip(extents.chain([address])) {
                *cell = value;
            }
        }
    }

    /// Overwrites the memory, so that no data of an earlier call can pass for a result.
    pub fn clear(&mut self) {
        self.room.fill(0xa5);
        self.reset();
    }

    /// Stores a result that was computed elsewhere.
    ///
    /// # Panics
    /// If it has another number of bytes.
    pub fn fill(&mut self, result: &[u8]) {
        self.room.copy_from_slice(result);
    }

    /// Returns a pointer for each result parameter.
    pub fn pointers(&mut self) -> Vec<*mut c_void> {
        match &self.shape {
            Shape::Value(_) => vec![self.room.as_mut_ptr().cast()],
            Shape::Elements(..) => self
                .cells
                .iter_mut()
                .map(|cell| (cell as *mut u64).cast())
                .collect(),
        }
    }

    /// True if the lengths that a call left are those of the shape, and the memory is its own.
    pub fn is_filled(&self) -> bool {
        match &self.shape {
            Shape::Value(_) => true,
            Shape::Elements(extents, _) => {
                let address = self.room.as_ptr() as u64;
                let extents = extents.iter().map(|&n| n as u64);
                extents.chain([address]).eq(self.cells.iter().copied())
            }
        }
    }

    /// Returns the result as elements of a type.
    pub fn elements<T: Plain>(&self) -> &[T] {
        let length = self.room.len() / size_of::<T>();
        // SAFETY: the memory begins on a page, has that many bytes, and all of them are values.
        unsafe { std::slice::from_raw_parts(self.room.as_ptr().cast(), length) }
    }
}
