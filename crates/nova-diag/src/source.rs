//! The sources of one compilation and places within them.

use crate::Place;
use std::sync::Arc;

crate::ids! {
    /// Names a source of a [`SourceMap`].
    pub struct FileId;
}

/// Bytes `start..end` of a source.
///
/// In a source of positions (see [`SourceMap::add_positions`]) `start` counts positions instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The source.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// Creates a span of `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Span { file, start, end }
    }

    /// Returns the smallest span that covers both. Returns `self` when they lie in different
    /// sources.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span::new(
            self.file,
            self.start.min(other.start),
            self.end.max(other.end),
        )
    }
}

/// Bytes between two entries of [`Source::character_counts`].
const COUNT_STEP: usize = 512;

/// A mark some editors put before the first character; it takes no column.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A part of a front end's file, as the front end gives it. Lines and columns count from 1, columns in
/// characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The line of the first character.
    pub line: u32,
    /// Its column.
    pub column: u32,
    /// The line and the column after the last character. It is `None` where they are not known. The part
    /// then is one character.
    pub end: Option<(u32, u32)>,
    /// The name of the front end's construct that stands there, for messages.
    pub construct: Option<Arc<str>>,
}

impl Position {
    /// Creates a position whose end is not known.
    pub fn start(line: u32, column: u32) -> Self {
        Position {
            line,
            column,
            ..Position::default()
        }
    }

    /// Returns the line and the column after the last character. No part is empty.
    fn known_end(&self) -> (u32, u32) {
        let one = (self.line, self.column.saturating_add(1));
        self.end.map_or(one, |end| end.max(one))
    }
}

/// One source: text, or only positions in a file of a front end.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name shown in messages.
    pub name: Arc<str>,
    /// The text, empty when the source is one of positions and its file could not be read.
    pub text: Arc<str>,
    /// Byte offsets of the line starts in `text`.
    line_starts: Vec<u32>,
    /// Characters before every [`COUNT_STEP`]th byte, for a fast look-up of columns in long lines.
    character_counts: Vec<u32>,
    /// For a source of positions: each of them.
    positions: Option<Vec<Position>>,
}

/// All sources of a compilation.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    sources: Vec<Source>,
}

