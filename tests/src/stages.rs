//! A program at every stage of the compiler, and its value at each.

use crate::defects::{self, Defect};
pub use crate::passes::Passes;
use nova_c::Dialect;
use nova_c::names::LOADED_PREFIX;
use nova_core::error::{ERROR_KINDS, Failure};
use nova_core::interpret::Options as Evaluation;
use nova_core::{RuntimeError, Value};
use nova_diag::{Severity, SourceMap};
use nova_driver::pipeline::{command, optimise, place, write};
use nova_driver::{Options, Source, Target, foreign_symbols, interfaces};
use nova_exec::cache::Cache;
use nova_exec::error::{CallError, split_place};
use nova_exec::library::{Generated, Library};
use nova_exec::toolchain::CompilerOptions;
use nova_expand::TileSizes;
use nova_loop::interpret::{GridOrder, evaluate_grids};
use nova_loop::ir::{Command, Level};
use nova_loop::walk::each_command;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// A program at every stage.
pub struct Stages {
    /// Typed lambda calculus.
    pub core: Arc<nova_core::ir::Program>,
    /// First-order arrays, as lowered, after the optimiser's passes, and with memory.
    pub lowered: nova_flat::ir::Program,
    pub flat: nova_flat::ir::Program,
    pub mem: nova_flat::ir::Program,
    /// Commands.
    pub imperative: nova_loop::ir::Program,
    /// The options that it was compiled with, and is written as C with.
    options: Options,
    /// True if a bug is seeded in one of these and changes it.
    seeded: bool,
    /// A bug that is seeded in the C.
    rewrite: Option<fn(&str) -> String>,
}

/// The outcome of running a program at one stage.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A value.
    Value(Value),
    /// A run-time error of the program.
    Error(RuntimeError),
    /// An error of the compiler.
    Internal(String),
}

impl Outcome {
    /// True if both are the same to the bit: value, or kind, arguments and place of the error.
    pub fn same(&self, other: &Outcome) -> bool {
        match (self, other) {
            (Outcome::Value(a), Outcome::Value(b)) => a.same(b),
            (Outcome::Error(a), Outcome::Error(b)) => a == b,
            (Outcome::Internal(_), _)
            | (_, Outcome::Internal(_))
            | (Outcome::Value(_), Outcome::Error(_))
            | (Outcome::Error(_), Outcome::Value(_)) => false,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Value(value) => {
                let text = format!("{value:?}");
                write!(f, "{}", text.chars().take(400).collect::<String>())
            }
            Outcome::Error(error) => write!(f, "error {}: {error}", error.kind.info().word),
            Outcome::Internal(message) => write!(f, "INTERNAL {message}"),
        }
    }
}

/// The options of a comparison.
#[derive(Clone, Copy)]
pub struct How<'a> {
    /// `--fp strict`.
    pub strict: bool,
    /// The optional passes that run.
    pub passes: Passes,
    /// True if every stage is verified.
    pub verify: bool,
    /// A bug to seed.
    pub defect: Option<&'a Defect>,
    /// The sizes of tiles.
    pub tiles: TileSizes,
}

impl How<'_> {
    /// Returns the options of a comparison to the bit under some passes, with every verifier on.
    pub fn strict(passes: Passes) -> Self {
        How {
            strict: true,
            passes,
            verify: true,
            defect: None,
            tiles: SMALL_TILES,
        }
    }
}

/// Tiles so small that the arrays of random programs fill them.
pub const SMALL_TILES: TileSizes = TileSizes {
    accumulators: 16,
    step_accumulators: 32,
    panel_accumulators: 48,
    panel_lanes: 3,
    steps: 4,
    rows: 8,
    contracted_groups: [2, 2],
    contracted_tiles: [2, 2],
    stored: 3,
    line: 8,
    lanes: 4,
    radix_keys: 4,
};

impl Stages {
    /// Compiles source text. The error says which stage refused it and why.
    pub fn compile(name: &str, text: &str, how: How) -> Result<Stages, String> {
        let core = check(name, text)?;
        guard("compile", || Self::from_core(core, how)).and_then(|r| r)
    }

    fn from_core(core: nova_core::ir::Program, how: How) -> Result<Stages, String> {
        let verify = how.verify && how.defect.is_none();
        if verify {
            nova_core::verify::verify(&core).map_err(|e| format!("verify core: {e}"))?;
        }
        let lowered = nova_lower::lower(&core).map_err(|e| format!("lower: {e}"))?;
        Self::from_flat(core, lowered, how)
    }

