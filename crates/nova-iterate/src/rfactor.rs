//! Reductions of columns for threads, by rows. A map over the columns of a matrix that reduces each of them reads
//! memory in strides, and has few indices if there are few columns. So threads share the rows: each chunk of rows
//! reduces its part of all columns, and the map reduces what chunks have found. This is the transformation that
//! Halide calls rfactor (Suriana, Adams and Kamil, Parallel Associative Reductions in Halide, CGO 2017).
//!
//! The chunks depend on the extents alone, so that results are the same for any number of threads. The order of
//! operands changes only where the operator permits it.

use crate::copies::copy;
use nova_core::{Scalar, ScalarOperation as Operation};
use nova_diag::deep;
use nova_flat::freedom::{Freedom, freedom};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Bracketing, Expression, Level, Output, Program, Statement,
    Variable, View,
};
use nova_flat::neutral::neutral;
use nova_flat::visit::{Substitution, bodies_mut, each_function, used_variables};
use nova_machine::figures::COLUMNS;
use nova_plan::{Choice, Plan};
use nova_schedule::{Alone, Parallelism, Writer};
use std::collections::BTreeSet;

/// Lets threads share the rows of all reductions of columns that permit it, except for those that are left to one
/// thread.
pub fn run(program: &mut Program, parallelism: Parallelism, alone: &Alone, plan: &Plan) {
    if parallelism.kernels {
        return;
    }
    let is_wanted = |statement: &Statement| {
        let choices = [Choice::Threads, Choice::Rfactor];
        !alone.has(statement) && choices.iter().all(|c| plan.allows(&statement.place, *c))
    };
    each_function(program, |program, body| {
        rewrite(program, parallelism, &is_wanted, body);
    });
}

fn rewrite(
    program: &mut Program,
    parallelism: Parallelism,
    is_wanted: &dyn Fn(&Statement) -> bool,
    body: &mut Body,
) {
    let mut made = Vec::with_capacity(body.statements.len());
    for mut statement in std::mem::take(&mut body.statements) {
        let columns = Columns::of(&statement, parallelism.strict);
        if let Some(columns) = columns
            && is_wanted(&statement)
        {
            let mut code = Writer::new(program, statement.place.clone(), parallelism);
            columns.write(&mut code, &statement, parallelism.grain);
            made.append(&mut code.out);
            continue;
        }
        // Operations inside of operations have one thread.
        if !matches!(statement.expression, Expression::Operation(_)) {
            bodies_mut(&mut statement.expression, &mut |inner| {
                deep(|| rewrite(program, parallelism, is_wanted, inner));
            });
        }
        made.push(statement);
    }
    body.statements = made;
}

/// A map over columns, and its reduction.
struct Columns<'a> {
    map: &'a ArrayOperation,
    /// The statements before the reduction, and after it.
    before: &'a [Statement],
    after: &'a [Statement],
    results: &'a [Variable],
    reduction: &'a ArrayOperation,
}

