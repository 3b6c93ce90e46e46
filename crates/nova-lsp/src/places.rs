//! Where names are declared and used.

use crate::analysis::{Analysis, Symbol};
use crate::workspace::programs;
use crate::world::{Refusal, World};
use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams, GotoDefinitionParams,
    GotoDefinitionResponse, Location, Range, ReferenceParams, Uri,
};
use nova_diag::Span;
use nova_driver::parsed::Origin;
use nova_infer::Referent;

/// Answers with the declaration of the name at a position, or with the file that an import names.
pub fn definition(
    world: &mut World,
    params: GotoDefinitionParams,
) -> Result<Option<GotoDefinitionResponse>, Refusal> {
    let place = params.text_document_position_params;
    let uri = place.text_document.uri;
    world.at(&uri, place.position, |world, analysis, offset| {
        if let Some(occurrence) = analysis.occurrence_at(offset) {
            let declared = analysis.declarations(occurrence.referent).into_iter();
            let locations = declared.filter_map(|span| world.location(&uri, analysis, span));
            let locations: Vec<Location> = locations.collect();
            let answer = (!locations.is_empty()).then_some(locations);
            return Ok(answer.map(GotoDefinitionResponse::Array));
        }
        let imported = imported_file(world, analysis, offset);
        Ok(imported.map(GotoDefinitionResponse::Scalar))
    })
}

/// Returns the beginning of the file that the import at an offset names.
fn imported_file(world: &World, analysis: &Analysis, offset: usize) -> Option<Location> {
    let mut imports = analysis.parsed().imports.iter();
    let import = imports.find(|import| {
        let span = import.span;
        let covers = span.start as usize <= offset && offset <= span.end as usize;
        span.file == analysis.root() && covers
    })?;
    let uri = world.uri_of(import.origin.as_ref()?)?;
    let range = Range::default();
    Some(Location { uri, range })
}

/// Answers with all places of the name at a position, in open documents and in the files of the workspace.
pub fn references(
    world: &mut World,
    params: ReferenceParams,
) -> Result<Option<Vec<Location>>, Refusal> {
    let place = params.text_document_position;
    let uri = place.text_document.uri;
    let is_wanted = params.context.include_declaration;
    let found = world.at(&uri, place.position, |world, analysis, offset| {
        let Some(occurrence) = analysis.occurrence_at(offset) else {
            return Ok(None);
        };
        let referent = occurrence.referent;
        if let Some(symbol) = analysis.symbol(referent) {
            return Ok(Some((Vec::new(), Some(symbol))));
        }
        // A built-in has no declaration. Its places are those in the document.
        let all = analysis.occurrences();
        let own = all
            .iter()
            .filter(|o| o.referent == referent && o.span.file == analysis.root());
        let places = own.filter_map(|o| world.location(&uri, analysis, o.span));
        Ok(Some((places.collect(), None)))
    })?;
    match found {
        None => Ok(None),
        Some((places, None)) => Ok(Some(places)),
        Some((_, Some(symbol))) => Ok(Some(places_of(world, &uri, &symbol, is_wanted)?)),
    }
}

/// Returns the places of a name in all programs that read its file.
pub fn places_of(
    world: &mut World,
    uri: &Uri,
    symbol: &Symbol,
    with_declarations: bool,
) -> Result<Vec<Location>, Refusal> {
    let mut found: Vec<Location> = Vec::new();
    let mut collect = |world: &World, uri: &Uri, analysis: &Analysis| {
        for occurrence in analysis.places(symbol) {
            if (with_declarations || !occurrence.is_declaration)
                && let Some(location) = world.location(uri, analysis, occurrence.span)
            {
                found.push(location);
            }
        }
    };
    world.with(uri, |world, analysis| {
        collect(world, uri, analysis);
        Ok(())
    })?;
    if let Some(origin) = &symbol.origin {
        programs(world, origin, |world, uri, analysis| {
            collect(world, uri, analysis);
        });
    }
    let key = |l: &Location| {
        (
            l.uri.as_str().to_string(),
            l.range.start.line,
            l.range.start.character,
        )
    };
    found.sort_by_key(key);
    found.dedup();
    Ok(found)
}

/// Answers with the places of the name at a position in its document.
pub fn highlights(
    world: &mut World,
    params: DocumentHighlightParams,
) -> Result<Option<Vec<DocumentHighlight>>, Refusal> {
    let place = params.text_document_position_params;
    let uri = place.text_document.uri;
    world.at(&uri, place.position, |world, analysis, offset| {
        let Some(referent) = analysis.occurrence_at(offset).map(|o| o.referent) else {
            return Ok(None);
        };
        let all = analysis.occurrences();
        let own = all
            .iter()
            .filter(|o| o.referent == referent && o.span.file == analysis.root());
        let highlights = own.map(|o| DocumentHighlight {
            range: analysis.range(o.span, world.encoding),
            kind: Some(match o.is_declaration {
                true => DocumentHighlightKind::WRITE,
                false => DocumentHighlightKind::READ,
            }),
        });
        Ok(Some(highlights.collect()))
    })
}

/// True for a name that a program of the user declares.
pub fn is_own(analysis: &Analysis, referent: Referent) -> bool {
    let declared = analysis.declarations(referent);
    let is_library = |span: &Span| matches!(analysis.origin(span.file), Some(Origin::Library(_)));
    !declared.is_empty() && !declared.iter().any(is_library)
}
