//! Data trees: the output of the reader, without any meaning yet.
//!
//! A [`Data`] holds atoms, `( … )` lists and `[ … ]` vectors in one arena with a span for each. The
//! parser of the syntax tree and those of the intermediate representations are tables over it. It
//! is built, walked and dropped without recursion.
//!
//! A parser of a table of forms looks like this:
//!
//! ```
//! # let mut sources = nova_diag::SourceMap::new();
//! # let text = "(binop @add [x_1 7]) (copy \"name\")";
//! # let file = sources.add("t", text);
//! let (data, diagnostics) = nova_syntax::reader::read(text, file);
//! assert!(diagnostics.is_empty());
//! for &root in data.roots() {
//!     match data.form(root) {
//!         Some(("binop", [operator, operands])) => {
//!             assert_eq!(data.as_symbol(*operator), Some("@add"));
//!             let operands = data.as_vector(*operands).unwrap();
//!             assert_eq!(data.as_symbol(operands[0]), Some("x_1"));
//!             assert_eq!(data.as_integer(operands[1]), Some(7));
//!         }
//!         Some(("copy", [name])) => assert_eq!(data.as_string(*name), Some("name")),
//!         _ => panic!("unknown form at {:?}", data.span(root)),
//!     }
//! }
//! ```

use crate::ast::{Number, NumberValue};
use nova_diag::Span;
use std::collections::HashMap;
use std::sync::Arc;

nova_diag::ids! {
    /// Names a datum of a [`Data`].
    pub struct DatumId;
}