impl SourceMap {
    /// Creates an empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a source text and returns its id.
    pub fn add(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> FileId {
        self.push(name.into(), text.into(), None)
    }

    /// Adds a source that a front end reports positions of: `(at "file" line column … e)`.
    ///
    /// `text` is the front end's file where it is known (so that messages can show the line), else
    /// empty.
    pub fn add_positions(
        &mut self,
        name: impl Into<Arc<str>>,
        text: impl Into<Arc<str>>,
    ) -> FileId {
        self.push(name.into(), text.into(), Some(Vec::new()))
    }

    fn push(&mut self, name: Arc<str>, text: Arc<str>, positions: Option<Vec<Position>>) -> FileId {
        let line_starts = std::iter::once(0)
            .chain(
                text.bytes()
                    .enumerate()
                    .filter(|(_, b)| *b == b'\n')
                    .map(|(i, _)| i as u32 + 1),
            )
            .collect();
        let character_counts = std::iter::once(0)
            .chain(text.as_bytes().chunks(COUNT_STEP).scan(0, |sum, chunk| {
                *sum += count_characters(chunk) as u32;
                Some(*sum)
            }))
            .collect();
        let id = FileId(self.sources.len() as u32);
        self.sources.push(Source {
            name: visible(&name).into(),
            text,
            line_starts,
            character_counts,
            positions,
        });
        id
    }

    /// Records a position in a source of positions and returns its span. A line or column of 0 counts as 1.
    pub fn position(&mut self, file: FileId, position: Position) -> Span {
        let positions = self.sources[file.0 as usize]
            .positions
            .get_or_insert_with(Vec::new);
        let index = positions.len() as u32;
        positions.push(Position {
            line: position.line.max(1),
            column: position.column.max(1),
            ..position
        });
        Span::new(file, index, index + 1)
    }

    /// Returns the source of an id that this map gave out.
    pub fn source(&self, file: FileId) -> &Source {
        &self.sources[file.0 as usize]
    }

    /// Returns all sources, in the order in which they were added.
    pub fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.sources.len() as u32).map(FileId)
    }

    /// Returns the source already added under `name`.
    pub fn find(&self, name: &str) -> Option<FileId> {
        let name = &*visible(name);
        self.sources
            .iter()
            .position(|s| &*s.name == name)
            .map(|i| FileId(i as u32))
    }

    /// Returns the source of positions already added under `name`.
    pub fn find_positions(&self, name: &str) -> Option<FileId> {
        let name = &*visible(name);
        self.sources
            .iter()
            .position(|s| s.is_positions() && &*s.name == name)
            .map(|i| FileId(i as u32))
    }

    /// Returns the line and column, both from 1, of the first character of `span`.
    pub fn start(&self, span: Span) -> (u32, u32) {
        self.source(span.file).line_column(span.start)
    }

    /// Returns the line and column, both from 1, after the last character of `span`.
    pub fn end(&self, span: Span) -> (u32, u32) {
        let source = self.source(span.file);
        match source.extent(span) {
            Some((_, end)) => end,
            None => source.line_column(span.end.max(span.start)),
        }
    }

    /// Returns the front end's name for what stands at `span`, if it gave one.
    pub fn construct(&self, span: Span) -> Option<&str> {
        let positions = self.source(span.file).positions.as_ref()?;
        positions.get(span.start as usize)?.construct.as_deref()
    }

    /// Returns what a front end has said about a place of its files. Returns `None` where several positions
    /// start there that differ.
    pub fn position_at(&self, place: &Place) -> Option<&Position> {
        let named = |source: &&Source| *base_name(&source.name) == *place.file;
        let positions = self.sources.iter().filter(named);
        let positions = positions.flat_map(|source| source.positions.iter().flatten());
        let mut here = positions.filter(|p| (p.line, p.column) == (place.line, place.column));
        let first = here.next()?;
        here.all(|other| other == first).then_some(first)
    }

    /// Returns the start of `span`, as users read it.
    pub fn place(&self, span: Span) -> Place {
        let source = self.source(span.file);
        let (line, column) = source.line_column(span.start);
        let file = base_name(&source.name).into();
        Place { file, line, column }
    }

    /// Returns the text of the program at `span`. Returns `None` for a position in a front end's
    /// file, since the text there is not NOVA.
    pub fn written(&self, span: Span) -> Option<&str> {
        let source = self.source(span.file);
        match source.is_positions() {
            true => None,
            false => source.text.get(self.byte_range(span)),
        }
    }

    /// Returns the byte range of `span` in its source's text. A position without an end covers one
    /// character.
    pub fn byte_range(&self, span: Span) -> std::ops::Range<usize> {
        let source = self.source(span.file);
        let range = match source.extent(span) {
            None => span.start as usize..span.end as usize,
            Some((start, end)) => source.bytes_between(start, end),
        };
        let length = source.text.len();
        range.start.min(length)..range.end.clamp(range.start.min(length), length)
    }
}

/// Names of files that are longer, in bytes, are shortened in places, since a message of a running
/// program has room for no more.
const LONGEST_FILE: usize = 300;

/// Returns a name in which characters that cannot be seen, or that would end a line or a text of C,
/// are replaced by their escapes in a text.
fn visible(name: &str) -> std::borrow::Cow<'_, str> {
    let is_hidden = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if !name.contains(is_hidden) {
        return name.into();
    }
    let mut out = String::new();
    for c in name.chars() {
        match is_hidden(c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    out.into()
}

/// Returns the name of a file without its folders, as places have it.
fn base_name(name: &str) -> std::borrow::Cow<'_, str> {
    shortened(name.rsplit('/').next().unwrap_or(name))
}

