//! Prefix scans in registers, in the bracketing of the generated C.

use super::heap::Heap;
use super::{Pointer, Step};
use crate::ir::PREFIX_WIDTH;
use nova_core::{ScalarOperation, ScalarValue, operations};

impl Heap {
    /// Computes an inclusive or exclusive prefix scan of [`PREFIX_WIDTH`] elements, starting from `last`.
    /// Returns the result of all elements.
    pub(super) fn prefix_scan(
        &mut self,
        (to, from): (Pointer, Pointer),
        (operation, strict): (ScalarOperation, bool),
        exclusive: bool,
        last: ScalarValue,
    ) -> Step<ScalarValue> {
        let both = |a, b| operations::evaluate_unchecked(operation, &[a, b], strict);
        let mut elements = self.read(from, i64::from(PREFIX_WIDTH))?;
        let mut half = 1;
        while half < elements.len() {
            for k in (half..elements.len()).filter(|k| k & half != 0) {
                // The last element of the lower half.
                let lower = elements[(k & !(half - 1)) - 1];
                elements[k] = both(lower, elements[k]);
            }
            half *= 2;
        }
        let mut before = last;
        for (k, element) in (0..).zip(elements) {
            let result = both(last, element);
            self.store(to, k, if exclusive { before } else { result })?;
            before = result;
        }
        Ok(before)
    }
}
