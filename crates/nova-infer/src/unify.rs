//! Unification: binding variables, with the occurs check, number classes, the rule that data hold
//! no functions, and the lowering of levels.

use crate::types::LinkType;
use crate::types::{
    Constraint, Shallow, Ty, TyNode, TypeVariable, Types, Unbound, VariableValue, children,
};
use std::collections::HashSet;

/// The reason why two types cannot be equal, with the innermost pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// Different types, first the expected one.
    Mismatch(Ty, Ty),
    /// A variable would contain itself; the type around it.
    Infinite(Ty),
    /// The type is outside what the constraint allows.
    Class(Constraint, Ty),
    /// Two classes that have no type in common.
    Classes(Constraint, Constraint),
    /// A function where data must be.
    Function(Ty),
    /// A link would get into the type of something older than its form; the variable that would
    /// hold it, if it is known.
    Escape(LinkType, Option<TypeVariable>),
}

/// Number of steps of one unification after which visited pairs are recorded, so that types with
/// much sharing are compared in linear time.
const REMEMBER_FROM: usize = 256;

impl Types {
    /// Unifies two types. Bindings made before a conflict remain.
    pub fn unify(&mut self, expected: Ty, found: Ty) -> Result<(), Conflict> {
        let mut work = vec![(expected, found)];
        let error = self.error();
        let mut steps = 0;
        let mut seen = HashSet::new();
        while let Some((expected, found)) = work.pop() {
            steps += 1;
            let (expected, found) = (self.resolve(expected), self.resolve(found));
            if expected == found || (steps > REMEMBER_FROM && !seen.insert((expected, found))) {
                continue;
            }
            match (self.shallow(expected), self.shallow(found)) {
                (Shallow::Unbound(a, of_a), Shallow::Unbound(b, of_b)) => {
                    self.union(a, of_a, b, of_b)?;
                }
                (Shallow::Unbound(variable, unbound), Shallow::Node(_)) => {
                    self.bind(variable, unbound, found)?;
                }
                (Shallow::Node(_), Shallow::Unbound(variable, unbound)) => {
                    self.bind(variable, unbound, expected)?;
                }
                (Shallow::Node(a), Shallow::Node(b)) => {
                    if !push_children(&a, &b, error, &mut work) {
                        return Err(Conflict::Mismatch(expected, found));
                    }
                }
            }
        }
        Ok(())
    }

    fn union(
        &mut self,
        a: TypeVariable,
        of_a: Unbound,
        b: TypeVariable,
        of_b: Unbound,
    ) -> Result<(), Conflict> {
        if a == b {
            return Ok(());
        }
        let Some(both) = of_a.constraint.and(of_b.constraint) else {
            return Err(Conflict::Classes(of_a.constraint, of_b.constraint));
        };
        for before in [of_a, of_b] {
            if learns(before.constraint, both) {
                self.wake(before.waiting);
            }
        }
        if let (Some((_, tail)), Some((head, _))) = (of_a.waiting, of_b.waiting) {
            self.waiters[tail as usize].1 = Some(head);
        }
        // The roots keep the order of the arguments in `unify_values` whichever wins.
        self.table.union(a, b);
        let merged = VariableValue::Unbound(Unbound {
            level: of_a.level.min(of_b.level),
            constraint: both,
            waiting: match (of_a.waiting, of_b.waiting) {
                (Some((head, _)), Some((_, tail))) => Some((head, tail)),
                (a, b) => a.or(b),
            },
        });
        debug_assert_eq!(self.table.probe_value(a), merged);
        Ok(())
    }

    fn bind(&mut self, variable: TypeVariable, unbound: Unbound, ty: Ty) -> Result<(), Conflict> {
        self.allow(unbound.constraint, ty)?;
        self.lower(ty, unbound.level, Some(variable))?;
        self.wake(unbound.waiting);
        self.table.union_value(variable, VariableValue::Bound(ty));
        Ok(())
    }

    /// Checks that a known type satisfies a constraint.
    fn allow(&mut self, constraint: Constraint, ty: Ty) -> Result<(), Conflict> {
        match (self.node(ty), constraint.scalars) {
            (TyNode::Error, _) => Ok(()),
            (TyNode::Scalar(scalar), Some(scalars)) if scalars.contains(*scalar) => Ok(()),
            (TyNode::Lanes(_, element), Some(_)) if constraint.lanes => {
                let of_element = Constraint {
                    lanes: false,
                    ..constraint
                };
                let allowed = self.require(*element, of_element);
                allowed.map_err(|_| Conflict::Class(constraint, ty))
            }
            (_, Some(_)) => Err(Conflict::Class(constraint, ty)),
            (TyNode::Function(..), None) if constraint.data => Err(Conflict::Function(ty)),
            (_, None) => Ok(()),
        }
    }

