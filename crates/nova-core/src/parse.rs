//! The parser of Core: a table of forms over the data trees of the reader.
//!
//! The text is that of [`crate::print`]. Text written by hand may be looser: a variable needs no number
//! (`x` gets one). `let`, `letrec` and `case` bindings need no type if the value has one. Places may be
//! left out. Types are derived by [`crate::typing`]. The result is well-typed, but its scopes are not
//! yet verified.

mod expressions;
mod sections;

use crate::forms::read::{FormReader, read_one, split_number};
use crate::ir::{ExpressionId, ExpressionKind, Program, Variable};
use crate::{Type, typing};
use nova_diag::{Diagnostic, FileId, Place};
use nova_syntax::{DatumId, Kind};
use std::collections::HashMap;
use std::sync::Arc;

/// Parses a program.
pub fn parse(text: &str, file: FileId) -> Result<Program, Vec<Diagnostic>> {
    let (data, root) = read_one(text, file)?;
    let mut parser = Parser {
        text: FormReader::new(&data),
        program: Program::default(),
        names: HashMap::new(),
        known: Vec::new(),
        nowhere: Place::new("", 0, 0),
    };
    parser.program(root);
    parser.text.finish(parser.program)
}

/// The largest gap between the numbers of variables in a text, since a table has an entry for each
/// number.
const LARGEST_GAP: usize = 100_000;

struct Parser<'a> {
    text: FormReader<'a, ()>,
    program: Program,
    names: HashMap<Arc<str>, Variable>,
    /// By number, true if a variable of the program has it.
    known: Vec<bool>,
    nowhere: Place,
}

impl<'a> Parser<'a> {
    /// Takes the place off the end of a form's items.
    fn take_place(&mut self, items: &mut &'a [DatumId]) -> Option<Place> {
        match items.split_last() {
            Some((last, rest)) if self.text.data.as_text(*last).is_some() => {
                *items = rest;
                self.text.place(Some(*last))
            }
            Some(_) | None => Some(self.nowhere.clone()),
        }
    }

    /// Binds a symbol to the variable with its number, if it has one that is free.
    fn bind(&mut self, id: DatumId, ty: Type) -> Option<Variable> {
        let Some(symbol) = self.text.data.as_name(id) else {
            return self.text.error(id, "a variable is expected here");
        };
        if self.names.contains_key(symbol) {
            return self.text.error(id, "this variable is bound twice");
        }
        let (name, number) = split_number(symbol);
        let limit = self.text.data.count() + LARGEST_GAP;
        let free = |n: &usize| *n < limit && !self.known.get(*n).copied().unwrap_or(false);
        let number = number.filter(free).unwrap_or(self.known.len());
        while self.known.len() <= number {
            self.known.push(false);
            self.program.add_variable("", Type::Unit);
        }
        self.known[number] = true;
        let variable = Variable(number as u32);
        let info = &mut self.program.variables[number];
        (info.name, info.ty) = (name.into(), ty);
        self.names.insert(symbol.clone(), variable);
        Some(variable)
    }

    /// Parses `x_1:f32` at the front of the items. The type may be missing if it is known.
    fn binding(
        &mut self,
        at: DatumId,
        items: &mut &'a [DatumId],
    ) -> Option<(DatumId, Option<Type>)> {
        let Some((name, rest)) = items.split_first() else {
            return self.text.error(at, "a variable is expected here");
        };
        *items = rest;
        match rest {
            [colon, ty, rest @ ..] if self.text.data.kind(*colon) == Kind::Colon => {
                *items = rest;
                Some((*name, Some(self.text.core_type(*ty)?)))
            }
            _ => Some((*name, None)),
        }
    }

    /// Parses `[x_1:f32 y_2:i32]`.
    fn parameters(&mut self, id: DatumId) -> Option<Vec<Variable>> {
        let mut items = self.text.items(id)?;
        let mut variables = Vec::new();
        while !items.is_empty() {
            match self.binding(id, &mut items)? {
                (name, Some(ty)) => variables.push(self.bind(name, ty)?),
                (name, None) => {
                    return self.text.error(name, "a parameter needs its type: `x:f32`");
                }
            }
        }
        Some(variables)
    }

    /// Adds an expression with the type that its children determine.
    fn add(
        &mut self,
        at: DatumId,
        kind: ExpressionKind,
        stated: Option<&Type>,
        place: Place,
    ) -> Option<ExpressionId> {
        match typing::type_of(&self.program, &kind, stated) {
            Ok(ty) => Some(self.program.add(kind, ty, place)),
            Err(message) => self.text.error(at, message),
        }
    }
}
