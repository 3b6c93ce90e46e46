//! Puts marks around the statements whose time a profile takes ([`nova_flat::marks`]): array operations,
//! sorts, copies, foreign functions, work on tables of nodes, and sequential loops. The marks of a
//! loop stand around those of the statements inside of it. What an operation calls for each index is a
//! part of that operation, so functions that operations call have no marks.
//!
//! The pass runs before operations are parallelised. So a row of a profile is an operation of the
//! source after fusion, however many loops of C it becomes, and its iterations are those of the source.

use crate::reachable::functions_called_by;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, FunctionId, Output, Program, Statement, Type, Variable,
};
use nova_flat::marks::Mark;
use nova_flat::visit::{bodies, bodies_mut, each_statement, free_variables};
use nova_flat::{array_expressions, call_expressions, node_expressions, pure_expressions};
use nova_machine::figures;
use std::collections::BTreeSet;

/// The largest number of elements, known when the program is compiled, with which a statement inside a
/// loop has no row: taking its time would take longer.
const SMALL: i64 = figures::ESTIMATES.profiled;

/// Bytes whose number is not known.
const UNKNOWN: Atom = Atom::Constant(nova_core::ScalarValue::I64(-1));

/// Marks the statements of all functions that no operation calls.
pub fn run(program: &mut Program) {
    let mut called = BTreeSet::new();
    for function in &program.functions {
        called_by_operations(&function.body, false, &mut called);
    }
    let called = functions_called_by(program, called);
    let mut rows = 0;
    for k in 0..program.functions.len() {
        if called.contains(&FunctionId(k as u32)) {
            continue;
        }
        let mut body = std::mem::take(&mut program.functions[k].body);
        let mut marker = Marker { program, rows };
        marker.body(&mut body, false);
        rows = marker.rows;
        program.functions[k].body = body;
    }
}

/// Collects the functions that operations and sorts call themselves. `inside` is true in the body of one.
fn called_by_operations(body: &Body, inside: bool, called: &mut BTreeSet<FunctionId>) {
    for statement in &body.statements {
        let expression = &statement.expression;
        if let Expression::Call { function, .. } = expression
            && inside
        {
            called.insert(*function);
        }
        let inside = inside || expression.repeats() && !is_loop(expression);
        bodies(expression, &mut |inner| {
            deep(|| called_by_operations(inner, inside, called));
        });
    }
}

/// True for a sequential loop, inside of which statements have rows of their own.
fn is_loop(expression: &Expression) -> bool {
    match expression {
        Expression::While { .. } => true,
        Expression::Operation(operation) => operation.outputs.is_empty(),
        _others => false,
    }
}

/// Describes a statement that may have a row.
fn description(program: &Program, expression: &Expression) -> Option<String> {
    let word = match expression {
        Expression::Operation(operation) => return Some(words(operation)),
        Expression::While { .. } => "loop",
        Expression::Sort { .. } | Expression::SortKeys { .. } => "sort",
        Expression::Copy(_) => "copy",
        Expression::Concat { .. } => "concat",
        Expression::Iota { .. } => "range",
        Expression::Replicate { .. } => "replicate",
        Expression::Foreign { foreign, .. } => {
            let called = program.foreigns.get(*foreign as usize)?;
            return Some(format!("foreign {}", called.name));
        }
        Expression::TableOpen { .. } | Expression::NodesReached { .. } => "nodes to tables",
        Expression::TableClose { .. } => "tables to nodes",
        Expression::TableShrink { .. } => "smaller tables",
        pure_expressions!()
        | array_expressions!()
        | call_expressions!()
        | node_expressions!()
        | Expression::View { .. }
        | Expression::Check { .. }
        | Expression::Fail { .. }
        | Expression::If { .. }
        | Expression::Switch { .. }
        | Expression::Allocate { .. }
        | Expression::Unique(_) => return None,
    };
    Some(word.to_string())
}

/// Names the outputs of an operation, each word once.
fn words(operation: &ArrayOperation) -> String {
    let mut words: Vec<&str> = Vec::new();
    for output in &operation.outputs {
        if !words.contains(&output.word()) {
            words.push(output.word());
        }
    }
    match words.is_empty() {
        true => "loop".to_string(),
        false => words.join(", "),
    }
}

