//! Sources of programs: files with their imports, text, data, a builder.

use crate::builder::{Built, ProgramBuilder};
use crate::error::{Failure, Report};
use crate::library;
use crate::merge::append;
use crate::names;
use crate::parsed::{Imported, Origin, Parsed};
use nova_diag::{Diagnostic, FileId, SourceMap, Span, codes, deep};
use nova_exec::InputError;
use nova_syntax::ast::{Import, Program};
use nova_syntax::interchange::program_text;
use nova_syntax::names::{check_names, check_node_names};
use nova_syntax::{parse, reader};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A program to be compiled.
#[derive(Debug)]
pub enum Source {
    /// A file; its imports are relative to it.
    File(PathBuf),
    /// Text under a name such as `dot.nova`, which also names the program. Imports are relative to
    /// the folder.
    Text {
        /// Its name in messages.
        name: String,
        /// The text.
        text: String,
        /// The folder of imports.
        folder: PathBuf,
    },
    /// A syntax tree that a front end built.
    Built(Box<ProgramBuilder>),
}

impl Source {
    /// Creates Text whose imports are relative to the working directory.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source::Text {
            name: name.into(),
            text: text.into(),
            folder: PathBuf::from("."),
        }
    }

    /// Returns the name of the program: `dot` for `examples/dot.nova`.
    pub fn program_name(&self) -> String {
        match self {
            Source::File(path) => program_name(&path.display().to_string()),
            Source::Text { name, .. } => program_name(name),
            Source::Built(builder) => builder.name().to_string(),
        }
    }

    /// Creates a program from data: the list of its top-level forms, for example from
    /// `lexpr::sexp!`.
    pub fn data(name: impl Into<String>, program: &lexpr::Value) -> Result<Source, Failure> {
        match program_text(program) {
            Ok(text) => Ok(Source::text(name, text)),
            Err(why) => Err(Failure::Input(InputError(why))),
        }
    }
}

/// Texts that stand for those of files, by the canonical paths of these: what an editor holds and has not
/// written yet. A file that does not exist has the path by which it is named.
pub type Texts = HashMap<PathBuf, Arc<str>>;

/// Reads and parses a program and its imports.
///
/// The error is about the program's own file. A missing import is a diagnostic, and so is a missing
/// expression.
pub fn load(source: Source) -> Result<Parsed, Failure> {
    load_with(source, Loader::default())
}

/// Does the same as [`load`], but a file that defines something needs no expression.
pub fn load_library(source: Source) -> Result<Parsed, Failure> {
    let loader = Loader {
        library: true,
        ..Loader::default()
    };
    load_with(source, loader)
}

/// Does the same as [`load_library`], with texts that stand for those of files.
pub fn load_texts(source: Source, texts: &Texts) -> Result<Parsed, Failure> {
    let loader = Loader {
        library: true,
        texts: Some(texts),
        ..Loader::default()
    };
    load_with(source, loader)
}

fn load_with(source: Source, mut loader: Loader<'_>) -> Result<Parsed, Failure> {
    match source {
        Source::Built(builder) => loader.load_built(builder.finish()),
        Source::File(path) => {
            let name = path.display().to_string();
            let identity = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
            let bytes = match loader.text_of(&identity) {
                Some(text) => text,
                None => fs::read(&path).map_err(|error| InputError::file(&path, &error))?,
            };
            loader.states.insert(identity.clone(), State::Open);
            if let Some(text) = loader.decode(&bytes, &name, None) {
                let origin = Some(Origin::File(identity.clone()));
                loader.load(&name, text, &folder_of(&path), (true, origin));
            }
            loader.states.insert(identity, State::Done);
        }
        Source::Text { name, text, folder } => loader.load(&name, text, &folder, (true, None)),
    }
    let reported = &loader.report.diagnostics;
    let clashes = names::clashes(&loader.program, &loader.files, reported);
    loader.report.diagnostics.extend(clashes);
    Ok(Parsed {
        program: loader.program,
        report: loader.report,
        root: loader.root,
        origins: loader.origins,
        imports: loader.imports,
    })
}

/// The state of an imported file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Its imports are being read. Importing it now is a cycle.
    Open,
    /// Its definitions are in the program.
    Done,
}

