//! Regular nests become operations of two dimensions: a map whose body is a map of a length that is
//! known before, so that all rows have this length, gives a matrix instead of rows that are copied
//! behind each other (nova.txt §5.1). Its elements are independent, they are written where they
//! stay, and later stages may take them in tiles.
//!
//! An operation that carries a strategy stays a loop of its own ([`nova_core::strategy`]). If all its
//! rows have one length, they are joined, each at its place (`join` of dpia.txt §3), so that they can be
//! written where they stay, too.
//!
//! What the body computes before the inner map is computed for each element then, so it must be
//! cheaper than memory.

use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Output, Program, Statement, Type, Variable, View,
};
use nova_flat::visit::{each_body_mut, each_statement};
use std::collections::BTreeSet;

/// Rows before whose elements more statements stand are left as they are.
const MOST_BEFORE: usize = 8;

/// Makes operations of two dimensions of all regular nests.
pub fn run(program: &mut Program) {
    let lengths = lengths(program);
    for k in 0..program.functions.len() {
        let mut body = std::mem::take(&mut program.functions[k].body);
        each_body_mut(&mut body, &mut |inner| {
            let mut statements = Vec::with_capacity(inner.statements.len());
            for statement in std::mem::take(&mut inner.statements) {
                if let Some(length) = marked_rows(&statement.expression) {
                    join_rows(program, &lengths, statement, length, &mut statements);
                    continue;
                }
                match nest(&statement.expression) {
                    Ok(nest) => make_regular(program, &lengths, statement, nest, &mut statements),
                    Err(_) => statements.push(statement),
                }
            }
            inner.statements = statements;
        });
        program.functions[k].body = body;
    }
}

/// The variables that are certainly not negative: extents of arrays bound together with them.
fn lengths(program: &Program) -> BTreeSet<Variable> {
    let mut found = BTreeSet::new();
    let mut look = |bound: &[Variable]| {
        for array in bound {
            for extent in program.ty(*array).shape() {
                if let Atom::Variable(extent) = extent
                    && bound.contains(extent)
                {
                    found.insert(*extent);
                }
            }
        }
    };
    for function in &program.functions {
        look(&function.parameters);
        each_statement(&function.body, &mut |statement| look(&statement.pattern));
    }
    found
}

/// A regular nest.
struct Nest {
    /// Which statement of the outer body is the inner map.
    inner: usize,
    /// How long rows are.
    length: Atom,
    /// For each array of rows, which output of the inner map it is.
    rows: Vec<usize>,
}

/// Why the rows that an operation makes are not those of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Irregular {
    /// The operation makes other things as well, or passes state on.
    NotAlone,
    /// A row is not what one map gives.
    NoMap,
    /// How long a row is is known only inside of the operation.
    Length,
    /// One of both carries a strategy, and stays a loop of its own.
    Strategy,
    /// What stands before the inner map is not cheap enough to be computed for each element.
    Dear,
}

/// Why the rows that an operation makes are not those of a matrix, if it makes rows.
pub(crate) fn irregular(expression: &Expression) -> Option<Irregular> {
    nest(expression).err().flatten()
}

/// The regular nest that an expression is, or why it is none, if it makes rows.
fn nest(expression: &Expression) -> Result<Nest, Option<Irregular>> {
    let Expression::Operation(outer) = expression else {
        return Err(None);
    };
    let makes_rows = |output: &Output| matches!(output, Output::Collect { .. });
    match outer.outputs[..] {
        [Output::Collect { .. }] if outer.carries.is_empty() => {}
        _ if outer.outputs.iter().any(makes_rows) => return Err(Some(Irregular::NotAlone)),
        _ => return Err(None),
    }
    let (length, rows) = outer.body.results.split_first().ok_or(None)?;
    let no_map = Some(Irregular::NoMap);
    let (last, before) = outer.body.statements.split_last().ok_or(no_map)?;
    let Expression::Operation(inner) = &last.expression else {
        return Err(no_map);
    };
    let is_map = |o: &Output| matches!(o, Output::Map);
    if outer.is_marked() || inner.is_marked() {
        return Err(Some(Irregular::Strategy));
    }
    if !inner.carries.is_empty() || inner.shape != [*length] || !inner.outputs.iter().all(is_map) {
        return Err(no_map);
    }
    if !is_known_before(*length, outer) {
        return Err(Some(Irregular::Length));
    }
    if before.len() > MOST_BEFORE || !before.iter().all(is_cheap) {
        return Err(Some(Irregular::Dear));
    }
    let output = |row: &Atom| {
        let of_row = |v: &Variable| Atom::Variable(*v) == *row;
        last.pattern.iter().position(of_row)
    };
    let rows = rows.iter().map(output).collect::<Option<_>>();
    Ok(Nest {
        inner: before.len(),
        length: *length,
        rows: rows.ok_or(no_map)?,
    })
}

