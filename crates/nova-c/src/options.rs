//! The options of a compilation, and the files that it gives.

/// The target of the generated C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Sequential C.
    Seq,
    /// Sequential C that traces the accesses of parallel iterations, and fails where two of them race.
    /// It accepts programs of Loop made for any target.
    Traced,
    /// C with a pool of threads.
    Pthreads,
    /// C for the host of an OpenCL device, with the kernels as text.
    OpenCl,
    /// CUDA C: C++ for the host, with the kernels in the same file.
    Cuda,
}

impl Target {
    /// Returns the extension of source files.
    pub fn extension(self) -> &'static str {
        match self {
            Target::Seq | Target::Traced | Target::Pthreads | Target::OpenCl => "c",
            Target::Cuda => "cu",
        }
    }
}

/// The options of a compilation.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program's name: the name of its file without the extension.
    pub name: String,
    /// The target of the generated C.
    pub target: Target,
    /// The places of operations that run in one thread, since their iterations could not be proved
    /// independent; each with the reason.
    pub one_thread: Vec<(nova_diag::Place, String)>,
    /// Foreign functions in the language of the device, to be placed before the kernels.
    pub device_source: String,
    /// The prefix of the names of the entries' functions; usually empty.
    pub prefix: String,
}

/// The files of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// `NAME.h`.
    pub header: String,
    /// `NAME.c`, or `NAME.cu` for CUDA.
    pub source: String,
    /// `NAME.json`.
    pub manifest: String,
}
