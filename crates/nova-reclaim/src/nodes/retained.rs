//! Loops that keep all nodes that they make, as one that only puts nodes in front of a list. There is nothing
//! to reclaim in them.
//!
//! The analysis follows each path through an iteration. It knows for each variable some of the nodes that
//! it surely reaches: those that the iteration has made, and those of the states at its beginning. At the
//! end the states must reach all of them.

use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Variable};
use nova_loop::walk::{assigned, each_assigned, each_command};
use std::collections::{BTreeMap, BTreeSet};

/// Nodes that must be reached at the end of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nodes {
    /// The nodes that a state reaches at the beginning.
    Of(Variable),
    /// One that is made, or all that one of several branches has made.
    Made(u32),
}

/// The facts at a place of an iteration.
#[derive(Clone, Default)]
struct Facts {
    /// Nodes that variables surely reach.
    reached: BTreeMap<Variable, BTreeSet<Nodes>>,
    /// The nodes that the iteration has made.
    made: BTreeSet<Nodes>,
    /// The variables that surely lead to nodes from before the loop.
    old: BTreeSet<Variable>,
}

impl Facts {
    fn set(&mut self, variable: Variable, reached: BTreeSet<Nodes>, old: bool) {
        self.reached.insert(variable, reached);
        match old {
            true => self.old.insert(variable),
            false => self.old.remove(&variable),
        };
    }

    /// Returns the nodes that the value of an expression surely reaches.
    fn reached_by(&self, expression: &Expression) -> BTreeSet<Nodes> {
        match expression {
            Expression::Variable(variable) => {
                self.reached.get(variable).cloned().unwrap_or_default()
            }
            Expression::Select {
                then, otherwise, ..
            } => deep(|| {
                let then = self.reached_by(then);
                then.intersection(&self.reached_by(otherwise))
                    .copied()
                    .collect()
            }),
            _others => BTreeSet::new(),
        }
    }

    fn is_old(&self, expression: &Expression) -> bool {
        match expression {
            Expression::Variable(variable) => self.old.contains(variable),
            Expression::Select {
                then, otherwise, ..
            } => deep(|| self.is_old(then) && self.is_old(otherwise)),
            _others => false,
        }
    }
}

/// An iteration whose paths are followed.
struct Iteration<'a> {
    /// The variables that pass on links from each iteration to the next.
    states: &'a [Variable],
    /// The states that are taken to lead only to nodes from before the loop.
    old: BTreeSet<Variable>,
    /// The states of which that turned out to be wrong.
    young: BTreeSet<Variable>,
    next: u32,
    /// True if nothing is known to be lost.
    keeps: bool,
}

/// True if the iterations of a loop surely keep all nodes that they make. `states` are the variables that hand
/// on links, and `makes_nodes` tells whether a command makes nodes in other ways than by appending one.
pub(super) fn keeps_all(
    body: &[Command],
    states: &[Variable],
    makes_nodes: &dyn Fn(&Command) -> bool,
) -> bool {
    let mut old: BTreeSet<Variable> = states.iter().copied().collect();
    // The variables that the body does not assign come from before the loop.
    let mut outer = BTreeSet::new();
    let changed = assigned(body);
    each_command(body, |command| {
        nova_loop::walk::each_mentioned(command, &mut |variable| {
            if !changed.contains(&variable) {
                outer.insert(variable);
            }
        });
    });
    loop {
        let mut iteration = Iteration {
            states,
            old: old.clone(),
            young: BTreeSet::new(),
            next: 0,
            keeps: true,
        };
        let mut facts = Facts {
            old: old.union(&outer).copied().collect(),
            ..Facts::default()
        };
        for state in states {
            facts
                .reached
                .insert(*state, BTreeSet::from([Nodes::Of(*state)]));
        }
        if iteration.list(body, &mut facts, makes_nodes) {
            iteration.end(&facts);
        }
        if iteration.young.is_empty() {
            return iteration.keeps;
        }
        old = old.difference(&iteration.young).copied().collect();
    }
}

