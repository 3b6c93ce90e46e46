//! Rows that are reduced together (unroll and jam). Each element of a map is a reduction over the
//! same number of elements. It reads a row of its own, and data that all rows share, as in the
//! product of a matrix and a vector. One loop then reduces four rows. The shared data is read once,
//! and the processor reads from four rows of memory at a time. That gains where rows are so long
//! that the shared data does not stay in the first cache. The program tests this when it runs:
//! shorter rows are reduced one by one as before.
//!
//! Rows may also be short, where their results are combined from left to right ([`folds`]).
//!
//! Each reduction stays as it is, so its value is the same to the bit. So do the reductions of the
//! rows that are left after the last four.

mod folds;

use nova_core::{Scalar, ScalarOperation};
use nova_diag::{Place, deep};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Lambda, Level, Output, Positions, Program, Statement,
    Type, Variable,
};
use nova_flat::visit::{
    Substitution, bodies_mut, each_function, fresh_copy, fresh_lambda, substitute, used_variables,
};
use nova_machine::{PROCESSOR, figures};
use nova_opt::cheap::is_cheap;
use nova_opt::writer::Writer;
use std::collections::HashSet;

/// The number of rows that are reduced together: a power of two.
const ROWS: i64 = 1 << ROWS_SHIFT;
const ROWS_SHIFT: i64 = figures::ROWS.together_bits;

/// The smallest number of elements of rows that are reduced together. Their shared data takes half
/// of the first cache. Four rows of 1000 elements and fewer together took up to 1.3 times
/// as long as one by one, of 4096 0.9 times, of 8192 0.7 times (Zen 4,
/// docs/benchmarks/2026-11-26-amd-zen4.md).
const LONG: i64 = PROCESSOR.cached_elements(4);

/// The largest number of statements of an element. Longer ones are limited by more than memory.
const STATEMENTS_OF_AN_ELEMENT: usize = figures::ROWS.together_statements;

/// Groups rows in every function.
pub fn run(program: &mut Program, strict: bool) {
    each_function(program, |program, body| {
        in_body(program, strict, body, false);
    });
}

/// Groups rows in a body. `in_map` says that the body computes an element of a map, whose elements may be taken in
/// lockstep.
fn in_body(program: &mut Program, strict: bool, body: &mut Body, in_map: bool) {
    let mut statements = Vec::with_capacity(body.statements.len());
    let mut left = std::mem::take(&mut body.statements).into_iter();
    while let Some(mut statement) = left.next() {
        let is_map = match &statement.expression {
            Expression::Operation(operation) => is_free(operation) && maps(operation),
            _other => in_map,
        };
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| in_body(program, strict, inner, is_map));
        });
        let found = reduction_of_rows(&statement.expression, strict)
            .filter(|(.., way)| *way == Way::Map || !in_map);
        let Some((at, length, way)) = found else {
            statements.push(statement);
            continue;
        };
        let mut rows = Rows {
            program,
            at,
            length,
            way,
        };
        let chosen = rows.rewrite(statement, &mut statements);
        // The following statements read the results of the version that was chosen.
        body.statements = left.collect();
        substitute(program, body, &chosen);
        left = std::mem::take(&mut body.statements).into_iter();
    }
    body.statements = statements;
}

/// Returns the position of the statement of a map's body that reduces a row and may be grouped with
/// others. With it comes the number of elements of a row.
fn reduction_of_rows(expression: &Expression, strict: bool) -> Option<(usize, Atom, Way)> {
    let Expression::Operation(map) = expression else {
        return None;
    };
    let [index] = map.indices[..] else {
        return None;
    };
    let way = Way::of(map, strict)?;
    if !matches!(map.shape[..], [Atom::Variable(_)]) || !is_free(map) {
        return None;
    }
    let mut found = None;
    let mut of_row = HashSet::from([index]);
    for (at, statement) in map.body.statements.iter().enumerate() {
        match &statement.expression {
            Expression::Operation(row) if found.is_none() => {
                let length = row.shape.first().copied()?;
                let binds = |s: &Statement| s.pattern.iter().any(|v| Atom::Variable(*v) == length);
                let mut before = map.body.statements.iter().take(at);
                if !is_free(row) || !shares(row, &of_row) || before.any(binds) {
                    return None;
                }
                found = Some((at, length));
            }
            other if !is_cheap(other) => return None,
            _cheap => {}
        }
        if depends(&statement.expression, &of_row) || found.is_some_and(|(place, _)| place == at) {
            of_row.extend(&statement.pattern);
        }
    }
    found.map(|(at, length)| (at, length, way))
}