/// Whether what an operation's body gives is bound before the operation.
fn is_known_before(given: Atom, operation: &ArrayOperation) -> bool {
    let Atom::Variable(variable) = given else {
        return true;
    };
    let binds = |s: &Statement| s.pattern.contains(&variable);
    !operation.indices.contains(&variable) && !operation.body.statements.iter().any(binds)
}

/// The length that all rows have that an operation with a strategy makes, if it makes nothing else
/// and that is known before.
fn marked_rows(expression: &Expression) -> Option<Atom> {
    let Expression::Operation(operation) = expression else {
        return None;
    };
    let rows = matches!(operation.outputs[..], [Output::Collect { .. }]);
    let length = operation.body.results.first().copied()?;
    let known = is_known_before(length, operation);
    (operation.is_marked() && operation.carries.is_empty() && rows && known).then_some(length)
}

/// Joins the rows of an operation that all have one length: row i begins at i times that.
fn join_rows(
    program: &mut Program,
    lengths: &BTreeSet<Variable>,
    statement: Statement,
    length: Atom,
    statements: &mut Vec<Statement>,
) {
    let Statement {
        pattern,
        expression,
        place,
    } = statement;
    let (Expression::Operation(mut operation), [starts, ends, total, arrays @ ..]) =
        (expression, &pattern[..])
    else {
        return;
    };
    let (Some(count), Some(index)) = (operation.shape.first(), operation.indices.first()) else {
        return;
    };
    let (count, index) = (*count, Atom::Variable(*index));
    let mut write = Writer {
        program,
        place: &place,
        statements,
    };
    let length = write.not_negative(lengths, length);
    write.bind(*total, ScalarOperation::Multiply, [count, length]);
    write.offsets(*starts, *ends, count, length);
    let rows = operation.body.results.split_off(1);
    // Before the rows are made, so that they can be made there.
    let mut inside = Vec::new();
    let mut write = Writer {
        statements: &mut inside,
        ..write
    };
    let first = write.scalar("first", ScalarOperation::Multiply, [index, length]);
    inside.append(&mut operation.body.statements);
    operation.body.statements = inside;
    let parts = rows.iter().map(|row| [Atom::Variable(first), *row]);
    operation.body.results = parts.flatten().collect();
    let shape = vec![Atom::Variable(*total)];
    operation.outputs = vec![Output::Join { shape }; arrays.len()];
    statements.push(Statement {
        pattern: arrays.to_vec(),
        expression: Expression::Operation(operation),
        place,
    });
}

/// Whether computing what a statement does again costs less than memory.
fn is_cheap(statement: &Statement) -> bool {
    match &statement.expression {
        Expression::Scalar {
            operation, operand, ..
        } => operation.is_cheap(*operand),
        expression => matches!(
            expression,
            Expression::Atom(_) | Expression::Index { .. } | Expression::View { .. }
        ),
    }
}

