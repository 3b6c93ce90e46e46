//! Forms of a text, as far as a session must know them before the parser does: whether a text is complete, and
//! which forms stand side by side in it. The tokens are those of the language.

use nova_syntax::token::{TokenKind, tokens};
use std::ops::Range;

/// Text cut into forms.
pub struct Forms {
    /// The outermost forms, as ranges of bytes.
    pub forms: Vec<Range<usize>>,
    /// True if a bracket or a comment is still open at the end. A text literal ends with its line.
    pub is_open: bool,
}

impl Forms {
    /// Finds the forms of a text. A closing bracket too many is no part of a form.
    pub fn of(text: &str) -> Forms {
        let mut forms = Vec::new();
        let (mut depth, mut start, mut in_comment) = (0_usize, 0, false);
        for token in tokens(text) {
            match token.kind {
                TokenKind::Open(_) => {
                    if depth == 0 {
                        start = token.start;
                    }
                    depth += 1;
                }
                TokenKind::Close(_) => {
                    if depth == 1 {
                        forms.push(start..token.end);
                    }
                    depth = depth.saturating_sub(1);
                }
                TokenKind::Atom | TokenKind::Text { .. } => {
                    if depth == 0 {
                        forms.push(token.start..token.end);
                    }
                }
                TokenKind::BlockComment { closed } => in_comment |= !closed,
                TokenKind::Colon | TokenKind::Comma | TokenKind::LineComment => {}
            }
        }
        Forms {
            forms,
            is_open: depth > 0 || in_comment,
        }
    }
}

/// Returns the parts of a form in brackets. A form without brackets has none.
pub fn parts(form: &str) -> Vec<&str> {
    let inner = form
        .strip_prefix(['(', '['])
        .and_then(|rest| rest.strip_suffix([')', ']']))
        .unwrap_or("");
    let ranges = Forms::of(inner).forms.into_iter();
    ranges.filter_map(|range| inner.get(range)).collect()
}

/// Returns the words of a text that may be names.
pub fn words(text: &str) -> Vec<&str> {
    let atoms = tokens(text).filter(|token| token.kind == TokenKind::Atom);
    let words = atoms.filter_map(|token| text.get(token.start..token.end));
    // `x.0` is a component of x.
    words.filter_map(|word| word.split('.').next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(text: &str) -> (Vec<&str>, bool) {
        let found = Forms::of(text);
        let texts = found.forms.iter().map(|range| &text[range.clone()]);
        (texts.collect(), found.is_open)
    }

    #[test]
    fn forms_side_by_side() {
        assert_eq!(
            forms("(+ 1 2) x [1 2]"),
            (vec!["(+ 1 2)", "x", "[1 2]"], false)
        );
        assert_eq!(forms(" ; nothing\n"), (vec![], false));
        assert!(!forms("(f \")\" ; )\n #| ) #| ) |# |# x)").1);
        assert_eq!(forms(") x"), (vec!["x"], false));
    }

    #[test]
    fn what_is_open() {
        for open in ["(", "(f [1 2)", "#| a", "#| #| |#", "(let (x 1) in\n"] {
            assert!(forms(open).1, "{open}");
        }
        // A string cannot go on in the next line, so the parser says what is wrong.
        assert!(!forms("\"a").1);
    }

    #[test]
    fn parts_and_words() {
        assert_eq!(
            parts("(define (f (lambda (x) x)) (g 1))"),
            ["define", "(f (lambda (x) x))", "(g 1)"]
        );
        assert!(parts("x").is_empty());
        assert_eq!(words("(+ x.0 \"y\" ; z\n n:int)"), ["+", "x", "n", "int"]);
    }
}
