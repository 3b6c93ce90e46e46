//! The state of the server: open documents, and what is known about each.

use crate::analysis::Analysis;
use crate::library::{self, LibraryFiles};
use crate::text::{Encoding, Text};
use crate::uri::{path_of, uri_of};
use lsp_server::ErrorCode;
use lsp_types::{Location, Position, TextDocumentContentChangeEvent, Uri};
use nova_diag::Span;
use nova_driver::parsed::Origin;
use nova_driver::{Compiler, Source, Texts};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// The reason why a request has no answer.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The code of the protocol.
    pub code: ErrorCode,
    /// The reason, for people.
    pub message: String,
}

impl Refusal {
    /// Refuses a request that cannot be done, for a reason that the user should read.
    pub fn failed(message: impl Into<String>) -> Self {
        Refusal {
            code: ErrorCode::RequestFailed,
            message: message.into(),
        }
    }
}

/// An open document.
pub struct Document {
    /// Its name at the client.
    pub uri: Uri,
    /// Its version at the client.
    pub version: i32,
    /// Its text.
    pub text: Text,
    /// The canonical path, if it is a file.
    path: Option<PathBuf>,
    /// What the compiler knows about this text; `None` before it was asked.
    analysis: Option<Rc<Result<Analysis, String>>>,
    /// True if the client has the messages about this text.
    is_published: bool,
}

/// All that the server knows.
pub struct World {
    /// The compiler with its options.
    pub compiler: Compiler,
    /// The unit of columns.
    pub encoding: Encoding,
    /// True if the client understands snippets.
    pub snippets: bool,
    /// The folders of the workspace.
    pub folders: Vec<PathBuf>,
    /// The standard library.
    pub library: LibraryFiles,
    /// The open documents, by their URIs.
    documents: BTreeMap<String, Document>,
    /// The texts of those that are files.
    texts: Texts,
}

/// Returns the path by which the compiler knows a file.
fn canonical(path: PathBuf) -> PathBuf {
    fs::canonicalize(&path).unwrap_or(path)
}

impl World {
    /// Creates the state without documents.
    pub fn new(compiler: Compiler) -> World {
        World {
            compiler,
            encoding: Encoding::default(),
            snippets: false,
            folders: Vec::new(),
            library: LibraryFiles::default(),
            documents: BTreeMap::new(),
            texts: Texts::new(),
        }
    }

    /// Opens a document.
    pub fn open(&mut self, uri: Uri, version: i32, text: String) {
        let path = path_of(&uri).map(canonical);
        let text = Text::new(text);
        if let Some(path) = &path {
            self.texts.insert(path.clone(), text.text.clone());
        }
        let document = Document {
            uri: uri.clone(),
            version,
            text,
            path,
            analysis: None,
            is_published: false,
        };
        self.documents.insert(uri.as_str().to_string(), document);
        self.forget_all();
    }

    /// Changes the text of a document. A document that is not open stays so.
    pub fn change(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
    ) {
        let encoding = self.encoding;
        let Some(document) = self.documents.get_mut(uri.as_str()) else {
            return;
        };
        for change in changes {
            document.text = match change.range {
                Some(range) => document.text.replaced(range, &change.text, encoding),
                None => Text::new(change.text),
            };
        }
        document.version = version;
        document.analysis = None;
        document.is_published = false;
        if let Some(path) = document.path.clone() {
            self.texts.insert(path.clone(), document.text.text.clone());
            self.forget(&Origin::File(path));
        }
    }

    /// Closes a document. Its file counts again.
    pub fn close(&mut self, uri: &Uri) {
        let closed = self.documents.remove(uri.as_str());
        if let Some(path) = closed.and_then(|document| document.path) {
            self.texts.remove(&path);
        }
        self.forget_all();
    }

    /// Forgets what is known about all documents, since files may have changed.
    pub fn forget_all(&mut self) {
        for document in self.documents.values_mut() {
            document.analysis = None;
            document.is_published = false;
        }
    }

    /// Forgets what is known about the documents that read a file.
    fn forget(&mut self, origin: &Origin) {
        for document in self.documents.values_mut() {
            let analysis = document.analysis.as_deref();
            if let Some(Ok(analysis)) = analysis
                && analysis.reads(origin)
            {
                document.analysis = None;
                document.is_published = false;
            }
        }
    }

    /// Returns an open document.
    pub fn document(&self, uri: &Uri) -> Result<&Document, Refusal> {
        let document = self.documents.get(uri.as_str());
        document.ok_or_else(|| Refusal {
            code: ErrorCode::InvalidParams,
            message: format!("the document {} is not open", uri.as_str()),
        })
    }

