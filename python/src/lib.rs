//! The compiler of NOVA for Python. The package `novac` in the folder beside this is what users see; this
//! module compiles programs, and calls their entries with arrays of NumPy in place.
//!
//! - `program` compiles a program and calls its entries;
//! - `form` says how values of each type look in Python;
//! - `arguments` and `results` convert between Python and the memory of a call without copies of arrays;
//!   `values` converts what has no form of its own in C, such as recursive data;
//! - `generated` gives the C of a program and the forms of its values, for packages;
//! - `errors` makes exceptions of failures.

mod arguments;
mod errors;
mod form;
mod generated;
mod program;
mod results;
mod values;

use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The compiler of NOVA.
#[pymodule]
fn _novac(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<program::Program>()?;
    module.add_class::<results::Memory>()?;
    module.add_class::<generated::Generated>()?;
    module.add_function(wrap_pyfunction!(program::compile, module)?)?;
    module.add_function(wrap_pyfunction!(generated::generate, module)?)?;
    Ok(())
}
