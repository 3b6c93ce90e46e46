//! `novac --print cmake-dir`: the folder from which CMake's `find_package(Nova)` reads `NovaConfig.cmake`.

use crate::terminal::{End, Outcome, print_line};
use nova_exec::InputError;
use nova_exec::atomic::write_file;
use nova_exec::cache::Cache;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of the package.
const FILES: [(&str, &str); 2] = [
    (
        "NovaConfig.cmake",
        include_str!("../../cmake/NovaConfig.cmake"),
    ),
    (
        "NovaConfigVersion.cmake",
        include_str!("../../cmake/NovaConfigVersion.cmake"),
    ),
];

/// Prints the folder of the package's files, which are written to the user's cache.
pub fn print_folder() -> Outcome {
    let folder = folder().ok_or_else(|| {
        End::failed("error: there is no folder for CMake's files; name one in NOVA_CACHE")
    })?;
    fs::create_dir_all(&folder).map_err(|error| InputError::file(&folder, &error))?;
    for (name, text) in FILES {
        write_changed(&folder.join(name), &text.replace("@VERSION@", VERSION))?;
    }
    print_line(&folder.display().to_string())
}

/// The version of the package, that of the command.
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn folder() -> Option<PathBuf> {
    let cache = Cache::of_user()?;
    let folder = std::path::absolute(cache.folder()).ok()?;
    Some(folder.join("cmake").join(VERSION))
}

/// Writes a file if it is another one. CMake configures a project anew when a file of a package is new.
fn write_changed(path: &Path, text: &str) -> Result<(), InputError> {
    if fs::read(path).is_ok_and(|written| written == text.as_bytes()) {
        return Ok(());
    }
    write_file(path, |writer| writer.write_all(text.as_bytes()))
}
