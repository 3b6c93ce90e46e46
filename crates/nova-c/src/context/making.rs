//! The result of an entry that its function makes in place, as an array of structures.

use crate::context::unit::Unit;
use crate::syntax::context;
use nova_c_ast::ast::{Expression, Name, Type, not};
use nova_core::Type as CoreType;
use nova_flat::representation::{Field, components, input_fields, result_fields};
use nova_loop::first_writes::{Writing, is_made};
use nova_loop::ir;
use nova_loop::walk::each_command;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

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
#[derive(Clone)]
pub enum AtOnce {
    /// Something may fail after the first write.
    No,
    /// Nothing can fail after the first write where this condition holds, or does not.
    Where(ir::Expression, bool),
    /// Nothing can fail after the first write, and the host writes the result.
    ByHost,
    /// Nothing can fail after the first write, and kernels write the result: into a buffer on the
    /// device.
    ByKernels,
}

impl AtOnce {
    /// Finds the way in which commands write their result, whose memory these pointers name.
    fn of(unit: &Unit, commands: &[ir::Command], result: &BTreeSet<ir::Variable>) -> AtOnce {
        let mut launches = false;
        each_command(commands, |command| {
            launches |= matches!(command, ir::Command::For { level, .. } if level.starts_kernel());
        });
        let may_fail = |commands: &[ir::Command]| unit.may_fail(commands);
        let writing = Writing {
            may_fail: &may_fail,
            result,
        };
        let fails = writing.may_fail_after(commands, &mut false);
        match (fails, launches && unit.has_kernels) {
            (true, true) => AtOnce::No,
            (true, false) => match writing.safe_case(commands) {
                Some((condition, holds)) => AtOnce::Where(condition, holds),
                None => AtOnce::No,
            },
            (false, true) => AtOnce::ByKernels,
            (false, false) => AtOnce::ByHost,
        }
    }

    /// Returns the condition in C.
    pub fn condition(&self, plain: impl FnOnce(&ir::Expression) -> Expression) -> Expression {
        match self {
            AtOnce::Where(condition, true) => plain(condition),
            AtOnce::Where(condition, false) => not(plain(condition)),
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
    let first = body.iter().position(is_made)?;
    let entry = program.entries.iter().find(|e| e.function == function)?;
    let (CoreType::Vector(element) | CoreType::Array(_, element)) = &entry.result else {
        return None;
    };
    let rest = body.get(first..).unwrap_or_default();
    let mut result = BTreeSet::new();
    each_command(rest, |command| {
        if let ir::Command::Allocate { pointer, .. } = command
            && is_made(command)
        {
            result.insert(*pointer);
        }
    });
    Some(Making {
        element: unit.types.value(element, &[])?,
        fields: result_fields(&entry.result, &program.sums),
        at_once: AtOnce::of(unit, rest, &result),
        data: None,
    })
}
