//! What the tokens of a text say about an offset, also where the text cannot be parsed.

use nova_syntax::token::{Token, TokenKind, tokens};
use std::ops::Range;

/// A sequence in brackets that is open at an offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enclosing {
    /// The opening bracket.
    pub open: Token,
    /// The bytes of its items before the offset, nested sequences as one.
    pub items: Vec<Range<usize>>,
    /// True if a comma or a colon stands among them.
    pub has_marks: bool,
}

/// The surroundings of an offset.
#[derive(Clone, Debug)]
pub struct Context {
    /// The sequences that are open there, outermost first.
    pub enclosing: Vec<Enclosing>,
    /// The token that the offset is in or at the end of.
    pub token: Option<Token>,
    /// The token before that, or before the offset.
    pub before: Option<Token>,
}

impl Context {
    /// Reads the surroundings of an offset.
    pub fn at(text: &str, offset: usize) -> Context {
        let mut context = Context {
            enclosing: Vec::new(),
            token: None,
            before: None,
        };
        for token in tokens(text) {
            let is_word = matches!(
                token.kind,
                TokenKind::Atom
                    | TokenKind::Text { .. }
                    | TokenKind::LineComment
                    | TokenKind::BlockComment { .. }
            );
            if token.start >= offset {
                break;
            }
            if is_word && offset <= token.end {
                context.token = Some(token);
                break;
            }
            context.pass(token);
        }
        context
    }

    fn pass(&mut self, token: Token) {
        match token.kind {
            TokenKind::Open(_) => {
                self.enclosing.push(Enclosing {
                    open: token,
                    items: Vec::new(),
                    has_marks: false,
                });
            }
            TokenKind::Close(_) => {
                if let (Some(closed), Some(outer)) =
                    (self.enclosing.pop(), self.enclosing.last_mut())
                {
                    outer.items.push(closed.open.start..token.end);
                }
            }
            TokenKind::Atom | TokenKind::Text { .. } => {
                if let Some(inner) = self.enclosing.last_mut() {
                    inner.items.push(token.start..token.end);
                }
            }
            TokenKind::Colon | TokenKind::Comma => {
                if let Some(inner) = self.enclosing.last_mut() {
                    inner.has_marks = true;
                }
            }
            TokenKind::LineComment | TokenKind::BlockComment { .. } => return,
        }
        self.before = Some(token);
    }

    /// True inside of a comment.
    pub fn is_comment(&self) -> bool {
        let kind = self.token.map(|token| token.kind);
        matches!(
            kind,
            Some(TokenKind::LineComment | TokenKind::BlockComment { .. })
        )
    }

    /// True inside of a text literal.
    pub fn is_text(&self) -> bool {
        matches!(self.token, Some(token) if matches!(token.kind, TokenKind::Text { .. }))
    }

    /// Returns the words that the enclosing sequences begin with, outermost first.
    pub fn heads<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let first = |e: &Enclosing| e.items.first().cloned().unwrap_or_default();
        let heads = self.enclosing.iter().map(first);
        heads.map(|bytes| text.get(bytes).unwrap_or("")).collect()
    }
}

/// Returns the smallest sequence in brackets that covers some bytes, with its brackets.
pub fn sequence_around(text: &str, bytes: &Range<usize>) -> Option<Range<usize>> {
    let mut open = Vec::new();
    for token in tokens(text) {
        match token.kind {
            TokenKind::Open(_) => open.push(token.start),
            TokenKind::Close(_) => {
                let start = open.pop()?;
                if start <= bytes.start && bytes.end <= token.end {
                    return Some(start..token.end);
                }
            }
            _others => {}
        }
    }
    None
}

/// Returns the sequences that stand inside of no other, and the atoms there.
pub fn roots(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    for token in tokens(text) {
        match token.kind {
            TokenKind::Open(_) => {
                if depth == 0 {
                    start = token.start;
                }
                depth += 1;
            }
            TokenKind::Close(_) => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    found.push(start..token.end);
                }
            }
            TokenKind::Atom | TokenKind::Text { .. } if depth == 0 => {
                found.push(token.start..token.end);
            }
            _others => {}
        }
    }
    found
}

/// True if every bracket of a text has its partner.
pub fn is_balanced(text: &str) -> bool {
    let mut depth = 0i64;
    for token in tokens(text) {
        match token.kind {
            TokenKind::Open(_) => depth += 1,
            TokenKind::Close(_) => depth -= 1,
            _others => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

/// Returns a text in which the brackets that are open at an offset are closed there. What follows up to the next
/// line that begins with a bracket is left out. Offsets before this one stay.
pub fn closed_at(text: &str, offset: usize) -> String {
    let context = Context::at(text, offset);
    let end = context.token.map_or(offset, |token| token.end.max(offset));
    let mut closed = text.get(..end).unwrap_or(text).to_string();
    if context.is_comment() {
        closed.push('\n');
    }
    for open in context.enclosing.iter().rev() {
        closed.push(if text.as_bytes()[open.open.start] == b'[' {
            ']'
        } else {
            ')'
        });
    }
    let rest = text.get(end..).unwrap_or("");
    if let Some(next) = rest.find("\n(") {
        closed += &rest[next..];
    }
    closed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_sequences_are_closed() {
        let text = "(let (x [1 2]) in (+ x \n(define (a 1))";
        let at = text.find("+ x ").map_or(0, |at| at + 4);
        assert_eq!(closed_at("(f [x (g ", 9), "(f [x (g )])");
        assert_eq!(
            closed_at(text, at),
            "(let (x [1 2]) in (+ x ))\n(define (a 1))"
        );
        assert_eq!(closed_at("", 0), "");
    }

    #[test]
    fn contexts_know_heads_and_items() {
        let text = "(f (g 1) [2 3] x";
        let context = Context::at(text, text.len());
        assert_eq!(context.heads(text), ["f"]);
        assert_eq!(context.enclosing[0].items.len(), 3);
        assert_eq!(context.token.map(|t| &text[t.start..t.end]), Some("x"));
        assert!(Context::at("; (a", 3).is_comment());
        assert_eq!(sequence_around("(a (b c))", &(4..5)), Some(3..8));
        assert_eq!(roots("() (a (b)) c"), [0..2, 3..10, 11..12]);
    }
}
