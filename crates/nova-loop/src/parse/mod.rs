//! Text to Loop: a table of forms over the reader's data trees.
//!
//! The text is that of [`mod@crate::print`]. Written by hand it may be looser: a variable needs no
//! number (`x` gets one), and a place may be left out. What is read is well-formed, not yet
//! verified.

mod commands;
mod expressions;
mod sections;

use crate::ir::{FunctionId, Level, Program, Type, Variable, VariableInfo};
use crate::print::LEVELS;
use nova_core::{ErrorKind, Scalar};
use nova_diag::{Diagnostic, FileId, Place, Span, codes};
use nova_syntax::{Data, DatumId, Kind, reader};
use std::collections::HashMap;
use std::sync::Arc;

/// Reads a program of Loop; all errors are reported.
pub fn parse(text: &str, file: FileId) -> Result<Program, Vec<Diagnostic>> {
    let (data, diagnostics) = reader::read(text, file);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let mut parser = Parser {
        data: &data,
        program: Program::default(),
        names: HashMap::new(),
        variables: Vec::new(),
        functions: HashMap::new(),
        diagnostics: Vec::new(),
    };
    match data.roots() {
        [root] => parser.program(*root),
        [] => parser.diagnostics.push(Diagnostic::error(
            codes::BAD_PROGRAM,
            Span::new(file, 0, 0),
            "there is no program",
        )),
        [_, other, ..] => {
            parser.error::<()>(*other, "only one program may stand in a text");
        }
    }
    parser.finish()
}

/// A variable that a symbol names: where it was first met, and what it is once that is known.
struct Named {
    first: DatumId,
    info: Option<VariableInfo>,
}

