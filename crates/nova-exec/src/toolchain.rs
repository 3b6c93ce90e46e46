//! The parts that compilers of C and of kernels share: what a compiler of kernels is, their options, and the
//! identity of a command.

use std::path::{Path, PathBuf};

/// A compiler of programs with kernels.
#[derive(Debug, PartialEq, Eq)]
pub struct DeviceCompiler {
    /// Its usual command.
    pub name: &'static str,
    /// The language that it compiles, in words.
    pub language: &'static str,
    /// The extension of its sources.
    pub extension: &'static str,
    /// The environment variable that names another command.
    pub variable: &'static str,
    /// The arguments that it always gets.
    pub(crate) usual: &'static [&'static str],
    /// The arguments for strict floating point.
    pub(crate) strict: &'static [&'static str],
    /// The arguments that let the host use all instructions of this processor.
    pub(crate) native: &'static [&'static str],
    /// The option before each option of the linker.
    pub(crate) linker: &'static str,
    /// The environment variables with flags, which it reads itself.
    pub(crate) flags: &'static [&'static str],
    /// A program that tests whether programs find a device.
    pub(crate) probe: &'static str,
}

/// Options for compiling code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompilerOptions {
    /// 0 to 3.
    pub optimization: u8,
    /// True if a·b+c must stay two operations.
    pub strict: bool,
    /// The flags of the libraries that are linked in addition to the C library.
    pub libraries: &'static [&'static str],
    /// The compiler of the program, if it is not the C compiler.
    pub device: Option<&'static DeviceCompiler>,
}

impl CompilerOptions {
    /// Returns the extension of a program's source.
    pub fn extension(self) -> &'static str {
        self.device.map_or("c", |compiler| compiler.extension)
    }
}

/// Returns a text that distinguishes a command's file from another one of the same name: its path,
/// its size and its time.
pub(crate) fn identity(program: &Path) -> String {
    let find = || {
        if program.components().count() > 1 {
            return std::fs::canonicalize(program).ok();
        }
        let path = std::env::var_os("PATH")?;
        let mut found = std::env::split_paths(&path).map(|folder| folder.join(program));
        found.find_map(|file| std::fs::canonicalize(file).ok())
    };
    let describe = |file: PathBuf| {
        let metadata = std::fs::metadata(&file).ok()?;
        let time = metadata.modified().ok()?;
        Some(format!("{} {} {time:?}", file.display(), metadata.len()))
    };
    find().and_then(describe).unwrap_or_default()
}
