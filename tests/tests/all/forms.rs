//! Test of the forms of one computation, on a few elements: all forms of each give the same. Times are not
//! looked at. It needs a novac that was built beside the tests.

use nova_tests::bench::compile::built_novac;
use std::path::Path;
use std::process::Command;

#[test]
fn ten_programs_in_four_forms_each_agree() {
    let Some(novac) = built_novac() else {
        eprintln!("skipped: there is no novac beside the tests");
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("forms/measure");
    let result = Command::new(script)
        .arg(novac)
        .arg("programs")
        .env("NOVA_FORM_SIZE", "1000")
        .env("NOVA_FORM_ROUNDS", "1")
        .env("NOVA_FORM_FOLDER", folder.path())
        .output()
        .expect("the script starts");
    let text = String::from_utf8_lossy(&result.stdout);
    let errors = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{errors}");
    // A row by hand and four forms of each, and the two lines of the head.
    let rows = text.lines().take_while(|line| line.starts_with('|'));
    assert_eq!(rows.count(), 2 + 10 * 5, "{text}");
    assert!(text.contains(" of 10 computations, "), "{text}");
}
