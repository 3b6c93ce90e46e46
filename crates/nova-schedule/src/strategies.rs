//! Strategies that programs state (dpia.txt §6.2), for threads: `map_global` and `map_workgroup` are
//! grids over their indices as they are, whatever their number and cost. `map_local`, `map_seq` and
//! `reduce_seq` stay loops of one thread.
//!
//! A map stays with one thread only if threads cannot share it. Then it has side effects that are
//! visible from outside, calls a foreign function that the device does not have, or appends nodes that
//! threads cannot append. The report of the compiler says so. A map also stays with one thread if
//! nothing shows that its iterations do not interfere ([`Alone`]).

use crate::device;
use crate::shared::{NodeMakers, may_share, writes_apart};
use nova_core::strategy;
use nova_flat::alone::Alone;
use nova_flat::ir::{ArrayOperation, Body, Expression, FunctionId, Level, Program};
use nova_flat::visit::{bodies_mut, each_statement};
use nova_opt::effects::FunctionEffects;
use nova_opt::reachable::functions_with;
use std::collections::BTreeSet;

/// Gives to threads the maps that the program gives to them. The threads are those of kernels, or of a
/// processor.
pub fn honour(program: &mut Program, kernels: bool, alone: &Alone) {
    let mut marked = false;
    for function in &program.functions {
        each_statement(&function.body, &mut |statement| {
            marked |= nova_flat::visit::strategy_of(&statement.expression).is_some();
        });
    }
    if !(marked || kernels && device::has_any(program)) {
        return;
    }
    let effects = FunctionEffects::new(program);
    let makers = NodeMakers::new(program, kernels);
    for function in &mut program.functions {
        share((&effects, kernels), &makers, alone, &mut function.body);
    }
    if kernels {
        device::place(program, &effects, &makers);
    }
}

fn share(
    (effects, kernels): (&FunctionEffects, bool),
    makers: &NodeMakers,
    alone: &Alone,
    body: &mut Body,
) {
    for statement in &mut body.statements {
        let is_left = alone.has(statement);
        if let Expression::Operation(operation) = &mut statement.expression
            && is_for_many(operation)
            && !is_left
            && may_share(effects.of_body(&operation.body), kernels)
            && !makers.may_run_in(&operation.body)
        {
            operation.level = Level::Grid;
        }
        bodies_mut(&mut statement.expression, &mut |inner| {
            nova_diag::deep(|| share((effects, kernels), makers, alone, inner));
        });
    }
}

/// True if the program gives the indices of an operation to several threads or work-groups.
fn is_for_many(operation: &ArrayOperation) -> bool {
    let many = match operation.strategy.map(|strategy| strategy.level) {
        Some(strategy::Level::Global | strategy::Level::Workgroup) => true,
        Some(strategy::Level::Sequential | strategy::Level::Local) | None => false,
    };
    many && operation.carries.is_empty() && operation.outputs.iter().all(writes_apart)
}

/// The places where a program gives work to threads itself. The code that encloses them is left to one
/// thread.
pub(crate) struct Asked {
    /// The functions with grids of their own, or of functions that they call.
    functions: BTreeSet<FunctionId>,
}

impl Asked {
    /// Examines a program that has requested all of its grids itself.
    pub(crate) fn new(program: &Program) -> Asked {
        let none = Asked {
            functions: BTreeSet::new(),
        };
        Asked {
            functions: functions_with(program, &|function| none.is_in(&function.body)),
        }
    }

    /// True if a body has a grid, or calls a function that does.
    pub(crate) fn is_in(&self, body: &Body) -> bool {
        let mut found = false;
        each_statement(body, &mut |statement| {
            found |= match &statement.expression {
                Expression::Operation(operation) => operation.level == Level::Grid,
                Expression::Call { function, .. } => self.functions.contains(function),
                _others => false,
            };
        });
        found
    }
}
