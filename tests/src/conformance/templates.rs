//! Forms of the language, written in the tables as texts with holes.
//!
//! | in a text | is |
//! | --- | --- |
//! | `{T}` | an expression of a type |
//! | `{a -> b}` | a function |
//! | `{T \| $1:U $2:W}` | an expression that may use the names `$1` and `$2` of these types |
//! | `{@word T}` | something special, see [`Special`] |
//! | `<T>` | the text of a type |
//! | `$1` | a new name |

use super::types::{Bindings, Class, Type};

/// A form.
#[derive(Clone, Debug)]
pub struct Form {
    /// Its weight when forms are drawn.
    pub weight: usize,
    /// The type of its value.
    pub result: Type,
    /// Its text.
    pub parts: Vec<Part>,
    /// The first word of the text, by which it is counted.
    pub word: String,
    /// The names that it uses, which nothing may hide.
    pub names: Vec<String>,
    /// True if it takes a function.
    pub second_order: bool,
}

/// A part of a form's text.
#[derive(Clone, Debug)]
pub enum Part {
    /// Text.
    Text(String),
    /// A fresh name.
    Fresh(usize),
    /// The text of a type.
    TypeOf(Type),
    /// An expression to be drawn, with the names that it may use.
    Hole(Type, Vec<(usize, Type)>),
    /// Something special for a type.
    Special(Special, Type),
}

/// The holes that are drawn by rules of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// `@assoc a`: an associative function of two `a`.
    Associative,
    /// `@comm a`: one that commutes, too.
    Commutative,
    /// `@order a`: a total preorder.
    Order,
    /// `@lit s`: a literal.
    Literal,
    /// `@shift i`: a number of bits that may be shifted by.
    Shift,
    /// `@size i`: an integer from 0 to 7; `@size`: of any integer type.
    Size,
    /// `@nat`: an integer from 0 to 7 as an `int`.
    Natural,
    /// `@large a`: a large vector with elements `a`.
    Large,
    /// `@tiny`: an index of the result of a two-dimensional form, 0 to 3.
    Extent,
}

/// The words of special holes.
const SPECIALS: &[(&str, Special)] = &[
    ("@assoc", Special::Associative),
    ("@comm", Special::Commutative),
    ("@order", Special::Order),
    ("@lit", Special::Literal),
    ("@shift", Special::Shift),
    ("@size", Special::Size),
    ("@nat", Special::Natural),
    ("@large", Special::Large),
    ("@tiny", Special::Extent),
];

/// A row of a table: its weight, the type of the value, the text.
pub type Row = (usize, &'static str, &'static str);

impl Form {
    /// Creates the form of a row.
    pub fn new((weight, result, text): &Row) -> Form {
        Form::of(*weight, result, text)
    }

    /// Creates the form of such a row, whose parts are computed while the program runs.
    pub fn of(weight: usize, result: &str, text: &str) -> Form {
        let parts = parse(text);
        let mut names = Vec::new();
        for part in &parts {
            if let Part::Text(text) = part {
                names.extend(words(text));
            }
        }
        let second_order = parts.iter().any(|part| match part {
            Part::Hole(ty, given) => !given.is_empty() || matches!(ty, Type::Function(..)),
            Part::Special(special, _) => {
                matches!(
                    special,
                    Special::Associative | Special::Commutative | Special::Order
                )
            }
            Part::Text(text) => text.contains("mu ("),
            Part::Fresh(_) | Part::TypeOf(_) => false,
        });
        Form {
            weight,
            result: Type::parse(result),
            word: names.first().cloned().unwrap_or_default(),
            parts,
            names,
            second_order,
        }
    }

    /// Returns the forms of a table.
    pub fn all(rows: &[Row]) -> Vec<Form> {
        rows.iter().map(Form::new).collect()
    }

