//! Gather tables: gathers that the iterations of a loop repeat are made once, before the loop.
//!
//! Alignments of sequences read a matrix of scores at `(a ! i, b ! j)`, for all `j` in each iteration `i`. What
//! `b ! j` selects is the same in all iterations. So a table gets a row for each value that `a ! i` may have, and the
//! rows are read from front to back (a query profile). Checks that ask the same of one vector in each iteration are
//! made for the whole vector. The loop is copied: one version has the table and no such checks. The other one is left
//! for matrices with more rows than the loop has iterations, for tables that are too large, and for failing checks.

use crate::limits::{
    ELEMENTS_OF_A_GATHER_TABLE, NESTED_OPERATIONS, OPERATIONS_OF_AN_INDEX, STATEMENTS_WITH_A_TABLE,
};
use crate::policy::Parallelism;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Bracketing, Expression, Lambda, Level, Output, Program, Statement,
    Type, Variable,
};
use nova_flat::visit::{
    Substitution, binders, bodies_mut, each_body_mut, each_function, each_statement, fresh_copy,
    fresh_variables, holds_strategies, size,
};
use std::collections::{BTreeMap, BTreeSet};

/// Makes tables of the gathers that loops repeat.
pub fn run(program: &mut Program) {
    each_function(program, rewrite);
}

fn rewrite(program: &mut Program, body: &mut Body) {
    let mut made = Vec::with_capacity(body.statements.len());
    for mut statement in std::mem::take(&mut body.statements) {
        match find(program, &statement) {
            Some(gather) => {
                let place = statement.place.clone();
                let mut code = Writer::new(program, place, Parallelism::DEFAULT);
                version(&mut code, statement, &gather);
                made.append(&mut code.out);
            }
            None => {
                bodies_mut(&mut statement.expression, &mut |inner| {
                    deep(|| rewrite(program, inner));
                });
                made.push(statement);
            }
        }
    }
    body.statements = made;
}

/// A gather that all iterations of a loop repeat, but for the row.
struct Gather {
    /// The matrix.
    matrix: Variable,
    /// The dimension of the matrix whose index is the same for all elements of an iteration.
    dimension: usize,
    /// The index in the other dimension, and what it is computed from.
    index: Variable,
    selector: Derived,
    /// The reads of the matrix, by the variables that they bind.
    reads: BTreeMap<Variable, Read>,
    /// The checks of elements of vectors.
    checks: Vec<Checked>,
    /// The number of iterations, and the number of elements that each of them reads.
    counts: [Atom; 2],
}

/// A read of the table.
struct Read {
    /// The row.
    row: Variable,
    /// What the row is computed from, if that can be done before the elements.
    of_row: Option<Derived>,
    /// The index in the row.
    at: Atom,
}

/// A number that is computed from one element of a vector which a loop does not change.
struct Derived {
    /// The vector.
    vector: Variable,
    /// The element, and its index.
    element: (Variable, Atom),
    /// What computes the number from the element, in order.
    chain: Vec<Statement>,
}

/// A check of an element, which each iteration makes anew.
struct Checked {
    condition: Variable,
    of: Derived,
}

/// A loop as the search sees it.
struct Scope<'a> {
    program: &'a Program,
    /// The number of iterations, and the number of an iteration.
    iterations: (Atom, Variable),
    /// The variables that the loop binds.
    of_loop: BTreeSet<Variable>,
    /// The variables that the operation in the loop binds, and the statements that bind them.
    of_operation: BTreeMap<Variable, Option<&'a Statement>>,
}

