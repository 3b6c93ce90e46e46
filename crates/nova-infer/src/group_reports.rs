//! Messages about the bodies of a `foreach` that do not fit the group of its types.

use crate::links::Instance;
use crate::solver::Recursive;
use crate::suggest::did_you_mean;
use crate::types::SumDeclarationId;
use nova_diag::{Diagnostic, Span, codes};
use nova_syntax::ast::{ExpressionId, Name, NodeBody};

impl Recursive<'_, '_> {
    /// Returns the member of the group of a datum for each body of a `foreach`. Reports names that
    /// are no members, and members without a body.
    pub(crate) fn members_of(
        &mut self,
        at: ExpressionId,
        instance: &Instance,
        bodies: &[NodeBody],
    ) -> Option<Vec<u32>> {
        let declarations = self.solver.source.declarations;
        let group = declarations.group(instance.sum);
        let position = |sum| group.iter().position(|member| *member == sum);
        let mut members = vec![position(instance.sum)? as u32];
        let mut whole = true;
        for name in bodies.iter().filter_map(|body| body.ty.as_ref()) {
            let member = declarations.sum_named(&name.text).and_then(position);
            match member.map(|member| member as u32) {
                Some(member) if !members.contains(&member) => members.push(member),
                Some(member) => {
                    let names = bodies.iter().filter_map(|body| body.ty.as_ref());
                    let mut same = names.filter(|other| other.text == name.text);
                    let first = same.next().map(|first| first.span);
                    let first = first.filter(|_| group[member as usize] != instance.sum);
                    if let Some(datum) = bodies.first() {
                        self.second_body(name, first, datum);
                    }
                    whole = false;
                }
                None => {
                    self.no_member(name, instance.sum, &group);
                    whole = false;
                }
            }
        }
        if whole && members.len() < group.len() {
            self.missing_bodies(at, instance.sum, &group, &members);
            whole = false;
        }
        whole.then_some(members)
    }

    /// Reports a type that has a body already. `first` is the body, and `None` for the first of
    /// all, which takes the nodes of the datum's type.
    fn second_body(&mut self, name: &Name, first: Option<Span>, datum: &NodeBody) {
        let (message, place) = match first {
            None => (
                format!(
                    "`{}` is the type of the datum, which has the first body",
                    name.text
                ),
                datum.pattern.span,
            ),
            Some(place) => (format!("`{}` has a body already", name.text), place),
        };
        let diagnostic = Diagnostic::error(codes::BAD_GROUP, name.span, message)
            .also(place, "the nodes of the type have this body")
            .help("leave out one of the two, with its body");
        self.solver.diagnostics.push(diagnostic);
    }

    fn no_member(&mut self, name: &Name, sum: SumDeclarationId, group: &[SumDeclarationId]) {
        let declarations = self.solver.source.declarations;
        if self.solver.source.program.lost.may_hold(&name.text) {
            return;
        }
        let datum = declarations.sum(sum);
        let message = format!(
            "`{}` has no nodes in this `foreach`: it and `{}` do not contain each other",
            name.text, datum.name.text
        );
        let others = group.iter().filter(|member| **member != sum);
        let others: Vec<&str> = others
            .map(|member| &*declarations.sum(*member).name.text)
            .collect();
        let mut diagnostic = Diagnostic::error(codes::BAD_GROUP, name.span, message)
            .also(datum.name.span, "the type of the datum");
        diagnostic = match (
            others.as_slice(),
            did_you_mean(&name.text, others.iter().copied()),
        ) {
            ([], _) => diagnostic.help(format!(
                "`{}` has no other types in its group: write `(foreach (x …) (f d) …)`",
                datum.name.text
            )),
            (_, Some(other)) => diagnostic.help(format!("did you mean `{other}`?")),
            (_, None) => diagnostic.help(format!("the other types are `{}`", others.join("`, `"))),
        };
        self.solver.diagnostics.push(diagnostic);
    }

    fn missing_bodies(
        &mut self,
        at: ExpressionId,
        sum: SumDeclarationId,
        group: &[SumDeclarationId],
        members: &[u32],
    ) {
        let declarations = self.solver.source.declarations;
        let missing = (0..group.len() as u32).filter(|member| !members.contains(member));
        let missing: Vec<String> = missing
            .map(|member| format!("`{}`", declarations.sum(group[member as usize]).name.text))
            .collect();
        let missing = missing.join(", ");
        let name = &declarations.sum(sum).name;
        let message = format!("this `foreach` has no body for the nodes of {missing}");
        let others: Vec<String> = group
            .iter()
            .filter(|member| **member != sum)
            .enumerate()
            .map(|(k, member)| format!(" (y{} {})", k + 1, declarations.sum(*member).name.text))
            .collect();
        let bodies = " …".repeat(group.len());
        let diagnostic = Diagnostic::error(codes::BAD_GROUP, self.solver.source.span(at), message)
            .label(format!("goes over `{}`", name.text))
            .also(name.span, "this type and the others contain each other")
            .help(format!(
                "give each type a body: `(foreach ((x …){}) (f d){bodies})`",
                others.concat()
            ));
        self.solver.diagnostics.push(diagnostic);
    }

    /// Reports bodies that do not make the nodes of one group.
    pub(crate) fn other_group(
        &mut self,
        at: ExpressionId,
        sums: &[SumDeclarationId],
        missing: SumDeclarationId,
    ) {
        let declarations = self.solver.source.declarations;
        let name = |sum: &SumDeclarationId| format!("`{}`", declarations.sum(*sum).name.text);
        let made: Vec<String> = sums.iter().map(name).collect();
        let message = match sums {
            [one] => format!(
                "the body makes nodes of {}, which link to nodes of {} too",
                name(one),
                name(&missing)
            ),
            [first, others @ ..] if others.iter().all(|sum| sum == first) => {
                format!("all bodies make nodes of {}", name(first))
            }
            _ => format!(
                "the bodies make nodes of {}, not of one group of types",
                made.join(", ")
            ),
        };
        let declared = &declarations.sum(missing).name;
        let diagnostic = Diagnostic::error(codes::BAD_GROUP, self.solver.source.span(at), message)
            .also(declared.span, "the types of this group contain each other")
            .help("each body makes the nodes of another type of one group, and the group has no more types");
        self.solver.diagnostics.push(diagnostic);
    }
}
