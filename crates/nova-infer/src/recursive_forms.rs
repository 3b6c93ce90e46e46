//! The types of `foreach`, `up` and `dn` (dpr table 1, language §6).
//!
//! A form has a level of its own, so that its rigid link types cannot get into the types of anything
//! older. Its result is older than the form. What relates data and nodes are demands, since either
//! may be known first.

use crate::inference::Inference;
use crate::links::{LinkForm, LinkFunction};
use crate::obligations::Demand;
use crate::reasons::Because;
use crate::resolve::BindingId;
use crate::scheme::Scheme;
use crate::types::Side;
use crate::types::{Constraint, Shallow, Ty, TyNode};
use nova_syntax::ast::{ExpressionId, NodeBody, Pattern, PatternKind};

impl Inference<'_> {
    /// Infers the type of a `foreach`.
    pub fn infer_foreach(
        &mut self,
        id: ExpressionId,
        datum: ExpressionId,
        links: &[Pattern; 2],
        bodies: &[NodeBody],
    ) -> Ty {
        let span = self.source.span(id);
        let datum = self.infer(datum);
        let result = self.solver.types.fresh(Constraint::DATA, span);
        let form = self.begin_form(id);
        let mut next = self.source.resolved.first_binding[id.0 as usize].0;
        let nodes: Vec<Ty> = bodies
            .iter()
            .map(|body| {
                let span = body.pattern.span;
                self.solver.types.fresh(Constraint::DATA, span)
            })
            .collect();
        self.solver.forms[form as usize].nodes = nodes.clone();
        self.bind_link_functions(form, links, &nodes, &mut next);
        let demand = Demand::Nodes { form, datum };
        self.solver.demand(demand, id, Because::Form);
        let mut made = Vec::new();
        for (body, node) in bodies.iter().zip(&nodes) {
            let pattern = self.infer_pattern(&body.pattern, &mut next);
            let because = Because::Nodes { form: id };
            self.solver
                .expect_pattern(*node, pattern, &body.pattern, &because);
            let given = self.infer(body.body);
            self.add_places(form, made.len(), body.body);
            made.push(given);
        }
        let demand = Demand::Made {
            form,
            bodies: made,
            links: Vec::new(),
            result,
        };
        self.solver.demand(demand, id, Because::Form);
        self.solver.generalise(&[]);
        result
    }

    /// Begins a form, with a level of its own. Returns its number.
    fn begin_form(&mut self, id: ExpressionId) -> u32 {
        self.solver.types.enter();
        self.solver.forms.push(LinkForm {
            at: id,
            old: None,
            new: None,
            nodes: Vec::new(),
            members: Vec::new(),
            made: Vec::new(),
            places: Vec::new(),
            given: Vec::new(),
        });
        let number = self.solver.types.begin_links();
        self.solver.form_of.insert(id, number);
        number
    }

    /// Gives the functions that a `foreach` binds their types. In a group each use has its own.
    fn bind_link_functions(
        &mut self,
        form: u32,
        links: &[Pattern; 2],
        nodes: &[Ty],
        next: &mut u32,
    ) {
        let functions = [LinkFunction::Rename, LinkFunction::Follow];
        for (pattern, function) in links.iter().zip(functions) {
            let PatternKind::Name(_) = pattern.kind else {
                continue;
            };
            let binding = BindingId(*next);
            *next += 1;
            self.link_functions.insert(binding, (form, function));
            if let [node] = nodes {
                let old = self.solver.types.link(form, 0, Side::Old);
                let to = match function {
                    LinkFunction::Rename => self.solver.types.link(form, 0, Side::New),
                    LinkFunction::Follow => *node,
                };
                let ty = self.solver.types.function(old, to);
                self.bindings[binding.index()] = Scheme::monomorphic(ty);
            }
        }
    }

    /// Returns the type of a use of `f` or `d` in a group, which depends on its argument.
    pub fn infer_link_function(&mut self, id: ExpressionId, binding: BindingId) -> Option<Ty> {
        let (form, function) = *self.link_functions.get(&binding)?;
        if self.solver.forms[form as usize].nodes.len() < 2 {
            return None;
        }
        let span = self.source.span(id);
        let argument = self.solver.types.fresh(Constraint::DATA, span);
        let result = self.solver.types.fresh(Constraint::DATA, span);
        let demand = Demand::LinkFunction {
            form,
            function,
            argument,
            result,
        };
        self.solver.demand(demand, id, Because::Form);
        Some(self.solver.types.function(argument, result))
    }

    /// Infers the type of an `up`.
    pub fn infer_up(
        &mut self,
        id: ExpressionId,
        body: ExpressionId,
        links: &[(Pattern, ExpressionId)],
    ) -> Ty {
        let span = self.source.span(id);
        let result = self.solver.types.fresh(Constraint::DATA, span);
        let data: Vec<Ty> = links.iter().map(|(_, value)| self.infer(*value)).collect();
        let form = self.begin_form(id);
        let mut next = self.source.resolved.first_binding[id.0 as usize].0;
        let mut pairs = Vec::new();
        for ((pattern, _), datum) in links.iter().zip(data) {
            let link = self.solver.link_to(form, datum, pattern);
            let ty = self.infer_pattern(pattern, &mut next);
            let because = Because::Nodes { form: id };
            self.solver.expect_pattern(link, ty, pattern, &because);
            pairs.push((datum, link));
        }
        let made = self.infer(body);
        self.add_places(form, 0, body);
        let demand = Demand::Made {
            form,
            bodies: vec![made],
            links: pairs,
            result,
        };
        self.solver.demand(demand, id, Because::Form);
        self.solver.generalise(&[]);
        result
    }

    /// Infers the type of a `dn`.
    pub fn infer_down(&mut self, id: ExpressionId, datum: ExpressionId) -> Ty {
        let datum = self.infer(datum);
        let span = self.source.span(id);
        let node = self.solver.types.fresh(Constraint::DATA, span);
        self.solver
            .demand(Demand::Down { datum, node }, id, Because::Form);
        node
    }
}

impl crate::solver::Solver<'_> {
    /// Returns the type of the link of an `up` to a datum, as far as it is known.
    fn link_to(&mut self, form: u32, datum: Ty, pattern: &Pattern) -> Ty {
        if let Shallow::Node(TyNode::Sum(sum, _)) = self.types.shallow(datum) {
            let group = self.source.declarations.group(sum);
            if let Some(member) = group.iter().position(|member| *member == sum) {
                return self.types.link(form, member as u32, Side::New);
            }
        }
        self.types.fresh(Constraint::DATA, pattern.span)
    }
}
