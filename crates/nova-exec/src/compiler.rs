//! The C compiler of this machine and its flags.

use crate::binding::OWN_NAMES_FIRST;
use crate::device_compiler::{self, Found};
use crate::error::CompileError;
use crate::platforms::TARGET;
use crate::toolchain::{CompilerOptions, identity};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// A C compiler that was found and answered.
#[derive(Clone, Debug)]
pub struct Compiler {
    program: PathBuf,
    /// The arguments that it always gets, with ours at the end.
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    libraries: &'static [&'static str],
    /// The compiler of a program with kernels. The files linked to it may still be C.
    device: Option<Found>,
    /// Its answer to `--version`.
    version: String,
}

/// The environment variables that C compilers and linkers read.
const ENVIRONMENT: [&str; 8] = [
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "LD_RUN_PATH",
    "SOURCE_DATE_EPOCH",
];

impl Compiler {
    /// Returns the compiler named by the environment (`CC`), or the system's. The files of its
    /// tests are written into a folder.
    pub fn find(options: CompilerOptions, folder: &Path) -> Result<Compiler, CompileError> {
        let mut build = cc::Build::new();
        build
            .target(TARGET)
            .host(TARGET)
            .out_dir(folder)
            .opt_level(u32::from(options.optimization))
            .debug(false)
            .pic(true)
            .warnings(false)
            .cargo_metadata(false)
            .cargo_warnings(false)
            .cargo_debug(false)
            .inherit_rustflags(false);
        if options.optimization >= 2 && cfg!(target_arch = "aarch64") {
            // A compiler for another machine than its own refuses it.
            build.flag_if_supported("-mcpu=native");
        }
        let tool = build
            .try_get_compiler()
            .map_err(|error| CompileError::NoCompiler {
                tried: std::env::var("CC").unwrap_or_else(|_| error.to_string()),
            })?;
        let mut arguments = tool.args().to_vec();
        arguments.extend(
            our_flags(options, tool.is_like_gnu(), tool.is_like_clang())
                .iter()
                .map(OsString::from),
        );
        let mut compiler = Compiler {
            libraries: options.libraries,
            device: options
                .device
                .map(|compiler| compiler.find(options))
                .transpose()?,
            program: tool.path().to_path_buf(),
            arguments,
            environment: tool
                .get_envs()
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
            version: String::new(),
        };
        compiler.version = compiler.ask_version()?;
        if tool.is_like_gnu() && loses_constants(&compiler.version) {
            compiler
                .arguments
                .extend(NARROW_MOVES.iter().map(OsString::from));
        }
        Ok(compiler)
    }

    /// Returns a description of all that decides the compiled code apart from the source: command,
    /// arguments and version.
    pub fn description(&self) -> String {
        let device = self.device.as_ref().map(Found::description);
        let environment = ENVIRONMENT.map(|name| std::env::var_os(name).unwrap_or_default());
        format!(
            "{} {} {:?} {:?} {OWN_NAMES_FIRST:?} {environment:?} {:?} {} {}",
            self.program.display(),
            identity(&self.program),
            self.arguments,
            self.libraries,
            self.environment,
            self.version,
            device.unwrap_or_default()
        )
    }

    fn ask_version(&self) -> Result<String, CompileError> {
        let output = Command::new(&self.program)
            .arg("--version")
            .stdin(Stdio::null())
            .output();
        match output {
            Ok(output) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            Err(_) => Err(CompileError::NoCompiler {
                tried: self.program.display().to_string(),
            }),
        }
    }

    /// Compiles sources (and objects and libraries) in `folder` to one shared library.
    pub fn compile_shared(
        &self,
        folder: &Path,
        sources: &[PathBuf],
        output: &Path,
    ) -> Result<(), CompileError> {
        let Some(device) = &self.device else {
            let mut command = self.command(folder);
            command
                .arg("-shared")
                .arg("-o")
                .arg(output)
                .args(sources)
                .args(self.libraries)
                .args(["-lm", "-pthread"])
                .args(OWN_NAMES_FIRST);
            return self.run(command, folder);
        };
        let objects = device_compiler::objects(folder, sources, |source, object| {
            let mut command = self.command(folder);
            command.arg("-c").arg("-o").arg(object).arg(source);
            self.run(command, folder)
        })?;
        self.run(device.shared(folder, &objects, output), folder)
    }

