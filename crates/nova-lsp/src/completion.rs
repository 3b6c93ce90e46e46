//! Names and forms that may stand at a position.

use crate::analysis::Analysis;
use crate::builtins::builtin_page;
use crate::forms::{FORMS, Form, Position};
use crate::hover::{builtin_text, markdown, page};
use crate::imports::import_edit;
use crate::tokens::{Context, closed_at, is_balanced};
use crate::world::{Refusal, World};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionParams, CompletionResponse, CompletionTextEdit,
    Documentation, InsertTextFormat, Range, TextEdit, Uri,
};
use nova_driver::library;
use nova_infer::{Referent, builtin_names};
use nova_syntax::token::TokenKind;
use std::collections::HashSet;
use std::ops;

/// The names of the types that are built in.
const TYPES: [&str; 15] = [
    "int8", "int16", "int", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float",
    "double", "bool", "unit", "vector", "vec",
];

/// Answers with what may stand at a position. Names of the library bring their import with them.
pub fn completion(
    world: &mut World,
    params: CompletionParams,
) -> Result<Option<CompletionResponse>, Refusal> {
    let place = params.text_document_position;
    let uri = place.text_document.uri;
    let document = world.document(&uri)?;
    let offset = document.text.offset(place.position, world.encoding);
    let context = Context::at(&document.text.text, offset);
    if context.is_comment() {
        return Ok(None);
    }
    readable(world, &uri, offset, |world, analysis| {
        let text = &world.document(&uri)?.text;
        let replaced = replaced(&text.text, &context, offset);
        let mut items = Items {
            world,
            analysis,
            range: text.range(replaced, world.encoding),
            names: HashSet::new(),
            items: Vec::new(),
        };
        if context.is_text() {
            items.imports(&context, &text.text);
        } else if is_type(&context, &text.text) {
            items.types();
        } else if context.enclosing.len() <= 1
            && context.heads(&text.text).iter().all(|h| h.is_empty())
        {
            items.forms(&context, &text.text);
            items.expressions(&uri, offset)?;
        } else {
            items.expressions(&uri, offset)?;
            items.forms(&context, &text.text);
        }
        Ok(Some(CompletionResponse::Array(items.items)))
    })
}

/// Does `body` with what the compiler knows about a document. A text with an open bracket is read as if that
/// ended at the offset, since nothing is known about the form that it belongs to otherwise.
pub fn readable<R>(
    world: &mut World,
    uri: &Uri,
    offset: usize,
    body: impl FnOnce(&World, &Analysis) -> Result<R, Refusal>,
) -> Result<R, Refusal> {
    let text = world.document(uri)?.text.text.clone();
    if is_balanced(&text) {
        return world.with(uri, body);
    }
    let analysis = world.with_text(uri, &closed_at(&text, offset))?;
    body(world, &analysis)
}

/// Returns the bytes that an item replaces: the name around the offset, or the inside of a text literal.
fn replaced(text: &str, context: &Context, offset: usize) -> ops::Range<usize> {
    match context.token {
        Some(token) if token.kind == TokenKind::Atom => token.start..token.end,
        Some(token) if context.is_text() => {
            let closed = token.end > token.start + 1 && text[..token.end].ends_with('"');
            let end = token.end - usize::from(closed);
            token.start + 1..end.max(token.start + 1)
        }
        _others => offset..offset,
    }
}

/// True where a type is expected: behind a colon, or beside a type.
fn is_type(context: &Context, text: &str) -> bool {
    let Some(before) = context.before else {
        return false;
    };
    before.kind == TokenKind::Colon || ["->", "vector"].contains(&&text[before.start..before.end])
}

struct Items<'a> {
    world: &'a World,
    analysis: &'a Analysis,
    range: Range,
    /// The names that are among the items. Inner ones come first and hide others.
    names: HashSet<String>,
    items: Vec<CompletionItem>,
}

