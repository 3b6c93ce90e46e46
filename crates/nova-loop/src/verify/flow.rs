//! Facts about variables at a place of a function: whether they are assigned, and the number of
//! references of handles. Changes are logged, so that the cost of the branches of a conditional depends
//! on the number of changes, not on the number of variables in scope.

use crate::ir::{Program, Variable};
use std::collections::{BTreeMap, BTreeSet};

/// Facts about one variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    assigned: bool,
    references: u32,
}

/// The facts at the current place.
pub(super) struct Flow {
    states: Vec<State>,
    /// The position of each variable in scope in the order of declarations; `None` out of scope.
    orders: Vec<Option<u32>>,
    is_handle: Vec<bool>,
    /// The changes: variables with their states before.
    log: Vec<(Variable, State)>,
    /// Handles with references, by order of declaration.
    held: BTreeSet<(u32, Variable)>,
    /// The variables declared in each open scope.
    scopes: Vec<Vec<Variable>>,
    next_order: u32,
    /// The order at which the body of the function starts.
    body_start: u32,
    /// True if the place cannot be reached.
    dead: bool,
}

/// The states of variables that some commands changed.
#[derive(Default)]
pub(super) struct Changes {
    states: BTreeMap<Variable, State>,
    dead: bool,
}

/// A loop being checked.
pub(super) struct LoopFlow {
    mark: usize,
    start: u32,
    /// The facts at the jumps out so far.
    exits: Option<Changes>,
}

/// A handle whose number of references differs between control-flow paths.
pub(super) struct Differs(pub(super) Variable);

impl Flow {
    pub(super) fn new(program: &Program) -> Self {
        let count = program.variables.len();
        Flow {
            states: vec![State::default(); count],
            orders: vec![None; count],
            is_handle: vec![false; count],
            log: Vec::new(),
            held: BTreeSet::new(),
            scopes: Vec::new(),
            next_order: 0,
            body_start: 0,
            dead: false,
        }
    }

    pub(super) fn enter_function(&mut self) {
        self.log.clear();
        self.held.clear();
        self.dead = false;
        self.scopes.clear();
        self.enter_scope();
    }

    /// Begins the body of a function, after its parameters and results have been declared.
    pub(super) fn start_body(&mut self) {
        self.body_start = self.next_order;
    }

    pub(super) fn enter_scope(&mut self) {
        self.scopes.push(Vec::new());
    }

    /// Leaves a scope; returns the handles that still have references.
    pub(super) fn leave_scope(&mut self) -> Vec<Variable> {
        let mut left = Vec::new();
        for variable in self.scopes.pop().unwrap_or_default() {
            let index = variable.index();
            if self.states[index].references > 0 && !self.dead {
                left.push(variable);
            }
            if let Some(order) = self.orders[index].take() {
                self.held.remove(&(order, variable));
            }
        }
        left
    }

