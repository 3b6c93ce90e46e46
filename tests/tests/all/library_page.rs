//! The page of the standard library (docs/library.md): it is made of the comments in the library's files.
//! `UPDATE_EXPECTED=1` writes it anew. Each definition has a comment and an example that is a test.

use nova_driver::library;
use std::fmt::Write;
use std::path::Path;

/// A definition with its comment.
struct Described {
    name: String,
    comment: String,
}

/// What a file of the library says of itself.
struct File {
    /// The comment at its beginning.
    about: String,
    /// Its parts: a heading, which may be empty, and the definitions under it.
    parts: Vec<(String, Vec<Described>)>,
}

/// Reads the comments of a file. A line `; ---- Heading` begins a part.
fn read(text: &str) -> File {
    let mut file = File {
        about: String::new(),
        parts: vec![(String::new(), Vec::new())],
    };
    let mut comment: Vec<&str> = Vec::new();
    let body = text.split("\n(entry ").next().unwrap_or(text);
    let mut is_before = true;
    for line in body.lines() {
        let bare = line.trim_start();
        if let Some(heading) = bare.strip_prefix("; ---- ") {
            file.parts.push((heading.to_string(), Vec::new()));
            comment.clear();
        } else if let Some(words) = bare.strip_prefix(';') {
            // A line without words ends a paragraph.
            comment.push(if words.is_empty() {
                "\n\n"
            } else {
                words.trim_start()
            });
        } else if is_before && !comment.is_empty() {
            file.about = std::mem::take(&mut comment)
                .join(" ")
                .replace(" \n\n ", "\n\n");
            is_before = false;
        } else if let Some(definition) = line.strip_prefix("  (") {
            let name = definition.split(' ').next().unwrap_or_default();
            let described = Described {
                name: name.to_string(),
                comment: std::mem::take(&mut comment).join(" "),
            };
            if let Some((_, definitions)) = file.parts.last_mut() {
                definitions.push(described);
            }
        } else if bare.is_empty() {
            comment.clear();
        }
    }
    file
}

fn page() -> String {
    let mut page = String::from(
        "# The standard library\n\nFiles of NOVA that stand in the compiler. `(import \"std/vectors\")` imports \
         one. Only functions that a program uses become code. A program's own definitions hide those of the \
         library. The names of two files of the library differ, so that any of them can be imported together. \
         This page is made of the comments in the files, in `crates/nova-driver/std`.\n",
    );
    for (name, text) in library::files() {
        let file = read(text);
        let _ = write!(page, "\n## {name}\n\n{}\n", file.about);
        for (heading, definitions) in &file.parts {
            if definitions.is_empty() {
                continue;
            }
            if !heading.is_empty() {
                let _ = write!(page, "\n### {heading}\n");
            }
            page.push_str("\n| function | |\n| --- | --- |\n");
            for Described { name, comment } in definitions {
                let comment = comment.replace('|', "\\|");
                let _ = writeln!(page, "| `{name}` | {comment} |");
            }
        }
    }
    page
}

#[test]
fn the_page_is_that_of_the_files() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/library.md");
    let expected = page();
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&path, &expected).expect("docs can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == expected,
        "docs/library.md is not that of the files"
    );
}

#[test]
fn every_function_has_a_comment_and_an_example() {
    let mut names = Vec::new();
    for (file, text) in library::files() {
        let (_, examples) = text.split_once("\n(entry ").unwrap_or((text, ""));
        for (_, definitions) in read(text).parts {
            for Described { name, comment } in definitions {
                assert!(!comment.is_empty(), "{file}: {name} has no comment");
                let is_used = examples
                    .split(|c: char| c.is_whitespace() || "()[]".contains(c))
                    .any(|word| word == name);
                assert!(is_used, "{file}: {name} has no example");
                names.push(name);
            }
        }
        assert!(text.contains(";; test "), "{file}");
    }
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count, "names of the library differ");
}
