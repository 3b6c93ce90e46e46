//! The code of a program whose places are numbers is the same wherever its text stands. Otherwise a record of
//! the cache would name places of another text.

use super::*;
use crate::options::Target;
use std::path::Path;

/// Folders of programs, from the root of the repository.
const FOLDERS: [&str; 4] = [
    "tests/classes",
    "tests/recursion",
    "nova-examples/nested",
    "nova-examples/recursive",
];

fn programs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in FOLDERS {
        let listing = std::fs::read_dir(root.join(folder)).expect("a folder");
        let paths = listing.map(|entry| entry.expect("an entry").path());
        found.extend(paths.filter(|path| path.extension().is_some_and(|e| e == "nova")));
    }
    found.sort();
    found
}

/// Returns the numbered code of a text that stands for a file.
fn code(path: &Path, text: String) -> String {
    let compiler = Compiler::new(Options {
        target: Target::Pthreads,
        verify: false,
        ..Options::default()
    });
    let source = Source::Text {
        name: "moved.nova".to_string(),
        text,
        folder: path.parent().unwrap_or(Path::new(".")).to_path_buf(),
    };
    let mut checked = compiler.check(source).expect("a program");
    checked.program = numbered_core(&checked)
        .expect("no internal error")
        .expect("a program");
    let generated = compiler.for_loading().compile(&mut checked).expect("C");
    generated.files.source
}

#[test]
fn code_does_not_depend_on_lines_and_columns() {
    let programs = programs();
    assert!(programs.len() > 40, "{}", programs.len());
    for path in programs {
        let text = std::fs::read_to_string(&path).expect("a file");
        let moved = format!("\n\n {}", text.replace('\n', "\n "));
        let (first, second) = (code(&path, text), code(&path, moved));
        let differs = first.lines().zip(second.lines()).find(|(a, b)| a != b);
        assert_eq!(differs, None, "{}", path.display());
        assert_eq!(first.len(), second.len(), "{}", path.display());
        assert!(!first.contains("moved.nova:"), "{}", path.display());
    }
}
