//! The reader: from text to data trees, by decoding, matching of parentheses, reading of atoms, and
//! recovery from errors.
//!
//! The reader works in one loop over the tokens with a stack of open sequences, so that only memory
//! limits nesting and length. Its work is linear in the text. `lexpr` reads the tokens that it
//! reads correctly (integers). It would refuse or change the rest: commas, suffixes, `|`, nesting
//! deeper than 128.

use crate::datum::{Data, DatumId, Node, Shape};
use crate::number::{Reading, read_number};
use crate::token::{BYTE_ORDER_MARK, Lexer, Token, TokenKind};
use nova_diag::{Diagnostic, FileId, Position, Span, codes};

/// Decodes the bytes of a source, without a byte-order mark.
///
/// The error is the place of the first byte that is not UTF-8: line and column, both from 1, the
/// column in characters.
pub fn decode(bytes: &[u8]) -> Result<String, (u32, u32)> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).into()),
        Err(error) => {
            let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or("");
            let valid = valid.strip_prefix(BYTE_ORDER_MARK).unwrap_or(valid);
            let line = valid.rsplit('\n').next().unwrap_or("");
            let lines = valid.bytes().filter(|&b| b == b'\n').count();
            Err((lines as u32 + 1, line.chars().count() as u32 + 1))
        }
    }
}

/// Does the work of [`decode`], with a diagnostic for bytes that are not UTF-8.
///
/// The diagnostic's span is a position in a source that this function adds to `sources` under
/// `name`.
pub fn decode_source(
    bytes: &[u8],
    name: &str,
    sources: &mut nova_diag::SourceMap,
) -> Result<String, Box<Diagnostic>> {
    decode(bytes).map_err(|(line, column)| {
        let file = sources.add_positions(name, String::from_utf8_lossy(bytes).into_owned());
        let span = sources.position(file, Position::start(line, column));
        let message = "the source is not UTF-8 text";
        let diagnostic = Diagnostic::error(codes::INVALID_UTF8, span, message)
            .label("this byte does not belong to any character")
            .help("save the file with the encoding UTF-8");
        Box::new(diagnostic)
    })
}

/// Reads a text as data.
///
/// All errors are reported. The data are usable even then: [`Data::is_broken`] tells which roots
/// are only a guess.
pub fn read(text: &str, file: FileId) -> (Data, Vec<Diagnostic>) {
    if u32::try_from(text.len()).is_err() {
        let span = Span::new(file, 0, 0);
        let error = Diagnostic::error(codes::UNEXPECTED_TOKEN, span, "the source exceeds 4 GiB");
        return (Data::default(), vec![error]);
    }
    let (data, diagnostics, imbalance) = Reader::new(text, file, false).run();
    if imbalance != Imbalance::Unclosed {
        return (data, diagnostics);
    }
    // A sequence stays open to the end of the text. Forms that start in the first column show where
    // it should have ended, unless that reading has surplus parentheses.
    let (cut, cut_diagnostics, cut_imbalance) = Reader::new(text, file, true).run();
    match cut_imbalance {
        Imbalance::Surplus => (data, diagnostics),
        Imbalance::None | Imbalance::Unclosed => (cut, cut_diagnostics),
    }
}

/// A sequence that is still open.
pub(crate) struct Open {
    pub shape: Shape,
    /// Its first byte.
    pub start: usize,
    /// Bytes from the start of its line to it.
    pub column: usize,
    /// The start of its items in [`Reader::pending`].
    pub pending_from: usize,
}

/// The way in which the parentheses of a text do not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Imbalance {
    /// They match.
    None,
    /// Some are not closed.
    Unclosed,
    /// Some close nothing.
    Surplus,
}

/// A place where the indentation shows that a sequence should have ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suspect {
    /// The opening parenthesis.
    pub start: usize,
    /// The end of its apparent last token.
    pub end: usize,
}

