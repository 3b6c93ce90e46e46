//! The concrete types of Core.

use crate::Scalar;
use crate::strategy::LANES;
use nova_diag::deep;
use std::sync::Arc;

nova_diag::ids! {
    /// Names a sum type of a program.
    pub struct SumId;
}

/// A concrete type (language §3); children are shared, so clones are cheap.
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
    /// The name it was declared with.
    pub name: Arc<str>,
    /// The arguments of this instance.
    pub arguments: Vec<Type>,
    /// Its constructors; their order is their tag.
    pub constructors: Vec<Constructor>,
    /// The sums of its recursive group when a value of it can contain another value of it, itself
    /// included, in ascending order; empty when it is not recursive. Values of recursive sums are
    /// held as links into a node table from Flat on.
    pub group: Vec<SumId>,
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
    /// True where it was written as a type, and so is named after its constructors: `+A+B`.
    /// Its arguments are the payloads then.
    pub fn is_anonymous(&self) -> bool {
        self.name.starts_with('+')
    }

    /// True if values of it are held in a node table.
    pub fn is_recursive(&self) -> bool {
        !self.group.is_empty()
    }
}

impl Type {
    /// `int`.
    pub const INT: Type = Type::Scalar(Scalar::I32);
    /// `bool`.
    pub const BOOL: Type = Type::Scalar(Scalar::Bool);

    /// `vector element`.
    pub fn vector(element: Type) -> Type {
        Type::Vector(Arc::new(element))
    }

    /// `vector#rank element`; rank 1 is `vector`.
    pub fn array(rank: u32, element: Type) -> Type {
        if rank <= 1 {
            Type::vector(element)
        } else {
            Type::Array(rank, Arc::new(element))
        }
    }

    /// A tuple; of no type `unit`, of one that type.
    pub fn tuple(mut elements: Vec<Type>) -> Type {
        match elements.len() {
            0 => Type::Unit,
            1 => elements.remove(0),
            _ => Type::Tuple(elements.into()),
        }
    }

    /// The curried function type of `parameters` and `result`.
    pub fn function(parameters: &[Type], result: Type) -> Type {
        parameters.iter().rev().fold(result, |result, parameter| {
            Type::Function(Arc::new(parameter.clone()), Arc::new(result))
        })
    }

    /// The scalar type it is, if it is one.
    pub fn as_scalar(&self) -> Option<Scalar> {
        match self {
            Type::Scalar(scalar) => Some(*scalar),
            Type::Unit
            | Type::Tuple(_)
            | Type::Vector(_)
            | Type::Array(..)
            | Type::Function(..)
            | Type::Sum(_) => None,
        }
    }

    /// How many of which number a tuple has that may hold a `vec#n`.
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

    /// The rank and the elements of a `vector` or `vector#n`.
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

    /// True if a value of it holds a vector, other than behind a link of recursive data.
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
