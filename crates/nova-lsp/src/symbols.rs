//! The outline of a document.

use crate::analysis::Analysis;
use crate::world::{Refusal, World};
use lsp_types::{DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, SymbolKind};
use nova_diag::Span;
use nova_infer::Referent;
use nova_syntax::ast::{Name, TypeDefinition, TypeDefinitionKind};

/// Answers with the types, functions and entries of a document, in the order of their places.
pub fn symbols(
    world: &mut World,
    params: DocumentSymbolParams,
) -> Result<Option<DocumentSymbolResponse>, Refusal> {
    world.with(&params.text_document.uri, |world, analysis| {
        let outline = Outline { world, analysis };
        Ok(Some(DocumentSymbolResponse::Nested(outline.all())))
    })
}

struct Outline<'a> {
    world: &'a World,
    analysis: &'a Analysis,
}

impl Outline<'_> {
    fn all(&self) -> Vec<DocumentSymbol> {
        let tree = self.analysis.tree();
        let is_own = |span: Span| span.file == self.analysis.root();
        let mut found = Vec::new();
        for declared in tree.types.iter().filter(|ty| is_own(ty.span)) {
            found.push(self.declared_type(declared));
        }
        for foreign in tree.foreigns.iter().filter(|f| is_own(f.span)) {
            let ty = self.analysis.written(tree.ty(foreign.ty).span).to_string();
            let kind = SymbolKind::INTERFACE;
            found.push(self.symbol(&foreign.name, foreign.span, kind, Some(ty)));
        }
        for (number, definition) in (0..).zip(&tree.definitions) {
            if is_own(definition.span) {
                let referent = Referent::Definition(number);
                let index = self.analysis.index();
                let ty = index.and_then(|index| index.type_of(referent));
                let ty = ty.map(|ty| ty.text);
                let is_function = ty.as_ref().is_some_and(|ty| ty.contains("->"))
                    || !self.analysis.parameters_of(referent).is_empty();
                let kind = match is_function {
                    true => SymbolKind::FUNCTION,
                    false => SymbolKind::CONSTANT,
                };
                found.push(self.symbol(&definition.name, definition.span, kind, ty));
            }
        }
        for entry in tree.entries.iter().filter(|entry| is_own(entry.span)) {
            let inputs = entry.inputs.iter().filter(|(name, _)| is_own(name.span));
            let children = inputs.map(|(name, ty)| {
                let ty = tree.ty(*ty).span;
                let detail = self.analysis.written(ty).to_string();
                let span = name.span.to(ty);
                self.symbol(name, span, SymbolKind::VARIABLE, Some(detail))
            });
            // The inputs of a program of one expression may stand outside of its entry.
            let inputs = entry
                .inputs
                .iter()
                .map(|(name, ty)| name.span.to(tree.ty(*ty).span));
            let span = inputs.fold(entry.span, Span::to);
            let mut symbol = self.symbol(&entry.name, span, SymbolKind::METHOD, None);
            symbol.children = Some(children.collect());
            found.push(symbol);
        }
        found.sort_by_key(|symbol| (symbol.range.start, symbol.range.end));
        found
    }

    fn declared_type(&self, declared: &TypeDefinition) -> DocumentSymbol {
        let (kind, constructors) = match &declared.kind {
            TypeDefinitionKind::Synonym(_) => (SymbolKind::STRUCT, &[][..]),
            TypeDefinitionKind::Sum(constructors) => (SymbolKind::ENUM, constructors.as_slice()),
        };
        let children = constructors.iter().map(|(name, payload)| {
            let payload = self.analysis.tree().ty(*payload).span;
            let detail = self.analysis.written(payload).to_string();
            let span = name.span.to(payload);
            self.symbol(name, span, SymbolKind::ENUM_MEMBER, Some(detail))
        });
        let mut symbol = self.symbol(&declared.name, declared.span, kind, None);
        symbol.children = Some(children.collect());
        symbol
    }

    // The field `deprecated` is deprecated itself, and must be given.
    #[allow(deprecated)]
    fn symbol(
        &self,
        name: &Name,
        span: Span,
        kind: SymbolKind,
        detail: Option<String>,
    ) -> DocumentSymbol {
        let encoding = self.world.encoding;
        // A program of one expression has its name from its file.
        let is_inside = name.span.file == span.file
            && span.start <= name.span.start
            && name.span.end <= span.end;
        let selected = if is_inside { name.span } else { span };
        DocumentSymbol {
            // The protocol allows no empty name.
            name: match &*name.text {
                "" => "_".to_string(),
                text => text.to_string(),
            },
            detail,
            kind,
            tags: None,
            deprecated: None,
            range: self.analysis.range(span, encoding),
            selection_range: self.analysis.range(selected, encoding),
            children: None,
        }
    }
}
