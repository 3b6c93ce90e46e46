//! `novac explain`: what the compiler did.

use crate::cli::{Common, ExplainArguments};
use crate::terminal::{Outcome, print};
use nova_driver::{Compiler, side_by_side};

/// Prints the report, or the schedules on several targets.
pub fn explain(common: &Common, arguments: &ExplainArguments) -> Outcome {
    if !arguments.beside.is_empty() {
        return beside(common, arguments);
    }
    let compiler = Compiler::new(common.options());
    let mut checked = super::check_file(&compiler, &arguments.file.file)?;
    let report = compiler.explain(&mut checked);
    super::report_passes(common, &checked);
    print(&report?)
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
        let mut checked = super::check_file(&compiler, &arguments.file.file)?;
        let schedule = compiler.schedule(&mut checked);
        super::report_passes(common, &checked);
        schedules.push(schedule?);
    }
    print(&side_by_side(&schedules))
}
