//! The tests of the runtime in C, compiled as C11 and C++17 under sanitizers and run.

mod common;
mod compile;
mod cuda;
mod model;
mod opencl;
mod pthreads;