pub(crate) struct Reader<'a> {
    pub text: &'a str,
    pub file: FileId,
    pub data: Data,
    /// The items of all open sequences.
    pub pending: Vec<DatumId>,
    pub open: Vec<Open>,
    pub diagnostics: Vec<Diagnostic>,
    /// True if `(` in the first column ends all open sequences.
    pub cut_at_first_column: bool,
    /// True if the current form already has an error about its parentheses.
    pub form_reported: bool,
    /// The place where indentation first contradicted the parentheses of this form.
    pub suspect: Option<Suspect>,
    pub imbalance: Imbalance,
    /// The end of the last token that is no comment.
    pub last_end: usize,
    /// True if that token closed a sequence.
    last_closed: bool,
    /// Start of the current line.
    line_start: usize,
    /// The position at which the search for line ends continues.
    scanned: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, file: FileId, cut_at_first_column: bool) -> Self {
        Reader {
            text,
            file,
            data: Data::default(),
            pending: Vec::new(),
            open: Vec::new(),
            diagnostics: Vec::new(),
            cut_at_first_column,
            form_reported: false,
            suspect: None,
            imbalance: Imbalance::None,
            last_end: 0,
            last_closed: false,
            line_start: 0,
            scanned: 0,
        }
    }

    fn run(mut self) -> (Data, Vec<Diagnostic>, Imbalance) {
        for token in Lexer::new(self.text) {
            let first_on_line = self.enter_line(token);
            match token.kind {
                TokenKind::LineComment => continue,
                TokenKind::BlockComment { closed } => {
                    if !closed {
                        self.unclosed_comment(token);
                    }
                    continue;
                }
                TokenKind::Open(shape) => {
                    if first_on_line {
                        self.check_indentation(token);
                    }
                    self.open(shape, token);
                }
                TokenKind::Close(shape) => self.close(shape, token),
                TokenKind::Colon => self.add(Node::Colon, token),
                TokenKind::Comma => self.add(Node::Comma, token),
                TokenKind::Text { closed } => self.text(token, closed),
                TokenKind::Atom => {
                    if first_on_line {
                        self.check_indentation(token);
                    }
                    self.atom(token);
                }
            }
            self.last_closed = matches!(token.kind, TokenKind::Close(_));
            self.last_end = token.end;
        }
        self.finish();
        (self.data, self.diagnostics, self.imbalance)
    }

    /// Updates the start of the line. Returns true if `token` is the first on its line.
    fn enter_line(&mut self, token: Token) -> bool {
        let between = &self.text[self.scanned..token.start];
        self.scanned = token.start;
        match between.rfind('\n') {
            None => false,
            Some(at) => {
                self.line_start = token.start - between.len() + at + 1;
                self.text[self.line_start..token.start].trim().is_empty()
            }
        }
    }

    /// Returns the number of bytes from the start of the line to a token on the current line.
    pub fn column(&self, token: Token) -> usize {
        token.start - self.line_start
    }

    pub fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }

    fn open(&mut self, shape: Shape, token: Token) {
        if self.open.is_empty() {
            self.form_reported = false;
            self.suspect = None;
        }
        let column = self.column(token);
        self.open.push(Open {
            shape,
            start: token.start,
            column,
            pending_from: self.pending.len(),
        });
    }

    fn close(&mut self, shape: Shape, token: Token) {
        match self.open.pop() {
            None => self.surplus(token),
            Some(open) => {
                if open.shape != shape {
                    self.mismatch(&open, token);
                }
                self.finish_sequence(&open, token.end);
            }
        }
    }

    /// Makes a sequence of the items since `open`.
    pub fn finish_sequence(&mut self, open: &Open, end: usize) {
        let items = self.pending.split_off(open.pending_from);
        let node = Node::Sequence {
            shape: open.shape,
            first: self.data.items.len() as u32,
            count: items.len() as u32,
        };
        self.data.items.extend(items);
        let id = self.data.push(node, self.span(open.start, end));
        self.place(id);
        if self.open.is_empty() && self.form_reported {
            self.data.broken.push(id);
        }
    }

    /// Puts a datum into the innermost open sequence.
    fn place(&mut self, id: DatumId) {
        match self.open.last() {
            None => self.data.roots.push(id),
            Some(_) => self.pending.push(id),
        }
    }

    fn add(&mut self, node: Node, token: Token) {
        let id = self.data.push(node, self.span(token.start, token.end));
        self.place(id);
    }

    pub fn error(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn atom(&mut self, token: Token) {
        let text = &self.text[token.start..token.end];
        if self.last_closed && self.last_end == token.start && self.project_last(token) {
            return;
        }
        match read_number(text) {
            Reading::Number(number) => {
                let node = self.data.add_number(number);
                self.add(node, token);
            }
            Reading::Wrong(message, help) => {
                let span = self.span(token.start, token.end);
                self.error(Diagnostic::error(codes::BAD_NUMBER, span, message).help(help));
                let zero = crate::ast::Number {
                    value: crate::ast::NumberValue::Integer(Some(0)),
                    suffix: None,
                };
                let node = self.data.add_number(zero);
                self.add(node, token);
                self.mark_last_wrong();
            }
            Reading::Name => self.name(token),
        }
    }

    /// Marks the newest datum as one with a reported error.
    fn mark_last_wrong(&mut self) {
        if let Some(last) = self.data.count().checked_sub(1) {
            self.data.wrong.push(DatumId(last as u32));
        }
    }

    fn name(&mut self, token: Token) {
        let text = &self.text[token.start..token.end];
        let right = self.check_characters(text, token);
        if let Some(variable) = text.strip_prefix('\'')
            && !variable.is_empty()
        {
            let node = Node::TypeVariable(self.data.intern(variable));
            return self.add(node, token);
        }
        let base = base_of_projection(text);
        let node = Node::Symbol(self.data.intern(base));
        let end = token.start + base.len();
        let id = self.data.push(node, self.span(token.start, end));
        if !right {
            self.mark_last_wrong();
        }
        let id = self.project(id, token.start, end, token.end);
        self.place(id);
    }

    /// Wraps `of` in a projection for every `.k` in the bytes `from..to`.
    fn project(&mut self, mut of: DatumId, start: usize, from: usize, to: usize) -> DatumId {
        let mut at = from;
        while at < to {
            let digits = &self.text[at + 1..to];
            let length = digits.find('.').unwrap_or(digits.len());
            let end = at + 1 + length;
            let index = digits[..length].parse().unwrap_or_else(|_| {
                let span = self.span(at + 1, end);
                let message = "no tuple has that many elements";
                self.error(Diagnostic::error(codes::BAD_NUMBER, span, message));
                0
            });
            let node = Node::Project {
                of,
                index,
                index_start: at as u32 + 1,
            };
            of = self.data.push(node, self.span(start, end));
            at = end;
        }
        of
    }

    /// Takes an atom immediately after a closed sequence as its projection, if it is one.
    fn project_last(&mut self, token: Token) -> bool {
        let text = &self.text[token.start..token.end];
        let siblings = match self.open.last() {
            None => &mut self.data.roots,
            Some(_) => &mut self.pending,
        };
        if !base_of_projection(text).is_empty() {
            return false;
        }
        let Some(of) = siblings.pop() else {
            return false;
        };
        let start = self.data.span(of).start as usize;
        let id = self.project(of, start, token.start, token.end);
        self.place(id);
        true
    }

    /// Reports characters that do not belong in a name. Returns true if there are none.
    fn check_characters(&mut self, text: &str, token: Token) -> bool {
        if text.bytes().all(|b| b.is_ascii_graphic()) {
            return true;
        }
        let before = self.diagnostics.len();
        for (at, character) in text.char_indices() {
            let help = match character {
                '“' | '”' | '„' => "write texts with the plain quote `\"`",
                '‘' | '’' => "write type variables with the plain quote `'`",
                '→' => "write the arrow as `->`",
                c if c.is_control() || ('\u{200b}'..='\u{200f}').contains(&c) => {
                    "remove it; it cannot be seen in most editors"
                }
                BYTE_ORDER_MARK => "a byte-order mark stands at the start of a file only",
                _ => continue,
            };
            let start = token.start + at;
            let span = self.span(start, start + character.len_utf8());
            let message = format!("unexpected character `{}`", character.escape_debug());
            self.error(Diagnostic::error(codes::UNEXPECTED_TOKEN, span, message).help(help));
        }
        self.diagnostics.len() == before
    }

    fn text(&mut self, token: Token, closed: bool) {
        let content_end = token.end - usize::from(closed);
        if !closed {
            let span = self.span(token.start, token.end);
            let diagnostic =
                Diagnostic::error(codes::UNCLOSED, span, "this text is not closed on its line")
                    .help("end it with `\"`; a line end inside a text is written `\\n`");
            self.error(diagnostic);
            // The text may contain the end of the form around it.
            self.form_reported = self.form_reported || !self.open.is_empty();
        }
        let mut bytes = Vec::new();
        let mut at = token.start + 1;
        while at < content_end {
            let rest = &self.text[at..content_end];
            let plain = rest.find('\\').unwrap_or(rest.len());
            bytes.extend_from_slice(&rest.as_bytes()[..plain]);
            at += plain;
            if plain < rest.len() {
                at += self.escape(at, content_end, &mut bytes);
            }
        }
        let node = self.data.add_text(bytes);
        self.add(node, token);
    }

    /// Reads the escape whose backslash is at `at`. Returns the number of bytes it takes.
    fn escape(&mut self, at: usize, end: usize, bytes: &mut Vec<u8>) -> usize {
        let rest = &self.text[at + 1..end];
        let Some(character) = rest.chars().next() else {
            return 1;
        };
        let simple = match character {
            'n' => Some(b'\n'),
            't' => Some(b'\t'),
            '\\' => Some(b'\\'),
            '"' => Some(b'"'),
            _ => None,
        };
        if let Some(byte) = simple {
            bytes.push(byte);
            return 2;
        }
        if character == 'x'
            && let Some(digits) = rest.get(1..3)
            && digits.bytes().all(|b| b.is_ascii_hexdigit())
            && let Ok(byte) = u8::from_str_radix(digits, 16)
        {
            bytes.push(byte);
            return 4;
        }
        let length = 1 + character.len_utf8();
        let span = self.span(at, at + length);
        let message = format!("`\\{character}` is no escape of texts");
        let help =
            "the escapes are `\\n`, `\\t`, `\\\\`, `\\\"` and `\\xHH` with two hexadecimal digits";
        self.error(Diagnostic::error(codes::BAD_TEXT, span, message).help(help));
        length
    }
}

/// Returns `x` of `x.0.1`, or the whole text if no projection is at its end.
fn base_of_projection(text: &str) -> &str {
    let mut base = text;
    while let Some((front, digits)) = base.rsplit_once('.') {
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            break;
        }
        base = front;
    }
    base
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
