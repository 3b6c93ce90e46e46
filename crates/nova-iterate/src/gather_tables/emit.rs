//! Writes the two versions of the loops of [`super`], and the test that chooses.

use super::find::{Derived, Gather};
use crate::limits::ELEMENTS_OF_A_GATHER_TABLE;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Bracketing, Expression, Lambda, Level, Output, Statement, Type,
    Variable,
};
use nova_flat::visit::{Substitution, each_body_mut, fresh_copy, fresh_variables};
use nova_schedule::Writer;
use std::collections::{BTreeMap, BTreeSet};

/// Writes both versions of a loop, and the test that chooses.
pub(super) fn version(code: &mut Writer<'_>, statement: Statement, gather: &Gather) {
    let shape = code.program.ty(gather.matrix).shape().to_vec();
    let lengths = code.program.ty(gather.selector.vector).shape().to_vec();
    let (Some(rows), Some(columns), Some(length)) = (
        shape.get(gather.dimension),
        shape.get(1 - gather.dimension),
        lengths.first(),
    ) else {
        code.out.push(statement);
        return;
    };
    let (rows, columns, length) = (*rows, *columns, *length);
    let condition = is_worthwhile(code, gather, rows, length);
    let condition = are_valid(code, gather, condition);
    let pattern = statement.pattern.clone();
    let whole = Body {
        results: pattern.iter().map(|v| Atom::Variable(*v)).collect(),
        statements: vec![statement],
    };
    let mut names = Substitution::default();
    let mut copied = fresh_copy(code.program, &whole, &mut names);
    let (statements, table) = code.apart(|code| table(code, gather, [rows, columns, length]));
    read_from(code, &mut copied, gather, table, &names);
    copied.statements.splice(0..0, statements);

    // The results are bound by the conditional, and have other names in its branches.
    let mut otherwise = whole;
    let mut renamed = Substitution::default();
    let fresh = fresh_variables(code.program, &pattern, &mut renamed);
    otherwise.results = fresh.iter().map(|v| Atom::Variable(*v)).collect();
    if let Some(last) = otherwise.statements.last_mut() {
        last.pattern = fresh;
    }
    code.push(
        pattern,
        Expression::If {
            condition,
            then: copied,
            otherwise,
        },
    );
}

/// Writes the test whether the table costs at most half of the gathers, and is small enough.
fn is_worthwhile(code: &mut Writer<'_>, gather: &Gather, rows: Atom, length: Atom) -> Atom {
    let [iterations, elements] = gather.counts;
    let most = Atom::index(ELEMENTS_OF_A_GATHER_TABLE);
    let at_least_one = code.scalar(ScalarOperation::Maximum, rows, Atom::index(1));
    let longest = code.scalar(ScalarOperation::Divide, most, at_least_one);
    let twice = code.scalar(ScalarOperation::Multiply, rows, Atom::index(2));
    let at_most = |code: &mut Writer<'_>, a: Atom, b: Atom| {
        code.compute(
            ScalarOperation::LessEqual,
            Scalar::I64,
            &[a, b],
            Scalar::Bool,
        )
    };
    // A vector that is longer than what is read of it costs more than it saves.
    let read = code.scalar(ScalarOperation::Add, elements, Atom::index(1));
    let tests = [
        at_most(code, length, longest),
        at_most(code, twice, iterations),
        at_most(code, length, read),
    ];
    let mut all = tests[0];
    for test in &tests[1..] {
        all = both(code, all, *test);
    }
    all
}

/// Writes the number that is computed from an element of a vector at another index.
fn derive(code: &mut Writer<'_>, of: &Derived, number: Variable, at: Variable) -> Atom {
    let mut names = Substitution::default();
    let read = code.like_scalar(of.element.0);
    let (array, indices) = (of.vector, vec![Atom::Variable(at)]);
    code.push(vec![read], Expression::Index { array, indices });
    names.insert(of.element.0, Atom::Variable(read));
    let chain = Body {
        statements: of.chain.clone(),
        results: vec![Atom::Variable(number)],
    };
    let mut copied = fresh_copy(code.program, &chain, &mut names);
    code.out.append(&mut copied.statements);
    names.atom(Atom::Variable(number))
}

