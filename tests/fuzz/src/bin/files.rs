//! Readers of files under libFuzzer, with its own mutations.

#![no_main]

libfuzzer_sys::fuzz_target!(init: nova_fuzz::report_overflow(), |input: &[u8]| {
    nova_fuzz::files::check(input)
});
