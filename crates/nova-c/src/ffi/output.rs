//! Writes components as C values: results of entries, arguments of foreign functions, nodes of results.

use crate::context::ctype::{field_name, payload_of};
use crate::context::writer::Writer;
use crate::emit::nodes::node_table;
use crate::ffi::parts::{Part, take_sum};
use crate::ffi::source::push_switch;
use crate::syntax::{block_type, context, int64, literal, null, product};
use nova_c_ast::ast::{Binary, Expression, Statement, Type};
use nova_core::{SumId, Type as CoreType};
use nova_diag::deep;

/// The use of the arrays after they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// They go to the caller, who frees them.
    Give,
    /// They are only read, until `nova_free_temporaries` is called.
    Lend,
    /// As `Give`, but a node owns the components and keeps its references.
    Copy,
}

/// Facts about the value that is written.
pub struct Sink {
    /// The use of the arrays.
    pub purpose: Purpose,
    /// The sums of a group, inside of its nodes.
    pub group: Vec<SumId>,
}

/// The components that are still to be written.
pub type Parts<'a> = std::slice::Iter<'a, Part>;

fn scalar_part(parts: &mut Parts) -> Expression {
    match parts.next() {
        Some(Part::Scalar(value)) => value.clone(),
        Some(Part::Array { pointer, .. }) => pointer.clone(),
        // Each type has exactly the components of its description.
        None => literal(0),
    }
}

/// Returns the next pointer and its block.
fn array_part(parts: &mut Parts) -> (Expression, Expression) {
    match parts.next() {
        Some(Part::Array { pointer, block }) => (pointer.clone(), block.clone()),
        Some(Part::Scalar(value)) => (value.clone(), null()),
        None => (null(), null()),
    }
}

/// Returns the next scalar component, or an element of its array if an index is given.
pub(crate) fn component(parts: &mut Parts, index: Option<&Expression>) -> Expression {
    let part = scalar_part(parts);
    match index {
        Some(index) => part.index(index.clone()),
        None => part,
    }
}

/// Writes the value with these components to `target`; at an index where they are lifted.
pub(crate) fn write_value(
    code: &mut Writer,
    ty: &CoreType,
    target: Expression,
    index: Option<&Expression>,
    parts: &mut Parts,
    sink: &Sink,
) {
    deep(|| match ty {
        CoreType::Unit | CoreType::Function(..) => {}
        CoreType::Scalar(_) => {
            let value = component(parts, index);
            code.push(Statement::assign(target, value));
        }
        CoreType::Tuple(elements) => {
            for (k, element) in elements.iter().enumerate() {
                let field = target.clone().member(format!("e{k}"));
                write_value(code, element, field, index, parts, sink);
            }
        }
        CoreType::Vector(element) => write_vector(code, 1, element, target, index, parts, sink),
        CoreType::Array(rank, element) => {
            write_vector(code, *rank, element, target, index, parts, sink)
        }
        CoreType::Sum(id) if sink.group.contains(id) => {
            let link = component(parts, index);
            let exported = node_table(code.unit, *id).member("exported").address();
            let number = Expression::call("nova_export_node", vec![context(), exported, link]);
            code.push(Statement::assign(target, number));
        }
        CoreType::Sum(id) if code.unit.types.sum(*id).is_recursive() => {
            let link = component(parts, index);
            let export = code.unit.export_function(*id, sink.purpose);
            let value = Expression::call(export, vec![context(), link]);
            code.push(Statement::assign(target, value));
        }
        CoreType::Sum(id) => write_sum(code, *id, target, index, parts, sink),
    })
}

fn write_sum(
    code: &mut Writer,
    id: SumId,
    target: Expression,
    index: Option<&Expression>,
    parts: &mut Parts,
    sink: &Sink,
) {
    let (tag, payloads) = sum_parts(code, id, index, parts);
    code.push(Statement::assign(target.clone().member("tag"), tag.clone()));
    let mut cases = Vec::new();
    let constructors = &code.unit.types.sum(id).constructors;
    for (constructor, parts) in constructors.iter().zip(payloads) {
        let payload = payload_of(&target, constructor);
        let ty = &constructor.payload;
        cases.push(
            code.nested(|code| write_value(code, ty, payload, index, &mut parts.iter(), sink)),
        );
    }
    push_switch(code, tag, cases);
}

