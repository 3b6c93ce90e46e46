//! The library's interface: check, evaluate, emit, compile, load.

use crate::c_names;
use crate::code::{Code, Generated};
use crate::documentation;
use crate::error::{Failure, Report};
use crate::limits::ROUNDS_OF_PROOFS;
use crate::options::{
    FOR_STRATEGIES, ForStrategies, Options, Stage, TARGETS, Target, wrong_prefix,
};
use crate::parsed::Parsed;
use crate::pipeline::{self, Trace};
use crate::source::{Source, Texts, load, load_library, load_texts};
use crate::strategies;
use nova_c::names::LOADED_PREFIX;
use nova_core::ir::Program;
use nova_core::{SumType, Type, Value};
use nova_diag::{Diagnostic, codes};
use nova_exec::InputError;
use nova_exec::cache::Cache;
use nova_exec::library::EntryInterface;
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The compiler with its options.
#[derive(Clone, Debug, Default)]
pub struct Compiler {
    pub(crate) options: Options,
    /// The cache, if it is not the user's.
    pub(crate) cache: Option<Cache>,
}

/// An entry of a program as its users see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Its name.
    pub name: Arc<str>,
    /// Its inputs.
    pub inputs: Vec<(Arc<str>, Type)>,
    /// The type of its value.
    pub result: Type,
    /// The comment above it in the program, or an empty text.
    pub documentation: String,
}

/// A program without errors, at the stage Core.
#[derive(Debug)]
pub struct Checked {
    /// The name of its generated files, without extension.
    pub name: String,
    /// The program.
    pub program: Arc<Program>,
    /// The options with which it was checked. They decide how its strategies are honoured.
    pub(crate) options: Options,
    /// The syntax tree that it was made from.
    pub(crate) tree: nova_syntax::ast::Program,
    /// True if there are warnings beside those about its text.
    pub(crate) has_warnings: bool,
    /// Warnings, and the sources.
    pub report: Report,
    /// Warnings for hosts that link its C with other libraries.
    host_warnings: Vec<Diagnostic>,
    /// The comment above each entry.
    pub(crate) documentation: Vec<String>,
    /// The passes that ran so far.
    pub trace: Trace,
    /// The step that honours its strategies.
    pub(crate) for_strategies: ForStrategies,
}

impl Checked {
    /// Returns the entries, in order.
    pub fn signatures(&self) -> Vec<Signature> {
        let program = &self.program;
        let signature = |(k, entry): (usize, &nova_core::ir::Entry)| Signature {
            name: entry.name.clone(),
            inputs: entry
                .inputs
                .iter()
                .map(|input| {
                    let info = program.variable(*input);
                    (info.name.clone(), info.ty.clone())
                })
                .collect(),
            result: program.expression(entry.body).ty.clone(),
            documentation: self.documentation.get(k).cloned().unwrap_or_default(),
        };
        program.entries.iter().enumerate().map(signature).collect()
    }

    /// Returns the sum types that the entries' types name.
    pub fn sums(&self) -> &[SumType] {
        &self.program.sums
    }

    /// Returns warnings for hosts that link the C of this program. They name the external names
    /// that the C library, POSIX or a compiler's runtime defines as well. A program loaded at once
    /// does not depend on them.
    pub fn host_warnings(&self) -> Report {
        Report {
            sources: self.report.sources.clone(),
            diagnostics: self.host_warnings.clone(),
        }
    }
}

/// A program as an editor sees it, perhaps with errors.
pub struct Analysed {
    /// The tree, the messages, the sources, and where these come from.
    pub parsed: Parsed,
    /// The places, names and types of the program.
    pub index: Option<nova_infer::Index>,
}

impl Compiler {
    /// Creates a compiler with these options.
    pub fn new(options: Options) -> Self {
        Compiler {
            options,
            cache: None,
        }
    }

    /// Returns its options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Reads a program and infers its types. The failure holds all its errors.
    pub fn check(&self, source: Source) -> Result<Checked, Failure> {
        let start = Instant::now();
        let name = self.name_of(&source)?;
        let parsed = self.read(source)?;
        self.check_parsed(name, parsed, start.elapsed())
    }

    /// Reads a program and its imports.
    pub(crate) fn read(&self, source: Source) -> Result<Parsed, Failure> {
        match self.options.library {
            true => load_library(source),
            false => load(source),
        }
    }

