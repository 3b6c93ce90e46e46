//! Maps over the elements of nested vectors keep their shape. Row i of a result has an element for
//! each element of row i of a nested vector, and no element depends on its row. The elements are
//! then computed by one operation over all elements. The rows begin and end where those of the
//! nested vector do.
//!
//! Otherwise rows are made one after the other, each by a loop of its own. The rows of a nested
//! vector lie one after the other without gaps: those of an entry's argument, and those that an
//! operation has collected. The source of such rows is the flattening of `map (map f)` (nova.txt
//! §5).

use crate::effects::FunctionEffects;
use nova_core::{Scalar, ScalarOperation, Type as CoreType};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Function, Output, Program, Statement, Variable,
};
use nova_flat::representation::segments;
use nova_flat::visit::{each_body_mut, each_function, each_statement, free_variables};
use std::collections::HashMap;

/// Keeps shapes in every function.
pub fn run(program: &mut Program) {
    let effects = FunctionEffects::new(program);
    let mut shapes = Shapes {
        known: HashMap::new(),
        same: HashMap::new(),
    };
    shapes.arguments(program);
    each_function(program, |program, body| {
        each_statement(body, &mut |statement| shapes.note(statement));
        each_body_mut(body, &mut |inner| {
            for statement in std::mem::take(&mut inner.statements) {
                match shapes.elements(program, &effects, &statement) {
                    Some(found) => {
                        let all = shapes.flatten(program, found, statement);
                        inner.statements.extend(all);
                    }
                    None => inner.statements.push(statement),
                }
            }
        });
    });
}

/// The rows of a nested vector: the array of their ends, and their total number of elements.
#[derive(Clone, Copy)]
struct Rows {
    ends: Variable,
    total: Variable,
}

/// Facts about nested vectors.
struct Shapes {
    /// The nested vectors without gaps, by the array of the starts of their rows.
    known: HashMap<Variable, Rows>,
    /// The arrays that other names of arrays stand for.
    same: HashMap<Variable, Variable>,
}

/// Rows of which all elements can be computed by one operation.
struct Elements {
    /// The operation that makes a row.
    row: ArrayOperation,
    /// The variable that stands for the row's start there.
    start: Variable,
    /// The array of the starts of the rows.
    starts: Variable,
    rows: Rows,
    /// The output of the row's operation that gives each of the collected arrays.
    given: Vec<usize>,
    /// The rest of the operation over the rows, if it can fail.
    checks: Option<Body>,
}

impl Shapes {
    /// Notes the arguments of entries that nothing else calls.
    fn arguments(&mut self, program: &Program) {
        let alone = program.entry_functions();
        for entry in program
            .entries
            .iter()
            .filter(|e| alone.contains(&e.function))
        {
            let Function { parameters, .. } = program.function(entry.function);
            let types: Vec<CoreType> = entry.inputs.iter().map(|(_, ty)| ty.clone()).collect();
            for [starts, ends, total] in segments(&types, &program.sums) {
                if let (Some(starts), Some(ends), Some(total)) = (
                    parameters.get(starts),
                    parameters.get(ends),
                    parameters.get(total),
                ) {
                    let (ends, total) = (*ends, *total);
                    self.known.insert(*starts, Rows { ends, total });
                }
            }
        }
    }

    /// Notes the rows that a statement collects, and the arrays that it gives another name.
    fn note(&mut self, statement: &Statement) {
        match (&statement.expression, &statement.pattern[..]) {
            (Expression::Atom(Atom::Variable(array)), [other]) => {
                let first = self.first(*array);
                self.same.insert(*other, first);
            }
            (Expression::Operation(operation), pattern) => {
                let mut made = pattern.iter().skip(operation.carries.len());
                for output in &operation.outputs {
                    let given: Vec<Variable> =
                        made.by_ref().take(output.gives()).copied().collect();
                    if let (Output::Collect { .. }, [starts, ends, total, ..]) =
                        (output, &given[..])
                    {
                        let (ends, total) = (*ends, *total);
                        self.known.insert(*starts, Rows { ends, total });
                    }
                }
            }
            _others => {}
        }
    }

    fn first(&self, array: Variable) -> Variable {
        self.same.get(&array).copied().unwrap_or(array)
    }

    /// Returns the operation that makes a statement's rows, if it can compute all their elements at
    /// once.
    fn elements(
        &self,
        program: &Program,
        effects: &FunctionEffects,
        statement: &Statement,
    ) -> Option<Elements> {
        let Expression::Operation(operation) = &statement.expression else {
            return None;
        };
        let ([Output::Collect { .. }], [index], true, false) = (
            &operation.outputs[..],
            &operation.indices[..],
            operation.carries.is_empty(),
            operation.is_marked(),
        ) else {
            return None;
        };
        let body = &operation.body;
        let [length, values @ ..] = &body.results[..] else {
            return None;
        };
        let (start, starts, rows) = self.row_of(body, *index, *length)?;
        let (place, row) = row_operation(body, *length)?;
        let mut rest = body.clone();
        rest.results.clear();
        let made = rest.statements.remove(place).pattern;
        let given: Option<Vec<usize>> = values
            .iter()
            .map(|value| made.iter().position(|v| Atom::Variable(*v) == *value))
            .collect();
        let is_used = |made: &Variable| free_variables(program, &rest).contains(made);
        if made.iter().any(is_used) || !is_for_elements(program, &rest, row, start) {
            return None;
        }
        let (own, others) = (effects.of_body(&row.body), effects.of_body(&rest));
        let is_quiet = !others.observable && !others.endless;
        if !is_quiet || (own.observable && !others.is_pure()) {
            return None;
        }
        Some(Elements {
            row: row.clone(),
            start,
            starts,
            rows,
            given: given?,
            checks: (!others.is_pure()).then_some(rest),
        })
    }

