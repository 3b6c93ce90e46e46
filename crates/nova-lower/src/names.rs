//! Names that are not taken yet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The names given out so far.
#[derive(Default)]
pub(crate) struct Names {
    taken: BTreeSet<Arc<str>>,
    /// The last number tried behind each name.
    numbers: BTreeMap<Arc<str>, usize>,
}

impl Names {
    /// The name, or, where it is taken, one with a number.
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
