//! Standard output and standard error, without ever panicking, and the ends of commands.

use nova_driver::Failure;
use nova_exec::error::describe;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// A command's end other than success: the exit status, and the message for standard error.
#[derive(Debug)]
pub struct End {
    /// The exit status.
    pub status: u8,
    /// The message. Nothing is written when it is empty.
    pub message: String,
}

/// The outcome of a command.
pub type Outcome = Result<(), End>;

impl End {
    /// Returns the end of a program that has errors or failed (status 1).
    pub fn failed(message: impl Into<String>) -> End {
        End {
            status: 1,
            message: message.into(),
        }
    }

    /// Returns the end for a wrong command line, value or file (status 2).
    pub fn usage(message: impl Into<String>) -> End {
        End {
            status: 2,
            message: message.into(),
        }
    }

    /// Returns an end without a message, since all is reported already.
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
            _ => 1,
        };
        let message = match &failure {
            // Diagnostics begin with `error[N0203]: …` themselves.
            Failure::Program(report) => report.to_text().trim_end().to_string(),
            _ => format!("error: {failure}"),
        };
        End { status, message }
    }
}

impl From<nova_exec::InputError> for End {
    fn from(error: nova_exec::InputError) -> End {
        End::usage(format!("error: {error}"))
    }
}

/// True if the process was started without a standard output. The standard library opens
/// `/dev/null` in its place before `main`, and discards the output.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Checks standard output before the standard library does.
#[cfg(unix)]
extern "C" fn look_at_output() {
    // SAFETY: the number is only queried; it need not be open.
    let output = unsafe { std::os::fd::BorrowedFd::borrow_raw(1) };
    let is_closed = rustix::io::fcntl_getfd(output).is_err();
    CLOSED.store(is_closed, Ordering::Relaxed);
}

// SAFETY: the function needs nothing that does not exist before `main`.
#[cfg(unix)]
#[used]
#[cfg_attr(
    target_vendor = "apple",
    unsafe(link_section = "__DATA,__mod_init_func")
)]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static LOOK_AT_OUTPUT: extern "C" fn() = look_at_output;

/// Writes to standard output. A reader that has gone away ends the command without a failure.
pub fn print(text: &str) -> Outcome {
    match text.is_empty() {
        true => Ok(()),
        false => print_with(|out| out.write_all(text.as_bytes())),
    }
}

/// Writes to standard output as [`print`] does. The text is written while it is made.
pub fn print_with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Outcome {
    if CLOSED.load(Ordering::Relaxed) {
        return Err(End::failed("error: standard output is closed"));
    }
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let written = write(&mut out).and_then(|()| out.flush());
    written.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => End::silent(0),
        _ => End::failed(format!("error: standard output: {}", describe(&error))),
    })
}

/// Writes a line to standard output.
pub fn print_line(text: &str) -> Outcome {
    print(&format!("{text}\n"))
}

/// Writes a line to standard error. An error of the write is ignored.
pub fn message(text: &str) {
    let text = text.trim_end_matches('\n');
    if !text.is_empty() {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}
