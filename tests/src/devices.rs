//! The devices that tests run programs on. Where the environment names no compiler for CUDA
//! (`NOVA_NVCC`), the emulation runs programs for it, so that they always run.

use nova_driver::Target;
use nova_exec::device_compiler::{HIPCC, NVCC};
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

/// True if programs for a target can run here.
pub fn has(target: Target) -> bool {
    match target {
        Target::OpenCl => has_opencl(),
        Target::Cuda => has_cuda(),
        Target::Hip => has_hip(),
        Target::Sequential | Target::Pthreads | Target::Mpi => true,
    }
}

/// True if there is a device of HIP, or its emulation, which is that of CUDA.
pub fn has_hip() -> bool {
    let emulated = Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda/emulated-nvcc");
    HIPCC.prefer(emulated);
    HIPCC.has_device()
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
