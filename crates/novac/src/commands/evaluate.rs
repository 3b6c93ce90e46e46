//! `novac eval`: the value of a program, from the reference interpreter.

use super::inputs::{choose_entry, read_inputs};
use crate::cli::{Common, EvalArguments};
use crate::terminal::{self, End, print_with};
use nova_core::Type;
use nova_core::text::Style;
use nova_driver::{Checked, Compiler, Failure, runtime_error};
use nova_exec::CallError;
use nova_exec::input::Inputs;
use nova_exec::output::{Outcome, check_output, write_output};

/// Evaluates an entry and prints its value.
pub fn evaluate(common: &Common, arguments: &EvalArguments) -> terminal::Outcome {
    let compiler = Compiler::new(common.options());
    let checked = super::check_file(&compiler, &arguments.file.file)?;
    super::report_passes(common, &checked);
    let (entry, signature) = choose_entry(&checked, arguments.entry.as_deref())?;
    check_destination(&arguments.output, &signature.result)?;
    let inputs = read_inputs(&checked, &signature, &arguments.inputs, Inputs::read)?;
    let value = compiler
        .eval(&checked, entry, &inputs)
        .map_err(|failure| with_source_line(&checked, failure))?;
    let outcome = Outcome::Value(value);
    deliver(arguments, &outcome, &signature.result, &checked)
}

/// Returns the end for a failure. An error of the running program is shown in its source.
pub fn with_source_line(checked: &Checked, failure: Failure) -> End {
    let message = match &failure {
        Failure::Run(error) => error.to_string(),
        Failure::Call(CallError::Failed { message, .. }) => message.clone(),
        _ => return failure.into(),
    };
    End::failed(runtime_error::render(&message, &checked.report.sources))
}

/// Refuses a file that cannot hold the result, before anything runs.
pub fn check_destination(output: &Option<std::path::PathBuf>, ty: &Type) -> terminal::Outcome {
    match output {
        Some(path) => Ok(check_output(path, ty)?),
        None => Ok(()),
    }
}

/// Prints a value, or writes it to a file.
pub fn deliver(
    arguments: &EvalArguments,
    outcome: &Outcome<'_>,
    ty: &Type,
    checked: &Checked,
) -> terminal::Outcome {
    let style = match arguments.text {
        true => Style::Texts,
        false => Style::Numbers,
    };
    let sums = checked.sums();
    match &arguments.output {
        Some(path) => Ok(write_output(path, outcome, ty, sums, style)?),
        None => print_with(|mut out| outcome.write(&mut out, ty, sums, style)),
    }
}
