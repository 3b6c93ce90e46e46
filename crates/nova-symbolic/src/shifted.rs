//! A variable plus a number.

/// A variable, or 0, plus a number. The sum does not wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shifted<V> {
    /// The variable; `None` if the sum is a number.
    pub root: Option<V>,
    /// The number that is added.
    pub offset: i64,
}

impl<V> Shifted<V> {
    /// Returns a number.
    pub fn constant(offset: i64) -> Self {
        Shifted { root: None, offset }
    }

    /// Returns a variable.
    pub fn variable(variable: V) -> Self {
        Shifted {
            root: Some(variable),
            offset: 0,
        }
    }

    /// Returns the sum with a number, unless the number that is added overflows.
    pub fn plus(self, number: i64) -> Option<Self> {
        let offset = self.offset.checked_add(number)?;
        Some(Shifted { offset, ..self })
    }
}
