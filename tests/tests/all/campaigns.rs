//! Campaigns of random programs: a program that crashes is reported, with its seed.

use std::process::Command;

/// Runs random programs whose C contains a header.
fn random_programs(header: &str, arguments: &[&str]) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("header.h");
    std::fs::write(&path, header).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_random-programs"))
        .args(arguments)
        .env("CFLAGS", format!("-include {}", path.display()))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success(), text)
}

#[test]
fn programs_that_run_are_counted() {
    let (passed, text) = random_programs("", &["2", "3", "all"]);
    assert!(passed && text.contains("programs: 2"), "{text}");
    assert!(text.contains("disagreements: 0"), "{text}");
}

#[test]
fn a_crash_is_a_disagreement() {
    let crash = "static __attribute__((constructor)) void crash(void) { __builtin_trap(); }";
    let (passed, text) = random_programs(crash, &["2", "3", "all"]);
    assert!(!passed, "{text}");
    for seed in [3, 4] {
        let line = format!("DISAGREEMENT random{seed} (all, C -O1): signal: ");
        assert!(text.contains(&line), "{text}");
    }
    assert!(text.contains("disagreements: 2"), "{text}");
}
