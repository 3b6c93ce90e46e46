//! Writing of forms: lines with their indentation, and the text of constructs of every representation.

use crate::ir::Foreign;
use crate::{Member, ScalarValue, SumType, Type};
use nova_diag::{Place, deep};
use nova_syntax::datum::write_text;
use std::fmt::Write;
use std::sync::Arc;

/// The largest indentation in columns, so that texts of deep programs stay linear in their size.
const DEEPEST_INDENT: usize = 60;

/// A text that is built form by form, many of them on lines of their own.
pub struct Lines {
    text: String,
    /// The indentation depth of the next lines.
    pub indent: usize,
}

impl Lines {
    /// Creates lines that follow a first text.
    pub fn new(text: &str, indent: usize) -> Lines {
        let text = text.to_string();
        Lines { text, indent }
    }

    /// Appends to the line.
    pub fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Starts a line.
    pub fn line(&mut self) {
        self.text.push('\n');
        let columns = (2 * self.indent).min(DEEPEST_INDENT);
        self.text.extend(std::iter::repeat_n(' ', columns));
    }

    /// Returns the whole text.
    pub fn finish(self) -> String {
        self.text
    }

    /// Writes `(sum "List" [arguments] [group] ("Nil" unit) …)`, with `(node_of 0)` after the group if it
    /// is a node type.
    pub fn sum(&mut self, sum: &SumType) {
        let name = write_text(sum.name.as_bytes());
        let arguments = bracketed(&sum.arguments, print_type);
        let group = bracketed(&sum.group, |id| id.0.to_string());
        self.line();
        self.text(&format!("(sum {name} {arguments} {group}"));
        if let Some(data) = sum.node_of {
            self.text(&format!(" (node_of {})", data.0));
        }
        self.indent += 1;
        for constructor in &sum.constructors {
            let name = write_text(constructor.name.as_bytes());
            let payload = print_type(&constructor.payload);
            self.line();
            self.text(&format!("({name} {payload})"));
        }
        self.indent -= 1;
        self.text(")");
    }

    /// Writes `(foreign "f" [types] type)`, with the word of its kind before the name if it has one.
    pub fn foreign(&mut self, foreign: &Foreign) {
        let name = write_text(foreign.name.as_bytes());
        let parameters = bracketed(&foreign.parameters, print_type);
        let result = print_type(&foreign.result);
        let word = foreign
            .kind
            .word()
            .map_or(String::new(), |word| format!("{word} "));
        self.line();
        self.text(&format!("(foreign {word}{name} {parameters} {result})"));
    }

    /// Writes `(entry "dot" [("X" (vector f32)) …] f32 "dot")`: an entry whose code is a function.
    pub fn entry(&mut self, name: &str, inputs: &[(Arc<str>, Type)], result: &Type, code: &str) {
        let inputs = bracketed(inputs, |(name, ty)| {
            format!("({} {})", write_text(name.as_bytes()), print_type(ty))
        });
        let (name, code) = (write_text(name.as_bytes()), write_text(code.as_bytes()));
        let result = print_type(result);
        self.line();
        self.text(&format!("(entry {name} {inputs} {result} {code})"));
    }
}

/// Returns the head of a function's form: `(function "dot" recursive takes "dot.nova:1:2"`.
pub fn function_head(name: &str, recursive: bool, takes: bool, place: &Place) -> String {
    let name = write_text(name.as_bytes());
    let recursive = if recursive { " recursive" } else { "" };
    let takes = if takes { " takes" } else { "" };
    format!("(function {name}{recursive}{takes}{}", print_place(place))
}

/// Returns `[a b c]`.
pub fn bracketed<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    let texts: Vec<String> = items.iter().map(text).collect();
    format!("[{}]", texts.join(" "))
}

/// Returns the text of the members of a group: `[[0 2] [1 3]]`.
pub fn print_members(members: &[Member]) -> String {
    bracketed(members, |member| {
        format!("[{} {}]", member.data.0, member.node.0)
    })
}

/// Returns ` "dot.nova:1:2"`, or nothing for the empty place.
pub fn print_place(place: &Place) -> String {
    if *place == Place::new("", 0, 0) {
        return String::new();
    }
    format!(" {}", write_text(place.to_string().as_bytes()))
}

/// True if a character may occur in a symbol.
pub fn is_symbolic(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !"()[],:;\"'.|#@".contains(c)
}

/// Returns the text of a variable: its number after its name, in which characters that are not allowed
/// are replaced.
pub fn numbered(name: &str, number: u32, is_allowed: impl Fn(char) -> bool) -> String {
    let replaced = name.chars().map(|c| if is_allowed(c) { c } else { '-' });
    let name: String = replaced.collect();
    let digit_first = name
        .trim_start_matches('-')
        .starts_with(|c: char| c.is_ascii_digit());
    let prefix = if digit_first { "v" } else { "" };
    format!("{prefix}{name}_{number}")
}

/// Returns the text of a scalar constant.
pub fn print_constant(value: ScalarValue) -> String {
    let float = |value: f64, text: String, suffix: &str, short: &str| {
        if value.is_nan() {
            format!("nan.{short}")
        } else if value.is_infinite() {
            format!("{}inf.{short}", if value < 0.0 { "-" } else { "" })
        } else {
            text + suffix
        }
    };
    match value {
        ScalarValue::I64(v) => v.to_string(),
        ScalarValue::I8(v) => format!("{v}i8"),
        ScalarValue::I16(v) => format!("{v}i16"),
        ScalarValue::I32(v) => format!("{v}i32"),
        ScalarValue::U8(v) => format!("{v}u8"),
        ScalarValue::U16(v) => format!("{v}u16"),
        ScalarValue::U32(v) => format!("{v}u32"),
        ScalarValue::U64(v) => format!("{v}u64"),
        ScalarValue::F32(v) => float(f64::from(v), format!("{v:?}"), "f", "f32"),
        ScalarValue::F64(v) => float(v, format!("{v:?}"), "L", "f64"),
        ScalarValue::Bool(v) => v.to_string(),
    }
}

/// Returns the text of a type of Core.
pub fn print_type(ty: &Type) -> String {
    let mut out = String::new();
    write_type(&mut out, ty);
    out
}

fn write_type(out: &mut String, ty: &Type) {
    deep(|| match ty {
        Type::Scalar(scalar) => out.push_str(scalar.info().short),
        Type::Unit => out.push_str("unit"),
        Type::Tuple(elements) => {
            out.push_str("(tuple");
            for element in elements.iter() {
                out.push(' ');
                write_type(out, element);
            }
            out.push(')');
        }
        Type::Vector(element) => {
            out.push_str("(vector ");
            write_type(out, element);
            out.push(')');
        }
        Type::Array(rank, element) => {
            let _ = write!(out, "(array {rank} ");
            write_type(out, element);
            out.push(')');
        }
        Type::Function(parameter, result) => {
            out.push_str("(-> ");
            write_type(out, parameter);
            out.push(' ');
            write_type(out, result);
            out.push(')');
        }
        Type::Sum(id) => {
            let _ = write!(out, "(sum {})", id.0);
        }
    });
}
