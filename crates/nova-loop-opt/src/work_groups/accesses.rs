//! The memory that commands of a work-group use: the pointers through which they access it, and
//! which of these may alias.

use nova_diag::deep;
use nova_loop::captures::captured;
use nova_loop::ir::{Command, Expression, Function, FunctionId, Program, Type, Variable};
use nova_loop::walk::{each_command, reads, writes};
use std::collections::{BTreeMap, BTreeSet};

/// The origins of the pointers of a function.
pub(crate) struct Origins {
    /// Pointers that only ever hold a block that the function allocates, or an array of a group.
    fresh: BTreeSet<Variable>,
    /// The parameters that the function does not assign.
    parameters: BTreeSet<Variable>,
}

impl Origins {
    pub(crate) fn of(function: &Function) -> Origins {
        let mut allocated: BTreeMap<Variable, u32> = BTreeMap::new();
        let mut assigned = BTreeSet::new();
        each_command(&function.body, |command| match command {
            Command::Allocate { pointer, .. } => *allocated.entry(*pointer).or_default() += 1,
            Command::Declare { value: None, .. }
            | Command::Store { .. }
            | Command::Contend { .. }
            | Command::TreeReduce { .. }
            | Command::Prefetch { .. }
            | Command::OnHost { .. } => {}
            Command::Local { pointer, .. } | Command::Shared { pointer, .. } => {
                *allocated.entry(*pointer).or_default() += 1;
            }
            others => writes(others, &mut |v| {
                assigned.insert(v);
            }),
        });
        let once = allocated
            .into_iter()
            .filter(|(v, times)| *times == 1 && !assigned.contains(v));
        let unassigned = function.parameters.iter().filter(|v| !assigned.contains(v));
        Origins {
            fresh: once.map(|(v, _)| v).collect(),
            parameters: unassigned.copied().collect(),
        }
    }

    /// Adds a pointer that holds a new block.
    pub(crate) fn add(&mut self, pointer: Variable) {
        self.fresh.insert(pointer);
    }

    /// True if two pointers may lead to the same memory.
    pub(crate) fn may_meet(&self, a: Variable, b: Variable) -> bool {
        let is_new = |v| self.fresh.contains(&v);
        let is_known = |v| is_new(v) || self.parameters.contains(&v);
        a == b || !(is_known(a) && is_known(b) && (is_new(a) || is_new(b)))
    }
}

/// The memory that commands access, as the arrays that their pointers lead to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touched {
    /// Memory that other threads see and that is read.
    pub(crate) reads: BTreeSet<Variable>,
    /// Memory that other threads see and that is written.
    pub(crate) writes: BTreeSet<Variable>,
    /// True if an array of the thread's own is written that the commands do not declare.
    pub(crate) writes_own: bool,
}

/// For each pointer of the body of a loop, the pointers from outside the body and the arrays
/// declared in it that it may lead to.
pub(crate) struct Roots {
    leads_to: BTreeMap<Variable, BTreeSet<Variable>>,
    /// The private arrays of each thread.
    own: BTreeSet<Variable>,
}

impl Roots {
    pub(crate) fn of(program: &Program, index: Variable, body: &[Command]) -> Roots {
        let is_pointer = |v: &Variable| matches!(program.variable(*v).ty, Type::Pointer(_));
        let outside = captured(index, body).into_iter().filter(is_pointer);
        let mut leads_to: BTreeMap<Variable, BTreeSet<Variable>> =
            outside.map(|v| (v, BTreeSet::from([v]))).collect();
        let mut own = BTreeSet::new();
        each_command(body, |command| {
            if let Command::Local { pointer, .. } = command {
                own.insert(*pointer);
            }
            if let Command::Local { pointer, .. }
            | Command::Shared { pointer, .. }
            | Command::Allocate { pointer, .. } = command
            {
                leads_to.insert(*pointer, BTreeSet::from([*pointer]));
            }
        });
        let mut roots = Roots { leads_to, own };
        // Until a fixed point is reached, since pointers may be assigned in loops.
        while roots.grow(&is_pointer, body) {}
        roots
    }

