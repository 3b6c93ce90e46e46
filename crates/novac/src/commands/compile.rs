//! `novac PROG.nova`: the generated files, or the program at a stage.

use super::profile;
use crate::cli::Cli;
use crate::terminal::{End, Outcome, message, print};
use nova_driver::{Checked, Compiler, Options, Stage, dependencies, linked};
use nova_exec::InputError;
use nova_exec::atomic::{write_file, write_files};
use std::fs;
use std::path::{Path, PathBuf};

/// Compiles a program to files, or prints it at the requested stage.
pub fn compile(cli: &Cli) -> Outcome {
    let Some(file) = &cli.file else {
        return Err(End::usage(
            "error: a program is missing\n  help: `novac prog.nova` compiles it, `novac --help` \
             tells more",
        ));
    };
    if let Some(stage) = cli.emit {
        if cli.output.is_some() || cli.manifest {
            return Err(End::usage(
                "error: --emit writes to standard output; it takes no -o",
            ));
        }
        return emit(cli, file, stage);
    }
    let compiler = compiler(cli)?;
    if profile::is_asked() && !cli.profile && profile::is_compiled_for(compiler.options().target) {
        message(
            "note: NOVA_PROFILE is set, but this program will take no times\n  help: compile it with \
             --profile",
        );
    }
    let mut checked = super::check_file(&compiler, file)?;
    let generated = compiler.compile(&mut checked);
    super::report_passes(&cli.common, &checked);
    let files = generated?.files;
    message(&checked.host_warnings().to_text());
    let folder = match &cli.output {
        Some(folder) => folder.clone(),
        None => file.parent().map(Path::to_path_buf).unwrap_or_default(),
    };
    if !folder.as_os_str().is_empty() {
        fs::create_dir_all(&folder).map_err(|error| InputError::file(&folder, &error))?;
    }
    let dialect = compiler.options().dialect();
    let source = dialect.map_or("c", |dialect| dialect.extension);
    let path = |ending: &str| folder.join(format!("{}.{ending}", checked.name));
    let mut list: Vec<(PathBuf, &[u8])> = vec![
        (path("h"), files.header.as_bytes()),
        (path(source), files.source.as_bytes()),
    ];
    if cli.manifest {
        list.push((path("json"), files.manifest.as_bytes()));
    }
    let rules;
    if let Some(depfile) = &cli.depfile {
        let outputs: Vec<PathBuf> = list.iter().map(|(path, _)| path.clone()).collect();
        rules = rules_of(cli, &checked, &outputs)?;
        list.push((depfile.clone(), rules.as_bytes()));
    }
    Ok(write_files(&list)?)
}

/// Returns the rules of Make by which files depend on a program, its imports and the code of the device.
fn rules_of(cli: &Cli, checked: &Checked, outputs: &[PathBuf]) -> Result<String, InputError> {
    let plan = cli.common.plan.iter().map(|file| &file.path);
    let inputs = checked.files.iter().chain(&cli.link).chain(plan);
    let inputs: Vec<PathBuf> = inputs.cloned().collect();
    dependencies::rules(outputs, &inputs)
}

/// Returns a compiler with the options of the command line and the linked code of the device.
fn compiler(cli: &Cli) -> Result<Compiler, End> {
    let options = cli.common.options();
    let (device_source, others) = linked::device_source(options.target, &cli.link)?;
    if let Some(other) = others.first() {
        return Err(End::usage(format!(
            "error: {} is no code of a device\n  help: what is written is compiled and linked with C by \
             whoever uses it; `run` and `test` link C themselves",
            other.display()
        )));
    }
    if cli.profile {
        profile::check(options.target, options.check_races)?;
    }
    Ok(Compiler::new(Options {
        device_source,
        profile: cli.profile,
        line_directives: cli.line_directives,
        ..options
    }))
}

fn emit(cli: &Cli, file: &Path, stage: Stage) -> Outcome {
    let compiler = compiler(cli)?;
    let mut checked = super::check_file(&compiler, file)?;
    let emitted = compiler.emit(&mut checked, stage);
    super::report_passes(&cli.common, &checked);
    let text = emitted?;
    if stage == Stage::C {
        message(&checked.host_warnings().to_text());
    }
    if let Some(depfile) = &cli.depfile {
        let dialect = compiler.options().dialect();
        let ending = match stage {
            Stage::C => dialect.map_or("c", |dialect| dialect.extension),
            other => other.name(),
        };
        let output = PathBuf::from(format!("{}.{ending}", checked.name));
        let rules = rules_of(cli, &checked, &[output])?;
        write_file(depfile, |writer| writer.write_all(rules.as_bytes()))?;
    }
    print(text.trim_end_matches('\n'))?;
    print("\n")
}
