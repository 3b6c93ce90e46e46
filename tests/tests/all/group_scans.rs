//! Tests of scans and filters of devices in tiles. Work-groups hold tiles in local memory. Values
//! are those of sequential C to the bit whatever the length, errors keep their places, and code
//! that depends on the order keeps it.

use nova_driver::Target;
use nova_tests::programs::{self, Compiled, How, compare, integers, list, on_devices, ones_but};

/// Lengths near those of tiles, whose indices are 2304 for one value of 4 bytes, 1280 for 8 bytes,
/// 768 for 12 bytes, 256 for 16 bytes, and 1792 for filters of 4 bytes.
const LENGTHS: [usize; 23] = [
    0, 1, 2, 63, 64, 255, 256, 257, 767, 768, 769, 1279, 1280, 1281, 1791, 1793, 2303, 2304, 2305,
    3841, 4608, 4609, 30011,
];

/// Returns the report of the compiler on a program.
fn report(text: &str, strict: bool) -> String {
    programs::report(text, Target::OpenCl, How::usual(strict))
}

/// The words of the report for tiles.
const IN_TILES: &str = "as kernels of work-groups: each takes a tile of";

#[test]
fn running_results_are_those_of_sequential_code() {
    let text = "
        (entry sums ((X : vector int)) (scan + 5 (map (lambda (x) (* x x)) X)))
        (entry before ((X : vector int)) (exscan ^ 12345 X))
        (entry least ((X : vector int)) (scan min 2000000000 X))
        (entry bytes ((X : vector int)) (scan * 200u8 (map (lambda (x) (wrap_uint8 (| 1 x))) X)))
        (entry wide ((X : vector int)) (exscan + 1i64 (map to_int64 X)))
        (entry triples ((X : vector int))
            (scan (lambda ((a, b, c) (d, e, f)) ((+ a d), (max b e), (^ c f))) (1, 2, 3)
                (map (lambda (x) ((* x 3), (^ x 77), (| x 1))) X)))
        (entry pairs ((X : vector int))
            (scan (lambda ((a, b) (c, d)) ((+ a c), (max b d))) (1i64, -2000000000i64)
                (map (lambda (x) ((to_int64 (* x 3)), (to_int64 (^ x 77)))) X)))";
    assert_eq!(report(text, true).matches(IN_TILES).count(), 7);
    let inputs: Vec<String> = LENGTHS.iter().map(|n| integers(*n)).collect();
    compare(text, How::usual(true), &inputs);
}

#[test]
fn other_results_are_made_beside_scans() {
    let text = "
        (entry both ((X : vector int))
            (let (Y (map (lambda (x) (^ x 77)) X)) in (Y, (scan + 3 Y))))
        (entry several ((X : vector int)) ((scan + 1 X), (exscan max 9 (map (* 3) X))))
        (entry rows ((X : vector int)) (map (lambda (k) (scan + k X)) (range 3)))
        (entry gathered ((X : vector int))
            (let (n (length X)) (Y (map (lambda (x) (/ x 25)) X))
             in (scan + 0 (map (lambda (i) (if (= i 0) then 1 else (- (Y ! i) (Y ! (- i 1)))))
                              (range n)))))
        (entry mapped ((X : vector int))
            (map (lambda (y x) (+ (* 3 y) x)) (scan + 1 (map (^ 5) X)) X))
        (entry later ((X : vector int)) (map (* 3) (exscan max 1 X)))
        (entry again ((X : vector int)) (scan max 0 (map (* 3) (scan + 1 X))))
        (entry chosen ((X : vector int))
            (scan + 0 (map (lambda (x) (if (< x 0) then (/ x 3) else (% x 1000))) X)))";
    assert!(report(text, false).matches(IN_TILES).count() >= 6);
    let inputs: Vec<String> = LENGTHS.iter().map(|n| integers(*n)).collect();
    compare(text, How::usual(false), &inputs);
}

#[test]
fn floats_keep_their_order_where_it_is_strict() {
    let text = "
        (entry sums ((X : vector float)) (scan + 0.5 X))
        (entry least ((X : vector float)) (scan min 1.0e30 X))
        (entry most ((X : vector double)) (exscan max -7.0 X))";
    let number = |k: usize| match k % 7 {
        3 => "nan".to_string(),
        _ => format!("{}.25", (k * 7919) % 1009),
    };
    let mut inputs: Vec<String> = LENGTHS.iter().map(|n| list((0..*n).map(number))).collect();
    inputs.push(list((0..5000).map(|_| "nan".to_string())));
    compare(text, How::usual(true), &inputs);
    assert_eq!(report(text, true).matches(IN_TILES).count(), 2);
    // Whole numbers that a float holds may be added in any order.
    let exact = |n: usize| list((0..n).map(|k| format!("{}.0", k % 17)));
    let inputs: Vec<String> = LENGTHS.iter().map(|n| exact(*n)).collect();
    let sums = "((X : vector float)) (scan + 1.0 X)";
    compare(sums, How::usual(false), &inputs);
}

