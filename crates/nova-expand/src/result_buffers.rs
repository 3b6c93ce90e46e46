//! Per-iteration result buffers for rows of varying length that threads make. Each iteration stores its
//! rows in buffers of its own. After the loop the buffers are concatenated, again in parallel.

use crate::output::{Collect, ResultBuffers};
use crate::translator::{INDEX, Result, Translator};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression, Level, Type};

impl<'a> Translator<'a> {
    /// Makes the tables, before the loop.
    pub(crate) fn start_result_buffers(
        &mut self,
        arrays: &[flat::Variable],
        count: &Expression,
        place: &Place,
    ) -> ResultBuffers {
        let mut tables = Vec::with_capacity(arrays.len());
        for array in arrays {
            let table = self.add_variable(format!("{}_pieces", self.name(*array)), Type::Block);
            self.declare_later(table);
            self.emit(Command::ResultBuffers {
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
        &mut self,
        collect: &Collect<'a>,
        buffers: &ResultBuffers,
        (length, rows): (Expression, &[flat::Atom]),
        number: &Expression,
        place: &Place,
    ) -> Result<()> {
        let ends = self.place(collect.ends)?;
        self.store(ends, vec![number.clone()], length.clone())?;
        let mut blocks = Vec::with_capacity(rows.len());
        for row in rows {
            blocks.push(self.array_block(*row)?);
        }
        for ((table, row), block) in buffers.tables.iter().zip(rows).zip(&blocks) {
            let (flat::Atom::Variable(row), Some(block)) = (row, block) else {
                return Err(internal("a row that is no array"));
            };
            let from = self.place(*row)?;
            self.flush_reads(*block)?;
            // An array that several outputs take is copied for each.
            let alone = blocks.iter().filter(|b| b.as_ref() == Some(block)).count() == 1;
            let (handle, pointer) = match from.lmad.is_row_major() {
                true => {
                    let offset = self.polynomial(&from.lmad.offset)?;
                    let handle = match alone {
                        true => Expression::Variable(self.block(*block)?.handle),
                        false => Expression::NullBlock,
                    };
                    (handle, Expression::offset(from.pointer, offset))
                }
                false => return Err(internal("a row with gaps that threads keep")),
            };
            self.emit(Command::StoreBuffer {
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
        &mut self,
        collect: &Collect<'a>,
        buffers: &ResultBuffers,
        place: &Place,
    ) -> Result<()> {
        let (starts, ends) = (self.place(collect.starts)?, self.place(collect.ends)?);
        let total = Expression::Variable(collect.total);
        let extents = std::slice::from_ref(&buffers.count);
        self.each_index(extents, place, |this, indices| {
            let length = this.load(ends, indices.clone())?;
            this.store(starts, indices.clone(), total.clone())?;
            this.assign(collect.total, total.clone().plus(length));
            this.store(ends, indices, total.clone())
        })?;
        for (array, table) in collect.arrays.iter().zip(&buffers.tables) {
            let to = self.place(*array)?;
            self.emit(Command::Allocate {
                block: self.block(to.block)?.handle,
                pointer: to.pointer,
                element: to.element,
                count: total.clone(),
                destination: None,
                place: place.clone(),
            });
            let index = self.add_variable("chunk", INDEX);
            let (body, ()) = self.nested(|this| {
                let buffer = this.add_variable("piece", Type::Pointer(to.element));
                this.declare_later(buffer);
                this.emit(Command::Buffer {
                    pointer: buffer,
                    pieces: *table,
                    element: to.element,
                    index: Expression::Variable(index),
                });
                let indices = vec![Expression::Variable(index)];
                let first = this.load(starts, indices.clone())?;
                let end = this.load(ends, indices)?;
                this.emit(Command::Copy {
                    to: Expression::offset(to.pointer, first.clone()),
                    from: Expression::Variable(buffer),
                    element: to.element,
                    count: end.minus(first),
                });
                Ok(())
            })?;
            self.emit(Command::For {
                variable: index,
                count: buffers.count.clone(),
                level: Level::Grid,
                body,
                place: place.clone(),
            });
            self.emit(Command::DropBuffers {
                pieces: *table,
                count: buffers.count.clone(),
            });
        }
        Ok(())
    }
}
