//! Splits the files of the runtime into sections, and finds the names that each section defines and
//! uses.

use std::collections::HashMap;

/// One or more adjacent definitions, with the comment before them.
pub struct Section {
    /// Its text, without blank lines before and after it.
    pub text: &'static str,
    /// The identifiers in it, repeated as often as they occur.
    pub uses: Vec<&'static str>,
}

/// True if only the runtime may define a name.
pub fn is_ours(name: &str) -> bool {
    name.starts_with("nova_") || name.starts_with("NOVA_")
}

/// Returns the sections of all files in order, and the section that defines each name. A name is
/// defined where it first occurs outside of brackets.
pub fn split(
    files: &[&(&'static str, &'static str)],
) -> (Vec<Section>, HashMap<&'static str, usize>) {
    let mut sections = Vec::new();
    let mut definitions = HashMap::new();
    for text in files.iter().flat_map(|file| pieces(file.1)) {
        let words = words(text);
        let fresh = |depth: usize| {
            words
                .iter()
                .filter(|w| {
                    w.depth <= depth && is_ours(w.text) && !definitions.contains_key(w.text)
                })
                .map(|w| w.text)
                .collect::<Vec<_>>()
        };
        let mut names = fresh(0);
        if names.is_empty() {
            // The name of a function type occurs in brackets.
            names = fresh(1).into_iter().take(1).collect();
        }
        if names.is_empty() {
            continue;
        }
        for name in names {
            definitions.insert(name, sections.len());
        }
        sections.push(Section {
            text,
            uses: words.iter().map(|w| w.text).collect(),
        });
    }
    (sections, definitions)
}

/// Splits a file at blank lines outside of brackets and conditionals. Leaves out its guard and its
/// unconditional includes.
fn pieces(text: &'static str) -> Vec<&'static str> {
    let mut pieces = Vec::new();
    let mut start = None;
    let (mut braces, mut conditionals) = (0usize, 0usize);
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let begin = offset;
        offset += line.len();
        let bare = line.trim_end();
        let guard =
            bare.ends_with("_H") && (bare.starts_with("#ifndef") || bare.starts_with("#define"));
        let last = offset == text.len() && bare == "#endif";
        let boundary = bare.is_empty() && braces == 0 && conditionals == 0;
        // A header that only some compilers have stays in its place.
        let include = bare.starts_with("#include") && conditionals == 0;
        if guard || last || boundary || include {
            if let Some(start) = start.take() {
                pieces.push(text[start..begin].trim_end());
            }
            continue;
        }
        start.get_or_insert(begin);
        if bare.starts_with("#if") {
            conditionals += 1;
        } else if bare.starts_with("#endif") {
            conditionals = conditionals.saturating_sub(1);
        }
        let count = |brace: u8| line.bytes().filter(|byte| *byte == brace).count();
        braces += count(b'{');
        braces = braces.saturating_sub(count(b'}'));
    }
    if let Some(start) = start {
        pieces.push(text[start..].trim_end());
    }
    pieces
}

/// An identifier, and the number of brackets that are open before it.
struct Word {
    text: &'static str,
    depth: usize,
}

/// Returns the identifiers of a text, except those in comments and strings.
fn words(text: &'static str) -> Vec<Word> {
    let bytes = text.as_bytes();
    let mut words = Vec::new();
    let (mut at, mut depth) = (0, 0usize);
    while at < bytes.len() {
        let byte = bytes[at];
        if is_of_a_word(byte) {
            let length = bytes[at..].iter().take_while(|b| is_of_a_word(**b)).count();
            words.push(Word {
                text: &text[at..at + length],
                depth,
            });
            at += length;
        } else if bytes[at..].starts_with(b"/*") {
            at += text[at..].find("*/").map_or(text.len(), |end| end + 2);
        } else if byte == b'"' || byte == b'\'' {
            at += quoted(&bytes[at..]);
        } else {
            match byte {
                b'(' | b'{' => depth += 1,
                b')' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
        }
    }
    words
}

/// True if identifiers and numbers may contain this byte.
fn is_of_a_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the length of a quoted constant at the start of the text.
fn quoted(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() && text[at] != text[0] {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}
