//! The layout of JSON that people read, such as a program's manifest: an array or object stands on one line if it fits, and has its
//! items on a line each if not. serde_json knows only all on one line and each on its own.

use crate::deep;
use pretty::{Arena, DocAllocator, DocBuilder};
use serde_json::Value;

/// The columns of a line.
const WIDTH: usize = 100;

/// Returns the text of a value, with a final line end.
pub fn print(value: &Value) -> String {
    let arena = Arena::new();
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = doc(value, &arena).into_doc().render_fmt(WIDTH, &mut out);
    out.push('\n');
    out
}

fn doc<'a>(value: &Value, arena: &'a Arena<'a>) -> DocBuilder<'a, Arena<'a>> {
    deep(|| match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            arena.text(value.to_string())
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| doc(item, arena)).collect();
            bracketed(arena, "[", items, "]")
        }
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| {
                let name = Value::from(name.as_str());
                arena.text(format!("{name}: ")).append(doc(value, arena))
            });
            bracketed(arena, "{", members.collect(), "}")
        }
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn escapes_and_layout() {
        assert_eq!(
            print(&json!({"b": [null, "x\"\\\n"], "a": {}})),
            "{\"b\": [null, \"x\\\"\\\\\\n\"], \"a\": {}}\n"
        );
        let long = "x".repeat(60);
        assert_eq!(
            print(&json!([long, long])),
            format!("[\n  \"{long}\",\n  \"{long}\"\n]\n")
        );
    }
}