/// What is done with the results of rows.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// They are elements of arrays.
    Map,
    /// They are combined from left to right ([`folds`]).
    Fold,
}

impl Way {
    /// Returns the way of an operation, if rows are grouped for it.
    fn of(map: &ArrayOperation, strict: bool) -> Option<Way> {
        match maps(map) {
            true => Some(Way::Map),
            false => folds::folds(map, strict).then_some(Way::Fold),
        }
    }

    /// Computes whether rows of this length are reduced together.
    fn gains(self, write: &mut Writer, length: Atom) -> Atom {
        let (name, operation, limit) = match self {
            Way::Map => ("long", ScalarOperation::GreaterEqual, LONG),
            Way::Fold => ("short", ScalarOperation::LessEqual, PROCESSOR.few_elements),
        };
        write.scalar(name, operation, [length, Atom::index(limit)])
    }
}

/// True if all outputs of an operation are elements of arrays.
fn maps(map: &ArrayOperation) -> bool {
    !map.outputs.is_empty() && map.outputs.iter().all(|o| matches!(o, Output::Map))
}

/// True if one thread runs an operation, in any order.
fn is_free(operation: &ArrayOperation) -> bool {
    operation.level == Level::Sequential && operation.carries.is_empty() && !operation.is_marked()
}

/// True if an element's last index belongs to the row, and one before it is that of the reduction: rows are
/// columns of a matrix, whose neighbours lie side by side.
fn along_columns(indices: &[Atom], of_element: &[Variable], of_row: &HashSet<Variable>) -> bool {
    let is = |atom: &Atom, among: &dyn Fn(&Variable) -> bool| match atom {
        Atom::Variable(variable) => among(variable),
        Atom::Constant(_) => false,
    };
    indices.split_last().is_some_and(|(last, others)| {
        is(last, &|v| of_row.contains(v))
            && others.iter().any(|o| is(o, &|v| of_element.contains(v)))
    })
}

/// True if a reduction has the same number of elements for each row, and its elements read both
/// data of the row and other data. `of_row` are the variables before it that belong to the row.
fn shares(row: &ArrayOperation, of_row: &HashSet<Variable>) -> bool {
    let reduces = |output: &Output| matches!(output, Output::Reduce { .. });
    let same_length = match row.shape[..] {
        [Atom::Variable(length)] => !of_row.contains(&length),
        _ => false,
    };
    let small = row.body.statements.len() <= STATEMENTS_OF_AN_ELEMENT;
    if !same_length || !small || row.outputs.is_empty() || !row.outputs.iter().all(reduces) {
        return false;
    }
    let mut of_row = of_row.clone();
    let (mut own, mut shared) = (false, false);
    for statement in &row.body.statements {
        if !is_cheap(&statement.expression) {
            return false;
        }
        let depends = depends(&statement.expression, &of_row);
        if depends {
            of_row.extend(&statement.pattern);
        }
        if let Expression::Index { indices, .. } = &statement.expression {
            if along_columns(indices, &row.indices, &of_row) {
                return false;
            }
            own |= depends;
            shared |= !depends;
        }
    }
    own && shared
}

/// True if an expression uses one of these variables.
fn depends(expression: &Expression, variables: &HashSet<Variable>) -> bool {
    let mut depends = false;
    used_variables(expression, &mut |v| depends |= variables.contains(&v));
    depends
}

/// The rewriting of one map.
struct Rows<'a> {
    program: &'a mut Program,
    /// The position of the reduction in its body.
    at: usize,
    /// The number of elements of a row.
    length: Atom,
    way: Way,
}