    /// Compiles the text of Flat. The program has no Core.
    pub fn compile_flat(name: &str, text: &str, how: How) -> Result<Stages, String> {
        let mut sources = SourceMap::new();
        let file = sources.add(name, text);
        let lowered = nova_flat::parse::parse(text, file).map_err(|e| format!("{e:?}"))?;
        let none = nova_core::ir::Program::default();
        guard("compile", || Self::from_flat(none, lowered, how)).and_then(|r| r)
    }

    fn from_flat(
        core: nova_core::ir::Program,
        mut lowered: nova_flat::ir::Program,
        how: How,
    ) -> Result<Stages, String> {
        let verify = how.verify && how.defect.is_none();
        let options = Options {
            strict: how.strict,
            tiles: how.tiles,
            prefix: LOADED_PREFIX.to_string(),
            verify,
            ..how.passes.options()
        };
        let mut seeded = how
            .defect
            .is_some_and(|defect| defects::seed_flat(&mut lowered, defect));
        if verify {
            nova_flat::verify::verify(&lowered).map_err(|e| format!("verify flat: {e}"))?;
        }
        let mut flat = lowered.clone();
        optimise(&mut flat, &options, |pass, flat| match verify {
            true => nova_flat::verify::verify(flat)
                .map_err(|e| format!("verify flat after {pass}: {e}")),
            false => Ok(()),
        })?;
        if let Some(defect) = how.defect {
            seeded |= defects::seed_nodes(&mut flat, defect);
        }
        let erased = verify.then(|| nova_mem::erased_text(&flat));
        let mut mem = place(&flat, &options, |pass, mem| {
            let Some(erased) = &erased else {
                return Ok(());
            };
            nova_mem::verify(mem).map_err(|e| format!("verify mem after {pass}: {e}"))?;
            nova_mem::keeps_meaning(mem, erased).map_err(|e| format!("{pass}: {e}"))
        })?;
        if let Some(defect) = how.defect {
            seeded |= defects::seed_mem(&mut mem, defect);
        }
        let mut imperative = command(&mem, &options, |pass, program| {
            if !verify {
                return Ok(());
            }
            nova_loop::verify(program).map_err(|errors| {
                let errors: Vec<String> = errors.iter().map(|e| e.to_string()).collect();
                format!("verify loop after {pass}: {}", errors.join("; "))
            })
        })?;
        if let Some(defect) = how.defect {
            seeded |= defects::seed_loop(&mut imperative, defect);
        }
        Ok(Stages {
            core: Arc::new(core),
            lowered,
            flat,
            mem,
            imperative,
            options,
            seeded,
            rewrite: how.defect.and_then(Defect::of_text),
        })
    }

    /// Returns the C of a program, rewritten.
    fn emit(
        &self,
        name: &str,
        rewrite: Option<fn(&str) -> String>,
    ) -> Result<nova_c::Files, String> {
        let files = write(&self.imperative, name, &self.options);
        let mut files = files.map_err(|error| error.to_string())?;
        if let Some(rewrite) = rewrite {
            files.source = rewrite(&files.source);
        }
        // Small programs reclaim nodes, too.
        files.source.insert_str(0, "#define NOVA_FIRST_RECLAIM 1\n");
        Ok(files)
    }

    /// True if a bug is seeded and changes the program.
    pub fn is_seeded(&self) -> bool {
        let Some(rewrite) = self.rewrite else {
            return self.seeded;
        };
        let emitted = self.emit("seeded", None);
        emitted.is_ok_and(|files| rewrite(&files.source) != files.source)
    }

    /// Returns the program with C that traces races, which runs on the processor whatever the
    /// target is.
    pub fn traced(self) -> Stages {
        let options = Options {
            check_races: true,
            ..self.options
        };
        Stages { options, ..self }
    }

    /// Returns the outcome in the reference interpreter.
    pub fn reference(&self, entry: usize, inputs: &[Value]) -> Outcome {
        reference(&self.core, entry, inputs, self.options.strict)
    }

