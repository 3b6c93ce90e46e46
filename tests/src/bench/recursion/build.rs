//! A program of recursive data with its host: NOVA's C for one thread and, with other names, for
//! pthreads, the host and the opponents, linked to one executable.

use super::rows::Family;
use crate::bench::build::{C, PEER_FLAGS, Peer, folder_of, gcc, nova_flags};
use nova_driver::{Compiler, Options, Source, Target};
use std::path::{Path, PathBuf};

/// The prefix of the names of functions that are compiled for pthreads.
const THREADS_PREFIX: &str = "threads_";
/// The flags of hosts beside those of C written by hand.
const HOST_FLAGS: &[&str] = &["-Wall", "-Wextra", "-Werror", "-fopenmp", "-I."];

/// Returns the folder of programs and hosts.
fn hosts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recursion")
}

/// Returns the file of a family's program, beside its host or among the benchmark programs.
pub fn program_of(family: &Family) -> PathBuf {
    let file = format!("{}.nova", family.name);
    let beside = hosts().join(&file);
    match beside.exists() {
        true => beside,
        false => folder_of(family.name).join(file),
    }
}

/// Builds the executable of a family, which has its name, in a folder.
pub fn build(family: &Family, folder: &Path) -> Result<(), String> {
    let mut objects = vec![nova(family, Target::Sequential, "", folder)?];
    if family.threads {
        objects.push(nova(family, Target::Pthreads, THREADS_PREFIX, folder)?);
    }
    for name in family.peers {
        let own = folder.join(name);
        // The name of the executable belongs to the host.
        let own = own.with_extension("peer");
        std::fs::create_dir(&own).map_err(|error| format!("{}: {error}", own.display()))?;
        let include = format!("-I{}", folder.display());
        let peer = Peer {
            name,
            toolchain: C,
            define: &[&include],
        };
        objects.push(peer.compile(family.name, &own)?);
    }
    let host = std::fs::canonicalize(hosts().join(format!("{}.c", family.name)))
        .map_err(|error| format!("{}.c: {error}", family.name))?;
    gcc(
        folder,
        &[PEER_FLAGS, HOST_FLAGS, &["-c"]],
        &[&host],
        "host.o",
    )?;
    objects.push(folder.join("host.o"));
    let objects: Vec<&Path> = objects.iter().map(PathBuf::as_path).collect();
    // Linked without -Ofast, with which the whole process would flush denormals to zero.
    gcc(folder, &[&["-fopenmp"]], &objects, family.name)
}

/// Compiles the program for a target. The names of its files and functions begin with the prefix.
fn nova(family: &Family, target: Target, prefix: &str, folder: &Path) -> Result<PathBuf, String> {
    let compiler = Compiler::new(Options {
        target,
        prefix: prefix.to_string(),
        ..Options::default()
    });
    let mut checked = compiler
        .check(Source::File(program_of(family)))
        .map_err(|failure| failure.to_string())?;
    let generated = compiler
        .compile(&mut checked)
        .map_err(|failure| failure.to_string())?;
    let write = |file: String, text: &str| {
        let path = folder.join(&file);
        std::fs::write(path, text).map_err(|error| format!("{file}: {error}"))
    };
    let name = family.name;
    write(format!("{prefix}{name}.h"), &generated.files.header)?;
    // The generated C includes its header, if at all, by the name of the program.
    let own = folder.join(format!("{prefix}source"));
    std::fs::create_dir(&own).map_err(|error| format!("{}: {error}", own.display()))?;
    write(format!("{prefix}source/{name}.h"), &generated.files.header)?;
    write(format!("{prefix}source/{name}.c"), &generated.files.source)?;
    let source = own.join(format!("{name}.c"));
    gcc(&own, &[nova_flags(), &["-w", "-c"]], &[&source], "nova.o")?;
    Ok(own.join("nova.o"))
}
