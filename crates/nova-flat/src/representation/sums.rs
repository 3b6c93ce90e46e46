//! The layout of sums that are not recursive: which components the payloads of their constructors share.
//!
//! Only one payload of a value is active. So scalars of one type in the payloads of different constructors
//! share a component, a *slot*. In a table of the nodes of `(Leaf 'a)` and `(Node 'a t t)`, one array holds
//! the values of all nodes. Rows of vectors share nothing: each has an array of elements of its own.
//!
//! In a node type, links share slots with links to the same member only. So every component has either
//! links or none (`crate::links::link_components`). In other sums, an `int` may be a link or not, which
//! depends on the node type that holds the sum. It has a slot of its own.

use super::components;
use nova_core::{Scalar, SumId, SumType, Type};
use nova_diag::deep;

/// The slots of a sum that is not recursive.
pub struct Layout {
    /// The slots, which follow the tag.
    pub slots: Vec<Leaf>,
    /// For each constructor, the slot of each leaf of its payload, in order.
    pub places: Vec<Vec<usize>>,
}

/// A leaf of a type: a scalar, a tag, a link, or rows.
pub struct Leaf {
    /// Its name, as in [`super::Component`]. A slot has that of the first constructor which has it.
    pub name: String,
    /// A scalar, a recursive sum, a vector or an array.
    pub ty: Type,
    /// The leaves with which it can share a slot.
    sharing: Sharing,
}

/// A class of leaves that can share a slot. Two leaves with `Own` never do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    /// A leaf with a slot of its own.
    Own,
    /// A tag of this type.
    Tag(Scalar),
    /// A scalar that is no link.
    Scalar(Scalar),
    /// A link to a node of this recursive sum.
    Link(SumId),
    /// The number of a node of this recursive sum, in a node type.
    Number(SumId),
}

/// Returns the type of the tags of a sum that is not recursive: bytes, unless it has too many constructors.
/// Most of what a table of nodes costs is its memory.
pub fn tag_scalar(id: SumId, sums: &[SumType]) -> Scalar {
    let constructors = sums.get(id.index()).map_or(0, |sum| sum.constructors.len());
    match constructors <= 1 << u8::BITS {
        true => Scalar::U8,
        false => Scalar::I32,
    }
}

/// Returns the layout of a sum that is not recursive.
pub fn layout(id: SumId, sums: &[SumType]) -> Layout {
    let mut slots: Vec<Leaf> = Vec::new();
    let mut places = Vec::new();
    for leaves in payload_leaves(id, sums) {
        let mut taken: Vec<usize> = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            let fits = |(k, slot): (usize, &Leaf)| {
                leaf.sharing != Sharing::Own && slot.sharing == leaf.sharing && !taken.contains(&k)
            };
            let place = match slots.iter().enumerate().position(fits) {
                Some(place) => place,
                None => {
                    slots.push(leaf);
                    slots.len() - 1
                }
            };
            taken.push(place);
        }
        places.push(taken);
    }
    Layout { slots, places }
}

/// Returns the leaves of a type, in order. A sum that is not recursive has its tag and its slots.
pub fn leaves(ty: &Type, sums: &[SumType]) -> Vec<Leaf> {
    let mut list = Vec::new();
    add_leaves(ty, sums, "", &mut list);
    list
}

/// Returns, for each component of the payload of a constructor, its index among the components of the
/// sum, which is not recursive. `lifted` tells whether both are lifted.
pub fn payload_places(id: SumId, constructor: usize, sums: &[SumType], lifted: bool) -> Vec<usize> {
    let layout = layout(id, sums);
    let mut starts = Vec::with_capacity(layout.slots.len() + 1);
    let mut next = 1;
    for slot in &layout.slots {
        starts.push(next);
        next += width(&slot.ty, sums, lifted);
    }
    starts.push(next);
    let taken = layout.places.get(constructor).into_iter().flatten();
    taken
        .flat_map(|slot| starts[*slot]..starts[slot + 1])
        .collect()
}

/// Returns the number of components of a type; of lifted ones if `lifted`.
pub fn width(ty: &Type, sums: &[SumType], lifted: bool) -> usize {
    match lifted {
        false => components(ty, sums).len(),
        // The vector of them has a length before.
        true => components(&Type::vector(ty.clone()), sums).len() - 1,
    }
}

/// Returns the leaves of the payload of each constructor.
fn payload_leaves(id: SumId, sums: &[SumType]) -> Vec<Vec<Leaf>> {
    let Some(sum) = sums.get(id.index()) else {
        return Vec::new();
    };
    let data = sum.node_of.and_then(|data| sums.get(data.index()));
    let mut all = Vec::with_capacity(sum.constructors.len());
    for (k, constructor) in sum.constructors.iter().enumerate() {
        let mut list = Vec::new();
        let payload = &constructor.payload;
        match data.and_then(|data| data.constructors.get(k)) {
            Some(data) => add_node(&data.payload, payload, sums, &constructor.name, &mut list),
            None => {
                add_leaves(payload, sums, &constructor.name, &mut list);
                list.iter_mut().for_each(Leaf::keep_numbers_apart);
            }
        }
        all.push(list);
    }
    all
}

impl Leaf {
    /// Gives an `int` that may be a link a slot of its own.
    fn keep_numbers_apart(&mut self) {
        if self.sharing == Sharing::Scalar(Scalar::I32) {
            self.sharing = Sharing::Own;
        }
    }
}

