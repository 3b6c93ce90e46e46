//! Reductions of devices in lanes, and histograms in many parts: that neighbouring threads read neighbouring elements, that values are
//! those of sequential C to the bit whatever the length, that errors keep their places, and that what
//! depends on the order keeps it.

use nova_core::{ScalarValue, Value};
use nova_driver::{Checked, Compiler, Options, Source, Stage, Target};
use nova_exec::CallError;
use nova_exec::library::Library;
use nova_opt::divide::Division;
use nova_tests::devices;

/// Several blocks and kernels for short arrays: lanes of two elements or more, at most 64 blocks, and
/// at most 32 values for the host.
const SMALL: Division = Division {
    parts: 64,
    ..Division::SMALL
};

/// Lengths about those of warps, blocks, and of what two kernels and three take.
const LENGTHS: [usize; 18] = [
    0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000, 1023, 1025, 2047, 4099, 70001,
];

/// A program for one target, and what it was compiled to.
struct Compiled {
    target: Target,
    checked: Checked,
    library: Library,
    source: String,
}

impl Compiled {
    fn new(text: &str, target: Target, strict: bool, division: Option<Division>) -> Compiled {
        let compiler = Compiler::new(Options {
            target,
            strict,
            division,
            verify: true,
            ..Options::default()
        });
        let source = Source::text("lanes.nova", text);
        let mut checked = compiler.check(source).expect("a program");
        let generated = compiler.compile(&mut checked).expect("its code");
        let library = compiler.load(&mut checked, &[]).expect("its library");
        Compiled {
            target,
            checked,
            library,
            source: generated.files.source,
        }
    }

    /// What an entry gives for inputs that are written as text.
    fn call(&self, entry: usize, inputs: &[&str]) -> Result<Value, CallError> {
        let values = nova_tests::inputs::read(&self.checked.program, entry, inputs);
        self.library.call(entry, &values)
    }
}

/// The targets whose devices, or emulations of these, there are.
fn targets() -> Vec<Target> {
    let opencl = devices::has_opencl().then_some(Target::OpenCl);
    let cuda = devices::has_cuda().then_some(Target::Cuda);
    opencl.into_iter().chain(cuda).collect()
}

/// A program for each device.
fn on_devices(text: &str, strict: bool, division: Option<Division>) -> Vec<Compiled> {
    let compile = |target| Compiled::new(text, target, strict, division);
    targets().into_iter().map(compile).collect()
}

/// Compares what each entry of a program gives on devices with what it gives in sequential C.
#[track_caller]
fn compare(text: &str, strict: bool, division: Division, inputs: &[String]) {
    let sequential = Compiled::new(text, Target::Sequential, strict, None);
    let entries = sequential.checked.program.entries.len();
    for device in on_devices(text, strict, Some(division)) {
        for entry in 0..entries {
            for input in inputs {
                let count = sequential.checked.program.entries[entry].inputs.len();
                let all = vec![input.as_str(); count];
                let expected = sequential.call(entry, &all).expect("a value in order");
                let value = device.call(entry, &all).expect("a value of lanes");
                let length = input.split_whitespace().count();
                assert!(
                    value.same(&expected),
                    "{:?}, entry {entry}, {length} elements: {value:?}, not {expected:?}",
                    device.target
                );
            }
        }
    }
}

fn list(numbers: impl Iterator<Item = String>) -> String {
    format!("[{}]", numbers.collect::<Vec<_>>().join(" "))
}

/// Integers of either sign, as far from each other as possible.
fn integers(length: usize) -> String {
    let number = |k: usize| ((k as u32).wrapping_mul(2_654_435_761) as i32).to_string();
    list((0..length).map(number))
}

/// Whether a program in Loop for a device reads `X` in a grid of lanes, in steps of as many elements.
fn has_steps(text: &str, target: Target, strict: bool) -> bool {
    let compiler = Compiler::new(Options {
        target,
        strict,
        verify: true,
        ..Options::default()
    });
    let mut checked = compiler
        .check(Source::text("lanes.nova", text))
        .expect("a program");
    let code = compiler.emit(&mut checked, Stage::Loop).expect("its loops");
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
        compare(text, strict, SMALL, &inputs);
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
    compare(text, true, SMALL, &inputs);
}

