//! What every target has.

use crate::compile::{self, WATCHED};

/// Compiles and runs one test.
fn check(name: &str) {
    check_with(name, &[]);
}

/// Compiles and runs one test under ThreadSanitizer.
fn check_with_threads(name: &str) {
    for variant in compile::both_languages(["c_threads", "c++_threads"], &["-fsanitize=thread"]) {
        compile::check(name, variant, &[]);
    }
}

/// Compiles and runs one test with more flags.
fn check_with(name: &str, flags: &[&str]) {
    check_languages(name, flags, &["c", "c++"]);
}

/// Compiles and runs one test with more flags, as these languages.
fn check_languages(name: &str, flags: &[&str], languages: &[&str]) {
    let all = [WATCHED, flags].concat();
    let names = ["c", "c++"].map(|language| format!("{language}{}", flags.concat()));
    let variants = compile::both_languages([&names[0], &names[1]], &all).into_iter();
    for variant in variants.filter(|variant| languages.contains(&variant.language)) {
        compile::check(name, variant, &[]);
    }
}

#[test]
fn blocks() {
    check("blocks");
}

#[test]
fn mirrors() {
    check("mirrors");
}

#[test]
fn heap() {
    check("heap");
}

#[test]
fn kernels() {
    check("kernels");
}

#[test]
fn profile() {
    check("profile");
    check_with_threads("profile");
}

#[test]
fn stack() {
    check("stack");
}

#[test]
fn numbers() {
    check("numbers");
}

#[test]
fn few() {
    check("few");
}

#[test]
fn few_with_what_the_processor_has() {
    check_languages("few", &["-march=native", "-O3"], &["c"]);
}

#[test]
fn rounds() {
    check("rounds");
}

#[test]
fn rounds_with_what_the_processor_has() {
    check_languages("rounds", &["-march=native", "-O3"], &["c++"]);
}

#[test]
fn running() {
    check("running");
    check_languages("running", &["-DNOVA_RUN_BYTES=0"], &["c"]);
}

#[test]
fn running_with_what_the_processor_has() {
    check_languages("running", &["-march=native", "-O3"], &["c"]);
    if cfg!(target_arch = "x86_64") {
        check_languages("running", &["-mssse3", "-O2"], &["c++"]);
    }
}

#[test]
fn nodes() {
    check("nodes");
}

#[test]
fn text() {
    check("text");
}

#[test]
fn fast_math() {
    check("fast_math");
    if cfg!(target_arch = "x86_64") {
        // With contraction, and with estimates where this processor has them.
        check_with("fast_math", &["-march=native", "-ffp-contract=fast"]);
    }
}

#[test]
fn streams() {
    check("streams");
}
