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

/// A new array and its block.
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
enum Leaf {
    Scalar(NewArray, Scalar),
    Tuple(Vec<(Name, Leaf)>),
    Sum {
        tags: NewArray,
        payloads: Vec<(Option<Name>, Leaf)>,
    },
    Vector {
        starts: NewArray,
        ends: NewArray,
        total: Name,
        element: CoreType,
    },
    Array {
        extents: Vec<NewArray>,
        starts: NewArray,
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
    finish_leaf(code, leaf, walk, source, parts);
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
    let named = |suffix: &str| format!("{hint}_{suffix}");
    deep(|| match ty {
        CoreType::Unit | CoreType::Function(..) => Leaf::Nothing,
        CoreType::Scalar(scalar) => Leaf::Scalar(array(code, *scalar, hint, count), *scalar),
        CoreType::Tuple(_) if code.unit.types.is_nothing(ty) => Leaf::Nothing,
        CoreType::Tuple(elements) => {
            let elements = elements.iter().enumerate().map(|(k, element)| {
                let field = format!("e{k}");
                let leaf = make_leaf(code, element, count, &named(&field));
                (field.into(), leaf)
            });
            Leaf::Tuple(elements.collect())
        }
        CoreType::Vector(element) => Leaf::Vector {
            starts: array(code, Scalar::I64, &named("starts"), count),
            ends: array(code, Scalar::I64, &named("ends"), count),
            total: total(code, &named("total")),
            element: (**element).clone(),
        },
        CoreType::Array(rank, element) => Leaf::Array {
            extents: (0..*rank)
                .map(|k| array(code, Scalar::I64, &named(&format!("dim{k}")), count))
                .collect(),
            starts: array(code, Scalar::I64, &named("starts"), count),
            total: total(code, &named("total")),
            element: (**element).clone(),
        },
        CoreType::Sum(id) => {
            let sum = code.unit.types.sum(*id);
            if sum.is_recursive() {
                return Leaf::Link(array(code, Scalar::I64, &named("link"), count), *id);
            }
            let tags = array(code, Scalar::I32, &named("tag"), count);
            let payloads = sum.constructors.iter().map(|constructor| {
                let nothing = code.unit.types.is_nothing(&constructor.payload);
                let field = (!nothing).then(|| field_name(&constructor.name));
                let name = named(&constructor.name);
                (field, make_leaf(code, &constructor.payload, count, &name))
            });
            let payloads = payloads.collect();
            Leaf::Sum { tags, payloads }
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
        Leaf::Sum { tags, payloads } => fill_sum(code, tags, payloads, value, k, source),
        Leaf::Vector {
            starts,
            ends,
            total,
            element,
        } => {
            let count = value.clone().member("len");
            check_data(code, element, &value.member("data"), &count, source);
            code.push(Statement::assign(
                place(starts),
                Expression::Name(total.clone()),
            ));
            add_total(code, total, count, source);
            code.push(Statement::assign(
                place(ends),
                Expression::Name(total.clone()),
            ));
        }
        Leaf::Array {
            extents,
            starts,
            total,
            element,
        } => {
            let given = extents_of(&value, extents.len() as u32);
            let count = checked_count(code, &given, source);
            check_data(code, element, &value.member("data"), &count, source);
            for (extent, given) in extents.iter().zip(given) {
                code.push(Statement::assign(place(extent), given));
            }
            code.push(Statement::assign(
                place(starts),
                Expression::Name(total.clone()),
            ));
            add_total(code, total, count, source);
        }
    })
}

fn fill_sum(
    code: &mut Writer,
    tags: &NewArray,
    payloads: &[(Option<Name>, Leaf)],
    value: Expression,
    k: &Expression,
    source: &Source,
) {
    let tag = value.clone().member("tag");
    check_tag(code, &tag, payloads.len(), source);
    code.push(Statement::assign(tags.place(k), tag.clone()));
    let mut cases = Vec::new();
    for (field, leaf) in payloads {
        clear_leaf(code, leaf, k);
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

/// Fills element `k` of a level's arrays for a payload that is absent.
fn clear_leaf(code: &mut Writer, leaf: &Leaf, k: &Expression) {
    let mut clear = |array: &NewArray, scalar: Scalar| {
        code.push(Statement::assign(array.place(k), zero(scalar)));
    };
    match leaf {
        Leaf::Nothing => {}
        Leaf::Scalar(array, scalar) => clear(array, *scalar),
        Leaf::Link(array, _) => clear(array, Scalar::I64),
        Leaf::Vector { starts, ends, .. } => {
            clear(starts, Scalar::I64);
            clear(ends, Scalar::I64);
        }
        Leaf::Array {
            extents, starts, ..
        } => {
            extents.iter().for_each(|e| clear(e, Scalar::I64));
            clear(starts, Scalar::I64);
        }
        Leaf::Tuple(elements) => {
            elements
                .iter()
                .for_each(|(_, leaf)| deep(|| clear_leaf(code, leaf, k)));
        }
        Leaf::Sum { tags, payloads } => {
            clear(tags, Scalar::I32);
            payloads
                .iter()
                .for_each(|(_, leaf)| deep(|| clear_leaf(code, leaf, k)));
        }
    }
}

/// Reads the components of a level, in order, and of the levels below it.
fn finish_leaf(
    code: &mut Writer,
    leaf: Leaf,
    walk: &[Step],
    source: &Source,
    parts: &mut Vec<Part>,
) {
    let longer = |steps: &[Step]| [walk, steps].concat();
    deep(|| match leaf {
        Leaf::Nothing => {}
        Leaf::Scalar(array, _) | Leaf::Link(array, _) => parts.push(array.part()),
        Leaf::Tuple(elements) => {
            for (field, leaf) in elements {
                finish_leaf(code, leaf, &longer(&[Step::Field(field)]), source, parts);
            }
        }
        Leaf::Sum { tags, payloads } => {
            parts.push(tags.part());
            for (tag, (field, leaf)) in payloads.into_iter().enumerate() {
                let walk = longer(&[Step::Payload(tag, field)]);
                finish_leaf(code, leaf, &walk, source, parts);
            }
        }
        Leaf::Vector {
            starts,
            ends,
            total,
            element,
        } => {
            parts.extend([starts, ends].map(NewArray::part));
            let total = Expression::Name(total);
            parts.push(Part::Scalar(total.clone()));
            read_lifted(
                code,
                &element,
                &longer(&[Step::Elements(1)]),
                total,
                source,
                parts,
            );
        }
        Leaf::Array {
            extents,
            starts,
            total,
            element,
        } => {
            let rank = extents.len() as u32;
            parts.extend(extents.into_iter().map(NewArray::part));
            parts.push(starts.part());
            let total = Expression::Name(total);
            parts.push(Part::Scalar(total.clone()));
            let walk = longer(&[Step::Elements(rank)]);
            read_lifted(code, &element, &walk, total, source, parts);
        }
    })
}
