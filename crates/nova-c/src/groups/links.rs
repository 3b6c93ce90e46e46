//! Code that finds the links in a node, in the order in which they stand there.

use crate::context::writer::Writer;
use crate::ffi::output::{sum_parts, vector_parts};
use crate::ffi::parts::{Part, parts_of};
use crate::ffi::source::push_switch;
use crate::syntax::{context, int64, product};
use nova_c_ast::ast::{Binary, Block, Expression, Statement};
use nova_core::{SumId, Type as CoreType};
use nova_diag::deep;
use nova_flat::links::{Pair, Part as Place};
use nova_flat::representation::width;

/// Emits what is done with a link to a node of the pair with this number.
pub(super) type See<'a> = &'a dyn Fn(&mut Writer, usize, Expression);

/// The components that are still to be read, the arrays that were read, and what is done with links.
struct Source<'a> {
    parts: std::slice::Iter<'a, Part>,
    read: Vec<Expression>,
    see: See<'a>,
}

/// Emits the search in a node of a pair. The result has a block for each constructor.
pub(super) fn link_cases(
    code: &mut Writer,
    pair: &Pair,
    node: &Expression,
    see: See,
) -> Vec<Block> {
    let sum = code.unit.types.sum(pair.sum);
    let places = sum.constructors.iter().zip(&pair.constructors).enumerate();
    let mut cases = Vec::new();
    for (k, (constructor, place)) in places {
        let parts = parts_of(code, pair.sum, k as u32, &constructor.payload, node);
        let mut source = Source {
            parts: parts.iter(),
            read: Vec::new(),
            see,
        };
        let (search, ()) =
            code.apart(|code| links_in(code, &constructor.payload, place, None, &mut source));
        cases.push(code.nested(|code| {
            for array in source.read {
                let arguments = vec![context(), array, Expression::name("false")];
                code.push(Statement::call("nova_on_host", arguments));
            }
            search
                .into_iter()
                .for_each(|statement| code.push(statement));
        }));
    }
    cases
}

/// Emits the search in a value of a type; at an index where its components are lifted.
fn links_in(
    code: &mut Writer,
    ty: &CoreType,
    place: &Place,
    index: Option<&Expression>,
    source: &mut Source,
) {
    deep(|| match (place, ty) {
        (Place::Data, _) => skip(code, ty, index, source),
        (Place::Link(pair), _) => {
            let link = component(code, index, source);
            (source.see)(code, *pair, link);
        }
        (Place::Tuple(places), CoreType::Tuple(types)) => {
            for (ty, place) in types.iter().zip(places) {
                links_in(code, ty, place, index, source);
            }
        }
        (Place::Elements(place), CoreType::Vector(element)) => {
            links_in_elements(code, (1, element), place, index, source);
        }
        (Place::Elements(place), CoreType::Array(rank, element)) => {
            links_in_elements(code, (*rank, element), place, index, source);
        }
        (Place::Sum(places), CoreType::Sum(id)) => links_in_sum(code, *id, places, index, source),
        // The verifier has compared places and types.
        (Place::Tuple(_) | Place::Elements(_) | Place::Sum(_), _) => {}
    })
}

/// Emits the search in a value of a sum that is not recursive: in the payload of its constructor.
fn links_in_sum(
    code: &mut Writer,
    id: SumId,
    places: &[Place],
    index: Option<&Expression>,
    source: &mut Source,
) {
    note_arrays(code, index, source, 1);
    let (tag, payloads) = sum_parts(code, id, index, &mut source.parts);
    let sum = code.unit.types.sum(id);
    let mut cases = Vec::new();
    for ((constructor, place), parts) in sum.constructors.iter().zip(places).zip(payloads) {
        let mut payload = Source {
            parts: parts.iter(),
            read: Vec::new(),
            see: source.see,
        };
        let (search, ()) =
            code.apart(|code| links_in(code, &constructor.payload, place, index, &mut payload));
        source.read.extend(payload.read);
        cases.push(code.nested(|code| {
            search
                .into_iter()
                .for_each(|statement| code.push(statement));
        }));
    }
    push_switch(code, tag, cases);
}

fn links_in_elements(
    code: &mut Writer,
    (rank, element): (u32, &CoreType),
    place: &Place,
    index: Option<&Expression>,
    source: &mut Source,
) {
    note_arrays(code, index, source, descriptors(rank, index));
    let (begin, extents) = vector_parts(rank, index, &mut source.parts);
    code.each_index(product(extents), |code, read| {
        let at = match begin {
            None => read,
            Some(begin) => {
                let sum = Expression::binary(Binary::Add, begin, read);
                code.variable(int64(), "at", sum)
            }
        };
        links_in(code, element, place, Some(&at), source);
    });
}

/// Returns the number of components that describe a vector, besides those of its elements.
fn descriptors(rank: u32, index: Option<&Expression>) -> usize {
    match (index, rank) {
        (None, rank) => rank as usize,
        (Some(_), 1) => 3,
        (Some(_), rank) => rank as usize + 2,
    }
}

/// Returns the next scalar component, or an element of its array if an index is given.
fn component(code: &Writer, index: Option<&Expression>, source: &mut Source) -> Expression {
    note_arrays(code, index, source, 1);
    crate::ffi::output::component(&mut source.parts, index)
}

/// Notes that the arrays among the next components are read.
fn note_arrays(code: &Writer, index: Option<&Expression>, source: &mut Source, count: usize) {
    if code.unit.has_kernels && index.is_some() {
        let parts = source.parts.clone().take(count);
        let arrays = parts.filter_map(|part| match part {
            Part::Array { pointer, .. } => Some(pointer.clone()),
            Part::Scalar(_) => None,
        });
        source.read.extend(arrays);
    }
}

/// Passes over the components of a type.
fn skip(code: &Writer, ty: &CoreType, index: Option<&Expression>, source: &mut Source) {
    let count = width(ty, &code.unit.program.sums, index.is_some());
    if count > 0 {
        source.parts.nth(count - 1);
    }
}
