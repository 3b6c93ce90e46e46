//! Which loops have running results: variables from around a loop that each iteration combines with
//! a value, by an operation of which the bracketing is free, and what else depends on them. A loop
//! over a strip becomes several, one behind the other: what depends on no running result, what
//! depends on the first ones, and so on. These are its stages.
//!
//! What grows by the same integer in each iteration is no running result but an index in disguise,
//! such as the place of the next element of a filter that keeps everything. C compilers see that,
//! and so does the interference checker, which cannot look into arrays of places.

use super::Map;
use crate::ir::{Command, Expression, Type, Variable, prefix_scans};
use crate::walk;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use std::collections::{BTreeMap, BTreeSet};

/// Loops with more running results than this, or stages, are left alone.
const MOST_RUNS: usize = 4;
const MOST_STAGES: usize = 4;

/// A running result.
pub(super) struct Run {
    /// The variable from around the loop.
    pub(super) last: Variable,
    /// The variable of the body that is assigned to it, if the sum stands there.
    pub(super) result: Option<Variable>,
    pub(super) element: Scalar,
    pub(super) operation: ScalarOperation,
    /// What it is combined with.
    pub(super) value: Expression,
    /// True if it is read before it is combined, not after.
    pub(super) exclusive: bool,
    /// Which commands read it.
    pub(super) readers: Vec<usize>,
    /// The stage that computes the values.
    pub(super) stage: usize,
}

/// The running results of a loop, and the stages of what it declares.
pub(super) struct Runs {
    pub(super) runs: Vec<Run>,
    stages: BTreeMap<Variable, usize>,
    /// The last stage, which also writes.
    pub(super) end: usize,
}

impl Runs {
    /// Of a loop all of whose assignments are running results, at least one of which is read.
    pub(super) fn of(map: &Map, types: &dyn Fn(Variable) -> Type, strict: bool) -> Option<Runs> {
        let runs = map.folds.iter().map(|at| run(map, *at, types, strict));
        let mut runs = runs.collect::<Option<Vec<Run>>>()?;
        if runs.len() > MOST_RUNS || runs.iter().all(|run| run.readers.is_empty()) {
            return None;
        }
        let mut search = Search {
            map,
            runs: &runs,
            known: BTreeMap::new(),
        };
        let mut end = 0;
        let mut stages = Vec::with_capacity(runs.len());
        for run in search.runs {
            stages.push(search.expression(&run.value)?);
        }
        for command in map.body {
            if let Command::Store { index, value, .. } = command {
                end = end.max(search.expression(index)?);
                end = end.max(search.expression(value)?);
            }
        }
        let known = search.known.into_iter();
        let known = known.filter_map(|(v, stage)| Some((v, stage?))).collect();
        for (run, stage) in runs.iter_mut().zip(stages) {
            run.stage = stage;
            end = end.max(stage);
        }
        (end < MOST_STAGES).then_some(Runs {
            runs,
            stages: known,
            end,
        })
    }

    /// The running result that a variable stands for.
    pub(super) fn run(&self, variable: Variable) -> Option<usize> {
        position(&self.runs, variable)
    }

    /// The stage in which a variable of the body is known.
    pub(super) fn stage(&self, variable: Variable) -> usize {
        self.stages.get(&variable).copied().unwrap_or(0)
    }
}

fn position(runs: &[Run], variable: Variable) -> Option<usize> {
    let stands = |run: &Run| run.last == variable || run.result == Some(variable);
    runs.iter().position(stands)
}

/// The running result that the assignment at a place of the body makes, if it is one.
fn run(map: &Map, at: usize, types: &dyn Fn(Variable) -> Type, strict: bool) -> Option<Run> {
    let Some(Command::Assign {
        variable: last,
        value,
    }) = map.body.get(at)
    else {
        return None;
    };
    let result = match value {
        Expression::Variable(result) => Some(*result),
        _others => None,
    };
    let combined = match result {
        Some(result) => map.definitions.value(result)?,
        None => value,
    };
    let Expression::Scalar {
        operation,
        operand,
        arguments,
    } = combined
    else {
        return None;
    };
    let value = match &arguments[..] {
        [Expression::Variable(left), right] if left == last => right,
        [left, Expression::Variable(right)] if right == last => left,
        _ => return None,
    };
    let suits = prefix_scans(*operation, *operand)
        && value.as_index().is_none()
        && !(strict && operand.is_float())
        && types(*last) == Type::Scalar(*operand);
    let mut run = Run {
        last: *last,
        result,
        element: *operand,
        operation: *operation,
        value: value.clone(),
        exclusive: false,
        readers: Vec::new(),
        stage: 0,
    };
    let (before, after) = readers(map, at, &run);
    if !suits || reads(value, *last) || (!before.is_empty() && !after.is_empty()) {
        return None;
    }
    run.exclusive = !before.is_empty();
    run.readers = if run.exclusive { before } else { after };
    Some(run)
}

/// The commands that read a running result before the value of an iteration is combined with it, and
/// those that read it after.
fn readers(map: &Map, at: usize, run: &Run) -> (Vec<usize>, Vec<usize>) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (k, command) in map.body.iter().enumerate() {
        if let Command::Declare { variable, .. } = command
            && run.result == Some(*variable)
        {
            continue;
        }
        let read = walk::read_variables(std::slice::from_ref(command));
        if k != at && read.contains(&run.last) {
            if k < at { &mut before } else { &mut after }.push(k);
        }
        if k != at && run.result.is_some_and(|result| read.contains(&result)) && !after.contains(&k)
        {
            after.push(k);
        }
    }
    (before, after)
}

fn reads(expression: &Expression, variable: Variable) -> bool {
    let mut found = false;
    expression.each_variable(&mut |v| found |= v == variable);
    found
}

/// A search for the stages of what a body declares.
struct Search<'a> {
    map: &'a Map<'a>,
    runs: &'a [Run],
    /// `None` while it is looked for, which is again only where a value depends on itself.
    known: BTreeMap<Variable, Option<usize>>,
}

impl Search<'_> {
    fn expression(&mut self, expression: &Expression) -> Option<usize> {
        let mut variables = BTreeSet::new();
        expression.each_variable(&mut |v| {
            variables.insert(v);
        });
        let mut stage = 0;
        for variable in variables {
            stage = stage.max(self.variable(variable)?);
        }
        Some(stage)
    }

    fn variable(&mut self, variable: Variable) -> Option<usize> {
        if let Some(known) = self.known.get(&variable) {
            return *known;
        }
        self.known.insert(variable, None);
        let (map, runs) = (self.map, self.runs);
        let stage = match position(runs, variable).and_then(|k| runs.get(k)) {
            Some(run) => deep(|| self.expression(&run.value))? + 1,
            None => match map.definitions.value(variable) {
                Some(value) => deep(|| self.expression(value))?,
                None => 0,
            },
        };
        self.known.insert(variable, Some(stage));
        Some(stage)
    }
}
