//! The Rust of the examples' programs compiles, and builds that fail say why.

use novac_build::{Build, Error, Options, Target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders with programs of all kinds of types.
const FOLDERS: [&str; 7] = [
    "files",
    "host_c",
    "host_rust/nova",
    "nested",
    "paper",
    "recursive",
    "tutorial",
];

/// Returns the programs of the folders.
fn programs() -> Vec<PathBuf> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nova-examples");
    let folders = FOLDERS.iter().map(|folder| examples.join(folder));
    let files = folders.flat_map(|folder| fs::read_dir(folder).expect("a folder").flatten());
    let mut programs: Vec<PathBuf> = files
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "nova"))
        .collect();
    programs.sort();
    programs
}

#[test]
fn the_rust_of_all_examples_compiles() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut library = String::from("#![deny(warnings)]\n");
    for (k, program) in programs().iter().enumerate() {
        let out = folder.path().join(format!("p{k}"));
        fs::create_dir(&out).expect("made");
        // Programs of one application have different names of entries, or prefixes.
        let options = Options {
            prefix: format!("p{k}_"),
            ..Options::default()
        };
        let mut build = Build::new();
        build.file(program).out_dir(&out).options(options);
        let sources = build.generate();
        let sources = sources.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let rust = sources[0].with_extension("rs");
        library += &format!(
            "#[path = {:?}]\npub mod p{k};\n",
            rust.display().to_string()
        );
    }
    let path = folder.path().join("library.rs");
    fs::write(&path, library).expect("written");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler)
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "lib",
            "--emit",
            "metadata",
        ])
        .arg("--out-dir")
        .arg(folder.path())
        .arg(&path)
        .output()
        .expect("rustc starts");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
}

#[test]
fn builds_that_fail_say_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("wrong.nova");
    fs::write(&program, "((x : int)) (+ x true)").expect("written");
    let mut build = Build::new();
    build.file(&program).out_dir(folder.path());
    let error = build.try_compile("wrong").expect_err("an error of type");
    assert!(error.to_string().contains("error[N0203]"), "{error}");
    let error = build
        .target(Target::Cuda)
        .try_compile("wrong")
        .expect_err("no compiler");
    assert!(matches!(error, Error::Setting(_)), "{error}");
    let absent = folder.path().join("absent.nova");
    let error = Build::new().file(absent).out_dir(folder.path()).generate();
    let error = error.expect_err("no file");
    assert!(
        error.to_string().contains("absent.nova: no such file"),
        "{error}"
    );
}
