//! Compilation of a file in several ways, and comparison of its results with those of the reference
//! interpreter.
//!
//! A file is tried as a user would. The driver compiles it with some options, the system's compiler
//! of C makes a library, which is loaded and called. The file's number determines the options: two
//! or three targets, levels, passes left out, compilers of C and their levels, numbers of threads,
//! sanitizers. All of this runs in a process of its own, since a defect may end it.

use super::{File, Program, SHARED};
use crate::devices;
use crate::random::Random;
use crate::stages::{Outcome, of_call};
use nova_core::Value;
use nova_driver::pipeline::optional_passes;
use nova_driver::{Checked, Compiler, Failure, Options, Source, Stage, Target};
use nova_exec::library::Library;
use nova_schedule::Parallelism;
use std::fmt;
use std::io::Write;

/// One way to compile a file.
#[derive(Clone, Debug)]
pub struct Setting {
    target: Target,
    level: u8,
    /// Passes that are left out.
    disabled: Vec<&'static str>,
    verify: bool,
    /// True if operations are parallelised with chunks so small that short vectors have several.
    small: bool,
}

/// All ways in which a file is tried.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The ways.
    pub settings: Vec<Setting>,
    /// True if floats keep their order. Otherwise the file has none, so that all values are exact.
    pub strict: bool,
    /// The compiler of C.
    pub compiler: &'static str,
    /// Its options.
    pub c_options: &'static str,
    /// The number of threads of the pool.
    pub threads: &'static str,
    /// True if the code runs under sanitizers.
    pub sanitized: bool,
}

/// Options under sanitizers.
const SANITIZERS: &str =
    "-O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer";

impl Plan {
    /// Creates the plan of a file.
    pub fn new(number: u64) -> Plan {
        let mut random = Random::new(number ^ 0x9_1A_00);
        let sanitized = random.chance(10);
        let strict = random.chance(85);
        let compiler = *random.pick(&["gcc", "gcc", "clang"]);
        // The first generator tests the C with optimising compilers, which take four times as long.
        let c_options = match random.below(10) {
            0 => "",
            1 => "-O1",
            _ => "-O0",
        };
        let threads = *random.pick(&["1", "2", "3", "8"]);
        let count = 2 + random.below(2);
        let mut settings: Vec<Setting> = (0..count)
            .map(|k| Setting::draw(&mut random, k, sanitized))
            .collect();
        settings.retain(Setting::is_present);
        Plan {
            settings,
            strict,
            compiler: if sanitized { "gcc" } else { compiler },
            c_options: if sanitized { SANITIZERS } else { c_options },
            threads,
            sanitized,
        }
    }
}

impl Setting {
    fn draw(random: &mut Random, number: usize, sanitized: bool) -> Setting {
        let target = match random.below(12) {
            _ if number == 0 => Target::Sequential,
            0..3 if !sanitized => Target::OpenCl,
            3..6 if !sanitized => Target::Cuda,
            6 => Target::Sequential,
            _ => Target::Pthreads,
        };
        let names: Vec<&'static str> = optional_passes().iter().map(|pass| pass.name).collect();
        let share = *random.pick(&[0, 0, 0, 5, 15, 50, 90]);
        let mut disabled = names;
        disabled.retain(|_| random.chance(share));
        Setting {
            target,
            level: *random.pick(&[0, 1, 2, 2, 2, 3, 3]),
            disabled,
            verify: random.chance(50),
            small: target.is_parallel() && random.chance(60),
        }
    }

    /// True if its target can run here.
    fn is_present(&self) -> bool {
        devices::has(self.target)
    }

    fn options(&self, strict: bool) -> Options {
        Options {
            target: self.target,
            optimization: self.level,
            strict,
            disabled: self.disabled.iter().map(|name| name.to_string()).collect(),
            verify: self.verify,
            parallelism: self.small.then_some(Parallelism::SMALL),
            ..Options::default()
        }
    }

