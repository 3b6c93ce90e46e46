//! Messages about single forms: projections, `map`, types that stayed open.

use crate::clean::contains;
use crate::inference::Inference;
use crate::resolve::Resolution;
use crate::show::{Show, class_words};
use crate::solver::Solver;
use crate::source::Source;
use crate::types::{Shallow, SumDeclarationId, Ty, TyNode, TypeVariable};
use nova_diag::{Diagnostic, Severity, Span, codes};
use nova_syntax::ast::{ExpressionId, ExpressionKind};

impl Solver<'_> {
    /// Reports a projection from something that is no tuple.
    pub fn no_tuple(&mut self, at: ExpressionId, tuple: Ty, index: u32) {
        let shown = Show::new(&mut self.types, self.source.declarations).words(tuple);
        let span = operand_span(self.source, at);
        let message = format!("`.{index}` reads from a tuple, but this is {shown}");
        let mut diagnostic = Diagnostic::error(codes::TYPE_MISMATCH, span, message)
            .label(format!("this is {shown}"));
        let text = self.source.source_text(projected(self.source, at));
        if let (Shallow::Node(TyNode::Vector(_)), Some(text)) = (self.types.shallow(tuple), text) {
            diagnostic = diagnostic.help(format!("read an element with `({text} ! {index})`"));
        }
        self.diagnostics.push(diagnostic);
    }

    /// Reports `as_scalar` of a value that is not known to be a vector of `vec#n`.
    pub fn no_lanes(&mut self, at: ExpressionId, element: Ty) {
        let span = self.source.span(at);
        let diagnostic = match self.types.shallow(element) {
            Shallow::Unbound(_, unbound) if unbound.constraint.may_be_read() => {
                let message = "could not determine which `vec#n` this is a vector of";
                Diagnostic::error(codes::AMBIGUOUS_TYPE, span, message)
                    .help("annotate it: `(e : vector vec#4 float)`")
            }
            Shallow::Unbound(..) | Shallow::Node(_) => {
                let shown = Show::new(&mut self.types, self.source.declarations).words(element);
                let message = "`as_scalar` takes a vector of `vec#n`";
                Diagnostic::error(codes::TYPE_MISMATCH, span, message)
                    .label(format!("its elements are {shown}"))
                    .help("`(as_vector 4 X)` makes one")
            }
        };
        self.diagnostics.push(diagnostic);
    }

    /// Reports a projection beyond a tuple's elements.
    pub fn no_such_element(&mut self, at: ExpressionId, tuple: Ty, index: u32, count: usize) {
        let shown = self.show(tuple);
        let mut span = self.source.span(at);
        if let ExpressionKind::Project(_, _, index) = &self.source.program.expression(at).kind {
            span = *index;
        }
        let message = format!("a tuple of {count} elements has no element {index}");
        let tuple_span = operand_span(self.source, at);
        let diagnostic = Diagnostic::error(codes::BAD_TUPLE_INDEX, span, message)
            .label(format!(
                "elements count from 0 to {}",
                count.saturating_sub(1)
            ))
            .also(tuple_span, format!("this is `{shown}`"));
        self.diagnostics.push(diagnostic);
    }

    /// Reports a projection from something of unknown type.
    pub fn unknown_tuple(&mut self, at: ExpressionId, index: u32) {
        let used = operand_span(self.source, at);
        let operand = projected(self.source, at);
        let text = self.source.source_text(operand);
        let message = match &text {
            Some(text) => format!("could not determine the concrete type of `{text}`"),
            None => "could not determine the concrete type of this expression".to_string(),
        };
        let text = text.unwrap_or_else(|| "e".to_string());
        let count = (index as usize + 1).clamp(2, 8);
        let example = vec!["int"; count].join(", ");
        let needs = format!("`.{index}` needs to know how many elements this has");
        let diagnostic = match self.source.resolved.names[operand.0 as usize] {
            Resolution::Binding(binding) => {
                let bound = self.source.resolved.bindings[binding.index()].span;
                Diagnostic::error(codes::AMBIGUOUS_TYPE, bound, message)
                    .label("nothing says what this is")
                    .also(used, needs)
                    .help(format!("annotate it, as in `({text} : ({example}))`"))
            }
            _ => Diagnostic::error(codes::AMBIGUOUS_TYPE, used, message)
                .label(needs)
                .help(format!("annotate it, as in `({text} : ({example}))`")),
        };
        self.diagnostics.push(diagnostic);
    }

    /// Reports `map`, or one with a strategy, of something that takes no argument.
    pub fn map_of_no_function(
        &mut self,
        head: Option<ExpressionId>,
        at: ExpressionId,
        function: Ty,
    ) {
        let name = head.and_then(|head| self.source.name_of(head));
        let name = name.as_deref().unwrap_or("map");
        if self.types.is_error(function) {
            return;
        }
        let shown = Show::new(&mut self.types, self.source.declarations).words(function);
        let message = format!("`{name}` applies a function, but this is {shown}");
        let diagnostic = Diagnostic::error(codes::NOT_A_FUNCTION, self.source.span(at), message)
            .label(format!("this is {shown}"))
            .help(format!("the function comes first: `({name} f X)`"));
        self.diagnostics.push(diagnostic);
    }

    /// Reports variables that nothing determined, and annotation variables that are none.
    pub fn open_types(&mut self) {
        let undetermined: Vec<TypeVariable> = std::mem::take(&mut self.undetermined);
        let mut reported = std::collections::HashSet::new();
        for variable in undetermined {
            let Some(span) = self.types.origin(variable) else {
                continue;
            };
            if !reported.insert(span) || self.has_error_beside(span) {
                continue;
            }
            let text = self.source.sources.written(span);
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
            let name = text.unwrap_or("e");
            let help = match (class.scalars, self.source.declarations.constructor(name)) {
                (Some(_), _) => format!("annotate it: `({name} : int)`"),
                (None, Some((sum, _))) => self.annotated_constructor(span, name, sum),
                (None, None) => format!("annotate it: `({name} : vector int)`"),
            };
            let diagnostic = Diagnostic::error(codes::AMBIGUOUS_TYPE, span, message)
                .label(known)
                .help(help);
            self.diagnostics.push(diagnostic);
        }
    }

    /// Returns the help about a constructor whose sum has open arguments. The links of a node are
    /// those of the form around it; an annotation of the form's result tells the rest.
    fn annotated_constructor(&self, at: Span, name: &str, sum: u32) -> String {
        let declarations = self.source.declarations;
        let id = SumDeclarationId(sum);
        let example = |id: SumDeclarationId| {
            let arguments = " int".repeat(declarations.sum(id).parameters.len());
            format!("({}{arguments})", declarations.sum(id).name.text)
        };
        if !declarations.is_named(id) {
            return format!("annotate it, as in `({name} : …)`");
        }
        let around = self.forms.iter().rev();
        let mut around = around.filter(|form| contains(self.source.span(form.at), at));
        match (declarations.sum(id).node_of, around.next()) {
            (Some(of), Some(form)) => {
                let word = if form.is_up() {
                    "(up …)"
                } else {
                    "(foreach …)"
                };
                format!("annotate the result, as in `({word} : {})`", example(of))
            }
            (Some(_), None) | (None, _) => {
                format!("annotate it, as in `({name} : {})`", example(id))
            }
        }
    }

    /// True if the definition or entry around a place has an error. Types that are open in it are
    /// then probably open for that reason.
    fn has_error_beside(&self, place: Span) -> bool {
        let definitions = self.source.program.definitions.iter().map(|d| d.span);
        let bodies = self
            .source
            .program
            .entries
            .iter()
            .map(|e| self.source.span(e.body));
        let around = definitions
            .chain(bodies)
            .find(|item| contains(*item, place));
        let reported = self.diagnostics.iter().any(|diagnostic| {
            diagnostic.severity == Severity::Error
                && diagnostic.code != codes::AMBIGUOUS_TYPE
                && around.is_none_or(|item| contains(item, diagnostic.primary.span))
        });
        reported
            || has_unread(self.source, |span| {
                around.is_none_or(|item| contains(item, span))
            })
    }
}

