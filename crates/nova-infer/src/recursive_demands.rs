//! The solution of the demands of `foreach`, `up`, `dn`, `table` and `datum`: the sums, their node
//! types, and the links between them.

use crate::links::{Instance, LinkFunction};
use crate::obligations::{Obligation, Outcome};
use crate::reasons::Because;
use crate::solver::Recursive;
use crate::source::Source;
use crate::types::Side;
use crate::types::{Shallow, SumDeclarationId, Ty, TyNode};
use crate::unify::Conflict;
use nova_syntax::ast::{ExpressionId, ExpressionKind, NodeBody};

/// The knowledge about a type that must be a recursive sum, or a node type.
pub(crate) enum Found {
    /// Nothing yet.
    Open,
    /// Its mistake has been reported.
    Error,
    /// The recursive sum.
    Sum(Instance),
    /// Something else.
    Other,
}

impl Recursive<'_, '_> {
    /// Unifies a type with the one it must have, and reports a mismatch at an expression.
    pub(crate) fn must_be(
        &mut self,
        obligation: &Obligation,
        at: ExpressionId,
        wanted: Ty,
        found: Ty,
    ) {
        if let Err(conflict) = self.solver.types.unify(wanted, found) {
            self.solver
                .mismatch(wanted, found, at, &obligation.because, conflict);
        }
    }

    /// Unifies the result of a form with its type. A link in that type is reported at the part of a
    /// payload that it comes from, if that is known. Returns true if they agree.
    fn must_hold(&mut self, obligation: &Obligation, form: u32, wanted: Ty, found: Ty) -> bool {
        let Err(conflict) = self.solver.types.unify(wanted, found) else {
            return true;
        };
        if let Conflict::Escape(link, _) = conflict {
            self.link_as_data(form, wanted, link);
        } else {
            self.solver
                .mismatch(wanted, found, obligation.at, &obligation.because, conflict);
        }
        false
    }

    /// Unifies the node that a body gives with the one that it must give. A mismatch is reported at
    /// the part of a payload that has the wrong type, if there is one. Returns true if they agree.
    fn must_give(
        &mut self,
        obligation: &Obligation,
        form: u32,
        body: usize,
        types: [Ty; 2],
    ) -> bool {
        let [wanted, found] = types;
        let Err(conflict) = self.solver.types.unify(wanted, found) else {
            return true;
        };
        if self.has_mistake(form, body) {
            return false;
        }
        if let Some((at, part, given)) = self.wrong_part(form, body, wanted)
            && let Some((wanted, found)) = self.solver.types.difference(part, given)
        {
            let conflict = Conflict::Mismatch(wanted, found);
            self.solver
                .mismatch(part, given, at, &obligation.because, conflict);
            return false;
        }
        let at = self.body_expressions(obligation.at);
        let at = at.get(body).copied().unwrap_or(obligation.at);
        let (at, found) = self.wrong_node(form, body, wanted).unwrap_or((at, found));
        self.solver
            .mismatch(wanted, found, at, &obligation.because, conflict);
        false
    }

    /// Gives types the error type, so that they cause no further messages.
    pub(crate) fn as_error(&mut self, types: &[Ty]) -> Outcome {
        let error = self.solver.types.error();
        for ty in types {
            let _ = self.solver.types.unify(error, *ty);
        }
        Outcome::Done
    }

    /// Returns the recursive sum that a type is, if it has a node type.
    pub(crate) fn recursive_sum(&mut self, ty: Ty) -> Found {
        match self.solver.types.shallow(ty) {
            Shallow::Unbound(_, unbound) if unbound.constraint.scalars.is_some() => Found::Other,
            Shallow::Unbound(..) => Found::Open,
            Shallow::Node(TyNode::Error) => Found::Error,
            Shallow::Node(TyNode::Sum(sum, arguments))
                if self.solver.source.declarations.node_type(sum).is_some() =>
            {
                let arguments = arguments.to_vec();
                Found::Sum(Instance { sum, arguments })
            }
            Shallow::Node(_) => Found::Other,
        }
    }

    /// Returns the recursive sum of which a type is the node type.
    pub(crate) fn sum_of_nodes(&mut self, ty: Ty) -> Found {
        match self.solver.types.shallow(ty) {
            Shallow::Unbound(_, unbound) if unbound.constraint.scalars.is_some() => Found::Other,
            Shallow::Unbound(..) => Found::Open,
            Shallow::Node(TyNode::Error) => Found::Error,
            Shallow::Node(TyNode::Sum(node, arguments)) => {
                let declarations = self.solver.source.declarations;
                let Some(sum) = declarations.sum(node).node_of else {
                    return Found::Other;
                };
                let own = declarations.sum(sum).parameters.len();
                let arguments = arguments.iter().take(own).copied().collect();
                Found::Sum(Instance { sum, arguments })
            }
            Shallow::Node(_) => Found::Other,
        }
    }

