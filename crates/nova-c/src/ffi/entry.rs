//! The entries. A host calls one function. A second function runs in its context: it reads the
//! arguments, calls the function of Loop, and writes the results once nothing can fail any more.

use crate::context::function::returned;
use crate::context::making::making;
use crate::context::unit::Unit;
use crate::context::writer::Writer;
use crate::emit::nodes::{share_tables, start_function};
use crate::ffi::callers::{emit_device_entry, is_offered};
use crate::ffi::interface::{EntryInterface, EntryNames, call_body};
use crate::ffi::nested::write_nested;
use crate::ffi::output::{Purpose, result_parts};
use crate::ffi::parts::Part;
use crate::ffi::release;
use crate::ffi::source::{Source, checked_count};
use crate::ffi::structures::open_result;
use crate::ffi::top::{Form, read_top, write_flat, write_single};
use crate::syntax::{
    context, context_parameter, int64, literal, null, parameter, procedure, product,
};
use nova_c_ast::ast::{Binary, Expression, Field, Function, Item, Parameter, Statement, Type};
use nova_core::{SumId, Type as CoreType};
use nova_loop::call_graph::called;
use nova_loop::ir::{self, Command, FunctionId};
use nova_loop::walk::each_command;
use std::collections::BTreeSet;

/// Emits the items and functions of an entry, in order: the structure of a call, the message, the
/// function that runs in a context, then the functions that hosts call.
pub fn emit_entry(
    unit: &mut Unit,
    entry: &ir::Entry,
    interface: &EntryInterface,
) -> (Vec<Item>, Vec<Function>) {
    let names = EntryNames::new(unit, interface);
    let mut items = call_items(interface, &names);
    let run = run_function(unit, entry, interface, &names);
    let body = call_body(unit, entry, &interface.parameters(), &names, None);
    let entry_function = Function {
        body: Some(body.into()),
        ..interface.function()
    };
    let mut functions = vec![run, entry_function];
    if is_offered(unit, interface) {
        let (own, for_callers) = emit_device_entry(unit, entry, interface, &names);
        items.extend(own);
        functions.extend(for_callers);
    }
    if release::is_offered(unit, interface) {
        functions.push(release::define(unit, interface));
    }
    let message = Statement::Return(Some(Expression::Name(names.message)));
    functions.push(Function {
        body: Some(vec![message].into()),
        ..interface.error_function()
    });
    (items, functions)
}

/// Returns the structure of a call, if it has parameters, and the variable for the message.
fn call_items(interface: &EntryInterface, names: &EntryNames) -> Vec<Item> {
    let parameters = interface.parameters();
    let mut items = Vec::new();
    if !parameters.is_empty() {
        let symbol = &interface.symbol;
        let comment = format!("The parameters of a call of {symbol}.");
        items.push(Item::Comment(comment));
        items.push(Item::Struct {
            name: names.call.clone(),
            fields: parameters
                .into_iter()
                .map(|p| Field::Plain(p.ty, p.name))
                .collect(),
            typedef: false,
        });
        items.push(Item::Blank);
    }
    items.push(Item::Variable {
        prefix: vec!["static".into(), "NOVA_THREAD_LOCAL".into()],
        ty: Type::name("char"),
        name: format!("{}[NOVA_MESSAGE_SIZE]", names.message).into(),
        value: None,
    });
    items.push(Item::Blank);
    items
}

/// Defines `static void prog_run(nova_context *context, void *argument)`.
fn run_function(
    unit: &mut Unit,
    entry: &ir::Entry,
    interface: &EntryInterface,
    names: &EntryNames,
) -> Function {
    let code = &mut Writer::new(unit);
    code.fresh("argument");
    let call_type = Type::Struct(names.call.clone()).pointer();
    let argument = Expression::name("argument").cast(call_type.clone());
    let call = if interface.parameters().is_empty() {
        null()
    } else {
        code.variable(call_type, "call", argument)
    };
    let field = |parameter: &Parameter| call.clone().arrow(parameter.name.clone());
    check_results(code, interface, &field);
    let mut arguments = Vec::new();
    let on_device = is_offered(code.unit, interface);
    // This happens before recursive data is read.
    let making = making(code.unit, entry.function);
    let (read, ()) = code.apart(|code| {
        if let Some(making) = &making {
            open_result(code, interface, making, &field);
        }
        for input in &interface.inputs {
            let values: Vec<Expression> = input.parameters.iter().map(field).collect();
            let source = Source {
                on_device,
                result: making.as_ref().map(|m| m.element.clone()),
                ..Source::argument(&input.c_name)
            };
            let mut parts = Vec::new();
            read_top(code, &input.ty, &input.form, &values, &source, &mut parts);
            arguments.extend(parts.into_iter().flat_map(Part::expressions));
        }
    });
    let (rest, ()) = code.apart(|code| {
        let parts = call_entry(code, entry, interface, arguments, making.is_some());
        write_results(code, interface, &parts, making.is_some(), &field);
    });
    if code.unit.uses_tables() {
        let tables = code.unset(Type::Struct("nova_tables".into()), "tables");
        let clear = vec![
            tables.clone().address(),
            literal(0),
            Expression::SizeOf(Type::Struct("nova_tables".into())),
        ];
        code.push(Statement::call("memset", clear));
        let place = context().arrow("tables");
        code.push(Statement::assign(place, tables.address()));
        share_tables(code);
        for sum in sums_with_constants(code.unit, entry.function) {
            let start = start_function(code.unit, sum);
            code.push(Statement::call(start, vec![context()]));
        }
    }
    for statement in read.into_iter().chain(rest) {
        code.push(statement);
    }
    let mut body = code.take();
    if code.unit.traces() {
        body.insert(0, Statement::call("nova_race_begin", vec![context()]));
    }
    procedure(
        names.run.clone(),
        vec![
            context_parameter(),
            parameter(Type::name("void").pointer(), "argument"),
        ],
        body,
    )
}

