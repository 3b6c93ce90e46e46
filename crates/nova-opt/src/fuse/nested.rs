//! An operation over the rows that another one makes, where an element of a row is cheap. The elements are
//! computed where they are read, and the rows are not stored one after the other.

use super::reads::outputs_of;
use crate::cheap::is_cheap;
use crate::limits::STATEMENTS_OF_A_REPEATED_ELEMENT;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Output, Program, Statement, Variable};
use nova_flat::visit::{
    Substitution, binding, bodies, bodies_mut, each_statement, fresh_copy, size, substitute,
    used_variables,
};
use std::collections::{BTreeSet, HashMap};

/// The rows that an operation makes.
struct Nest<'a> {
    starts: Variable,
    ends: Variable,
    total: Variable,
    length: Atom,
    /// The operation that makes each row and the value of its element, by the array of all rows.
    rows: HashMap<Variable, (&'a ArrayOperation, Atom)>,
}

/// True if an operation reads nothing of another one but the elements of its own row, and these are cheap.
pub(super) fn reads_own_row(first: &Statement, second: &Statement) -> bool {
    match (nest_of(first), &second.expression) {
        (Some(nest), Expression::Operation(consumer)) => {
            !consumer.is_marked() && nest.serves(consumer)
        }
        (_, _) => false,
    }
}

/// Returns one operation that does what two did.
pub(super) fn join(program: &mut Program, first: Statement, mut second: Statement) -> Statement {
    let Expression::Operation(consumer) = &mut second.expression else {
        return second;
    };
    let (Some(nest), Expression::Operation(producer)) = (nest_of(&first), &first.expression) else {
        return second;
    };
    let mut body = std::mem::take(&mut consumer.body);
    compute_elements(program, &nest, &mut body);
    let mut made = Body {
        statements: producer.body.statements.clone(),
        results: Vec::new(),
    };
    made.statements.append(&mut body.statements);
    made.results.append(&mut body.results);
    let mut substitution = Substitution::default();
    for (from, to) in producer.indices.iter().zip(&consumer.indices) {
        substitution.insert(*from, Atom::Variable(*to));
    }
    substitute(program, &mut made, &substitution);
    consumer.body = made;
    second
}

/// Replaces what a body reads of rows by what the elements are computed from. Starts become 0.
fn compute_elements(program: &mut Program, nest: &Nest<'_>, body: &mut Body) {
    let mut made = Vec::with_capacity(body.statements.len());
    for mut statement in std::mem::take(&mut body.statements) {
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| compute_elements(program, nest, inner));
        });
        if let Expression::Index { array, indices } = &statement.expression {
            if *array == nest.starts {
                statement.expression = Expression::Atom(Atom::index(0));
            } else if *array == nest.ends {
                statement.expression = Expression::Atom(nest.length);
            } else if let (Some((row, value)), [at]) = (nest.rows.get(array), &indices[..]) {
                let mut substitution = Substitution::default();
                for index in &row.indices {
                    substitution.insert(*index, *at);
                }
                let element = Body {
                    statements: row.body.statements.clone(),
                    results: vec![*value],
                };
                let mut copy = fresh_copy(program, &element, &mut substitution);
                made.append(&mut copy.statements);
                if let [value] = copy.results[..] {
                    statement.expression = Expression::Atom(value);
                }
            }
        }
        made.push(statement);
    }
    body.statements = made;
}

/// Returns the rows of an operation that makes nothing else, if their elements are cheap.
fn nest_of(statement: &Statement) -> Option<Nest<'_>> {
    let Expression::Operation(operation) = &statement.expression else {
        return None;
    };
    if operation.outputs.len() != 1 || !operation.carries.is_empty() || operation.is_marked() {
        return None;
    }
    let found = outputs_of(statement, operation).next()?;
    let (Output::Collect { .. }, [starts, ends, total, arrays @ ..], [length, values @ ..]) =
        (found.output, found.bound, found.values)
    else {
        return None;
    };
    let mut rows = HashMap::new();
    for (array, value) in arrays.iter().zip(values) {
        rows.insert(*array, row_of(&operation.body, *value)?);
    }
    Some(Nest {
        starts: *starts,
        ends: *ends,
        total: *total,
        length: *length,
        rows,
    })
}

