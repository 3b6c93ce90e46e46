//! Compiled libraries in the user's cache folder, so that a program is compiled once, and records of the
//! programs that they were compiled from.
//!
//! The name of an entry holds a digest of all the data that decides its content, and a digest of
//! these data and the content. The content read is compared with it, so that a truncated, replaced
//! or damaged file is built anew. Entries appear by renaming, so that concurrent runs never see
//! half of one. A folder or file that another user owns or could write is not used, with a warning.

use crate::error::describe;
use crate::temporary::{TemporaryFile, is_own, open_plain, remove_stale_files, sync_folder};
use etcetera::base_strategy::{BaseStrategy as _, Xdg};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum number of entries.
const MAXIMUM_ENTRIES: usize = 512;
/// Maximum size of all entries, and of one entry, in bytes.
const MAXIMUM_BYTES: u64 = 512 << 20;

/// The folder of compiled libraries.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// The kinds of entries, with the endings of their names.
const KINDS: [(Kind, &str); 2] = [(Kind::Library, "so"), (Kind::Record, "program")];

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Compiled code.
    Library,
    /// A record of a program.
    Record,
}

impl Kind {
    fn ending(self) -> &'static str {
        let row = KINDS.iter().find(|(kind, _)| *kind == self);
        row.map_or("", |(_, ending)| ending)
    }
}

/// A digest of the data that decide an entry. Entries that differ have different digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    digest: [u8; 32],
    kind: Kind,
}

impl Key {
    /// Returns the key of a library that a list of texts decides. No two lists give the same key.
    pub fn of(parts: &[&str]) -> Key {
        let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
        Key {
            digest: digest_of(&parts),
            kind: Kind::Library,
        }
    }

    /// Returns the key of the record of a program that a list of texts decides. No two lists give the same
    /// key.
    pub fn of_record(parts: &[&[u8]]) -> Key {
        Key {
            digest: digest_of(parts),
            kind: Kind::Record,
        }
    }

    /// Returns the key of a library as a text.
    pub(crate) fn text(&self) -> String {
        hexadecimal(&self.digest)
    }

    /// Reads what [`Key::text`] returns.
    pub(crate) fn from_text(text: &str) -> Option<Key> {
        let bytes = text.as_bytes().chunks(2);
        let bytes = bytes.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
        let bytes: Option<Vec<u8>> = bytes.collect();
        Some(Key {
            digest: bytes?.try_into().ok()?,
            kind: Kind::Library,
        })
    }

    /// Returns the name of an entry with this content.
    fn name(&self, content: &[u8]) -> String {
        let mut digest = Sha256::new();
        digest.update(self.digest);
        digest.update(content);
        let digest: [u8; 32] = digest.finalize().into();
        let ending = self.kind.ending();
        format!("{}{}.{ending}", self.start(), hexadecimal(&digest))
    }

    /// Returns the beginning of the names of its entries.
    fn start(&self) -> String {
        hexadecimal(&self.digest) + "-"
    }
}

