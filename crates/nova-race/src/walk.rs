//! The walk over a function, which finds the memory accesses of the iterations of its parallel loops. It
//! visits each command once, in order, and expresses the values of variables in symbols. A variable that a
//! loop or a branch assigns is a new symbol after it.

use crate::bases::Bases;
use crate::blocks::{Blocks, Root};
use crate::facts::Facts;
use crate::invariants::Invariants;
use crate::loop_nest::{Effect, ParallelLoop, Path};
use crate::operations::Operations;
use crate::refusal::Rule;
use crate::state::{Loads, State};
use crate::steps::{Access, Step, Waits};
use crate::symbolic::{Bisection, Context, Polynomial, Spot, Symbol, Value};
use crate::tables::Tables;
use nova_core::Scalar;
use nova_loop::ir::{Command, Function, Program, Variable};
use nova_loop::walk::{each_assigned, each_command};
use std::collections::{BTreeMap, BTreeSet};

/// Facts about a program that are known before the walk over a function.
#[derive(Clone, Copy)]
pub(crate) struct Known<'p> {
    pub(crate) program: &'p Program,
    pub(crate) blocks: &'p Blocks,
    pub(crate) extents: &'p BTreeSet<Variable>,
    /// Rules that are not applied.
    pub(crate) without: &'p BTreeSet<Rule>,
}

/// The facts that were known where a list of commands began.
pub(crate) struct Scope {
    context: Context,
    sizes: usize,
    tables: usize,
}

/// Visits the commands of one function in order, and records the paths of its parallel loops.
pub(crate) struct Walk<'p> {
    pub(crate) state: State<'p>,
    /// The number of elements of an array of a group, or of a part of an array.
    pub(crate) room: BTreeMap<Variable, Polynomial>,
    /// The number of parallel loops around the declaration of each variable.
    pub(crate) declared: BTreeMap<Variable, usize>,
    pub(crate) paths: Vec<Path>,
    pub(crate) nest: Vec<ParallelLoop>,
    /// The number of branches around the command.
    pub(crate) branches: usize,
    pub(crate) tables: Tables,
    /// The bisections in the current nest of parallel loops.
    pub(crate) bisections: Vec<Bisection>,
    /// The symbols for `low` and `high` in which the keys of all bisections are expressed.
    pub(crate) template: Option<(Symbol, Symbol)>,
    /// True if the function writes memory that it was given.
    pub(crate) writes_outside: bool,
    pub(crate) waits: Waits,
    judge: Option<Judge<'p>>,
}

/// The function that is called at the end of a parallel loop.
pub(crate) type Judge<'p> = &'p mut dyn FnMut(&mut Walk, &ParallelLoop);

/// Walks over a function; `judge` is called at the end of every parallel loop. Returns true if the
/// function writes memory that it was given.
pub(crate) fn walk(known: Known, function: &Function, judge: Judge) -> bool {
    let Known {
        program,
        blocks,
        extents,
        without,
    } = known;
    let bases = Bases {
        blocks,
        infos: Vec::new(),
        depth: 0,
    };
    let state = State {
        program,
        without,
        invariants: Invariants::of(program, function),
        facts: Facts::default(),
        operations: Operations::new(without),
        bases,
        values: BTreeMap::new(),
        truths: BTreeMap::new(),
        rising: BTreeMap::new(),
        loads: Loads::new(),
        loops: Vec::new(),
        scanned: None,
    };
    let mut walk = Walk {
        state,
        room: BTreeMap::new(),
        declared: BTreeMap::new(),
        paths: Vec::new(),
        nest: Vec::new(),
        branches: 0,
        tables: Tables::default(),
        bisections: Vec::new(),
        template: None,
        writes_outside: false,
        waits: Waits::default(),
        judge: Some(judge),
    };
    let variables = function.parameters.iter().chain(&function.results);
    for variable in variables {
        walk.declared.insert(*variable, 0);
        walk.state.forget(*variable);
        if extents.contains(variable) {
            let symbol = walk.state.facts.fresh(Scalar::I64);
            let value = Polynomial::variable(symbol);
            walk.state.facts.define(symbol, value.clone());
            walk.state.values.insert(*variable, Value::Number(value));
        }
    }
    walk.list(&function.body);
    walk.writes_outside
}