/// Checks the pointers for results, before anything is computed.
fn check_results(
    code: &mut Writer,
    interface: &EntryInterface,
    field: &dyn Fn(&Parameter) -> Expression,
) {
    for parameter in &interface.results {
        let name = Expression::text(&*parameter.name);
        let check = vec![context(), name, field(parameter)];
        code.push(Statement::call("nova_check_result", check));
    }
    let Form::Nested { levels, .. } = &interface.result_form else {
        return;
    };
    if *levels > 1 {
        for parameter in interface.results.iter().skip(1) {
            let name = Expression::text(&*parameter.name);
            let buffer = field(parameter).dereference();
            let check = vec![context(), name, buffer];
            code.push(Statement::call("nova_check_no_buffer", check));
        }
    }
}

/// Calls the function of Loop. Returns the components of its result.
fn call_entry(
    code: &mut Writer,
    entry: &ir::Entry,
    interface: &EntryInterface,
    arguments: Vec<Expression>,
    in_place: bool,
) -> Vec<Part> {
    let program = code.program();
    let function = &program.functions[entry.function.0 as usize];
    let info = code.unit.functions[entry.function.0 as usize].clone();
    let mut all = Vec::new();
    if info.context {
        all.push(context());
    }
    all.extend(arguments);
    if let Some((_, scalar)) = returned(program, function) {
        let value = Expression::call(info.name, all);
        let ty = crate::scalar::variable_type(scalar);
        let value = code.variable(ty, "value", value);
        end_kernels(code, &interface.result_form, &[], in_place);
        return vec![Part::Scalar(value)];
    }
    let parts = result_parts(code, &entry.result, "value");
    for part in parts.iter().cloned().flat_map(Part::expressions) {
        all.push(part.address());
    }
    code.push(Statement::call(info.name, all));
    end_kernels(code, &interface.result_form, &parts, in_place);
    parts
}

/// On devices, reports failures of kernels and brings arrays of the result to the
/// place that the caller wants. The arrays of a result that is made in place share one memory.
fn end_kernels(code: &mut Writer, form: &Form, parts: &[Part], in_place: bool) {
    if !code.unit.has_kernels {
        return;
    }
    code.push(Statement::call("nova_check_kernels", vec![context()]));
    match (form, parts) {
        (
            Form::Nested {
                levels: 1, element, ..
            }
            | Form::Array { element, .. },
            [.., Part::Array { pointer, .. }],
        ) if in_place || matches!(element, CoreType::Scalar(_)) => {
            let arguments = vec![context(), pointer.clone()];
            code.push(Statement::call("nova_bring_result", arguments));
        }
        _others => bring_to_host(code, parts),
    }
}

/// Brings arrays to the host, where there is a device.
pub(crate) fn bring_to_host(code: &mut Writer, parts: &[Part]) {
    for part in parts {
        if let (Part::Array { pointer, .. }, true) = (part, code.unit.has_kernels) {
            let arguments = vec![context(), pointer.clone(), Expression::name("false")];
            code.push(Statement::call("nova_on_host", arguments));
        }
    }
}

