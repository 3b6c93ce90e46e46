//! The verifier checks the rules of Loop. After it an emitter cannot fail (architecture invariant 5).
//!
//! 1. *Names.* Function names are unique. A variable is declared once in the program, by its
//!    function's parameters or results, by a command that declares it, or as the index of a `For`. It is
//!    used only after that, in the command list that declares it and those inside it.
//! 2. *Types.* Operands have the types that their operation, command, function, foreign function,
//!    node or trace requires. Handles are variables or null. Conditions are bools, counts and indices
//!    `i64`, the scrutinee of a `Switch` is an `i32`. A switch has a case. Errors have the number of
//!    arguments that their message shows, all integers.
//! 3. *Values.* A variable is read only where it is assigned on every control-flow path to the read.
//!    The index of a `For` is not assigned. Results are assigned where a function ends.
//! 4. *Jumps.* `Break` and `Continue` stand inside a `Loop` with no `For` between. `Barrier` stands
//!    inside a `For` of its level.
//! 5. *References* (see the crate's page). The number of references of a handle is the same on all
//!    control-flow paths to a place. `Release` and moving need a reference. A handle that gets one by
//!    allocation, call or move has none before. No handle has any where its scope ends; results have one
//!    each where the function ends. A function that takes references is given one in each handle, and
//!    is not the function of an entry.
//! 6. *Recursion.* Every function that can reach itself by calls is marked `recursive`.
//! 7. *Ordered regions.* `BeginOrdered` and `EndOrdered` stand directly in a loop at the level of a grid
//!    and name its index: both, in this order, or none. Such a loop does not fail, call, allocate, or
//!    begin another grid: a thread that waits for its ordered region waits for a thread that waits for
//!    nothing else. Loops over groups may have ordered regions, too, which only propagate prefixes
//!    ([`crate::ordered_regions`]).
//! 8. *Destinations.* Memory for a result is allocated only in the function of an entry, outside of
//!    its conditionals and loops, for a component that has such memory and with its stride.
//! 9. *Work-groups.* A thread of a group begins no loop that threads share. An array of a group stands in
//!    a loop over groups, outside of those of its threads. Kernels call no function that has arrays of
//!    groups or barriers of their threads ([`groups`]). The interference checker asks for the barriers
//!    between the uses of an array by several threads.

mod calls;
mod commands;
mod destinations;
mod flow;
mod groups;
mod operands;
mod ordered;
mod recursion;
mod tables;
mod types;

use crate::error::InternalError;
use crate::ir::{Entry, Function, Program, Type, Variable};
use crate::print::print_variable;
use flow::Flow;
use nova_core::{Scalar, Type as CoreType};
use nova_flat::representation::{Component, components};
use std::collections::HashSet;

/// Checks a program; reports all errors.
pub fn verify(program: &Program) -> Result<(), Vec<InternalError>> {
    let mut verifier = Verifier {
        program,
        declared: vec![false; program.variables.len()],
        indices: vec![false; program.variables.len()],
        flow: Flow::new(program),
        enclosing: Vec::new(),
        levels: Vec::new(),
        function: None,
        errors: Vec::new(),
    };
    let mut names = HashSet::new();
    for function in &program.functions {
        if !names.insert(&function.name) {
            verifier.error(format!("two functions are called {}", function.name));
        }
        verifier.check_function(function);
    }
    verifier.function = None;
    for entry in &program.entries {
        verifier.entry(entry);
    }
    recursion::check(program, &mut verifier.errors);
    destinations::check(program, &mut verifier.errors);
    ordered::check(program, &mut verifier.errors);
    groups::check(program, &mut verifier.errors);
    match verifier.errors.is_empty() {
        true => Ok(()),
        false => Err(verifier.errors),
    }
}

struct Verifier<'p> {
    program: &'p Program,
    /// For each variable, whether it has been declared anywhere.
    declared: Vec<bool>,
    /// For each variable, whether it is the index of a loop.
    indices: Vec<bool>,
    flow: Flow,
    /// The loops around the command, innermost last.
    enclosing: Vec<Enclosing>,
    /// The levels of the counted loops around the command.
    levels: Vec<crate::ir::Level>,
    /// The function being checked.
    function: Option<&'p Function>,
    errors: Vec<InternalError>,
}

/// A loop around a command.
enum Enclosing {
    For,
    Loop(flow::LoopFlow),
}

