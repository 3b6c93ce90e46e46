//! The devices of this machine that programs may run on.

use std::ffi::{c_int, c_uint, c_ulong, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

/// `clGetPlatformIDs`.
type PlatformIds = unsafe extern "C" fn(c_uint, *mut *mut c_void, *mut c_uint) -> c_int;
/// `clGetDeviceIDs`.
type DeviceIds =
    unsafe extern "C" fn(*mut c_void, c_ulong, c_uint, *mut *mut c_void, *mut c_uint) -> c_int;

/// `CL_DEVICE_TYPE_ALL`.
const ALL: c_ulong = 0xffff_ffff;

/// True if there is a device of OpenCL.
///
/// Implementations prepare their devices when they are first asked, and some do not expect two
/// threads to ask at once. A caller that runs programs from several threads calls this first.
pub fn has_opencl() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| count_devices().is_some_and(|count| count > 0))
}

/// Counts the devices of OpenCL. Returns `None` without a loader.
fn count_devices() -> Option<c_uint> {
    // SAFETY: the loader of OpenCL runs no code of ours when it is loaded.
    let loader = unsafe { libloading::Library::new("libOpenCL.so.1") }.ok()?;
    let mut found = 0;
    // SAFETY: the functions have these types in every version of OpenCL. They write to the given
    // places, whose number they get.
    unsafe {
        let platforms = loader.get::<PlatformIds>(b"clGetPlatformIDs\0").ok()?;
        let devices = loader.get::<DeviceIds>(b"clGetDeviceIDs\0").ok()?;
        let mut ids = [null_mut(); 16];
        let mut count = 0;
        if platforms(ids.len() as c_uint, ids.as_mut_ptr(), &mut count) == 0 {
            for id in ids.iter().take(count as usize) {
                let mut own = 0;
                if devices(*id, ALL, 0, null_mut(), &mut own) == 0 {
                    found += own;
                }
            }
        }
    }
    // Implementations may have started threads.
    std::mem::forget(loader);
    Some(found)
}
