//! The rules of commands that move or combine many elements.

use super::{INDEX, Verifier};
use crate::ir::{Command, Expression, Type, Variable};
use crate::ir::{
    block_commands, calls, errors, fixed_block_commands, jumps, remarks, structures,
    variable_commands,
};
use nova_core::Scalar;

impl<'p> Verifier<'p> {
    /// Checks a command that moves or combines many elements.
    pub(super) fn bulk(&mut self, command: &'p Command) {
        match command {
            Command::Copy {
                to,
                from,
                element,
                count,
            } => {
                self.expect(to, Type::Pointer(*element));
                self.expect(from, Type::Pointer(*element));
                self.expect(count, INDEX);
            }
            Command::PlanNonTemporal {
                shift,
                fields,
                start,
                count,
                total,
                width,
            } => {
                self.fields(fields);
                for size in [start, count, total] {
                    self.expect(size, INDEX);
                }
                if *width == 0 {
                    self.error("strips without elements");
                }
                if self.target(*shift).is_some_and(|ty| ty != INDEX) {
                    self.error("the shift of non-temporal stores is no `i64`");
                }
                self.flow.assign(*shift);
            }
            Command::NonTemporalStore {
                fields,
                start,
                from,
                count,
                lines: _,
            } => {
                self.expect(start, INDEX);
                self.expect(count, INDEX);
                if let Some(element) = self.fields(fields) {
                    self.expect(from, Type::Pointer(element));
                }
            }
            fixed_block_commands!() => self.fixed_block(command),
            block_commands!()
            | variable_commands!()
            | structures!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => {}
        }
    }

    /// Checks the fields of structures that are written by non-temporal stores: pointers to elements of one
    /// type, which is returned.
    fn fields(&mut self, fields: &[Variable]) -> Option<Scalar> {
        let mut element = None;
        for field in fields {
            let of = self.pointee(&Expression::Variable(*field))?;
            if *element.get_or_insert(of) != of {
                self.error("fields of several types in one non-temporal store");
            }
        }
        if element.is_none() {
            self.error("a non-temporal store to nowhere");
        }
        element
    }
}
