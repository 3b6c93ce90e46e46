//! Nested vectors of results: offsets and dense data, made from rows in any places.

use crate::context::writer::Writer;
use crate::ffi::output::{Parts, Purpose, Sink, fill_elements, new_array};
use crate::ffi::parts::Part;
use crate::syntax::{context, int64, literal, null};
use nova_c_ast::ast::{Binary, Block, Expression, Statement, Type};
use nova_core::Type as CoreType;

/// The rows of a nested vector, level by level.
struct Rows {
    /// The number of rows at the top.
    length: Expression,
    /// The starts and ends of the rows at each level.
    levels: Vec<(Expression, Expression)>,
    /// The variable that is true if the rows follow each other without gaps; `None` without levels.
    dense: Option<Expression>,
    /// The number of elements of all rows of the last level.
    total: Expression,
}

/// Writes the offsets and the data of a nested vector without gaps. Returns the offsets of each
/// level but the last, then the data if it takes memory.
pub(crate) fn write_nested(
    code: &mut Writer,
    levels: usize,
    element: &CoreType,
    data_type: Option<&Type>,
    parts: &mut Parts,
    purpose: Purpose,
) -> Vec<Expression> {
    let length = match parts.next() {
        Some(Part::Scalar(length)) => length.clone(),
        Some(Part::Array { .. }) | None => literal(0),
    };
    let mut rows = Rows {
        total: length.clone(),
        length,
        levels: Vec::new(),
        dense: None,
    };
    let mut results = Vec::new();
    for level in 1..levels {
        let (starts, ends) = (pointer_of(parts.next()), pointer_of(parts.next()));
        parts.next();
        let more = Expression::binary(Binary::Add, rows.total, literal(1));
        let offsets = new_array(&int64(), more, purpose);
        let offsets = code.variable(int64().pointer(), &format!("seg{level}"), offsets);
        let first = offsets.clone().index(literal(0));
        code.push(Statement::assign(first, literal(0)));
        let flag = match &rows.dense {
            Some(flag) => flag.clone(),
            None => {
                let yes = Expression::name("true");
                code.variable(Type::name("bool"), "dense", yes)
            }
        };
        rows.dense = Some(flag.clone());
        rows.levels.push((starts, ends));
        rows.total = count_rows(code, &rows.length, &rows.levels, &offsets, &flag);
        results.push(offsets);
    }
    let Some(data_type) = data_type else {
        return results;
    };
    let data = write_rows(code, element, data_type, rows, parts, purpose);
    results.push(data);
    results
}

/// Emits loops over the rows of the last level. `body` gets the number of each row among all, and
/// its index.
fn each_row(
    code: &mut Writer,
    length: &Expression,
    rows: &[(Expression, Expression)],
    body: &mut dyn FnMut(&mut Writer, Expression, Expression),
) {
    let counter = (rows.len() > 1).then(|| code.variable(int64(), "k", literal(0)));
    row_loops(code, None, length.clone(), rows, counter.as_ref(), body);
}

fn row_loops(
    code: &mut Writer,
    begin: Option<Expression>,
    count: Expression,
    rows: &[(Expression, Expression)],
    counter: Option<&Expression>,
    body: &mut dyn FnMut(&mut Writer, Expression, Expression),
) {
    code.each_index(count, |code, read| {
        let row = match begin {
            None => read,
            Some(begin) => {
                let sum = Expression::binary(Binary::Add, begin, read);
                code.variable(int64(), "row", sum)
            }
        };
        match rows {
            [(starts, ends), below @ ..] if !below.is_empty() => {
                let start = starts.clone().index(row.clone());
                let end = ends.clone().index(row);
                let count = Expression::binary(Binary::Subtract, end, start.clone());
                row_loops(code, Some(start), count, below, counter, body);
            }
            _ => {
                let number = counter.cloned().unwrap_or_else(|| row.clone());
                body(code, number, row);
                if let Some(counter) = counter {
                    let one = literal(1);
                    let next = Expression::binary(Binary::Add, counter.clone(), one);
                    code.push(Statement::assign(counter.clone(), next));
                }
            }
        }
    });
}

