//! The references to blocks that open bodies and loops hold.

use nova_flat::ir as flat;
use nova_loop::ir::Variable;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A reference that a body or a loop holds: of a block, in a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) block: flat::Variable,
    pub(crate) handle: Variable,
    /// The number of open bodies around the one that binds the block. It counts the bodies around a lambda
    /// where the lambda is applied, which may be several places.
    pub(crate) depth: usize,
}

/// The bodies from which references may move when arrays are passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moving {
    /// The innermost body ends.
    Body,
    /// The innermost body, a branch of a conditional, ends. References of the enclosing body that are not
    /// needed after the conditional may also move.
    Branch,
    /// All bodies end: a tail call.
    Everything,
}

/// The open bodies and the references that they own.
#[derive(Default)]
pub(crate) struct Lifetimes<'a> {
    /// The number of open bodies.
    pub(crate) scope: u32,
    /// The open bodies of the source, the innermost last, and the index of the statement of each that is
    /// being translated.
    pub(crate) bodies: Vec<(&'a flat::Body, u32)>,
    /// The references that each open branch has taken from enclosing bodies.
    pub(crate) taken: Vec<Vec<Held>>,
    /// The references that open bodies or loops hold, by handle.
    pub(crate) holders: HashMap<Variable, Held>,
    /// The handles of loop states whose references the current iteration has given away.
    pub(crate) gone: HashSet<Variable>,
    /// The owned references: body, last statement that needs the block, handle.
    pub(crate) owned: BTreeMap<(u32, u32, Variable), flat::Variable>,
    /// The key in `owned` of each block.
    pub(crate) keys: HashMap<flat::Variable, (u32, u32, Variable)>,
}

impl<'a> Lifetimes<'a> {
    /// Returns the number of open bodies.
    pub(crate) fn scope(&self) -> u32 {
        self.scope
    }

    /// Begins the statement of this index in the innermost body.
    pub(crate) fn begin_statement(&mut self, index: u32) {
        if let Some((_, statement)) = self.bodies.last_mut() {
            *statement = index;
        }
    }

    /// True if the innermost body owns anything now.
    pub(crate) fn owns_any(&self) -> bool {
        let last = self.owned.last_key_value();
        last.is_some_and(|((scope, ..), _)| *scope == self.scope)
    }

    pub(crate) fn own(&mut self, block: flat::Variable, last_use: u32, handle: Variable) {
        let key = (self.scope, last_use, handle);
        self.owned.insert(key, block);
        self.keys.insert(block, key);
        self.hold_at(block, handle, self.bodies.len().saturating_sub(1));
    }

    /// Records that a loop, whose body is not yet open, holds a reference of this block in the handle of
    /// its state.
    pub(crate) fn hold(&mut self, block: flat::Variable, handle: Variable) {
        self.hold_at(block, handle, self.bodies.len());
    }

    fn hold_at(&mut self, block: flat::Variable, handle: Variable, depth: usize) {
        let held = Held {
            block,
            handle,
            depth,
        };
        self.holders.insert(handle, held);
    }

    /// Returns the open bodies, the innermost last, and the statement of each that is being translated.
    pub(crate) fn bodies(&self) -> &[(&'a flat::Body, u32)] {
        &self.bodies
    }

    /// Returns the reference that an open body or a loop holds in a handle.
    pub(crate) fn held_in(&self, handle: Variable) -> Option<Held> {
        self.holders.get(&handle).copied()
    }

    /// Begins a branch.
    pub(crate) fn begin_branch(&mut self) {
        self.taken.push(Vec::new());
    }

    /// Ends a branch and returns the references that it has taken.
    pub(crate) fn end_branch(&mut self) -> Vec<Held> {
        self.taken.pop().unwrap_or_default()
    }

    /// Takes a reference from the body that binds its block. This body no longer holds it. If a branch inside
    /// this body is open, the body gives it up after the conditional.
    pub(crate) fn take(&mut self, held: Held) {
        let here = held.depth + 1 == self.bodies.len();
        if let (false, Some(taken)) = (here, self.taken.last_mut()) {
            taken.push(held);
        } else if self.keys.contains_key(&held.block) {
            self.disown(held.block);
        } else {
            self.gone.insert(held.handle);
        }
    }

    /// Makes the function's body, which is not yet open, the owner of a parameter's reference.
    pub(crate) fn own_parameter(&mut self, block: flat::Variable, last_use: u32, handle: Variable) {
        self.scope += 1;
        self.own(block, last_use, handle);
        self.scope -= 1;
        self.hold(block, handle);
    }

    /// True if a reference has been taken: the current iteration has given away that of a loop state, or an
    /// open branch has taken one from an enclosing body.
    pub(crate) fn is_gone(&self, handle: Variable) -> bool {
        let mut taken = self.taken.iter().flatten();
        self.gone.contains(&handle) || taken.any(|held| held.handle == handle)
    }

    pub(crate) fn disown(&mut self, block: flat::Variable) {
        if let Some(key) = self.keys.remove(&block) {
            self.owned.remove(&key);
        }
    }

    /// Returns the references that the innermost body owns and needs no longer than statement `index`.
    pub(crate) fn ending(&self, index: u32) -> Vec<(flat::Variable, Variable)> {
        let lowest = (self.scope, 0, Variable(0));
        let highest = (self.scope, index, Variable(u32::MAX));
        let range = self.owned.range(lowest..=highest);
        range
            .map(|((.., handle), block)| (*block, *handle))
            .collect()
    }

    /// Returns the references that all open bodies own.
    pub(crate) fn all(&self) -> Vec<(flat::Variable, Variable)> {
        let all = self.owned.iter();
        all.map(|((.., handle), block)| (*block, *handle)).collect()
    }
}
