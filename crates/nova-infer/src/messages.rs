//! What is said about types that do not agree: both types, both places, and the likely mistake.

use crate::inference::Inference;
use crate::show::{Show, class_words};
use crate::types::{Shallow, Ty, TyNode, TypeVariable};
use crate::unify::Conflict;
use nova_core::Scalar;
use nova_diag::{Diagnostic, Span, codes};
use nova_syntax::ast::{ExpressionId, ExpressionKind, NumberValue};
use std::sync::Arc;

/// Why a type is expected.
#[derive(Clone, Debug)]
pub(crate) enum Because {
    /// The k-th argument (from 1) of a function.
    Argument {
        function: ExpressionId,
        position: usize,
    },
    /// The other branch of a conditional.
    Branch { first: ExpressionId },
    /// A condition.
    Condition,
    /// The first element of a vector.
    Element { first: ExpressionId },
    /// An annotation.
    Annotation { at: Span },
    /// The first arm of a case.
    Arm { first: ExpressionId },
    /// The arms of a case.
    Scrutinee { arm: Span, name: Arc<str> },
    /// A pattern.
    Pattern { at: Span },
    /// An index of a vector or `vector#n`.
    Index { rank: u32 },
    /// What is indexed.
    Indexed,
    /// The type that a recursive function has where it is used in its own body.
    Recursion { name: Arc<str>, at: Span },
    /// The form itself.
    Form,
}

