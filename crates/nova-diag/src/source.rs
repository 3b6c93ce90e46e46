//! The sources of one compilation and places within them.

use crate::Place;
use std::sync::Arc;

/// Names a source of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// Bytes `start..end` of a source.
///
/// In a source of positions (see [`SourceMap::add_positions`]) `start` counts positions instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The source.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// Byte behind the last.
    pub end: u32,
}

impl Span {
    /// A span of `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Span { file, start, end }
    }

    /// The smallest span that covers both; `self` when they lie in different sources.
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

/// One source: text, or only positions in a file of a front end.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name shown in messages.
    pub name: Arc<str>,
    /// The text, empty when the source is one of positions and its file could not be read.
    pub text: Arc<str>,
    /// Byte offsets of the line starts in `text`.
    line_starts: Vec<u32>,
    /// For a source of positions: (line, column) of each, both from 1.
    positions: Option<Vec<(u32, u32)>>,
}

/// All sources of a compilation.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    sources: Vec<Source>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a source text and returns its id.
    pub fn add(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> FileId {
        self.push(name.into(), text.into(), None)
    }

    /// Adds a source that a front end reports positions of: `(at "file" line col e)`.
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

    fn push(
        &mut self,
        name: Arc<str>,
        text: Arc<str>,
        positions: Option<Vec<(u32, u32)>>,
    ) -> FileId {
        let line_starts = std::iter::once(0)
            .chain(
                text.bytes()
                    .enumerate()
                    .filter(|(_, b)| *b == b'\n')
                    .map(|(i, _)| i as u32 + 1),
            )
            .collect();
        let id = FileId(self.sources.len() as u32);
        self.sources.push(Source {
            name,
            text,
            line_starts,
            positions,
        });
        id
    }

    /// Records a position in a source of positions and returns its span.
    pub fn position(&mut self, file: FileId, line: u32, column: u32) -> Span {
        let positions = self.sources[file.0 as usize]
            .positions
            .get_or_insert_with(Vec::new);
        let index = positions.len() as u32;
        positions.push((line, column));
        Span::new(file, index, index + 1)
    }

    /// The source of an id that this map gave out.
    pub fn source(&self, file: FileId) -> &Source {
        &self.sources[file.0 as usize]
    }

    /// The source already added under `name`.
    pub fn find(&self, name: &str) -> Option<FileId> {
        self.sources
            .iter()
            .position(|s| &*s.name == name)
            .map(|i| FileId(i as u32))
    }

    /// Where `span` starts, as users read it.
    pub fn place(&self, span: Span) -> Place {
        let source = self.source(span.file);
        let (line, column) = source.line_column(span.start);
        let file = match source.name.rsplit_once('/') {
            Some((_, base)) => Arc::from(base),
            None => source.name.clone(),
        };
        Place { file, line, column }
    }

    /// The byte range of `span` in its source's text; positions cover one character.
    pub fn byte_range(&self, span: Span) -> std::ops::Range<usize> {
        let source = self.source(span.file);
        let range = match &source.positions {
            None => span.start as usize..span.end as usize,
            Some(_) => {
                let (line, column) = source.line_column(span.start);
                source.offset(line, column)
            }
        };
        let length = source.text.len();
        range.start.min(length)..range.end.clamp(range.start.min(length), length)
    }
}

impl Source {
    /// Whether this source holds only positions of a front end's file.
    pub fn is_positions(&self) -> bool {
        self.positions.is_some()
    }

    fn line_column(&self, start: u32) -> (u32, u32) {
        if let Some(positions) = &self.positions {
            return positions.get(start as usize).copied().unwrap_or((1, 1));
        }
        let line = self.line_starts.partition_point(|&s| s <= start).max(1);
        let from = self.line_starts.get(line - 1).copied().unwrap_or(0) as usize;
        let upto = (start as usize).clamp(from, self.text.len());
        let column = self.text.as_bytes()[from..upto]
            .iter()
            .filter(|b| (**b & 0xC0) != 0x80)
            .count();
        (line as u32, column as u32 + 1)
    }

    fn offset(&self, line: u32, column: u32) -> std::ops::Range<usize> {
        let Some(&from) = self.line_starts.get(line.saturating_sub(1) as usize) else {
            return self.text.len()..self.text.len();
        };
        let rest = &self.text[from as usize..];
        let mut characters = rest.char_indices().skip(column.saturating_sub(1) as usize);
        match characters.next() {
            Some((at, c)) => from as usize + at..from as usize + at + c.len_utf8(),
            None => self.text.len()..self.text.len(),
        }
    }
}
