//! Messages about types that do not agree: both types, both places, and the likely mistake.

use crate::hints::Hints;
use crate::reasons::Because;
use crate::show::Show;
use crate::solver::Solver;
use crate::source::{Source, innermost};
use crate::types::{Shallow, Ty};
use crate::unify::Conflict;
use nova_diag::{Diagnostic, Span, codes};
use nova_syntax::ast::{ExpressionId, ExpressionKind};
use std::sync::Arc;

impl Solver<'_> {
    /// Returns a type as source.
    pub fn show(&mut self, ty: Ty) -> String {
        Show::new(&mut self.types, self.source.declarations).ty(ty)
    }

    /// Reports that the type found at an expression is not the expected one.
    pub fn mismatch(
        &mut self,
        expected: Ty,
        found: Ty,
        at: ExpressionId,
        because: &Because,
        conflict: Conflict,
    ) {
        let inner = innermost(self.source, at);
        let mut span = self.source.span(inner);
        // Either of two neighbours may be wrong.
        if let Because::Annotation { at: annotation } = because
            && inner == at
        {
            span = together(self.source, *annotation, span);
        } else if let Because::Operand { first, .. } = because {
            span = together(self.source, self.source.span(*first), self.source.span(at));
        }
        let at = inner;
        self.mismatch_at(expected, found, span, Some(at), because, conflict);
    }

    /// Reports that the type found at a place is not the expected one.
    pub fn mismatch_at(
        &mut self,
        expected: Ty,
        found: Ty,
        span: Span,
        at: Option<ExpressionId>,
        because: &Because,
        conflict: Conflict,
    ) {
        if let Conflict::Function(_) = conflict {
            let mut diagnostic = crate::convert::function_in_data(span);
            let mut hints = Hints::new(self.source, &mut self.types);
            if let Some(help) = at.and_then(|at| hints.hint_of_parameters(expected, found, at)) {
                diagnostic = diagnostic.help(help);
            }
            self.diagnostics.push(diagnostic);
            // The type that would hold the function causes no further messages.
            let error = self.types.error();
            let _ = self.types.unify(expected, error);
            return;
        }
        if self
            .recursive()
            .link_report([expected, found], span, at, because, conflict)
        {
            return;
        }
        let mut show = Show::new(&mut self.types, self.source.declarations);
        let (wanted, given) = (show.words(expected), show.words(found));
        let what = role(self.source, because);
        let (code, message, label) = match conflict {
            Conflict::Infinite(_) => {
                let (code, message) = self.infinite(because, at, &what);
                let label = format!("this is {given}, and must be {wanted}");
                (code, message, label)
            }
            Conflict::Class(..)
            | Conflict::Classes(..)
            | Conflict::Mismatch(..)
            | Conflict::Escape(..)
            | Conflict::Function(_) => {
                let (message, label) = sentence(because, &what, &wanted, &given);
                (self.mismatch_code(expected), message, label)
            }
        };
        let mut diagnostic = Diagnostic::error(code, span, message).label(label);
        if let Some((other, text)) = self.reason(because, &wanted) {
            diagnostic = diagnostic.also(other, text);
        }
        if !matches!(conflict, Conflict::Infinite(_))
            && let Some(help) =
                Hints::new(self.source, &mut self.types).help(expected, found, at, because)
        {
            diagnostic = diagnostic.help(help);
        }
        self.diagnostics.push(diagnostic);
    }

    /// Returns the code of a mismatch: one for an expected class of numbers, another one for an
    /// expected type.
    fn mismatch_code(&mut self, expected: Ty) -> nova_diag::Code {
        match self.types.shallow(expected) {
            Shallow::Unbound(_, unbound) if unbound.constraint.scalars.is_some() => {
                codes::WRONG_CLASS
            }
            Shallow::Unbound(..) | Shallow::Node(_) => codes::TYPE_MISMATCH,
        }
    }

    fn infinite(
        &mut self,
        because: &Because,
        at: Option<ExpressionId>,
        what: &str,
    ) -> (nova_diag::Code, String) {
        let recursive = if let Because::Argument { function, .. } = because {
            self.recursive_name(*function)
        } else if let Because::Recursion { name, .. } = because {
            Some(name.clone())
        } else {
            at.and_then(|at| self.recursive_name(at))
        };
        match recursive {
            Some(name) => (
                codes::POLYMORPHIC_RECURSION,
                format!("`{name}` calls itself at another type: it would need ever other types"),
            ),
            None => (
                codes::INFINITE_TYPE,
                format!("{what} would have a type that contains itself"),
            ),
        }
    }

    /// Returns the name of the function that an expression applies recursively.
    fn recursive_name(&self, id: ExpressionId) -> Option<Arc<str>> {
        use crate::resolve::Resolution;
        let mut id = id;
        while let ExpressionKind::Apply(function, _) = &self.source.program.expression(id).kind {
            id = *function;
        }
        let name = self.source.name_of(id)?;
        let recursive = match self.source.resolved.names[id.0 as usize] {
            Resolution::Binding(binding) => self.recursive.contains(&binding),
            Resolution::Definition(definition) => self.current_group.contains(&definition),
            _ => false,
        };
        recursive.then_some(name)
    }

    /// Returns the second place, and the text for it.
    fn reason(&mut self, because: &Because, wanted: &str) -> Option<(Span, String)> {
        Some(match because {
            Because::Argument { function, position } => {
                let text = match position {
                    1 => format!("its first argument must be {wanted}"),
                    2 => format!("its second argument must be {wanted}"),
                    3 => format!("its third argument must be {wanted}"),
                    _ => format!("argument {position} must be {wanted}"),
                };
                (self.source.span(*function), text)
            }
            Because::Operand { .. } => return None,
            Because::Branch { first } => (
                self.source.span(*first),
                format!("the other branch is {wanted}"),
            ),
            Because::Element { first } => (
                self.source.span(*first),
                format!("the first element is {wanted}"),
            ),
            Because::Annotation { at } => (*at, format!("annotated as {wanted}")),
            Because::Arm { first } => (
                self.source.span(*first),
                format!("the first arm is {wanted}"),
            ),
            Because::Scrutinee { arm, name } => {
                (*arm, format!("`{name}` is a constructor of {wanted}"))
            }
            Because::Pattern { at } => (*at, format!("its payload is {wanted}")),
            Because::Value { at } => (self.source.span(*at), format!("this is {wanted}")),
            Because::Nodes { form } => (
                self.source.span(*form),
                format!("its nodes or links here are {wanted}"),
            ),
            Because::Recursion { name, at } => {
                (*at, format!("inside itself, `{name}` is used as {wanted}"))
            }
            Because::Index { .. } | Because::Indexed | Because::Condition | Because::Form => {
                return None;
            }
        })
    }
}

