//! The kind of memory that each pointer of a kernel leads to: memory of a thread, of a work-group,
//! or of the device. Kernel languages write these types differently, so a pointer must lead to one
//! kind only.

use crate::aliases::{Made, PointsTo};
use crate::ir::{Command, Program, Type, Variable};
use nova_core::SumId;
use std::collections::BTreeSet;

/// Returns the pointer variables that lead to arrays of the thread's own, in a kernel or in a
/// function that kernels call. Returns `None` if one may lead to both kinds of memory, or if the
/// address of an own array leaves the commands.
pub fn own_pointers(types: &Types, commands: &[Command]) -> Option<BTreeSet<Variable>> {
    PointsTo::of(&|v| types.is_pointer(v), commands).only_to(Made::Local, commands)
}

/// Returns the pointer variables of a kernel that lead to arrays of a work-group, as
/// [`own_pointers`] returns those that lead to arrays of a thread.
pub fn shared_pointers(types: &Types, commands: &[Command]) -> Option<BTreeSet<Variable>> {
    PointsTo::of(&|v| types.is_pointer(v), commands).only_to(Made::Shared, commands)
}

/// The types of the variables of a program, and the recursive sums whose nodes hold arrays.
#[derive(Clone, Debug)]
pub struct Types {
    variables: Vec<Type>,
    with_arrays: BTreeSet<SumId>,
    /// The foreign functions that are code of the device, by number.
    of_device: BTreeSet<u32>,
}

impl Types {
    /// True if a variable is a pointer to elements.
    pub fn is_pointer(&self, variable: Variable) -> bool {
        matches!(self.variables.get(variable.index()), Some(Type::Pointer(_)))
    }

    /// True if the nodes of a recursive sum hold arrays.
    pub fn nodes_hold_arrays(&self, sum: SumId) -> bool {
        self.with_arrays.contains(&sum)
    }

    /// True if a foreign function is code of the device.
    pub fn is_of_device(&self, foreign: u32) -> bool {
        self.of_device.contains(&foreign)
    }
}

impl Program {
    /// Returns the types of all variables and facts about nodes, as a value independent of the
    /// program.
    pub fn clone_types(&self) -> Types {
        let sums = (0..self.sums.len()).map(|k| SumId(k as u32));
        let foreigns = 0..self.foreigns.len() as u32;
        Types {
            variables: self.variables.iter().map(|info| info.ty).collect(),
            with_arrays: sums.filter(|sum| self.nodes_hold_arrays(*sum)).collect(),
            of_device: foreigns
                .filter(|foreign| self.is_of_device(*foreign))
                .collect(),
        }
    }
}
