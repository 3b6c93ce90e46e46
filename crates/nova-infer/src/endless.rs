//! Types that would have to be instantiated without end. These are recursive sums that contain
//! themselves at a larger type, such as `(Nested 'a : (+ … (Deep : (Nested ('a, 'a)))))`.

use crate::declarations::{ConstructorDeclaration, Declarations, variable_of};
use crate::types::{Shallow, Ty, TyNode, TypeVariable, Types, children};
use nova_diag::Span;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use std::collections::HashMap;

impl Declarations {
    /// Marks the sums whose instances need ever larger instances. In such a sum a parameter reaches
    /// itself through an argument of which it is only a part.
    pub fn find_endless(&mut self, types: &mut Types) {
        let mut graph: ParameterGraph = DiGraph::new();
        let nodes: Vec<Vec<NodeIndex>> = self
            .sums
            .iter()
            .enumerate()
            .map(|(sum, declaration)| {
                (0..declaration.parameters.len())
                    .map(|parameter| graph.add_node((sum, parameter)))
                    .collect()
            })
            .collect();
        let mut owner = HashMap::new();
        for (sum, declaration) in self.sums.iter().enumerate() {
            for (parameter, variable) in declaration.parameters.iter().enumerate() {
                owner.insert(*variable, nodes[sum][parameter]);
            }
        }
        for declaration in &self.sums {
            for constructor in &declaration.constructors {
                instance_edges(types, constructor, &owner, &nodes, &mut graph);
            }
        }
        for component in tarjan_scc(&graph) {
            let expanding = component.iter().find_map(|&from| {
                graph
                    .edges(from)
                    .find(|edge| edge.weight().0 && component.contains(&edge.target()))
                    .map(|edge| edge.weight().1)
            });
            for &node in &component {
                let declaration = &mut self.sums[graph[node].0];
                declaration.endless = declaration.endless.or(expanding);
            }
        }
    }
}

/// A graph of the parameters of sums, with an edge from a parameter to each one for which it occurs
/// in an argument. The edge says whether the argument is more than the parameter itself, and where
/// it is.
type ParameterGraph = DiGraph<(usize, usize), (bool, Span)>;

/// Adds an edge from each parameter in an argument of a sum to the parameter that the argument is
/// for. Its weight is true if the argument is more than the parameter itself.
fn instance_edges(
    types: &mut Types,
    constructor: &ConstructorDeclaration,
    owner: &HashMap<TypeVariable, NodeIndex>,
    nodes: &[Vec<NodeIndex>],
    graph: &mut ParameterGraph,
) {
    let mut work = vec![constructor.payload];
    while let Some(ty) = work.pop() {
        let ty = types.resolve(ty);
        let node = types.node(ty).clone();
        if let TyNode::Sum(sum, arguments) = &node {
            for (position, argument) in arguments.iter().enumerate() {
                let Some(&to) = nodes[sum.0 as usize].get(position) else {
                    continue;
                };
                for variable in variables_in(types, *argument) {
                    let whole = variable_of(types, *argument) == Some(variable);
                    if let Some(&from) = owner.get(&variable) {
                        graph.add_edge(from, to, (!whole, constructor.payload_span));
                    }
                }
            }
        }
        work.extend(children(&node));
    }
}

fn variables_in(types: &mut Types, ty: Ty) -> Vec<TypeVariable> {
    let mut variables = Vec::new();
    let mut work = vec![ty];
    while let Some(ty) = work.pop() {
        match types.shallow(ty) {
            Shallow::Unbound(variable, _) => variables.push(variable),
            Shallow::Node(node) => work.extend(children(&node)),
        }
    }
    variables
}
