//! C hosts, compiled with every available compiler, and their output.

use nova_c::Files;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A new folder for a test.
fn folder(name: &str) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let folder = root.join(format!("{name}_{}_{number}", process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

fn has(compiler: &str) -> bool {
    let version = process::Command::new(compiler).arg("--version").output();
    version.is_ok_and(|output| output.status.success())
}

/// Compilers with the flags that choose the language.
fn compilers() -> Vec<Vec<&'static str>> {
    let all = [
        ["gcc", "-x", "c", "-std=c11"],
        ["g++", "-x", "c++", "-std=c++17"],
        ["clang", "-x", "c", "-std=c11"],
        ["clang++", "-x", "c++", "-std=c++17"],
    ];
    let present = all.into_iter().filter(|c| has(c[0]));
    present.map(|c| c.to_vec()).collect()
}

fn run(folder: &Path, command: &[&str]) -> Result<String, String> {
    let output = process::Command::new(command[0])
        .args(&command[1..])
        .current_dir(folder)
        .env("ASAN_OPTIONS", "detect_leaks=1")
        .output()
        .map_err(|e| format!("{command:?}: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    // The sanitizer warns when an error leaves a stack of a gigabyte.
    let errors = match errors.split_once("WARNING: ASan is ignoring requested") {
        Some((before, after)) => {
            let before = before.rsplit_once('\n').map_or("", |(lines, _)| lines);
            let after = after.splitn(4, '\n').nth(3).unwrap_or_default();
            format!("{before}{after}")
        }
        None => errors.into_owned(),
    };
    if output.status.success() {
        Ok(text + &errors)
    } else {
        Err(format!(
            "{}: {}\n{text}{errors}",
            command.join(" "),
            output.status
        ))
    }
}

fn write(folder: &Path, files: &Files, name: &str) {
    for (ending, text) in [
        ("h", &files.header),
        ("c", &files.source),
        ("json", &files.manifest),
    ] {
        std::fs::write(folder.join(format!("{name}.{ending}")), text).expect("a file");
    }
}

/// Compiles without warnings with every compiler.
pub fn compiles(files: &Files, name: &str) {
    let folder = folder(name);
    write(&folder, files, name);
    let source = format!("{name}.c");
    for compiler in compilers() {
        for level in if compiler[0] == "gcc" {
            &["-O0", "-O2"][..]
        } else {
            &["-O2"]
        } {
            let flags = [
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Werror",
                "-pthread",
                "-c",
            ];
            let mut command = compiler.clone();
            command.extend(flags);
            command.extend([*level, source.as_str(), "-o", "test.o"]);
            run(&folder, &command).unwrap_or_else(|e| panic!("{e}\n{}", files.source));
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}

const SANITIZED: &[&str] = &[
    "-O1",
    "-g1",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
];

/// The output of a host that is compiled with each compiler, some under the sanitizers of addresses and
/// undefined behaviour, some at -O2. All outputs must be the same.
pub fn output(files: &[(&str, &Files)], host: &str) -> String {
    output_with(files, host, |compiler| {
        Some(match compiler {
            "gcc" | "clang++" => SANITIZED,
            _ => &["-O2"],
        })
    })
}

/// The output of a host that is compiled by two compilers of different vendors, one as C and one as
/// C++: once under sanitizers and once at -O2.
pub fn output_of_two(files: &[(&str, &Files)], host: &str, first_two: bool) -> String {
    output_with(files, host, |compiler| match (compiler, first_two) {
        ("gcc", true) | ("clang++", false) => Some(SANITIZED),
        ("clang", true) | ("g++", false) => Some(&["-O2"]),
        _ => None,
    })
}

/// The output of a host that is compiled without optimisation, by one compiler as C and by another as
/// C++.
pub fn output_plainly(files: &[(&str, &Files)], host: &str) -> String {
    output_with(files, host, |compiler| {
        matches!(compiler, "gcc" | "clang++").then_some(&["-O0"][..])
    })
}

fn output_with(
    files: &[(&str, &Files)],
    host: &str,
    flags: impl Fn(&str) -> Option<&'static [&'static str]>,
) -> String {
    let folder = folder(files[0].0);
    for (name, files) in files {
        write(&folder, files, name);
    }
    std::fs::write(folder.join("host.c"), host).expect("a file");
    let mut sources: Vec<String> = files.iter().map(|(name, _)| format!("{name}.c")).collect();
    sources.push("host.c".into());
    let mut printed: Option<String> = None;
    for compiler in compilers() {
        let Some(flags) = flags(compiler[0]) else {
            continue;
        };
        let mut command = compiler.clone();
        command.extend(["-Wall", "-Wextra", "-Werror", "-pthread"]);
        command.extend(flags);
        command.extend(sources.iter().map(String::as_str));
        command.extend(["-x", "none", "-lm", "-o", "host"]);
        run(&folder, &command).unwrap_or_else(|e| panic!("{e}"));
        let text = run(&folder, &["./host"]).unwrap_or_else(|e| panic!("{command:?}: {e}"));
        let first = printed.get_or_insert_with(|| text.clone());
        assert_eq!(text, *first, "{command:?}");
    }
    let _ = std::fs::remove_dir_all(folder);
    printed.unwrap_or_default()
}

/// Compares the output of a host.
pub fn prints(files: &[(&str, &Files)], host: &str, expected: &str) {
    assert_eq!(output(files, host), expected);
}

/// The symbols that a program exports to the linker, in order.
pub fn global_symbols(files: &Files, name: &str) -> Vec<String> {
    let folder = folder(name);
    write(&folder, files, name);
    let source = format!("{name}.c");
    let compile = [
        "gcc",
        "-O0",
        "-c",
        "-pthread",
        source.as_str(),
        "-o",
        "test.o",
    ];
    run(&folder, &compile).unwrap_or_else(|e| panic!("{e}"));
    let list = [
        "nm",
        "--defined-only",
        "--extern-only",
        "--format=posix",
        "test.o",
    ];
    let text = run(&folder, &list).unwrap_or_else(|e| panic!("{e}"));
    let _ = std::fs::remove_dir_all(folder);
    let names = text.lines().filter_map(|line| line.split(' ').next());
    names.map(String::from).collect()
}
