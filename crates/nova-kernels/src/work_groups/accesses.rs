//! The memory that commands of a work-group use: the pointers through which they access it, and
//! which of these may alias.

use nova_diag::deep;
use nova_loop::aliases::{Holders, Made, PointsTo};
use nova_loop::ir::{Command, Expression, Function, FunctionId, Program, Variable};
use nova_loop::uses;
use nova_loop::walk::{each_command, reads};
use std::collections::BTreeSet;

/// The origins of the pointers of a function.
pub(crate) struct Origins {
    /// Pointers that only ever hold a block that the function allocates, or an array of a group.
    fresh: BTreeSet<Variable>,
    /// The parameters that the function does not assign.
    parameters: BTreeSet<Variable>,
}

impl Origins {
    pub(crate) fn of(function: &Function) -> Origins {
        let holders = Holders::of(function);
        let parameters = function.parameters.iter().copied();
        Origins {
            fresh: holders.all_made_once().collect(),
            parameters: parameters
                .filter(|v| holders.times_assigned(*v) == 0)
                .collect(),
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

/// The arrays that the pointers of the body of a loop may lead to.
pub(crate) struct Roots {
    points_to: PointsTo,
}

impl Roots {
    pub(crate) fn of(program: &Program, body: &[Command]) -> Roots {
        Roots {
            points_to: PointsTo::of(&|v| program.is_pointer(v), body),
        }
    }

    /// True if a pointer may lead to one of these arrays.
    pub(crate) fn lead_to(&self, pointer: Variable, arrays: &BTreeSet<Variable>) -> bool {
        !self
            .bases(&Expression::Variable(pointer))
            .is_disjoint(arrays)
    }

    /// Returns the arrays that an address may lie in.
    fn bases(&self, address: &Expression) -> BTreeSet<Variable> {
        self.points_to.bases(address)
    }

    /// True if an array is the thread's own.
    fn is_own(&self, array: &Variable) -> bool {
        self.points_to.may_be(Made::Local, *array)
    }

    /// Returns the arrays that commands write themselves, and those of the thread's own that they declare.
    fn written(&self, commands: &[Command]) -> (BTreeSet<Variable>, BTreeSet<Variable>) {
        let (mut written, mut declared) = (BTreeSet::new(), BTreeSet::new());
        each_command(commands, |command| {
            if let Command::Local { pointer, .. } = command {
                declared.insert(*pointer);
            }
            for address in uses::written(command) {
                written.extend(self.bases(&address));
            }
        });
        (written, declared)
    }

    /// Returns the memory that commands use, at any depth.
    pub(crate) fn touched(&self, writing: &BTreeSet<FunctionId>, commands: &[Command]) -> Touched {
        let mut found = Touched::default();
        let (mut written, inside) = self.written(commands);
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
            .any(|v| self.is_own(v) && !inside.contains(v));
        found.reads.retain(|v| !self.is_own(v));
        written.retain(|v| !self.is_own(v));
        found.writes = written;
        found
    }

    /// Returns the arrays of the thread's own that commands write and do not declare.
    pub(crate) fn written_own(&self, commands: &[Command]) -> BTreeSet<Variable> {
        let (mut written, inside) = self.written(commands);
        written.retain(|v| self.is_own(v) && !inside.contains(v));
        written
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