impl Iteration<'_> {
    /// Notes what is lost at the end of an iteration.
    fn end(&mut self, facts: &Facts) {
        let mut kept = BTreeSet::new();
        for state in self.states {
            kept.extend(facts.reached.get(state).into_iter().flatten());
            if self.old.contains(state) && !facts.old.contains(state) {
                self.young.insert(*state);
            }
        }
        self.keeps &= facts.made.is_subset(&kept);
        for state in self.states {
            self.keeps &= self.old.contains(state) || kept.contains(&Nodes::Of(*state));
        }
    }

    fn new_nodes(&mut self) -> Nodes {
        self.next += 1;
        Nodes::Made(self.next)
    }

    /// Follows a list of commands. Returns false if execution does not go on after it.
    fn list(
        &mut self,
        list: &[Command],
        facts: &mut Facts,
        makes_nodes: &dyn Fn(&Command) -> bool,
    ) -> bool {
        for command in list {
            match command {
                Command::Declare {
                    variable,
                    value: Some(value),
                }
                | Command::Assign {
                    variable, value, ..
                } => {
                    let (reached, old) = (facts.reached_by(value), facts.is_old(value));
                    facts.set(*variable, reached, old);
                }
                Command::NodeNew { payload, link, .. } if payload.is_empty() => {
                    facts.set(*link, BTreeSet::new(), true);
                }
                Command::NodeNew { payload, link, .. } => {
                    let node = self.new_nodes();
                    let mut reached = BTreeSet::from([node]);
                    for part in payload {
                        reached.extend(facts.reached_by(part));
                    }
                    facts.made.insert(node);
                    facts.set(*link, reached, false);
                }
                Command::NodePayload { link, results, .. } => {
                    let old = facts.is_old(link);
                    for result in results {
                        facts.set(*result, BTreeSet::new(), old);
                    }
                }
                Command::If { .. } | Command::Switch { .. } => {
                    if !deep(|| self.cases(command, facts, makes_nodes)) {
                        return false;
                    }
                }
                Command::Continue => {
                    self.end(facts);
                    return false;
                }
                Command::Break | Command::Return | Command::Fail { .. } => return false,
                others => self.other(others, facts, makes_nodes),
            }
        }
        true
    }

    /// Follows the branches of a conditional, and joins what is known after them.
    fn cases(
        &mut self,
        command: &Command,
        facts: &mut Facts,
        makes_nodes: &dyn Fn(&Command) -> bool,
    ) -> bool {
        let mut ends = Vec::new();
        for list in command.lists() {
            let mut own = facts.clone();
            if self.list(list, &mut own, makes_nodes) {
                ends.push(own);
            }
        }
        let Some(first) = ends.first() else {
            return false;
        };
        let before = std::mem::take(&mut facts.made);
        let mut joined = Facts {
            made: before.clone(),
            ..Facts::default()
        };
        let new = self.new_nodes();
        if ends.iter().any(|end| end.made.len() > before.len()) {
            joined.made.insert(new);
        }
        for variable in first.reached.keys() {
            let mut reached: Option<BTreeSet<Nodes>> = None;
            let mut reaches_new = true;
            for end in &ends {
                let own = end.reached.get(variable).cloned().unwrap_or_default();
                reaches_new &= end.made.difference(&before).all(|node| own.contains(node));
                reached = Some(match reached {
                    None => own,
                    Some(others) => others.intersection(&own).copied().collect(),
                });
            }
            let mut reached = reached.unwrap_or_default();
            if reaches_new {
                reached.insert(new);
            }
            joined.reached.insert(*variable, reached);
        }
        joined.old = first.old.clone();
        for end in &ends {
            joined.old = joined.old.intersection(&end.old).copied().collect();
        }
        *facts = joined;
        true
    }

    /// Follows any other command: nothing is known about what it assigns.
    fn other(
        &mut self,
        command: &Command,
        facts: &mut Facts,
        makes_nodes: &dyn Fn(&Command) -> bool,
    ) {
        each_command(std::slice::from_ref(command), |inner| {
            let appends = matches!(inner, Command::NodeNew { payload, .. } if !payload.is_empty());
            self.keeps &= !appends && !makes_nodes(inner);
            each_assigned(inner, &mut |variable| {
                facts.set(variable, BTreeSet::new(), false);
            });
        });
    }
}
