//! Programs for HIP, by the emulation of CUDA: results are those of sequential C.

use nova_driver::Target;
use nova_tests::devices;
use nova_tests::programs::{Compiled, How, integers};

/// A map, a reduction, a scan with ordered regions, and a filter.
const PROGRAM: &str = "
(entry total ((v : vector int)) (reduce + 0 (map popcount v)))
(entry running ((v : vector int)) (scan + 0 v))
(entry kept ((v : vector int)) (filter (lambda (x) (> x 0)) v))
";

#[test]
fn results_are_those_of_sequential_code() {
    if !devices::has(Target::Hip) {
        eprintln!("skipped: hip (no C++ compiler, or hipcc without a GPU)");
        return;
    }
    let sequential = Compiled::new(PROGRAM, Target::Sequential, How::usual(false));
    let device = Compiled::new(PROGRAM, Target::Hip, How::usual(false));
    assert!(device.kernels() >= 3, "{}", device.source);
    assert!(device.source.contains("#include <hip/hip_runtime.h>"));
    assert!(!device.source.contains("#include <cuda_runtime.h>"));
    for length in [0, 1, 31, 1000, 20_000] {
        let inputs = [integers(length)];
        for entry in 0..3 {
            let expected = sequential.call(entry, &inputs).expect("a value in order");
            let value = device.call(entry, &inputs).expect("a value of the device");
            assert!(value.same(&expected), "entry {entry}, {length} elements");
        }
    }
}
