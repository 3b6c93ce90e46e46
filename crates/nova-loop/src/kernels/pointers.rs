//! The kind of memory that each pointer of a kernel leads to: memory of a thread, of a work-group,
//! or of the device. Kernel languages write these types differently, so a pointer must lead to one
//! kind only.

use crate::ir::{Command, Expression, Program, Type, Variable};
use crate::walk::each_command;
use nova_core::SumId;
use nova_diag::deep;
use std::collections::BTreeSet;

/// Returns the pointer variables that lead to arrays of the thread's own, in a kernel or in a
/// function that kernels call. Returns `None` if one may lead to both kinds of memory, or if the
/// address of an own array leaves the commands.
pub fn own_pointers(types: &Types, commands: &[Command]) -> Option<BTreeSet<Variable>> {
    pointers_to(types, commands, |command| match command {
        Command::Local { pointer, .. } => Some(*pointer),
        _others => None,
    })
}

/// Returns the pointer variables of a kernel that lead to arrays of a work-group, as
/// [`own_pointers`] returns those that lead to arrays of a thread.
pub fn shared_pointers(types: &Types, commands: &[Command]) -> Option<BTreeSet<Variable>> {
    pointers_to(types, commands, |command| match command {
        Command::Shared { pointer, .. } => Some(*pointer),
        _others => None,
    })
}

/// Returns the pointer variables that lead to one kind of memory: the arrays that `declared` finds.
fn pointers_to(
    types: &Types,
    commands: &[Command],
    declared: fn(&Command) -> Option<Variable>,
) -> Option<BTreeSet<Variable>> {
    let mut own = BTreeSet::new();
    let mut made = BTreeSet::new();
    let mut assignments = Vec::new();
    let mut passed = Vec::new();
    each_command(commands, |command| own.extend(declared(command)));
    each_command(commands, |command| match command {
        Command::Allocate { pointer, .. }
        | Command::Reserve { pointer, .. }
        | Command::Unique { pointer, .. }
        | Command::Buffer { pointer, .. } => {
            made.insert(*pointer);
        }
        Command::Declare {
            variable,
            value: Some(value),
        }
        | Command::Assign { variable, value }
        | Command::Spare {
            pointer: variable,
            places: value,
            ..
        } if types.is_pointer(*variable) => {
            assignments.push((*variable, value));
        }
        Command::Call { arguments, .. } => passed.extend(arguments.iter()),
        _others => {}
    });
    loop {
        let before = own.len();
        for (variable, value) in &assignments {
            if leads(value, &own) == Some(true) {
                own.insert(*variable);
            }
        }
        if own.len() == before {
            break;
        }
    }
    let is_shared = |value: &&Expression| leads(value, &own) == Some(false);
    let agrees = |(variable, value): &(Variable, &Expression)| {
        leads(value, &own) == Some(own.contains(variable))
    };
    let fits = own.is_disjoint(&made)
        && assignments.iter().all(agrees)
        && passed
            .iter()
            .filter(|value| types.is_address(value))
            .all(is_shared);
    fits.then_some(own)
}

/// Returns true if a pointer leads to the thread's own memory; `None` where it may lead to either.
fn leads(pointer: &Expression, own: &BTreeSet<Variable>) -> Option<bool> {
    match pointer {
        Expression::Variable(variable) => Some(own.contains(variable)),
        Expression::Offset { pointer, .. } => deep(|| leads(pointer, own)),
        Expression::Select {
            then, otherwise, ..
        } => {
            let then = deep(|| leads(then, own));
            let otherwise = deep(|| leads(otherwise, own));
            if then == otherwise { then } else { None }
        }
        Expression::Constant(_)
        | Expression::Bytes(_)
        | Expression::Data(..)
        | Expression::Scalar { .. }
        | Expression::Load { .. }
        | Expression::NullPointer(_)
        | Expression::NullBlock
        | Expression::NodeTag { .. } => Some(false),
    }
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

    /// True if an expression is an address.
    fn is_address(&self, expression: &Expression) -> bool {
        match expression {
            Expression::Variable(variable) => self.is_pointer(*variable),
            Expression::Offset { .. }
            | Expression::NullPointer(_)
            | Expression::Bytes(_)
            | Expression::Data(..) => true,
            Expression::Select { then, .. } => deep(|| self.is_address(then)),
            Expression::Constant(_)
            | Expression::Scalar { .. }
            | Expression::Load { .. }
            | Expression::NullBlock
            | Expression::NodeTag { .. } => false,
        }
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
