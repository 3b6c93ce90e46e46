//! Compiled libraries, kept in the user's cache folder so that a program is compiled once.
//!
//! An entry's name is a hash of everything that decides its content. Entries appear by renaming, so
//! that runs at the same time never see half of one; a folder that cannot be written is no error,
//! the library is then built in a temporary folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Entries kept at most.
const MAXIMUM_ENTRIES: usize = 256;
/// Bytes kept at most.
const MAXIMUM_BYTES: u64 = 512 << 20;

/// The folder of compiled libraries.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The user's: `$NOVA_CACHE`, else `nova` in `$XDG_CACHE_HOME` or in `~/.cache`; `None` where
    /// there is none or `$NOVA_CACHE` is empty.
    pub fn of_user() -> Option<Cache> {
        let folder = match std::env::var_os("NOVA_CACHE") {
            Some(folder) => PathBuf::from(folder),
            None => base_folder()?.join("nova"),
        };
        (!folder.as_os_str().is_empty()).then_some(Cache { folder })
    }

    /// A cache in a folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Cache {
        Cache {
            folder: folder.into(),
        }
    }

    /// Where the entry of a key lies, if it is there; it counts as used now.
    pub fn get(&self, key: &str) -> Option<PathBuf> {
        let path = self.path(key);
        let file = fs::File::open(&path).ok()?;
        // Reading works without this; the entry only looks older than it is.
        let _ = file.set_modified(SystemTime::now());
        Some(path)
    }

    /// Keeps a library under a key; `None` when the folder cannot be written.
    pub fn put(&self, key: &str, library: &Path) -> Option<PathBuf> {
        fs::create_dir_all(&self.folder).ok()?;
        let temporary = tempfile::Builder::new()
            .prefix(".new-")
            .tempfile_in(&self.folder)
            .ok()?;
        fs::copy(library, temporary.path()).ok()?;
        let path = self.path(key);
        temporary.persist(&path).ok()?;
        self.shrink(&path);
        Some(path)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder
            .join(format!("{:032x}.so", hash(key.as_bytes())))
    }

    /// Removes the entries used longest ago until the rest is within bounds, but never `newest`.
    fn shrink(&self, newest: &Path) {
        let Ok(listing) = fs::read_dir(&self.folder) else {
            return;
        };
        let mut entries: Vec<(SystemTime, u64, PathBuf)> = listing
            .flatten()
            .filter_map(|entry| {
                let data = entry.metadata().ok().filter(|m| m.is_file())?;
                Some((data.modified().ok()?, data.len(), entry.path()))
            })
            .filter(|(_, _, path)| path.extension().is_some_and(|e| e == "so") && path != newest)
            .collect();
        entries.sort();
        let mut bytes: u64 = entries.iter().map(|(_, size, _)| size).sum();
        let mut count = entries.len() + 1;
        for (_, size, path) in entries {
            if count <= MAXIMUM_ENTRIES && bytes <= MAXIMUM_BYTES {
                break;
            }
            // Someone else may have removed it; then it is gone as well.
            let _ = fs::remove_file(path);
            bytes -= size;
            count -= 1;
        }
    }
}

fn base_folder() -> Option<PathBuf> {
    let absolute = |name: &str, below: &str| {
        let folder = PathBuf::from(std::env::var_os(name)?);
        folder.is_absolute().then(|| folder.join(below))
    };
    absolute("XDG_CACHE_HOME", "").or_else(|| absolute("HOME", ".cache"))
}

/// FNV-1a with 128 bits.
fn hash(bytes: &[u8]) -> u128 {
    bytes
        .iter()
        .fold(0x6c62272e07bb014262b821756295c58d, |hash, byte| {
            (hash ^ u128::from(*byte)).wrapping_mul(0x0000000001000000000000000000013B)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::in_folder(folder.path().join("new"));
        assert_eq!(cache.get("key"), None);
        let library = folder.path().join("library");
        fs::write(&library, b"code").expect("written");
        let path = cache.put("key", &library).expect("writable");
        assert_eq!(cache.get("key"), Some(path.clone()));
        assert_eq!(fs::read(path).expect("there"), b"code");
        assert_eq!(cache.get("other key"), None);
    }

    #[test]
    fn the_number_of_entries_is_bounded() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::in_folder(folder.path());
        let library = folder.path().join("library");
        fs::write(&library, b"code").expect("written");
        for k in 0..MAXIMUM_ENTRIES + 5 {
            cache.put(&k.to_string(), &library).expect("writable");
        }
        let left = fs::read_dir(folder.path()).expect("a folder").count();
        // And the file that was copied.
        assert_eq!(left, MAXIMUM_ENTRIES + 1);
    }

    #[test]
    fn a_folder_that_cannot_be_is_no_error() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let cache = Cache::in_folder(file.path().join("below"));
        assert_eq!(cache.put("key", file.path()), None);
    }
}
