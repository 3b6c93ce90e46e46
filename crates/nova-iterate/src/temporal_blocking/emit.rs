//! Writes the loops of [`super`]: one over blocks of steps, and one over the steps that are left.

use super::find::{Slice, Steps};
use crate::copies::copy;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Level, Output, Statement, Variable};
use nova_flat::visit::Substitution;
use nova_schedule::Writer;

/// The names that a step of a block has for what the loop's body binds, and its slices.
struct Step {
    names: Substitution,
    slices: Vec<Variable>,
}

/// A loop that takes several steps at once.
pub(super) struct Loop<'a> {
    /// The array as a step gets it, and as the first step gets it.
    pub(super) array: (Variable, Atom),
    /// The extents of the array.
    pub(super) shape: &'a [Atom],
    /// The number of steps.
    pub(super) count: Atom,
    /// The number of steps that one iteration takes.
    pub(super) block: usize,
    /// The array after all steps.
    pub(super) result: Variable,
}

/// Writes so many steps of an array, from a step on. Returns the next array.
type WriteSteps<'a> = &'a dyn Fn(&mut Writer<'_>, Variable, Atom, usize) -> Variable;

/// Writes a loop over blocks of steps, then one over the steps that are left. They bind the results of the loop.
pub(super) fn blocked(code: &mut Writer<'_>, statement: &Statement, steps: &Steps) {
    let [result] = statement.pattern[..] else {
        return;
    };
    let task = Loop {
        array: steps.array,
        shape: &steps.shape,
        count: steps.count,
        block: steps.block,
        result,
    };
    blocked_loops(code, &task, &|code, array, here, block| {
        let mut taken: Vec<Step> = Vec::with_capacity(block);
        for k in 0..block {
            let number = match k {
                0 => here,
                _ => code.scalar(ScalarOperation::Add, here, Atom::index(k as i64)),
            };
            let step = prepare(code, steps, array, number, &taken);
            taken.push(step);
        }
        pass(code, steps, array, &taken)
    });
}

/// Writes the loops of several steps at once.
pub(super) fn blocked_loops(code: &mut Writer<'_>, task: &Loop<'_>, write: WriteSteps<'_>) {
    let start = task.array.1;
    if task.block == 1 {
        let first = Atom::index(0);
        loop_of(
            code,
            task,
            task.result,
            (start, task.count),
            (1, first),
            write,
        );
        return;
    }
    let block = Atom::index(task.block as i64);
    let count = code.scalar(ScalarOperation::Maximum, task.count, Atom::index(0));
    let blocks = code.scalar(ScalarOperation::Divide, count, block);
    let done = code.scalar(ScalarOperation::Multiply, blocks, block);
    let left = code.scalar(ScalarOperation::Subtract, count, done);
    let between = code.like(task.result, task.shape.to_vec());
    let first = Atom::index(0);
    loop_of(
        code,
        task,
        between,
        (start, blocks),
        (task.block, first),
        write,
    );
    let start = Atom::Variable(between);
    loop_of(code, task, task.result, (start, left), (1, done), write);
}

/// Writes a loop that takes `block` steps of the array `start` in each of `count` iterations, from step `first` on.
fn loop_of(
    code: &mut Writer<'_>,
    task: &Loop<'_>,
    result: Variable,
    (start, count): (Atom, Atom),
    (block, first): (usize, Atom),
    write: WriteSteps<'_>,
) {
    let array = code.like(task.array.0, task.shape.to_vec());
    let index = code.fresh("block", Scalar::I64);
    let (statements, next) = code.apart(|code| {
        let here = Atom::Variable(index);
        let here = match block {
            1 => here,
            _ => code.scalar(ScalarOperation::Multiply, here, Atom::index(block as i64)),
        };
        let here = match first.as_i64() {
            Some(0) => here,
            _ => code.scalar(ScalarOperation::Add, first, here),
        };
        write(code, array, here, block)
    });
    code.push(
        vec![result],
        Expression::Operation(ArrayOperation {
            shape: vec![count],
            indices: vec![index],
            level: Level::Sequential,
            strategy: None,
            carries: vec![(array, start)],
            body: Body {
                statements,
                results: vec![Atom::Variable(next)],
            },
            outputs: Vec::new(),
        }),
    );
}

/// Writes what a step needs before the array is changed: its numbers and its slices, after the steps before it.
fn prepare(
    code: &mut Writer<'_>,
    steps: &Steps,
    array: Variable,
    number: Atom,
    taken: &[Step],
) -> Step {
    let mut names = Substitution::default();
    names.insert(steps.index, number);
    for statement in &steps.before {
        match (&statement.expression, &statement.pattern[..]) {
            (
                Expression::Index {
                    array: read,
                    indices,
                },
                [variable],
            ) if *read == steps.array.0 => {
                let point: Vec<Atom> = indices.iter().map(|atom| names.atom(*atom)).collect();
                let value = element(code, steps, array, &point, taken);
                names.insert(*variable, value);
            }
            _other => copy(code, std::slice::from_ref(statement), &mut names),
        }
    }
    let slices = steps.slices.iter();
    let slices = slices
        .map(|slice| write_slice(code, steps, array, slice, &names, taken))
        .collect();
    Step { names, slices }
}

/// Writes the slice that a step reads.
fn write_slice(
    code: &mut Writer<'_>,
    steps: &Steps,
    array: Variable,
    slice: &Slice,
    names: &Substitution,
    taken: &[Step],
) -> Variable {
    let mut names = names.clone();
    let mut shape = Vec::with_capacity(slice.dimensions.len());
    let mut indices = Vec::with_capacity(slice.dimensions.len());
    for dimension in &slice.dimensions {
        let index = code.fresh("at", Scalar::I64);
        names.insert(steps.indices[*dimension], Atom::Variable(index));
        indices.push(index);
        shape.push(steps.shape[*dimension]);
    }
    if let Some(first) = shape.first_mut() {
        *first = unless_empty(code, *first, steps, slice);
    }
    let (statements, value) = code.apart(|code| {
        let point: Vec<Atom> = slice.at.iter().map(|atom| names.atom(*atom)).collect();
        element(code, steps, array, &point, taken)
    });
    let made = code.like(slice.variable, shape.clone());
    map(code, made, (shape, indices), statements, value);
    made
}

/// Writes an extent of a slice, or 0 where the array has no elements, since nothing reads the slice then.
fn unless_empty(code: &mut Writer<'_>, extent: Atom, steps: &Steps, slice: &Slice) -> Atom {
    let of_slice: Vec<Atom> = slice.dimensions.iter().map(|d| steps.shape[*d]).collect();
    let mut kept = extent;
    for other in steps.shape.iter().filter(|other| !of_slice.contains(other)) {
        if other.as_i64().is_some_and(|other| other > 0) {
            continue;
        }
        let at_least = code.scalar(ScalarOperation::Maximum, *other, Atom::index(0));
        let exists = code.scalar(ScalarOperation::Minimum, at_least, Atom::index(1));
        kept = code.scalar(ScalarOperation::Multiply, kept, exists);
    }
    kept
}

/// Writes an operation that makes an array of one value for each index.
pub(super) fn map(
    code: &mut Writer<'_>,
    made: Variable,
    (shape, indices): (Vec<Atom>, Vec<Variable>),
    statements: Vec<Statement>,
    value: Atom,
) {
    code.push(
        vec![made],
        Expression::Operation(ArrayOperation {
            shape,
            indices,
            level: Level::Sequential,
            strategy: None,
            carries: Vec::new(),
            body: Body {
                statements,
                results: vec![value],
            },
            outputs: vec![Output::Map],
        }),
    );
}

/// Writes the pass over the array that takes these steps. Returns the next array.
fn pass(code: &mut Writer<'_>, steps: &Steps, array: Variable, taken: &[Step]) -> Variable {
    let indices: Vec<Variable> = (steps.indices.iter())
        .map(|index| code.like_scalar(*index))
        .collect();
    let point: Vec<Atom> = indices.iter().map(|i| Atom::Variable(*i)).collect();
    let (statements, value) = code.apart(|code| element(code, steps, array, &point, taken));
    let next = code.like(array, steps.shape.clone());
    map(
        code,
        next,
        (steps.shape.clone(), indices),
        statements,
        value,
    );
    next
}

/// Writes the value of an element after these steps.
fn element(
    code: &mut Writer<'_>,
    steps: &Steps,
    array: Variable,
    point: &[Atom],
    taken: &[Step],
) -> Atom {
    let own = code.like_scalar(array);
    let indices = point.to_vec();
    code.push(vec![own], Expression::Index { array, indices });
    let mut value = Atom::Variable(own);
    for step in taken {
        let mut names = step.names.clone();
        for (index, at) in steps.indices.iter().zip(point) {
            names.insert(*index, *at);
        }
        names.insert(steps.own, value);
        for (slice, made) in steps.slices.iter().zip(&step.slices) {
            let read = code.like_scalar(*made);
            let indices = slice.dimensions.iter().map(|d| point[*d]).collect();
            let array = *made;
            code.push(vec![read], Expression::Index { array, indices });
            names.insert(slice.variable, Atom::Variable(read));
        }
        copy(code, &steps.body.statements, &mut names);
        value = steps
            .body
            .results
            .first()
            .map_or(value, |result| names.atom(*result));
    }
    value
}
