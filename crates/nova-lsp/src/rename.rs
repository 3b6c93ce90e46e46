//! Another name for what a name stands for.
//!
//! A new name is right where the names of each program still stand for what they stood for. The programs are
//! read with the new texts, and their occurrences are compared. So a name that clashes with another, hides one or
//! is hidden by one is refused, whatever the reason.

use crate::analysis::{Analysis, Symbol};
use crate::edits::workspace_edit;
use crate::places::is_own;
use crate::workspace::programs;
use crate::world::{Refusal, World};
use lsp_types::{
    PrepareRenameResponse, RenameParams, TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit,
};
use nova_diag::Severity;
use nova_driver::parsed::Origin;
use nova_infer::{Referent, builtin_names};
use nova_syntax::ast::ExpressionKind;
use nova_syntax::parse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Answers with the range of the name at a position if it can be changed.
pub fn prepare(
    world: &mut World,
    params: TextDocumentPositionParams,
) -> Result<Option<PrepareRenameResponse>, Refusal> {
    let uri = params.text_document.uri;
    world.at(&uri, params.position, |world, analysis, offset| {
        let Some(occurrence) = analysis.occurrence_at(offset) else {
            return Ok(None);
        };
        check_referent(analysis, occurrence.referent)?;
        Ok(Some(PrepareRenameResponse::RangeWithPlaceholder {
            range: analysis.range(occurrence.span, world.encoding),
            placeholder: analysis.written(occurrence.span).to_string(),
        }))
    })
}

/// Answers with the edits that give the name at a position another text.
pub fn rename(world: &mut World, params: RenameParams) -> Result<Option<WorkspaceEdit>, Refusal> {
    let place = params.text_document_position;
    let uri = place.text_document.uri;
    let name = params.new_name;
    check_name(&name)?;
    let symbol = world.at(&uri, place.position, |_, analysis, offset| {
        let occurrence = analysis.occurrence_at(offset);
        let referent = occurrence.map(|occurrence| occurrence.referent);
        let referent = referent.ok_or_else(|| Refusal::failed("no name stands here"))?;
        check_referent(analysis, referent)?;
        let symbol = analysis.symbol(referent);
        symbol.ok_or_else(|| Refusal::failed("this name has no declaration"))
    })?;
    let mut change = Change {
        name: &name,
        symbol: &symbol,
        places: BTreeMap::new(),
        texts: HashMap::new(),
        edits: Vec::new(),
    };
    each_program(world, &uri, &symbol, |world, uri, analysis| {
        change.add(world, uri, analysis);
    })?;
    let mut refused = None;
    each_program(world, &uri, &symbol, |world, uri, analysis| {
        let kept = change.keeps_meaning(world, uri, analysis);
        refused = refused.take().or(kept.err());
    })?;
    match refused {
        Some(refusal) => Err(refusal),
        None => Ok(Some(workspace_edit(change.edits))),
    }
}

/// Calls `visit` with each program that may mention a name.
fn each_program(
    world: &mut World,
    uri: &Uri,
    symbol: &Symbol,
    mut visit: impl FnMut(&World, &Uri, &Analysis),
) -> Result<(), Refusal> {
    match &symbol.origin {
        Some(origin) => {
            programs(world, origin, visit);
            Ok(())
        }
        None => world.with(uri, |world, analysis| {
            visit(world, uri, analysis);
            Ok(())
        }),
    }
}

/// Refuses names that no program of the user declares.
fn check_referent(analysis: &Analysis, referent: Referent) -> Result<(), Refusal> {
    match referent {
        Referent::Builtin(name) => Err(Refusal::failed(format!(
            "`{name}` is a built-in function, which cannot be renamed"
        ))),
        _ if !is_own(analysis, referent) => Err(Refusal::failed(
            "this name belongs to the standard library, which cannot be changed",
        )),
        _own => Ok(()),
    }
}

/// Refuses texts that are no name, and names that mean something in every program.
fn check_name(name: &str) -> Result<(), Refusal> {
    if parse::is_reserved(name) {
        return Err(Refusal::failed(format!("`{name}` is a reserved word")));
    }
    if builtin_names().any(|builtin| builtin == name) {
        return Err(Refusal::failed(format!("`{name}` is a built-in function")));
    }
    let mut sources = nova_diag::SourceMap::new();
    let text = format!("() {name}");
    let file = sources.add("name", text.as_str());
    let (tree, messages) = parse::parse(&text, file, &mut sources, "name");
    let body = tree
        .entries
        .first()
        .map(|entry| &tree.expression(entry.body).kind);
    let is_name = matches!(body, Some(ExpressionKind::Name(read)) if **read == *name);
    if !messages.is_empty() || !is_name || name.ends_with('*') {
        return Err(Refusal::failed(format!("`{name}` cannot be a name")));
    }
    Ok(())
}