    /// Returns the types of its holes.
    pub fn holes(&self) -> impl Iterator<Item = &Type> {
        self.parts.iter().filter_map(|part| match part {
            Part::Hole(ty, _) | Part::Special(_, ty) => Some(ty),
            Part::Text(_) | Part::Fresh(_) | Part::TypeOf(_) => None,
        })
    }

    /// Returns the types of its variables if its value may have a type.
    pub fn gives(&self, ty: &Type) -> Option<Bindings> {
        let mut bindings = Bindings::default();
        let fits = self.result.matches(ty, &mut bindings);
        fits.then_some(bindings)
    }

    /// True if it mentions floating types, or a class of them.
    pub fn needs_floats(&self) -> bool {
        let floating = |ty: &Type| match ty {
            Type::Variable(letter) => Class::of(*letter) == Class::Float,
            _ => Class::Float.holds(ty),
        };
        let of_part = |part: &Part| match part {
            Part::Hole(ty, _) | Part::Special(_, ty) | Part::TypeOf(ty) => ty.any(&floating),
            Part::Text(text) => text.contains("float") || text.contains("double"),
            Part::Fresh(_) => false,
        };
        self.result.any(&floating) || self.parts.iter().any(of_part)
    }
}

/// Returns the names in a text.
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let ends = |c: char| c.is_whitespace() || "()[],:;\"".contains(c);
    let number = |word: &str| {
        let digits = word.trim_start_matches('-');
        digits.starts_with(|c: char| c.is_ascii_digit())
    };
    text.split(ends)
        .filter(move |word| !word.is_empty() && !word.starts_with('.') && !number(word))
        .map(str::to_string)
}

fn parse(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '<', '$']) {
        let (before, from) = rest.split_at(at);
        parts.push(Part::Text(before.to_string()));
        let close = match from.as_bytes() {
            [b'{', ..] => '}',
            // A comparison, not a type.
            [b'<', b' ' | b'=' | b'<', ..] => {
                let length = if from.starts_with("<=") || from.starts_with("<<") {
                    2
                } else {
                    1
                };
                parts.push(Part::Text(from[..length].to_string()));
                rest = &from[length..];
                continue;
            }
            [b'<', ..] => '>',
            _ => {
                parts.push(Part::Fresh(digit(&from[1..])));
                rest = &from[2..];
                continue;
            }
        };
        // A hole with a function contains `>`. A type between `<` and `>` does not contain `->`.
        let end = from.find(close).unwrap_or(from.len() - 1);
        let inside = &from[1..end];
        parts.push(match close {
            '}' => hole(inside),
            _ => Part::TypeOf(Type::parse(inside)),
        });
        rest = &from[end + 1..];
    }
    parts.push(Part::Text(rest.to_string()));
    parts
}

fn digit(text: &str) -> usize {
    text.chars()
        .next()
        .and_then(|c| c.to_digit(10))
        .unwrap_or(0) as usize
}

fn hole(text: &str) -> Part {
    if let Some((word, special)) = SPECIALS.iter().find(|(word, _)| text.starts_with(word)) {
        let ty = text[word.len()..].trim();
        return Part::Special(*special, Type::parse(ty));
    }
    let (ty, names) = text.split_once('|').unwrap_or((text, ""));
    let names = names.split('$').filter_map(|name| {
        let (number, ty) = name.split_once(':')?;
        Some((digit(number), Type::parse(ty)))
    });
    Part::Hole(Type::parse(ty), names.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_names_and_comparisons_are_told_apart() {
        let form = Form::new(&(
            1,
            "b",
            "(f (<= $1 0) {a -> b} <vector a> {@lit n} {b | $1:int})",
        ));
        assert_eq!(form.names, ["f", "<="]);
        assert!(form.second_order);
        assert_eq!(form.holes().count(), 3);
        let types = form.parts.iter().filter(|p| matches!(p, Part::TypeOf(_)));
        assert_eq!(types.count(), 1);
    }
}
