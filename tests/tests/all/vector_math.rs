//! Tests that loops over mathematical functions call their vector versions in glibc's libmvec.

use nova_driver::{Compiler, Options, Source};
use std::path::Path;
use std::process::Command;

/// The functions with the first parts of the names of their vector versions, and true if clang
/// knows them.
const FUNCTIONS: &[(&str, bool)] = &[
    ("sin", true),
    ("cos", true),
    ("exp", true),
    ("log", true),
    ("pow", true),
    ("exp2", false),
    ("log2", false),
    ("log10", false),
    ("tan", false),
    ("asin", false),
    ("acos", false),
    ("atan", false),
    ("sinh", false),
    ("cosh", false),
    ("tanh", false),
    ("erf", false),
    ("atan2", false),
];

/// Compilers, with their flags for vectorisation.
const COMPILERS: &[(&str, &[&str])] = &[
    ("gcc", &["-O3"]),
    ("clang", &["-O3", "-fno-math-errno", "-fveclib=libmvec"]),
];

/// True if this machine's libmvec has all functions.
fn has_libmvec() -> bool {
    let probe = "#include <features.h>\n#if !defined(__x86_64__) || !defined(__LP64__) \
                 || !__GLIBC_PREREQ(2, 35)\n#error none\n#endif\n";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("probe.c");
    std::fs::write(&source, probe).expect("it can be written");
    let command = Command::new("gcc")
        .arg("-fsyntax-only")
        .arg(source)
        .output();
    command.is_ok_and(|output| output.status.success())
}

/// Returns the symbols that the C of a program refers to, compiled by a compiler.
fn symbols(program: &str, compiler: &str, flags: &[&str], folder: &Path) -> String {
    let source = Source::Text {
        name: "loops.nova".into(),
        text: program.into(),
        folder: folder.to_path_buf(),
    };
    let compiler_of_nova = Compiler::new(Options::default());
    let mut checked = compiler_of_nova.check(source).expect("it is right");
    let files = compiler_of_nova.compile(&mut checked).expect("it compiles");
    std::fs::write(folder.join("loops.h"), files.files.header).expect("it can be written");
    std::fs::write(folder.join("loops.c"), files.files.source).expect("it can be written");
    let run = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        let output = command.args(arguments).current_dir(folder).output();
        let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program}: {text}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let object = [flags, &["-std=c11", "-Werror", "-c", "loops.c"]].concat();
    run(compiler, &object);
    run("nm", &["-u", "loops.o"])
}

/// Returns a program that maps a function over vectors of this type.
fn program(function: &str, ty: &str) -> String {
    match function {
        "pow" | "atan2" => {
            format!("((xs : vector {ty}) (ys : vector {ty}))\n(map {function} xs ys)\n")
        }
        _ => format!("((xs : vector {ty}))\n(map {function} xs)\n"),
    }
}

#[test]
fn every_function_has_its_vector_version() {
    if !has_libmvec() {
        return eprintln!("skipped: vector functions (glibc 2.35 for x86-64)");
    }
    let mut missing = Vec::new();
    for (compiler, flags) in COMPILERS {
        for (function, of_clang) in FUNCTIONS {
            for (ty, suffix) in [("float", "f"), ("double", "")] {
                // These are vector instructions in generated C.
                let is_own = match ty {
                    "float" => ["exp", "log"].contains(function),
                    _double => *function == "exp" && *compiler == "clang",
                };
                if is_own || (*compiler == "clang" && !of_clang) {
                    continue;
                }
                let folder = tempfile::tempdir().expect("a temporary folder");
                let text = program(function, ty);
                let found = symbols(&text, compiler, flags, folder.path());
                let name = format!("_{function}{suffix}");
                let is_vector = |line: &str| line.contains("_ZGV") && line.ends_with(&name);
                if !found.lines().any(is_vector) {
                    missing.push(format!("{compiler}: {function} of {ty}:\n{found}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn sine_and_cosine_of_one_number_do_too() {
    if !has_libmvec() {
        return eprintln!("skipped: vector functions (glibc 2.35 for x86-64)");
    }
    let text = "((xs : vector float))\n(map (lambda (x) (+ (sin x) (cos x))) xs)\n";
    for (compiler, flags) in COMPILERS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let found = symbols(text, compiler, flags, folder.path());
        let has = |name: &str| {
            found
                .lines()
                .any(|l| l.contains("_ZGV") && l.ends_with(name))
        };
        assert!(has("_sinf") && has("_cosf"), "{compiler}:\n{found}");
    }
}
