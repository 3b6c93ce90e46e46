//! The measurement of compilation: for each application and example the lines of generated C, the seconds
//! that the compiler and the C compiler take, and those of a first run on an OpenCL device whose kernels
//! nobody has compiled before.
//!
//! [`cold`] runs programs on the device. [`report`] writes the tables.

mod cold;
pub mod report;

use super::applications::inputs;
use super::hosted::load;
use super::run::bar;
use cold::Device;
use nova_driver::{Compiler, Options, Source, Target};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The targets that are compiled, with the names of their columns.
pub const TARGETS: [(Target, &str); 3] = [
    (Target::Sequential, "seq"),
    (Target::Pthreads, "pthreads"),
    (Target::OpenCl, "opencl"),
];
/// The number of targets whose C is compiled, too: those without a device.
pub const HOSTS: usize = 2;
/// The flags of the C compiler.
pub const C_FLAGS: &[&str] = &["-std=c11", "-O2", "-w", "-pthread", "-c", "-o", "program.o"];

/// The plan of the measurements.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The names of the programs, as `FOLDER/NAME` or `NAME`. Without names, all are compiled.
    pub names: Vec<String>,
    /// The divisor of the sizes of the applications' data.
    pub shrink: usize,
    /// The number of times that each is compiled and run. The medians are reported.
    pub rounds: usize,
    /// The command that runs programs on the device. Without it nothing is run.
    pub novac: Option<PathBuf>,
}

/// What was measured of a program.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Its folder and its name.
    pub name: String,
    /// The lines of generated C, by target.
    pub lines: [usize; TARGETS.len()],
    /// Seconds of the compiler, by target, of each round.
    pub novac: [Vec<f64>; TARGETS.len()],
    /// Seconds of the C compiler, by target, of each round.
    pub cc: [Vec<f64>; HOSTS],
    /// Seconds of a first run on the device, of each round, if it can run.
    pub cold: Vec<f64>,
}

/// The results.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The programs.
    pub rows: Vec<Row>,
    /// What failed, with the reasons.
    pub failures: Vec<String>,
    /// What cannot be measured, with the reasons.
    pub skipped: Vec<String>,
    /// The load of the machine before and after.
    pub load: [String; 2],
}

/// Returns the novac that was built with this command or this test, if there is one.
pub fn built_novac() -> Option<PathBuf> {
    let command = std::env::current_exe().ok()?;
    // Tests lie in a folder below that of commands.
    let folders = command.ancestors().skip(1).take(2);
    let mut commands = folders.map(|folder| folder.join("novac"));
    commands.find(|novac| novac.is_file())
}

/// Returns the folder of the examples.
fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../nova-examples")
}

/// Returns the programs in the folders of examples, as `FOLDER/NAME`, sorted.
pub fn programs() -> Result<Vec<String>, String> {
    let list = |folder: &Path| -> Result<Vec<PathBuf>, String> {
        let entries = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
        let path = |entry: std::io::Result<std::fs::DirEntry>| Ok(entry?.path());
        let paths: std::io::Result<Vec<PathBuf>> = entries.map(path).collect();
        paths.map_err(|error| error.to_string())
    };
    let mut names = Vec::new();
    for folder in list(&examples())?.iter().filter(|folder| folder.is_dir()) {
        for file in list(folder)? {
            let stem = (folder.file_name(), file.file_stem());
            if file.extension().is_some_and(|ending| ending == "nova")
                && let (Some(folder), Some(name)) = stem
            {
                names.push(format!("{}/{}", folder.display(), name.display()));
            }
        }
    }
    names.sort();
    Ok(names)
}

impl Plan {
    /// Returns the programs of the plan.
    pub fn programs(&self) -> Result<Vec<String>, String> {
        let all = programs()?;
        let is = |program: &String, name: &String| {
            program == name || program.rsplit('/').next() == Some(name.as_str())
        };
        let known = |name: &&String| all.iter().any(|program| is(program, name));
        if let Some(name) = self.names.iter().find(|name| !known(name)) {
            return Err(format!("no example {name}; there are {}", all.join(", ")));
        }
        let wanted = |program: &String| {
            self.names.is_empty() || self.names.iter().any(|name| is(program, name))
        };
        Ok(all.into_iter().filter(wanted).collect())
    }

