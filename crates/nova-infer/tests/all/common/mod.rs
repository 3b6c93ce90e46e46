//! Helpers from sources to expectations.
use nova_core::error::Failure;
use nova_core::interpret::{Options, evaluate};
use nova_core::ir::Program;
use nova_core::text::{print_value, read_value, read_value_prefix};
use nova_diag::{Diagnostic, Severity, SourceMap, render_text};
use nova_infer::{Checked, infer};
use std::cell::RefCell;

/// The results of the reader, the parser and inference for a source.
pub struct Outcome {
    pub sources: SourceMap,
    pub diagnostics: Vec<Diagnostic>,
    pub checked: Checked,
}

impl Outcome {
    /// Returns all messages as users read them.
    pub fn messages(&self) -> String {
        self.diagnostics
            .iter()
            .map(|diagnostic| render_text(&self.sources, diagnostic))
            .collect()
    }

    /// Returns the codes of all errors, in order.
    pub fn errors(&self) -> Vec<u16> {
        let errors = self.diagnostics.iter();
        errors
            .filter(|diagnostic| diagnostic.severity == Severity::Error)
            .map(|diagnostic| diagnostic.code.0)
            .collect()
    }

    /// Returns the codes of all warnings, in order.
    pub fn warnings(&self) -> Vec<u16> {
        let warnings = self.diagnostics.iter();
        warnings
            .filter(|diagnostic| diagnostic.severity == Severity::Warning)
            .map(|diagnostic| diagnostic.code.0)
            .collect()
    }
}

/// Parses and infers a source called `test.nova`.
pub fn check(source: &str) -> Outcome {
    check_named("test", source)
}

/// Parses and infers a source.
pub fn check_named(name: &str, source: &str) -> Outcome {
    let mut sources = SourceMap::new();
    let file = sources.add(format!("{name}.nova"), source);
    let (program, mut diagnostics) = nova_syntax::parse::parse(source, file, &mut sources, name);
    let mut checked = infer(&program, &sources);
    diagnostics.append(&mut checked.diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    Outcome {
        sources,
        diagnostics,
        checked,
    }
}

/// Returns the Core of a source without errors, verified.
pub fn core(source: &str) -> Program {
    let outcome = check(source);
    let messages = outcome.messages();
    let Some(program) = outcome.checked.program else {
        panic!("{source}\n{messages}");
    };
    assert_eq!(
        outcome
            .diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .count(),
        0
    );
    if let Err(error) = nova_core::verify::verify(&program) {
        panic!("{error}\n{}", nova_core::print::print(&program));
    }
    program
}

/// Evaluates a source for inputs `X=[1 2] n=3`. Returns the value as text, or the kind of error
/// when it stops.
pub fn run(source: &str, inputs: &str) -> String {
    run_traced(source, inputs).0
}

/// Does the work of [`run`], and returns the lines that `trace` wrote, too.
pub fn run_traced(source: &str, inputs: &str) -> (String, Vec<String>) {
    run_entry(&core(source), 0, inputs)
}

/// Returns the value of the entry at a position as text, and the lines that `trace` wrote.
pub fn run_entry(program: &Program, index: usize, inputs: &str) -> (String, Vec<String>) {
    let entry = &program.entries[index];
    let mut values = Vec::new();
    let mut rest = inputs.trim();
    for variable in &entry.inputs {
        let info = program.variable(*variable);
        let (name, value) = rest.split_once('=').expect("an input");
        assert_eq!(name.trim(), &*info.name);
        let (value, used) = read_value_prefix(value, &info.ty, &program.sums)
            .map(|(read, used)| (read, rest.len() - value.len() + used))
            .expect("a value");
        values.push(value);
        rest = rest[used..].trim();
    }
    let lines = RefCell::new(Vec::new());
    let trace = |line: &str| lines.borrow_mut().push(line.to_string());
    let options = Options {
        trace: &trace,
        ..Options::default()
    };
    let ty = &program.expression(entry.body).ty;
    let text = match evaluate(program, index, &values, &options) {
        Ok(value) => print_value(&value, ty, &program.sums),
        Err(Failure::Runtime(error)) => format!("error {}", error.kind.info().word),
        Err(Failure::Internal(error)) => panic!("{error}"),
    };
    (text, lines.into_inner())
}

/// Checks that a source gives a value for inputs.
#[track_caller]
pub fn gives(source: &str, inputs: &str, expected: &str) {
    let found = run(source, inputs);
    let program = core(source);
    let ty = &program.expression(program.entries[0].body).ty;
    let expected = match read_value(expected, ty, &program.sums) {
        Ok(value) => print_value(&value, ty, &program.sums),
        Err(_) => expected.to_string(),
    };
    assert_eq!(found, expected, "{source}");
}

/// Checks the type of a source's program.
#[track_caller]
pub fn has_type(source: &str, expected: &str) {
    let outcome = check(source);
    assert_eq!(outcome.errors(), [0u16; 0], "{}", outcome.messages());
    assert_eq!(outcome.checked.types[0].text, expected, "{source}");
}

/// Checks the codes of a source's errors.
#[track_caller]
pub fn fails(source: &str, codes: &[u16]) {
    let outcome = check(source);
    assert_eq!(outcome.errors(), codes, "{source}\n{}", outcome.messages());
    assert!(outcome.checked.program.is_none());
}