    pub(super) fn declare(&mut self, variable: Variable, is_handle: bool) {
        let index = variable.index();
        self.orders[index] = Some(self.next_order);
        self.next_order += 1;
        self.is_handle[index] = is_handle;
        self.states[index] = State::default();
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(variable);
        }
    }

    pub(super) fn in_scope(&self, variable: Variable) -> bool {
        let order = self.orders.get(variable.index());
        order.is_some_and(|o| o.is_some())
    }

    pub(super) fn is_dead(&self) -> bool {
        self.dead
    }

    /// Records that the next place cannot be reached.
    pub(super) fn die(&mut self) {
        self.dead = true;
    }

    /// True if the variable has a value on every control-flow path; where no path leads, all have one.
    pub(super) fn is_assigned(&self, variable: Variable) -> bool {
        self.dead || self.state(variable).assigned
    }

    /// The number of references of a handle; `None` for other variables and where no path leads.
    pub(super) fn references(&self, variable: Variable) -> Option<u32> {
        let is_handle = self.is_handle.get(variable.index()) == Some(&true);
        (is_handle && !self.dead).then(|| self.state(variable).references)
    }

    fn state(&self, variable: Variable) -> State {
        let state = self.states.get(variable.index());
        state.copied().unwrap_or_default()
    }

    fn set(&mut self, variable: Variable, state: State) {
        let index = variable.index();
        let Some(order) = self.orders.get(index).copied().flatten() else {
            return;
        };
        let old = std::mem::replace(&mut self.states[index], state);
        if old != state {
            self.log.push((variable, old));
            if state.references > 0 {
                self.held.insert((order, variable));
            } else {
                self.held.remove(&(order, variable));
            }
        }
    }

    pub(super) fn assign(&mut self, variable: Variable) {
        if !self.dead {
            let references = self.state(variable).references;
            let assigned = true;
            self.set(
                variable,
                State {
                    assigned,
                    references,
                },
            );
        }
    }

    pub(super) fn set_references(&mut self, variable: Variable, references: u32) {
        if !self.dead {
            let assigned = self.state(variable).assigned;
            self.set(
                variable,
                State {
                    assigned,
                    references,
                },
            );
        }
    }

    /// A handle declared in the function's body that has references.
    pub(super) fn held_in_body(&self) -> Option<Variable> {
        self.held_since(self.body_start)
    }

    fn held_since(&self, order: u32) -> Option<Variable> {
        let mut range = self.held.range((order, Variable(0))..);
        range.next().map(|(_, variable)| *variable)
    }

    /// A mark for [`Flow::take_changes`].
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Undoes the changes since the mark and returns them.
    pub(super) fn take_changes(&mut self, mark: usize) -> Changes {
        let mut changes = self.changes(mark);
        changes.dead = std::mem::replace(&mut self.dead, false);
        while self.log.len() > mark {
            let Some((variable, old)) = self.log.pop() else {
                break;
            };
            let length = self.log.len();
            self.set(variable, old);
            self.log.truncate(length);
        }
        changes
    }

    fn changes(&self, mark: usize) -> Changes {
        let mut changes = Changes::default();
        for (variable, _) in &self.log[mark.min(self.log.len())..] {
            if self.in_scope(*variable) {
                changes.states.insert(*variable, self.state(*variable));
            }
        }
        changes
    }

    /// Joins the facts of two control-flow paths that meet.
    pub(super) fn join(&self, left: Changes, right: Changes) -> Result<Changes, Differs> {
        if left.dead {
            return Ok(right);
        }
        if right.dead {
            return Ok(left);
        }
        let before = |variable| self.in_scope(variable).then(|| self.state(variable));
        meet(&left, &right, before)
    }

    /// Applies changes at the current place.
    pub(super) fn apply(&mut self, changes: Changes) {
        for (variable, state) in changes.states {
            self.set(variable, state);
        }
        self.dead |= changes.dead;
    }

    pub(super) fn start_loop(&self) -> LoopFlow {
        LoopFlow {
            mark: self.mark(),
            start: self.next_order,
            exits: None,
        }
    }

    /// Returns a handle whose number of references differs from that at the start of the iteration, or a
    /// handle of the iteration that still has references.
    pub(super) fn unbalanced(&self, of: &LoopFlow) -> Option<Variable> {
        if self.dead {
            return None;
        }
        if let Some(held) = self.held_since(of.start) {
            return Some(held);
        }
        let mut seen = BTreeSet::new();
        let changed = self.log[of.mark.min(self.log.len())..].iter();
        for (variable, old) in changed {
            let outside = self.orders.get(variable.index()).copied().flatten();
            if outside.is_some_and(|o| o < of.start)
                && seen.insert(*variable)
                && self.state(*variable).references != old.references
            {
                return Some(*variable);
            }
        }
        None
    }

    /// Records a jump out of a loop; the error is a handle of the iteration that still has references, or one
    /// whose references differ from those at earlier jumps.
    pub(super) fn leave_loop(&mut self, of: &mut LoopFlow) -> Result<(), Differs> {
        if self.dead {
            return Ok(());
        }
        if let Some(held) = self.held_since(of.start) {
            return Err(Differs(held));
        }
        let mut here = self.changes(of.mark);
        here.states.retain(|v, _| {
            let order = self.orders.get(v.index()).copied().flatten();
            order.is_some_and(|o| o < of.start)
        });
        let joined = match of.exits.take() {
            None => here,
            Some(before) => self.join_exits(of, &before, &here)?,
        };
        of.exits = Some(joined);
        Ok(())
    }

    /// Does the same as [`Flow::join`], where the states before are those before the loop.
    fn join_exits(
        &self,
        of: &LoopFlow,
        left: &Changes,
        right: &Changes,
    ) -> Result<Changes, Differs> {
        let mut entry = BTreeMap::new();
        for (variable, old) in &self.log[of.mark.min(self.log.len())..] {
            entry.entry(*variable).or_insert(*old);
        }
        meet(left, right, |variable| {
            let before = entry.get(&variable).copied();
            Some(before.unwrap_or(self.state(variable)))
        })
    }

    /// Ends a loop without count: the facts after it are those at the jumps out.
    pub(super) fn end_loop(&mut self, of: LoopFlow) {
        self.take_changes(of.mark);
        match of.exits {
            Some(exits) => self.apply(exits),
            None => self.dead = true,
        }
    }
}

/// Joins the facts of two control-flow paths that both come from the states `before`; variables without
/// such a state are left out.
fn meet(
    left: &Changes,
    right: &Changes,
    before: impl Fn(Variable) -> Option<State>,
) -> Result<Changes, Differs> {
    let mut met = Changes::default();
    for variable in left.states.keys().chain(right.states.keys()) {
        let Some(before) = before(*variable) else {
            continue;
        };
        let of = |changes: &Changes| changes.states.get(variable).copied().unwrap_or(before);
        let (left, right) = (of(left), of(right));
        if left.references != right.references {
            return Err(Differs(*variable));
        }
        let assigned = left.assigned && right.assigned;
        let references = left.references;
        let state = State {
            assigned,
            references,
        };
        met.states.insert(*variable, state);
    }
    Ok(met)
}
