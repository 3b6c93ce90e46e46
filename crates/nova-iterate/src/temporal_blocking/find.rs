//! Loops whose steps compute each element of an array from its old value and from slices of the old array.

use crate::limits::{STATEMENTS_OF_A_BLOCK, STEPS_OF_A_BLOCK};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Output, Program, Statement, Variable,
};
use nova_flat::visit::{bodies, bodies_mut, each_body_mut, each_statement, size, used_variables};
use nova_machine::cost::is_simple;
use std::collections::{BTreeMap, BTreeSet};

/// The steps of a loop.
pub(super) struct Steps {
    /// The number of steps.
    pub(super) count: Atom,
    /// The number of a step.
    pub(super) index: Variable,
    /// The array as a step gets it, and as the first step gets it.
    pub(super) array: (Variable, Atom),
    /// The statements of a step before it makes the next array. They read of the array only single elements.
    pub(super) before: Vec<Statement>,
    /// The extents of the array.
    pub(super) shape: Vec<Atom>,
    /// The indices of an element.
    pub(super) indices: Vec<Variable>,
    /// The body that computes the next element, where [`Self::own`] and the variables of the slices have their values.
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

/// Returns the variables of a body that are 0 or another number, whichever is more.
pub(super) fn naturals(body: &Body) -> Naturals {
    let mut found = Naturals::new();
    each_statement(body, &mut |statement| {
        if let Expression::Scalar {
            operation: ScalarOperation::Maximum,
            operand: Scalar::I64,
            arguments,
        } = &statement.expression
            && let ([variable], [number, zero]) = (&statement.pattern[..], &arguments[..])
            && zero.as_i64() == Some(0)
        {
            found.insert(*variable, *number);
        }
    });
    found
}

/// A loop whose steps each make the next array by one operation, after statements before it.
pub(super) struct Iterated<'a> {
    /// The number of steps, and the number of a step.
    pub(super) count: Atom,
    pub(super) index: Variable,
    /// The array as a step gets it, and as the first step gets it.
    pub(super) array: (Variable, Atom),
    /// The body of a step, and its statements before the last one.
    pub(super) body: &'a Body,
    pub(super) before: &'a [Statement],
    /// The next array, and what makes it.
    pub(super) made: Variable,
    pub(super) operation: &'a ArrayOperation,
}

/// Returns the parts of such a loop, if a statement is one that no strategy marks.
pub(super) fn iterated<'a>(program: &Program, statement: &'a Statement) -> Option<Iterated<'a>> {
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
    is_next.then_some(Iterated {
        count: *count,
        index: *index,
        array: *array,
        body,
        before,
        made: *made,
        operation,
    })
}

/// Returns the steps of a loop, if several can be taken at once.
pub(super) fn steps(program: &Program, natural: &Naturals, statement: &Statement) -> Option<Steps> {
    let Iterated {
        count,
        index,
        array,
        before,
        made,
        operation,
        ..
    } = iterated(program, statement)?;
    let is_map = operation.carries.is_empty()
        && operation.level == Level::Sequential
        && operation.strategy.is_none()
        && matches!(operation.outputs[..], [Output::Map])
        && operation.shape == program.ty(array.0).shape();
    let suits = is_map && before.iter().all(|s| is_prelude(s, array.0));
    if !suits || !is_pure(&operation.body, array.0) {
        return None;
    }
    let mut found = Steps {
        count,
        index,
        array,
        before: before.to_vec(),
        shape: operation.shape.clone(),
        indices: operation.indices.clone(),
        body: operation.body.clone(),
        own: made,
        slices: Vec::new(),
        block: 1,
    };
    let extents = Extents {
        natural,
        steps: (count, index),
        shape: &operation.shape,
        indices: &operation.indices,
    };
    found.slices = slices(&operation.body, array.0, &extents)?;
    let reads_slices = !found.slices.is_empty() || before.iter().any(|s| reads(s, array.0));
    found.block = block(&found)?;
    without_reads(&mut found);
    reads_slices.then_some(found)
}

/// Returns the number of steps of a block, if the code is short enough.
fn block(steps: &Steps) -> Option<usize> {
    let points = steps
        .before
        .iter()
        .filter(|s| reads(s, steps.array.0))
        .count();
    let copies = |block: usize| (block * (block - 1) / 2) * (steps.slices.len() + points) + block;
    let statements = size(&steps.body) + 1;
    let most = match has_expensive_cases(&steps.body) {
        true => 1,
        false => STEPS_OF_A_BLOCK,
    };
    let mut blocks = [most, most.div_ceil(2), 1].into_iter();
    blocks.find(|block| (copies(*block) + 1) * statements <= STATEMENTS_OF_A_BLOCK)
}

/// True if a case of a conditional is expensive, so that a loop over elements decides it rather than computing all
/// cases. That is best done before the loop, which the conditions of several steps prevent.
pub(super) fn has_expensive_cases(body: &Body) -> bool {
    let mut found = false;
    for statement in &body.statements {
        bodies(&statement.expression, &mut |case| {
            each_statement(case, &mut |inner| {
                found |= matches!(&inner.expression, Expression::Scalar { operation, operand, .. }
                    if !is_simple(*operation, *operand));
            });
        });
    }
    found
}

