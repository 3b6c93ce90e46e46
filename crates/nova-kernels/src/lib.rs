//! Passes on Loop that make kernels of devices. Like those of nova-loop-opt, each rewrites a program of Loop and
//! leaves its meaning as it is. nova-driver has the table that says in which order they run.
//!
//! [`kernels::instances`] makes functions for threads of kernels, and [`work_groups`] lowers loops over
//! work-groups. [`kernels`] then decides which loops become kernels ([`obstacles`] lists what keeps one out), and
//! [`call_stack`] gives recursive functions an explicit call stack. [`thread_coarsening`] gives several elements to
//! a thread, [`vectors`] prepares loads and stores of whole vectors, and [`coherence`] marks where the host needs
//! current data.
//!
//! These passes still write programs of Loop, in which a kernel is a loop at the level of a grid. The verifier,
//! the interpreter and the checker of races read them as any other; nova-c writes the kernels.

mod addresses;
pub mod call_stack;
pub mod coherence;
pub mod kernels;
mod limits;
pub mod obstacles;
pub mod thread_coarsening;
pub mod vectors;
pub mod work_groups;
