//! The parts of a loop whose recurrences feed costly work. A recurrence is a variable from outside the loop that each
//! iteration assigns once, by a value that only depends on such variables and on what does not change. Pure values
//! depend on recurrences and change nothing. Both are computed ahead of the rest, so none of them may fail, and they
//! read no memory that the rest writes.

use super::Strips;
use super::affine::Affine;
use super::linear::Definitions;
use super::memory::reads_through_variables;
use super::naming::with_names;
use super::neutral::{stores_by, without_effect};
use super::operations::{has_function, has_safe_constant, vector_form};
use crate::limits::COMMANDS_OF_A_BODY;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_loop::cost::work;
use nova_loop::ir::{Command, Expression, Type, Variable};
use nova_loop::walk;
use nova_machine::{PROCESSOR, figures};
use std::collections::{BTreeMap, BTreeSet};

/// Values of no more work than this, of what is known outside the loop, are computed in each loop that needs them.
const AGAIN_WORK: u32 = figures::STRIPS.again_work;
/// The greatest number of local arrays of a strip.
const ARRAYS: usize = figures::STRIPS.arrays;

/// The commands of the loops that a body becomes.
pub(super) struct Parts {
    /// The variables from outside the loop that the first loop passes on.
    pub(super) carried: BTreeSet<Variable>,
    pub(super) recurrences: Vec<Command>,
    /// The forms of all recurrences, if each has one by which a value can be computed ahead.
    pub(super) affine: Option<Vec<Affine>>,
    /// The commands that are computed for all iterations of a strip, in any order.
    pub(super) pure: Vec<Command>,
    pub(super) guard: Option<Guard>,
    pub(super) rest: Vec<Command>,
    /// The commands that cost next to nothing, for the loops that need it.
    pub(super) again: Vec<Command>,
    /// The values that one loop computes and another one needs.
    pub(super) expanded: BTreeSet<Variable>,
}

/// A branch whose work may be computed ahead.
pub(super) struct Guard {
    /// The condition, and whether the branch is taken where it holds.
    pub(super) condition: Expression,
    pub(super) is_then: bool,
    pub(super) pure: Vec<Command>,
    /// The rest without what is computed ahead.
    pub(super) rest: Vec<Command>,
    /// The rest of an iteration that takes the branch, if other iterations have no effect.
    pub(super) taken: Option<Vec<Command>>,
}

/// The facts about a body.
struct Search<'a> {
    index: Variable,
    body: &'a [Command],
    strict: bool,
    definitions: Definitions,
    /// The variables that the body declares or assigns, and the numbers of their assignments.
    own: BTreeSet<Variable>,
    assignments: BTreeMap<Variable, usize>,
    /// The arrays that the body writes. Nothing may be read ahead if there are none here.
    written: Option<BTreeSet<Variable>>,
    /// The recurrences, with the positions of their assignments.
    carried: BTreeMap<Variable, usize>,
    /// The positions of declarations that may be computed ahead, by variable, and those that shall not be.
    named: BTreeMap<Variable, usize>,
    excluded: BTreeSet<usize>,
}

impl Parts {
    /// Returns the parts of a body, if its recurrences or a branch have work that vector instructions save.
    pub(super) fn of(strips: &mut Strips, index: Variable, body: &[Command]) -> Option<Parts> {
        let is_scalar = |v: Variable| matches!(strips.program.variable(v).ty, Type::Scalar(_));
        let mut size = 0;
        walk::each_command(body, |_| size += 1);
        if size > COMMANDS_OF_A_BODY || !is_plain(body, &is_scalar) {
            return None;
        }
        let body = &with_names(strips, body);
        let mut search = Search::of(strips, index, body);
        let first = search.find();
        let again = search.cheap();
        let mut parts = Parts {
            carried: search.carried.keys().copied().collect(),
            recurrences: Vec::new(),
            affine: None,
            pure: Vec::new(),
            guard: None,
            rest: Vec::new(),
            again: search.commands(&again),
            expanded: BTreeSet::new(),
        };
        let named: BTreeSet<usize> = search.named.values().copied().collect();
        let assigned: BTreeSet<usize> = search.carried.values().copied().collect();
        for (at, command) in body.iter().enumerate() {
            if again.contains(&at) {
                continue;
            }
            let list = match () {
                () if first.contains(&at) || assigned.contains(&at) => &mut parts.recurrences,
                () if named.contains(&at) => &mut parts.pure,
                () => &mut parts.rest,
            };
            list.push(command.clone());
        }
        parts.guard = search.guard(&parts.rest);
        if parts.carried.is_empty() && parts.guard.is_none() {
            return None;
        }
        let mut varying = search.own.clone();
        varying.insert(index);
        let forms = parts.carried.iter().map(|v| {
            let Type::Scalar(scalar) = strips.program.variable(*v).ty else {
                return None;
            };
            Affine::of(*v, scalar, &parts.recurrences, &varying)
        });
        parts.affine = forms.collect();
        parts.convert_in_order(strips);
        parts.expand();
        parts.is_worth().then_some(parts)
    }