/// Takes the components of a value of a sum that is not recursive; at an index where they are lifted.
/// Returns its tag, and the components of the payload of each constructor.
pub(crate) fn sum_parts(
    code: &Writer,
    id: SumId,
    index: Option<&Expression>,
    parts: &mut Parts,
) -> (Expression, Vec<Vec<Part>>) {
    let (tag, payloads) = take_sum(code, id, index.is_some(), parts);
    (component(&mut tag.as_slice().iter(), index), payloads)
}

fn write_vector(
    code: &mut Writer,
    rank: u32,
    element: &CoreType,
    target: Expression,
    index: Option<&Expression>,
    parts: &mut Parts,
    sink: &Sink,
) {
    let (begin, extents) = vector_parts(rank, index, parts);
    let fields = crate::ffi::walk::extents_of(&target, rank);
    for (field, extent) in fields.iter().zip(extents) {
        code.push(Statement::assign(field.clone(), extent));
    }
    let count = product(fields);
    let data = target.member("data");
    write_elements(code, element, data, begin, count, parts, sink);
}

/// Returns the index of the first element (`None` for 0) and the extents of a vector.
pub(crate) fn vector_parts(
    rank: u32,
    index: Option<&Expression>,
    parts: &mut Parts,
) -> (Option<Expression>, Vec<Expression>) {
    let Some(index) = index else {
        return (None, (0..rank).map(|_| scalar_part(parts)).collect());
    };
    if rank > 1 {
        let extents = (0..rank).map(|_| component(parts, Some(index))).collect();
        let begin = component(parts, Some(index));
        scalar_part(parts);
        return (Some(begin), extents);
    }
    let begin = component(parts, Some(index));
    let end = component(parts, Some(index));
    scalar_part(parts);
    let count = Expression::binary(Binary::Subtract, end, begin.clone());
    (Some(begin), vec![count])
}

/// Writes `count` elements, from index `begin` on, to a new array. Assigns its address to `target`.
/// Elements that take no memory have no array.
fn write_elements(
    code: &mut Writer,
    element: &CoreType,
    target: Expression,
    begin: Option<Expression>,
    count: Expression,
    parts: &mut Parts,
    sink: &Sink,
) {
    let Some(c_type) = code.unit.types.value(element, &sink.group) else {
        return;
    };
    let pointer_type = c_type.clone().pointer();
    let is_scalar = element.as_scalar().is_some();
    if is_scalar {
        let (pointer, block) = array_part(parts);
        let value = match (sink.purpose, &begin) {
            (Purpose::Give, None) => {
                let size = Expression::SizeOf(c_type);
                let arguments = vec![context(), pointer, block, count, size];
                Expression::call("nova_give", arguments).cast(pointer_type)
            }
            (Purpose::Lend, None) => pointer,
            (Purpose::Lend, Some(begin)) => Expression::binary(Binary::Add, pointer, begin.clone()),
            (Purpose::Give | Purpose::Copy, _) => {
                let source = match begin {
                    Some(begin) => Expression::binary(Binary::Add, pointer, begin),
                    None => pointer,
                };
                let size = Expression::SizeOf(c_type);
                let arguments = vec![context(), source, count, size];
                Expression::call("nova_give_copy", arguments).cast(pointer_type)
            }
        };
        code.push(Statement::assign(target, value));
        return;
    }
    let new = new_array(&c_type, count.clone(), sink.purpose);
    code.push(Statement::assign(target.clone(), new));
    fill_elements(code, element, target, begin, count, parts, sink);
}

/// Allocates an array for a purpose.
pub(crate) fn new_array(ty: &Type, count: Expression, purpose: Purpose) -> Expression {
    let allocate = match purpose {
        Purpose::Give | Purpose::Copy => "nova_allocate_result",
        Purpose::Lend => "nova_allocate_temporary",
    };
    let arguments = vec![context(), count, Expression::SizeOf(ty.clone())];
    Expression::call(allocate, arguments).cast(ty.clone().pointer())
}

/// Writes `count` elements, from index `begin` on, to the array `target`.
pub(crate) fn fill_elements(
    code: &mut Writer,
    element: &CoreType,
    target: Expression,
    begin: Option<Expression>,
    count: Expression,
    parts: &mut Parts,
    sink: &Sink,
) {
    code.each_index(count, |code, read| {
        let index = match begin {
            None => read.clone(),
            Some(begin) => {
                let sum = Expression::binary(Binary::Add, begin, read.clone());
                code.variable(int64(), "at", sum)
            }
        };
        let place = target.index(read);
        write_value(code, element, place, Some(&index), parts, sink);
    });
}

