//! Memory that grows and is aligned for every type of C.

use crate::layout::WORD;
use nova_core::OutOfMemory;
use nova_core::value::LARGEST_VECTOR;

/// Bytes at an address that is aligned for every type. The address changes while they grow.
#[derive(Debug, Default)]
pub struct Buffer {
    words: Vec<u64>,
    /// The number of bytes.
    length: usize,
}

impl Buffer {
    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Removes all bytes, and keeps the memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.length = 0;
    }

    /// Adds zeros. Returns the offset of the first.
    pub fn extend(&mut self, size: usize) -> Result<usize, OutOfMemory> {
        let start = self.length;
        let end = start.checked_add(size).ok_or(OutOfMemory)?;
        if end > LARGEST_VECTOR {
            return Err(OutOfMemory);
        }
        let words = end.div_ceil(WORD);
        let more = words.saturating_sub(self.words.len());
        self.words.try_reserve(more).map_err(|_| OutOfMemory)?;
        self.words.resize(words, 0);
        self.length = end;
        Ok(start)
    }

    /// Replaces the bytes at a place that is there.
    pub fn put(&mut self, at: usize, bytes: &[u8]) {
        let pointer: *mut u8 = self.words.as_mut_ptr().cast();
        // SAFETY: the words have at least this many bytes, and any bytes make words.
        let all = unsafe { std::slice::from_raw_parts_mut(pointer, self.length) };
        let end = at.saturating_add(bytes.len());
        if let Some(place) = all.get_mut(at..end) {
            place.copy_from_slice(bytes);
        }
    }

    /// Returns the words. The bytes of the last one may be more than those of the buffer.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the memory. There is at least one word, so that the address is real.
    pub fn into_words(mut self) -> Vec<u64> {
        if self.words.is_empty() {
            self.words.push(0);
        }
        self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_lie_in_words() {
        let mut buffer = Buffer::default();
        assert_eq!(buffer.extend(3), Ok(0));
        assert_eq!(buffer.extend(7), Ok(3));
        buffer.put(3, &1u16.to_ne_bytes());
        buffer.put(9, &[1, 2]);
        assert_eq!(buffer.len(), 10);
        assert_eq!(
            buffer.words(),
            [u64::from_ne_bytes([0, 0, 0, 1, 0, 0, 0, 0]), 0]
        );
        assert!(buffer.extend(usize::MAX).is_err());
        assert_eq!(Buffer::default().into_words(), [0]);
    }
}
