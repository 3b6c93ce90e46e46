//! The compilers of languages with kernels, and a test whether their programs run on this machine.
//! A [`DeviceCompiler`] is a value; a new compiler is a new constant and its place in [`ALL`].
//! Programs run with a GPU, or with the emulation of CUDA on a CPU (`tests/cuda/emulated-nvcc`),
//! which takes the place of nvcc.

use crate::binding;
use crate::error::CompileError;
use crate::temporary::BuildFolder;
pub use crate::toolchain::DeviceCompiler;
use crate::toolchain::{CompilerOptions, identity};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The compiler of CUDA C.
pub const NVCC: DeviceCompiler = DeviceCompiler {
    name: "nvcc",
    language: "CUDA",
    extension: "cu",
    variable: "NOVA_NVCC",
    usual: &["-w", "-arch=native", "-Xcompiler", "-fPIC,-w,-pthread"],
    strict: &["-fmad=false", "-Xcompiler", "-ffp-contract=off"],
    native: &["-Xcompiler", "-march=native"],
    linker: "-Xlinker",
    flags: &["NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"],
    probe: "#include <cuda_runtime.h>
int main(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0 ? 0 : 1;
}
",
};

/// The compiler of HIP. It finds out which GPU this machine has.
pub const HIPCC: DeviceCompiler = DeviceCompiler {
    name: "hipcc",
    language: "HIP",
    extension: "hip",
    variable: "NOVA_HIPCC",
    usual: &["-w", "-fPIC", "-pthread"],
    strict: &["-ffp-contract=off"],
    native: &["-Xarch_host", "-march=native"],
    linker: "-Xlinker",
    flags: &["HIPCC_COMPILE_FLAGS_APPEND", "HIPCC_LINK_FLAGS_APPEND"],
    probe: "#include <hip/hip_runtime.h>
int main(void)
{
    int count = 0;
    return hipGetDeviceCount(&count) == hipSuccess && count > 0 ? 0 : 1;
}
",
};

/// All compilers of programs with kernels.
pub const ALL: [&DeviceCompiler; 2] = [&NVCC, &HIPCC];

/// A compiler that was found and answered.
#[derive(Clone, Debug)]
pub struct Found {
    compiler: &'static DeviceCompiler,
    program: PathBuf,
    arguments: Vec<&'static str>,
    /// Its answer to `--version`.
    version: String,
}

/// The compiler of tests where the environment names none.
static PREFERRED: [OnceLock<PathBuf>; ALL.len()] = [const { OnceLock::new() }; ALL.len()];

/// The answers of [`DeviceCompiler::has_device`].
static HAS_DEVICE: [OnceLock<bool>; ALL.len()] = [const { OnceLock::new() }; ALL.len()];

