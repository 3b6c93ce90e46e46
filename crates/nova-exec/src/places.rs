//! Places by number. A program that is loaded at once may name its places by numbers, so that its code does
//! not depend on the lines of its source. Whoever loads it tells what the numbers stand for.

use crate::error::split_place;
use nova_diag::Place;
use std::fmt;
use std::sync::Arc;

/// The file of places that are numbers. In such a program there are no other places.
pub const FILE: &str = "@";

/// Returns the number of a place in [`FILE`].
pub fn number_of(place: &Place) -> Option<usize> {
    let line = (&*place.file == FILE).then_some(place.line)?;
    usize::try_from(line).ok()?.checked_sub(1)
}

/// What the numbers of a program stand for.
#[derive(Clone)]
pub struct Places(Arc<dyn Fn(usize) -> Option<Place> + Send + Sync>);

impl Places {
    /// Creates the places from a function that returns the place with a number, counted from 0.
    pub fn new(find: impl Fn(usize) -> Option<Place> + Send + Sync + 'static) -> Places {
        Places(Arc::new(find))
    }

    /// Returns what a place stands for.
    pub fn resolve(&self, place: &Place) -> Option<Place> {
        (self.0)(number_of(place)?)
    }

    /// Returns a message about a place that is a number as a message about the place itself.
    pub(crate) fn named(&self, message: String) -> String {
        let (place, rest) = split_place(&message);
        match place.and_then(|place| self.resolve(&place)) {
            Some(place) => format!("{place}: {rest}"),
            None => message,
        }
    }
}

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Places")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_get_their_places() {
        let places = Places::new(|number| (number < 2).then(|| Place::new("a.py", 7, 3)));
        let named = |message: &str| places.named(message.to_string());
        assert_eq!(
            named("@:2:1: division by zero"),
            "a.py:7:3: division by zero"
        );
        for unchanged in [
            "@:3:1: division by zero",
            "b.nova:2:1: wrong",
            "out of memory",
            "@:0:1: x",
        ] {
            assert_eq!(named(unchanged), unchanged);
        }
    }
}