/// Returns the end of a name, its most telling part, where the name is too long.
fn shortened(name: &str) -> std::borrow::Cow<'_, str> {
    if name.len() <= LONGEST_FILE {
        return name.into();
    }
    let mut from = name.len() - LONGEST_FILE;
    while !name.is_char_boundary(from) {
        from += 1;
    }
    format!("…{}", &name[from..]).into()
}

impl Source {
    /// True if this source holds only positions of a front end's file.
    pub fn is_positions(&self) -> bool {
        self.positions.is_some()
    }

    fn line_column(&self, start: u32) -> (u32, u32) {
        if let Some(positions) = &self.positions {
            let position = positions.get(start as usize);
            return position.map_or((1, 1), |p| (p.line, p.column));
        }
        let line = self.line_starts.partition_point(|&s| s <= start).max(1);
        let from = self.line_starts.get(line - 1).copied().unwrap_or(0) as usize;
        let upto = (start as usize).clamp(from, self.text.len());
        let mark = from == 0 && upto > 0 && self.text.starts_with(BYTE_ORDER_MARK);
        let column = self.characters_before(upto) - self.characters_before(from) - u32::from(mark);
        (line as u32, column + 1)
    }

    /// Returns the bytes of a line, counted from 1, without its line end.
    pub(crate) fn line_range(&self, line: u32) -> std::ops::Range<usize> {
        let start = |line: usize| self.line_starts.get(line).map(|&s| s as usize);
        let length = self.text.len();
        let from = start(line.saturating_sub(1) as usize).unwrap_or(length);
        let upto = start(line as usize).unwrap_or(length);
        let bytes = &self.text.as_bytes()[from..upto];
        let content = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        from..from + content.len()
    }

    /// Returns the line, counted from 1, that holds a byte.
    pub(crate) fn line_of(&self, byte: usize) -> u32 {
        let line = self.line_starts.partition_point(|&s| s as usize <= byte);
        line.max(1) as u32
    }

    /// Returns the number of characters that start before a byte.
    fn characters_before(&self, byte: usize) -> u32 {
        let step = byte / COUNT_STEP;
        let rest = &self.text.as_bytes()[step * COUNT_STEP..byte];
        self.character_counts.get(step).copied().unwrap_or(0) + count_characters(rest) as u32
    }

    /// Returns where a span of positions starts and ends, each as a line and a column. A span of several
    /// positions ends where the last one does, if that is behind its start.
    fn extent(&self, span: Span) -> Option<((u32, u32), (u32, u32))> {
        let positions = self.positions.as_ref()?;
        let Some(first) = positions.get(span.start as usize) else {
            return Some(((1, 1), (1, 2)));
        };
        let last = positions.get(span.end.saturating_sub(1) as usize);
        let end = last.map_or((1, 1), Position::known_end);
        Some(((first.line, first.column), end.max(first.known_end())))
    }

    /// Returns the bytes between two places, each a line and a column. Where the first is not in the text,
    /// they are none, at its end.
    fn bytes_between(&self, start: (u32, u32), end: (u32, u32)) -> std::ops::Range<usize> {
        let length = self.text.len();
        let Some(from) = self.offset(start).filter(|from| *from < length) else {
            return length..length;
        };
        let upto = self.offset(end);
        from..upto.unwrap_or_else(|| self.line_range(end.0).end.max(from))
    }

    /// Returns the byte at a line and a column, or `None` behind the end of the text or of the line.
    fn offset(&self, (line, column): (u32, u32)) -> Option<usize> {
        let from = *self.line_starts.get(line.saturating_sub(1) as usize)? as usize;
        let rest = &self.text[from..];
        let before = column.saturating_sub(1) as usize;
        // The last character of a line is followed by its end.
        let line = rest.split('\n').next().unwrap_or(rest);
        let mut ends = line.char_indices().map(|(at, _)| at).chain([line.len()]);
        Some(from + ends.nth(before)?)
    }
}

