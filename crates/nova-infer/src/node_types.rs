//! Node types: for each recursive sum `T` the sum `T*` whose recursive positions are links (dpr
//! §3.2.1).
//!
//! The declared group of a sum are the sums that contain each other by their declarations. `T*` has
//! the parameters of `T`, and then a parameter for each sum of the group. It stands wherever that
//! sum stands with its own parameters.

use crate::declarations::{
    ConstructorDeclaration, Declarations, NoNodes, NodeDeclaration, SumDeclaration, TypeMeaning,
    variable_of,
};
use crate::declare::Builder;
use crate::name_graph::{groups, name_groups};
use crate::types::{
    Constraint, GENERIC, Shallow, SumDeclarationId, Ty, TyNode, TypeVariable, Types, children,
};
use nova_diag::{Diagnostic, Span, codes, deep};
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
            if recursive && members.iter().all(|member| self.is_named(*member)) {
                self.declare_group(types, &members);
            }
        }
    }

    fn declare_group(&mut self, types: &mut Types, members: &[SumDeclarationId]) {
        let endless = members.iter().find_map(|member| self.sum(*member).endless);
        let other = members.iter().find_map(|member| {
            let constructors = &self.sum(*member).constructors;
            constructors
                .iter()
                .find(|constructor| !self.is_regular(types, members, *member, constructor.payload))
                .map(|constructor| constructor.payload_span)
        });
        let group: Arc<[SumDeclarationId]> = members.into();
        let own = members.iter().find_map(|member| self.own_nodes.get(member));
        let obstacle = match (own, endless.or(other)) {
            (Some(place), _) => Some(NoNodes::OwnNodes(*place)),
            (None, Some(place)) => Some(NoNodes::OtherArguments(place)),
            (None, None) => None,
        };
        for member in members {
            let node = match obstacle {
                Some(obstacle) => Err(obstacle),
                None => self.declare_nodes(types, &group, *member),
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

    /// Makes the node type of a sum, without constructors.
    fn plan_nodes(
        &mut self,
        types: &mut Types,
        group: &[SumDeclarationId],
        of: SumDeclarationId,
    ) -> SumDeclarationId {
        let declaration = self.sum(of);
        let name = starred(&declaration.name);
        let mut parameters = declaration.parameters.clone();
        for _ in group {
            let link = types.fresh_at(GENERIC, Constraint::DATA, declaration.name.span);
            parameters.extend(variable_of(types, link));
        }
        let node = SumDeclarationId(self.sums.len() as u32);
        let meaning = TypeMeaning::Sum(node);
        self.names.entry(name.text.clone()).or_insert(meaning);
        self.sums.push(SumDeclaration {
            name,
            parameters,
            constructors: Vec::new(),
            endless: None,
            nodes: None,
            node_of: Some(of),
        });
        node
    }

    /// Declares the node type of a sum.
    fn declare_nodes(
        &mut self,
        types: &mut Types,
        group: &Arc<[SumDeclarationId]>,
        of: SumDeclarationId,
    ) -> Result<SumDeclarationId, NoNodes> {
        let declaration = self.sum(of);
        let name = starred(&declaration.name).text;
        let own = declaration.parameters.len();
        let node = match self.names.get(&name) {
            Some(TypeMeaning::Sum(node)) if self.sum(*node).node_of == Some(of) => *node,
            Some(_) | None => self.plan_nodes(types, group, of),
        };
        let parameters = self.sum(node).parameters.get(own..).unwrap_or(&[]);
        if parameters.len() != group.len() {
            return Err(NoNodes::NotRecursive);
        }
        let links: HashMap<SumDeclarationId, Ty> = group
            .iter()
            .copied()
            .zip(parameters.iter().map(|link| types.variable(*link)))
            .collect();
        let mut replacement = Replacement {
            links,
            done: HashMap::new(),
        };
        let constructors: Vec<ConstructorDeclaration> = self
            .sum(of)
            .constructors
            .iter()
            .map(|constructor| ConstructorDeclaration {
                name: starred(&constructor.name),
                payload: replacement.apply(types, constructor.payload),
                payload_span: constructor.payload_span,
                constant: constructor.constant,
            })
            .collect();
        for (place, constructor) in constructors.iter().enumerate() {
            self.enter(&constructor.name, node, place as u32);
        }
        self.sums[node.0 as usize].constructors = constructors;
        Ok(node)
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

    /// Returns the sum without nodes whose nodes would have a constructor of this name.
    pub fn sum_of_nodes_named(&self, name: &str) -> Option<SumDeclarationId> {
        let (sum, _) = self.constructor(name.strip_suffix('*')?)?;
        let sum = SumDeclarationId(sum);
        self.node_type(sum).is_none().then_some(sum)
    }

    /// True for a node type that turned out not to exist, which has been reported.
    pub fn is_without_nodes(&self, node: SumDeclarationId) -> bool {
        let of = self.sum(node).node_of;
        of.and_then(|of| self.sum(of).nodes.as_ref())
            .is_some_and(|nodes| nodes.node.is_err())
    }

    /// Returns why a sum has no node type.
    pub fn no_nodes(&self, sum: SumDeclarationId) -> NoNodes {
        match (&self.sum(sum).nodes, self.own_nodes.get(&sum)) {
            (Some(nodes), _) => nodes.node.err().unwrap_or(NoNodes::NotRecursive),
            (None, Some(place)) => NoNodes::OwnNodes(*place),
            (None, None) => NoNodes::NotRecursive,
        }
    }

    /// Returns the error about a node type that does not exist, where the type `name` is not
    /// declared.
    pub fn no_nodes_named(&self, name: &str, at: Span) -> Option<Diagnostic> {
        let sum = self.sum_named(name.strip_suffix('*')?)?;
        Some(self.no_nodes_error(sum, name, at))
    }

    /// Returns the error about the type or constructor `name` of the nodes of a sum without nodes.
    pub fn no_nodes_error(&self, sum: SumDeclarationId, name: &str, at: Span) -> Diagnostic {
        let declared = &self.sum(sum).name;
        let message = format!(
            "there is no `{name}`, since `{}` has no node type",
            declared.text
        );
        let diagnostic = Diagnostic::error(codes::NO_NODE_TYPE, at, message);
        self.no_nodes(sum).explain(declared.span, diagnostic)
    }
}

impl NoNodes {
    /// Adds the reason to a message about a type that is declared at a place.
    pub fn explain(self, declared: Span, diagnostic: Diagnostic) -> Diagnostic {
        match self {
            NoNodes::OtherArguments(place) => diagnostic
                .also(place, "contains itself with other arguments")
                .help("let the type contain itself with its own parameters only, in their order"),
            NoNodes::OwnNodes(place) => diagnostic
                .also(place, "would contain its own nodes")
                .help("a recursive type holds data of its own type, and its nodes hold links"),
            NoNodes::NotRecursive => diagnostic
                .also(declared, "does not contain itself")
                .help("only a type that contains itself has nodes"),
        }
    }
}

impl Builder<'_> {
    /// Makes the node types that types name, before these are converted.
    pub fn plan_node_types(&mut self) {
        let program = self.program;
        for group in name_groups(program) {
            let named = group.members.iter().filter_map(|k| {
                let name = &program.types[*k].name.text;
                self.declarations.sum_named(name)
            });
            let sums: Vec<SumDeclarationId> = named.collect();
            let names = program.type_arena.iter().filter_map(|ty| ty.kind.name());
            let mut named = names.filter_map(|name| name.strip_suffix('*'));
            let is_named = named.any(|name| {
                let sum = self.declarations.sum_named(name);
                sum.is_some_and(|sum| sums.contains(&sum))
            });
            if let Some(place) = group.own_nodes {
                let place = program.ty(place).span;
                let own = sums.iter().map(|sum| (*sum, place));
                self.declarations.own_nodes.extend(own);
                continue;
            }
            for sum in sums.iter().filter(|_| is_named) {
                self.declarations.plan_nodes(self.types, &sums, *sum);
            }
        }
    }

    /// Reports the node types that types name and that do not exist.
    pub fn check_node_types(&mut self) {
        let program = self.program;
        for node in &program.type_arena {
            let Some(name) = node.kind.name() else {
                continue;
            };
            let Some(found) = self.declarations.sum_named(name) else {
                continue;
            };
            let of = self.declarations.sum(found).node_of;
            if let Some(of) = of
                && self.declarations.node_type(of) != Some(found)
            {
                let diagnostic = self.declarations.no_nodes_error(of, name, node.span);
                self.diagnostics.push(diagnostic);
            }
        }
    }
}

/// True if types are these variables.
fn are_parameters(types: &mut Types, arguments: &[Ty], parameters: &[TypeVariable]) -> bool {
    arguments.len() == parameters.len()
        && arguments
            .iter()
            .zip(parameters)
            .all(|(ty, parameter)| variable_of(types, *ty) == Some(*parameter))
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
