//! Texts of documents: offsets in bytes, and positions as the protocol counts them.

use lsp_types::{Position, PositionEncodingKind, Range};
use std::ops;
use std::sync::Arc;

/// The unit in which the columns of positions are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// The protocol's default.
    #[default]
    Utf16,
}

impl Encoding {
    /// Chooses among those that a client offers. UTF-8 needs no conversion.
    pub fn choose(offered: &[PositionEncodingKind]) -> Encoding {
        match offered.contains(&PositionEncodingKind::UTF8) {
            true => Encoding::Utf8,
            false => Encoding::Utf16,
        }
    }

    /// Returns its name in the protocol.
    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
        }
    }

    /// Returns the length of a text in this unit.
    pub fn length(self, text: &str) -> usize {
        match self {
            Encoding::Utf8 => text.len(),
            Encoding::Utf16 => text.chars().map(char::len_utf16).sum(),
        }
    }
}

/// A text with the starts of its lines.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text.
    pub text: Arc<str>,
    /// Lines end in LF, CRLF or CR.
    starts: Vec<usize>,
}

impl Text {
    /// Creates a text.
    pub fn new(text: impl Into<Arc<str>>) -> Text {
        let text = text.into();
        let bytes = text.as_bytes();
        let ends = (0..bytes.len()).filter(|&at| match bytes[at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        let starts = std::iter::once(0).chain(ends.map(|at| at + 1)).collect();
        Text { text, starts }
    }

    /// Returns the bytes of a line without its end.
    fn line(&self, line: usize) -> ops::Range<usize> {
        let length = self.text.len();
        let Some(&from) = self.starts.get(line) else {
            return length..length;
        };
        let upto = self.starts.get(line + 1).copied().unwrap_or(length);
        let content = self.text[from..upto].trim_end_matches(['\n', '\r']);
        from..from + content.len()
    }

    /// Returns the position of an offset. An offset inside of a character is that of the character.
    pub fn position(&self, offset: usize, encoding: Encoding) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|&start| start <= offset) - 1;
        let content = self.line(line);
        // Between CR and LF is the end of the line.
        let before = &self.text[content.start..offset.min(content.end)];
        let column = encoding.length(before);
        Position::new(line as u32, column as u32)
    }

    /// Returns the range of bytes.
    pub fn range(&self, bytes: ops::Range<usize>, encoding: Encoding) -> Range {
        let start = self.position(bytes.start, encoding);
        Range::new(start, self.position(bytes.end.max(bytes.start), encoding))
    }

    /// Returns the range of the whole text.
    pub fn whole(&self, encoding: Encoding) -> Range {
        self.range(0..self.text.len(), encoding)
    }

    /// Returns the offset of a position. A column behind the line's end is that end, and a line behind the last
    /// is the end of the text.
    pub fn offset(&self, position: Position, encoding: Encoding) -> usize {
        let content = self.line(position.line as usize);
        let wanted = position.character as usize;
        let mut column = 0;
        for (at, c) in self.text[content.clone()].char_indices() {
            let next = column
                + match encoding {
                    Encoding::Utf8 => c.len_utf8(),
                    Encoding::Utf16 => c.len_utf16(),
                };
            if next > wanted {
                return content.start + at;
            }
            column = next;
        }
        content.end
    }

    /// Returns the text with the bytes of a range replaced.
    pub fn replaced(&self, range: Range, by: &str, encoding: Encoding) -> Text {
        let start = self.offset(range.start, encoding);
        let end = self.offset(range.end, encoding).max(start);
        Text::new(format!("{}{by}{}", &self.text[..start], &self.text[end..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_units() {
        let text = Text::new("aé🦀x\r\nb\rc");
        for (encoding, columns) in [(Encoding::Utf8, [1, 3, 7]), (Encoding::Utf16, [1, 2, 4])] {
            for (needle, column) in ["é", "🦀", "x"].iter().zip(columns) {
                let offset = text.text.find(needle).unwrap_or_default();
                let position = Position::new(0, column);
                assert_eq!(text.position(offset, encoding), position);
                assert_eq!(text.offset(position, encoding), offset);
            }
            assert_eq!(
                text.position(text.text.len(), encoding),
                Position::new(2, 1)
            );
        }
    }

    #[test]
    fn positions_outside_are_the_nearest_inside() {
        let text = Text::new("a🦀\r\nb");
        let offset = |line, column| text.offset(Position::new(line, column), Encoding::Utf16);
        assert_eq!(offset(0, 2), 1, "inside of a character");
        assert_eq!(offset(0, 99), 5);
        assert_eq!(offset(9, 0), text.text.len());
        assert_eq!(Text::new("").offset(Position::new(3, 4), Encoding::Utf8), 0);
        let inside = text.position(6, Encoding::Utf16);
        assert_eq!(inside, Position::new(0, 3), "between CR and LF");
    }
}
