//! The functions for applications that keep their data on the device: `prog_device` takes and fills
//! arrays there. It gives each array a name in host memory and runs the body of the entry
//! (`device/callers.h`).

use crate::context::making::making;
use crate::context::unit::Unit;
use crate::context::writer::Writer;
use crate::ffi::interface::{EntryInterface, EntryNames, call_body};
use crate::ffi::source::{Source, checked_count};
use crate::ffi::top::{Form, checked_offsets};
use crate::syntax::{
    context, context_parameter, int64, literal, null, parameter, procedure, product, truth,
};
use nova_c_ast::ast::{
    Binary, Expression, Field, Function, Item, Name, Parameter, Statement, Type,
};
use nova_core::{SumType, Type as CoreType};
use nova_flat::representation::input_fields;
use nova_loop::ir;

/// True if an entry has such a function. It has one where there are kernels and every array of its
/// arguments and results lies in memory by itself, not inside of a structure.
pub fn is_offered(unit: &Unit, interface: &EntryInterface) -> bool {
    let fits = |form: &Form, ty: &CoreType| match form {
        Form::Nothing => true,
        Form::Value(_) => !unit.types.allocates(ty),
        Form::Nested { element, .. } | Form::Array { element, .. } => {
            !unit.types.allocates(element)
        }
    };
    let inputs = &interface.inputs;
    unit.has_kernels
        && fits(&interface.result_form, &interface.result)
        && inputs.iter().all(|input| fits(&input.form, &input.ty))
}

/// `int prog_device(…, void *stream)`, without a body.
pub fn device_function(unit: &Unit, interface: &EntryInterface) -> Function {
    let mut parameters = device_parameters(unit, interface);
    parameters.push(parameter(Type::name("void").pointer(), stream(&parameters)));
    Function {
        prefix: Vec::new(),
        result: Type::name("int"),
        name: interface.device.clone(),
        parameters,
        body: None,
    }
}

/// Returns the comment on the function in the header.
pub fn device_remark(unit: &Unit) -> String {
    let (stream, free) = (unit.options.dialect.stream, unit.options.dialect.free);
    format!(
        "The same for arrays on the device; it works behind what is in the stream, which is\n\
         {stream}. Sizes, and what is no array, stay on the\n\
         host. Results that are allocated on the device are freed with {free}."
    )
}

/// Returns a name for the last parameter that no other parameter has.
fn stream(others: &[Parameter]) -> Name {
    let mut name = String::from("stream");
    while others.iter().any(|p| *p.name == *name) {
        name.push('_');
    }
    name.into()
}

/// Returns the parameters of the entry, where arrays have the types of device memory.
fn device_parameters(unit: &Unit, interface: &EntryInterface) -> Vec<Parameter> {
    let memory = |ty: &Type| match unit.options.dialect.memory {
        Some(structure) => Type::Struct(structure.into()).pointer(),
        None => ty.clone(),
    };
    let mut parameters = interface.parameters();
    for (k, parameter) in parameters.iter_mut().enumerate() {
        let is_result = k < interface.results.len();
        match (&parameter.ty, is_result) {
            (Type::Pointer(inner), true) if matches!(**inner, Type::Pointer(_)) => {
                parameter.ty = memory(inner).pointer();
            }
            (Type::Pointer(_), false) => parameter.ty = memory(&parameter.ty),
            (_of_the_host, _) => {}
        }
    }
    parameters
}

/// Emits a call with arrays on the device: the structure of its parameters, the function that runs in a
/// context, and the function that hosts call.
pub fn emit_device_entry(
    unit: &mut Unit,
    entry: &ir::Entry,
    interface: &EntryInterface,
    names: &EntryNames,
) -> (Vec<Item>, Vec<Function>) {
    let parameters = device_parameters(unit, interface);
    let own = EntryNames {
        call: unit
            .names
            .fresh(&format!("{}_device_call", interface.symbol), None),
        message: names.message.clone(),
        run: unit
            .names
            .fresh(&format!("{}_device_run", interface.symbol), None),
    };
    let mut items = Vec::new();
    if !parameters.is_empty() {
        items.push(Item::Struct {
            name: own.call.clone(),
            fields: parameters
                .iter()
                .map(|p| Field::Plain(p.ty.clone(), p.name.clone()))
                .collect(),
            typedef: false,
        });
        items.push(Item::Blank);
    }
    let host_writes = is_written_on_host(unit, entry, interface);
    let run = run_function(unit, interface, (names, &own), host_writes);
    let function = device_function(unit, interface);
    let stream = function.parameters.last().map(|p| p.name.clone());
    let body = call_body(unit, entry, &parameters, &own, stream);
    let function = Function {
        body: Some(body.into()),
        ..function
    };
    (items, vec![run, function])
}

