//! Mistakes that the passes make when a test asks for them, so that tests can show that a validator
//! sees each one. The compiler never does.

/// Something that a pass does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Short-circuiting builds an array at the target though it is used after the copy.
    CopyUsedLater,
    /// Short-circuiting does not ask whether the target is in use meanwhile.
    TargetInUse,
    /// Short-circuiting leaves the target's allocation where it is.
    NotHoisted,
    /// Short-circuiting moves the allocation of the target without the computation of its size.
    SizeLeftBehind,
    /// Short-circuiting is one element off.
    WrongOffset,
    /// Short-circuiting puts the elements twice as far apart.
    WrongStride,
    /// Short-circuiting gives gaps to an array that must have none.
    GapsWhereNone,
    /// Short-circuiting moves only the array itself, not the views of it.
    ViewsLeftBehind,
    /// Reuse takes the memory of an array that is used afterwards.
    ReuseUsedLater,
    /// Reuse takes an array for a map that also reads it elsewhere.
    ReuseReadElsewhere,
    /// Reuse does not mind that another variable may hold the same block.
    ReuseHandedOn,
    /// Reuse writes over the state of a loop without `Unique`.
    UniqueDropped,
    /// Reuse takes what the caller owns.
    ReuseBorrowed,
    /// Reuse drops the statement instead of putting its result elsewhere.
    UpdateDropped,
    /// Reuse takes a larger place for a smaller one.
    BlockTooSmall,
    /// Settling does not mind that an array is used after it has flowed on.
    SettledUsedLater,
    /// Settling does not mind that an array is handed on before it is changed.
    SettledHandedOn,
}

/// The mistake that a pass is to make, if any.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mistakes(pub Option<Mistake>);

impl Mistakes {
    /// True if it is to make this one.
    pub fn make(self, mistake: Mistake) -> bool {
        self.0 == Some(mistake)
    }
}