/// Returns a gather that a loop repeats.
fn find(program: &Program, statement: &Statement) -> Option<Gather> {
    let Expression::Operation(operation) = &statement.expression else {
        return None;
    };
    let ([iterations], [iteration], false) = (
        &operation.shape[..],
        &operation.indices[..],
        operation.carries.is_empty(),
    ) else {
        return None;
    };
    let is_free = operation.level == Level::Sequential && operation.strategy.is_none();
    if !is_free
        || size(&operation.body) > STATEMENTS_WITH_A_TABLE
        || holds_strategies(&operation.body)
    {
        return None;
    }
    let mut of_loop = BTreeSet::new();
    binders(&statement.expression, &mut |v| {
        of_loop.insert(*v);
    });
    each_statement(&operation.body, &mut |inner| {
        of_loop.extend(inner.pattern.iter().copied());
        binders(&inner.expression, &mut |v| {
            of_loop.insert(*v);
        });
    });
    operation.body.statements.iter().find_map(|inner| {
        let Expression::Operation(elements) = &inner.expression else {
            return None;
        };
        let [count] = elements.shape[..] else {
            return None;
        };
        let mut of_operation = BTreeMap::new();
        binders(&inner.expression, &mut |v| {
            of_operation.insert(*v, None);
        });
        each_statement(&elements.body, &mut |inside| {
            of_operation.extend(inside.pattern.iter().map(|v| (*v, Some(inside))));
            binders(&inside.expression, &mut |v| {
                of_operation.insert(*v, None);
            });
        });
        let scope = Scope {
            program,
            iterations: (*iterations, *iteration),
            of_loop: of_loop.clone(),
            of_operation,
        };
        scope.gather(&elements.body, [*iterations, count])
    })
}

impl Scope<'_> {
    /// Returns the first gather of a body, with all reads of the same kind, and the checks of vectors.
    fn gather(&self, body: &Body, counts: [Atom; 2]) -> Option<Gather> {
        let is_outside = |atom: Atom| {
            atom.as_variable()
                .is_none_or(|v| !self.of_loop.contains(&v))
        };
        let mut found: Option<Gather> = None;
        let mut checks = Vec::new();
        each_statement(body, &mut |statement| {
            if let Expression::Check {
                condition: Atom::Variable(condition),
                ..
            } = statement.expression
                && let Some(of) = self.derived(condition)
            {
                checks.push(Checked { condition, of });
            }
            let Some(gather) = self.read(statement, counts) else {
                return;
            };
            match &mut found {
                None => found = Some(gather),
                Some(first) => {
                    let is_same = first.matrix == gather.matrix
                        && first.dimension == gather.dimension
                        && same_numbers(&first.selector, &gather.selector);
                    if is_same {
                        first.reads.extend(gather.reads);
                    }
                }
            }
        });
        if let Some(gather) = &mut found {
            gather.checks = checks;
        }
        found.filter(|_| counts.iter().all(|count| is_outside(*count)))
    }

    /// Returns the gather that a statement is.
    fn read(&self, statement: &Statement, counts: [Atom; 2]) -> Option<Gather> {
        let (Expression::Index { array, indices }, [result]) =
            (&statement.expression, &statement.pattern[..])
        else {
            return None;
        };
        let [first, second] = indices[..] else {
            return None;
        };
        let (dimension, row, selected) = match (self.is_of_row(first), self.is_of_row(second)) {
            (true, false) => (0, first, second),
            (false, true) => (1, second, first),
            _ => return None,
        };
        let index = selected.as_variable()?;
        let selector = self.derived(index)?;
        let is_moving = self.differs(selector.element.1, NESTED_OPERATIONS);
        if self.of_loop.contains(array) || !is_moving {
            return None;
        }
        let (row, at) = (row.as_variable()?, selector.element.1);
        let of_row = self.derived(row).filter(|row| self.is_of_iteration(row));
        let read = Read { row, of_row, at };
        Some(Gather {
            matrix: *array,
            dimension,
            index,
            selector,
            reads: BTreeMap::from([(*result, read)]),
            checks: Vec::new(),
            counts,
        })
    }

    /// True if a number is computed from the element of a vector which has the number of the iteration, and every
    /// iteration has one.
    fn is_of_iteration(&self, number: &Derived) -> bool {
        let (count, iteration) = self.iterations;
        let length = self.program.ty(number.vector).shape().first();
        number.element.1 == Atom::Variable(iteration) && length == Some(&count)
    }

    /// True if a number is the same for all elements of an iteration, but not known before the loop.
    fn is_of_row(&self, atom: Atom) -> bool {
        let is_of_loop = atom
            .as_variable()
            .is_some_and(|v| self.of_loop.contains(&v));
        is_of_loop && !self.differs(atom, NESTED_OPERATIONS)
    }

    /// True if a number may differ between the elements of an iteration.
    fn differs(&self, atom: Atom, depth: usize) -> bool {
        let Some(binding) = atom.as_variable().and_then(|v| self.of_operation.get(&v)) else {
            return false;
        };
        match (
            binding.map(|statement| &statement.expression),
            depth.checked_sub(1),
        ) {
            (Some(Expression::Atom(other)), Some(depth)) => self.differs(*other, depth),
            (Some(Expression::Scalar { arguments, .. }), Some(depth)) => {
                arguments.iter().any(|a| self.differs(*a, depth))
            }
            (Some(Expression::Index { array, indices }), Some(depth)) => {
                self.of_operation.contains_key(array)
                    || indices.iter().any(|a| self.differs(*a, depth))
            }
            _others => true,
        }
    }

    /// Returns what a number is computed from, if that is one element of a vector which the loop does not change.
    fn derived(&self, variable: Variable) -> Option<Derived> {
        let mut chain = Vec::new();
        let mut leaf = None;
        self.follow(variable, &mut chain, &mut leaf)?;
        let (element, vector, at) = leaf?;
        Some(Derived {
            vector,
            element: (element, at),
            chain,
        })
    }

    /// Adds the statements that compute a variable from an element of a vector, which is the leaf.
    fn follow(
        &self,
        variable: Variable,
        chain: &mut Vec<Statement>,
        leaf: &mut Option<(Variable, Variable, Atom)>,
    ) -> Option<()> {
        let Some(binding) = self.of_operation.get(&variable) else {
            return (!self.of_loop.contains(&variable)).then_some(());
        };
        let statement = (*binding)?;
        if chain.iter().any(|s| s.pattern.contains(&variable)) {
            return Some(());
        }
        match &statement.expression {
            Expression::Index { array, indices } => {
                let ([at], false) = (&indices[..], self.of_loop.contains(array)) else {
                    return None;
                };
                let is_first = leaf.is_none_or(|(known, ..)| known == variable);
                *leaf = Some((variable, *array, *at));
                is_first.then_some(())
            }
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } if is_defined(*operation, *operand) && chain.len() < OPERATIONS_OF_AN_INDEX => {
                for argument in arguments.iter().filter_map(|a| a.as_variable()) {
                    deep(|| self.follow(argument, chain, leaf))?;
                }
                chain.push(statement.clone());
                Some(())
            }
            _others => None,
        }
    }
}