/// Writes a nest as an operation of two dimensions, whose rows are views.
fn make_regular(
    program: &mut Program,
    lengths: &BTreeSet<Variable>,
    statement: Statement,
    nest: Nest,
    statements: &mut Vec<Statement>,
) {
    let Statement {
        pattern,
        expression,
        place,
    } = statement;
    let (Expression::Operation(mut outer), [starts, ends, total, arrays @ ..]) =
        (expression, &pattern[..])
    else {
        return;
    };
    let inner = outer.body.statements.remove(nest.inner);
    let Expression::Operation(inner_map) = inner.expression else {
        return;
    };
    let count = outer.shape.first().copied().unwrap_or(Atom::index(0));
    let mut write = Writer {
        program,
        place: &place,
        statements,
    };
    let length = write.not_negative(lengths, nest.length);
    let shape = vec![count, length];
    let mut matrices = Vec::with_capacity(inner.pattern.len());
    for row in &inner.pattern {
        let element = write.program.ty(*row).element();
        let name = write.program.variable(*row).name.clone();
        let ty = Type::Array(element, shape.clone());
        matrices.push(write.program.add_variable(name, ty));
    }
    let mut body = inner_map.body;
    outer.body.statements.append(&mut body.statements);
    body.statements = std::mem::take(&mut outer.body.statements);
    write.push(
        matrices.clone(),
        Expression::Operation(ArrayOperation {
            shape,
            indices: [outer.indices, inner_map.indices].concat(),
            level: Level::Sequential,
            strategy: None,
            carries: Vec::new(),
            body,
            outputs: inner_map.outputs,
        }),
    );
    write.bind(*total, ScalarOperation::Multiply, [count, length]);
    write.offsets(*starts, *ends, count, length);
    for (array, output) in arrays.iter().zip(nest.rows) {
        let view = Expression::View {
            array: matrices[output],
            view: View::Reshape(vec![Atom::Variable(*total)]),
        };
        write.push(vec![*array], view);
    }
}

/// Writes statements at one place.
struct Writer<'a> {
    program: &'a mut Program,
    place: &'a Place,
    statements: &'a mut Vec<Statement>,
}

impl Writer<'_> {
    fn push(&mut self, pattern: Vec<Variable>, expression: Expression) {
        self.statements.push(Statement {
            pattern,
            expression,
            place: self.place.clone(),
        });
    }

    /// Binds a variable to an operation on `i64`s.
    fn bind(&mut self, variable: Variable, operation: ScalarOperation, arguments: [Atom; 2]) {
        let expression = Expression::Scalar {
            operation,
            operand: Scalar::I64,
            arguments: arguments.to_vec(),
        };
        self.push(vec![variable], expression);
    }

    /// An operation on `i64`s in a new variable.
    fn scalar(&mut self, name: &str, operation: ScalarOperation, arguments: [Atom; 2]) -> Variable {
        let variable = self.program.add_variable(name, Type::Scalar(Scalar::I64));
        self.bind(variable, operation, arguments);
        variable
    }

    /// A length that no row has if it is negative.
    fn not_negative(&mut self, lengths: &BTreeSet<Variable>, length: Atom) -> Atom {
        match length {
            Atom::Variable(variable) if !lengths.contains(&variable) => {
                let arguments = [length, Atom::index(0)];
                Atom::Variable(self.scalar("length", ScalarOperation::Maximum, arguments))
            }
            length => length,
        }
    }

    /// Binds where `count` rows of one length start and end.
    fn offsets(&mut self, starts: Variable, ends: Variable, count: Atom, length: Atom) {
        let index = self.program.add_variable("i", Type::Scalar(Scalar::I64));
        let mut inside = Vec::new();
        let mut write = Writer {
            program: &mut *self.program,
            place: self.place,
            statements: &mut inside,
        };
        let start = [Atom::Variable(index), length];
        let start = Atom::Variable(write.scalar("start", ScalarOperation::Multiply, start));
        let end = Atom::Variable(write.scalar("end", ScalarOperation::Add, [start, length]));
        let operation = ArrayOperation {
            shape: vec![count],
            indices: vec![index],
            level: Level::Sequential,
            strategy: None,
            carries: Vec::new(),
            body: Body {
                statements: inside,
                results: vec![start, end],
            },
            outputs: vec![Output::Map, Output::Map],
        };
        self.push(vec![starts, ends], Expression::Operation(operation));
    }
}
