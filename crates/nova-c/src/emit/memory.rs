//! Emits commands of Loop that allocate memory, and stores of single elements.

use crate::context::function::Emitter;
use crate::context::making::Making;
use crate::emit::accesses::{read_variable, trace_assigned, traced_target};
use crate::emit::bulk::bulk;
use crate::emit::contend::contend;
use crate::emit::exits::leave_if_failed;
use crate::emit::expression::{assigned, plain};
use crate::emit::races::bulk::{trace_bulk, trace_made_result_buffers, trace_result_buffers};
use crate::emit::races::trace_new;
use crate::emit::result_buffers::result_buffers;
use crate::emit::runtime_calls::runtime_call;
use crate::emit::variables::{assign, declare_unset};
use crate::scalar::memory_type;
use crate::syntax::{context, null, offset, truth};
use nova_c_ast::ast::{Binary, Expression, Name, Statement, Type};
use nova_core::Scalar;
use nova_diag::Place;
use nova_loop::ir::{
    self, Command, HostAccess, Variable, bulk_commands, calls, errors, jumps, remarks, structures,
    variable_commands,
};
use nova_loop::result_buffer_commands;

/// Emits a command on memory.
pub(crate) fn memory(code: &mut Emitter, command: &Command) {
    match command {
        Command::Store {
            pointer,
            index,
            value,
        } => store(code, *pointer, index, value),
        Command::Contend {
            pointer,
            index,
            value,
            stays,
        } => contend(code, *pointer, index, value, *stays),
        Command::Allocate {
            block,
            pointer,
            element,
            count,
            destination: None,
            place,
        } => {
            let made = (*block, *pointer, *element);
            allocate(code, ("nova_allocate", Vec::new()), made, count, place);
        }
        Command::Allocate {
            block,
            pointer,
            element,
            count,
            destination: Some(ir::Destination { component, .. }),
            place,
        } => {
            make_result(code, *pointer, *element, count, *component, place);
            assign(code, *block, null());
        }
        Command::Reserve {
            block,
            pointer,
            element,
            used,
            count,
            place,
        } => {
            let made = (*block, *pointer, *element);
            let used = vec![assigned(code, used)];
            allocate(code, ("nova_reserve", used), made, count, place);
        }
        Command::Unique {
            block,
            pointer,
            element,
            count,
            place,
        } => {
            let made = (*block, *pointer, *element);
            let elements = vec![code.named(*pointer)];
            allocate(code, ("nova_unique", elements), made, count, place);
        }
        bulk_commands!() => {
            trace_bulk(code, command);
            bulk(code, command);
        }
        result_buffer_commands!() => {
            trace_result_buffers(code, command);
            result_buffers(code, command);
            trace_made_result_buffers(code, command);
        }
        Command::Retain(_) => {
            let function = runtime(code, "nova_retain");
            runtime_call(code, &function, Vec::new(), command);
        }
        Command::Release(_) => {
            let function = runtime(code, "nova_release");
            runtime_call(code, &function, vec![context()], command);
        }
        // `command` passes no other commands to this function.
        variable_commands!() | structures!() | jumps!() | errors!() | calls!() | remarks!() => {}
    }
}

/// Emits a store to an element that no other iteration writes.
fn store(code: &mut Emitter, pointer: Variable, index: &ir::Expression, value: &ir::Expression) {
    let array = read_variable(code, pointer);
    let index = plain(code, index);
    let value = assigned(code, value);
    let target = traced_target(code, pointer, array.index(index));
    code.push(Statement::assign(target, value));
}

/// Emits a command that gives a block memory of its own: new memory, more of it, or a copy if others hold
/// the block too. The call has `more` arguments before the number of elements.
fn allocate(
    code: &mut Emitter,
    (function, more): (&str, Vec<Expression>),
    (block, pointer, element): (Variable, Variable, Scalar),
    count: &ir::Expression,
    place: &Place,
) {
    let mut arguments = vec![context(), code.named(block).address()];
    arguments.extend(more);
    arguments.push(assigned(code, count));
    arguments.push(Expression::SizeOf(memory_type(element)));
    if !code.is_on_device() {
        arguments.push(Expression::text(place.to_string()));
    }
    let data = Expression::call(runtime(code, function), arguments);
    let data = match function {
        "nova_allocate" => fresh_memory(code, data),
        _has_elements => data,
    };
    let ty = code.type_of_variable(pointer);
    trace_assigned(code, &[block]);
    assign(code, pointer, data.cast(ty));
    trace_new(code, pointer, element, count);
    leave_if_failed(code);
}

