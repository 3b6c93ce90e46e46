//! The call graph: its strongly connected components, and the functions that may call themselves.

use crate::ir::{Expression, Program};
use crate::visit::each_statement;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// Sets [`crate::ir::Function::recursive`] of every function. It is true if the function lies on a
/// cycle of calls that are not tail calls of a function to itself.
pub fn mark(program: &mut Program) {
    let mut callees = vec![Vec::new(); program.functions.len()];
    for (k, function) in program.functions.iter().enumerate() {
        each_statement(&function.body, &mut |statement| {
            if let Expression::Call { function, tail, .. } = &statement.expression {
                let callee = function.index();
                if callee != k || !tail {
                    callees[k].push(callee);
                }
            }
        });
    }
    for (function, recursive) in program
        .functions
        .iter_mut()
        .zip(CallOrder::new(&callees).cyclic)
    {
        function.recursive = recursive;
    }
}

/// The order in which functions call each other.
pub struct CallOrder {
    /// The functions. Callees precede their callers, except on cycles.
    pub order: Vec<usize>,
    /// For each function, true if it lies on a cycle of calls.
    pub cyclic: Vec<bool>,
    /// For each function the number of its component. Functions that call each other have the same
    /// number.
    pub component: Vec<usize>,
}

impl CallOrder {
    /// Computes the order of functions, each given by the functions that it calls.
    pub fn new(callees: &[Vec<usize>]) -> CallOrder {
        let mut graph: DiGraph<(), ()> = DiGraph::new();
        for _ in callees {
            graph.add_node(());
        }
        let mut cyclic = vec![false; callees.len()];
        for (caller, callees) in callees.iter().enumerate() {
            for callee in callees {
                graph.add_edge(NodeIndex::new(caller), NodeIndex::new(*callee), ());
                cyclic[caller] |= *callee == caller;
            }
        }
        let mut order = Vec::with_capacity(callees.len());
        let mut component = vec![0; callees.len()];
        for (number, nodes) in kosaraju_scc(&graph).into_iter().enumerate() {
            let several = nodes.len() > 1;
            for node in nodes {
                component[node.index()] = number;
                cyclic[node.index()] |= several;
                order.push(node.index());
            }
        }
        CallOrder {
            order,
            cyclic,
            component,
        }
    }
}
