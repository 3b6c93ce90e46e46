//! Machine code that is loaded from memory that nobody else can change: what was looked at is what
//! runs, whatever becomes of the file that it was read from.

use crate::error::CompileError;
use crate::temporary::BuildFolder;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Loaded code with what it was loaded from.
#[derive(Debug)]
pub struct Image {
    library: libloading::Library,
    /// Its number is in the name under which the system knows the library, so it is not closed before.
    _memory: Option<File>,
}

impl Image {
    /// Loads a library given as bytes. `folder` takes a copy where there is no memory to load from.
    pub fn load(bytes: &[u8], folder: &BuildFolder) -> Result<Image, CompileError> {
        if let Some(memory) = sealed(bytes) {
            let path = descriptor_path(&memory);
            let library = open(&path)?;
            return Ok(Image {
                library,
                _memory: Some(memory),
            });
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

    /// The library.
    pub fn library(&self) -> &libloading::Library {
        &self.library
    }
}

/// The bytes in memory that cannot be changed or cut any more.
#[cfg(target_os = "linux")]
fn sealed(bytes: &[u8]) -> Option<File> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use std::io::Write;
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create("nova-program", flags).ok()?);
    file.write_all(bytes).ok()?;
    let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
    fcntl_add_seals(&file, seals).ok()?;
    // Where nothing is mounted at /proc it has no name.
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
    // What is not defined must be found now, not when it is called.
    // SAFETY: the library is generated code; loading it runs nothing of its own.
    let opened = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    opened.map(Into::into).map_err(|error| load_error(&error))
}

#[cfg(not(unix))]
fn open(path: &Path) -> Result<libloading::Library, CompileError> {
    // SAFETY: the library is generated code; loading it runs nothing of its own.
    unsafe { libloading::Library::new(path) }.map_err(|error| load_error(&error))
}

fn load_error(error: &libloading::Error) -> CompileError {
    // What the system says is the source of libloading's own words.
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

/// What is wrong with a folder for temporary files, if that is why a compiler failed: it is full.
pub fn full(folder: &Path) -> Option<CompileError> {
    let probe = folder.join("probe");
    let written = fs::write(&probe, vec![0xff; 1 << 16]);
    // The folder is removed as a whole anyway.
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
