//! Loops whose steps compute each element of an array from its old value and from slices of the old array.

use crate::limits::{STATEMENTS_OF_A_BLOCK, STEPS_OF_A_BLOCK};
use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Output, Program, Statement, Variable,
};
use nova_flat::visit::{binders, bodies_mut, each_statement, size, used_variables};
use std::collections::BTreeSet;

/// The steps of a loop.
pub(super) struct Steps {
    /// The number of steps.
    pub(super) count: Atom,
    /// The number of a step.
    pub(super) index: Variable,
    /// The array as a step gets it, and as the first step gets it.
    pub(super) array: (Variable, Atom),
    /// What a step computes before it makes the next array. It reads of the array only single elements.
    pub(super) before: Vec<Statement>,
    /// The extents of the array.
    pub(super) shape: Vec<Atom>,
    /// The indices of an element.
    pub(super) indices: Vec<Variable>,
    /// What the next element is computed with, where [`Self::own`] and the variables of the slices have their values.
    pub(super) body: Body,
    /// The old element.
    pub(super) own: Variable,
    /// The slices.
    pub(super) slices: Vec<Slice>,
    /// The number of steps that one pass over the array takes.
    pub(super) block: usize,
}

/// A slice of the old array that all elements with the same indices in some dimensions read.
pub(super) struct Slice {
    /// The value that an element reads.
    pub(super) variable: Variable,
    /// The indices of that value. They are indices of the element, or the same for all elements.
    pub(super) at: Vec<Atom>,
    /// The dimensions of the element whose indices occur among them, in the order of the slice's dimensions.
    pub(super) dimensions: Vec<usize>,
}

/// Returns the steps of a loop, if several can be taken at once.
pub(super) fn steps(program: &Program, statement: &Statement) -> Option<Steps> {
    let Expression::Operation(ArrayOperation {
        shape,
        indices,
        level: Level::Sequential,
        strategy: None,
        carries,
        body,
        outputs,
    }) = &statement.expression
    else {
        return None;
    };
    let ([count], [index], [array], []) = (&shape[..], &indices[..], &carries[..], &outputs[..])
    else {
        return None;
    };
    let (last, before) = body.statements.split_last()?;
    let ([made], Expression::Operation(operation)) = (&last.pattern[..], &last.expression) else {
        return None;
    };
    let is_next =
        body.results == [Atom::Variable(*made)] && program.ty(*made) == program.ty(array.0);
    let is_map = operation.carries.is_empty()
        && operation.level == Level::Sequential
        && operation.strategy.is_none()
        && matches!(operation.outputs[..], [Output::Map])
        && operation.shape == program.ty(array.0).shape();
    let suits = is_next && is_map && before.iter().all(|s| is_prelude(s, array.0));
    if !suits || !is_pure(&operation.body, array.0) {
        return None;
    }
    let mut found = Steps {
        count: *count,
        index: *index,
        array: *array,
        before: before.to_vec(),
        shape: operation.shape.clone(),
        indices: operation.indices.clone(),
        body: operation.body.clone(),
        own: *made,
        slices: Vec::new(),
        block: 1,
    };
    found.slices = slices(&operation.body, array.0, &operation.indices)?;
    let reads_slices = !found.slices.is_empty() || before.iter().any(|s| reads(s, array.0));
    found.block = block(&found)?;
    without_reads(&mut found);
    reads_slices.then_some(found)
}

/// Returns the number of steps of a block, if the code is short enough.
fn block(steps: &Steps) -> Option<usize> {
    let points = steps.before.len();
    let copies = |block: usize| (block * (block - 1) / 2) * (steps.slices.len() + points) + block;
    let statements = size(&steps.body) + 1;
    [STEPS_OF_A_BLOCK, 1]
        .into_iter()
        .find(|block| (copies(*block) + 1) * statements <= STATEMENTS_OF_A_BLOCK)
}

