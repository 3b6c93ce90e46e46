//! Types during inference: an arena of nodes whose variables live in an `ena` unification table.
//!
//! A [`Ty`] is an index, so types are shared freely and cost nothing to copy. Every node stores an
//! upper bound of the levels of its variables (0 when it has none). So a type that is ground, or
//! older than the variable being bound, is never walked. Levels make generalisation linear: a
//! variable belongs to the innermost generalising binding that it may not outlive.

use ena::unify::{InPlaceUnificationTable, UnifyKey, UnifyValue};
use nova_core::Scalar;
use nova_diag::Span;
use std::sync::Arc;

/// A type during inference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ty(pub u32);

/// Names a declared sum type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SumDeclarationId(pub u32);

/// A type variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TypeVariable(pub u32);

/// The type of the links of a form to the nodes of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LinkType {
    /// The form, as an index of [`Types::link_levels`].
    pub form: u32,
    /// The position of the type in its group.
    pub member: u32,
    /// Its nodes.
    pub side: Side,
}

/// The nodes that links lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Side {
    /// The nodes that a `foreach` reads.
    Old,
    /// The nodes that a form makes.
    New,
}

/// The form of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TyNode {
    /// The error type, of expressions whose mistake has been reported. It is equal to every type.
    Error,
    Variable(TypeVariable),
    Scalar(Scalar),
    Unit,
    Tuple(Arc<[Ty]>),
    Vector(Ty),
    /// `vector#n`, n ≥ 2.
    Array(u32, Ty),
    /// `vec#n` of numbers.
    Lanes(u32, Ty),
    Function(Ty, Ty),
    Sum(SumDeclarationId, Arc<[Ty]>),
    /// The links of a `foreach` or `up`.
    Link(LinkType),
}

/// The level of variables that are quantified from the start.
pub(crate) const GENERIC: u32 = u32::MAX;

/// A set of scalar types, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScalarSet(pub u16);

impl ScalarSet {
    /// Returns the types of a class.
    pub fn of(class: nova_core::builtin::Class) -> ScalarSet {
        let members = nova_core::scalar::SCALARS
            .iter()
            .filter(|info| class.contains(info.scalar))
            .fold(0, |set, info| set | 1 << info.scalar as u16);
        ScalarSet(members)
    }

    /// True if `scalar` is in it.
    pub fn contains(self, scalar: Scalar) -> bool {
        self.0 & (1 << scalar as u16) != 0
    }
}

/// The types that a variable may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Constraint {
    /// Only these scalar types; `None` allows every type.
    pub scalars: Option<ScalarSet>,
    /// No function, since a vector, tuple or sum holds it.
    pub data: bool,
    /// A number type demanded by arithmetic, a comparison or a literal. It has a default when it
    /// stays open.
    pub defaults: bool,
    /// Where `scalars` are given: a `vec#n` of one of them is allowed, too.
    pub lanes: bool,
}

impl Constraint {
    /// The constraint of data: anything but functions.
    pub const DATA: Constraint = Constraint {
        scalars: None,
        data: true,
        defaults: false,
        lanes: false,
    };

    /// Returns the constraint to the scalars of a class.
    pub fn class(class: nova_core::builtin::Class, defaults: bool) -> Constraint {
        Constraint {
            scalars: Some(ScalarSet::of(class)),
            data: true,
            defaults,
            lanes: false,
        }
    }

    /// Returns the constraint of an operation by element: the scalars of a class, or a `vec#n` of
    /// one of them.
    pub fn by_element(class: nova_core::builtin::Class) -> Constraint {
        Constraint {
            lanes: true,
            ..Constraint::class(class, true)
        }
    }

    /// True if it is known not to be a function.
    pub fn is_data(self) -> bool {
        self.data || self.scalars.is_some()
    }

    /// True if it may have elements: a tuple or a `vec#n`.
    pub fn may_be_read(self) -> bool {
        self.scalars.is_none() || self.lanes
    }

    /// Returns the conjunction of both constraints, or `None` when no scalar satisfies both.
    pub fn and(self, other: Constraint) -> Option<Constraint> {
        let scalars = match (self.scalars, other.scalars) {
            (Some(a), Some(b)) => {
                let both = ScalarSet(a.0 & b.0);
                if both.0 == 0 {
                    return None;
                }
                Some(both)
            }
            (a, b) => a.or(b),
        };
        Some(Constraint {
            scalars,
            data: self.data || other.data,
            defaults: self.defaults || other.defaults,
            lanes: match (self.scalars, other.scalars) {
                (Some(_), Some(_)) => self.lanes && other.lanes,
                (Some(_), None) => self.lanes,
                (None, _) => other.lanes,
            },
        })
    }

