//! Tests of sorts by keys, on processors and devices. They give the results of the merge sort, to the bit,
//! for numbers of every type, alone and several one after the other, ascending and descending, with equal
//! ones in their order or reversed, and with numbers that have no order. Comparisons that have no order of
//! numbers stay with the merge sort.

use nova_driver::{Stage, Target};
use nova_schedule::Parallelism;
use nova_tests::programs::{self, Compiled, How, list, on_devices};
use nova_tests::{devices, effort};

/// Radix sorts from 129 elements on.
const SMALL: How = How {
    strict: false,
    parallelism: Some(Parallelism {
        chunks: 64,
        ..Parallelism::SMALL
    }),
};

/// Lengths near those of chunks, of tiles and of the blocks of tables.
const LENGTHS: [usize; 7] = [0, 1, 128, 129, 256, 513, 4161];

/// The longest inputs for an emulation, which is slow.
const EMULATED: usize = 600;

/// Compares sorts by merges of one thread with those by keys on each target, or for each change on every other
/// one: half the length of the text says which. The emulation gets only shorter inputs.
#[track_caller]
fn compare(text: &str, how: How, inputs: &[String]) {
    let merges = Compiled::without("sort-keys", text, How::usual(false));
    let processors = [Target::Sequential, Target::Pthreads];
    let targets = [Target::OpenCl, Target::Cuda].into_iter().chain(processors);
    let tried = targets
        .enumerate()
        .filter(|(k, target)| effort::tries(k + text.len() / 2, 2) && devices::has(*target));
    for (_, target) in tried {
        let device = Compiled::new(text, target, how);
        for (k, entry) in merges.checked.program.entries.iter().enumerate() {
            for input in inputs {
                let length = input.split_whitespace().count();
                if device.target == Target::Cuda && length > EMULATED {
                    continue;
                }
                let all = vec![input; entry.inputs.len()];
                let expected = merges.call(k, &all).expect("a value by merges");
                let value = device.call(k, &all).expect("a value by keys");
                assert!(
                    value.same(&expected),
                    "{:?}, entry {k}, {length} elements",
                    device.target
                );
            }
        }
    }
}

/// Entries that sort elements with their indices, which show the order of equal ones, each by its
/// comparison.
const SORTS: [(&str, &str); 4] = [
    ("rising", "(<= a b)"),
    ("falling_last_first", "(not (<= a b))"),
    ("falling", "(>= a b)"),
    ("rising_last_first", "(< a b)"),
];

/// Both directions, one with equal keys in reversed order. Every type is sorted by one of these
/// pairs, and some by both.
const ONE_PAIR: std::ops::Range<usize> = 0..2;
const OTHER_PAIR: std::ops::Range<usize> = 2..4;
const BOTH: std::ops::Range<usize> = 0..4;

fn sorts(ty: &str, which: std::ops::Range<usize>) -> String {
    let sort = |(name, compare): &(&str, &str)| {
        format!(
            "(entry {name} ((X : vector {ty}))
                (sort (lambda (a, _) (b, _) {compare}) (zip X (range (length X)))))"
        )
    };
    let sorts: Vec<String> = SORTS[which].iter().map(sort).collect();
    sorts.join("\n")
}

/// Returns scattered numbers.
fn scattered(k: usize) -> u64 {
    (k as u64)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(17)
}

/// Returns lists of each length of numbers with many different values, with few, and with one.
fn lists(length: usize, number: impl Fn(u64) -> String) -> [String; 3] {
    [
        list((0..length).map(|k| number(scattered(k)))),
        list((0..length).map(|k| number(scattered(k) % 7))),
        list((0..length).map(|_| number(5))),
    ]
}

/// Compares some of the sorts of a type.
fn compare_type(ty: &str, which: std::ops::Range<usize>, number: impl Fn(u64) -> String) {
    let inputs: Vec<String> = LENGTHS
        .iter()
        .flat_map(|length| lists(*length, &number))
        .collect();
    compare(&sorts(ty, which), SMALL, &inputs);
}

