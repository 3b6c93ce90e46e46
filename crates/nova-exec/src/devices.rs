//! Which devices this machine has that programs may run on.

use std::ffi::{c_int, c_uint, c_void};

/// `clGetPlatformIDs`.
type PlatformIds = unsafe extern "C" fn(c_uint, *mut c_void, *mut c_uint) -> c_int;

/// Whether there is an implementation of OpenCL.
pub fn has_opencl() -> bool {
    // SAFETY: the loader of OpenCL runs nothing of ours when it is loaded.
    let Ok(loader) = (unsafe { libloading::Library::new("libOpenCL.so.1") }) else {
        return false;
    };
    // SAFETY: the function has this type in every version of OpenCL.
    let Ok(platforms) = (unsafe { loader.get::<PlatformIds>(b"clGetPlatformIDs\0") }) else {
        return false;
    };
    let mut count = 0;
    // SAFETY: it writes nothing but the count.
    let code = unsafe { platforms(0, std::ptr::null_mut(), &mut count) };
    let found = code == 0 && count > 0;
    // Implementations may have started threads.
    std::mem::forget(loader);
    found
}
