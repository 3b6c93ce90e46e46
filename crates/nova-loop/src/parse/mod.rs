//! The parser of Loop: tables of forms over the reader's data trees.
//!
//! The text is that of [`mod@crate::print`]. Text that is written by hand may be looser: a variable needs
//! no number (`x` gets one), and a place may be left out. The program that is read is well-formed, but
//! not yet verified.

mod commands;
mod expressions;
mod sections;

use crate::ir::{LEVELS, Level, Program, Space, Type, Variable, VariableInfo};
use nova_core::Scalar;
use nova_core::forms::read::{FormReader, read_one};
use nova_diag::{Diagnostic, FileId};
use nova_syntax::{DatumId, Kind};

/// Reads a program of Loop. Reports all errors.
pub fn parse(text: &str, file: FileId) -> Result<Program, Vec<Diagnostic>> {
    let (data, root) = read_one(text, file)?;
    let mut parser = Parser {
        text: FormReader::new(&data),
        program: Program::default(),
    };
    parser.program(root);
    parser.finish()
}

struct Parser<'a> {
    text: FormReader<'a, VariableInfo>,
    program: Program,
}

impl<'a> Parser<'a> {
    fn finish(mut self) -> Result<Program, Vec<Diagnostic>> {
        let unused = VariableInfo {
            name: "".into(),
            ty: Type::Scalar(Scalar::Bool),
            space: None,
        };
        self.program.variables = self.text.variable_infos(unused);
        self.text.finish(self.program)
    }

    /// Parses a variable.
    fn variable(&mut self, id: DatumId) -> Option<Variable> {
        self.text.variable_number(id).map(Variable)
    }

    /// `[x_1 y_2]`.
    fn variables(&mut self, id: DatumId) -> Option<Vec<Variable>> {
        let items = self.text.items(id)?;
        items.iter().map(|item| self.variable(*item)).collect()
    }

    /// Declares the type and the memory space of a variable.
    fn declare(&mut self, id: DatumId, ty: Type, space: Option<Space>) -> Option<Variable> {
        let info = |name: &str| VariableInfo {
            name: name.into(),
            ty,
            space,
        };
        self.text.declare_number(id, info).map(Variable)
    }

    /// Reads `x_1:f32` at the head of `items` and removes it from there.
    fn binding(&mut self, at: DatumId, items: &mut &'a [DatumId]) -> Option<Variable> {
        let [name, colon, ty, rest @ ..] = *items else {
            return self
                .text
                .error(at, "a variable with its type is expected here: `x:f32`");
        };
        if self.text.data.kind(*colon) != Kind::Colon {
            return self
                .text
                .error(*name, "a variable is declared with its type: `x:f32`");
        }
        *items = rest;
        let (ty, space) = match self.text.data.form(*ty) {
            Some(("pointer", [element, space])) => {
                let element = self.text.scalar(*element)?;
                let word = self.text.data.as_symbol(*space).unwrap_or("");
                let found = self
                    .text
                    .expect(Space::by_word(word), *space, "a space of memory")?;
                (Type::Pointer(element), Some(found))
            }
            Some(_) | None => (self.ty(*ty)?, None),
        };
        self.declare(*name, ty, space)
    }

    /// `f32`, `(pointer f32)`, `block`.
    fn ty(&mut self, id: DatumId) -> Option<Type> {
        if self.text.data.is_symbol(id, "block") {
            return Some(Type::Block);
        }
        match self.text.data.form(id) {
            Some(("pointer", [element])) => self.text.scalar(*element).map(Type::Pointer),
            Some(_) | None => self.text.scalar(id).map(Type::Scalar),
        }
    }

    fn level(&mut self, id: DatumId) -> Option<Level> {
        let found = LEVELS.iter().find(|l| self.text.data.is_symbol(id, l.1));
        match found {
            Some((level, _)) => Some(*level),
            None => self
                .text
                .error(id, "a level is expected here: `sequential`, `grid`, …"),
        }
    }
}
