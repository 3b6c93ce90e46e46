//! Text to Flat and Mem: a table of forms over the reader's data trees.
//!
//! The text is that of [`crate::print`]. Written by hand it may be looser: a variable needs no
//! number (`x` gets one), and a place may be left out. What is read is well-formed, not yet
//! verified.

mod expressions;
mod programs;

use crate::ir::{Atom, Body, FunctionId, Lambda, Program, Statement, Type, Variable, VariableInfo};
use crate::memory::{Lmad, Memory, Polynomial};
use nova_core::{Scalar, ScalarValue};
use nova_diag::{Diagnostic, FileId, Place, codes, deep};
use nova_syntax::ast::Suffix;
use nova_syntax::{Data, DatumId, Kind, reader};
use std::collections::HashMap;
use std::sync::Arc;

/// Reads a program of Flat or Mem; all errors are reported.
pub fn parse(text: &str, file: FileId) -> Result<Program, Vec<Diagnostic>> {
    let (data, diagnostics) = reader::read(text, file);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let mut parser = Parser::new(&data);
    match data.roots() {
        [root] => parser.program(*root),
        [] => parser.diagnostics.push(Diagnostic::error(
            codes::BAD_PROGRAM,
            nova_diag::Span::new(file, 0, 0),
            "there is no program",
        )),
        [_, other, ..] => {
            parser.error::<()>(*other, "only one program may stand in a text");
        }
    }
    parser.finish()
}

/// What is known of a symbol that names a variable.
struct Named {
    info: Option<VariableInfo>,
    first: DatumId,
}

