//! The rules of commands on fixed-size blocks of elements.

use super::{INDEX, Verifier};
use crate::ir::{Command, Expression, Gather, Type, prefix_scans, tree_reduces};
use crate::ir::{block_commands, calls, errors, jumps, remarks, structures, variable_commands};
use crate::ir::{gathers_indexed, gathers_strided, indexes_gathers};
use nova_core::{Scalar, ScalarOperation};

impl<'p> Verifier<'p> {
    /// Checks a command on a fixed-size block of elements.
    pub(super) fn fixed_block(&mut self, command: &'p Command) {
        match command {
            Command::PaddedCopy {
                to,
                from,
                element,
                count,
                pad,
            } => {
                self.expect(to, Type::Pointer(*element));
                self.expect(from, Type::Pointer(*element));
                self.expect(count, INDEX);
                self.expect(pad, Type::Scalar(*element));
                if !element.is_float() {
                    self.error("a padded copy of elements that are no floats");
                }
            }
            Command::TreeReduce {
                pointer,
                element,
                operation,
                into: _,
            } => {
                self.expect(&Expression::Variable(*pointer), Type::Pointer(*element));
                self.combines(*operation, *element);
            }
            Command::PlanRows { joins } => {
                let bool = Type::Scalar(Scalar::Bool);
                if self.target(*joins).is_some_and(|ty| ty != bool) {
                    self.error("what says whether rows are joined is no bool");
                }
                self.flow.assign(*joins);
            }
            Command::LaneReduce {
                to,
                from,
                element,
                operation,
                count,
            } => {
                self.expect(to, Type::Pointer(*element));
                self.expect(from, Type::Pointer(*element));
                self.expect(count, INDEX);
                self.combines(*operation, *element);
            }
            Command::PrefixScan {
                to,
                from,
                element,
                operation,
                exclusive: _,
                last,
            } => {
                self.expect(to, Type::Pointer(*element));
                self.expect(from, Type::Pointer(*element));
                self.expect(&Expression::Variable(*last), Type::Scalar(*element));
                if !prefix_scans(*operation, *element)
                    || (self.program.strict && element.is_float())
                {
                    self.error("a prefix scan by an operation of which the order counts");
                }
                if self.target(*last).is_some() {
                    self.flow.assign(*last);
                }
            }
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

    /// Checks a command of a gather with bounds precheck.
    fn gather(&mut self, gather: &'p Gather) {
        match gather {
            Gather::Strided {
                to,
                from,
                element,
                stride,
            } => {
                self.expect(to, Type::Pointer(*element));
                self.expect(from, Type::Pointer(*element));
                self.strided(*stride, gathers_strided(*element));
            }
            Gather::Precheck {
                outside,
                indices,
                index,
                stride,
                limit,
            } => {
                self.expect(indices, Type::Pointer(*index));
                self.expect(limit, Type::Scalar(Scalar::U64));
                self.strided(*stride, indexes_gathers(*index));
                let bool = Type::Scalar(Scalar::Bool);
                if self.target(*outside).is_some_and(|ty| ty != bool) {
                    self.error("what says whether indices are outside is no bool");
                }
                self.flow.assign(*outside);
            }
            Gather::Indexed {
                to,
                from,
                element,
                indices,
                index,
                stride,
            } => {
                self.expect(to, Type::Pointer(*element));
                self.expect(from, Type::Pointer(*element));
                self.expect(indices, Type::Pointer(*index));
                self.strided(
                    *stride,
                    gathers_indexed(*element) && indexes_gathers(*index),
                );
            }
        }
    }

    /// Checks the stride of the elements of a gather, and that they have types that it may have.
    fn strided(&mut self, stride: u32, types: bool) {
        if stride == 0 {
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
