//! Takes arrays of C structures apart into an array per component, level by level. One loop counts and
//! fills the elements of a level; the arrays of the next level have room for the sum of these counts.

use crate::context::ctype::field_name;
use crate::context::writer::Writer;
use crate::ffi::parts::Part;
use crate::ffi::source::{
    Source, check_data, check_tag, checked_count, imported, loaded, push_switch,
};
use crate::ffi::walk::{Step, each_value, extents_of};
use crate::scalar::{memory_type, zero};
use crate::syntax::{block_type, context, declaration, int64, literal, null};
use nova_c_ast::ast::{Binary, Expression, Name, Statement, Type};
use nova_core::{Scalar, SumId, Type as CoreType};
use nova_diag::deep;
use nova_flat::representation::{layout, leaves};
use std::collections::HashSet;

/// A new array and its block.
#[derive(Clone)]
struct NewArray {
    pointer: Name,
    block: Name,
}

impl NewArray {
    fn part(self) -> Part {
        Part::Array {
            pointer: Expression::Name(self.pointer),
            block: Expression::Name(self.block),
        }
    }

    fn place(&self, k: &Expression) -> Expression {
        Expression::Name(self.pointer.clone()).index(k.clone())
    }
}

/// The arrays of one level.
#[derive(Clone)]
enum Leaf {
    Scalar(NewArray, Scalar),
    Tuple(Vec<(Name, Leaf)>),
    Sum {
        tags: NewArray,
        tag: Scalar,
        slots: Vec<Leaf>,
        /// For each constructor, the field of its payload, and those of the slots that it takes.
        payloads: Vec<(Option<Name>, Leaf)>,
    },
    /// The rows of a vector or an array.
    Rows {
        rank: u32,
        /// The starts and the ends of vectors; the extents and the starts of arrays.
        bounds: Vec<NewArray>,
        total: Name,
        element: CoreType,
    },
    Link(NewArray, SumId),
    Nothing,
}

/// Reads the lifted components of all values of a walk, `total` in number.
pub(crate) fn read_lifted(
    code: &mut Writer,
    ty: &CoreType,
    walk: &[Step],
    total: Expression,
    source: &Source,
    parts: &mut Vec<Part>,
) {
    if let (CoreType::Scalar(scalar), [Step::Array { data, .. }]) = (ty, walk) {
        let part = scalar_array(code, *scalar, data.clone(), total, source);
        parts.push(part);
        return;
    }
    let leaf = make_leaf(code, ty, &total, &source.hint);
    if !matches!(leaf, Leaf::Nothing) {
        each_value(code, walk, &mut |code, value, k| {
            fill(code, &leaf, value, k, source)
        });
    }
    finish_leaf(code, leaf, walk, source, parts, &mut HashSet::new());
}

/// Returns an array of scalars, where it lies or as a copy.
fn scalar_array(
    code: &mut Writer,
    scalar: Scalar,
    data: Expression,
    count: Expression,
    source: &Source,
) -> Part {
    if source.copy {
        let copy = array(code, scalar, &format!("{}_data", source.hint), &count);
        let size = Expression::SizeOf(memory_type(scalar));
        let arguments = vec![Expression::Name(copy.pointer.clone()), data, count, size];
        code.push(Statement::call("nova_copy", arguments));
        return copy.part();
    }
    keep_apart(code, &data, &count, Some(memory_type(scalar)), source);
    let data = Expression::pure("nova_elements", vec![data]);
    Part::Array {
        pointer: data.cast(memory_type(scalar).pointer()),
        block: null(),
    }
}

/// Makes the result avoid an argument that is used where it lies.
pub(crate) fn keep_apart(
    code: &mut Writer,
    data: &Expression,
    count: &Expression,
    element: Option<Type>,
    source: &Source,
) {
    if let (Some(result), Some(element)) = (&source.result, element) {
        let arguments = vec![
            context(),
            Expression::SizeOf(result.clone()),
            data.clone(),
            count.clone(),
            Expression::SizeOf(element),
        ];
        code.push(Statement::call("nova_keep_apart", arguments));
    }
}

/// Allocates a new array.
fn array(code: &mut Writer, scalar: Scalar, hint: &str, count: &Expression) -> NewArray {
    let name = code.fresh(hint);
    let block = code.fresh(&format!("{name}_block"));
    code.push(declaration(block_type(), block.clone()));
    let arguments = vec![
        context(),
        Expression::Name(block.clone()).address(),
        count.clone(),
        Expression::SizeOf(memory_type(scalar)),
        null(),
    ];
    let ty = memory_type(scalar).pointer();
    let data = Expression::call("nova_allocate", arguments).cast(ty.clone());
    code.push(Statement::declare(ty, name.clone(), data));
    NewArray {
        pointer: name,
        block,
    }
}

