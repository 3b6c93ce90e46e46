//! The compiler of CUDA C, and a test whether its programs run on this machine. They run with nvcc
//! and a GPU, or with the emulation of CUDA on a CPU (`tests/cuda/emulated-nvcc`), which takes
//! nvcc's place.

use crate::binding;
use crate::error::CompileError;
use crate::temporary::BuildFolder;
use crate::toolchain::{CompilerOptions, identity};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// A compiler of CUDA C that was found and answered.
#[derive(Clone, Debug)]
pub struct Nvcc {
    program: PathBuf,
    arguments: Vec<&'static str>,
    /// Its answer to `--version`.
    version: String,
}

/// The compiler of tests where the environment names none.
static PREFERRED: OnceLock<PathBuf> = OnceLock::new();

/// Sets the compiler that is used where `NOVA_NVCC` names none. Only the first call has an effect.
pub fn prefer(program: PathBuf) {
    // A second call has no effect.
    let _ = PREFERRED.set(program);
}

/// Returns the command: `$NOVA_NVCC`, or `nvcc`.
fn command() -> PathBuf {
    let asked = std::env::var_os("NOVA_NVCC").filter(|value| !value.is_empty());
    asked
        .map(PathBuf::from)
        .or_else(|| PREFERRED.get().cloned())
        .unwrap_or_else(|| "nvcc".into())
}

impl Nvcc {
    /// Returns the compiler named by the environment (`NOVA_NVCC`), or `nvcc`.
    pub fn find(options: CompilerOptions) -> Result<Nvcc, CompileError> {
        let mut nvcc = Nvcc {
            program: command(),
            arguments: arguments(options),
            version: String::new(),
        };
        let missing = CompileError::NoNvcc {
            tried: nvcc.program.display().to_string(),
        };
        let output = Command::new(&nvcc.program)
            .arg("--version")
            .stdin(Stdio::null())
            .output();
        match output {
            Ok(output) if output.status.success() => {
                nvcc.version = String::from_utf8_lossy(&output.stdout).into_owned();
                Ok(nvcc)
            }
            Ok(_) | Err(_) => Err(missing),
        }
    }

    /// Returns a description of all that decides the compiled code apart from the source.
    pub fn description(&self) -> String {
        // The flags in the environment, which nvcc reads itself.
        let flags = ["NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"]
            .map(|name| std::env::var_os(name).unwrap_or_default());
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
                    .flat_map(|_| ["-Xlinker", "-Bsymbolic"]),
            )
            .stdin(Stdio::null());
        command
    }
}

/// Returns the arguments that it always gets: code for the GPU of this machine, and a host that may
/// use all instructions of this processor.
fn arguments(options: CompilerOptions) -> Vec<&'static str> {
    let mut arguments = vec![
        "-std=c++17",
        ["-O0", "-O1", "-O2", "-O3"][usize::from(options.optimization.min(3))],
        "-w",
        "-arch=native",
        "-Xcompiler",
        "-fPIC,-w,-pthread",
    ];
    if options.strict {
        arguments.extend(["-fmad=false", "-Xcompiler", "-ffp-contract=off"]);
    }
    if options.optimization >= 2 && cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        arguments.extend(["-Xcompiler", "-march=native"]);
    }
    arguments
}

/// A program that tests whether programs find a device.
const PROBE: &str = "#include <cuda_runtime.h>
int main(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0 ? 0 : 1;
}
";

/// True if programs for CUDA can be compiled here and find a device, emulated or not. A program
/// that calls the runtime tests it once, since only the runtime knows.
pub fn has_cuda() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let probe = || -> Option<Output> {
            let folder = BuildFolder::new().ok()?;
            let source = folder.path().join("probe.cu");
            let program = folder.path().join("probe");
            std::fs::write(&source, PROBE).ok()?;
            let built = Command::new(command())
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
    })
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
