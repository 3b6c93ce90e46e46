//! Recurrences of a loop that are prefix scans. Each is a variable from outside the loop that every
//! iteration combines with a value, by an operation whose bracketing is free. The module also finds
//! what else depends on them. A loop over a strip becomes several loops, one after the other: the
//! first computes what depends on no recurrence, the next what depends on the first recurrences,
//! and so on. These loops are the stages.
//!
//! A variable that grows by the same integer in each iteration is no such recurrence but an
//! induction variable, such as the index of the next element of a filter in which all elements
//! survive. C compilers recognise it, and so does the interference checker, which cannot look into
//! arrays of indices.

use super::Map;
use crate::limits::{RECURRENCES_OF_A_LOOP, STAGES_OF_A_LOOP};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Type, Variable, prefix_scans};
use nova_loop::walk;
use std::collections::{BTreeMap, BTreeSet};

/// A recurrence: a prefix scan that a loop computes.
pub(super) struct Recurrence {
    /// The variable from outside the loop.
    pub(super) last: Variable,
    /// The variable of the body that is assigned to it, if that variable is declared as the
    /// combination.
    pub(super) result: Option<Variable>,
    pub(super) element: Scalar,
    pub(super) operation: ScalarOperation,
    /// The value that each iteration combines it with.
    pub(super) value: Expression,
    /// True if it is read before it is combined, not after.
    pub(super) exclusive: bool,
    /// The commands that read it, by position in the body.
    pub(super) readers: Vec<usize>,
    /// The stage that computes the values.
    pub(super) stage: usize,
}

/// The recurrences of a loop, and the stages of what it declares.
pub(super) struct Recurrences {
    pub(super) recurrences: Vec<Recurrence>,
    stages: BTreeMap<Variable, usize>,
    /// The last stage, which also writes.
    pub(super) end: usize,
}

impl Recurrences {
    /// Returns the recurrences of a loop, if all of its assignments are recurrences and at least
    /// one of them is read other than as the place of a store.
    pub(super) fn of(
        map: &Map,
        types: &dyn Fn(Variable) -> Type,
        strict: bool,
    ) -> Option<Recurrences> {
        let recurrences = map
            .folds
            .iter()
            .map(|at| recurrence(map, *at, types, strict));
        let mut recurrences = recurrences.collect::<Option<Vec<Recurrence>>>()?;
        if recurrences.len() > RECURRENCES_OF_A_LOOP
            || recurrences
                .iter()
                .all(|recurrence| recurrence.readers.is_empty() || counts_places(map, recurrence))
        {
            return None;
        }
        let mut search = Search {
            map,
            recurrences: &recurrences,
            known: BTreeMap::new(),
        };
        let mut end = 0;
        let mut stages = Vec::with_capacity(recurrences.len());
        for recurrence in search.recurrences {
            stages.push(search.expression(&recurrence.value)?);
        }
        for command in map.body {
            if let Command::Store { index, value, .. } = command {
                end = end.max(search.expression(index)?);
                end = end.max(search.expression(value)?);
            }
        }
        let known = search.known.into_iter();
        let known = known.filter_map(|(v, stage)| Some((v, stage?))).collect();
        for (recurrence, stage) in recurrences.iter_mut().zip(stages) {
            recurrence.stage = stage;
            end = end.max(stage);
        }
        (end < STAGES_OF_A_LOOP).then_some(Recurrences {
            recurrences,
            stages: known,
            end,
        })
    }

    /// Returns the recurrence that a variable stands for.
    pub(super) fn recurrence(&self, variable: Variable) -> Option<usize> {
        position(&self.recurrences, variable)
    }

    /// Returns the stage in which a variable of the body is known.
    pub(super) fn stage(&self, variable: Variable) -> usize {
        self.stages.get(&variable).copied().unwrap_or(0)
    }
}

fn position(recurrences: &[Recurrence], variable: Variable) -> Option<usize> {
    let stands = |recurrence: &Recurrence| {
        recurrence.last == variable || recurrence.result == Some(variable)
    };
    recurrences.iter().position(stands)
}

/// Returns the recurrence that the assignment at a position of the body makes, if it is one.
fn recurrence(
    map: &Map,
    at: usize,
    types: &dyn Fn(Variable) -> Type,
    strict: bool,
) -> Option<Recurrence> {
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
    let mut recurrence = Recurrence {
        last: *last,
        result,
        element: *operand,
        operation: *operation,
        value: value.clone(),
        exclusive: false,
        readers: Vec::new(),
        stage: 0,
    };
    let (before, after) = readers(map, at, &recurrence);
    if !suits || reads(value, *last) || (!before.is_empty() && !after.is_empty()) {
        return None;
    }
    recurrence.exclusive = !before.is_empty();
    recurrence.readers = if recurrence.exclusive { before } else { after };
    Some(recurrence)
}

/// Returns the commands that read a recurrence before the value of an iteration is combined with
/// it, and those that read it after.
fn readers(map: &Map, at: usize, recurrence: &Recurrence) -> (Vec<usize>, Vec<usize>) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (k, command) in map.body.iter().enumerate() {
        if let Command::Declare { variable, .. } = command
            && recurrence.result == Some(*variable)
        {
            continue;
        }
        let read = walk::read_variables(std::slice::from_ref(command));
        if k != at && read.contains(&recurrence.last) {
            if k < at { &mut before } else { &mut after }.push(k);
        }
        if k != at
            && recurrence
                .result
                .is_some_and(|result| read.contains(&result))
            && !after.contains(&k)
        {
            after.push(k);
        }
    }
    (before, after)
}

/// True if all that a loop passes on are places of stores.
pub(super) fn is_filter(map: &Map, types: &dyn Fn(Variable) -> Type) -> bool {
    let counts = |at: &usize| {
        let found = recurrence(map, *at, types, false);
        found.is_some_and(|recurrence| counts_places(map, &recurrence))
    };
    !map.folds.is_empty() && map.folds.iter().all(counts)
}

/// True if a recurrence only counts the places of stores, as in a filter. Each such store is an instruction of
/// its own, beside which the addition costs nothing.
fn counts_places(map: &Map, recurrence: &Recurrence) -> bool {
    let is_place = |at: &usize| match map.body.get(*at) {
        Some(Command::Store { value, .. }) => {
            let results = std::iter::once(recurrence.last).chain(recurrence.result);
            results.into_iter().all(|variable| !reads(value, variable))
        }
        _others => false,
    };
    recurrence.operation == ScalarOperation::Add
        && !recurrence.element.is_float()
        && recurrence.readers.iter().all(is_place)
}

fn reads(expression: &Expression, variable: Variable) -> bool {
    let mut found = false;
    expression.each_variable(&mut |v| found |= v == variable);
    found
}

/// A search for the stages of what a body declares.
struct Search<'a> {
    map: &'a Map<'a>,
    recurrences: &'a [Recurrence],
    /// The stages found so far. An entry is `None` while the search for it is in progress; the
    /// search meets it again in that state only if a value depends on itself.
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
        let (map, recurrences) = (self.map, self.recurrences);
        let stage = match position(recurrences, variable).and_then(|k| recurrences.get(k)) {
            Some(recurrence) => deep(|| self.expression(&recurrence.value))? + 1,
            None => match map.definitions.value(variable) {
                Some(value) => deep(|| self.expression(value))?,
                None => 0,
            },
        };
        self.known.insert(variable, Some(stage));
        Some(stage)
    }
}
