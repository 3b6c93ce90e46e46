//! The state of a function at one command: the values of its variables, the elements that were loaded, and
//! what is known about both.

use crate::bases::Bases;
use crate::blocks::RootSet;
use crate::facts::Facts;
use crate::invariants::Invariants;
use crate::operations::Operations;
use crate::refusal::Rule;
use crate::symbolic::{Base, Polynomial, Symbol, Truth, Value};
use nova_core::Scalar;
use nova_loop::counters::steps;
use nova_loop::ir::{Command, Expression, Program, Type, Variable};
use std::collections::{BTreeMap, BTreeSet};

/// The symbols of the elements that were loaded.
pub(crate) type Loads = BTreeMap<(Base, Polynomial), Symbol>;

/// The first and last value in an iteration of a variable that only grows in it.
#[derive(Clone, Debug)]
pub(crate) struct Rising {
    pub(crate) first: Polynomial,
    pub(crate) last: Polynomial,
}

/// The values that commands have left in variables.
pub(crate) type Left = Vec<Option<Value>>;

/// The blocks that the iterations of a parallel loop write.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// The first base that was made inside.
    pub(crate) first_base: usize,
    /// The bases that are written through pointers from outside the loop whose values are known.
    pub(crate) there: BTreeSet<Base>,
    /// The roots of the blocks that are written through other pointers.
    pub(crate) somewhere: RootSet,
}

/// Evaluates expressions at one command.
pub(crate) struct State<'p> {
    pub(crate) program: &'p Program,
    /// Rules that are not applied.
    pub(crate) without: &'p BTreeSet<Rule>,
    pub(crate) invariants: Invariants,
    pub(crate) facts: Facts,
    pub(crate) operations: Operations<'p>,
    pub(crate) bases: Bases<'p>,
    pub(crate) values: BTreeMap<Variable, Value>,
    pub(crate) truths: BTreeMap<Variable, Truth>,
    pub(crate) rising: BTreeMap<Variable, Rising>,
    /// The elements that were loaded since the innermost parallel loop began.
    pub(crate) loads: Loads,
    /// The parallel loops around the command, the innermost last.
    pub(crate) loops: Vec<Written>,
    /// The bases that a loop has written so far, while it is followed since it may be a scan.
    pub(crate) scanned: Option<BTreeSet<Base>>,
}

impl State<'_> {
    pub(crate) fn assign(&mut self, variable: Variable, value: &Expression) {
        match self.program.variable(variable).ty {
            Type::Scalar(Scalar::Bool) => {
                let truth = self.truth(value);
                self.values.remove(&variable);
                self.truths.insert(variable, truth);
            }
            Type::Scalar(scalar) if scalar.is_integer() => {
                let value = self.number(value);
                self.values.insert(variable, Value::Number(value));
            }
            Type::Scalar(_) => {
                self.values.remove(&variable);
            }
            Type::Pointer(_) => {
                let spots = self.spots(value);
                self.values.insert(variable, Value::Spots(spots));
            }
            Type::Block => {}
        }
    }

    /// True if the innermost parallel loop does not write a block.
    pub(crate) fn is_stable(&self, base: Base) -> bool {
        let roots = &self.bases[base].roots;
        if let Some(stored) = &self.scanned {
            let meets = |other: &Base| {
                *other == base || self.bases.blocks.meet(roots, &self.bases[*other].roots)
            };
            return !stored.iter().any(meets);
        }
        self.loops.last().is_some_and(|inside| {
            base.index() < inside.first_base
                && !self.bases.blocks.meet(roots, &inside.somewhere)
                && !inside.there.iter().any(|b| self.bases.meet(base, *b))
        })
    }

    /// Forgets the value of a variable, which has a new, unknown one from now on.
    pub(crate) fn forget(&mut self, variable: Variable) {
        self.values.remove(&variable);
        self.truths.remove(&variable);
        if let Type::Pointer(_) = self.program.variable(variable).ty {
            let roots = self.bases.blocks.of_variable(variable);
            if !roots.is_empty() {
                let spot = self.bases.base(roots, false, 1);
                self.values.insert(variable, Value::Spots(vec![spot]));
            }
        }
    }

    /// Returns the values of variables.
    pub(crate) fn left(&self, variables: &[Variable]) -> Left {
        let values = variables.iter().map(|v| self.values.get(v).cloned());
        values.collect()
    }

    /// Gives variables values that they have had before.
    pub(crate) fn restore(&mut self, variables: &[Variable], values: Left) {
        for (variable, value) in variables.iter().zip(values) {
            self.truths.remove(variable);
            match value {
                Some(value) => self.values.insert(*variable, value),
                None => self.values.remove(variable),
            };
        }
    }

    /// Learns facts about the variables that only grow, at the start of a list: those to which the list
    /// itself adds have not reached their last value yet.
    pub(crate) fn learn_steps(&mut self, commands: &[Command]) {
        if self.rising.is_empty() {
            return;
        }
        for (variable, step) in steps(commands) {
            if let Some(rising) = self.rising.get(&variable) {
                let last = rising.last.clone();
                let here = self.number_of(variable).plus_number(step);
                self.facts.learn(here.and_then(|here| last.minus(&here)));
            }
        }
    }
}