#[test]
fn what_many_tiles_reduce_to_is_scanned_in_tiles() {
    // 256 tiles of 256 indices. One more tile uses another kernel.
    let text = "((n : int) (k : int))
        (let (Y (scan (lambda ((a, b) (c, d)) ((+ a c), (^ b d))) (1i64, 2i64)
                 (map (lambda (i) ((to_int64 i), (to_int64 (* i 7919)))) (range n))))
         in (Y ! k))";
    let sequential = Compiled::new(text, Target::Sequential, How::usual(false));
    for device in on_devices(text, How::usual(false)) {
        for n in [255, 256, 257, 65_535, 65_536, 65_537, 200_001] {
            for k in [0, n / 2, n - 1] {
                let inputs = [n.to_string(), k.to_string()];
                let inputs = [inputs[0].as_str(), inputs[1].as_str()];
                let expected = sequential.call(0, &inputs).expect("a value in order");
                let value = device.call(0, &inputs).expect("a value of groups");
                assert!(value.same(&expected), "{:?}, {n}, {k}", device.target);
            }
        }
    }
}

#[test]
fn filters_have_the_survivors_of_sequential_code() {
    let text = "
        (entry some ((X : vector int)) (filter (> 3) X))
        (entry all ((X : vector int)) (filter (lambda (x) (= x x)) X))
        (entry none ((X : vector int)) (filter (lambda (x) (~= x x)) X))
        (entry few ((X : vector int)) (filter (lambda (x) (= 0 (% x 97))) (map (* 3) X)))
        (entry both ((X : vector int))
            (filter (lambda ((a, b)) (< a 7)) (map (lambda (x) ((& x 15), (to_int64 x))) X)))
        (entry rows ((X : vector int)) (map (lambda (k) (filter (< k) X)) (range 3)))
        (entry counted ((X : vector int)) (length (filter (> 3) X)))
        (entry scanned ((X : vector int)) (scan + 1 (filter (> 3) X)))";
    assert!(report(text, true).matches(IN_TILES).count() >= 6);
    let inputs: Vec<String> = LENGTHS.iter().map(|n| integers(*n)).collect();
    compare(text, How::usual(true), &inputs);
}

#[test]
fn groups_keep_tiles_in_memory_of_their_own() {
    // The order of floats is free here, and their sums would depend on it, so there are three
    // steps.
    let text = "((X : vector float)) (scan + 0 X)";
    for device in on_devices(text, How::usual(false)) {
        let shared = match device.target {
            Target::OpenCl => "__local float *",
            Target::Cuda | Target::Hip => "= (float *)(shared",
            Target::Sequential | Target::Pthreads | Target::Mpi => panic!("no device"),
        };
        // Two kernels for tiles, and one and two for their reduction. Each reads into the group's
        // memory, combines values twice, and then has one thread write, or writes starts, scans and
        // a tile.
        assert_eq!(device.kernels(), 5, "{}", device.source);
        assert_eq!(device.count("NOVA_GROUP_LOOP("), 5 + 1);
        assert_eq!(device.count("NOVA_LOCAL_LOOP("), 2 * 4 + 3 * 6 + 1);
        assert_eq!(device.count(shared), 2 * 3 + 3 * 5, "{}", device.source);
        assert_eq!(device.count("NOVA_SHARED_LOOP("), 0);
        assert_eq!(device.count("nova_propagate_prefix("), 0);
    }
    for device in on_devices("((X : vector int)) (filter (> 3) X)", How::usual(true)) {
        let (kernels, loops) = match device.target {
            Target::Cuda => (1, 6),
            _opencl => (2, 4 + 6),
        };
        assert_eq!(device.kernels(), kernels, "{}", device.source);
        assert_eq!(device.count("NOVA_LOCAL_LOOP("), loops + 1);
    }
}

