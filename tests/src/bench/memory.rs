//! Arrays on memory pages of a chosen size. Their type is erased where only the address matters.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::rc::Rc;

/// The pages that arrays lie on. Linux gives programs either kind, by distribution and by setting.
/// The fastest order of access on one is not the fastest on the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Of 4 KB.
    Small,
    /// Of 2 MB.
    Huge,
}

impl Pages {
    /// Both kinds.
    pub const ALL: [Pages; 2] = [Pages::Huge, Pages::Small];

    /// Returns its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Pages::Small => "small",
            Pages::Huge => "huge",
        }
    }

    /// Returns the advice to Linux for it.
    fn advice(self) -> libc::c_int {
        match self {
            Pages::Small => libc::MADV_NOHUGEPAGE,
            Pages::Huge => libc::MADV_HUGEPAGE,
        }
    }

    /// True if arrays on these pages get them on this machine.
    pub fn are_given(self) -> bool {
        const BYTES: usize = 16 << 20;
        let before = huge_kilobytes();
        let array = Array::<u8>::zeros(BYTES, self);
        let given = huge_kilobytes() - before;
        drop(array);
        match self {
            Pages::Small => true,
            Pages::Huge => given >= (BYTES >> 10) as i64 * 9 / 10,
        }
    }
}

/// Returns the kilobytes of this process on huge pages.
fn huge_kilobytes() -> i64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("AnonHugePages:"));
    let number = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    number.unwrap_or(0)
}

/// The types of elements of arrays, for which any bytes are a value.
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

/// A column and the value in it, laid out as in C.
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
    const SMALL_PAGE: usize = 4 << 10;
    const HUGE_PAGE: usize = 2 << 20;

    /// Returns a layout of whole pages, so that arrays share none.
    fn layout(length: usize) -> Layout {
        let bytes = length.max(1) * size_of::<T>();
        let page = match bytes < Self::HUGE_PAGE {
            true => Self::SMALL_PAGE,
            false => Self::HUGE_PAGE,
        };
        let layout = Layout::from_size_align(bytes, page).map(|layout| layout.pad_to_align());
        layout.expect("an array that fits into memory")
    }

    /// Creates an array of zeros.
    pub fn zeros(length: usize, pages: Pages) -> Self {
        let layout = Self::layout(length);
        // SAFETY: the layout has at least a byte.
        let bytes = unsafe { alloc(layout) };
        let pointer = NonNull::new(bytes.cast()).unwrap_or_else(|| handle_alloc_error(layout));
        // SAFETY: these are whole pages that hold nothing else. Where the kernel has no huge pages,
        // which `Pages::are_given` tests, the advice fails and changes nothing.
        unsafe { libc::madvise(bytes.cast(), layout.size(), pages.advice()) };
        // SAFETY: as many bytes were allocated.
        unsafe { bytes.write_bytes(0, layout.size()) };
        Array { pointer, length }
    }

    /// Creates an array on small pages with the results of a function, called in order.
    pub fn from_fn(length: usize, mut element: impl FnMut() -> T) -> Self {
        let mut array = Self::zeros(length, Pages::Small);
        array.iter_mut().for_each(|e| *e = element());
        array
    }

    /// Creates an array on small pages with the elements of a slice.
    pub fn from_slice(from: &[T]) -> Self {
        let mut array = Self::zeros(from.len(), Pages::Small);
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
    /// Returns its address.
    fn address(&self) -> *const c_void;
    /// Returns its size.
    fn bytes(&self) -> usize;
    /// Returns a copy of it on pages of this kind.
    fn duplicate(&self, pages: Pages) -> Rc<dyn Block>;
}

impl<T: Plain> Block for Array<T> {
    fn address(&self) -> *const c_void {
        self.pointer.as_ptr() as *const c_void
    }

    fn bytes(&self) -> usize {
        self.length * size_of::<T>()
    }

    fn duplicate(&self, pages: Pages) -> Rc<dyn Block> {
        let mut copy = Self::zeros(self.length, pages);
        copy.copy_from_slice(self);
        Rc::new(copy)
    }
}