#[test]
fn histograms_of_many_parts_are_combined_in_two_steps() {
    let many = Division {
        parts: Division::KERNELS.parts,
        ..Division::SMALL
    };
    let text = "
        (entry counts ((X : vector int))
            (histogram + 2 3 (map (lambda (x) (% (& x 65535) 3)) X) (map (lambda (x) 1) X)))
        (entry most ((X : vector int)) (histogram max -9 5 (map (lambda (x) (% (& x 4095) 5)) X) X))
        (entry pairs ((X : vector int))
            (histogram (lambda ((a, b) (c, d)) ((+ a c), (min b d))) (0, 7) 2
                (map (& 1) X) (map (lambda (x) (x, (* x 3))) X)))
        (entry outside ((X : vector int)) (histogram + 0 4 (map (lambda (x) (% x 6)) X) X))";
    let inputs = [0, 1, 33, 1025, 4099, 70001].map(integers);
    compare(text, false, many, &inputs);
    let compiler = Compiler::new(Options {
        target: Target::OpenCl,
        ..Options::default()
    });
    let text = "((X : vector int)) (histogram + 0 256 X X)";
    let source = Source::text("lanes.nova", text);
    let mut checked = compiler.check(source).expect("a program");
    let code = compiler.emit(&mut checked, Stage::Loop).expect("its loops");
    // A thread for each bin of a group of parts.
    let is_of_group = |line: &str| line.contains("(for thread_") && line.contains(" grid ");
    assert!(code.lines().any(is_of_group), "{code}");
    assert!(code.contains("(rem i64 thread_"), "{code}");
}

#[test]
fn one_kernel_reduces_what_another_leaves() {
    // Of the usual size: of the largest number the first kernel leaves more than 100000 values, the
    // second less than 4096, the third 128.
    let text = "((n : int64)) (reduce + 0i64 (map (lambda (k) (% (* k k) 1009)) (range n)))";
    let sequential = Compiled::new(text, Target::Sequential, false, None);
    for device in on_devices(text, false, None) {
        for n in ["100", "5000", "100000", "1500001"] {
            let expected = sequential.call(0, &[n]).expect("a value in order");
            let value = device.call(0, &[n]).expect("a value of lanes");
            assert!(value.same(&expected), "{:?}, {n}", device.target);
        }
        let kernels = match device.target {
            Target::OpenCl => device.source.matches("__kernel ").count(),
            _ => device.source.matches("__global__ ").count(),
        };
        assert_eq!(kernels, 3, "{}", device.source);
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
        // The tree of the strict order; an operator without a value that changes nothing.
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
    compare(text, true, SMALL, &inputs);
    // In any order where they may: whole numbers that a float holds.
    let exact = |n: usize| list((0..n).map(|k| format!("{}.0", k % 17)));
    let inputs: Vec<String> = LENGTHS[..17].iter().map(|n| exact(*n)).collect();
    compare(
        "((X : vector float)) (reduce + 1.0 X)",
        false,
        SMALL,
        &inputs,
    );
}

#[test]
fn errors_in_lanes_have_their_places() {
    let text = "
        (entry quotients ((X : vector int)) (reduce + 0 (map (lambda (x) (/ 100 x)) X)))
        (entry gathered ((X : vector int)) (reduce max 0 (map (lambda (x) (X ! x)) X)))
        (entry narrowed ((X : vector int)) (reduce + 0u8 (map to_uint8 X)))";
    let ones = |n: usize, at: usize, what: i64| {
        let number = |k: usize| {
            if k == at {
                what.to_string()
            } else {
                "1".to_string()
            }
        };
        list((0..n).map(number))
    };
    let failure =
        |program: &Compiled, entry: usize, input: &str| match program.call(entry, &[input]) {
            Err(CallError::Failed { code: 1, message }) => message,
            other => panic!("{:?}: {other:?}", program.target),
        };
    let sequential = Compiled::new(text, Target::Sequential, true, None);
    for device in on_devices(text, true, Some(SMALL)) {
        for (n, at) in [(5, 4), (64, 63), (200, 77), (5000, 4999)] {
            for (entry, wrong) in [0, -3, 300].into_iter().enumerate() {
                let input = ones(n, at, wrong);
                let message = failure(&device, entry, &input);
                assert_eq!(message, failure(&sequential, entry, &input));
                let place = format!("lanes.nova:{}:", entry + 2);
                assert!(message.starts_with(&place), "{message}");
            }
            // The next call works.
            let sum = device.call(0, &[&ones(n, at, 1)]).expect("a value");
            let expected = Value::Scalar(ScalarValue::I32(100 * n as i32));
            assert!(sum.same(&expected), "{sum:?}");
        }
    }
}

#[test]
fn the_report_names_the_schedule() {
    let report = |text: &str, strict: bool| {
        let compiler = Compiler::new(Options {
            target: Target::Cuda,
            strict,
            ..Options::default()
        });
        let source = Source::text("lanes.nova", text);
        let mut checked = compiler.check(source).expect("a program");
        compiler.explain(&mut checked).expect("a report")
    };
    let lanes = "from 128 rounds on, as a kernel in blocks of 32 lanes: neighbouring threads take \
                 neighbouring rounds, each 64 or more in steps of 32; a round counts as 1 operation";
    let combined = "what the lanes give is reduced: by a kernel in lanes as long as it is more \
                    than 1024 values, then by the host";
    let sum = "((X : vector float)) (reduce + 0 X)";
    let free = report(sum, false);
    assert!(free.contains(lanes) && free.contains(combined), "{free}");
    let strict = report(sum, true);
    assert!(!strict.contains(" of 32 lanes"), "{strict}");
    assert!(strict.contains("subtrees of the strict order"), "{strict}");
}
