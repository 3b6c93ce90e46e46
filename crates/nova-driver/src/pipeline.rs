//! The pipeline: all passes from the typed lambda calculus to C, in order.
//!
//! To add a pass, add a row to [`PASSES`]. Every pass is one function of one file elsewhere. Its
//! row has only its name, its purpose, and the level and machines for which it runs.

#[rustfmt::skip]
mod passes;
mod steps;

use crate::code::{Code, Emitted, Generated};
use crate::error::InternalError;
use crate::honoured;
use crate::options::{ForStrategies, Options, Proofs, Stage};
pub use crate::trace::Trace;
use nova_c_ast::ast as c;
use nova_core::ir as core;
use nova_flat::ir as flat;
use nova_loop::ir as commands;
use nova_machine::Machine;
use nova_race::Unproved;
pub use passes::PASSES;
use passes::{HONOUR, KERNELS, PARALLEL_REGIONS, PARALLELISE, PROFILE};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;
pub(crate) use steps::counting;

/// A pass of the pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name: `--no-NAME`, `--dump-after NAME`.
    pub name: &'static str,
    /// Its effect, as the end of a sentence that starts with its name.
    pub description: &'static str,
    /// The level of optimisation from which it runs. A program also compiles without it. `None` for
    /// passes that a program needs.
    pub level: Option<u8>,
    /// The machines for which it runs.
    on: On,
    /// Its function.
    step: Step,
}

/// The function of a pass, by the stages it leads from and to.
#[derive(Clone, Copy, Debug)]
enum Step {
    CoreToFlat(fn(&core::Program) -> Result<flat::Program, String>),
    Flat(fn(&mut flat::Program)),
    FlatToFlat(fn(&mut flat::Program) -> Result<(), String>),
    /// Its notes are recorded in the trace.
    FlatNoted(fn(&mut flat::Program) -> Vec<nova_opt::tables::Note>),
    FlatFor(fn(&mut flat::Program, &Options)),
    FlatToMem(fn(&flat::Program, &Options) -> flat::Program),
    Mem(fn(&mut flat::Program)),
    MemFor(fn(&mut flat::Program, &Options)),
    MemToLoop(fn(&flat::Program, &Options) -> Result<commands::Program, String>),
    Loop(fn(&mut commands::Program)),
    /// Loops get their proofs (witnesses). Those without one are recorded in the trace.
    Settle,
    LoopToC(fn(&commands::Program, &str, &Options) -> nova_c::Emission),
    C(fn(&mut c::Program)),
    /// The program's name is an input.
    CNamed(fn(&mut c::Program, &str)),
    CToFiles(fn(nova_c::Emission) -> nova_c::Files),
}

/// The machines that a pass is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    Any,
    Processor,
    Device,
}

impl On {
    fn includes(self, machine: Machine) -> bool {
        match self {
            On::Any => true,
            On::Processor => machine == Machine::Processor,
            On::Device => machine == Machine::Device,
        }
    }
}

impl Pass {
    /// True if the program also compiles without it.
    pub fn is_optional(&self) -> bool {
        self.level.is_some()
    }

    /// Returns the stage of its result.
    pub fn stage(&self) -> Stage {
        match self.step {
            Step::CoreToFlat(_)
            | Step::Flat(_)
            | Step::FlatToFlat(_)
            | Step::FlatFor(_)
            | Step::FlatNoted(_) => Stage::Flat,
            Step::FlatToMem(_) | Step::Mem(_) | Step::MemFor(_) => Stage::Mem,
            Step::MemToLoop(_) | Step::Loop(_) | Step::Settle => Stage::Loop,
            Step::LoopToC(_) | Step::C(_) | Step::CNamed(_) | Step::CToFiles(_) => Stage::C,
        }
    }

    fn run(
        &self,
        code: Code,
        name: &str,
        options: &Options,
        trace: &mut Trace,
    ) -> Result<Code, String> {
        match (self.step, code) {
            (Step::CoreToFlat(run), Code::Core(program)) => run(&program).map(Code::Flat),
            (Step::Flat(run), Code::Flat(mut program)) => {
                run(&mut program);
                Ok(Code::Flat(program))
            }
            (Step::FlatToFlat(run), Code::Flat(mut program)) => {
                run(&mut program).map(|()| Code::Flat(program))
            }
            (Step::FlatNoted(run), Code::Flat(mut program)) => {
                trace.tables = run(&mut program);
                Ok(Code::Flat(program))
            }
            (Step::FlatFor(run), Code::Flat(mut program)) => {
                run(&mut program, options);
                Ok(Code::Flat(program))
            }
            (Step::FlatToMem(run), Code::Flat(program)) => Ok(Code::Mem(run(&program, options))),
            (Step::Mem(run), Code::Mem(mut program)) => {
                run(&mut program);
                Ok(Code::Mem(program))
            }
            (Step::MemFor(run), Code::Mem(mut program)) => {
                run(&mut program, options);
                Ok(Code::Mem(program))
            }
            (Step::MemToLoop(run), Code::Mem(program)) => run(&program, options).map(Code::Loop),
            (Step::Loop(run), Code::Loop(mut program)) => {
                run(&mut program);
                Ok(Code::Loop(program))
            }
            (Step::Settle, Code::Loop(mut program)) => {
                trace.open = settle(&mut program, options);
                Ok(Code::Loop(program))
            }
            (Step::LoopToC(run), Code::Loop(program)) => Ok(Code::C(Box::new(Emitted {
                emission: run(&program, name, options),
                program,
            }))),
            (Step::C(run), Code::C(mut emitted)) => {
                run(&mut emitted.emission.program);
                Ok(Code::C(emitted))
            }
            (Step::CNamed(run), Code::C(mut emitted)) => {
                run(&mut emitted.emission.program, name);
                Ok(Code::C(emitted))
            }
            (Step::CToFiles(run), Code::C(emitted)) => Ok(Code::Files(Box::new(Generated {
                files: run(emitted.emission),
                program: emitted.program,
            }))),
            (_, code) => Err(format!("it cannot run on the stage {}", code.stage())),
        }
    }
}

