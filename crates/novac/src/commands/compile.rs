//! `novac PROG.nova`: the generated files, or the program at a stage.

use crate::cli::Cli;
use crate::terminal::{End, Outcome, print};
use nova_driver::{Compiler, Stage};

/// Compiles a program to files, or prints it at the stage asked for.
pub fn compile(cli: &Cli) -> Outcome {
    let Some(file) = &cli.file else {
        return Err(End::usage(
            "error: a program is missing\n  help: `novac prog.nova` compiles it, `novac --help` tells more",
        ));
    };
    let compiler = Compiler::new(cli.common.options());
    let mut checked = super::check_file(&compiler, file)?;
    let emitted = compiler.emit(&mut checked, cli.emit.unwrap_or(Stage::C));
    super::report_passes(&cli.common, &checked);
    print(&emitted?)
}