    /// Infers the types of a program that was read in this time.
    pub(crate) fn check_parsed(
        &self,
        name: String,
        parsed: Parsed,
        time: Duration,
    ) -> Result<Checked, Failure> {
        let Parsed {
            program: tree,
            mut report,
            ..
        } = parsed;
        let warnings_of_text = report.diagnostics.len();
        let mut trace = Trace::default();
        trace.times.push(("parse", time));
        let start = Instant::now();
        let inferred = || Ok(nova_infer::infer(&tree, &report.sources));
        let inferred = pipeline::guard("infer", inferred)?;
        trace.times.push(("infer", start.elapsed()));
        let (program, for_strategies) = self.examine(&name, &tree, inferred, &mut report)?;
        let Some(program) = program else {
            return Err(Failure::Program(Box::new(report)));
        };
        let host_warnings = || Ok(c_names::taken(&tree, &program, &self.options.prefix));
        let host_warnings = pipeline::guard("names", host_warnings)?;
        let program = Arc::new(program);
        let code = Code::Core(program.clone());
        pipeline::after(pipeline::INFER, &code, &self.options, &mut trace)?;
        let documentation = documentation::of_entries(&tree, &report.sources);
        Ok(Checked {
            name,
            program,
            options: self.options.clone(),
            tree,
            has_warnings: report.diagnostics.len() > warnings_of_text,
            report,
            host_warnings,
            documentation,
            trace,
            for_strategies,
        })
    }

    /// Reads a program for an editor. Unlike [`Compiler::check`] it returns what is known about a program with
    /// errors, and where its names stand. `texts` stand for those of files.
    ///
    /// # Errors
    /// The program's own file cannot be read, or the compiler has an internal error.
    pub fn analyse(&self, source: Source, texts: &Texts) -> Result<Analysed, Failure> {
        let name = self.name_of(&source)?;
        let mut parsed = pipeline::guard("parse", || Ok(load_texts(source, texts)))??;
        let tree = &parsed.program;
        let inferred = || Ok(nova_infer::infer_with_index(tree, &parsed.report.sources));
        let (inferred, index) = pipeline::guard("infer", inferred)?;
        self.examine(&name, tree, inferred, &mut parsed.report)?;
        Ok(Analysed { parsed, index })
    }

    /// Returns the name of a program. The error says that the name or the prefix cannot be used.
    pub(crate) fn name_of(&self, source: &Source) -> Result<String, Failure> {
        let prefix = self.options.prefix.as_str();
        if let (false, Some(why)) = (prefix.is_empty(), wrong_prefix(prefix)) {
            return Err(Failure::Input(InputError(why)));
        }
        let name = source.program_name();
        if name.contains(|c: char| matches!(c, '"' | '\\') || c.is_control()) {
            let message = format!("a program cannot be called {name:?}");
            return Err(Failure::Input(InputError(message)));
        }
        Ok(name)
    }

    /// Adds the messages about a program whose types were inferred to those about its text. Returns the
    /// program if it has no errors, and the step that honours its strategies.
    fn examine(
        &self,
        name: &str,
        tree: &nova_syntax::ast::Program,
        inferred: nova_infer::Checked,
        report: &mut Report,
    ) -> Result<(Option<Program>, ForStrategies), Failure> {
        // A parse error hides no other error.
        report.diagnostics.extend(inferred.diagnostics);
        let places = |diagnostic: &Diagnostic| diagnostic.primary.span;
        report.diagnostics.sort_by_key(places);
        let program = inferred.program.filter(|_| !report.has_errors());
        if let Some(program) = &program {
            let clashes = || Ok(c_names::check(tree, program, &self.options.prefix, name));
            let clashes = pipeline::guard("names", clashes)?;
            report.diagnostics.extend(clashes);
        }
        if let (Some(program), false) = (&program, report.has_errors()) {
            let (sources, target) = (&report.sources, self.options.target);
            let misplaced = || Ok(strategies::check(tree, program, sources, target));
            let misplaced = pipeline::guard("strategies", misplaced)?;
            report.diagnostics.extend(misplaced);
        }
        let mut for_strategies = self.options.for_strategies;
        if let (Some(program), false) = (&program, report.has_errors()) {
            let (needed, trace) = self.follow_strategies(program, name)?;
            let (sources, target) = (&report.sources, self.options.target);
            let errors = strategies::not_honoured(tree, sources, target, &trace);
            report.diagnostics.extend(errors);
            for_strategies = needed;
        }
        self.check_target(tree, report);
        let program = program.filter(|_| !report.has_errors());
        Ok((program, for_strategies))
    }

