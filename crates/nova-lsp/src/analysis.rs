//! The knowledge of the compiler about a document.

use crate::occurrences::{Occurrence, Occurrences, Visible};
use crate::text::{Encoding, Text};
use lsp_types::Range;
use nova_diag::{Diagnostic, FileId, Severity, Span, codes};
use nova_driver::parsed::{Origin, Parsed};
use nova_driver::{Analysed, Compiler, Source, Texts, documentation};
use nova_infer::{Index, Referent};
use nova_syntax::ast::{ExpressionId, ExpressionKind, PatternKind, Program};
use std::cell::OnceCell;

/// A document that the compiler has read, with all its imports.
pub struct Analysis {
    parsed: Parsed,
    index: Option<Index>,
    occurrences: Option<Occurrences>,
    root: FileId,
    /// The texts of the sources that were asked for.
    texts: Vec<OnceCell<Text>>,
}

/// A declared name, the same in each program that reads its file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Symbol {
    /// The file of its declaration; `None` for the document itself, if that is no file.
    pub origin: Option<Origin>,
    /// The first byte of its declaration.
    pub start: u32,
}

impl Analysis {
    /// Reads a document. The error says why the compiler could not.
    pub fn of(compiler: &Compiler, source: Source, texts: &Texts) -> Result<Analysis, String> {
        let analysed = compiler.analyse(source, texts);
        let Analysed { parsed, index } = analysed.map_err(|failure| failure.to_string())?;
        let root = parsed.root.ok_or("the text is not UTF-8")?;
        let texts = parsed.report.sources.ids().map(|_| OnceCell::new());
        let sources = &parsed.report.sources;
        let occurrences = index.as_ref();
        let occurrences = occurrences.map(|index| Occurrences::of(&parsed.program, sources, index));
        Ok(Analysis {
            occurrences,
            texts: texts.collect(),
            parsed,
            index,
            root,
        })
    }

    /// Returns the document's source.
    pub fn root(&self) -> FileId {
        self.root
    }

    /// Returns the syntax tree.
    pub fn tree(&self) -> &Program {
        &self.parsed.program
    }

    /// Returns the program with its sources and imports.
    pub fn parsed(&self) -> &Parsed {
        &self.parsed
    }

    /// Returns the index, if the compiler made one.
    pub fn index(&self) -> Option<&Index> {
        self.index.as_ref()
    }

    /// Returns the text of a source.
    pub fn text(&self, file: FileId) -> &Text {
        let text = || Text::new(self.parsed.report.sources.source(file).text.clone());
        self.texts[file.index()].get_or_init(text)
    }

    /// Returns the range of a place.
    pub fn range(&self, span: Span, encoding: Encoding) -> Range {
        let bytes = self.parsed.report.sources.byte_range(span);
        self.text(span.file).range(bytes, encoding)
    }

    /// Returns the file that a source is.
    pub fn origin(&self, file: FileId) -> Option<&Origin> {
        self.parsed.origins.get(&file)
    }

    /// True if the program reads a file.
    pub fn reads(&self, origin: &Origin) -> bool {
        self.parsed.origins.values().any(|read| read == origin)
    }

    /// Returns all occurrences of names, in the order of their places.
    pub fn occurrences(&self) -> &[Occurrence] {
        self.occurrences.as_ref().map_or(&[], Occurrences::all)
    }

    /// Returns the local names that are visible at an offset of the document, inner ones first.
    pub fn visible_at(&self, offset: usize) -> Vec<&Visible> {
        let occurrences = self.occurrences.as_ref();
        occurrences.map_or_else(Vec::new, |o| o.visible_at(self.root, offset as u32))
    }

    /// Returns the occurrence of a name at an offset of the document.
    pub fn occurrence_at(&self, offset: usize) -> Option<&Occurrence> {
        self.occurrences.as_ref()?.at(self.root, offset as u32)
    }

    /// Returns the text of a place.
    pub fn written(&self, span: Span) -> &str {
        self.parsed.report.sources.written(span).unwrap_or("")
    }

    /// Returns the places where a name is declared.
    pub fn declarations(&self, referent: Referent) -> Vec<Span> {
        let all = self.occurrences().iter();
        let declared = all.filter(|o| o.is_declaration && o.referent == referent);
        declared.map(|occurrence| occurrence.span).collect()
    }

    /// Returns the name that a referent is. Built-ins and names without a declaration are none.
    pub fn symbol(&self, referent: Referent) -> Option<Symbol> {
        let first = self.declarations(referent).first().copied()?;
        Some(Symbol {
            origin: self.origin(first.file).cloned(),
            start: first.start,
        })
    }