    /// Moves the conversions of integers of 64 bits that recurrences give to these: not all processors have vector
    /// instructions for them.
    fn convert_in_order(&mut self, strips: &mut Strips) {
        let mut known = declared(&self.recurrences);
        known.extend(&self.carried);
        let mut moved = Vec::new();
        for command in &mut self.pure {
            walk::reads_mut(command, &mut |e| conversions(e, &known, strips, &mut moved));
        }
        for (from, command) in moved.into_iter().rev() {
            // The values from before the iteration are known at its beginning.
            let declares =
                |c: &Command| matches!(c, Command::Declare { variable, .. } if *variable == from);
            let at = self.recurrences.iter().position(declares);
            self.recurrences.insert(at.map_or(0, |at| at + 1), command);
        }
    }

    /// Finds the values that one loop computes and another one needs.
    fn expand(&mut self) {
        let mut known = self.carried.clone();
        known.append(&mut declared(&self.recurrences));
        known.append(&mut declared(&self.pure));
        let mut needed = needs(&self.pure);
        if let Some(guard) = &self.guard {
            known.append(&mut declared(&guard.pure));
            guard.condition.each_variable(&mut |v| {
                needed.insert(v);
            });
            needed.append(&mut needs(&guard.pure));
            needed.append(&mut match &guard.taken {
                Some(taken) => needs(taken),
                None => &needs(&guard.rest) | &needs(&self.rest),
            });
        } else {
            needed.append(&mut needs(&self.rest));
        }
        self.expanded = &known & &needed;
    }

    /// True if vector instructions save more than the local arrays cost.
    fn is_worth(&self) -> bool {
        let mut moved = 0;
        let mut calls = false;
        let guarded = self.guard.iter().flat_map(|guard| &guard.pure);
        for command in self.pure.iter().chain(guarded) {
            walk::reads(command, &mut |e| {
                moved += work(e);
                calls |= has_function(e);
            });
        }
        // A processor overlaps no iterations with calls of functions.
        let least = match calls {
            true => 0,
            false => PROCESSOR.overlapped_work,
        };
        let arrays = self.expanded.len();
        arrays <= ARRAYS && moved >= least + PROCESSOR.store_and_load * arrays as u32
    }
}

