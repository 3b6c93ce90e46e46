//! Concrete types, interned: equal types have equal numbers. Instances of sums are made here.

use super::{Mono, fill_groups};
use crate::types::{Shallow, SumDeclarationId, Ty, TyNode};
use nova_core::{Constructor, Scalar, SumId, SumType, Type};
use nova_diag::{Diagnostic, Span, codes, deep};
use std::collections::HashMap;
use std::sync::Arc;

/// A concrete type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct MonoType(u32);

/// What a concrete type is made of.
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
    core: Vec<Type>,
    sizes: Vec<u64>,
    /// For each sum of the program its declaration.
    declarations: Vec<SumDeclarationId>,
    /// Instances of sums by declaration and arguments.
    sums: HashMap<(SumDeclarationId, Vec<MonoType>), SumId>,
    /// Instances whose constructors are still to be filled in.
    pending: Vec<(SumId, SumDeclarationId, Vec<MonoType>)>,
}

impl Concrete {
    /// The Core type.
    pub fn core(&self, ty: MonoType) -> Type {
        self.core[ty.0 as usize].clone()
    }

    /// The declaration that a sum is an instance of.
    pub fn declaration(&self, sum: SumId) -> Option<SumDeclarationId> {
        self.declarations.get(sum.0 as usize).copied()
    }

    /// How many parts a type has, written out.
    pub fn size(&self, ty: MonoType) -> u64 {
        self.sizes[ty.0 as usize]
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
        let parts: &[MonoType] = match &node {
            MonoNode::Scalar(_) | MonoNode::Unit | MonoNode::Sum(_) => &[],
            MonoNode::Tuple(elements) => elements,
            MonoNode::Vector(element) | MonoNode::Array(_, element) => &[*element],
            MonoNode::Function(parameter, result) => &[*parameter, *result],
        };
        let size = parts
            .iter()
            .fold(1u64, |sum, part| sum.saturating_add(self.size(*part)));
        let number = MonoType(self.core.len() as u32);
        self.core.push(core);
        self.sizes.push(size);
        self.numbers.insert(node, number);
        number
    }
}

impl Mono<'_, '_> {
    /// The concrete type of a type in the instance being translated.
    pub fn mono_type(&mut self, ty: Ty) -> MonoType {
        self.convert(ty).0
    }

    /// The concrete type, and whether quantified variables are in it.
    fn convert(&mut self, ty: Ty) -> (MonoType, bool) {
        let ty = self.inference.types.resolve(ty);
        if let Some(Some(done)) = self.ground.get(ty.0 as usize) {
            return (*done, false);
        }
        if let Some(done) = self.frames.last().and_then(|frame| frame.get(&ty)) {
            return (*done, true);
        }
        let (mono, generic) = match self.inference.types.shallow(ty) {
            Shallow::Unbound(variable, _) => match self.environment.get(&variable) {
                Some(mono) => (*mono, true),
                // Reported as undetermined before.
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
            // The tuple of its elements from here on.
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

    /// The instance of a sum; its constructors are filled in at the end.
    fn sum(&mut self, declaration: SumDeclarationId, arguments: Vec<MonoType>) -> SumId {
        let key = (declaration, arguments);
        if let Some(sum) = self.concrete.sums.get(&key) {
            return *sum;
        }
        let sum = SumId(self.core.sums.len() as u32);
        self.concrete.declarations.push(declaration);
        let declared = self.inference.declarations.sum(declaration);
        let arguments = key.1.iter().map(|ty| self.concrete.core(*ty)).collect();
        self.core.sums.push(SumType {
            name: declared.name.text.clone(),
            arguments,
            constructors: Vec::new(),
            group: Vec::new(),
        });
        if let Some(span) = declared.endless {
            self.endless(declaration, span);
        } else {
            let pending = (sum, declaration, key.1.clone());
            self.concrete.pending.push(pending);
        }
        self.concrete.sums.insert(key, sum);
        sum
    }

    fn endless(&mut self, declaration: SumDeclarationId, span: Span) {
        let name = &self.inference.declarations.sum(declaration).name;
        let message = format!(
            "every instance of the type `{}` needs a larger instance of it, without end",
            name.text
        );
        let diagnostic = Diagnostic::error(codes::ENDLESS_INSTANTIATION, span, message)
            .label("contains itself at a larger type")
            .also(name.span, "declared here")
            .help("let the type contain itself with the same arguments only");
        self.report(diagnostic);
    }

    /// Fills in the constructors of all instances, and the recursive groups.
    pub fn finish_sums(&mut self) {
        while let Some((sum, declaration, arguments)) = self.concrete.pending.pop() {
            let declarations = self.inference.declarations;
            let declared = declarations.sum(declaration);
            self.enter_instance(&declared.parameters, &arguments);
            let constructors = declared
                .constructors
                .iter()
                .map(|constructor| Constructor {
                    name: constructor.name.text.clone(),
                    payload: self.core_type(constructor.payload),
                })
                .collect();
            self.leave_instance(&declared.parameters);
            self.core.sums[sum.0 as usize].constructors = constructors;
        }
        fill_groups(&mut self.core.sums);
    }
}

/// The sums that a type mentions.
pub(super) fn sums_in(ty: &Type) -> Vec<SumId> {
    let mut sums = Vec::new();
    let mut work = vec![ty];
    while let Some(ty) = work.pop() {
        match ty {
            Type::Scalar(_) | Type::Unit => {}
            Type::Tuple(elements) => work.extend(elements.iter()),
            Type::Vector(element) | Type::Array(_, element) => work.push(element),
            Type::Function(parameter, result) => work.extend([&**parameter, &**result]),
            Type::Sum(sum) => sums.push(*sum),
        }
    }
    sums
}
