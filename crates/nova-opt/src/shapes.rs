//! Maps over the elements of nested vectors keep their shape: where row i of a result has an element for
//! each element of row i of a nested vector, and no element depends on its row, the elements are computed
//! by one operation over all elements, and the rows begin and end where those of the nested vector do.
//!
//! Otherwise rows are made one after the other, each by a loop of its own. The rows of a nested vector
//! lie behind each other without gaps: those of an entry's argument, and those that an operation has
//! collected. Source: what flattening makes of `map (map f)` (nova.txt §5).

use crate::effects::FunctionEffects;
use nova_core::{Scalar, ScalarOperation, Type as CoreType};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Function, Output, Program, Statement, Variable,
};
use nova_flat::representation::segments;
use nova_flat::visit::{each_body_mut, each_statement, free_variables, used_variables};
use std::collections::{BTreeSet, HashMap};

/// Keeps shapes in every function.
pub fn run(program: &mut Program) {
    let effects = FunctionEffects::new(program);
    let mut shapes = Shapes {
        known: HashMap::new(),
        same: HashMap::new(),
    };
    shapes.arguments(program);
    for k in 0..program.functions.len() {
        let mut body = std::mem::take(&mut program.functions[k].body);
        each_statement(&body, &mut |statement| shapes.note(statement));
        each_body_mut(&mut body, &mut |inner| {
            for statement in std::mem::take(&mut inner.statements) {
                match shapes.elements(program, &effects, &statement) {
                    Some(found) => inner.statements.extend(shapes.flatten(program, found)),
                    None => inner.statements.push(statement),
                }
            }
        });
        program.functions[k].body = body;
    }
}

/// The rows of a nested vector: where they end, and how many elements they have together.
#[derive(Clone, Copy)]
struct Rows {
    ends: Variable,
    total: Variable,
}

/// What is known of nested vectors.
struct Shapes {
    /// The nested vectors without gaps, by where their rows start.
    known: HashMap<Variable, Rows>,
    /// What other names of arrays stand for.
    same: HashMap<Variable, Variable>,
}

/// Rows of which all elements can be computed by one operation.
struct Elements {
    /// The operation over the rows, for what it does besides.
    outer: Statement,
    /// The operation that makes a row, and its place in the body of the one over the rows.
    row: ArrayOperation,
    place: usize,
    /// What stands for the row's start there.
    start: Variable,
    /// Where the rows start.
    starts: Variable,
    rows: Rows,
    /// For each of the collected arrays the output of the row's operation that it is.
    given: Vec<usize>,
    /// Whether the operation over the rows has to run for its checks.
    checks: bool,
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

    /// Notes what a statement collects or names anew.
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

