//! Operations that are left to one thread although threads could share them. A later stage could not
//! prove that the iterations of their loops do not interfere.
//!
//! The operations are identified by their places in the source, which every pass preserves. All
//! operations at such a place stay whole, also those in copies of a function's body. If that is not
//! enough, since the loop comes from an enclosing operation, the enclosing operations are left to one
//! thread, too.

use crate::ir::{Expression, Statement};
use crate::visit::{bodies, each_statement};
use nova_diag::Place;
use std::collections::BTreeMap;

/// The operations, by their places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alone(BTreeMap<Place, Left>);

/// An operation that is left to one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Left {
    /// The reason, as text for people.
    why: String,
    /// True if the enclosing operations are left to one thread, too.
    enclosing: bool,
}

impl Alone {
    /// Leaves the operations at a place to one thread, for this reason. If they already are, leaves the
    /// enclosing operations to one thread, too. Returns true if that leaves any more.
    pub fn leave(&mut self, place: &Place, why: &str) -> bool {
        match self.0.get_mut(place) {
            Some(left) => !std::mem::replace(&mut left.enclosing, true),
            None => {
                let why = why.to_string();
                let left = Left {
                    why,
                    enclosing: false,
                };
                self.0.insert(place.clone(), left);
                true
            }
        }
    }

    /// True if nothing is left to one thread.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the places, each with its reason.
    pub fn each(&self) -> impl Iterator<Item = (&Place, &str)> {
        self.0.iter().map(|(place, left)| (place, &*left.why))
    }

    /// True if a statement is an operation or a sort that is left to one thread.
    pub fn has(&self, statement: &Statement) -> bool {
        if self.is_empty() {
            return false;
        }
        match &statement.expression {
            Expression::Operation(_) | Expression::Sort { .. } | Expression::SortKeys { .. } => {}
            _nothing_to_parallelise => return false,
        }
        let mut found = self.0.contains_key(&statement.place);
        bodies(&statement.expression, &mut |body| {
            each_statement(body, &mut |inner| {
                found |= self.0.get(&inner.place).is_some_and(|left| left.enclosing);
            });
        });
        found
    }
}
