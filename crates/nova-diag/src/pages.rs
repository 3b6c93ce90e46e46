//! The pages of the codes: the sections of docs/errors.md, which stand in the compiler too. A link in the
//! folder of the crate leads to the page.

use crate::codes::Code;

/// The whole of docs/errors.md.
pub const BOOK: &str = include_str!("../errors.md");

/// Returns the section of a code: its heading, an explanation, and a wrong program with its correction
/// where a program can show the error. `None` for a code that is not in the table.
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

/// Returns the code that a text is written like, such as `N0203` or `n0203`, whether it is in the table
/// or not. `None` for all other texts.
pub fn code_written(text: &str) -> Option<Code> {
    let digits = text.strip_prefix(['N', 'n'])?;
    let is_code = digits.len() == 4 && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_code.then(|| digits.parse().ok().map(Code)).flatten()
}

/// Returns the program of a page in the fence with a word after `nova`: `wrong` or `right`.
pub fn program(page: &'static str, word: &str) -> Option<&'static str> {
    let fence = format!("```nova {word}\n");
    let begin = page.find(&fence)? + fence.len();
    let rest = page.get(begin..)?;
    rest.get(..rest.find("```")?)
}