/// A change of a name in several files.
struct Change<'a> {
    name: &'a str,
    symbol: &'a Symbol,
    /// The places of the name in each file, in order.
    places: BTreeMap<Option<Origin>, BTreeSet<(usize, usize)>>,
    /// The new texts.
    texts: HashMap<Option<Origin>, Arc<str>>,
    edits: Vec<(Uri, TextEdit)>,
}

/// A place of a name, and its declaration or the built-in that it is.
type Fact = (
    Option<Origin>,
    usize,
    usize,
    Result<(Option<Origin>, usize), &'static str>,
);

impl Change<'_> {
    /// Adds the places in a program.
    fn add(&mut self, world: &World, uri: &Uri, analysis: &Analysis) {
        let mut files = BTreeSet::new();
        for place in analysis.places(self.symbol) {
            let span = place.span;
            let origin = analysis.origin(span.file).cloned();
            let bytes = (span.start as usize, span.end as usize);
            let known = self.places.entry(origin).or_default();
            if known.insert(bytes)
                && let Some(uri) = world.uri_of_place(uri, analysis, span)
            {
                let range = analysis.range(span, world.encoding);
                let new_text = self.name.to_string();
                self.edits.push((uri, TextEdit { range, new_text }));
            }
            files.insert(span.file);
        }
        for file in files {
            let origin = analysis.origin(file).cloned();
            let old = &analysis.text(file).text;
            let text = self.replaced(old, &origin);
            self.texts.insert(origin, text.into());
        }
    }

    fn replaced(&self, old: &str, origin: &Option<Origin>) -> String {
        let (mut text, mut from) = (String::new(), 0);
        for (start, end) in self.places.get(origin).into_iter().flatten() {
            text += old.get(from..*start).unwrap_or("");
            text += self.name;
            from = *end;
        }
        text + old.get(from..).unwrap_or("")
    }

    /// Returns where an offset stands after the change. The end of a name moves with its beginning.
    fn moved(&self, origin: &Option<Origin>, offset: usize) -> usize {
        let before = self.places.get(origin).into_iter().flatten();
        let before = before.take_while(|(_, end)| *end <= offset);
        let length = self.name.len();
        let (added, removed) = before.fold((0, 0), |(added, removed), (start, end)| {
            (added + length, removed + end - start)
        });
        offset + added - removed
    }

    /// True if the names of a program stand for what they stood for. The error says which does not.
    fn keeps_meaning(&self, world: &World, uri: &Uri, old: &Analysis) -> Result<(), Refusal> {
        let files = self.texts.iter().filter_map(|(origin, text)| match origin {
            Some(Origin::File(path)) => Some((path.clone(), text.clone())),
            Some(Origin::Library(_)) | None => None,
        });
        let own = self.texts.get(&None).map(|text| &**text);
        let new = world.supposed(uri, files, own)?;
        let moved = |(origin, start, end, meaning): Fact| {
            let range = self.moved(&origin, start)..self.moved(&origin, end);
            let meaning = meaning.map(|(of, start)| {
                let start = self.moved(&of, start);
                (of, start)
            });
            (origin, range.start, range.end, meaning)
        };
        let expected: BTreeSet<Fact> = facts(old).into_iter().map(moved).collect();
        let found: BTreeSet<Fact> = facts(&new).into_iter().collect();
        if expected == found && errors(&new) <= errors(old) {
            return Ok(());
        }
        let name = self.name;
        let change = expected.symmetric_difference(&found).next();
        let place = change.and_then(|(origin, start, _, _)| {
            let sources = &new.parsed().report.sources;
            let mut files = sources.ids();
            let file = files.find(|file| new.origin(*file) == origin.as_ref())?;
            let start = *start as u32;
            Some(
                sources
                    .place(nova_diag::Span::new(file, start, start))
                    .to_string(),
            )
        });
        let at = place
            .map(|place| format!(" at {place}"))
            .unwrap_or_default();
        Err(Refusal::failed(format!(
            "with the name `{name}` the program would mean something else{at}: it would clash with another \
             name, or hide it"
        )))
    }
}

fn errors(analysis: &Analysis) -> usize {
    let messages = analysis.parsed().report.diagnostics.iter();
    messages.filter(|m| m.severity == Severity::Error).count()
}

/// Returns all places of names in a program with what they stand for.
fn facts(analysis: &Analysis) -> Vec<Fact> {
    let all = analysis.occurrences();
    let mut declared: HashMap<Referent, (Option<Origin>, usize)> = HashMap::new();
    for o in all.iter().filter(|o| o.is_declaration) {
        let place = (analysis.origin(o.span.file).cloned(), o.span.start as usize);
        declared.entry(o.referent).or_insert(place);
    }
    let fact = |o: &crate::occurrences::Occurrence| {
        let Range { start, end } = o.span.start as usize..o.span.end as usize;
        let meaning = match o.referent {
            Referent::Builtin(name) => Err(name),
            referent => declared.get(&referent).cloned().ok_or(""),
        };
        (analysis.origin(o.span.file).cloned(), start, end, meaning)
    };
    all.iter().map(fact).collect()
}
