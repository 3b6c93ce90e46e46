//! C as a syntax tree, its printer, and passes from C to C. This crate knows nothing of Loop.
//!
//! [`ast`] is the C that all dialects share, without layout. Names are final: each local variable has a
//! name that is unique in its function, so that passes need no scopes. A tree says what a person would
//! write. Loops over numbers from zero are nodes of their own, also with the hint that iterations are
//! independent or shared among threads. Words of a dialect are prefixes of functions and names of
//! types.
//!
//! [`mod@print`] writes a tree as text with lines of at most 100 columns, with parentheses where C or
//! the warnings of its compilers ask for them. [`passes`] remove variables and parameters that are not
//! read, move declarations to their values, propagate copies, and bound the depth of statements.
//! [`uses`] lists the names that code mentions. [`forward`] makes items of functions. [`verify`]
//! checks what passes rely on.
//!
//! The modules import each other in this order: `ast`, `uses` and `print`, `forward`, `passes`,
//! `verify`.

pub mod ast;
pub mod forward;
pub mod passes;
pub mod print;
pub mod uses;
pub mod verify;