/// Returns the operation that makes a row, with the value of its element, if that is cheap.
fn row_of(body: &Body, row: Atom) -> Option<(&ArrayOperation, Atom)> {
    let statement = binding(body, row)?;
    let Expression::Operation(operation) = &statement.expression else {
        return None;
    };
    if !operation.carries.is_empty()
        || operation.indices.len() != 1
        || operation.is_marked()
        || size(&operation.body) > STATEMENTS_OF_A_REPEATED_ELEMENT
    {
        return None;
    }
    let mut cheap = true;
    each_statement(&operation.body, &mut |inner| {
        cheap &=
            is_cheap(&inner.expression) && !matches!(inner.expression, Expression::View { .. });
    });
    let value = outputs_of(statement, operation).find_map(|given| {
        match (given.output, given.bound, given.values) {
            (Output::Map, [bound], [value]) if Atom::Variable(*bound) == row => Some(*value),
            _others => None,
        }
    })?;
    cheap.then_some((operation, value))
}

/// The variables of a consumer that tell where its row stands.
#[derive(Default)]
struct Reads {
    starts: BTreeSet<Variable>,
    ends: BTreeSet<Variable>,
    /// Sums of a start and another number.
    places: BTreeSet<Variable>,
}

impl Nest<'_> {
    /// True if an operation only reads elements of its own row.
    fn serves(&self, consumer: &ArrayOperation) -> bool {
        let &[own] = &consumer.indices[..] else {
            return false;
        };
        let mut reads = Reads::default();
        each_statement(&consumer.body, &mut |statement| {
            if let (Expression::Index { array, indices }, [bound]) =
                (&statement.expression, &statement.pattern[..])
                && indices[..] == [Atom::Variable(own)]
            {
                if *array == self.starts {
                    reads.starts.insert(*bound);
                } else if *array == self.ends {
                    reads.ends.insert(*bound);
                }
            }
        });
        let mut places = BTreeSet::new();
        each_statement(&consumer.body, &mut |statement| {
            if reads.is_place(&statement.expression) {
                places.extend(statement.pattern.iter().copied());
            }
        });
        reads.places = places;
        !reads.starts.is_empty()
            && self.has_no_other_use(&reads, own, &consumer.body)
            && consumer.outputs.iter().all(|output| {
                output
                    .lambda()
                    .is_none_or(|lambda| self.has_no_other_use(&reads, own, &lambda.body))
            })
    }

    /// True if a body uses what tells of rows only to read elements of its own row.
    fn has_no_other_use(&self, reads: &Reads, own: Variable, body: &Body) -> bool {
        let is_free = |variable: Variable| {
            !self.rows.contains_key(&variable)
                && ![self.starts, self.ends, self.total].contains(&variable)
                && !reads.starts.contains(&variable)
                && !reads.ends.contains(&variable)
                && !reads.places.contains(&variable)
        };
        let mut results = body.results.iter().filter_map(|atom| atom.as_variable());
        results.all(is_free)
            && body.statements.iter().all(|statement| {
                let expression = &statement.expression;
                let mut fits = true;
                if !reads.is_place(expression)
                    && !reads.is_length(expression)
                    && !self.is_read(reads, own, expression)
                {
                    used_variables(expression, &mut |variable| fits &= is_free(variable));
                }
                bodies(expression, &mut |inner| {
                    fits = fits && deep(|| self.has_no_other_use(reads, own, inner));
                });
                fits
            })
    }

    /// True for a read of the start, the end or an element of the own row.
    fn is_read(&self, reads: &Reads, own: Variable, expression: &Expression) -> bool {
        let Expression::Index { array, indices } = expression else {
            return false;
        };
        let &[Atom::Variable(at)] = &indices[..] else {
            return false;
        };
        match self.rows.contains_key(array) {
            true => reads.starts.contains(&at) || reads.places.contains(&at),
            false => (*array == self.starts || *array == self.ends) && at == own,
        }
    }
}

impl Reads {
    /// True for the sum of a start and a number that tells nothing of rows.
    fn is_place(&self, expression: &Expression) -> bool {
        let [left, right] = match sides(expression, ScalarOperation::Add) {
            Some(sides) => sides,
            None => return false,
        };
        let is_start = |atom: Atom| atom.as_variable().is_some_and(|v| self.starts.contains(&v));
        let is_end = |atom: Atom| atom.as_variable().is_some_and(|v| self.ends.contains(&v));
        is_start(left) != is_start(right) && !is_end(left) && !is_end(right)
    }

    /// True for the difference of an end and a start.
    fn is_length(&self, expression: &Expression) -> bool {
        match sides(expression, ScalarOperation::Subtract) {
            Some([Atom::Variable(end), Atom::Variable(start)]) => {
                self.ends.contains(&end) && self.starts.contains(&start)
            }
            _others => false,
        }
    }
}

/// Returns the operands of an operation on two indices.
fn sides(expression: &Expression, wanted: ScalarOperation) -> Option<[Atom; 2]> {
    match expression {
        Expression::Scalar {
            operation,
            operand: Scalar::I64,
            arguments,
        } if *operation == wanted => <[Atom; 2]>::try_from(&arguments[..]).ok(),
        _others => None,
    }
}