    /// Returns the open documents.
    pub fn documents(&self) -> impl Iterator<Item = &Document> {
        self.documents.values()
    }

    /// Returns the next document whose messages the client does not have, and marks it as published.
    pub fn next_unpublished(&mut self) -> Option<Uri> {
        let mut documents = self.documents.values_mut();
        let document = documents.find(|document| !document.is_published)?;
        document.is_published = true;
        Some(document.uri.clone())
    }

    /// Returns the source of a document, with a text of its own or its present one.
    fn source(document: &Document, text: Option<&str>) -> Source {
        match &document.path {
            Some(path) => Source::File(path.clone()),
            None => Source::Text {
                name: "untitled.nova".to_string(),
                text: text.unwrap_or(&document.text.text).to_string(),
                folder: PathBuf::from("."),
            },
        }
    }

    /// Returns what the compiler knows about a document, or why it cannot read it.
    pub fn checked(&mut self, uri: &Uri) -> Result<Rc<Result<Analysis, String>>, Refusal> {
        let document = self.document(uri)?;
        if let Some(known) = &document.analysis {
            return Ok(known.clone());
        }
        let source = Self::source(document, None);
        let analysis = Rc::new(Analysis::of(&self.compiler, source, &self.texts));
        if let Some(document) = self.documents.get_mut(uri.as_str()) {
            document.analysis = Some(analysis.clone());
        }
        Ok(analysis)
    }

    /// Does `body` with what the compiler knows about a document.
    pub fn with<R>(
        &mut self,
        uri: &Uri,
        body: impl FnOnce(&World, &Analysis) -> Result<R, Refusal>,
    ) -> Result<R, Refusal> {
        let checked = self.checked(uri)?;
        match &*checked {
            Ok(analysis) => body(self, analysis),
            Err(why) => Err(Refusal::failed(why.clone())),
        }
    }

    /// Does the same, with the offset of a position.
    pub fn at<R>(
        &mut self,
        uri: &Uri,
        position: Position,
        body: impl FnOnce(&World, &Analysis, usize) -> Result<R, Refusal>,
    ) -> Result<R, Refusal> {
        let offset = self.document(uri)?.text.offset(position, self.encoding);
        self.with(uri, |world, analysis| body(world, analysis, offset))
    }

    /// Reads a program as if some files had other texts. `own` is the other text of a document that is no file.
    pub fn supposed(
        &self,
        uri: &Uri,
        texts: impl IntoIterator<Item = (PathBuf, Arc<str>)>,
        own: Option<&str>,
    ) -> Result<Analysis, Refusal> {
        let mut all = self.texts.clone();
        all.extend(texts);
        let source = match (self.document(uri), path_of(uri)) {
            (Ok(document), _) => Self::source(document, own),
            (Err(_), Some(path)) => Source::File(canonical(path)),
            (Err(refusal), None) => return Err(refusal),
        };
        Analysis::of(&self.compiler, source, &all).map_err(Refusal::failed)
    }

    /// Reads a document as if it had another text.
    pub fn with_text(&self, uri: &Uri, text: &str) -> Result<Analysis, Refusal> {
        let path = self.document(uri)?.path.clone();
        self.supposed(uri, path.map(|path| (path, text.into())), Some(text))
    }

    /// Returns the texts of the open files.
    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// Returns the URI of a file: the client's own where it is open.
    pub fn uri_of(&self, origin: &Origin) -> Option<Uri> {
        match origin {
            Origin::File(path) => {
                let is_same = |d: &&Document| d.path.as_deref() == Some(path.as_path());
                let open = self.documents.values().find(is_same);
                open.map(|d| d.uri.clone()).or_else(|| uri_of(path))
            }
            Origin::Library(name) => uri_of(&library::copy_of(name)?),
        }
    }

    /// Returns the URI of the file of a place in a document, which may be the document's own.
    pub fn uri_of_place(&self, uri: &Uri, analysis: &Analysis, place: Span) -> Option<Uri> {
        match analysis.origin(place.file) {
            _ if place.file == analysis.root() => Some(uri.clone()),
            Some(origin) => self.uri_of(origin),
            None => None,
        }
    }

    /// Returns a place in a document, or in a file that it imports, as the client names it.
    pub fn location(&self, uri: &Uri, analysis: &Analysis, place: Span) -> Option<Location> {
        let uri = self.uri_of_place(uri, analysis, place)?;
        let range = analysis.range(place, self.encoding);
        Some(Location { uri, range })
    }

    /// Returns the path of a document, if it is a file.
    pub fn path(&self, uri: &Uri) -> Option<&Path> {
        self.documents.get(uri.as_str())?.path.as_deref()
    }
}
