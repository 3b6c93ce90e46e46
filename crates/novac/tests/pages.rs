//! The pages of the codes (docs/errors.md): each code has one, and its programs behave as it says.

use nova_diag::{Code, codes, pages};
use nova_driver::{Compiler, Failure, Options, Source};

/// Codes that no program as text on a page can show: a source that is no UTF-8, forms that the version
/// does not compile yet, a code that no message has, and what depends on the target.
const WITHOUT_PROGRAMS: [Code; 4] = [
    codes::INVALID_UTF8,
    codes::NOT_SUPPORTED,
    codes::UNUSED_EXPRESSION,
    codes::TARGET_CANNOT,
];

/// Returns the codes of the errors and warnings of a program.
fn codes_of(program: &str) -> Vec<Code> {
    let compiler = Compiler::new(Options::default());
    let report = match compiler.check(Source::text("page.nova", program)) {
        Ok(checked) => checked.report,
        Err(Failure::Program(report)) => *report,
        Err(other) => panic!("{other}"),
    };
    report
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code)
        .collect()
}

#[test]
fn every_code_has_a_page_whose_programs_behave() {
    for (code, meaning) in codes::ALL {
        let page = pages::page(*code).unwrap_or_else(|| panic!("{code} has no page"));
        let heading = page.lines().next();
        assert_eq!(heading, Some(format!("## {code}: {meaning}").as_str()));
        let wrong = pages::program(page, "wrong");
        let right = pages::program(page, "right");
        assert_eq!(wrong.is_some(), right.is_some(), "{code}");
        assert_eq!(wrong.is_none(), WITHOUT_PROGRAMS.contains(code), "{code}");
        if let (Some(wrong), Some(right)) = (wrong, right) {
            let found = codes_of(wrong);
            assert!(found.contains(code), "{code}: {found:?}");
            assert_eq!(codes_of(right), [], "{code}: the correction");
        }
    }
}

#[test]
fn pages_are_those_of_the_codes_in_their_order() {
    let headings = pages::BOOK
        .lines()
        .filter_map(|line| line.strip_prefix("## "));
    let written: Vec<&str> = headings
        .filter_map(|heading| heading.split(':').next())
        .collect();
    let codes: Vec<String> = codes::ALL
        .iter()
        .map(|(code, _)| code.to_string())
        .collect();
    assert_eq!(written, codes);
}
