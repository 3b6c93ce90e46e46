//! Programs handed over as `lexpr::Value`, the form in which Rust front ends hold S-expressions.
//!
//! They become text first, so that everything after is the same as for a file and a message can show
//! the piece of program it is about; places of the front end come through in
//! `(at "file" line column e)`.

use lexpr::{Cons, Value};
use std::fmt::Write;

/// What is still to be written.
enum Item<'a> {
    Value(&'a Value),
    /// What follows in a list, with a space before it.
    Rest(&'a Value),
    Text(&'static str),
}

/// Writes a program: the items of the outermost list are its top-level forms, a line each.
///
/// The error names a datum that the language has no words for.
pub fn program_text(program: &Value) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = program;
    while let Value::Cons(pair) = rest {
        write(pair.car(), &mut out)?;
        out.push('\n');
        rest = pair.cdr();
    }
    match rest {
        Value::Null | Value::Nil => Ok(out),
        _ => Err("a program is a list of its top-level forms".to_string()),
    }
}

/// Writes one datum; keeps a list of what is still to do, so that nesting costs no stack.
fn write(value: &Value, out: &mut String) -> Result<(), String> {
    let mut work = vec![Item::Value(value)];
    while let Some(item) = work.pop() {
        match item {
            Item::Text(text) => out.push_str(text),
            Item::Value(Value::Cons(pair)) => {
                out.push('(');
                open(pair, &mut work);
            }
            Item::Value(Value::Vector(elements)) => {
                out.push_str("[ ");
                work.push(Item::Text("]"));
                for element in elements.iter().rev() {
                    work.push(Item::Text(" "));
                    work.push(Item::Value(element));
                }
            }
            Item::Value(value) => atom(value, out)?,
            Item::Rest(Value::Cons(pair)) => {
                out.push(' ');
                open(pair, &mut work);
            }
            Item::Rest(Value::Null) => out.push(')'),
            // `(e . k)` is the language's projection, and an improper list in lexpr.
            Item::Rest(value) => {
                out.push_str(" . ");
                work.push(Item::Text(")"));
                work.push(Item::Value(value));
            }
        }
    }
    Ok(())
}

fn open<'a>(pair: &'a Cons, work: &mut Vec<Item<'a>>) {
    work.push(Item::Rest(pair.cdr()));
    work.push(Item::Value(pair.car()));
}

fn atom(value: &Value, out: &mut String) -> Result<(), String> {
    match value {
        Value::Nil => out.push_str("nil"),
        Value::Null => out.push_str("()"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Number(number) => number_text(number, out),
        Value::Char(character) => {
            return Err(format!(
                "the language has no characters (found {character:?}); use their numbers"
            ));
        }
        Value::String(text) => bytes_text(text.as_bytes(), out),
        Value::Bytes(bytes) => bytes_text(bytes, out),
        Value::Symbol(name) => out.push_str(name),
        // `:name` and `name:` are how lexpr reads what stands at a colon.
        Value::Keyword(name) => {
            out.push_str(": ");
            out.push_str(name);
        }
        // Both are taken apart before.
        Value::Cons(_) | Value::Vector(_) => {}
    }
    Ok(())
}

fn number_text(number: &lexpr::Number, out: &mut String) {
    // Writing to a String cannot fail.
    let _ = match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(integer), _, _) => write!(out, "{integer}"),
        (None, Some(integer), _) => write!(out, "{integer}"),
        (None, None, Some(float)) => write!(out, "{float:?}"),
        (None, None, None) => write!(out, "{number}"),
    };
}

fn bytes_text(bytes: &[u8], out: &mut String) {
    out.push('"');
    for byte in bytes {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b' '..=b'~' => out.push(char::from(*byte)),
            byte => {
                let _ = write!(out, "\\x{byte:02X}");
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(program: &str) -> String {
        let value = lexpr::from_str(program).expect("an S-expression");
        program_text(&value).expect("a program")
    }

    #[test]
    fn forms_are_written_as_they_are() {
        assert_eq!(
            text("(((X : vector float)) (reduce + 0 (map (* 2.0) X)))"),
            "((X : vector float))\n(reduce + 0 (map (* 2.0) X))\n"
        );
        assert_eq!(text("((f (p . 1) \"a\\\"b\"))"), "(f (p . 1) \"a\\\"b\")\n");
        assert_eq!(text("(#(1 -2))"), "[ 1 -2 ]\n");
    }

    #[test]
    fn what_is_no_program_says_so() {
        assert!(program_text(&Value::from(1)).is_err());
        assert!(program_text(&Value::list(vec![Value::from('x')])).is_err());
    }
}
