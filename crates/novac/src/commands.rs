//! The commands, one file each, and their shared functions.

mod check;
mod cmake;
mod compile;
mod evaluate;
mod explain;
mod format;
mod inputs;
mod lsp;
mod manual;
mod profile;
mod repl;
mod run;
mod tests;
mod tune;

use crate::cli::{self, Cli, Common, SubCommand};
use crate::terminal::{End, Outcome, message};
use nova_diag::SourceMap;
use nova_driver::{Checked, Compiler, Failure, Report, Source, Unproved, pipeline};
use nova_exec::InputError;
use std::io::Read;
use std::path::Path;

/// Runs the command of a command line.
pub fn dispatch(cli: Cli) -> Outcome {
    check_common(&cli.common)?;
    let Some(command) = &cli.command else {
        return match &cli.print {
            Some(_) => cmake::print_folder(),
            None => compile::compile(&cli),
        };
    };
    let is_compiling = cli.file.is_some() || cli.output.is_some() || cli.emit.is_some();
    let is_writing_more = cli.manifest
        || cli.profile
        || cli.line_directives
        || cli.depfile.is_some()
        || cli.print.is_some();
    if is_compiling || is_writing_more {
        return Err(End::usage(
            "error: -o, --manifest, --profile, --line-directives, --emit, --depfile, --print and a \
             program stand after the command, or without one",
        ));
    }
    match command {
        SubCommand::Run(arguments) => run::run(&cli.common, arguments),
        SubCommand::Eval(arguments) => evaluate::evaluate(&cli.common, arguments),
        SubCommand::Check(arguments) => check::check(&cli.common, arguments),
        SubCommand::Fmt(arguments) => format::format(arguments),
        SubCommand::Test(arguments) => tests::test(&cli.common, arguments),
        SubCommand::Tune(arguments) => tune::tune(&cli.common, arguments),
        SubCommand::Explain(arguments) => explain::explain(&cli.common, arguments),
        SubCommand::Lsp => lsp::serve(&cli.common),
        SubCommand::Repl(arguments) => repl::repl(&cli.common, arguments),
        SubCommand::Completions { shell } => completions(*shell),
        SubCommand::Man { command, output } => match output {
            Some(folder) => manual::write(folder),
            None => manual::print(command.as_deref()),
        },
    }
}

/// Refuses options that have no meaning in this version, before any work.
fn check_common(common: &Common) -> Outcome {
    if common.check_races && !common.target.is_some_and(nova_driver::Target::is_parallel) {
        return Err(End::usage(
            "error: --check-races needs a parallel target; seq runs everything in order",
        ));
    }
    if common.ranks.is_some() && common.target != Some(nova_driver::Target::Mpi) {
        return Err(End::usage("error: -n needs --target mpi"));
    }
    let passes = pipeline::dumpable();
    match &common.dump_after {
        Some(pass) if !passes.contains(&pass.as_str()) => Err(End::usage(format!(
            "error: there is no pass `{pass}`; the passes are {}",
            passes.join(", ")
        ))),
        Some(_) | None => Ok(()),
    }
}

fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), "novac", &mut script);
    crate::terminal::print(&String::from_utf8_lossy(&script))
}

/// Returns a program: a file, or for `-` what standard input holds.
fn source(file: &Path) -> Result<Source, Failure> {
    if file.as_os_str() != "-" {
        return Ok(Source::File(file.to_path_buf()));
    }
    let name = "standard input";
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| Failure::Input(InputError::file(Path::new(name), &error)))?;
    let mut sources = SourceMap::new();
    match nova_syntax::reader::decode_source(&bytes, name, &mut sources) {
        Ok(text) => Ok(Source::text(name, text)),
        Err(diagnostic) => Err(Failure::Program(Box::new(Report {
            sources,
            diagnostics: vec![*diagnostic],
        }))),
    }
}

/// Checks a file and writes its warnings.
fn check_file(compiler: &Compiler, file: &Path) -> Result<Checked, Failure> {
    let checked = compiler.check(source(file)?)?;
    message(&checked.report.to_text());
    Ok(checked)
}

/// Writes the problems with the cache.
fn report_loading(library: &nova_driver::Library) {
    for warning in library.warnings() {
        message(&format!("warning: {warning}"));
    }
}

/// Writes the loops that the compiler has no proof for, and the output for developers of the
/// compiler. It is called even when a later step of the command fails.
fn report_passes(common: &Common, checked: &Checked) {
    let what = match checked.trace.one_thread {
        true => "the program",
        false => "it",
    };
    for Unproved {
        place,
        message: why,
    } in &checked.trace.unproved
    {
        message(&format!(
            "warning: {place}: it could not be proved that iterations of this loop do not meet, so one \
             thread runs {what}\n  note: {why}; a limit of the compiler, not a mistake in the program"
        ));
    }
    let plan = common.plan.as_ref();
    for (place, choice) in plan.map_or_else(Vec::new, |file| file.text.plan.unused()) {
        let name = choice.name();
        message(&format!(
            "warning: {place}: the plan says ({name} ...) here, and nothing asks for it\n  note: a plan is \
             for one program and one target"
        ));
    }
    if let Some(dump) = &checked.trace.dump {
        message(dump);
    } else if let Some(pass) = &common.dump_after {
        message(&format!("note: the pass {pass} did not run"));
    }
    if common.time_passes {
        message(&checked.trace.times_text());
    }
}