    /// What a statement's rows are computed of, if one operation can compute all their elements.
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
        let made = &body.statements.get(place)?.pattern;
        let given: Option<Vec<usize>> = values
            .iter()
            .map(|value| made.iter().position(|v| Atom::Variable(*v) == *value))
            .collect();
        let given = given?;
        let is_free = is_for_elements(program, body, place, row, start);
        let rest = Body {
            statements: body
                .statements
                .iter()
                .enumerate()
                .filter(|(k, _)| *k != place)
                .map(|(_, s)| s.clone())
                .collect(),
            results: Vec::new(),
        };
        let (own, others) = (effects.of_body(&row.body), effects.of_body(&rest));
        let is_quiet =
            !others.observable && !others.endless && (!own.observable || others.is_pure());
        if !is_free || !is_quiet {
            return None;
        }
        Some(Elements {
            row: row.clone(),
            place,
            start,
            starts,
            rows,
            given,
            checks: !others.is_pure(),
            outer: statement.clone(),
        })
    }

    /// The variable that is the start of the row at this index, if a length is that of the row; where the
    /// rows start, and the rows.
    fn row_of(
        &self,
        body: &Body,
        index: Variable,
        length: Atom,
    ) -> Option<(Variable, Variable, Rows)> {
        let difference = match bound_by(body, length)? {
            // No row has less than no elements.
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

    /// The statements that compute all elements, and name the rows.
    fn flatten(&mut self, program: &mut Program, elements: Elements) -> Vec<Statement> {
        let Elements {
            mut outer,
            mut row,
            place,
            start,
            starts,
            rows,
            given,
            checks,
        } = elements;
        let name = outer.place.clone();
        let pattern = std::mem::take(&mut outer.pattern);
        let [own_starts, own_ends, own_total, arrays @ ..] = &pattern[..] else {
            return vec![outer];
        };
        let bind = |variable: Variable, value: Variable| Statement {
            pattern: vec![variable],
            expression: Expression::Atom(Atom::Variable(value)),
            place: name.clone(),
        };
        let mut made = vec![
            bind(*own_starts, starts),
            bind(*own_ends, rows.ends),
            bind(*own_total, rows.total),
        ];
        self.same.insert(*own_starts, starts);
        self.same.insert(*own_ends, self.first(rows.ends));
        if checks && let Expression::Operation(operation) = &mut outer.expression {
            operation.outputs.clear();
            operation.body.results.clear();
            operation.body.statements.remove(place);
            made.push(outer);
        }
        let Some(index) = row.indices.first().copied() else {
            return made;
        };
        let position = move_to_positions(program, &mut row.body, start, index);
        row.indices = vec![position];
        row.shape = vec![Atom::Variable(*own_total)];
        let results: Vec<Atom> = given
            .iter()
            .filter_map(|k| row.body.results.get(*k).copied())
            .collect();
        row.body.results = results;
        row.outputs = vec![Output::Map; arrays.len()];
        made.push(Statement {
            pattern: arrays.to_vec(),
            expression: Expression::Operation(row),
            place: name.clone(),
        });
        made
    }
}

/// The expression of the statement of a body that binds an atom alone.
fn bound_by(body: &Body, atom: Atom) -> Option<&Expression> {
    let Atom::Variable(variable) = atom else {
        return None;
    };
    let statement = body.statements.iter().find(|s| s.pattern == [variable])?;
    Some(&statement.expression)
}

/// The operation of a body that makes arrays of this length, element by element, and its place; none if
/// there are several.
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

/// Whether the elements of a row depend on nothing of their row but where they stand, and nothing else of
/// the body on them.
fn is_for_elements(
    program: &Program,
    body: &Body,
    place: usize,
    row: &ArrayOperation,
    start: Variable,
) -> bool {
    let Some(index) = row.indices.first() else {
        return false;
    };
    let bound: BTreeSet<Variable> = body
        .statements
        .iter()
        .flat_map(|statement| statement.pattern.iter().copied())
        .collect();
    let used = free_variables(program, &row.body);
    let own: Vec<&Variable> = used.intersection(&bound).collect();
    if own.iter().any(|variable| **variable != start) {
        return false;
    }
    let mut alone = !row.body.results.contains(&Atom::Variable(*index))
        && !row.body.results.contains(&Atom::Variable(start));
    each_statement(&row.body, &mut |statement| {
        if !is_position(&statement.expression, start, *index) {
            used_variables(&statement.expression, &mut |variable| {
                alone &= variable != start && variable != *index;
            });
        }
    });
    let made = body.statements.get(place).map(|s| &s.pattern[..]);
    let mut others = body
        .statements
        .iter()
        .enumerate()
        .filter(|(k, _)| *k != place);
    let uses_row = others.any(|(_, statement)| {
        let mut uses = false;
        let single = Body {
            statements: vec![statement.clone()],
            results: Vec::new(),
        };
        for variable in free_variables(program, &single) {
            uses |= made.is_some_and(|made| made.contains(&variable));
        }
        uses
    });
    alone && !uses_row
}

/// Whether an expression is the sum of a row's start and the index within it.
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

/// Makes the sums of a row's start and the index within it a variable; gives it.
fn move_to_positions(
    program: &mut Program,
    body: &mut Body,
    start: Variable,
    index: Variable,
) -> Variable {
    let ty = program.ty(index).clone();
    let position = program.add_variable("at", ty);
    each_body_mut(body, &mut |inner| {
        for statement in &mut inner.statements {
            if is_position(&statement.expression, start, index) {
                statement.expression = Expression::Atom(Atom::Variable(position));
            }
        }
    });
    position
}
