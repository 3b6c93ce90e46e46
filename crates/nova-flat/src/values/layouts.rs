//! The layouts of the sums of a program, each computed once: conversions of many small values need them again
//! and again.

use super::{FlatValue, empty_components};
use crate::representation::{payload_places, width};
use nova_core::{SumId, SumType, Type};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The sums of a program with the layouts of those that are not recursive.
pub struct Layouts<'a> {
    /// The sums.
    pub sums: &'a [SumType],
    known: RefCell<HashMap<(SumId, bool), Rc<SumLayout>>>,
}

/// The components of a sum that is not recursive.
pub(super) struct SumLayout {
    /// Their number.
    pub width: usize,
    /// For each constructor, the index of each component of its payload among those of the sum.
    pub places: Vec<Vec<usize>>,
    /// The values of all components where no payload is active: zeros and empty arrays. The list is empty
    /// if the sum is lifted.
    pub empty: Vec<FlatValue>,
}

impl<'a> Layouts<'a> {
    /// Creates a cache for the sums of a program.
    pub fn new(sums: &'a [SumType]) -> Self {
        Layouts {
            sums,
            known: RefCell::default(),
        }
    }

    /// Returns the layout of a sum that is not recursive; of its lifted components if `lifted`.
    pub(super) fn of(&self, id: SumId, lifted: bool) -> Rc<SumLayout> {
        let mut known = self.known.borrow_mut();
        let layout = known
            .entry((id, lifted))
            .or_insert_with(|| Rc::new(self.computed(id, lifted)));
        layout.clone()
    }

    fn computed(&self, id: SumId, lifted: bool) -> SumLayout {
        let ty = Type::Sum(id);
        let sum = self.sums.get(id.index());
        let count = sum.map_or(0, |sum| sum.constructors.len());
        let places = (0..count).map(|k| payload_places(id, k, self.sums, lifted));
        SumLayout {
            width: width(&ty, self.sums, lifted),
            places: places.collect(),
            empty: match lifted {
                false => empty_components(&ty, self.sums),
                true => Vec::new(),
            },
        }
    }
}
