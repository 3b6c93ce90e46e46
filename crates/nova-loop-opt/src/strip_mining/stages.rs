//! The stages of a strip with prefix scans. For each of the loops over the strip, this module finds
//! which commands of the body it contains, what it reads from local arrays and what it stores
//! there. What is read from memory, or costs next to nothing, is computed again in each loop that
//! needs it.

use super::recurrences::{Recurrence, Recurrences};
use super::{Map, Strips};
use nova_core::Scalar;
use nova_loop::cost::work;
use nova_loop::ir::{Command, Expression, Type, Variable};
use nova_loop::walk;
use nova_machine::figures;
use std::collections::{BTreeMap, BTreeSet};

/// Values of no more work than this are computed again where a later stage needs them.
const AGAIN_WORK: u32 = figures::STRIPS.again_work;

/// The loops over a strip.
pub(super) struct Stages<'a> {
    pub(super) recurrences: &'a [Recurrence],
    pub(super) loops: Vec<Stage>,
    /// The local arrays that hold values which later stages need (scalar expansion), by variable.
    pub(super) expanded: BTreeMap<Variable, Variable>,
    /// The sources and destinations of the recurrences, in their order.
    pub(super) ends: Vec<Ends>,
}

/// One of the loops over a strip.
#[derive(Default)]
pub(super) struct Stage {
    /// The commands of the body that it contains, by position.
    pub(super) commands: Vec<usize>,
    /// The variables that it reads from local arrays.
    pub(super) loaded: BTreeSet<Variable>,
    /// The recurrences that it reads.
    pub(super) recurrences: BTreeSet<usize>,
    /// The variables that it stores in local arrays.
    pub(super) stored: BTreeSet<Variable>,
}

/// The source and the destination of the values of a recurrence.
pub(super) struct Ends {
    /// The consecutive elements that the values are read from, if they are: a pointer, and the
    /// index with which the loop begins.
    pub(super) from: Option<(Variable, Expression)>,
    /// The consecutive elements that the results are written to, if they are, in the same form.
    pub(super) to: Option<(Variable, Expression)>,
    /// The command that writes them.
    writes: Option<usize>,
    /// The local array that takes the place of a missing source or destination.
    pub(super) local: Variable,
}

impl Ends {
    /// True if the local array is used.
    pub(super) fn is_local(&self) -> bool {
        self.from.is_none() || self.to.is_none()
    }
}

impl Strips<'_> {
    /// Returns the loops over a strip.
    pub(super) fn stages<'r>(&mut self, map: &Map, recurrences: &'r Recurrences) -> Stages<'r> {
        let ends: Vec<Ends> = recurrences
            .recurrences
            .iter()
            .map(|recurrence| self.ends(map, recurrence))
            .collect();
        let mut loops: Vec<Stage> = (0..=recurrences.end).map(|_| Stage::default()).collect();
        let mut expanded = BTreeMap::new();
        for at in (0..loops.len()).rev() {
            for (earlier, variable) in self.stage(map, recurrences, &ends, at, &mut loops) {
                if let Some(stage) = loops.get_mut(earlier)
                    && let Type::Scalar(element) = self.program.variable(variable).ty
                {
                    stage.stored.insert(variable);
                    expanded.entry(variable).or_insert_with(|| {
                        let name = self.program.variable(variable).name.clone();
                        self.program.add_variable(name, Type::Pointer(element))
                    });
                }
            }
        }
        Stages {
            recurrences: &recurrences.recurrences,
            loops,
            expanded,
            ends,
        }
    }

    /// Finds what a stage does. Returns the variables that earlier stages must store for it, each
    /// with its stage.
    fn stage(
        &self,
        map: &Map,
        recurrences: &Recurrences,
        ends: &[Ends],
        at: usize,
        loops: &mut [Stage],
    ) -> Vec<(usize, Variable)> {
        let mut earlier = Vec::new();
        let Some(stage) = loops.get_mut(at) else {
            return earlier;
        };
        let mut needed = stage.stored.clone();
        for (recurrence, ends) in recurrences.recurrences.iter().zip(ends) {
            if recurrence.stage == at && ends.from.is_none() {
                recurrence.value.each_variable(&mut |v| {
                    needed.insert(v);
                });
            }
        }
        for (k, command) in map.body.iter().enumerate().rev() {
            let included = match command {
                Command::Store { .. } => {
                    at == recurrences.end && ends.iter().all(|ends| ends.writes != Some(k))
                }
                Command::Declare {
                    variable,
                    value: Some(value),
                } if needed.contains(variable) && recurrences.recurrence(*variable).is_none() => {
                    let known = recurrences.stage(*variable);
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
        stage.recurrences = needed
            .iter()
            .filter_map(|v| recurrences.recurrence(*v))
            .collect();
        earlier
    }

    /// Returns the source and the destination of the values of a recurrence.
    fn ends(&mut self, map: &Map, recurrence: &Recurrence) -> Ends {
        // A prefix scan does not read where it writes.
        let from = match map.in_place {
            true => None,
            false => self.source(map, recurrence, &recurrence.value),
        };
        let target = match recurrence.readers[..] {
            [at] => self.sink(map, recurrence, at).map(|to| (at, to)),
            _ => None,
        };
        let (writes, to) = target.unzip();
        let name = self.program.variable(recurrence.last).name.clone();
        let local = self
            .program
            .add_variable(name, Type::Pointer(recurrence.element));
        Ends {
            from,
            to,
            writes,
            local,
        }
    }

    /// Returns the consecutive elements that a value consists of, if it does.
    fn source(
        &self,
        map: &Map,
        recurrence: &Recurrence,
        value: &Expression,
    ) -> Option<(Variable, Expression)> {
        match value {
            Expression::Variable(variable) => match map.definitions.value(*variable)? {
                Expression::Variable(_) => None,
                value => self.source(map, recurrence, value),
            },
            Expression::Load { pointer, index } => match **pointer {
                Expression::Variable(pointer) => self.elements(map, recurrence, pointer, index),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the consecutive elements that a command writes, if no other command writes there.
    fn sink(
        &self,
        map: &Map,
        recurrence: &Recurrence,
        at: usize,
    ) -> Option<(Variable, Expression)> {
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
        let to = self.elements(map, recurrence, *pointer, index);
        to.filter(|_| alone)
    }

    /// Returns a pointer and the start of an index that rises by one with the index of the loop, if
    /// the pointer leads to elements of the recurrence's type.
    fn elements(
        &self,
        map: &Map,
        recurrence: &Recurrence,
        pointer: Variable,
        index: &Expression,
    ) -> Option<(Variable, Expression)> {
        let address = map.definitions.linear(index)?;
        let typed = self.program.variable(pointer).ty == Type::Pointer(recurrence.element);
        (typed && address.factor == 1).then(|| (pointer, address.start()))
    }

    /// True if it costs little to compute a value of the body again, from elements or from what is
    /// known outside the body.
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
