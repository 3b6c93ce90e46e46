//! Machine code that is loaded from memory that nobody else can change. The code that was checked
//! is the code that runs, whatever happens to its file meanwhile.

use crate::error::CompileError;
use crate::temporary::BuildFolder;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Loaded code with its memory.
#[derive(Debug)]
pub struct Image {
    library: libloading::Library,
    /// The file of the memory. Its descriptor is in the name under which the system knows the
    /// library, so it stays open.
    _memory: Option<File>,
}

impl Image {
    /// Loads a library given as bytes. `folder` gets a copy where the system cannot load from
    /// memory.
    pub fn load(bytes: &[u8], folder: &BuildFolder) -> Result<Image, CompileError> {
        if let Some(image) = Image::in_memory(bytes)? {
            return Ok(image);
        }
        let files = |error: io::Error| CompileError::Files {
            what: "the compiled program cannot be copied".to_string(),
            error,
        };
        let copy = folder.path().join("loaded.so");
        fs::write(&copy, bytes).map_err(files)?;
        Ok(Image {
            library: open(&copy)?,
            _memory: None,
        })
    }

    /// Loads a library given as bytes, or returns `None` where the system cannot load from memory.
    pub fn in_memory(bytes: &[u8]) -> Result<Option<Image>, CompileError> {
        let Some(memory) = sealed(bytes) else {
            return Ok(None);
        };
        let path = descriptor_path(&memory);
        let library = open(&path)?;
        Ok(Some(Image {
            library,
            _memory: Some(memory),
        }))
    }

    /// Returns the library.
    pub fn library(&self) -> &libloading::Library {
        &self.library
    }
}

/// Returns a file in memory with these bytes, which can neither be changed nor truncated.
#[cfg(target_os = "linux")]
fn sealed(bytes: &[u8]) -> Option<File> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use std::io::Write;
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create("nova-program", flags).ok()?);
    file.write_all(bytes).ok()?;
    let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
    fcntl_add_seals(&file, seals).ok()?;
    // Without a mounted /proc it has no name.
    Path::new(&descriptor_path(&file)).exists().then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn sealed(_bytes: &[u8]) -> Option<File> {
    None
}

#[cfg(unix)]
fn descriptor_path(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

#[cfg(not(unix))]
fn descriptor_path(_file: &File) -> PathBuf {
    PathBuf::new()
}

#[cfg(unix)]
fn open(path: &Path) -> Result<libloading::Library, CompileError> {
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
    // Undefined symbols must be reported now, not when they are called. SAFETY: the library is
    // generated code; loading it runs nothing of its own.
    let opened = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    opened.map(Into::into).map_err(|error| load_error(&error))
}

#[cfg(not(unix))]
fn open(path: &Path) -> Result<libloading::Library, CompileError> {
    // SAFETY: the library is generated code; loading it runs nothing of its own.
    unsafe { libloading::Library::new(path) }.map_err(|error| load_error(&error))
}

fn load_error(error: &libloading::Error) -> CompileError {
    // libloading gives the system's message as the source of its own error.
    let text = match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    };
    match text.split_once("undefined symbol: ") {
        Some((_, symbol)) => CompileError::Undefined {
            symbol: symbol.trim().to_string(),
        },
        None => CompileError::Load(text),
    }
}

/// Returns an error if a compiler failed because the folder for temporary files is full.
pub fn full(folder: &Path) -> Option<CompileError> {
    let probe = folder.join("probe");
    let written = fs::write(&probe, vec![0xff; 1 << 16]);
    // The whole folder is removed anyway.
    let _ = fs::remove_file(&probe);
    let error = written.err()?;
    let is_full = matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    );
    is_full.then(|| CompileError::Files {
        what: format!("{} cannot be written", folder.display()),
        error,
    })
}
