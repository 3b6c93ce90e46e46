//! Reads C values as components: arguments of entries, results of foreign functions, nodes of
//! arguments.
//!
//! An array of scalars is used where it lies. An array of anything else is taken apart into an array
//! per component, level by level. One loop counts and fills the elements of a level; the arrays of the
//! next level have room for the sum of these counts.

use crate::context::ctype::payload_of;
use crate::context::expressions::empty;
use crate::context::writer::Writer;
use crate::ffi::lifted::read_lifted;
use crate::ffi::parts::{Part, take_sum};
use crate::ffi::source::{
    Source, check_data, check_tag, checked_count, imported, loaded, push_switch,
};
use crate::ffi::walk::{Step, extents_of};
use crate::scalar::{memory_type, variable_type, zero};
use crate::syntax::{block_type, null};
use nova_c_ast::ast::{Binary, Expression, Statement};
use nova_core::{SumId, Type as CoreType};
use nova_diag::deep;
use nova_flat::representation::{Component, tag_scalar};

/// Reads the components of the C value `value`.
pub(crate) fn read_value(
    code: &mut Writer,
    ty: &CoreType,
    value: Expression,
    source: &Source,
    parts: &mut Vec<Part>,
) {
    deep(|| match ty {
        CoreType::Unit | CoreType::Function(..) => {}
        CoreType::Scalar(scalar) => parts.push(Part::Scalar(loaded(value, *scalar))),
        CoreType::Tuple(elements) => {
            for (k, element) in elements.iter().enumerate() {
                let field = value.clone().member(format!("e{k}"));
                read_value(code, element, field, source, parts);
            }
        }
        CoreType::Vector(element) => read_vector(code, 1, element, value, source, parts),
        CoreType::Array(rank, element) => read_vector(code, *rank, element, value, source, parts),
        CoreType::Sum(id) => match source.group.iter().find(|(member, _)| member == id) {
            Some((_, base)) => {
                let link = Expression::binary(Binary::Add, base.clone(), value);
                parts.push(Part::Scalar(link));
            }
            None if code.unit.types.sum(*id).is_recursive() => {
                parts.push(Part::Scalar(imported(code, *id, value, source)));
            }
            None => read_sum(code, *id, value, source, parts),
        },
    })
}

fn read_vector(
    code: &mut Writer,
    rank: u32,
    element: &CoreType,
    value: Expression,
    source: &Source,
    parts: &mut Vec<Part>,
) {
    let extents = extents_of(&value, rank);
    let count = checked_count(code, &extents, source);
    let data = value.member("data");
    check_data(code, element, &data, &count, source);
    parts.extend(extents.into_iter().map(Part::Scalar));
    let walk = vec![Step::Array {
        data,
        count: count.clone(),
    }];
    read_lifted(code, element, &walk, count, source, parts);
}

fn read_sum(
    code: &mut Writer,
    id: SumId,
    value: Expression,
    source: &Source,
    parts: &mut Vec<Part>,
) {
    let sum = code.unit.types.sum(id);
    let tag = value.clone().member("tag");
    check_tag(code, &tag, sum.constructors.len(), source);
    let own = tag
        .clone()
        .cast(variable_type(tag_scalar(id, &code.unit.program.sums)));
    let mut own = vec![Part::Scalar(own)];
    let components = code.unit.components(&CoreType::Sum(id));
    own.extend(zero_parts(code, components.iter().skip(1), source));
    let (_, payloads) = take_sum(code, id, false, &mut own.iter());
    parts.extend(own);
    let mut cases = Vec::new();
    for (constructor, variables) in sum.constructors.iter().zip(payloads) {
        let payload = payload_of(&value, constructor);
        cases.push(code.nested(|code| {
            let mut read = Vec::new();
            read_value(code, &constructor.payload, payload, source, &mut read);
            let targets = variables.into_iter().flat_map(Part::expressions);
            let values = read.into_iter().flat_map(Part::expressions);
            for (target, value) in targets.zip(values) {
                code.push(Statement::assign(target, value));
            }
        }));
    }
    push_switch(code, tag, cases);
}

/// Declares variables for components: zeros and empty arrays.
fn zero_parts<'c>(
    code: &mut Writer,
    components: impl Iterator<Item = &'c Component>,
    source: &Source,
) -> Vec<Part> {
    let mut parts = Vec::new();
    for component in components {
        let name = format!("{}_{}", source.hint, component.name);
        if component.shape.is_empty() {
            let zero = zero(component.scalar);
            let ty = variable_type(component.scalar);
            parts.push(Part::Scalar(code.variable(ty, &name, zero)));
        } else {
            let ty = memory_type(component.scalar).pointer();
            let pointer = code.variable(ty, &name, empty(component.scalar));
            let block = code.variable(block_type(), &format!("{name}_block"), null());
            parts.push(Part::Array { pointer, block });
        }
    }
    parts
}
