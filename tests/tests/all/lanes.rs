//! Tests of reductions of devices in lanes, and histograms in many chunks. Neighbouring threads
//! read neighbouring elements. Values are those of sequential C to the bit whatever the length,
//! errors keep their places, and code that depends on the order keeps it.

use nova_core::{ScalarValue, Value};
use nova_driver::{Stage, Target};
use nova_schedule::Parallelism;
use nova_tests::programs::{
    Compiled, How, compare, emit, integers, list, on_devices, ones_but, report,
};

/// Options that give several blocks and kernels for short arrays: lanes of two elements or more, at
/// most 64 blocks, and at most 32 values for the host.
const SMALL: Parallelism = Parallelism {
    chunks: 64,
    ..Parallelism::SMALL
};

/// Returns options with parallelisation of short arrays.
fn small(strict: bool) -> How {
    How {
        strict,
        parallelism: Some(SMALL),
    }
}

/// Lengths near those of warps, blocks, and of arrays that need two and three kernels.
const LENGTHS: [usize; 18] = [
    0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000, 1023, 1025, 2047, 4099, 70001,
];

/// True if a program in Loop for a device reads `X` in a grid of lanes, with a stride of the number
/// of lanes.
fn has_steps(text: &str, target: Target, strict: bool) -> bool {
    let code = emit(text, target, How::usual(strict), Stage::Loop);
    let lane = code.contains("(for thread_") && code.contains("(and i64 thread_");
    let reads = |line: &str| line.contains("(load X_data_") && line.contains(" 32)))");
    assert_eq!(lane, code.lines().any(reads), "{code}");
    lane
}

#[test]
fn integers_are_those_of_sequential_code() {
    let text = "
        (entry sum ((X : vector int)) (reduce + 5 X))
        (entry product ((X : vector int)) (reduce * 3 (map (| 1) X)))
        (entry least ((X : vector int)) (reduce min 7 X))
        (entry most ((X : vector int)) (reduce max -2000000000 X))
        (entry all_bits ((X : vector int)) (reduce & -1 (map (| 5) X)))
        (entry some_bits ((X : vector int)) (reduce | 0 (map (& 64) X)))
        (entry parity ((X : vector int)) (reduce ^ 12345 X))
        (entry bytes ((X : vector int)) (reduce + 200u8 (map wrap_uint8 X)))
        (entry wide ((X : vector int)) (reduce + 1i64 (map to_int64 X)))
        (entry products ((X : vector int) (Y : vector int)) (reduce + 0 (map * X Y)))
        (entry pairs ((X : vector int))
            (reduce (lambda ((a, b) (c, d)) ((+ a c), (max b d))) (1, -2000000000)
                (map (lambda (x) ((* x x), (^ x 77))) X)))
        (entry several ((X : vector int)) ((reduce + 1 X), (reduce min 9 (map (* 3) X))))
        (entry kept ((X : vector int)) (reduce + 0 (filter (< 3) X)))
        (entry rows ((X : vector int)) (map (lambda (k) (reduce + k X)) (range 3)))";
    let inputs: Vec<String> = LENGTHS.iter().map(|n| integers(*n)).collect();
    for strict in [false, true] {
        compare(text, small(strict), &inputs);
    }
}

#[test]
fn minima_and_maxima_of_floats_are_exact() {
    let text = "
        (entry least ((X : vector float)) (reduce min 1.0e30 X))
        (entry most ((X : vector double)) (reduce max -7.0 X))
        (entry least_or_nan ((X : vector double)) (reduce min (/ 0.0L 0.0L) X))";
    let number = |k: usize| match k % 7 {
        3 => "nan".to_string(),
        _ => format!("{}.25", (k * 7919) % 1009),
    };
    let floats = |n: usize| list((0..n).map(number));
    let mut inputs: Vec<String> = LENGTHS.iter().map(|n| floats(*n)).collect();
    inputs.push(list((0..300).map(|_| "nan".to_string())));
    compare(text, small(true), &inputs);
}

#[test]
fn histograms_of_many_chunks_are_combined_in_two_steps() {
    let many = How {
        strict: false,
        parallelism: Some(Parallelism {
            chunks: Parallelism::KERNELS.chunks,
            ..Parallelism::SMALL
        }),
    };
    let text = "
        (entry counts ((X : vector int))
            (histogram + 2 3 (map (lambda (x) (% (& x 65535) 3)) X) (map (lambda (x) 1) X)))
        (entry most ((X : vector int)) (histogram max -9 5 (map (lambda (x) (% (& x 4095) 5)) X) X))
        (entry pairs ((X : vector int))
            (histogram (lambda ((a, b) (c, d)) ((+ a c), (min b d))) (0, 7) 2
                (map (& 1) X) (map (lambda (x) (x, (* x 3))) X)))
        (entry outside ((X : vector int)) (histogram + 0 4 (map (lambda (x) (% x 6)) X) X))
        (entry checked ((X : vector int))
            (histogram + 2 3 (map (lambda (x) (+ 1 (% 7 (| 1 x)))) X) (map (& 15) X)))";
    let inputs = [0, 1, 33, 1025, 4099, 70001].map(integers);
    compare(text, many, &inputs);
    let text = "((X : vector int)) (histogram + 0 256 X X)";
    let code = emit(text, Target::OpenCl, How::usual(false), Stage::Loop);
    // A thread for each bin of some neighbouring groups or chunks.
    let is_of_group = |line: &str| line.contains("(for thread_") && line.contains(" grid ");
    assert!(code.lines().any(is_of_group), "{code}");
    assert!(code.contains("(rem i64 thread_"), "{code}");
}

