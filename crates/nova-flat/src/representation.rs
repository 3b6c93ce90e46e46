//! The representation of values of Core types in Flat. Lowering, the FFI boundary and the interpreters
//! share this description.
//!
//! [`components`] lists the scalars and arrays of a type in order. Array extents name earlier `i64`
//! components of the same list. For a type T:
//!
//! | T | components |
//! | --- | --- |
//! | scalar | it |
//! | `unit` | none |
//! | tuple | those of its elements, in order |
//! | `vector U` | `length`, then U lifted over `[length]` |
//! | `vector#k U` | k extents, then U lifted over `[d0]…[dk-1]` |
//! | recursive sum | `link` (i64) |
//! | other sum | `tag` ([`tag_scalar`]), then those of its slots ([`layout`]) |
//!
//! and U lifted over a shape S (all indices of S in parallel):
//!
//! | U | components |
//! | --- | --- |
//! | scalar | an array of shape S |
//! | `unit` | none |
//! | tuple | its elements, lifted over S |
//! | `vector V` | `starts`, `ends` of shape S, `total` (i64), then V lifted over `[total]` |
//! | `vector#k V` | k arrays of extents and `starts` of shape S, `total`, then V lifted over `[total]` |
//! | recursive sum | links, of shape S |
//! | other sum | tags of shape S, then its slots lifted over S |
//!
//! The payloads of a sum have their components in its slots, which they share. Slots without a part of the
//! active payload hold zeros and empty arrays ([`components`] of them, all sizes 0).

mod sums;

pub use sums::{Layout, Leaf, layout, leaves, payload_places, tag_scalar, width};

use crate::ir::Destination;
use nova_core::{Scalar, SumId, SumType, Type};
use nova_diag::deep;

/// One component of a representation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// A descriptive suffix for its name: `length`, `starts1`, `e0`, `tag`, `Some`, … joined by `_`. It
    /// is empty for the value itself.
    pub name: String,
    /// Its element type.
    pub scalar: Scalar,
    /// Its extents, each the index of an earlier component of the list. A scalar has none.
    pub shape: Vec<usize>,
    /// The recursive sum to whose nodes it is a link, or its elements are links.
    pub link: Option<SumId>,
}

/// Returns the components of a type, in order.
pub fn components(ty: &Type, sums: &[SumType]) -> Vec<Component> {
    let mut list = Vec::new();
    add(ty, sums, "", &[], &mut list);
    list
}

/// Returns the segment descriptors among the components of several values: the indices of the starts,
/// the ends and the total length of the rows of each vector of vectors. Those inside of sums are left
/// out, since an alternative that is not active has rows, too.
pub fn segments(types: &[Type], sums: &[SumType]) -> Vec<[usize; 3]> {
    let mut found = Vec::new();
    let mut first = 0;
    for ty in types {
        let list = components(ty, sums);
        let is_named = |k: usize, name: &str| {
            list.get(k)
                .is_some_and(|component| component.name.rsplit('_').next() == Some(name))
        };
        for k in 0..list.len() {
            let named =
                is_named(k, "starts") && is_named(k + 1, "ends") && is_named(k + 2, "total");
            if named && !holds_sums(ty) {
                found.push([first + k, first + k + 1, first + k + 2]);
            }
        }
        first += list.len();
    }
    found
}

fn holds_sums(ty: &Type) -> bool {
    match ty {
        Type::Sum(_) => true,
        Type::Unit | Type::Scalar(_) | Type::Function(..) => false,
        Type::Tuple(elements) => elements.iter().any(holds_sums),
        Type::Vector(element) | Type::Array(_, element) => holds_sums(element),
    }
}

/// True if the nodes of a recursive sum hold arrays.
pub fn holds_arrays(sums: &[SumType], sum: SumId) -> bool {
    let constructors = sums.get(sum.index()).map(|sum| &sum.constructors);
    constructors.into_iter().flatten().any(|constructor| {
        let all = components(&constructor.payload, sums);
        all.iter().any(|component| !component.shape.is_empty())
    })
}