#[test]
fn narrow_integers_are_sorted() {
    compare_type("int8", ONE_PAIR, |bits| (bits as i8).to_string());
    compare_type("uint8", OTHER_PAIR, |bits| (bits as u8).to_string());
    compare_type("int16", OTHER_PAIR, |bits| (bits as i16).to_string());
    compare_type("uint16", ONE_PAIR, |bits| (bits as u16).to_string());
}

#[test]
fn wide_integers_are_sorted_up_to_their_limits() {
    compare_type("int", BOTH, |bits| match bits % 11 {
        0 => i32::MIN.to_string(),
        1 => i32::MAX.to_string(),
        2 => "0".to_string(),
        _ => (bits as i32).to_string(),
    });
    compare_type("uint32", ONE_PAIR, |bits| match bits % 11 {
        0 => u32::MAX.to_string(),
        _ => (bits as u32).to_string(),
    });
    compare_type("int64", OTHER_PAIR, |bits| match bits % 11 {
        0 => i64::MIN.to_string(),
        1 => i64::MAX.to_string(),
        2 => "-1".to_string(),
        _ => (bits as i64).to_string(),
    });
    compare_type("uint64", ONE_PAIR, |bits| match bits % 11 {
        0 => u64::MAX.to_string(),
        _ => bits.to_string(),
    });
}

/// Returns numbers of both signs, zeros of both signs and infinities.
fn float(bits: u64) -> String {
    match bits % 13 {
        0 => "-0.0".to_string(),
        1 => "0.0".to_string(),
        2 => "inf".to_string(),
        3 => "-inf".to_string(),
        4 => "1.0e-40".to_string(),
        5 => "-1.0e-40".to_string(),
        6 => "3.0e38".to_string(),
        7 => "-3.0e38".to_string(),
        _ => format!("{}.{}", bits as i32, bits % 997),
    }
}

#[test]
fn floats_are_sorted_with_zeros_as_equals() {
    compare_type("float", BOTH, float);
    compare_type("double", OTHER_PAIR, float);
}

#[test]
fn numbers_without_an_order_are_merged() {
    let lists = |share: u64| {
        let number = move |k: usize| match scattered(k) % share {
            0 => "nan".to_string(),
            _ => float(scattered(k)),
        };
        let lists = LENGTHS.iter().map(move |n| list((0..*n).map(number)));
        lists.collect::<Vec<String>>()
    };
    for (ty, which) in [("float", OTHER_PAIR), ("double", ONE_PAIR)] {
        let inputs = [lists(3), lists(1000)].concat();
        compare(&sorts(ty, which), SMALL, &inputs);
    }
}

/// Comparisons that have the order of computed numbers.
const KEYS: [&str; 11] = [
    "(<= (& a 255) (& b 255))",
    "(<= (- 0 a) (- 0 b))",
    "(< (* b 3) (* a 3))",
    "(not (> a b))",
    "(>= (^ (>> a 3) 77) (^ (>> b 3) 77))",
    "(<= (wrap_int64 (wrap_int8 a)) (wrap_int64 (wrap_int8 b)))",
    "(or (< (& a 7) (& b 7)) (and (= (& a 7) (& b 7)) (<= a b)))",
    "(if (= (& a 7) (& b 7)) (>= a b) (< (& a 7) (& b 7)))",
    "(not (or (> (& a 7) (& b 7)) (and (= (& b 7) (& a 7)) (> a b))))",
    "(if (< a b) true (if (< b a) false true))",
    "(if (~= (wrap_int8 a) (wrap_int8 b)) (> (wrap_int8 a) (wrap_int8 b)) (if (~= (>> a 8) (>> b 8)) (< (>> a 8) (>> b 8)) false))",
];

/// Comparisons that have none: of different numbers, of no elements, and in a circle.
const OTHERS: [&str; 6] = [
    "(<= (+ a b) b)",
    "(<= a (& b 15))",
    "(= a b)",
    "true",
    "(or (< (& a 7) (& b 7)) (<= a b))",
    "(if (< (& a 7) (& b 7)) (< a b) (< b a))",
];

