//! In-place access to the caller's memory: fields of structures that are read in place, and a result
//! that is made in place.

use crate::context::making::Making;
use crate::context::writer::Writer;
use crate::ffi::interface::EntryInterface;
use crate::ffi::source::{Source, checked_count};
use crate::ffi::top::check_size;
use crate::syntax::{context, int64, literal, null};
use nova_c_ast::ast::{Binary, Expression, Parameter, Statement, Type};
use nova_core::Type as CoreType;

/// Emits the call that tells the runtime about the caller's buffer, for a result that is made in
/// place.
pub(crate) fn open_result(
    code: &mut Writer,
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
        // The sizes are those of a buffer only if there is one.
        sizes => {
            let zero = literal(0);
            let capacity = code.variable(int64(), "capacity", zero);
            let source = Source::argument("result");
            let (mut inside, count) = code.apart(|code| checked_count(code, sizes, &source));
            inside.push(Statement::assign(capacity.clone(), count));
            let given = Expression::binary(Binary::NotEqual, buffer.clone(), null());
            code.push(Statement::when(given, inside));
            capacity
        }
    };
    if let Some(scalar_field) = making.fields.iter().flatten().next() {
        let component = making.fields.iter().position(|f| f.is_some());
        let bytes = field_bytes(code, &interface.result, component);
        check_size(code, &making.element, scalar_field.stride * bytes);
    }
    let result = code.unset(Type::name("nova_result"), "result");
    let arguments = vec![
        context(),
        result.address(),
        buffer,
        capacity,
        Expression::SizeOf(making.element.clone()),
    ];
    code.push(Statement::call("nova_open_result", arguments));
}

/// Returns the size of a component's elements.
fn field_bytes(code: &Writer, ty: &CoreType, component: Option<usize>) -> usize {
    let components = code.unit.components(ty);
    let component = component.and_then(|k| components.get(k));
    component.map_or(1, |c| usize::from(c.scalar.info().bytes))
}
