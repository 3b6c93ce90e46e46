//! No type becomes a room of its own: what a type does fits on a few pages. Functions that need a part of
//! its state take that part.

use crate::rooms::sources;
use std::collections::BTreeMap;
use std::path::Path;

/// The largest number of methods of a type, those of traits apart.
const MOST_METHODS: usize = 80;

/// Returns the types of the `impl` blocks of a file that implement no trait, with the number of functions
/// in each block. Blocks stand at the beginning of a line, as rustfmt writes them.
fn methods(text: &str) -> Vec<(&str, usize)> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line.strip_prefix("impl") {
            Some(head) if line.ends_with('{') && !head.contains(" for ") => {
                let named = match head.strip_prefix('<') {
                    Some(parameters) => parameters.split_once("> ").map_or("", |(_, name)| name),
                    None => head.trim_start(),
                };
                let end = named.find(|c: char| !c.is_alphanumeric() && c != '_');
                found.push((&named[..end.unwrap_or(named.len())], 0));
                inside = true;
            }
            _ if line == "}" => inside = false,
            _ if inside => {
                let is_function = line.strip_prefix("    ").is_some_and(begins_function);
                if let Some((_, count)) = found.last_mut() {
                    *count += usize::from(is_function);
                }
            }
            _ => {}
        }
    }
    found
}

/// True if a line without its indentation begins a function.
fn begins_function(line: &str) -> bool {
    let mut words = line.split(' ').filter(|word| {
        let is_qualifier = ["const", "unsafe", "extern", "\"C\""].contains(word);
        !word.starts_with("pub") && !is_qualifier
    });
    words.next() == Some("fn")
}

#[test]
fn no_type_has_too_many_methods() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for path in sources(&crates) {
        let text = std::fs::read_to_string(&path).expect("text");
        let inside = path.strip_prefix(&crates).expect("a path below");
        let of = inside.components().next().expect("a crate").as_os_str();
        for (name, count) in methods(&text) {
            *counts
                .entry(format!("{}::{name}", of.display()))
                .or_default() += count;
        }
    }
    assert!(counts.len() > 300, "{}", counts.len());
    counts.retain(|_, count| *count > MOST_METHODS);
    assert!(counts.is_empty(), "{counts:#?}");
}

#[test]
fn methods_are_counted() {
    let text = "impl<'a, T: Into<u8>> A<'a, T> {\n    pub(crate) const fn f() {\n        fn no() {}\n    }\n    fn g() {}\n}\n\
                impl Show for A {\n    fn no() {}\n}\nimpl B {\n    pub fn h() {}\n}\nfn no() {}\n";
    assert_eq!(methods(text), [("A", 2), ("B", 1)]);
}
