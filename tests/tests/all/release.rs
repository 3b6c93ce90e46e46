//! Tests that `NAME_free_result` frees all memory that a result owns, for every kind of result,
//! under AddressSanitizer with its search for leaks.

use nova_driver::{Compiler, Options, Source, Target};
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = include_str!("release/results.nova");
const HOST: &str = include_str!("release/host.c");

fn build_and_run(folder: &Path, compiler: &str, arguments: &str) {
    let mut command = Command::new(compiler);
    command
        .current_dir(folder)
        .args("-g1 -Wall -Wextra -Werror -fsanitize=address,undefined -pthread -o host".split(' '))
        .args(arguments.split(' '))
        .args(["host.c", "results.c", "-lm"]);
    let output = command.output().expect("a compiler");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{compiler}: {messages}");
    let output = Command::new(folder.join("host")).output().expect("it runs");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && messages.is_empty(), "{messages}");
    assert_eq!(output.stdout, b"done\n");
}

#[test]
fn results_are_freed_as_a_whole() {
    for target in [Target::Sequential, Target::Pthreads] {
        let folder = tempfile::tempdir().expect("a folder");
        let options = Options {
            target,
            ..Options::default()
        };
        let compiler = Compiler::new(options);
        let source = Source::text("results.nova", PROGRAM);
        let mut checked = compiler.check(source).unwrap_or_else(|e| panic!("{e}"));
        let files = compiler.compile(&mut checked).expect("its C").files;
        // One array is freed by `free`, and a result without memory is not freed.
        for entry in ["flat", "number", "pairs"] {
            assert!(!files.header.contains(&format!("{entry}_free_result")));
        }
        for (name, text) in [
            ("results.h", &*files.header),
            ("results.c", &*files.source),
            ("host.c", HOST),
        ] {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        build_and_run(folder.path(), "gcc", "-std=c11");
        build_and_run(folder.path(), "g++", "-std=c++17 -x c++");
    }
}
