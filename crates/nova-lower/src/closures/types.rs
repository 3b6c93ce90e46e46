//! The types of closures.
//!
//! A class with one member is the tuple of what that member captured. A class with more is a sum with a
//! constructor for each. Classes whose closures can contain closures of their own class are recursive
//! sums and live in node tables. So do classes whose closures would be very wide.

use super::classes::{ClassId, Classes, Member};
use super::flow::{Arrow, Flow};
use crate::names::Names;
use nova_core::ir::{Program, Variable};
use nova_core::{Constructor, SumId, SumType, Type};
use nova_flat::representation::components;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The largest number of components of a closure that is not a link.
const WIDEST: usize = 64;

/// The representation of the closures of a class.
#[derive(Clone, Debug)]
pub(super) enum ClosureType {
    /// One member: the tuple of what it captured.
    Tuple(Type),
    /// A constructor for each member, in order.
    Sum(SumId),
}

/// The closures' types, by class.
pub(super) struct Types {
    pub of: Vec<ClosureType>,
}

impl Types {
    /// Returns the type of the closures of a class.
    pub fn of(&self, class: ClassId) -> Type {
        match &self.of[class.index()] {
            ClosureType::Tuple(ty) => ty.clone(),
            ClosureType::Sum(id) => Type::Sum(*id),
        }
    }

    /// Returns the first-order type for a type and its arrow, which is `unit` if no function flows
    /// there.
    pub fn convert(
        &self,
        flow: &mut Flow,
        classes: &Classes,
        (ty, arrow): (&Type, Option<Arrow>),
    ) -> Type {
        match arrow {
            None => ty.clone(),
            Some(arrow) => classes.of(flow, arrow).map_or(Type::Unit, |c| self.of(c)),
        }
    }
}

/// Computes the types of all classes, adds their sums to the program, and retypes every variable and
/// expression that is a function.
pub(super) fn closure_types(
    program: &mut Program,
    flow: &mut Flow,
    classes: &Classes,
    free: &[Vec<Variable>],
) -> Types {
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    for _ in &classes.members {
        graph.add_node(());
    }
    let mut loops = BTreeSet::new();
    for (k, members) in classes.members.iter().enumerate() {
        let held: Vec<Variable> = members
            .iter()
            .flat_map(|m| captured(flow, free, *m))
            .collect();
        for variable in held {
            let arrow = flow.variables[variable.index()];
            if let Some(class) = arrow.and_then(|a| classes.of(flow, a)) {
                graph.add_edge(NodeIndex::new(k), NodeIndex::new(class.index()), ());
                if class.index() == k {
                    loops.insert(k);
                }
            }
        }
    }
    let mut types = Types {
        of: vec![ClosureType::Tuple(Type::Unit); classes.members.len()],
    };
    // Components come in postorder: a class after those that its closures contain.
    for component in kosaraju_scc(&graph) {
        let mut group: Vec<usize> = component.iter().map(|n| n.index()).collect();
        group.sort_unstable();
        let recursive = group.len() > 1 || loops.contains(&group[0]);
        add_group(program, flow, classes, free, &mut types, &group, recursive);
    }
    retype(program, flow, classes, &types);
    types
}

/// Returns the values that a member holds: the lambda's free variables, then the arguments it has.
pub(super) fn captured(flow: &Flow, free: &[Vec<Variable>], member: Member) -> Vec<Variable> {
    let mut variables = free[member.lambda.index()].clone();
    let parameters = &flow.lambdas[member.lambda.index()].parameters;
    variables.extend(parameters.iter().take(member.given));
    variables
}

/// Adds the types of classes that contain each other.
fn add_group(
    program: &mut Program,
    flow: &mut Flow,
    classes: &Classes,
    free: &[Vec<Variable>],
    types: &mut Types,
    group: &[usize],
    recursive: bool,
) {
    if let ([class], false) = (group, recursive)
        && let [member] = classes.members[*class].as_slice()
    {
        let ty = payload(program, flow, classes, free, types, *member);
        if components(&ty, &program.sums).len() <= WIDEST {
            types.of[*class] = ClosureType::Tuple(ty);
            return;
        }
    }
    let ids: Vec<SumId> = (0..group.len())
        .map(|k| SumId((program.sums.len() + k) as u32))
        .collect();
    for (class, id) in group.iter().zip(&ids) {
        types.of[*class] = ClosureType::Sum(*id);
    }
    for class in group {
        let mut constructors = Vec::new();
        let mut names = Names::default();
        for member in &classes.members[*class] {
            let payload = payload(program, flow, classes, free, types, *member);
            let name = names.unique(&flow.lambdas[member.lambda.index()].name);
            constructors.push(Constructor { name, payload });
        }
        program.sums.push(SumType {
            name: Arc::from(format!("closure_{class}")),
            arguments: Vec::new(),
            constructors,
            group: if recursive { ids.clone() } else { Vec::new() },
            node_of: None,
        });
    }
    if let [id] = *ids.as_slice()
        && !recursive
        && components(&Type::Sum(id), &program.sums).len() > WIDEST
    {
        program.sums[id.index()].group = ids;
    }
}

fn payload(
    program: &Program,
    flow: &mut Flow,
    classes: &Classes,
    free: &[Vec<Variable>],
    types: &Types,
    member: Member,
) -> Type {
    let held = captured(flow, free, member);
    let held = held.into_iter().map(|variable| {
        let arrow = flow.variables[variable.index()];
        types.convert(flow, classes, (&program.variable(variable).ty, arrow))
    });
    Type::tuple(held.collect())
}

fn retype(program: &mut Program, flow: &mut Flow, classes: &Classes, types: &Types) {
    for k in 0..flow.variables.len() {
        if let Some(arrow) = flow.variables[k] {
            let variable = &mut program.variables[k];
            variable.ty = types.convert(flow, classes, (&variable.ty, Some(arrow)));
        }
    }
    for k in 0..flow.expressions.len() {
        if let Some(arrow) = flow.expressions[k] {
            let expression = &mut program.arena[k];
            expression.ty = types.convert(flow, classes, (&expression.ty, Some(arrow)));
        }
    }
}