    /// Returns the places of a name in all files of the program.
    pub fn places(&self, symbol: &Symbol) -> Vec<Occurrence> {
        let is_declaration = |o: &&Occurrence| {
            o.is_declaration
                && o.span.start == symbol.start
                && self.origin(o.span.file) == symbol.origin.as_ref()
        };
        let all = self.occurrences().iter();
        let Some(referent) = all.clone().find(is_declaration).map(|o| o.referent) else {
            return Vec::new();
        };
        all.filter(|o| o.referent == referent).copied().collect()
    }

    /// Returns the comment above the form that declares a name, or an empty text.
    pub fn documentation(&self, referent: Referent) -> String {
        let tree = self.tree();
        let form = match referent {
            Referent::Definition(number) => tree.definitions.get(number as usize).map(|d| d.span),
            Referent::Type(number) => tree.types.get(number as usize).map(|t| t.span),
            Referent::Constructor(..) | Referent::Foreign(_) => {
                self.declarations(referent).first().copied()
            }
            Referent::Local(_) | Referent::Builtin(_) => None,
        };
        let sources = &self.parsed.report.sources;
        form.map(|form| documentation::above(sources, form))
            .unwrap_or_default()
    }

    /// Returns the expression that a definition or a binding of a `let` gives its name.
    pub fn value_of(&self, referent: Referent) -> Option<ExpressionId> {
        let tree = self.tree();
        match referent {
            Referent::Definition(number) => Some(tree.definitions.get(number as usize)?.value),
            Referent::Local(_) => {
                let place = *self.declarations(referent).first()?;
                tree.arena
                    .iter()
                    .find_map(|expression| match &expression.kind {
                        ExpressionKind::Let { bindings, .. } => {
                            let mut own = bindings.iter().filter(|(pattern, _)| {
                                matches!(pattern.kind, PatternKind::Name(_))
                                    && pattern.span.file == place.file
                                    && pattern.span.start <= place.start
                                    && place.end <= pattern.span.end
                            });
                            own.next().map(|(_, value)| *value)
                        }
                        ExpressionKind::Mu { name, value, .. } if name.span == place => {
                            Some(*value)
                        }
                        _others => None,
                    })
            }
            _others => None,
        }
    }

    /// Returns the parameters of the lambda that a name is bound to, as they are written.
    pub fn parameters_of(&self, referent: Referent) -> Vec<&str> {
        let Some(mut at) = self.value_of(referent) else {
            return Vec::new();
        };
        loop {
            match &self.tree().expression(at).kind {
                ExpressionKind::Annotate(inner, _) => at = *inner,
                ExpressionKind::Mu { value, .. } => at = *value,
                ExpressionKind::Let { body, .. } => at = *body,
                ExpressionKind::Lambda { parameters, .. } => {
                    let name = |span| self.written(span).trim_start_matches('(');
                    let shown = |p: &nova_syntax::ast::Pattern| match &p.kind {
                        PatternKind::Name(_) => name(p.span)
                            .split([' ', ':', ')', '\n'])
                            .next()
                            .unwrap_or("_"),
                        PatternKind::Wildcard => "_",
                        PatternKind::Tuple(_) => self.written(p.span),
                    };
                    return parameters.iter().map(shown).collect();
                }
                _others => return Vec::new(),
            }
        }
    }

    /// Returns the compiler's messages about the document itself.
    pub fn own_messages(&self) -> impl Iterator<Item = &Diagnostic> {
        let all = self.parsed.report.diagnostics.iter();
        all.filter(|message| message.primary.span.file == self.root)
    }

    /// Returns the errors in other files, each with the import of the document that leads to it. Errors in code
    /// of a front end stand at the beginning of the document.
    pub fn imported_errors(&self) -> Vec<(Span, &Diagnostic)> {
        let all = self.parsed.report.diagnostics.iter();
        let others = all.filter(|message| {
            message.severity == Severity::Error && message.primary.span.file != self.root
        });
        others
            .map(|message| (self.import_of(message.primary.span.file), message))
            .collect()
    }

    /// Returns the import in the document by which a file is read.
    fn import_of(&self, file: FileId) -> Span {
        let start = Span::new(self.root, 0, 0);
        let mut wanted = file;
        // A program has no circles of imports without an error, so that the number of steps is limited.
        for _ in 0..self.parsed.imports.len() {
            let Some(origin) = self.origin(wanted) else {
                return start;
            };
            let mut imports = self.parsed.imports.iter();
            match imports.find(|import| import.origin.as_ref() == Some(origin)) {
                Some(import) if import.span.file == self.root => return import.span,
                Some(import) => wanted = import.span.file,
                None => return start,
            }
        }
        start
    }

    /// True if the document imports a file of the standard library, perhaps by way of others.
    pub fn imports_library(&self, name: &str) -> bool {
        self.reads(&Origin::Library(name.to_string()))
    }

    /// True for a message about a name that nothing declares.
    pub fn is_unbound(message: &Diagnostic) -> bool {
        message.code == codes::UNBOUND_NAME
    }
}
