//! Applications of the operators of reductions, scans and sorts.

use crate::accumulators::{Reduction, at, remainder, zero};
use crate::space::Space;
use crate::terms::{Term, variables_as_terms};
use crate::translator::Translator;
use crate::writer::{Nesting, Result};
use nova_core::ScalarOperation;
use nova_core::order::LANES;
use nova_flat::ir as flat;
use nova_flat::operators::by_component;
use nova_loop::error::internal;
use nova_loop::ir::{Expression, Type, Variable};

impl<'a> Translator<'a> {
    /// Translates the application of a lambda in place; `finish` uses its results. Returns `None` if the
    /// end of the lambda is never reached.
    pub(crate) fn apply<R>(
        &mut self,
        lambda: &'a flat::Lambda,
        arguments: Vec<crate::terms::Term>,
        finish: impl FnOnce(&mut Self, &'a [flat::Atom]) -> Result<R>,
    ) -> Result<Option<R>> {
        if lambda.parameters.len() != arguments.len() {
            return Err(internal("a lambda with other parameters"));
        }
        for (parameter, argument) in lambda.parameters.iter().zip(arguments) {
            self.bind_term(*parameter, argument)?;
        }
        self.body(&lambda.body, finish)
    }
}

/// Binds the results of a reduction: its start values combined with the values of all elements.
pub(crate) fn bind_reduced<'a>(
    cx: &mut Translator<'a>,
    output: &'a flat::Output,
    results: &'a [flat::Variable],
    values: Vec<Expression>,
) -> Result<()> {
    let flat::Output::Reduce { lambda, start, .. } = output else {
        return Err(internal("a result of what is no reduction"));
    };
    let mut arguments = Vec::with_capacity(2 * start.len());
    for atom in start {
        arguments.push(cx.term(*atom)?);
    }
    arguments.extend(values.into_iter().map(Term::new));
    let values = cx.apply(lambda, arguments, |cx, results| cx.simple_values(results))?;
    let values = values.ok_or_else(|| internal("an operator that does not end"))?;
    for (variable, value) in results.iter().zip(values) {
        cx.bind_simple(*variable, value)?;
    }
    Ok(())
}

/// Applies an operator to its left and right operands, and assigns its results.
pub(crate) fn apply_to<'a>(
    cx: &mut Translator<'a>,
    lambda: &'a flat::Lambda,
    arguments: Vec<Term>,
    targets: &[Variable],
) -> Result<()> {
    cx.apply(lambda, arguments, |cx, results| {
        let values = cx.scalars(results)?;
        cx.assign_together(targets.iter().copied().zip(values).collect());
        Ok(())
    })?;
    Ok(())
}

/// Updates the running fold of a chunk, which starts again at the chunk's first element.
pub(crate) fn fold_chunk<'a>(
    cx: &mut Translator<'a>,
    lambda: &'a flat::Lambda,
    running: &[Variable],
    values: &[Expression],
    space: &Space,
) -> Result<()> {
    let first = remainder(&space.number, LANES).compare(ScalarOperation::Equal, zero());
    fold_from_first(cx, lambda, running, values, first)
}

/// `running := x` for the first element, else `running ⊕ x`.
pub(crate) fn fold_from_first<'a>(
    cx: &mut Translator<'a>,
    lambda: &'a flat::Lambda,
    running: &[Variable],
    values: &[Expression],
    first: Expression,
) -> Result<()> {
    cx.choose(
        first,
        |cx| {
            for (variable, value) in running.iter().zip(values) {
                cx.assign(*variable, value.clone());
            }
            Ok(())
        },
        |cx| {
            let mut arguments = variables_as_terms(running);
            arguments.extend(values.iter().cloned().map(Term::new));
            apply_to(cx, lambda, arguments, running)
        },
    )
}

/// `array[index] := array[index] ⊕ right`.
pub(crate) fn combine<'a>(
    cx: &mut Translator<'a>,
    reduction: &Reduction<'a>,
    arrays: &[Variable],
    index: &Expression,
    right: Vec<Expression>,
) -> Result<()> {
    let left = arrays.iter().map(|p| at(*p, index.clone()));
    let both: Vec<Expression> = left.chain(right).collect();
    // No store may come before the reads of another component.
    let apart = arrays.len() == 1 || by_component(reduction.lambda).is_some();
    let mut arguments = Vec::with_capacity(both.len());
    let scalars = reduction.scalars.iter().cycle();
    for (argument, scalar) in both.into_iter().zip(scalars) {
        arguments.push(Term::new(match apart {
            true => argument,
            false => cx.simplify(argument, "chunk", Type::Scalar(*scalar)),
        }));
    }
    cx.apply(reduction.lambda, arguments, |cx, results| {
        for (pointer, result) in arrays.iter().zip(results) {
            let value = cx.scalar(*result)?;
            cx.set_element(*pointer, index.clone(), value);
        }
        Ok(())
    })?;
    Ok(())
}
