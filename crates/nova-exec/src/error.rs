//! The errors at the FFI boundary of a program: its inputs, its compilation, its call.

use nova_core::error::ERROR_KINDS;
use nova_core::{ErrorKind, RuntimeError};
use nova_diag::Place;
use std::io;
use std::path::{Path, PathBuf};

/// A VALUE of the wrong type or shape, or a file that cannot be read or written (exit status 2).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InputError(pub String);

impl InputError {
    /// Returns an error about a file. Where there is none, it names one beside it whose name is alike.
    pub fn file(path: &Path, error: &io::Error) -> Self {
        let mut text = format!("{}: {}", path.display(), describe(error));
        if error.kind() == io::ErrorKind::NotFound
            && let Some(other) = similar_file(path)
        {
            text.push_str(&format!("; did you mean {}?", other.display()));
        }
        InputError(text)
    }
}

/// The largest number of files of a folder that are compared with a missing one.
const COMPARED_FILES: usize = 10_000;

/// Returns the file whose name differs least from that of a missing one: by an ending that was left out, or by
/// a letter or two.
fn similar_file(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let files = std::fs::read_dir(folder).ok()?.take(COMPARED_FILES);
    let names = files.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let distance = |other: &str| match other.strip_prefix(name) {
        Some(ending) if ending.starts_with('.') => 1,
        Some(_) | None => strsim::osa_distance(name, other),
    };
    let allowed = (name.chars().count() / 4).clamp(1, 2);
    let near = names.map(|other| (distance(&other), other));
    let near = near.filter(|(distance, _)| *distance <= allowed).min();
    near.map(|(_, other)| path.with_file_name(other))
}

/// Returns an input/output error in words, without the operating system's error number.
pub fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_string(),
        io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        io::ErrorKind::IsADirectory => "is a directory".to_string(),
        io::ErrorKind::UnexpectedEof => "the file ends too early".to_string(),
        io::ErrorKind::NotADirectory => "a part of the path is no directory".to_string(),
        _ => {
            let text = error.to_string();
            let words = text.split(" (os error ").next();
            words.unwrap_or(&text).to_string()
        }
    }
}

/// The reason why generated C did not become a loaded library.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// There is no C compiler.
    #[error(
        "no C compiler found (tried `{tried}`)\n  help: install gcc or clang, or name one in the \
         environment variable CC; `novac eval` runs programs without a C compiler"
    )]
    NoCompiler {
        /// The command that could not be started.
        tried: String,
    },
    /// There is no compiler of the language of kernels.
    #[error(
        "no {language} compiler found (tried `{tried}`)\n  help: install {name}, or name it in the \
         environment variable {variable}"
    )]
    NoDeviceCompiler {
        /// The language.
        language: &'static str,
        /// The usual command.
        name: &'static str,
        /// The environment variable that names another command.
        variable: &'static str,
        /// The command that could not be started.
        tried: String,
    },
    /// The compiler refused the code.
    #[error("the C compiler failed: {command}\n{output}")]
    Refused {
        /// The command line.
        command: String,
        /// Its output on standard error.
        output: String,
    },
    /// The compiler refuses any code.
    #[error("the C compiler {program} does not work; it is not installed as a whole\n{output}")]
    Broken {
        /// The command.
        program: String,
        /// Its output on standard error for a program of one line.
        output: String,
    },
    /// A file that was to be linked cannot be used.
    #[error("{0}")]
    Link(InputError),
    /// A temporary file could not be written or read.
    #[error("{what}: {}", describe(.error))]
    Files {
        /// The operation that failed.
        what: String,
        /// The error of the system.
        error: io::Error,
    },
    /// The library could not be loaded.
    #[error("the compiled program could not be loaded: {0}")]
    Load(String),
    /// A foreign function is not defined.
    #[error(
        "the foreign function `{symbol}` is not defined anywhere\n  help: give the C file or the \
         library that defines it with --link"
    )]
    Undefined {
        /// Its name.
        symbol: String,
    },
    /// A foreign function has the same name as one of the system, which is found first.
    #[error(
        "the foreign function `{symbol}` is also one of {library}, which would be called instead of the \
         one that is linked\n  help: choose another name for it, or link its C source instead of a \
         shared library"
    )]
    Taken {
        /// Its name.
        symbol: String,
        /// The library that defines the name as well.
        library: String,
    },
    /// A type that values at the FFI boundary cannot have.
    #[error("{0}")]
    Ffi(String),
}

/// A call that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The program stopped with an error code (abi §2).
    #[error("{message}")]
    Failed {
        /// The code that the function returned.
        code: i32,
        /// The message of `NAME_error()`.
        message: String,
    },
    /// The arguments are not of the types that the entry declares.
    #[error("{0}")]
    Arguments(InputError),
    /// The called function broke the contract of its header.
    #[error("the generated function broke its contract: {0}")]
    Contract(String),
}

/// Parses a message of a generated program: `dot.nova:3:12: index 5 is out of range …`.
///
/// Returns `None` when it is not one of the run-time errors of the table.
pub fn parse_message(message: &str) -> Option<RuntimeError> {
    let (place, text) = split_place(message);
    let (kind, arguments) = ERROR_KINDS
        .iter()
        .find_map(|info| Some((info.kind, match_template(info.message, text)?)))?;
    Some(RuntimeError {
        kind,
        arguments,
        place,
    })
}

/// Returns the kind of a failure, from its message and code.
pub fn error_kind(error: &CallError) -> Option<ErrorKind> {
    match error {
        CallError::Failed { code: 2, .. } => Some(ErrorKind::Memory),
        CallError::Failed { message, .. } => parse_message(message).map(|e| e.kind),
        CallError::Arguments(_) | CallError::Contract(_) => None,
    }
}

/// Splits a message into the place before it and the rest.
pub fn split_place(message: &str) -> (Option<Place>, &str) {
    // A file's name may contain `: `, so every split is tried.
    for (at, _) in message.match_indices(": ") {
        if let Some(place) = Place::parse(&message[..at]) {
            return (Some(place), &message[at + 2..]);
        }
    }
    (None, message)
}

/// Returns the integers that stand for `{0}`, `{1}` of a template, if the text matches it.
fn match_template(template: &str, mut text: &str) -> Option<Vec<i64>> {
    let mut arguments = Vec::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        text = text.strip_prefix(&rest[..open])?;
        let end = text
            .find(|c: char| !(c.is_ascii_digit() || c == '-'))
            .unwrap_or(text.len());
        arguments.push(text[..end].parse().ok()?);
        text = &text[end..];
        rest = &rest[open + 3..];
    }
    (text == rest).then_some(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_back() {
        for info in &ERROR_KINDS {
            let error = RuntimeError {
                kind: info.kind,
                arguments: vec![-5, 3][..info.arguments].to_vec(),
                place: Some(Place::new("a: b.nova", 3, 12)),
            };
            assert_eq!(parse_message(&error.to_string()), Some(error));
        }
        assert_eq!(parse_message("something else"), None);
    }
}
