//! `novac explain`: the report on the compilation.

use crate::cli::{Common, ExplainArguments};
use crate::terminal::{End, Outcome, print};
use nova_diag::{Code, pages};
use nova_driver::{Compiler, side_by_side};

/// Prints the report, the schedules on several targets, or the page of an error code.
pub fn explain(common: &Common, arguments: &ExplainArguments) -> Outcome {
    if let Some(code) = arguments.file.to_str().and_then(pages::code_written) {
        return page(code);
    }
    if !arguments.beside.is_empty() {
        return beside(common, arguments);
    }
    let compiler = Compiler::new(common.options());
    let mut checked = super::check_file(&compiler, &arguments.file)?;
    let report = compiler.explain(&mut checked);
    super::report_passes(common, &checked);
    print(&report?)
}

/// Prints the page of a code.
fn page(code: Code) -> Outcome {
    match pages::page(code) {
        Some(page) => print(&format!("{page}\n")),
        None => Err(End::usage(format!("error: no error has the code `{code}`"))),
    }
}

fn beside(common: &Common, arguments: &ExplainArguments) -> Outcome {
    let own = common.options().target;
    let mut schedules = Vec::new();
    for target in std::iter::once(own).chain(arguments.beside.iter().copied()) {
        let options = nova_driver::Options {
            target,
            ..common.options()
        };
        let compiler = Compiler::new(options);
        let mut checked = super::check_file(&compiler, &arguments.file)?;
        let schedule = compiler.schedule(&mut checked);
        super::report_passes(common, &checked);
        schedules.push(schedule?);
    }
    print(&side_by_side(&schedules))
}
