//! Relations of the numbers of two elements, and the answers of comparisons for each.

use nova_core::ScalarOperation;

/// The place of nan among the numbers of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nans {
    /// Above or below all other numbers. Integers have it, too.
    Greatest,
    Least,
    /// A comparison with nan does not hold, so that there is no order if there is a nan.
    Unordered,
}

/// A relation of the numbers of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Less,
    Equal,
    Greater,
    LeftNan,
    RightNan,
    BothNan,
}

impl Relation {
    pub(super) const ORDERED: [Relation; 3] = [Relation::Less, Relation::Equal, Relation::Greater];
    pub(super) const DIFFERENT: [Relation; 2] = [Relation::Less, Relation::Greater];
    pub(super) const ALL: [Relation; 6] = [
        Relation::Less,
        Relation::Equal,
        Relation::Greater,
        Relation::LeftNan,
        Relation::RightNan,
        Relation::BothNan,
    ];

    /// Returns how the second number relates to the first one.
    pub(super) fn swapped(self) -> Relation {
        match self {
            Relation::Less => Relation::Greater,
            Relation::Equal => Relation::Equal,
            Relation::Greater => Relation::Less,
            Relation::LeftNan => Relation::RightNan,
            Relation::RightNan => Relation::LeftNan,
            Relation::BothNan => Relation::BothNan,
        }
    }

    /// Returns how the numbers relate if nan is a number at this place.
    pub(super) fn with(self, nans: Nans) -> Relation {
        match (self, nans) {
            (Relation::LeftNan, Nans::Greatest) | (Relation::RightNan, Nans::Least) => {
                Relation::Greater
            }
            (Relation::RightNan, Nans::Greatest) | (Relation::LeftNan, Nans::Least) => {
                Relation::Less
            }
            (Relation::BothNan, Nans::Greatest | Nans::Least) => Relation::Equal,
            (relation, _) => relation,
        }
    }

    /// Returns the answer of a comparison, or `None` if the operation is none.
    pub(super) fn answer(self, operation: ScalarOperation) -> Option<bool> {
        use Relation as R;
        Some(match operation {
            ScalarOperation::Less => self == R::Less,
            ScalarOperation::LessEqual => matches!(self, R::Less | R::Equal),
            ScalarOperation::Greater => self == R::Greater,
            ScalarOperation::GreaterEqual => matches!(self, R::Greater | R::Equal),
            ScalarOperation::Equal => self == R::Equal,
            ScalarOperation::NotEqual => self != R::Equal,
            _no_comparison => return None,
        })
    }
}
