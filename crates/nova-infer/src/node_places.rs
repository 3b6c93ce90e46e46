//! The places that messages about nodes and links point at: the parts of the payloads that bodies
//! give to constructors of nodes.

use crate::clean::contains;
use crate::declarations::variable_of;
use crate::inference::Inference;
use crate::links::Place;
use crate::reasons::Because;
use crate::resolve::Resolution;
use crate::show::Show;
use crate::solver::Recursive;
use crate::source::innermost;
use crate::types::LinkType;
use crate::types::{Shallow, Ty, TyNode};
use crate::unify::Conflict;
use nova_diag::{Diagnostic, Span, codes};
use nova_syntax::ast::{ExpressionId, ExpressionKind, Program};

/// Returns the expressions that give the value of an expression: its branches and arms.
fn given_by(program: &Program, root: ExpressionId) -> Vec<ExpressionId> {
    let mut found = Vec::new();
    let mut work = vec![root];
    while let Some(id) = work.pop() {
        match &program.expression(id).kind {
            ExpressionKind::Let { body, .. } => work.push(*body),
            ExpressionKind::Annotate(inner, _) => work.push(*inner),
            ExpressionKind::If {
                then, otherwise, ..
            } => work.extend([*otherwise, *then]),
            ExpressionKind::Case { arms, .. } => {
                work.extend(arms.iter().rev().map(|arm| arm.body));
            }
            _ => found.push(id),
        }
    }
    found
}

impl Inference<'_> {
    /// Records the parts of the payloads of the nodes that a body gives.
    pub fn add_places(&mut self, form: u32, body: usize, root: ExpressionId) {
        for id in given_by(self.source.program, root) {
            let ty = self.expressions[id.0 as usize];
            let given = &mut self.solver.forms[form as usize].given;
            given.push((body, id, ty));
            if let ExpressionKind::Apply(function, arguments) =
                &self.source.program.expression(id).kind
                && let [payload] = arguments.as_slice()
            {
                self.add_payload(form, body, *function, *payload);
            }
        }
    }

    /// Records the parts of the payload of a constructor.
    fn add_payload(
        &mut self,
        form: u32,
        body: usize,
        constructor: ExpressionId,
        payload: ExpressionId,
    ) {
        let Resolution::Constructor(sum, place) =
            self.source.resolved.names[constructor.0 as usize]
        else {
            return;
        };
        let node = crate::types::SumDeclarationId(sum);
        let declaration = self.source.declarations.sum(node);
        let Some(constructor) = declaration.constructors.get(place as usize) else {
            return;
        };
        let mut work = vec![(payload, constructor.payload)];
        while let Some((at, declared)) = work.pop() {
            if let ExpressionKind::Tuple(parts) = &self.source.program.expression(at).kind
                && let Shallow::Node(TyNode::Tuple(types)) = self.solver.types.shallow(declared)
                && parts.len() == types.len()
            {
                let parts = parts.iter().copied().zip(types.iter().copied());
                work.extend(parts.rev());
                continue;
            }
            let ty = self.expressions[at.0 as usize];
            self.solver.forms[form as usize].places.push(Place {
                body,
                at,
                ty,
                node,
                declared,
            });
        }
    }
}

