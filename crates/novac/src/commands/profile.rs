//! `novac run --profile`: the program's source with the times of its loops. The program runs in a process
//! of its own, which writes a trace when it ends; the rows of the trace are read from there.

use crate::cli::{Common, RunArguments};
use crate::terminal::{End, Outcome, message};
use nova_diag::SourceMap;
use nova_driver::{Compiler, Options, Source, Target};
use nova_exec::InputError;
use nova_exec::temporary::TemporaryFile;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that asks a program for a profile.
const VARIABLE: &str = "NOVA_PROFILE";

/// The option of `novac run` that the inner process is called without.
const OPTION: &str = "--profile";

/// True if the environment asks for a profile.
pub fn is_asked() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// True if programs for a target take times only if they are compiled for that.
pub fn is_compiled_for(target: Target) -> bool {
    match target {
        Target::Sequential | Target::Pthreads => true,
        Target::Cuda | Target::Hip | Target::OpenCl | Target::Mpi => false,
    }
}

/// Refuses `--profile` for targets that have a profile without it, and beside `--check-races`.
pub fn check(target: Target, check_races: bool) -> Outcome {
    if check_races {
        return Err(End::usage(
            "error: --profile and --check-races exclude each other: a traced program is much slower",
        ));
    }
    match is_compiled_for(target) {
        true => Ok(()),
        false => Err(End::usage(format!(
            "error: --profile is for the targets seq and pthreads\n  help: a program for {target} has a \
             profile without it: NOVA_PROFILE=1 asks for it"
        ))),
    }
}

/// Runs a program in a process of its own, and shows its source with times on standard error.
pub fn run(common: &Common, arguments: &RunArguments) -> Outcome {
    let file = &arguments.eval.file.file;
    let asked = std::env::var_os(VARIABLE).filter(|value| is_asked() && value != "1");
    let temporary = match asked {
        Some(_) => None,
        None => Some(temporary_file()?),
    };
    let trace = match (asked, &temporary) {
        (Some(path), _) => PathBuf::from(path),
        (None, Some(temporary)) => temporary.path().to_path_buf(),
        (None, None) => PathBuf::new(),
    };
    let status = inner_process(&trace)?;
    if let Some(rows) = std::fs::read_to_string(&trace)
        .ok()
        .and_then(|text| read_rows(&text))
    {
        message(&annotated(&rows, &sources(common, file)));
    }
    match status {
        0 => Ok(()),
        status => Err(End::silent(status)),
    }
}

fn temporary_file() -> Result<TemporaryFile, End> {
    let folder = std::env::temp_dir();
    let made = TemporaryFile::new(&folder, None);
    made.map_err(|error| InputError::file(&folder, &error).into())
}

