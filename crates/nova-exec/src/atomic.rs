//! Files that are there whole or not at all.

use crate::error::InputError;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file through `body`: under another name first, renamed when all went well.
///
/// What is there and no plain file (a device, a pipe) is written in place.
pub fn write_file(
    path: &Path,
    body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), InputError> {
    write(path, body).map_err(|error| InputError::file(path, &error))
}

fn write(path: &Path, body: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let existing = fs::metadata(path).ok();
    if existing.as_ref().is_some_and(|m| m.is_dir()) {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if existing.as_ref().is_some_and(|m| !m.is_file()) {
        let mut file = File::options().write(true).open(path)?;
        return body(&mut file);
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        Some(_) | None => PathBuf::from("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".nova-");
    let permissions = existing.map(|m| m.permissions()).or_else(usual_permissions);
    if let Some(permissions) = permissions.clone() {
        builder.permissions(permissions);
    }
    let temporary = builder.tempfile_in(&folder)?;
    let mut writer = BufWriter::new(temporary);
    body(&mut writer)?;
    let temporary = writer.into_inner().map_err(|e| e.into_error())?;
    temporary.persist(&target).map_err(|e| e.error)?;
    Ok(())
}

/// The permissions that a new file usually gets; the process's mask takes its part.
#[cfg(unix)]
fn usual_permissions() -> Option<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(fs::Permissions::from_mode(0o666))
}

/// The permissions that a new file usually gets.
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
}
