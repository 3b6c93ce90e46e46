//! Unique names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The names in use.
#[derive(Default)]
pub(crate) struct Names {
    taken: BTreeSet<Arc<str>>,
    /// The last number that was appended to each name.
    numbers: BTreeMap<Arc<str>, usize>,
}

impl Names {
    /// Returns the name, or the name with a number if it is taken.
    pub fn unique(&mut self, wanted: &Arc<str>) -> Arc<str> {
        let mut name = wanted.clone();
        while !self.taken.insert(name.clone()) {
            let number = self.numbers.entry(wanted.clone()).or_default();
            *number += 1;
            name = Arc::from(format!("{wanted}_{number}"));
        }
        name
    }
}
