//! Interned concrete types: equal types have equal numbers. This module makes the instances of sums
//! and computes the size of each type. The size is the number of parts of the type without sharing,
//! as in C.

use super::Mono;
use crate::types::{Shallow, SumDeclarationId, Ty, TyNode};
use nova_core::{Scalar, SumId, Type};
use nova_diag::deep;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A concrete type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct MonoType(u32);

/// The form of a concrete type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum MonoNode {
    Scalar(Scalar),
    Unit,
    Tuple(Vec<MonoType>),
    Vector(MonoType),
    Array(u32, MonoType),
    Function(MonoType, MonoType),
    Sum(SumId),
}

/// All concrete types of a program.
#[derive(Default)]
pub(super) struct Concrete {
    numbers: HashMap<MonoNode, MonoType>,
    nodes: Vec<MonoNode>,
    core: Vec<Type>,
    /// The number of parts of each type, where it is known.
    sizes: Vec<Option<u64>>,
    /// The number of parts that each sum adds to a type that contains it, for the sums whose
    /// constructors are known.
    pub(super) sum_sizes: Vec<u64>,
    /// The arguments of each sum.
    pub(super) sum_arguments: Vec<Vec<MonoType>>,
    /// The payloads of the constructors of each sum.
    pub(super) payloads: Vec<Vec<MonoType>>,
    /// The declaration of each sum of the program.
    pub(super) declarations: Vec<SumDeclarationId>,
    /// Instances of sums by declaration and arguments.
    pub(super) sums: HashMap<(SumDeclarationId, Vec<MonoType>), SumId>,
    /// Instances whose constructors are still to be filled in.
    pub(super) pending: Vec<(SumId, SumDeclarationId, Vec<MonoType>)>,
}

impl Concrete {
    /// Returns the Core type.
    pub fn core(&self, ty: MonoType) -> Type {
        self.core[ty.0 as usize].clone()
    }

    /// Returns the declaration that a sum is an instance of.
    pub fn declaration(&self, sum: SumId) -> Option<SumDeclarationId> {
        self.declarations.get(sum.0 as usize).copied()
    }

    /// Returns the number of parts of a type without sharing. A sum has those of its constructors
    /// or of its arguments, whichever are more. A link to recursive data is one part. The
    /// constructors of all sums in the type must be filled in.
    pub fn size(&mut self, ty: MonoType) -> u64 {
        if let Some(size) = self.sizes[ty.0 as usize] {
            return size;
        }
        let node = self.nodes[ty.0 as usize].clone();
        let size = match node {
            MonoNode::Scalar(_) | MonoNode::Unit => 1,
            MonoNode::Tuple(elements) => 1u64.saturating_add(self.sum_of_sizes(&elements)),
            MonoNode::Vector(element) => deep(|| self.size(element)).saturating_add(1),
            MonoNode::Array(rank, element) => {
                deep(|| self.size(element)).saturating_add(u64::from(rank))
            }
            MonoNode::Function(parameter, result) => {
                1u64.saturating_add(self.sum_of_sizes(&[parameter, result]))
            }
            MonoNode::Sum(sum) => match self.sum_sizes.get(sum.0 as usize) {
                Some(size) => *size,
                None => return 1,
            },
        };
        self.sizes[ty.0 as usize] = Some(size);
        size
    }

    /// Returns the number of parts that several types have together.
    pub fn sum_of_sizes(&mut self, types: &[MonoType]) -> u64 {
        types
            .iter()
            .fold(0u64, |sum, ty| sum.saturating_add(deep(|| self.size(*ty))))
    }

    /// Returns the sums that types mention, each once.
    pub fn sums_in(&self, types: &[MonoType]) -> Vec<SumId> {
        let mut sums = Vec::new();
        let mut seen = HashSet::new();
        let mut work = types.to_vec();
        while let Some(ty) = work.pop() {
            if !seen.insert(ty) {
                continue;
            }
            match &self.nodes[ty.0 as usize] {
                MonoNode::Scalar(_) | MonoNode::Unit => {}
                MonoNode::Tuple(elements) => work.extend(elements),
                MonoNode::Vector(element) | MonoNode::Array(_, element) => work.push(*element),
                MonoNode::Function(parameter, result) => work.extend([*parameter, *result]),
                MonoNode::Sum(sum) => sums.push(*sum),
            }
        }
        sums
    }

