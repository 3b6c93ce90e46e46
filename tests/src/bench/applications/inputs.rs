//! The data of the applications as files, with the arguments of `novac` that name them: for `novac run`, and
//! for `novac tune`.

use super::run::Plan;
use super::table::Application;
use crate::bench::build::folder_of;
use crate::random::Random;
use nova_core::text::Style;
use nova_core::{Type, Value};
use nova_driver::{Checked, Compiler, Options, Signature, Source};
use nova_exec::output::{Outcome, check_output, write_output};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The endings of files of data, the most compact first. Text holds every value.
const ENDINGS: [&str; 3] = ["npy", "npz", "txt"];

/// Writes the data of a plan's applications into folders `NAME-SIZE`. The file `arguments` in each has a line
/// for each input, `X=@FILE`, after a line with the program.
///
/// # Errors
/// A program that does not compile, or a file that cannot be written.
pub fn write(plan: &Plan, folder: &Path) -> Result<(), String> {
    for application in plan.applications()? {
        for &size in application.sizes {
            let size = (size / plan.shrink.max(1)).max(1);
            let folder = folder.join(format!("{}-{size}", application.name));
            write_one(application, size, &folder)
                .map_err(|why| format!("{}: {why}", application.name))?;
        }
    }
    Ok(())
}

fn write_one(application: &Application, size: usize, folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let name = application.name;
    let path = folder_of(name).join(format!("{name}.nova"));
    let compiler = Compiler::new(Options::default());
    let checked = compiler.check(Source::File(path.clone()));
    let checked = checked.map_err(|failure| failure.to_string())?;
    let signature = checked.signatures().into_iter().next();
    let signature = signature.ok_or("it has no entry")?;
    let values = (application.draw)(&mut Random::new(1), size);
    let mut arguments = format!("{}\n", path.display());
    for argument in files(&checked, &signature, values, folder)? {
        arguments += &format!("{argument}\n");
    }
    std::fs::write(folder.join("arguments"), arguments).map_err(|error| error.to_string())
}

/// Writes the inputs of an entry as files into a folder, and returns the arguments `X=@FILE` that name them.
///
/// # Errors
/// A value that no file can hold.
pub fn files(
    checked: &Checked,
    signature: &Signature,
    values: Vec<Value>,
    folder: &Path,
) -> Result<Vec<String>, String> {
    let file = |((input, ty), value): (&(Arc<str>, Type), Value)| {
        let paths = ENDINGS.map(|ending| folder.join(format!("{input}.{ending}")));
        let outcome = Outcome::Value(value);
        let fits = |path: &&PathBuf| {
            let sums = checked.sums();
            check_output(path, ty).is_ok()
                && write_output(path, &outcome, ty, sums, Style::Numbers).is_ok()
        };
        let path = paths.iter().find(fits);
        let path = path.ok_or_else(|| format!("no file can hold the input {input}"))?;
        Ok(format!("{input}=@{}", path.display()))
    };
    signature.inputs.iter().zip(values).map(file).collect()
}