    /// Finds the first step that honours the strategies of a program, and the trace of that run. If
    /// no step does, the trace has the strategies that the target cannot honour. Only the compiled
    /// program shows this.
    fn follow_strategies(
        &self,
        program: &Program,
        name: &str,
    ) -> Result<(ForStrategies, Trace), Failure> {
        let mut trace = Trace::default();
        let asks = strategies::has_any(program) || strategies::calls_the_device(program);
        if self.options.parallelism().is_none() || !asks {
            return Ok((self.options.for_strategies, trace));
        }
        let core = Code::Core(Arc::new(program.clone()));
        let steps = FOR_STRATEGIES.into_iter();
        for for_strategies in steps.filter(|step| *step >= self.options.for_strategies) {
            let options = Options {
                for_strategies,
                ..self.options.clone()
            };
            trace = pipeline::run_for_strategies(core.clone(), name, &options)?;
            if trace.dropped.is_empty() {
                return Ok((for_strategies, trace));
            }
        }
        Ok((self.options.for_strategies, trace))
    }

    /// Reports a target for which this version generates no code.
    fn check_target(&self, tree: &nova_syntax::ast::Program, report: &mut Report) {
        if self.options.target.is_supported() {
            return;
        }
        let place = tree.entries.first().map(|entry| entry.name.span);
        let known: Vec<&str> = TARGETS
            .iter()
            .filter(|(target, _)| target.is_supported())
            .map(|(_, name)| *name)
            .collect();
        let message = format!(
            "target {} is not available in this version",
            self.options.target
        );
        let help = format!("use --target {}", known.join(" or "));
        if let Some(span) = place {
            report
                .diagnostics
                .push(Diagnostic::error(codes::TARGET_CANNOT, span, message).help(help));
        }
    }

    /// Returns the program at a stage, as text. For C it is the source file.
    pub fn emit(&self, checked: &mut Checked, stage: Stage) -> Result<String, Failure> {
        let code = self.run_passes(checked, stage)?;
        Ok(pipeline::guard("print", || Ok(code.print()))?)
    }

    /// Returns the generated files and the interfaces of their entries.
    pub fn compile(&self, checked: &mut Checked) -> Result<Generated, Failure> {
        let code = self.run_passes(checked, Stage::C)?;
        Ok(pipeline::guard("print", || code.into_files())?)
    }

    /// Returns the compiler of programs that are loaded at once. Its names clash with no library's
    /// names, whatever the names of the entries.
    pub fn for_loading(&self) -> Compiler {
        Compiler {
            options: Options {
                prefix: LOADED_PREFIX.to_string(),
                ..self.options.clone()
            },
            cache: self.cache.clone(),
        }
    }

    /// Runs the passes that lead to a stage. They run again while a loop for several threads has no
    /// proof that it is free of races; the operation that it comes from is then left to one thread.
    pub(crate) fn run_passes(&self, checked: &mut Checked, until: Stage) -> Result<Code, Failure> {
        let mut options = self.settled(checked, until)?;
        let (core, name) = (Code::Core(checked.program.clone()), &checked.name);
        let trace = &mut checked.trace;
        trace.rounds = 0;
        let mut code = pipeline::run(core.clone(), name, until, &options, trace)?;
        while leave(trace, &mut options) {
            code = pipeline::run(core.clone(), name, until, &options, trace)?;
        }
        match code.stage() == until {
            true => Ok(code),
            false => Err(Failure::Unsupported(format!(
                "no pass leads to the stage {until} yet"
            ))),
        }
    }

    /// Returns the step that honours the strategies of a program. It is the one found for the
    /// program, or a later one that the options ask for.
    pub(crate) fn for_strategies(&self, checked: &Checked) -> ForStrategies {
        self.options.for_strategies.max(checked.for_strategies)
    }