impl<'p> Walk<'p> {
    /// Walks over a list of commands; the facts learned in it are forgotten at its end.
    pub(crate) fn list(&mut self, commands: &'p [Command]) {
        let scope = self.begin_scope();
        self.state.learn_steps(commands);
        for command in commands {
            self.command(command);
        }
        self.end_scope(scope);
    }

    /// Begins a list of commands.
    pub(crate) fn begin_scope(&self) -> Scope {
        Scope {
            context: self.state.facts.context,
            sizes: self.state.facts.sizes.len(),
            tables: self.tables.mark(),
        }
    }

    /// Forgets what was learned in a list.
    pub(crate) fn end_scope(&mut self, scope: Scope) {
        self.state.facts.context = scope.context;
        self.state.facts.sizes.truncate(scope.sizes);
        self.tables.forget(scope.tables);
    }

    /// Returns the variables that commands assign and do not declare.
    pub(crate) fn assigned(&self, commands: &[Command]) -> Vec<Variable> {
        let mut found = BTreeSet::new();
        each_command(commands, |command| {
            each_assigned(command, &mut |v| {
                if self.declared.contains_key(&v) {
                    found.insert(v);
                }
            })
        });
        found.into_iter().collect()
    }

    /// Records that elements are read, or written with a value that may be known: `count` consecutive
    /// ones, or any number.
    pub(crate) fn touch(
        &mut self,
        spots: Vec<Spot>,
        count: Option<&Polynomial>,
        effect: Effect,
        pointer: Variable,
    ) {
        let (is_write, value, contends) = match effect {
            Effect::Reads => (false, None, None),
            Effect::Writes => (true, None, None),
            Effect::Stores(value) => (true, Some(value), None),
            Effect::Contends(stays) => (true, None, Some(stays)),
        };
        if is_write {
            let roots = spots.iter().map(|spot| &self.state.bases[spot.base].roots);
            self.writes_outside |= roots
                .flatten()
                .any(|root| matches!(root, Root::Outside | Root::Nodes));
            let value = value.map(|value| (value, self.state.facts.context));
            self.tables.written(&self.state.bases, &spots, value);
        }
        if self.nest.is_empty() {
            return;
        }
        for spot in spots {
            let roots = &self.state.bases[spot.base].roots;
            let left_alone = |f: &ParallelLoop| !self.state.bases.blocks.meet(roots, &f.written);
            if !is_write && self.nest.iter().all(left_alone) {
                continue;
            }
            self.waits.step(Step::Access(Access {
                base: spot.base,
                writes: is_write,
                pointer,
            }));
            let index = self.state.facts.within(&spot, count);
            self.paths.push(Path {
                base: spot.base,
                index,
                writes: is_write,
                contends,
                context: self.state.facts.context,
                ordered: self.nest.iter().map(|f| f.ordered).collect(),
                phases: self.nest.iter().map(|f| f.phase).collect(),
                pointer,
            });
        }
    }

    /// Judges a parallel loop that has been walked.
    pub(crate) fn judge(&mut self, parallel_loop: &ParallelLoop) {
        if let Some(judge) = self.judge.take() {
            judge(self, parallel_loop);
            self.judge = Some(judge);
        }
    }

    /// Records that iterations of the innermost parallel loop break a rule.
    pub(crate) fn refuse(&mut self, rule: Rule, message: impl Into<String>) {
        if let Some(parallel_loop) = self.nest.last_mut() {
            parallel_loop.refused.push((rule, message.into()));
        }
    }
}
