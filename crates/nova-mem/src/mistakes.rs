//! Mistakes that the passes make when a test asks for them. Tests use them to show that a validator
//! detects each one. The compiler never makes them.

/// A mistake of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Short-circuiting builds an array at the target though it is used after the copy.
    CopyUsedLater,
    /// Short-circuiting does not test whether the target is in use meanwhile.
    TargetInUse,
    /// Short-circuiting leaves the target's allocation where it is.
    NotHoisted,
    /// Short-circuiting moves the allocation of the target without the computation of its size.
    SizeLeftBehind,
    /// Short-circuiting is one element off.
    WrongOffset,
    /// Short-circuiting doubles the distance between the elements.
    WrongStride,
    /// Short-circuiting gives gaps to an array that must have none.
    GapsWhereNone,
    /// Short-circuiting moves only the array itself, not the views of it.
    ViewsLeftBehind,
    /// Reuse takes the memory of an array that is used afterwards.
    ReuseUsedLater,
    /// Reuse overwrites an array by a map that also reads it elsewhere.
    ReuseReadElsewhere,
    /// Reuse ignores that another variable may hold the same block.
    ReuseHandedOn,
    /// Reuse overwrites the state of a loop without `Unique`.
    UniqueDropped,
    /// Reuse takes memory that the caller owns.
    ReuseBorrowed,
    /// Reuse drops the update instead of moving its result.
    UpdateDropped,
    /// Reuse moves the arrays of a larger block into a smaller one.
    BlockTooSmall,
    /// Settling ignores that an array is used after it has flowed on.
    SettledUsedLater,
    /// Settling ignores that an array is passed on before it is changed.
    SettledHandedOn,
    /// Settling ignores that an array that flows on does not lie at the start of its block.
    SettledElsewhere,
}

/// The mistake that a pass is to make, if any.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mistakes(pub Option<Mistake>);

impl Mistakes {
    /// Tests whether the pass is to make this one.
    pub fn make(self, mistake: Mistake) -> bool {
        self.0 == Some(mistake)
    }
}
