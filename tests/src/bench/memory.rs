//! Arrays that begin on a page, with their type forgotten where only the address matters.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::rc::Rc;

/// What elements of arrays may be: any bytes are a value.
///
/// # Safety
///
/// The type has no padding, no invalid bit pattern and nothing to drop.
pub unsafe trait Plain: Copy + 'static {}

// SAFETY: numbers and arrays of them.
unsafe impl Plain for u8 {}
unsafe impl Plain for i32 {}
unsafe impl Plain for i64 {}
unsafe impl Plain for f32 {}
unsafe impl Plain for f64 {}
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// A column and the value in it, as C has them.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Entry {
    /// The column.
    pub column: i32,
    /// The value.
    pub value: f32,
}
// SAFETY: two numbers of four bytes.
unsafe impl Plain for Entry {}

/// An array on pages of its own.
#[derive(Debug)]
pub struct Array<T: Plain> {
    pointer: NonNull<T>,
    length: usize,
}

impl<T: Plain> Array<T> {
    const PAGE: usize = 4096;

    fn layout(length: usize) -> Layout {
        let bytes = length.max(1) * size_of::<T>();
        Layout::from_size_align(bytes, Self::PAGE).expect("an array that fits into memory")
    }

    /// An array of zeros.
    pub fn zeros(length: usize) -> Self {
        let layout = Self::layout(length);
        // SAFETY: the layout has at least a byte.
        let pointer = unsafe { alloc_zeroed(layout) };
        let pointer = NonNull::new(pointer.cast()).unwrap_or_else(|| handle_alloc_error(layout));
        Array { pointer, length }
    }

    /// An array of what a function gives, called in order.
    pub fn from_fn(length: usize, mut element: impl FnMut() -> T) -> Self {
        let mut array = Self::zeros(length);
        array.iter_mut().for_each(|e| *e = element());
        array
    }

    /// An array of what a vector holds.
    pub fn from_slice(from: &[T]) -> Self {
        let mut array = Self::zeros(from.len());
        array.copy_from_slice(from);
        array
    }
}

impl<T: Plain> Deref for Array<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: that many elements were allocated, and all bytes are values.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.length) }
    }
}

impl<T: Plain> DerefMut for Array<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.length) }
    }
}

impl<T: Plain> Drop for Array<T> {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.pointer.as_ptr().cast(), Self::layout(self.length)) }
    }
}

/// An array of some type.
pub trait Block {
    /// Where it lies.
    fn address(&self) -> *const c_void;
    /// Its size.
    fn bytes(&self) -> usize;
    /// The same elsewhere.
    fn duplicate(&self) -> Rc<dyn Block>;
}

impl<T: Plain> Block for Array<T> {
    fn address(&self) -> *const c_void {
        self.pointer.as_ptr() as *const c_void
    }

    fn bytes(&self) -> usize {
        self.length * size_of::<T>()
    }

    fn duplicate(&self) -> Rc<dyn Block> {
        Rc::new(Self::from_slice(self))
    }
}
