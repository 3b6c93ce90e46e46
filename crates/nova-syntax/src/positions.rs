//! `(at "file" line column e)`: places that a front end reports for its generated code. It may give the
//! place's end too, `(at "file" line column line column e)`, and then the name of its construct,
//! `(at "file" line column line column "name" e)`.

use crate::datum::{Data, DatumId, Kind, Node};
use nova_diag::{FileId, Position, SourceMap, Span};
use std::collections::HashMap;

/// Replaces every form `(at "file" line column … e)` by `e`, which takes that place as its span. So
/// do all data in `e` without a nearer `at`.
///
/// This applies only to a list of exactly one of these shapes. `at` with other items is a name like others.
/// Where `sources` has the file's text, messages show its line.
pub fn resolve_positions(data: &mut Data, sources: &mut SourceMap) {
    if !data.has_name("at") {
        return;
    }
    let mut files = HashMap::new();
    let mut work: Vec<(DatumId, Option<Span>)> = Vec::new();
    work.extend(data.roots().iter().map(|&root| (root, None)));
    while let Some((id, mut place)) = work.pop() {
        while let Some((name, position, inner)) = at_form(data, id) {
            let file = *files
                .entry(name)
                .or_insert_with_key(|name| positions_of(name, sources));
            place = Some(sources.position(file, position));
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

/// Returns the parts of an `at` form: the file, the place in it, and the form that stands there.
fn at_form(data: &Data, id: DatumId) -> Option<(String, Position, DatumId)> {
    let Kind::List(&[word, file, line, column, ref rest @ .., inner]) = data.kind(id) else {
        return None;
    };
    if !data.is_symbol(word, "at") {
        return None;
    }
    let text = |id| Some(String::from_utf8_lossy(data.as_text(id)?).into_owned());
    let number = |id| data.as_index::<u32>(id);
    let (end, construct) = match *rest {
        [] => (None, None),
        [line, column] => (Some((number(line)?, number(column)?)), None),
        [line, column, name] => (Some((number(line)?, number(column)?)), Some(text(name)?)),
        _ => return None,
    };
    let position = Position {
        line: number(line)?,
        column: number(column)?,
        end,
        construct: construct.map(Into::into),
    };
    Some((text(file)?, position, inner))
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
                    place(&sources, data.span(id))
                )),
            }
        }
        out.join(" ")
    }

    /// Returns a place, with its end and its construct where the front end gave them.
    fn place(sources: &SourceMap, span: Span) -> String {
        let mut text = sources.place(span).to_string();
        let ((line, column), end) = (sources.start(span), sources.end(span));
        if sources.source(span.file).is_positions() && end != (line, column + 1) {
            text += &format!("-{}:{}", end.0, end.1);
        }
        let construct = sources.construct(span);
        construct.map_or(text.clone(), |name| format!("{text}={name}"))
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
            ("(at \"a.py\" 3 4 3 9 x)", "x@a.py:3:4-3:9"),
            (
                "(at \"a.py\" 3 4 3 9 \"blur\" (f x))",
                "f@a.py:3:4-3:9=blur x@a.py:3:4-3:9=blur",
            ),
            ("(at \"a.py\" 0 0 x)", "x@a.py:1:1"),
            ("(at v 3)", "at@t.nova:1:2 v@t.nova:1:5 3@t.nova:1:7"),
            (
                "(at \"a\" 1 2 3 e)",
                "at@t.nova:1:2 \"a\"@t.nova:1:5 1@t.nova:1:9 2@t.nova:1:11 3@t.nova:1:13 e@t.nova:1:15",
            ),
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
