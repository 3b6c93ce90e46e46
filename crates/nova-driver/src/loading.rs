//! Programs that are compiled and loaded at once, or found in the cache.
//!
//! The cache knows a program by its structure. A program that is unchanged but for its lines is loaded
//! without any work on it: its code names places by numbers, and the numbers stand for the new places.

use crate::compiler::{Checked, Compiler, Signature, foreign_symbols, interfaces};
use crate::documentation;
use crate::error::{Failure, InternalError, Report};
use crate::fingerprint::structure;
use crate::linked;
use crate::numbers;
use crate::options::{Options, Proofs};
use crate::pipeline::{self, Trace};
use crate::source::Source;
use nova_c::names::LOADED_PREFIX;
use nova_core::SumType;
use nova_core::ir::Program;
use nova_diag::SourceMap;
use nova_exec::CompileError;
use nova_exec::cache::{Cache, Key};
use nova_exec::compiler::fingerprint;
use nova_exec::kept::Record;
use nova_exec::library::{self, EntryInterface, Library};
use nova_exec::places::Places;
use nova_exec::toolchain::CompilerOptions;
use nova_syntax::ast;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// A program that is ready to be called.
#[derive(Debug)]
pub struct Loaded {
    /// Its name.
    pub name: String,
    /// Its code.
    pub library: Library,
    /// Warnings, and the sources.
    pub report: Report,
    /// The comment above each entry.
    documentation: Vec<String>,
    /// True if nothing was compiled, since the cache had the program.
    pub is_cached: bool,
}

impl Loaded {
    /// Returns the entries, in order.
    pub fn signatures(&self) -> Vec<Signature> {
        let comments = self
            .documentation
            .iter()
            .map(Some)
            .chain(std::iter::repeat(None));
        let entries = self.library.entries().zip(comments);
        let signature = |(entry, comment): (&EntryInterface, Option<&String>)| Signature {
            name: entry.name.clone(),
            inputs: entry.inputs.clone(),
            result: entry.result.clone(),
            documentation: comment.cloned().unwrap_or_default(),
        };
        entries.map(signature).collect()
    }

    /// Returns the sum types that the entries' types name.
    pub fn sums(&self) -> &[SumType] {
        self.library.sums()
    }
}

/// The place of a program in the cache.
struct Kept {
    cache: Cache,
    key: Key,
    places: Places,
}

impl Kept {
    fn record(&self, warnings: &mut Vec<String>) -> Option<Record> {
        Record::find(&self.key, &self.cache, warnings)
    }

    fn load(&self, record: Record, warnings: Vec<String>) -> Option<Library> {
        let library = record.load(&self.cache, warnings)?;
        Some(library.with_places(&self.places))
    }
}

impl Compiler {
    /// Returns a compiler that keeps compiled programs in a folder. Otherwise they are kept in the user's
    /// cache.
    pub fn with_cache(self, folder: impl Into<PathBuf>) -> Compiler {
        Compiler {
            cache: Some(Cache::in_folder(folder)),
            ..self
        }
    }

    fn cache(&self) -> Option<Cache> {
        self.cache.clone().or_else(Cache::of_user)
    }

    /// Reads a program, and compiles and loads it, or finds it in the cache. A program that was compiled
    /// before is found there although its lines, its columns and the names of its files are others. Then it
    /// is not even checked. `link` is that of [`Compiler::load`].
    ///
    /// # Errors
    /// It has the errors of [`Compiler::check`] and of [`Compiler::load`].
    pub fn open(&self, source: Source, link: &[PathBuf]) -> Result<Loaded, Failure> {
        let name = self.name_of(&source)?;
        let start = Instant::now();
        let parsed = self.read(source)?;
        let (tree, report) = (&parsed.program, &parsed.report);
        if !report.has_errors()
            && let Some(kept) = self.kept((&name, &self.options), tree, &report.sources, link)
        {
            let mut warnings = Vec::new();
            let record = kept.record(&mut warnings).filter(|r| !r.has_warnings);
            if let Some(library) = record.and_then(|record| kept.load(record, warnings)) {
                return Ok(Loaded {
                    name,
                    library,
                    documentation: documentation::of_entries(tree, &report.sources),
                    report: parsed.report,
                    is_cached: true,
                });
            }
        }
        let mut checked = self.check_parsed(name, parsed, start.elapsed())?;
        let library = self.load(&mut checked, link)?;
        Ok(Loaded {
            library,
            documentation: std::mem::take(&mut checked.documentation),
            is_cached: checked.trace.times.iter().any(|(name, _)| *name == CACHE),
            name: checked.name,
            report: checked.report,
        })
    }

    /// Compiles a program and loads it into this process, or finds it in the cache; `link` are C sources,
    /// objects and libraries with its foreign functions. Programs that are linked with any are not kept in
    /// the cache.
    ///
    /// # Errors
    /// There is no compiler of C, it refuses the linked files, or the compiler has an internal error.
    pub fn load(&self, checked: &mut Checked, link: &[PathBuf]) -> Result<Library, Failure> {
        let sources = &checked.report.sources;
        let named = (&*checked.name, &checked.options);
        let kept = self.kept(named, &checked.tree, sources, link);
        let Some(kept) = kept else {
            return self.compile_and_load(checked, link);
        };
        let start = Instant::now();
        let mut warnings = Vec::new();
        let record = kept.record(&mut warnings);
        if let Some(library) = record.and_then(|record| kept.load(record, warnings)) {
            checked.trace.times.push((CACHE, start.elapsed()));
            return Ok(library);
        }
        let Some(numbered) = numbered_core(checked)? else {
            return self.compile_and_load(checked, link);
        };
        let library = self.load_numbered(checked, numbered, &kept.places)?;
        // What the compiler says about loops without proofs is said each time.
        if checked.trace.unproved.is_empty() && checked.program.foreigns.is_empty() {
            Record::keep(&library, checked.has_warnings, &kept.key, &kept.cache);
        }
        Ok(library)
    }

