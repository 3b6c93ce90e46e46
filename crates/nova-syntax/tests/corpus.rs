//! Tests with whole files. `tests/syntax/accepted` holds programs without errors,
//! `tests/syntax/rejected` programs and the messages about them (`.expected`).
//!
//! `UPDATE_EXPECTED=1` writes the expectations anew. A run that changes one fails, so that every
//! change is noticed.

use nova_diag::{FileId, SourceMap, render_text};
use nova_syntax::reader::{decode_source, read};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the `.nova` files below a folder, in order.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of programs") {
            let path = entry.expect("a folder's entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "nova")
            {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Returns the messages about a file.
fn report(path: &Path) -> String {
    let mut sources = SourceMap::new();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let bytes = fs::read(path).expect("a program");
    let text = match decode_source(&bytes, &name, &mut sources) {
        Ok(text) => text,
        Err(diagnostic) => return render_text(&sources, &diagnostic),
    };
    let file = sources.add(&*name, text.as_str());
    let (_, diagnostics) = nova_syntax::parse(&text, file, &mut sources, "program");
    let rendered: Vec<String> = diagnostics
        .iter()
        .map(|diagnostic| render_text(&sources, diagnostic))
        .collect();
    rendered.join("\n")
}

#[test]
fn rejected_programs() {
    let update = std::env::var_os("UPDATE_EXPECTED").is_some();
    let mut wrong = String::new();
    for path in programs(&root().join("tests/syntax/rejected")) {
        let found = report(&path);
        assert!(!found.is_empty(), "{} is accepted", path.display());
        let expectation = path.with_extension("expected");
        let expected = fs::read_to_string(&expectation).unwrap_or_default();
        if found == expected {
            continue;
        }
        if update {
            fs::write(&expectation, &found).expect("a new expectation");
        }
        wrong += &format!("{}:\n{found}\n", path.display());
    }
    assert!(wrong.is_empty(), "not as expected:\n{wrong}");
}

/// Tests accepted programs, including the examples, and their layouts.
#[test]
fn accepted_programs() {
    let mut files = programs(&root().join("tests/syntax/accepted"));
    files.extend(programs(&root().join("nova-examples")));
    for path in files {
        assert_eq!(report(&path), "", "{}", path.display());
        let text = fs::read_to_string(&path).expect("a program");
        let once = nova_syntax::format(&text).expect("a layout");
        assert_eq!(nova_syntax::format(&once).expect("a layout"), once);
        assert_eq!(data_of(&once), data_of(&text), "{}", path.display());
    }
}

/// Returns the data of a text, without spans.
fn data_of(text: &str) -> Vec<String> {
    let (data, _) = read(text, FileId(0));
    data.roots().iter().map(|&root| data.write(root)).collect()
}

/// Texts that random changes insert.
const PIECES: [&str; 28] = [
    "(",
    ")",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\n",
    " ",
    "#|",
    "|#",
    "; c\n",
    ".0",
    "->",
    "'a",
    "in",
    "(at \"p.py\" 1 2 ",
    "(at \"p.py\" 1 2 3 4 \"blur\" ",
    "_",
    "é",
    "let",
    "foreach",
    "up",
    "dn",
    "*",
    "(foreach (x ",
    "(f d)",
    "(up 1 (x ",
];

/// Tests that changed programs are read, reported and laid out without a failure of the compiler.
/// If a program has a layout, it is stable and has the same meaning.
#[test]
fn changed_programs() {
    let mut files = programs(&root().join("tests/syntax"));
    files.extend(programs(&root().join("nova-examples")));
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit.max(1) as u64) as usize
    };
    for path in files {
        let original = String::from_utf8_lossy(&fs::read(&path).expect("a program")).into_owned();
        for _ in 0..40 {
            let mut text: Vec<char> = original.chars().collect();
            for _ in 0..=below(4) {
                let at = below(text.len());
                let piece = PIECES[below(PIECES.len())];
                match below(3) {
                    0 if !text.is_empty() => drop(text.remove(at)),
                    _ => drop(text.splice(at..at, piece.chars())),
                }
            }
            check_changed(&text.into_iter().collect::<String>());
        }
    }
}

fn check_changed(text: &str) {
    let mut sources = SourceMap::new();
    let file = sources.add("changed.nova", text);
    let (_, diagnostics) = nova_syntax::parse(text, file, &mut sources, "changed");
    for diagnostic in &diagnostics {
        let rendered = render_text(&sources, diagnostic);
        assert!(rendered.starts_with("error[N0"), "{rendered}");
        let json = nova_diag::render_json(&sources, diagnostic);
        assert!(json.starts_with('{') && !json.contains('\n'), "{json}");
    }
    if let Ok(once) = nova_syntax::format(text) {
        let twice = nova_syntax::format(&once).expect("a layout of a layout");
        assert_eq!(twice, once, "of\n{text}");
        assert_eq!(data_of(&once), data_of(text), "of\n{text}");
    }
}
