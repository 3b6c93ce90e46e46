//! Types with variables that each use replaces: levels of bindings, and instantiation.

use crate::types::{Shallow, Ty, TyNode, TypeVariable, Types, Unbound, VariableValue, children};
use nova_diag::{Diagnostic, Span, codes, deep};
use std::collections::HashMap;
use std::sync::Arc;

/// Number of nodes of a type, each counted once, above which it is not instantiated.
const MOST_NODES: usize = 1 << 16;

/// Returns the error for a type that is too large to be copied.
pub(crate) fn too_large(span: Span) -> Diagnostic {
    let message = format!("this has a type of more than {MOST_NODES} different parts");
    Diagnostic::error(codes::ENDLESS_INSTANTIATION, span, message)
        .help("every use of a generalised type needs a copy of it")
}

/// The type of a bound name: the type, and its variables that each use replaces.
#[derive(Clone, Debug)]
pub(crate) struct Scheme {
    pub quantified: Arc<[TypeVariable]>,
    pub ty: Ty,
}

impl Scheme {
    /// Creates a type without quantified variables.
    pub fn monomorphic(ty: Ty) -> Scheme {
        Scheme {
            quantified: Arc::from([]),
            ty,
        }
    }
}

impl Types {
    /// Begins a binding that will be generalised.
    pub fn enter(&mut self) {
        self.level += 1;
        if self.pools.len() <= self.level as usize {
            self.pools.push(Vec::new());
        }
    }

    /// Returns the unbound variables of `roots`, each once, in the order of a walk.
    pub fn unbound_in(&mut self, roots: &[Ty]) -> Vec<(TypeVariable, Unbound)> {
        self.begin_walk();
        let mut found: Vec<(TypeVariable, Unbound)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut work: Vec<Ty> = roots.iter().rev().copied().collect();
        while let Some(ty) = work.pop() {
            if self.levels[ty.0 as usize] == 0 || !self.visit(ty) {
                continue;
            }
            match self.node(ty).clone() {
                TyNode::Variable(variable) => match self.table.probe_value(variable) {
                    VariableValue::Bound(bound) => work.push(bound),
                    VariableValue::Unbound(unbound) => {
                        let root = self.table.find(variable);
                        if seen.insert(root) {
                            found.push((root, unbound));
                        }
                    }
                },
                node => work.extend(children(&node).into_iter().rev()),
            }
        }
        found
    }

    /// Replaces `variables` in `ty`. Returns the error type where the result would have more than
    /// [`MOST_NODES`] new nodes, which [`Types::say_overgrown`] reports.
    pub fn substitute(&mut self, ty: Ty, variables: &[TypeVariable], by: &[Ty]) -> Ty {
        if variables.is_empty() {
            return ty;
        }
        let replacement = variables.iter().copied().zip(by.iter().copied()).collect();
        let mut substitution = Substitution {
            replacement,
            done: HashMap::new(),
        };
        let result = substitution.apply(self, ty);
        if substitution.done.len() <= MOST_NODES {
            return result;
        }
        self.overgrow();
        self.error()
    }

    /// Creates a fresh variable for each quantified one. Returns the type with them, and these.
    pub fn instantiate(&mut self, scheme: &Scheme, origin: Span) -> (Ty, Arc<[Ty]>) {
        let fresh: Vec<Ty> = scheme
            .quantified
            .iter()
            .map(|variable| {
                let constraint = self.constraint(*variable);
                self.fresh(constraint, origin)
            })
            .collect();
        let ty = self.substitute(scheme.ty, &scheme.quantified, &fresh);
        (ty, fresh.into())
    }
}

struct Substitution {
    replacement: HashMap<TypeVariable, Ty>,
    done: HashMap<Ty, Ty>,
}

impl Substitution {
    fn apply(&mut self, types: &mut Types, ty: Ty) -> Ty {
        let ty = types.resolve(ty);
        if types.levels[ty.0 as usize] == 0 {
            return ty;
        }
        if let Some(done) = self.done.get(&ty) {
            return *done;
        }
        if self.done.len() > MOST_NODES {
            return types.error();
        }
        let result = match types.shallow(ty) {
            Shallow::Unbound(variable, _) => *self.replacement.get(&variable).unwrap_or(&ty),
            Shallow::Node(node) => deep(|| self.node(types, ty, &node)),
        };
        self.done.insert(ty, result);
        result
    }

    fn node(&mut self, types: &mut Types, ty: Ty, node: &TyNode) -> Ty {
        let before = children(node);
        let after: Vec<Ty> = before
            .iter()
            .map(|child| self.apply(types, *child))
            .collect();
        types.rebuild(ty, node, after)
    }
}

impl Types {
    /// Returns a type of the form of `node` with other children; `ty` itself if they are the same.
    pub fn rebuild(&mut self, ty: Ty, node: &TyNode, after: Vec<Ty>) -> Ty {
        if children(node) == after {
            return ty;
        }
        match node {
            TyNode::Error
            | TyNode::Variable(_)
            | TyNode::Scalar(_)
            | TyNode::Unit
            | TyNode::Link(_) => ty,
            TyNode::Tuple(_) => self.tuple(after),
            TyNode::Vector(_) => self.vector(after[0]),
            TyNode::Array(rank, _) => self.array(*rank, after[0]),
            TyNode::Lanes(lanes, _) => self.lanes(*lanes, after[0]),
            TyNode::Function(..) => self.function(after[0], after[1]),
            TyNode::Sum(sum, _) => self.sum(*sum, after),
        }
    }
}