    /// Returns the type that an open variable takes at the end (language §3).
    pub fn default_scalar(self) -> Option<Scalar> {
        let scalars = self.scalars.filter(|_| self.defaults)?;
        [Scalar::I32, Scalar::F32]
            .into_iter()
            .find(|scalar| scalars.contains(*scalar))
    }
}

/// The state of an unbound variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unbound {
    /// The level at which it may be generalised.
    pub level: u32,
    /// The types that it may become.
    pub constraint: Constraint,
    /// First and last of the list of waiters.
    pub waiting: Option<(u32, u32)>,
}

/// The value of a variable in the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum VariableValue {
    Unbound(Unbound),
    Bound(Ty),
}

impl UnifyValue for VariableValue {
    type Error = ena::unify::NoError;

    /// Merges two values. The caller has checked that their constraints agree.
    fn unify_values(a: &Self, b: &Self) -> Result<Self, Self::Error> {
        Ok(match (*a, *b) {
            (VariableValue::Bound(ty), _) | (_, VariableValue::Bound(ty)) => {
                VariableValue::Bound(ty)
            }
            (VariableValue::Unbound(a), VariableValue::Unbound(b)) => {
                VariableValue::Unbound(Unbound {
                    level: a.level.min(b.level),
                    constraint: a.constraint.and(b.constraint).unwrap_or(a.constraint),
                    waiting: match (a.waiting, b.waiting) {
                        (Some((head, _)), Some((_, tail))) => Some((head, tail)),
                        (a, b) => a.or(b),
                    },
                })
            }
        })
    }
}

impl UnifyKey for TypeVariable {
    type Value = VariableValue;

    fn index(&self) -> u32 {
        self.0
    }

    fn from_index(index: u32) -> Self {
        TypeVariable(index)
    }

    fn tag() -> &'static str {
        "TypeVariable"
    }
}

/// The outermost node of a type, or an unbound variable, as [`Types::shallow`] finds it.
#[derive(Clone, Debug)]
pub(crate) enum Shallow {
    Unbound(TypeVariable, Unbound),
    Node(TyNode),
}

/// All types of an inference.
pub(crate) struct Types {
    nodes: Vec<TyNode>,
    /// An upper bound of the levels of the variables of each node. It is 0 when there are none.
    pub(crate) levels: Vec<u32>,
    /// The last walk that visited each node.
    stamps: Vec<u32>,
    walk: u32,
    pub(crate) table: InPlaceUnificationTable<TypeVariable>,
    /// The origin of each variable.
    origins: Vec<Span>,
    /// True if each root variable is quantified by a generalised binding.
    generic: Vec<bool>,
    /// The variables made at each level. They are checked when its binding is generalised.
    pub(crate) pools: Vec<Vec<TypeVariable>>,
    /// The level of variables made now.
    pub(crate) level: u32,
    /// The number of times that a variable's level was lowered.
    pub(crate) lowered: u64,
    /// Waiters and the next in each list.
    pub(crate) waiters: Vec<(u32, Option<u32>)>,
    /// Waiters of variables that became known.
    pub(crate) ready: Vec<u32>,
    /// The level of the rigid types of each `foreach` and `up`.
    pub(crate) link_levels: Vec<u32>,
    /// Set when an instance of a type would have become too large. Cleared when that is reported.
    overgrown: bool,
    /// Set once that has been reported.
    overgrown_said: bool,
}

impl Types {
    /// Creates a table of the scalar types only.
    pub fn new() -> Self {
        let mut types = Types {
            nodes: Vec::new(),
            levels: Vec::new(),
            stamps: Vec::new(),
            walk: 0,
            table: InPlaceUnificationTable::new(),
            origins: Vec::new(),
            generic: Vec::new(),
            pools: vec![Vec::new(), Vec::new()],
            level: 1,
            lowered: 0,
            waiters: Vec::new(),
            ready: Vec::new(),
            link_levels: Vec::new(),
            overgrown: false,
            overgrown_said: false,
        };
        for info in &nova_core::scalar::SCALARS {
            types.push(TyNode::Scalar(info.scalar), 0);
        }
        types.push(TyNode::Unit, 0);
        types.push(TyNode::Error, 0);
        types.push(TyNode::Error, 0);
        types
    }

    pub(crate) fn push(&mut self, node: TyNode, level: u32) -> Ty {
        self.nodes.push(node);
        self.levels.push(level);
        self.stamps.push(0);
        Ty(self.nodes.len() as u32 - 1)
    }

    /// Returns a scalar type.
    pub fn scalar(&self, scalar: Scalar) -> Ty {
        Ty(scalar as u32)
    }

