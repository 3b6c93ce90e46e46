//! Tells the crate a digest of the compiler's own sources. Programs that another compiler has kept in the
//! cache are not used.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let own = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut paths = BTreeSet::new();
    for package in packages(&own) {
        paths.extend(["src", "std", "build.rs", "Cargo.toml"].map(|part| package.join(part)));
    }
    // The runtime and the versions of other libraries, where the sources lie beside each other.
    let top = own.join("../..");
    paths.extend(["runtime-c", "Cargo.lock"].map(|part| top.join(part)));
    let mut hasher = DefaultHasher::new();
    for path in paths.iter().filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
        add(path, &mut hasher)?;
    }
    println!("cargo::rustc-env=NOVA_SOURCES={:016x}", hasher.finish());
    Ok(())
}

/// Returns the folders of a package and of all packages beside it on which it depends.
fn packages(own: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut work = vec![own.to_path_buf()];
    while let Some(package) = work.pop() {
        let Ok(manifest) = fs::read_to_string(package.join("Cargo.toml")) else {
            continue;
        };
        if !found.insert(package) {
            continue;
        }
        let names = manifest.lines().filter(|line| line.starts_with("nova-"));
        let names = names.filter_map(|line| line.split(['.', ' ', '=']).next());
        work.extend(names.filter_map(|name| Some(own.parent()?.join(name))));
    }
    found
}

/// Adds the content of a file, or of all files of a folder with their names.
fn add(path: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    if path.is_file() {
        let content = fs::read(path)?;
        hasher.write(path.file_name().unwrap_or_default().as_encoded_bytes());
        hasher.write_usize(content.len());
        hasher.write(&content);
        return Ok(());
    }
    let entries: io::Result<BTreeSet<PathBuf>> =
        fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect();
    entries?.iter().try_for_each(|entry| add(entry, hasher))
}