impl Rows<'_> {
    /// Replaces a map by a choice by the length of rows. Returns the new names of its results.
    fn rewrite(&mut self, statement: Statement, out: &mut Vec<Statement>) -> Substitution {
        let mut chosen = Substitution::default();
        let place = statement.place.clone();
        let mut write = Writer::new(self.program, &place, out);
        let gains = self.way.gains(&mut write, self.length);
        let pattern: Vec<Variable> = statement.pattern.iter().map(|v| self.like(*v)).collect();
        for (made, all) in statement.pattern.iter().zip(&pattern) {
            chosen.insert(*made, Atom::Variable(*all));
        }
        let then = self.by_groups(&statement);
        let results = statement.pattern.iter().map(|v| Atom::Variable(*v));
        let otherwise = Body {
            results: results.collect(),
            statements: vec![statement],
        };
        let choice = Expression::If {
            condition: gains,
            then,
            otherwise,
        };
        Writer::new(self.program, &place, out).push(pattern, choice);
        chosen
    }

    /// Returns a map of four rows at a time, and one of the rows that are left.
    fn by_groups(&mut self, statement: &Statement) -> Body {
        let mut body = Body::default();
        let place = &statement.place;
        let Expression::Operation(map) = &statement.expression else {
            return body;
        };
        let ([count], [index]) = (&map.shape[..], &map.indices[..]) else {
            return body;
        };
        let mut write = Writer::new(self.program, place, &mut body.statements);
        let groups = [*count, Atom::index(ROWS_SHIFT)];
        let groups = write.scalar("groups", ScalarOperation::ShiftRight, groups);
        let grouped = [groups, Atom::index(ROWS)];
        let grouped = write.scalar("grouped", ScalarOperation::Multiply, grouped);
        let left = write.scalar("left", ScalarOperation::Subtract, [*count, grouped]);
        let made: Vec<Variable> = statement.pattern.iter().map(|v| self.like(*v)).collect();
        let all: Vec<Variable> = statement.pattern.iter().map(|v| self.like(*v)).collect();
        let (together, one_by_one) = match self.way {
            Way::Map => (
                self.together(map, *index, groups, place),
                self.one_by_one(map, (*index, left, grouped), made.clone(), place),
            ),
            Way::Fold => (
                self.fold_together(map, *index, groups, place),
                self.fold_one_by_one(map, (*index, left, grouped), &made, place),
            ),
        };
        body.results = all.iter().map(|v| Atom::Variable(*v)).collect();
        for (pattern, operation) in [(made, together), (all, one_by_one)] {
            let operation = Expression::Operation(operation);
            Writer::new(self.program, place, &mut body.statements).push(pattern, operation);
        }
        body
    }

    fn like(&mut self, variable: Variable) -> Variable {
        let info = self.program.variable(variable).clone();
        self.program.add_variable(info.name, info.ty)
    }

    /// Returns the map of four rows at a time.
    fn together(
        &mut self,
        map: &ArrayOperation,
        index: Variable,
        groups: Atom,
        place: &Place,
    ) -> ArrayOperation {
        let group = self.like(index);
        let mut statements = Vec::new();
        let (first, results) = self.group(map, (index, group), &mut statements, place);
        let mut given = Vec::with_capacity(2 * results.len());
        let mut outputs = Vec::with_capacity(results.len());
        for elements in results {
            let element = elements.first().and_then(|e| self.program.scalar_of(*e));
            let element = element.unwrap_or(Scalar::F32);
            let ty = Type::Array(element, vec![Atom::index(ROWS)]);
            let rows = self.program.add_variable("rows", ty);
            let literal = Expression::Literal { element, elements };
            Writer::new(self.program, place, &mut statements).push(vec![rows], literal);
            given.extend([first, Atom::Variable(rows)]);
            let shape = map.shape.clone();
            outputs.push(Output::Join { shape });
        }
        ArrayOperation {
            shape: vec![groups],
            indices: vec![group],
            body: Body {
                statements,
                results: given,
            },
            outputs,
            ..empty()
        }
    }

    /// Writes the body of a map for four rows. Returns the number of the first row, and for each result of the
    /// body those of the rows.
    fn group(
        &mut self,
        map: &ArrayOperation,
        (index, group): (Variable, Variable),
        statements: &mut Vec<Statement>,
        place: &Place,
    ) -> (Atom, Vec<Vec<Atom>>) {
        let first = [Atom::Variable(group), Atom::index(ROWS)];
        let mut write = Writer::new(self.program, place, statements);
        let first = write.scalar("first", ScalarOperation::Multiply, first);
        let mut before = map.body.clone();
        let mut after = before.statements.split_off(self.at);
        let reduction = after.remove(0);
        before.results.clear();
        let after = Body {
            statements: after,
            results: map.body.results.clone(),
        };
        let mut substitutions = Vec::new();
        for row in 0..ROWS {
            let mut write = Writer::new(self.program, place, statements);
            let number = write.scalar("row", ScalarOperation::Add, [first, Atom::index(row)]);
            let mut substitution = Substitution::default();
            substitution.insert(index, number);
            let mut copy = fresh_copy(self.program, &before, &mut substitution);
            statements.append(&mut copy.statements);
            substitutions.push(substitution);
        }
        statements.push(self.unrolled_and_jammed(&reduction, &mut substitutions));
        let mut results: Vec<Vec<Atom>> = vec![Vec::new(); after.results.len()];
        for substitution in &mut substitutions {
            let mut copy = fresh_copy(self.program, &after, substitution);
            statements.append(&mut copy.statements);
            for (all, one) in results.iter_mut().zip(copy.results.drain(..)) {
                all.push(one);
            }
        }
        (first, results)
    }

    /// Returns the reductions of four rows as one operation.
    fn unrolled_and_jammed(
        &mut self,
        reduction: &Statement,
        rows: &mut [Substitution],
    ) -> Statement {
        let Expression::Operation(operation) = &reduction.expression else {
            return reduction.clone();
        };
        let indices: Vec<Variable> = operation.indices.iter().map(|i| self.like(*i)).collect();
        let mut body = Body::default();
        let mut results = Vec::with_capacity(rows.len());
        for substitution in &mut *rows {
            for (from, to) in operation.indices.iter().zip(&indices) {
                substitution.insert(*from, Atom::Variable(*to));
            }
            let mut copy = fresh_copy(self.program, &operation.body, substitution);
            body.statements.append(&mut copy.statements);
            results.push(std::mem::take(&mut copy.results).into_iter());
        }
        let mut given = reduction.pattern.iter();
        let (mut pattern, mut outputs) = (Vec::new(), Vec::new());
        for output in &operation.outputs {
            let own: Vec<Variable> = given.by_ref().take(output.gives()).copied().collect();
            for (substitution, results) in rows.iter_mut().zip(&mut results) {
                body.results
                    .extend(results.by_ref().take(output.consumes()));
                for result in &own {
                    let of_row = self.like(*result);
                    substitution.insert(*result, Atom::Variable(of_row));
                    pattern.push(of_row);
                }
            }
            outputs.extend(self.reduction_of_all(output, rows));
        }
        Statement {
            pattern,
            expression: Expression::Operation(ArrayOperation {
                shape: operation.shape.clone(),
                indices,
                body,
                outputs,
                ..empty()
            }),
            place: reduction.place.clone(),
        }
    }

    /// Returns a reduction of the values of several rows side by side.
    fn reduction_of_all(&mut self, output: &Output, rows: &[Substitution]) -> Option<Output> {
        let Output::Reduce {
            lambda,
            start,
            commutes,
            bracketing,
        } = output
        else {
            return None;
        };
        let mut all = Body::default();
        let (mut left, mut right, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            let mut copy = fresh_lambda(self.program, lambda, &mut Substitution::default());
            let (own_left, own_right) = copy.parameters.split_at(start.len());
            left.extend(own_left);
            right.extend(own_right);
            all.statements.append(&mut copy.body.statements);
            all.results.append(&mut copy.body.results);
            starts.extend(start.iter().map(|atom| row.atom(*atom)));
        }
        left.append(&mut right);
        Some(Output::Reduce {
            lambda: Lambda {
                parameters: left,
                body: all,
            },
            start: starts,
            commutes: *commutes,
            bracketing: *bracketing,
        })
    }

    /// Returns the map of the rows that are left. It completes the results of the map of four rows
    /// at a time.
    fn one_by_one(
        &mut self,
        map: &ArrayOperation,
        (index, left, grouped): (Variable, Atom, Atom),
        made: Vec<Variable>,
        place: &Place,
    ) -> ArrayOperation {
        let number = self.like(index);
        let body = self.row_behind(map, (index, number, grouped), place);
        ArrayOperation {
            shape: vec![left],
            indices: vec![number],
            outputs: vec![Output::Scatter {
                destinations: made,
                positions: Positions::Block(vec![grouped]),
            }],
            body,
            ..empty()
        }
    }

    /// Returns the body of a map for a row behind the groups.
    fn row_behind(
        &mut self,
        map: &ArrayOperation,
        (index, number, grouped): (Variable, Variable, Atom),
        place: &Place,
    ) -> Body {
        let mut statements = Vec::new();
        let row = [grouped, Atom::Variable(number)];
        let mut write = Writer::new(self.program, place, &mut statements);
        let row = write.scalar("row", ScalarOperation::Add, row);
        let mut substitution = Substitution::default();
        substitution.insert(index, row);
        let mut body = fresh_copy(self.program, &map.body, &mut substitution);
        body.statements.splice(0..0, statements);
        body
    }
}

/// Returns an operation of one thread that does nothing.
fn empty() -> ArrayOperation {
    ArrayOperation {
        shape: Vec::new(),
        indices: Vec::new(),
        level: Level::Sequential,
        strategy: None,
        carries: Vec::new(),
        body: Body::default(),
        outputs: Vec::new(),
    }
}