fn digest_of(parts: &[&[u8]]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    digest.finalize().into()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Cache {
    /// Returns the user's cache: `$NOVA_CACHE`, else `nova` in `$XDG_CACHE_HOME` or in `~/.cache`.
    /// Returns `None` where there is none or `$NOVA_CACHE` is empty.
    pub fn of_user() -> Option<Cache> {
        let folder = match std::env::var_os("NOVA_CACHE") {
            Some(folder) => PathBuf::from(folder),
            None => Xdg::new().ok()?.cache_dir().join("nova"),
        };
        (!folder.as_os_str().is_empty()).then_some(Cache { folder })
    }

    /// Returns its folder, which may not exist.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a cache in a folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Cache {
        Cache {
            folder: folder.into(),
        }
    }

    /// Returns the content of the entry of a key, if it exists and is intact. The entry counts as
    /// used now. A file of that name with other content is removed, and a warning is added.
    pub fn get(&self, key: &Key, warnings: &mut Vec<String>) -> Option<Vec<u8>> {
        match self.check_folder() {
            Ok(()) => {}
            Err(Unusable::Absent) => return None,
            Err(Unusable::Refused(why)) => {
                warnings.push(why);
                return None;
            }
        }
        let start = key.start();
        let names = fs::read_dir(&self.folder).ok()?.flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        for name in names.filter(|name| name.starts_with(&start)) {
            let path = self.folder.join(&name);
            let (file, content) = match read_own(&path) {
                Ok(found) => found,
                // Another run has removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    discard(&path, &describe(&error), warnings);
                    continue;
                }
            };
            if key.name(&content) == name {
                // Reading works without this. The entry only looks older than it is.
                let _ = file.set_modified(SystemTime::now());
                return Some(content);
            }
            discard(&path, "is not as it was written", warnings);
        }
        None
    }

    /// Stores the content of an entry under a key. Adds a warning if that should be possible and fails.
    pub fn put(&self, key: &Key, content: &[u8], warnings: &mut Vec<String>) {
        if !self.make_folder() {
            return;
        }
        match self.check_folder() {
            Ok(()) => {}
            // An earlier request for the entry has reported this.
            Err(Unusable::Absent | Unusable::Refused(_)) => return,
        }
        remove_stale_files(&self.folder);
        let name = key.name(content);
        match self.write(&name, content) {
            Ok(()) => self.shrink(&name),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(error) => warnings.push(format!(
                "the compiled program is not kept: {}: {}",
                self.folder.display(),
                describe(&error)
            )),
        }
    }

    fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let mut temporary = TemporaryFile::new(&self.folder, None)?;
        temporary.file().write_all(content)?;
        temporary.finish()?;
        temporary.rename(&self.folder.join(name))?;
        sync_folder(&self.folder);
        Ok(())
    }

    /// Creates the folder, for its user alone. Returns true if it exists afterwards.
    fn make_folder(&self) -> bool {
        if let Some(above) = self.folder.parent() {
            // If this fails, so does the next.
            let _ = fs::create_dir_all(above);
        }
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(&self.folder) {
            Ok(()) => true,
            Err(error) => error.kind() == io::ErrorKind::AlreadyExists,
        }
    }

    /// Checks that the folder belongs to this user and that nobody else can write to it. Removes
    /// all other permissions of other users.
    fn check_folder(&self) -> Result<(), Unusable> {
        let metadata = fs::symlink_metadata(&self.folder).map_err(|_| Unusable::Absent)?;
        let refused = |why: &str| {
            let folder = self.folder.display();
            Err(Unusable::Refused(format!(
                "the cache {folder} is not used: it {why}"
            )))
        };
        if metadata.is_symlink() {
            return refused("is a symbolic link");
        }
        if !metadata.is_dir() {
            return refused("is no folder");
        }
        if !is_own(&metadata) {
            return refused("belongs to another user");
        }
        if is_writable_by_others(&metadata) {
            return refused("can be written by other users");
        }
        self.close_to_others(&metadata);
        Ok(())
    }

    #[cfg(unix)]
    fn close_to_others(&self, metadata: &Metadata) {
        use std::os::unix::fs::PermissionsExt;
        if metadata.permissions().mode() & 0o077 != 0 {
            // Nobody else can write there in any case.
            let _ = fs::set_permissions(&self.folder, fs::Permissions::from_mode(0o700));
        }
    }

    #[cfg(not(unix))]
    fn close_to_others(&self, _metadata: &Metadata) {}

    /// Removes the entries used longest ago until the rest is within the limits, but never
    /// `newest`.
    fn shrink(&self, newest: &str) {
        let Ok(listing) = fs::read_dir(&self.folder) else {
            return;
        };
        let mut entries: Vec<(SystemTime, u64, PathBuf)> = listing
            .flatten()
            .filter(|entry| entry.file_name() != newest)
            .filter_map(|entry| {
                let data = entry.metadata().ok().filter(|m| m.is_file())?;
                Some((data.modified().ok()?, data.len(), entry.path()))
            })
            .filter(|(_, _, path)| {
                let ending = path.extension().unwrap_or_default();
                KINDS.iter().any(|(_, known)| ending == *known)
            })
            .collect();
        entries.sort();
        let mut bytes: u64 = entries.iter().map(|(_, size, _)| size).sum();
        let mut count = entries.len() + 1;
        for (_, size, path) in entries {
            if count <= MAXIMUM_ENTRIES && bytes <= MAXIMUM_BYTES {
                break;
            }
            // Another process may have removed it. Then it is gone as well.
            let _ = fs::remove_file(path);
            bytes -= size;
            count -= 1;
        }
    }
}

/// The reason why a folder cannot be used as a cache.
enum Unusable {
    /// It does not exist.
    Absent,
    /// It is not this user's alone. The text says why.
    Refused(String),
}

/// Returns the content of a plain file of this user that nobody else can write. The checks are
/// about the file that was opened, whatever file has its name meanwhile.
fn read_own(path: &Path) -> io::Result<(File, Vec<u8>)> {
    let mut file = open_plain(path)?;
    let metadata = file.metadata()?;
    let wrong = match () {
        () if !metadata.is_file() => Some("is no plain file"),
        () if !is_own(&metadata) => Some("belongs to another user"),
        () if is_writable_by_others(&metadata) => Some("can be written by other users"),
        () if metadata.len() > MAXIMUM_BYTES => Some("is too large"),
        () => None,
    };
    if let Some(why) = wrong {
        return Err(io::Error::other(why));
    }
    let mut content = Vec::new();
    (&mut file)
        .take(MAXIMUM_BYTES + 1)
        .read_to_end(&mut content)?;
    Ok((file, content))
}

/// Removes a file that is no entry, and reports it.
fn discard(path: &Path, why: &str, warnings: &mut Vec<String>) {
    // A file that cannot be removed is not used either.
    let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
    warnings.push(format!(
        "{}: {why}; the program is compiled again",
        path.display()
    ));
}

#[cfg(unix)]
fn is_writable_by_others(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o022 != 0
}

#[cfg(not(unix))]
fn is_writable_by_others(_metadata: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests;
