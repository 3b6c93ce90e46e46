//! The parser of Loop: tables of forms over the reader's data trees.
//!
//! The text is that of [`mod@crate::print`]. Text that is written by hand may be looser: a variable needs
//! no number (`x` gets one), and a place may be left out. The program that is read is well-formed, but
//! not yet verified.

mod commands;
mod expressions;
mod sections;

use crate::ir::{LEVELS, Level, Program, Space, Type, Variable, VariableInfo};
use nova_core::forms::read::{FormReader, Names, ProgramReader, read_one};
use nova_core::ir::Foreign;
use nova_core::{Scalar, SumType};
use nova_diag::{Diagnostic, FileId};
use nova_syntax::{Data, DatumId, Kind};

/// Reads a program of Loop. Reports all errors.
pub fn parse(text: &str, file: FileId) -> Result<Program, Vec<Diagnostic>> {
    let (data, root) = read_one(text, file)?;
    let mut parser = Parser {
        data: &data,
        program: Program::default(),
        names: Names::new(&data),
        diagnostics: Vec::new(),
    };
    parser.program(root);
    parser.finish()
}

struct Parser<'a> {
    data: &'a Data,
    program: Program,
    names: Names<'a, VariableInfo>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> FormReader<'a> for Parser<'a> {
    fn data(&self) -> &'a Data {
        self.data
    }

    fn report(&mut self, error: Diagnostic) {
        self.diagnostics.push(error);
    }

    fn tables(&mut self) -> (&mut Vec<SumType>, &mut Vec<Foreign>) {
        (&mut self.program.sums, &mut self.program.foreigns)
    }
}

impl<'a> ProgramReader<'a> for Parser<'a> {
    type Info = VariableInfo;

    fn names(&mut self) -> &mut Names<'a, VariableInfo> {
        &mut self.names
    }
}

impl<'a> Parser<'a> {
    fn finish(mut self) -> Result<Program, Vec<Diagnostic>> {
        let unused = VariableInfo {
            name: "".into(),
            ty: Type::Scalar(Scalar::Bool),
            space: None,
        };
        self.program.variables = self.variable_infos(unused);
        match self.diagnostics.is_empty() {
            true => Ok(self.program),
            false => Err(self.diagnostics),
        }
    }

    /// Parses a variable.
    fn variable(&mut self, id: DatumId) -> Option<Variable> {
        self.variable_number(id).map(Variable)
    }

    /// `[x_1 y_2]`.
    fn variables(&mut self, id: DatumId) -> Option<Vec<Variable>> {
        let items = self.items(id)?;
        items.iter().map(|item| self.variable(*item)).collect()
    }

    /// Declares the type and the memory space of a variable.
    fn declare(&mut self, id: DatumId, ty: Type, space: Option<Space>) -> Option<Variable> {
        let info = |name: &str| VariableInfo {
            name: name.into(),
            ty,
            space,
        };
        self.declare_number(id, info).map(Variable)
    }

    /// Reads `x_1:f32` at the head of `items` and removes it from there.
    fn binding(&mut self, at: DatumId, items: &mut &'a [DatumId]) -> Option<Variable> {
        let [name, colon, ty, rest @ ..] = *items else {
            return self.error(at, "a variable with its type is expected here: `x:f32`");
        };
        if self.data.kind(*colon) != Kind::Colon {
            return self.error(*name, "a variable is declared with its type: `x:f32`");
        }
        *items = rest;
        let (ty, space) = match self.data.form(*ty) {
            Some(("pointer", [element, space])) => {
                let element = self.scalar(*element)?;
                let word = self.data.as_symbol(*space).unwrap_or("");
                let found = self.expect(Space::by_word(word), *space, "a space of memory")?;
                (Type::Pointer(element), Some(found))
            }
            Some(_) | None => (self.ty(*ty)?, None),
        };
        self.declare(*name, ty, space)
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

    fn level(&mut self, id: DatumId) -> Option<Level> {
        let found = LEVELS.iter().find(|l| self.data.is_symbol(id, l.1));
        match found {
            Some((level, _)) => Some(*level),
            None => self.error(id, "a level is expected here: `sequential`, `grid`, …"),
        }
    }
}
