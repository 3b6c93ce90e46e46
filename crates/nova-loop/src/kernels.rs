//! Analyses of kernels, which passes for devices and emitters share: the memory that a kernel uses, the
//! kind of memory that each of its pointers leads to, and the arrays that it writes.

mod memory;
mod pointers;
mod writes;

pub use memory::{functions_with_memory, tables_in, tables_of_kernels, takes_memory};
pub use pointers::{Types, own_pointers, shared_pointers};
pub use writes::{writing_functions, written};
