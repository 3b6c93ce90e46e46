//! The graph of the names that type definitions use: which definitions contain each other, before
//! any of them is converted.

use nova_syntax::ast::{Program, TypeDefinition, TypeDefinitionKind, TypeId, TypeKind};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the strongly connected components of a graph in ascending order, those first that others
/// need. The flag is true for those that need themselves.
pub(crate) fn groups<N: Copy + Ord>(graph: &DiGraph<N, ()>) -> Vec<(Vec<N>, bool)> {
    let group = |component: Vec<NodeIndex>| {
        let needs_itself = |node: &NodeIndex| graph.find_edge(*node, *node).is_some();
        let recursive = component.len() > 1 || component.iter().any(needs_itself);
        let mut members: Vec<N> = component.iter().map(|&node| graph[node]).collect();
        members.sort_unstable();
        (members, recursive)
    };
    tarjan_scc(graph).into_iter().map(group).collect()
}

/// Returns the names that a type expression uses.
pub(crate) fn type_names(program: &Program, ty: TypeId) -> Vec<Arc<str>> {
    let names = parts_of(program, vec![ty]).into_iter();
    let names = names.filter_map(|id| program.ty(id).kind.name().cloned());
    names.collect()
}

/// Returns type expressions and all their parts.
fn parts_of(program: &Program, mut work: Vec<TypeId>) -> Vec<TypeId> {
    let mut found = Vec::new();
    while let Some(ty) = work.pop() {
        found.push(ty);
        work.extend(program.ty(ty).kind.parts());
    }
    found
}

/// Returns the type expressions of a definition with all their parts.
fn types_in(program: &Program, definition: &TypeDefinition) -> Vec<TypeId> {
    let roots = match &definition.kind {
        TypeDefinitionKind::Synonym(body) => vec![*body],
        TypeDefinitionKind::Sum(constructors) => {
            constructors.iter().map(|(_, payload)| *payload).collect()
        }
    };
    parts_of(program, roots)
}

/// A group of definitions that contain each other.
pub(crate) struct NameGroup {
    /// Their positions in the program, in order.
    pub members: Vec<usize>,
    /// A place inside of the group that names the node type of one of it.
    pub own_nodes: Option<TypeId>,
}

/// Returns the groups of the definitions that contain themselves. A node type counts as its sum.
pub(crate) fn name_groups(program: &Program) -> Vec<NameGroup> {
    let types = program.types.iter().enumerate();
    let by_name: HashMap<&str, usize> = types.map(|(k, d)| (&*d.name.text, k)).collect();
    let mut graph: DiGraph<usize, ()> = DiGraph::new();
    let nodes: Vec<NodeIndex> = (0..program.types.len())
        .map(|k| graph.add_node(k))
        .collect();
    let mut stars = Vec::new();
    for (k, definition) in program.types.iter().enumerate() {
        for id in types_in(program, definition) {
            let Some(name) = program.ty(id).kind.name() else {
                continue;
            };
            let plain = name.trim_end_matches('*');
            if let Some(&other) = by_name.get(plain) {
                graph.update_edge(nodes[k], nodes[other], ());
                stars.extend((plain != &**name).then_some((k, other, id)));
            }
        }
    }
    let recursive = groups(&graph).into_iter();
    let recursive = recursive.filter_map(|(members, recursive)| recursive.then_some(members));
    let group = |members: Vec<usize>| {
        let within = |(k, other, _): &&(usize, usize, TypeId)| {
            members.contains(k) && members.contains(other)
        };
        let own_nodes = stars.iter().find(within).map(|(.., id)| *id);
        NameGroup { members, own_nodes }
    };
    recursive.map(group).collect()
}

/// Returns the names of the group around each type expression in a definition that contains itself.
pub(crate) fn recursions(program: &Program) -> HashMap<TypeId, Arc<[Arc<str>]>> {
    let mut found = HashMap::new();
    for group in name_groups(program) {
        let names = group.members.iter();
        let names: Arc<[Arc<str>]> = names.map(|k| program.types[*k].name.text.clone()).collect();
        for k in &group.members {
            for id in types_in(program, &program.types[*k]) {
                if let TypeKind::Sum(_) = program.ty(id).kind {
                    found.insert(id, names.clone());
                }
            }
        }
    }
    found
}