#[test]
fn groups_of_cuda_scan_in_one_pass() {
    let text = "((X : vector int)) (scan + 0 X)";
    for device in on_devices(text, How::usual(true)) {
        let (kernels, look_back) = match device.target {
            Target::Cuda => (1, 1),
            _opencl => (5, 0),
        };
        assert_eq!(device.kernels(), kernels, "{}", device.source);
        assert_eq!(
            device.count(" = nova_propagate_prefix("),
            look_back,
            "{}",
            device.source
        );
    }
    let of_cuda = |text| programs::report(text, Target::Cuda, How::usual(false));
    let look_back = "in one pass: each tile propagates";
    let passes = "
        (entry pairs ((X : vector int64)) (scan (lambda ((a, b) (c, d)) ((+ a c), (max b d))) (1, 2)
            (map (lambda (x) (x, (^ x 77))) X)))
        (entry state ((X : vector int)) (map (lambda ((s, x)) (* s x)) (zip (scan + 0 X) X)))";
    assert_eq!(
        of_cuda(passes).matches(look_back).count(),
        2,
        "{}",
        of_cuda(passes)
    );
    assert!(!report(passes, false).contains(look_back));
    let survivors = "
        (entry large ((X : vector float)) (filter (lambda (x) (> x 0.5)) X))
        (entry both ((X : vector int)) (filter (lambda ((a, b)) (< a b)) (map (lambda (x) (x, (^ x 77))) X)))";
    assert_eq!(
        of_cuda(survivors).matches("each tile propagates").count(),
        2
    );
    assert!(!report(survivors, false).contains("tile propagates"));
    // Operations that could depend on the order of groups, that have a comparison of their own, or
    // that may fail.
    let others = "
        (entry sums ((X : vector float)) (scan + 0 X))
        (entry least ((X : vector float)) (scan min 1.0e30 X))
        (entry quotients ((X : vector int)) (scan + 0 (map (lambda (x) (/ 100 x)) X)))
        (entry kept ((X : vector int)) (filter (lambda (x) (> (/ 7 x) 0)) X))";
    let text = of_cuda(others);
    assert!(
        text.matches(IN_TILES).count() == 4 && !text.contains(look_back),
        "{text}"
    );
}

#[test]
fn errors_in_tiles_have_their_places() {
    let text = "
        (entry quotients ((X : vector int)) (scan + 0 (map (lambda (x) (/ 100 x)) X)))
        (entry gathered ((X : vector int)) (scan max 0 (map (lambda (x) (X ! x)) X)))
        (entry kept ((X : vector int)) (filter (lambda (x) (> (/ 7 x) 0)) X))";
    let sequential = Compiled::new(text, Target::Sequential, How::usual(true));
    for device in on_devices(text, How::usual(true)) {
        for (n, at) in [(5, 4), (100, 77), (2304, 2303), (5000, 4999), (5000, 1000)] {
            for (entry, wrong) in [0, -3, 0].into_iter().enumerate() {
                let input = ones_but(n, at, wrong);
                let message = device.failure(entry, &[&input]);
                assert_eq!(message, sequential.failure(entry, &[&input]));
                let place = format!("program.nova:{}:", entry + 2);
                assert!(message.starts_with(&place), "{message}");
            }
            // The next call works.
            let input = ones_but(n, at, 1);
            let expected = sequential.call(0, &[&input]).expect("a value in order");
            let value = device.call(0, &[&input]).expect("a value of groups");
            assert!(value.same(&expected), "{:?}, {n}", device.target);
        }
    }
}

#[test]
fn the_report_names_the_schedule() {
    let text = report("((X : vector float)) (scan + 0 X)", false);
    let tiles = "from 128 iterations on, as kernels of work-groups: each takes a tile of 2304 iterations, \
                 in which neighbouring threads take neighbouring iterations; an iteration counts as 1 \
                 operation";
    let steps = "in three steps: what each tile reduces to, what each begins with, then the running \
                 results, in memory of the work-group";
    assert!(text.contains(tiles) && text.contains(steps), "{text}");
    let survivors = "how many elements each tile keeps, where these begin, then the elements, found in memory \
                of the work-group";
    let text = report("((X : vector int)) (filter (> 3) X)", false);
    assert!(
        text.contains(IN_TILES) && text.contains(survivors),
        "{text}"
    );
    let others = "
        (entry strict ((X : vector float)) (scan + 0 X))
        (entry unknown ((X : vector int)) (scan (lambda (a b) (+ (* a b) 1)) 0 X))
        (entry large ((X : vector int64))
            (scan (lambda ((a, b, c, d) (e, f, g, h)) ((+ a e), (+ b f), (+ c g), (+ d h)))
                (0i64, 0i64, 0i64, 0i64) (map (lambda (x) (x, (* x x), (+ x 1), (^ x 7))) X)))";
    let text = report(others, true);
    assert!(!text.contains(IN_TILES), "{text}");
}
