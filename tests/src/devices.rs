//! The devices that tests run programs on. Where the environment names no compiler for CUDA
//! (`NOVA_NVCC`), the emulation runs programs for it, so that they always run.

use nova_exec::device_compiler::NVCC;
use std::path::Path;
use std::sync::Once;

/// True if there is a device of OpenCL. Prints a note once where there is none.
pub fn has_opencl() -> bool {
    static SAY: Once = Once::new();
    let present = nova_exec::devices::has_opencl();
    if !present {
        SAY.call_once(|| eprintln!("skipped: opencl (no OpenCL on this machine)"));
    }
    present
}

/// True if there is a device of CUDA, or its emulation. Prints a note once where there is none.
pub fn has_cuda() -> bool {
    static SAY: Once = Once::new();
    let emulated = Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda/emulated-nvcc");
    NVCC.prefer(emulated);
    let present = NVCC.has_device();
    if !present {
        SAY.call_once(|| eprintln!("skipped: cuda (no C++ compiler, or nvcc without a GPU)"));
    }
    present
}