    /// Returns `bool`.
    pub fn bool(&self) -> Ty {
        self.scalar(Scalar::Bool)
    }

    /// Returns `unit`.
    pub fn unit(&self) -> Ty {
        Ty(nova_core::scalar::SCALARS.len() as u32)
    }

    /// Returns the error type.
    pub fn error(&self) -> Ty {
        Ty(nova_core::scalar::SCALARS.len() as u32 + 1)
    }

    /// Returns the type of an expression whose type inference does not compute: the head of a
    /// strategy.
    pub fn unasked(&self) -> Ty {
        Ty(self.error().0 + 1)
    }

    /// Returns `vector element`.
    pub fn vector(&mut self, element: Ty) -> Ty {
        self.push(TyNode::Vector(element), self.levels[element.0 as usize])
    }

    /// Returns `vector#rank element`, which is `vector` for rank 1.
    pub fn array(&mut self, rank: u32, element: Ty) -> Ty {
        if rank <= 1 {
            return self.vector(element);
        }
        self.push(
            TyNode::Array(rank, element),
            self.levels[element.0 as usize],
        )
    }

    /// Returns `vec#lanes element`.
    pub fn lanes(&mut self, lanes: u32, element: Ty) -> Ty {
        let level = self.levels[element.0 as usize];
        self.push(TyNode::Lanes(lanes, element), level)
    }

    /// Returns `parameter -> result`.
    pub fn function(&mut self, parameter: Ty, result: Ty) -> Ty {
        let level = self.levels[parameter.0 as usize].max(self.levels[result.0 as usize]);
        self.push(TyNode::Function(parameter, result), level)
    }

    /// Returns the curried function type.
    pub fn functions(&mut self, parameters: &[Ty], result: Ty) -> Ty {
        parameters.iter().rev().fold(result, |result, parameter| {
            self.function(*parameter, result)
        })
    }

    /// Returns a tuple. For one type it is that type, for none `unit`.
    pub fn tuple(&mut self, elements: Vec<Ty>) -> Ty {
        match elements.as_slice() {
            [] => self.unit(),
            [one] => *one,
            [..] => {
                let level = self.highest(&elements);
                self.push(TyNode::Tuple(elements.into()), level)
            }
        }
    }

    /// Returns a declared sum with its arguments.
    pub fn sum(&mut self, declaration: SumDeclarationId, arguments: Vec<Ty>) -> Ty {
        let level = self.highest(&arguments);
        self.push(TyNode::Sum(declaration, arguments.into()), level)
    }

    fn highest(&self, types: &[Ty]) -> u32 {
        types
            .iter()
            .map(|ty| self.levels[ty.0 as usize])
            .max()
            .unwrap_or(0)
    }

    /// Creates a variable of the current level with this origin.
    pub fn fresh(&mut self, constraint: Constraint, origin: Span) -> Ty {
        self.fresh_at(self.level, constraint, origin)
    }

    /// Creates a variable without constraint.
    pub fn open(&mut self, origin: Span) -> Ty {
        self.fresh(Constraint::default(), origin)
    }

    /// Creates a variable of a given level.
    pub fn fresh_at(&mut self, level: u32, constraint: Constraint, origin: Span) -> Ty {
        let variable = self.table.new_key(VariableValue::Unbound(Unbound {
            level,
            constraint,
            waiting: None,
        }));
        self.origins.push(origin);
        self.generic.push(level == GENERIC);
        if let Some(pool) = self.pools.get_mut(level as usize) {
            pool.push(variable);
        }
        self.push(TyNode::Variable(variable), level)
    }

    /// Returns the type that a quantified variable is.
    pub fn variable(&mut self, variable: TypeVariable) -> Ty {
        self.push(TyNode::Variable(variable), GENERIC)
    }

    /// Returns the origin of a variable.
    pub fn origin(&self, variable: TypeVariable) -> Option<Span> {
        self.origins.get(variable.0 as usize).copied()
    }

    /// True if a root variable is quantified.
    pub fn is_generic(&self, variable: TypeVariable) -> bool {
        self.generic
            .get(variable.0 as usize)
            .copied()
            .unwrap_or(false)
    }

    /// Marks a root variable as quantified.
    pub fn quantify(&mut self, variable: TypeVariable) {
        if let Some(generic) = self.generic.get_mut(variable.0 as usize) {
            *generic = true;
        }
    }

    /// Returns the node of a type. Bound variables are not followed.
    pub fn node(&self, ty: Ty) -> &TyNode {
        &self.nodes[ty.0 as usize]
    }

