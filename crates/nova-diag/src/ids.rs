//! Typed indices into tables.

/// Declares types whose values name the rows of a table by their index.
///
/// ```
/// nova_diag::ids! {
///     /// Names a function of a program.
///     pub struct FunctionId;
/// }
/// assert_eq!(FunctionId(3).index(), 3);
/// ```
#[macro_export]
macro_rules! ids {
    ($($(#[$attribute:meta])* $visibility:vis struct $name:ident;)*) => {$(
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $visibility struct $name(pub u32);

        impl $name {
            /// Returns the row of its table that it names.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