fn with_comparison(compare: &str) -> String {
    format!("((X : vector int)) (sort (lambda (a, _) (b, _) {compare}) (zip X (range (length X))))")
}

fn integers(length: usize) -> String {
    list((0..length).map(|k| (scattered(k) as i32).to_string()))
}

#[test]
fn keys_may_be_computed_and_comparisons_may_be_none_of_keys() {
    let inputs = [0, 1, 200, 1025, 5000].map(integers);
    let entry = |(k, compares)| format!("(entry sort_{k} {})", with_comparison(compares));
    let entries = KEYS.into_iter().chain(OTHERS).enumerate().map(entry);
    let text = entries.collect::<Vec<String>>().join("\n");
    compare(&text, SMALL, &inputs);
}

/// Sorts of floats alone, of which a -0.0 and a nan have no key of their own, and by several numbers.
const RECORDS: &str = "
    (entry numbers ((X : vector F)) (sort (lambda (a b) (<= a b)) X))
    (entry falling ((X : vector F)) (sort (lambda (a b) (> a b)) X))
    (entry nan_last ((X : vector F)) (sort (lambda (a b) (or (<= a b) (~= b b))) X))
    (entry nan_first ((X : vector F)) (sort (lambda (a b) (or (~= a a) (<= a b))) X))
    (entry falling_nan_last ((X : vector F)) (sort (lambda (a b) (if (= a a) (or (~= b b) (> a b)) false)) X))
    (entry two ((X : vector F))
      (sort (lambda ((a, i) (b, j)) (if (= a b) (> i j) (< a b))) (imap (lambda (i) ((X ! i), (% (* i 7) 10))) X)))
    (entry two_floats ((X : vector F))
      (sort (lambda ((a, c) (b, d)) (or (< c d) (and (= c d) (>= a b))))
        (imap (lambda (i) ((X ! i), (X ! (% i 5)))) X)))
    (entry by_place ((X : vector F))
      (sort (lambda ((a, i) (b, j)) (or (< a b) (and (= a b) (>= i j)))) (imap (lambda (i) ((X ! i), i)) X)))
    (entry truths ((X : vector F))
      (sort (lambda ((a, x) (b, y)) (if (= a b) (<= x y) b)) (map (lambda (x) ((> x 0.0), x)) X)))
    (entry places ((X : vector F))
      (map (lambda (_, i) i) (sort (lambda ((a, _) (b, _)) (<= a b)) (imap (lambda (i) ((X ! i), i)) X))))";

#[test]
fn records_are_sorted_by_several_numbers_and_nan_where_the_comparison_puts_it() {
    let number = |share: u64| {
        move |k: usize| match scattered(k) % share {
            0 => "nan".to_string(),
            1 => float(scattered(k)),
            _ => format!("{}.5", scattered(k) % 4093),
        }
    };
    for (ty, suffix) in [("float", "f"), ("double", "L")] {
        let text = RECORDS.replace("vector F", &format!("vector {ty}"));
        let text = text.replace("0.0", &format!("0.0{suffix}"));
        let inputs: Vec<String> = [2, 700, u64::MAX]
            .into_iter()
            .flat_map(|share| LENGTHS.map(|n| list((0..n).map(number(share)))))
            .collect();
        compare(&text, SMALL, &inputs);
    }
}

#[test]
fn comparisons_that_fail_do_so_on_devices_too() {
    let text = with_comparison("(<= (/ 100 a) (/ 100 b))");
    let sequential = Compiled::new(&text, Target::Sequential, How::usual(false));
    let input = |at: usize| list((0..1000).map(|k| if k == at { "0" } else { "7" }.to_string()));
    for device in on_devices(&text, SMALL) {
        for input in [input(0), input(600)] {
            assert_eq!(
                device.failure(0, &[&input]),
                sequential.failure(0, &[&input])
            );
        }
        let whole = input(1000);
        let value = device.call(0, &[&whole]).expect("a value");
        assert!(value.same(&sequential.call(0, &[&whole]).expect("a value")));
    }
}

