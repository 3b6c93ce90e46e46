//! A C compiler that counts operations of the code it compiles.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Writes a compiler into a folder that includes this text before all code. Returns its path, for
/// the variable `CC`.
pub fn counting_compiler(folder: &Path, header: &str) -> PathBuf {
    let included = folder.join("counting.h");
    fs::write(&included, header).expect("a file");
    let script = format!(
        "#!/bin/sh\nexec ${{REAL_CC:-cc}} -include '{}' \"$@\"\n",
        included.display()
    );
    let path = folder.join("counting-cc");
    fs::write(&path, script).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    path
}
