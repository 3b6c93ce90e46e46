//! The command line: what may be written, and its help.

use clap::{Arg, ArgAction, Args, Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use nova_driver::pipeline::optional_passes;
use nova_driver::{Options, PlanText, Stage, Target};
use nova_exec::platforms;
use std::collections::BTreeSet;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  novac run dot.nova X='[1 2 3]' Y='[4 5 6]'     compile, run, print the value
  novac eval dot.nova X='[1 2 3]' Y=@y.npy       the same without a C compiler
  novac -o out dot.nova                          write out/dot.h and out/dot.c
  novac check dot.nova                           types and errors only
  novac test examples/*.nova                     run the `;; test` lines
  novac --emit flat dot.nova                     show the program at a stage

A VALUE is text (42, 2.5, true, (1, 2.5), [1 2 3], (Cons (1, Nil))), @FILE.npy or @FILE.npz (NumPy),
@FILE.csv, @FILE.csv:COLUMN,COLUMN or @FILE.tsv (a table), @FILE.png, .pgm or .ppm (a picture),
@- (standard input), @FILE (bytes for a vector uint8, value text otherwise), or for a nested vector
@DATA.npy:@OFFSETS.npy.

Exit status: 0 done, 1 the program has errors or failed while running, 2 the command line, a VALUE
or a file is wrong.

Environment: CC names the C compiler, NOVA_CACHE the folder of compiled programs. With NOVA_PROFILE=1
a program prints a table of its loops or kernels when it ends, with NOVA_PROFILE=FILE it writes a trace.";

/// A compiler for NOVA, a small data-parallel functional language.
#[derive(Debug, Parser)]
#[command(name = "novac", version, long_version = long_version(), after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<SubCommand>,
    /// The program to compile
    #[arg(value_name = "PROG.nova")]
    pub file: Option<PathBuf>,
    /// Write the files into this folder instead of the source's
    #[arg(short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Code of the device, which becomes part of what is written: .cl, .cu or .cuh
    #[arg(long, value_name = "FILE")]
    pub link: Vec<PathBuf>,
    /// Also write PROG.json, which describes the entries for bindings
    #[arg(long)]
    pub manifest: bool,
    /// Also write the files that the output depends on, as rules of Make
    #[arg(long, value_name = "FILE")]
    pub depfile: Option<PathBuf>,
    /// Print where something is: cmake-dir, the folder of NovaConfig.cmake
    #[arg(long, value_name = "WHAT", value_parser = ["cmake-dir"])]
    pub print: Option<String>,
    /// Let the program take the times of its loops when it runs with NOVA_PROFILE (seq, pthreads)
    #[arg(long)]
    pub profile: bool,
    /// Let debuggers and profilers name lines of the source, by #line
    #[arg(long)]
    pub line_directives: bool,
    /// Print the program at this stage instead: core, flat, mem, loop or c
    #[arg(long, value_name = "STAGE", value_parser = parse_stage)]
    pub emit: Option<Stage>,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Subcommand)]
pub enum SubCommand {
    /// Compile, run and print the value
    Run(RunArguments),
    /// Run through the reference interpreter; needs no C compiler
    Eval(EvalArguments),
    /// Report errors and print the types of the entries
    Check(CheckArguments),
    /// Bring files into the canonical layout
    Fmt(FormatArguments),
    /// Run the `;; test` lines of files
    #[command(after_help = TEST_HELP)]
    Test(TestArguments),
    /// Search for a plan by measurement on data: what novac --plan takes
    Tune(TuneArguments),
    /// Say what the compiler did with a program, and why; or what an error means (N0203)
    Explain(ExplainArguments),
    /// Serve an editor by the Language Server Protocol, on standard input and output
    Lsp,
    /// Answer expressions as they are typed: values, types, times, plots
    Repl(ReplArguments),
    /// Print a completion script for a shell
    Completions {
        /// bash, elvish, fish, powershell or zsh
        shell: Shell,
    },
    /// Print a page of the manual, for `man`
    Man {
        /// The command that the page is about; novac itself if none is named
        command: Option<String>,
        /// Write all pages into this folder instead: novac.1, novac-run.1, ...
        #[arg(short, value_name = "DIR", conflicts_with = "command")]
        output: Option<PathBuf>,
    },
}

const TEST_HELP: &str = "A test is a comment in a source file:

  ;; test X=[1 2 3] Y=[4 5 6] => 32
  ;; test X=[1] Y=[1 2] => error length
  ;; test norm: X=[3.0 4.0] => 5.0          in a file of several entries, with the entry's name

The word behind `error` is one of: index length division shift conversion permutation step negative
shape overflow recursion memory split. Floats agree when they differ by at most 1e-5 (float) or
1e-12 (double) of their size; with --fp strict they must be equal.";

/// Options of every command.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// seq, pthreads, cuda, hip, opencl or mpi
    #[arg(long, global = true, value_name = "T", value_parser = parse_target)]
    pub target: Option<Target>,
    /// How much to optimise: -O0 to -O3
    #[arg(
        short = 'O',
        global = true,
        value_name = "LEVEL",
        default_value_t = 2,
        value_parser = clap::value_parser!(u8).range(0..=3)
    )]
    pub optimization: u8,
    /// `strict`: every target and interpreter gives the same bits
    #[arg(long = "fp", global = true, value_name = "MODE", value_parser = ["strict"])]
    pub floating_point: Option<String>,
    /// Make the choices of this plan; `novac tune` finds some, `novac explain` names them
    #[arg(long, global = true, value_name = "FILE", value_parser = parse_plan)]
    pub plan: Option<PlanFile>,
    /// Print the program as it is after this pass (to standard error)
    #[arg(
        long,
        global = true,
        value_name = "PASS",
        help_heading = "For work on the compiler"
    )]
    pub dump_after: Option<String>,
    /// Print how long each pass took (to standard error)
    #[arg(long, global = true, help_heading = "For work on the compiler")]
    pub time_passes: bool,
    /// Verify the program after every pass
    #[arg(long, global = true, help_heading = "For work on the compiler")]
    pub verify: bool,
    /// Look for races of parallel loops while the program runs (parallel targets)
    #[arg(long, global = true, help_heading = "For work on the compiler")]
    pub check_races: bool,
    /// Put P before all external names of the generated C
    #[arg(long, global = true, value_name = "P", value_parser = parse_prefix)]
    pub prefix: Option<String>,
    /// Number of ranks (mpi)
    #[arg(short = 'n', global = true, value_name = "RANKS")]
    pub ranks: Option<u32>,
    /// Names of the passes switched off; filled in by [`parse`].
    #[arg(skip)]
    pub disabled: BTreeSet<String>,
}

/// A plan and the file that has it.
#[derive(Clone, Debug)]
pub struct PlanFile {
    /// The file.
    pub path: PathBuf,
    /// The plan, with its target.
    pub text: PlanText,
}

#[derive(Args, Debug)]
pub struct FileArguments {
    /// The program; - is standard input
    #[arg(value_name = "PROG.nova")]
    pub file: PathBuf,
}

#[derive(Args, Debug)]
pub struct ExplainArguments {
    /// The program, or the code of an error: the page of the code is printed
    #[arg(value_name = "PROG.nova|CODE")]
    pub file: PathBuf,
    /// Put the schedules on these targets beside that of --target, in a table
    #[arg(
        long,
        value_name = "T,...",
        value_delimiter = ',',
        value_parser = parse_target
    )]
    pub beside: Vec<Target>,
}

#[derive(Args, Debug)]
pub struct CheckArguments {
    #[command(flatten)]
    pub file: FileArguments,
    /// Print the messages as lines of JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct EvalArguments {
    #[command(flatten)]
    pub file: FileArguments,
    /// The inputs
    #[arg(value_name = "X=VALUE")]
    pub inputs: Vec<String>,
    /// Which entry to run, in a program of several
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Write the value to a file: .npy, .npz, .csv, .tsv, .png, .pgm, .ppm, .bin, .txt
    #[arg(short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print a vector uint8 as text: as it is where it is the value, "…" inside of others
    #[arg(long)]
    pub text: bool,
}

#[derive(Args, Debug)]
pub struct RunArguments {
    #[command(flatten)]
    pub eval: EvalArguments,
    /// A C source, object or library with foreign functions, or code of the device (.cl, .cu, .cuh)
    #[arg(long, value_name = "FILE")]
    pub link: Vec<PathBuf>,
    /// Run N times and print the times of the call as a line of JSON
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub bench: Option<u32>,
    /// Print the source with the time of each loop beside its line, to standard error (seq, pthreads)
    #[arg(long)]
    pub profile: bool,
}

#[derive(Args, Debug)]
pub struct TuneArguments {
    #[command(flatten)]
    pub file: FileArguments,
    /// The inputs
    #[arg(value_name = "X=VALUE")]
    pub inputs: Vec<String>,
    /// Which entry to measure, in a program of several
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Write the plan to a file instead of standard output
    #[arg(short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// A C source, object or library with foreign functions, or code of the device (.cl, .cu, .cuh)
    #[arg(long, value_name = "FILE")]
    pub link: Vec<PathBuf>,
    /// Search for this time
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub time: u64,
}

#[derive(Args, Debug)]
pub struct ReplArguments {
    /// Files whose definitions are there from the start
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// A C source, object or library with foreign functions
    #[arg(long, value_name = "FILE")]
    pub link: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub struct FormatArguments {
    /// Only say which files are not in the canonical layout (exit status 1 if any)
    #[arg(long)]
    pub check: bool,
    /// The files; - is standard input, formatted to standard output
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub struct TestArguments {
    /// The files
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// A C source, object or library with foreign functions
    #[arg(long, value_name = "FILE")]
    pub link: Vec<PathBuf>,
}

fn parse_target(text: &str) -> Result<Target, String> {
    Target::by_name(text)
        .ok_or_else(|| "the targets are seq, pthreads, cuda, hip, opencl and mpi".to_string())
}

fn parse_plan(path: &str) -> Result<PlanFile, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    Ok(PlanFile {
        path: PathBuf::from(path),
        text: PlanText::read(path, &text)?,
    })
}

fn parse_prefix(text: &str) -> Result<String, String> {
    match nova_driver::options::wrong_prefix(text) {
        None => Ok(text.to_string()),
        Some(why) => Err(why),
    }
}

fn parse_stage(text: &str) -> Result<Stage, String> {
    Stage::by_name(text).ok_or_else(|| "the stages are core, flat, mem, loop and c".to_string())
}

/// Returns the version, with the platform of this program and how well it is known.
fn long_version() -> String {
    format!(
        "{}\nfor {}: {}",
        env!("CARGO_PKG_VERSION"),
        platforms::TARGET,
        platforms::tested().words()
    )
}

/// Returns the command with a `--no-PASS` for every optional pass.
pub fn command() -> Command {
    optional_passes()
        .iter()
        .fold(Cli::command(), |command, pass| {
            command.arg(
                Arg::new(disabling(pass.name))
                    .long(disabling(pass.name))
                    .help(format!("Leave out the pass that {}", pass.description))
                    .action(ArgAction::SetTrue)
                    .global(true)
                    .help_heading(PASSES),
            )
        })
}

fn disabling(pass: &str) -> String {
    format!("no-{pass}")
}

/// The heading of the options `--no-PASS` in help texts.
pub const PASSES: &str = "Passes";

/// Returns the name of the command that the first word of a command line was probably meant to be. A word that
/// names a file is a program.
fn misspelt_command(command: &clap::Command, word: Option<&std::ffi::OsString>) -> Option<String> {
    let word = word?.to_str()?;
    if word.starts_with('-') || std::path::Path::new(word).exists() {
        return None;
    }
    let names = command.get_subcommands().map(clap::Command::get_name);
    let near = names.map(|name| (strsim::osa_distance(word, name), name));
    let (distance, name) = near.min()?;
    ((1..=2).contains(&distance) && distance < word.len()).then(|| name.to_string())
}

/// Reads the command line.
pub fn parse(arguments: Vec<std::ffi::OsString>) -> Result<Cli, clap::Error> {
    let mut command = command();
    let misspelt = misspelt_command(&command, arguments.get(1));
    let matches = command.try_get_matches_from_mut(arguments);
    let matches = matches.map_err(|error| match (error.kind(), misspelt) {
        (clap::error::ErrorKind::UnknownArgument, Some(name)) => command.error(
            clap::error::ErrorKind::InvalidSubcommand,
            format!("there is no such command; did you mean `{name}`?"),
        ),
        (_, _) => error,
    })?;
    let mut cli = Cli::from_arg_matches(&matches).map_err(|e| e.format(&mut command))?;
    // Only the innermost command that was given has the global flags.
    let mut innermost = &matches;
    while let Some((_, inner)) = innermost.subcommand() {
        innermost = inner;
    }
    for pass in optional_passes() {
        if matches!(innermost.try_get_one(&disabling(pass.name)), Ok(Some(true))) {
            cli.common.disabled.insert(pass.name.to_string());
        }
    }
    if let Some(planned) = cli.common.plan.as_ref().and_then(|file| file.text.target) {
        let target = *cli.common.target.get_or_insert(planned);
        if target != planned {
            let message = format!("the plan is for the target {planned}, not for {target}");
            return Err(command.error(clap::error::ErrorKind::ArgumentConflict, message));
        }
    }
    Ok(cli)
}

impl Common {
    /// Returns the options of code generation as another process of this command takes them.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![format!("-O{}", self.optimization)];
        if let Some(target) = self.target {
            arguments.push(format!("--target={target}"));
        }
        if let Some(mode) = &self.floating_point {
            arguments.push(format!("--fp={mode}"));
        }
        if let Some(plan) = &self.plan {
            arguments.push(format!("--plan={}", plan.path.display()));
        }
        arguments.extend(
            self.disabled
                .iter()
                .map(|pass| format!("--{}", disabling(pass))),
        );
        arguments
    }

    /// Returns the compiler's options.
    pub fn options(&self) -> Options {
        let defaults = Options::default();
        Options {
            target: self.target.unwrap_or(defaults.target),
            optimization: self.optimization,
            strict: self.floating_point.is_some(),
            disabled: self.disabled.clone(),
            plan: self
                .plan
                .as_ref()
                .map_or_else(Default::default, |file| file.text.plan.clone()),
            verify: self.verify || defaults.verify,
            passes_run: self.time_passes,
            dump_after: self.dump_after.clone(),
            check_races: self.check_races,
            prefix: self.prefix.clone().unwrap_or_default(),
            ..defaults
        }
    }
}
