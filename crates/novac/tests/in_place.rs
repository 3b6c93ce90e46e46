//! Loops that change arrays change them in place: the bytes that are copied do not grow with the rounds.
//!
//! Each program is compiled by a C compiler that counts what `memcpy` copies (the variable `CC` names a
//! script), and run with few and with many rounds. A round that copied its array would show at once.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Elements of the arrays, of four bytes.
const ELEMENTS: usize = 50_000;
const FEW: usize = 3;
const MANY: usize = 43;

/// What a round does to `X`, where `k` counts rounds; `W` has rows.
const CHANGES: [(&str, &str); 15] = [
    ("update", "(update X (% (* 7 (+ k (X ! 3))) 50000) k)"),
    ("scatter", "(scatter X [k (+ k 1)] [(X ! 5) k])"),
    (
        "update_slice",
        "(update_slice X (% k 40000) (map (+ 1) (slice 5 1 100 X)))",
    ),
    ("map", "(map (+ k) X)"),
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

/// What copies in each round, so that the test is seen to fail.
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

const DEFINITIONS: &str = "(types (Option 'a : (+ (None : unit) (Some : 'a))))
(define
  (down (mu (f : (vector int) -> int -> int -> (vector int))
    (lambda ((X : vector int) (k : int) (depth : int)) : (vector int)
      (if (<= depth 0) X
        (let (Y (f (update X k (+ depth (X ! k))) (+ k 1) (- depth 1)))
          in (update Y 0 (+ (Y ! 0) (Y ! k)))))))))
";

/// Counts what is copied in a library that is loaded, and says how much at the end.
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

fn copied(folder: &Path, program: &Path, target: &str, rounds: usize) -> i64 {
    let output = Command::new(env!("CARGO_BIN_EXE_novac"))
        .env("CC", folder.join("counting-cc"))
        .env("NOVA_CACHE", folder.join("cache"))
        .args(["run", "--target", target])
        .arg(program)
        .arg(format!("n={rounds}"))
        .output()
        .expect("novac runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    // What asks the compiler for its abilities counts, too, and copies nothing.
    let lines = said.lines().filter_map(|line| line.strip_prefix("copied "));
    let counts = lines.map(|count| count.parse().expect("a number"));
    counts
        .max()
        .unwrap_or_else(|| panic!("nothing was counted: {said}"))
}

/// The compiler that counts, in a folder.
fn compiler(folder: &Path) {
    fs::write(folder.join("counting.h"), COUNTING).expect("a file");
    let script = format!(
        "#!/bin/sh\nexec ${{REAL_CC:-cc}} -include '{}' \"$@\"\n",
        folder.join("counting.h").display()
    );
    let path = folder.join("counting-cc");
    fs::write(&path, script).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
}

#[test]
fn changes_in_loops_copy_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    compiler(folder);
    let mut wrong = Vec::new();
    for (loops, form) in LOOPS {
        for (change, text) in CHANGES {
            let value = form.replace("CHANGE", text);
            let program = folder.join("changes.nova");
            let source = format!("{DEFINITIONS}(entry f ((n : int)) {value})\n");
            fs::write(&program, source).expect("a file");
            for target in ["seq", "pthreads"] {
                let [few, many] =
                    [FEW, MANY].map(|rounds| copied(folder, &program, target, rounds));
                let grows = many - few > (2 * ELEMENTS) as i64;
                if grows != COPIES.contains(&change) {
                    wrong.push(format!("{target}: {loops} of {change}: {few}, {many}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
