//! `(at "file" line column e)`: places that a front end reports for its generated code.

use crate::datum::{Data, DatumId, Kind, Node};
use nova_diag::{FileId, SourceMap, Span};
use std::collections::HashMap;

/// Replaces every form `(at "file" line column e)` by `e`, which takes that place as its span. So
/// do all data in `e` without a nearer `at`.
///
/// This applies only to a list of exactly this shape. `at` with other items is a name like others.
/// Where `sources` has the file's text, messages show its line.
pub fn resolve_positions(data: &mut Data, sources: &mut SourceMap) {
    if !data.has_name("at") {
        return;
    }
    let mut files = HashMap::new();
    let mut work: Vec<(DatumId, Option<Span>)> = Vec::new();
    work.extend(data.roots().iter().map(|&root| (root, None)));
    while let Some((id, mut place)) = work.pop() {
        while let Some((name, line, column, inner)) = at_form(data, id) {
            let file = *files
                .entry(name)
                .or_insert_with_key(|name| positions_of(name, sources));
            place = Some(sources.position(file, line, column));
            data.nodes[id.index()] = data.nodes[inner.index()];
            data.spans[id.index()] = data.spans[inner.index()];
        }
        if let Some(place) = place {
            data.spans[id.index()] = place;
        }
        match &mut data.nodes[id.index()] {
            Node::Sequence { first, count, .. } => {
                let range = *first as usize..(*first + *count) as usize;
                work.extend(data.items[range].iter().map(|&item| (item, place)));
            }
            Node::Project {
                of, index_start, ..
            } => {
                if let Some(place) = place {
                    *index_start = place.start;
                }
                work.push((*of, place));
            }
            Node::Symbol(_)
            | Node::TypeVariable(_)
            | Node::Number(_)
            | Node::Text(_)
            | Node::Colon
            | Node::Comma => {}
        }
    }
}

/// Returns the parts of an `at` form. A line or column of 0 counts as 1.
fn at_form(data: &Data, id: DatumId) -> Option<(String, u32, u32, DatumId)> {
    let Kind::List(&[word, file, line, column, inner]) = data.kind(id) else {
        return None;
    };
    if !data.is_symbol(word, "at") {
        return None;
    }
    let file = String::from_utf8_lossy(data.as_text(file)?).into_owned();
    let line = data.as_index::<u32>(line)?.max(1);
    let column = data.as_index::<u32>(column)?.max(1);
    Some((file, line, column, inner))
}

/// Returns the source of positions for a front end's file.
fn positions_of(name: &str, sources: &mut SourceMap) -> FileId {
    if let Some(file) = sources.find_positions(name) {
        return file;
    }
    let text = match sources.find(name) {
        Some(file) => sources.source(file).text.clone(),
        None => "".into(),
    };
    sources.add_positions(name, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::read;

    /// Returns every datum outside lists with its place.
    fn places(text: &str) -> String {
        let mut sources = SourceMap::new();
        let file = sources.add("t.nova", text);
        let (mut data, _) = read(text, file);
        resolve_positions(&mut data, &mut sources);
        let mut out = Vec::new();
        let mut work: Vec<DatumId> = data.roots().iter().rev().copied().collect();
        while let Some(id) = work.pop() {
            match data.kind(id) {
                Kind::List(items) | Kind::Vector(items) => work.extend(items.iter().rev()),
                _ => out.push(format!(
                    "{}@{}",
                    data.write(id),
                    sources.place(data.span(id))
                )),
            }
        }
        out.join(" ")
    }

    #[test]
    fn at_replaces_the_spans_inside() {
        for (text, expected) in [
            ("(at \"a.py\" 3 4 x)", "x@a.py:3:4"),
            (
                "(f (at \"d/a.py\" 3 4 (g x.0 (at \"a.py\" 5 6 y))) z)",
                "f@t.nova:1:2 g@a.py:3:4 x.0@a.py:3:4 y@a.py:5:6 z@t.nova:1:48",
            ),
            ("(at \"a.py\" 3 4 (at \"a.py\" 5 6 y))", "y@a.py:5:6"),
            ("(at v 3)", "at@t.nova:1:2 v@t.nova:1:5 3@t.nova:1:7"),
            ("(at \"t.nova\" 9 1 y).1", "y.1@t.nova:1:1"),
        ] {
            assert_eq!(places(text), expected, "{text}");
        }
    }

    #[test]
    fn deep_nesting() {
        let depth = 100_000;
        let text = format!("{}x{}", "(at \"a\" 1 2 (".repeat(depth), "))".repeat(depth));
        assert_eq!(places(&text), "x@a:1:2");
    }
}
