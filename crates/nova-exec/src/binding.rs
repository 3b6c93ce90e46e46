//! The origin of the foreign functions of a loaded program.
//!
//! The loader resolves a name that the C library defines as well to the library's, wherever a
//! library is asked for it. The loaded program is linked so that its own definitions are found
//! first. This module checks a foreign function of a shared library given with `--link`, or one
//! that has no definition, before anything is called.

use crate::error::CompileError;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;

/// The flag that makes a shared library resolve names to its own definitions first, where linkers
/// need one.
pub const OWN_NAMES_FIRST: Option<&str> = match cfg!(all(unix, not(target_vendor = "apple"))) {
    true => Some("-Wl,-Bsymbolic"),
    false => None,
};

/// Libraries that every process has, by the beginnings of their files' names.
const SYSTEM_LIBRARIES: [&str; 14] = [
    "libc.",
    "libc-",
    "libm.",
    "libm-",
    "libpthread",
    "libdl.",
    "librt.",
    "libgcc_s",
    "libresolv",
    "libutil",
    "ld-",
    "ld.",
    "libSystem",
    "libsystem",
];

/// The answer of `dladdr` about an address.
#[repr(C)]
struct Info {
    file: *const c_char,
    base: *mut c_void,
    name: *const c_char,
    address: *mut c_void,
}

#[cfg(unix)]
unsafe extern "C" {
    fn dladdr(address: *const c_void, info: *mut Info) -> c_int;
}

/// Returns the file that holds the code at an address.
#[cfg(unix)]
fn holder(address: *const c_void) -> Option<String> {
    let mut info = Info {
        file: std::ptr::null(),
        base: std::ptr::null_mut(),
        name: std::ptr::null(),
        address: std::ptr::null_mut(),
    };
    // SAFETY: the function only looks at the address, and fills the structure that it gets.
    let found = unsafe { dladdr(address, &mut info) };
    if found == 0 || info.file.is_null() {
        return None;
    }
    // SAFETY: the name lives as long as the library is loaded.
    let file = unsafe { CStr::from_ptr(info.file) };
    Some(file.to_string_lossy().into_owned())
}

#[cfg(not(unix))]
fn holder(_address: *const c_void) -> Option<String> {
    None
}

/// Refuses a foreign function that resolves to the system's, not to one of those linked. `bound` is
/// the function that a call reaches, `found` the one that the loaded library and the libraries
/// linked to it define under the name.
pub fn check(
    symbol: &str,
    bound: *const c_void,
    found: Option<*const c_void>,
) -> Result<(), CompileError> {
    let is_found = found.is_none_or(|found| found == bound);
    let Some(file) = holder(bound) else {
        return Ok(());
    };
    let name = Path::new(&file).file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let of_system = SYSTEM_LIBRARIES.iter().any(|start| name.starts_with(start));
    match (is_found, of_system) {
        (true, false) => Ok(()),
        (false, _) => Err(CompileError::Taken {
            symbol: symbol.to_string(),
            library: name.into_owned(),
        }),
        (true, true) => Err(CompileError::Undefined {
            symbol: symbol.to_string(),
        }),
    }
}
