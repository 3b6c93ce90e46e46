//! Libraries without unit tests say so (`test = false`), so that they are not compiled a second time for them.
//! A unit test in such a library would never run.

use std::path::Path;

/// Returns the texts of the Rust files of a folder.
fn sources(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            texts.append(&mut sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            texts.push(std::fs::read_to_string(&path).expect("a source"));
        }
    }
    texts
}

#[test]
fn libraries_have_unit_tests_where_they_are_built_for_them() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut without = 0;
    for entry in std::fs::read_dir(crates).expect("the crates") {
        let path = entry.expect("a crate").path();
        let manifest = std::fs::read_to_string(path.join("Cargo.toml")).expect("a manifest");
        let library = manifest.split("[lib]").nth(1).unwrap_or_default();
        let library = library.split("\n[").next().unwrap_or_default();
        let is_tested = !library.lines().any(|line| line == "test = false");
        let has_tests = sources(&path.join("src"))
            .iter()
            .any(|text| text.contains("#[test]"));
        assert!(is_tested || !has_tests, "{path:?} has tests that never run");
        without += usize::from(!is_tested);
    }
    assert!(without >= 9, "{without} libraries without unit tests");
}
