//! Where the foreign functions of a loaded program come from.
//!
//! A name that the C library defines as well means that one to the loader wherever a library is asked
//! for it. What a program loads is linked so that its own definitions are found first; a foreign
//! function of a shared library given with `--link`, or one that nobody defines, is looked at here
//! before anything is called.

use crate::error::CompileError;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;

/// The flag by which a shared library means its own definitions by its names, where linkers need one.
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

/// What `dladdr` says of an address.
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

/// The file that holds the code at an address.
#[cfg(unix)]
fn holder(address: *const c_void) -> Option<String> {
    let mut info = Info {
        file: std::ptr::null(),
        base: std::ptr::null_mut(),
        name: std::ptr::null(),
        address: std::ptr::null_mut(),
    };
    // SAFETY: the function only looks at the address, and fills what it is given.
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

/// Refuses a foreign function that is the system's, not one of those linked: `bound` is what a call
/// reaches, `found` what the loaded library and what is linked to it define under the name.
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