impl<'a> Search<'a> {
    fn of(strips: &Strips, index: Variable, body: &'a [Command]) -> Search<'a> {
        let mut definitions = Definitions::new(index);
        let mut assignments = BTreeMap::new();
        let mut written = BTreeSet::new();
        let mut fails = false;
        walk::each_command(body, |command| match command {
            Command::Assign { variable, .. } => *assignments.entry(*variable).or_insert(0) += 1,
            Command::Store { pointer, .. } => {
                written.insert(*pointer);
            }
            other => fails |= walk::may_fail(other),
        });
        for command in body {
            if let Command::Declare {
                variable,
                value: Some(value),
            } = command
            {
                definitions.add(*variable, value);
            }
        }
        let private = written
            .iter()
            .all(|v| strips.memory.is_own(*v) || strips.memory.is_local(*v));
        Search {
            index,
            body,
            strict: strips.program.strict,
            definitions,
            own: walk::assigned(body),
            assignments,
            written: (private && !fails).then_some(written),
            carried: BTreeMap::new(),
            named: BTreeMap::new(),
            excluded: BTreeSet::new(),
        }
    }

    /// Finds the recurrences and what may be computed ahead. Returns the positions of the declarations that the
    /// recurrences need.
    fn find(&mut self) -> BTreeSet<usize> {
        self.carried = self.candidates();
        loop {
            self.name();
            let carried = self.carried.clone();
            let known = |at: &usize| self.is_known(&self.body[*at], &BTreeSet::new());
            let mut left: BTreeMap<Variable, usize> = carried
                .iter()
                .filter(|(_, at)| known(at))
                .map(|(v, at)| (*v, *at))
                .collect();
            if left.len() == carried.len() {
                left.retain(|v, at| self.feeds(*v, *at));
            }
            let is_settled = left.len() == carried.len();
            self.carried = left;
            if !is_settled {
                continue;
            }
            let first: BTreeSet<usize> = self
                .carried
                .values()
                .flat_map(|at| self.slice(*at))
                .collect();
            let scalar = self.named.values().find(|at| {
                let ahead = !first.contains(at) && !self.excluded.contains(at);
                ahead && !self.has_vectors(&self.body[**at])
            });
            match scalar.copied() {
                Some(at) => self.excluded.insert(at),
                None => return first,
            };
        }
    }

    /// Returns the variables from outside the loop that are assigned once, and not read after that.
    fn candidates(&self) -> BTreeMap<Variable, usize> {
        let mut found = BTreeMap::new();
        for (at, command) in self.body.iter().enumerate() {
            if let Command::Assign { variable, value } = command
                && self.assignments.get(variable) == Some(&1)
                && self.may_run_ahead(value, true)
                && !declared_inside(self.body).contains(variable)
                && !needs_any(&self.body[at + 1..], *variable)
            {
                found.insert(*variable, at);
            }
        }
        found
    }

    /// Finds the declarations that may be computed ahead.
    fn name(&mut self) {
        self.named.clear();
        for (at, command) in self.body.iter().enumerate() {
            if let Command::Declare {
                variable,
                value: Some(value),
            } = command
                && !self.assignments.contains_key(variable)
                && !self.excluded.contains(&at)
                && self.may_run_ahead(value, true)
                && self.is_known(command, &BTreeSet::new())
            {
                self.named.insert(*variable, at);
            }
        }
    }

    /// True if a command only reads what is known ahead of the rest, or one of `also`.
    fn is_known(&self, command: &Command, also: &BTreeSet<Variable>) -> bool {
        let mut known = true;
        walk::reads(command, &mut |e| known &= self.is_value_known(e, also));
        known
    }

    fn is_value_known(&self, value: &Expression, also: &BTreeSet<Variable>) -> bool {
        let mut known = true;
        value.each_variable(&mut |v| {
            let ahead = self.named.contains_key(&v) || self.carried.contains_key(&v);
            known &= !self.own.contains(&v) || ahead || also.contains(&v);
        });
        known
    }

    /// True if something that may be computed ahead needs a recurrence, besides the recurrence itself. So sums do not.
    fn feeds(&self, variable: Variable, assigned: usize) -> bool {
        let slice = self.slice(assigned);
        let mut core = BTreeSet::from([variable]);
        for at in &slice {
            if reads_one_of(&self.body[*at], &core) {
                core.append(&mut declared(&self.body[*at..=*at]));
            }
        }
        let mut ahead = self.named.values().filter(|at| !slice.contains(at));
        ahead.any(|at| reads_one_of(&self.body[*at], &core))
            || self.branches(self.body).any(|(condition, list, _)| {
                let mut reads = false;
                condition.each_variable(&mut |v| reads |= core.contains(&v));
                reads
                    || self
                        .pure_of(list)
                        .iter()
                        .any(|command| reads_one_of(command, &core))
            })
    }

    /// Returns the positions of the declarations that a command needs.
    fn slice(&self, at: usize) -> BTreeSet<usize> {
        let mut slice = BTreeSet::new();
        let mut needed = walk::read_variables(&self.body[at..=at]);
        while let Some(variable) = needed.pop_first() {
            if let Some(named) = self.named.get(&variable)
                && slice.insert(*named)
            {
                needed.append(&mut walk::read_variables(&self.body[*named..=*named]));
            }
        }
        slice
    }

    /// Returns the positions of what costs next to nothing, of what is known outside the loop.
    fn cheap(&self) -> BTreeSet<usize> {
        let mut cheap = BTreeSet::new();
        let mut variables = BTreeSet::new();
        for (at, command) in self.body.iter().enumerate() {
            if let Command::Declare {
                variable,
                value: Some(value),
            } = command
                && self.named.get(variable) == Some(&at)
                && work(value) <= AGAIN_WORK
            {
                let mut outside = true;
                value.each_variable(&mut |v| {
                    outside &= !self.own.contains(&v) || variables.contains(&v);
                });
                if outside {
                    cheap.insert(at);
                    variables.insert(*variable);
                }
            }
        }
        cheap
    }

    fn commands(&self, positions: &BTreeSet<usize>) -> Vec<Command> {
        positions.iter().map(|at| self.body[*at].clone()).collect()
    }

    /// Returns the branches of conditionals whose conditions are known ahead: the condition, the commands, the
    /// position of the conditional, and whether the branch is taken where the condition holds.
    fn branches<'b>(
        &'b self,
        commands: &'b [Command],
    ) -> impl Iterator<Item = (&'b Expression, &'b [Command], (usize, bool))> {
        commands.iter().enumerate().flat_map(move |(at, command)| {
            let Command::If {
                condition,
                then,
                otherwise,
            } = command
            else {
                return Vec::new();
            };
            let known = self.is_value_known(condition, &BTreeSet::new());
            match known && self.may_run_ahead(condition, false) && self.suits(condition) {
                true => vec![
                    (condition, &then[..], (at, true)),
                    (condition, &otherwise[..], (at, false)),
                ],
                false => Vec::new(),
            }
        })
    }