/// True if an operation has a value for all arguments. Conversions of integers wrap.
fn is_defined(operation: ScalarOperation, operand: Scalar) -> bool {
    match operation {
        ScalarOperation::Convert(to) => operand.is_integer() && to.is_integer(),
        other => other.is_total(operand),
    }
}

/// True if two numbers are computed in the same way from elements of the same vector.
fn same_numbers(first: &Derived, second: &Derived) -> bool {
    let mut names = BTreeMap::from([(second.element.0, first.element.0)]);
    let is_same = |(a, b): (&Statement, &Statement)| {
        let (
            Expression::Scalar {
                operation,
                operand,
                arguments,
            },
            Expression::Scalar {
                operation: other,
                operand: of,
                arguments: others,
            },
        ) = (&a.expression, &b.expression)
        else {
            return false;
        };
        let renamed = others.iter().map(|atom| match atom {
            Atom::Variable(v) => Atom::Variable(names.get(v).copied().unwrap_or(*v)),
            Atom::Constant(_) => *atom,
        });
        let is_same = operation == other && operand == of && renamed.eq(arguments.iter().copied());
        names.extend(b.pattern.iter().copied().zip(a.pattern.iter().copied()));
        is_same
    };
    first.vector == second.vector
        && first.chain.len() == second.chain.len()
        && first.chain.iter().zip(&second.chain).all(is_same)
}

/// Writes both versions of a loop, and the test that chooses.
fn version(code: &mut Writer<'_>, statement: Statement, gather: &Gather) {
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
