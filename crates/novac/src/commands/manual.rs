//! `novac man`: the pages of the manual, made of the definition of the command line.

use crate::cli;
use crate::terminal::{End, Outcome};
use nova_exec::InputError;
use nova_exec::atomic::write_files;
use std::path::{Path, PathBuf};

/// Prints the page about a command, or about novac itself.
pub fn print(name: Option<&str>) -> Outcome {
    let mut all = cli::command();
    all.build();
    let page = match name {
        None => all,
        Some(name) => match all.find_subcommand(name) {
            Some(command) => command.clone(),
            None => return Err(End::usage(format!("error: there is no command `{name}`"))),
        },
    };
    crate::terminal::print(&String::from_utf8_lossy(&render(page)?))
}

/// Writes all pages into a folder, which is made if it is not there.
pub fn write(folder: &Path) -> Outcome {
    let mut all = cli::command();
    all.build();
    let commands: Vec<clap::Command> = all.get_subcommands().cloned().collect();
    let mut pages = Vec::new();
    for command in std::iter::once(all).chain(commands) {
        let name = command.get_display_name().unwrap_or("novac");
        let file = folder.join(format!("{name}.1"));
        pages.push((file, render(command)?));
    }
    std::fs::create_dir_all(folder).map_err(|error| InputError::file(folder, &error))?;
    let pages: Vec<(PathBuf, &[u8])> = pages
        .iter()
        .map(|(file, page)| (file.clone(), page.as_slice()))
        .collect();
    Ok(write_files(&pages)?)
}

/// Returns a page as text for `man`.
fn render(command: clap::Command) -> Result<Vec<u8>, End> {
    // Each pass has an option. The page would be a list of them.
    let page = command.mut_args(|argument| match argument.get_help_heading() {
        Some(cli::PASSES) => argument.hide(true),
        Some(_) | None => argument,
    });
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(page).render(&mut text);
    rendered.map_err(|error| End::failed(format!("error: the page: {error}")))?;
    Ok(text)
}
