//! A writer of JSON.

use nova_diag::deep;
use pretty::{Arena, DocAllocator, DocBuilder};

/// The columns of a line.
const WIDTH: usize = 100;

/// A value.
pub enum Json {
    /// `null`.
    Null,
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object, its members in order.
    Object(Vec<(&'static str, Json)>),
}

impl Json {
    /// Returns a string.
    pub fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    /// Returns an object.
    pub fn object(members: impl IntoIterator<Item = (&'static str, Json)>) -> Json {
        Json::Object(members.into_iter().collect())
    }

    /// Returns the text, with a final line end.
    pub fn print(&self) -> String {
        let arena = Arena::new();
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.doc(&arena).into_doc().render_fmt(WIDTH, &mut out);
        out.push('\n');
        out
    }

    fn doc<'a>(&self, arena: &'a Arena<'a>) -> DocBuilder<'a, Arena<'a>> {
        deep(|| match self {
            Json::Null => arena.text("null"),
            Json::Text(text) => arena.text(quoted(text)),
            Json::List(items) => {
                let items = items.iter().map(|item| item.doc(arena)).collect();
                bracketed(arena, "[", items, "]")
            }
            Json::Object(members) => {
                let members = members.iter().map(|(name, value)| {
                    arena
                        .text(format!("{}: ", quoted(name)))
                        .append(value.doc(arena))
                });
                bracketed(arena, "{", members.collect(), "}")
            }
        })
    }
}

fn bracketed<'a>(
    arena: &'a Arena<'a>,
    open: &'static str,
    items: Vec<DocBuilder<'a, Arena<'a>>>,
    close: &'static str,
) -> DocBuilder<'a, Arena<'a>> {
    if items.is_empty() {
        return arena.text(open).append(close);
    }
    let comma = arena.text(",").append(arena.line());
    let inside = arena
        .line_()
        .append(arena.intersperse(items, comma))
        .nest(2);
    arena
        .text(open)
        .append(inside)
        .append(arena.line_())
        .append(close)
        .group()
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_layout() {
        let json = Json::object([
            ("a", Json::List(vec![Json::Null, Json::text("x\"\\\n")])),
            ("b", Json::object([])),
        ]);
        assert_eq!(
            json.print(),
            "{\"a\": [null, \"x\\\"\\\\\\u000a\"], \"b\": {}}\n"
        );
    }
}
