//! Which functions may call themselves, other than by tail calls to themselves.

use nova_flat::ir::{Expression, Program};
use nova_flat::visit::each_statement;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// Sets [`nova_flat::ir::Function::recursive`] of every function: it lies on a cycle of calls that
/// are not tail calls of a function to itself.
pub(crate) fn mark(program: &mut Program) {
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    for _ in &program.functions {
        graph.add_node(());
    }
    let mut loops = vec![false; program.functions.len()];
    for (k, function) in program.functions.iter().enumerate() {
        each_statement(&function.body, &mut |statement| {
            if let Expression::Call { function, tail, .. } = &statement.expression {
                let callee = function.0 as usize;
                if callee != k {
                    graph.add_edge(NodeIndex::new(k), NodeIndex::new(callee), ());
                } else if !tail {
                    loops[k] = true;
                }
            }
        });
    }
    for component in kosaraju_scc(&graph) {
        let several = component.len() > 1;
        for node in component {
            program.functions[node.index()].recursive = several || loops[node.index()];
        }
    }
}