/// Writes the results.
fn write_results(
    code: &mut Writer,
    interface: &EntryInterface,
    parts: &[Part],
    in_place: bool,
    field: &dyn Fn(&Parameter) -> Expression,
) {
    let targets: Vec<Expression> = interface
        .results
        .iter()
        .map(|p| field(p).dereference())
        .collect();
    let mut parts = parts.iter();
    match &interface.result_form {
        Form::Nothing => {}
        Form::Value(c_type) => {
            let ty = &interface.result;
            let value = write_single(code, ty, c_type, &mut parts, Purpose::Give, "result");
            for target in targets {
                code.push(Statement::assign(target, value.clone()));
            }
        }
        Form::Nested {
            levels,
            element,
            data,
        } if *levels > 1 => {
            let length = parts.clone().next().cloned();
            let mut values: Vec<Expression> =
                length.into_iter().flat_map(Part::expressions).collect();
            let rest = write_nested(
                code,
                *levels,
                element,
                data.as_ref(),
                &mut parts,
                Purpose::Give,
            );
            values.extend(rest);
            for (target, value) in targets.into_iter().zip(values) {
                code.push(Statement::assign(target, value));
            }
        }
        Form::Nested { element, data, .. } => {
            write_vector_result(code, 1, element, data.as_ref(), &targets, parts, in_place)
        }
        Form::Array {
            rank,
            element,
            data,
        } => {
            let rank = *rank as usize;
            write_vector_result(
                code,
                rank,
                element,
                data.as_ref(),
                &targets,
                parts,
                in_place,
            )
        }
    }
}

/// Writes a vector or array, into the caller's buffer if there is one.
fn write_vector_result(
    code: &mut Writer,
    rank: usize,
    element: &CoreType,
    data: Option<&Type>,
    targets: &[Expression],
    mut parts: std::slice::Iter<Part>,
    in_place: bool,
) {
    let extents: Vec<Expression> = parts
        .by_ref()
        .take(rank)
        .cloned()
        .flat_map(Part::expressions)
        .collect();
    let sizes = targets.get(..rank).unwrap_or_default();
    if let (Some(data), Some(target)) = (data, targets.get(rank)) {
        let count = match &*extents {
            [one] => one.clone(),
            many => code.variable(int64(), "count", product(many.to_vec())),
        };
        check_capacity(code, target, sizes, &extents, &count);
        let value = match in_place {
            true => {
                let size = Expression::SizeOf(data.clone());
                let arguments = vec![context(), target.clone(), count, size];
                let given = Expression::call("nova_give_result", arguments);
                given.cast(data.clone().pointer())
            }
            false => {
                let buffer = Some(target.clone());
                write_flat(
                    code,
                    element,
                    data,
                    count,
                    &mut parts,
                    buffer,
                    Purpose::Give,
                )
            }
        };
        code.push(Statement::assign(target.clone(), value));
    }
    for (size, extent) in sizes.iter().zip(extents) {
        code.push(Statement::assign(size.clone(), extent));
    }
}

fn check_capacity(
    code: &mut Writer,
    buffer: &Expression,
    sizes: &[Expression],
    extents: &[Expression],
    count: &Expression,
) {
    let name = Expression::text("result");
    let source = Source::argument("result");
    let (mut inside, capacity) = code.apart(|code| match sizes {
        [size] => size.clone(),
        sizes => checked_count(code, sizes, &source),
    });
    let mut fail: Vec<Statement> = Vec::new();
    let small = Expression::binary(Binary::Less, capacity.clone(), count.clone());
    // The capacity is read before the sizes are overwritten.
    let (remember, capacity) = code.apart(|code| match sizes.len() {
        1 => code.variable(int64(), "capacity", capacity.clone()),
        _ => capacity.clone(),
    });
    fail.extend(remember);
    for (size, extent) in sizes.iter().zip(extents) {
        fail.push(Statement::assign(size.clone(), extent.clone()));
    }
    let arguments = vec![context(), name, capacity, count.clone()];
    fail.push(Statement::call("nova_fail_buffer", arguments));
    let given = Expression::binary(Binary::NotEqual, buffer.clone(), null());
    if inside.is_empty() {
        let too_small = Expression::binary(Binary::And, given, small);
        code.push(Statement::when(too_small, fail));
    } else {
        inside.push(Statement::when(small, fail));
        code.push(Statement::when(given, inside));
    }
}

/// Returns the sums of which a function, or those that it calls, make nodes that hold nothing.
fn sums_with_constants(unit: &Unit, function: FunctionId) -> BTreeSet<SumId> {
    let mut found = BTreeSet::new();
    let program = unit.program;
    for id in called(program, std::slice::from_ref(&call_of(function))) {
        let Some(function) = program.functions.get(id.index()) else {
            continue;
        };
        each_command(&function.body, |command| {
            if let Command::NodeNew { sum, payload, .. } = command
                && payload.is_empty()
            {
                found.insert(*sum);
            }
        });
    }
    found
}

/// Returns a call of a function, as the root of a walk over calls.
fn call_of(function: FunctionId) -> Command {
    Command::Call {
        function,
        arguments: Vec::new(),
        results: Vec::new(),
    }
}