impl<'a> Columns<'a> {
    /// Returns the reduction of columns that a statement is, if it is one whose rows may be shared.
    fn of(statement: &'a Statement, strict: bool) -> Option<Columns<'a>> {
        let Expression::Operation(map) = &statement.expression else {
            return None;
        };
        let is_map = |output: &Output| matches!(output, Output::Map);
        let statements = &map.body.statements;
        let at = statements.iter().position(|s| !is_plain(s))?;
        let Expression::Operation(reduction) = &statements[at].expression else {
            return None;
        };
        let (before, after) = (&statements[..at], &statements[at + 1..]);
        let suits = is_simple(map)
            && is_simple(reduction)
            && map.outputs.iter().all(is_map)
            && reduction.outputs.iter().all(|o| is_free(o, strict))
            && after.iter().all(is_plain)
            && reduction.body.statements.iter().all(is_plain);
        let columns = Columns {
            map,
            before,
            after,
            results: &statements[at].pattern,
            reduction,
        };
        (suits && columns.are_read() && columns.are_apart()).then_some(columns)
    }

    /// True if the number of rows and the starts are the same for all columns.
    fn are_apart(&self) -> bool {
        let mut inside: BTreeSet<Variable> = self.map.indices.iter().copied().collect();
        let statements = self.before.iter().flat_map(|s| &s.pattern);
        inside.extend(statements);
        let starts = self.reduction.outputs.iter().flat_map(|o| match o {
            Output::Reduce { start, .. } => start.as_slice(),
            _others => &[],
        });
        let atoms = starts.chain(&self.reduction.shape);
        let mut variables = atoms.filter_map(|atom| atom.as_variable());
        variables.all(|variable| !inside.contains(&variable))
    }

    /// True if columns of a matrix are read, and no rows.
    fn are_read(&self) -> bool {
        let ([column], [row]) = (&self.map.indices[..], &self.reduction.indices[..]) else {
            return false;
        };
        let (of_column, of_row) = (self.dependent(*column), self.dependent(*row));
        let depends = |atom: &Atom, on: &BTreeSet<Variable>| {
            atom.as_variable().is_some_and(|v| on.contains(&v))
        };
        let mut has_columns = false;
        let mut has_rows = false;
        for statement in &self.reduction.body.statements {
            if let Expression::Index { indices, .. } = &statement.expression
                && let Some((last, others)) = indices.split_last()
            {
                let any = |on| others.iter().any(|atom| depends(atom, on));
                has_columns |= depends(last, &of_column) && !depends(last, &of_row) && any(&of_row);
                has_rows |=
                    depends(last, &of_row) && (any(&of_column) || depends(last, &of_column));
            }
        }
        has_columns && !has_rows
    }

    /// Returns an index and what is computed from it.
    fn dependent(&self, index: Variable) -> BTreeSet<Variable> {
        let mut found = BTreeSet::from([index]);
        for statement in self.before.iter().chain(&self.reduction.body.statements) {
            let mut depends = false;
            used_variables(&statement.expression, &mut |v| {
                depends |= found.contains(&v)
            });
            if depends {
                found.extend(&statement.pattern);
            }
        }
        found
    }

    /// Writes the operation in both ways. Threads share the rows where there are few columns and enough to do.
    fn write(&self, code: &mut Writer<'_>, statement: &Statement, grain: i64) {
        let extent = |operation: &ArrayOperation| operation.shape.first().copied();
        let columns = extent(self.map).unwrap_or(Atom::index(0));
        let rows = extent(self.reduction).unwrap_or(Atom::index(0));
        let some = code.scalar(Operation::Maximum, columns, Atom::index(1));
        let least = code.quotient_up(Atom::index(grain), some);
        let even = code.quotient_up(rows, Atom::index(COLUMNS.chunks));
        let size = code.scalar(Operation::Maximum, least, even);
        let count = code.quotient_up(rows, size);
        let chunks = Chunks {
            columns,
            rows,
            size,
            count,
        };
        let several = code.compare(Operation::Greater, count, Atom::index(1));
        let few = code.compare(Operation::LessEqual, columns, Atom::index(COLUMNS.most));
        let any = code.compare(Operation::Greater, columns, Atom::index(0));
        let worth = code.both(few, any);
        let worth = code.both(worth, several);
        code.choose_way(
            &statement.pattern,
            worth,
            |code, own| {
                let partial = self.partial(code, &chunks);
                self.combined(code, own, &chunks, &partial);
            },
            |code, own| {
                let whole = code.fresh_whole(self.map);
                code.push(own, Expression::Operation(whole));
            },
        );
    }

    /// Writes the grid of chunks, each of which reduces its rows of all columns. Returns matrices with a row for each
    /// chunk.
    fn partial(&self, code: &mut Writer<'_>, chunks: &Chunks) -> Vec<Variable> {
        let chunk = code.fresh("chunk", Scalar::I64);
        let whole = [chunks.count, chunks.columns];
        let body = code.body(|code| {
            let first = code.scalar(Operation::Multiply, Atom::Variable(chunk), chunks.size);
            let rest = code.scalar(Operation::Subtract, chunks.rows, first);
            let length = code.scalar(Operation::Minimum, rest, chunks.size);
            let found = self.arrays(code, &[chunks.columns]);
            self.over_columns(code, (found.clone(), chunks.columns), |code, names| {
                copy(code, &self.before_for(&self.reduction.body, &[]), names);
                let row = code.fresh("row", Scalar::I64);
                let body = code.body(|code| {
                    let number = code.scalar(Operation::Add, first, Atom::Variable(row));
                    names.insert(self.reduction.indices[0], number);
                    copy(code, &self.reduction.body.statements, names);
                    let results = self.reduction.body.results.iter();
                    results.map(|atom| names.atom(*atom)).collect()
                });
                let mut outputs = code.fresh_outputs(&self.reduction.outputs);
                for output in &mut outputs {
                    if let Output::Reduce { lambda, start, .. } = output {
                        *start = neutral(lambda, start);
                    }
                }
                let results = self.results.iter().map(|r| code.like_scalar(*r));
                let results: Vec<Variable> = results.collect();
                code.operation(
                    results.clone(),
                    length,
                    row,
                    Level::Sequential,
                    body,
                    outputs,
                );
                results.into_iter().map(Atom::Variable).collect()
            });
            let one_row = vec![Atom::index(1), chunks.columns];
            let mut rows = Vec::new();
            for array in found {
                let seen = code.like(array, one_row.clone());
                let view = View::Reshape(one_row.clone());
                code.push(vec![seen], Expression::View { array, view });
                rows.extend([chunk, seen].map(Atom::Variable));
            }
            rows
        });
        let shape = whole.to_vec();
        let partial = self.arrays(code, &whole);
        let outputs = vec![Output::Join { shape }; partial.len()];
        code.operation(
            partial.clone(),
            chunks.count,
            chunk,
            Level::Grid,
            body,
            outputs,
        );
        partial
    }

    /// Writes the map over the columns that reduces what the chunks have found.
    fn combined(
        &self,
        code: &mut Writer<'_>,
        own: Vec<Variable>,
        chunks: &Chunks,
        partial: &[Variable],
    ) {
        self.over_columns(code, (own, chunks.columns), |code, names| {
            let chunk = code.fresh("chunk", Scalar::I64);
            let column = names.atom(Atom::Variable(self.map.indices[0]));
            let body = code.body(|code| {
                let values = partial.iter().map(|array| {
                    let value = code.like_scalar(*array);
                    let indices = vec![Atom::Variable(chunk), column];
                    let array = *array;
                    code.push(vec![value], Expression::Index { array, indices });
                    Atom::Variable(value)
                });
                values.collect()
            });
            let outputs = code.fresh_outputs(&self.reduction.outputs);
            let results = self.results.iter().map(|r| code.like_scalar(*r));
            let results: Vec<Variable> = results.collect();
            code.operation(
                results.clone(),
                chunks.count,
                chunk,
                Level::Sequential,
                body,
                outputs,
            );
            for (result, own) in self.results.iter().zip(results) {
                names.insert(*result, Atom::Variable(own));
            }
            let after = Body {
                statements: self.after.to_vec(),
                results: Vec::new(),
            };
            copy(
                code,
                &self.before_for(&after, &self.map.body.results),
                names,
            );
            copy(code, self.after, names);
            let results = self.map.body.results.iter();
            results.map(|atom| names.atom(*atom)).collect()
        });
    }

    /// Writes a map over the columns, whose body gets a name for the column.
    fn over_columns(
        &self,
        code: &mut Writer<'_>,
        (pattern, columns): (Vec<Variable>, Atom),
        write: impl FnOnce(&mut Writer<'_>, &mut Substitution) -> Vec<Atom>,
    ) {
        let column = code.like_scalar(self.map.indices[0]);
        let mut names = Substitution::default();
        names.insert(self.map.indices[0], Atom::Variable(column));
        let body = code.body(|code| write(code, &mut names));
        let outputs = vec![Output::Map; pattern.len()];
        code.operation(pattern, columns, column, Level::Sequential, body, outputs);
    }

    /// Returns the statements before the reduction that a body and results need.
    fn before_for(&self, body: &Body, results: &[Atom]) -> Vec<Statement> {
        let mut needed: BTreeSet<Variable> =
            results.iter().filter_map(|a| a.as_variable()).collect();
        needed.extend(body.results.iter().filter_map(|a| a.as_variable()));
        let uses = |statement: &Statement, needed: &mut BTreeSet<Variable>| {
            used_variables(&statement.expression, &mut |v| {
                needed.insert(v);
            });
        };
        body.statements.iter().for_each(|s| uses(s, &mut needed));
        let mut kept = Vec::new();
        for statement in self.before.iter().rev() {
            if statement.pattern.iter().any(|v| needed.contains(v)) {
                uses(statement, &mut needed);
                kept.push(statement.clone());
            }
        }
        kept.reverse();
        kept
    }

    /// Returns new arrays of the results of the reduction.
    fn arrays(&self, code: &mut Writer<'_>, shape: &[Atom]) -> Vec<Variable> {
        let results = self.results.iter();
        results.map(|r| code.like(*r, shape.to_vec())).collect()
    }
}

/// The chunks of rows: their number, and how many rows they have.
struct Chunks {
    columns: Atom,
    rows: Atom,
    size: Atom,
    count: Atom,
}

/// True for an operation over one dimension that no strategy of the program speaks of.
fn is_simple(operation: &ArrayOperation) -> bool {
    operation.level == Level::Sequential
        && !operation.is_marked()
        && operation.carries.is_empty()
        && operation.indices.len() == 1
}

/// True for a statement that computes a number or reads one, and never fails.
fn is_plain(statement: &Statement) -> bool {
    matches!(
        statement.expression,
        Expression::Atom(_) | Expression::Scalar { .. } | Expression::Index { .. }
    )
}

/// True for a reduction whose operands may be bracketed in any way, from the neutral element on.
fn is_free(output: &Output, strict: bool) -> bool {
    match output {
        Output::Reduce {
            lambda, bracketing, ..
        } => *bracketing == Bracketing::Whole && freedom(lambda, strict) == Freedom::Neutral,
        _others => false,
    }
}