struct Parser<'a> {
    data: &'a Data,
    program: Program,
    names: HashMap<Arc<str>, Variable>,
    /// By variable; `None` for numbers that no symbol has.
    variables: Vec<Option<Named>>,
    functions: HashMap<String, FunctionId>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn finish(mut self) -> Result<Program, Vec<Diagnostic>> {
        let mut infos = Vec::with_capacity(self.variables.len());
        for named in std::mem::take(&mut self.variables) {
            match named {
                Some(Named {
                    info: Some(info), ..
                }) => infos.push(info),
                Some(Named { info: None, first }) => {
                    self.error::<()>(first, "this variable is declared nowhere");
                }
                None => infos.push(VariableInfo {
                    name: "".into(),
                    ty: Type::Scalar(Scalar::Bool),
                }),
            }
        }
        if !self.diagnostics.is_empty() {
            return Err(self.diagnostics);
        }
        self.program.variables = infos;
        Ok(self.program)
    }

    /// Reports an error at a datum.
    fn error<T>(&mut self, at: DatumId, message: impl Into<String>) -> Option<T> {
        let span = self.data.span(at);
        let error = Diagnostic::error(codes::BAD_FORM, span, message);
        self.diagnostics.push(error);
        None
    }

    /// Items that must be exactly `N`.
    fn exactly<const N: usize>(&mut self, at: DatumId, items: &[DatumId]) -> Option<[DatumId; N]> {
        match <[DatumId; N]>::try_from(items) {
            Ok(items) => Some(items),
            Err(_) => {
                let found = items.len();
                self.error(at, format!("this form takes {N} items, here are {found}"))
            }
        }
    }

    /// Items that must be `N`, and perhaps a place behind them.
    fn placed<const N: usize>(
        &mut self,
        at: DatumId,
        items: &[DatumId],
    ) -> Option<([DatumId; N], Place)> {
        let (items, place) = match items.split_last() {
            Some((last, rest)) if items.len() == N + 1 => (rest, Some(*last)),
            Some(_) | None => (items, None),
        };
        let place = self.place(place)?;
        Some((self.exactly(at, items)?, place))
    }

    /// A place, where there is one.
    fn place(&mut self, id: Option<DatumId>) -> Option<Place> {
        let Some(id) = id else {
            return Some(Place::new("", 0, 0));
        };
        match self.data.as_string(id).and_then(Place::parse) {
            Some(place) => Some(place),
            None => self.error(id, "a place is expected here: \"file:line:column\""),
        }
    }

    /// The variable of a symbol; its number where it has one and no other symbol has it.
    fn variable(&mut self, id: DatumId) -> Option<Variable> {
        let Some(symbol) = self.data.as_name(id) else {
            return self.error(id, "a variable is expected here");
        };
        if let Some(variable) = self.names.get(symbol) {
            return Some(*variable);
        }
        // A table has a place for each number below, so numbers far too large are not taken.
        let largest = self.data.count().saturating_mul(64).saturating_add(100_000);
        let free =
            |n: &usize| *n <= largest && self.variables.get(*n).is_none_or(|named| named.is_none());
        let number = split_number(symbol).1.filter(free);
        let number = number.unwrap_or(self.variables.len());
        while self.variables.len() <= number {
            self.variables.push(None);
        }
        self.variables[number] = Some(Named {
            first: id,
            info: None,
        });
        let variable = Variable(number as u32);
        self.names.insert(symbol.clone(), variable);
        Some(variable)
    }

    /// `[x_1 y_2]`.
    fn variables(&mut self, id: DatumId) -> Option<Vec<Variable>> {
        let items = self.items(id)?;
        items.iter().map(|item| self.variable(*item)).collect()
    }

    /// Says what a variable is.
    fn declare(&mut self, id: DatumId, ty: Type) -> Option<Variable> {
        let variable = self.variable(id)?;
        let name = split_number(self.data.as_symbol(id).unwrap_or("")).0;
        let info = VariableInfo {
            name: name.into(),
            ty,
        };
        if let Some(Some(named)) = self.variables.get_mut(variable.0 as usize) {
            named.info = Some(info);
        }
        Some(variable)
    }

    /// `x_1:f32` at the head of `items`, which it takes away.
    fn binding(&mut self, at: DatumId, items: &mut &'a [DatumId]) -> Option<Variable> {
        let [name, colon, ty, rest @ ..] = *items else {
            return self.error(at, "a variable with its type is expected here: `x:f32`");
        };
        if self.data.kind(*colon) != Kind::Colon {
            return self.error(*name, "a variable is declared with its type: `x:f32`");
        }
        *items = rest;
        let ty = self.ty(*ty)?;
        self.declare(*name, ty)
    }

    /// `f32`, `(pointer f32)`, `block`.
    fn ty(&mut self, id: DatumId) -> Option<Type> {
        if self.data.is_symbol(id, "block") {
            return Some(Type::Block);
        }
        match self.data.form(id) {
            Some(("pointer", [element])) => self.scalar(*element).map(Type::Pointer),
            Some(_) | None => self.scalar(id).map(Type::Scalar),
        }
    }

    fn scalar(&mut self, id: DatumId) -> Option<Scalar> {
        match self.data.as_symbol(id).and_then(Scalar::by_short) {
            Some(scalar) => Some(scalar),
            None => self.error(id, "a type is expected here: `i32`, `f32`, `bool`, …"),
        }
    }

    fn items(&mut self, id: DatumId) -> Option<&'a [DatumId]> {
        match self.data.as_vector(id) {
            Some(items) => Some(items),
            None => self.error(id, "`[ … ]` is expected here"),
        }
    }

    fn index<T: TryFrom<i128>>(&mut self, id: DatumId) -> Option<T> {
        match self.data.as_index(id) {
            Some(index) => Some(index),
            None => self.error(id, "a number is expected here"),
        }
    }

    fn string(&mut self, id: DatumId) -> Option<Arc<str>> {
        match self.data.as_string(id) {
            Some(text) => Some(text.into()),
            None => self.error(id, "a text is expected here"),
        }
    }

    fn bytes(&mut self, id: DatumId) -> Option<Arc<[u8]>> {
        match self.data.as_text(id) {
            Some(bytes) => Some(bytes.into()),
            None => self.error(id, "a text is expected here"),
        }
    }

    fn level(&mut self, id: DatumId) -> Option<Level> {
        let found = LEVELS.iter().find(|l| self.data.is_symbol(id, l.1));
        match found {
            Some((level, _)) => Some(*level),
            None => self.error(id, "a level is expected here: `sequential`, `grid`, …"),
        }
    }

    fn error_kind(&mut self, id: DatumId) -> Option<ErrorKind> {
        match self.data.as_symbol(id).and_then(ErrorKind::by_word) {
            Some(kind) => Some(kind),
            None => self.error(id, "an error is expected here: `index`, `division`, …"),
        }
    }
}

/// The name and number of `name_7`; no number where there is none that reads back the same.
fn split_number(symbol: &str) -> (&str, Option<usize>) {
    if let Some((name, digits)) = symbol.rsplit_once('_')
        && let Ok(number) = digits.parse::<usize>()
        && number.to_string() == digits
    {
        return (name, Some(number));
    }
    (symbol, None)
}