/// Returns the number of elements of a statement, if it is a constant.
fn constant_size(expression: &Expression) -> Option<i64> {
    let extents = match expression {
        Expression::Operation(operation) => &operation.shape[..],
        Expression::Replicate { shape, .. } => &shape[..],
        Expression::Sort { count, .. }
        | Expression::SortKeys { count, .. }
        | Expression::Concat { count, .. }
        | Expression::Iota { count, .. } => std::slice::from_ref(count),
        _others => return None,
    };
    let mut extents = extents.iter().map(|extent| extent.as_i64());
    extents.try_fold(1i64, |size, extent| size.checked_mul(extent?))
}

/// Puts the marks into a function.
struct Marker<'a> {
    program: &'a mut Program,
    /// The next row.
    rows: u32,
}

impl Marker<'_> {
    /// Marks the statements of a body. `inside` is true in a loop.
    fn body(&mut self, body: &mut Body, inside: bool) {
        let statements = std::mem::take(&mut body.statements);
        for statement in statements {
            deep(|| self.statement(statement, inside, &mut body.statements));
        }
    }

    fn statement(&mut self, mut statement: Statement, inside: bool, out: &mut Vec<Statement>) {
        let what = description(self.program, &statement.expression);
        let what = what.filter(|_| self.is_worth_it(&statement.expression, inside));
        let row = self.rows;
        self.rows += u32::from(what.is_some());
        match &statement.expression {
            Expression::If { .. } | Expression::Switch { .. } => {
                bodies_mut(&mut statement.expression, &mut |b| self.body(b, inside));
            }
            loops if is_loop(loops) => {
                bodies_mut(&mut statement.expression, &mut |b| self.body(b, true));
            }
            _others => {}
        }
        let Some(what) = what else {
            return out.push(statement);
        };
        let place = statement.place.clone();
        let text = match place.file.is_empty() {
            true => String::new(),
            false => place.to_string(),
        };
        let counted = self.count_iterations(&mut statement);
        Writer::new(self.program, &place, out).push(Vec::new(), Mark::begin(row, &what, &text));
        out.push(statement.clone());
        let mut code = Writer::new(self.program, &place, out);
        let numbers = numbers(&mut code, &statement, counted);
        code.push(Vec::new(), Mark::end(row, numbers));
    }

    /// True if a statement is worth a row. Inside a loop a loop without operations and calls is not, nor is
    /// what has few elements.
    fn is_worth_it(&self, expression: &Expression, inside: bool) -> bool {
        if !inside {
            return true;
        }
        if !is_loop(expression) {
            return constant_size(expression).is_none_or(|size| size > SMALL);
        }
        let mut found = false;
        bodies(expression, &mut |body| {
            each_statement(body, &mut |statement| {
                let expression = &statement.expression;
                let is_call = matches!(expression, Expression::Call { .. });
                found |= is_call
                    || !is_loop(expression)
                        && description(self.program, expression).is_some()
                        && self.is_worth_it(expression, true);
            });
        });
        found
    }

    /// Lets a `while` count its iterations, in a further parameter. Returns the result for it.
    fn count_iterations(&mut self, statement: &mut Statement) -> Option<Atom> {
        let Expression::While {
            parameters, body, ..
        } = &mut statement.expression
        else {
            return None;
        };
        let integer = || Type::Scalar(Scalar::I64);
        let number = self.program.add_variable("iteration", integer());
        let count = self.program.add_variable("iterations", integer());
        parameters.push((number, Atom::index(0)));
        let mut code = Writer::new(self.program, &statement.place, &mut body.statements);
        let next = [Atom::Variable(number), Atom::index(1)];
        let next = code.scalar("iteration", ScalarOperation::Add, next);
        body.results.push(next);
        statement.pattern.push(count);
        Some(Atom::Variable(count))
    }
}

