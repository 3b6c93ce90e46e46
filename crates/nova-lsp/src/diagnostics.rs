//! The compiler's messages as those of the protocol.

use crate::analysis::Analysis;
use crate::world::World;
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, NumberOrString,
    PublishDiagnosticsParams, Range, Uri,
};
use nova_diag::{Severity, codes};

const SOURCE: &str = "nova";

/// Returns the messages about a document.
pub fn published(world: &mut World, uri: &Uri) -> Option<PublishDiagnosticsParams> {
    let checked = world.checked(uri).ok()?;
    let diagnostics = match &*checked {
        Ok(analysis) => all(world, uri, analysis),
        Err(why) => vec![failure(why)],
    };
    Some(PublishDiagnosticsParams {
        uri: uri.clone(),
        version: Some(world.document(uri).ok()?.version),
        diagnostics,
    })
}

/// Returns the message that withdraws those about a document that was closed.
pub fn withdrawn(uri: Uri) -> PublishDiagnosticsParams {
    PublishDiagnosticsParams {
        uri,
        version: None,
        diagnostics: Vec::new(),
    }
}

/// Describes an error of the compiler, or a file that it cannot read.
fn failure(why: &str) -> Diagnostic {
    Diagnostic {
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some(SOURCE.to_string()),
        message: why.to_string(),
        ..Diagnostic::default()
    }
}

fn all(world: &World, uri: &Uri, analysis: &Analysis) -> Vec<Diagnostic> {
    let own = analysis.own_messages();
    let own = own.map(|message| translated(world, uri, analysis, message));
    let imported = analysis.imported_errors().into_iter().map(|(at, message)| {
        let place = analysis.parsed().report.sources.place(message.primary.span);
        let range = analysis.range(at, world.encoding);
        Diagnostic {
            message: format!("{place}: {}", message.message),
            related_information: related(world, uri, analysis, message),
            tags: None,
            range,
            ..translated(world, uri, analysis, message)
        }
    });
    own.chain(imported).collect()
}

/// Translates a message about the document.
pub fn translated(
    world: &World,
    uri: &Uri,
    analysis: &Analysis,
    message: &nova_diag::Diagnostic,
) -> Diagnostic {
    let range = match message.primary.span.file == analysis.root() {
        true => analysis.range(message.primary.span, world.encoding),
        false => Range::default(),
    };
    let mut text = message.message.clone();
    if !message.primary.text.is_empty() {
        text += &format!("\n{}", message.primary.text);
    }
    if let Some(help) = &message.help {
        text += &format!("\nhelp: {help}");
    }
    let is_unused = message.code == codes::UNUSED_NAME;
    Diagnostic {
        range,
        severity: Some(match message.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(message.code.to_string())),
        source: Some(SOURCE.to_string()),
        message: text,
        related_information: related(world, uri, analysis, message),
        tags: is_unused.then(|| vec![DiagnosticTag::UNNECESSARY]),
        ..Diagnostic::default()
    }
}

/// Returns the other places of a message. A message about another file has its own place among them.
fn related(
    world: &World,
    uri: &Uri,
    analysis: &Analysis,
    message: &nova_diag::Diagnostic,
) -> Option<Vec<DiagnosticRelatedInformation>> {
    let primary = (message.primary.span.file != analysis.root())
        .then_some((message.primary.span, &message.message));
    let others = message
        .secondary
        .iter()
        .map(|label| (label.span, &label.text));
    let places = primary.into_iter().chain(others);
    let found: Vec<_> = places
        .filter_map(|(span, text)| {
            Some(DiagnosticRelatedInformation {
                location: world.location(uri, analysis, span)?,
                message: text.clone(),
            })
        })
        .collect();
    (!found.is_empty()).then_some(found)
}
