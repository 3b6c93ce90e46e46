//! `novac test`: the `;; test` lines of files, on every target present.

use crate::cli::{Common, TestArguments};
use crate::compare::agree;
use crate::terminal::{End, Outcome, message, print_line};
use nova_core::text::print_value;
use nova_core::{ErrorKind, Value};
use nova_driver::options::TARGETS;
use nova_driver::test_lines::{Expected, Test, test_lines};
use nova_driver::{Checked, Compiler, Failure, Options, Target};
use nova_exec::error::error_kind;
use nova_exec::library::Library;
use nova_exec::{CompileError, InputError};
use std::path::{Path, PathBuf};

/// Runs the tests of files. The worst exit status counts.
pub fn test(common: &Common, arguments: &TestArguments) -> Outcome {
    let mut status = 0;
    for file in &arguments.files {
        let result = test_file(common, file, &arguments.link);
        if let Err(end) = result {
            message(&end.message);
            status = status.max(end.status);
        }
    }
    match status {
        0 => Ok(()),
        status => Err(End::silent(status)),
    }
}

/// The executor of a test.
enum Runner {
    /// The reference interpreter.
    Interpreter,
    /// Code for a target.
    Target(Target, Library),
}

fn test_file(common: &Common, file: &Path, link: &[PathBuf]) -> Outcome {
    let text = std::fs::read(file).map_err(|error| InputError::file(file, &error))?;
    let text = String::from_utf8_lossy(&text);
    let lines = test_lines(&text);
    if lines.is_empty() {
        return print_line(&format!("{}: no tests", file.display()));
    }
    let compiler = Compiler::new(common.options());
    let mut checked = super::check_file(&compiler, file)?;
    let folder = file.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut failures = Vec::new();
    let mut tests = Vec::new();
    for line in &lines {
        match line.read(&checked, &folder) {
            Ok(test) => tests.push(test),
            Err(why) => failures.push(format!("{}:{}: {why}", file.display(), line.number)),
        }
    }
    let (runners, skipped) = runners(common, &mut checked, link)?;
    super::report_passes(common, &checked);
    for test in &tests {
        for runner in &runners {
            if let Err(why) = run_test(&compiler, &checked, runner, test) {
                let name = runner.name();
                failures.push(format!("{}:{}: {name}: {why}", file.display(), test.line));
            }
        }
    }
    let names: Vec<&str> = runners.iter().map(Runner::name).collect();
    let mut summary = format!(
        "{}: {} tests on {}",
        file.display(),
        lines.len(),
        names.join(", ")
    );
    if !skipped.is_empty() {
        summary += &format!("; skipped: {}", skipped.join(", "));
    }
    if failures.is_empty() {
        return print_line(&format!("{summary}; passed"));
    }
    print_line(&format!("{summary}; {} FAILED", failures.len()))?;
    Err(End::failed(failures.join("\n")))
}

/// Returns the executors of the tests, and those that are not available with the reason.
fn runners(
    common: &Common,
    checked: &mut Checked,
    link: &[PathBuf],
) -> Result<(Vec<Runner>, Vec<String>), End> {
    let mut runners = Vec::new();
    let mut skipped = Vec::new();
    let wanted = |target: Target| common.target.is_none_or(|t| t == target);
    if common.target.is_none() {
        match checked.program.foreigns.is_empty() {
            true => runners.push(Runner::Interpreter),
            false => skipped.push("eval (foreign functions)".to_string()),
        }
    }
    for (target, name) in TARGETS.into_iter().filter(|(target, _)| wanted(*target)) {
        if !target.is_supported() {
            skipped.push(format!("{name} (not in this version)"));
            continue;
        }
        if common.target.is_none()
            && let Some(why) = missing_device(target)
        {
            skipped.push(format!("{name} ({why})"));
            continue;
        }
        let compiler = Compiler::new(Options {
            target,
            ..common.options()
        });
        match compiler.load(checked, link) {
            Ok(library) => {
                super::report_loading(&library);
                runners.push(Runner::Target(target, library));
            }
            Err(Failure::Compile(CompileError::NoCompiler { .. })) if common.target.is_none() => {
                skipped.push(format!("{name} (no C compiler)"));
            }
            Err(failure) => return Err(failure.into()),
        }
    }
    Ok((runners, skipped))
}

/// Returns the reason why programs for a target cannot run here, if it needs a device.
fn missing_device(target: Target) -> Option<String> {
    match target.device_compiler() {
        Some(compiler) if !compiler.has_device() => {
            let name = compiler.name;
            Some(format!("no {name} with a GPU on this machine"))
        }
        None if target.has_device() && !nova_exec::devices::has_opencl() => {
            Some("no OpenCL on this machine".to_string())
        }
        Some(_) | None => None,
    }
}

impl Runner {
    fn name(&self) -> &'static str {
        match self {
            Runner::Interpreter => "eval",
            Runner::Target(target, _) => target.name(),
        }
    }

    fn run(&self, compiler: &Compiler, checked: &Checked, test: &Test) -> Result<Value, Failure> {
        match self {
            Runner::Interpreter => compiler.eval(checked, test.entry, &test.inputs),
            Runner::Target(_, library) => Ok(library.call(test.entry, &test.inputs)?),
        }
    }
}

/// Runs a test. The error states the actual result.
fn run_test(
    compiler: &Compiler,
    checked: &Checked,
    runner: &Runner,
    test: &Test,
) -> Result<(), String> {
    let ty = &checked.signatures()[test.entry].result;
    let show = |value: &Value| print_value(value, ty, checked.sums());
    match (runner.run(compiler, checked, test), &test.expected) {
        (Ok(value), Expected::Value(expected)) => {
            match agree(&value, expected, compiler.options().strict) {
                true => Ok(()),
                false => Err(format!("expected {}, got {}", show(expected), show(&value))),
            }
        }
        (Ok(value), Expected::Error(kind)) => Err(format!(
            "expected error {}, got {}",
            kind.info().word,
            show(&value)
        )),
        (Err(failure), Expected::Error(kind)) if kind_of(&failure) == Some(*kind) => Ok(()),
        (Err(failure), Expected::Error(kind)) => Err(format!(
            "expected error {}, got: {failure}",
            kind.info().word
        )),
        (Err(failure), Expected::Value(expected)) => {
            Err(format!("expected {}, got: {failure}", show(expected)))
        }
    }
}

fn kind_of(failure: &Failure) -> Option<ErrorKind> {
    match failure {
        Failure::Run(error) => Some(error.kind),
        Failure::Call(error) => error_kind(error),
        Failure::Program(_)
        | Failure::Internal(_)
        | Failure::Input(_)
        | Failure::Compile(_)
        | Failure::Unsupported(_) => None,
    }
}