    /// Returns the type of the nodes of a sum with these links.
    pub(crate) fn nodes_of(&mut self, sum: SumDeclarationId, arguments: &[Ty], links: &[Ty]) -> Ty {
        match self.solver.source.declarations.node_type(sum) {
            Some(node) => self.solver.types.sum(node, [arguments, links].concat()),
            None => self.solver.types.error(),
        }
    }

    /// Solves the demand of a `foreach` on its datum and the nodes that its bodies take.
    pub fn solve_nodes(
        &mut self,
        obligation: &Obligation,
        form: u32,
        datum: Ty,
        force: bool,
    ) -> Outcome {
        let nodes = self.solver.forms[form as usize].nodes.clone();
        let (read, bodies) = match parts_of(self.solver.source, obligation.at) {
            Some(parts) => parts,
            None => return self.as_error(&nodes),
        };
        let mut instance = match self.recursive_sum(datum) {
            Found::Error => return self.as_error(&nodes),
            Found::Other => {
                self.no_node_type(read, datum, "foreach");
                return self.as_error(&nodes);
            }
            Found::Sum(instance) => Some(instance),
            Found::Open => None,
        };
        if instance.is_none() {
            instance = self.told_by_nodes(&nodes, bodies);
        }
        let Some(instance) = instance else {
            if !force {
                return Outcome::Wait([&[datum], &nodes[..]].concat());
            }
            self.unknown_datum(read, "foreach");
            return self.as_error(&[&[datum], &nodes[..]].concat());
        };
        let wanted = self
            .solver
            .types
            .sum(instance.sum, instance.arguments.clone());
        self.must_be(obligation, read, wanted, datum);
        let Some(members) = self.members_of(obligation.at, &instance, bodies) else {
            return self.as_error(&nodes);
        };
        let group = self.solver.source.declarations.group(instance.sum);
        let links = self.solver.types.links(form, group.len(), Side::Old);
        for (member, node) in members.iter().zip(&nodes) {
            let sum = group[*member as usize];
            let wanted = self.nodes_of(sum, &instance.arguments, &links);
            self.must_be(obligation, obligation.at, wanted, *node);
        }
        let known = &mut self.solver.forms[form as usize];
        known.old = Some(instance);
        known.members = members;
        Outcome::Done
    }

    /// Returns the type of a datum as the nodes that bodies take, or the names of their types, tell.
    fn told_by_nodes(&mut self, nodes: &[Ty], bodies: &[NodeBody]) -> Option<Instance> {
        let declarations = self.solver.source.declarations;
        let names = bodies.iter().skip(1).filter_map(|body| body.ty.as_ref());
        let named: Vec<SumDeclarationId> = names
            .filter_map(|name| declarations.sum_named(&name.text))
            .collect();
        for (k, node) in nodes.iter().enumerate() {
            let Found::Sum(found) = self.sum_of_nodes(*node) else {
                continue;
            };
            if k == 0 {
                return Some(found);
            }
            let sum = self.the_other(found.sum, &named)?;
            let arguments = found.arguments;
            return Some(Instance { sum, arguments });
        }
        let sum = self.the_other(*named.first()?, &named)?;
        let origin = bodies.first()?.pattern.span;
        let count = declarations.sum(sum).parameters.len();
        let fresh = |this: &mut Self| {
            this.solver
                .types
                .fresh(crate::types::Constraint::DATA, origin)
        };
        let arguments = (0..count).map(|_| fresh(self)).collect();
        Some(Instance { sum, arguments })
    }

    /// Returns the only sum of the group of `member` that has no name among `named`.
    fn the_other(
        &self,
        member: SumDeclarationId,
        named: &[SumDeclarationId],
    ) -> Option<SumDeclarationId> {
        let group = self.solver.source.declarations.group(member);
        let mut left = group.iter().filter(|sum| !named.contains(sum));
        let other = left.next().copied();
        other.filter(|_| left.next().is_none())
    }

