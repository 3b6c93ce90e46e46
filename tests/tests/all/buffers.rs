//! Tests of results in the buffers of a C host, under AddressSanitizer and
//! UndefinedBehaviorSanitizer.

use nova_driver::{Compiler, Options, Source, Target};
use std::path::Path;
use std::process::Command;

#[test]
fn results_are_made_in_the_hosts_buffers() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("buffers");
    let read = |name: &str| std::fs::read_to_string(data.join(name)).expect("a file of the test");
    for optimization in [0, 2] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let options = Options {
            optimization,
            ..Options::default()
        };
        let compiler = Compiler::new(options);
        let source = Source::text("results.nova", read("results.nova"));
        let mut checked = compiler.check(source).expect("the program has no errors");
        let files = compiler.compile(&mut checked).expect("it compiles").files;
        // `scaled` writes to the buffer immediately, `picked` may still fail.
        for (name, at_once) in [("float", true), ("int32_t", false)] {
            let made = format!("sizeof({name}), {at_once}");
            assert!(files.source.contains(&made), "{made}");
        }
        for (name, text) in [("results.h", &files.header), ("results.c", &files.source)] {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        let host = folder.path().join("host");
        let compiled = Command::new("gcc")
            .args("-std=c11 -O2 -Wall -Wextra -Werror -fsanitize=address,undefined".split(' '))
            .args(["-fno-sanitize-recover=all", "-I"])
            .args([folder.path(), &data.join("host.c")])
            .args([&folder.path().join("results.c"), Path::new("-o"), &host])
            .args(["-lm", "-pthread"])
            .status()
            .expect("gcc runs");
        assert!(compiled.success(), "the host does not compile");
        let output = Command::new(host).output().expect("the host runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            read("expected.txt"),
            "{errors}"
        );
    }
}

/// Returns the condition on which a program makes its result in the caller's buffer.
fn condition(text: &str, target: Target) -> String {
    let options = Options {
        target,
        ..Options::default()
    };
    let compiler = Compiler::new(options);
    let source = Source::text("result.nova", text);
    let mut checked = compiler.check(source).expect("the program has no errors");
    let source = compiler
        .compile(&mut checked)
        .expect("it compiles")
        .files
        .source;
    let words: Vec<&str> = source.split_whitespace().collect();
    let words = words.join(" ");
    let calls: Vec<&str> = words.split("nova_make_result(context, ").skip(1).collect();
    let [call] = calls[..] else {
        panic!("{} results are made", calls.len());
    };
    let condition = call.split(", ").nth(2).expect("the condition");
    condition.to_string()
}

/// A result is made in the caller's buffer if nothing can fail behind its first write. Before that,
/// memory may be missing.
#[test]
fn memory_that_is_taken_before_the_first_write_may_be_missing() {
    let scan = "((X : vector int)) (scan + 0 X)";
    assert_eq!(condition(scan, Target::Cuda), "nova_may_fill(context)");
    let counts = "((X : vector int)) (histogram + 0 256 X (map (lambda (x) 1) X))";
    assert_eq!(condition(counts, Target::Pthreads), "true");
    // The elements are checked while they are written.
    let picked = "((X : vector int)) (map (lambda (x) (X ! x)) X)";
    assert_eq!(condition(picked, Target::Pthreads), "false");
}
