//! Warnings about programs without errors: names that nothing uses, and what is allowed but probably not
//! meant.

use crate::resolve::{Resolution, count_names};
use crate::source::{Source, spine};
use nova_diag::{Diagnostic, Span, codes};
use nova_syntax::ast::{ExpressionId, ExpressionKind, NumberValue, Pattern, PatternKind};
use std::collections::HashSet;

/// Comparisons and operations whose operands cannot change places. With one operand they are often written
/// the wrong way round.
const ORDERED: &[&str] = &["<", "<=", ">", ">=", "-", "/"];

/// Returns the warnings about a program. Parts that a front end has placed in files of its own get none.
pub(crate) fn warnings(source: Source) -> Vec<Diagnostic> {
    let mut lints = Lints {
        source,
        found: Vec::new(),
    };
    for (index, expression) in source.program.arena.iter().enumerate() {
        if source.sources.written(expression.span).is_some() {
            lints.expression(ExpressionId(index as u32));
        }
    }
    lints.unused();
    lints.found
}

struct Lints<'a> {
    source: Source<'a>,
    found: Vec<Diagnostic>,
}

impl Lints<'_> {
    fn warn(&mut self, at: ExpressionId, message: String, help: String) {
        let span = self.source.span(at);
        let diagnostic = Diagnostic::warning(codes::SUSPICIOUS, span, message).help(help);
        self.found.push(diagnostic);
    }

    fn expression(&mut self, id: ExpressionId) {
        match &self.source.program.expression(id).kind {
            ExpressionKind::Apply(..) => self.call(id),
            ExpressionKind::Index(collection, index) => self.index(*collection, *index),
            _others => {}
        }
    }

    /// Returns the name of a built-in that an expression is.
    fn builtin(&self, id: ExpressionId) -> Option<&'static str> {
        let builtin = self.source.builtin_named(id)?;
        Some(builtin.get().name.as_str())
    }

    fn call(&mut self, id: ExpressionId) {
        let (head, arguments) = spine(self.source.program, self.source.resolved, id);
        let Some(name) = self.builtin(head) else {
            return;
        };
        for argument in &arguments {
            self.section(*argument);
        }
        match (name, arguments.as_slice()) {
            ("sort", [order, ..]) => self.order_of_sort(*order),
            ("range", [begin, step, end]) => self.range(id, [*begin, *step, *end]),
            _others => {}
        }
    }

    /// Looks at a function such as `(> 0)`.
    fn section(&mut self, id: ExpressionId) {
        let ExpressionKind::Apply(operator, operands) = &self.source.program.expression(id).kind
        else {
            return;
        };
        let (Some(operator), [operand]) = (self.builtin(*operator), operands.as_slice()) else {
            return;
        };
        let Some(operand) = self.source.source_text(*operand) else {
            return;
        };
        if ORDERED.contains(&operator) {
            let message = format!("this is `({operator} {operand} a)` for an element `a`");
            let help = format!(
                "write `(lambda (a) ({operator} a {operand}))`, or `(lambda (a) ({operator} {operand} a))` \
                 if that is meant"
            );
            self.warn(id, message, help);
        }
    }

    fn order_of_sort(&mut self, order: ExpressionId) {
        let operator = match &self.source.program.expression(order).kind {
            ExpressionKind::Name(_) => self.builtin(order),
            ExpressionKind::Lambda { body, .. } => {
                match &self.source.program.expression(*body).kind {
                    ExpressionKind::Apply(operator, operands) if operands.len() == 2 => {
                        self.builtin(*operator)
                    }
                    _others => None,
                }
            }
            _others => None,
        };
        if let Some(operator @ ("<" | ">")) = operator {
            let message =
                "equal elements change places: `sort` asks whether one may stand before another";
            self.warn(order, message.to_string(), format!("write `{operator}=`"));
        }
    }

    fn range(&mut self, id: ExpressionId, arguments: [ExpressionId; 3]) {
        let numbers = arguments.map(|argument| self.integer(argument));
        if let [Some(begin), Some(step), Some(end)] = numbers
            && begin < end
            && end < step
        {
            let message = "this range has one element: its second argument is the step";
            let help = format!("write `(range {begin} {end} {step})`");
            self.warn(id, message.to_string(), help);
        }
    }

    fn index(&mut self, collection: ExpressionId, index: ExpressionId) {
        let Some(number) = self.integer(index).filter(|number| *number < 0) else {
            return;
        };
        let of = self.source.source_text(collection);
        let of = of.unwrap_or_else(|| "X".to_string());
        let message = "no element has an index below zero".to_string();
        let help = format!(
            "write `({of} ! (- (length {of}) {}))`",
            number.unsigned_abs()
        );
        self.warn(index, message, help);
    }

    fn integer(&self, id: ExpressionId) -> Option<i128> {
        let ExpressionKind::Number(number) = &self.source.program.expression(id).kind else {
            return None;
        };
        match &number.value {
            NumberValue::Integer(value) => *value,
            NumberValue::Decimal(_) => None,
        }
    }

    /// Looks for values of `let` that nothing mentions. Definitions may be meant for files that import this one.
    fn unused(&mut self) {
        let names = self.source.resolved.names.iter();
        let bindings: HashSet<u32> = names
            .filter_map(|meaning| match meaning {
                Resolution::Binding(binding) => Some(binding.0),
                Resolution::Unbound
                | Resolution::Definition(_)
                | Resolution::Builtin(_)
                | Resolution::Constructor(..)
                | Resolution::Foreign(_) => None,
            })
            .collect();
        let program = self.source.program;
        for (index, expression) in program.arena.iter().enumerate() {
            let ExpressionKind::Let { bindings: list, .. } = &expression.kind else {
                continue;
            };
            let mut binding = self.source.resolved.first_binding[index].0;
            for (pattern, value) in list {
                let names = count_names(pattern);
                let is_used = (binding..binding + names).any(|b| bindings.contains(&b));
                binding += names;
                if !is_used && !self.source.names_builtin(*value) {
                    self.unused_pattern(pattern);
                }
            }
        }
    }

    /// Reports a pattern none of whose names is used.
    fn unused_pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Name(name) => self.unused_name(name, pattern.span),
            PatternKind::Tuple(elements) => {
                elements
                    .iter()
                    .for_each(|element| self.unused_pattern(element));
            }
            PatternKind::Wildcard => {}
        }
    }

    fn unused_name(&mut self, name: &str, at: Span) {
        if name.starts_with('_') || self.source.sources.written(at).is_none() {
            return;
        }
        let message = format!("nothing uses `{name}`");
        let diagnostic = Diagnostic::warning(codes::UNUSED_NAME, at, message)
            .help(format!("leave it out, or call it `_{name}`"));
        self.found.push(diagnostic);
    }
}