#[test]
fn one_kernel_reduces_what_another_leaves() {
    // With the default sizes, the first kernel leaves more than 100000 values of the largest
    // number, the second less than 4096, and the third 128.
    let text = "((n : int64)) (reduce + 0i64 (map (lambda (k) (% (* k k) 1009)) (range n)))";
    let sequential = Compiled::new(text, Target::Sequential, How::usual(false));
    for device in on_devices(text, How::usual(false)) {
        for n in ["100", "5000", "100000", "1500001"] {
            let expected = sequential.call(0, &[n]).expect("a value in order");
            let value = device.call(0, &[n]).expect("a value of lanes");
            assert!(value.same(&expected), "{:?}, {n}", device.target);
        }
        assert_eq!(device.kernels(), 2, "{}", device.source);
    }
}

#[test]
fn threads_take_neighbouring_elements_where_no_order_matters() {
    let sum = |ty: &str, operator: &str| format!("((X : vector {ty})) (reduce {operator} 0 X)");
    for target in [Target::OpenCl, Target::Cuda] {
        let steps = |text: &str, strict: bool| has_steps(text, target, strict);
        assert!(steps(&sum("int", "+"), true));
        assert!(steps(&sum("float", "max"), true));
        assert!(steps(&sum("float", "+"), false));
        // The tree of the strict order, and an operator without a neutral value.
        assert!(!steps(&sum("float", "+"), true));
        assert!(!steps(&sum("int", "(lambda (a b) (+ (* a b) 1))"), false));
    }
    for target in [Target::Sequential, Target::Pthreads] {
        assert!(!has_steps(&sum("int", "+"), target, false));
    }
}

#[test]
fn strict_sums_keep_their_order() {
    let text = "
        (entry sum ((X : vector float)) (reduce + 0.5 X))
        (entry squares ((X : vector double)) (reduce + 0.1 (map (lambda (x) (* x x)) X)))
        (entry mixed ((X : vector float)) ((reduce + 0.0 X), (reduce max 0.0 X)))";
    let number = |k: usize| format!("{}.{}e{}", k % 13, (k * 7919) % 1009, (k * 31) % 9);
    let floats = |n: usize| list((0..n).map(number));
    let inputs: Vec<String> = LENGTHS.iter().map(|n| floats(*n)).collect();
    compare(text, small(true), &inputs);
    // Whole numbers that a float holds may be added in any order.
    let exact = |n: usize| list((0..n).map(|k| format!("{}.0", k % 17)));
    let inputs: Vec<String> = LENGTHS[..17].iter().map(|n| exact(*n)).collect();
    let sum = "((X : vector float)) (reduce + 1.0 X)";
    compare(sum, small(false), &inputs);
}

#[test]
fn errors_in_lanes_have_their_places() {
    let text = "
        (entry quotients ((X : vector int)) (reduce + 0 (map (lambda (x) (/ 100 x)) X)))
        (entry gathered ((X : vector int)) (reduce max 0 (map (lambda (x) (X ! x)) X)))
        (entry narrowed ((X : vector int)) (reduce + 0u8 (map to_uint8 X)))";
    let sequential = Compiled::new(text, Target::Sequential, How::usual(true));
    for device in on_devices(text, small(true)) {
        for (n, at) in [(5, 4), (64, 63), (200, 77), (5000, 4999)] {
            for (entry, wrong) in [0, -3, 300].into_iter().enumerate() {
                let input = ones_but(n, at, wrong);
                let message = device.failure(entry, &[&input]);
                assert_eq!(message, sequential.failure(entry, &[&input]));
                let place = format!("program.nova:{}:", entry + 2);
                assert!(message.starts_with(&place), "{message}");
            }
            // The next call works.
            let sum = device.call(0, &[&ones_but(n, at, 1)]).expect("a value");
            let expected = Value::Scalar(ScalarValue::I32(100 * n as i32));
            assert!(sum.same(&expected), "{sum:?}");
        }
    }
}

#[test]
fn the_report_names_the_schedule() {
    let report = |text, strict| report(text, Target::Cuda, How::usual(strict));
    let lanes = "from 128 iterations on, as a kernel in blocks of 32 lanes: neighbouring threads take \
                 neighbouring iterations, each 64 or more in steps of 32; an iteration counts as 1 operation";
    let combined = "the results of the lanes are reduced: by a kernel in lanes as long as there are more \
                    than 1024 values, then by the host";
    let sum = "((X : vector float)) (reduce + 0 X)";
    let free = report(sum, false);
    assert!(free.contains(lanes) && free.contains(combined), "{free}");
    let strict = report(sum, true);
    assert!(!strict.contains(" of 32 lanes"), "{strict}");
    assert!(strict.contains("subtrees of the strict order"), "{strict}");
}