    /// Solves the demand of a `foreach` or `up` on its bodies and its result.
    pub fn solve_made(
        &mut self,
        obligation: &Obligation,
        form: u32,
        (bodies, links): (&[Ty], &[(Ty, Ty)]),
        result: Ty,
        force: bool,
    ) -> Outcome {
        let everything: Vec<Ty> = bodies.iter().copied().chain([result]).collect();
        let at = self.body_expressions(obligation.at);
        let mut sums: Vec<Option<Instance>> = Vec::new();
        for (body, at) in bodies.iter().zip(&at) {
            match self.sum_of_nodes(*body) {
                Found::Error => return self.as_error(&everything),
                Found::Open => sums.push(None),
                Found::Sum(found) => sums.push(Some(found)),
                Found::Other => {
                    self.no_node(*at, *body);
                    return self.as_error(&everything);
                }
            }
        }
        match self.recursive_sum(result) {
            Found::Sum(known) => {
                if let Some(first @ None) = sums.first_mut() {
                    *first = Some(known);
                }
            }
            Found::Open | Found::Error | Found::Other => {}
        }
        let Some(arguments) = sums.iter().flatten().map(|i| i.arguments.clone()).next() else {
            if !force {
                return Outcome::Wait(everything);
            }
            self.unknown_result(&at);
            return self.as_error(&everything);
        };
        let known: Vec<Option<SumDeclarationId>> = sums
            .iter()
            .map(|found| found.as_ref().map(|i| i.sum))
            .collect();
        let Some(sums) = self.group_made(&known) else {
            if !force {
                return Outcome::Wait(everything);
            }
            self.unknown_result(&at);
            return self.as_error(&everything);
        };
        let Some(types) = self.links_made(obligation.at, form, &sums) else {
            return self.as_error(&everything);
        };
        let known = &mut self.solver.forms[form as usize];
        known.made = sums.clone();
        known.new = sums.first().map(|sum| Instance {
            sum: *sum,
            arguments: arguments.clone(),
        });
        let mut agree = true;
        for (body, (sum, made)) in sums.iter().zip(bodies).enumerate() {
            let wanted = self.nodes_of(*sum, &arguments, &types);
            agree &= self.must_give(obligation, form, body, [wanted, *made]);
        }
        if let Some(sum) = sums.first() {
            let datum = self.solver.types.sum(*sum, arguments.clone());
            if !agree {
                // A wrong node may well be why its data hold links.
                let links = links.iter().flat_map(|(datum, link)| [*datum, *link]);
                let _ = self.solver.types.unify(datum, result);
                return self.as_error(&links.chain(everything).collect::<Vec<_>>());
            }
            if !self.must_hold(obligation, form, datum, result) {
                let links = links.iter().flat_map(|(datum, link)| [*datum, *link]);
                return self.as_error(&links.chain(everything).collect::<Vec<_>>());
            }
            self.link_data(obligation, form, *sum, &arguments, links);
        }
        Outcome::Done
    }

    /// Returns the sum that each body makes. One that is not known is the only one left.
    fn group_made(&self, known: &[Option<SumDeclarationId>]) -> Option<Vec<SumDeclarationId>> {
        let unknown = known.iter().filter(|sum| sum.is_none()).count();
        if unknown == 0 {
            return known.iter().copied().collect();
        }
        let named: Vec<SumDeclarationId> = known.iter().flatten().copied().collect();
        let other = self
            .the_other(*named.first()?, &named)
            .filter(|_| unknown == 1)?;
        Some(known.iter().map(|sum| sum.unwrap_or(other)).collect())
    }

    /// Returns the link types of the nodes that a form makes, in the order of their group. Reports
    /// bodies that do not make one group.
    fn links_made(
        &mut self,
        at: ExpressionId,
        form: u32,
        sums: &[SumDeclarationId],
    ) -> Option<Vec<Ty>> {
        let first = *sums.first()?;
        let group = self.solver.source.declarations.group(first);
        let known = &self.solver.forms[form as usize];
        if known.is_up() {
            return Some(self.solver.types.links(form, group.len(), Side::New));
        }
        known.old.as_ref()?;
        let members = known.members.clone();
        let mut types = Vec::new();
        for sum in group.iter() {
            let mut made = sums.iter().zip(&members).filter(|(made, _)| *made == sum);
            let (Some((_, member)), None) = (made.next(), made.next()) else {
                self.other_group(at, sums, *sum);
                return None;
            };
            types.push(self.solver.types.link(form, *member, Side::New));
        }
        if sums.len() > group.len() {
            self.other_group(at, sums, first);
            return None;
        }
        Some(types)
    }

