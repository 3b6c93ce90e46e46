//! An operation over the elements of rows that another one collects runs in the loop over the rows.
//! Each row is combined where it is made, and the rows are not stored one after the other.
//!
//! Reductions are made row by row. State, and the destination of a scatter, is carried from row to
//! row, so these loops run in order. [`Workers`] tells where that is worth it.

use super::filters::only_reads_at;
use super::operators::neutral_values;
use super::reads::{is_read_only_here, outputs_of};
use super::rules::{Rules, Workers};
use crate::cheap::is_cheap;
use crate::writer::Writer;
use nova_core::{LONGEST, Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Bracketing, Expression, Lambda, Output, Program, Statement, Type,
    Variable,
};
use nova_flat::visit::{
    Substitution, each_body_mut, each_statement, free_variables, fresh_lambda, used_variables,
};
use std::collections::{BTreeSet, HashMap};

/// The rows among the outputs of an operation.
pub(super) struct Rows {
    /// The number of the output.
    output: usize,
    /// The position of the first value that it consumes among the results of the body.
    consumed: usize,
    /// The position of its first result in the pattern.
    given: usize,
    /// The number of elements of a row.
    length: Atom,
    /// The row that belongs to each array.
    pub rows: HashMap<Variable, Variable>,
}

impl Rows {
    /// Returns the results of the operation for the rows: the starts and the ends, the total number
    /// of elements, and the arrays.
    pub fn given<'a>(&self, maker: &'a Statement) -> &'a [Variable] {
        maker
            .pattern
            .get(self.given..self.given + TOTAL + 1 + self.rows.len())
            .unwrap_or_default()
    }
}

/// The position of the total number of elements among the results of a collection of rows.
const TOTAL: usize = 2;

/// Returns the rows of an operation whose total is this extent.
pub(super) fn rows_of(statement: &Statement, extent: Atom) -> Option<Rows> {
    let Expression::Operation(operation) = &statement.expression else {
        return None;
    };
    outputs_of(statement, operation).find_map(|found| {
        let (Output::Collect { .. }, [_, _, total, arrays @ ..], [length, rows @ ..]) =
            (found.output, found.bound, found.values)
        else {
            return None;
        };
        let rows = rows.iter().map(|row| row.as_variable());
        let rows: Vec<Variable> = rows.collect::<Option<_>>()?;
        (Atom::Variable(*total) == extent).then(|| Rows {
            output: found.number,
            consumed: found.consumed,
            given: found.given,
            length: *length,
            rows: arrays.iter().copied().zip(rows).collect(),
        })
    })
}

/// True if an operation over the elements of rows can run in the loop over the rows. The rows must
/// be made for nothing else. `uses` are all variables that the operation uses, those with which its
/// states and reductions begin included.
pub(super) fn can_run_there(
    program: &Program,
    found: &Rows,
    uses: &BTreeSet<Variable>,
    (producer, consumer): (&Statement, &Statement),
    rules: Rules,
) -> bool {
    let (Expression::Operation(maker), Expression::Operation(operation)) =
        (&producer.expression, &consumer.expression)
    else {
        return false;
    };
    let ([Atom::Variable(total)], [index]) = (&operation.shape[..], &operation.indices[..]) else {
        return false;
    };
    let mut uses_of_total = 0;
    used_variables(&consumer.expression, &mut |v| {
        uses_of_total += usize::from(v == *total);
    });
    let free = free_variables(program, &operation.body);
    let reads = |v: &Variable| found.rows.contains_key(v) && is_read_only_here(*v, consumer);
    let in_order = !operation.carries.is_empty()
        || operation
            .outputs
            .iter()
            .any(|o| matches!(o, Output::Scatter { .. }));
    operation
        .outputs
        .iter()
        .all(|output| runs_in_rows(output, rules))
        && (!in_order || is_worth_it(maker, rules.workers))
        && uses_of_total == 1
        && !free.contains(total)
        && only_reads_at(operation, *index, &|array| found.rows.contains_key(&array))
        && producer
            .pattern
            .iter()
            .all(|v| v == total || !uses.contains(v) || reads(v))
}

/// True if an output can be made row by row.
fn runs_in_rows(output: &Output, rules: Rules) -> bool {
    match output {
        Output::Reduce { lambda, .. } => neutral_values(lambda, rules.strict).is_some(),
        Output::Scatter { positions, .. } => positions.are_given(),
        _ => false,
    }
}