/// Fills the offsets of the last level of `rows`. Returns the last offset. The flag becomes false
/// if the rows do not follow each other from 0.
fn count_rows(
    code: &mut Writer,
    length: &Expression,
    rows: &[(Expression, Expression)],
    offsets: &Expression,
    flag: &Expression,
) -> Expression {
    let total = code.variable(int64(), "total", literal(0));
    let Some((starts, ends)) = rows.last().cloned() else {
        return total;
    };
    each_row(code, length, rows, &mut |code, number, row| {
        let start = starts.clone().index(row.clone());
        let here = Expression::binary(Binary::Equal, start.clone(), total.clone());
        let still = Expression::binary(Binary::And, flag.clone(), here);
        code.push(Statement::assign(flag.clone(), still));
        let end = ends.clone().index(row);
        let count = Expression::binary(Binary::Subtract, end, start);
        let sum = Expression::binary(Binary::Add, total.clone(), count);
        code.push(Statement::assign(total.clone(), sum));
        let next = Expression::binary(Binary::Add, number, literal(1));
        code.push(Statement::assign(
            offsets.clone().index(next),
            total.clone(),
        ));
    });
    total
}

/// Writes the data of a nested vector: the existing array if it is dense, else a copy row by row.
fn write_rows(
    code: &mut Writer,
    element: &CoreType,
    data_type: &Type,
    rows: Rows,
    parts: &mut Parts,
    purpose: Purpose,
) -> Expression {
    let Rows {
        length,
        levels,
        dense,
        total,
    } = rows;
    let data = code.unset(data_type.clone().pointer(), "data");
    let new = new_array(data_type, total.clone(), purpose);
    let mut copy = vec![Statement::assign(data.clone(), new)];
    let position = code.fresh("position");
    let at = Expression::Name(position.clone());
    copy.push(Statement::declare(int64(), position, literal(0)));
    let scalar = element.as_scalar().is_some();
    let own_parts = parts.clone();
    let (loops, ()) = code.apart(|code| {
        each_row(code, &length, &levels, &mut |code, _, row| {
            let Some((starts, ends)) = levels.last() else {
                return;
            };
            let start = starts.clone().index(row.clone());
            let end = ends.clone().index(row);
            let count = Expression::binary(Binary::Subtract, end, start.clone());
            let count = code.variable(int64(), "count", count);
            let place = Expression::binary(Binary::Add, data.clone(), at.clone());
            let parts = &mut own_parts.clone();
            if scalar {
                let from = pointer_of(parts.next());
                let from = Expression::binary(Binary::Add, from, start);
                let size = Expression::SizeOf(data_type.clone());
                let arguments = vec![place, from, count.clone(), size];
                code.push(Statement::call("nova_copy", arguments));
            } else {
                let sink = Sink {
                    purpose,
                    group: Vec::new(),
                };
                let target = data_type.clone().pointer();
                let target = code.variable(target, "row_data", place);
                let begin = Some(start);
                fill_elements(code, element, target, begin, count.clone(), parts, &sink);
            }
            let next = Expression::binary(Binary::Add, at.clone(), count);
            code.push(Statement::assign(at.clone(), next));
        });
    });
    copy.extend(loops);
    match (dense, scalar, parts.clone().next()) {
        (Some(dense), true, Some(Part::Array { pointer, block })) => {
            let as_is = match purpose {
                Purpose::Lend => pointer.clone(),
                Purpose::Give | Purpose::Copy => {
                    let size = Expression::SizeOf(data_type.clone());
                    let arguments = vec![context(), pointer.clone(), block.clone(), total, size];
                    Expression::call("nova_give", arguments).cast(data_type.clone().pointer())
                }
            };
            code.push(Statement::If {
                condition: dense,
                then: vec![Statement::assign(data.clone(), as_is)].into(),
                otherwise: copy.into(),
            });
        }
        _ => code.push(Statement::Block(Block(copy))),
    }
    data
}

fn pointer_of(part: Option<&Part>) -> Expression {
    match part {
        Some(Part::Array { pointer, .. }) => pointer.clone(),
        Some(Part::Scalar(value)) => value.clone(),
        None => null(),
    }
}