/// Adds the components of `ty`, plain if `shape` is empty, lifted over `shape` otherwise.
///
/// Non-recursive sums nest only as deep as types do, and recursive ones stop at the link.
fn add(ty: &Type, sums: &[SumType], prefix: &str, shape: &[usize], list: &mut Vec<Component>) {
    let push = |suffix: &str, scalar: Scalar, shape: &[usize], list: &mut Vec<Component>| {
        list.push(Component {
            name: join(prefix, suffix),
            scalar,
            shape: shape.to_vec(),
            link: None,
        });
        list.len() - 1
    };
    match ty {
        Type::Unit => {}
        Type::Scalar(scalar) => {
            push("", *scalar, shape, list);
        }
        Type::Tuple(elements) => {
            for (k, element) in elements.iter().enumerate() {
                add(element, sums, &join(prefix, &format!("e{k}")), shape, list);
            }
        }
        Type::Vector(element) => {
            let inner = if shape.is_empty() {
                push("length", Scalar::I64, &[], list)
            } else {
                push("starts", Scalar::I64, shape, list);
                push("ends", Scalar::I64, shape, list);
                push("total", Scalar::I64, &[], list)
            };
            add(element, sums, &join(prefix, "data"), &[inner], list);
        }
        Type::Array(rank, element) => {
            let extents: Vec<usize> = (0..*rank)
                .map(|k| push(&format!("dim{k}"), Scalar::I64, shape, list))
                .collect();
            let inner = if shape.is_empty() {
                extents
            } else {
                push("starts", Scalar::I64, shape, list);
                vec![push("total", Scalar::I64, &[], list)]
            };
            add(element, sums, &join(prefix, "data"), &inner, list);
        }
        Type::Sum(id) => {
            let sum = &sums[id.index()];
            if sum.is_recursive() {
                let link = push("link", Scalar::I64, shape, list);
                list[link].link = Some(*id);
                return;
            }
            push("tag", tag_scalar(*id, sums), shape, list);
            for slot in layout(*id, sums).slots {
                add(&slot.ty, sums, &join(prefix, &slot.name), shape, list);
            }
        }
        // Lowering has removed functions. The verifier rejects a program that still has one.
        Type::Function(..) => {}
    }
}

/// The position of a component's elements in an array of C structures (abi.md §2), counted in elements.
/// Field `k` of structure `i` is element `offset + i·stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The element of the first structure.
    pub offset: usize,
    /// The distance from each structure to the next.
    pub stride: usize,
}

/// Returns the field of each component of the type of an entry's input. A component has one if a
/// vector, a vector of vectors … or an array of tuples of scalars is given as one array of structures.
/// All others have `None`.
pub fn input_fields(ty: &Type, sums: &[SumType]) -> Vec<Option<Field>> {
    let mut fields = vec![None; components(ty, sums).len()];
    let (Type::Vector(element) | Type::Array(_, element)) = ty else {
        return fields;
    };
    let mut element = element;
    if let Type::Vector(_) = ty {
        while let Type::Vector(inner) = &**element {
            element = inner;
        }
    }
    let mut members: Vec<(usize, usize)> = Vec::new();
    if let Type::Tuple(_) = &**element
        && let Some((size, _)) = structure(element, &mut members)
    {
        // The components of the elements come last.
        let first = fields.len().saturating_sub(members.len());
        for (field, (offset, bytes)) in fields.iter_mut().skip(first).zip(members) {
            *field = Some(Field {
                offset: offset / bytes,
                stride: size / bytes,
            });
        }
    }
    fields
}

/// As [`input_fields`], for the result of an entry. Only a vector or array can be built as structures.
pub fn result_fields(ty: &Type, sums: &[SumType]) -> Vec<Option<Field>> {
    match ty {
        Type::Vector(element) if matches!(**element, Type::Vector(_)) => {
            vec![None; components(ty, sums).len()]
        }
        _ => input_fields(ty, sums),
    }
}

