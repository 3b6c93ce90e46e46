//! Tests of histograms of devices whose bins lie in local memory. Values are those of sequential C
//! to the bit however many bins and elements there are, and errors keep their places. Bins that do
//! not fit there are computed in chunks.

use nova_core::text::read_value;
use nova_driver::{Stage, Target};
use nova_schedule::Parallelism;
use nova_tests::passes::Passes;
use nova_tests::programs::{
    self, Compiled, How, compare, emit, integers, list, on_devices, ones_but,
};
use nova_tests::stages::{self, Stages, disagreement};

/// Returns options with groups of few elements for short arrays.
fn small(strict: bool) -> How {
    How {
        strict,
        parallelism: Some(Parallelism {
            chunks: 64,
            ..Parallelism::SMALL
        }),
    }
}

/// True if the groups of a program for a device have privatised bins in local memory.
fn is_local(text: &str, target: Target, strict: bool) -> bool {
    let code = emit(text, target, How::usual(strict), Stage::Loop);
    let has_groups = code.lines().any(|line| line.contains("(for group_"));
    let has_bins = code.contains("(shared ");
    assert_eq!(has_groups, has_bins, "{code}");
    has_groups
}

/// True if its bins may be in the device's memory, with a chunk of the elements for each thread.
fn has_chunks(text: &str, target: Target) -> bool {
    let code = emit(text, target, How::usual(false), Stage::Loop);
    let of_chunks = |line: &str| line.contains("(for chunk_") && line.contains(" grid ");
    code.lines().any(of_chunks)
}

#[test]
fn integers_are_those_of_sequential_code() {
    let text = "
        (entry counts ((X : vector int))
            (histogram + 2 3 (map (lambda (x) (% (& x 65535) 3)) X) (map (lambda (x) 1) X)))
        (entry one ((X : vector int)) (histogram + 5 1 (map (& 1) X) X))
        (entry most ((X : vector int)) (histogram max -9 5 (map (lambda (x) (% (& x 4095) 5)) X) X))
        (entry outside ((X : vector int)) (histogram + 0 4 (map (lambda (x) (% x 6)) X) X))
        (entry wide ((X : vector int))
            (histogram min 7i64 8 (map (lambda (x) (- (& x 15) 4)) X) (map to_int64 X)))
        (entry bytes ((X : vector int))
            (histogram ^ 200u8 7 (map (& 7) X) (map wrap_uint8 X)))
        (entry bits ((X : vector int)) (histogram | 64 6 (map (& 7) X) (map (& 9) X)))
        (entry pairs ((X : vector int))
            (histogram (lambda ((a, b) (c, d)) ((+ a c), (min b d))) (3, 7i64) 2
                (map (& 1) X) (map (lambda (x) (x, (* 3i64 (to_int64 x)))) X)))";
    let inputs = [0, 1, 63, 64, 65, 1025, 9001].map(integers);
    compare(text, small(false), &inputs);
}

#[test]
fn there_may_be_many_bins_or_none() {
    // Numbers of bins that are known to fit, that do not fit, and that are inputs.
    let places = "(map (lambda (x) (- (& (>> x 7) 511) 3)) X)";
    let entry = |bins: usize| {
        format!("(entry bins_{bins} ((X : vector int)) (histogram + 1 {bins} {places} X))")
    };
    let known = [0, 255, 496].map(entry).join("\n");
    let inputs = [integers(0), integers(20_001)];
    compare(&known, small(false), &inputs);
    let text = format!("((n : int64) (X : vector int)) (histogram + 1 n {places} X)");
    let sequential = Compiled::new(&text, Target::Sequential, How::usual(false));
    for device in on_devices(&text, small(false)) {
        for bins in ["0", "1", "16", "31", "32", "256", "495", "496", "3000"] {
            for input in &inputs {
                let expected = sequential.call(0, &[bins, input]).expect("bins in order");
                let value = device.call(0, &[bins, input]).expect("bins of the device");
                assert!(value.same(&expected), "{:?}, {bins} bins", device.target);
            }
        }
    }
}

#[test]
fn floats_are_added_in_groups_where_any_order_will_do() {
    // Whole numbers, for which each order gives the same sum.
    let text = "
        (entry sums ((X : vector float))
            (histogram + 0.5 3 (map (lambda (x) (if (< x 300.0) 0 2)) X) X))
        (entry both ((X : vector double))
            (histogram (lambda ((a, b) (c, d)) ((+ a c), (max b d))) (0.0L, -1.0L) 4
                (map (lambda (x) (if (< x 300.0L) 1 4)) X) (map (lambda (x) (x, (- 3.0L x))) X)))
        (entry least ((X : vector float))
            (histogram min 1.0e30 3 (map (lambda (x) (if (> x 500.0) 0 1)) X) (map (* 0.1) X)))";
    let floats = |n: usize| list((0..n).map(|k| format!("{}.0", (k * 7919) % 1009)));
    for strict in [false, true] {
        compare(text, small(strict), &[0, 100, 3001].map(floats));
    }
    let sums = |ty: &str, operator: &str| {
        format!("((X : vector {ty}) (I : vector int)) (histogram {operator} 0 256 I X)")
    };
    for target in [Target::OpenCl, Target::Cuda] {
        assert!(is_local(&sums("int", "+"), target, true));
        assert!(is_local(&sums("float", "min"), target, true));
        assert!(is_local(&sums("float", "+"), target, false));
        assert!(!is_local(&sums("float", "+"), target, true));
    }
    for target in [Target::Sequential, Target::Pthreads] {
        assert!(!is_local(&sums("int", "+"), target, false));
    }
}

