//! What each of the loops over a strip with running results does: which commands of the body stand
//! in it, what it reads from local arrays and what it leaves there. What is read from memory, or
//! costs next to nothing, is computed again in each loop that needs it.

use super::cost::work;
use super::runs::{Run, Runs};
use super::{Map, Strips};
use crate::ir::{Command, Expression, Type, Variable};
use crate::walk;
use nova_core::Scalar;
use std::collections::{BTreeMap, BTreeSet};

/// Values of no more work than this are computed again where a later stage needs them.
const AGAIN_WORK: u32 = 3;

/// What the loops over a strip do.
pub(super) struct Stages<'a> {
    pub(super) runs: &'a [Run],
    pub(super) loops: Vec<Stage>,
    /// The local arrays of values that later stages need.
    pub(super) kept: BTreeMap<Variable, Variable>,
    /// Where the values of each running result lie.
    pub(super) ends: Vec<Ends>,
}

/// What one of the loops over a strip does.
#[derive(Default)]
pub(super) struct Stage {
    /// The commands of the body that it does.
    pub(super) commands: Vec<usize>,
    /// What it reads from local arrays.
    pub(super) loaded: BTreeSet<Variable>,
    /// Which running results it reads.
    pub(super) runs: BTreeSet<usize>,
    /// What it leaves in local arrays.
    pub(super) kept: BTreeSet<Variable>,
}

/// Where the values of a running result come from and go to.
pub(super) struct Ends {
    /// A pointer to elements that lie behind each other, and the index that the loop begins with.
    pub(super) from: Option<(Variable, Expression)>,
    /// The same of elements that are written.
    pub(super) to: Option<(Variable, Expression)>,
    /// The command that writes them.
    writes: Option<usize>,
    /// A local array otherwise.
    pub(super) local: Variable,
}

impl Ends {
    /// True if the local array is used.
    pub(super) fn is_local(&self) -> bool {
        self.from.is_none() || self.to.is_none()
    }
}

impl Strips<'_> {
    /// What the loops over a strip do.
    pub(super) fn stages<'r>(&mut self, map: &Map, runs: &'r Runs) -> Stages<'r> {
        let ends: Vec<Ends> = runs.runs.iter().map(|run| self.ends(map, run)).collect();
        let mut loops: Vec<Stage> = (0..=runs.end).map(|_| Stage::default()).collect();
        let mut kept = BTreeMap::new();
        for at in (0..loops.len()).rev() {
            for (earlier, variable) in self.stage(map, runs, &ends, at, &mut loops) {
                if let Some(stage) = loops.get_mut(earlier)
                    && let Type::Scalar(element) = self.program.variable(variable).ty
                {
                    stage.kept.insert(variable);
                    kept.entry(variable).or_insert_with(|| {
                        let name = self.program.variable(variable).name.clone();
                        self.program.add_variable(name, Type::Pointer(element))
                    });
                }
            }
        }
        Stages {
            runs: &runs.runs,
            loops,
            kept,
            ends,
        }
    }

    /// Finds what a stage does; gives what earlier ones must keep for it.
    fn stage(
        &self,
        map: &Map,
        runs: &Runs,
        ends: &[Ends],
        at: usize,
        loops: &mut [Stage],
    ) -> Vec<(usize, Variable)> {
        let mut earlier = Vec::new();
        let Some(stage) = loops.get_mut(at) else {
            return earlier;
        };
        let mut needed = stage.kept.clone();
        for (run, ends) in runs.runs.iter().zip(ends) {
            if run.stage == at && ends.from.is_none() {
                run.value.each_variable(&mut |v| {
                    needed.insert(v);
                });
            }
        }
        for (k, command) in map.body.iter().enumerate().rev() {
            let included = match command {
                Command::Store { .. } => {
                    at == runs.end && ends.iter().all(|ends| ends.writes != Some(k))
                }
                Command::Declare {
                    variable,
                    value: Some(value),
                } if needed.contains(variable) && runs.run(*variable).is_none() => {
                    let known = runs.stage(*variable);
                    let included = known == at || self.is_cheap(map, value);
                    if !included {
                        stage.loaded.insert(*variable);
                        earlier.push((known, *variable));
                    }
                    included
                }
                _others => false,
            };
            if included {
                stage.commands.push(k);
                needed.append(&mut walk::read_variables(std::slice::from_ref(command)));
            }
        }
        stage.commands.reverse();
        stage.runs = needed.iter().filter_map(|v| runs.run(*v)).collect();
        earlier
    }

    /// Where the values of a running result come from and go to.
    fn ends(&mut self, map: &Map, run: &Run) -> Ends {
        let from = self.source(map, run, &run.value);
        let target = match run.readers[..] {
            [at] => self.sink(map, run, at).map(|to| (at, to)),
            _ => None,
        };
        let (writes, to) = target.unzip();
        let name = self.program.variable(run.last).name.clone();
        let local = self.program.add_variable(name, Type::Pointer(run.element));
        Ends {
            from,
            to,
            writes,
            local,
        }
    }

    /// Elements that a value is, one behind the other.
    fn source(&self, map: &Map, run: &Run, value: &Expression) -> Option<(Variable, Expression)> {
        match value {
            Expression::Variable(variable) => match map.definitions.value(*variable)? {
                Expression::Variable(_) => None,
                value => self.source(map, run, value),
            },
            Expression::Load { pointer, index } => match **pointer {
                Expression::Variable(pointer) => self.elements(map, run, pointer, index),
                _ => None,
            },
            _ => None,
        }
    }

    /// Elements that a command writes, one behind the other, and nobody else.
    fn sink(&self, map: &Map, run: &Run, at: usize) -> Option<(Variable, Expression)> {
        let Some(Command::Store {
            pointer,
            index,
            value: Expression::Variable(_),
        }) = map.body.get(at)
        else {
            return None;
        };
        let same = |c: &&Command| matches!(c, Command::Store { pointer: p, .. } if p == pointer);
        let alone = map.body.iter().filter(same).count() == 1;
        let to = self.elements(map, run, *pointer, index);
        to.filter(|_| alone)
    }

    /// The elements behind a pointer from an index on that rises with the loop's.
    fn elements(
        &self,
        map: &Map,
        run: &Run,
        pointer: Variable,
        index: &Expression,
    ) -> Option<(Variable, Expression)> {
        let address = map.definitions.linear(index)?;
        let typed = self.program.variable(pointer).ty == Type::Pointer(run.element);
        (typed && address.factor == 1).then(|| (pointer, address.start()))
    }

    /// True if a value of the body is as well computed again: from elements, or from what is known
    /// outside.
    pub(super) fn is_cheap(&self, map: &Map, value: &Expression) -> bool {
        let mut own = true;
        value.each_variable(&mut |v| {
            let address = |v: Variable| {
                self.program.variable(v).ty == Type::Scalar(Scalar::I64)
                    && map.definitions.linear(&Expression::Variable(v)).is_some()
            };
            own &= map.definitions.value(v).is_none() || address(v);
        });
        own && work(value) <= AGAIN_WORK
    }
}
