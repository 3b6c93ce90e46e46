//! The pages of the codes: the sections of docs/errors.md, which stand in the compiler too.

use crate::codes::{self, Code};

/// The whole of docs/errors.md.
pub const BOOK: &str = include_str!("../../../docs/errors.md");

/// Returns the section of a code: its heading, an explanation, and a wrong program with its correction
/// where a program can show the error. `None` for a code without a section, which tests exclude.
pub fn page(code: Code) -> Option<&'static str> {
    let heading = format!("## {code}: ");
    let begin = BOOK.find(&heading)?;
    let rest = BOOK.get(begin..)?;
    let end = rest
        .get(3..)?
        .find("\n## ")
        .map_or(rest.len(), |end| end + 3);
    rest.get(..end).map(str::trim_end)
}

/// Returns the code that a text such as `N0203` or `n203` names, if there is one.
pub fn named(text: &str) -> Option<Code> {
    let digits = text.strip_prefix(['N', 'n'])?;
    let code = Code(digits.parse().ok()?);
    codes::ALL
        .iter()
        .any(|(known, _)| *known == code)
        .then_some(code)
}

/// Returns the programs of a page in fences with a word behind `nova`: `wrong` or `right`.
pub fn program(page: &'static str, word: &str) -> Option<&'static str> {
    let fence = format!("```nova {word}\n");
    let begin = page.find(&fence)? + fence.len();
    let rest = page.get(begin..)?;
    rest.get(..rest.find("```")?)
}