/// Returns, for each component of an entry's result, the memory in which it can be built. Only the
/// elements of a vector or array of scalars, or of structures of scalars, have such memory.
pub fn destinations(ty: &Type, sums: &[SumType]) -> Vec<Option<Destination>> {
    let fields = result_fields(ty, sums);
    let mut strides: Vec<Option<usize>> = fields.iter().map(|f| f.map(|f| f.stride)).collect();
    match ty {
        Type::Vector(element) | Type::Array(_, element) if element.as_scalar().is_some() => {
            if let Some(last) = strides.last_mut() {
                *last = Some(1);
            }
        }
        Type::Vector(_)
        | Type::Array(..)
        | Type::Unit
        | Type::Scalar(_)
        | Type::Tuple(_)
        | Type::Sum(_)
        | Type::Function(..) => {}
    }
    let numbered = strides.into_iter().enumerate();
    let destination = |(component, stride): (usize, Option<usize>)| {
        Some(Destination {
            component: component as u32,
            stride: stride? as u32,
        })
    };
    numbered.map(destination).collect()
}

/// Returns size and alignment in bytes of a scalar, or of a structure of scalars. `members` gets offset
/// and size of each scalar. Returns `None` for any other type. Scalars are aligned to their size. So
/// sizes of structures and offsets in them are multiples of the sizes of their members.
fn structure(ty: &Type, members: &mut Vec<(usize, usize)>) -> Option<(usize, usize)> {
    match ty {
        Type::Unit => Some((0, 1)),
        Type::Scalar(scalar) => {
            let bytes = usize::from(scalar.info().bytes);
            members.push((0, bytes));
            Some((bytes, bytes))
        }
        Type::Tuple(elements) => deep(|| {
            let (mut end, mut alignment) = (0usize, 1);
            for element in elements.iter() {
                let before = members.len();
                let (size, own) = structure(element, members)?;
                let start = end.next_multiple_of(own);
                for (offset, _) in members.iter_mut().skip(before) {
                    *offset += start;
                }
                end = start + size;
                alignment = alignment.max(own);
            }
            Some((end.next_multiple_of(alignment), alignment))
        }),
        Type::Vector(_) | Type::Array(..) | Type::Sum(_) | Type::Function(..) => None,
    }
}

fn join(prefix: &str, suffix: &str) -> String {
    match (prefix.is_empty(), suffix.is_empty()) {
        (true, _) => suffix.to_string(),
        (_, true) => prefix.to_string(),
        (false, false) => format!("{prefix}_{suffix}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuple(elements: &[Type]) -> Type {
        Type::Tuple(elements.to_vec().into())
    }

    /// Returns offset and stride of each component, or (0, 0) if it is no field.
    fn fields(ty: &Type) -> Vec<(usize, usize)> {
        let pair = |field: Option<Field>| field.map_or((0, 0), |f| (f.offset, f.stride));
        input_fields(ty, &[]).into_iter().map(pair).collect()
    }

    #[test]
    fn structures_are_laid_out_as_in_c() {
        let [float, double, int, flag] =
            [Scalar::F32, Scalar::F64, Scalar::I32, Scalar::Bool].map(Type::Scalar);
        let pairs = Type::Vector(tuple(&[float.clone(), float.clone()]).into());
        assert_eq!(fields(&pairs), [(0, 0), (0, 2), (1, 2)]);
        let mixed = tuple(&[flag.clone(), double.clone(), int.clone(), Type::Unit]);
        let grid = Type::Array(2, mixed.into());
        assert_eq!(fields(&grid), [(0, 0), (0, 0), (0, 24), (1, 3), (4, 6)]);
        let inner = tuple(&[int.clone(), flag.clone()]);
        let nested = Type::Vector(tuple(&[float, inner, flag]).into());
        assert_eq!(fields(&nested), [(0, 0), (0, 4), (1, 4), (8, 16), (12, 16)]);
        let rows = Type::Vector(Type::Vector(tuple(&[int, double]).into()).into());
        let starts = [(0, 0); 4];
        assert_eq!(fields(&rows), [&starts[..], &[(0, 4), (1, 2)]].concat());
        assert!(result_fields(&rows, &[]).iter().all(Option::is_none));
    }

    #[test]
    fn other_types_than_structures_of_scalars_are_not_interleaved() {
        let float = Type::Scalar(Scalar::F32);
        let plain = Type::Vector(float.clone().into());
        assert_eq!(fields(&plain), [(0, 0); 2]);
        let vectors = Type::Vector(tuple(&[float.clone(), plain]).into());
        assert!(input_fields(&vectors, &[]).iter().all(Option::is_none));
        assert!(
            input_fields(&tuple(&[float]), &[])
                .iter()
                .all(Option::is_none)
        );
    }
}