/// Returns both spans when they stand on one line, else the second.
fn together(source: Source, other: Span, span: Span) -> Span {
    let both = other.to(span);
    let file = source.sources.source(both.file);
    let text = file.text.get(source.sources.byte_range(both));
    match text {
        Some(text) if !text.contains('\n') && !file.is_positions() => both,
        _ => span,
    }
}

/// Returns the role of the expression, as the subject of a sentence.
fn role(source: Source, because: &Because) -> String {
    match because {
        Because::Argument { function, position } => match source.name_of(*function) {
            Some(name) => format!("argument {position} of `{name}`"),
            None => format!("argument {position} of this function"),
        },
        Because::Operand { function, .. } => match source.name_of(*function) {
            Some(name) => format!("the operands of `{name}`"),
            None => "the operands".to_string(),
        },
        Because::Branch { .. } => "the branches of `if`".to_string(),
        Because::Condition => "the condition of `if`".to_string(),
        Because::Element { .. } => "the elements of a vector".to_string(),
        Because::Annotation { .. } => "the annotated expression".to_string(),
        Because::Arm { .. } => "the arms of a `case`".to_string(),
        Because::Scrutinee { .. } => "what this `case` takes apart".to_string(),
        Because::Pattern { .. } => "this pattern".to_string(),
        Because::Value { .. } => "this pattern".to_string(),
        Because::Index { rank: 1, .. } => "the index".to_string(),
        Because::Index { rank, .. } => format!("the index of a `vector#{rank}`"),
        Because::Indexed => "what `!` reads from".to_string(),
        Because::Recursion { name, .. } => format!("`{name}`"),
        Because::Nodes { .. } => "this pattern".to_string(),
        Because::Form => "this".to_string(),
    }
}

/// Returns the statement of the mistake, and the text beside the marker.
fn sentence(because: &Because, what: &str, wanted: &str, given: &str) -> (String, String) {
    match because {
        Because::Operand { .. } => (
            format!("{what} must have one type, but they are {wanted} and {given}"),
            format!("{wanted} and {given}"),
        ),
        Because::Branch { .. } | Because::Element { .. } | Because::Arm { .. } => (
            format!("{what} must have one type, but they are {wanted} and {given}"),
            format!("this is {given}"),
        ),
        Because::Value { .. } | Because::Pattern { .. } | Because::Nodes { .. } => (
            format!("{what} takes {given} apart, but the value is {wanted}"),
            format!("takes {given}"),
        ),
        _ => (
            format!("{what} must be {wanted}, but this is {given}"),
            format!("this is {given}"),
        ),
    }
}