impl Items<'_> {
    fn add(
        &mut self,
        name: &str,
        kind: CompletionItemKind,
        detail: String,
    ) -> Option<&mut CompletionItem> {
        if !self.names.insert(name.to_string()) {
            return None;
        }
        let group = match kind {
            CompletionItemKind::VARIABLE => '0',
            CompletionItemKind::KEYWORD => '2',
            CompletionItemKind::MODULE => '3',
            _others => '1',
        };
        self.items.push(CompletionItem {
            label: name.to_string(),
            kind: Some(kind),
            detail: (!detail.is_empty()).then_some(detail),
            sort_text: Some(format!("{group}{name}")),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit {
                range: self.range,
                new_text: name.to_string(),
            })),
            ..CompletionItem::default()
        });
        self.items.last_mut()
    }

    fn referent(&mut self, name: &str, kind: CompletionItemKind, referent: Referent) {
        let index = self.analysis.index();
        let ty = index.and_then(|index| index.type_of(referent));
        let ty = ty.map(|ty| ty.to_string()).unwrap_or_default();
        let documentation = self.analysis.documentation(referent);
        if let Some(item) = self.add(name, kind, ty)
            && !documentation.is_empty()
        {
            item.documentation = Some(Documentation::MarkupContent(markdown(documentation)));
        }
    }

    /// Adds all names of expressions, from the inside to the outside.
    fn expressions(&mut self, uri: &Uri, offset: usize) -> Result<(), Refusal> {
        let analysis = self.analysis;
        for visible in analysis.visible_at(offset) {
            self.referent(
                &visible.name,
                CompletionItemKind::VARIABLE,
                visible.referent,
            );
        }
        for (number, definition) in (0..).zip(&analysis.tree().definitions) {
            let referent = Referent::Definition(number);
            self.referent(
                &definition.name.text,
                CompletionItemKind::FUNCTION,
                referent,
            );
        }
        if let Some(index) = analysis.index() {
            for (name, referent) in index.constructors() {
                self.referent(&name.text, CompletionItemKind::ENUM_MEMBER, referent);
            }
            for (name, referent) in index.foreigns() {
                self.referent(&name.text, CompletionItemKind::INTERFACE, referent);
            }
        }
        for name in builtin_names() {
            let ty = builtin_page(name).map(|page| page.ty).unwrap_or_default();
            if let Some(item) = self.add(name, CompletionItemKind::FUNCTION, ty) {
                let text = builtin_text(name).map(markdown);
                item.documentation = text.map(Documentation::MarkupContent);
            }
        }
        self.library(uri)
    }

    /// Adds the names of library files that are not imported yet, with the edit that imports them.
    fn library(&mut self, uri: &Uri) -> Result<(), Refusal> {
        let text = &self.world.document(uri)?.text;
        for known in self.world.library.names(&self.world.compiler) {
            if self.analysis.imports_library(&known.file) {
                continue;
            }
            let edit = import_edit(text, &known.file, self.world.encoding);
            if let Some(item) = self.add(&known.name, CompletionItemKind::MODULE, known.ty.clone())
            {
                let code = format!("(import \"{}\")", known.file);
                let page = page(&code, &known.documentation);
                item.kind = Some(CompletionItemKind::FUNCTION);
                item.documentation = Some(Documentation::MarkupContent(markdown(page)));
                item.additional_text_edits = Some(vec![edit]);
            }
        }
        Ok(())
    }

    /// Adds the forms that may stand here: those that begin with a word behind a bracket, and constants.
    fn forms(&mut self, context: &Context, text: &str) {
        let is_head = context
            .enclosing
            .last()
            .is_some_and(|e| e.items.is_empty() && !e.has_marks);
        let is_section = context.enclosing.len() <= 1;
        let heads = context.heads(text);
        for form in FORMS {
            let fits = match form.position {
                Position::Section => is_section && (is_head || context.enclosing.is_empty()),
                Position::Expression => is_head || context.enclosing.is_empty(),
                Position::Inner => match form.word {
                    "in" => heads.last() == Some(&"let"),
                    "then" | "else" => heads.last() == Some(&"if"),
                    _constant => true,
                },
            };
            if fits {
                self.form(form, is_head);
            }
        }
    }

    fn form(&mut self, form: &Form, is_head: bool) {
        let snippets = self.world.snippets;
        let range = self.range;
        let Some(item) = self.add(
            form.word,
            CompletionItemKind::KEYWORD,
            form.written.to_string(),
        ) else {
            return;
        };
        item.documentation = Some(Documentation::String(form.meaning.to_string()));
        if form.position == Position::Inner || (!snippets && is_head) {
            return;
        }
        let (open, close) = if is_head { ("", "") } else { ("(", ")") };
        let new_text = match snippets {
            true => format!("{open}{}{}{close}", form.word, form.snippet),
            false => format!("{open}{}", form.word),
        };
        item.text_edit = Some(CompletionTextEdit::Edit(TextEdit { range, new_text }));
        if snippets {
            item.kind = Some(CompletionItemKind::SNIPPET);
            item.insert_text_format = Some(InsertTextFormat::SNIPPET);
        }
    }

    fn types(&mut self) {
        for (number, declared) in (0..).zip(&self.analysis.tree().types) {
            self.referent(
                &declared.name.text,
                CompletionItemKind::ENUM,
                Referent::Type(number),
            );
        }
        for name in TYPES {
            self.add(name, CompletionItemKind::STRUCT, String::new());
        }
    }

    /// Adds the files of the library inside of the text of an import.
    fn imports(&mut self, context: &Context, text: &str) {
        if context.heads(text).last() != Some(&"import") {
            return;
        }
        for (name, _) in library::files() {
            self.add(&name, CompletionItemKind::FILE, String::new());
        }
    }
}
