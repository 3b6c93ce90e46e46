//! Functions written by hand as libraries of NOVA's: they have the type of a program's entry, and are called as it
//! is.

use super::build::{self, Toolchain};
use nova_exec::library::{EntryInterface, Generated, Library};
use nova_exec::toolchain::CompilerOptions;
use std::path::{Path, PathBuf};

/// Compiles and loads a program, together with files to be linked.
pub fn load(
    program: &Generated<'_>,
    optimization: u8,
    link: &[PathBuf],
) -> Result<Library, String> {
    let options = CompilerOptions {
        optimization,
        strict: false,
        libraries: &[],
        device: None,
    };
    Library::load_with(program, options, link, None).map_err(|error| error.to_string())
}

/// Loads the function `peer_PEER` of an object or a library in the place of the entry of a program, which has only
/// one.
pub fn load_peer(program: &Generated<'_>, peer: &str, file: PathBuf) -> Result<Library, String> {
    let name = program.name;
    let (symbol, error) = (format!("peer_{peer}"), format!("peer_{peer}_error"));
    let header = program
        .header
        .replace(&format!("int {name}("), &format!("int {symbol}("))
        .replace(&format!("{name}_error("), &format!("{error}("));
    let source = format!("const char *{error}(void)\n{{\n    return 0;\n}}\n");
    let of_peer = |entry: &EntryInterface| EntryInterface {
        symbol: symbol.clone(),
        error: error.clone(),
        ..entry.clone()
    };
    let generated = Generated {
        name,
        header: &header,
        source: &source,
        entries: program.entries.iter().map(of_peer).collect(),
        foreigns: Vec::new(),
        sums: program.sums,
    };
    load(&generated, 2, &[file])
}

/// Compiles `peers/NAME.c` of a program to a shared library in a folder, with further flags. It is linked without
/// -Ofast, with which the whole process would flush denormals to zero.
pub fn shared(
    program: &Generated<'_>,
    folder: &Path,
    toolchain: Toolchain,
    further: &[&str],
) -> Result<PathBuf, String> {
    let name = program.name;
    let written = std::fs::write(folder.join(format!("{name}.h")), program.header);
    written.map_err(|error| error.to_string())?;
    let source = build::folder_of(name).join(format!("peers/{name}.c"));
    let source =
        std::fs::canonicalize(&source).map_err(|error| format!("{}: {error}", source.display()))?;
    let compile: &[&str] = &["-fPIC", "-c", "-I."];
    let flags = [toolchain.flags, compile, further];
    build::run("gcc", folder, &flags, &[&source], &[], "peer.o")?;
    let link: &[&str] = &["-shared"];
    let libraries = [toolchain.link, &["-lm"]];
    let object = Path::new("peer.o");
    build::run("gcc", folder, &[link], &[object], &libraries, "peer.so")?;
    Ok(folder.join("peer.so"))
}