/// Runs the same command line without the option. Returns its exit status.
fn inner_process(trace: &Path) -> Result<u8, End> {
    let failed = |error| End::failed(format!("error: the program cannot be started: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let arguments = std::env::args_os().skip(1);
    let arguments: Vec<OsString> = arguments.filter(|argument| argument != OPTION).collect();
    let mut command = Command::new(program);
    command.args(arguments).env(VARIABLE, trace);
    let status = command.status().map_err(failed)?;
    Ok(status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1))
}

/// Returns the sources of a program; none if it has errors, which the inner process reports, or is read from
/// standard input, which only the inner process reads.
fn sources(common: &Common, file: &Path) -> SourceMap {
    if file.as_os_str() == "-" {
        return SourceMap::new();
    }
    let options: Options = common.options();
    match Compiler::new(options).check(Source::File(file.to_path_buf())) {
        Ok(checked) => checked.report.sources,
        Err(_) => SourceMap::new(),
    }
}

/// A row of a profile.
#[derive(Debug, PartialEq)]
struct Row {
    what: String,
    /// The file, without folders, and the line; `None` for an entry.
    place: Option<(String, usize)>,
    calls: u64,
    /// Nanoseconds without those of loops inside.
    own: u64,
}

/// Reads the rows of a trace; `None` if the text is none.
fn read_rows(text: &str) -> Option<Vec<Row>> {
    let trace: Value = serde_json::from_str(text).ok()?;
    let rows = trace.get("loops")?.as_array()?;
    rows.iter()
        .map(|row| {
            let number = |key: &str| row.get(key)?.as_u64();
            let place = row.get("place")?.as_str().and_then(|place| {
                let mut parts = place.rsplitn(3, ':');
                let (_column, line) = (parts.next()?, parts.next()?);
                Some((parts.next()?.to_string(), line.parse().ok()?))
            });
            Some(Row {
                what: row.get("operation")?.as_str()?.to_string(),
                place,
                calls: number("calls")?,
                own: number("own_ns")?,
            })
        })
        .collect()
}

/// Returns the sources that have rows, with the times and numbers of executions beside their lines. The
/// time of an entry outside of its loops follows.
fn annotated(rows: &[Row], sources: &SourceMap) -> String {
    let all: u64 = rows.iter().map(|row| row.own).sum();
    let columns = |own: u64, calls: u64| {
        let share = match all {
            0 => 0.0,
            all => own as f64 / all as f64 * 100.0,
        };
        format!("{:>11.3}  {share:>5.1} %  {calls:>8}", own as f64 / 1e6)
    };
    let mut text = String::new();
    let mut shown: BTreeMap<&str, ()> = BTreeMap::new();
    for source in sources.ids().map(|id| sources.source(id)) {
        let name = source.name.rsplit('/').next().unwrap_or_default();
        let in_file = |row: &&Row| row.place.as_ref().is_some_and(|(file, _)| file == name);
        if !rows.iter().any(|row| in_file(&row)) || shown.insert(name, ()).is_some() {
            continue;
        }
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{:>11}  {:>7}  {:>8}  {name}",
            "own, ms", "share", "calls"
        );
        for (k, line) in source.text.lines().enumerate() {
            let number = k + 1;
            let is_here = |row: &&Row| row.place.as_ref().is_some_and(|(_, line)| *line == number);
            let here: Vec<&Row> = rows.iter().filter(in_file).filter(is_here).collect();
            let own = here.iter().map(|row| row.own).sum();
            let calls = here.iter().map(|row| row.calls).max();
            let beside = calls.map(|calls| columns(own, calls)).unwrap_or_default();
            let visible = |c: char| if c.is_control() { ' ' } else { c };
            let line: String = line.chars().map(visible).collect();
            let _ = writeln!(text, "{:30}  {number:>4} | {line}", beside);
        }
    }
    for row in rows {
        match &row.place {
            Some((file, _)) if shown.contains_key(&**file) => {}
            Some((file, line)) => {
                let beside = columns(row.own, row.calls);
                let _ = writeln!(text, "{beside}  {} at {file}:{line}", row.what);
            }
            None => {
                let beside = columns(row.own, row.calls);
                let _ = writeln!(text, "{beside}  {} outside of its loops", row.what);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = r#"{"loops": [
        {"operation": "map", "place": "a.nova:2:3", "calls": 2, "own_ns": 1500000},
        {"operation": "reduce", "place": "a.nova:2:9", "calls": 3, "own_ns": 500000},
        {"operation": "scan", "place": "gone.nova:7:1", "calls": 1, "own_ns": 1000000},
        {"operation": "a", "place": null, "calls": 1, "own_ns": 1000000}], "traceEvents": []}"#;

    #[test]
    fn times_stand_beside_lines() {
        let mut sources = SourceMap::new();
        sources.add("dir/a.nova", "((x : int))\n(f\tx)\n");
        sources.add("other.nova", "(define y 1)\n");
        let text = annotated(&read_rows(TRACE).expect("rows"), &sources);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let expected = [
            "own, ms    share     calls  a.nova",
            "1 | ((x : int))",
            "2.000   50.0 %         3     2 | (f x)",
            "1.000   25.0 %         1  scan at gone.nova:7",
            "1.000   25.0 %         1  a outside of its loops",
        ];
        assert_eq!(lines, expected, "{text}");
    }

    #[test]
    fn nothing_is_shown_of_what_is_no_trace() {
        for text in ["", "{}", "{\"loops\": [{}]}", "[1"] {
            assert_eq!(read_rows(text), None);
        }
        assert_eq!(annotated(&[], &SourceMap::new()), "");
    }
}