/// True if rows may as well be made one after the other, for code that has to run in order.
fn is_worth_it(maker: &ArrayOperation, workers: Workers) -> bool {
    match workers {
        Workers::One => true,
        // Several threads would not be faster than one that need not write the rows to memory.
        Workers::Threads => {
            let mut cheap = true;
            each_statement(&maker.body, &mut |s| {
                cheap &=
                    is_cheap(&s.expression) || matches!(s.expression, Expression::Check { .. });
            });
            cheap
        }
        // Kernels make the rows.
        Workers::Device => false,
    }
}

/// Returns one operation over the rows, made of one that makes them and one over their elements,
/// and the statements that must follow it. `keeps_total` is true if other code needs the total
/// number of elements.
pub(super) fn join(
    program: &mut Program,
    (first, second): (Statement, Statement),
    keeps_total: bool,
    strict: bool,
) -> Option<Vec<Statement>> {
    let Expression::Operation(consumer) = &second.expression else {
        return None;
    };
    let found = rows_of(&first, consumer.shape.first().copied()?)?;
    let (Expression::Operation(mut outer), Expression::Operation(inner)) =
        (first.expression, second.expression)
    else {
        return None;
    };
    let mut made = first.pattern;
    let output = outer.outputs.remove(found.output);
    let own: Vec<Variable> = made
        .drain(found.given..found.given + output.gives())
        .collect();
    outer
        .body
        .results
        .drain(found.consumed..found.consumed + output.consumes());
    let mut joined = Joined {
        program,
        strict,
        outer,
        made,
        states: Vec::new(),
        last: Vec::new(),
    };
    let mut checks = None;
    if let Some(total) = own.get(TOTAL).filter(|_| keeps_total) {
        joined.add_up(*total, found.length, &second.place);
        checks = Some(check_total(joined.program, *total, &second.place));
    }
    let operation = joined.finish(&found, inner, second.pattern, second.place);
    let checks = checks.into_iter().flatten();
    Some([operation].into_iter().chain(checks).collect())
}

/// An operation over rows that takes another one into its body.
struct Joined<'a> {
    program: &'a mut Program,
    strict: bool,
    outer: ArrayOperation,
    /// The variables that its outputs give.
    made: Vec<Variable>,
    /// The next states of the carries that are added to it.
    states: Vec<Atom>,
    /// The last states of these carries.
    last: Vec<Variable>,
}

impl Joined<'_> {
    fn finish(
        mut self,
        found: &Rows,
        mut inner: ArrayOperation,
        given: Vec<Variable>,
        place: Place,
    ) -> Statement {
        inner.shape = vec![found.length];
        read_rows(&mut inner.body, &found.rows);
        let mut given = given.into_iter();
        let mut pattern = Vec::new();
        // Sizes of states are earlier states.
        let mut sizes = [Substitution::default(), Substitution::default()];
        for (state, start) in &mut inner.carries {
            let types = [0, 1].map(|k| with_sizes(self.program.ty(*state), &sizes[k]));
            let Some(last) = given.next() else {
                continue;
            };
            let next = self.carry(types, start, last);
            sizes[0].insert(*state, *start);
            sizes[1].insert(*state, Atom::Variable(next));
            pattern.push(next);
        }
        for output in &mut inner.outputs {
            let own: Vec<Variable> = given.by_ref().take(output.gives()).collect();
            pattern.extend(match output {
                Output::Scatter { destinations, .. } => self.carry_destinations(destinations, &own),
                Output::Reduce { lambda, start, .. } => self.reduce(lambda, start, &own),
                Output::Map
                | Output::Scan { .. }
                | Output::Filter { .. }
                | Output::Histogram { .. }
                | Output::Collect { .. }
                | Output::Join { .. } => own,
            });
        }
        self.outer.body.statements.push(Statement {
            pattern,
            expression: Expression::Operation(inner),
            place: place.clone(),
        });
        self.outer.body.results.splice(0..0, self.states);
        self.made.splice(0..0, self.last);
        Statement {
            pattern: self.made,
            expression: Expression::Operation(self.outer),
            place,
        }
    }

    /// Carries a state from row to row. It becomes the start of the state in the loop over the
    /// elements of a row. Returns the variable of the state after a row. The types are those of the
    /// state before and after a row.
    fn carry(&mut self, types: [Type; 2], start: &mut Atom, last: Variable) -> Variable {
        let [before, after] = types;
        let state = self.program.add_variable("state", before);
        let next = self.program.add_variable("next", after);
        let start = std::mem::replace(start, Atom::Variable(state));
        self.outer.carries.push((state, start));
        self.states.push(Atom::Variable(next));
        self.last.push(last);
        next
    }

    /// Carries the destinations of a scatter from row to row.
    fn carry_destinations(
        &mut self,
        destinations: &mut [Variable],
        last: &[Variable],
    ) -> Vec<Variable> {
        let each = destinations.iter_mut().zip(last);
        let changed = each.map(|(destination, last)| {
            let ty = self.program.ty(*destination).clone();
            let mut start = Atom::Variable(*destination);
            let next = self.carry([ty.clone(), ty], &mut start, *last);
            if let Atom::Variable(state) = start {
                *destination = state;
            }
            next
        });
        changed.collect()
    }

    /// Reduces the results of the rows. The reduction of each row starts with a neutral value.
    /// Returns the variables of the results of a row.
    fn reduce(
        &mut self,
        lambda: &Lambda,
        start: &mut Vec<Atom>,
        last: &[Variable],
    ) -> Vec<Variable> {
        let neutral = neutral_values(lambda, self.strict).unwrap_or_default();
        let whole = Output::Reduce {
            lambda: fresh_lambda(self.program, lambda, &mut Substitution::default()),
            start: std::mem::replace(start, neutral),
            commutes: true,
            bracketing: Bracketing::Whole,
        };
        let of_row = last.iter().map(|v| {
            let ty = self.program.ty(*v).clone();
            self.program.add_variable("row", ty)
        });
        let of_row: Vec<Variable> = of_row.collect();
        self.outer.outputs.push(whole);
        let values = of_row.iter().map(|v| Atom::Variable(*v));
        self.outer.body.results.extend(values);
        self.made.extend(last);
        of_row
    }

    /// Adds up a number over the rows.
    fn add_up(&mut self, total: Variable, number: Atom, place: &Place) {
        self.outer.outputs.push(sum(self.program, place));
        self.outer.body.results.push(number);
        self.made.push(total);
    }
}