impl Inference<'_> {
    /// A type as source.
    pub fn show(&mut self, ty: Ty) -> String {
        Show::new(&mut self.types, self.declarations).ty(ty)
    }

    /// The source text of an expression, when it is short.
    pub fn source_text(&self, id: ExpressionId) -> Option<String> {
        let span = self.span(id);
        let range = self.sources.byte_range(span);
        let text = self.sources.source(span.file).text.get(range)?;
        let short = !text.is_empty() && text.len() <= 30 && !text.contains('\n');
        short.then(|| text.to_string())
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
        let at = self.innermost(at);
        let span = self.span(at);
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
            let diagnostic = crate::convert::function_in_data(span);
            self.diagnostics.push(diagnostic);
            return;
        }
        let mut show = Show::new(&mut self.types, self.declarations);
        let (wanted, given) = (show.words(expected), show.words(found));
        let what = self.role(because);
        let (code, message) = match conflict {
            Conflict::Infinite(_) => self.infinite(because, at, &what),
            Conflict::Class(..)
            | Conflict::Classes(..)
            | Conflict::Mismatch(..)
            | Conflict::Function(_) => {
                let class = matches!(
                    self.types.shallow(expected),
                    Shallow::Unbound(_, unbound) if unbound.constraint.scalars.is_some()
                );
                let code = if class {
                    codes::WRONG_CLASS
                } else {
                    codes::TYPE_MISMATCH
                };
                (
                    code,
                    format!("{what} must be {wanted}, but this is {given}"),
                )
            }
        };
        let mut diagnostic =
            Diagnostic::error(code, span, message).label(format!("this is {given}"));
        if let Conflict::Infinite(_) = conflict {
            diagnostic = diagnostic.label(format!("this is {given}, and must be {wanted}"));
        }
        if let Some((other, text)) = self.reason(because, &wanted) {
            diagnostic = diagnostic.also(other, text);
        }
        if let Some(help) = at.and_then(|at| self.hint(expected, found, at)) {
            diagnostic = diagnostic.help(help);
        }
        self.diagnostics.push(diagnostic);
    }

    /// Looks through lets and annotations to the expression that gives the value.
    fn innermost(&self, mut at: ExpressionId) -> ExpressionId {
        while let ExpressionKind::Let { body, .. } = &self.program.expression(at).kind {
            at = *body;
        }
        at
    }

    fn infinite(
        &mut self,
        because: &Because,
        at: Option<ExpressionId>,
        what: &str,
    ) -> (nova_diag::Code, String) {
        let recursive = match because {
            Because::Argument { function, .. } => self.recursive_name(*function),
            Because::Recursion { name, .. } => Some(name.clone()),
            _ => at.and_then(|at| self.recursive_name(at)),
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

    /// The name of the function that an expression applies recursively.
    fn recursive_name(&self, id: ExpressionId) -> Option<Arc<str>> {
        use crate::resolve::Resolution;
        match &self.program.expression(id).kind {
            ExpressionKind::Name(name) => match self.resolved.names[id.0 as usize] {
                Resolution::Binding(binding) => {
                    self.recursive.contains(&binding).then(|| name.clone())
                }
                Resolution::Definition(definition) => self
                    .current_group
                    .contains(&definition)
                    .then(|| name.clone()),
                Resolution::Unbound
                | Resolution::Builtin(_)
                | Resolution::Constructor(..)
                | Resolution::Foreign(_) => None,
            },
            ExpressionKind::Apply(function, _) => self.recursive_name(*function),
            _ => None,
        }
    }

    /// What the expression is, as the subject of a sentence.
    fn role(&self, because: &Because) -> String {
        match because {
            Because::Argument { function, position } => match self.name_of(*function) {
                Some(name) => format!("argument {position} of `{name}`"),
                None => format!("argument {position} of this function"),
            },
            Because::Branch { .. } => "both branches of `if`".to_string(),
            Because::Condition => "the condition of `if`".to_string(),
            Because::Element { .. } => "every element of a vector".to_string(),
            Because::Annotation { .. } => "the annotated expression".to_string(),
            Because::Arm { .. } => "every arm of a `case`".to_string(),
            Because::Scrutinee { .. } => "what this `case` takes apart".to_string(),
            Because::Pattern { .. } => "what this pattern takes apart".to_string(),
            Because::Index { rank: 1, .. } => "the index".to_string(),
            Because::Index { rank, .. } => format!("the index of a `vector#{rank}`"),
            Because::Indexed => "what `!` reads from".to_string(),
            Because::Recursion { name, .. } => format!("`{name}`"),
            Because::Form => "this".to_string(),
        }
    }

    /// The second place, and what is there.
    fn reason(&mut self, because: &Because, wanted: &str) -> Option<(Span, String)> {
        Some(match because {
            Because::Argument { function, position } => {
                let text = match position {
                    1 => format!("its first argument must be {wanted}"),
                    2 => format!("its second argument must be {wanted}"),
                    3 => format!("its third argument must be {wanted}"),
                    _ => format!("argument {position} must be {wanted}"),
                };
                (self.span(*function), text)
            }
            Because::Branch { first } => {
                (self.span(*first), format!("the other branch is {wanted}"))
            }
            Because::Element { first } => {
                (self.span(*first), format!("the first element is {wanted}"))
            }
            Because::Annotation { at } => (*at, format!("annotated as {wanted}")),
            Because::Arm { first } => (self.span(*first), format!("the first arm is {wanted}")),
            Because::Scrutinee { arm, name } => {
                (*arm, format!("`{name}` is a constructor of {wanted}"))
            }
            Because::Pattern { at } => (*at, format!("this pattern takes {wanted}")),
            Because::Recursion { name, at } => {
                (*at, format!("inside itself, `{name}` is used as {wanted}"))
            }
            Because::Index { .. } | Because::Indexed | Because::Condition | Because::Form => {
                return None;
            }
        })
    }

    /// The name of an expression that is one.
    pub fn name_of(&self, id: ExpressionId) -> Option<Arc<str>> {
        match &self.program.expression(id).kind {
            ExpressionKind::Name(name) => Some(name.clone()),
            _ => None,
        }
    }

    /// The operand of an indexing expression that is the index.
    pub fn index_operand(&self, id: ExpressionId) -> ExpressionId {
        match &self.program.expression(id).kind {
            ExpressionKind::Index(_, index) => *index,
            _ => id,
        }
    }

    /// The likely mistake.
    fn hint(&mut self, expected: Ty, found: Ty, at: ExpressionId) -> Option<String> {
        let text = self.source_text(at).unwrap_or_else(|| "…".to_string());
        if let Some(hint) = self.scalar_hint(expected, found, at, &text) {
            return Some(hint);
        }
        let (missing, result, _) = self.types.peel(found);
        let (taken, _, _) = self.types.peel(expected);
        if missing.len() > taken.len() && self.similar(expected, result) {
            let count = missing.len() - taken.len();
            let arguments = match count {
                1 => "an argument seems".to_string(),
                _ => format!("{count} arguments seem"),
            };
            return Some(format!(
                "{arguments} to be missing: this is still a function"
            ));
        }
        self.sum_hint(expected, found, &text)
            .or_else(|| self.vector_hint(expected, found, &text))
    }

    fn scalar_hint(
        &mut self,
        expected: Ty,
        found: Ty,
        at: ExpressionId,
        text: &str,
    ) -> Option<String> {
        let wanted = self.nearest_scalar(expected)?;
        let given = self.nearest_scalar(found)?;
        if wanted == given {
            return None;
        }
        if let ExpressionKind::Number(number) = &self.program.expression(at).kind {
            return match (&number.value, wanted.is_float()) {
                (NumberValue::Integer(Some(value)), true) => Some(format!("write `{value}.0`")),
                (NumberValue::Integer(Some(value)), false) if wanted != Scalar::Bool => {
                    Some(format!("write `{value}`"))
                }
                (NumberValue::Decimal(_), false) if wanted != Scalar::Bool => {
                    Some("write an integer, or convert the other operand".to_string())
                }
                _ => None,
            };
        }
        if wanted == Scalar::Bool {
            return Some(format!("compare it, as in `(~= {text} 0)`"));
        }
        let name = wanted.info().name;
        let truncates = match given.is_float() && wanted.is_integer() {
            true => ", which truncates",
            false => "",
        };
        Some(format!("convert it with `(to_{name} {text})`{truncates}"))
    }

    /// The scalar that a type is, or the default of its class.
    fn nearest_scalar(&mut self, ty: Ty) -> Option<Scalar> {
        match self.types.shallow(ty) {
            Shallow::Node(TyNode::Scalar(scalar)) => Some(scalar),
            Shallow::Unbound(_, unbound) => unbound.constraint.default_scalar(),
            Shallow::Node(_) => None,
        }
    }

    fn sum_hint(&mut self, expected: Ty, found: Ty, text: &str) -> Option<String> {
        if let Some(name) = self.constructor_of(expected, found) {
            return Some(format!("wrap it: `({name} {text})`"));
        }
        let name = self.constructor_of(found, expected)?;
        Some(format!(
            "take the value out: `(case {text} ({name} x …) …)`"
        ))
    }

    /// The constructor of the sum `outer` whose payload `inner` could be.
    fn constructor_of(&mut self, outer: Ty, inner: Ty) -> Option<Arc<str>> {
        let Shallow::Node(TyNode::Sum(sum, arguments)) = self.types.shallow(outer) else {
            return None;
        };
        let declaration = self.declarations.sum(sum);
        for constructor in &declaration.constructors {
            if !constructor.constant {
                let payload =
                    self.types
                        .substitute(constructor.payload, &declaration.parameters, &arguments);
                if self.similar(payload, inner) {
                    return Some(constructor.name.text.clone());
                }
            }
        }
        None
    }

    fn vector_hint(&mut self, expected: Ty, found: Ty, text: &str) -> Option<String> {
        match (self.types.shallow(expected), self.types.shallow(found)) {
            (Shallow::Node(TyNode::Vector(_)), Shallow::Node(TyNode::Array(..))) => {
                Some(format!("view it as a vector of rows: `(rows {text})`"))
            }
            (Shallow::Node(TyNode::Array(2, _)), Shallow::Node(TyNode::Vector(row)))
                if matches!(self.types.shallow(row), Shallow::Node(TyNode::Vector(_))) =>
            {
                Some(format!("make it rectangular: `(unrows {text})`"))
            }
            (Shallow::Node(TyNode::Vector(element)), Shallow::Node(_))
                if self.similar(element, found) =>
            {
                Some(format!("a vector of one element is written `[{text}]`"))
            }
            (_, Shallow::Node(TyNode::Vector(element))) if self.similar(expected, element) => {
                Some(format!("read an element with `({text} ! 0)`"))
            }
            _ => None,
        }
    }

    /// Whether two types could be equal, as far as their outermost part tells.
    fn similar(&mut self, a: Ty, b: Ty) -> bool {
        match (self.types.shallow(a), self.types.shallow(b)) {
            (Shallow::Unbound(_, a), Shallow::Unbound(_, b)) => {
                a.constraint.scalars.is_some() && a.constraint.and(b.constraint).is_some()
            }
            (Shallow::Unbound(_, unbound), Shallow::Node(TyNode::Scalar(scalar)))
            | (Shallow::Node(TyNode::Scalar(scalar)), Shallow::Unbound(_, unbound)) => unbound
                .constraint
                .scalars
                .is_some_and(|scalars| scalars.contains(scalar)),
            (Shallow::Unbound(..), _) | (_, Shallow::Unbound(..)) => false,
            (Shallow::Node(TyNode::Tuple(a)), Shallow::Node(TyNode::Tuple(b))) => {
                a.len() == b.len()
            }
            (Shallow::Node(TyNode::Sum(a, _)), Shallow::Node(TyNode::Sum(b, _))) => a == b,
            (Shallow::Node(TyNode::Vector(a)), Shallow::Node(TyNode::Vector(b))) => {
                nova_diag::deep(|| self.similar(a, b))
            }
            (Shallow::Node(a), Shallow::Node(b)) => a == b && a != TyNode::Error,
        }
    }
}

/// Messages about single forms.
impl Inference<'_> {
    /// A projection from something that is no tuple.
    pub fn no_tuple(&mut self, at: ExpressionId, tuple: Ty, index: u32) {
        let shown = Show::new(&mut self.types, self.declarations).words(tuple);
        let span = self.operand_span(at);
        let message = format!("`.{index}` reads from a tuple, but this is {shown}");
        let mut diagnostic = Diagnostic::error(codes::TYPE_MISMATCH, span, message)
            .label(format!("this is {shown}"));
        let text = match &self.program.expression(at).kind {
            ExpressionKind::Project(tuple, _, _) => self.source_text(*tuple),
            _ => None,
        };
        if let (Shallow::Node(TyNode::Vector(_)), Some(text)) = (self.types.shallow(tuple), text) {
            diagnostic = diagnostic.help(format!("read an element with `({text} ! {index})`"));
        }
        self.diagnostics.push(diagnostic);
    }

    /// A projection beyond a tuple's elements.
    pub fn no_such_element(&mut self, at: ExpressionId, tuple: Ty, index: u32, count: usize) {
        let shown = self.show(tuple);
        let span = match &self.program.expression(at).kind {
            ExpressionKind::Project(_, _, span) => *span,
            _ => self.span(at),
        };
        let message = format!("a tuple of {count} elements has no element {index}");
        let tuple_span = self.operand_span(at);
        let diagnostic = Diagnostic::error(codes::BAD_TUPLE_INDEX, span, message)
            .label(format!(
                "elements count from 0 to {}",
                count.saturating_sub(1)
            ))
            .also(tuple_span, format!("this is `{shown}`"));
        self.diagnostics.push(diagnostic);
    }

    /// A projection from something of which nothing is known.
    pub fn unknown_tuple(&mut self, at: ExpressionId, index: u32) {
        let span = self.operand_span(at);
        let operand = match &self.program.expression(at).kind {
            ExpressionKind::Project(tuple, _, _) => *tuple,
            _ => at,
        };
        let text = self.source_text(operand).unwrap_or_default();
        let message = format!("could not determine the concrete type of `{text}`");
        let example: Vec<&str> = ["int"; 8]
            .into_iter()
            .cycle()
            .take((index as usize + 1).clamp(2, 8))
            .collect();
        let example = example.join(", ");
        let help = format!("annotate it where it is bound, as in `({text} : ({example}))`");
        let diagnostic = Diagnostic::error(codes::AMBIGUOUS_TYPE, span, message)
            .label(format!(
                "`.{index}` needs to know how many elements this has"
            ))
            .help(help);
        self.diagnostics.push(diagnostic);
    }

    fn operand_span(&self, at: ExpressionId) -> Span {
        match &self.program.expression(at).kind {
            ExpressionKind::Project(tuple, _, _) => self.span(*tuple),
            _ => self.span(at),
        }
    }

    /// `map` of something that takes no argument.
    pub fn map_of_no_function(&mut self, at: ExpressionId, function: Ty) {
        if self.types.is_error(function) {
            return;
        }
        let shown = Show::new(&mut self.types, self.declarations).words(function);
        let message = format!("`map` applies a function, but this is {shown}");
        let diagnostic = Diagnostic::error(codes::NOT_A_FUNCTION, self.span(at), message)
            .label(format!("this is {shown}"))
            .help("the function comes first: `(map f X)`");
        self.diagnostics.push(diagnostic);
    }

    /// Variables that nothing determined, and annotation variables that are none.
    pub fn open_types(&mut self) {
        let undetermined: Vec<TypeVariable> = std::mem::take(&mut self.undetermined);
        let mut reported = std::collections::HashSet::new();
        for variable in undetermined {
            let Some(span) = self.types.origin(variable) else {
                continue;
            };
            if !reported.insert(span) {
                continue;
            }
            let range = self.sources.byte_range(span);
            let text = self.sources.source(span.file).text.get(range);
            let text = text.filter(|text| text.len() <= 30 && !text.contains('\n'));
            let message = match text {
                Some(text) => format!("could not determine the concrete type of `{text}`"),
                None => "could not determine the concrete type of this expression".to_string(),
            };
            let class = self.types.constraint(variable);
            let known = match class.scalars {
                Some(_) => format!("known is only that it is {}", class_words(class)),
                None => "nothing here says what it is".to_string(),
            };
            let diagnostic = Diagnostic::error(codes::AMBIGUOUS_TYPE, span, message)
                .label(known)
                .help("annotate it with its type: `(e : vector int)`");
            self.diagnostics.push(diagnostic);
        }
    }

    /// Warns of annotation variables that became concrete.
    pub fn concrete_annotations(&mut self) {
        for (name, ty, span) in std::mem::take(&mut self.annotation_variables) {
            if let Shallow::Node(node) = self.types.shallow(ty)
                && node != TyNode::Error
            {
                let shown = self.show(ty);
                let message = format!("the type variable `'{name}` became `{shown}`");
                let diagnostic =
                    Diagnostic::warning(codes::VARIABLE_BECAME_CONCRETE, span, message)
                        .label("this stands for one type only")
                        .help(format!("write `{shown}`"));
                self.diagnostics.push(diagnostic);
            }
        }
    }
}