/// Frees the arrays inside of a C value that was given to a caller, or that came from a foreign
/// function. Skips invalid parts.
pub(crate) fn free_value(code: &mut Writer, ty: &CoreType, value: Expression, group: &[SumId]) {
    if !code.unit.types.allocates(ty) {
        return;
    }
    deep(|| match ty {
        CoreType::Unit | CoreType::Function(..) | CoreType::Scalar(_) => {}
        CoreType::Sum(id) if group.contains(id) => {}
        CoreType::Tuple(elements) => {
            for (k, element) in elements.iter().enumerate() {
                free_value(code, element, value.clone().member(format!("e{k}")), group);
            }
        }
        CoreType::Vector(element) => free_vector(code, 1, element, value, group),
        CoreType::Array(rank, element) => free_vector(code, *rank, element, value, group),
        CoreType::Sum(id) if code.unit.types.sum(*id).is_recursive() => {
            let name = code.unit.types.value(ty, &[]);
            if let Some(Type::Name(name)) = name {
                let free = format!("{name}_free");
                code.push(Statement::call(free, vec![value.address()]));
            }
        }
        CoreType::Sum(id) => {
            free_payloads(code, *id, &value, group);
        }
    })
}

/// Frees the payload of a value of a sum, or of a node. A value with a wrong tag has none.
pub(crate) fn free_payloads(code: &mut Writer, id: SumId, value: &Expression, group: &[SumId]) {
    let constructors = &code.unit.types.sum(id).constructors;
    for (tag, constructor) in constructors.iter().enumerate() {
        let field = field_name(&constructor.name);
        let payload = value.clone().member("u").member(field);
        let (statements, ()) =
            code.apart(|code| free_value(code, &constructor.payload, payload, group));
        if !statements.is_empty() {
            let tag = literal(tag);
            let has = Expression::binary(Binary::Equal, value.clone().member("tag"), tag);
            code.push(Statement::when(has, statements));
        }
    }
}

/// Returns the number of an array's elements to free.
pub(crate) fn held(
    code: &mut Writer,
    data: Expression,
    count: Expression,
    element: Type,
) -> Expression {
    let arguments = vec![data, count, Expression::SizeOf(element)];
    let held = Expression::pure("nova_held", arguments);
    code.variable(int64(), "held", held)
}

fn free_vector(
    code: &mut Writer,
    rank: u32,
    element: &CoreType,
    value: Expression,
    group: &[SumId],
) {
    if code.unit.types.is_nothing(element) {
        return;
    }
    let data = value.clone().member("data");
    let count = product(crate::ffi::walk::extents_of(&value, rank));
    free_elements(code, element, data.clone(), count, group);
    code.push(Statement::call("free", vec![data]));
}

/// Frees the memory inside the elements of an array.
pub(crate) fn free_elements(
    code: &mut Writer,
    element: &CoreType,
    data: Expression,
    count: Expression,
    group: &[SumId],
) {
    let i = code.fresh("i");
    let place = data.clone().index(Expression::Name(i.clone()));
    let (body, ()) = code.apart(|code| free_value(code, element, place, group));
    if let Some(ty) = code.unit.types.value(element, group)
        && !body.is_empty()
    {
        let count = held(code, data, count, ty);
        code.push(Statement::For {
            ty: int64(),
            variable: i,
            count,
            body: body.into(),
        });
    }
}

/// Declares variables, without values, for the components of a type as a function of Loop returns
/// them.
pub(crate) fn result_parts(code: &mut Writer, ty: &CoreType, hint: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for component in code.unit.components(ty) {
        let name = match component.name.is_empty() {
            true => hint.to_string(),
            false => format!("{hint}_{}", component.name),
        };
        if component.shape.is_empty() {
            let ty = crate::scalar::variable_type(component.scalar);
            parts.push(Part::Scalar(code.unset(ty, &name)));
        } else {
            let ty = crate::scalar::memory_type(component.scalar).pointer();
            let pointer = code.unset(ty, &name);
            let block = code.unset(block_type(), &format!("{name}_block"));
            parts.push(Part::Array { pointer, block });
        }
    }
    parts
}