    fn grow(&mut self, is_pointer: &dyn Fn(&Variable) -> bool, body: &[Command]) -> bool {
        let mut grown = false;
        let mut add = |roots: &mut Roots, variable: Variable, value: &Expression| {
            let found = roots.bases(value);
            let known = roots.leads_to.entry(variable).or_default();
            let before = known.len();
            known.extend(found);
            grown |= known.len() > before;
        };
        each_command(body, |command| match command {
            Command::Declare {
                variable,
                value: Some(value),
            }
            | Command::Assign { variable, value }
            | Command::Spare {
                pointer: variable,
                places: value,
                ..
            } if is_pointer(variable) => add(self, *variable, value),
            // A function may return a pointer that it was given.
            Command::Call {
                arguments, results, ..
            } => {
                for result in results.iter().filter(|result| is_pointer(result)) {
                    arguments.iter().for_each(|given| add(self, *result, given));
                }
            }
            _others => {}
        });
        grown
    }

    /// True if a pointer may lead to one of these arrays.
    pub(crate) fn lead_to(&self, pointer: Variable, arrays: &BTreeSet<Variable>) -> bool {
        let found = self.leads_to.get(&pointer);
        found.is_some_and(|found| !found.is_disjoint(arrays))
    }

    /// Returns the arrays that an address may lie in.
    fn bases(&self, address: &Expression) -> BTreeSet<Variable> {
        let mut found = BTreeSet::new();
        address.each_variable(&mut |v| {
            found.extend(self.leads_to.get(&v).into_iter().flatten().copied());
        });
        found
    }

    /// Returns the memory that commands use, at any depth.
    pub(crate) fn touched(&self, writing: &BTreeSet<FunctionId>, commands: &[Command]) -> Touched {
        let mut found = Touched::default();
        let [mut written, inside] = self.written(commands);
        each_command(commands, |command| {
            reads(command, &mut |e| self.loads(e, &mut found.reads));
            match command {
                Command::Copy { from, .. } => found.reads.extend(self.bases(from)),
                Command::Call {
                    function,
                    arguments,
                    ..
                } => {
                    for argument in arguments {
                        let bases = self.bases(argument);
                        if writing.contains(function) {
                            written.extend(bases.iter().copied());
                        }
                        found.reads.extend(bases);
                    }
                }
                _others => {}
            }
        });
        found.writes_own = written
            .iter()
            .any(|v| self.own.contains(v) && !inside.contains(v));
        found.reads.retain(|v| !self.own.contains(v));
        found.writes = written.difference(&self.own).copied().collect();
        found
    }

    /// Returns the arrays of the thread's own that commands write and do not declare.
    pub(crate) fn written_own(&self, commands: &[Command]) -> BTreeSet<Variable> {
        let [mut written, inside] = self.written(commands);
        written.retain(|v| self.own.contains(v) && !inside.contains(v));
        written
    }

    /// Returns the arrays that commands write, without those that calls write, and the local arrays that
    /// they declare.
    fn written(&self, commands: &[Command]) -> [BTreeSet<Variable>; 2] {
        let [mut written, mut inside] = [BTreeSet::new(), BTreeSet::new()];
        each_command(commands, |command| match command {
            Command::Local { pointer, .. } => {
                inside.insert(*pointer);
            }
            Command::Store { pointer, .. } | Command::Contend { pointer, .. } => {
                written.extend(self.bases(&Expression::Variable(*pointer)));
            }
            Command::Copy { to, .. } => written.extend(self.bases(to)),
            _others => {}
        });
        [written, inside]
    }

    /// Adds the arrays that an expression reads elements of.
    pub(crate) fn loads(&self, expression: &Expression, into: &mut BTreeSet<Variable>) {
        if let Expression::Load { pointer, .. } = expression {
            into.extend(self.bases(pointer));
        }
        for child in expression.children() {
            deep(|| self.loads(child, into));
        }
    }
}
