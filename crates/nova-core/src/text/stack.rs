//! A stack for what is open of a deep value, which may be as large as the value itself.

use crate::OutOfMemory;

/// A stack that grows without being copied, and gives its memory back while it shrinks.
pub struct Stack<T> {
    full: Vec<Vec<T>>,
    /// The chunk with the last items. It is empty only where all are.
    last: Vec<T>,
}

/// The number of items of a full chunk.
const CHUNK: usize = 1 << 12;

impl<T> Default for Stack<T> {
    fn default() -> Self {
        Stack {
            full: Vec::new(),
            last: Vec::new(),
        }
    }
}

impl<T> Stack<T> {
    /// Adds an item, if there is memory for it.
    pub fn push(&mut self, item: T) -> Result<(), OutOfMemory> {
        if self.last.len() == CHUNK {
            self.full.try_reserve(1).map_err(|_| OutOfMemory)?;
            self.full.push(std::mem::take(&mut self.last));
        }
        if self.last.len() == self.last.capacity() {
            let room = match self.full.is_empty() {
                true => 1,
                false => CHUNK,
            };
            self.last.try_reserve(room).map_err(|_| OutOfMemory)?;
        }
        self.last.push(item);
        Ok(())
    }

    /// Removes the last item.
    pub fn pop(&mut self) -> Option<T> {
        let item = self.last.pop();
        if self.last.is_empty()
            && let Some(chunk) = self.full.pop()
        {
            self.last = chunk;
        }
        item
    }

    /// Returns the last item.
    pub fn last(&self) -> Option<&T> {
        self.last.last()
    }

    /// Returns the last item, to be changed.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.last.last_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_return_in_their_order() {
        let mut stack = Stack::default();
        let n = 3 * CHUNK + 1;
        for k in 0..n {
            assert!(stack.push(k).is_ok());
            assert_eq!(stack.last(), Some(&k));
        }
        for k in (0..n).rev() {
            assert_eq!(stack.pop(), Some(k));
            assert_eq!(stack.last_mut().copied(), k.checked_sub(1));
        }
        assert_eq!(stack.pop(), None);
    }
}