/// Defines `static void prog_device_run(nova_context *context, void *argument)`: it names the arrays,
/// runs the entry, and transfers the results to the caller.
fn run_function(
    unit: &mut Unit,
    interface: &EntryInterface,
    (names, own): (&EntryNames, &EntryNames),
    host_writes: bool,
) -> Function {
    let device = device_parameters(unit, interface);
    let code = &mut Writer::new(unit);
    code.fresh("argument");
    let mut inner = null();
    let mut results = Vec::new();
    if !device.is_empty() {
        let ty = Type::Struct(own.call.clone()).pointer();
        let argument = Expression::name("argument").cast(ty.clone());
        let outer = code.variable(ty, "outer", argument);
        let field = |name: &Name| outer.clone().arrow(name.clone());
        let named = (&*device, host_writes);
        let mut values = name_results(code, interface, named, &field, &mut results);
        for input in &interface.inputs {
            let fields = input.parameters.iter().map(|p| field(&p.name)).collect();
            values.extend(name_input(code, input, fields));
        }
        let ty = Type::Struct(names.call.clone());
        inner = code
            .variable(ty, "call", Expression::Braces(values))
            .address();
    }
    code.push(Statement::call(&*names.run, vec![context(), inner]));
    for result in &results {
        let size = Expression::SizeOf(result.element.clone());
        let arguments = vec![context(), result.name.clone(), result.count.clone(), size];
        code.push(Statement::call("nova_settle_result", arguments));
    }
    for Named {
        name, given, ty, ..
    } in results
    {
        let arguments = vec![context(), name, given.clone()];
        let returned = Expression::call("nova_hand_over", arguments).cast(ty);
        code.push(Statement::assign(given, returned));
    }
    procedure(
        own.run.clone(),
        vec![
            context_parameter(),
            parameter(Type::name("void").pointer(), "argument"),
        ],
        code.take(),
    )
}

/// An array of the result.
struct Named {
    /// The variable that holds its name.
    name: Expression,
    /// The caller's pointer, and its type.
    given: Expression,
    ty: Type,
    element: Type,
    /// The number of its elements after the call; 0 where it cannot have a buffer.
    count: Expression,
}

/// Names the buffers for results. Returns the values of the call's fields for results.
fn name_results(
    code: &mut Writer,
    interface: &EntryInterface,
    (device, host_writes): (&[Parameter], bool),
    field: &dyn Fn(&Name) -> Expression,
    results: &mut Vec<Named>,
) -> Vec<Expression> {
    let parameters = &interface.results;
    for parameter in parameters {
        let name = Expression::text(&*parameter.name);
        let check = vec![context(), name, field(&parameter.name)];
        code.push(Statement::call("nova_check_result", check));
    }
    let is_array = |p: &Parameter| matches!(&p.ty, Type::Pointer(inner) if matches!(**inner, Type::Pointer(_)));
    let sizes: Vec<Expression> = parameters
        .iter()
        .filter(|p| !is_array(p))
        .map(|p| field(&p.name).dereference())
        .collect();
    let is_nested = matches!(&interface.result_form, Form::Nested { levels, .. } if *levels > 1);
    let mut values = Vec::new();
    for (parameter, on_device) in parameters.iter().zip(device) {
        let pointer = field(&parameter.name);
        let (true, Type::Pointer(data), Type::Pointer(memory)) =
            (is_array(parameter), &parameter.ty, &on_device.ty)
        else {
            values.push(pointer);
            continue;
        };
        let given = pointer.dereference();
        let none = literal(0);
        let (capacity, count) = match is_nested {
            // A nested result has no buffer.
            true => (none.clone(), none),
            false => (capacity(code, &given, &sizes), product(sizes.clone())),
        };
        let element = match &**data {
            Type::Pointer(element) => (**element).clone(),
            other => other.clone(),
        };
        let arguments = vec![
            context(),
            given.clone(),
            capacity,
            Expression::SizeOf(element.clone()),
            truth(host_writes),
        ];
        let room = Expression::call("nova_room_on_device", arguments);
        let name = code.variable(
            (**data).clone(),
            &parameter.name,
            room.cast((**data).clone()),
        );
        values.push(name.clone().address());
        results.push(Named {
            name,
            given,
            ty: (**memory).clone(),
            element,
            count,
        });
    }
    values
}

