//! Programs as `lexpr::Value`, the form in which Rust front ends hold S-expressions.
//!
//! Such a program becomes text in canonical layout, which is then read like any other. So messages
//! can show the text they are about. A front end's own places are given by `(at "file" line column
//! e)`. The outermost list holds the top-level forms. The table has the notation for words that
//! Rust's or Scheme's tokens lack:
//!
//! | NOVA | `lexpr::Value` | in `sexp!` |
//! | --- | --- | --- |
//! | `(x : int)` | the symbol `:` | `(x : int)` |
//! | `(a, b)` | the symbol `,`, or `(unquote b)` after `a` | `(a # "," b)` |
//! | `'a` | the symbol `'a`, or `(quote a)` | `# "'a"` |
//! | `[1 2]` | a vector | `#(1 2)` |
//! | `x.0`, `(e . 0)` | the symbol `x.0`, or the pair of `e` and 0 | `# "x.0"`, `(e . 0)` |
//! | `1.0L`, `7u8` | the symbols `1.0L`, `7u8` | `# "1.0L"` |
//! | `vector#2`, `Cons*`, `a_long-name` | symbols | `# "vector#2"` |
//! | `true`, `nil`, `()` | booleans or symbols, nil, the empty list | `#t`, `#nil`, `()` |
//!
//! (Before Rust 2024 also `#","` without the blank.) A symbol may hold several tokens, such as `x:`
//! or `a,b`. It is read as these tokens.

use crate::ast::Program;
use crate::datum::{Data, write_text};
use crate::format::format;
use crate::parse::parse_data;
use crate::positions::resolve_positions;
use crate::reader::read;
use lexpr::Value;
use nova_diag::{Diagnostic, FileId, SourceMap, Span, codes};

impl Data {
    /// Returns the data of a program from a front end, with its `(at …)` forms resolved.
    ///
    /// Its text is added to `sources` under `name`. A value without a form in the language (a
    /// character, an infinite number) is a diagnostic.
    pub fn from_lexpr(
        program: &Value,
        name: &str,
        sources: &mut SourceMap,
    ) -> (Data, FileId, Vec<Diagnostic>) {
        let text = match program_text(program) {
            Ok(text) => text,
            Err(message) => {
                let file = sources.add(name, "");
                let span = Span::new(file, 0, 0);
                let error = Diagnostic::error(codes::UNEXPECTED_TOKEN, span, message);
                return (Data::default(), file, vec![error]);
            }
        };
        let file = sources.add(name, text.as_str());
        let (mut data, diagnostics) = read(&text, file);
        resolve_positions(&mut data, sources);
        (data, file, diagnostics)
    }
}

/// Does the work of [`crate::parse()`] for a program that a front end provides as data.
pub fn parse_lexpr(
    program: &Value,
    name: &str,
    sources: &mut SourceMap,
    default_name: &str,
) -> (Program, Vec<Diagnostic>) {
    let (data, file, mut diagnostics) = Data::from_lexpr(program, name, sources);
    if data.roots().is_empty() && !diagnostics.is_empty() {
        return (Program::default(), diagnostics);
    }
    let end = sources.source(file).text.len() as u32;
    let (program, more) = parse_data(&data, Span::new(file, end, end), default_name);
    diagnostics.extend(more);
    crate::parse::sort(&mut diagnostics);
    (program, diagnostics)
}

/// Returns the text of a program. The items of the outermost list are its top-level forms.
///
/// The error names something that has no form in the language.
pub fn program_text(program: &Value) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = program;
    while let Value::Cons(pair) = rest {
        write(pair.car(), &mut out)?;
        out.push('\n');
        rest = pair.cdr();
    }
    match rest {
        Value::Null | Value::Nil => Ok(format(&out).unwrap_or(out)),
        _ => Err("a program is a list of its top-level forms".into()),
    }
}

