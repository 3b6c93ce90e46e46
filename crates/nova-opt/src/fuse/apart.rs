//! The reasons why two operations, of which one reads an array of the other, are still two after
//! fusion.

use super::operators::{neutral_values, wants_lanes};
use super::reads::is_read_only_here;
use super::running::exact_scans;
use crate::effects::FunctionEffects;
use nova_diag::{Place, deep};
use nova_flat::ir::{
    ArrayOperation, Body, Expression, Level, Output, Program, Statement, Variable,
};
use nova_flat::visit::{bodies, each_statement, used_variables};
use std::collections::{BTreeMap, BTreeSet};

/// A pair of operations that did not become one.
#[derive(Clone, Debug)]
pub struct Apart {
    /// The array that the first makes and the second reads.
    pub array: Variable,
    /// The place of the first in the source.
    pub producer: Place,
    /// The place of the second in the source.
    pub consumer: Place,
    /// The reason why they are two, as the end of a sentence that starts with "because".
    pub reason: &'static str,
}

/// Returns the pairs of operations in a function's body of which one reads an array of the other,
/// with the reason why they are two. `strict` is true if floats keep their order.
pub fn apart(program: &Program, body: &Body, strict: bool) -> Vec<Apart> {
    let effects = &(FunctionEffects::new(program), strict);
    let mut pairs = Vec::new();
    of_body(effects, body, &mut pairs);
    pairs
}

fn of_body(effects: &(FunctionEffects, bool), body: &Body, pairs: &mut Vec<Apart>) {
    // The statement that makes each array, found through views.
    let mut makers: BTreeMap<Variable, (Variable, &Statement)> = BTreeMap::new();
    for statement in &body.statements {
        let mut read = BTreeSet::new();
        used_variables(&statement.expression, &mut |v| {
            read.insert(v);
        });
        bodies(&statement.expression, &mut |inner| {
            each_statement(inner, &mut |s| {
                used_variables(&s.expression, &mut |v| {
                    read.insert(v);
                });
            });
            deep(|| of_body(effects, inner, pairs));
        });
        match &statement.expression {
            Expression::Operation(operation) => {
                for array in read {
                    if let Some((array, maker)) = makers.get(&array) {
                        pairs.push(Apart {
                            array: *array,
                            producer: maker.place.clone(),
                            consumer: statement.place.clone(),
                            reason: reason(effects, maker, statement, *array),
                        });
                    }
                }
                for array in arrays(statement, operation) {
                    makers.insert(array, (array, statement));
                }
            }
            Expression::View { array, .. } => {
                let maker = makers.get(array).copied();
                if let (Some(maker), [view]) = (maker, &statement.pattern[..]) {
                    makers.insert(*view, maker);
                }
            }
            _ => {}
        }
    }
}

/// Returns the results of an operation that are arrays.
fn arrays(statement: &Statement, operation: &ArrayOperation) -> Vec<Variable> {
    let mut given = statement
        .pattern
        .iter()
        .copied()
        .skip(operation.carries.len());
    let mut arrays = Vec::new();
    for output in &operation.outputs {
        let results = given.by_ref().take(output.gives());
        match output {
            Output::Reduce { .. } => results.for_each(drop),
            // The arrays follow the numbers that count them.
            Output::Filter { .. } => arrays.extend(results.skip(1)),
            Output::Collect { .. } => arrays.extend(results.skip(3)),
            Output::Map
            | Output::Scan { .. }
            | Output::Scatter { .. }
            | Output::Histogram { .. }
            | Output::Join { .. } => arrays.extend(results),
        }
    }
    arrays
}

/// Returns the reason why an operation is not one with another that reads one of its arrays.
fn reason(
    (effects, strict): &(FunctionEffects, bool),
    first: &Statement,
    second: &Statement,
    array: Variable,
) -> &'static str {
    let (Expression::Operation(producer), Expression::Operation(consumer)) =
        (&first.expression, &second.expression)
    else {
        return "they are not both operations";
    };
    let (one, other) = (
        effects.of(&first.expression),
        effects.of(&second.expression),
    );
    if one.observable || other.observable {
        return "one of them can be seen from outside, so that their order counts";
    }
    if !one.may_pass(other) {
        return "one of them may fail and the other may not end";
    }
    if producer.is_marked() || consumer.is_marked() {
        return "one of them carries a strategy, which says that it is a loop of its own";
    }
    if producer.level != Level::Sequential || consumer.level != Level::Sequential {
        return "one of them is parallelised";
    }
    if !producer.carries.is_empty() {
        return "the first passes state from each iteration to the next";
    }
    match made_by(first, producer, array) {
        Some(Output::Scatter { .. } | Output::Histogram { .. }) => {
            return "its elements are known only when all iterations are done";
        }
        Some(Output::Collect { .. }) => return "its rows have varying lengths",
        Some(Output::Join { .. }) => return "it is joined of chunks",
        Some(Output::Filter { .. }) if order_matters(consumer, *strict) => {
            return "the second combines the survivors in an order that depends on their places";
        }
        Some(Output::Scan { .. }) if !exact_scans(first).contains(&array) => {
            return "the running results are combined in an order that does not pass through each";
        }
        Some(Output::Scan { .. }) if wants_lanes(consumer) => {
            return "the second computes many values at a time, the first one at a time";
        }
        Some(Output::Map | Output::Reduce { .. } | Output::Scan { .. } | Output::Filter { .. })
        | None => {}
    }
    if !is_read_only_here(array, second) {
        return "the second reads elements other than that of its own index, and computing them again costs more than memory";
    }
    if producer.shape.len() != consumer.shape.len() {
        return "their spaces have different dimensions";
    }
    if producer.shape != consumer.shape {
        return "their extents are not known to be equal";
    }
    "what stands between them needs the first and is needed by the second, or both are too long"
}

/// Returns the output that gives an array.
fn made_by<'a>(
    statement: &Statement,
    operation: &'a ArrayOperation,
    array: Variable,
) -> Option<&'a Output> {
    let place = statement.pattern.iter().position(|v| *v == array)?;
    let mut end = operation.carries.len();
    operation.outputs.iter().find(|output| {
        end += output.gives();
        place < end
    })
}

/// True if an operation gives something else where its elements are at other positions.
fn order_matters(operation: &ArrayOperation, strict: bool) -> bool {
    operation.outputs.iter().any(|output| match output {
        Output::Reduce { lambda, .. } | Output::Histogram { lambda, .. } => {
            neutral_values(lambda, strict).is_none()
        }
        Output::Scan { .. } | Output::Collect { .. } | Output::Join { .. } => true,
        Output::Scatter { positions, .. } => !positions.are_given(),
        Output::Map | Output::Filter { .. } => false,
    })
}