/// Proves that loops are free of races, as far as the options demand proofs.
fn settle(program: &mut commands::Program, options: &Options) -> Vec<Unproved> {
    // A race check must see the loops that have no proof.
    let proofs = match options.check_races {
        true => Proofs::Ignored,
        false => options.proofs,
    };
    match proofs {
        Proofs::Needed => nova_race::settle(program, &|_| true),
        Proofs::Refused => nova_race::settle(program, &|_| false),
        Proofs::RefusedIn(line) => nova_race::settle(program, &|place| place.line != line),
        Proofs::Ignored => Vec::new(),
    }
}

/// Returns the passes that may be left out, each once.
pub fn optional_passes() -> Vec<&'static Pass> {
    let mut passes: Vec<&Pass> = Vec::new();
    for pass in PASSES {
        if pass.is_optional() && passes.iter().all(|known| known.name != pass.name) {
            passes.push(pass);
        }
    }
    passes
}

/// True if a pass runs under these options.
pub fn is_enabled(pass: &Pass, options: &Options) -> bool {
    if !pass.on.includes(options.target.machine()) {
        return false;
    }
    if pass.name == PROFILE && !options.profile {
        return false;
    }
    let Some(level) = pass.level else {
        return true;
    };
    // These passes make the sizes of arrays inside work-groups known before the group starts.
    let finds_sizes = level <= 2 && pass.stage() == Stage::Flat && pass.name != PARALLELISE;
    let asked = options.for_strategies >= ForStrategies::Passes && finds_sizes;
    (options.optimization >= level || asked) && !options.disabled.contains(pass.name)
}

/// Runs the passes that lead to a stage; `name` is the name of the generated files.
///
/// A pass that fails or panics is an error of the compiler that names the pass. Under
/// [`Options::verify`], so is a pass whose result the verifier refuses, or whose program of Mem
/// does not erase to the program of Flat that it came from.
pub fn run(
    code: Code,
    name: &str,
    until: Stage,
    options: &Options,
    trace: &mut Trace,
) -> Result<Code, InternalError> {
    let enabled = PASSES.iter().filter(|pass| is_enabled(pass, options));
    let passes = enabled.take_while(|pass| pass.stage() <= until);
    run_each(passes, code, name, options, trace)
}

/// Runs the passes that decide how strategies are honoured, and those before them. Their findings
/// are in the trace.
///
/// # Errors
/// Those of [`run`].
pub fn run_for_strategies(
    code: Code,
    name: &str,
    options: &Options,
) -> Result<Trace, InternalError> {
    let mut trace = Trace::default();
    let last = PASSES.iter().rposition(|pass| decides(pass.name));
    let passes = PASSES.iter().take(last.map_or(0, |last| last + 1));
    let enabled = passes.filter(|pass| is_enabled(pass, options));
    run_each(enabled, code, name, options, &mut trace)?;
    Ok(trace)
}

fn run_each(
    passes: impl Iterator<Item = &'static Pass>,
    mut code: Code,
    name: &str,
    options: &Options,
    trace: &mut Trace,
) -> Result<Code, InternalError> {
    // The text to which the program of Mem must erase.
    let mut erased = None;
    for pass in passes {
        if let (Code::Flat(flat), Stage::Mem, true) = (&code, pass.stage(), options.verify) {
            erased = Some(guard(pass.name, || Ok(nova_mem::erased_text(flat)))?);
        }
        let start = Instant::now();
        code = guard(pass.name, || pass.run(code, name, options, trace))?;
        trace.times.push((pass.name, start.elapsed()));
        follow_strategies(pass.name, &code, options, trace);
        after(pass.name, &code, options, trace)?;
        if let (Code::Mem(program), Some(erased)) = (&code, &erased) {
            guard(pass.name, || nova_mem::keeps_meaning(program, erased))?;
        }
    }
    Ok(code)
}