    /// Returns the C compiler with the arguments that it always gets.
    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .arg("-I")
            .arg(folder)
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null());
        command
    }

    /// Runs a compiler. The error says whether the C compiler works at all.
    fn run(&self, mut command: Command, folder: &Path) -> Result<(), CompileError> {
        // Temporary files of a killed compiler are removed with the folder.
        command.env("TMPDIR", folder);
        let result = command.output().map_err(|error| CompileError::Files {
            what: format!("the compiler {:?} does not start", command.get_program()),
            error,
        })?;
        if result.status.success() {
            return Ok(());
        }
        match self.try_out(folder) {
            Some(output) => Err(CompileError::Broken {
                program: self.program.display().to_string(),
                output: String::from_utf8_lossy(&output).into_owned(),
            }),
            None => Err(CompileError::Refused {
                command: format!("{command:?}"),
                output: String::from_utf8_lossy(&result.stderr).into_owned(),
            }),
        }
    }

    /// Compiles a file of one line. Returns the error output of a compiler that cannot compile it,
    /// or `None` when it works.
    fn try_out(&self, folder: &Path) -> Option<Vec<u8>> {
        let source = folder.join("try.c");
        std::fs::write(&source, "int nova_try(void) { return 0; }\n").ok()?;
        let result = Command::new(&self.program)
            .args(&self.arguments)
            .arg("-shared")
            .arg("-o")
            .arg(folder.join("try.so"))
            .arg(source)
            .envs(self.environment.iter().cloned())
            .env("TMPDIR", folder)
            .stdin(Stdio::null())
            .output()
            .ok()?;
        (!result.status.success()).then_some(result.stderr)
    }
}

/// Returns the flags that come after all others. `cc` adds `-march=x86-64` for some compilers, but
/// code that runs here may use all instructions of this processor.
fn our_flags(options: CompilerOptions, is_gnu: bool, is_clang: bool) -> Vec<&'static str> {
    let mut flags = vec!["-std=c11", "-fPIC", "-w"];
    if options.strict {
        flags.push("-ffp-contract=off");
    }
    if options.optimization >= 2 {
        // Loops are written for vectorisation, which some compilers restrict at -O2.
        flags.push("-ftree-vectorize");
        if is_gnu {
            flags.push("-fvect-cost-model=dynamic");
            // GCC unrolls short loops and moves conditions out of loops from -O3 on only, without which
            // some of the loops have no vectors.
            flags.extend(["-fpeel-loops", "-funswitch-loops", "-fsplit-loops"]);
        }
        // Generated C declares the functions that have vector versions. clang needs this flag to
        // know them.
        let has_libmvec = cfg!(all(target_arch = "x86_64", target_env = "gnu"));
        if is_clang && has_libmvec && !options.strict {
            flags.extend(["-fno-math-errno", "-fveclib=libmvec"]);
        }
    }
    if options.optimization >= 2 && cfg!(target_arch = "x86_64") {
        flags.push("-march=native");
    }
    flags
}

/// The flags with which the compilers of [`loses_constants`] generate correct code. Generated C
/// then lets them use AVX-512.
pub const NARROW_MOVES: [&str; 3] = ["-mmove-max=128", "-mstore-max=128", "-DNOVA_NARROW_MOVES"];

/// True for the version of a GCC 12.0 to 12.2 for x86-64, which loses parts of constants that it
/// moves with AVX-512. The text is the output of `--version`.
pub fn loses_constants(version: &str) -> bool {
    let first = version.lines().next().unwrap_or_default();
    let mut words = first.split_whitespace();
    let is_one = |word: &str| {
        ["12.0.", "12.1.", "12.2."]
            .iter()
            .any(|v| word.starts_with(v))
    };
    cfg!(target_arch = "x86_64") && words.any(is_one)
}

/// The parts of the names of environment variables on which compilers of C and of kernels depend, beside
/// [`ENVIRONMENT`].
const VARIABLES: [&str; 8] = [
    "CC", "FLAGS", "COMPILE", "TARGET", "CUDA", "HIP", "ROCM", "PATH",
];

/// Returns a text that is another one where the compilers, their options or this processor are others. It
/// asks no compiler. A compiler is known by its command, its file's size and time, and the environment.
pub fn fingerprint(options: CompilerOptions) -> String {
    let command = std::env::var("CC").unwrap_or_default();
    let mut programs: Vec<&Path> = command.split_whitespace().map(Path::new).collect();
    if programs.is_empty() {
        programs.push(Path::new("cc"));
    }
    let programs: Vec<String> = programs.into_iter().map(identity).collect();
    let device = options.device.map(|compiler| compiler.fingerprint());
    let is_read = |name: &OsString| {
        let name = name.to_string_lossy();
        ENVIRONMENT.contains(&&*name) || VARIABLES.iter().any(|part| name.contains(part))
    };
    let mut variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    variables.retain(|(name, _)| is_read(name));
    variables.sort();
    format!(
        "{programs:?} {device:?} {options:?} {variables:?} {}",
        processor()
    )
}

/// Returns a text that distinguishes this processor from others, as far as compiled code depends on
/// it.
pub fn processor() -> &'static str {
    static PROCESSOR: OnceLock<String> = OnceLock::new();
    PROCESSOR.get_or_init(describe_processor)
}

/// Returns the name of the processor, where the system tells it.
pub fn processor_name() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    let (_, name) = line.split_once(':')?;
    Some(name.trim().to_string())
}

fn describe_processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut lines = text.lines().filter(|line| {
        ["model name", "flags", "Features", "CPU part"]
            .iter()
            .any(|key| line.starts_with(key))
    });
    let described: Vec<&str> = lines.by_ref().take(2).collect();
    described.join("\n")
}

/// Writes a file of a build.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), CompileError> {
    std::fs::write(path, text).map_err(|error| CompileError::Files {
        what: format!("{} cannot be written", path.display()),
        error,
    })
}
