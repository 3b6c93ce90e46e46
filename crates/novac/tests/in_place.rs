//! Tests that loops which change arrays change them in place: many iterations copy no more than a
//! few arrays.
//!
//! Each program is compiled by a C compiler that counts the bytes that `memcpy` copies (the
//! variable `CC` names a script). One program that copies an array in each iteration shows that the
//! count works. On devices the copies of the profile count too: those to and from the device, and
//! on it. In the emulation of CUDA only these count, since its host copies exactly as that of
//! OpenCL.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use support::counting_compiler;

/// Elements of the arrays, of four bytes.
const ELEMENTS: usize = 50_000;
const ITERATIONS: usize = 53;
/// Number of arrays that may be copied in total: to a device, from there for changes by the host,
/// and so on.
const ARRAYS: usize = 6;

/// The change of `X` in an iteration, where `k` counts iterations. `W` has rows.
const CHANGES: [(&str, &str); 23] = [
    ("update", "(update X (% (* 7 (+ k (X ! 3))) 50000) k)"),
    ("scatter", "(scatter X [k (+ k 1)] [(X ! 5) k])"),
    (
        "scatter of many",
        "(scatter X (map (lambda (j) (% (* j (+ k 7)) 50000)) (range 20000))
           (map (+ k) (slice 3 1 20003 X)))",
    ),
    (
        "marks",
        "(scatter X (map (lambda (j) (% (* j (+ k 7)) 50000)) (range 20000))
           (map (lambda (j) k) (range 20000)))",
    ),
    (
        "permute",
        "(permute (map (lambda (j) (% (+ j k) 50000)) (range 50000)) X)",
    ),
    (
        "a matrix turned",
        "(flatten (transpose (reshape (50, 1000) X)))",
    ),
    (
        "a changed matrix turned",
        "(flatten (transpose (update (reshape (50, 1000) X) (3, 4) k)))",
    ),
    (
        "update_slice",
        "(update_slice X (% k 40000) (map (+ 1) (slice 5 1 100 X)))",
    ),
    ("map", "(map (+ k) X)"),
    (
        "a map that keeps all but one",
        "(tabulate (length X) (lambda (j) (if (= j k) (+ k (X ! j)) (X ! j))))",
    ),
    (
        "a map that keeps the first",
        "(tabulate (length X) (lambda (j) (if (> j 0) (+ (X ! 0) (X ! j)) (X ! j))))",
    ),
    (
        "a map that keeps rows",
        "(let (M (reshape (50, 1000) X)) in (flatten (tabulate (shape M)
           (lambda ((i, j)) (if (and (> i 1) (< j k)) (+ (M ! (1, j)) (M ! (i, j))) (M ! (i, j)))))))",
    ),
    (
        "own block",
        "(update_slice X 7 (map (+ k) (slice 7 1 40000 X)))",
    ),
    (
        "conditional",
        "(if (> (X ! 7) k) (update X 3 k) (update X 4 k))",
    ),
    ("one branch", "(if (> (X ! 7) k) (update X 3 k) X)"),
    (
        "conditions in each other",
        "(if (> (X ! 7) k) X (if (< (X ! 9) 5) (update X 3 k) (update_slice X k [1 2])))",
    ),
    (
        "cases",
        "(let (Y (case (if (> k 5) (Some k) None) (None X) (Some z (update X 1 z))))
          in (update Y 2 k))",
    ),
    ("a recursion", "(down X k 3)"),
    (
        "a recursion in a branch",
        "(if (> k 2) (down X k 3) (update X 1 k))",
    ),
    (
        "rows of a matrix",
        "(flatten (unrows (update (rows (reshape (50, 1000) X)) (% k 50) (replicate 1000 k))))",
    ),
    (
        "an element more",
        "(slice 0 1 50000 (concat [k (+ k 1)] X))",
    ),
    (
        "rows of pairs",
        "(let (P (rows (reshape (50, 1000) (map (lambda (x) (x, 1)) X))))
          in (map (lambda (x, _) x) (flatten (unrows (update P (% k 50) (replicate 1000 (k, k)))))))",
    ),
    (
        "an element of a matrix",
        "(flatten (update (reshape (50, 1000) X) ((% k 50), 7) k))",
    ),
];

/// Changes that copy in each iteration, which show that the test can fail.
const COPIES: [&str; 1] = ["an element more"];

const LOOPS: [(&str, &str); 3] = [
    (
        "foldl",
        "(let (R (foldl (lambda (X k) CHANGE) (range 50000) (range n))) in (reduce + 0 R))",
    ),
    (
        "iterate",
        "(let ((R, k) (iterate n (lambda ((X, k)) (CHANGE, (+ k 1))) ((range 50000), 0)))
          in (reduce + k R))",
    ),
    (
        "while",
        "(let ((R, k) (while (lambda ((X, k)) (< k n)) (lambda ((X, k)) (CHANGE, (+ k 1)))
                        ((range 50000), 0)))
          in (reduce + k R))",
    ),
];