    /// Returns the declarations of a branch that may be computed where it is not taken.
    fn pure_of(&self, branch: &[Command]) -> Vec<Command> {
        let mut found = Vec::new();
        let mut also = BTreeSet::new();
        for command in branch {
            if let Command::Declare {
                variable,
                value: Some(value),
            } = command
                && !self.assignments.contains_key(variable)
                && self.may_run_ahead(value, false)
                && self.has_vectors(command)
                && self.is_known(command, &also)
            {
                also.insert(*variable);
                found.push(command.clone());
            }
        }
        found
    }

    /// Returns the branch with the most work that may be computed for all iterations.
    fn guard(&self, rest: &[Command]) -> Option<Guard> {
        let mut best: Option<(u32, Guard)> = None;
        // Proofs that iterations do not meet need plain places.
        let packs = !stores_by(self.body, self.index);
        for (condition, branch, (at, is_then)) in self.branches(rest) {
            let pure = self.pure_of(branch);
            let mut amount = 0;
            for command in &pure {
                walk::reads(command, &mut |e| amount += work(e));
            }
            let more = best.as_ref().is_none_or(|(most, _)| amount > *most);
            if amount < PROCESSOR.branch_work || !more {
                continue;
            }
            let moved = declared(&pure);
            let mut left = rest.to_vec();
            if let Some(Command::If {
                then, otherwise, ..
            }) = left.get_mut(at)
            {
                let list = if is_then { then } else { otherwise };
                list.retain(|command| match command {
                    Command::Declare { variable, .. } => !moved.contains(variable),
                    _others => true,
                });
            }
            let guard = Guard {
                taken: (packs && without_effect(rest, at, is_then)).then(|| {
                    let list = left.get(at).map(|command| command.lists());
                    let branch = list.and_then(|lists| lists.get(usize::from(!is_then)).copied());
                    let mut taken = left.clone();
                    taken.splice(at..=at, branch.cloned().unwrap_or_default());
                    taken
                }),
                condition: condition.clone(),
                is_then,
                pure,
                rest: left,
            };
            best = Some((amount, guard));
        }
        best.map(|(_, guard)| guard)
    }