/// True for the passes after which the effect of strategies on loops is known.
fn decides(pass: &str) -> bool {
    matches!(pass, PARALLEL_REGIONS | KERNELS)
}

/// Records the operations that carry strategies, before the compiler gives its own to others. After
/// the passes that decide about loops, records the loops that do not run as these strategies
/// demand.
fn follow_strategies(pass: &str, code: &Code, options: &Options, trace: &mut Trace) {
    match (pass, code) {
        (HONOUR, Code::Flat(program)) if options.parallelism().is_some() => {
            trace.asked = honoured::asked(program);
        }
        (pass, Code::Loop(program)) if decides(pass) => {
            let machine = options.target.machine();
            trace.dropped = honoured::dropped(program, &trace.asked, machine);
            trace.stranded = honoured::stranded(program, machine);
        }
        (_, _) => {}
    }
}

/// Runs the passes before the first one with this name, and records nothing about them.
///
/// # Errors
/// A pass that fails or panics.
pub fn run_before(
    pass: &str,
    mut code: Code,
    name: &str,
    options: &Options,
) -> Result<Code, InternalError> {
    let before = PASSES.iter().take_while(|known| known.name != pass);
    let mut trace = Trace::default();
    for pass in before.filter(|known| is_enabled(known, options)) {
        code = guard(pass.name, || pass.run(code, name, options, &mut trace))?;
    }
    Ok(code)
}

/// Runs the passes from Flat to Flat that these options enable, without the rest of the pipeline,
/// calling `check` with the name and the program after each.
///
/// # Errors
/// The first that `check` gives.
pub fn optimise(
    program: &mut flat::Program,
    options: &Options,
    mut check: impl FnMut(&'static str, &flat::Program) -> Result<(), String>,
) -> Result<(), String> {
    for pass in PASSES.iter().filter(|pass| is_enabled(pass, options)) {
        match pass.step {
            Step::Flat(run) => run(program),
            Step::FlatToFlat(run) => run(program)?,
            Step::FlatFor(run) => run(program, options),
            Step::FlatNoted(run) => drop(run(program)),
            _other_stages => continue,
        }
        check(pass.name, program)?;
    }
    Ok(())
}

/// Introduces memory and runs the passes on Mem that these options enable, calling `check` with the
/// name and the program after each.
///
/// # Errors
/// The first that `check` gives.
pub fn place(
    program: &flat::Program,
    options: &Options,
    mut check: impl FnMut(&'static str, &flat::Program) -> Result<(), String>,
) -> Result<flat::Program, String> {
    let mut mem = program.clone();
    for pass in PASSES.iter().filter(|pass| is_enabled(pass, options)) {
        match pass.step {
            Step::FlatToMem(run) => mem = run(&mem, options),
            Step::Mem(run) => run(&mut mem),
            Step::MemFor(run) => run(&mut mem, options),
            _other_stages => continue,
        }
        check(pass.name, &mem)?;
    }
    Ok(mem)
}

/// Turns Mem into commands and runs the passes on commands that these options enable, calling `check`
/// with the name and the program after each.
///
/// # Errors
/// The first that the translation or `check` gives.
pub fn command(
    program: &flat::Program,
    options: &Options,
    mut check: impl FnMut(&'static str, &commands::Program) -> Result<(), String>,
) -> Result<commands::Program, String> {
    let mut result = commands::Program::default();
    for pass in PASSES.iter().filter(|pass| is_enabled(pass, options)) {
        match pass.step {
            Step::MemToLoop(run) => result = run(program, options)?,
            Step::Loop(run) => run(&mut result),
            Step::Settle => {
                settle(&mut result, options);
            }
            _other_stages => continue,
        }
        check(pass.name, &result)?;
    }
    Ok(result)
}

/// Writes a program of Loop as C, with the passes on C that these options enable; `name` is the
/// name of the files.
///
/// # Errors
/// Those of [`run`].
pub fn write(
    program: &commands::Program,
    name: &str,
    options: &Options,
) -> Result<nova_c::Files, InternalError> {
    let passes = PASSES.iter().filter(|pass| pass.stage() == Stage::C);
    let passes = passes.filter(|pass| is_enabled(pass, options));
    let code = Code::Loop(program.clone());
    let code = run_each(passes, code, name, options, &mut Trace::default())?;
    guard("print", || {
        code.into_files().map(|generated| generated.files)
    })
}

/// Does the work after every pass: dumps and verifies the program.
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

/// The name of type inference where passes are named.
pub const INFER: &str = "infer";

/// Returns the names that `--dump-after` takes. For a pass that runs several times, the dump
/// follows its last run.
pub fn dumpable() -> Vec<&'static str> {
    let mut names = vec![INFER];
    for pass in PASSES {
        if !names.contains(&pass.name) {
            names.push(pass.name);
        }
    }
    names
}

/// Runs a part of the compiler. Its failures and panics become errors that name the pass.
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

/// Returns the message of a panic.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| text.to_string())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "it panicked".to_string())
}