/// Allocates the arrays of one level.
fn make_leaf(code: &mut Writer, ty: &CoreType, count: &Expression, hint: &str) -> Leaf {
    let leaves = leaves(ty, &code.unit.program.sums).into_iter();
    let made: Vec<Leaf> = leaves
        .map(|leaf| {
            let name = match leaf.name.is_empty() {
                true => hint.to_string(),
                false => format!("{hint}_{}", leaf.name),
            };
            allocate(code, &leaf.ty, count, &name)
        })
        .collect();
    arrange(code, ty, &mut made.into_iter())
}

/// Allocates the arrays of a leaf of a type.
fn allocate(code: &mut Writer, ty: &CoreType, count: &Expression, hint: &str) -> Leaf {
    let named = |suffix: &str| format!("{hint}_{suffix}");
    match ty {
        CoreType::Scalar(scalar) => Leaf::Scalar(array(code, *scalar, hint, count), *scalar),
        CoreType::Vector(element) => rows(code, 1, element, count, hint),
        CoreType::Array(rank, element) => rows(code, *rank, element, count, hint),
        // Of sums, only links are leaves.
        CoreType::Sum(id) => Leaf::Link(array(code, Scalar::I64, &named("link"), count), *id),
        CoreType::Unit | CoreType::Tuple(_) | CoreType::Function(..) => Leaf::Nothing,
    }
}

/// Allocates the arrays of the rows of vectors, or of arrays of a rank.
fn rows(code: &mut Writer, rank: u32, element: &CoreType, count: &Expression, hint: &str) -> Leaf {
    let extents = (0..rank).map(|k| format!("dim{k}"));
    let names: Vec<String> = match rank {
        1 => ["starts", "ends"].map(String::from).into(),
        _ => extents.chain(["starts".to_string()]).collect(),
    };
    let bounds = names.iter();
    let bounds = bounds.map(|name| array(code, Scalar::I64, &format!("{hint}_{name}"), count));
    Leaf::Rows {
        rank,
        bounds: bounds.collect(),
        total: total(code, &format!("{hint}_total")),
        element: element.clone(),
    }
}

/// Arranges the leaves of a type as its values in C are.
fn arrange(code: &Writer, ty: &CoreType, leaves: &mut std::vec::IntoIter<Leaf>) -> Leaf {
    let types = &code.unit.types;
    deep(|| match ty {
        CoreType::Unit | CoreType::Function(..) => Leaf::Nothing,
        CoreType::Tuple(_) if types.is_nothing(ty) => Leaf::Nothing,
        CoreType::Tuple(elements) => {
            let elements = elements.iter().enumerate();
            let elements = elements.map(|(k, element)| {
                let field = format!("e{k}");
                (field.into(), arrange(code, element, leaves))
            });
            Leaf::Tuple(elements.collect())
        }
        CoreType::Sum(id) if !types.sum(*id).is_recursive() => {
            let Some(Leaf::Scalar(tags, tag)) = leaves.next() else {
                return Leaf::Nothing;
            };
            let layout = layout(*id, &code.unit.program.sums);
            let slots: Vec<Leaf> = leaves.by_ref().take(layout.slots.len()).collect();
            let constructors = types.sum(*id).constructors.iter().zip(layout.places);
            let payloads = constructors.map(|(constructor, places)| {
                let nothing = types.is_nothing(&constructor.payload);
                let field = (!nothing).then(|| field_name(&constructor.name));
                let taken = places.iter().filter_map(|place| slots.get(*place).cloned());
                let taken: Vec<Leaf> = taken.collect();
                (
                    field,
                    arrange(code, &constructor.payload, &mut taken.into_iter()),
                )
            });
            let payloads = payloads.collect();
            Leaf::Sum {
                tags,
                tag,
                slots,
                payloads,
            }
        }
        CoreType::Scalar(_) | CoreType::Vector(_) | CoreType::Array(..) | CoreType::Sum(_) => {
            leaves.next().unwrap_or(Leaf::Nothing)
        }
    })
}

fn total(code: &mut Writer, hint: &str) -> Name {
    let name = code.fresh(hint);
    let zero = literal(0);
    code.push(Statement::declare(int64(), name.clone(), zero));
    name
}

