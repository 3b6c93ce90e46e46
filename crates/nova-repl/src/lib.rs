//! The interactive session of NOVA. It keeps definitions and values, and prints the value and the type of each
//! expression. The interpreter computes it, or compiled code where that takes long. Programs run in processes of
//! their own (`child`), so that nothing that they do ends the session.

mod child;
mod command;
mod forms;
mod plot;
mod read;
mod session;

use child::Runner;
use command::{Asked, COMMANDS};
use nova_driver::{Failure, Options, library};
use plot::Picture;
use read::Reader;
use session::{Held, Program, Session, warnings};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The number of characters of a value that are printed.
const SHOWN: usize = 2000;
/// The name of the last value.
const LAST: &str = "it";

/// How a session compiles and runs.
pub struct Settings {
    /// The compiler's options.
    pub options: Options,
    /// The command whose `eval` and `run` compute values.
    pub command: PathBuf,
    /// Options of `run`.
    pub run_options: Vec<String>,
    /// Options of `eval`.
    pub eval_options: Vec<String>,
}

/// The session, and what it needs to answer.
struct Repl {
    session: Session,
    runner: Runner,
}

/// Whether a session goes on.
#[derive(PartialEq, Eq)]
enum Next {
    Line,
    End,
}

/// Answers lines of standard input until it ends. `first` are files that are loaded before. Returns true if all
/// lines were answered without an error, which tells scripts whether they worked.
///
/// # Errors
/// Standard input or output fails.
pub fn run(settings: Settings, first: &[PathBuf]) -> io::Result<bool> {
    let mut repl = Repl {
        session: Session::new(settings.options),
        runner: Runner {
            command: settings.command,
            options: settings.run_options,
            interpreter_options: settings.eval_options,
        },
    };
    let mut all_well = true;
    let mut well = |answer: Result<Next, Trouble>| match answer {
        Ok(next) => Ok(next),
        Err(Trouble::Output(error)) => Err(error),
        Err(Trouble::Told(message)) => {
            all_well = false;
            if !message.is_empty() {
                eprintln!("{message}");
            }
            Ok(Next::Line)
        }
    };
    for file in first {
        well(repl.load(file))?;
    }
    // Ctrl-C ends the program that runs, not the session.
    ctrlc::set_handler(|| {}).map_err(io::Error::other)?;
    let mut reader = Reader::new()?;
    while let Some(text) = reader.next(&repl.session)? {
        if well(repl.answer(&text))? == Next::End {
            break;
        }
    }
    reader.end();
    Ok(all_well)
}

/// Why a line has no answer.
enum Trouble {
    /// A message for the user, or an empty text if it has been reported.
    Told(String),
    /// Standard output is closed.
    Output(io::Error),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble::Told(match failure {
            Failure::Program(report) => report.to_text().trim_end().to_string(),
            other => format!("error: {other}"),
        })
    }
}

impl Repl {
    fn answer(&mut self, text: &str) -> Result<Next, Trouble> {
        match command::read(text) {
            Asked::Nothing => {}
            Asked::Command(":quit", _) => return Ok(Next::End),
            Asked::Command(name, rest) => self.command(name, rest)?,
            Asked::Unknown(word) => {
                let message =
                    format!("error: `{word}` is no command, or not the only one; see :help");
                return Err(Trouble::Told(message));
            }
            Asked::Section(kind, items) => self.add(&[(kind, items)])?,
            Asked::Value(name, expression) => {
                let held = self.evaluate(expression)?;
                print(&format!("{name} : {}", held.ty))?;
                self.session.hold(name, held);
            }
            Asked::Expression(expression) => {
                let held = self.evaluate(expression)?;
                print(&format!("{} : {}", shortened(&held.text), held.ty))?;
                self.session.hold(LAST, held);
            }
        }
        Ok(Next::Line)
    }

    fn command(&mut self, name: &str, rest: &str) -> Result<(), Trouble> {
        match name {
            ":type" => print(&self.program(rest)?.ty()),
            ":show" => print(&self.evaluate(rest)?.text),
            ":explain" => {
                let mut program = self.program(rest)?;
                let compiler = nova_driver::Compiler::new(self.session.options().clone());
                print(compiler.explain(&mut program.checked)?.trim_end())
            }
            ":time" => {
                let program = self.program(rest)?;
                let times = self.runner.times(&self.session, &program);
                print(&times.map_err(failed)?.ok_or(Trouble::Told(String::new()))?)
            }
            ":plot" => self.plot(rest),
            ":load" => self.load(Path::new(rest)).map(|_| ()),
            ":list" => self.list(),
            ":save" => {
                let written = std::fs::write(rest, self.session.definitions());
                written.map_err(|error| Trouble::Told(format!("error: {rest}: {error}")))
            }
            ":forget" => match rest {
                "" => {
                    self.session.clear();
                    Ok(())
                }
                name if self.session.forget_name(name) => Ok(()),
                name => Err(Trouble::Told(format!("error: nothing is called `{name}`"))),
            },
            _help => help(),
        }
    }