struct Parser<'a> {
    data: &'a Data,
    program: Program,
    names: HashMap<Arc<str>, Variable>,
    /// By variable; `None` for numbers that no symbol has.
    variables: Vec<Option<Named>>,
    /// Numbers above this are not taken from the text: a table has a place for each below.
    largest: u32,
    functions: HashMap<String, FunctionId>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn new(data: &'a Data) -> Self {
        let count = u32::try_from(data.count()).unwrap_or(u32::MAX);
        Parser {
            data,
            program: Program::default(),
            names: HashMap::new(),
            variables: Vec::new(),
            largest: count.saturating_mul(64).saturating_add(100_000),
            functions: HashMap::new(),
            diagnostics: Vec::new(),
        }
    }

    fn finish(mut self) -> Result<Program, Vec<Diagnostic>> {
        let unknown = || VariableInfo {
            name: "".into(),
            ty: Type::Scalar(Scalar::Bool),
            memory: None,
        };
        let mut infos = Vec::with_capacity(self.variables.len());
        let mut unbound = Vec::new();
        for named in std::mem::take(&mut self.variables) {
            match named {
                Some(Named {
                    info: Some(info), ..
                }) => infos.push(info),
                Some(Named { info: None, first }) => unbound.push(first),
                None => infos.push(unknown()),
            }
        }
        for first in unbound {
            self.error::<()>(first, "this variable is bound nowhere");
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
        self.diagnostics
            .push(Diagnostic::error(codes::BAD_FORM, span, message));
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
            Err(_) => self.error(
                at,
                format!("this form takes {N} items, here are {}", items.len()),
            ),
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
        let number = symbol
            .rsplit_once('_')
            .and_then(|(_, digits)| number_of(digits));
        let free = |n: &u32| {
            *n <= self.largest && self.variables.get(*n as usize).is_none_or(Option::is_none)
        };
        let number = number.filter(free).unwrap_or(self.variables.len() as u32);
        while self.variables.len() <= number as usize {
            self.variables.push(None);
        }
        self.variables[number as usize] = Some(Named {
            info: None,
            first: id,
        });
        self.names.insert(symbol.clone(), Variable(number));
        Some(Variable(number))
    }

    /// Says what a variable is.
    fn bind(&mut self, id: DatumId, ty: Type, memory: Option<Memory>) -> Option<Variable> {
        let variable = self.variable(id)?;
        let symbol = self.data.as_symbol(id).unwrap_or("");
        let name = match symbol.rsplit_once('_') {
            Some((name, digits)) if number_of(digits).is_some() => name,
            Some(_) | None => symbol,
        };
        if let Some(Some(named)) = self.variables.get_mut(variable.0 as usize) {
            named.info = Some(VariableInfo {
                name: name.into(),
                ty,
                memory,
            });
        }
        Some(variable)
    }

    fn atom(&mut self, id: DatumId) -> Option<Atom> {
        match self.data.kind(id) {
            Kind::Number(_) => self.number(id).map(Atom::Constant),
            Kind::Symbol(symbol) => match named_constant(symbol) {
                Some(value) => Some(Atom::Constant(value)),
                None => self.variable(id).map(Atom::Variable),
            },
            _ => self.error(id, "a variable or a constant is expected here"),
        }
    }

    /// A number; without suffix an `i64`.
    fn number(&mut self, id: DatumId) -> Option<ScalarValue> {
        let number = self.data.as_number(id)?;
        let float = self.data.as_float(id);
        let integer = self.data.as_integer(id);
        let value = match number.suffix {
            Some(Suffix::Double) => float.map(ScalarValue::F64),
            // Read as a float at once: by way of a double it would be rounded twice.
            Some(Suffix::Float) => match &number.value {
                nova_syntax::ast::NumberValue::Decimal(text) => text.parse().ok(),
                nova_syntax::ast::NumberValue::Integer(value) => value.map(|v| v as f32),
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
                let held = |v: &i128| {
                    ScalarValue::from_integer_wrapping(scalar, *v).as_integer() == Some(*v)
                };
                let fitting = integer.filter(held);
                fitting.map(|v| ScalarValue::from_integer_wrapping(scalar, v))
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

    /// `[a b c]`.
    fn atoms(&mut self, id: DatumId) -> Option<Vec<Atom>> {
        let items = self.items(id)?;
        items.iter().map(|item| self.atom(*item)).collect()
    }

    fn arrays(&mut self, id: DatumId) -> Option<Vec<Variable>> {
        let items = self.items(id)?;
        items.iter().map(|item| self.variable(*item)).collect()
    }

    fn items(&mut self, id: DatumId) -> Option<&'a [DatumId]> {
        match self.data.as_vector(id) {
            Some(items) => Some(items),
            None => self.error(id, "`[ … ]` is expected here"),
        }
    }

    fn scalar(&mut self, id: DatumId) -> Option<Scalar> {
        match self.data.as_symbol(id).and_then(Scalar::by_short) {
            Some(scalar) => Some(scalar),
            None => self.error(
                id,
                "a scalar type is expected here: `i32`, `f32`, `bool`, …",
            ),
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

    fn place(&mut self, id: Option<DatumId>) -> Option<Place> {
        let Some(id) = id else {
            return Some(Place::new("", 0, 0));
        };
        let text = self.string(id)?;
        match Place::parse(&text) {
            Some(place) => Some(place),
            None => self.error(id, "a place is expected here: \"file:line:column\""),
        }
    }

    /// `[x:f32 y:[n]f32 @ m]`, each perhaps with ` = start`.
    fn bindings(&mut self, id: DatumId) -> Option<Vec<(Variable, Option<Atom>)>> {
        let mut items = self.items(id)?;
        let mut list = Vec::new();
        while let Some((name, rest)) = items.split_first() {
            items = rest;
            self.take_colon(*name, &mut items)?;
            let ty = self.ty(*name, &mut items)?;
            let memory = self.memory(&ty, &mut items)?;
            let variable = self.bind(*name, ty, memory)?;
            let mut start = None;
            if let [equals, value, rest @ ..] = items
                && self.data.is_symbol(*equals, "=")
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
            Some((colon, rest)) if self.data.kind(*colon) == Kind::Colon => {
                *items = rest;
                Some(())
            }
            Some(_) | None => self.error(name, "a variable is bound with its type: `x:f32`"),
        }
    }

    /// `[n][m]f32`, `f32`, `(block f32)`.
    fn ty(&mut self, name: DatumId, items: &mut &'a [DatumId]) -> Option<Type> {
        let mut shape = Vec::new();
        while let Some((first, rest)) = items.split_first() {
            *items = rest;
            if let Some(("block", [scalar])) = self.data.form(*first) {
                return self.scalar(*scalar).map(Type::Block);
            }
            match self.data.as_vector(*first) {
                Some([extent]) => shape.push(self.atom(*extent)?),
                Some(_) => return self.error(*first, "an extent is one atom"),
                None if shape.is_empty() => return self.scalar(*first).map(Type::Scalar),
                None => return self.scalar(*first).map(|s| Type::Array(s, shape)),
            }
        }
        self.error(name, "the type of this variable is not complete")
    }

    /// ` @ block`, ` @ block (lmad …)`, or nothing.
    fn memory(&mut self, ty: &Type, items: &mut &'a [DatumId]) -> Option<Option<Memory>> {
        let [at, block, rest @ ..] = *items else {
            return Some(None);
        };
        if !self.data.is_symbol(*at, "@") {
            return Some(None);
        }
        *items = rest;
        let variable = self.variable(*block)?;
        let unbound = |named: &Named| named.info.is_none();
        if self.variables[variable.0 as usize]
            .as_ref()
            .is_some_and(unbound)
        {
            // A block that is bound together with its array.
            self.bind(*block, Type::Block(ty.element()), None)?;
        }
        let lmad = match rest.first().and_then(|d| self.data.form(*d)) {
            Some(("lmad", parts)) => {
                *items = &rest[1..];
                self.lmad(*block, parts)?
            }
            Some(_) | None => match Lmad::of_shape(ty.shape()) {
                Some(lmad) => lmad,
                None => return self.error(*block, "the extents of this array are no `i64`"),
            },
        };
        Some(Some(Memory {
            block: variable,
            lmad,
        }))
    }

    fn lmad(&mut self, at: DatumId, parts: &'a [DatumId]) -> Option<Lmad> {
        let Some((offset, dimensions)) = parts.split_first() else {
            return self.error(at, "an LMAD needs an offset");
        };
        let offset = self.polynomial(*offset)?;
        let mut list = Vec::new();
        for dimension in dimensions {
            let items = self.items(*dimension)?;
            let [extent, stride] = self.exactly(*dimension, items)?;
            list.push((self.polynomial(extent)?, self.polynomial(stride)?));
        }
        Some(Lmad {
            offset,
            dimensions: list,
        })
    }

    /// `3`, `n`, `(* 3 n m)`, `(+ 3 n (* n m))`.
    fn polynomial(&mut self, id: DatumId) -> Option<Polynomial> {
        deep(|| match self.data.form(id) {
            Some(("+", terms)) => terms.iter().try_fold(Polynomial::default(), |sum, term| {
                Some(sum.plus(&self.polynomial(*term)?))
            }),
            Some(("*", factors)) => factors
                .iter()
                .try_fold(Polynomial::constant(1), |p, factor| {
                    Some(p.times(&self.polynomial(*factor)?))
                }),
            Some(_) => self.error(id, "a polynomial is expected here"),
            None => {
                let atom = self.atom(id)?;
                match Polynomial::atom(atom) {
                    Some(polynomial) => Some(polynomial),
                    None => self.error(id, "an `i64` is expected here"),
                }
            }
        })
    }

    /// `[x:f32 y:f32]` without starts.
    fn parameters(&mut self, id: DatumId) -> Option<Vec<Variable>> {
        Some(self.bindings(id)?.into_iter().map(|(v, _)| v).collect())
    }

    /// `[x:f32 = 0.0f]`, all with starts.
    fn starts(&mut self, id: DatumId) -> Option<Vec<(Variable, Atom)>> {
        let bindings = self.bindings(id)?;
        let all: Option<Vec<_>> = bindings.into_iter().map(|(v, s)| Some((v, s?))).collect();
        match all {
            Some(all) => Some(all),
            None => self.error(id, "each of these variables needs a start: `x:f32 = 0.0f`"),
        }
    }

    /// `(lambda [x:f32] (do …))`.
    fn lambda(&mut self, id: DatumId) -> Option<Lambda> {
        match self.data.form(id) {
            Some(("lambda", [parameters, body])) => Some(Lambda {
                parameters: self.parameters(*parameters)?,
                body: self.body(*body)?,
            }),
            Some(_) | None => self.error(id, "`(lambda [x:f32 …] BODY)` is expected here"),
        }
    }

    /// `(do STATEMENT … (in x …))`.
    fn body(&mut self, id: DatumId) -> Option<Body> {
        let Some(("do", items)) = self.data.form(id) else {
            return self.error(id, "`(do … (in …))` is expected here");
        };
        let Some((last, statements)) = items.split_last() else {
            return self.error(id, "a body ends with `(in …)`");
        };
        let mut body = Body::default();
        for statement in statements {
            // Later statements are read all the same, for their errors.
            if let Some(statement) = deep(|| self.statement(*statement)) {
                body.statements.push(statement);
            }
        }
        let Some(("in", results)) = self.data.form(*last) else {
            return self.error(*last, "a body ends with `(in …)`");
        };
        body.results = results
            .iter()
            .map(|r| self.atom(*r))
            .collect::<Option<_>>()?;
        Some(body)
    }

    /// `(let [x:f32] EXPRESSION "place")`.
    fn statement(&mut self, id: DatumId) -> Option<Statement> {
        let (pattern, expression, place) = match self.data.form(id) {
            Some(("let", [pattern, expression])) => (*pattern, *expression, None),
            Some(("let", [pattern, expression, place])) => (*pattern, *expression, Some(*place)),
            Some(_) | None => {
                return self.error(id, "`(let [x:f32 …] EXPRESSION)` is expected here");
            }
        };
        let place = self.place(place)?;
        let pattern = self.parameters(pattern)?;
        let expression = self.expression(expression)?;
        Some(Statement {
            pattern,
            expression,
            place,
        })
    }
}

fn number_of(digits: &str) -> Option<u32> {
    let plain = digits == "0" || !digits.starts_with(['0', '+']);
    if plain { digits.parse().ok() } else { None }
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
