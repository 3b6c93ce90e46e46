//! Errors of a running program, with the source line they are about.

use nova_diag::{Place, Position, SourceMap};
use nova_exec::error::split_place;
use std::fmt::Write;

/// Number of characters to which a shown line is shortened.
const LINE: usize = 120;

/// Renders `error: dot.nova:3:12: index 5 is out of range for length 3`, and the line with the
/// place marked. In a front end's file all that is known of the place is marked, and the construct is named.
pub fn render(message: &str, sources: &SourceMap) -> String {
    let mut text = format!("error: {message}\n");
    if let (Some(place), _) = split_place(message)
        && let Some(line) = source_line(&place, sources)
    {
        let number = place.line.to_string();
        let gutter = " ".repeat(number.len());
        let column = place.column.saturating_sub(1) as usize;
        let (shown, column) = shorten(&line, column);
        let position = sources.position_at(&place);
        let rest = shown.chars().count().saturating_sub(column);
        let width = position.map_or(1, |position| width(position, rest));
        let marker = " ".repeat(column) + &"^".repeat(width);
        let construct = position.and_then(|position| position.construct.as_deref());
        let construct = construct.map_or(String::new(), |name| format!(" in `{name}`"));
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "{gutter} |\n{number} | {shown}\n{gutter} | {marker}{construct}"
        );
    }
    text
}

/// Returns the number of characters of a position that stand among the rest of its line.
fn width(position: &Position, rest: usize) -> usize {
    let width = match position.end {
        Some((line, column)) if line == position.line => {
            column.saturating_sub(position.column) as usize
        }
        Some((line, _)) if line > position.line => rest,
        Some(_) | None => 1,
    };
    width.min(rest).max(1)
}

/// Returns the part of a long line around a column, with `…` where text is left out, and the column
/// in it.
fn shorten(line: &str, column: usize) -> (String, usize) {
    let length = line.chars().count();
    if length <= LINE {
        return (line.to_string(), column);
    }
    let from = column.saturating_sub(LINE / 2);
    let mut shown: String = line.chars().skip(from).take(LINE).collect();
    if from + LINE < length {
        shown.push('…');
    }
    match from {
        0 => (shown, column),
        _ => (format!("…{shown}"), column - from + 1),
    }
}

/// Returns the text of the line of a place. The place has the file's name without folders.
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

    #[test]
    fn parts_of_front_ends_files_are_marked() {
        let shown = |end: Option<(u32, u32)>, construct: Option<&str>| {
            let mut sources = SourceMap::new();
            let file = sources.add_positions("dir/a.py", "y = blur(v)\nz\n");
            let position = Position {
                end,
                construct: construct.map(Into::into),
                ..Position::start(1, 5)
            };
            sources.position(file, position);
            let text = render("a.py:1:5: division by zero", &sources);
            text.lines().last().unwrap_or("").to_string()
        };
        assert_eq!(shown(None, None), "  |     ^");
        assert_eq!(shown(Some((1, 12)), None), "  |     ^^^^^^^");
        assert_eq!(
            shown(Some((1, 99)), Some("blur")),
            "  |     ^^^^^^^ in `blur`"
        );
        assert_eq!(shown(Some((2, 1)), None), "  |     ^^^^^^^");
        assert_eq!(shown(Some((1, 2)), None), "  |     ^");
    }

    #[test]
    fn a_long_line_is_cut_visibly() {
        let line = format!("{}(v ! 5){}", "a ".repeat(100), " b".repeat(100));
        let (start, end) = ("a ".repeat(100), " b".repeat(100));
        let shown = |place: &str| {
            let mut sources = SourceMap::new();
            sources.add("a.nova", format!("{line}\n"));
            render(&format!("a.nova:1:{place}: wrong"), &sources)
        };
        let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_string).collect() };
        let first = lines(&shown("1"));
        assert_eq!(first[2], format!("1 | {}…", &start[..120]));
        assert_eq!(first[3], "  | ^");
        let middle = lines(&shown("204"));
        let around = format!("1 | …{}(v ! 5){}…", &start[200 - 57..], &end[..56]);
        assert_eq!(middle[2], around);
        let marked = middle[3].chars().count() - 1;
        assert_eq!(middle[2].chars().nth(marked), Some('!'));
        let last = lines(&shown("407"));
        assert!(last[2].starts_with("1 | …") && last[2].ends_with('b'));
        assert_eq!(last[2].chars().count(), last[3].chars().count());
    }
}
