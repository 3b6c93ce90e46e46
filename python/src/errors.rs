//! Exceptions of failures. Their classes are those of `novac._errors`.

use nova_core::error::ERROR_KINDS;
use nova_driver::{Failure, SourceMap, runtime_error};
use nova_exec::CallError;
use nova_exec::error::{error_kind, split_place};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns the exception of a failure. `sources` are those of the program that failed, if it was compiled.
pub fn exception(py: Python<'_>, failure: &Failure, sources: Option<&SourceMap>) -> PyErr {
    let made = match failure {
        Failure::Program(report) => {
            let text = report.to_text().trim_end().to_string();
            make(py, "compile_error", (text, report.to_json()))
        }
        Failure::Run(error) => {
            let kind = CallError::Failed {
                code: 1,
                message: error.to_string(),
            };
            execution_error(py, &kind, &error.to_string(), 1, sources)
        }
        Failure::Call(
            error @ CallError::Failed {
                code: 1 | 2 | 5,
                message,
            },
        ) => {
            let code = match error {
                CallError::Failed { code, .. } => *code,
                CallError::Arguments(_) | CallError::Contract(_) => 1,
            };
            execution_error(py, error, message, code, sources)
        }
        Failure::Call(CallError::Failed { message, .. }) => {
            return PyValueError::new_err(message.clone());
        }
        Failure::Call(CallError::Arguments(error)) => {
            return PyValueError::new_err(error.to_string());
        }
        Failure::Input(error) => return PyValueError::new_err(error.to_string()),
        Failure::Compile(error) => make(py, "toolchain_error", (error.to_string(),)),
        Failure::Unsupported(message) => make(py, "unsupported_error", (message.clone(),)),
        Failure::Internal(_) | Failure::Call(CallError::Contract(_)) => {
            make(py, "internal_error", (failure.to_string(),))
        }
    };
    made.unwrap_or_else(|error| error)
}

/// Returns the exception for a program that failed while it ran.
fn execution_error(
    py: Python<'_>,
    error: &CallError,
    message: &str,
    code: i32,
    sources: Option<&SourceMap>,
) -> PyResult<PyErr> {
    let kind = error_kind(error);
    let kind = kind.and_then(|kind| ERROR_KINDS.iter().find(|row| row.kind == kind));
    let kind = match (kind, code) {
        (Some(row), _) => row.word,
        (None, 5) => "device",
        (None, _) => "unknown",
    };
    let (place, words) = split_place(message);
    let place = place.map(|place| (place.file.to_string(), place.line, place.column));
    let text = match sources {
        Some(sources) => runtime_error::render(message, sources),
        None => message.to_string(),
    };
    let text = text.trim_start_matches("error: ").trim_end().to_string();
    make(
        py,
        "execution_error",
        (text, words.to_string(), kind, code, place),
    )
}

/// Calls a function of `novac._errors` that returns an exception.
fn make<'py>(
    py: Python<'py>,
    function: &str,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyResult<PyErr> {
    let module = py.import("novac._errors")?;
    let exception = module.getattr(function)?.call1(arguments)?;
    Ok(PyErr::from_value(exception))
}