    fn intern(&mut self, node: MonoNode) -> MonoType {
        if let Some(number) = self.numbers.get(&node) {
            return *number;
        }
        let core = match &node {
            MonoNode::Scalar(scalar) => Type::Scalar(*scalar),
            MonoNode::Unit => Type::Unit,
            MonoNode::Tuple(elements) => {
                Type::Tuple(elements.iter().map(|ty| self.core(*ty)).collect())
            }
            MonoNode::Vector(element) => Type::vector(self.core(*element)),
            MonoNode::Array(rank, element) => Type::array(*rank, self.core(*element)),
            MonoNode::Function(parameter, result) => {
                let (parameter, result) = (self.core(*parameter), self.core(*result));
                Type::Function(Arc::new(parameter), Arc::new(result))
            }
            MonoNode::Sum(sum) => Type::Sum(*sum),
        };
        let number = MonoType(self.core.len() as u32);
        self.core.push(core);
        self.sizes.push(None);
        self.nodes.push(node.clone());
        self.numbers.insert(node, number);
        number
    }
}

impl Mono<'_, '_> {
    /// Returns the concrete type of a type in the instance being translated.
    pub fn mono_type(&mut self, ty: Ty) -> MonoType {
        self.convert(ty).0
    }

    /// Returns the concrete type, and true if it contains quantified variables.
    fn convert(&mut self, ty: Ty) -> (MonoType, bool) {
        let ty = self.inference.solver.types.resolve(ty);
        if let Some(Some(done)) = self.ground.get(ty.0 as usize) {
            return (*done, false);
        }
        if let Some(done) = self.frames.last().and_then(|frame| frame.get(&ty)) {
            return (*done, true);
        }
        let (mono, generic) = match self.inference.solver.types.shallow(ty) {
            Shallow::Unbound(variable, _) => match self.environment.get(&variable) {
                Some(mono) => (*mono, true),
                // It has been reported as undetermined.
                None => (self.concrete.intern(MonoNode::Unit), true),
            },
            Shallow::Node(node) => deep(|| self.convert_node(&node)),
        };
        if generic {
            if let Some(frame) = self.frames.last_mut() {
                frame.insert(ty, mono);
            }
        } else {
            if self.ground.len() <= ty.0 as usize {
                self.ground.resize(ty.0 as usize + 1, None);
            }
            self.ground[ty.0 as usize] = Some(mono);
        }
        (mono, generic)
    }

    fn convert_all(&mut self, types: &[Ty]) -> (Vec<MonoType>, bool) {
        let mut any = false;
        let converted = types
            .iter()
            .map(|ty| {
                let (mono, generic) = self.convert(*ty);
                any |= generic;
                mono
            })
            .collect();
        (converted, any)
    }

    fn convert_node(&mut self, node: &TyNode) -> (MonoType, bool) {
        let (node, generic) = match node {
            TyNode::Error | TyNode::Variable(_) | TyNode::Unit => (MonoNode::Unit, false),
            TyNode::Scalar(scalar) => (MonoNode::Scalar(*scalar), false),
            TyNode::Link(link) => return self.link_type(*link),
            TyNode::Tuple(elements) => {
                let (elements, generic) = self.convert_all(elements);
                (MonoNode::Tuple(elements), generic)
            }
            TyNode::Vector(element) => {
                let (element, generic) = self.convert(*element);
                (MonoNode::Vector(element), generic)
            }
            TyNode::Array(rank, element) => {
                let (element, generic) = self.convert(*element);
                (MonoNode::Array(*rank, element), generic)
            }
            // From here on it is the tuple of its elements.
            TyNode::Lanes(lanes, element) => {
                let (element, generic) = self.convert(*element);
                (MonoNode::Tuple(vec![element; *lanes as usize]), generic)
            }
            TyNode::Function(parameter, result) => {
                let (parameter, in_parameter) = self.convert(*parameter);
                let (result, in_result) = self.convert(*result);
                let generic = in_parameter || in_result;
                (MonoNode::Function(parameter, result), generic)
            }
            TyNode::Sum(declaration, arguments) => {
                let (arguments, generic) = self.convert_all(arguments);
                (MonoNode::Sum(self.sum(*declaration, arguments)), generic)
            }
        };
        (self.concrete.intern(node), generic)
    }
}
