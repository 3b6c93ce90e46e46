//! Loops over the indices of a space.

use crate::writer::{INDEX, Nesting, Result, Writer};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_loop::ir::{Command, Expression, Level, Variable};

/// The names of the indices of a space.
pub(crate) const NAMES: [&str; 6] = ["i", "j", "k", "l", "m", "n"];

/// Returns the number of groups of `size`, a power of two, that hold `count` elements.
pub(crate) fn groups_of(count: Expression, size: i64) -> Expression {
    let shift = Expression::index(i64::from(size.trailing_zeros()));
    let count = count.plus(Expression::index(size - 1));
    match size.count_ones() {
        1 => count.compare(ScalarOperation::ShiftRight, shift),
        _ => count.compare(ScalarOperation::Divide, Expression::index(size)),
    }
}

/// Runs `write` for all indices of a space: writes nested loops, one for each extent.
pub(crate) fn each_index<C: Nesting>(
    cx: &mut C,
    extents: &[Expression],
    place: &nova_diag::Place,
    write: impl FnOnce(&mut C, Vec<Expression>) -> Result<()>,
) -> Result<()> {
    let indices: Vec<Variable> = (0..extents.len())
        .map(|d| {
            cx.writer()
                .add_variable(NAMES[d.min(NAMES.len() - 1)], INDEX)
        })
        .collect();
    let expressions = indices.iter().map(|v| Expression::Variable(*v)).collect();
    let (code, ()) = cx.nested(|cx| write(cx, expressions))?;
    wrap(cx.writer(), extents, &indices, code, place);
    Ok(())
}

/// Writes code inside the loops of a space.
pub(crate) fn wrap(
    out: &mut Writer,
    extents: &[Expression],
    indices: &[Variable],
    code: Vec<Command>,
    place: &nova_diag::Place,
) {
    let mut code = code;
    for (count, variable) in extents.iter().zip(indices).rev() {
        code = vec![Command::sequential(*variable, count.clone(), code, place)];
    }
    out.commands.extend(code);
}

/// Writes code inside one loop over all indices of a space, so that each thread has one index.
pub(crate) fn wrap_flat(
    out: &mut Writer,
    level: Level,
    extents: &[Expression],
    indices: &[Variable],
    code: Vec<Command>,
    place: &Place,
) {
    let all = extents.iter().cloned();
    let count = all.fold(Expression::index(1), Expression::times);
    let number = out.add_variable("number", INDEX);
    let mut rest = Expression::Variable(number);
    let mut body = Vec::new();
    for (extent, index) in extents.iter().zip(indices).skip(1).rev() {
        let (quotient, remainder) = quotient_and_remainder(rest, extent);
        body.push(Command::declare(*index, remainder));
        let left = out.add_variable("rest", INDEX);
        body.push(Command::declare(left, quotient));
        rest = Expression::Variable(left);
    }
    if let Some(first) = indices.first() {
        body.push(Command::declare(*first, rest));
    }
    body.extend(code);
    out.emit(Command::For {
        variable: number,
        count,
        level,
        body,
        place: place.clone(),
    });
}

/// Returns quotient and remainder of numbers that are not negative.
fn quotient_and_remainder(number: Expression, by: &Expression) -> (Expression, Expression) {
    let apply = |operation| Expression::Scalar {
        operation,
        operand: Scalar::I64,
        arguments: vec![number.clone(), by.clone()],
    };
    let (quotient, remainder) = (ScalarOperation::Divide, ScalarOperation::Remainder);
    (apply(quotient), apply(remainder))
}

/// Runs `write` for each index below a count.
pub(crate) fn each<C: Nesting>(
    cx: &mut C,
    name: &str,
    count: Expression,
    place: &Place,
    write: impl FnOnce(&mut C, Expression) -> Result<()>,
) -> Result<()> {
    let index = cx.writer().add_variable(name, INDEX);
    let (code, ()) = cx.nested(|cx| write(cx, Expression::Variable(index)))?;
    wrap(cx.writer(), &[count], &[index], code, place);
    Ok(())
}

/// Runs `write` for each pair of indices below two counts.
pub(crate) fn each_pair<C: Nesting>(
    cx: &mut C,
    [outer, inner]: [&str; 2],
    [rows, columns]: [&Expression; 2],
    place: &Place,
    write: impl FnOnce(&mut C, Expression, Expression) -> Result<()>,
) -> Result<()> {
    each(cx, outer, rows.clone(), place, |cx, i| {
        each(cx, inner, columns.clone(), place, |cx, j| write(cx, i, j))
    })
}

/// Divides a number of indices into parts of a positive size. Runs `write` for the first index of each part, and for
/// how many it has.
pub(crate) fn each_part<C: Nesting>(
    cx: &mut C,
    [counter, first, length]: [&str; 3],
    (all, size): (&Expression, &Expression),
    place: &Place,
    write: impl FnOnce(&mut C, Expression, Expression) -> Result<()>,
) -> Result<()> {
    let parts = match size.as_index() {
        Some(size) => groups_of(all.clone(), size),
        None => {
            let last = size.clone().minus(Expression::index(1));
            let all = all.clone().plus(last);
            all.compare(ScalarOperation::Divide, size.clone())
        }
    };
    each(cx, counter, parts, place, |cx, number| {
        let start = number.times(size.clone());
        let start = Expression::Variable(cx.writer().declare(first, INDEX, start));
        let left = all.clone().minus(start.clone());
        let count = left.compare(ScalarOperation::Minimum, size.clone());
        let count = Expression::Variable(cx.writer().declare(length, INDEX, count));
        write(cx, start, count)
    })
}
