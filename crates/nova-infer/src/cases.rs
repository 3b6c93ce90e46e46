//! The types of matches: the sum that each takes apart, and the check that every constructor has an
//! arm.

use crate::inference::Inference;
use crate::reasons::Because;
use crate::solver::Solver;
use crate::source::Source;
use crate::suggest::did_you_mean;
use crate::types::{Constraint, Shallow, SumDeclarationId, Ty, TyNode};
use nova_diag::{Diagnostic, Span, codes};
use nova_syntax::ast::{Arm, ExpressionId, ExpressionKind, Name};
use std::sync::Arc;

impl Inference<'_> {
    /// Infers the type of a match.
    pub fn infer_case(&mut self, id: ExpressionId, scrutinee: ExpressionId, arms: &[Arm]) -> Ty {
        let found = self.infer(scrutinee);
        let sum = self.sum_of_case(found, scrutinee, arms);
        if let Some((sum, _)) = &sum {
            self.solver.check_arms(id, *sum, arms);
        }
        let mut next = self.source.resolved.first_binding[id.0 as usize].0;
        let mut payloads = Vec::new();
        let mut result: Option<(Ty, ExpressionId)> = None;
        for arm in arms {
            let payload = self.arm_payload(sum.as_ref(), arm);
            payloads.push(payload);
            if let Some(pattern) = &arm.payload {
                let ty = self.infer_pattern(pattern, &mut next);
                let at = arm.constructor.as_ref().map_or(arm.span, |name| name.span);
                self.solver
                    .expect_pattern(payload, ty, pattern, &Because::Pattern { at });
            }
            let ty = self.infer(arm.body);
            match result {
                None => result = Some((ty, arm.body)),
                Some((first_type, first)) => {
                    self.solver
                        .expect(first_type, ty, arm.body, &Because::Arm { first });
                }
            }
        }
        self.payloads.insert(id, payloads);
        result.map_or(self.solver.types.error(), |(ty, _)| ty)
    }

    /// Returns the sum that a match takes apart, with its arguments.
    fn sum_of_case(
        &mut self,
        found: Ty,
        scrutinee: ExpressionId,
        arms: &[Arm],
    ) -> Option<(SumDeclarationId, Arc<[Ty]>)> {
        if let Shallow::Node(TyNode::Sum(sum, arguments)) = self.solver.types.shallow(found) {
            return Some((sum, arguments));
        }
        let names = arms.iter().filter_map(|arm| arm.constructor.as_ref());
        let known = |name: &Name| self.source.declarations.constructor(&name.text);
        let Some((name, (sum, _))) = names.clone().find_map(|name| Some((name, known(name)?)))
        else {
            for name in names {
                self.solver.unknown_constructor(name, None);
            }
            return None;
        };
        let origin = self.source.span(scrutinee);
        let parameters = self.source.declarations.sums[sum as usize].parameters.len();
        let arguments: Vec<Ty> = (0..parameters)
            .map(|_| self.solver.types.fresh(Constraint::DATA, origin))
            .collect();
        let sum = SumDeclarationId(sum);
        let expected = self.solver.types.sum(sum, arguments.clone());
        let because = Because::Scrutinee {
            arm: name.span,
            name: name.text.clone(),
        };
        self.solver.expect(expected, found, scrutinee, &because);
        Some((sum, arguments.into()))
    }

    fn arm_payload(&mut self, sum: Option<&(SumDeclarationId, Arc<[Ty]>)>, arm: &Arm) -> Ty {
        let constructor = arm.constructor.as_ref();
        let found = constructor.and_then(|name| self.source.declarations.constructor(&name.text));
        if let (Some((sum, arguments)), Some((of, index))) = (sum, found)
            && of == sum.0
        {
            let declaration = self.source.declarations.sum(*sum);
            let payload = declaration.constructors[index as usize].payload;
            return self
                .solver
                .types
                .substitute(payload, &declaration.parameters, arguments);
        }
        self.solver.types.error()
    }
}