    /// Returns the outcome in the reference interpreter, if it comes within this time. Otherwise
    /// its thread goes on until the process ends.
    pub fn reference_within(
        &self,
        limit: Duration,
        entry: usize,
        inputs: &[Value],
    ) -> Option<Outcome> {
        let (core, inputs, strict) = (self.core.clone(), inputs.to_vec(), self.options.strict);
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || send.send(reference(&core, entry, &inputs, strict)));
        receive.recv_timeout(limit).ok()
    }

    /// Returns the plan by which it was compiled.
    pub fn plan(&self) -> &nova_driver::plan::Plan {
        &self.options.plan
    }

    /// Returns the outcome of the commands alone.
    pub fn evaluate_loop(&self, entry: usize, inputs: &[Value]) -> Outcome {
        let options = Evaluation {
            strict: self.options.strict,
            trace: &|_| {},
            ..Evaluation::default()
        };
        let loops = &self.imperative;
        let run = || {
            Outcome::from(nova_loop::interpret::evaluate(
                loops, entry, inputs, &options,
            ))
        };
        guard("run", run).unwrap_or_else(Outcome::Internal)
    }

    /// Returns the outcome at every interpreted stage, the reference first.
    pub fn evaluate(&self, entry: usize, inputs: &[Value]) -> Vec<(&'static str, Outcome)> {
        let mut outcomes = vec![(REFERENCE, self.reference(entry, inputs))];
        outcomes.extend(self.evaluate_compiled(entry, inputs));
        outcomes
    }

    /// Returns the outcome at every interpreted stage after the reference.
    pub fn evaluate_compiled(
        &self,
        entry: usize,
        inputs: &[Value],
    ) -> Vec<(&'static str, Outcome)> {
        let options = Evaluation {
            strict: self.options.strict,
            trace: &|_| {},
            ..Evaluation::default()
        };
        let run = |evaluate: &dyn Fn() -> Outcome| {
            guard("run", evaluate).unwrap_or_else(Outcome::Internal)
        };
        let mut outcomes = vec![
            (
                "lowered",
                run(&|| {
                    Outcome::from(nova_flat::interpret::evaluate(
                        &self.lowered,
                        entry,
                        inputs,
                        &options,
                    ))
                }),
            ),
            (
                "flat",
                run(&|| {
                    Outcome::from(nova_flat::interpret::evaluate(
                        &self.flat, entry, inputs, &options,
                    ))
                }),
            ),
            (
                "mem",
                run(&|| {
                    Outcome::from(nova_mem::interpret::evaluate(
                        &self.mem, entry, inputs, &options,
                    ))
                }),
            ),
            ("loop", self.evaluate_loop(entry, inputs)),
        ];
        for &(stage, order) in self.other_orders() {
            let loops = &self.imperative;
            let evaluate = || Outcome::from(evaluate_grids(loops, entry, inputs, &options, order));
            outcomes.push((stage, run(&evaluate)));
        }
        outcomes
    }

    /// Returns the orders of the chunks of grids that are tried in addition to the ascending one,
    /// if there are grids.
    fn other_orders(&self) -> &'static [(&'static str, GridOrder)] {
        let mut grids = false;
        for function in &self.imperative.functions {
            each_command(&function.body, |command| {
                grids |= matches!(
                    command,
                    Command::For {
                        level: Level::Grid,
                        ..
                    }
                );
            });
        }
        if grids { OTHER_ORDERS } else { &[] }
    }
}

/// The name of outcomes of the reference interpreter.
pub const REFERENCE: &str = "core";

fn reference(
    core: &nova_core::ir::Program,
    entry: usize,
    inputs: &[Value],
    strict: bool,
) -> Outcome {
    let options = Evaluation {
        strict,
        trace: &|_| {},
        ..Evaluation::default()
    };
    let run = || {
        Outcome::from(nova_core::interpret::evaluate(
            core, entry, inputs, &options,
        ))
    };
    guard("run", run).unwrap_or_else(Outcome::Internal)
}

/// Other orders of the chunks of grids, by the names of their outcomes.
const OTHER_ORDERS: &[(&str, GridOrder)] = &[
    ("loop, parts falling", GridOrder::Falling),
    ("loop, parts shuffled", GridOrder::Shuffled(12_345)),
];

/// The name of outcomes of kernels, whose threads run in no particular order.
const KERNELS: &str = "kernels";

