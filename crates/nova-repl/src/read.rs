//! Reads what is typed: at a terminal with history, completion and lines that go on until their brackets are
//! closed, from a file line by line as well.

use crate::command::COMMANDS;
use crate::forms::Forms;
use crate::session::Session;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Editor, Helper};
use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;

/// The prompt.
const PROMPT: &str = "nova> ";

/// Where lines come from.
pub enum Reader {
    Terminal(Box<Editor<Words, DefaultHistory>>, Option<PathBuf>),
    File(io::StdinLock<'static>),
}

impl Reader {
    /// Looks what standard input is.
    pub fn new() -> io::Result<Reader> {
        if !io::stdin().is_terminal() {
            return Ok(Reader::File(io::stdin().lock()));
        }
        let mut editor = Editor::new().map_err(io::Error::other)?;
        editor.set_helper(Some(Words::default()));
        let file = history_file();
        if let Some(file) = &file {
            // There is none before the first session.
            let _ = editor.load_history(file);
        }
        println!(
            "NOVA {}; :help lists the commands",
            env!("CARGO_PKG_VERSION")
        );
        Ok(Reader::Terminal(Box::new(editor), file))
    }

    /// Returns the next text whose brackets are closed, or nothing at the end.
    pub fn next(&mut self, session: &Session) -> io::Result<Option<String>> {
        match self {
            Reader::Terminal(editor, _) => typed(editor, session),
            Reader::File(input) => {
                let mut text = String::new();
                while input.read_line(&mut text)? > 0 {
                    if is_whole(&text) {
                        return Ok(Some(text));
                    }
                }
                // What is open at the end goes to the parser, which says so.
                Ok((!text.is_empty()).then_some(text))
            }
        }
    }

    /// Keeps the history.
    pub fn end(&mut self) {
        if let Reader::Terminal(editor, Some(file)) = self
            && let Err(error) = editor.save_history(file)
        {
            eprintln!(
                "warning: the history is not kept: {}: {error}",
                file.display()
            );
        }
    }
}

fn typed(
    editor: &mut Editor<Words, DefaultHistory>,
    session: &Session,
) -> io::Result<Option<String>> {
    if let Some(words) = editor.helper_mut() {
        words.list = words_of(session);
    }
    loop {
        match editor.readline(PROMPT) {
            Ok(text) => {
                editor.add_history_entry(&text).map_err(io::Error::other)?;
                return Ok(Some(text));
            }
            // Ctrl-C gives up a line, Ctrl-D ends the session.
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(None),
            Err(error) => return Err(io::Error::other(error)),
        }
    }
}

fn is_whole(text: &str) -> bool {
    text.trim_start().starts_with(':') || !Forms::of(text).is_open
}

fn history_file() -> Option<PathBuf> {
    use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};
    let strategy = choose_base_strategy().ok()?;
    let folder = strategy
        .state_dir()
        .unwrap_or_else(|| strategy.data_dir())
        .join("novac");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}

/// Returns all words that can be completed.
fn words_of(session: &Session) -> Vec<String> {
    let built_in = nova_infer::builtin_names().map(str::to_string);
    let commands = COMMANDS.iter().map(|(name, ..)| (*name).to_string());
    let mut words: Vec<String> = built_in.chain(commands).chain(session.names()).collect();
    words.sort();
    words.dedup();
    words
}

/// What the line editor asks: completions, and whether a text is whole.
#[derive(Default)]
pub struct Words {
    list: Vec<String>,
}

impl Completer for Words {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let before = line.get(..at).unwrap_or("");
        let start = before.rfind(|c: char| c.is_whitespace() || "()[],\"".contains(c));
        let start = start.map_or(0, |at| at + 1);
        let begun = before.get(start..).unwrap_or("");
        let fitting = self.list.iter().filter(|word| word.starts_with(begun));
        Ok((start, fitting.cloned().collect()))
    }
}

impl Validator for Words {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_whole(context.input()) {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

impl Hinter for Words {
    type Hint = String;
}
impl Highlighter for Words {}
impl Helper for Words {}
