//! `novac explain`: what the compiler did.

use crate::cli::{Common, FileArguments};
use crate::terminal::{Outcome, print};
use nova_driver::Compiler;

/// Prints the report.
pub fn explain(common: &Common, arguments: &FileArguments) -> Outcome {
    let compiler = Compiler::new(common.options());
    let mut checked = super::check_file(&compiler, &arguments.file)?;
    let report = compiler.explain(&mut checked);
    super::report_passes(common, &checked);
    print(&report?)
}