/// The kind of a datum, borrowed from its [`Data`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind<'a> {
    /// A name, an operator, a reserved word: `x`, `->`, `@add`, `vector#2`, `.`.
    Symbol(&'a Arc<str>),
    /// `'a`, without the quote.
    TypeVariable(&'a Arc<str>),
    /// A number.
    Number(&'a Number),
    /// `"text"`, its bytes after the escapes.
    Text(&'a Arc<[u8]>),
    /// The token `:`.
    Colon,
    /// The token `,`.
    Comma,
    /// `( … )`.
    List(&'a [DatumId]),
    /// `[ … ]`.
    Vector(&'a [DatumId]),
    /// `x.k` or `(…).k`: the datum before the point, the index, and the span of the index.
    Project(DatumId, u32, Span),
}

/// The brackets around a sequence of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `( … )`.
    Round,
    /// `[ … ]`.
    Square,
}

/// A stored datum. The numbers are indices into the tables of [`Data`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Node {
    Symbol(u32),
    TypeVariable(u32),
    Number(u32),
    Text(u32),
    Colon,
    Comma,
    Sequence {
        shape: Shape,
        first: u32,
        count: u32,
    },
    Project {
        of: DatumId,
        index: u32,
        index_start: u32,
    },
}

/// Data trees with their spans.
#[derive(Clone, Debug, Default)]
pub struct Data {
    pub(crate) nodes: Vec<Node>,
    pub(crate) spans: Vec<Span>,
    /// The items of all sequences. Those of one sequence are adjacent.
    pub(crate) items: Vec<DatumId>,
    pub(crate) roots: Vec<DatumId>,
    names: Vec<Arc<str>>,
    name_index: HashMap<Arc<str>, u32>,
    numbers: Vec<Number>,
    texts: Vec<Arc<[u8]>>,
    /// Roots whose parentheses do not match, ascending.
    pub(crate) broken: Vec<DatumId>,
    /// Atoms with a reported error, ascending.
    pub(crate) wrong: Vec<DatumId>,
    /// True if the end of the text was lost in a comment that is not closed.
    pub(crate) end_lost: bool,
}

impl Data {
    /// Returns the data that stand outside any parentheses, in order.
    pub fn roots(&self) -> &[DatumId] {
        &self.roots
    }

    /// Returns the kind of the datum.
    pub fn kind(&self, id: DatumId) -> Kind<'_> {
        match self.nodes[id.index()] {
            Node::Symbol(name) => Kind::Symbol(&self.names[name as usize]),
            Node::TypeVariable(name) => Kind::TypeVariable(&self.names[name as usize]),
            Node::Number(number) => Kind::Number(&self.numbers[number as usize]),
            Node::Text(text) => Kind::Text(&self.texts[text as usize]),
            Node::Colon => Kind::Colon,
            Node::Comma => Kind::Comma,
            Node::Sequence {
                shape,
                first,
                count,
            } => {
                let items = &self.items[first as usize..(first + count) as usize];
                match shape {
                    Shape::Round => Kind::List(items),
                    Shape::Square => Kind::Vector(items),
                }
            }
            Node::Project {
                of,
                index,
                index_start,
            } => {
                let span = self.span(id);
                Kind::Project(of, index, Span::new(span.file, index_start, span.end))
            }
        }
    }

    /// Returns the place of the datum.
    pub fn span(&self, id: DatumId) -> Span {
        self.spans[id.index()]
    }

    /// Returns the items of `( … )`.
    pub fn as_list(&self, id: DatumId) -> Option<&[DatumId]> {
        match self.kind(id) {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the items of `[ … ]`.
    pub fn as_vector(&self, id: DatumId) -> Option<&[DatumId]> {
        match self.kind(id) {
            Kind::Vector(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the text of a symbol.
    pub fn as_symbol(&self, id: DatumId) -> Option<&str> {
        self.as_name(id).map(|name| &**name)
    }

    /// Returns the text of a symbol. It is shared by all symbols with this text.
    pub fn as_name(&self, id: DatumId) -> Option<&Arc<str>> {
        match self.kind(id) {
            Kind::Symbol(name) => Some(name),
            _ => None,
        }
    }

    /// True if the datum is this symbol.
    pub fn is_symbol(&self, id: DatumId, symbol: &str) -> bool {
        self.as_symbol(id) == Some(symbol)
    }

    /// Returns the bytes of a text.
    pub fn as_text(&self, id: DatumId) -> Option<&[u8]> {
        match self.kind(id) {
            Kind::Text(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns a text whose bytes are UTF-8.
    pub fn as_string(&self, id: DatumId) -> Option<&str> {
        std::str::from_utf8(self.as_text(id)?).ok()
    }

    /// Returns a number with its suffix.
    pub fn as_number(&self, id: DatumId) -> Option<&Number> {
        match self.kind(id) {
            Kind::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the value of a number written without point or exponent, whatever its suffix.
    /// Returns `None` also when it does not fit 128 bits.
    pub fn as_integer(&self, id: DatumId) -> Option<i128> {
        match self.as_number(id)?.value {
            NumberValue::Integer(value) => value,
            NumberValue::Decimal(_) => None,
        }
    }

    /// Returns an integer in the range of `T`: `data.as_index::<u32>(id)`.
    pub fn as_index<T: TryFrom<i128>>(&self, id: DatumId) -> Option<T> {
        T::try_from(self.as_integer(id)?).ok()
    }

    /// Returns the nearest double of any number, and of the symbols `nan`, `inf` and `-inf`.
    pub fn as_float(&self, id: DatumId) -> Option<f64> {
        match self.kind(id) {
            Kind::Number(number) => match &number.value {
                NumberValue::Integer(value) => value.map(|value| value as f64),
                NumberValue::Decimal(text) => text.parse().ok(),
            },
            Kind::Symbol(name) => match &**name {
                "nan" => Some(f64::NAN),
                "inf" => Some(f64::INFINITY),
                "-inf" => Some(f64::NEG_INFINITY),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the symbol that a list starts with.
    pub fn head(&self, id: DatumId) -> Option<&str> {
        self.form(id).map(|(head, _)| head)
    }

    /// Returns the symbol that a list starts with, and the items after it.
    pub fn form(&self, id: DatumId) -> Option<(&str, &[DatumId])> {
        let (first, rest) = self.as_list(id)?.split_first()?;
        Some((self.as_symbol(*first)?, rest))
    }

    /// Returns the number of data. Ids are `0..count()`.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// True if the parentheses of this root did not match, so that its shape is only a guess.
    pub fn is_broken(&self, root: DatumId) -> bool {
        self.broken.binary_search(&root).is_ok()
    }

    /// True for an atom with a reported error. Its value has no meaning.
    pub fn is_wrong(&self, id: DatumId) -> bool {
        self.wrong.binary_search(&id).is_ok()
    }

    /// Returns the names in data and in all data below them.
    pub fn names_in(&self, data: &[DatumId]) -> Vec<Arc<str>> {
        let mut names = Vec::new();
        let mut work = data.to_vec();
        while let Some(id) = work.pop() {
            match self.kind(id) {
                Kind::Symbol(name) => names.push(Arc::clone(name)),
                Kind::List(items) | Kind::Vector(items) => work.extend(items),
                Kind::Project(of, _, _) => work.push(of),
                Kind::TypeVariable(_)
                | Kind::Number(_)
                | Kind::Text(_)
                | Kind::Colon
                | Kind::Comma => {}
            }
        }
        names
    }

    /// True if some root is broken, or the end of the text was lost.
    pub fn has_broken(&self) -> bool {
        self.end_lost || !self.broken.is_empty()
    }

    /// Returns a datum as text with one space between items, for messages and tests.
    pub fn write(&self, id: DatumId) -> String {
        let mut out = String::new();
        let mut work = vec![Step::Datum(id)];
        while let Some(step) = work.pop() {
            match step {
                Step::Text(text) => out.push_str(&text),
                Step::Datum(id) => self.write_one(id, &mut out, &mut work),
            }
        }
        out
    }

    fn write_one(&self, id: DatumId, out: &mut String, work: &mut Vec<Step>) {
        match self.kind(id) {
            Kind::Symbol(name) => out.push_str(name),
            Kind::TypeVariable(name) => {
                out.push('\'');
                out.push_str(name);
            }
            Kind::Number(number) => out.push_str(&write_number(number)),
            Kind::Text(bytes) => out.push_str(&write_text(bytes)),
            Kind::Colon => out.push(':'),
            Kind::Comma => out.push(','),
            Kind::List(items) => push_items(items, ('(', ")"), out, work),
            Kind::Vector(items) => push_items(items, ('[', "]"), out, work),
            Kind::Project(of, index, _) => {
                work.push(Step::Text(format!(".{index}").into()));
                work.push(Step::Datum(of));
            }
        }
    }

    /// Adds a datum.
    pub(crate) fn push(&mut self, node: Node, span: Span) -> DatumId {
        self.nodes.push(node);
        self.spans.push(span);
        DatumId(self.nodes.len() as u32 - 1)
    }

    /// Returns the index of a name. Equal texts have equal indices.
    pub(crate) fn intern(&mut self, text: &str) -> u32 {
        if let Some(&index) = self.name_index.get(text) {
            return index;
        }
        let name: Arc<str> = Arc::from(text);
        let index = self.names.len() as u32;
        self.names.push(name.clone());
        self.name_index.insert(name, index);
        index
    }

    /// True if some symbol or type variable has this text.
    pub(crate) fn has_name(&self, text: &str) -> bool {
        self.name_index.contains_key(text)
    }

    /// Stores a number.
    pub(crate) fn add_number(&mut self, number: Number) -> Node {
        self.numbers.push(number);
        Node::Number(self.numbers.len() as u32 - 1)
    }

    /// Stores a text.
    pub(crate) fn add_text(&mut self, bytes: Vec<u8>) -> Node {
        self.texts.push(bytes.into());
        Node::Text(self.texts.len() as u32 - 1)
    }
}

/// A step of writing that is still to come.
enum Step {
    Text(std::borrow::Cow<'static, str>),
    Datum(DatumId),
}

fn push_items(
    items: &[DatumId],
    (open, close): (char, &'static str),
    out: &mut String,
    work: &mut Vec<Step>,
) {
    out.push(open);
    work.push(Step::Text(close.into()));
    for (index, &item) in items.iter().enumerate().rev() {
        work.push(Step::Datum(item));
        if index > 0 {
            work.push(Step::Text(" ".into()));
        }
    }
}

/// Returns the text of a number, which reads back as that number.
pub fn write_number(number: &Number) -> String {
    let suffix = number.suffix.map_or(String::new(), |s| s.to_string());
    match &number.value {
        NumberValue::Integer(Some(value)) => format!("{value}{suffix}"),
        NumberValue::Integer(None) => format!("{}0{suffix}", u128::MAX),
        NumberValue::Decimal(text) => format!("{text}{suffix}"),
    }
}

/// Writes bytes as a text literal, quotes included.
pub fn write_text(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for piece in bytes.utf8_chunks() {
        for character in piece.valid().chars() {
            match character {
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\\' => out.push_str("\\\\"),
                '"' => out.push_str("\\\""),
                c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                    out.push_str(&format!("\\x{:02x}", c as u32));
                }
                c => out.push(c),
            }
        }
        for byte in piece.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out.push('"');
    out
}