    /// True if a value may be computed before what comes before it: it cannot fail, and reads nothing that is written.
    fn may_run_ahead(&self, value: &Expression, reads: bool) -> bool {
        match value {
            Expression::Constant(_) | Expression::Variable(_) => true,
            Expression::Load { pointer, index } => match (&**pointer, &self.written) {
                (Expression::Variable(pointer), Some(written)) => {
                    let free = reads && !written.contains(pointer);
                    free && reads_through_variables(index)
                        && deep(|| self.may_run_ahead(index, reads))
                }
                _others => false,
            },
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => {
                let safe = operation.is_total(*operand) || has_safe_constant(*operation, arguments);
                safe && arguments
                    .iter()
                    .all(|e| deep(|| self.may_run_ahead(e, reads)))
            }
            Expression::Select {
                condition,
                then,
                otherwise,
            } => {
                let inside = [then, otherwise];
                inside
                    .into_iter()
                    .all(|e| deep(|| self.may_run_ahead(e, false)))
                    && deep(|| self.may_run_ahead(condition, reads))
            }
            _others => false,
        }
    }

    /// True if there are vector instructions or functions for what a command computes.
    fn has_vectors(&self, command: &Command) -> bool {
        let mut suits = true;
        walk::reads(command, &mut |e| suits &= self.suits(e));
        suits
    }

    fn suits(&self, value: &Expression) -> bool {
        let gathers = vector_form(&self.definitions, value);
        gathers == Some(0) && !(self.strict && has_function(value))
    }
}

/// True if a body only computes and assigns scalars, stores elements, checks, and has conditionals of these.
fn is_plain(commands: &[Command], is_scalar: &dyn Fn(Variable) -> bool) -> bool {
    commands.iter().all(|command| match command {
        Command::Declare { variable, .. } | Command::Assign { variable, .. } => {
            is_scalar(*variable)
        }
        Command::Store { .. } | Command::Check { .. } | Command::Comment(_) => true,
        Command::If {
            then, otherwise, ..
        } => deep(|| is_plain(then, is_scalar) && is_plain(otherwise, is_scalar)),
        _others => false,
    })
}

/// Gives names to the conversions of integers of 64 bits to floats whose arguments are known.
fn conversions(
    value: &mut Expression,
    known: &BTreeSet<Variable>,
    strips: &mut Strips,
    moved: &mut Vec<(Variable, Command)>,
) {
    if let Expression::Scalar {
        operation: ScalarOperation::Convert(to @ (Scalar::F32 | Scalar::F64)),
        operand: Scalar::I64 | Scalar::U64,
        arguments,
    } = value
        && let [Expression::Variable(from)] = arguments[..]
        && known.contains(&from)
    {
        let ty = Type::Scalar(*to);
        let name = strips.program.add_variable("t", ty);
        let conversion = std::mem::replace(value, Expression::Variable(name));
        moved.push((from, Command::declare(name, conversion)));
        return;
    }
    for child in value.children_mut() {
        deep(|| conversions(child, known, strips, moved));
    }
}

/// Returns the variables that a list declares, without those of lists inside.
pub(super) fn declared(commands: &[Command]) -> BTreeSet<Variable> {
    let declares = |command: &Command| match command {
        Command::Declare { variable, .. } => Some(*variable),
        _others => None,
    };
    commands.iter().filter_map(declares).collect()
}

/// Returns the variables that a list declares, at any depth.
fn declared_inside(commands: &[Command]) -> BTreeSet<Variable> {
    let mut found = BTreeSet::new();
    walk::each_command(commands, |command| {
        if let Command::Declare { variable, .. } = command {
            found.insert(*variable);
        }
    });
    found
}

/// Returns the variables that commands read, at any depth, and do not declare.
pub(super) fn needs(commands: &[Command]) -> BTreeSet<Variable> {
    let mut read = BTreeSet::new();
    walk::each_command(commands, |command| {
        read.append(&mut walk::read_variables(std::slice::from_ref(command)));
    });
    &read - &declared_inside(commands)
}

fn needs_any(commands: &[Command], variable: Variable) -> bool {
    needs(commands).contains(&variable)
}

fn reads_one_of(command: &Command, variables: &BTreeSet<Variable>) -> bool {
    let read = walk::read_variables(std::slice::from_ref(command));
    !read.is_disjoint(variables)
}
