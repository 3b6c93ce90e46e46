//! An operation over the survivors of a filter runs in the filter's own loop. It runs where the
//! filter's condition holds. Elsewhere it gives values that change nothing: its state stays, and
//! its reductions get a neutral value. Its maps become further values of the filter.

use super::join::replace_reads;
use super::operators::neutral_values;
use super::reads::{each_nested, is_read_only_here, outputs_of};
use crate::cheap;
use crate::total::is_total;
use nova_core::{Scalar, ScalarValue};
use nova_diag::Place;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Output, Program, Statement, Type, Variable,
};
use nova_flat::visit::{free_variables, used_variables};
use std::collections::{BTreeSet, HashMap};

/// A filter among the outputs of an operation.
pub(super) struct Survivors {
    /// The number of the output.
    output: usize,
    /// The position of the first value that it consumes among the results of the body.
    consumed: usize,
    /// The position of its first result in the pattern.
    given: usize,
    condition: Atom,
    /// The value whose survivors each array holds.
    values: HashMap<Variable, Atom>,
}

/// Returns the filter of an operation whose number of survivors is this extent.
pub(super) fn filter_of(statement: &Statement, extent: Atom) -> Option<Survivors> {
    let Expression::Operation(operation) = &statement.expression else {
        return None;
    };
    outputs_of(statement, operation).find_map(|found| {
        let (Output::Filter { .. }, [count, arrays @ ..], [condition, values @ ..]) =
            (found.output, found.bound, found.values)
        else {
            return None;
        };
        (Atom::Variable(*count) == extent).then(|| Survivors {
            output: found.number,
            consumed: found.consumed,
            given: found.given,
            condition: *condition,
            values: arrays.iter().copied().zip(values.iter().copied()).collect(),
        })
    })
}

/// True if an operation over the survivors of a filter can run in the filter's loop. `uses` are all
/// variables that it uses, those with which its states and reductions begin included.
pub(super) fn can_run_there(
    program: &Program,
    survivors: &Survivors,
    uses: &BTreeSet<Variable>,
    (producer, consumer): (&Statement, &Statement),
    strict: bool,
) -> bool {
    let Expression::Operation(operation) = &consumer.expression else {
        return false;
    };
    let ([Atom::Variable(count)], [index]) = (&operation.shape[..], &operation.indices[..]) else {
        return false;
    };
    let mut uses_of_count = 0;
    used_variables(&consumer.expression, &mut |v| {
        uses_of_count += usize::from(v == *count);
    });
    let free = free_variables(program, &operation.body);
    let reads = |v: &Variable| survivors.values.contains_key(v) && is_read_only_here(*v, consumer);
    let is_number = |v: &Variable| matches!(program.ty(*v), Type::Scalar(_));
    operation.carries.iter().all(|(state, _)| is_number(state))
        && operation
            .outputs
            .iter()
            .all(|o| neutral(o, o.consumes(), strict).is_some())
        && uses_of_count == 1
        && !free.contains(count)
        && only_reads_at(operation, *index, &|array| {
            survivors.values.contains_key(&array)
        })
        && producer
            .pattern
            .iter()
            .all(|v| v == count || !uses.contains(v) || reads(v))
}

/// True if an operation uses its index for nothing but elements of some arrays.
pub(super) fn only_reads_at(
    operation: &ArrayOperation,
    index: Variable,
    is_one: &dyn Fn(Variable) -> bool,
) -> bool {
    let mut only = !operation.body.results.contains(&Atom::Variable(index));
    let mut look = |statement: &Statement| {
        let reads = match &statement.expression {
            Expression::Index { array, .. } => is_one(*array),
            _ => false,
        };
        used_variables(&statement.expression, &mut |v| only &= v != index || reads);
    };
    for statement in &operation.body.statements {
        look(statement);
        each_nested(&statement.expression, &mut look);
    }
    let mut in_results = false;
    for statement in &operation.body.statements {
        in_results |= inner_results_use(&statement.expression, index);
    }
    only && !in_results
}

/// True if a body inside an expression gives a variable as its result.
fn inner_results_use(expression: &Expression, variable: Variable) -> bool {
    let gives = |body: &Body| body.results.contains(&Atom::Variable(variable));
    let mut uses = false;
    nova_flat::visit::bodies(expression, &mut |body| uses |= gives(body));
    each_nested(expression, &mut |statement| {
        nova_flat::visit::bodies(&statement.expression, &mut |body| uses |= gives(body));
    });
    uses
}

/// Returns the values that an output consumes where there is no element, `None` for each of the
/// `values` that may be anything. Returns `None` for outputs that depend on the positions of
/// elements.
fn neutral(output: &Output, values: usize, strict: bool) -> Option<Vec<Option<Atom>>> {
    let nothing = vec![None; values];
    let first = |atom: Atom| {
        let mut all = nothing.clone();
        if let Some(slot) = all.first_mut() {
            *slot = Some(atom);
        }
        all
    };
    match output {
        Output::Map => Some(nothing),
        Output::Reduce { lambda, .. } => {
            let all = neutral_values(lambda, strict)?;
            Some(all.into_iter().map(Some).collect())
        }
        Output::Filter { .. } => Some(first(Atom::Constant(ScalarValue::Bool(false)))),
        // An index that is out of range.
        Output::Histogram {
            lambda, guarded, ..
        } => neutral_values(lambda, strict).map(|_| match guarded {
            true => first(Atom::Constant(ScalarValue::Bool(false))),
            false => first(Atom::index(-1)),
        }),
        Output::Scatter { positions, .. } => match positions.are_given() {
            true => Some(first(Atom::index(-1))),
            false => None,
        },
        Output::Scan { .. } | Output::Collect { .. } | Output::Join { .. } => None,
    }
}