/// Returns the number of elements that a buffer has room for, if there is one.
fn capacity(code: &mut Writer, given: &Expression, sizes: &[Expression]) -> Expression {
    if let [size] = sizes {
        return size.clone();
    }
    let capacity = code.variable(int64(), "capacity", literal(0));
    let source = Source::argument("result");
    let (mut inside, count) = code.apart(|code| checked_count(code, sizes, &source));
    inside.push(Statement::assign(capacity.clone(), count));
    let has_buffer = Expression::binary(Binary::NotEqual, given.clone(), null());
    code.push(Statement::when(has_buffer, inside));
    capacity
}

/// Names the arrays of an input. Returns the values of the call's fields for it.
fn name_input(
    code: &mut Writer,
    input: &crate::ffi::interface::InputInterface,
    mut fields: Vec<Expression>,
) -> Vec<Expression> {
    let pairs = input.parameters.iter().zip(&mut fields);
    let (mut sizes, mut arrays) = (Vec::new(), Vec::new());
    for (parameter, value) in pairs {
        match parameter.ty {
            Type::Pointer(_) => arrays.push((parameter, value)),
            _ => sizes.push(value.clone()),
        }
    }
    let (levels, element) = match &input.form {
        Form::Nothing | Form::Value(_) => return fields,
        Form::Nested {
            levels, element, ..
        } => (*levels, element),
        Form::Array { element, .. } => (1, element),
    };
    let sums = &code.program().sums;
    let source = Source {
        on_device: true,
        ..Source::argument(&input.c_name)
    };
    let mut count = checked_count(code, &sizes, &source);
    for (k, (parameter, value)) in arrays.into_iter().enumerate() {
        let is_offsets = k + 1 < levels;
        let element_type = match &parameter.ty {
            Type::Pointer(pointed) => match &**pointed {
                Type::Const(element) => (**element).clone(),
                other => other.clone(),
            },
            other => other.clone(),
        };
        let lent = match is_offsets {
            true => {
                let arguments = vec![value.clone(), count.clone()];
                Expression::call("nova_offset_count", arguments)
            }
            false => count.clone(),
        };
        let reads = !is_offsets && !is_read_in_place(&input.ty, element, sums);
        let arguments = vec![
            context(),
            source.name.clone(),
            value.clone(),
            lent,
            Expression::SizeOf(element_type),
            truth(reads),
        ];
        let call = Expression::call("nova_lend_on_device", arguments);
        let name = code.variable(
            parameter.ty.clone(),
            &parameter.name,
            call.cast(parameter.ty.clone()),
        );
        *value = name.clone();
        if is_offsets {
            count = checked_offsets(code, k + 1, name, count, &source);
        }
    }
    fields
}

/// True if kernels read the elements of an input where they lie: scalars, and structures of scalars.
/// The host takes others apart.
fn is_read_in_place(ty: &CoreType, element: &CoreType, sums: &[SumType]) -> bool {
    is_scalar(element) || input_fields(ty, sums).iter().any(Option::is_some)
}

/// True if the host assembles the elements of a result: structures that are not made in place.
fn is_written_on_host(unit: &mut Unit, entry: &ir::Entry, interface: &EntryInterface) -> bool {
    match &interface.result_form {
        Form::Nested { element, .. } | Form::Array { element, .. } => {
            !is_scalar(element) && making(unit, entry.function).is_none()
        }
        Form::Nothing | Form::Value(_) => false,
    }
}

/// True if elements are scalars.
fn is_scalar(element: &CoreType) -> bool {
    matches!(element, CoreType::Scalar(_))
}
