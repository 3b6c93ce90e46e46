//! Reclaims the nodes of recursive data that a loop makes and no longer needs.
//!
//! Nodes link only to older nodes, except within one import or one datum made of a table. So the nodes
//! made since a loop began are reachable only from the variables that the loop assigns and declares
//! outside of its body. At the beginning of an iteration nothing else leads to them:
//!
//! ```text
//! declare first; declare limit; mark_nodes sum first limit
//! loop { if not c { break }; reclaim_nodes [sum] [first] [limit] [state …] [sum …]; … }
//! ```
//!
//! A thread that runs iterations of a parallel loop drops all nodes at the end of an iteration that it has made
//! there, if no link to one of them leaves the iteration. It reclaims nodes in the loops inside, too.
//!
//! The pass takes no loop of which it does not know all such variables exactly: not where arrays of links
//! outlive an iteration, and not where nodes are stored in places that were reserved before the loop. Nodes
//! for which kernels are given copies stay, too. Loops that keep all nodes that they make have nothing to
//! reclaim ([`retained`]).

mod makers;
mod retained;

use makers::{Makers, used};
use nova_core::{Scalar, SumId};
use nova_diag::{Place, deep};
use nova_loop::call_graph::called;
use nova_loop::functions::each_function;
use nova_loop::ir::{
    Command, Expression, FunctionId, Level, Program, TableCommand, Type, Variable,
};
use nova_loop::links::Links;
use nova_loop::uses::{made, written};
use nova_loop::walk::{assigned, each_assigned, each_command, names};
use std::collections::{BTreeMap, BTreeSet};

/// Reclaims nodes in the loops of a program for a processor.
pub fn run(program: &mut Program) {
    reclaim(program, &BTreeSet::new(), None);
}

/// Reclaims nodes in the loops of the host, where there is a device.
pub fn run_for_device(program: &mut Program) {
    let (mut functions, mut sums) = (BTreeSet::new(), BTreeSet::new());
    for function in &program.functions {
        each_command(&function.body, |command| {
            if let Command::For { level, body, .. } = command
                && level.starts_kernel()
            {
                functions.extend(called(program, body));
                sums.extend(used(program, body));
            }
        });
    }
    reclaim(program, &functions, Some(&sums));
}

/// Reclaims nodes in all functions but those of a device, and of all sums but those of which a device
/// has copies. `copied` is `None` if there is no device.
fn reclaim(
    program: &mut Program,
    on_device: &BTreeSet<FunctionId>,
    copied: Option<&BTreeSet<SumId>>,
) {
    let makes_nodes = |function: &nova_loop::ir::Function| {
        let mut found = false;
        each_command(&function.body, |command| {
            found |= matches!(
                command,
                Command::NodeNew { .. } | Command::Table(TableCommand::Reserve { .. })
            );
        });
        found
    };
    if !program.functions.iter().any(makes_nodes) {
        return;
    }
    let links = Links::of(program);
    let makers = Makers::of(program);
    let mut id = 0;
    each_function(program, |program, function| {
        let own = FunctionId(id);
        id += 1;
        if on_device.contains(&own) {
            return;
        }
        let mut pass = Reclaim {
            program,
            links: &links,
            makers: &makers,
            copied,
            enclosing: Vec::new(),
        };
        let known = function.parameters.iter().copied();
        let mut known = Known {
            surely: known.clone().collect(),
            perhaps: known.collect(),
        };
        pass.in_list(&mut function.body, &mut known);
    });
}

/// The variables that are assigned at a place.
#[derive(Clone)]
struct Known {
    /// On all paths to it.
    surely: BTreeSet<Variable>,
    /// On some path.
    perhaps: BTreeSet<Variable>,
}

/// A loop around the place.
struct Enclosing {
    declared: BTreeSet<Variable>,
    /// The number of assignments of each variable in its body.
    assignments: BTreeMap<Variable, usize>,
}

struct Reclaim<'a> {
    program: &'a mut Program,
    links: &'a Links,
    makers: &'a Makers,
    copied: Option<&'a BTreeSet<SumId>>,
    enclosing: Vec<Enclosing>,
}