/// Joins a filter and an operation over its survivors into one operation.
pub(super) fn join(
    program: &mut Program,
    (first, second): (Statement, Statement),
    strict: bool,
) -> Option<Statement> {
    let Expression::Operation(consumer) = &second.expression else {
        return None;
    };
    let survivors = filter_of(&first, consumer.shape.first().copied()?)?;
    let (Expression::Operation(mut operation), Expression::Operation(mut consumer)) =
        (first.expression, second.expression)
    else {
        return None;
    };
    replace_reads(&mut consumer.body, &survivors.values);
    let outputs = std::mem::take(&mut consumer.outputs);
    let states = consumer
        .carries
        .iter()
        .map(|(v, _)| Some(Atom::Variable(*v)));
    let of_outputs = outputs
        .iter()
        .flat_map(|o| neutral(o, o.consumes(), strict).unwrap_or_default());
    let neutral: Vec<Option<Atom>> = states.chain(of_outputs).collect();
    let values = conditional(
        program,
        &survivors,
        (consumer.body, neutral),
        &second.place,
        &mut operation,
    );
    let mut pattern = first.pattern;
    let (mut values, mut given) = (values.into_iter(), second.pattern.into_iter());
    let count = consumer.carries.len();
    let next_states: Vec<Atom> = values.by_ref().take(count).collect();
    let last_states: Vec<Variable> = given.by_ref().take(count).collect();
    let (mut end_of_values, mut end_of_arrays) = (survivors.consumed, survivors.given);
    if let Some(filter) = operation.outputs.get(survivors.output) {
        end_of_values += filter.consumes();
        end_of_arrays += filter.gives();
    }
    let mut maps = 0;
    for output in outputs {
        let consumed = values.by_ref().take(output.consumes());
        let bound = given.by_ref().take(output.gives());
        if let Output::Map = output {
            let (at, place) = (end_of_values + maps, end_of_arrays + maps);
            operation.body.results.splice(at..at, consumed);
            pattern.splice(place..place, bound);
            maps += 1;
        } else {
            operation.body.results.extend(consumed);
            pattern.extend(bound);
            operation.outputs.push(output);
        }
    }
    if let Some(Output::Filter { values }) = operation.outputs.get_mut(survivors.output) {
        *values += maps;
    }
    let end_of_states = operation.carries.len();
    let place = end_of_states..end_of_states;
    operation.body.results.splice(place.clone(), next_states);
    pattern.splice(place, last_states);
    operation.carries.append(&mut consumer.carries);
    Some(Statement {
        pattern,
        expression: Expression::Operation(operation),
        place: second.place,
    })
}

/// Adds a body to the filter's operation that runs where the filter's condition holds. Returns its
/// results, which are the neutral ones elsewhere.
fn conditional(
    program: &mut Program,
    survivors: &Survivors,
    (mut then, neutral): (Body, Vec<Option<Atom>>),
    place: &Place,
    operation: &mut ArrayOperation,
) -> Vec<Atom> {
    read_once(&mut then, &operation.body);
    let everywhere = is_cheap(&then);
    if everywhere {
        operation.body.statements.append(&mut then.statements);
    }
    let results = std::mem::take(&mut then.results);
    let mut given = Vec::with_capacity(results.len());
    let (mut pattern, mut otherwise) = (Vec::new(), Vec::new());
    for (result, neutral) in results.into_iter().zip(neutral) {
        if everywhere && neutral.is_none() {
            given.push(result);
            continue;
        }
        let scalar = program.scalar_of(result).unwrap_or(Scalar::I64);
        let variable = program.add_variable("kept", Type::Scalar(scalar));
        let zero = Atom::Constant(ScalarValue::from_integer_wrapping(scalar, 0));
        otherwise.push(neutral.unwrap_or(zero));
        then.results.push(result);
        pattern.push(variable);
        given.push(Atom::Variable(variable));
    }
    if !(everywhere && pattern.is_empty()) {
        operation.body.statements.push(Statement {
            pattern,
            expression: Expression::If {
                condition: survivors.condition,
                then,
                otherwise: Body {
                    statements: Vec::new(),
                    results: otherwise,
                },
            },
            place: place.clone(),
        });
    }
    given
}

/// Removes reads from a body of elements that another body has read before it.
fn read_once(body: &mut Body, before: &Body) {
    let known = |expression: &Expression| {
        let Expression::Index { array, indices } = expression else {
            return None;
        };
        let same = before.statements.iter().find(|s| match &s.expression {
            Expression::Index {
                array: other,
                indices: at,
            } => other == array && at == indices,
            _others => false,
        });
        same.and_then(|s| s.pattern.first().copied())
    };
    for statement in &mut body.statements {
        if let Some(element) = known(&statement.expression) {
            statement.expression = Expression::Atom(Atom::Variable(element));
        }
    }
}

/// True if a body can as well run where nothing needs its results.
fn is_cheap(body: &Body) -> bool {
    let mut statements = body.statements.iter();
    statements.all(|s| cheap::is_cheap(&s.expression) && is_total(s))
}
