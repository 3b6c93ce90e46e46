//! Text to Core: a table of forms over the reader's data trees.
//!
//! The text is that of [`crate::print`]. Written by hand it may be looser: a variable needs no
//! number (`x` gets one), `let`, `letrec` and `case` bindings need no type where the value has
//! one, and places may be left out. Types are derived by [`crate::typing`]; what is read is
//! well-typed, and its scopes are not yet verified.

mod expressions;
mod sections;

use crate::ir::{ExpressionId, ExpressionKind, Program, Variable};
use crate::{Scalar, ScalarValue, SumId, Type, typing};
use nova_diag::{Diagnostic, FileId, Place, Span, codes, deep};
use nova_syntax::ast::{NumberValue, Suffix};
use nova_syntax::{Data, DatumId, Kind, reader};
use std::collections::HashMap;
use std::sync::Arc;

/// Reads a program.
pub fn parse(text: &str, file: FileId) -> Result<Program, Vec<Diagnostic>> {
    let (data, diagnostics) = reader::read(text, file);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let mut parser = Parser {
        data: &data,
        program: Program::default(),
        names: HashMap::new(),
        known: Vec::new(),
        nowhere: Place::new("", 0, 0),
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
    match parser.diagnostics.is_empty() {
        true => Ok(parser.program),
        false => Err(parser.diagnostics),
    }
}

/// Numbers of variables in a text may leave this many out: a table has a place for each.
const LARGEST_GAP: usize = 100_000;

struct Parser<'a> {
    data: &'a Data,
    program: Program,
    names: HashMap<Arc<str>, Variable>,
    /// Which variables of the program are taken.
    known: Vec<bool>,
    nowhere: Place,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    /// Reports an error at a datum.
    fn error<T>(&mut self, at: DatumId, message: impl Into<String>) -> Option<T> {
        let span = self.data.span(at);
        let diagnostic = Diagnostic::error(codes::BAD_FORM, span, message);
        self.diagnostics.push(diagnostic);
        None
    }

    /// Items that must be exactly `N`.
    fn exactly<const N: usize>(
        &mut self,
        at: DatumId,
        items: &'a [DatumId],
    ) -> Option<[DatumId; N]> {
        match <[DatumId; N]>::try_from(items) {
            Ok(items) => Some(items),
            Err(_) => {
                let found = items.len();
                self.error(at, format!("this form takes {N} items, here are {found}"))
            }
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

    /// Takes the place off the end of a form's items.
    fn place(&mut self, items: &mut &'a [DatumId]) -> Option<Place> {
        let Some((last, rest)) = items.split_last() else {
            return Some(self.nowhere.clone());
        };
        let Some(text) = self.data.as_string(*last) else {
            return Some(self.nowhere.clone());
        };
        *items = rest;
        match Place::parse(text) {
            Some(place) => Some(place),
            None => self.error(*last, "a place is expected here: \"file:line:column\""),
        }
    }

    /// Gives a symbol the variable with its number, where it has one that is free.
    fn bind(&mut self, id: DatumId, ty: Type) -> Option<Variable> {
        let Some(symbol) = self.data.as_name(id) else {
            return self.error(id, "a variable is expected here");
        };
        if self.names.contains_key(symbol) {
            return self.error(id, "this variable is bound twice");
        }
        let split = symbol.rsplit_once('_').and_then(|(name, digits)| {
            let plain = digits == "0" || !digits.starts_with(['0', '+']);
            Some((name, digits.parse::<usize>().ok().filter(|_| plain)?))
        });
        let (name, number) = match split {
            Some((name, number)) => (name, Some(number)),
            None => (&**symbol, None),
        };
        let limit = self.data.count() + LARGEST_GAP;
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

    /// `x_1:f32`, taken off the front of the items; the type may be missing where it is known.
    fn binding(
        &mut self,
        at: DatumId,
        items: &mut &'a [DatumId],
    ) -> Option<(DatumId, Option<Type>)> {
        let Some((name, rest)) = items.split_first() else {
            return self.error(at, "a variable is expected here");
        };
        *items = rest;
        match rest {
            [colon, ty, rest @ ..] if self.data.kind(*colon) == Kind::Colon => {
                *items = rest;
                Some((*name, Some(self.ty(*ty)?)))
            }
            _ => Some((*name, None)),
        }
    }

    /// `[x_1:f32 y_2:i32]`.
    fn parameters(&mut self, id: DatumId) -> Option<Vec<Variable>> {
        let mut items = self.items(id)?;
        let mut variables = Vec::new();
        while !items.is_empty() {
            match self.binding(id, &mut items)? {
                (name, Some(ty)) => variables.push(self.bind(name, ty)?),
                (name, None) => return self.error(name, "a parameter needs its type: `x:f32`"),
            }
        }
        Some(variables)
    }

    fn types(&mut self, id: DatumId) -> Option<Vec<Type>> {
        let items = self.items(id)?;
        items.iter().map(|item| self.ty(*item)).collect()
    }

    /// A type as [`crate::print::print_type`] writes it.
    fn ty(&mut self, id: DatumId) -> Option<Type> {
        deep(|| match self.data.form(id) {
            Some(("tuple", items)) if items.len() >= 2 => {
                let types: Option<Vec<_>> = items.iter().map(|i| self.ty(*i)).collect();
                Some(Type::Tuple(types?.into()))
            }
            Some(("vector", [element])) => Some(Type::vector(self.ty(*element)?)),
            Some(("array", [rank, element])) => match self.index(*rank)? {
                rank @ 2.. => Some(Type::array(rank, self.ty(*element)?)),
                _ => self.error(*rank, "an array has a rank of at least 2"),
            },
            Some(("->", [parameter, result])) => {
                let parameter = self.ty(*parameter)?;
                Some(Type::function(&[parameter], self.ty(*result)?))
            }
            Some(("sum", [id])) => self.index(*id).map(|id| Type::Sum(SumId(id))),
            Some(_) => self.error(id, "a type is expected here"),
            None => match self.data.as_symbol(id) {
                Some("unit") => Some(Type::Unit),
                Some(symbol) => match Scalar::by_short(symbol) {
                    Some(scalar) => Some(Type::Scalar(scalar)),
                    None => self.error(id, "a type is expected here"),
                },
                None => self.error(id, "a type is expected here"),
            },
        })
    }

    /// A number; without suffix an `i64`.
    fn number(&mut self, id: DatumId) -> Option<ScalarValue> {
        let number = self.data.as_number(id)?;
        let value = match number.suffix {
            Some(Suffix::Double) => self.data.as_float(id).map(ScalarValue::F64),
            // Read as a float at once: by way of a double it would be rounded twice.
            Some(Suffix::Float) => match &number.value {
                NumberValue::Decimal(text) => text.parse().ok(),
                NumberValue::Integer(value) => value.map(|v| v as f32),
            }
            .map(ScalarValue::F32),
            suffix => {
                let scalar = match suffix {
                    Some(Suffix::Signed(8)) => Scalar::I8,
                    Some(Suffix::Signed(16)) => Scalar::I16,
                    Some(Suffix::Signed(32)) => Scalar::I32,
                    Some(Suffix::Unsigned(8)) => Scalar::U8,
                    Some(Suffix::Unsigned(16)) => Scalar::U16,
                    Some(Suffix::Unsigned(32)) => Scalar::U32,
                    Some(Suffix::Unsigned(_)) => Scalar::U64,
                    Some(_) | None => Scalar::I64,
                };
                let wrapped = |v| ScalarValue::from_integer_wrapping(scalar, v);
                let integer = self.data.as_integer(id);
                integer
                    .filter(|v| wrapped(*v).as_integer() == Some(*v))
                    .map(wrapped)
            }
        };
        match value {
            Some(value) => Some(value),
            None => self.error(
                id,
                "this number has no type: a decimal one needs `f` or `L`",
            ),
        }
    }

    /// Adds an expression with the type that its parts give it.
    fn add(
        &mut self,
        at: DatumId,
        kind: ExpressionKind,
        stated: Option<&Type>,
        place: Place,
    ) -> Option<ExpressionId> {
        match typing::type_of(&self.program, &kind, stated) {
            Ok(ty) => Some(self.program.add(kind, ty, place)),
            Err(message) => self.error(at, message),
        }
    }
}

fn named_constant(symbol: &str) -> Option<ScalarValue> {
    const CONSTANTS: [(&str, ScalarValue); 8] = [
        ("true", ScalarValue::Bool(true)),
        ("false", ScalarValue::Bool(false)),
        ("nan.f32", ScalarValue::F32(f32::NAN)),
        ("inf.f32", ScalarValue::F32(f32::INFINITY)),
        ("-inf.f32", ScalarValue::F32(f32::NEG_INFINITY)),
        ("nan.f64", ScalarValue::F64(f64::NAN)),
        ("inf.f64", ScalarValue::F64(f64::INFINITY)),
        ("-inf.f64", ScalarValue::F64(f64::NEG_INFINITY)),
    ];
    CONSTANTS.iter().find(|c| c.0 == symbol).map(|c| c.1)
}
