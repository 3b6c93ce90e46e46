//! The memory that a function has to itself: what a pointer from an allocation points to, where no
//! other pointer is made from it.

use nova_diag::deep;
use nova_loop::aliases::{Holders, Made};
use nova_loop::first_fields::{FirstFields, add_first_fields};
use nova_loop::ir::{Command, Destination, Expression, Function, Program, Use, Variable};
use nova_loop::{uses, walk};
use std::collections::BTreeSet;

/// Facts about the pointers of a function.
pub(crate) struct Memory {
    holders: Holders,
    /// The parameters and results of the function, whose memory others know.
    known: BTreeSet<Variable>,
    /// True if the function uses its results like any other variable.
    reads_results: bool,
    /// The pointers to arrays that are allocated where a walk over the function stands, and have been given to no
    /// other variable since. Pointers of earlier iterations lead to other arrays.
    fresh: BTreeSet<Variable>,
}

impl Memory {
    /// Collects the facts about a function of this program.
    pub(crate) fn of(program: &Program, function: &Function) -> Memory {
        let holders = Holders::of(function);
        let known = function.parameters.iter().chain(&function.results);
        let is_used = |v: &Variable| holders.is_taken(*v) || holders.is_read(*v);
        let mut results = function.results.iter();
        Memory {
            reads_results: results.any(|v| program.is_pointer(*v) && is_used(v)),
            known: known.copied().collect(),
            holders,
            fresh: BTreeSet::new(),
        }
    }

    /// Notes a command that a walk over the function comes to, before it looks at the lists inside.
    pub(crate) fn note(&mut self, command: &Command) {
        if !self.fresh.is_empty() {
            walk::each_command(std::slice::from_ref(command), |inner| {
                uses::uses(inner, &mut |pointer, used| {
                    if used == Use::Value {
                        self.fresh.remove(&pointer);
                    }
                });
            });
        }
        if let Command::Allocate { pointer, .. } = command
            && self.holders.made_once(*pointer).is_some()
        {
            self.fresh.insert(*pointer);
        }
    }

    /// Returns how a pointer gets its array, if only this pointer leads to it.
    fn made(&self, pointer: Variable) -> Option<Made> {
        let is_known = self.known.contains(&pointer) || self.holders.is_taken(pointer);
        self.holders.made_once(pointer).filter(|_| !is_known)
    }

    /// True if only this pointer leads to the memory that it points to.
    pub(crate) fn is_own(&self, pointer: Variable) -> bool {
        let is_own = || matches!(self.made(pointer), Some(Made::Allocated(_)));
        self.fresh.contains(&pointer) || !self.reads_results && is_own()
    }

    /// True for a pointer to a local array to which no other pointer leads.
    pub(crate) fn is_local(&self, pointer: Variable) -> bool {
        self.made(pointer) == Some(Made::Local)
    }

    /// Returns the destination of a pointer to memory of the result that the function only writes.
    pub(super) fn result(&self, pointer: Variable) -> Option<Destination> {
        match self.made(pointer) {
            Some(Made::Allocated(destination))
                if !self.reads_results && !self.holders.is_read(pointer) =>
            {
                destination
            }
            Some(Made::Allocated(_) | Made::Local | Made::Shared) | None => None,
        }
    }

    /// True if commands read through none of the pointers through which they write, and through
    /// variables only.
    pub(crate) fn is_apart(&self, body: &[Command]) -> bool {
        self.is_apart_but(body, &BTreeSet::new())
    }

    /// Returns the same where it does not matter what is done through the `private` pointers.
    pub(crate) fn is_apart_but(&self, body: &[Command], private: &BTreeSet<Variable>) -> bool {
        let mut written = BTreeSet::new();
        walk::each_command(body, |command| {
            for address in uses::written(command) {
                address.each_variable(&mut |pointer| {
                    if !private.contains(&pointer) {
                        written.insert(pointer);
                    }
                });
            }
        });
        let mut apart = true;
        walk::each_command(body, |command| {
            uses::uses(command, &mut |pointer, used| {
                apart &= used != Use::Read || !written.contains(&pointer);
            });
            walk::reads(command, &mut |e| apart &= reads_through_variables(e));
        });
        apart
    }
}

/// True if all loads of an expression name their pointer.
pub(crate) fn reads_through_variables(expression: &Expression) -> bool {
    let itself = match expression {
        Expression::Load { pointer, .. } => matches!(**pointer, Expression::Variable(_)),
        Expression::NodeTag { .. } => false,
        _ => true,
    };
    let mut inside = expression.children().into_iter();
    itself && inside.all(|e| deep(|| reads_through_variables(e)))
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
