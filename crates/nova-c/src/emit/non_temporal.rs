//! Emits non-temporal stores: results that are written past the caches.

use crate::context::function::FunctionEmitter;
use crate::scalar::memory_type;
use nova_c_ast::ast::{Expression, Statement};
use nova_core::Scalar;
use nova_loop::ir::{self, Command, Variable};

impl FunctionEmitter<'_, '_> {
    /// Emits `PlanNonTemporal` and `NonTemporalStore`.
    pub(crate) fn non_temporal(&mut self, command: &Command) {
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
                    self.first_stored(fields, start),
                    self.assigned(count),
                    self.assigned(total),
                    self.structure_size(fields),
                    Expression::literal(width.to_string()),
                ];
                self.assign(
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
                    self.first_stored(fields, start),
                    self.expression(from),
                    self.assigned(count),
                    self.structure_size(fields),
                ];
                self.push(Statement::call(function, arguments));
            }
            // `bulk` passes no other commands to this function.
            _ => {}
        }
    }

    /// Returns the address of the first structure that is stored.
    pub fn first_stored(&mut self, fields: &[Variable], start: &ir::Expression) -> Expression {
        match fields.first() {
            Some(first) => self.expression(&ir::Expression::offset(*first, start.clone())),
            None => Expression::name("NULL"),
        }
    }

    /// Returns the size of a structure of these fields, which have one type.
    pub fn structure_size(&self, fields: &[Variable]) -> Expression {
        let element = match fields.first().map(|f| self.unit.program.variable(*f).ty) {
            Some(ir::Type::Pointer(element)) => element,
            Some(ir::Type::Scalar(_) | ir::Type::Block) | None => Scalar::U8,
        };
        let size = Expression::SizeOf(memory_type(element));
        match fields.len() {
            1 => size,
            count => Expression::binary(
                nova_c_ast::ast::Binary::Multiply,
                Expression::literal(count.to_string()),
                size,
            ),
        }
    }
}
