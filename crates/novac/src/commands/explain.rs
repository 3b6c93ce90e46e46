//! `novac explain`: the report on the compilation.

use crate::cli::{Common, ExplainArguments};
use crate::terminal::{End, Outcome, print};
use nova_diag::pages;
use nova_driver::{Compiler, side_by_side};

/// Prints the report, or the schedules on several targets.
pub fn explain(common: &Common, arguments: &ExplainArguments) -> Outcome {
    if let Some(name) = arguments.file.to_str().filter(|name| is_code(name)) {
        return page(name);
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

/// True if an argument is written like the code of an error, such as `N0203`.
fn is_code(name: &str) -> bool {
    let digits = name.strip_prefix(['N', 'n']).unwrap_or_default();
    digits.len() == 4 && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// Prints the page of a code.
fn page(name: &str) -> Outcome {
    match pages::named(name).and_then(pages::page) {
        Some(page) => print(&format!("{page}\n")),
        None => Err(End::usage(format!("error: no error has the code `{name}`"))),
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
