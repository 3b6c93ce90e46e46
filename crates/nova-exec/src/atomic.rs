//! Atomic writes of one or several files: all appear whole, or none does.

use crate::error::InputError;
use crate::temporary::{TemporaryFile, remove_stale_files, sync_folder};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file through `body`, under another name first. It is renamed when the write succeeded.
///
/// An existing device, pipe or other special file is written in place.
pub fn write_file(
    path: &Path,
    body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), InputError> {
    let error = |error: io::Error| InputError::file(path, &error);
    if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        let mut file = File::options().write(true).open(path).map_err(error)?;
        return body(&mut file).map_err(error);
    }
    let file = NewFile::write(path, body).map_err(error)?;
    let folder = file.folder();
    file.temporary.rename(&file.target).map_err(error)?;
    sync_folder(&folder);
    Ok(())
}

/// Writes files that belong together. After an error none is written, and the old files are as
/// before.
pub fn write_files(files: &[(PathBuf, &[u8])]) -> Result<(), InputError> {
    let mut new = Vec::new();
    for (path, bytes) in files {
        let written = NewFile::write(path, |writer| writer.write_all(bytes));
        new.push((
            path,
            written.map_err(|error| InputError::file(path, &error))?,
        ));
    }
    let folders: Vec<PathBuf> = new.iter().map(|(_, file)| file.folder()).collect();
    for (path, file) in &mut new {
        file.keep_old()
            .map_err(|error| InputError::file(path, &error))?;
    }
    let mut done = Vec::new();
    for (path, file) in new {
        match file.replace() {
            Ok(replaced) => done.push(replaced),
            Err(error) => {
                done.into_iter().rev().for_each(Replaced::undo);
                return Err(InputError::file(path, &error));
            }
        }
    }
    folders.iter().for_each(|folder| sync_folder(folder));
    Ok(())
}

/// A file that has been written, but does not have its final name yet.
struct NewFile {
    temporary: TemporaryFile,
    target: PathBuf,
    /// A copy of the file that has the name now.
    old: Option<TemporaryFile>,
}

impl NewFile {
    /// Writes a file beside the one that it will replace, and flushes it to the disk.
    fn write(
        path: &Path,
        body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<NewFile> {
        let existing = fs::metadata(path).ok();
        if existing.as_ref().is_some_and(|m| m.is_dir()) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if existing.as_ref().is_some_and(|m| !m.is_file()) {
            return Err(io::Error::other("is no plain file"));
        }
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let folder = folder_of(&target);
        remove_stale_files(&folder);
        let permissions = existing.map(|m| m.permissions()).or_else(usual_permissions);
        let mut temporary = TemporaryFile::new(&folder, permissions)?;
        let mut writer = BufWriter::new(temporary.file());
        body(&mut writer)?;
        writer.into_inner().map_err(|error| error.into_error())?;
        temporary.finish()?;
        Ok(NewFile {
            temporary,
            target,
            old: None,
        })
    }

    fn folder(&self) -> PathBuf {
        folder_of(&self.target)
    }

    /// Copies the file that has the name now, so that it can be restored.
    fn keep_old(&mut self) -> io::Result<()> {
        let mut old = match File::open(&self.target) {
            Ok(old) => old,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let permissions = old.metadata()?.permissions();
        let mut kept = TemporaryFile::new(&self.folder(), None)?;
        io::copy(&mut old, kept.file())?;
        kept.file().set_permissions(permissions)?;
        kept.finish()?;
        self.old = Some(kept);
        Ok(())
    }

    /// Takes the place of the file that has its name.
    fn replace(self) -> io::Result<Replaced> {
        self.temporary.rename(&self.target)?;
        Ok(Replaced {
            target: self.target,
            old: self.old,
        })
    }
}

/// A file that has its final name, and a copy of the file that had it before.
struct Replaced {
    target: PathBuf,
    old: Option<TemporaryFile>,
}

impl Replaced {
    /// Restores the old file.
    fn undo(self) {
        // The error that led here is reported. A second one would add nothing.
        let _ = match self.old {
            Some(old) => old.rename(&self.target),
            None => fs::remove_file(&self.target),
        };
    }
}

/// Returns the folder that holds a file.
fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        Some(_) | None => PathBuf::from("."),
    }
}

/// Returns the permissions of a new file, as far as the process's mask allows.
#[cfg(unix)]
fn usual_permissions() -> Option<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(fs::Permissions::from_mode(0o666))
}

/// Returns the permissions of a new file.
#[cfg(not(unix))]
fn usual_permissions() -> Option<fs::Permissions> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_what_fails() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.npy");
        let failed = write_file(&path, |w| {
            w.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
        write_file(&path, |w| w.write_all(b"whole")).expect("written");
        assert_eq!(fs::read(&path).expect("there"), b"whole");
    }

    /// Returns the names and contents of a folder's files.
    fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
        let files = fs::read_dir(folder).expect("a folder").flatten();
        let mut files: Vec<_> = files
            .filter(|entry| entry.path().is_file())
            .map(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                (name, fs::read(entry.path()).expect("readable"))
            })
            .collect();
        files.sort();
        files
    }

    #[test]
    fn several_files_are_written_or_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a.h"), "old").expect("written");
        fs::create_dir(path("a.json")).expect("made");
        let before = contents(folder.path());
        let all = |names: &[&str]| {
            let files = names.iter().map(|name| (path(name), &b"new"[..]));
            write_files(&files.collect::<Vec<_>>())
        };
        // The last file cannot be written. Then one cannot be moved to its place.
        assert!(all(&["a.h", "a.c", "a.json"]).is_err());
        assert_eq!(contents(folder.path()), before);
        assert!(all(&["a.h", "absent/a.c"]).is_err());
        assert_eq!(contents(folder.path()), before);
        all(&["a.h", "a.c"]).expect("written");
        let named = |name: &str| (name.to_string(), b"new".to_vec());
        assert_eq!(contents(folder.path()), [named("a.c"), named("a.h")]);
    }

    #[test]
    fn what_was_replaced_can_be_put_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("old"), "old").expect("written");
        for name in ["old", "new"] {
            let file = NewFile::write(&path(name), |w| w.write_all(b"new"));
            let mut file = file.expect("written");
            file.keep_old().expect("copied");
            let replaced = file.replace().expect("renamed");
            assert_eq!(fs::read(path(name)).expect("there"), b"new");
            replaced.undo();
        }
        let left = contents(folder.path());
        assert_eq!(left, [("old".to_string(), b"old".to_vec())]);
    }
}
