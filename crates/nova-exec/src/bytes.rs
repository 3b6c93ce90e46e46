//! Parts of the memory that a call gave: words, lengths, pointers.

use crate::layout::WORD;
use std::ffi::c_void;
use std::ptr::with_exposed_provenance_mut;

unsafe extern "C" {
    /// The function of the C library that releases results (abi §2).
    fn free(pointer: *mut c_void);
}

/// The way in which the called function broke its contract.
pub type Broken = String;

/// Returns the word at a place, or 0 beyond the end.
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