    /// Relates the data of an `up` and the links to them.
    fn link_data(
        &mut self,
        obligation: &Obligation,
        form: u32,
        sum: SumDeclarationId,
        arguments: &[Ty],
        links: &[(Ty, Ty)],
    ) {
        let group = self.solver.source.declarations.group(sum);
        let values = match &self.solver.source.program.expression(obligation.at).kind {
            ExpressionKind::Up { links, .. } => links.iter().map(|(_, value)| *value).collect(),
            _ => Vec::new(),
        };
        for ((datum, link), at) in links.iter().zip(values) {
            let member = match (
                self.solver.types.shallow(*link),
                self.solver.types.shallow(*datum),
            ) {
                (Shallow::Node(TyNode::Link(link)), _) if link.form == form => Some(link.member),
                (_, Shallow::Node(TyNode::Sum(of, _))) => {
                    let position = group.iter().position(|member| *member == of);
                    position.map(|member| member as u32)
                }
                _ if group.len() == 1 => Some(0),
                _ => None,
            };
            let target = member.and_then(|member| group.get(member as usize).copied());
            let Some((target, member)) = target.zip(member) else {
                match self.solver.types.shallow(*datum) {
                    Shallow::Node(TyNode::Error) => {}
                    Shallow::Node(_) => self.no_node_type(at, *datum, "up"),
                    Shallow::Unbound(..) => self.unknown_datum(at, "up"),
                }
                let _ = self.as_error(&[*link]);
                continue;
            };
            let wanted = self.solver.types.link(form, member, Side::New);
            self.must_be(obligation, at, wanted, *link);
            let wanted = self.solver.types.sum(target, arguments.to_vec());
            self.must_be(obligation, at, wanted, *datum);
        }
    }

    /// Returns the expressions that give the nodes of a form.
    fn body_expressions(&self, id: ExpressionId) -> Vec<ExpressionId> {
        match &self.solver.source.program.expression(id).kind {
            ExpressionKind::Foreach { nodes, .. } => nodes.iter().map(|node| node.body).collect(),
            ExpressionKind::Up { body, .. } => vec![*body],
            _ => Vec::new(),
        }
    }

    /// Solves the demand between an old link of a group and the result of `f` or `d`.
    pub fn solve_link_function(
        &mut self,
        obligation: &Obligation,
        (form, function): (u32, LinkFunction),
        argument: Ty,
        result: Ty,
        force: bool,
    ) -> Outcome {
        let member = match self.solver.types.shallow(argument) {
            Shallow::Node(TyNode::Error) => return self.as_error(&[result]),
            Shallow::Node(TyNode::Link(link)) => Some(link.member),
            Shallow::Node(_) => Some(0),
            Shallow::Unbound(..) => self.member_of_result(form, function, result),
        };
        let Some(member) = member else {
            if !force {
                return Outcome::Wait(vec![argument, result]);
            }
            self.unknown_link(obligation.at);
            return self.as_error(&[argument, result]);
        };
        let old = self.solver.types.link(form, member, Side::Old);
        if let Err(conflict) = self.solver.types.unify(old, argument) {
            self.solver
                .mismatch(old, argument, obligation.at, &obligation.because, conflict);
            return self.as_error(&[result]);
        }
        let wanted = match function {
            LinkFunction::Rename => self.solver.types.link(form, member, Side::New),
            LinkFunction::Follow => {
                let known = &self.solver.forms[form as usize];
                let body = known.members.iter().position(|of| *of == member);
                match body.and_then(|body| known.nodes.get(body)) {
                    Some(node) => *node,
                    None => return self.as_error(&[result]),
                }
            }
        };
        self.must_be(obligation, obligation.at, wanted, result);
        Outcome::Done
    }

    /// Returns the member of the group whose links a use of `f` or `d` takes, as its result tells.
    fn member_of_result(&mut self, form: u32, function: LinkFunction, result: Ty) -> Option<u32> {
        match (function, self.solver.types.shallow(result)) {
            (LinkFunction::Rename, Shallow::Node(TyNode::Link(link))) => Some(link.member),
            (LinkFunction::Follow, Shallow::Node(TyNode::Sum(node, _))) => {
                let sum = self.solver.source.declarations.sum(node).node_of?;
                let old = self.solver.forms[form as usize].old.as_ref()?.sum;
                let group = self.solver.source.declarations.group(old);
                let member = group.iter().position(|member| *member == sum);
                member.map(|member| member as u32)
            }
            _ => None,
        }
    }
}

/// True for the demand of `datum`, whose second argument is the table; that of `table` is about its
/// first.
pub(crate) fn is_datum(obligation: &Obligation) -> bool {
    matches!(obligation.because, Because::Argument { position: 2, .. })
}

/// Returns the datum and the bodies of a `foreach`.
fn parts_of(source: Source<'_>, id: ExpressionId) -> Option<(ExpressionId, &[NodeBody])> {
    match &source.program.expression(id).kind {
        ExpressionKind::Foreach { datum, nodes, .. } => Some((*datum, nodes)),
        _ => None,
    }
}
