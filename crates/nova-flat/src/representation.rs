//! How values of Core types are held in Flat: the one description that lowering, borders and
//! interpreters share.
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
//! | other sum | `tag` (i32), then the components of every constructor's payload, in order |
//!
//! and U lifted over a shape S (all indices of S in parallel):
//!
//! | U | components |
//! | --- | --- |
//! | scalar | an array of shape S |
//! | `unit` | none |
//! | tuple | its elements, lifted over S |
//! | `vector V` | `starts`, `ends` of shape S, `total` (i64), then V lifted over `[total]` |
//! | `vector#k V` | k arrays of extents and `starts`, each of shape S, `total`, then V lifted over `[total]` |
//! | recursive sum | links, of shape S |
//! | other sum | tags of shape S, then every payload lifted over S |
//!
//! The payload of a constructor that is not active holds zeros and empty arrays ([`components`] of
//! it, all sizes 0).

use nova_core::{Scalar, SumType, Type};

/// One component of a representation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// A telling suffix for its name: `length`, `starts1`, `e0`, `tag`, `Some`, … joined by `_`;
    /// empty for the value itself.
    pub name: String,
    /// Its element type.
    pub scalar: Scalar,
    /// Empty for a scalar; else its extents, each the index of an earlier component of the list.
    pub shape: Vec<usize>,
}

/// The components of a type, in order.
pub fn components(ty: &Type, sums: &[SumType]) -> Vec<Component> {
    let mut list = Vec::new();
    add(ty, sums, "", &[], &mut list);
    list
}

/// Adds the components of `ty`: plain where `shape` is empty, lifted over `shape` otherwise.
///
/// Non-recursive sums nest only as deep as types do, and recursive ones stop at the link.
fn add(ty: &Type, sums: &[SumType], prefix: &str, shape: &[usize], list: &mut Vec<Component>) {
    let push = |suffix: &str, scalar: Scalar, shape: &[usize], list: &mut Vec<Component>| {
        list.push(Component {
            name: join(prefix, suffix),
            scalar,
            shape: shape.to_vec(),
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
                push("link", Scalar::I64, shape, list);
                return;
            }
            push("tag", Scalar::I32, shape, list);
            for constructor in &sum.constructors {
                let prefix = join(prefix, &constructor.name);
                add(&constructor.payload, sums, &prefix, shape, list);
            }
        }
        // Functions are gone; a program that still has one is refused by the verifier.
        Type::Function(..) => {}
    }
}

fn join(prefix: &str, suffix: &str) -> String {
    match (prefix.is_empty(), suffix.is_empty()) {
        (true, _) => suffix.to_string(),
        (_, true) => prefix.to_string(),
        (false, false) => format!("{prefix}_{suffix}"),
    }
}