impl<'p> Verifier<'p> {
    fn error(&mut self, message: impl Into<String>) {
        self.errors.push(InternalError {
            message: message.into(),
            function: self.function.map(|f| f.name.clone()),
            place: self.function.map(|f| f.place.clone()),
        });
    }

    fn name(&self, variable: Variable) -> String {
        print_variable(self.program, variable)
    }

    /// Returns the type of a variable; reports a variable that does not exist.
    fn variable_type(&mut self, variable: Variable) -> Option<Type> {
        let info = self.program.variables.get(variable.index());
        if info.is_none() {
            self.error(format!("there is no variable {}", variable.0));
        }
        info.map(|i| i.ty)
    }

    /// Declares a variable in the innermost scope.
    fn declare(&mut self, variable: Variable) -> Option<Type> {
        let ty = self.variable_type(variable)?;
        if std::mem::replace(&mut self.declared[variable.index()], true) {
            let name = self.name(variable);
            self.error(format!("{name} is declared twice"));
            return None;
        }
        self.flow.declare(variable, ty == Type::Block);
        Some(ty)
    }

    fn check_function(&mut self, function: &'p Function) {
        self.function = Some(function);
        self.flow.enter_function();
        for parameter in &function.parameters {
            if let Some(ty) = self.declare(*parameter) {
                self.flow.assign(*parameter);
                if function.takes && ty == Type::Block {
                    self.flow.set_references(*parameter, 1);
                }
            }
        }
        for result in &function.results {
            self.declare(*result);
        }
        self.flow.start_body();
        self.list(&function.body);
        self.check_end(function);
        self.flow.leave_scope();
    }

    /// Checks the end of a function: results are assigned with one reference, and no other handle has one.
    fn check_end(&mut self, function: &'p Function) {
        if self.flow.is_dead() {
            return;
        }
        for result in &function.results {
            let name = self.name(*result);
            if !self.flow.is_assigned(*result) {
                self.error(format!(
                    "result {name} is not assigned where the function ends"
                ));
            } else if self.flow.references(*result).is_some_and(|n| n != 1) {
                self.error(format!("result {name} does not have one reference"));
            }
        }
        for parameter in &function.parameters {
            if self.flow.references(*parameter).is_some_and(|n| n != 0) {
                let name = self.name(*parameter);
                self.error(format!("parameter {name} keeps a reference"));
            }
        }
        if let Some(held) = self.flow.held_in_body() {
            let name = self.name(held);
            self.error(format!("{name} has a reference where the function ends"));
        }
    }

    fn entry(&mut self, entry: &Entry) {
        let Some(function) = self.program.functions.get(entry.function.index()) else {
            return self.error(format!("entry {} has no function", entry.name));
        };
        if function.takes {
            self.error(format!(
                "entry {} takes references of its caller",
                entry.name
            ));
        }
        let inputs = entry.inputs.iter();
        let wanted: Vec<Type> = inputs
            .flat_map(|(_, ty)| self.component_types(ty))
            .collect();
        let types = |list: &[Variable]| -> Vec<Option<Type>> {
            let infos = list.iter().map(|v| self.program.variables.get(v.index()));
            infos.map(|i| i.map(|i| i.ty)).collect()
        };
        let same = |found: Vec<Option<Type>>, wanted: Vec<Type>| {
            found.into_iter().eq(wanted.into_iter().map(Some))
        };
        let parameters = same(types(&function.parameters), wanted);
        let results = same(
            types(&function.results),
            self.component_types(&entry.result),
        );
        if !parameters {
            self.error(format!(
                "the parameters of entry {} are not its inputs",
                entry.name
            ));
        }
        if !results {
            self.error(format!(
                "the results of entry {} are not its value",
                entry.name
            ));
        }
    }

    /// Returns the types of the variables that hold a value of a Core type.
    fn component_types(&self, ty: &CoreType) -> Vec<Type> {
        component_types(&components(ty, &self.program.sums))
    }
}

/// Returns the types of the variables for components. An array has a pointer and a handle.
fn component_types(components: &[Component]) -> Vec<Type> {
    let mut types = Vec::new();
    for component in components {
        if component.shape.is_empty() {
            types.push(Type::Scalar(component.scalar));
        } else {
            types.extend([Type::Pointer(component.scalar), Type::Block]);
        }
    }
    types
}

const INDEX: Type = Type::Scalar(Scalar::I64);
const BOOL: Type = Type::Scalar(Scalar::Bool);
