//! Tests of programs whose entries and inputs have names of functions, variables and macros of the
//! C library, of mathematics and of compilers' runtimes. A loaded program uses its own definitions,
//! hosts are warned, and their compilers accept the C.

use nova_c::names::{library_names, macro_names};
use nova_driver::{Compiler, Options, Source, Target, Typed};
use nova_tests::programs;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Number of entries in one file.
const ENTRIES: usize = 2000;

/// Returns a program with an entry for each name, which adds the name's number to its input. The
/// input of every other one has the same name.
fn program(names: &[&str]) -> String {
    let mut text = String::new();
    for (k, name) in names.iter().enumerate() {
        let input = if k % 2 == 0 { "x" } else { name };
        writeln!(text, "(entry {name} (({input} : int)) (+ {input} {k}))").expect("a text");
    }
    text
}

fn names() -> Vec<&'static str> {
    let names: Vec<&str> = library_names().map(|(name, _)| name).collect();
    assert!(names.len() > 7000 && names.is_sorted());
    // `malloc_error` is also the function for the errors of an entry `malloc` with a prefix.
    let all: BTreeSet<&str> = names.iter().copied().collect();
    let is_derived = |name: &&str| {
        let ends = ["_error", "_device", "_free_result"];
        let mut stems = ends.iter().filter_map(|end| name.strip_suffix(end));
        stems.any(|stem| all.contains(stem))
    };
    let (derived, others): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| is_derived(name));
    assert!(derived.len() < 20, "{derived:?}");
    others
}

fn options(target: Target) -> Options {
    Options {
        target,
        optimization: 0,
        ..Options::default()
    }
}

#[test]
fn loaded_programs_do_not_depend_on_names() {
    for (part, names) in names().chunks(ENTRIES).enumerate() {
        // The code for threads uses more of the library's names than sequential code.
        let targets = [Target::Pthreads, Target::Sequential];
        for target in targets.into_iter().take(1 + usize::from(part == 0)) {
            let source = Source::text("names.nova", program(names));
            let (_, library, _) = programs::load(options(target), source);
            for (k, name) in names.iter().enumerate() {
                let value = library.call(k, &[1000i32.into_value()]);
                let value = value.unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(i32::from_value(&value), Some(1000 + k as i32), "{name}");
            }
        }
    }
}

#[test]
fn hosts_are_warned() {
    let names = names();
    let checked = |prefix: &str| {
        let options = Options {
            prefix: prefix.to_string(),
            ..options(Target::Sequential)
        };
        let source = Source::text("names.nova", program(&names));
        let checked = Compiler::new(options).check(source).expect("no errors");
        checked.host_warnings().diagnostics
    };
    let warnings = checked("");
    let warned: BTreeSet<&str> = warnings
        .iter()
        .filter_map(|warning| warning.message.split('`').nth(1))
        .collect();
    let tried: BTreeSet<&str> = names.iter().copied().collect();
    for (name, is_declared) in library_names().filter(|(name, _)| tried.contains(name)) {
        // A name that headers declare is replaced, and then needs no warning.
        assert_eq!(warned.contains(name), !is_declared, "{name}");
        let function = nova_c::entry_symbols("", name).function;
        assert_eq!(function == name, !is_declared, "{name}");
    }
    for name in ["step", "recv", "error", "re_comp"] {
        assert!(warned.contains(name), "{name}");
    }
    assert!(checked("my_").is_empty());
}

/// The headers of C, which a host may include before the program's.
const HEADERS: &str = "assert complex ctype errno fenv float inttypes limits locale math setjmp signal \
                       stdarg stddef stdint stdio stdlib string time wchar wctype";

/// Headers of POSIX whose macros are known, too. Hosts are warned of their declarations.
const OTHER_HEADERS: &str =
    "dlfcn fcntl pthread sched unistd sys/mman sys/stat sys/syscall sys/types";

fn includes(headers: &str) -> String {
    let mut text = String::new();
    for header in headers.split_whitespace() {
        writeln!(text, "#include <{header}.h>").expect("a text");
    }
    text
}

fn accepts(folder: &Path, compiler: &str, arguments: &str) {
    let mut command = Command::new(compiler);
    command
        .current_dir(folder)
        .args("-fsyntax-only -Wall -Wextra -Werror".split(' '))
        .args(arguments.split(' '));
    let output = command.output().expect("a compiler");
    let messages = String::from_utf8_lossy(&output.stderr);
    let shown: String = messages.chars().take(2000).collect();
    assert!(output.status.success(), "{compiler} {arguments}: {shown}");
}

#[test]
fn compilers_accept_the_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let mut host = includes(HEADERS);
    let (names, macros) = (names(), macro_names().collect::<Vec<_>>());
    assert!(macros.len() > 1500 && macros.len() <= ENTRIES && macros.is_sorted());
    let parts = names.chunks(ENTRIES).chain([macros.as_slice()]);
    for (k, names) in parts.enumerate() {
        let source = Source::text(format!("names{k}.nova"), program(names));
        let compiler = Compiler::new(options(Target::Pthreads));
        let mut checked = compiler.check(source).expect("no errors");
        let files = compiler.compile(&mut checked).expect("its C").files;
        for (ending, text) in [("h", files.header), ("c", files.source)] {
            std::fs::write(folder.join(format!("names{k}.{ending}")), text).expect("written");
        }
        if names == macros {
            let others = format!("{}{}", includes(HEADERS), includes(OTHER_HEADERS));
            let text = format!("{others}#include \"names{k}.h\"\n");
            std::fs::write(folder.join("macros.c"), text).expect("written");
            accepts(folder, "gcc", "-std=c11 -D_GNU_SOURCE macros.c");
        } else {
            writeln!(host, "#include \"names{k}.h\"").expect("a text");
        }
        accepts(folder, "gcc", &format!("-std=c11 names{k}.c"));
        accepts(
            folder,
            "gcc",
            &format!("-std=gnu17 -D_GNU_SOURCE names{k}.c"),
        );
        accepts(folder, "clang", &format!("-std=c11 names{k}.c"));
    }
    // Complex numbers differ in C++.
    std::fs::write(folder.join("host.c"), &host).expect("written");
    let host = host.replace("#include <complex.h>\n", "");
    std::fs::write(folder.join("host.cpp"), host).expect("written");
    accepts(folder, "gcc", "-std=c11 host.c");
    accepts(folder, "clang", "-std=c11 -D_GNU_SOURCE host.c");
    accepts(folder, "g++", "-std=c++17 host.cpp");
}
