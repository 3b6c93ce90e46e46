//! Emits non-temporal stores: results that are written past the caches.

use crate::context::function::Emitter;
use crate::context::writer::Writer;
use crate::emit::expression::{assigned, expression};
use crate::emit::variables::assign;
use crate::scalar::memory_type;
use crate::syntax::{literal, null};
use nova_c_ast::ast::{Binary, Expression, Statement};
use nova_core::Scalar;
use nova_loop::ir::{self, Command, Variable};

/// Emits `PlanNonTemporal` and `NonTemporalStore`.
pub(crate) fn non_temporal(code: &mut Emitter, command: &Command) {
    match command {
        Command::PlanNonTemporal {
            shift,
            fields,
            start,
            count,
            total,
            width,
        } => {
            let arguments = vec![
                first_stored(code, fields, start),
                assigned(code, count),
                assigned(code, total),
                structure_size(code, fields),
                literal(width),
            ];
            assign(
                code,
                *shift,
                Expression::call("nova_plan_non_temporal", arguments),
            );
        }
        Command::NonTemporalStore {
            fields,
            start,
            from,
            count,
            lines,
        } => {
            let function = match lines {
                true => "nova_non_temporal_store_lines",
                false => "nova_non_temporal_store",
            };
            let arguments = vec![
                first_stored(code, fields, start),
                expression(code, from),
                assigned(code, count),
                structure_size(code, fields),
            ];
            code.push(Statement::call(function, arguments));
        }
        // `bulk` passes no other commands to this function.
        _ => {}
    }
}

/// Returns the address of the first structure that is stored.
pub(crate) fn first_stored(
    code: &mut Emitter,
    fields: &[Variable],
    start: &ir::Expression,
) -> Expression {
    match fields.first() {
        Some(first) => expression(code, &ir::Expression::offset(*first, start.clone())),
        None => null(),
    }
}

/// Returns the size of a structure of these fields, which have one type.
pub(crate) fn structure_size(code: &Writer, fields: &[Variable]) -> Expression {
    let element = match fields.first().map(|f| code.unit.program.variable(*f).ty) {
        Some(ir::Type::Pointer(element)) => element,
        Some(ir::Type::Scalar(_) | ir::Type::Block) | None => Scalar::U8,
    };
    let size = Expression::SizeOf(memory_type(element));
    match fields.len() {
        1 => size,
        count => Expression::binary(Binary::Multiply, literal(count), size),
    }
}
