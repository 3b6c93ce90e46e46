//! The command `novac` (abi §1): reads the command line, calls the driver, and writes the results.
//!
//! `cli` defines the command line, each command is a file of `commands`, and `terminal` ends the
//! process.

mod cli;
mod commands;
mod compare;
mod terminal;

use cli::Cli;
use std::panic;
use std::process::ExitCode;
use std::thread;
use terminal::{End, message};

/// The allocator for the compiler's many small allocations. The C library's allocator takes a third
/// of the time of a large program, and more the larger it is.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Sizes of the stack for the work. The first one that can be allocated is used, and only used
/// pages take memory. (Recursion over programs grows its own stack. This one is for libraries.)
const STACKS: [usize; 3] = [256 << 20, 64 << 20, 8 << 20];

fn main() -> ExitCode {
    // The code that catches a panic reports it, with advice.
    panic::set_hook(Box::new(|_| {}));
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let thread = STACKS.iter().find_map(|stack| {
        let arguments = arguments.clone();
        let work = move || command(arguments);
        thread::Builder::new().stack_size(*stack).spawn(work).ok()
    });
    let status = match thread {
        Some(thread) => thread.join(),
        None => panic::catch_unwind(|| command(arguments)),
    };
    ExitCode::from(status.unwrap_or_else(|panic| {
        message(&format!(
            "error: internal error of the compiler: {}\n  This is a mistake in NOVA, not in \
             your program. Please report it with the program and the command line.",
            nova_driver::pipeline::panic_message(&*panic)
        ));
        1
    }))
}

/// Runs a command line. Returns the exit status.
fn command(arguments: Vec<std::ffi::OsString>) -> u8 {
    let end = match cli::parse(arguments) {
        Ok(cli) => run(cli),
        Err(error) => Err(usage(&error)),
    };
    match end {
        Ok(()) => 0,
        Err(end) => {
            message(&end.message);
            end.status
        }
    }
}

/// Returns the end for an error of the command line. Help and version go to standard output.
fn usage(error: &clap::Error) -> End {
    let text = error.render().to_string();
    match error.use_stderr() {
        true => End::usage(text),
        false => match terminal::print(&text) {
            Ok(()) => End::silent(0),
            Err(end) => end,
        },
    }
}

fn run(cli: Cli) -> terminal::Outcome {
    commands::dispatch(cli)
}
