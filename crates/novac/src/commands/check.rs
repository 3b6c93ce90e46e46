//! `novac check`: errors and types.

use crate::cli::{CheckArguments, Common};
use crate::terminal::{End, Outcome, message, print};
use nova_core::types_text::function_text;
use nova_driver::{Checked, Compiler, Failure, Options};
use std::fmt::Write;

/// Checks a program and prints the types of its entries, or its messages as lines of JSON. The file `-` is
/// standard input. A file without an entry is a library.
pub fn check(common: &Common, arguments: &CheckArguments) -> Outcome {
    let compiler = Compiler::new(Options {
        library: true,
        ..common.options()
    });
    let source = super::source(&arguments.file.file)?;
    let mut result = compiler.check(source);
    if let Ok(checked) = &mut result {
        // The loops that one thread runs are known only after the passes of a target.
        let proved = match common.target {
            Some(_) => compiler.prove(checked),
            None => Ok(()),
        };
        super::report_passes(common, checked);
        proved?;
    }
    match (result, arguments.json) {
        (Ok(checked), true) => print(&checked.report.to_json()),
        (Ok(checked), false) => {
            message(&checked.report.to_text());
            print(&types(&checked))
        }
        (Err(Failure::Program(report)), true) => {
            print(&report.to_json())?;
            Err(End::silent(1))
        }
        (Err(failure), _) => Err(failure.into()),
    }
}

/// Returns a line for each entry: `dot : vector float -> vector float -> float`.
fn types(checked: &Checked) -> String {
    let mut text = String::new();
    for signature in checked.signatures() {
        let inputs: Vec<_> = signature.inputs.into_iter().map(|(_, ty)| ty).collect();
        let ty = function_text(&inputs, &signature.result, checked.sums());
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{} : {ty}", signature.name);
    }
    text
}