/// Comparisons that break ties by the place of the element, which is in the elements themselves.
#[test]
fn the_place_of_an_element_is_no_part_of_its_key() {
    for pairs in [
        "(imap (lambda (k) ((X ! k), k)) X)",
        "(zip X (range (length X)))",
        "(map (lambda (k) ((X ! k), (to_int64 k))) (range (length X)))",
    ] {
        for (by, is_key) in [
            ("(or (< a b) (and (= a b) (<= i j)))", false),
            ("(if (= a b) (>= i j) (> a b))", false),
            ("(if (= a b) (<= (neg i) (neg j)) (> a b))", true),
        ] {
            let text = format!("((X : vector int)) (sort (lambda ((a, i) (b, j)) {by}) {pairs})");
            let flat = programs::emit(&text, Target::Sequential, SMALL, Stage::Flat);
            // Places may move with a key of 32 bits, in the half of a word that is not compared.
            let is_compared = flat.contains("]u64") && !flat.contains(" 32 [keys])");
            assert_eq!(is_compared, is_key, "{by}, {pairs}: {flat}");
            compare(&text, SMALL, &[0, 130, 1025].map(integers_of_few));
        }
    }
}

/// Returns integers of which many are equal.
fn integers_of_few(length: usize) -> String {
    list((0..length).map(|k| (scattered(k) % 17).to_string()))
}

/// The first ones of sorted elements, alone and with their places, of which threads sort chunks that have at
/// least eight times as many.
#[test]
fn few_are_found_among_many() {
    let text =
        "(entry least ((k : int) (X : vector int)) (slice 0 1 (min k (length X)) (sort <= X)))
        (entry places ((k : int) (X : vector int)) (slice 0 1 (min k (length X))
          (sort (lambda (a, _) (b, _) (>= a b)) (zip X (range (length X))))))";
    let merges = Compiled::without("sort-keys", text, How::usual(false));
    let numbers = |n: usize| lists(n, |bits| (bits as i32).to_string());
    for how in [SMALL, How::usual(false)] {
        let threads = Compiled::new(text, Target::Pthreads, how);
        for (length, inputs) in [1, 130, 4161, 40_000].map(|n| (n, numbers(n))) {
            let counts = [0, 1, 7, length / 65, length / 9, length / 8 + 1, length];
            for count in counts.map(|count| count.to_string()) {
                for (input, entry) in inputs.iter().zip([0, 1, 1]) {
                    let expected = merges.call(entry, &[&count, input]).expect("merged");
                    let value = threads.call(entry, &[&count, input]).expect("found");
                    assert!(value.same(&expected), "{count} of {length}, entry {entry}");
                }
            }
        }
    }
}

#[test]
fn sizes_are_the_usual_ones_by_default() {
    let text = "((X : vector int)) (sort (lambda (a b) (<= a b)) X)";
    let inputs = [4096, 4097, 150_001].map(integers);
    compare(text, How::usual(false), &inputs);
}

#[test]
fn the_report_says_which_sort_it_is() {
    let report = |compare: &str, target: Target| {
        programs::report(&with_comparison(compare), target, How::usual(false))
    };
    let radix = "by the digits of a key";
    for target in [Target::OpenCl, Target::Cuda] {
        for compare in KEYS {
            let report = report(compare, target);
            assert!(report.contains(radix), "{report}");
        }
        for compare in OTHERS {
            let report = report(compare, target);
            assert!(!report.contains("by their keys"), "{report}");
            assert!(!report.contains(radix), "{report}");
            assert!(report.contains("runs are sorted, then merged"), "{report}");
        }
    }
    for target in [Target::Sequential, Target::Pthreads] {
        for compare in KEYS {
            let report = report(compare, target);
            assert!(report.contains("by their keys"), "{report}");
            assert!(!report.contains(radix), "{report}");
        }
    }
}