    /// True if no option may change which of several errors is reported.
    fn keeps_errors(&self) -> bool {
        self.target == Target::Sequential && self.level == 0
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--target {} -O{}", self.target, self.level)?;
        for name in &self.disabled {
            write!(f, " --no-{name}")?;
        }
        f.write_str(if self.verify { " --verify" } else { "" })?;
        f.write_str(if self.small { " (small chunks)" } else { "" })
    }
}

/// The findings about a file. They are written to standard output, one on each line.
struct Notes {
    setting: String,
}

impl Notes {
    /// Prints the program that runs next, in case it ends the process.
    fn at(&self, program: &str) {
        self.line(&format!("at {program} {}", self.setting));
    }

    fn count(&self, what: &str, number: usize) {
        self.line(&format!("count {number} {what}"));
    }

    /// Records a disagreement, or an error of the compiler.
    fn finding(&self, program: &str, text: &str) {
        let text: String = text.chars().take(900).collect();
        let text = text.replace('\n', " | ");
        self.line(&format!("found {program} ({}): {text}", self.setting));
    }

    fn line(&self, text: &str) {
        let mut out = std::io::stdout();
        // An error of the write is ignored.
        let _ = writeln!(out, "{text}");
        let _ = out.flush();
    }
}

/// Tries the programs of a file whose seeds lie in a range, in all ways of its plan.
pub fn run(number: u64, seeds: std::ops::Range<u64>) {
    let plan = Plan::new(number);
    let file = File::new(number, plan.strict);
    let programs: Vec<Program> = seeds.map(|seed| file.program(seed)).collect();
    let notes = Notes {
        setting: "check".to_string(),
    };
    for program in &programs {
        notes.count("programs", 1);
        notes.count("nodes", program.nodes);
        notes.count("programs with large vectors", usize::from(program.large));
        for (word, number) in &program.used {
            notes.count(&format!("form {word}"), *number);
        }
    }
    if refused(&file.head, &programs, &plan) {
        for program in &programs {
            refused(&file.head, std::slice::from_ref(program), &plan);
        }
    }
}

/// Tries programs together. Returns true if the compiler refused them as a whole.
fn refused(head: &str, programs: &[Program], plan: &Plan) -> bool {
    let entries: Vec<&str> = programs.iter().map(|p| p.text.as_str()).collect();
    let text = format!("{head}{}", entries.concat());
    let runs: Vec<(&str, &[Vec<String>])> = programs
        .iter()
        .map(|program| (program.name.as_str(), program.runs.as_slice()))
        .collect();
    let alone = programs.len() == 1;
    try_text(&text, &runs, plan, &plan.settings, alone)
}

/// Tries a text in some ways. Returns true if it was refused. A refusal is noted only for a single
/// program.
pub fn try_text(
    text: &str,
    programs: &[(&str, &[Vec<String>])],
    plan: &Plan,
    settings: &[Setting],
    alone: bool,
) -> bool {
    let mut expected: Option<Vec<Vec<Outcome>>> = None;
    for setting in settings {
        let notes = Notes {
            setting: setting.to_string(),
        };
        let first = programs.first().map_or("", |(name, _)| name);
        notes.at(if alone { first } else { "file" });
        let mut compile = || -> Result<(), Failure> {
            let compiler = Compiler::new(setting.options(plan.strict));
            let mut checked = compiler.check(Source::text("conformance.nova", text))?;
            let expected =
                expected.get_or_insert_with(|| references(&compiler, &checked, programs, &notes));
            let library = compiler.load(&mut checked, &[])?;
            notes.count(&format!("files for {}", setting.target), 1);
            notes.count("loops without a proof", checked.trace.unproved.len());
            compare(&checked, &library, programs, expected, (setting, &notes));
            Ok(())
        };
        if let Err(failure) = compile() {
            let why = match &failure {
                Failure::Program(report) => report.to_text(),
                other => other.to_string(),
            };
            if alone {
                notes.finding(first, &format!("refused: {why}"));
            }
            return true;
        }
    }
    false
}

