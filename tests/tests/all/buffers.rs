//! Tests of results in the buffers of a C host, under AddressSanitizer and
//! UndefinedBehaviorSanitizer.

use nova_driver::{Compiler, Options, Source};
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
