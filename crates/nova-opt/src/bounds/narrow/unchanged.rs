//! Elements that a map leaves unchanged, and the conditions under which it does not.

use crate::effects::FunctionEffects;
use nova_core::ScalarValue;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Output, Statement, Variable};
use nova_flat::visit::{binding, each_statement};
use std::collections::{HashMap, HashSet};

/// A map whose results are elements of arrays at its own index, unless conditions hold.
pub(super) struct Unchanged {
    /// The array whose elements each result gives.
    pub(super) arrays: Vec<Variable>,
    /// Conditions that all have these values where other elements are computed.
    pub(super) conditions: Vec<(Atom, bool)>,
}

impl Unchanged {
    /// Finds the elements that a map leaves unchanged, of one array for each result. The arrays
    /// must be replaceable. Returns `None` for other operations, and where iterations that leave an
    /// element unchanged may do something else.
    pub(super) fn of(
        operation: &ArrayOperation,
        effects: &FunctionEffects,
        is_replaced: &dyn Fn(Variable) -> bool,
    ) -> Option<Unchanged> {
        let is_map = operation.outputs.iter().all(|o| matches!(o, Output::Map));
        let alone = operation.carries.is_empty() && !operation.is_marked();
        if !is_map || !alone || operation.outputs.is_empty() {
            return None;
        }
        let mut reads = own_elements(operation);
        reads.retain(|_, array| is_replaced(*array));
        let mut unchanged: Option<Unchanged> = None;
        let (mut body, mut results) = (&operation.body, operation.body.results.clone());
        while let Some(choice) = Choice::of(body, &results, &reads) {
            let others = |s: &&Statement| !std::ptr::eq(*s, choice.statement);
            let mut others = body.statements.iter().filter(others);
            let pure = others.all(|s| effects.of(&s.expression).is_pure())
                && effects.of_body(choice.unchanged_in).is_pure();
            let known = unchanged.get_or_insert_with(|| Unchanged {
                arrays: choice.arrays.clone(),
                conditions: Vec::new(),
            });
            if !pure || known.arrays != choice.arrays {
                break;
            }
            known.conditions.push(choice.condition);
            (body, results) = (choice.other, choice.others);
        }
        let mut apart = HashSet::new();
        unchanged
            .filter(|unchanged| !unchanged.conditions.is_empty())
            .filter(|unchanged| unchanged.arrays.iter().all(|array| apart.insert(*array)))
    }
}

/// Returns the variables of a body that are elements at the indices of its operation, with their
/// arrays.
fn own_elements(operation: &ArrayOperation) -> HashMap<Variable, Variable> {
    let own: Vec<Atom> = operation
        .indices
        .iter()
        .map(|i| Atom::Variable(*i))
        .collect();
    let mut reads = HashMap::new();
    each_statement(&operation.body, &mut |statement| {
        if let (Expression::Index { array, indices }, [element]) =
            (&statement.expression, &statement.pattern[..])
            && *indices == own
        {
            reads.insert(*element, *array);
        }
    });
    reads
}

/// A conditional that gives all results. One of its branches gives unchanged elements.
struct Choice<'a> {
    statement: &'a Statement,
    arrays: Vec<Variable>,
    unchanged_in: &'a Body,
    /// The condition, and its value where the other branch runs.
    condition: (Atom, bool),
    other: &'a Body,
    /// The values that this other branch gives for the results.
    others: Vec<Atom>,
}

impl<'a> Choice<'a> {
    fn of(
        body: &'a Body,
        results: &[Atom],
        reads: &HashMap<Variable, Variable>,
    ) -> Option<Choice<'a>> {
        let first = results.first()?;
        let statement = binding(body, *first)?;
        let Expression::If {
            condition,
            then,
            otherwise,
        } = &statement.expression
        else {
            return None;
        };
        let given = |branch: &Body| -> Option<Vec<Atom>> {
            let own = results.iter().map(|result| {
                let mut bound = statement.pattern.iter().zip(&branch.results);
                let found = bound.find(|(v, _)| Atom::Variable(**v) == *result)?;
                Some(*found.1)
            });
            own.collect()
        };
        let elements = |atoms: &[Atom]| -> Option<Vec<Variable>> {
            let arrays = atoms.iter().map(|atom| {
                atom.as_variable()
                    .and_then(|variable| reads.get(&variable).copied())
            });
            arrays.collect()
        };
        let (first, second) = (given(then)?, given(otherwise)?);
        let (arrays, unchanged_in, truth, other, others) =
            match (elements(&first), elements(&second)) {
                (Some(arrays), _) => (arrays, then, false, otherwise, second),
                (None, Some(arrays)) => (arrays, otherwise, true, then, first),
                (None, None) => return None,
            };
        Some(Choice {
            statement,
            arrays,
            unchanged_in,
            condition: (*condition, truth),
            other,
            others,
        })
    }
}

/// Returns the conditions of a body that must have certain values so that the given conditions have
/// theirs. Conditionals that stand for `and`, `or` and `not` are looked through.
pub(super) fn conjuncts(body: &Body, conditions: &[(Atom, bool)]) -> Vec<(Variable, bool)> {
    let mut combined = HashMap::new();
    each_statement(body, &mut |statement| {
        if let (
            Expression::If {
                condition,
                then,
                otherwise,
            },
            [variable],
        ) = (&statement.expression, &statement.pattern[..])
            && let ([one], [other]) = (&then.results[..], &otherwise.results[..])
        {
            combined.insert(*variable, (*condition, *one, *other));
        }
    });
    let mut found = Vec::new();
    let mut work = conditions.to_vec();
    while let Some((atom, truth)) = work.pop() {
        let Atom::Variable(variable) = atom else {
            continue;
        };
        found.push((variable, truth));
        let Some((condition, one, other)) = combined.get(&variable) else {
            continue;
        };
        let never = Atom::Constant(ScalarValue::Bool(!truth));
        if *other == never {
            work.extend([(*condition, true), (*one, truth)]);
        } else if *one == never {
            work.extend([(*condition, false), (*other, truth)]);
        }
    }
    found
}