/// Returns the output of the compiler for a text at each stage, or its error.
pub fn emit(text: &str, setting: &Setting, strict: bool) -> Vec<(&'static str, String)> {
    let compiler = Compiler::new(setting.options(strict));
    let at_stage = |stage: Stage| {
        let made = compiler
            .check(Source::text("conformance.nova", text))
            .and_then(|mut checked| compiler.emit(&mut checked, stage));
        made.unwrap_or_else(|failure| failure.to_string())
    };
    nova_driver::options::STAGES
        .map(|(stage, name)| (name, at_stage(stage)))
        .to_vec()
}

/// Returns the values of an entry's inputs, from their texts.
fn inputs(checked: &Checked, entry: usize, texts: &[String]) -> Option<Vec<Value>> {
    let program = &checked.program;
    let inputs = program.entries.get(entry)?.inputs.iter().zip(texts);
    let values = inputs.map(|(input, text)| {
        let ty = &program.variable(*input).ty;
        nova_core::text::read_value(text, ty, &program.sums).ok()
    });
    values.collect()
}

/// Returns the results of the reference interpreter for each run of each program.
fn references(
    compiler: &Compiler,
    checked: &Checked,
    programs: &[(&str, &[Vec<String>])],
    notes: &Notes,
) -> Vec<Vec<Outcome>> {
    let evaluate = |entry: usize, texts: &[String]| {
        let Some(values) = inputs(checked, entry, texts) else {
            return Outcome::Internal("an input cannot be read".to_string());
        };
        match compiler.eval(checked, entry, &values) {
            Ok(value) => Outcome::Value(value),
            Err(Failure::Run(error)) => {
                notes.count(&format!("error {}", error.kind.info().word), 1);
                Outcome::Error(error)
            }
            Err(other) => Outcome::Internal(other.to_string()),
        }
    };
    let each = programs.iter().enumerate();
    each.map(|(entry, (_, runs))| runs.iter().map(|texts| evaluate(entry, texts)).collect())
        .collect()
}

/// Compares the results of a library with the expected ones.
fn compare(
    checked: &Checked,
    library: &Library,
    programs: &[(&str, &[Vec<String>])],
    expected: &[Vec<Outcome>],
    (setting, notes): (&Setting, &Notes),
) {
    for (entry, ((name, runs), expected)) in programs.iter().zip(expected).enumerate() {
        notes.at(name);
        for (run, (texts, expected)) in runs.iter().zip(expected).enumerate() {
            let Some(values) = inputs(checked, entry, texts) else {
                notes.finding(name, "an input cannot be read");
                break;
            };
            let given = of_call(library.call(entry, &values));
            notes.count("comparisons", 1);
            let errors = matches!((expected, &given), (Outcome::Error(_), Outcome::Error(_)));
            // In optimised and in parallel code any one of several errors may be reported.
            let agree = expected.same(&given) || (errors && !setting.keeps_errors());
            if !agree {
                let difference = difference(expected, &given);
                notes.finding(name, &format!("run {run}: {difference}"));
                break;
            }
        }
    }
}

/// Returns the difference of two outcomes: the first components of two tuples that differ.
fn difference(expected: &Outcome, given: &Outcome) -> String {
    if let (Outcome::Value(Value::Tuple(a)), Outcome::Value(Value::Tuple(b))) = (expected, given) {
        for (k, (a, b)) in a.iter().zip(b.iter()).enumerate() {
            let (a, b) = (Outcome::Value(a.clone()), Outcome::Value(b.clone()));
            if !a.same(&b) {
                return format!("part {k}: eval gives {a}, not {b}");
            }
        }
    }
    format!("eval gives {expected}, not {given}")
}

/// Returns the number of the file of a seed.
pub fn file_of(seed: u64) -> u64 {
    seed / SHARED
}