impl Recursive<'_, '_> {
    /// Reports types that do not agree if links, or nodes and data, are the reason. Returns true if it
    /// is reported.
    pub(crate) fn link_report(
        &mut self,
        [expected, found]: [Ty; 2],
        span: Span,
        at: Option<ExpressionId>,
        because: &Because,
        conflict: Conflict,
    ) -> bool {
        if let Conflict::Escape(link, holder) = conflict {
            self.escape(link, span, holder);
            let error = self.solver.types.error();
            for ty in [expected, found] {
                let _ = self.solver.types.unify(error, ty);
            }
            return true;
        }
        if let Because::Branch { first } | Because::Arm { first } | Because::Element { first } =
            *because
            && let Some((wanted, given)) = self.first_is_wrong(first, expected, found)
        {
            let first = innermost(self.solver.source, first);
            let span = self.solver.source.span(first);
            let conflict = Conflict::Mismatch(given, wanted);
            return self.link_report(
                [found, expected],
                span,
                Some(first),
                &Because::Form,
                conflict,
            );
        }
        let is_known = at.is_some_and(|at| self.has_wrong_branch(at));
        let (wanted, given) = match conflict {
            Conflict::Mismatch(wanted, given) => (wanted, given),
            Conflict::Class(_, ty) => {
                let ty = self.solver.types.shallow(ty);
                return is_known && matches!(ty, Shallow::Node(TyNode::Link(_)));
            }
            Conflict::Infinite(_)
            | Conflict::Classes(..)
            | Conflict::Function(_)
            | Conflict::Escape(..) => return false,
        };
        let Some((code, message, help)) = self.link_mismatch(wanted, given, found) else {
            return false;
        };
        if is_known {
            return true;
        }
        if at.is_some_and(|at| self.follows_from_argument(at, code)) {
            return true;
        }
        if let Some(at) = at
            && self.is_renamed(wanted, given)
            && self.is_old_node(at, found)
        {
            self.old_node(at, found);
            return true;
        }
        let shown = Show::new(&mut self.solver.types, self.solver.source.declarations).words(found);
        let diagnostic = Diagnostic::error(code, span, message)
            .label(format!("this is {shown}"))
            .help(help);
        self.solver.diagnostics.push(diagnostic);
        true
    }

    /// True where a mistake about links and nodes in a branch or arm of an expression has been
    /// reported.
    fn has_wrong_branch(&self, at: ExpressionId) -> bool {
        let given = given_by(self.solver.source.program, at);
        given
            .iter()
            .any(|id| self.solver.link_mistakes.contains(id))
    }

    /// True if the first of two branches has the mistake: a number for a link, an old node for a new
    /// one, or a datum for a node in a form. Returns the parts in which their types differ.
    fn first_is_wrong(&mut self, at: ExpressionId, first: Ty, second: Ty) -> Option<(Ty, Ty)> {
        let (first, second) = self.solver.types.difference(first, second)?;
        let is_wrong = match (
            self.solver.types.shallow(first),
            self.solver.types.shallow(second),
        ) {
            (Shallow::Unbound(..), _) => true,
            (Shallow::Node(TyNode::Sum(datum, _)), Shallow::Node(TyNode::Sum(node, _))) => {
                let span = self.solver.source.span(at);
                let mut forms = self.solver.forms.iter();
                self.solver.source.declarations.sum(node).node_of == Some(datum)
                    && forms.any(|form| contains(self.solver.source.span(form.at), span))
            }
            _ => self.is_renamed(second, first),
        };
        is_wrong.then_some((first, second))
    }

    /// Returns the first part of a payload in a body that cannot stand in the node that the body
    /// must give, with the types that it must have and has.
    pub(crate) fn wrong_part(
        &mut self,
        form: u32,
        body: usize,
        wanted: Ty,
    ) -> Option<(ExpressionId, Ty, Ty)> {
        let Shallow::Node(TyNode::Sum(node, arguments)) = self.solver.types.shallow(wanted) else {
            return None;
        };
        let parameters = &self.solver.source.declarations.sum(node).parameters;
        for k in 0..self.solver.forms[form as usize].places.len() {
            let place = self.solver.forms[form as usize].places[k];
            if place.body != body || place.node != node {
                continue;
            }
            let wanted = self
                .solver
                .types
                .substitute(place.declared, parameters, &arguments);
            if self.solver.types.difference(wanted, place.ty).is_some() {
                return Some((place.at, wanted, place.ty));
            }
        }
        None
    }

