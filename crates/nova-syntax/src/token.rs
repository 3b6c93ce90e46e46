//! The tokens of a text, comments included, without the blanks between them.

use crate::datum::Shape;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// `(` or `[`.
    Open(Shape),
    /// `)` or `]`.
    Close(Shape),
    /// `:`.
    Colon,
    /// `,`.
    Comma,
    /// `"…"`, not closed when the line or the text ended first.
    Text { closed: bool },
    /// A name or number.
    Atom,
    /// `; …`, without the line end.
    LineComment,
    /// `#| … |#`, not closed when the text ended first.
    BlockComment { closed: bool },
}

/// A token and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

/// Returns the tokens of a text, in order. Any text has some; none is an error here.
pub fn tokens(text: &str) -> impl Iterator<Item = Token> {
    Lexer::new(text)
}

/// Splits a text into tokens.
pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

/// The mark some editors put before the first character.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

impl<'a> Lexer<'a> {
    /// Starts at the first character, after a byte-order mark.
    pub fn new(text: &'a str) -> Self {
        let at = if text.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len_utf8()
        } else {
            0
        };
        Lexer { text, at }
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest
            .find(|c: char| !c.is_whitespace())
            .unwrap_or(rest.len());
    }

    /// Returns the end of a text literal whose quote is at `self.at`, and whether it is closed.
    fn text_end(&self) -> (usize, bool) {
        let bytes = self.text.as_bytes();
        let mut at = self.at + 1;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'"' => return (at + 1, true),
                b'\n' => break,
                b'\\' if bytes.get(at + 1).is_some_and(|&b| b != b'\n') => at += 2,
                _ => at += 1,
            }
        }
        let end = at.min(bytes.len());
        let carriage_return = end > self.at + 1 && bytes[end - 1] == b'\r';
        (end - usize::from(carriage_return), false)
    }

    /// Returns the end of a block comment that starts at `self.at`, and whether it is closed.
    fn block_comment_end(&self) -> (usize, bool) {
        let bytes = self.text.as_bytes();
        let (mut at, mut depth) = (self.at + 2, 1usize);
        while at + 1 < bytes.len() {
            match (bytes[at], bytes[at + 1]) {
                (b'#', b'|') => {
                    depth += 1;
                    at += 2;
                }
                (b'|', b'#') => {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        return (at, true);
                    }
                }
                _ => at += 1,
            }
        }
        (bytes.len(), false)
    }

    fn line_comment_end(&self) -> usize {
        let rest = &self.text[self.at..];
        let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
        self.at + line.strip_suffix('\r').unwrap_or(line).len()
    }

    fn atom_end(&self) -> usize {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| ends_token(c) || c.is_whitespace());
        self.at + length.unwrap_or(rest.len())
    }
}

/// True if `c` ends a token at any place.
fn ends_token(c: char) -> bool {
    matches!(c, '(' | ')' | '[' | ']' | ',' | ':' | ';' | '"')
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.skip_space();
        let start = self.at;
        let bytes = &self.text.as_bytes()[start..];
        let (kind, end) = match *bytes.first()? {
            b'(' => (TokenKind::Open(Shape::Round), start + 1),
            b')' => (TokenKind::Close(Shape::Round), start + 1),
            b'[' => (TokenKind::Open(Shape::Square), start + 1),
            b']' => (TokenKind::Close(Shape::Square), start + 1),
            b':' => (TokenKind::Colon, start + 1),
            b',' => (TokenKind::Comma, start + 1),
            b';' => (TokenKind::LineComment, self.line_comment_end()),
            b'"' => {
                let (end, closed) = self.text_end();
                (TokenKind::Text { closed }, end)
            }
            b'#' if bytes.get(1) == Some(&b'|') => {
                let (end, closed) = self.block_comment_end();
                (TokenKind::BlockComment { closed }, end)
            }
            _ => (TokenKind::Atom, self.atom_end()),
        };
        self.at = end;
        Some(Token { kind, start, end })
    }
}
