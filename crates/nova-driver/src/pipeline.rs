//! The list of passes: the whole way from the typed lambda calculus to C, in order.
//!
//! To add a pass, add a row to [`PASSES`]. Every pass is one function of one file elsewhere; here
//! stands only what it is called, what it is for, and whether it may be left out.

use crate::code::Code;
use crate::error::InternalError;
use crate::options::{Options, Stage};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// A pass of the pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name: `--no-NAME`, `--dump-after NAME`.
    pub name: &'static str,
    /// What it does, as the end of a sentence that starts with its name.
    pub description: &'static str,
    /// Whether the program also compiles without it.
    pub optional: bool,
    /// The stage its result is in.
    pub stage: Stage,
    /// Its function.
    run: fn(Code, &Options) -> Result<Code, String>,
}

/// All passes, in the order in which they run.
pub const PASSES: &[Pass] = &[];

/// What happened in a run of the pipeline.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The passes that ran, with the time each took.
    pub times: Vec<(&'static str, Duration)>,
    /// The program as text after the pass that was asked for.
    pub dump: Option<String>,
}

impl Trace {
    /// The times as a table for people.
    pub fn times_text(&self) -> String {
        let total: Duration = self.times.iter().map(|(_, time)| *time).sum();
        let rows = self.times.iter().copied().chain([("total", total)]);
        rows.map(|(name, time)| format!("{:>12.6} s  {name}\n", time.as_secs_f64()))
            .collect()
    }
}

/// Whether a pass runs under these options.
pub fn is_enabled(pass: &Pass, options: &Options) -> bool {
    !pass.optional || (options.optimization > 0 && !options.disabled.contains(pass.name))
}

/// Runs the passes that lead to a stage.
///
/// A pass that fails, panics, or leaves a program that the verifier refuses (under
/// [`Options::verify`]) is an error of the compiler that names it.
pub fn run(
    mut code: Code,
    until: Stage,
    options: &Options,
    trace: &mut Trace,
) -> Result<Code, InternalError> {
    let enabled = PASSES.iter().filter(|pass| is_enabled(pass, options));
    for pass in enabled.take_while(|pass| pass.stage <= until) {
        let start = Instant::now();
        code = guard(pass.name, || (pass.run)(code, options))?;
        trace.times.push((pass.name, start.elapsed()));
        after(pass.name, &code, options, trace)?;
    }
    Ok(code)
}

/// What is done after every pass: dump, verify.
pub fn after(
    pass: &str,
    code: &Code,
    options: &Options,
    trace: &mut Trace,
) -> Result<(), InternalError> {
    if options.dump_after.as_deref() == Some(pass) {
        trace.dump = Some(guard(pass, || Ok(code.print()))?);
    }
    if options.verify {
        let verify = || {
            code.verify()
                .map_err(|e| format!("its result is not valid: {e}"))
        };
        guard(pass, verify)?;
    }
    Ok(())
}

/// The name of inference where passes are named.
pub const INFER: &str = "infer";

/// The names that `--dump-after` takes.
pub fn dumpable() -> Vec<&'static str> {
    let passes = PASSES.iter().map(|pass| pass.name);
    [INFER].into_iter().chain(passes).collect()
}

/// Runs a part of the compiler; its failures and panics become errors that name the pass.
pub fn guard<R>(pass: &str, body: impl FnOnce() -> Result<R, String>) -> Result<R, InternalError> {
    let error = |message| InternalError {
        pass: pass.to_string(),
        message,
    };
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result.map_err(error),
        Err(panic) => Err(error(panic_message(&*panic))),
    }
}

/// What a panic said.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| text.to_string())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "it panicked".to_string())
}
