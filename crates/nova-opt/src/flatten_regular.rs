//! Flattening of regular nests into operations of two dimensions. The body of a map is a map of a
//! length that is known before, so all rows have this length. The result is a matrix instead of
//! rows that are copied one after the other (nova.txt §5.1). Its elements are independent, they are
//! written where they stay, and later stages may tile them.
//!
//! The code before the inner map is then computed for each element, so it must be cheaper than
//! memory. Other rows that all have one length, however they are made, are joined, each at its
//! place (`join` of dpia.txt §3). They can then be written where they stay, too. The same is done
//! with the rows of an operation that carries a strategy, which stays a loop of its own
//! ([`nova_core::strategy`]).

mod offsets;

use crate::cheap::is_cheap;
use crate::limits::STATEMENTS_BEFORE_A_ROW;
use crate::writer::Writer;
use nova_core::{LONGEST, ScalarOperation};
use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, FunctionId, Level, Output, Program, Statement, Type,
    Variable, View,
};
use nova_flat::visit::{bodies_mut, each_body_mut, each_function, each_statement};
use offsets::Offsets;
use std::collections::BTreeSet;

/// Flattens all regular nests, and joins the other rows of one length.
pub fn run(program: &mut Program) {
    let known = Known::of(program);
    each_function(program, |program, body| {
        let mut offsets = Offsets::default();
        rewrite(program, &known, &mut offsets, body);
        each_body_mut(body, &mut |inner| offsets.compute(program, inner));
    });
}

/// Rewrites the operations of a body, the inner ones first. The numbers of elements that these make
/// are then known to the enclosing ones.
fn rewrite(program: &mut Program, known: &Known, offsets: &mut Offsets, body: &mut Body) {
    let mut statements = Vec::with_capacity(body.statements.len());
    for mut statement in std::mem::take(&mut body.statements) {
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| rewrite(program, known, offsets, inner));
        });
        match nest(&statement.expression) {
            Ok(nest) => {
                make_regular(
                    program,
                    &known.lengths,
                    offsets,
                    statement,
                    nest,
                    &mut statements,
                );
            }
            Err(_)
                if makes_equal_rows(&statement.expression)
                    && ends_are_known(program, known, &statement.expression) =>
            {
                join_rows(program, &known.lengths, offsets, statement, &mut statements);
            }
            Err(_) => statements.push(statement),
        }
    }
    body.statements = statements;
}

/// Variables that are certainly not negative.
struct Known {
    /// Extents of arrays bound together with them.
    lengths: BTreeSet<Variable>,
    /// Those that every later stage can recognise: parameters of entries, and maxima.
    ends: BTreeSet<Variable>,
}

impl Known {
    fn of(program: &Program) -> Known {
        let mut known = Known {
            lengths: BTreeSet::new(),
            ends: BTreeSet::new(),
        };
        let mut look = |bound: &[Variable]| {
            for array in bound {
                for extent in program.ty(*array).shape() {
                    if let Atom::Variable(extent) = extent
                        && bound.contains(extent)
                    {
                        known.lengths.insert(*extent);
                    }
                }
            }
        };
        let entries = program.entry_functions();
        let is_natural = |a: &Atom| a.as_i64().is_some_and(|number| number >= 0);
        for (k, function) in program.functions.iter().enumerate() {
            look(&function.parameters);
            if entries.contains(&FunctionId(k as u32)) {
                known.ends.extend(&function.parameters);
            }
            each_statement(&function.body, &mut |statement| {
                look(&statement.pattern);
                if let Expression::Scalar {
                    operation: ScalarOperation::Maximum,
                    arguments,
                    ..
                } = &statement.expression
                    && arguments.iter().any(is_natural)
                {
                    known.ends.extend(&statement.pattern);
                }
            });
        }
        known
    }
}

/// A regular nest.
struct Nest {
    /// The position of the inner map in the outer body.
    inner: usize,
    /// The length of the rows.
    length: Atom,
    /// The output of the inner map that gives each array of rows.
    rows: Vec<usize>,
}

/// A reason why the rows that an operation makes are not those of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Irregular {
    /// The operation gives other results as well, or carries state.
    NotAlone,
    /// A row is not the result of one map.
    NoMap,
    /// The length of a row is known only inside of the operation.
    Length,
    /// One of both operations carries a strategy, and stays a loop of its own.
    Strategy,
    /// The code before the inner map is too expensive to be computed for each element.
    Expensive,
}