    /// Returns the first expression that gives a node for a body and that certainly gives another
    /// type than the body must give.
    pub(crate) fn wrong_node(
        &mut self,
        form: u32,
        body: usize,
        wanted: Ty,
    ) -> Option<(ExpressionId, Ty)> {
        let given = self.solver.forms[form as usize].given.clone();
        let own = given.into_iter().filter(|(of, ..)| *of == body);
        let wrong = own.filter(|(.., ty)| self.solver.types.difference(wanted, *ty).is_some());
        let wrong: Vec<(usize, ExpressionId, Ty)> = wrong.collect();
        // A constructor without payload takes its links from the others.
        let cause = wrong.iter().find(|(_, at, _)| !self.is_constructed(*at));
        cause.or(wrong.first()).map(|(_, at, ty)| (*at, *ty))
    }

    /// True for a constructor, applied or not.
    fn is_constructed(&self, at: ExpressionId) -> bool {
        let head = match &self.solver.source.program.expression(at).kind {
            ExpressionKind::Apply(function, _) => *function,
            _ => at,
        };
        let meaning = self.solver.source.resolved.names[head.0 as usize];
        matches!(meaning, Resolution::Constructor(..))
    }

    /// True for a node with old links that the expression does not make.
    pub(crate) fn is_old_node(&mut self, at: ExpressionId, ty: Ty) -> bool {
        match self.solver.types.shallow(ty) {
            Shallow::Node(TyNode::Sum(sum, _)) => {
                let is_node = self.solver.source.declarations.sum(sum).node_of.is_some();
                is_node && !self.is_constructed(at)
            }
            Shallow::Node(_) | Shallow::Unbound(..) => false,
        }
    }

    /// True if a mistake about the node that an expression gives has been reported in a body.
    pub(crate) fn has_mistake(&self, form: u32, body: usize) -> bool {
        let given = self.solver.forms[form as usize].given.iter();
        let mut own = given.filter(|(of, ..)| *of == body);
        own.any(|(_, at, _)| self.solver.link_mistakes.contains(at))
    }

    /// Reports an old node that stands where a new one must.
    pub(crate) fn old_node(&mut self, at: ExpressionId, ty: Ty) {
        let shown = Show::new(&mut self.solver.types, self.solver.source.declarations).words(ty);
        let message = "this is an old node, which links to old nodes, where a new node must be";
        let diagnostic = Diagnostic::error(codes::WRONG_LINK, self.solver.source.span(at), message)
            .label(format!("this is {shown}"))
            .help("take the node apart, and make one whose links are renamed: `(case x … (Cons* (v, l) (Cons* (v, (f l)))))`");
        self.solver.diagnostics.push(diagnostic);
    }

    /// Reports a link that stands where the nodes of a form hold other data, so that the result
    /// would hold it.
    pub(crate) fn link_as_data(&mut self, form: u32, result: Ty, link: LinkType) {
        let declarations = self.solver.source.declarations;
        let known = self.solver.forms[form as usize].clone();
        let place = known.places.iter().find(|place| {
            let declaration = declarations.sum(place.node);
            let of = declaration.node_of.map(|of| declarations.sum(of));
            let own = of.map_or(0, |of| of.parameters.len());
            let variable = variable_of(&mut self.solver.types, place.declared);
            let is_link = declaration
                .parameters
                .iter()
                .skip(own)
                .any(|parameter| Some(*parameter) == variable);
            !is_link && self.solver.types.holds_link(place.ty, link)
        });
        let shown = Show::new(&mut self.solver.types, declarations).words(result);
        let word = match known.is_up() {
            true => "up",
            false => "foreach",
        };
        let message =
            format!("a link of this `{word}` stands as data in a node, so that it would leave it");
        let at = place.map_or(known.at, |place| place.at);
        let mut diagnostic =
            Diagnostic::error(codes::LINK_ESCAPES, self.solver.source.span(at), message)
                .label(format!("the result would be {shown}"))
                .help("a link can only stand where the node links to others; read what it leads to, or leave it out");
        if at != known.at {
            diagnostic = diagnostic.also(self.solver.source.span(known.at), "the form of the link");
        }
        self.solver.diagnostics.push(diagnostic);
    }
}