/// Returns the number of characters that start in these bytes of UTF-8.
fn count_characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|b| (**b & 0xC0) != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column_of(text: &str, needle: &str) -> (u32, u32) {
        let mut sources = SourceMap::new();
        let file = sources.add("t.nova", text);
        let at = text.find(needle).unwrap() as u32;
        sources.start(Span::new(file, at, at + 1))
    }

    #[test]
    fn columns_count_characters() {
        for (text, expected) in [
            ("x", (1, 1)),
            ("\tx", (1, 2)),
            ("äöü x", (1, 5)),
            ("a\r\nb\r\n x", (3, 2)),
            ("\u{feff}x", (1, 1)),
            ("\u{feff}\nx", (2, 1)),
            ("🦀🦀x", (1, 3)),
        ] {
            assert_eq!(column_of(text, "x"), expected, "{text:?}");
        }
    }

    #[test]
    fn columns_of_long_lines() {
        for length in [0, 1, 511, 512, 513, 5000] {
            let text = format!("a\n{}x", "é".repeat(length));
            assert_eq!(column_of(&text, "x"), (2, length as u32 + 1));
        }
    }

    #[test]
    fn the_end_of_the_text_has_a_place() {
        let mut sources = SourceMap::new();
        let file = sources.add("t.nova", "ab\n");
        assert_eq!(sources.start(Span::new(file, 3, 3)), (2, 1));
        assert_eq!(sources.start(Span::new(file, 99, 99)), (2, 1));
        assert_eq!(sources.end(Span::new(file, 0, 2)), (1, 3));
        let empty = sources.add("e.nova", "");
        assert_eq!(sources.start(Span::new(empty, 0, 0)), (1, 1));
    }

    #[test]
    fn positions_are_the_front_ends_own() {
        let mut sources = SourceMap::new();
        let file = sources.add_positions("a/main.py", "");
        let span = sources.position(file, Position::start(7, 3));
        assert_eq!(sources.place(span).to_string(), "main.py:7:3");
        assert_eq!(sources.end(span), (7, 4));
        assert_eq!(sources.byte_range(span), 0..0);
        assert_eq!(sources.find_positions("a/main.py"), Some(file));
    }

    #[test]
    fn positions_with_ends() {
        let mut sources = SourceMap::new();
        let file = sources.add_positions("main.py", "äb = f(x)\nc\n");
        let mut bytes = |start: (u32, u32), end: Option<(u32, u32)>| {
            let (line, column) = start;
            let position = Position {
                line,
                column,
                end,
                construct: None,
            };
            let span = sources.position(file, position);
            (sources.byte_range(span), sources.end(span))
        };
        assert_eq!(bytes((1, 1), None), (0..2, (1, 2)));
        assert_eq!(bytes((1, 6), Some((1, 10))), (6..10, (1, 10)));
        assert_eq!(bytes((1, 6), Some((2, 2))), (6..12, (2, 2)));
        // Ends behind the line and the text, and ends before the start.
        assert_eq!(bytes((1, 6), Some((1, 99))), (6..10, (1, 99)));
        assert_eq!(bytes((2, 1), Some((9, 1))), (11..13, (9, 1)));
        assert_eq!(bytes((1, 6), Some((1, 2))), (6..7, (1, 7)));
        assert_eq!(bytes((9, 1), Some((9, 4))), (13..13, (9, 4)));
        assert_eq!(bytes((0, 0), Some((0, 0))).0, 0..2);
    }

    #[test]
    fn constructs_are_found_by_their_places() {
        let mut sources = SourceMap::new();
        let file = sources.add_positions("a/main.py", "");
        let blur = Position {
            construct: Some("blur".into()),
            ..Position::start(7, 3)
        };
        let span = sources.position(file, blur.clone());
        assert_eq!(sources.construct(span), Some("blur"));
        let place = sources.place(span);
        assert_eq!(sources.position_at(&place), Some(&blur));
        sources.position(file, blur.clone());
        assert_eq!(sources.position_at(&place), Some(&blur));
        // The place does not tell two positions apart.
        sources.position(file, Position::start(7, 3));
        assert_eq!(sources.position_at(&place), None);
        assert_eq!(sources.position_at(&Place::new("main.py", 7, 4)), None);
    }
}
