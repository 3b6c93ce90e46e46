//! `novac check`: errors and types.

use crate::cli::{CheckArguments, Common};
use crate::terminal::{End, Outcome, message, print};
use nova_diag::SourceMap;
use nova_driver::types_text::function_text;
use nova_driver::{Checked, Compiler, Failure, Options, Report, Source};
use nova_exec::InputError;
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

/// Checks a program and prints the types of its entries, or its messages as lines of JSON. The file `-` is
/// standard input. A file without an entry is a library.
pub fn check(common: &Common, arguments: &CheckArguments) -> Outcome {
    let compiler = Compiler::new(Options {
        library: true,
        ..common.options()
    });
    let source = match arguments.file.file.as_os_str() == "-" {
        true => standard_input()?,
        false => Source::File(arguments.file.file.clone()),
    };
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

/// Reads a program from standard input. Its imports are relative to the working folder.
fn standard_input() -> Result<Source, End> {
    let name = "standard input";
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| InputError::file(Path::new(name), &error))?;
    let mut sources = SourceMap::new();
    match nova_syntax::reader::decode_source(&bytes, name, &mut sources) {
        Ok(text) => Ok(Source::text(name, text)),
        Err(diagnostic) => Err(Failure::Program(Box::new(Report {
            sources,
            diagnostics: vec![*diagnostic],
        }))
        .into()),
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
