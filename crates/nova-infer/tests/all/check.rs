//! Wrong programs and the messages about them. `tests/check/NAME.wrong.nova` gives exactly the
//! messages of `NAME.expected`. Its corrected twin `NAME.right.nova` gives no error, and an error
//! points at the text that the correction changes, or a warning where there is no error. The programs `slip_…`
//! are first programs of people who come from other languages. `UPDATE_EXPECTED=1` writes the messages, and
//! then fails so that somebody reads them.

use nova_diag::{Severity, SourceMap, Span};
use std::ops::Range;
use std::path::{Path, PathBuf};

#[test]
fn wrong_programs_get_helpful_messages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/check");
    let update = std::env::var_os("UPDATE_EXPECTED").is_some();
    let mut failures = Vec::new();
    let names = names(&folder);
    assert!(names.len() >= 40, "{} programs", names.len());
    for name in &names {
        check(&folder, name, update, &mut failures);
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
    assert!(!update, "expectations written; read them");
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder of programs")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".wrong.nova").map(str::to_string))
        .collect();
    names.sort();
    names
}

fn check(folder: &Path, name: &str, update: bool, failures: &mut Vec<String>) {
    let path = |suffix: &str| -> PathBuf { folder.join(format!("{name}.{suffix}")) };
    let read = |suffix: &str| std::fs::read_to_string(path(suffix)).unwrap_or_default();
    let (wrong, right) = (read("wrong.nova"), read("right.nova"));
    let outcome = crate::common::check_named(name, &wrong);
    let messages = outcome.messages();
    if update {
        std::fs::write(path("expected"), &messages).expect("the folder can be written");
    } else if messages != read("expected") {
        failures.push(format!("{name}: messages differ\n{messages}"));
    }
    if outcome.diagnostics.is_empty() {
        failures.push(format!("{name}: the wrong program is accepted"));
    }
    let corrected = crate::common::check_named(name, &right);
    if corrected.checked.program.is_none() {
        failures.push(format!(
            "{name}: the correction fails\n{}",
            corrected.messages()
        ));
    }
    let changed = difference(&wrong, &right);
    // Without an error a warning must be about the change.
    let only_warnings = outcome.errors().is_empty();
    let found = outcome.diagnostics.iter();
    let mut found = found.filter(|d| only_warnings || d.severity == Severity::Error);
    if !found.any(|diagnostic| touches(&outcome.sources, diagnostic.primary.span, &changed)) {
        failures.push(format!(
            "{name}: no message points at the change\n{messages}"
        ));
    }
}

/// Returns the bytes of `wrong` that differ from `right`. The range is empty where text is only
/// added.
fn difference(wrong: &str, right: &str) -> Range<usize> {
    let same = |(a, b): &(u8, u8)| a == b;
    let start = wrong.bytes().zip(right.bytes()).take_while(same).count();
    let most = wrong.len().min(right.len()) - start;
    let backwards = wrong.bytes().rev().zip(right.bytes().rev());
    let end = wrong.len() - backwards.take(most).take_while(same).count();
    // Text added after a space could as well be added before it.
    start - spaces(wrong[..start].bytes().rev())..end + spaces(wrong[end..].bytes())
}

fn spaces(bytes: impl Iterator<Item = u8>) -> usize {
    bytes.take_while(u8::is_ascii_whitespace).count()
}

fn touches(sources: &SourceMap, span: Span, changed: &Range<usize>) -> bool {
    let range = sources.byte_range(span);
    range.start <= changed.end && changed.start <= range.end
}