/// A step of writing that is still to come.
enum Step<'a> {
    Value(&'a Value),
    /// The rest of a list after an item.
    Rest(&'a Value),
    Text(&'static str),
}

fn write(value: &Value, out: &mut String) -> Result<(), String> {
    let mut work = vec![Step::Value(value)];
    while let Some(step) = work.pop() {
        match step {
            Step::Text(text) => out.push_str(text),
            Step::Value(value) => write_value(value, out, &mut work)?,
            Step::Rest(Value::Null) => out.push(')'),
            Step::Rest(Value::Cons(pair)) => {
                out.push(' ');
                work.push(Step::Rest(pair.cdr()));
                work.push(Step::Value(pair.car()));
            }
            Step::Rest(tail) => {
                out.push_str(" . ");
                work.push(Step::Text(")"));
                work.push(Step::Value(tail));
            }
        }
    }
    Ok(())
}

fn write_value<'a>(
    value: &'a Value,
    out: &mut String,
    work: &mut Vec<Step<'a>>,
) -> Result<(), String> {
    match value {
        Value::Nil => out.push_str("nil"),
        Value::Null => out.push_str("()"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(&number_text(number)?),
        Value::Char(character) => {
            return Err(format!(
                "the language has no characters (here {character:?}); use their numbers"
            ));
        }
        Value::String(text) => out.push_str(&write_text(text.as_bytes())),
        Value::Bytes(bytes) => out.push_str(&write_text(bytes)),
        Value::Symbol(name) => out.push_str(checked(name)?),
        Value::Keyword(name) => {
            out.push_str(": ");
            out.push_str(checked(name)?);
        }
        Value::Cons(pair) => match quotation(value) {
            Some((mark, quoted)) => {
                out.push_str(mark);
                work.push(Step::Value(quoted));
            }
            None => {
                out.push('(');
                work.push(Step::Rest(pair.cdr()));
                work.push(Step::Value(pair.car()));
            }
        },
        Value::Vector(items) => {
            out.push('[');
            work.push(Step::Text("]"));
            for (index, item) in items.iter().enumerate().rev() {
                work.push(Step::Value(item));
                if index > 0 {
                    work.push(Step::Text(" "));
                }
            }
        }
    }
    Ok(())
}

/// Returns `'a` and `, b` in the form of Scheme readers.
fn quotation(value: &Value) -> Option<(&'static str, &Value)> {
    let (head, rest) = value.as_pair()?;
    let (quoted, end) = rest.as_pair()?;
    let mark = match (head.as_symbol()?, end) {
        ("quote", Value::Null) if quoted.is_symbol() => "'",
        ("unquote", Value::Null) => ", ",
        _ => return None,
    };
    Some((mark, quoted))
}

/// Returns a symbol that reads back as tokens of its own.
fn checked(name: &str) -> Result<&str, String> {
    let breaks = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']' | ';' | '"');
    if name.is_empty() || name.contains(breaks) || name.contains("#|") {
        return Err(format!("no name is written like the symbol {name:?}"));
    }
    Ok(name)
}

fn number_text(number: &lexpr::Number) -> Result<String, String> {
    if let Some(integer) = number.as_i64() {
        return Ok(integer.to_string());
    }
    if let Some(integer) = number.as_u64() {
        return Ok(integer.to_string());
    }
    match number.as_f64() {
        Some(float) if float.is_finite() => Ok(format!("{float:?}")),
        _ => Err(format!("no literal is written like the number {number}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lexpr::sexp;

    #[test]
    fn forms_of_the_macro() {
        let program = sexp!((
            ((X : vector float) (n : int))
            (types (Point : (float # "," float)))
            (let (p (map (lambda (x : # "'a") : float (+ x -1)) #(1 2.5 1e300)))
                 (q (f . 0)) (r # "x.0")
             in (trace "a\tb" #t #nil () (- p ! # "7u8")))
        ));
        let expected = "\
((X : vector float) (n : int))
(types (Point : (float, float)))
(let (p (map (lambda (x : 'a) : float (+ x -1)) [1 2.5 1e300]))
     (q (f . 0))
     (r x.0)
  in (trace \"a\\tb\" true nil () (- p ! 7u8)))
";
        assert_eq!(program_text(&program).as_deref(), Ok(expected));
    }

    #[test]
    fn forms_that_lexpr_read() {
        let program = "(((x : (List 'a)) (y :int)) (f (a, b) (a ,b) x.0 (x . 1)))";
        let program = lexpr::from_str(program).expect("S-expressions");
        let expected = "((x : (List 'a)) (y : int))\n(f (a, b) (a, b) x.0 (x . 1))\n";
        assert_eq!(program_text(&program).as_deref(), Ok(expected));
    }

    #[test]
    fn forms_of_data_parallel_recursion() {
        let program = sexp!((
            ((x : (# "List*" int (List int))))
            (foreach (x (up # "Nil*")) (f _)
                (case x (# "Nil*" # "Nil*") (# "Cons*" (v # "," l) (# "Cons*" (v # "," (f l))))))
        ));
        let expected = "\
((x : (List* int (List int))))
(foreach (x (up Nil*)) (f _)
  (case x (Nil* Nil*) (Cons* (v, l) (Cons* (v, (f l))))))
";
        assert_eq!(program_text(&program).as_deref(), Ok(expected));
        let mut sources = SourceMap::new();
        let (_, diagnostics) = parse_lexpr(&program, "p", &mut sources, "p");
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
    }

    #[test]
    fn places_of_the_front_end() {
        let program = sexp!((() (at "main.py" 7 3 (f (at "main.py" 8 5 y) "a"))));
        let mut sources = SourceMap::new();
        let (program, diagnostics) = parse_lexpr(&program, "main", &mut sources, "main");
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let place = |id: usize| sources.place(program.arena[id].span).to_string();
        let places: Vec<String> = (0..program.arena.len()).map(place).collect();
        assert_eq!(
            places,
            ["main.py:7:3", "main.py:8:5", "main.py:7:3", "main.py:7:3"]
        );
    }

    #[test]
    fn what_has_no_words() {
        for value in [
            sexp!(('c')),
            sexp!((# "a b")),
            sexp!((# "a(")),
            sexp!(5),
            Value::list([f64::INFINITY]),
        ] {
            let mut sources = SourceMap::new();
            let (_, diagnostics) = parse_lexpr(&value, "p", &mut sources, "p");
            assert_eq!(diagnostics.len(), 1, "{value}");
        }
    }

    #[test]
    fn long_and_deep_programs() {
        let mut value = Value::symbol("x");
        for _ in 0..100_000 {
            value = Value::cons(value, Value::Null);
        }
        let value = std::mem::ManuallyDrop::new(Value::list([value]));
        assert!(program_text(&value).is_ok());
        let long = Value::list((0..100_000).map(Value::from).collect::<Vec<_>>());
        let long = std::mem::ManuallyDrop::new(long);
        assert!(program_text(&long).is_ok());
    }
}