    /// Returns the options with the operations that are left to one thread, as far as they must be
    /// known before the passes run. Proofs are looked for at the stage Loop. Earlier stages are
    /// shown for the program that results from them.
    fn settled(&self, checked: &mut Checked, until: Stage) -> Result<Options, Failure> {
        let mut options = Options {
            for_strategies: self.for_strategies(checked),
            ..self.options.clone()
        };
        let is_early = until > Stage::Core && until < Stage::Loop;
        if is_early && options.target.is_parallel() && options.target.is_supported() {
            let (core, name) = (Code::Core(checked.program.clone()), &checked.name);
            let mut trace = Trace::default();
            loop {
                pipeline::run(core.clone(), name, Stage::Loop, &options, &mut trace)?;
                if !leave(&mut trace, &mut options) {
                    break;
                }
            }
            checked.trace.settled(trace);
        }
        Ok(options)
    }

    /// Looks for proofs that iterations of parallel loops do not meet. The trace of the program
    /// lists the operations that one thread runs instead.
    ///
    /// # Errors
    /// Those of the passes.
    pub fn prove(&self, checked: &mut Checked) -> Result<(), Failure> {
        if self.options.target.is_parallel() && self.options.target.is_supported() {
            self.run_passes(checked, Stage::Loop)?;
        }
        Ok(())
    }

    /// Returns the value of an entry, computed by the reference interpreter.
    pub fn eval(
        &self,
        checked: &Checked,
        entry: usize,
        inputs: &[Value],
    ) -> Result<Value, Failure> {
        if let Some(foreign) = checked.program.foreigns.first() {
            return Err(Failure::Unsupported(format!(
                "the interpreter cannot call foreign functions, and the program declares `{}`; \
                 use `run` with --link",
                foreign.name
            )));
        }
        let options = nova_core::interpret::Options {
            strict: self.options.strict,
            trace: &write_trace,
            ..nova_core::interpret::Options::default()
        };
        let evaluate = || nova_core::interpret::evaluate(&checked.program, entry, inputs, &options);
        let outcome = || match evaluate() {
            Ok(value) => Ok(Ok(value)),
            Err(nova_core::error::Failure::Runtime(error)) => Ok(Err(error)),
            Err(nova_core::error::Failure::Internal(error)) => Err(error.to_string()),
        };
        pipeline::guard("eval", outcome)?.map_err(Failure::Run)
    }
}

/// Leaves the operations whose loops have no proof to one thread. Returns true if the passes must
/// run again. The whole program is left to one thread where that does not help, or not soon enough.
/// The trace holds each place once.
fn leave(trace: &mut Trace, options: &mut Options) -> bool {
    let open = std::mem::take(&mut trace.open);
    let is_last = options.one_thread;
    if open.is_empty() {
        return false;
    }
    let mut is_more = false;
    let mut seen = BTreeSet::new();
    for unproved in open {
        // An operation can become several loops.
        if !seen.insert(unproved.place.clone()) {
            continue;
        }
        is_more |= options.alone.leave(&unproved.place, &unproved.message);
        if trace.unproved.iter().all(|u| u.place != unproved.place) {
            trace.unproved.push(unproved);
        }
    }
    trace.rounds += 1;
    options.one_thread |= !is_more || trace.rounds >= ROUNDS_OF_PROOFS;
    trace.alone = options.alone.clone();
    trace.one_thread = options.one_thread;
    !is_last
}

/// Returns the C names of the foreign functions of a program that the host defines. Foreign
/// functions of a device are part of its code and not among them.
pub fn foreign_symbols(program: &nova_loop::ir::Program, target: Target) -> Vec<String> {
    let has_device = target.has_device();
    let numbered = (0..).zip(&program.foreigns);
    numbered
        .filter(|(number, _)| !(has_device && program.is_of_device(*number)))
        .map(|(_, foreign)| foreign)
        .map(|foreign| nova_c::names::foreign(&foreign.name))
        .collect()
}

/// Returns the interfaces of the entries of a program that is compiled with this prefix.
pub fn interfaces(program: &nova_loop::ir::Program, prefix: &str) -> Vec<EntryInterface> {
    let interface = |entry: &nova_loop::ir::Entry| {
        let symbols = nova_c::entry_symbols(prefix, &entry.name);
        EntryInterface {
            name: entry.name.clone(),
            symbol: symbols.function,
            error: symbols.error,
            inputs: entry.inputs.clone(),
            result: entry.result.clone(),
        }
    };
    program.entries.iter().map(interface).collect()
}

/// Writes a line of `trace`. An error of the write is ignored.
fn write_trace(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