    /// Compiles and loads a program whose places are numbers in place of a checked one.
    fn load_numbered(
        &self,
        checked: &mut Checked,
        numbered: Arc<Program>,
        places: &Places,
    ) -> Result<Library, Failure> {
        let named = std::mem::replace(&mut checked.program, numbered);
        let before = std::mem::take(&mut checked.trace);
        let library = self.compile_and_load(checked, &[]);
        checked.program = named;
        let mut trace = std::mem::replace(&mut checked.trace, before);
        for unproved in &mut trace.unproved {
            if let Some(place) = places.resolve(&unproved.place) {
                unproved.place = place;
            }
        }
        let Trace {
            times,
            unproved,
            rounds,
            one_thread,
            ..
        } = trace;
        checked.trace.times.extend(times);
        checked.trace.unproved = unproved;
        checked.trace.rounds = rounds;
        checked.trace.one_thread = one_thread;
        Ok(library?.with_places(places))
    }

    /// Returns where the cache keeps a program with this name that was checked with these options. There is no
    /// such place for a program whose code must have places of its own, or for which every pass is to run.
    fn kept(
        &self,
        (name, checked): (&str, &Options),
        tree: &ast::Program,
        sources: &SourceMap,
        link: &[PathBuf],
    ) -> Option<Kept> {
        let options = &self.options;
        let asked = std::env::var_os("NOVA_PROFILE");
        let is_profiled = options.profile || asked.is_some_and(|v| !v.is_empty() && v != "0");
        let is_plain = !options.verify
            && !options.passes_run
            && !options.check_races
            && options.dump_after.is_none()
            // A plan names places, and the program that is kept has numbers instead.
            && options.plan.is_empty()
            && options.proofs == Proofs::Needed;
        if is_profiled || !is_plain || !link.is_empty() {
            return None;
        }
        let cache = self.cache()?;
        let key = Key::of_record(&[
            env!("CARGO_PKG_VERSION").as_bytes(),
            env!("NOVA_SOURCES").as_bytes(),
            name.as_bytes(),
            format!("{options:?} {checked:?}").as_bytes(),
            fingerprint(self.compiler_options()).as_bytes(),
            &structure(tree, sources),
        ]);
        let places = numbers::places(tree, &Arc::new(sources.clone()));
        Some(Kept { cache, key, places })
    }

    /// Compiles a program with a compiler of C and loads it.
    fn compile_and_load(
        &self,
        checked: &mut Checked,
        link: &[PathBuf],
    ) -> Result<Library, Failure> {
        let (device_source, link) = linked::device_source(self.options.target, link)?;
        let compiler = Compiler::new(Options {
            device_source: device_source + &self.options.device_source,
            ..self.for_loading().options
        });
        let generated = compiler.compile(checked)?;
        let start = Instant::now();
        let interface = library::Generated {
            name: &checked.name,
            header: &generated.files.header,
            source: &generated.files.source,
            entries: interfaces(&generated.program, LOADED_PREFIX),
            foreigns: foreign_symbols(&generated.program, self.options.target),
            sums: &generated.program.sums,
        };
        // A linked file may change without its name changing.
        let cache = self.cache().filter(|_| link.is_empty());
        let library =
            Library::load_with(&interface, self.compiler_options(), &link, cache.as_ref());
        checked.trace.times.push(("C compiler", start.elapsed()));
        library.map_err(|error| refused(error, &link))
    }

    fn compiler_options(&self) -> CompilerOptions {
        CompilerOptions {
            optimization: self.options.optimization,
            strict: self.options.strict,
            libraries: self.options.libraries(),
            device: self.options.device_compiler(),
        }
    }
}

/// The name under which the time to find a program in the cache is listed.
const CACHE: &str = "cache";

/// Returns a program in Core whose places are numbers.
fn numbered_core(checked: &Checked) -> Result<Option<Arc<Program>>, Failure> {
    let (tree, sources) = numbers::numbered(&checked.tree, &checked.report.sources);
    let inferred = || Ok(nova_infer::infer(&tree, &sources));
    let inferred = pipeline::guard(pipeline::INFER, inferred)?;
    Ok(inferred.program.map(Arc::new))
}

/// Returns the failure for an error of the C compiler. If it refuses generated code that is linked
/// with nothing else, the mistake is the compiler's own.
fn refused(error: CompileError, link: &[PathBuf]) -> Failure {
    match error {
        CompileError::Refused { command, output } if link.is_empty() => {
            Failure::Internal(InternalError {
                pass: "C compiler".to_string(),
                message: format!("it refuses the generated code\n  {command}\n{output}"),
            })
        }
        other => Failure::Compile(other),
    }
}

#[cfg(test)]
mod tests;