impl Reclaim<'_> {
    fn in_list(&mut self, list: &mut Vec<Command>, known: &mut Known) {
        let mut rest = Vec::with_capacity(list.len());
        for mut command in list.drain(..) {
            match &mut command {
                Command::For {
                    variable,
                    level,
                    body,
                    place,
                    ..
                } if !level.is_parallel() => {
                    let is_in_order = *level == Level::Sequential;
                    let index = Some(*variable);
                    rest.extend(self.in_loop(body, index, is_in_order, place, known));
                }
                Command::For {
                    variable,
                    level: Level::Grid,
                    body,
                    place,
                    ..
                } if self.program.nodes_by_threads && self.copied.is_none() => {
                    self.in_iteration(body, *variable, place, known);
                }
                Command::Loop { body, place } => {
                    rest.extend(self.in_loop(body, None, true, place, known));
                }
                Command::If { .. } | Command::Switch { .. } => self.in_cases(&mut command, known),
                other => each_assigned(other, &mut |variable| {
                    let is_declared = matches!(other, Command::Declare { value: None, .. });
                    if !is_declared {
                        known.surely.insert(variable);
                        known.perhaps.insert(variable);
                    }
                }),
            }
            rest.push(command);
        }
        *list = rest;
    }

    /// Walks over the lists of a conditional. Variables that all of them assign are assigned after it.
    fn in_cases(&mut self, command: &mut Command, known: &mut Known) {
        let mut surely: Option<BTreeSet<Variable>> = None;
        for list in command.lists_mut() {
            let mut own = known.clone();
            deep(|| self.in_list(list, &mut own));
            known.perhaps.extend(own.perhaps);
            if !leaves(list) {
                surely = Some(match surely {
                    None => own.surely,
                    Some(others) => others.intersection(&own.surely).copied().collect(),
                });
            }
        }
        known.surely.extend(surely.unwrap_or_default());
    }

    /// Walks over the body of a loop, and lets it reclaim nodes if that is possible. Returns the commands
    /// that stand before the loop then.
    fn in_loop(
        &mut self,
        body: &mut Vec<Command>,
        index: Option<Variable>,
        is_in_order: bool,
        place: &Place,
        known: &mut Known,
    ) -> Vec<Command> {
        let made = self.makers.made(self.program, body);
        if made.sums.is_empty() {
            known.perhaps.extend(assigned(body));
            return Vec::new();
        }
        let enclosing = enclosing(body, index);
        let own = &made.sums;
        let is_copied = self.copied.is_some_and(|copied| !own.is_disjoint(copied));
        let is_possible = is_in_order && made.is_complete() && !is_copied;
        let states = match is_possible {
            true => self.states(body, &enclosing, own, known),
            false => None,
        };
        let states = states.filter(|states| !self.keeps_all(body, states));
        self.enclosing.push(enclosing);
        let mut inner = known.clone();
        inner.surely.extend(index);
        deep(|| self.in_list(body, &mut inner));
        self.enclosing.pop();
        known.perhaps.extend(inner.perhaps);
        match states {
            Some(states) => self.reclaim(body, own, states, place),
            None => Vec::new(),
        }
    }

    /// Walks over the body of a loop that threads share, and lets it drop what an iteration makes for itself.
    fn in_iteration(
        &mut self,
        body: &mut Vec<Command>,
        index: Variable,
        place: &Place,
        known: &mut Known,
    ) {
        let made = self.makers.made(self.program, body);
        let enclosing = enclosing(body, Some(index));
        let keeps_none = !made.sums.is_empty()
            && made.is_complete()
            && self
                .states(body, &enclosing, &made.sums, known)
                .is_some_and(|states| states.is_empty());
        self.enclosing.push(enclosing);
        let mut inner = known.clone();
        inner.surely.insert(index);
        deep(|| self.in_list(body, &mut inner));
        self.enclosing.pop();
        known.perhaps.extend(inner.perhaps);
        if keeps_none {
            let (before, reclaim, limits) = self.commands(&made.sums, Vec::new(), place);
            body.splice(0..0, before);
            // All that the iteration has made goes, however little it is.
            body.extend(limits.into_iter().map(|variable| Command::Assign {
                variable,
                value: Expression::index(0),
            }));
            body.push(reclaim);
        }
    }

    /// Returns the variables through which an iteration passes on links to nodes of these sums, with the sum
    /// of each. Returns `None` if there may be other ways.
    fn states(
        &self,
        body: &[Command],
        own: &Enclosing,
        sums: &BTreeSet<SumId>,
        known: &Known,
    ) -> Option<Vec<(Variable, SumId)>> {
        let leads = |variable: Variable| !self.links.held(variable).sums.is_disjoint(sums);
        let fresh = self.fresh(body, own);
        let mut is_known = true;
        each_command(body, |command| {
            for pointer in written(command) {
                pointer.each_variable(&mut |base| {
                    let is_pointer = self.program.is_pointer(base);
                    is_known &= !is_pointer || !leads(base) || fresh.contains(&base);
                });
            }
            if let Command::StoreBuffer { pieces, .. } = command {
                is_known &= own.declared.contains(pieces) || !leads(*pieces);
            }
        });
        let mut states = Vec::new();
        for (variable, count) in &own.assignments {
            if own.declared.contains(variable) {
                continue;
            }
            let held = self.links.held(*variable);
            is_known &= held.owners.is_disjoint(sums);
            if !leads(*variable) || self.is_dead(*variable, *count, known)? {
                continue;
            }
            let is_link = self.program.variable(*variable).ty == Type::Scalar(Scalar::I64);
            match held.sums.first() {
                Some(sum) if is_link && !held.numbers && held.sums.len() == 1 => {
                    states.push((*variable, *sum));
                }
                Some(_) | None => return None,
            }
        }
        is_known.then_some(states)
    }

    /// True if a loop keeps all nodes that it makes.
    fn keeps_all(&self, body: &[Command], states: &[(Variable, SumId)]) -> bool {
        let states: Vec<Variable> = states.iter().map(|(variable, _)| *variable).collect();
        retained::keeps_all(body, &states, &|command| match command {
            Command::Call { .. } => {
                let made = self
                    .makers
                    .made(self.program, std::slice::from_ref(command));
                !made.sums.is_empty()
            }
            other => matches!(other, Command::Table(_) | Command::Foreign { .. }),
        })
    }

    /// True if a variable from outside has no value that an iteration could need before it assigns it:
    /// no path to the loop assigns it. Returns `None` if only some do.
    fn is_dead(&self, variable: Variable, count: usize, known: &Known) -> Option<bool> {
        if known.surely.contains(&variable) {
            return Some(false);
        }
        let elsewhere = self.enclosing.iter().any(|enclosing| {
            let assignments = enclosing.assignments.get(&variable);
            !enclosing.declared.contains(&variable) && assignments.is_some_and(|n| *n > count)
        });
        match known.perhaps.contains(&variable) || elsewhere {
            true => None,
            false => Some(true),
        }
    }

    /// Returns the pointers that lead only into arrays that the body itself makes.
    fn fresh(&self, body: &[Command], own: &Enclosing) -> BTreeSet<Variable> {
        let declared = own.declared.iter().copied();
        let mut fresh: BTreeSet<Variable> =
            declared.filter(|v| self.program.is_pointer(*v)).collect();
        let mut values: Vec<(Variable, &Expression)> = Vec::new();
        each_command(body, |command| match command {
            Command::Declare {
                variable,
                value: Some(value),
            }
            | Command::Assign { variable, value } => values.push((*variable, value)),
            Command::Declare { value: None, .. }
            | Command::Foreign { .. }
            | Command::Table(TableCommand::Reached { .. }) => {}
            others => {
                let mut new = BTreeSet::new();
                made(others, &mut |pointer| {
                    new.insert(pointer);
                });
                each_assigned(others, &mut |variable| {
                    if !new.contains(&variable) {
                        fresh.remove(&variable);
                    }
                });
            }
        });
        let mut shrinks = true;
        while shrinks {
            shrinks = false;
            for (variable, value) in &values {
                let mut is_fresh = true;
                value.each_variable(&mut |base| {
                    is_fresh &= !self.program.is_pointer(base) || fresh.contains(&base);
                });
                if !is_fresh {
                    shrinks |= fresh.remove(variable);
                }
            }
        }
        fresh
    }

    /// Lets a loop reclaim nodes at the beginning of its iterations. Returns the commands before it.
    fn reclaim(
        &mut self,
        body: &mut Vec<Command>,
        sums: &BTreeSet<SumId>,
        states: Vec<(Variable, SumId)>,
        place: &Place,
    ) -> Vec<Command> {
        let (before, reclaim, _) = self.commands(sums, states, place);
        // Behind the test whether there is another iteration, C compilers see the loop as they know it.
        let tests = body.iter().take_while(|command| is_exit(command)).count();
        body.insert(tests, reclaim);
        before
    }

    /// Returns the commands before a loop or an iteration, the one that reclaims nodes, and its limits.
    fn commands(
        &mut self,
        sums: &BTreeSet<SumId>,
        states: Vec<(Variable, SumId)>,
        place: &Place,
    ) -> (Vec<Command>, Command, Vec<Variable>) {
        let (mut before, mut first, mut limits) = (Vec::new(), Vec::new(), Vec::new());
        for sum in sums {
            let [start, limit] = ["first", "limit"].map(|name| {
                let variable = self.program.add_variable(name, Type::Scalar(Scalar::I64));
                let value = None;
                before.push(Command::Declare { variable, value });
                variable
            });
            before.push(Command::Table(TableCommand::Mark {
                sum: *sum,
                first: start,
                limit,
            }));
            first.push(Expression::Variable(start));
            limits.push(limit);
        }
        let (links, targets) = states.into_iter().unzip();
        let reclaim = Command::Table(TableCommand::Reclaim {
            sums: sums.iter().copied().collect(),
            first,
            limits: limits.clone(),
            links,
            targets,
            place: place.clone(),
        });
        (before, reclaim, limits)
    }
}

/// True if a command only leaves the loop under a condition.
fn is_exit(command: &Command) -> bool {
    match command {
        Command::If {
            then, otherwise, ..
        } => matches!(then[..], [Command::Break]) && otherwise.is_empty(),
        _others => false,
    }
}

/// True if execution does not go on after a list.
fn leaves(list: &[Command]) -> bool {
    matches!(
        list.last(),
        Some(Command::Break | Command::Continue | Command::Return | Command::Fail { .. })
    )
}

/// Returns what the body of a loop declares and assigns.
fn enclosing(body: &[Command], index: Option<Variable>) -> Enclosing {
    let mut declared: BTreeSet<Variable> = index.into_iter().collect();
    let mut assignments = BTreeMap::new();
    each_command(body, |command| {
        names(command, &mut |variable, role| {
            if role.is_none() {
                declared.insert(variable);
            }
        });
        each_assigned(command, &mut |variable| {
            *assignments.entry(variable).or_insert(0) += 1;
        });
    });
    Enclosing {
        declared,
        assignments,
    }
}