/// Returns the iterations of a statement, and the bytes that it reads and writes.
fn numbers(code: &mut Writer, statement: &Statement, counted: Option<Atom>) -> [Atom; 3] {
    match &statement.expression {
        Expression::Operation(operation) => {
            let iterations = product(code, &operation.shape);
            let given = statement.pattern.iter().skip(operation.carries.len());
            match traffic(code, operation, given.copied().collect(), iterations) {
                Some([read, written]) => [iterations, read, written],
                None => [iterations, UNKNOWN, UNKNOWN],
            }
        }
        Expression::Sort { count, .. } | Expression::SortKeys { count, .. } => {
            [*count, UNKNOWN, UNKNOWN]
        }
        Expression::Copy(_) | Expression::Concat { .. } => {
            let [elements, bytes] = made(code, statement);
            [elements, bytes, bytes]
        }
        Expression::Iota { .. } | Expression::Replicate { .. } => {
            let [elements, bytes] = made(code, statement);
            [elements, Atom::index(0), bytes]
        }
        _others => [counted.unwrap_or(Atom::index(1)), UNKNOWN, UNKNOWN],
    }
}

/// Returns the elements of the array that a statement makes, and their bytes.
fn made(code: &mut Writer, statement: &Statement) -> [Atom; 2] {
    let Some(array) = statement.pattern.first() else {
        return [Atom::index(0), Atom::index(0)];
    };
    let shape = code.program.ty(*array).shape().to_vec();
    [product(code, &shape), bytes_of(code, *array)]
}

/// Returns the bytes that an operation reads and writes: the sizes of the arrays, each once. `None` for
/// loops, and for states that are arrays. Scatters write an element for each iteration.
fn traffic(
    code: &mut Writer,
    operation: &ArrayOperation,
    given: Vec<Variable>,
    iterations: Atom,
) -> Option<[Atom; 2]> {
    let has_arrays = |variable: &Variable| code.program.ty(*variable).is_array();
    let state = operation.carries.iter().any(|(carry, _)| has_arrays(carry));
    if operation.outputs.is_empty() || state {
        return None;
    }
    let lambdas = operation.outputs.iter().filter_map(Output::lambda);
    let bodies = std::iter::once(&operation.body).chain(lambdas.map(|lambda| &lambda.body));
    let free = bodies.flat_map(|body| free_variables(code.program, body));
    let sources: BTreeSet<Variable> = free.filter(has_arrays).collect();
    let mut read = Atom::index(0);
    for source in sources {
        let bytes = bytes_of(code, source);
        read = sum(code, read, bytes);
    }
    let mut written = Atom::index(0);
    let mut given = given.into_iter();
    for output in &operation.outputs {
        for array in given.by_ref().take(output.gives()) {
            let bytes = match output {
                Output::Scatter { .. } => {
                    let size = code.program.ty(array).element().info().bytes;
                    product(code, &[iterations, Atom::index(size.into())])
                }
                _others if !code.program.ty(array).is_array() => continue,
                _others => bytes_of(code, array),
            };
            written = sum(code, written, bytes);
        }
    }
    Some([read, written])
}

/// Returns the bytes of an array.
fn bytes_of(code: &mut Writer, array: Variable) -> Atom {
    let ty = code.program.ty(array);
    let mut factors = ty.shape().to_vec();
    factors.push(Atom::index(ty.element().info().bytes.into()));
    product(code, &factors)
}

/// Returns a product, without factors that are 1.
fn product(code: &mut Writer, factors: &[Atom]) -> Atom {
    let mut result = Atom::index(1);
    for factor in factors {
        result = match (result.as_i64(), factor.as_i64()) {
            (Some(1), _) => *factor,
            (_, Some(1)) => result,
            (Some(a), Some(b)) => Atom::index(a.wrapping_mul(b)),
            (_, _) => code.scalar("product", ScalarOperation::Multiply, [result, *factor]),
        };
    }
    result
}

/// Returns a sum, without terms that are 0.
fn sum(code: &mut Writer, a: Atom, b: Atom) -> Atom {
    match (a.as_i64(), b.as_i64()) {
        (Some(0), _) => b,
        (_, Some(0)) => a,
        (Some(a), Some(b)) => Atom::index(a.wrapping_add(b)),
        (_, _) => code.scalar("sum", ScalarOperation::Add, [a, b]),
    }
}
