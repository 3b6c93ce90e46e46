//! Temporary files and folders that do not outlive their process for long. A process holds a lock
//! on each while it is alive, so that a later run can find and remove those of killed processes.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The names of temporary files begin and end like this, with letters between.
const FILE: (&str, &str) = (".nova-", ".tmp");
/// The names of build folders begin like this.
const FOLDER: &str = "novac-build-";
/// The locked file in a folder. It is created first and removed last.
const ALIVE: &str = "alive";
/// A folder without a lock, whose process was killed before or after it held one, is left for this
/// long.
const PATIENCE: Duration = Duration::from_secs(3600);
/// The number of names that are tried.
const TRIES: usize = 64;

/// A temporary file in the folder of its final name. It is removed unless it was renamed.
#[derive(Debug)]
pub struct TemporaryFile(tempfile::NamedTempFile);

impl TemporaryFile {
    /// Creates a file with these permissions, as far as the process's mask allows.
    pub fn new(folder: &Path, permissions: Option<Permissions>) -> io::Result<TemporaryFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(FILE.0).suffix(FILE.1).rand_bytes(10);
        if let Some(permissions) = permissions {
            builder.permissions(permissions);
        }
        for _ in 0..TRIES {
            let file = builder.tempfile_in(folder)?;
            if claim(file.as_file(), file.path()) {
                return Ok(TemporaryFile(file));
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the file to write to.
    pub fn file(&mut self) -> &mut File {
        self.0.as_file_mut()
    }

    /// Waits until it is on the disk. An error of a full disk may come only now.
    pub fn finish(&mut self) -> io::Result<()> {
        self.0.as_file().sync_all()
    }

    /// Gives a finished file its name. It replaces a file of that name.
    pub fn rename(self, target: &Path) -> io::Result<()> {
        self.0.persist(target).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Locks a file at a path. Returns false where another process has removed it, or is about to,
/// since it was not locked yet. On systems without locks, no process removes it.
fn claim(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Ok(()) => is_at(file, path),
        Err(fs::TryLockError::WouldBlock) => false,
        Err(fs::TryLockError::Error(_)) => true,
    }
}

/// True if a path is still that of an open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        (Ok(_) | Err(_), Ok(_) | Err(_)) => false,
    }
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

/// True if something belongs to the user of this process.
#[cfg(unix)]
pub fn is_own(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
pub fn is_own(_metadata: &Metadata) -> bool {
    true
}

/// Opens a file that is no link.
pub fn open_plain(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(flags.bits() as i32);
    }
    options.open(path)
}

/// Returns the locked file at a path if no living process holds it.
fn abandoned(path: &Path) -> Option<File> {
    let file = open_plain(path).ok()?;
    let is_free = file.try_lock().is_ok() && is_at(&file, path);
    is_free.then_some(file)
}

/// Removes the temporary files of killed processes of this user in a folder.
pub fn remove_stale_files(folder: &Path) {
    let Ok(listing) = fs::read_dir(folder) else {
        return;
    };
    for entry in listing.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours = name.starts_with(FILE.0) && name.ends_with(FILE.1);
        let is_file = |m: Metadata| m.is_file() && is_own(&m);
        let path = entry.path();
        if !is_ours || !fs::symlink_metadata(&path).is_ok_and(is_file) {
            continue;
        }
        if let Some(lock) = abandoned(&path) {
            // Another process may have removed it. Then it is gone as well.
            let _ = fs::remove_file(&path);
            drop(lock);
        }
    }
}

/// A folder for a build. It is removed with its contents.
#[derive(Debug)]
pub struct BuildFolder {
    path: PathBuf,
    _alive: File,
}

impl BuildFolder {
    /// Creates a folder among the system's temporary files. Removes those that killed processes
    /// have left there.
    pub fn new() -> io::Result<BuildFolder> {
        let place = std::env::temp_dir();
        remove_stale_folders(&place);
        for _ in 0..TRIES {
            let folder = tempfile::Builder::new()
                .prefix(FOLDER)
                .rand_bytes(10)
                .tempdir_in(&place)?;
            let alive = folder.path().join(ALIVE);
            let file = File::create_new(&alive)?;
            if claim(&file, &alive) {
                return Ok(BuildFolder {
                    path: folder.keep(),
                    _alive: file,
                });
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for BuildFolder {
    fn drop(&mut self) {
        remove_folder(&self.path);
    }
}

/// Removes a folder. The file whose lock shows that a process uses the folder is the last to be
/// removed.
fn remove_folder(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        // A folder that cannot be removed is left to the next run.
        let _ = match is_folder {
            true => fs::remove_dir_all(entry.path()),
            false if entry.file_name() == ALIVE => Ok(()),
            false => fs::remove_file(entry.path()),
        };
    }
    let _ = fs::remove_file(folder.join(ALIVE));
    let _ = fs::remove_dir(folder);
}

/// Removes the folders that killed processes of this user have left.
fn remove_stale_folders(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_ours = entry.file_name().to_string_lossy().starts_with(FOLDER);
        let Some(metadata) = fs::symlink_metadata(&path).ok().filter(|_| is_ours) else {
            continue;
        };
        if !metadata.is_dir() || !is_own(&metadata) {
            continue;
        }
        let alive = path.join(ALIVE);
        match fs::symlink_metadata(&alive) {
            Ok(_) => {
                if let Some(lock) = abandoned(&alive) {
                    remove_folder(&path);
                    drop(lock);
                }
            }
            // Its process was killed before it created the file, or after it removed the file.
            Err(_) => {
                let age = metadata
                    .modified()
                    .ok()
                    .and_then(|time| time.elapsed().ok());
                if age.is_some_and(|age| age > PATIENCE) {
                    remove_folder(&path);
                }
            }
        }
    }
}

/// Waits until the names in a folder are on the disk, where the system supports that.
pub fn sync_folder(folder: &Path) {
    // Some file systems do not support it. The files exist nevertheless.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lives_stays_and_what_was_left_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path();
        let living = TemporaryFile::new(place, None).expect("a file");
        let left = place.join(".nova-0123456789.tmp");
        fs::write(&left, "half").expect("written");
        let others = place.join(".nova-mine");
        fs::write(&others, "a user's").expect("written");
        remove_stale_files(place);
        assert!(living.path().exists() && others.exists() && !left.exists());
        drop(living);
        assert_eq!(fs::read_dir(place).expect("a folder").count(), 1);
    }

    #[test]
    fn folders_that_were_left_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path();
        let left = place.join("novac-build-0123456789");
        fs::create_dir_all(left.join("below")).expect("made");
        fs::write(left.join("below/file"), "").expect("written");
        let lock = File::create_new(left.join(ALIVE)).expect("made");
        lock.lock().expect("locked");
        remove_stale_folders(place);
        assert!(left.join("below/file").exists());
        drop(lock);
        let young = place.join("novac-build-young");
        fs::create_dir(&young).expect("made");
        remove_stale_folders(place);
        assert!(!left.exists() && young.exists());
    }
}
