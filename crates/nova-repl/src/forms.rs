//! Forms of a text, as far as a session must know them before the parser does: whether a text is complete, and
//! which forms stand side by side in it. Comments and strings are those of the language (its text, section 1).

use std::ops::Range;

/// Text cut into forms.
pub struct Forms {
    /// The outermost forms, as ranges of bytes.
    pub forms: Vec<Range<usize>>,
    /// True if a bracket, a string or a comment is still open at the end.
    pub is_open: bool,
}

impl Forms {
    /// Finds the forms of a text. A closing bracket too many ends the form it stands in.
    pub fn of(text: &str) -> Forms {
        let mut scan = Scan {
            bytes: text.as_bytes(),
            at: 0,
        };
        let mut found = Forms {
            forms: Vec::new(),
            is_open: false,
        };
        let (mut depth, mut start) = (0_usize, None);
        while let Some(token) = scan.next() {
            match token {
                Token::Skipped => continue,
                Token::Open(at) => {
                    start = start.or(Some(at));
                    depth += 1;
                }
                Token::Close => depth = depth.saturating_sub(1),
                Token::Atom(at) => start = start.or(Some(at)),
                Token::Unfinished => {
                    found.is_open = true;
                    return found;
                }
            }
            if depth == 0
                && let Some(from) = start.take()
            {
                found.forms.push(from..scan.at);
            }
        }
        found.is_open = depth > 0;
        found
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

/// Returns the words of a text that may be names, without those in strings and comments.
pub fn words(text: &str) -> Vec<&str> {
    let mut scan = Scan {
        bytes: text.as_bytes(),
        at: 0,
    };
    let mut found = Vec::new();
    while let Some(token) = scan.next() {
        if let Token::Atom(at) = token
            && let Some(word) = text.get(at..scan.at)
        {
            // `x.0` is a component of x.
            found.extend(word.split('.').next());
        }
    }
    found
}

enum Token {
    /// White space or a comment.
    Skipped,
    Open(usize),
    Close,
    /// A word or a string, and its start.
    Atom(usize),
    /// A string or a comment without its end.
    Unfinished,
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// Moves behind the first byte for which the condition holds, or to the end. Returns true if there was one.
    fn behind(&mut self, condition: impl Fn(u8) -> bool) -> bool {
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            if condition(byte) {
                return true;
            }
        }
        false
    }

    fn next(&mut self) -> Option<Token> {
        let start = self.at;
        let first = self.peek(0)?;
        self.at += 1;
        Some(match first {
            b'(' | b'[' => Token::Open(start),
            b')' | b']' => Token::Close,
            b';' => {
                self.behind(|byte| byte == b'\n');
                Token::Skipped
            }
            b'#' if self.peek(0) == Some(b'|') => self.comment(),
            b'"' => self.string(start),
            b',' | b':' => Token::Skipped,
            byte if byte.is_ascii_whitespace() => Token::Skipped,
            _of_a_word => {
                let ends = |byte: u8| b"()[],:;\"".contains(&byte) || byte.is_ascii_whitespace();
                while self.peek(0).is_some_and(|byte| !ends(byte)) {
                    self.at += 1;
                }
                Token::Atom(start)
            }
        })
    }

    /// Moves behind a block comment, whose `#` has been read. Such comments nest.
    fn comment(&mut self) -> Token {
        let mut depth = 0;
        self.at -= 1;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(b'#'), Some(b'|')) => {
                    depth += 1;
                    self.at += 2;
                }
                (Some(b'|'), Some(b'#')) => {
                    depth -= 1;
                    self.at += 2;
                }
                (Some(_), _) => self.at += 1,
                (None, _) => return Token::Unfinished,
            }
            if depth == 0 {
                return Token::Skipped;
            }
        }
    }

    /// Moves behind a string, whose first quote has been read. A string ends with its line.
    fn string(&mut self, start: usize) -> Token {
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'\\' => self.at += usize::from(self.peek(0).is_some()),
                b'"' => return Token::Atom(start),
                b'\n' => break,
                _inside => {}
            }
        }
        Token::Atom(start)
    }
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
        assert_eq!(
            words("(+ x.0 \"y\" ; z\n n:int)"),
            ["+", "x", "\"y\"", "n", "int"]
        );
    }
}
