//! Analyses of kernels, which passes for devices and emitters share: the memory that a kernel uses, the
//! kind of memory that each of its pointers leads to, the arrays that it writes, and the parts that always fail.

mod failures;
mod memory;
mod pointers;
mod writes;

pub use failures::has_failing_part;
pub use memory::{functions_with_memory, tables_in, tables_of_kernels, takes_memory};
pub use pointers::{Types, own_pointers, shared_pointers};
pub use writes::{writing_functions, written};