#[test]
fn minima_of_nans_are_those_of_sequential_code() {
    let text = "
        (entry least ((X : vector double)) (histogram min 1.0e30L 3 (map (lambda (x) 1) X) X))
        (entry least_or_nan ((X : vector double))
            (histogram min (/ 0.0L 0.0L) 2 (map (lambda (x) 1) X) X))";
    let number = |k: usize| match k % 3 {
        1 => "nan".to_string(),
        _ => format!("{}.25", (k * 7919) % 1009),
    };
    let inputs = [
        list((0..700).map(number)),
        list((0..700).map(|_| "nan".to_string())),
    ];
    compare(text, small(true), &inputs);
}

#[test]
fn bodies_may_fail() {
    let text = "((X : vector int) (Y : vector int)) (histogram + 0 5 (map (% 7) X) (map (/ 12) Y))";
    for target in [Target::OpenCl, Target::Cuda] {
        assert!(is_local(text, target, false));
    }
    let sequential = Compiled::new(text, Target::Sequential, How::usual(false));
    let ones = list((0..3000).map(|_| "1".to_string()));
    for device in on_devices(text, small(false)) {
        for at in [0, 2999] {
            let input = [ones_but(3000, at, 0), ones.clone()];
            let swapped = [ones.clone(), ones_but(3000, at, 0)];
            for input in [input, swapped] {
                assert_eq!(device.failure(0, &input), sequential.failure(0, &input));
            }
        }
        let whole = [ones.clone(), ones.clone()];
        let value = device.call(0, &whole).expect("a value");
        assert!(value.same(&sequential.call(0, &whole).expect("a value")));
    }
}

#[test]
fn bins_are_local_where_they_fit() {
    let bins = |bins: &str, ty: &str| {
        format!("((n : int64) (I : vector int) (X : vector {ty})) (histogram + 0 {bins} I X)")
    };
    for target in [Target::OpenCl, Target::Cuda] {
        for (number, ty, fit) in [
            ("256", "int", true),
            ("495", "int", true),
            ("496", "int", false),
            ("247", "int64", true),
            ("248", "int64", false),
            ("1983", "uint8", true),
            ("1984", "uint8", false),
        ] {
            let text = bins(number, ty);
            assert_eq!(is_local(&text, target, false), fit, "{text}");
            assert_eq!(has_chunks(&text, target), !fit, "{text}");
        }
        let text = bins("n", "int");
        assert!(is_local(&text, target, false) && has_chunks(&text, target));
    }
    // Threads write to their bins, and nothing is copied.
    let text = bins("256", "int");
    let code = emit(&text, Target::Cuda, How::usual(false), Stage::Loop);
    assert_eq!(code.matches("(shared ").count(), 1, "{code}");
    assert_eq!(code.matches("(local ").count(), 0, "{code}");
}

#[test]
fn the_report_says_where_bins_are() {
    let report = |text: &str, target: Target| programs::report(text, target, How::usual(false));
    let local = "each thread of a work-group has bins of its own in local memory";
    let chunks = "one set of bins for each chunk";
    let text = |bins: &str| {
        format!("((n : int64) (I : vector int) (X : vector int)) (histogram + 0 {bins} I X)")
    };
    for (bins, is_local, has_chunks) in [
        ("256", true, false),
        ("n", true, true),
        ("496", false, true),
    ] {
        let report = report(&text(bins), Target::Cuda);
        assert_eq!(report.contains(local), is_local, "{report}");
        assert_eq!(report.contains(chunks), has_chunks, "{report}");
    }
    let threads = report(&text("256"), Target::Pthreads);
    assert!(!threads.contains(local), "{threads}");
}

/// The error of a histogram whose operator fails in two bins, with other numbers in each.
#[test]
fn errors_come_in_one_order_at_every_stage() {
    let programs = [
        // Values that hold vectors: in the order of bins.
        "(histogram (lambda (a b) (as_scalar (as_vector 2 (concat a b)))) ([] : vector int) 3 I
            (map (lambda (n) (range n)) X))",
        "(map (lambda (v, _) v) (histogram (lambda ((a, p) (b, q)) ((as_scalar (as_vector 2 b)), (+ p q)))
            (([] : vector int), 0) 3 I (map (lambda (n) ((range n), n)) X)))",
        // Scalars: in the order of elements.
        "(histogram (lambda (a b) (+ a ([1 2 3] ! b))) 0 3 I X)",
    ];
    let inputs = ["[2 0 2 1]", "[0 1 2 0]", "[1 1 0 0]", "[5 1 0 1]"];
    for program in programs {
        let text = format!("(entry e ((I : vector int) (X : vector int)) {program})");
        for passes in [Passes::All, Passes::Level(0)] {
            let stages = Stages::compile("histograms", &text, stages::How::strict(passes)).unwrap();
            let sums = &stages.flat.sums;
            let (_, ty) = &stages.flat.entries[0].inputs[0];
            for places in inputs {
                for numbers in ["[5 7 3 9]", "[4 5 2 3]", "[2 4 6 8]"] {
                    let inputs = [places, numbers].map(|t| read_value(t, ty, sums).unwrap());
                    let outcomes = stages.evaluate(0, &inputs);
                    assert_eq!(
                        disagreement(&outcomes),
                        None,
                        "{text} of {places} {numbers}"
                    );
                }
            }
        }
    }
}