/// Writes the test whether all elements of the checked vectors pass their checks, if the table is worthwhile.
fn are_valid(code: &mut Writer<'_>, gather: &Gather, worthwhile: Atom) -> Atom {
    let mut all = worthwhile;
    for check in &gather.checks {
        let Some(length) = code.program.ty(check.of.vector).shape().first().copied() else {
            continue;
        };
        let (statements, valid) = code.apart(|code| {
            let at = code.fresh("at", Scalar::I64);
            let (statements, holds) =
                code.apart(|code| derive(code, &check.of, check.condition, at));
            let [left, right, valid] =
                ["a", "b", "valid"].map(|name| code.fresh(name, Scalar::Bool));
            let both = code.apart(|code| both(code, Atom::Variable(left), Atom::Variable(right)));
            let lambda = Lambda {
                parameters: vec![left, right],
                body: Body {
                    statements: both.0,
                    results: vec![both.1],
                },
            };
            let body = Body {
                statements,
                results: vec![holds],
            };
            let reduce = Output::Reduce {
                lambda,
                start: vec![Atom::Constant(ScalarValue::Bool(true))],
                commutes: true,
                bracketing: Bracketing::Whole,
            };
            code.operation(
                vec![valid],
                length,
                at,
                Level::Sequential,
                body,
                vec![reduce],
            );
            Atom::Variable(valid)
        });
        let holds = code.fresh("valid", Scalar::Bool);
        code.push(
            vec![holds],
            Expression::If {
                condition: all,
                then: Body {
                    statements,
                    results: vec![valid],
                },
                otherwise: Body {
                    statements: Vec::new(),
                    results: vec![Atom::Constant(ScalarValue::Bool(false))],
                },
            },
        );
        all = Atom::Variable(holds);
    }
    all
}

/// Writes the conjunction of two truth values.
fn both(code: &mut Writer<'_>, a: Atom, b: Atom) -> Atom {
    code.compute(ScalarOperation::BitAnd, Scalar::Bool, &[a, b], Scalar::Bool)
}

/// Writes the table. Elements that select nothing in the matrix have any value: they are not read.
fn table(code: &mut Writer<'_>, gather: &Gather, [rows, columns, length]: [Atom; 3]) -> Variable {
    let columns_exist = code.scalar(ScalarOperation::Minimum, columns, Atom::index(1));
    let rows = code.scalar(ScalarOperation::Multiply, rows, columns_exist);
    let [row, at] = ["row", "at"].map(|name| code.fresh(name, Scalar::I64));
    let (statements, value) = code.apart(|code| {
        let index = derive(code, &gather.selector, gather.index, at);
        let last = code.scalar(ScalarOperation::Subtract, columns, Atom::index(1));
        let index = code.scalar(ScalarOperation::Minimum, index, last);
        let index = code.scalar(ScalarOperation::Maximum, index, Atom::index(0));
        let value = code.like_scalar(gather.matrix);
        let indices = match gather.dimension {
            0 => vec![Atom::Variable(row), index],
            _ => vec![index, Atom::Variable(row)],
        };
        let array = gather.matrix;
        code.push(vec![value], Expression::Index { array, indices });
        Atom::Variable(value)
    });
    let element = code.program.ty(gather.matrix).element();
    let ty = Type::Array(element, vec![rows, length]);
    let made = code.program.add_variable("table", ty);
    code.push(
        vec![made],
        Expression::Operation(ArrayOperation {
            shape: vec![rows, length],
            indices: vec![row, at],
            level: Level::Sequential,
            strategy: None,
            carries: Vec::new(),
            body: Body {
                statements,
                results: vec![value],
            },
            outputs: vec![Output::Map],
        }),
    );
    made
}

/// Replaces the gathers of a copied loop by reads of the table, and leaves out the checks that hold.
fn read_from(
    code: &mut Writer<'_>,
    body: &mut Body,
    gather: &Gather,
    table: Variable,
    names: &Substitution,
) {
    let Some(Expression::Operation(operation)) =
        body.statements.last_mut().map(|s| &mut s.expression)
    else {
        return;
    };
    let iteration = operation.indices.first().copied();
    let mut reads = BTreeMap::new();
    let (rows, ()) = code.apart(|code| {
        for (result, read) in &gather.reads {
            let row = match (&read.of_row, iteration) {
                (Some(of_row), Some(iteration)) => derive(code, of_row, read.row, iteration),
                _ => names.atom(Atom::Variable(read.row)),
            };
            reads.insert(names.variable(*result), vec![row, names.atom(read.at)]);
        }
    });
    let hold: BTreeSet<Variable> = (gather.checks.iter())
        .map(|check| names.variable(check.condition))
        .collect();
    let holds = |statement: &Statement| matches!(&statement.expression, Expression::Check { condition: Atom::Variable(v), .. } if hold.contains(v));
    each_body_mut(&mut operation.body, &mut |inner| {
        inner.statements.retain(|statement| !holds(statement));
        for statement in &mut inner.statements {
            if let [result] = statement.pattern[..]
                && let Some(indices) = reads.get(&result)
            {
                statement.expression = Expression::Index {
                    array: table,
                    indices: indices.clone(),
                };
            }
        }
    });
    operation.body.statements.splice(0..0, rows);
}