fn operand_span(source: Source, at: ExpressionId) -> Span {
    source.span(projected(source, at))
}

/// Returns the expression that a projection reads from.
fn projected(source: Source, at: ExpressionId) -> ExpressionId {
    if let ExpressionKind::Project(tuple, _, _) = &source.program.expression(at).kind {
        return *tuple;
    }
    at
}

/// True where an expression at such a place could not be read, or a name refers to one.
fn has_unread(source: Source, at: impl Fn(Span) -> bool) -> bool {
    let names = &source.resolved.names;
    let expressions = source.program.arena.iter().zip(names);
    let mut expressions = expressions.filter(|(expression, _)| at(expression.span));
    expressions.any(|(expression, meaning)| match expression.kind {
        ExpressionKind::Wrong(_) => true,
        ExpressionKind::Name(_) => *meaning == Resolution::Unbound,
        _ => false,
    })
}

impl Inference<'_> {
    /// Warns of annotation variables that became concrete.
    pub fn concrete_annotations(&mut self) {
        for (name, ty, span) in std::mem::take(&mut self.annotation_variables) {
            if let Shallow::Node(node) = self.solver.types.shallow(ty)
                && node != TyNode::Error
            {
                let shown = self.solver.show(ty);
                let message = format!("the type variable `'{name}` became `{shown}`");
                let diagnostic =
                    Diagnostic::warning(codes::VARIABLE_BECAME_CONCRETE, span, message)
                        .label("this stands for one type only")
                        .help(format!("write `{shown}`"));
                self.solver.diagnostics.push(diagnostic);
            }
        }
    }
}
