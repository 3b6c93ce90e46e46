//! Per-iteration result buffers for rows of varying length that threads make. Each iteration stores its
//! rows in buffers of its own. After the loop the buffers are concatenated, again in parallel.

use crate::env::Env;
use crate::loops::each_index;
use crate::output::{Collect, ResultBuffers};
use crate::source::{array_block, name_of};
use crate::writer::{INDEX, Nesting, Result};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression, Level, Type};

/// Makes the tables, before the loop.
pub(crate) fn start_result_buffers(
    env: &mut Env<'_>,
    arrays: &[flat::Variable],
    count: &Expression,
    place: &Place,
) -> ResultBuffers {
    let mut tables = Vec::with_capacity(arrays.len());
    for array in arrays {
        let name = format!("{}_pieces", name_of(env.source, *array));
        let table = env.add_variable(name, Type::Block);
        env.declare_later(table);
        env.emit(Command::ResultBuffers {
            pieces: table,
            count: count.clone(),
            place: place.clone(),
        });
        tables.push(table);
    }
    ResultBuffers {
        tables,
        count: count.clone(),
    }
}

/// Stores the arrays of an iteration, and their length.
pub(crate) fn store_result_buffers(
    env: &mut Env<'_>,
    collect: &Collect<'_>,
    buffers: &ResultBuffers,
    (length, rows): (Expression, &[flat::Atom]),
    number: &Expression,
    place: &Place,
) -> Result<()> {
    let ends = env.place(collect.ends)?;
    env.store(ends, vec![number.clone()], length.clone())?;
    let mut blocks = Vec::with_capacity(rows.len());
    for row in rows {
        blocks.push(array_block(env.source, *row)?);
    }
    for ((table, row), block) in buffers.tables.iter().zip(rows).zip(&blocks) {
        let (flat::Atom::Variable(row), Some(block)) = (row, block) else {
            return Err(internal("a row that is no array"));
        };
        let from = env.place(*row)?;
        env.flush_reads(*block)?;
        // An array that several outputs take is copied for each.
        let alone = blocks.iter().filter(|b| b.as_ref() == Some(block)).count() == 1;
        let (handle, pointer) = match from.lmad.is_row_major() {
            true => {
                let offset = env.polynomial(&from.lmad.offset)?;
                let handle = match alone {
                    true => Expression::Variable(env.block(*block)?.handle),
                    false => Expression::NullBlock,
                };
                (handle, Expression::offset(from.pointer, offset))
            }
            false => return Err(internal("a row with gaps that threads keep")),
        };
        env.emit(Command::StoreBuffer {
            pieces: *table,
            index: number.clone(),
            block: handle,
            pointer,
            element: from.element,
            count: length.clone(),
            place: place.clone(),
        });
    }
    Ok(())
}

/// Concatenates the result buffers, after the loop.
pub(crate) fn concatenate_buffers(
    env: &mut Env<'_>,
    collect: &Collect<'_>,
    buffers: &ResultBuffers,
    place: &Place,
) -> Result<()> {
    let (starts, ends) = (env.place(collect.starts)?, env.place(collect.ends)?);
    let total = Expression::Variable(collect.total);
    let extents = std::slice::from_ref(&buffers.count);
    each_index(env, extents, place, |env, indices| {
        let length = env.load(ends, indices.clone())?;
        env.store(starts, indices.clone(), total.clone())?;
        env.assign(collect.total, total.clone().plus(length));
        env.store(ends, indices, total.clone())
    })?;
    for (array, table) in collect.arrays.iter().zip(&buffers.tables) {
        let to = env.place(*array)?;
        let block = env.block(to.block)?.handle;
        env.emit(Command::Allocate {
            block,
            pointer: to.pointer,
            element: to.element,
            count: total.clone(),
            destination: None,
            place: place.clone(),
        });
        let index = env.add_variable("chunk", INDEX);
        let (body, ()) = env.nested(|env| {
            let buffer = env.add_variable("piece", Type::Pointer(to.element));
            env.declare_later(buffer);
            env.emit(Command::Buffer {
                pointer: buffer,
                pieces: *table,
                element: to.element,
                index: Expression::Variable(index),
            });
            let indices = vec![Expression::Variable(index)];
            let first = env.load(starts, indices.clone())?;
            let end = env.load(ends, indices)?;
            env.emit(Command::Copy {
                to: Expression::offset(to.pointer, first.clone()),
                from: Expression::Variable(buffer),
                element: to.element,
                count: end.minus(first),
            });
            Ok(())
        })?;
        env.emit(Command::For {
            variable: index,
            count: buffers.count.clone(),
            level: Level::Grid,
            body,
            place: place.clone(),
        });
        env.emit(Command::DropBuffers {
            pieces: *table,
            count: buffers.count.clone(),
        });
    }
    Ok(())
}
