//! The result of an entry that its function makes in place, as an array of structures.

use crate::context::expressions::context;
use crate::context::unit::Unit;
use nova_c_ast::ast::{Expression, Name, Type};
use nova_core::Type as CoreType;
use nova_flat::representation::{Field, components, input_fields, result_fields};
use nova_loop::ir;
use nova_loop::walk::each_command;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The way in which an entry makes its result in place.
#[derive(Clone)]
pub struct Making {
    /// The type of the elements in C.
    pub element: Type,
    /// For each component, its field in the elements.
    pub fields: Vec<Option<Field>>,
    /// The conditions for making it in the caller's buffer at once.
    pub at_once: AtOnce,
    /// The variable that points to the elements, once they are allocated.
    pub data: Option<Name>,
}

/// Conditions for writing a result into the caller's buffer at once. After the first write no error of
/// the program may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtOnce {
    /// Something may fail after the allocation.
    No,
    /// Nothing can fail after the allocation, and the host writes the result.
    ByHost,
    /// Nothing can fail after the allocation, and kernels write the result: into a buffer on the
    /// device.
    ByKernels,
}

impl AtOnce {
    /// Finds the way in which commands write their result.
    fn of(unit: &Unit, commands: &[ir::Command]) -> AtOnce {
        let mut launches = false;
        each_command(commands, |command| {
            launches |= matches!(command, ir::Command::For { level, .. } if level.starts_kernel());
        });
        match (unit.may_fail(commands), launches && unit.has_kernels) {
            (true, _) => AtOnce::No,
            (false, true) => AtOnce::ByKernels,
            (false, false) => AtOnce::ByHost,
        }
    }

    /// Returns the condition in C.
    pub fn condition(self) -> Expression {
        match self {
            AtOnce::No => Expression::name("false"),
            AtOnce::ByHost => Expression::name("true"),
            AtOnce::ByKernels => Expression::call("nova_may_fill", vec![context()]),
        }
    }
}

/// For the function of an entry, the pointers to fields of structures that lie at a fixed distance from
/// another pointer: the field, the other pointer, the distance in elements.
pub fn field_offsets(
    program: &ir::Program,
    id: ir::FunctionId,
) -> Vec<(ir::Variable, ir::Variable, usize)> {
    let mut offsets = Vec::new();
    let entry = program.entries.iter().find(|e| e.function == id);
    let (Some(entry), Some(function)) = (entry, program.functions.get(id.index())) else {
        return offsets;
    };
    let mut parameters = function.parameters.iter();
    for (_, ty) in &entry.inputs {
        // The first field with each type of elements.
        let mut first: BTreeMap<&'static str, (ir::Variable, usize)> = BTreeMap::new();
        let components = components(ty, &program.sums);
        for (component, field) in components.iter().zip(input_fields(ty, &program.sums)) {
            let parameter = parameters.next();
            if !component.shape.is_empty() {
                parameters.next();
            }
            if let (Some(parameter), Some(field)) = (parameter, field) {
                let own = (*parameter, field.offset);
                match first.entry(component.scalar.info().name) {
                    Entry::Vacant(place) => {
                        place.insert(own);
                    }
                    Entry::Occupied(place) => {
                        let (other, offset) = *place.get();
                        offsets.push((*parameter, other, field.offset - offset));
                    }
                }
            }
        }
    }
    offsets
}

/// Returns the way in which a function makes the result of its entry in place; `None` if it does not.
pub fn making(unit: &mut Unit, function: ir::FunctionId) -> Option<Making> {
    let program = unit.program;
    let body = &program.functions.get(function.index())?.body;
    let is_made = |command: &ir::Command| {
        matches!(
            command,
            ir::Command::Allocate {
                destination: Some(_),
                ..
            }
        )
    };
    let first = body.iter().position(is_made)?;
    let entry = program.entries.iter().find(|e| e.function == function)?;
    let (CoreType::Vector(element) | CoreType::Array(_, element)) = &entry.result else {
        return None;
    };
    let rest = body.get(first + 1..).unwrap_or_default();
    Some(Making {
        element: unit.types.value(element, &[])?,
        fields: result_fields(&entry.result, &program.sums),
        at_once: AtOnce::of(unit, rest),
        data: None,
    })
}
