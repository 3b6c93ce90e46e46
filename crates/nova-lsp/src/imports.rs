//! The edit that imports a file of the standard library.

use crate::text::{Encoding, Text};
use crate::tokens::roots;
use lsp_types::TextEdit;

/// Returns the edit that adds an import: after the last import, else after the inputs, else before the first form
/// and its comment. A comment at the beginning of the file stays there.
pub fn import_edit(text: &Text, name: &str, encoding: Encoding) -> TextEdit {
    let import = format!("(import \"{name}\")");
    let source = &text.text;
    let forms = roots(source);
    let head =
        |form: &std::ops::Range<usize>| source[form.clone()].trim_start_matches('(').trim_start();
    let last = forms.iter().rfind(|form| head(form).starts_with("import"));
    let inputs = forms.first().filter(|form| {
        let inner = source[(*form).clone()].trim_start_matches('(');
        source[(*form).clone()].starts_with("((") && inner.contains(':')
            || source[(*form).clone()] == *"()"
    });
    let (offset, new_text) = match (last.or(inputs), forms.first()) {
        (Some(before), _) => (before.end, format!("\n{import}")),
        (None, Some(first)) => (before_comment(source, first.start), format!("{import}\n")),
        (None, None) => (source.len(), format!("{import}\n")),
    };
    TextEdit {
        range: text.range(offset..offset, encoding),
        new_text,
    }
}

/// Returns the beginning of the comment above a form, unless it is that of the file.
fn before_comment(text: &str, form: usize) -> usize {
    let line_of = |at: usize| text[..at].rfind('\n').map_or(0, |end| end + 1);
    let mut start = line_of(form);
    if !text[start..form].trim().is_empty() {
        return form;
    }
    let own = start;
    while start > 0 {
        let above = line_of(start - 1);
        if !text[above..start].trim_start().starts_with(';') {
            return start;
        }
        start = above;
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(text: &str) -> String {
        let text = Text::new(text);
        let edit = import_edit(&text, "std/lists", Encoding::Utf8);
        text.replaced(edit.range, &edit.new_text, Encoding::Utf8)
            .text
            .to_string()
    }

    #[test]
    fn imports_stand_where_people_write_them() {
        let import = "(import \"std/lists\")";
        assert_eq!(added(""), format!("{import}\n"));
        assert_eq!(added("() x"), format!("()\n{import} x"));
        assert_eq!(
            added("((X : int))\n(import \"a.nova\")\nX"),
            format!("((X : int))\n(import \"a.nova\")\n{import}\nX")
        );
        assert_eq!(
            added("; File.\n\n; One.\n(define (a 1))"),
            format!("; File.\n\n{import}\n; One.\n(define (a 1))")
        );
        assert_eq!(
            added("; File.\n(define (a 1))"),
            format!("; File.\n{import}\n(define (a 1))")
        );
    }
}
