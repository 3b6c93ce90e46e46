//! Node types: for each recursive sum `T` the sum `T*` whose recursive positions are links (dpr
//! §3.2.1).
//!
//! The declared group of a sum are the sums that contain each other by their declarations. `T*` has
//! the parameters of `T`, and then a parameter for each sum of the group. It stands wherever that
//! sum stands with its own parameters.

use crate::declarations::{
    ConstructorDeclaration, Declarations, NodeDeclaration, SumDeclaration, TypeMeaning,
};
use crate::declare::groups;
use crate::types::{
    Constraint, GENERIC, Shallow, SumDeclarationId, Ty, TyNode, TypeVariable, Types, children,
};
use nova_diag::{Span, deep};
use nova_syntax::ast::Name;
use petgraph::graph::DiGraph;
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the name of a node type or of its constructor.
pub(crate) fn starred(name: &Name) -> Name {
    Name {
        text: format!("{}*", name.text).into(),
        span: name.span,
    }
}

impl Declarations {
    /// Declares the node types of all recursive sums that can have one.
    pub fn declare_node_types(&mut self, types: &mut Types) {
        let mut graph: DiGraph<u32, ()> = DiGraph::new();
        let nodes: Vec<_> = (0..self.sums.len() as u32)
            .map(|sum| graph.add_node(sum))
            .collect();
        for (sum, declaration) in self.sums.iter().enumerate() {
            for constructor in &declaration.constructors {
                for contained in sums_in(types, constructor.payload) {
                    graph.update_edge(nodes[sum], nodes[contained.0 as usize], ());
                }
            }
        }
        for (members, recursive) in groups(&graph) {
            let members: Vec<SumDeclarationId> =
                members.into_iter().map(SumDeclarationId).collect();
            let whole = members.iter().all(|member| {
                let declaration = self.sum(*member);
                declaration.endless.is_none() && self.is_named(*member)
            });
            if recursive && whole {
                self.declare_group(types, &members);
            }
        }
    }

    fn declare_group(&mut self, types: &mut Types, members: &[SumDeclarationId]) {
        let other = members.iter().find_map(|member| {
            let constructors = &self.sum(*member).constructors;
            constructors
                .iter()
                .find(|constructor| !self.is_regular(types, members, *member, constructor.payload))
                .map(|constructor| constructor.payload_span)
        });
        let group: Arc<[SumDeclarationId]> = members.into();
        for member in members {
            let node = match other {
                Some(span) => Err(span),
                None => Ok(self.declare_nodes(types, &group, *member)),
            };
            self.sums[member.0 as usize].nodes = Some(NodeDeclaration {
                group: group.clone(),
                node,
            });
        }
    }

    /// True if the sums of a group stand in a payload with the parameters of `of` only.
    fn is_regular(
        &self,
        types: &mut Types,
        members: &[SumDeclarationId],
        of: SumDeclarationId,
        payload: Ty,
    ) -> bool {
        let own = &self.sum(of).parameters;
        let mut work = vec![payload];
        while let Some(ty) = work.pop() {
            let Shallow::Node(node) = types.shallow(ty) else {
                continue;
            };
            if let TyNode::Sum(sum, arguments) = &node
                && members.contains(sum)
                && !are_parameters(types, arguments, own)
            {
                return false;
            }
            work.extend(children(&node));
        }
        true
    }

    /// Declares the node type of a sum.
    fn declare_nodes(
        &mut self,
        types: &mut Types,
        group: &Arc<[SumDeclarationId]>,
        of: SumDeclarationId,
    ) -> SumDeclarationId {
        let declaration = self.sum(of);
        let name = starred(&declaration.name);
        let mut parameters = declaration.parameters.clone();
        let mut links = HashMap::new();
        for member in group.iter() {
            let link = types.fresh_at(GENERIC, Constraint::DATA, declaration.name.span);
            links.insert(*member, link);
            parameters.extend(crate::declarations::variable_of(types, link));
        }
        let mut replacement = Replacement {
            links,
            done: HashMap::new(),
        };
        let constructors: Vec<ConstructorDeclaration> = declaration
            .constructors
            .iter()
            .map(|constructor| ConstructorDeclaration {
                name: starred(&constructor.name),
                payload: replacement.apply(types, constructor.payload),
                payload_span: constructor.payload_span,
                constant: constructor.constant,
            })
            .collect();
        let node = SumDeclarationId(self.sums.len() as u32);
        for (place, constructor) in constructors.iter().enumerate() {
            self.enter(&constructor.name, node, place as u32);
        }
        let meaning = TypeMeaning::Sum(node);
        self.names.entry(name.text.clone()).or_insert(meaning);
        self.sums.push(SumDeclaration {
            name,
            parameters,
            constructors,
            endless: None,
            nodes: None,
            node_of: Some(of),
        });
        node
    }

    /// Returns the node type of a sum.
    pub fn node_type(&self, sum: SumDeclarationId) -> Option<SumDeclarationId> {
        let nodes = self.sum(sum).nodes.as_ref()?;
        nodes.node.ok()
    }

    /// Returns the declared group of a sum that has a node type, in the order of the declarations.
    pub fn group(&self, sum: SumDeclarationId) -> Arc<[SumDeclarationId]> {
        match &self.sum(sum).nodes {
            Some(nodes) => nodes.group.clone(),
            None => Arc::from([]),
        }
    }

    /// Returns the place at which a recursive sum contains itself with other arguments, if that is
    /// why it has no node type.
    pub fn irregular(&self, sum: SumDeclarationId) -> Option<Span> {
        let nodes = self.sum(sum).nodes.as_ref()?;
        nodes.node.err()
    }
}

/// True if types are these variables.
fn are_parameters(types: &mut Types, arguments: &[Ty], parameters: &[TypeVariable]) -> bool {
    arguments.len() == parameters.len()
        && arguments
            .iter()
            .zip(parameters)
            .all(|(ty, parameter)| crate::declarations::variable_of(types, *ty) == Some(*parameter))
}

/// Returns the sums in a type.
fn sums_in(types: &mut Types, ty: Ty) -> Vec<SumDeclarationId> {
    let mut sums = Vec::new();
    let mut work = vec![ty];
    while let Some(ty) = work.pop() {
        if let Shallow::Node(node) = types.shallow(ty) {
            if let TyNode::Sum(sum, _) = &node {
                sums.push(*sum);
            }
            work.extend(children(&node));
        }
    }
    sums
}

/// The replacement of the sums of a group by links.
struct Replacement {
    links: HashMap<SumDeclarationId, Ty>,
    done: HashMap<Ty, Ty>,
}

impl Replacement {
    fn apply(&mut self, types: &mut Types, ty: Ty) -> Ty {
        let ty = types.resolve(ty);
        if let Some(done) = self.done.get(&ty) {
            return *done;
        }
        let result = match types.shallow(ty) {
            Shallow::Node(TyNode::Sum(sum, _)) if self.links.contains_key(&sum) => self.links[&sum],
            Shallow::Node(node) => deep(|| {
                let before = children(&node);
                let after: Vec<Ty> = before
                    .iter()
                    .map(|child| self.apply(types, *child))
                    .collect();
                types.rebuild(ty, &node, after)
            }),
            Shallow::Unbound(..) => ty,
        };
        self.done.insert(ty, result);
        result
    }
}