    /// Adds sections, and prints warnings about them.
    fn add(&mut self, sections: &[(&'static str, Vec<&str>)]) -> Result<(), Trouble> {
        if let Some(warnings) = self.session.add(sections)? {
            eprintln!("{warnings}");
        }
        Ok(())
    }

    /// Adds the sections of a file.
    fn load(&mut self, file: &Path) -> Result<Next, Trouble> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Trouble::Told(format!("error: {}: {error}", file.display())))?;
        let found = forms::Forms::of(&text);
        let ranges = found.forms.into_iter();
        let sections = ranges.filter_map(|range| command::section(text.get(range)?));
        let sections: Vec<_> = sections.collect();
        self.add(&sections)?;
        let count: usize = sections.iter().map(|(_, items)| items.len()).sum();
        print(&format!("{count} definitions of {}", file.display()))?;
        Ok(Next::Line)
    }

    fn list(&self) -> Result<(), Trouble> {
        let mut text = self.session.definitions();
        for (name, held) in self.session.values() {
            text += &format!("{name} : {}\n", held.ty);
        }
        print(text.trim_end())
    }

    /// Checks an expression, and prints warnings about it.
    fn program(&self, expression: &str) -> Result<Program, Trouble> {
        if expression.is_empty() {
            return Err(Trouble::Told("error: an expression is missing".to_string()));
        }
        let program = self.session.program(expression)?;
        if let Some(warnings) = warnings(&program.checked) {
            eprintln!("{warnings}");
        }
        Ok(program)
    }

    fn evaluate(&self, expression: &str) -> Result<Held, Trouble> {
        let program = self.program(expression)?;
        let value = self.runner.value(&self.session, &program).map_err(failed)?;
        // The process has said why it has no value.
        let text = value.ok_or(Trouble::Told(String::new()))?;
        Ok(Held {
            ty: program.ty(),
            text,
        })
    }

    /// Draws a value, in the terminal or into the file behind `->`.
    fn plot(&self, rest: &str) -> Result<(), Trouble> {
        let (expression, file) = match rest.rsplit_once("->") {
            Some((expression, file)) if !file.contains(')') => {
                (expression.trim(), Some(file.trim()))
            }
            _one_expression => (rest, None),
        };
        let program = self.program(expression)?;
        let value = self.runner.value(&self.session, &program).map_err(failed)?;
        let text = value.ok_or(Trouble::Told(String::new()))?;
        let sums = program.checked.sums();
        let value = nova_core::text::read_value(&text, &program.result, sums);
        let value = value.map_err(|error| Trouble::Told(format!("error: {error}")))?;
        let picture = Picture::of(&value).map_err(|why| Trouble::Told(format!("error: {why}")))?;
        match file {
            Some(file) => picture
                .write(Path::new(file))
                .map_err(|error| Trouble::Told(format!("error: {file}: {error}"))),
            None => print(picture.text().trim_end_matches('\n')),
        }
    }
}

/// Returns the error of a process that cannot be started.
fn failed(error: io::Error) -> Trouble {
    Trouble::Told(format!("error: {error}"))
}

/// Returns a value as it is printed.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        None => text.to_string(),
        Some((end, _)) => {
            let rest = text.len() - end;
            format!(
                "{} … ({rest} more bytes; `:show` prints all)",
                text.get(..end).unwrap_or("")
            )
        }
    }
}

fn help() -> Result<(), Trouble> {
    let width = COMMANDS
        .iter()
        .map(|(name, takes, _)| name.len() + takes.len() + 1);
    let width = width.max().unwrap_or(0);
    print(
        "An expression prints its value, which is `it` until the next one. `x = EXPRESSION` names a value.",
    )?;
    print("`(define …)`, `(types …)`, `(import …)` and `(foreign …)` are kept.\n")?;
    for (name, takes, what) in COMMANDS {
        print(&format!("{:width$}  {what}", format!("{name} {takes}")))?;
    }
    print("\nCommands can be shortened. The standard library's files:")?;
    let names: Vec<String> = library::files()
        .map(|(name, _)| format!("{name:?}"))
        .collect();
    print(&names.join(" "))
}

fn print(line: &str) -> Result<(), Trouble> {
    let mut out = io::stdout().lock();
    let written = writeln!(out, "{line}").and_then(|()| out.flush());
    written.map_err(Trouble::Output)
}