    /// Follows bound variables to the type that `ty` stands for.
    pub fn resolve(&mut self, mut ty: Ty) -> Ty {
        while let TyNode::Variable(variable) = self.nodes[ty.0 as usize] {
            match self.table.probe_value(variable) {
                VariableValue::Bound(bound) => ty = bound,
                VariableValue::Unbound(_) => break,
            }
        }
        ty
    }

    /// Returns the outermost node of `ty`.
    pub fn shallow(&mut self, ty: Ty) -> Shallow {
        let ty = self.resolve(ty);
        match &self.nodes[ty.0 as usize] {
            TyNode::Variable(variable) => {
                let variable = *variable;
                match self.table.probe_value(variable) {
                    VariableValue::Unbound(unbound) => {
                        Shallow::Unbound(self.table.find(variable), unbound)
                    }
                    // `resolve` has followed it.
                    VariableValue::Bound(_) => Shallow::Node(TyNode::Error),
                }
            }
            node => Shallow::Node(node.clone()),
        }
    }

    /// Begins a walk in which [`Types::visit`] returns whether each node is new.
    pub fn begin_walk(&mut self) {
        self.walk += 1;
    }

    /// True if this walk visits `ty` for the first time.
    pub fn visit(&mut self, ty: Ty) -> bool {
        let stamp = &mut self.stamps[ty.0 as usize];
        let new = *stamp != self.walk;
        *stamp = self.walk;
        new
    }

    /// Returns the parameters of a curried function type, its result, and true if the result is
    /// certainly no function.
    pub fn peel(&mut self, ty: Ty) -> (Vec<Ty>, Ty, bool) {
        let mut parameters = Vec::new();
        let mut ty = ty;
        loop {
            match self.shallow(ty) {
                Shallow::Node(TyNode::Function(parameter, result)) => {
                    parameters.push(parameter);
                    ty = result;
                }
                Shallow::Unbound(_, unbound) => {
                    return (parameters, ty, unbound.constraint.is_data());
                }
                Shallow::Node(_) => return (parameters, ty, true),
            }
        }
    }

    /// True if `ty` was made without any variable.
    pub fn is_ground(&self, ty: Ty) -> bool {
        self.levels[ty.0 as usize] == 0
    }

    /// Records that an instance of a type would become too large.
    pub fn overgrow(&mut self) {
        self.overgrown = true;
    }

    /// True where that happened and is not reported yet. The call marks it as reported.
    pub fn say_overgrown(&mut self) -> bool {
        let now = std::mem::take(&mut self.overgrown);
        now && !std::mem::replace(&mut self.overgrown_said, true)
    }

    /// True for `unit`.
    pub fn is_unit(&mut self, ty: Ty) -> bool {
        matches!(self.shallow(ty), Shallow::Node(TyNode::Unit))
    }

    /// True if `ty` is the error type.
    pub fn is_error(&mut self, ty: Ty) -> bool {
        matches!(self.shallow(ty), Shallow::Node(TyNode::Error))
    }
}

impl TyNode {
    /// True where both have the same form, apart from their children.
    pub fn is_alike(&self, other: &TyNode) -> bool {
        match (self, other) {
            (TyNode::Tuple(a), TyNode::Tuple(b)) => a.len() == b.len(),
            (TyNode::Sum(a, _), TyNode::Sum(b, _)) => a == b,
            (TyNode::Vector(_), TyNode::Vector(_)) => true,
            (TyNode::Array(a, _), TyNode::Array(b, _))
            | (TyNode::Lanes(a, _), TyNode::Lanes(b, _)) => a == b,
            (TyNode::Function(..), TyNode::Function(..)) => true,
            (
                TyNode::Error
                | TyNode::Variable(_)
                | TyNode::Scalar(_)
                | TyNode::Unit
                | TyNode::Tuple(_)
                | TyNode::Vector(_)
                | TyNode::Array(..)
                | TyNode::Lanes(..)
                | TyNode::Function(..)
                | TyNode::Sum(..)
                | TyNode::Link(_),
                _,
            ) => self == other,
        }
    }
}

/// Returns the direct children of a node.
pub(crate) fn children(node: &TyNode) -> Vec<Ty> {
    match node {
        TyNode::Error
        | TyNode::Variable(_)
        | TyNode::Scalar(_)
        | TyNode::Unit
        | TyNode::Link(_) => Vec::new(),
        TyNode::Tuple(elements) | TyNode::Sum(_, elements) => elements.to_vec(),
        TyNode::Vector(element) | TyNode::Array(_, element) | TyNode::Lanes(_, element) => {
            vec![*element]
        }
        TyNode::Function(parameter, result) => vec![*parameter, *result],
    }
}
