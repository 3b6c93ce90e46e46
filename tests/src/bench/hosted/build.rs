//! A program with its host: NOVA's C for one thread and, with other names, for
//! pthreads, the host and the opponents, linked to one executable.

use super::rows::{Collection, Family};
use crate::bench::build::{C, PEER_FLAGS, Peer, folder_of, gcc, nova_flags, run};
use nova_driver::{Compiler, Options, Source, Target};
use std::path::{Path, PathBuf};

/// The prefix of the names of functions that are compiled for pthreads.
const THREADS_PREFIX: &str = "threads_";
/// The flags of hosts beside those of C written by hand.
const HOST_FLAGS: &[&str] = &["-Wall", "-Wextra", "-Werror", "-fopenmp", "-I."];

/// The flags of the C++ beside a host.
const CPP_FLAGS: &[&str] = &["-std=c++17", "-Ofast", "-march=native"];

/// Returns the folder of programs and hosts.
fn hosts(collection: &Collection) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(collection.folder)
}

/// Returns the file of a family's program, beside its host or among the benchmark programs.
pub fn program_of(collection: &Collection, family: &Family) -> PathBuf {
    let file = format!("{}.nova", family.name);
    let beside = hosts(collection).join(&file);
    match beside.exists() {
        true => beside,
        false => folder_of(family.name).join(file),
    }
}

/// Builds the executable of a family, which has its name, in a folder.
pub fn build(collection: &Collection, family: &Family, folder: &Path) -> Result<(), String> {
    let source = program_of(collection, family);
    let nova = |target, prefix| nova(family, &source, target, prefix, folder);
    let mut objects = vec![nova(Target::Sequential, "")?];
    if family.threads {
        objects.push(nova(Target::Pthreads, THREADS_PREFIX)?);
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
    let beside = |file: String| {
        let path = std::fs::canonicalize(hosts(collection).join(&file));
        path.map_err(|error| format!("{file}: {error}"))
    };
    let host = beside(format!("{}.c", family.name))?;
    let flags = [PEER_FLAGS, HOST_FLAGS, &["-c"]];
    gcc(folder, &flags, &[&host], "host.o")?;
    objects.push(folder.join("host.o"));
    for name in family.sources {
        let source = beside(format!("{name}.cpp"))?;
        let object = format!("{name}.o");
        let flags = [CPP_FLAGS, HOST_FLAGS, &["-c"]];
        run("g++", folder, &flags, &[&source], &[], &object)?;
        objects.push(folder.join(object));
    }
    let objects: Vec<&Path> = objects.iter().map(PathBuf::as_path).collect();
    let libraries: &[&str] = match family.sources {
        [] => &["-lm", "-pthread", "-ldl"],
        _ => &["-lstdc++", "-lm", "-pthread", "-ldl"],
    };
    // Linked without -Ofast, with which the whole process would flush denormals to zero.
    let flags: &[&[&str]] = &[&["-fopenmp"]];
    run("gcc", folder, flags, &objects, &[libraries], family.name)
}

/// Compiles the program for a target. The names of its files and functions begin with the prefix.
fn nova(
    family: &Family,
    program: &Path,
    target: Target,
    prefix: &str,
    folder: &Path,
) -> Result<PathBuf, String> {
    let compiler = Compiler::new(Options {
        target,
        prefix: prefix.to_string(),
        ..Options::default()
    });
    let mut checked = compiler
        .check(Source::File(program.to_path_buf()))
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
