//! From the language to NOVA: columns are vectors of doubles, operators run on every element.

use crate::parser::{Expression, Kind, Mistake, Position, Program};
use nova_driver::{At, ExpressionId, FileId, ProgramBuilder, deep};
use std::collections::BTreeMap;

/// What an expression gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Number,
    Column,
}

/// Functions of elements, with the number of arguments.
const ELEMENTWISE: [(&str, usize); 12] = [
    ("+", 2),
    ("-", 2),
    ("*", 2),
    ("/", 2),
    ("min", 2),
    ("max", 2),
    ("pow", 2),
    ("neg", 1),
    ("abs", 1),
    ("sqrt", 1),
    ("exp", 1),
    ("log", 1),
];

/// The NOVA program, and the columns that it takes as inputs, in order.
pub fn translate(
    program: &Program,
    columns: &[String],
    source: (&str, &str),
) -> Result<(ProgramBuilder, Vec<String>), Mistake> {
    let builder = ProgramBuilder::new("columns");
    let file = builder.source(source.0, source.1);
    let mut translator = Translator {
        builder: &builder,
        file,
        columns,
        names: BTreeMap::new(),
        inputs: BTreeMap::new(),
    };
    let mut bindings = Vec::new();
    for (name, value) in &program.bindings {
        let (id, shape) = translator.expression(value)?;
        let at = translator.at(value);
        // A fresh name for each binding, so that a later one of the same name may use it.
        let fresh = format!("{name}.{}", bindings.len());
        bindings.push((at.parameter(&fresh), id));
        translator.names.insert(name.clone(), (fresh, shape));
    }
    let (value, _) = translator.expression(&program.value)?;
    let at = translator.at(&program.value);
    let inputs: Vec<String> = translator.inputs.keys().cloned().collect();
    for input in &inputs {
        at.input(&column_name(input), at.vector_type(at.named_type("double")));
    }
    at.entry("columns", at.bind(bindings, value));
    Ok((builder, inputs))
}

/// The name of a column as an input, which no other name is.
fn column_name(column: &str) -> String {
    format!("column.{column}")
}

struct Translator<'a> {
    builder: &'a ProgramBuilder,
    file: FileId,
    columns: &'a [String],
    /// What is bound: its name in NOVA and its shape.
    names: BTreeMap<String, (String, Shape)>,
    /// The columns used.
    inputs: BTreeMap<String, ()>,
}

impl<'a> Translator<'a> {
    /// A builder at the place of an expression. Messages there name the function of the language, since NOVA's
    /// own functions mean nothing to its users.
    fn at(&self, of: &Expression) -> At<'a> {
        let construct = match &of.kind {
            Kind::Call(name, _) => Some(name.as_str().into()),
            Kind::Number(_) | Kind::Name(_) => None,
        };
        let (line, column) = of.position;
        let position = nova_driver::Position {
            end: Some(of.end),
            construct,
            ..nova_driver::Position::start(line, column)
        };
        self.builder.at_position(self.file, position)
    }

    fn expression(&mut self, of: &Expression) -> Result<(ExpressionId, Shape), Mistake> {
        let at = self.at(of);
        deep(|| match &of.kind {
            Kind::Number(value) => Ok((at.double(*value), Shape::Number)),
            Kind::Name(name) => self.name(at, of.position, name),
            Kind::Call(name, arguments) => {
                let arguments: Result<Vec<(ExpressionId, Shape)>, Mistake> =
                    arguments.iter().map(|a| self.expression(a)).collect();
                call(at, of.position, name, &arguments?)
            }
        })
    }

    fn name(
        &mut self,
        at: At<'_>,
        position: Position,
        name: &str,
    ) -> Result<(ExpressionId, Shape), Mistake> {
        if let Some((fresh, shape)) = self.names.get(name) {
            return Ok((at.name(fresh), *shape));
        }
        if self.columns.iter().any(|column| column == name) {
            self.inputs.insert(name.to_string(), ());
            return Ok((at.name(&column_name(name)), Shape::Column));
        }
        Err(Mistake {
            position,
            message: format!("there is no column or name `{name}`"),
        })
    }
}

/// A function applied. What does not fit (a mean of a number) is left to NOVA's types, whose
/// message then names the place here.
fn call(
    at: At<'_>,
    position: Position,
    name: &str,
    arguments: &[(ExpressionId, Shape)],
) -> Result<(ExpressionId, Shape), Mistake> {
    let values: Vec<ExpressionId> = arguments.iter().map(|(value, _)| *value).collect();
    let total = |of: ExpressionId| at.call("reduce", &[at.name("+"), at.double(0.0), of]);
    let count = |of: ExpressionId| at.call("to_double", &[at.call("length", &[of])]);
    let reduced = match (name, values.as_slice()) {
        ("sum", [of]) => total(*of),
        ("count", [of]) => count(*of),
        ("mean", [of]) => {
            let whole = at.name("whole");
            let mean = at.call("/", &[total(whole), count(whole)]);
            at.bind(vec![(at.parameter("whole"), *of)], mean)
        }
        _ => return elementwise(at, position, name, arguments),
    };
    Ok((reduced, Shape::Number))
}

/// A function of elements: of numbers itself, of columns mapped, numbers staying as they are.
fn elementwise(
    at: At<'_>,
    position: Position,
    name: &str,
    arguments: &[(ExpressionId, Shape)],
) -> Result<(ExpressionId, Shape), Mistake> {
    let mistake = |message: String| Mistake { position, message };
    let known = ELEMENTWISE.iter().find(|(known, _)| *known == name);
    let Some((_, arity)) = known else {
        return Err(mistake(format!("there is no function `{name}`")));
    };
    if arguments.len() != *arity {
        return Err(mistake(format!("`{name}` takes {arity} arguments")));
    }
    let mut parameters = Vec::new();
    let mut columns = Vec::new();
    let mut operands = Vec::new();
    for (k, (value, shape)) in arguments.iter().enumerate() {
        match shape {
            Shape::Number => operands.push(*value),
            Shape::Column => {
                let element = format!("element.{k}");
                operands.push(at.name(&element));
                parameters.push(at.parameter(&element));
                columns.push(*value);
            }
        }
    }
    let body = at.call(name, &operands);
    if columns.is_empty() {
        return Ok((body, Shape::Number));
    }
    let mut mapped = vec![at.lambda(parameters, body)];
    mapped.extend(columns);
    Ok((at.call("map", &mapped), Shape::Column))
}
