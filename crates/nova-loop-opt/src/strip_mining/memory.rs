//! The memory that a function has to itself: what a pointer from an allocation points to, where no
//! other pointer is made from it.

use nova_diag::deep;
use nova_loop::first_fields::{FirstFields, add_first_fields};
use nova_loop::ir::Use;
use nova_loop::ir::{Command, Destination, Expression, Function, Program, Variable};
use nova_loop::uses::uses;
use nova_loop::walk;
use std::collections::{BTreeMap, BTreeSet};

/// Facts about the pointers of a function.
pub(crate) struct Memory {
    /// Pointers that are assigned by one allocation and by nothing else, with the destination of
    /// that allocation.
    allocated: BTreeMap<Variable, Option<Destination>>,
    /// Pointers to local arrays that are declared in one place.
    local: BTreeSet<Variable>,
    /// Variables whose value is used for more than reading and writing elements, or being a result.
    taken: BTreeSet<Variable>,
    /// Pointers through which elements are read.
    read: BTreeSet<Variable>,
}

impl Memory {
    /// Collects the facts about a function of this program.
    pub(crate) fn of(program: &Program, function: &Function) -> Memory {
        let mut memory = Memory {
            allocated: BTreeMap::new(),
            local: BTreeSet::new(),
            taken: BTreeSet::new(),
            read: BTreeSet::new(),
        };
        let mut others = BTreeSet::new();
        walk::each_command(&function.body, |command| {
            match command {
                Command::Allocate {
                    pointer,
                    destination,
                    ..
                } => {
                    if memory.allocated.insert(*pointer, *destination).is_some() {
                        others.insert(*pointer);
                    }
                }
                Command::Local { pointer, .. } => {
                    if !memory.local.insert(*pointer) {
                        others.insert(*pointer);
                    }
                }
                Command::Declare { value: None, .. }
                | Command::Store { .. }
                | Command::Contend { .. }
                | Command::NonTemporalStore { .. }
                | Command::Prefetch { .. } => {}
                Command::PlanNonTemporal { shift, .. } => {
                    others.insert(*shift);
                }
                other => walk::writes(other, &mut |v| {
                    others.insert(v);
                }),
            }
            match command {
                // A result is for the caller, which looks at it when the function has ended.
                Command::Assign {
                    variable,
                    value: Expression::Variable(_),
                } if function.results.contains(variable) => {}
                other => uses(other, &mut |variable, used| match used {
                    Use::Read => {
                        memory.read.insert(variable);
                    }
                    Use::Written => {}
                    Use::Value => {
                        memory.taken.insert(variable);
                    }
                }),
            }
        });
        let parameters = function.parameters.iter().chain(&function.results);
        others.extend(parameters.copied());
        // Results that are read are like any other variable.
        if function.results.iter().any(|r| memory.uses(program, *r)) {
            memory.allocated.clear();
        }
        memory.allocated.retain(|p, _| !others.contains(p));
        memory.local.retain(|p| !others.contains(p));
        memory
    }

    /// True if a pointer is used in the function.
    fn uses(&self, program: &Program, variable: Variable) -> bool {
        let is_pointer = matches!(
            program.variable(variable).ty,
            nova_loop::ir::Type::Pointer(_)
        );
        is_pointer && (self.taken.contains(&variable) || self.read.contains(&variable))
    }

    /// True if only this pointer leads to the memory that it points to.
    pub(crate) fn is_own(&self, pointer: Variable) -> bool {
        self.allocated.contains_key(&pointer) && !self.taken.contains(&pointer)
    }

    /// True for a pointer to a local array to which no other pointer leads.
    pub(super) fn is_local(&self, pointer: Variable) -> bool {
        self.local.contains(&pointer) && !self.taken.contains(&pointer)
    }

    /// Returns the destination of a pointer to memory of the result that the function only writes.
    pub(super) fn result(&self, pointer: Variable) -> Option<Destination> {
        let destination = self.allocated.get(&pointer).copied().flatten();
        destination.filter(|_| self.is_own(pointer) && !self.read.contains(&pointer))
    }

    /// True if commands read through none of the pointers through which they write, and through
    /// variables only.
    pub(crate) fn is_apart(&self, body: &[Command]) -> bool {
        let mut written = BTreeSet::new();
        walk::each_command(body, |command| {
            if let Command::Store { pointer, .. } | Command::Contend { pointer, .. } = command {
                written.insert(*pointer);
            }
        });
        let mut apart = true;
        walk::each_command(body, |command| {
            walk::reads(command, &mut |e| apart &= reads_others(e, &written));
        });
        apart
    }
}

fn reads_others(expression: &Expression, written: &BTreeSet<Variable>) -> bool {
    let itself = match expression {
        Expression::Load { pointer, .. } => match &**pointer {
            Expression::Variable(pointer) => !written.contains(pointer),
            _ => false,
        },
        Expression::NodeTag { .. } => false,
        _ => true,
    };
    let mut inside = expression.children().into_iter();
    itself && inside.all(|e| deep(|| reads_others(e, written)))
}

/// Returns the fields of the structures that callers give to a program.
pub(crate) fn structures(program: &Program) -> FirstFields {
    let mut first_fields = FirstFields::new();
    for entry in &program.entries {
        if let Some(function) = program.functions.get(entry.function.index()) {
            let parameters = &function.parameters;
            add_first_fields(&entry.inputs, &program.sums, parameters, &mut first_fields);
        }
    }
    first_fields
}
