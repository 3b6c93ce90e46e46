//! The sections of the runtime for kernels of OpenCL, read by a compiler of OpenCL C. Some words that C
//! does not know are types and qualifiers there (`half`, `kernel`).

use crate::compile::succeed;
use nova_runtime::{OPENCL_PRELUDE, Platform, names, select};
use std::path::Path;
use std::process::Command;

#[test]
fn all_that_kernels_may_use_is_opencl_c() {
    let text = select(Platform::OpenClKernels, names(Platform::OpenClKernels)).text;
    assert!(text.contains("nova_acos"));
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("all_kernels.cl");
    let extension = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable";
    std::fs::write(&source, format!("{extension}\n{OPENCL_PRELUDE}\n{text}")).expect("a file");
    for standard in ["CL1.2", "CL2.0", "CL3.0"] {
        let mut command = Command::new("clang");
        command
            .args(["-x", "cl", &format!("-cl-std={standard}"), "-fsyntax-only"])
            .args(["-Xclang", "-finclude-default-header", "-w"])
            .arg(&source);
        succeed(&mut command, standard);
    }
}