impl Solver<'_> {
    /// Checks that each constructor of the sum has one arm, or that there is a default.
    fn check_arms(&mut self, id: ExpressionId, sum: SumDeclarationId, arms: &[Arm]) {
        let declaration = self.source.declarations.sum(sum);
        let mut seen: Vec<Option<Span>> = vec![None; declaration.constructors.len()];
        let mut default: Option<Span> = None;
        let mut known = true;
        for arm in arms {
            if is_lost(self.source, arm) {
                known = false;
                continue;
            }
            if let Some(default) = default {
                self.unreachable(arm.span, "the arm `_` before it takes everything", default);
                continue;
            }
            let Some(name) = &arm.constructor else {
                default = Some(arm.span);
                continue;
            };
            let meaning = self.source.declarations.constructor(&name.text);
            known &= meaning.is_some_and(|(of, _)| of == sum.0);
            match meaning {
                Some((of, index)) if of == sum.0 => match seen[index as usize] {
                    Some(first) => {
                        let text = format!("`{}` has an arm already", name.text);
                        self.unreachable(name.span, &text, first);
                    }
                    None => seen[index as usize] = Some(name.span),
                },
                Some((of, _)) => self.foreign_constructor(name, sum, of),
                None => self.unknown_constructor(name, Some(sum)),
            }
        }
        let missing: Vec<String> = declaration
            .constructors
            .iter()
            .zip(&seen)
            .filter(|(_, seen)| seen.is_none())
            .map(|(constructor, _)| format!("`{}`", constructor.name.text))
            .collect();
        match default {
            None if !missing.is_empty() && known => self.missing(id, sum, &missing),
            Some(default) if missing.is_empty() && arms.len() > 1 => {
                let message = "the arm `_` is never reached: every constructor has an arm";
                let diagnostic = Diagnostic::warning(codes::WRONG_CONSTRUCTOR, default, message);
                self.diagnostics.push(diagnostic);
            }
            None | Some(_) => {}
        }
    }

    fn unreachable(&mut self, span: Span, why: &str, first: Span) {
        let message = format!("this arm is never reached: {why}");
        let diagnostic = Diagnostic::error(codes::WRONG_CONSTRUCTOR, span, message)
            .label("never reached")
            .also(first, "the first");
        self.diagnostics.push(diagnostic);
    }

    fn missing(&mut self, id: ExpressionId, sum: SumDeclarationId, missing: &[String]) {
        let list = missing.join(", ");
        let name = &self.source.declarations.sum(sum).name;
        let shown = self.source.declarations.shown_name(sum);
        let message = format!("this `case` has no arm for {list}");
        let diagnostic =
            Diagnostic::error(codes::MISSING_CONSTRUCTOR, self.source.span(id), message)
                .label(format!("takes apart `{shown}`"))
                .also(name.span, "declared here")
                .help(format!("add an arm for {list}, or `(_ …)` for the rest"));
        self.diagnostics.push(diagnostic);
    }

    fn foreign_constructor(&mut self, name: &Name, sum: SumDeclarationId, of: u32) {
        let shown = self.source.declarations.shown_name(sum);
        let declared = &self.source.declarations.sum(sum).name;
        let other = self.source.declarations.shown_name(SumDeclarationId(of));
        let message = format!(
            "`{}` is a constructor of `{other}`, but this `case` takes apart `{shown}`",
            name.text
        );
        let (id, of) = (sum, SumDeclarationId(of));
        let help = match self.source.declarations.sum(id).node_of {
            Some(datum) if datum == of => Some(format!("this is a node: write `{}*`", name.text)),
            _ if self.source.declarations.sum(of).node_of == Some(id) => {
                let text = name.text.trim_end_matches('*');
                Some(format!("this is a datum: write `{text}`"))
            }
            Some(_) | None => None,
        };
        let diagnostic = Diagnostic::error(codes::WRONG_CONSTRUCTOR, name.span, message)
            .label(format!("belongs to `{other}`"))
            .also(declared.span, format!("`{shown}` is declared here"));
        let diagnostic = match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        };
        self.diagnostics.push(diagnostic);
    }

    fn unknown_constructor(&mut self, name: &Name, sum: Option<SumDeclarationId>) {
        if self.source.program.lost.may_hold(&name.text) {
            return;
        }
        if let Some(of) = self.source.declarations.sum_of_nodes_named(&name.text) {
            let place = (name.span, name.text.clone(), of);
            self.no_constructors.push(place);
            return;
        }
        let message = format!("`{}` is no constructor", name.text);
        let mut diagnostic = Diagnostic::error(codes::UNBOUND_NAME, name.span, message);
        let suggestion = match sum {
            Some(sum) => {
                let constructors = &self.source.declarations.sum(sum).constructors;
                let names = constructors.iter().map(|c| &*c.name.text);
                did_you_mean(&name.text, names)
            }
            None => did_you_mean(&name.text, self.source.declarations.constructor_names()),
        };
        if let Some(suggestion) = suggestion {
            diagnostic = diagnostic.help(format!("did you mean `{suggestion}`?"));
        } else if let Some(sum) = sum {
            let constructors = &self.source.declarations.sum(sum).constructors;
            let names: Vec<&str> = constructors.iter().map(|c| &*c.name.text).collect();
            diagnostic = diagnostic.help(format!("the constructors are {}", names.join(", ")));
        }
        self.diagnostics.push(diagnostic);
    }
}

/// True for an arm that could not be read.
fn is_lost(source: Source, arm: &Arm) -> bool {
    let body = &source.program.expression(arm.body).kind;
    arm.constructor.is_none() && matches!(body, ExpressionKind::Wrong(_))
}