    /// Runs all measurements.
    pub fn run(&self) -> Result<Found, String> {
        let programs = self.programs()?;
        let mut found = Found::default();
        found.load[0] = load();
        let device = match &self.novac {
            Some(novac) => Device::find(novac),
            None => Err("there is no novac beside this command".to_string()),
        };
        if let Err(missing) = &device {
            found.skipped.push(format!("runs on the device: {missing}"));
        }
        let bar = bar(programs.len())?;
        for program in programs {
            bar.set_message(program.clone());
            match self.measure(&program, device.as_ref().ok(), &mut found.skipped) {
                Ok(Some(row)) => found.rows.push(row),
                Ok(None) => {}
                Err(why) => found.failures.push(format!("{program}: {why}")),
            }
            bar.inc(1);
        }
        found.load[1] = load();
        bar.finish_and_clear();
        Ok(found)
    }

    /// Measures a program. Returns `None` if it has no entry: a file that others import.
    fn measure(
        &self,
        name: &str,
        device: Option<&Device>,
        skipped: &mut Vec<String>,
    ) -> Result<Option<Row>, String> {
        let path = examples().join(format!("{name}.nova"));
        let path = std::fs::canonicalize(&path).map_err(|error| error.to_string())?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let checked = Compiler::new(Options::default()).check(Source::File(path.clone()));
        let checked = checked.map_err(|failure| failure.to_string())?;
        if checked.signatures().is_empty() {
            skipped.push(format!("{name}: it has no entry"));
            return Ok(None);
        }
        let mut row = Row {
            name: name.to_string(),
            ..Row::default()
        };
        let run = device.map(|device| device.prepare(&path, &checked, self.shrink, folder.path()));
        for _ in 0..self.rounds {
            for (k, (target, _)) in TARGETS.into_iter().enumerate() {
                let (seconds, generated) = compile(&path, target)?;
                row.novac[k].push(seconds);
                row.lines[k] = generated.source.lines().count();
                if let Some(times) = row.cc.get_mut(k) {
                    times.push(compile_c(&generated, folder.path())?);
                }
            }
            if let (Some(device), Some(Ok(arguments))) = (device, &run) {
                row.cold.push(device.run(&path, arguments)?);
            }
        }
        if let Some(Err(why)) = run {
            skipped.push(format!("{name} on the device: {why}"));
        }
        Ok(Some(row))
    }
}

/// What the compiler writes.
struct Written {
    name: String,
    header: String,
    source: String,
}

/// Compiles a program for a target. Returns the seconds, from the text on, and the C.
fn compile(path: &Path, target: Target) -> Result<(f64, Written), String> {
    let begin = Instant::now();
    let compiler = Compiler::new(Options {
        target,
        ..Options::default()
    });
    let mut checked = compiler
        .check(Source::File(path.to_path_buf()))
        .map_err(|failure| failure.to_string())?;
    let generated = compiler
        .compile(&mut checked)
        .map_err(|failure| failure.to_string())?;
    let seconds = begin.elapsed().as_secs_f64();
    let name = path.file_stem().unwrap_or_default();
    Ok((
        seconds,
        Written {
            name: name.to_string_lossy().into_owned(),
            header: generated.files.header,
            source: generated.files.source,
        },
    ))
}

/// Compiles C to an object in a folder. Returns the seconds.
fn compile_c(written: &Written, folder: &Path) -> Result<f64, String> {
    let write = |ending: &str, text: &str| {
        let file = folder.join(format!("{}.{ending}", written.name));
        std::fs::write(file, text).map_err(|error| error.to_string())
    };
    write("h", &written.header)?;
    write("c", &written.source)?;
    let mut command = Command::new("gcc");
    command.current_dir(folder).args(C_FLAGS);
    command.arg(format!("{}.c", written.name));
    let begin = Instant::now();
    let result = command.output();
    let seconds = begin.elapsed().as_secs_f64();
    let result = result.map_err(|error| format!("gcc does not start: {error}"))?;
    match result.status.success() {
        true => Ok(seconds),
        false => Err(String::from_utf8_lossy(&result.stderr).into_owned()),
    }
}