/// Returns the name of a function of the runtime on the platform for which the code is emitted.
pub(crate) fn runtime(code: &Emitter, name: &str) -> Name {
    match code.is_on_device() {
        true => format!("{name}_on_device").into(),
        false => name.into(),
    }
}

/// Marks new memory as not written yet, where the runtime of a device must know.
fn fresh_memory(code: &Emitter, data: Expression) -> Expression {
    match code.unit.has_kernels && !code.is_on_device() {
        true => Expression::call("nova_fresh", vec![context(), data]),
        false => data,
    }
}

/// Allocates the memory of a component of the result: a field of its elements.
fn make_result(
    code: &mut Emitter,
    pointer: Variable,
    element: Scalar,
    count: &ir::Expression,
    component: u32,
    place: &Place,
) {
    let Some(making) = code.making.clone() else {
        return;
    };
    let arguments = vec![
        context(),
        assigned(code, count),
        Expression::SizeOf(making.element.clone()),
        (making.at_once).condition(|condition| plain(code, condition)),
        Expression::text(place.to_string()),
    ];
    let elements = memory_type(element).pointer();
    let made = fresh_memory(code, Expression::call("nova_make_result", arguments));
    let data = || made;
    let Some(field) = making.fields.get(component as usize).copied().flatten() else {
        return assign(code, pointer, data().cast(elements));
    };
    // All fields are addressed through one pointer, so that C compilers know their distances.
    let name = making.data.clone().unwrap_or_else(|| {
        let name = code.fresh("result");
        let ty = making.element.clone().pointer();
        code.push(Statement::declare(
            ty.clone(),
            name.clone(),
            data().cast(ty),
        ));
        name
    });
    let start = Expression::Name(name.clone()).cast(elements);
    assign(code, pointer, offset(start, field.offset));
    code.fields.note_made(element, pointer, field.offset);
    code.making = Some(Making {
        data: Some(name),
        ..making
    });
}

/// Brings an array, or an element of it, to the host. Does nothing without a device.
pub(crate) fn on_host(code: &mut Emitter, pointer: Variable, access: &HostAccess) {
    if code.is_on_device() || !code.unit.has_kernels {
        return;
    }
    let mut arguments = vec![context(), code.named(pointer)];
    let function = match access {
        HostAccess::Reads | HostAccess::Writes => {
            let writes = *access == HostAccess::Writes;
            arguments.push(truth(writes));
            "nova_on_host"
        }
        HostAccess::ReadsElement(index) | HostAccess::WroteElement(index) => {
            let size = match code.program().variable(pointer).ty {
                ir::Type::Pointer(element) => Expression::SizeOf(memory_type(element)),
                ir::Type::Scalar(_) | ir::Type::Block => return,
            };
            arguments.extend([plain(code, index), size]);
            match matches!(access, HostAccess::ReadsElement(_)) {
                true => "nova_element_on_host",
                false => "nova_element_written",
            }
        }
    };
    code.push(Statement::call(function, arguments));
}

/// Declares a pointer to the first of several places for an array that does not overlap other
/// arrays.
pub(crate) fn spare(
    code: &mut Emitter,
    pointer: Variable,
    places: &ir::Expression,
    count: &ir::Expression,
    apart: &[ir::Expression],
) {
    code.declare(pointer);
    declare_unset(code, pointer);
    let first = assigned(code, places);
    assign(code, pointer, first);
    let address = |place: Expression| place.cast(Type::name("uintptr_t"));
    let place = code.named(pointer);
    let size = Expression::SizeOf(memory_type(code.element_of(pointer)));
    for _ in apart {
        let mut is_taken: Option<Expression> = None;
        for other in apart {
            let other = address(assigned(code, other));
            let distance = Expression::binary(Binary::Subtract, other, address(place.clone()));
            let count = address(assigned(code, count));
            let bytes = Expression::binary(Binary::Multiply, count, size.clone());
            let leads_there = Expression::binary(Binary::Less, distance, bytes);
            is_taken = Some(match is_taken {
                Some(others) => Expression::binary(Binary::Or, others, leads_there),
                None => leads_there,
            });
        }
        let next = Expression::binary(Binary::Add, place.clone(), assigned(code, count));
        let next = Statement::assign(place.clone(), next);
        let when = is_taken.map(|is_taken| Statement::when(is_taken, vec![next]));
        when.into_iter().for_each(|when| code.push(when));
    }
}