/// True if a step may compute this before it makes the next array: a number, from elements perhaps, or a check.
fn is_prelude(statement: &Statement, array: Variable) -> bool {
    match &statement.expression {
        Expression::Atom(_)
        | Expression::Scalar { .. }
        | Expression::Index { .. }
        | Expression::Check { .. } => {
            reads(statement, array) || !uses(&statement.expression, array)
        }
        _others => false,
    }
}

/// True if a statement reads an element of an array.
fn reads(statement: &Statement, array: Variable) -> bool {
    matches!(&statement.expression, Expression::Index { array: read, .. } if *read == array)
}

fn uses(expression: &Expression, array: Variable) -> bool {
    let mut found = false;
    used_variables(expression, &mut |v| found |= v == array);
    found
}

/// True if a body computes with numbers and elements only, without effects, and reads an element of the array.
fn is_pure(body: &Body, array: Variable) -> bool {
    let (mut suits, mut is_read) = (true, false);
    each_statement(body, &mut |statement| {
        suits &= match &statement.expression {
            Expression::Atom(_)
            | Expression::Scalar { .. }
            | Expression::If { .. }
            | Expression::Switch { .. } => !uses(&statement.expression, array),
            Expression::Index { .. } => true,
            _others => false,
        } && statement.pattern.len() == 1;
        is_read |= reads(statement, array);
    });
    suits && is_read
}

/// Returns the slices that a body reads, if it reads nothing else of the array than them and its own element. Each
/// slice is read whatever the values are, so that all of its elements exist if the array has elements.
fn slices(body: &Body, array: Variable, indices: &[Variable]) -> Option<Vec<Slice>> {
    let own: Vec<Atom> = indices.iter().map(|i| Atom::Variable(*i)).collect();
    let mut inside = BTreeSet::new();
    let (mut at_own, mut elsewhere) = (0, 0);
    each_statement(body, &mut |statement| {
        inside.extend(statement.pattern.iter().copied());
        binders(&statement.expression, &mut |v| {
            inside.insert(*v);
        });
        if let Expression::Index {
            array: read,
            indices,
        } = &statement.expression
            && *read == array
        {
            match *indices == own {
                true => at_own += 1,
                false => elsewhere += 1,
            }
        }
    });
    let mut found = Vec::new();
    for statement in body.statements.iter().filter(|s| reads(s, array)) {
        let (Expression::Index { indices: at, .. }, [variable]) =
            (&statement.expression, &statement.pattern[..])
        else {
            return None;
        };
        if *at == own {
            continue;
        }
        let mut dimensions = Vec::new();
        for position in at {
            let Atom::Variable(position) = position else {
                continue;
            };
            match indices.iter().position(|i| i == position) {
                Some(dimension) if !dimensions.contains(&dimension) => dimensions.push(dimension),
                Some(_) => {}
                None if inside.contains(position) => return None,
                None => {}
            }
        }
        if dimensions.is_empty() || dimensions.len() >= indices.len() {
            return None;
        }
        found.push(Slice {
            variable: *variable,
            at: at.clone(),
            dimensions,
        });
    }
    (at_own > 0 && elsewhere == found.len()).then_some(found)
}

/// Replaces the reads of the array by the old element. Reads of slices are left out: their variables get values
/// where the body is copied.
fn without_reads(steps: &mut Steps) {
    let own: Vec<Atom> = steps.indices.iter().map(|i| Atom::Variable(*i)).collect();
    let sliced: BTreeSet<Variable> = steps.slices.iter().map(|s| s.variable).collect();
    let is_slice = |statement: &Statement| statement.pattern.iter().any(|v| sliced.contains(v));
    steps
        .body
        .statements
        .retain(|statement| !is_slice(statement));
    replace(&mut steps.body, steps.array.0, &own, steps.own);
}

fn replace(body: &mut Body, array: Variable, at: &[Atom], own: Variable) {
    for statement in &mut body.statements {
        if let Expression::Index {
            array: read,
            indices,
        } = &statement.expression
            && *read == array
            && indices == at
        {
            statement.expression = Expression::Atom(Atom::Variable(own));
        }
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| replace(inner, array, at, own));
        });
    }
}
