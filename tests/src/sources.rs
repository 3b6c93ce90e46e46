//! The programs of the repository: examples, tests and the standard library.

use std::path::{Path, PathBuf};

/// Returns the programs below folders, sorted. The folders are relative to the root of the repository.
///
/// # Panics
/// If a folder cannot be read.
pub fn programs(folders: &[&str]) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for folder in folders {
        add(&root.join(folder), &mut found);
    }
    found.sort();
    found
}

fn add(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{folder:?}: {e}"));
    for entry in entries {
        let path = entry.expect("an entry of a folder").path();
        if path.is_dir() {
            add(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "nova") {
            found.push(path);
        }
    }
}
