//! The parts that the compilers of C and of CUDA C share: their options, and the identity of a command.

use std::path::{Path, PathBuf};

/// Options for compiling code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompilerOptions {
    /// 0 to 3.
    pub optimization: u8,
    /// True if a·b+c must stay two operations.
    pub strict: bool,
    /// The flags of the libraries that are linked in addition to the C library.
    pub libraries: &'static [&'static str],
    /// True if the program is CUDA C.
    pub cuda: bool,
}

impl CompilerOptions {
    /// Returns the extension of a program's source.
    pub fn extension(self) -> &'static str {
        if self.cuda { "cu" } else { "c" }
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
