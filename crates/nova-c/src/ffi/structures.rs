//! What an entry leaves where its caller has it, or puts where he wants it: fields of structures that
//! are read in place, and a result that is made in place.

use super::entry::EntryInterface;
use super::input::Source;
use super::{int64, null};
use crate::ast::{Binary, Expression, Name, Parameter, Statement, Type};
use crate::command::context;
use crate::function::FunctionEmitter;
use crate::unit::Unit;
use nova_core::Type as CoreType;
use nova_flat::representation::{Field, components, input_fields, result_fields};
use nova_loop::ir;
use nova_loop::walk::each_command;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// How an entry makes its result in place.
#[derive(Clone)]
pub struct Making {
    /// The type of the elements in C.
    pub element: Type,
    /// For each component, where it lies in them.
    pub fields: Vec<Option<Field>>,
    /// True if it goes into the caller's buffer at once.
    pub at_once: AtOnce,
    /// The variable that points to the elements, once they have memory.
    pub data: Option<Name>,
}

/// The way of a result into the caller's buffer. Once it is written to, no error of the program may
/// follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtOnce {
    /// Something may fail once the memory is there.
    No,
    /// Nothing can, and the host writes it.
    ByHost,
    /// Nothing can, and kernels write it: into a buffer on the device.
    ByKernels,
}

impl AtOnce {
    /// The way in which commands write their result.
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

    /// The condition in C.
    pub fn condition(self) -> Expression {
        match self {
            AtOnce::No => Expression::name("false"),
            AtOnce::ByHost => Expression::name("true"),
            AtOnce::ByKernels => Expression::call("nova_may_fill", vec![context()]),
        }
    }
}

/// For the function of an entry, the pointers to fields of structures that lie a number of elements
/// behind another one: field, the other, distance.
pub fn fields_behind(
    program: &ir::Program,
    id: ir::FunctionId,
) -> Vec<(ir::Variable, ir::Variable, usize)> {
    let mut behind = Vec::new();
    let entry = program.entries.iter().find(|e| e.function == id);
    let (Some(entry), Some(function)) = (entry, program.functions.get(id.index())) else {
        return behind;
    };
    let mut parameters = function.parameters.iter();
    for (_, ty) in &entry.inputs {
        // The first field of each type of elements.
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
                        behind.push((*parameter, other, field.offset - offset));
                    }
                }
            }
        }
    }
    behind
}

/// How a function makes the result of its entry in place, if it does.
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

impl FunctionEmitter<'_, '_> {
    /// Says where a result that is made in place may go.
    pub fn open_result(
        &mut self,
        interface: &EntryInterface,
        making: &Making,
        field: &dyn Fn(&Parameter) -> Expression,
    ) {
        let Some((data, sizes)) = interface.results.split_last() else {
            return;
        };
        let sizes: Vec<Expression> = sizes.iter().map(|p| field(p).dereference()).collect();
        let buffer = field(data).dereference();
        let capacity = match &*sizes {
            [size] => size.clone(),
            // Sizes are those of a buffer only if there is one.
            sizes => {
                let zero = Expression::literal("0");
                let capacity = self.variable(int64(), "capacity", zero);
                let source = Source::argument("result");
                let (mut inside, count) = self.apart(|this| this.checked_count(sizes, &source));
                inside.push(Statement::assign(capacity.clone(), count));
                let given = Expression::binary(Binary::NotEqual, buffer.clone(), null());
                self.push(Statement::when(given, inside));
                capacity
            }
        };
        if let Some(scalar_field) = making.fields.iter().flatten().next() {
            let component = making.fields.iter().position(|f| f.is_some());
            let bytes = self.field_bytes(&interface.result, component);
            self.check_size(&making.element, scalar_field.stride * bytes);
        }
        let result = self.unset(Type::name("nova_result"), "result");
        let arguments = vec![
            context(),
            result.address(),
            buffer,
            capacity,
            Expression::SizeOf(making.element.clone()),
        ];
        self.push(Statement::call("nova_open_result", arguments));
    }

    /// The size of a component's elements.
    fn field_bytes(&self, ty: &CoreType, component: Option<usize>) -> usize {
        let components = self.components(ty);
        let component = component.and_then(|k| components.get(k));
        component.map_or(1, |c| usize::from(c.scalar.info().bytes))
    }
}
