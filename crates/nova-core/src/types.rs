//! The concrete types of Core.

use crate::Scalar;
use crate::strategy::LANES;
use nova_diag::deep;
use std::sync::Arc;

nova_diag::ids! {
    /// Names a sum type of a program.
    pub struct SumId;
}

/// A concrete type (language §3). Children are shared, so clones are cheap.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// A scalar.
    Scalar(Scalar),
    /// `unit`.
    Unit,
    /// A tuple of at least two types.
    Tuple(Arc<[Type]>),
    /// `vector T`.
    Vector(Arc<Type>),
    /// `vector#n T` with n ≥ 2.
    Array(u32, Arc<Type>),
    /// `T -> T`.
    Function(Arc<Type>, Arc<Type>),
    /// A sum type.
    Sum(SumId),
}

/// One concrete instance of a sum type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumType {
    /// The name in its declaration.
    pub name: Arc<str>,
    /// The arguments of this instance.
    pub arguments: Vec<Type>,
    /// Its constructors, whose indices are the tags.
    pub constructors: Vec<Constructor>,
    /// The sums of its recursive group, in ascending order, including itself. The group has those sums
    /// whose values can contain values of this one and vice versa. It is empty if the sum is not
    /// recursive. From Flat on, values of recursive sums are links into a node table.
    pub group: Vec<SumId>,
    /// For a sum whose values are nodes with `int` links: the recursive sum whose nodes they are.
    pub node_of: Option<SumId>,
}

/// A member of a group whose nodes stand in tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Member {
    /// The recursive sum.
    pub data: SumId,
    /// Its node type. In Core it names the recursive sum ([`SumType::node_of`]).
    pub node: SumId,
}

/// A constructor of a sum type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constructor {
    /// Its name.
    pub name: Arc<str>,
    /// Its payload, perhaps `unit`.
    pub payload: Type,
}

impl SumType {
    /// True if it was written as a type, and so is named after its constructors: `+A+B`. Then its
    /// arguments are the payloads.
    pub fn is_anonymous(&self) -> bool {
        self.name.starts_with('+')
    }

    /// True if values of it are stored in a node table.
    pub fn is_recursive(&self) -> bool {
        !self.group.is_empty()
    }
}

impl Type {
    /// `int`.
    pub const INT: Type = Type::Scalar(Scalar::I32);
    /// `bool`.
    pub const BOOL: Type = Type::Scalar(Scalar::Bool);

    /// Returns `vector element`.
    pub fn vector(element: Type) -> Type {
        Type::Vector(Arc::new(element))
    }

    /// Returns `vector#rank element`. Rank 1 is `vector`.
    pub fn array(rank: u32, element: Type) -> Type {
        if rank <= 1 {
            Type::vector(element)
        } else {
            Type::Array(rank, Arc::new(element))
        }
    }

    /// Returns a tuple. It is `unit` for no types, and the type itself for one.
    pub fn tuple(mut elements: Vec<Type>) -> Type {
        match elements.len() {
            0 => Type::Unit,
            1 => elements.remove(0),
            _ => Type::Tuple(elements.into()),
        }
    }

    /// Returns the curried function type of `parameters` and `result`.
    pub fn function(parameters: &[Type], result: Type) -> Type {
        parameters.iter().rev().fold(result, |result, parameter| {
            Type::Function(Arc::new(parameter.clone()), Arc::new(result))
        })
    }

    /// Returns the scalar type that it is, if it is one.
    pub fn as_scalar(&self) -> Option<Scalar> {
        match self {
            Type::Scalar(scalar) => Some(*scalar),
            _ => None,
        }
    }

    /// Returns number and type of the elements of a tuple that may represent a `vec#n`.
    pub fn as_lanes(&self) -> Option<(u32, Scalar)> {
        let Type::Tuple(elements) = self else {
            return None;
        };
        let scalar = elements.first()?.as_scalar()?;
        let count = elements.len() as u32;
        let alike = elements.iter().all(|e| *e == elements[0]);
        let held = alike && scalar != Scalar::Bool && LANES.contains(&count);
        held.then_some((count, scalar))
    }

    /// Returns the rank and the elements of a `vector` or `vector#n`.
    pub fn as_array(&self) -> Option<(u32, &Type)> {
        match self {
            Type::Vector(element) => Some((1, element)),
            Type::Array(rank, element) => Some((*rank, element)),
            Type::Scalar(_) | Type::Unit | Type::Tuple(_) | Type::Function(..) | Type::Sum(_) => {
                None
            }
        }
    }

    /// True if a value of it is, or holds, recursive data.
    pub fn holds_links(&self, sums: &[SumType]) -> bool {
        deep(|| match self {
            Type::Scalar(_) | Type::Unit | Type::Function(..) => false,
            Type::Vector(element) | Type::Array(_, element) => element.holds_links(sums),
            Type::Tuple(elements) => elements.iter().any(|e| e.holds_links(sums)),
            Type::Sum(id) => sums.get(id.index()).is_some_and(|sum| {
                let mut payloads = sum.constructors.iter().map(|c| &c.payload);
                sum.is_recursive() || payloads.any(|p| p.holds_links(sums))
            }),
        })
    }

    /// True if a value of it holds a vector, not counting those in nodes of recursive data.
    pub fn holds_vectors(&self, sums: &[SumType]) -> bool {
        deep(|| match self {
            Type::Scalar(_) | Type::Unit | Type::Function(..) => false,
            Type::Vector(_) | Type::Array(..) => true,
            Type::Tuple(elements) => elements.iter().any(|e| e.holds_vectors(sums)),
            Type::Sum(id) => match sums.get(id.index()) {
                Some(sum) if !sum.is_recursive() => {
                    let mut payloads = sum.constructors.iter().map(|c| &c.payload);
                    payloads.any(|p| p.holds_vectors(sums))
                }
                Some(_) | None => false,
            },
        })
    }
}
