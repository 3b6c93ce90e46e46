//! Tests of the peak memory of programs: their result and, where one is needed, one further array,
//! which loops reuse in each iteration. Arguments are the caller's.
//!
//! Programs are compiled by a C compiler that counts the memory that they hold (the variable `CC`
//! names a script). The low number of allocations shows that one block serves all iterations.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use support::counting_compiler;

/// Elements of the argument, of four bytes; rows have 64.
const ELEMENTS: usize = 1 << 17;
const BYTES: usize = 4 * ELEMENTS;

/// Programs of an argument `xs`, the number of arrays of that size that they hold at most, and the
/// number that they allocate.
const PROGRAMS: [(&str, &str, usize, usize); 9] = [
    (
        "rows by concat",
        "(flatten (map (lambda (r) (concat [1.0] (slice 1 1 64 r))) (split 64 xs)))",
        1,
        1,
    ),
    (
        "rows by scan",
        "(flatten (map (scan + 0.0) (split 64 xs)))",
        1,
        1,
    ),
    (
        "rows by foldl",
        "(flatten (map (lambda (r)
            (foldl (lambda (v k) (update v k (* 2.0 (r ! k)))) (replicate 64 1.0) (range 64)))
          (split 64 xs)))",
        1,
        1,
    ),
    (
        "rows replaced",
        "(flatten (foldl (lambda (R k) (update R k (map (+ 1.0) (R ! k)))) (rows (split 64 xs)) (range 64)))",
        2,
        2,
    ),
    (
        "a chain of six scans",
        "(let (turned (lambda (v) (scan + 0.0 (reverse v))))
          in (turned (turned (turned (turned (turned (turned xs)))))))",
        2,
        2,
    ),
    (
        "a chain of six maps",
        "(let (g (lambda (v) (imap (lambda (i) (+ (v ! i) (v ! (- (- (length v) 1) i)))) v)))
          in (g (g (g (g (g (g xs)))))))",
        2,
        2,
    ),
    (
        "rounds of a map",
        "(iterate 100 (map (lambda (x) (+ (* x 0.5) 1.0))) xs)",
        1,
        1,
    ),
    (
        "rounds of a stencil",
        "(let (n (length xs))
          in (iterate 100
               (lambda (v) (tabulate n (lambda (i)
                 (* 0.25 (+ (v ! (max 0 (- i 1))) (v ! (min (- n 1) (+ i 1))))))))
               xs))",
        2,
        2,
    ),
    // A program that needs more arrays, which shows that the test can fail.
    (
        "kept",
        "(let (a (scan + 0.0 xs)) (b (scan + 0.0 (reverse a))) (c (scan + 0.0 (reverse b)))
          in (map (lambda (x y z) (+ x (+ y z))) a (reverse b) c))",
        4,
        4,
    ),
];

/// Counts memory. Programs give large memory that does not start at a line back at once, so it is no block.
const COUNTING: &str = "#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static long long held, most, blocks;
static void *counted(void *memory)
{
    size_t bytes = memory ? malloc_usable_size(memory) : 0;
    held += (long long)bytes;
    most = held > most ? held : most;
    blocks += bytes >= 65536 && (uintptr_t)memory % 64 == 0;
    return memory;
}
__attribute__((destructor)) static void say(void)
{
    fprintf(stderr, \"held %lld %lld\\n\", most, blocks);
}
#define malloc(bytes) counted(malloc(bytes))
#define aligned_alloc(alignment, bytes) counted(aligned_alloc(alignment, bytes))
#define free(memory) (held -= (long long)malloc_usable_size(memory), free(memory))
";

/// Runs an entry of a program in a folder. Returns its standard error.
fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_novac"))
        .current_dir(folder)
        .env("CC", folder.join("counting-cc"))
        .env("NOVA_CACHE", folder.join("cache"))
        .args(["run", "programs.nova"])
        .args(arguments)
        .output()
        .expect("novac runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {said}");
    said
}

/// Returns the most bytes that an entry held, and the number of large blocks that it allocated.
fn held(said: &str) -> (usize, usize) {
    let lines = said.lines().filter_map(|line| line.strip_prefix("held "));
    let counts = lines.map(|line| {
        let mut numbers = line.split(' ').map(|n| n.parse().expect("a number"));
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
    });
    counts
        .max()
        .unwrap_or_else(|| panic!("nothing was counted: {said}"))
}

#[test]
fn programs_hold_their_result_and_one_array_beside_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    counting_compiler(folder, COUNTING);
    let mut source = String::from("(entry make ((n : int)) (map to_float (range n)))\n");
    for (k, (_, body, ..)) in PROGRAMS.iter().enumerate() {
        source.push_str(&format!("(entry f{k} ((xs : vector float)) {body})\n"));
    }
    fs::write(folder.join("programs.nova"), source).expect("a file");
    let number = format!("n={ELEMENTS}");
    run(folder, &["--entry", "make", &number, "-o", "xs.npy"]);
    let mut wrong = Vec::new();
    for target in ["seq", "pthreads"] {
        for (k, (name, _, arrays, blocks)) in PROGRAMS.iter().enumerate() {
            let entry = format!("f{k}");
            let how = ["--target", target, "--entry", &entry];
            let said = run(
                folder,
                &[&how[..], &["xs=@xs.npy", "-o", "out.npy"]].concat(),
            );
            let (bytes, made) = held(&said);
            // The remainder are small blocks.
            if bytes / BYTES != *arrays || bytes % BYTES > BYTES / 4 || made != *blocks {
                wrong.push(format!("{target}: {name}: {bytes} bytes, {made} blocks"));
            }
        }
    }
    assert!(wrong.is_empty(), "{BYTES} bytes each\n{}", wrong.join("\n"));
}