/// True if a step may compute this before it makes the next array: a number, from elements perhaps, or a check.
pub(super) fn is_prelude(statement: &Statement, array: Variable) -> bool {
    let mut inner = true;
    bodies(&statement.expression, &mut |body| {
        each_statement(body, &mut |statement| {
            inner &= is_scalar(&statement.expression) && !uses(&statement.expression, array);
        });
    });
    let expression = &statement.expression;
    inner
        && (is_scalar(expression) || matches!(expression, Expression::Check { .. }))
        && (reads(statement, array) || !uses(expression, array))
}

/// True if an expression computes numbers from numbers and elements, without effects.
pub(super) fn is_scalar(expression: &Expression) -> bool {
    matches!(
        expression,
        Expression::Atom(_)
            | Expression::Scalar { .. }
            | Expression::Index { .. }
            | Expression::If { .. }
            | Expression::Switch { .. }
    )
}

/// True if a statement reads an element of an array.
pub(super) fn reads(statement: &Statement, array: Variable) -> bool {
    matches!(&statement.expression, Expression::Index { array: read, .. } if *read == array)
}

pub(super) fn uses(expression: &Expression, array: Variable) -> bool {
    let mut found = false;
    used_variables(expression, &mut |v| found |= v == array);
    found
}

/// True if a body computes with numbers and elements only, without effects, and reads an element of the array.
pub(super) fn is_pure(body: &Body, array: Variable) -> bool {
    let (mut suits, mut is_read) = (true, false);
    each_statement(body, &mut |statement| {
        let expression = &statement.expression;
        let is_element = matches!(expression, Expression::Index { .. });
        suits &= is_scalar(expression) && (is_element || !uses(expression, array));
        suits &= statement.pattern.len() == 1;
        is_read |= reads(statement, array);
    });
    suits && is_read
}

/// The extents of a loop over steps, for proofs that elements exist.
pub(super) struct Extents<'a> {
    /// Variables that are 0 or another number, whichever is more.
    pub(super) natural: &'a Naturals,
    /// The number of steps, and the number of a step.
    steps: (Atom, Variable),
    /// The extents of the array, and the indices of an element.
    shape: &'a [Atom],
    indices: &'a [Variable],
}

/// Variables that are 0 or another number, whichever is more, with that number.
pub(super) type Naturals = BTreeMap<Variable, Atom>;

impl Extents<'_> {
    /// True if the element at these indices exists in every step, if the array has elements.
    fn exists(&self, at: &[Atom]) -> bool {
        let plain = |atom: Atom| {
            let natural = atom.as_variable().and_then(|v| self.natural.get(&v));
            natural.copied().unwrap_or(atom)
        };
        at.iter().zip(self.shape).all(|(index, extent)| {
            let own = self
                .indices
                .iter()
                .position(|i| Atom::Variable(*i) == *index);
            let count = match own.and_then(|own| self.shape.get(own)) {
                Some(count) => *count,
                None if *index == Atom::Variable(self.steps.1) => self.steps.0,
                None => return false,
            };
            plain(count) == plain(*extent)
        })
    }
}

/// Returns the slices that a body reads, if it reads nothing else of the array than them and its own element. Each
/// slice is read whatever the values are, or its elements exist in every step if the array has elements.
fn slices(body: &Body, array: Variable, extents: &Extents<'_>) -> Option<Vec<Slice>> {
    let indices = extents.indices;
    let own: Vec<Atom> = indices.iter().map(|i| Atom::Variable(*i)).collect();
    let mut inside = BTreeSet::new();
    each_statement(body, &mut |statement| {
        inside.extend(statement.pattern.iter().copied())
    });
    let always: BTreeSet<Variable> = (body.statements.iter())
        .flat_map(|statement| statement.pattern.iter().copied())
        .collect();
    let (mut at_own, mut found, mut suits) = (0, Vec::new(), true);
    each_statement(body, &mut |statement| {
        let (
            Expression::Index {
                array: read,
                indices: at,
            },
            [variable],
        ) = (&statement.expression, &statement.pattern[..])
        else {
            return;
        };
        if *read != array {
            return;
        }
        if *at == own {
            at_own += 1;
            return;
        }
        suits &= always.contains(variable) || extents.exists(at);
        match slice(*variable, at, indices, &inside) {
            Some(slice) => found.push(slice),
            None => suits = false,
        }
    });
    (at_own > 0 && suits).then_some(found)
}

/// Returns the slice of which an element is read, if it has fewer dimensions than the array.
fn slice(
    variable: Variable,
    at: &[Atom],
    indices: &[Variable],
    inside: &BTreeSet<Variable>,
) -> Option<Slice> {
    let mut dimensions = Vec::new();
    for position in at.iter().filter_map(|atom| atom.as_variable()) {
        match indices.iter().position(|i| *i == position) {
            Some(dimension) if !dimensions.contains(&dimension) => dimensions.push(dimension),
            Some(_) => {}
            None if inside.contains(&position) => return None,
            None => {}
        }
    }
    let is_slice = !dimensions.is_empty() && dimensions.len() < indices.len();
    is_slice.then(|| Slice {
        variable,
        at: at.to_vec(),
        dimensions,
    })
}

/// Replaces the reads of the array by the old element. Reads of slices are left out: their variables get values
/// where the body is copied.
fn without_reads(steps: &mut Steps) {
    let own: Vec<Atom> = steps.indices.iter().map(|i| Atom::Variable(*i)).collect();
    let sliced: BTreeSet<Variable> = steps.slices.iter().map(|s| s.variable).collect();
    let is_slice = |statement: &Statement| statement.pattern.iter().any(|v| sliced.contains(v));
    each_body_mut(&mut steps.body, &mut |body| {
        body.statements.retain(|statement| !is_slice(statement));
    });
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
