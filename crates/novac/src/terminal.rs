//! Standard output and standard error, without ever panicking, and how a command ends.

use nova_driver::Failure;
use std::io::{self, Write};

/// A command's end other than success: the exit status, and the message for standard error.
#[derive(Debug)]
pub struct End {
    /// The exit status.
    pub status: u8,
    /// The message; nothing is written when it is empty.
    pub message: String,
}

/// What a command gives.
pub type Outcome = Result<(), End>;

impl End {
    /// The program has errors or failed (status 1).
    pub fn failed(message: impl Into<String>) -> End {
        End {
            status: 1,
            message: message.into(),
        }
    }

    /// The command line, a value or a file is wrong (status 2).
    pub fn usage(message: impl Into<String>) -> End {
        End {
            status: 2,
            message: message.into(),
        }
    }

    /// With everything said already.
    pub fn silent(status: u8) -> End {
        End {
            status,
            message: String::new(),
        }
    }
}

impl From<Failure> for End {
    fn from(failure: Failure) -> End {
        let status = match &failure {
            Failure::Input(_) => 2,
            Failure::Call(nova_exec::CallError::Arguments(_)) => 2,
            Failure::Compile(nova_exec::CompileError::Link(_)) => 2,
            Failure::Program(_)
            | Failure::Run(_)
            | Failure::Internal(_)
            | Failure::Compile(_)
            | Failure::Call(_)
            | Failure::Unsupported(_) => 1,
        };
        let message = match &failure {
            // Diagnostics say `error[N0203]: …` themselves.
            Failure::Program(report) => report.to_text().trim_end().to_string(),
            Failure::Run(_)
            | Failure::Internal(_)
            | Failure::Input(_)
            | Failure::Compile(_)
            | Failure::Call(_)
            | Failure::Unsupported(_) => format!("error: {failure}"),
        };
        End { status, message }
    }
}

impl From<nova_exec::InputError> for End {
    fn from(error: nova_exec::InputError) -> End {
        End::usage(format!("error: {error}"))
    }
}

/// Writes to standard output. A reader that has gone away ends the command, and is no failure.
pub fn print(text: &str) -> Outcome {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => End::silent(0),
        _ => End::failed(format!("error: standard output: {error}")),
    })
}

/// Writes a line to standard output.
pub fn print_line(text: &str) -> Outcome {
    print(&format!("{text}\n"))
}

/// Writes a line to standard error; where nobody listens, nothing is lost.
pub fn message(text: &str) {
    let text = text.trim_end_matches('\n');
    if !text.is_empty() {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}
