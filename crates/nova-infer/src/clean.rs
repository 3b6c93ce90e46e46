//! The parts of a program without errors. Errors that only their translation shows are reported
//! together with the errors of the others.

use crate::inference::Inference;
use crate::resolve::Resolution;
use crate::source::Source;
use crate::types::{Ty, TyNode, children};
use nova_diag::{Severity, Span};
use nova_syntax::ast::{ExpressionId, ExpressionKind};
use std::collections::HashSet;

/// The parts of a program without errors.
pub(crate) struct CleanParts {
    /// True where all errors are inside of the definitions of values and types, entries and foreign
    /// functions.
    pub outside: bool,
    /// For each entry, true if it and the definitions that it uses have none.
    pub entries: Vec<bool>,
}

/// True if a place is inside of another one, or is that one.
pub(crate) fn contains(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

impl Inference<'_> {
    /// Finds the parts that can be translated.
    pub fn clean_parts(&mut self) -> CleanParts {
        let program = self.source.program;
        let errors = self.solver.diagnostics.iter();
        let errors = errors.filter(|d| d.severity == Severity::Error);
        let errors: Vec<Span> = errors.map(|d| d.primary.span).collect();
        if errors.is_empty() && program.is_whole() {
            return CleanParts {
                outside: true,
                entries: vec![true; program.entries.len()],
            };
        }
        let definitions = program.definitions.iter().map(|d| d.span);
        let foreigns = program.foreigns.iter().map(|f| f.span);
        let items: Vec<Span> = definitions
            .chain(program.entries.iter().map(|e| e.span))
            .chain(foreigns)
            .chain(program.types.iter().map(|d| d.span))
            .collect();
        let outside = errors
            .iter()
            .all(|at| items.iter().any(|item| contains(*item, *at)));
        let broken = |span: Span| errors.iter().any(|at| contains(span, *at));
        let mut definitions = Vec::with_capacity(program.definitions.len());
        for definition in &program.definitions {
            let calls = self.calls(definition.value, &broken);
            let known = self.is_known(definition.value, &[]);
            definitions.push(!broken(definition.span) && !calls && known);
        }
        let mut entries = Vec::with_capacity(program.entries.len());
        for (entry, first) in program.entries.iter().zip(&self.source.resolved.inputs) {
            let inputs = &self.bindings[first.index()..][..entry.inputs.len()];
            let inputs: Vec<Ty> = inputs.iter().map(|input| input.ty).collect();
            let used = used_definitions(self.source, entry.body);
            let calls = self.calls(entry.body, &broken);
            let clean = !broken(entry.span) && !calls && self.is_known(entry.body, &inputs);
            entries.push(clean && used.iter().all(|used| definitions[*used as usize]));
        }
        CleanParts {
            outside: outside && !program.lost.any,
            entries,
        }
    }

    /// True where an expression names a foreign function whose declaration has an error.
    fn calls(&self, root: ExpressionId, broken: &impl Fn(Span) -> bool) -> bool {
        let mut found = false;
        walk(self.source, &[root], |id| {
            if let Resolution::Foreign(foreign) = self.source.resolved.names[id.0 as usize] {
                let declared = self.source.program.foreigns.get(foreign as usize);
                found |= declared.is_some_and(|foreign| broken(foreign.span));
            }
        });
        found
    }

    /// True where an expression could be read with all its subexpressions, all its names are bound,
    /// and neither the subexpressions nor `inputs` have the error type.
    fn is_known(&mut self, root: ExpressionId, inputs: &[Ty]) -> bool {
        let mut read = true;
        let mut types = inputs.to_vec();
        walk(self.source, &[root], |id| {
            let expression = &self.source.program.expression(id).kind;
            let unbound = matches!(expression, ExpressionKind::Name(_))
                && self.source.resolved.names[id.0 as usize] == Resolution::Unbound;
            read &= !unbound && !matches!(expression, ExpressionKind::Wrong(_));
            let ty = self.expressions[id.0 as usize];
            types.extend((ty != self.solver.types.unasked()).then_some(ty));
        });
        read && !self.holds_error(types)
    }

    /// True where types, or the payloads of their sums, contain the error type.
    fn holds_error(&mut self, mut work: Vec<Ty>) -> bool {
        self.solver.types.begin_walk();
        while let Some(ty) = work.pop() {
            let ty = self.solver.types.resolve(ty);
            if !self.solver.types.visit(ty) {
                continue;
            }
            match self.solver.types.node(ty) {
                TyNode::Error => return true,
                node @ TyNode::Sum(sum, _) => {
                    let constructors = &self.source.declarations.sum(*sum).constructors;
                    work.extend(constructors.iter().map(|constructor| constructor.payload));
                    work.extend(children(node));
                }
                node => work.extend(children(node)),
            }
        }
        false
    }
}

/// Returns the definitions that an expression uses, directly or through others.
fn used_definitions(source: Source, root: ExpressionId) -> HashSet<u32> {
    let mut used = HashSet::new();
    let mut work = Vec::new();
    walk(source, &[root], |id| {
        if let Resolution::Definition(definition) = source.resolved.names[id.0 as usize] {
            work.push(definition);
        }
    });
    while let Some(definition) = work.pop() {
        if used.insert(definition) {
            work.extend(&source.resolved.dependencies[definition as usize]);
        }
    }
    used
}

/// Calls `visit` with expressions and all their subexpressions.
fn walk(source: Source, roots: &[ExpressionId], mut visit: impl FnMut(ExpressionId)) {
    let mut work = roots.to_vec();
    while let Some(id) = work.pop() {
        visit(id);
        match &source.program.expression(id).kind {
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
            ExpressionKind::Foreach { datum, nodes, .. } => {
                work.push(*datum);
                work.extend(nodes.iter().map(|node| node.body));
            }
            ExpressionKind::Up { body, links } => {
                work.extend(links.iter().map(|(_, datum)| *datum));
                work.push(*body);
            }
            ExpressionKind::Down(datum) => work.push(*datum),
        }
    }
}