/// Adds up the lengths of rows of which only the total number of elements is used, in a body and
/// those inside.
pub(super) fn add_up_lengths(program: &mut Program, uses: &[u32], body: &mut Body) {
    let is_used = |v: &Variable| uses.get(v.index()).is_some_and(|count| *count > 0);
    each_body_mut(body, &mut |inner| {
        let mut statements = Vec::with_capacity(inner.statements.len());
        for mut statement in std::mem::take(&mut inner.statements) {
            let mut checks = None;
            if let Expression::Operation(operation) = &mut statement.expression
                && let ([Output::Collect { values: 0 }], [starts, ends, total]) =
                    (&operation.outputs[..], &statement.pattern[..])
                && ![starts, ends].into_iter().any(is_used)
            {
                let total = *total;
                operation.outputs = vec![sum(program, &statement.place)];
                statement.pattern = vec![total];
                checks = Some(check_total(program, total, &statement.place));
            }
            statements.push(statement);
            statements.extend(checks.into_iter().flatten());
        }
        inner.statements = statements;
    });
}

/// Adds a check that there are no more elements than a vector can have.
fn check_total(program: &mut Program, total: Variable, place: &Place) -> Vec<Statement> {
    let mut statements = Vec::new();
    let mut write = Writer {
        program,
        place,
        statements: &mut statements,
    };
    write.check_fits(Atom::Variable(total), Atom::index(LONGEST));
    statements
}

/// Returns a type with other sizes.
fn with_sizes(ty: &Type, sizes: &Substitution) -> Type {
    match ty {
        Type::Array(element, shape) => Type::Array(
            *element,
            shape.iter().map(|size| sizes.atom(*size)).collect(),
        ),
        Type::Scalar(_) | Type::Block(_) => ty.clone(),
    }
}

/// Redirects reads in a body from the arrays of all elements to rows.
fn read_rows(body: &mut Body, rows: &HashMap<Variable, Variable>) {
    each_body_mut(body, &mut |inner| {
        for statement in &mut inner.statements {
            if let Expression::Index { array, .. } = &mut statement.expression
                && let Some(row) = rows.get(array)
            {
                *array = *row;
            }
        }
    });
}

/// Returns a sum of `i64` numbers.
fn sum(program: &mut Program, place: &Place) -> Output {
    let integer = Type::Scalar(Scalar::I64);
    let parameters = ["left", "right"].map(|name| program.add_variable(name, integer.clone()));
    let mut body = Body::default();
    let mut write = Writer {
        program,
        place,
        statements: &mut body.statements,
    };
    let sum = write.scalar("sum", ScalarOperation::Add, parameters.map(Atom::Variable));
    body.results.push(sum);
    Output::Reduce {
        lambda: Lambda {
            parameters: parameters.to_vec(),
            body,
        },
        start: vec![Atom::index(0)],
        commutes: true,
        bracketing: Bracketing::Whole,
    }
}
