//! The memory layout of values of each type in a generated program (abi §2): sizes, alignments and
//! offsets of C compilers for 64-bit machines. The code compiled with a program asserts that its
//! compiler agrees.

use nova_core::{Scalar, SumId, SumType, Type};
use nova_diag::deep;

/// The layout of a type as an array element, a struct's member, or a struct passed by value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Size in bytes. It is 0 for types without a representation in C: `unit` and tuples of it.
    pub size: usize,
    /// Alignment in bytes.
    pub alignment: usize,
    /// Its content.
    pub kind: LayoutKind,
}

/// The content of a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutKind {
    /// `unit`.
    Unit,
    /// A scalar; `bool` is a byte.
    Scalar(Scalar),
    /// `e0`, `e1`, …: the offset of each element.
    Tuple(Vec<(usize, Layout)>),
    /// `tag`, then the union at this offset, with a member for each constructor.
    Sum(usize, Vec<Layout>),
    /// `len`, `data`.
    Vector(Box<Items>),
    /// `dim0` …, `data`, for an array of this rank.
    Array(u32, Box<Items>),
    /// A recursive value: `root`, then the length and nodes of each type of its group.
    Data(Box<Tables>),
    /// A link inside of a node: the index of a node of this type of the group.
    Link(usize),
}

/// The node tables of a recursive value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// The type of the root, as a position in the group.
    pub own: usize,
    /// The layout of the nodes of each type. All are sums.
    pub nodes: Vec<Layout>,
}

/// The elements of a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Items {
    /// The layout of each element.
    pub layout: Layout,
    /// Their type when it is a scalar. They are then packed.
    pub scalar: Option<Scalar>,
}

/// The layout of a `bool`.
pub static BOOL: Layout = Layout {
    size: 1,
    alignment: 1,
    kind: LayoutKind::Scalar(Scalar::Bool),
};

/// The size of a pointer, and of a length.
pub const WORD: usize = 8;

impl Layout {
    /// Returns the layout of a type. The error says why values of it cannot be passed.
    pub fn of(ty: &Type, sums: &[SumType]) -> Result<Layout, String> {
        Layout::inside(ty, sums, &[])
    }

    /// Returns the layout of a type inside of the nodes of a group of recursive types. Outside of
    /// nodes the group is empty.
    fn inside(ty: &Type, sums: &[SumType], group: &[SumId]) -> Result<Layout, String> {
        deep(|| match ty {
            Type::Unit => Ok(Layout::plain(0, 1, LayoutKind::Unit)),
            Type::Scalar(scalar) => {
                let bytes = usize::from(scalar.info().bytes);
                Ok(Layout::plain(bytes, bytes, LayoutKind::Scalar(*scalar)))
            }
            Type::Tuple(elements) => Layout::tuple(elements, sums, group),
            Type::Vector(element) => {
                let items = Box::new(Items::inside(element, sums, group)?);
                let pointers = usize::from(items.layout.size > 0);
                Ok(Layout::words(1 + pointers, LayoutKind::Vector(items)))
            }
            Type::Array(rank, element) => {
                let items = Box::new(Items::inside(element, sums, group)?);
                let pointers = usize::from(items.layout.size > 0);
                let words = *rank as usize + pointers;
                Ok(Layout::words(words, LayoutKind::Array(*rank, items)))
            }
            Type::Sum(id) => match group.iter().position(|member| member == id) {
                Some(member) => Ok(Layout::words(1, LayoutKind::Link(member))),
                None => Layout::sum_or_data(*id, sums),
            },
            Type::Function(..) => Err("functions cannot be passed".to_string()),
        })
    }

    fn plain(size: usize, alignment: usize, kind: LayoutKind) -> Layout {
        Layout {
            size,
            alignment,
            kind,
        }
    }

    fn words(count: usize, kind: LayoutKind) -> Layout {
        Layout::plain(count * WORD, WORD, kind)
    }

    fn tuple(elements: &[Type], sums: &[SumType], group: &[SumId]) -> Result<Layout, String> {
        let (mut offset, mut alignment) = (0usize, 1);
        let mut members = Vec::with_capacity(elements.len());
        for element in elements {
            let layout = Layout::inside(element, sums, group)?;
            offset = offset.next_multiple_of(layout.alignment);
            alignment = alignment.max(layout.alignment);
            let size = layout.size;
            members.push((offset, layout));
            offset += size;
        }
        let size = offset.next_multiple_of(alignment);
        Ok(Layout::plain(size, alignment, LayoutKind::Tuple(members)))
    }

    fn sum_or_data(id: SumId, sums: &[SumType]) -> Result<Layout, String> {
        let find = |id: SumId| {
            let sum = sums.get(id.0 as usize);
            sum.ok_or_else(|| "a sum type that is not declared".to_string())
        };
        let sum = find(id)?;
        if !sum.is_recursive() {
            return Layout::sum(sum, sums, &[]);
        }
        let group = &sum.group;
        let nodes: Result<Vec<Layout>, String> = group
            .iter()
            .map(|member| Layout::sum(find(*member)?, sums, group))
            .collect();
        let own = group.iter().position(|member| *member == id).unwrap_or(0);
        let tables = Tables { own, nodes: nodes? };
        let words = 1 + 2 * tables.nodes.len();
        Ok(Layout::words(words, LayoutKind::Data(Box::new(tables))))
    }