/// Returns the reason why the rows that an operation makes are not those of a matrix, if it makes
/// rows.
pub fn irregular(expression: &Expression) -> Option<Irregular> {
    nest(expression).err().flatten()
}

/// Returns the regular nest that an expression is. Otherwise returns the reason why it is none, if
/// it makes rows.
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
    if before.len() > STATEMENTS_BEFORE_A_ROW || !before.iter().all(|s| is_cheap(&s.expression)) {
        return Err(Some(Irregular::Expensive));
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

/// True if a result of an operation's body is bound before the operation.
fn is_known_before(given: Atom, operation: &ArrayOperation) -> bool {
    let Atom::Variable(variable) = given else {
        return true;
    };
    let binds = |s: &Statement| s.pattern.contains(&variable);
    !operation.indices.contains(&variable) && !operation.body.statements.iter().any(binds)
}

/// True if an operation makes rows, and all rows of one output have one length that does not depend
/// on the index. It may give elements besides.
fn makes_equal_rows(expression: &Expression) -> bool {
    let Expression::Operation(operation) = expression else {
        return false;
    };
    let mut consumed = operation.body.results.iter();
    let mut rows = false;
    let mut known = true;
    for output in &operation.outputs {
        let values: Vec<&Atom> = consumed.by_ref().take(output.consumes()).collect();
        let first = values.first().copied();
        match output {
            Output::Map => {}
            Output::Collect { .. } => {
                rows = true;
                known &= first.is_some_and(|length| invariant(*length, operation).is_some());
            }
            _ => known = false,
        }
    }
    operation.carries.is_empty() && rows && known
}

/// True if the program shows that no component of the rows that an operation makes has a negative
/// length. The components that are concatenated must have constant lengths, those of an entry's
/// arrays, or maxima. For others, as nodes' arrays, no later stage could prove that threads may
/// write rows next to each other.
fn ends_are_known(program: &Program, known: &Known, expression: &Expression) -> bool {
    let Expression::Operation(operation) = expression else {
        return false;
    };
    let is_row = |s: &Statement| {
        let is_result = |v: &Variable| operation.body.results.contains(&Atom::Variable(*v));
        s.pattern.iter().any(is_result)
    };
    let extents = |s: &Statement| -> Vec<Atom> {
        match &s.expression {
            Expression::Concat { arrays, .. } => {
                let shapes = arrays.iter().map(|array| program.ty(*array).shape());
                shapes.flatten().copied().collect()
            }
            _not_concatenated => Vec::new(),
        }
    };
    let rows = operation.body.statements.iter().filter(|s| is_row(s));
    rows.flat_map(extents).all(|extent| match extent {
        Atom::Constant(_) => true,
        Atom::Variable(v) => known.ends.contains(&v),
    })
}

/// Returns the statements of an operation's body, last first, that compute a number which is the
/// same for every index. They are defined everywhere. Returns `None` where the number may differ.
fn invariant(number: Atom, operation: &ArrayOperation) -> Option<Vec<usize>> {
    let mut found: Vec<usize> = Vec::new();
    let mut work = vec![number];
    while let Some(atom) = work.pop() {
        if is_known_before(atom, operation) {
            continue;
        }
        let binds = |s: &Statement| s.pattern[..].iter().any(|v| Atom::Variable(*v) == atom);
        let at = operation.body.statements.iter().position(binds)?;
        match &operation.body.statements[at].expression {
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } if operation.is_total(*operand) => work.extend(arguments),
            _may_differ => return None,
        }
        found.push(at);
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.dedup();
    Some(found)
}

/// Moves the computation of the lengths of an operation's rows before the operation.
fn lengths_first(operation: &mut ArrayOperation, before: &mut Vec<Statement>) {
    let mut consumed = operation.body.results.iter();
    let mut moved = BTreeSet::new();
    for output in &operation.outputs {
        let values: Vec<&Atom> = consumed.by_ref().take(output.consumes()).collect();
        let first = values.first().copied();
        if let (Output::Collect { .. }, Some(length)) = (output, first) {
            moved.extend(invariant(*length, operation).unwrap_or_default());
        }
    }
    let body = std::mem::take(&mut operation.body.statements);
    for (at, statement) in body.into_iter().enumerate() {
        match moved.contains(&at) {
            true => before.push(statement),
            false => operation.body.statements.push(statement),
        }
    }
}

/// Joins the rows of an operation that all have one length. Row i begins at i times the length.
fn join_rows(
    program: &mut Program,
    lengths: &BTreeSet<Variable>,
    offsets: &mut Offsets,
    statement: Statement,
    statements: &mut Vec<Statement>,
) {
    let Statement {
        pattern,
        expression,
        place,
    } = statement;
    let Expression::Operation(mut operation) = expression else {
        return;
    };
    let (Some(count), Some(index)) = (operation.shape.first(), operation.indices.first()) else {
        return;
    };
    let (count, index) = (*count, Atom::Variable(*index));
    lengths_first(&mut operation, statements);
    let mut given = pattern.into_iter();
    let mut consumed = std::mem::take(&mut operation.body.results).into_iter();
    // The statements that compute the places of the rows. They precede the rows, so that the rows
    // can be made in place.
    let mut inside = Vec::new();
    let mut outputs = Vec::new();
    let mut made = Vec::new();
    for output in std::mem::take(&mut operation.outputs) {
        let own: Vec<Variable> = given.by_ref().take(output.gives()).collect();
        let values: Vec<Atom> = consumed.by_ref().take(output.consumes()).collect();
        let ([starts, ends, total, arrays @ ..], [length, rows @ ..], Output::Collect { .. }) =
            (&own[..], &values[..], &output)
        else {
            outputs.push(output);
            made.extend(own);
            operation.body.results.extend(values);
            continue;
        };
        let mut write = Writer {
            program: &mut *program,
            place: &place,
            statements,
        };
        let length = write.not_negative(lengths, *length);
        write.check_size(count, length);
        write.bind(*total, ScalarOperation::Multiply, [count, length]);
        offsets.write(&mut write, [*starts, *ends], count, length);
        let mut write = Writer {
            statements: &mut inside,
            ..write
        };
        let first = write.scalar("first", ScalarOperation::Multiply, [index, length]);
        let pairs = rows.iter().map(|row| [first, *row]);
        operation.body.results.extend(pairs.flatten());
        let shape = vec![Atom::Variable(*total)];
        outputs.extend(vec![Output::Join { shape }; arrays.len()]);
        made.extend(arrays);
    }
    inside.append(&mut operation.body.statements);
    operation.body.statements = inside;
    operation.outputs = outputs;
    statements.push(Statement {
        pattern: made,
        expression: Expression::Operation(operation),
        place,
    });
}

/// Writes a nest as an operation of two dimensions, whose rows are views.
fn make_regular(
    program: &mut Program,
    lengths: &BTreeSet<Variable>,
    offsets: &mut Offsets,
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
    offsets.write(&mut write, [*starts, *ends], count, length);
    for (array, output) in arrays.iter().zip(nest.rows) {
        let view = Expression::View {
            array: matrices[output],
            view: View::Reshape(vec![Atom::Variable(*total)]),
        };
        write.push(vec![*array], view);
    }
}

impl Writer<'_> {
    /// Returns the length of a row, or 0 where it is negative.
    fn not_negative(&mut self, lengths: &BTreeSet<Variable>, length: Atom) -> Atom {
        match length {
            Atom::Variable(variable) if !lengths.contains(&variable) => {
                let arguments = [length, Atom::index(0)];
                self.scalar("length", ScalarOperation::Maximum, arguments)
            }
            length => length,
        }
    }

    /// Stops the program where the rows have more elements than an array may have.
    fn check_size(&mut self, count: Atom, length: Atom) {
        let (number, most) = match (count.as_i64(), length.as_i64()) {
            (Some(0), _) | (_, Some(0)) => return,
            (_, Some(length)) => (count, Atom::index(LONGEST / length)),
            (Some(count), _) => (length, Atom::index(LONGEST / count)),
            (None, None) => {
                // Without rows, their length does not matter.
                let one = Atom::index(1);
                let mut number = |name: &str, operation, a, b| self.scalar(name, operation, [a, b]);
                let any = number("any", ScalarOperation::Minimum, count, one);
                let row = number("row", ScalarOperation::Multiply, any, length);
                let filled = number("filled", ScalarOperation::Maximum, count, one);
                let longest = Atom::index(LONGEST);
                let most = number("most", ScalarOperation::Divide, longest, filled);
                (row, most)
            }
        };
        self.check_fits(number, most);
    }
}
