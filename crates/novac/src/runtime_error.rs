//! Errors of a running program, with the line of source they are about.

use nova_diag::{Place, SourceMap};
use nova_exec::error::split_place;
use std::fmt::Write;

/// A line shown is cut to this many characters.
const LINE: usize = 120;

/// `error: dot.nova:3:12: index 5 is out of range for length 3`, and the line with the place marked.
pub fn render(message: &str, sources: &SourceMap) -> String {
    let mut text = format!("error: {message}\n");
    if let (Some(place), _) = split_place(message)
        && let Some(line) = source_line(&place, sources)
    {
        let number = place.line.to_string();
        let gutter = " ".repeat(number.len());
        let column = place.column.saturating_sub(1) as usize;
        let from = column.saturating_sub(LINE / 2);
        let shown: String = line.chars().skip(from).take(LINE).collect();
        let marker = " ".repeat(column - from);
        // Writing to a String cannot fail.
        let _ = write!(text, "{gutter} |\n{number} | {shown}\n{gutter} | {marker}^");
    }
    text
}

/// The text of the line that a place names by its file's name without folders.
fn source_line(place: &Place, sources: &SourceMap) -> Option<String> {
    let named = |name: &str| name.rsplit('/').next() == Some(&*place.file);
    let source = sources
        .ids()
        .map(|id| sources.source(id))
        .find(|source| named(&source.name) && !source.text.is_empty())?;
    let line = source
        .text
        .lines()
        .nth((place.line as usize).checked_sub(1)?)?;
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    Some(line.chars().map(visible).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_shown() {
        let mut sources = SourceMap::new();
        sources.add("dir/a.nova", "()\n(v ! 5)\n");
        let text = render("a.nova:2:4: division by zero", &sources);
        let expected = "error: a.nova:2:4: division by zero\n  |\n2 | (v ! 5)\n  |    ^";
        assert_eq!(text, expected);
        assert_eq!(render("no place", &sources), "error: no place\n");
    }
}