/// The compiler of the emulation of CUDA.
const EMULATED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/cuda/emulated-nvcc"
);

const DEFINITIONS: &str = "(types (Option 'a : (+ (None : unit) (Some : 'a))))
(define
  (down (mu (f : (vector int) -> int -> int -> (vector int))
    (lambda ((X : vector int) (k : int) (depth : int)) : (vector int)
      (if (<= depth 0) X
        (let (Y (f (update X k (+ depth (X ! k))) (+ k 1) (- depth 1)))
          in (update Y 0 (+ (Y ! 0) (Y ! k)))))))))
";

/// Code that counts the copied bytes in a loaded library, and prints the count at the end.
const COUNTING: &str = "#include <stdio.h>
#include <string.h>
static long long counted;
static void *counting(void *to, const void *from, size_t bytes)
{
    counted += (long long)bytes;
    return memcpy(to, from, bytes);
}
__attribute__((destructor)) static void say(void)
{
    fprintf(stderr, \"copied %lld\\n\", counted);
}
#define memcpy counting
";

/// Returns the number of bytes that an entry of a program copies.
fn copied(folder: &Path, program: &Path, target: &str, entry: &str) -> i64 {
    let output = Command::new(env!("CARGO_BIN_EXE_novac"))
        .env("CC", folder.join("counting-cc"))
        .env("NOVA_CACHE", folder.join("cache"))
        .env("NOVA_NVCC", EMULATED)
        .env("NOVA_PROFILE", "1")
        // The code that runs is what counts, not its speed.
        .env("CFLAGS", "-O0")
        .env("NOVA_EMULATION_FLAGS", "-O0")
        .args(["run", "--target", target, "--entry", entry])
        .arg(program)
        .arg(format!("n={ITERATIONS}"))
        .output()
        .expect("novac runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{target} {entry}: {said}");
    // Calls that query the compiler's abilities also print a count, which is 0.
    let lines = said.lines().filter_map(|line| line.strip_prefix("copied "));
    let counts = lines.map(|count| count.parse::<i64>().expect("a number"));
    let by_host = match target {
        "cuda" => 0,
        _ => counts
            .max()
            .unwrap_or_else(|| panic!("nothing was counted: {said}")),
    };
    by_host + said.lines().filter_map(copied_by_device).sum::<i64>()
}

/// Returns the bytes in a line of a profile, if it is about copies.
fn copied_by_device(line: &str) -> Option<i64> {
    let kinds = ["host to device", "device to host", "device to device"];
    let line = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    // After the place: launches, two times, bytes read, bytes written.
    let numbers: Vec<&str> = line.split_whitespace().skip(4).take(2).collect();
    let bytes = numbers.iter().map(|n| n.parse::<i64>().expect("bytes"));
    bytes.max()
}

/// Returns the changes that copy in each iteration and should not, and those that should and do
/// not.
fn mistakes(folder: &Path, target: &str, loops: &[(&str, &str)]) -> Vec<String> {
    let mut source = DEFINITIONS.to_string();
    let mut entries = Vec::new();
    for (at, (name, form)) in loops.iter().enumerate() {
        // Where there are several loops, each of two targets tries half of the changes in each. One change of
        // three is tried for each change of the compiler, that which copies among them.
        let all = std::env::var_os("NOVA_TEST_ALL").is_some();
        let is_tried = |k: usize| {
            let of_target = loops.len() == 1 || (at + k).is_multiple_of(2) == (target == "seq");
            of_target && (all || k % 3 == 2)
        };
        for (k, (change, text)) in CHANGES.into_iter().enumerate() {
            if !is_tried(k) {
                continue;
            }
            let entry = format!("f{}", entries.len());
            let value = form.replace("CHANGE", text);
            source.push_str(&format!("(entry {entry} ((n : int)) {value})\n"));
            entries.push((entry, name, change));
        }
    }
    let program = folder.join("changes.nova");
    fs::write(&program, source).expect("a file");
    let mut wrong = Vec::new();
    for (entry, name, change) in entries {
        let bytes = copied(folder, &program, target, &entry);
        let copies = bytes > (4 * ELEMENTS * ARRAYS) as i64;
        let should = COPIES.contains(&change) && target != "cuda";
        if copies != should {
            wrong.push(format!("{target}: {name} of {change}: {bytes}"));
        }
    }
    wrong
}

/// Asserts that changes in some loops copy nothing on some targets.
#[track_caller]
fn copy_nothing(targets: [&str; 2], loops: &[(&str, &str)]) {
    let folder = tempfile::tempdir().expect("a folder");
    counting_compiler(folder.path(), COUNTING);
    let mut wrong = Vec::new();
    for target in targets {
        wrong.extend(mistakes(folder.path(), target, loops));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn changes_in_loops_of_processors_copy_nothing() {
    copy_nothing(["seq", "pthreads"], &LOOPS);
}

#[test]
fn changes_in_loops_of_devices_copy_nothing() {
    copy_nothing(["opencl", "cuda"], &LOOPS[..1]);
}