impl DeviceCompiler {
    /// Returns the compiler with this command.
    pub fn by_name(name: &str) -> Option<&'static DeviceCompiler> {
        ALL.into_iter().find(|compiler| compiler.name == name)
    }

    /// Returns what a table holds for the compiler.
    fn entry<'t, T>(&self, table: &'t [OnceLock<T>]) -> Option<&'t OnceLock<T>> {
        table.get(ALL.iter().position(|compiler| *compiler == self)?)
    }

    /// Sets the command that is used where the environment names none. Only the first call has an
    /// effect.
    pub fn prefer(&self, program: PathBuf) {
        if let Some(preferred) = self.entry(&PREFERRED) {
            // A second call has no effect.
            let _ = preferred.set(program);
        }
    }

    /// Returns the command: that in the environment, or the usual one.
    fn command(&self) -> PathBuf {
        let asked = std::env::var_os(self.variable).filter(|value| !value.is_empty());
        let preferred = || self.entry(&PREFERRED).and_then(OnceLock::get).cloned();
        let asked = asked.map(PathBuf::from).or_else(preferred);
        asked.unwrap_or_else(|| self.name.into())
    }

    /// Returns a text that distinguishes its command from others. It asks no compiler.
    pub(crate) fn fingerprint(&self) -> String {
        identity(&self.command())
    }

    /// Returns the arguments that the command always gets: code for the GPU of this machine, and a
    /// host that may use all instructions of this processor.
    fn arguments(&self, options: CompilerOptions) -> Vec<&'static str> {
        let level = ["-O0", "-O1", "-O2", "-O3"][usize::from(options.optimization.min(3))];
        let mut arguments = vec!["-std=c++17", level];
        arguments.extend(self.usual);
        if options.strict {
            arguments.extend(self.strict);
        }
        if options.optimization >= 2 && cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            arguments.extend(self.native);
        }
        arguments
    }

    /// Returns the compiler that the environment names, or the usual one.
    pub fn find(&'static self, options: CompilerOptions) -> Result<Found, CompileError> {
        let mut found = Found {
            compiler: self,
            program: self.command(),
            arguments: self.arguments(options),
            version: String::new(),
        };
        let missing = CompileError::NoDeviceCompiler {
            language: self.language,
            name: self.name,
            variable: self.variable,
            tried: found.program.display().to_string(),
        };
        let output = Command::new(&found.program)
            .arg("--version")
            .stdin(Stdio::null())
            .output();
        match output {
            Ok(output) if output.status.success() => {
                found.version = String::from_utf8_lossy(&output.stdout).into_owned();
                Ok(found)
            }
            Ok(_) | Err(_) => Err(missing),
        }
    }

    /// True if programs can be compiled here and find a device, emulated or not. A program that calls
    /// the runtime tests it once, since only the runtime knows.
    pub fn has_device(&self) -> bool {
        let found = self.entry(&HAS_DEVICE);
        found.is_some_and(|found| *found.get_or_init(|| self.probe_succeeds()))
    }

    /// Compiles and runs the probe.
    fn probe_succeeds(&self) -> bool {
        let probe = || -> Option<Output> {
            let folder = BuildFolder::new().ok()?;
            let source = folder.path().join(format!("probe.{}", self.extension));
            let program = folder.path().join("probe");
            std::fs::write(&source, self.probe).ok()?;
            let built = Command::new(self.command())
                .args(["-std=c++17", "-w", "-o"])
                .args([&program, &source])
                .env("TMPDIR", folder.path())
                .stdin(Stdio::null())
                .output()
                .ok()?;
            if !built.status.success() {
                return None;
            }
            Command::new(&program).stdin(Stdio::null()).output().ok()
        };
        probe().is_some_and(|output| output.status.success())
    }
}

impl Found {
    /// Returns a description of all that decides the compiled code apart from the source.
    pub fn description(&self) -> String {
        let flags = self.compiler.flags.iter();
        let flags: Vec<OsString> = flags
            .map(|f| std::env::var_os(f).unwrap_or_default())
            .collect();
        format!(
            "{} {} {:?} {flags:?} {}",
            self.program.display(),
            identity(&self.program),
            self.arguments,
            self.version
        )
    }

    /// Returns the command that makes a shared library of sources, objects and libraries in
    /// `folder`.
    pub fn shared(&self, folder: &Path, inputs: &[PathBuf], output: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .args(["-shared", "-I"])
            .arg(folder)
            .arg("-o")
            .arg(output)
            .args(inputs)
            .arg("-lm")
            .args(
                binding::OWN_NAMES_FIRST
                    .iter()
                    .flat_map(|_| [self.compiler.linker, "-Bsymbolic"]),
            )
            .stdin(Stdio::null());
        command
    }
}

/// Compiles the C sources among `inputs` to objects in `folder`. Returns the inputs with the
/// objects in their places.
pub(crate) fn objects(
    folder: &Path,
    inputs: &[PathBuf],
    mut compile: impl FnMut(&Path, &Path) -> Result<(), CompileError>,
) -> Result<Vec<PathBuf>, CompileError> {
    let is_c = |path: &Path| path.extension().is_some_and(|e| e == "c");
    let mut all = Vec::new();
    for (k, input) in inputs.iter().enumerate() {
        if is_c(input) {
            let object = folder.join(OsString::from(format!("object{k}.o")));
            compile(input, &object)?;
            all.push(object);
        } else {
            all.push(input.clone());
        }
    }
    Ok(all)
}
