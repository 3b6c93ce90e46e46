//! The parser of Flat and Mem: a table of forms over the data trees of the reader.
//!
//! The text is that of [`crate::print`]. Text written by hand may be looser: a variable needs no number
//! (`x` gets one), and a place may be left out. The result is well-formed, but not yet verified.

mod expressions;
mod programs;

use crate::ir::{Atom, Body, Lambda, Program, Statement, Type, Variable, VariableInfo};
use crate::memory::{Lmad, Memory, Polynomial, polynomial_of};
use nova_core::Scalar;
use nova_core::forms::read::{FormReader, named_constant, read_one};
use nova_diag::{Diagnostic, FileId, deep};
use nova_syntax::{DatumId, Kind};

/// Parses a program of Flat or Mem. All errors are reported.
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
            memory: None,
        };
        self.program.variables = self.text.variable_infos(unused);
        self.text.finish(self.program)
    }

    /// Parses a variable.
    fn variable(&mut self, id: DatumId) -> Option<Variable> {
        self.text.variable_number(id).map(Variable)
    }

    /// Records type and memory of a variable.
    fn bind(&mut self, id: DatumId, ty: Type, memory: Option<Memory>) -> Option<Variable> {
        let info = |name: &str| VariableInfo {
            name: name.into(),
            ty,
            memory,
        };
        self.text.declare_number(id, info).map(Variable)
    }

    fn atom(&mut self, id: DatumId) -> Option<Atom> {
        match self.text.data.kind(id) {
            Kind::Number(_) => self.text.number(id).map(Atom::Constant),
            Kind::Symbol(symbol) => match named_constant(symbol) {
                Some(value) => Some(Atom::Constant(value)),
                None => self.variable(id).map(Atom::Variable),
            },
            _ => self
                .text
                .error(id, "a variable or a constant is expected here"),
        }
    }

    /// Parses `[a b c]`.
    fn atoms(&mut self, id: DatumId) -> Option<Vec<Atom>> {
        let items = self.text.items(id)?;
        items.iter().map(|item| self.atom(*item)).collect()
    }

    fn arrays(&mut self, id: DatumId) -> Option<Vec<Variable>> {
        let items = self.text.items(id)?;
        items.iter().map(|item| self.variable(*item)).collect()
    }

    /// Parses `[x:f32 y:[n]f32 @ m]`, each perhaps with ` = start`.
    fn bindings(&mut self, id: DatumId) -> Option<Vec<(Variable, Option<Atom>)>> {
        let mut items = self.text.items(id)?;
        let mut list = Vec::new();
        while let Some((name, rest)) = items.split_first() {
            items = rest;
            self.take_colon(*name, &mut items)?;
            let ty = self.ty(*name, &mut items)?;
            let memory = self.memory(&ty, &mut items)?;
            let variable = self.bind(*name, ty, memory)?;
            let mut start = None;
            if let [equals, value, rest @ ..] = items
                && self.text.data.is_symbol(*equals, "=")
            {
                start = Some(self.atom(*value)?);
                items = rest;
            }
            list.push((variable, start));
        }
        Some(list)
    }

    fn take_colon(&mut self, name: DatumId, items: &mut &'a [DatumId]) -> Option<()> {
        match items.split_first() {
            Some((colon, rest)) if self.text.data.kind(*colon) == Kind::Colon => {
                *items = rest;
                Some(())
            }
            Some(_) | None => self
                .text
                .error(name, "a variable is bound with its type: `x:f32`"),
        }
    }

    /// Parses `[n][m]f32`, `f32`, `(block f32)`.
    fn ty(&mut self, name: DatumId, items: &mut &'a [DatumId]) -> Option<Type> {
        let mut shape = Vec::new();
        while let Some((first, rest)) = items.split_first() {
            *items = rest;
            if let Some(("block", [scalar])) = self.text.data.form(*first) {
                return self.text.scalar(*scalar).map(Type::Block);
            }
            match self.text.data.as_vector(*first) {
                Some([extent]) => shape.push(self.atom(*extent)?),
                Some(_) => return self.text.error(*first, "an extent is one atom"),
                None if shape.is_empty() => return self.text.scalar(*first).map(Type::Scalar),
                None => return self.text.scalar(*first).map(|s| Type::Array(s, shape)),
            }
        }
        self.text
            .error(name, "the type of this variable is not complete")
    }

    /// Parses ` @ block`, ` @ block (lmad …)`, or nothing.
    fn memory(&mut self, ty: &Type, items: &mut &'a [DatumId]) -> Option<Option<Memory>> {
        let [at, block, rest @ ..] = *items else {
            return Some(None);
        };
        if !self.text.data.is_symbol(*at, "@") {
            return Some(None);
        }
        *items = rest;
        let variable = self.variable(*block)?;
        if !self.text.variables.is_declared(variable.0) {
            // The block is bound together with its array.
            self.bind(*block, Type::Block(ty.element()), None)?;
        }
        let lmad = match rest.first().and_then(|d| self.text.data.form(*d)) {
            Some(("lmad", items_of_lmad)) => {
                *items = &rest[1..];
                self.lmad(*block, items_of_lmad)?
            }
            Some(_) | None => match Lmad::of_shape(ty.shape()) {
                Some(lmad) => lmad,
                None => {
                    return self
                        .text
                        .error(*block, "the extents of this array are no `i64`");
                }
            },
        };
        Some(Some(Memory {
            block: variable,
            lmad,
        }))
    }

    fn lmad(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<Lmad> {
        let Some((offset, dimensions)) = items.split_first() else {
            return self.text.error(at, "an LMAD needs an offset");
        };
        let offset = self.polynomial(*offset)?;
        let mut list = Vec::new();
        for dimension in dimensions {
            let items = self.text.items(*dimension)?;
            let [extent, stride] = self.text.exactly(*dimension, items)?;
            list.push((self.polynomial(extent)?, self.polynomial(stride)?));
        }
        Some(Lmad {
            offset,
            dimensions: list,
        })
    }

    /// Parses `3`, `n`, `(* 3 n m)`, `(+ 3 n (* n m))`.
    fn polynomial(&mut self, id: DatumId) -> Option<Polynomial> {
        deep(|| match self.text.data.form(id) {
            Some(("+", terms)) => terms.iter().try_fold(Polynomial::default(), |sum, term| {
                Some(sum.plus(&self.polynomial(*term)?))
            }),
            Some(("*", factors)) => factors
                .iter()
                .try_fold(Polynomial::constant(1), |p, factor| {
                    Some(p.times(&self.polynomial(*factor)?))
                }),
            Some(_) => self.text.error(id, "a polynomial is expected here"),
            None => {
                let atom = self.atom(id)?;
                match polynomial_of(atom) {
                    Some(polynomial) => Some(polynomial),
                    None => self.text.error(id, "an `i64` is expected here"),
                }
            }
        })
    }

    /// Parses `[x:f32 y:f32]` without start values.
    fn parameters(&mut self, id: DatumId) -> Option<Vec<Variable>> {
        Some(self.bindings(id)?.into_iter().map(|(v, _)| v).collect())
    }

    /// Parses `[x:f32 = 0.0f]`, all with start values.
    fn starts(&mut self, id: DatumId) -> Option<Vec<(Variable, Atom)>> {
        let bindings = self.bindings(id)?;
        let all: Option<Vec<_>> = bindings.into_iter().map(|(v, s)| Some((v, s?))).collect();
        match all {
            Some(all) => Some(all),
            None => self
                .text
                .error(id, "each of these variables needs a start: `x:f32 = 0.0f`"),
        }
    }

    /// Parses `(lambda [x:f32] (do …))`.
    fn lambda(&mut self, id: DatumId) -> Option<Lambda> {
        match self.text.data.form(id) {
            Some(("lambda", [parameters, body])) => Some(Lambda {
                parameters: self.parameters(*parameters)?,
                body: self.body(*body)?,
            }),
            Some(_) | None => self
                .text
                .error(id, "`(lambda [x:f32 …] BODY)` is expected here"),
        }
    }

    /// Parses `(do STATEMENT … (in x …))`.
    fn body(&mut self, id: DatumId) -> Option<Body> {
        let Some(("do", items)) = self.text.data.form(id) else {
            return self.text.error(id, "`(do … (in …))` is expected here");
        };
        let Some((last, statements)) = items.split_last() else {
            return self.text.error(id, "a body ends with `(in …)`");
        };
        let mut body = Body::default();
        for statement in statements {
            // Later statements are parsed all the same, to report their errors.
            if let Some(statement) = deep(|| self.statement(*statement)) {
                body.statements.push(statement);
            }
        }
        let Some(("in", results)) = self.text.data.form(*last) else {
            return self.text.error(*last, "a body ends with `(in …)`");
        };
        body.results = results
            .iter()
            .map(|r| self.atom(*r))
            .collect::<Option<_>>()?;
        Some(body)
    }

    /// Parses `(let [x:f32] EXPRESSION "place")`.
    fn statement(&mut self, id: DatumId) -> Option<Statement> {
        let (pattern, expression, place) = match self.text.data.form(id) {
            Some(("let", [pattern, expression])) => (*pattern, *expression, None),
            Some(("let", [pattern, expression, place])) => (*pattern, *expression, Some(*place)),
            Some(_) | None => {
                return self
                    .text
                    .error(id, "`(let [x:f32 …] EXPRESSION)` is expected here");
            }
        };
        let place = self.text.place(place)?;
        let pattern = self.parameters(pattern)?;
        let expression = self.expression(expression)?;
        Some(Statement {
            pattern,
            expression,
            place,
        })
    }
}