    /// Demands that `ty` satisfies `constraint`.
    pub fn require(&mut self, ty: Ty, constraint: Constraint) -> Result<(), Conflict> {
        match self.shallow(ty) {
            Shallow::Node(_) => {
                let ty = self.resolve(ty);
                self.allow(constraint, ty)
            }
            Shallow::Unbound(variable, unbound) => {
                let Some(both) = unbound.constraint.and(constraint) else {
                    return Err(Conflict::Classes(unbound.constraint, constraint));
                };
                if both != unbound.constraint {
                    if learns(unbound.constraint, both) {
                        self.wake(unbound.waiting);
                    }
                    let addition = VariableValue::Unbound(Unbound {
                        level: unbound.level,
                        constraint: both,
                        waiting: None,
                    });
                    self.table.union_value(variable, addition);
                }
                Ok(())
            }
        }
    }

    /// Lowers the level of every variable in `ty` to at most `level`. It is a conflict if `occurs` is
    /// among them, or if a link of a later form is in the type.
    pub fn lower(
        &mut self,
        whole: Ty,
        level: u32,
        occurs: Option<TypeVariable>,
    ) -> Result<(), Conflict> {
        self.begin_walk();
        let mut work = vec![whole];
        while let Some(ty) = work.pop() {
            // A type that is older than `level` contains neither `occurs` nor variables to lower.
            let known = self.levels[ty.0 as usize];
            let older = known < level || (known == level && occurs.is_none());
            if known == 0 || older || !self.visit(ty) {
                continue;
            }
            match self.node(ty).clone() {
                TyNode::Variable(variable) => match self.table.probe_value(variable) {
                    VariableValue::Bound(bound) => work.push(bound),
                    VariableValue::Unbound(unbound) => {
                        let root = self.table.find(variable);
                        if occurs == Some(root) {
                            return Err(Conflict::Infinite(whole));
                        }
                        if unbound.level > level {
                            self.lowered += 1;
                            let lowered = VariableValue::Unbound(Unbound {
                                level,
                                waiting: None,
                                ..unbound
                            });
                            self.table.union_value(root, lowered);
                        }
                    }
                },
                TyNode::Link(link) if known > level => {
                    return Err(Conflict::Escape(link, occurs));
                }
                node => {
                    work.extend(children(&node));
                    let known = &mut self.levels[ty.0 as usize];
                    *known = (*known).min(level);
                }
            }
        }
        Ok(())
    }

    fn wake(&mut self, waiting: Option<(u32, u32)>) {
        let mut next = waiting.map(|(head, _)| head);
        while let Some(waiter) = next {
            let (obligation, following) = self.waiters[waiter as usize];
            self.ready.push(obligation);
            next = following;
        }
    }

    /// Makes an obligation wait until more is known of `variable`.
    pub fn wait(&mut self, variable: TypeVariable, unbound: Unbound, obligation: u32) {
        let waiter = self.waiters.len() as u32;
        self.waiters.push((obligation, None));
        if let Some((_, tail)) = unbound.waiting {
            self.waiters[tail as usize].1 = Some(waiter);
        }
        let head = unbound.waiting.map_or(waiter, |(head, _)| head);
        // The list is replaced. A merge keeps the first head and the second tail.
        let longer = VariableValue::Unbound(Unbound {
            waiting: Some((head, waiter)),
            ..unbound
        });
        self.table.union_value(variable, longer);
    }

    /// Returns the obligations that wait for a variable.
    pub fn waiting(&self, unbound: Unbound) -> Vec<u32> {
        let mut obligations = Vec::new();
        let mut next = unbound.waiting.map(|(head, _)| head);
        while let Some(waiter) = next {
            let (obligation, following) = self.waiters[waiter as usize];
            obligations.push(obligation);
            next = following;
        }
        obligations
    }
}

/// True if an obligation could be decided with `after` but not with `before`.
fn learns(before: Constraint, after: Constraint) -> bool {
    before.is_data() != after.is_data() || before.scalars.is_some() != after.scalars.is_some()
}

/// Adds the pairs of children of two nodes of one kind. Returns `false` when they differ in kind.
fn push_children(a: &TyNode, b: &TyNode, error: Ty, work: &mut Vec<(Ty, Ty)>) -> bool {
    match (a, b) {
        (TyNode::Error, other) | (other, TyNode::Error) => {
            // The children of an error are equal to all types.
            work.extend(children(other).into_iter().map(|child| (error, child)));
            true
        }
        _ if a.is_alike(b) => {
            work.extend(children(a).into_iter().zip(children(b)).rev());
            true
        }
        _ => false,
    }
}
