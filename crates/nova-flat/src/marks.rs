//! Marks of a profile, which stand around the statements whose time is taken. A mark is a trace of a type
//! that no value of a program has, a tuple of one element. So passes keep marks and their order, as they
//! keep traces. C calls functions of the runtime in their place, and shows no value.

use crate::ir::{Atom, Expression};
use nova_core::{Scalar, Type};

/// The character between the fields of the text of a mark.
const SEPARATOR: char = '\n';

/// A mark, without the numbers that it passes to the runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The row of the profile.
    pub row: u32,
    /// The words for what begins, and its place in the source; none at the end.
    pub texts: Vec<String>,
}

impl Mark {
    /// Returns the statement's expression that begins a row.
    pub fn begin(row: u32, what: &str, place: &str) -> Expression {
        let place = place.replace(SEPARATOR, " ");
        let text = format!("{row}{SEPARATOR}{what}{SEPARATOR}{place}");
        Expression::Trace {
            text: text.as_bytes().into(),
            ty: Type::Tuple(vec![Type::Unit].into()),
            components: Vec::new(),
        }
    }

    /// Returns the expression that ends a row: iterations, bytes read and bytes written, all `i64`, of
    /// which -1 stands for unknown bytes.
    pub fn end(row: u32, numbers: [Atom; 3]) -> Expression {
        let numbers_type = Type::tuple(vec![Type::Scalar(Scalar::I64); numbers.len()]);
        Expression::Trace {
            text: row.to_string().as_bytes().into(),
            ty: Type::Tuple(vec![numbers_type].into()),
            components: numbers.to_vec(),
        }
    }

    /// Reads the text of a trace of a type; `None` if it is no mark.
    pub fn read(text: &[u8], ty: &Type) -> Option<Mark> {
        if !matches!(ty, Type::Tuple(elements) if elements.len() == 1) {
            return None;
        }
        let mut fields = std::str::from_utf8(text).ok()?.split(SEPARATOR);
        let row = fields.next()?.parse().ok()?;
        let texts = fields.map(str::to_string).collect();
        Some(Mark { row, texts })
    }

    /// Returns the function of the runtime that takes the row, the texts and the numbers.
    pub fn function(&self) -> &'static str {
        match self.texts.is_empty() {
            true => "nova_end_loop",
            false => "nova_begin_loop",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(expression: Expression) -> Option<Mark> {
        match expression {
            Expression::Trace { text, ty, .. } => Mark::read(&text, &ty),
            _others => None,
        }
    }

    #[test]
    fn marks_are_read_as_they_are_made() {
        let begin = read(Mark::begin(3, "map, reduce", "a.nova:1:2")).expect("a mark");
        assert_eq!(begin.row, 3);
        assert_eq!(begin.texts, ["map, reduce", "a.nova:1:2"]);
        assert_eq!(begin.function(), "nova_begin_loop");
        let end = read(Mark::end(7, [Atom::index(1); 3])).expect("a mark");
        assert_eq!((end.row, end.function()), (7, "nova_end_loop"));
        assert!(end.texts.is_empty());
        let nowhere = read(Mark::begin(0, "loop", "")).expect("a mark");
        assert_eq!(nowhere.function(), "nova_begin_loop");
    }

    #[test]
    fn traces_of_programs_are_no_marks() {
        let integer = Type::Scalar(Scalar::I64);
        let pair = Type::tuple(vec![integer.clone(), integer.clone()]);
        for ty in [
            Type::Unit,
            integer.clone(),
            pair,
            Type::tuple(vec![integer]),
        ] {
            assert_eq!(Mark::read(b"1\nmap\na.nova:1:1", &ty), None);
        }
    }
}
