//! Programs in NOVA as parts of Rust crates: for build scripts (`build.rs`).
//!
//! [`Build`] compiles programs to C in this process, the C by the crate `cc` to a static library, and writes a file
//! of Rust for each program, with a function for each entry. No command is needed but a C compiler.
//!
//! ```no_run
//! // build.rs
//! novac_build::compile("src/statistics.nova");
//! ```
//!
//! ```ignore
//! // src/main.rs
//! mod statistics {
//!     include!(concat!(env!("OUT_DIR"), "/statistics.rs"));
//! }
//!
//! let mean = statistics::mean(&[1.0, 2.0, 4.0])?;
//! ```

mod bindings;
mod manifest;
mod values;

pub use nova_driver::{Options, Target};

use nova_driver::{Compiler, Failure, Source, linked};
use nova_exec::InputError;
use nova_exec::atomic::write_file;
use std::path::{Path, PathBuf};

/// The failure of a build.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program has errors, or a file cannot be read.
    #[error("{}", of_program(.0))]
    Program(Failure),
    /// A file cannot be written.
    #[error("{0}")]
    File(InputError),
    /// The C compiler is missing, or refuses the C.
    #[error("the C compiler: {0}")]
    Compiler(cc::Error),
    /// The build script runs outside of cargo, or the target needs another compiler.
    #[error("{0}")]
    Setting(String),
    /// The description of the entries is not what this version writes.
    #[error("the manifest: {0}")]
    Manifest(serde_json::Error),
}

/// Returns the messages of a program.
fn of_program(failure: &Failure) -> String {
    match failure {
        Failure::Program(report) => report.to_text(),
        other => other.to_string(),
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        Error::Program(failure)
    }
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Error {
        Error::File(error)
    }
}

/// Compiles a program with the usual options: one thread, level 2. Its library has the program's name.
///
/// # Panics
/// The build fails. The message has the errors of the program.
pub fn compile(program: impl AsRef<Path>) {
    let program = program.as_ref();
    let name = program.file_stem().unwrap_or_default().to_string_lossy();
    Build::new().file(program).compile(&name);
}

/// A library of programs that is to be built.
#[derive(Clone, Debug, Default)]
pub struct Build {
    files: Vec<PathBuf>,
    link: Vec<PathBuf>,
    options: Options,
    folder: Option<PathBuf>,
}

impl Build {
    /// Creates a build without programs.
    pub fn new() -> Build {
        Build::default()
    }

    /// Adds a program. Its path is relative to the package.
    pub fn file(&mut self, program: impl Into<PathBuf>) -> &mut Build {
        self.files.push(program.into());
        self
    }

    /// Adds C with foreign functions, or code of the device.
    pub fn link(&mut self, file: impl Into<PathBuf>) -> &mut Build {
        self.link.push(file.into());
        self
    }

    /// Sets the target: [`Target::Sequential`] (the default), [`Target::Pthreads`] or [`Target::OpenCl`].
    pub fn target(&mut self, target: Target) -> &mut Build {
        self.options.target = target;
        self
    }

    /// Sets all options of the compiler, the target among them.
    pub fn options(&mut self, options: Options) -> &mut Build {
        self.options = options;
        self
    }

    /// Sets the folder of the generated files, `OUT_DIR` by default.
    pub fn out_dir(&mut self, folder: impl Into<PathBuf>) -> &mut Build {
        self.folder = Some(folder.into());
        self
    }

    /// Builds the library and links it to the crate.
    ///
    /// # Panics
    /// The build fails. The message has the errors of the programs.
    pub fn compile(&self, library: &str) {
        if let Err(error) = self.try_compile(library) {
            panic!("{library}: {error}");
        }
    }

    /// Builds the library and links it to the crate. Prints what cargo needs to know, the files that the programs
    /// depend on among it.
    ///
    /// # Errors
    /// A program has errors, a file cannot be read or written, or the C compiler fails.
    pub fn try_compile(&self, library: &str) -> Result<(), Error> {
        if self.options.device_compiler().is_some() {
            return Err(Error::Setting(format!(
                "programs for {} need a compiler of their own; build them by CMake",
                self.options.target
            )));
        }
        let sources = self.generate()?;
        let mut c = cc::Build::new();
        c.files(&sources)
            .include(self.folder()?)
            .opt_level(u32::from(self.options.optimization))
            .flag_if_supported("-std=c11")
            .flag_if_supported("-pthread");
        c.try_compile(library).map_err(Error::Compiler)?;
        for library in self.libraries() {
            println!("cargo:rustc-link-lib={library}");
        }
        Ok(())
    }

    /// Writes the C and the Rust of each program, and prints the files that they depend on. Returns the C sources
    /// of the library.
    ///
    /// # Errors
    /// As [`Build::try_compile`].
    pub fn generate(&self) -> Result<Vec<PathBuf>, Error> {
        let folder = self.folder()?;
        let (device_source, mut sources) = linked::device_source(self.options.target, &self.link)?;
        let compiler = Compiler::new(Options {
            device_source,
            ..self.options.clone()
        });
        self.link.iter().for_each(|file| depend_on(file));
        for file in &self.files {
            // Also where the program has errors, so that its correction is seen.
            depend_on(file);
            let mut checked = compiler.check(Source::File(file.clone()))?;
            checked.files.iter().for_each(|file| depend_on(file));
            for line in checked.report.to_text().lines() {
                println!("cargo:warning={line}");
            }
            let files = compiler.compile(&mut checked)?.files;
            let manifest = serde_json::from_str(&files.manifest).map_err(Error::Manifest)?;
            let rust = bindings::of(&manifest, &checked.signatures());
            let path = |ending: &str| folder.join(format!("{}.{ending}", checked.name));
            for (path, text) in [
                (path("h"), &files.header),
                (path("c"), &files.source),
                (path("rs"), &rust),
            ] {
                write_file(&path, |writer| writer.write_all(text.as_bytes()))?;
            }
            sources.push(path("c"));
        }
        Ok(sources)
    }

    fn folder(&self) -> Result<PathBuf, Error> {
        let given = self.folder.clone();
        let folder = given.or_else(|| std::env::var_os("OUT_DIR").map(PathBuf::from));
        folder.ok_or_else(|| {
            Error::Setting("OUT_DIR is not set: this is for build scripts of cargo".to_string())
        })
    }

    /// Returns the names of the libraries that the programs need.
    fn libraries(&self) -> Vec<&'static str> {
        let own = self.options.libraries().iter();
        let own = own.filter_map(|flag| flag.strip_prefix("-l"));
        match std::env::var("CARGO_CFG_TARGET_FAMILY").as_deref() {
            Ok("windows") => own.collect(),
            Ok(_) | Err(_) => own.chain(["m"]).collect(),
        }
    }
}

/// Tells cargo to run the build script again when a file changes.
fn depend_on(file: &Path) {
    println!("cargo:rerun-if-changed={}", file.display());
}
