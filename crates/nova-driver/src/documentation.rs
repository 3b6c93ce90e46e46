//! The comments above the forms of a program, for the help of bindings in other languages and of editors.

use nova_diag::{SourceMap, Span};
use nova_syntax::ast::Program;

/// Returns the comment above each entry, in order, or an empty text. The comment of a program of one
/// expression is that at the beginning of its file.
pub fn of_entries(tree: &Program, sources: &SourceMap) -> Vec<String> {
    let entries = tree.entries.iter();
    entries
        .map(|entry| match entry.explicit {
            true => above(sources, entry.span),
            false => first_comment(&sources.source(entry.span.file).text),
        })
        .collect()
}

/// Returns the comment above a form of a source, or an empty text.
pub fn above(sources: &SourceMap, form: Span) -> String {
    let source = sources.source(form.file);
    let start = sources.byte_range(form).start;
    comment_above(source.text.get(..start).unwrap_or(""))
}

/// Returns the comment whose last line is the last line of a text that ends where a form begins.
fn comment_above(text: &str) -> String {
    let form = text.rfind('\n').map_or(0, |end| end + 1);
    let lines = text.get(..form).unwrap_or("").lines().rev();
    let mut comment: Vec<&str> = lines.map_while(words).collect();
    comment.reverse();
    comment.join("\n")
}

/// Returns the comment at the beginning of a text.
fn first_comment(text: &str) -> String {
    let comment: Vec<&str> = text.lines().map_while(words).collect();
    comment.join("\n")
}

/// Returns the words of a line that is a comment and no test.
fn words(line: &str) -> Option<&str> {
    let line = line.trim();
    if line.starts_with(";; test") {
        return None;
    }
    let words = line.strip_prefix(';')?.trim_start_matches(';');
    Some(words.strip_prefix(' ').unwrap_or(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments() {
        let text = "; The file.\n\n; Doubles.\n;  Twice.\n";
        assert_eq!(comment_above(text), "Doubles.\n Twice.");
        assert_eq!(first_comment(text), "The file.");
        assert_eq!(comment_above("; Far.\n\n"), "");
        assert_eq!(comment_above(";; test 1 => 2\n; Near.\n  "), "Near.");
        assert_eq!(comment_above("(define (a 1)) "), "");
    }
}
