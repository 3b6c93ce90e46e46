//! Emits commands of Loop on fixed-size blocks of elements, as calls of the runtime: padded copies,
//! tree reductions, prefix scans and gathers.

use crate::context::function::FunctionEmitter;
use nova_c_ast::ast::{Expression, Statement};
use nova_core::{Scalar, ScalarOperation};
use nova_loop::ir::{
    Command, Gather, block_commands, calls, errors, jumps, remarks, structures, variable_commands,
};

impl FunctionEmitter<'_, '_> {
    /// Emits a command on a fixed-size block.
    pub fn fixed_block(&mut self, command: &Command) {
        match command {
            Command::PaddedCopy {
                to,
                from,
                element,
                count,
                pad,
            } => {
                let arguments = vec![
                    self.expression(to),
                    self.expression(from),
                    self.assigned(count),
                    self.assigned(pad),
                ];
                let name = format!("nova_padded_copy_{}", element.info().short);
                self.push(Statement::call(name, arguments));
            }
            Command::PlanRows { joins } => {
                self.assign(*joins, Expression::call("nova_joins_rows", Vec::new()));
            }
            Command::LaneReduce {
                to,
                from,
                element,
                operation,
                count,
            } => {
                let arguments = vec![
                    self.expression(to),
                    self.expression(from),
                    self.assigned(count),
                ];
                let name = format!("nova_{}_lanes_{}", operation.short(), element.info().short);
                self.push(Statement::call(name, arguments));
            }
            Command::TreeReduce {
                pointer,
                element,
                operation,
                into,
            } => {
                let array = Expression::Name(self.name(*pointer));
                let name = format!(
                    "nova_{}_{}_{}",
                    operation.short(),
                    into.name(),
                    element.info().short
                );
                self.push(Statement::call(name, vec![array]));
            }
            Command::PrefixScan { .. } => self.prefix_scan(command),
            Command::Gather(gather) => self.gather(gather),
            Command::Copy { .. }
            | Command::PlanNonTemporal { .. }
            | Command::NonTemporalStore { .. }
            | block_commands!()
            | variable_commands!()
            | structures!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => {}
        }
    }

    /// Emits a prefix scan of a fixed number of elements.
    fn prefix_scan(&mut self, command: &Command) {
        let Command::PrefixScan {
            to,
            from,
            element,
            operation,
            exclusive,
            last,
        } = command
        else {
            return;
        };
        let name = format!(
            "nova_{}_prefix_{}",
            operation.short(),
            running(*operation, *element)
        );
        let arguments = vec![
            self.expression(to),
            self.expression(from),
            Expression::Name(self.name(*last)),
            Expression::literal(if *exclusive { "true" } else { "false" }),
        ];
        self.assign(*last, Expression::call(name, arguments));
    }

    /// Emits a gather, or its bounds precheck.
    fn gather(&mut self, gather: &Gather) {
        let number = |stride: &u32| Expression::literal(stride.to_string());
        match gather {
            Gather::Strided {
                to,
                from,
                element,
                stride,
            } => {
                let arguments = vec![self.expression(to), self.expression(from), number(stride)];
                let name = format!("nova_gather_strided_{}", element.bits() / 8);
                self.push(Statement::call(name, arguments));
            }
            Gather::Precheck {
                outside,
                indices,
                index,
                stride,
                limit,
            } => {
                let arguments = vec![
                    self.expression(indices),
                    number(stride),
                    self.assigned(limit),
                ];
                let name = format!("nova_gather_precheck_{}", index.info().short);
                self.assign(*outside, Expression::call(name, arguments));
            }
            Gather::Indexed {
                to,
                from,
                element,
                indices,
                index,
                stride,
            } => {
                let arguments = vec![
                    self.expression(to),
                    self.expression(from),
                    self.expression(indices),
                    number(stride),
                ];
                let (element, index) = (element.info().short, index.info().short);
                let name = format!("nova_gather_indexed_{element}_{index}");
                self.push(Statement::call(name, arguments));
            }
        }
    }
}

/// Returns the type in the name of a prefix scan of the runtime. Signs matter only where numbers are
/// compared.
fn running(operation: ScalarOperation, element: Scalar) -> String {
    match operation {
        ScalarOperation::Minimum | ScalarOperation::Maximum => element.info().short.to_string(),
        _same_bits if element.is_float() => element.info().short.to_string(),
        _same_bits => format!("u{}", element.bits().max(8)),
    }
}
