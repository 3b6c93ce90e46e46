//! The rules of commands on memory. The types of their operands follow from the table of commands; the
//! other rules stand here.

use super::Verifier;
use crate::ir::{
    Command, Expression, Gather, Operand, Role, Type, Variable, Wants, gathers_indexed,
    gathers_strided, indexes_gathers, operands, prefix_scans, tree_reduces,
};
use nova_core::{Scalar, ScalarOperation};

impl<'p> Verifier<'p> {
    /// Checks a command of which all operands are in the table with their types.
    pub(super) fn memory(&mut self, command: &'p Command) {
        operands(command, &mut |operand| self.read_operand(operand));
        self.rules(command);
        operands(command, &mut |operand| self.assign_operand(operand));
    }

    /// Checks what a command reads.
    fn read_operand(&mut self, operand: Operand) {
        match operand {
            Operand::Expression(expression, Wants::Is(ty)) => self.expect(expression, ty),
            Operand::Expression(value, Wants::ElementOf(pointer)) => {
                if let Some(Type::Pointer(element)) = self.variable_type(pointer) {
                    self.expect(value, Type::Scalar(element));
                }
            }
            Operand::Address(expression, _, element, _) => {
                self.expect(expression, Type::Pointer(element));
            }
            Operand::Variable(variable, role) => self.read_variable(*variable, role),
            Operand::Variables(variables, role) => {
                variables.iter().for_each(|v| self.read_variable(*v, role));
            }
            _others => {}
        }
    }

    fn read_variable(&mut self, variable: Variable, role: Role) {
        let read = Expression::Variable(variable);
        match role {
            Role::Assigned(_) => {}
            Role::Updated(Wants::Is(ty))
            | Role::Stored(Wants::Is(ty), _)
            | Role::Named(Wants::Is(ty)) => {
                self.expect(&read, ty);
            }
            Role::Updated(_) | Role::Stored(..) | Role::Named(_) => {
                self.pointee(&read);
            }
        }
    }

    /// Checks what a command assigns. A handle gets a reference.
    fn assign_operand(&mut self, operand: Operand) {
        let Operand::Variable(variable, Role::Assigned(wants) | Role::Updated(wants)) = operand
        else {
            return;
        };
        let Some(ty) = self.target(*variable) else {
            return;
        };
        if let Wants::Is(wanted) = wants
            && ty != wanted
        {
            let name = self.name(*variable);
            self.error(format!("{name} is {ty:?}, not {wanted:?}"));
        }
        match ty {
            Type::Block => self.give_reference(*variable),
            Type::Scalar(_) | Type::Pointer(_) => self.flow.assign(*variable),
        }
    }

    /// Checks the rules of a command that are not the types of its operands, before it assigns.
    fn rules(&mut self, command: &'p Command) {
        match command {
            Command::Reserve { block, .. } => self.take_reference(*block, "reserved"),
            Command::Unique { block, .. } => self.take_reference(*block, "to be the only holder"),
            Command::DropBuffers { pieces, .. } => self.take_reference(*pieces, "dropped"),
            Command::Release(block) => self.take_reference(*block, "released"),
            Command::Retain(block) => {
                if let Some(references) = self.flow.references(*block) {
                    self.flow.set_references(*block, references + 1);
                }
            }
            Command::PlanNonTemporal { fields, width, .. } => {
                self.fields(fields);
                if *width == 0 {
                    self.error("strips without elements");
                }
            }
            Command::NonTemporalStore { fields, from, .. } => {
                if let Some(element) = self.fields(fields) {
                    self.expect(from, Type::Pointer(element));
                }
            }
            Command::PaddedCopy { element, .. } if !element.is_float() => {
                self.error("a padded copy of elements that are no floats");
            }
            Command::MultiplyPanels { element, .. } if !element.is_float() => {
                self.error("panels of elements that are no floats");
            }
            Command::SortWords { element, .. } if !matches!(element, Scalar::U32 | Scalar::U64) => {
                self.error("a sort of elements that are no words");
            }
            Command::TreeReduce {
                operation, element, ..
            }
            | Command::LaneReduce {
                operation, element, ..
            } => self.combines(*operation, *element),
            Command::PrefixScan {
                operation, element, ..
            } => {
                let reorders = self.program.strict && element.is_float();
                if !prefix_scans(*operation, *element) || reorders {
                    self.error("a prefix scan by an operation of which the order counts");
                }
            }
            Command::Gather(gather) => self.gather(gather),
            _others => {}
        }
    }

    /// Checks the fields of structures that are written by non-temporal stores: pointers to elements of one
    /// type, which is returned.
    fn fields(&mut self, fields: &[Variable]) -> Option<Scalar> {
        let mut element = None;
        for field in fields {
            let Some(Type::Pointer(of)) = self.variable_type(*field) else {
                return None;
            };
            if *element.get_or_insert(of) != of {
                self.error("fields of several types in one non-temporal store");
            }
        }
        if element.is_none() {
            self.error("a non-temporal store to nowhere");
        }
        element
    }

    /// Checks the stride of the elements of a gather, and that they have types that it may have.
    fn gather(&mut self, gather: &Gather) {
        let (stride, types) = match gather {
            Gather::Strided {
                element, stride, ..
            } => (stride, gathers_strided(*element)),
            Gather::Precheck { index, stride, .. } => (stride, indexes_gathers(*index)),
            Gather::Indexed {
                element,
                index,
                stride,
                ..
            } => (stride, gathers_indexed(*element) && indexes_gathers(*index)),
            Gather::Rows { element, .. } => (&1, gathers_strided(*element)),
        };
        if *stride == 0 {
            self.error("the elements of a gather lie in one place");
        }
        if !types {
            self.error("a gather reads elements of a type that it has not");
        }
    }

    fn combines(&mut self, operation: ScalarOperation, element: Scalar) {
        if !tree_reduces(operation, element) {
            self.error("a tree reduction by no sum or product of floats");
        }
    }
}