#[derive(Default)]
struct Loader<'a> {
    /// True if the file may be a library.
    library: bool,
    program: Program,
    /// The files whose definitions are in `program`, in that order.
    files: Vec<FileId>,
    report: Report,
    states: HashMap<PathBuf, State>,
    /// The texts that stand for those of files.
    texts: Option<&'a Texts>,
    root: Option<FileId>,
    origins: HashMap<FileId, Origin>,
    imports: Vec<Imported>,
    /// The imports being read, outermost first: the file, and where it is named.
    chain: Vec<(PathBuf, Span)>,
}

/// Number of imports of a cycle that a message shows.
const SHOWN_IMPORTS: usize = 8;

impl Loader<'_> {
    /// Returns the text that stands for that of a file, if there is one.
    fn text_of(&self, identity: &Path) -> Option<Vec<u8>> {
        let text = self.texts?.get(identity)?;
        Some(text.as_bytes().to_vec())
    }

    fn sources(&mut self) -> &mut SourceMap {
        &mut self.report.sources
    }

    /// Decodes the text of a file that may be an import, or reports a diagnostic.
    fn decode(&mut self, bytes: &[u8], name: &str, import: Option<Span>) -> Option<String> {
        match reader::decode_source(bytes, name, self.sources()) {
            Ok(text) => Some(text),
            Err(diagnostic) => {
                self.program.lost.any = true;
                self.report.diagnostics.push(match import {
                    Some(import) => diagnostic.also(import, "imported here"),
                    None => *diagnostic,
                });
                None
            }
        }
    }

    /// Parses a text. Adds the definitions of its imports, then its own. The flag is true for the program's
    /// own file.
    fn load(
        &mut self,
        name: &str,
        text: String,
        folder: &Path,
        (root, origin): (bool, Option<Origin>),
    ) {
        self.add_positioned(&text, folder);
        let file = self.sources().add(name, text.as_str());
        self.origins.extend(origin.map(|origin| (file, origin)));
        if root {
            self.root = Some(file);
        }
        let end = Span::new(file, text.len() as u32, text.len() as u32);
        let stem = program_name(name);
        let (mut program, diagnostics) = parse::parse(&text, file, self.sources(), &stem);
        let broken = parse::has_errors(&diagnostics);
        self.report.diagnostics.extend(diagnostics);
        let defines = !program.definitions.is_empty() || !program.types.is_empty();
        if root && !broken && !(self.library && defines) {
            self.report
                .diagnostics
                .extend(parse::missing_expression(&program, end));
        }
        self.import_all(&mut program, folder);
        match root {
            true => self.report_hidden(&program),
            false => program.entries.clear(),
        }
        self.files.push(file);
        append(&mut self.program, program);
    }

    /// Adds the definitions of the imports of a program that a front end built, then its own.
    fn load_built(&mut self, built: Built) {
        let Built {
            mut program,
            sources,
            folder,
        } = built;
        self.report.sources = sources;
        let repeated = check_names(&program, &[]);
        self.report.diagnostics.extend(repeated);
        self.report.diagnostics.extend(check_node_names(&program));
        let own: Vec<FileId> = self.sources().ids().collect();
        self.import_all(&mut program, &folder);
        self.report_hidden(&program);
        self.files.extend(own);
        append(&mut self.program, program);
    }

    fn import_all(&mut self, program: &mut Program, folder: &Path) {
        for import in std::mem::take(&mut program.imports) {
            deep(|| self.import(&import, folder));
        }
    }

    /// Reports the entries and inputs of the program's own file that imported definitions hide.
    fn report_hidden(&mut self, program: &Program) {
        let imported = self.program.definitions.iter().filter(|d| !d.library);
        let hidden = names::hidden(&program.entries, imported);
        self.report.diagnostics.extend(hidden);
    }

    /// Adds the files that `(at "file" …)` names, where they can be read, so that messages show
    /// their lines.
    fn add_positioned(&mut self, text: &str, folder: &Path) {
        let mut known = HashSet::new();
        for (at, start) in text.match_indices("(at \"") {
            let rest = &text[at + start.len()..];
            let name = rest.split('"').next().unwrap_or("");
            if !known.insert(name) || self.sources().find(name).is_some() {
                continue;
            }
            let file = [folder.join(name), PathBuf::from(name)];
            let file = file.iter().find(|file| file.is_file());
            if let Some(text) = file.and_then(|file| fs::read_to_string(file).ok()) {
                self.sources().add(name, text);
            }
        }
    }

    fn import(&mut self, import: &Import, folder: &Path) {
        match library::imported(&import.path) {
            Some(Ok(text)) => {
                self.imported(import, Some(Origin::Library(import.path.clone())));
                return self.import_library(&import.path, text);
            }
            Some(Err(why)) => {
                self.imported(import, None);
                return self.bad_import(import, &why);
            }
            None => {}
        }
        let path = folder.join(&import.path);
        let name = path
            .strip_prefix(".")
            .unwrap_or(&path)
            .display()
            .to_string();
        let identity = match fs::canonicalize(&path) {
            Ok(identity) => identity,
            Err(_) if self.texts.is_some_and(|texts| texts.contains_key(&path)) => path.clone(),
            Err(error) => {
                self.imported(import, None);
                return self.bad_import(import, &InputError::file(&path, &error).0);
            }
        };
        self.imported(import, Some(Origin::File(identity.clone())));
        match self.states.get(&identity) {
            Some(State::Done) => return,
            Some(State::Open) => return self.cycle(import, &name, &identity),
            None => {}
        }
        let bytes = match self.text_of(&identity).map_or_else(|| read_file(&path), Ok) {
            Ok(bytes) => bytes,
            Err(error) => return self.bad_import(import, &error.0),
        };
        self.states.insert(identity.clone(), State::Open);
        self.chain.push((identity.clone(), import.span));
        if let Some(text) = self.decode(&bytes, &name, Some(import.span)) {
            let origin = Some(Origin::File(identity.clone()));
            self.load(&name, text, &folder_of(&path), (false, origin));
        }
        self.chain.pop();
        self.states.insert(identity, State::Done);
    }

    fn imported(&mut self, import: &Import, origin: Option<Origin>) {
        let span = import.span;
        self.imports.push(Imported { span, origin });
    }

    /// Adds a file of the standard library, once. Its files do not import each other in circles.
    fn import_library(&mut self, name: &str, text: &str) {
        let identity = PathBuf::from(name);
        if self.states.insert(identity, State::Done).is_none() {
            let from = self.program.definitions.len();
            self.load(
                &format!("{name}.nova"),
                text.to_string(),
                Path::new(""),
                (false, Some(Origin::Library(name.to_string()))),
            );
            let definitions = self.program.definitions.iter_mut().skip(from);
            definitions.for_each(|definition| definition.library = true);
        }
    }

    /// Reports the import that closes a cycle, with the other imports of the cycle.
    fn cycle(&mut self, import: &Import, name: &str, identity: &Path) {
        let opened = self.chain.iter().position(|(file, _)| file == identity);
        let others = self.chain.iter().skip(opened.map_or(0, |at| at + 1));
        let others: Vec<Span> = others.map(|(_, span)| *span).collect();
        let mut diagnostic = import_error(import, &format!("{name} imports itself"));
        for span in others.into_iter().take(SHOWN_IMPORTS) {
            diagnostic = diagnostic.also(span, "by way of this import");
        }
        self.program.lost.any = true;
        self.report.diagnostics.push(diagnostic);
    }

    fn bad_import(&mut self, import: &Import, why: &str) {
        self.program.lost.any = true;
        self.report.diagnostics.push(import_error(import, why));
    }
}

fn import_error(import: &Import, why: &str) -> Diagnostic {
    let message = format!("cannot import \"{}\": {why}", import.path);
    Diagnostic::error(codes::BAD_IMPORT, import.span, message)
}

/// Reads a file. Devices and pipes, which may have no end, are refused.
fn read_file(path: &Path) -> Result<Vec<u8>, InputError> {
    let failed = |error: std::io::Error| InputError::file(path, &error);
    let kind = fs::metadata(path).map_err(failed)?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        let message = format!("{}: is a device or a pipe, no file", path.display());
        return Err(InputError(message));
    }
    fs::read(path).map_err(failed)
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Returns the program's name for a file name: `examples/dot.nova` gives `dot`.
pub fn program_name(name: &str) -> String {
    let stem = Path::new(name).file_stem();
    stem.map(|s| s.to_string_lossy().into_owned())
        .unwrap_or_default()
}
