//! What the fuzz targets run.
//!
//! [`read`] takes a text through reader, parser and formatter, [`check`] through the whole front
//! end to verified Core, and [`files`] the readers of files. Errors of the input are fine; a panic, a hang and a stack overflow are
//! findings. [`mutate`] knows the structure of texts, next to libFuzzer's own mutations.

pub mod files;
pub mod mutate;
mod stack;

pub use stack::report_overflow;

use nova_diag::{Diagnostic, SourceMap};
use nova_syntax::ast::Program;
use nova_syntax::format::format;
use nova_syntax::parse::{has_errors, parse};

/// Reader, parser, messages, and a formatter that is idempotent.
pub fn read(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (sources, _, diagnostics) = parsed(&text);
    for diagnostic in &diagnostics {
        nova_diag::render_text(&sources, diagnostic);
        nova_diag::render_json(&sources, diagnostic);
    }
    if let Ok(once) = format(&text) {
        let twice = format(&once);
        assert_eq!(Ok(&once), twice.as_ref(), "the formatter is not idempotent");
    }
}

/// Parser, inference, messages, and the verifier on the Core of a program without errors.
pub fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (sources, program, mut diagnostics) = parsed(&text);
    let checked = nova_infer::infer(&program, &sources);
    diagnostics.extend(checked.diagnostics);
    for diagnostic in &diagnostics {
        nova_diag::render_text(&sources, diagnostic);
    }
    if let Some(core) = checked.program
        && !has_errors(&diagnostics)
    {
        let verified = nova_core::verify::verify(&core);
        assert!(verified.is_ok(), "the verifier of Core refuses the result");
    }
}

fn parsed(text: &str) -> (SourceMap, Program, Vec<Diagnostic>) {
    let mut sources = SourceMap::new();
    let file = sources.add("fuzz.nova", text);
    let (program, diagnostics) = parse(text, file, &mut sources, "fuzz");
    (sources, program, diagnostics)
}

/// The functions libFuzzer looks for, around a function of a text.
#[macro_export]
macro_rules! target {
    ($run:path) => {
        libfuzzer_sys::fuzz_target!(init: $crate::report_overflow(), |input: &[u8]| {
            $run(input)
        });
        libfuzzer_sys::fuzz_mutator!(
            |data: &mut [u8], size: usize, max_size: usize, seed: u32| {
                $crate::mutate::mutate(data, size, max_size, seed)
            }
        );
        libfuzzer_sys::fuzz_crossover!(
            |data1: &[u8], data2: &[u8], out: &mut [u8], seed: u32| {
                $crate::mutate::cross(data1, data2, out, seed)
            }
        );
    };
}
