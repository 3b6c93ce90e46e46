//! The declarations of a program: synonyms, sums with their constructors, foreign functions.

use crate::types::{Shallow, SumDeclarationId, Ty, TypeVariable, Types};
use nova_diag::Span;
use nova_syntax::ast::{self, Name};
use std::collections::HashMap;
use std::sync::Arc;

/// The meaning of a type's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeMeaning {
    Synonym(u32),
    Sum(SumDeclarationId),
}

/// A declared synonym.
pub(crate) struct Synonym {
    pub parameters: Vec<TypeVariable>,
    pub body: Ty,
}

/// A declared sum type.
pub(crate) struct SumDeclaration {
    pub name: Name,
    pub parameters: Vec<TypeVariable>,
    pub constructors: Vec<ConstructorDeclaration>,
    /// The place of the type that makes every instance of the sum need ever larger instances, if
    /// there is one.
    pub endless: Option<Span>,
    /// Its node type, if it is recursive.
    pub nodes: Option<NodeDeclaration>,
    /// The sum whose nodes its values are, if it is a node type.
    pub node_of: Option<SumDeclarationId>,
}

/// The node type of a recursive sum.
pub(crate) struct NodeDeclaration {
    /// The sums that contain each other by their declarations, in order, including the sum itself.
    pub group: Arc<[SumDeclarationId]>,
    /// The node type, or the reason why there is none.
    pub node: Result<SumDeclarationId, NoNodes>,
}

/// The reason why a sum has no node type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoNodes {
    /// It does not contain itself.
    NotRecursive,
    /// A sum of its group stands with other arguments at this place.
    OtherArguments(Span),
    /// A sum of its group contains its own nodes at this place.
    OwnNodes(Span),
}

/// A declared constructor.
pub(crate) struct ConstructorDeclaration {
    pub name: Name,
    pub payload: Ty,
    /// The place of its payload's type.
    pub payload_span: Span,
    /// True if its payload is `unit`, so that its name alone is a value.
    pub constant: bool,
}

/// A foreign function.
pub(crate) struct ForeignDeclaration {
    pub kind: ast::ForeignKind,
    pub name: Name,
    pub ty: Ty,
}

/// All declarations of a program.
#[derive(Default)]
pub(crate) struct Declarations {
    /// The declared sum for each sum that is written where a type stands.
    pub written: HashMap<ast::TypeId, WrittenSum>,
    pub names: HashMap<Arc<str>, TypeMeaning>,
    pub synonyms: Vec<Synonym>,
    pub sums: Vec<SumDeclaration>,
    /// The sums that would contain their own nodes, with the place.
    pub own_nodes: HashMap<SumDeclarationId, Span>,
    pub foreigns: HashMap<Arc<str>, u32>,
    pub foreign_types: Vec<ForeignDeclaration>,
    constructors: HashMap<Arc<str>, (u32, u32)>,
}

/// The sum and the arguments of which a written sum is an instance.
pub(crate) struct WrittenSum {
    pub sum: SumDeclarationId,
    /// For each parameter, the part of it that is the argument, where there is one.
    pub arguments: Vec<Option<ast::TypeId>>,
}

impl Declarations {
    /// Returns the sum and the index of a constructor.
    pub fn constructor(&self, name: &str) -> Option<(u32, u32)> {
        self.constructors.get(name).copied()
    }

    /// Returns the names of all constructors.
    pub fn constructor_names(&self) -> impl Iterator<Item = &str> {
        self.constructors.keys().map(|name| &**name)
    }

    /// Enters a constructor of a sum.
    pub fn enter(&mut self, name: &Name, sum: SumDeclarationId, place: u32) {
        self.constructors.insert(name.text.clone(), (sum.0, place));
    }

    /// Returns the declared sum of a name.
    pub fn sum_named(&self, name: &str) -> Option<SumDeclarationId> {
        match self.names.get(name) {
            Some(TypeMeaning::Sum(sum)) => Some(*sum),
            Some(TypeMeaning::Synonym(_)) | None => None,
        }
    }

    /// Returns a declared sum.
    pub fn sum(&self, id: SumDeclarationId) -> &SumDeclaration {
        &self.sums[id.0 as usize]
    }
}

/// Returns the variable that a type is, if it is one.
pub(crate) fn variable_of(types: &mut Types, ty: Ty) -> Option<TypeVariable> {
    match types.shallow(ty) {
        Shallow::Unbound(variable, _) => Some(variable),
        Shallow::Node(_) => None,
    }
}