/// Fills element `k` of a level's arrays from a value.
fn fill(code: &mut Writer, leaf: &Leaf, value: Expression, k: &Expression, source: &Source) {
    let place = |array: &NewArray| array.place(k);
    deep(|| match leaf {
        Leaf::Nothing => {}
        Leaf::Scalar(array, scalar) => {
            code.push(Statement::assign(place(array), loaded(value, *scalar)));
        }
        Leaf::Tuple(elements) => {
            for (field, leaf) in elements {
                fill(code, leaf, value.clone().member(field.clone()), k, source);
            }
        }
        Leaf::Link(array, id) => {
            let base = source.group.iter().find(|(member, _)| member == id);
            let link = match base {
                Some((_, base)) => Expression::binary(Binary::Add, base.clone(), value),
                None => imported(code, *id, value, source),
            };
            code.push(Statement::assign(place(array), link));
        }
        Leaf::Sum {
            tags,
            tag,
            slots,
            payloads,
        } => {
            let given = value.clone().member("tag");
            check_tag(code, &given, payloads.len(), source);
            let own = given.cast(memory_type(*tag));
            code.push(Statement::assign(place(tags), own));
            fill_sum(code, slots, payloads, value, k, source);
        }
        Leaf::Rows {
            rank,
            bounds,
            total,
            element,
        } => {
            let mut given = extents_of(&value, *rank);
            let count = match &given[..] {
                [length] => length.clone(),
                extents => checked_count(code, extents, source),
            };
            check_data(code, element, &value.member("data"), &count, source);
            let start = Expression::Name(total.clone());
            if *rank == 1 {
                given.clear();
            }
            for (array, value) in bounds.iter().zip(given.into_iter().chain([start.clone()])) {
                code.push(Statement::assign(place(array), value));
            }
            add_total(code, total, count, source);
            if let ([_, ends], 1) = (&bounds[..], rank) {
                code.push(Statement::assign(place(ends), start));
            }
        }
    })
}

fn fill_sum(
    code: &mut Writer,
    slots: &[Leaf],
    payloads: &[(Option<Name>, Leaf)],
    value: Expression,
    k: &Expression,
    source: &Source,
) {
    let tag = value.clone().member("tag");
    slots.iter().for_each(|slot| clear_leaf(code, slot, k));
    let mut cases = Vec::new();
    for (field, leaf) in payloads {
        cases.push(code.nested(|code| {
            if let Some(field) = field {
                let payload = value.clone().member("u").member(field.clone());
                fill(code, leaf, payload, k, source);
            }
        }));
    }
    push_switch(code, tag, cases);
}

fn add_total(code: &mut Writer, total: &Name, count: Expression, source: &Source) {
    let total = Expression::Name(total.clone());
    let arguments = vec![context(), source.name.clone(), total.clone(), count];
    let sum = Expression::call("nova_add_length", arguments);
    code.push(Statement::assign(total, sum));
}

/// Fills element `k` of the arrays of a slot, where no part of the payload may be in it.
fn clear_leaf(code: &mut Writer, leaf: &Leaf, k: &Expression) {
    let mut clear = |array: &NewArray, scalar: Scalar| {
        code.push(Statement::assign(array.place(k), zero(scalar)));
    };
    match leaf {
        Leaf::Nothing => {}
        Leaf::Scalar(array, scalar) => clear(array, *scalar),
        Leaf::Link(array, _) => clear(array, Scalar::I64),
        Leaf::Rows { bounds, .. } => bounds.iter().for_each(|b| clear(b, Scalar::I64)),
        // A slot is a single leaf.
        Leaf::Tuple(_) | Leaf::Sum { .. } => {}
    }
}

/// Reads the components of a level, in order, and of the levels below it. Arrays in `read` have been read
/// before.
fn finish_leaf(
    code: &mut Writer,
    leaf: Leaf,
    walk: &[Step],
    source: &Source,
    parts: &mut Vec<Part>,
    read: &mut HashSet<Name>,
) {
    let longer = |steps: &[Step]| [walk, steps].concat();
    deep(|| match leaf {
        Leaf::Nothing => {}
        Leaf::Scalar(array, _) | Leaf::Link(array, _) => {
            if read.insert(array.pointer.clone()) {
                parts.push(array.part());
            }
        }
        Leaf::Tuple(elements) => {
            for (field, leaf) in elements {
                let walk = longer(&[Step::Field(field)]);
                finish_leaf(code, leaf, &walk, source, parts, read);
            }
        }
        Leaf::Sum { tags, payloads, .. } => {
            if read.insert(tags.pointer.clone()) {
                parts.push(tags.part());
            }
            // The slots come in the order in which the payloads take them.
            for (tag, (field, leaf)) in payloads.into_iter().enumerate() {
                let walk = longer(&[Step::Payload(tag, field)]);
                finish_leaf(code, leaf, &walk, source, parts, read);
            }
        }
        Leaf::Rows {
            rank,
            bounds,
            total,
            element,
        } => {
            parts.extend(bounds.into_iter().map(NewArray::part));
            let total = Expression::Name(total);
            parts.push(Part::Scalar(total.clone()));
            let walk = longer(&[Step::Elements(rank)]);
            read_lifted(code, &element, &walk, total, source, parts);
        }
    })
}