/// Adds the leaves of a part of a node. `data` is what stands there in the recursive sum.
fn add_node(data: &Type, node: &Type, sums: &[SumType], name: &str, list: &mut Vec<Leaf>) {
    deep(|| match (data, node) {
        (data, node) if data == node => add_leaves(node, sums, name, list),
        (Type::Sum(sum), node) if *node == Type::INT => list.push(Leaf {
            name: name.to_string(),
            ty: node.clone(),
            sharing: Sharing::Number(*sum),
        }),
        (Type::Tuple(data), Type::Tuple(nodes)) if data.len() == nodes.len() => {
            for (k, (data, node)) in data.iter().zip(nodes.iter()).enumerate() {
                add_node(data, node, sums, &super::join(name, &format!("e{k}")), list);
            }
        }
        (_, node) => {
            let before = list.len();
            add_leaves(node, sums, name, list);
            list.iter_mut()
                .skip(before)
                .for_each(Leaf::keep_numbers_apart);
        }
    });
}

/// Adds the leaves of a type, in which no `int` is a link.
fn add_leaves(ty: &Type, sums: &[SumType], name: &str, list: &mut Vec<Leaf>) {
    let leaf = |sharing| Leaf {
        name: name.to_string(),
        ty: ty.clone(),
        sharing,
    };
    deep(|| match ty {
        Type::Unit | Type::Function(..) => {}
        Type::Scalar(scalar) => list.push(leaf(Sharing::Scalar(*scalar))),
        Type::Vector(_) | Type::Array(..) => list.push(leaf(Sharing::Own)),
        Type::Sum(id) if sums.get(id.index()).is_some_and(SumType::is_recursive) => {
            list.push(leaf(Sharing::Link(*id)));
        }
        Type::Tuple(types) => {
            for (k, ty) in types.iter().enumerate() {
                add_leaves(ty, sums, &super::join(name, &format!("e{k}")), list);
            }
        }
        Type::Sum(id) => {
            let tag = tag_scalar(*id, sums);
            list.push(Leaf {
                name: super::join(name, "tag"),
                ty: Type::Scalar(tag),
                sharing: Sharing::Tag(tag),
            });
            for slot in layout(*id, sums).slots {
                list.push(Leaf {
                    name: super::join(name, &slot.name),
                    ..slot
                });
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use nova_core::Constructor;

    const FLOAT: Type = Type::Scalar(Scalar::F32);

    fn sum(group: &[u32], node_of: Option<u32>, payloads: Vec<Type>) -> SumType {
        let named = |(k, payload)| Constructor {
            name: format!("C{k}").into(),
            payload,
        };
        SumType {
            name: "S".into(),
            arguments: Vec::new(),
            constructors: payloads.into_iter().enumerate().map(named).collect(),
            group: group.iter().map(|id| SumId(*id)).collect(),
            node_of: node_of.map(SumId),
        }
    }

    fn tuple(elements: &[Type]) -> Type {
        Type::Tuple(elements.to_vec().into())
    }

    /// Returns the places of the components of each payload.
    fn places(sums: &[SumType], id: u32, lifted: bool) -> Vec<Vec<usize>> {
        let count = sums[id as usize].constructors.len();
        let of = |k| payload_places(SumId(id), k, sums, lifted);
        (0..count).map(of).collect()
    }

    #[test]
    fn scalars_of_one_type_share_slots() {
        let flag = Type::Scalar(Scalar::Bool);
        let box_type = tuple(&[FLOAT, flag.clone(), FLOAT]);
        let shape = sum(&[], None, vec![Type::Unit, FLOAT, box_type, flag]);
        let expected: [&[usize]; 4] = [&[], &[1], &[1, 2, 3], &[2]];
        assert_eq!(places(&[shape], 0, false), expected);
    }

    #[test]
    fn values_of_nodes_share_slots_and_links_do_with_links_of_one_member() {
        let [tree, other] = [0, 1].map(|id| Type::Sum(SumId(id)));
        let node = tuple(&[Type::INT, tree.clone(), tree]);
        let data = sum(&[0, 1], None, vec![Type::INT, node, other.clone(), other]);
        let numbers = tuple(&[Type::INT, Type::INT, Type::INT]);
        let nodes = vec![Type::INT, numbers, Type::INT, Type::INT];
        let sums = [data.clone(), data, sum(&[], Some(0), nodes)];
        let expected: [&[usize]; 4] = [&[1], &[1, 2, 3], &[4], &[4]];
        assert_eq!(places(&sums, 2, true), expected);
    }

    #[test]
    fn an_int_that_may_be_a_link_shares_nothing() {
        // (Either int Tree) stands in a node as (Either int int), whose second `int` is a link.
        let either = sum(&[], None, vec![Type::INT, Type::INT]);
        let expected: [&[usize]; 2] = [&[1], &[2]];
        assert_eq!(places(&[either], 0, false), expected);
    }

    #[test]
    fn rows_have_arrays_of_their_own() {
        let row = Type::vector(FLOAT);
        let rows = sum(&[], None, vec![row.clone(), tuple(&[FLOAT, row]), FLOAT]);
        let plain: [&[usize]; 3] = [&[1, 2], &[3, 4, 5], &[3]];
        let sums = [rows];
        assert_eq!(places(&sums, 0, false), plain);
        let lifted: [&[usize]; 3] = [&[1, 2, 3, 4], &[5, 6, 7, 8, 9], &[5]];
        assert_eq!(places(&sums, 0, true), lifted);
    }

    #[test]
    fn sums_in_payloads_share_tags_and_slots() {
        let inner = Type::Sum(SumId(0));
        let sums = [
            sum(&[], None, vec![Type::Unit, FLOAT]),
            sum(
                &[],
                None,
                vec![inner.clone(), tuple(&[FLOAT, inner.clone()]), FLOAT],
            ),
        ];
        let expected: [&[usize]; 3] = [&[1, 2], &[2, 1, 3], &[2]];
        assert_eq!(places(&sums, 1, false), expected);
        assert_eq!(width(&Type::Sum(SumId(1)), &sums, false), 4);
    }
}
