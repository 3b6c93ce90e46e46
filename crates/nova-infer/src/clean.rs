//! Which parts of a program have no errors, so that what only their translation shows is reported
//! beside the errors of the others.

use crate::inference::Inference;
use crate::resolve::Resolution;
use nova_diag::{Severity, Span};
use nova_syntax::ast::{ExpressionId, ExpressionKind};
use std::collections::HashSet;

/// The parts of a program without errors.
pub(crate) struct CleanParts {
    /// True where all errors are inside of definitions and entries.
    pub outside: bool,
    /// For each entry whether it and the definitions that it uses have none.
    pub entries: Vec<bool>,
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

impl Inference<'_> {
    /// Finds what can be translated.
    pub fn clean_parts(&self) -> CleanParts {
        let program = self.program;
        let errors = self.diagnostics.iter();
        let errors = errors.filter(|d| d.severity == Severity::Error);
        let errors: Vec<Span> = errors.map(|d| d.primary.span).collect();
        let all_clean = CleanParts {
            outside: true,
            entries: vec![true; program.entries.len()],
        };
        if errors.is_empty() && program.is_whole() {
            return all_clean;
        }
        let definitions = program.definitions.iter().map(|d| d.span);
        let items: Vec<Span> = definitions
            .chain(program.entries.iter().map(|e| e.span))
            .collect();
        let outside = errors
            .iter()
            .all(|at| items.iter().any(|item| contains(*item, *at)));
        let broken = |span: Span| errors.iter().any(|at| contains(span, *at));
        let definitions: Vec<bool> = program
            .definitions
            .iter()
            .map(|definition| !broken(definition.span) && self.is_read(&[definition.value]))
            .collect();
        let entries = program.entries.iter().map(|entry| {
            let used = self.used_definitions(entry.body);
            !broken(entry.span)
                && self.is_read(&[entry.body])
                && used.iter().all(|used| definitions[*used as usize])
        });
        CleanParts {
            outside: outside && !program.lost.any,
            entries: entries.collect(),
        }
    }

    /// True where all that expressions are made of could be read, and all their names are bound.
    fn is_read(&self, roots: &[ExpressionId]) -> bool {
        let mut read = true;
        self.walk(roots, |id| {
            let expression = &self.program.expression(id).kind;
            let unbound = matches!(expression, ExpressionKind::Name(_))
                && self.resolved.names[id.0 as usize] == Resolution::Unbound;
            read &= !unbound && !matches!(expression, ExpressionKind::Wrong(_));
        });
        read
    }

    /// The definitions that an expression uses, also by way of others.
    fn used_definitions(&self, root: ExpressionId) -> HashSet<u32> {
        let mut used = HashSet::new();
        let mut work = Vec::new();
        self.walk(&[root], |id| {
            if let Resolution::Definition(definition) = self.resolved.names[id.0 as usize] {
                work.push(definition);
            }
        });
        while let Some(definition) = work.pop() {
            if used.insert(definition) {
                work.extend(&self.resolved.dependencies[definition as usize]);
            }
        }
        used
    }

    /// Calls `visit` with expressions and all that they are made of.
    fn walk(&self, roots: &[ExpressionId], mut visit: impl FnMut(ExpressionId)) {
        let mut work = roots.to_vec();
        while let Some(id) = work.pop() {
            visit(id);
            match &self.program.expression(id).kind {
                ExpressionKind::Name(_)
                | ExpressionKind::Number(_)
                | ExpressionKind::Bool(_)
                | ExpressionKind::Nil
                | ExpressionKind::Text(_) => {}
                ExpressionKind::Vector(parts)
                | ExpressionKind::Tuple(parts)
                | ExpressionKind::Wrong(parts) => work.extend(parts),
                ExpressionKind::Apply(function, arguments) => {
                    work.push(*function);
                    work.extend(arguments);
                }
                ExpressionKind::Lambda { body, .. } => work.push(*body),
                ExpressionKind::Let { bindings, body } => {
                    work.extend(bindings.iter().map(|(_, value)| *value));
                    work.push(*body);
                }
                ExpressionKind::Mu { value, .. } => work.push(*value),
                ExpressionKind::If {
                    condition,
                    then,
                    otherwise,
                } => work.extend([*condition, *then, *otherwise]),
                ExpressionKind::Case { scrutinee, arms } => {
                    work.push(*scrutinee);
                    work.extend(arms.iter().map(|arm| arm.body));
                }
                ExpressionKind::Project(of, _, _) | ExpressionKind::Annotate(of, _) => {
                    work.push(*of);
                }
                ExpressionKind::Index(of, index) => work.extend([*of, *index]),
            }
        }
    }
}
