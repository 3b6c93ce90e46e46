//! Directives that name lines of the source (`#line`). Compilers count on from a directive, but all of a
//! loop comes from one line. So each of its lines gets the directive.

use super::without_trigraphs;
use nova_diag::Place;

/// The directive for lines of the C file itself, whose number is not yet known.
const OWN: &str = "#line own";

/// Returns the text of a directive.
pub(super) fn directive(place: Option<&Place>) -> String {
    match place {
        None => OWN.into(),
        Some(place) => named(place.line, &place.file),
    }
}

fn named(line: u32, file: &str) -> String {
    let file = file.replace('\\', "\\\\").replace('"', "\\\"");
    without_trigraphs(&format!("#line {line} \"{file}\""))
}

/// Returns the text of a C file whose lines have the right directives, where it has a directive for
/// each part.
pub(super) fn numbered(text: &str, file: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut place: Option<String> = None;
    // True if the last line was one of the source.
    let mut is_elsewhere = false;
    for line in text.lines() {
        let start = line.trim_start();
        if start.starts_with("#line ") {
            place = (start != OWN).then(|| start.to_owned());
            continue;
        }
        if let Some(directive) = &place {
            lines.push(directive.clone());
            is_elsewhere = true;
        } else if is_elsewhere {
            // The directive is on the line after those so far, and numbers the next one.
            lines.push(named(lines.len() as u32 + 2, file));
            is_elsewhere = false;
        }
        lines.push(line.to_owned());
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_after_a_loop_have_their_own_numbers() {
        let text = "a\n#line 7 \"x.nova\"\nb\nc\n    #line own\n#line own\nd\ne\n";
        let expected = "a\n#line 7 \"x.nova\"\nb\n#line 7 \"x.nova\"\nc\n#line 7 \"x.c\"\nd\ne\n";
        assert_eq!(numbered(text, "x.c"), expected);
    }

    #[test]
    fn names_of_files_are_texts_of_c() {
        let place = Place::new("a\\\"b??/.nova", 3, 1);
        let expected = "#line 3 \"a\\\\\\\"b?\\\n?/.nova\"";
        assert_eq!(directive(Some(&place)), expected);
    }
}