    /// Returns the layout of a sum: a tag and a union.
    fn sum(sum: &SumType, sums: &[SumType], group: &[SumId]) -> Result<Layout, String> {
        let payloads: Result<Vec<Layout>, String> = sum
            .constructors
            .iter()
            .map(|c| Layout::inside(&c.payload, sums, group))
            .collect();
        let payloads = payloads?;
        let alignment = payloads.iter().map(|p| p.alignment).max().unwrap_or(1);
        let size = payloads.iter().map(|p| p.size).max().unwrap_or(0);
        let union = 4usize.next_multiple_of(alignment);
        let alignment = alignment.max(4);
        let size = (union + size).next_multiple_of(alignment);
        Ok(Layout::plain(
            size,
            alignment,
            LayoutKind::Sum(union, payloads),
        ))
    }
}

impl Items {
    fn of(element: &Type, sums: &[SumType]) -> Result<Items, String> {
        Items::inside(element, sums, &[])
    }

    fn inside(element: &Type, sums: &[SumType], group: &[SumId]) -> Result<Items, String> {
        Ok(Items {
            layout: Layout::inside(element, sums, group)?,
            scalar: element.as_scalar(),
        })
    }
}

/// The form in which a parameter or a result of an entry is passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passing {
    /// It is not passed: `unit`, and tuples of nothing else.
    Nothing(Layout),
    /// A `bool`: an `int`.
    Bool,
    /// By value.
    Value(Layout),
    /// A vector nested `levels` deep (1 for `vector T`): `len`, an array of offsets for each
    /// further level, `data`.
    Vector {
        /// Levels of vectors.
        levels: usize,
        /// The innermost elements.
        items: Items,
    },
    /// `dim0`, …, `data`.
    Array {
        /// The number of dimensions.
        rank: usize,
        /// The elements.
        items: Items,
    },
}

impl Passing {
    /// Returns the form in which values of a type are passed.
    pub fn of(ty: &Type, sums: &[SumType]) -> Result<Passing, String> {
        match ty {
            Type::Scalar(Scalar::Bool) => Ok(Passing::Bool),
            Type::Vector(element) => {
                let (mut levels, mut inner) = (1, element);
                while let Type::Vector(element) = &**inner {
                    levels += 1;
                    inner = element;
                }
                let items = Items::of(inner, sums)?;
                Ok(Passing::Vector { levels, items })
            }
            Type::Array(rank, element) => Ok(Passing::Array {
                rank: *rank as usize,
                items: Items::of(element, sums)?,
            }),
            Type::Unit | Type::Scalar(_) | Type::Tuple(_) | Type::Sum(_) | Type::Function(..) => {
                let layout = Layout::of(ty, sums)?;
                Ok(match layout.size {
                    0 => Passing::Nothing(layout),
                    _ => Passing::Value(layout),
                })
            }
        }
    }

    /// Returns the number of C parameters.
    pub fn cells(&self) -> usize {
        match self {
            Passing::Nothing(_) => 0,
            Passing::Bool | Passing::Value(_) => 1,
            Passing::Vector { levels, items } => levels + usize::from(items.layout.size > 0),
            Passing::Array { rank, items } => rank + usize::from(items.layout.size > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nova_core::Constructor;

    fn size(ty: &Type) -> (usize, usize) {
        let sums = [SumType {
            name: "Maybe".into(),
            arguments: vec![],
            constructors: vec![
                Constructor {
                    name: "None".into(),
                    payload: Type::Unit,
                },
                Constructor {
                    name: "Some".into(),
                    payload: Type::Scalar(Scalar::F64),
                },
            ],
            group: vec![],
            node_of: None,
        }];
        let layout = Layout::of(ty, &sums).expect("a layout");
        (layout.size, layout.alignment)
    }

    #[test]
    fn structs_are_padded_as_in_c() {
        let bool = Type::BOOL;
        let double = Type::Scalar(Scalar::F64);
        assert_eq!(
            size(&Type::tuple(vec![
                bool.clone(),
                double.clone(),
                bool.clone()
            ])),
            (24, 8)
        );
        assert_eq!(size(&Type::tuple(vec![bool.clone(), Type::INT])), (8, 4));
        assert_eq!(size(&Type::tuple(vec![Type::Unit, Type::Unit])), (0, 1));
        assert_eq!(size(&Type::vector(Type::Unit)), (8, 8));
        assert_eq!(size(&Type::vector(double.clone())), (16, 8));
        assert_eq!(size(&Type::Sum(SumId(0))), (16, 8));
        assert_eq!(
            size(&Type::tuple(vec![bool, Type::vector(double)])),
            (24, 8)
        );
    }
}
