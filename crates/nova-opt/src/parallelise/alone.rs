//! Operations that are left to one thread although threads could share them, since a later stage has
//! found out that it cannot prove of their loops that iterations do not meet.
//!
//! They are told by their places in the source, which every pass keeps: what stands at one place, also
//! in copies of a function's body, is left as a whole. Where that was not enough, since the loop comes
//! from an operation around it, the operations around are left, too.

use nova_diag::Place;
use nova_flat::ir::{Expression, Statement};
use nova_flat::visit::{bodies, each_statement};
use std::collections::BTreeMap;

/// The operations, by their places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alone(BTreeMap<Place, Left>);

/// What is left to one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Left {
    /// Why, for people.
    why: String,
    /// True if the operations around it are left, too.
    around: bool,
}

impl Alone {
    /// Leaves the operations at a place to one thread, for this reason; where they are already, those
    /// around them. Whether that leaves any more.
    pub fn leave(&mut self, place: &Place, why: &str) -> bool {
        match self.0.get_mut(place) {
            Some(left) => !std::mem::replace(&mut left.around, true),
            None => {
                let why = why.to_string();
                let left = Left { why, around: false };
                self.0.insert(place.clone(), left);
                true
            }
        }
    }

    /// True if nothing is left to one thread.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The places, each with the reason.
    pub fn each(&self) -> impl Iterator<Item = (&Place, &str)> {
        self.0.iter().map(|(place, left)| (place, &*left.why))
    }

    /// True if a statement is an operation or a sort that is left to one thread.
    pub(super) fn has(&self, statement: &Statement) -> bool {
        if self.is_empty() {
            return false;
        }
        match &statement.expression {
            Expression::Operation(_) | Expression::Sort { .. } => {}
            _nothing_to_divide => return false,
        }
        let mut found = self.0.contains_key(&statement.place);
        bodies(&statement.expression, &mut |body| {
            each_statement(body, &mut |inner| {
                found |= self.0.get(&inner.place).is_some_and(|left| left.around);
            });
        });
        found
    }
}