/// Returns the first stage that differs from the one before it, as text.
///
/// The optimiser and another order of chunks may report another of several errors (language §8:
/// "any one of several"), so with those any two errors agree. Everywhere else they must be the
/// same.
pub fn disagreement(outcomes: &[(&'static str, Outcome)]) -> Option<String> {
    let ((name, reference), others) = outcomes.split_first()?;
    if let Outcome::Internal(message) = reference {
        return Some(format!("{name}: {message}"));
    }
    let (mut before, mut expected) = (name, reference);
    for (stage, given) in others {
        let reordered = *stage == KERNELS || OTHER_ORDERS.iter().any(|(name, _)| name == stage);
        let errors = matches!((expected, given), (Outcome::Error(_), Outcome::Error(_)));
        if !expected.same(given) && !(errors && (reordered || *stage == "flat")) {
            return Some(format!("{before} gives {expected}, {stage} gives {given}"));
        }
        if !reordered {
            (before, expected) = (stage, given);
        }
    }
    None
}

/// The generated C of a program, compiled and loaded.
pub struct Loaded(Library, &'static str);

impl Loaded {
    /// Emits C, compiles and loads it, without the user's cache.
    pub fn new(name: &str, stages: &Stages, optimization: u8) -> Result<Loaded, String> {
        Self::new_in(name, stages, optimization, None)
    }

    /// Does the work of [`Loaded::new`], but takes the library from a cache if it is there.
    pub fn new_in(
        name: &str,
        stages: &Stages,
        optimization: u8,
        cache: Option<&Cache>,
    ) -> Result<Loaded, String> {
        let files = stages.emit(name, stages.rewrite)?;
        let generated = Generated {
            name,
            header: &files.header,
            source: &files.source,
            entries: interfaces(&stages.imperative, LOADED_PREFIX),
            foreigns: foreign_symbols(&stages.imperative, Target::Sequential),
            sums: &stages.imperative.sums,
        };
        // The emulation of CUDA is slow to compile, so it is optimised no more than necessary.
        let device = stages.options.device_compiler();
        let options = CompilerOptions {
            optimization: if device.is_some() { 0 } else { optimization },
            strict: stages.options.strict,
            libraries: stages.options.libraries(),
            device,
        };
        let stage = match stages.options.dialect().is_some_and(Dialect::has_device) {
            false => "c",
            true => KERNELS,
        };
        Library::load_with(&generated, options, &[], cache)
            .map(|library| Loaded(library, stage))
            .map_err(|e| e.to_string())
    }

    /// Returns the name of its outcomes among those of the stages.
    pub fn stage(&self) -> &'static str {
        self.1
    }

    /// Returns the outcome of the C function.
    pub fn call(&self, entry: usize, inputs: &[Value]) -> Outcome {
        of_call(self.0.call(entry, inputs))
    }
}

/// Returns the outcome of a call of generated C.
pub fn of_call(result: Result<Value, CallError>) -> Outcome {
    match result {
        Ok(value) => Outcome::Value(value),
        Err(CallError::Failed { code, message }) => match runtime_error(&message) {
            Some(error) if error.kind.info().code == code => Outcome::Error(error),
            Some(_) | None => Outcome::Internal(format!("code {code}: {message}")),
        },
        Err(other) => Outcome::Internal(other.to_string()),
    }
}

/// Returns the error with this message: place, kind and arguments.
fn runtime_error(message: &str) -> Option<RuntimeError> {
    let (place, text) = split_place(message);
    ERROR_KINDS.iter().find_map(|info| {
        let arguments = arguments_of(info.message, text)?;
        Some(RuntimeError {
            kind: info.kind,
            arguments,
            place: place.clone(),
        })
    })
}

/// Returns the numbers of a message made from a template with `{0}` and `{1}`.
fn arguments_of(template: &str, mut text: &str) -> Option<Vec<i64>> {
    let mut arguments = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text = text.strip_prefix(before)?;
        rest = after.split_once('}')?.1;
        let end = text
            .find(|c: char| c != '-' && !c.is_ascii_digit())
            .unwrap_or(text.len());
        arguments.push(text[..end].parse().ok()?);
        text = &text[end..];
    }
    (text == rest).then_some(arguments)
}

/// Reads and types a program. Imports are relative to the folder of a name that is a path.
pub fn check(name: &str, text: &str) -> Result<nova_core::ir::Program, String> {
    let source = Source::Text {
        name: format!("{name}.nova"),
        text: text.to_string(),
        folder: Path::new(name).parent().unwrap_or(Path::new("")).into(),
    };
    let parsed = nova_driver::source::load(source).map_err(|e| format!("check: {e}"))?;
    let (tree, sources) = (parsed.program, parsed.report.sources);
    let mut diagnostics = parsed.report.diagnostics;
    let mut program = None;
    if !nova_syntax::has_errors(&diagnostics) {
        let checked = nova_infer::infer(&tree, &sources);
        diagnostics.extend(checked.diagnostics);
        program = checked.program;
    }
    let errors: Vec<String> = diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .map(|d| nova_diag::render_text(&sources, d))
        .collect();
    program
        .filter(|_| errors.is_empty())
        .ok_or_else(|| format!("check: {}", errors.join("\n")))
}

fn guard<R>(what: &str, body: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()));
        format!("{what} panicked: {}", text.unwrap_or_default())
    })
}

impl From<Result<Value, Failure>> for Outcome {
    fn from(result: Result<Value, Failure>) -> Outcome {
        match result {
            Ok(value) => Outcome::Value(value),
            Err(Failure::Runtime(error)) => Outcome::Error(error),
            Err(Failure::Internal(error)) => Outcome::Internal(error.to_string()),
        }
    }
}
