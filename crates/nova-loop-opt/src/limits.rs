//! Limits of the passes: how far they search, and how much code they copy or compute in vain. They are no
//! figures of a machine ([`nova_machine`]).

/// The maximum number of iterations of `tidy`. What is left after them is unused but harmless.
pub(crate) const TIDY_ITERATIONS: usize = 8;

/// The maximum number of nested definitions that are followed to find the range of a number.
pub(crate) const NESTED_DEFINITIONS: u32 = 16;

/// The maximum number of elements of a temporary array on the stack.
pub(crate) const ELEMENTS_OF_A_TEMPORARY: i64 = 1024;

/// The maximum number of bytes of a temporary array on the stack, of the host or of a thread of a device.
pub(crate) const BYTES_OF_A_TEMPORARY: i64 = 8192;

/// The maximum number of bytes of all temporary arrays on the stack of a function.
pub(crate) const BYTES_OF_TEMPORARIES: i64 = 1 << 15;

/// The maximum number of bytes of the local arrays of a loop that is taken in lockstep.
pub(crate) const BYTES_OF_LANES: i64 = 1 << 15;

/// The maximum number of comparisons in the condition that a nest is empty. A longer condition costs more
/// than it saves.
pub(crate) const COMPARISONS_OF_A_CONDITION: usize = 4;

/// The maximum number of facts that are kept until a loop is known to run.
pub(crate) const GUARDED_FACTS: usize = 64;

/// The maximum number of iterations that are split off at each end of a loop.
pub(crate) const SPLIT_ITERATIONS: i64 = 2;

/// The maximum number of nodes of a body that is copied where a loop is split.
pub(crate) const NODES_OF_A_SPLIT_BODY: usize = 800;

/// The maximum number of nodes of a side of `and` or `or` that is computed where it may not be needed.
pub(crate) const NODES_OF_A_SIDE: usize = 20;

/// The maximum number of nodes that are computed where a branch would have skipped them.
pub(crate) const NODES_OF_A_BRANCH: usize = 60;

/// The maximum number of nodes of a condition under which a fold selects.
pub(crate) const NODES_OF_A_SELECTION: usize = 200;

/// The maximum number of nodes of an address that strip-mining looks at.
pub(crate) const NODES_OF_AN_ADDRESS: usize = 40;

/// The maximum number of nodes of an expression that unroll-and-jam makes a polynomial of.
pub(crate) const NODES_OF_A_FORM: usize = 80;

/// The maximum number of terms of a product that is expanded.
pub(crate) const TERMS_OF_A_PRODUCT: usize = 16;

/// The maximum number of elements of a row that are written beside the inner loop.
pub(crate) const ELEMENTS_BESIDE: i64 = 64;

/// The maximum number of commands of a body that is worked on in strips.
pub(crate) const COMMANDS_OF_A_BODY: usize = 100;

/// The maximum number of fields of a structure that is written with non-temporal stores.
pub(crate) const FIELDS_OF_A_STRUCTURE: u32 = 8;

/// The maximum number of recurrences of a loop with prefix scans.
pub(crate) const RECURRENCES_OF_A_LOOP: usize = 4;

/// The maximum number of stages of a loop with prefix scans.
pub(crate) const STAGES_OF_A_LOOP: usize = 4;

/// The most names of conditions in conditions that are followed to find what they say.
pub(crate) const NAMES_FOLLOWED: usize = 6;
