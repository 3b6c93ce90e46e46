//! Tests of the files that every target uses.

use crate::compile::{self, WATCHED};

/// Compiles and runs one test.
fn check(name: &str) {
    check_with(name, &[]);
}

/// Compiles and runs one test under ThreadSanitizer.
fn check_with_threads(name: &str) {
    let variants = compile::both_languages(["c_threads", "c++_threads"], &["-fsanitize=thread"]);
    let tried = variants
        .into_iter()
        .filter(|v| languages(name).contains(&v.language));
    tried.for_each(|variant| compile::check(name, variant, &[]));
}

/// Returns the languages as which a test is compiled: for each change, one of both.
fn languages(name: &str) -> &'static [&'static str] {
    match compile::tries_all() {
        true => &["c", "c++"],
        false if name.len().is_multiple_of(2) => &["c"],
        false => &["c++"],
    }
}

/// Compiles and runs one test with more flags.
fn check_with(name: &str, flags: &[&str]) {
    check_languages(name, flags, languages(name));
}

/// Compiles and runs one test in these languages, with more flags.
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
fn buffer_pairs() {
    check("buffer_pairs");
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
fn loop_profile() {
    check("loop_profile");
    check_with_threads("loop_profile");
}

#[test]
fn reclaim() {
    check("reclaim");
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
fn fixed_blocks() {
    check("fixed_blocks");
}

#[test]
fn fixed_blocks_with_what_the_processor_has() {
    check_languages("fixed_blocks", &["-march=native", "-O3"], &["c"]);
}

#[test]
fn word_sorts() {
    check("word_sorts");
}

#[test]
fn panels() {
    check("panels");
}

#[test]
fn panels_with_what_the_processor_has() {
    check_with("panels", &["-march=native", "-O3"]);
}

#[test]
fn gathers() {
    check("gathers");
}

#[test]
fn gathers_with_what_the_processor_has() {
    check_languages("gathers", &["-march=native", "-O3"], &["c++"]);
}

#[test]
fn prefix_scans() {
    check("prefix_scans");
    check_languages("prefix_scans", &["-DNOVA_PREFIX_BYTES=0"], &["c"]);
}

#[test]
fn prefix_scans_with_what_the_processor_has() {
    check_languages("prefix_scans", &["-march=native", "-O3"], &["c"]);
    if cfg!(target_arch = "x86_64") {
        check_languages("prefix_scans", &["-mssse3", "-O2"], &["c++"]);
    }
}

#[test]
fn nodes() {
    check("nodes");
}

#[test]
fn reached() {
    check("reached");
}

#[test]
fn text() {
    check("text");
}

#[test]
fn fast_math() {
    check("fast_math");
    if cfg!(target_arch = "x86_64") {
        // This uses contraction, and estimates of square roots if this processor has them.
        check_with("fast_math", &["-march=native", "-ffp-contract=fast"]);
    }
}

#[test]
fn bounded_math() {
    check("bounded_math");
    if cfg!(target_arch = "x86_64") {
        // Without fused multiply-add, and with what this processor has.
        check_with("bounded_math", &["-march=x86-64", "-ffp-contract=off"]);
        check_with("bounded_math", &["-march=native", "-ffp-contract=fast"]);
    }
}

#[test]
fn non_temporal() {
    check("non_temporal");
}
