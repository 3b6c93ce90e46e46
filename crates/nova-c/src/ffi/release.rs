//! `void NAME_free_result(…)`, for entries whose results own more than one array. It takes the values
//! of the result parameters and frees every block of the result.

use crate::context::unit::Unit;
use crate::context::writer::Writer;
use crate::ffi::interface::EntryInterface;
use crate::ffi::output::{free_elements, free_value};
use crate::ffi::top::Form;
use crate::syntax::{int64, literal, null, parameter, product};
use nova_c_ast::ast::{Binary, Expression, Function, Parameter, Statement, Type};
use nova_core::Type as CoreType;

/// True if an entry has such a function. One flat array needs only `free`.
pub fn is_offered(unit: &Unit, interface: &EntryInterface) -> bool {
    match &interface.result_form {
        Form::Nothing => false,
        Form::Value(_) => unit.types.allocates(&interface.result),
        Form::Nested {
            levels, element, ..
        } => *levels > 1 || unit.types.allocates(element),
        Form::Array { element, .. } => unit.types.allocates(element),
    }
}

/// `void prog_free_result(…)`, without a body.
pub fn declaration(interface: &EntryInterface) -> Function {
    let parameters = interface.results.iter().map(|result| {
        parameter(
            match &result.ty {
                Type::Pointer(target) => (**target).clone(),
                other @ (Type::Name(_) | Type::Struct(_) | Type::Const(_) | Type::Array(..)) => {
                    other.clone()
                }
            },
            result.name.clone(),
        )
    });
    Function {
        prefix: Vec::new(),
        result: Type::name("void"),
        name: interface.free.clone(),
        parameters: parameters.collect(),
        body: None,
    }
}

/// Defines the function.
pub fn define(unit: &mut Unit, interface: &EntryInterface) -> Function {
    let mut declaration = declaration(interface);
    let code = &mut Writer::new(unit);
    // A function of the program may have the name of a parameter in the header.
    for parameter in &mut declaration.parameters {
        parameter.name = code.fresh(&parameter.name);
    }
    let named = |parameter: &Parameter| Expression::Name(parameter.name.clone());
    let values: Vec<Expression> = declaration.parameters.iter().map(named).collect();
    match (&interface.result_form, &*values) {
        (Form::Value(_), [value]) => free_value(code, &interface.result, value.clone(), &[]),
        (
            Form::Nested {
                levels, element, ..
            },
            [length, rest @ ..],
        ) => {
            let (offsets, data) = rest.split_at((levels - 1).min(rest.len()));
            let count = count_elements(code, length, offsets, element);
            free_data(code, element, data.first(), count);
            for level in offsets {
                code.push(Statement::call("free", vec![level.clone()]));
            }
        }
        (Form::Array { rank, element, .. }, values) => {
            let (extents, data) = values.split_at((*rank as usize).min(values.len()));
            let count = product(extents.to_vec());
            free_data(code, element, data.first(), count);
        }
        (Form::Nothing | Form::Value(_) | Form::Nested { .. }, _) => {}
    }
    let body = code.take();
    Function {
        body: Some(body.into()),
        ..declaration
    }
}

/// Returns the number of elements of all rows of the last level, where it is needed: the last
/// offset. It is 0 for a result that was never written.
fn count_elements(
    code: &mut Writer,
    length: &Expression,
    offsets: &[Expression],
    element: &CoreType,
) -> Expression {
    if !code.unit.types.allocates(element) {
        return length.clone();
    }
    let mut count = length.clone();
    for level in offsets {
        let there = Expression::binary(Binary::NotEqual, level.clone(), null());
        let last = level.clone().index(count);
        let zero = literal(0);
        let value = Expression::conditional(there, last, zero);
        count = code.variable(int64(), "count", value);
    }
    count
}

/// Frees an array of a result, and the memory inside its elements.
fn free_data(code: &mut Writer, element: &CoreType, data: Option<&Expression>, count: Expression) {
    if let Some(data) = data {
        free_elements(code, element, data.clone(), count, &[]);
        code.push(Statement::call("free", vec![data.clone()]));
    }
}
