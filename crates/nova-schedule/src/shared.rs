//! State of a whole call of the program, which threads cannot share. Threads can append nodes of recursive
//! data that hold no arrays. One thread appends the others, and those of the results of foreign
//! functions. It also numbers the nodes of a table for the arguments of foreign functions, and fills places
//! that it has reserved there. Threads of the host cannot take arrays from nodes: several nodes may hold
//! one array, and its references are counted without a lock.

use nova_core::SumId;
use nova_flat::ir::{Body, Expression, FunctionId, Output, Program};
use nova_flat::representation::holds_arrays;
use nova_flat::visit::each_statement;
use nova_opt::effects::Effects;
use nova_opt::reachable::functions_with;
use std::collections::BTreeSet;

/// True if threads may share code with these effects.
pub(crate) fn may_share(effects: Effects, kernels: bool) -> bool {
    !(effects.observable || kernels && effects.hosted)
}

/// True if the indices of an operation may write an output independently of each other.
pub(crate) fn writes_apart(output: &Output) -> bool {
    match output {
        Output::Map | Output::Collect { .. } | Output::Join { .. } => true,
        Output::Scatter { positions, .. } => positions.are_orderless(),
        Output::Reduce { .. }
        | Output::Scan { .. }
        | Output::Filter { .. }
        | Output::Histogram { .. } => false,
    }
}

/// The code that works on node tables as threads cannot: it appends nodes that hold arrays, takes arrays
/// from nodes, or works on whole tables.
pub(crate) struct NodeMakers {
    /// The sum types whose nodes hold arrays, which threads cannot append.
    sums: BTreeSet<SumId>,
    /// The sum types of the nodes from which it takes arrays.
    counted: BTreeSet<SumId>,
    /// The functions that do so, directly or through functions that they call.
    functions: BTreeSet<FunctionId>,
    /// The foreign functions that take or return recursive data.
    foreigns: BTreeSet<u32>,
}

impl NodeMakers {
    pub(crate) fn new(program: &Program, kernels: bool) -> NodeMakers {
        let all = (0..program.sums.len()).map(|k| SumId(k as u32));
        let sums: BTreeSet<SumId> = all
            .filter(|sum| holds_arrays(&program.sums, *sum))
            .collect();
        let counted = match kernels {
            true => BTreeSet::new(),
            false => sums.clone(),
        };
        let foreigns = program.foreigns.iter().enumerate();
        let foreigns: BTreeSet<u32> = foreigns
            .filter(|(_, foreign)| foreign.holds_links(&program.sums))
            .map(|(k, _)| k as u32)
            .collect();
        let functions = functions_with(program, &|function| {
            let mut found = false;
            each_statement(&function.body, &mut |statement| {
                found |= match &statement.expression {
                    Expression::NodeNew { sum, .. } => sums.contains(sum),
                    Expression::NodePayload { sum, .. } => counted.contains(sum),
                    Expression::Foreign { foreign, .. } => foreigns.contains(foreign),
                    other => is_for_one_thread(other),
                };
            });
            found
        });
        NodeMakers {
            sums,
            counted,
            functions,
            foreigns,
        }
    }

    /// True if running a body may do so.
    pub(crate) fn may_run_in(&self, body: &Body) -> bool {
        let mut found = false;
        each_statement(body, &mut |statement| {
            found |= match &statement.expression {
                Expression::NodeNew { sum, .. } => self.sums.contains(sum),
                Expression::NodePayload { sum, .. } => self.counted.contains(sum),
                Expression::Call { function, .. } => self.functions.contains(function),
                Expression::Foreign { foreign, .. } => self.foreigns.contains(foreign),
                other => is_for_one_thread(other),
            };
        });
        found
    }
}

/// True if only one thread of the host may evaluate an expression: it numbers, reserves or fills nodes of
/// whole tables.
fn is_for_one_thread(expression: &Expression) -> bool {
    matches!(
        expression,
        Expression::TableOpen { .. }
            | Expression::TableClose { .. }
            | Expression::TableShrink { .. }
            | Expression::NodesReached { .. }
            | Expression::NodesReserve { .. }
            | Expression::NodeStore { .. }
            | Expression::NodesSeal { .. }
            | Expression::NodesAcyclic { .. }
    )
}
