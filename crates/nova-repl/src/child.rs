//! Runs programs in processes of the command itself. A program that crashes, takes all memory or does not end
//! then ends its process, not the session.

use crate::session::{Held, Program, Session};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

/// The time that the interpreter has before a program is compiled.
const INTERPRETED: Duration = Duration::from_millis(700);
/// The number of runs that are timed.
const RUNS: &str = "7";

/// Runs programs.
pub struct Runner {
    /// The command.
    pub command: PathBuf,
    /// Its options for compiled programs.
    pub options: Vec<String>,
    /// Its options for interpreted programs.
    pub interpreter_options: Vec<String>,
}

/// A process that has been given its program.
struct Running {
    child: Child,
    output: JoinHandle<io::Result<Vec<u8>>>,
    messages: Option<JoinHandle<io::Result<Vec<u8>>>>,
    /// The folder of its inputs, which lives as long.
    _folder: tempfile::TempDir,
}

impl Runner {
    /// Returns the value of a program as text, or nothing if it failed, which has been reported. The interpreter
    /// begins. If it has no value soon, or cannot have one, the program is compiled.
    pub fn value(&self, session: &Session, program: &Program) -> io::Result<Option<String>> {
        if program.checked.program.foreigns.is_empty() {
            let arguments = [&["eval".to_string()][..], &self.interpreter_options].concat();
            let mut running = self.start(&arguments, session, program, true)?;
            let start = Instant::now();
            let mut ended = running.child.try_wait()?;
            while ended.is_none() && start.elapsed() < INTERPRETED {
                std::thread::sleep(Duration::from_millis(1));
                ended = running.child.try_wait()?;
            }
            if ended.is_some() {
                return running.end();
            }
            running.child.kill()?;
            running.child.wait()?;
        }
        self.run(session, program, &[])
    }

    /// Returns a line about the times of a compiled program.
    pub fn times(&self, session: &Session, program: &Program) -> io::Result<Option<String>> {
        let printed = self.run(session, program, &["--bench".to_string(), RUNS.to_string()])?;
        let times = printed.and_then(|line| serde_json::from_str::<serde_json::Value>(&line).ok());
        Ok(times.map(|times| {
            let of = |key: &str| duration(times.get(key).and_then(serde_json::Value::as_f64));
            format!(
                "{} (median of {RUNS} runs; {} to {})",
                of("median"),
                of("min"),
                of("max")
            )
        }))
    }

    fn run(
        &self,
        session: &Session,
        program: &Program,
        more: &[String],
    ) -> io::Result<Option<String>> {
        let arguments = [&["run".to_string()][..], &self.options, more].concat();
        self.start(&arguments, session, program, false)?.end()
    }

    fn start(
        &self,
        arguments: &[String],
        session: &Session,
        program: &Program,
        quiet: bool,
    ) -> io::Result<Running> {
        let folder = tempfile::tempdir()?;
        let mut command = Command::new(&self.command);
        command.args(arguments).arg("-");
        for name in &program.inputs {
            let Some(held) = session.values().get(name) else {
                continue;
            };
            let file = folder
                .path()
                .join(format!("{}.txt", command.get_args().count()));
            std::fs::write(&file, file_of(held))?;
            command.arg(format!("{name}=@{}", file.display()));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(if quiet {
            Stdio::piped()
        } else {
            Stdio::inherit()
        });
        let mut child = command.spawn()?;
        if let Some(mut input) = child.stdin.take() {
            // A process that has failed early reads nothing.
            let _ = input.write_all(program.text.as_bytes());
        }
        let output = child.stdout.take().map(whole);
        Ok(Running {
            output: output.unwrap_or_else(|| spawn(|| Ok(Vec::new()))),
            messages: child.stderr.take().map(whole),
            child,
            _folder: folder,
        })
    }
}

impl Running {
    /// Waits for the end. Returns what the process printed if it succeeded.
    fn end(mut self) -> io::Result<Option<String>> {
        let status = self.child.wait()?;
        let joined = |thread: JoinHandle<io::Result<Vec<u8>>>| {
            let text = thread.join().unwrap_or_else(|_| Ok(Vec::new()))?;
            Ok::<String, io::Error>(String::from_utf8_lossy(&text).into_owned())
        };
        if let Some(messages) = self.messages {
            io::stderr().write_all(joined(messages)?.as_bytes())?;
        }
        let printed = joined(self.output)?;
        if status.success() {
            return Ok(Some(printed.trim_end().to_string()));
        }
        if status.code().is_none() {
            eprintln!("interrupted: {status}");
        }
        Ok(None)
    }
}

/// Returns what a file holds that the command reads as a value: text, but the bytes themselves for bytes.
fn file_of(held: &Held) -> Vec<u8> {
    if held.ty != "vector uint8" {
        return held.text.clone().into_bytes();
    }
    let numbers = held.text.trim_matches(['[', ']']).split_whitespace();
    numbers.filter_map(|number| number.parse().ok()).collect()
}

/// Reads a stream to its end beside the process.
fn whole(mut stream: impl Read + Send + 'static) -> JoinHandle<io::Result<Vec<u8>>> {
    spawn(move || {
        let mut text = Vec::new();
        stream.read_to_end(&mut text)?;
        Ok(text)
    })
}

/// Returns a time in seconds with a unit for people.
fn duration(seconds: Option<f64>) -> String {
    match seconds {
        None => "?".to_string(),
        Some(s) if s >= 1.0 => format!("{s:.2} s"),
        Some(s) if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        Some(s) => format!("{:.2} µs", s * 1e6),
    }
}