    /// Returns the variable that is the start of the row at this index, if a length is that of the
    /// row. With it come the array of starts, and the rows.
    fn row_of(
        &self,
        body: &Body,
        index: Variable,
        length: Atom,
    ) -> Option<(Variable, Variable, Rows)> {
        let difference = match bound_by(body, length)? {
            // No row has fewer than 0 elements.
            Expression::Scalar {
                operation: ScalarOperation::Maximum,
                operand: Scalar::I64,
                arguments,
            } if arguments.get(1) == Some(&Atom::index(0)) => bound_by(body, *arguments.first()?)?,
            other => other,
        };
        let Expression::Scalar {
            operation: ScalarOperation::Subtract,
            operand: Scalar::I64,
            arguments,
        } = difference
        else {
            return None;
        };
        let [end, start] = arguments[..] else {
            return None;
        };
        let at = |atom: Atom| match bound_by(body, atom) {
            Some(Expression::Index { array, indices })
                if indices[..] == [Atom::Variable(index)] =>
            {
                Some(self.first(*array))
            }
            _others => None,
        };
        let (starts, ends) = (at(start)?, at(end)?);
        let rows = *self.known.get(&starts)?;
        let Atom::Variable(start) = start else {
            return None;
        };
        (self.first(rows.ends) == ends).then_some((start, starts, rows))
    }

    /// Returns the statements that compute all elements and name the rows. They replace one that
    /// collects the rows.
    fn flatten(
        &mut self,
        program: &mut Program,
        elements: Elements,
        mut outer: Statement,
    ) -> Vec<Statement> {
        let Elements {
            mut row,
            start,
            starts,
            rows,
            given,
            checks,
        } = elements;
        let pattern = std::mem::take(&mut outer.pattern);
        let ([own_starts, own_ends, own_total, arrays @ ..], Some(index)) =
            (&pattern[..], row.indices.first().copied())
        else {
            return vec![outer];
        };
        let statement = |pattern: &[Variable], expression: Expression| Statement {
            pattern: pattern.to_vec(),
            expression,
            place: outer.place.clone(),
        };
        let names = [
            (*own_starts, starts),
            (*own_ends, rows.ends),
            (*own_total, rows.total),
        ];
        let mut made = Vec::new();
        for (own, other) in names {
            made.push(statement(&[own], Expression::Atom(Atom::Variable(other))));
            self.same.insert(own, self.first(other));
        }
        let position = program.add_variable("at", program.ty(index).clone());
        put_positions(&mut row.body, start, index, Atom::Variable(position));
        row.indices = vec![position];
        row.shape = vec![Atom::Variable(*own_total)];
        let results = given.iter().map(|k| row.body.results.get(*k).copied());
        row.body.results = results.flatten().collect();
        row.outputs = vec![Output::Map; arrays.len()];
        let all = statement(arrays, Expression::Operation(row));
        if let (Some(body), Expression::Operation(operation)) = (checks, &mut outer.expression) {
            operation.outputs.clear();
            operation.body = body;
            made.push(outer);
        }
        made.push(all);
        made
    }
}

/// Returns the expression of the statement of a body that binds only this atom.
fn bound_by(body: &Body, atom: Atom) -> Option<&Expression> {
    let Atom::Variable(variable) = atom else {
        return None;
    };
    let statement = body.statements.iter().find(|s| s.pattern == [variable])?;
    Some(&statement.expression)
}

/// Returns the operation of a body that makes arrays of this length, element by element, and its
/// position. Returns `None` if there are several.
fn row_operation(body: &Body, length: Atom) -> Option<(usize, &ArrayOperation)> {
    let mut found = None;
    for (place, statement) in body.statements.iter().enumerate() {
        if let Expression::Operation(row) = &statement.expression {
            let maps = row.outputs.iter().all(|o| matches!(o, Output::Map));
            let fits = row.shape == [length] && row.carries.is_empty() && !row.is_marked();
            if found.is_some() || !maps || !fits {
                return None;
            }
            found = Some((place, row));
        }
    }
    found
}

/// True if the elements of a row depend on nothing of their row but their position among all
/// elements. They depend neither on variables that the rest of the body binds, nor on the index
/// within the row.
fn is_for_elements(program: &Program, rest: &Body, row: &ArrayOperation, start: Variable) -> bool {
    let Some(index) = row.indices.first() else {
        return false;
    };
    let mut elements = row.body.clone();
    put_positions(&mut elements, start, *index, Atom::index(0));
    let used = free_variables(program, &elements);
    let mut own = rest.statements.iter().flat_map(|s| &s.pattern);
    !used.contains(index) && !own.any(|variable| used.contains(variable))
}

/// True if an expression is the sum of a row's start and the index within it.
fn is_position(expression: &Expression, start: Variable, index: Variable) -> bool {
    let Expression::Scalar {
        operation: ScalarOperation::Add,
        operand: Scalar::I64,
        arguments,
    } = expression
    else {
        return false;
    };
    let (start, index) = (Atom::Variable(start), Atom::Variable(index));
    arguments[..] == [start, index] || arguments[..] == [index, start]
}

/// Replaces the sums of a row's start and the index within it by an atom.
fn put_positions(body: &mut Body, start: Variable, index: Variable, position: Atom) {
    each_body_mut(body, &mut |inner| {
        for statement in &mut inner.statements {
            if is_position(&statement.expression, start, index) {
                statement.expression = Expression::Atom(position);
            }
        }
    });
}
