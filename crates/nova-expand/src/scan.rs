//! Scans. A scan is a running fold if the order need not be strict or makes no difference. In strict order
//! (docs/order.md) it has blocks of chunks: `y[k] = carry ⊕ (before ⊕ chunk)`.

use crate::accumulators::{make_accumulators, remainder, unset};
use crate::allocation::destination;
use crate::env::Env;
use crate::operators::{apply_to, fold_chunk};
use crate::output::{Scan, Strict};
use crate::source::scalar_type;
use crate::space::Space;
use crate::terms::{Term, variables_as_terms};
use crate::translator::Translator;
use crate::writer::{Nesting, Result, Writer};
use nova_core::order::{BLOCK, LANES};
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir as flat;
use nova_flat::operators::by_component;
use nova_loop::ir::{Expression, Variable};

/// Prepares a scan.
pub(crate) fn start_scan<'a>(
    env: &mut Env<'a>,
    lambda: &'a flat::Lambda,
    start: &[flat::Atom],
    exclusive: bool,
    pattern: &'a [flat::Variable],
    space: &Space,
) -> Result<Scan<'a>> {
    for array in pattern {
        destination(env, *array, space.count.clone(), &space.place)?;
    }
    let mut starts = Vec::with_capacity(start.len());
    for atom in start {
        starts.push((env.simple(*atom)?, scalar_type(env.source, *atom)?));
    }
    let scalars: Vec<Scalar> = starts.iter().map(|s| s.1).collect();
    let last = make_accumulators(env, &vec!["last"; starts.len()], &starts);
    // Where the order makes no difference, the scan is a running fold.
    let exact = by_component(lambda).is_some_and(|all| all.iter().all(|o| o.exact));
    let strict = (env.program.strict && !exact).then(|| Strict {
        carry: make_accumulators(env, &vec!["carry"; starts.len()], &starts),
        before: unset(env, "before", &scalars),
        chunk: unset(env, "piece", &scalars),
        within: unset(env, "within", &scalars),
    });
    Ok(Scan {
        lambda,
        arrays: pattern,
        exclusive,
        last,
        strict,
    })
}

/// Consumes the next element.
pub(crate) fn consume_scan<'a>(
    cx: &mut Translator<'a>,
    scan: &Scan<'a>,
    values: &[flat::Atom],
    space: &Space,
) -> Result<()> {
    match &scan.strict {
        None => {
            let mut arguments = variables_as_terms(&scan.last);
            for value in values {
                arguments.push(cx.term(*value)?);
            }
            if scan.exclusive {
                arguments = read_now(cx, arguments, values)?;
                store_running(cx, scan, space)?;
            }
            apply_to(cx, scan.lambda, arguments, &scan.last)?;
        }
        Some(strict) => {
            let values = cx.simple_values(values)?;
            cx.flush_loads()?;
            if scan.exclusive {
                store_running(cx, scan, space)?;
            }
            strict_step(cx, scan, strict, &values, space)?;
        }
    }
    if !scan.exclusive {
        store_running(cx, scan, space)?;
    }
    if let Some(strict) = &scan.strict {
        end_chunks(cx, scan, strict, space)?;
    }
    Ok(())
}

/// Evaluates values that read memory, since a store comes before their use.
fn read_now(env: &mut Env<'_>, terms: Vec<Term>, values: &[flat::Atom]) -> Result<Vec<Term>> {
    let first_value = terms.len() - values.len();
    let mut evaluated = Vec::with_capacity(terms.len());
    for (index, term) in terms.into_iter().enumerate() {
        let value = index.checked_sub(first_value).and_then(|k| values.get(k));
        evaluated.push(match value {
            Some(atom) if !term.loads.is_empty() => {
                let ty = nova_loop::ir::Type::Scalar(scalar_type(env.source, *atom)?);
                Term::new(env.simplify(term.expression, "value", ty))
            }
            Some(_) | None => term,
        });
    }
    Ok(evaluated)
}

/// `y[k] := last`.
fn store_running(env: &mut Env<'_>, scan: &Scan<'_>, space: &Space) -> Result<()> {
    for (array, last) in scan.arrays.iter().zip(&scan.last) {
        let place = env.place(*array)?;
        env.store(
            place,
            vec![space.number.clone()],
            Expression::Variable(*last),
        )?;
    }
    Ok(())
}

/// `last := carry ⊕ (before ⊕ chunk)`.
fn strict_step<'a>(
    cx: &mut Translator<'a>,
    scan: &Scan<'a>,
    strict: &Strict,
    values: &[Expression],
    space: &Space,
) -> Result<()> {
    let lambda = scan.lambda;
    fold_chunk(cx, lambda, &strict.chunk, values, space)?;
    let lanes = Expression::index(LANES as i64);
    let first = remainder(&space.number, BLOCK).compare(ScalarOperation::Less, lanes);
    cx.choose(
        first,
        |cx| {
            copy_all(cx, &strict.chunk, &strict.within);
            Ok(())
        },
        |cx| {
            let mut arguments = variables_as_terms(&strict.before);
            arguments.extend(variables_as_terms(&strict.chunk));
            apply_to(cx, lambda, arguments, &strict.within)
        },
    )?;
    let mut arguments = variables_as_terms(&strict.carry);
    arguments.extend(variables_as_terms(&strict.within));
    apply_to(cx, lambda, arguments, &scan.last)
}

/// Updates `before` at the end of a chunk, and `carry` at the end of a block.
fn end_chunks(out: &mut Writer, scan: &Scan<'_>, strict: &Strict, space: &Space) -> Result<()> {
    let groups = [
        (LANES, &strict.within, &strict.before),
        (BLOCK, &scan.last, &strict.carry),
    ];
    for (size, from, to) in groups {
        let last = Expression::index(size as i64 - 1);
        let ends = remainder(&space.number, size).compare(ScalarOperation::Equal, last);
        out.when(ends, |out| {
            copy_all(out, from, to);
            Ok(())
        })?;
    }
    Ok(())
}

fn copy_all(out: &mut Writer, from: &[Variable], to: &[Variable]) {
    for (from, to) in from.iter().zip(to) {
        out.assign(*to, Expression::Variable(*from));
    }
}

/// Does nothing: after the loop the arrays are complete.
pub(crate) fn finish_scan(_scan: Scan<'_>) -> Result<()> {
    Ok(())
}
