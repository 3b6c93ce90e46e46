//! `novac repl`: the interactive session.

use crate::cli::{Common, ReplArguments};
use crate::terminal::{End, Outcome};
use nova_repl::Settings;

/// Answers expressions until standard input ends. The exit status is 1 if one of them had an error, which a script
/// wants to know.
pub fn repl(common: &Common, arguments: &ReplArguments) -> Outcome {
    let command = std::env::current_exe()
        .map_err(|error| End::failed(format!("error: the path of this command: {error}")))?;
    let options = common.arguments();
    let mut run_options = options.clone();
    for file in &arguments.link {
        run_options.push(format!("--link={}", file.display()));
    }
    let settings = Settings {
        options: common.options(),
        command,
        run_options,
        eval_options: options,
    };
    match nova_repl::run(settings, &arguments.files) {
        Ok(true) => Ok(()),
        Ok(false) => Err(End::silent(1)),
        Err(error) => Err(End::failed(format!("error: {error}"))),
    }
}
