//! What a line of a session asks for: a command, which begins with `:`, a section of a program, a value with a
//! name, or an expression.

use crate::forms::{Forms, parts};

/// The commands, what follows them, and what they do.
pub const COMMANDS: &[(&str, &str, &str)] = &[
    (":help", "", "Print this table"),
    (":type", "E", "Print the type of an expression"),
    (
        ":explain",
        "E",
        "Print what the compiler does with an expression, and why",
    ),
    (
        ":time",
        "E",
        "Compile an expression, run it seven times, print the times",
    ),
    (
        ":plot",
        "E [-> FILE.png]",
        "Draw a vector or pairs as a line, a matrix as an image",
    ),
    (":show", "E", "Print a value whole, however long it is"),
    (":list", "", "Print what is defined"),
    (
        ":load",
        "FILE",
        "Add the types, foreign functions and definitions of a file",
    ),
    (":save", "FILE", "Write what is defined into a file"),
    (
        ":forget",
        "NAME",
        "Remove a definition or a value; without a name, everything",
    ),
    (":quit", "", "End the session, as Ctrl-D does"),
];

/// The kinds of sections of a program that a session keeps.
pub const SECTIONS: [&str; 4] = ["import", "types", "foreign", "define"];

/// What a line asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Asked<'t> {
    Nothing,
    /// A command of the table and what follows it.
    Command(&'static str, &'t str),
    /// A command that is not in the table.
    Unknown(&'t str),
    /// A section: its kind and its parts.
    Section(&'static str, Vec<&'t str>),
    /// `name = expression`.
    Value(&'t str, &'t str),
    Expression(&'t str),
}

/// Reads a line, or several that belong together.
pub fn read(text: &str) -> Asked<'_> {
    let text = text.trim();
    if text.starts_with(':') {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let mut fitting = COMMANDS.iter().filter(|(name, ..)| name.starts_with(word));
        return match (fitting.next(), fitting.next(), word.len() > 1) {
            (Some((name, ..)), None, true) => Asked::Command(name, rest.trim()),
            _none_or_several => Asked::Unknown(word),
        };
    }
    let found = Forms::of(text);
    let forms: Vec<&str> = found
        .forms
        .iter()
        .filter_map(|r| text.get(r.clone()))
        .collect();
    match forms.as_slice() {
        // The parser says what is missing.
        _ if found.is_open => Asked::Expression(text),
        [] => Asked::Nothing,
        [form] => match section(form) {
            Some((kind, items)) => Asked::Section(kind, items),
            None => Asked::Expression(text),
        },
        [name, "=", ..] if !name.starts_with(['(', '[', '"']) => {
            let from = found.forms.get(1).map_or(text.len(), |equals| equals.end);
            Asked::Value(name, text.get(from..).unwrap_or("").trim())
        }
        _several => Asked::Expression(text),
    }
}

/// Returns the kind of a section and its parts, or nothing for an expression.
pub fn section(form: &str) -> Option<(&'static str, Vec<&str>)> {
    let mut items = parts(form);
    let kind = SECTIONS.iter().find(|kind| items.first() == Some(kind))?;
    items.remove(0);
    Some((kind, items))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        assert_eq!(read(" ; note"), Asked::Nothing);
        assert_eq!(read(":l x"), Asked::Unknown(":l"));
        assert_eq!(read(":ty (+ 1 2)"), Asked::Command(":type", "(+ 1 2)"));
        assert_eq!(read(":nothing"), Asked::Unknown(":nothing"));
        assert_eq!(read(":"), Asked::Unknown(":"));
        assert_eq!(read("x = (+ 1 2)"), Asked::Value("x", "(+ 1 2)"));
        assert_eq!(read("(= x 2)"), Asked::Expression("(= x 2)"));
        assert_eq!(read("(open"), Asked::Expression("(open"));
        assert_eq!(read("1 2"), Asked::Expression("1 2"));
        let define = Asked::Section("define", vec!["(f 1)", "(g 2)"]);
        assert_eq!(read("(define (f 1) (g 2))"), define);
        assert_eq!(read("(definer 1)"), Asked::Expression("(definer 1)"));
    }
}
