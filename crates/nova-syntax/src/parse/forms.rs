//! Expressions that begin with a keyword: `lambda let mu if case`.

use super::Parser;
use crate::ast::{Arm, ExpressionId, ExpressionKind, Pattern, PatternKind};
use crate::datum::{DatumId, Kind};
use nova_diag::{Diagnostic, Span, codes};

/// Parses the items after a form's word. The span is that of the whole form.
pub(super) type Form = for<'a> fn(&mut Parser<'a>, &'a [DatumId], Span) -> ExpressionId;

/// The forms by their words.
const FORMS: [(&str, Form); 13] = [
    ("lambda", |parser, items, span| parser.lambda(items, span)),
    ("let", |parser, items, span| parser.let_form(items, span)),
    ("mu", |parser, items, span| parser.mu(items, span)),
    ("if", |parser, items, span| parser.if_form(items, span)),
    ("case", |parser, items, span| parser.case(items, span)),
    ("types", |parser, items, span| {
        parser.misplaced_section(items, span)
    }),
    ("foreign", |parser, items, span| {
        parser.misplaced_section(items, span)
    }),
    ("define", |parser, items, span| {
        parser.misplaced_section(items, span)
    }),
    ("entry", |parser, items, span| {
        parser.misplaced_section(items, span)
    }),
    ("import", |parser, items, span| {
        parser.misplaced_section(items, span)
    }),
    ("foreach", |parser, items, span| parser.foreach(items, span)),
    ("up", |parser, items, span| parser.up(items, span)),
    ("dn", |parser, items, span| parser.dn(items, span)),
];

/// Returns the form that begins with `word`.
pub(super) fn find(word: &str) -> Option<Form> {
    let found = FORMS.iter().find(|(name, _)| *name == word);
    found.map(|(_, form)| *form)
}

const LAMBDA: &str = "a function is `(lambda (x : int) (y : int) : int (+ x y))`; the types may be \
                      left out: `(lambda (x y) (+ x y))`";
const LET: &str =
    "write `(let (x 1) (y (+ x 1)) in (* x y))`: bindings `(name value)`, then one body";
const MU: &str = "a recursive function is `(mu (f : int -> int) (lambda (n : int) : int …))`";
const IF: &str = "write `(if condition then a else b)`; conditions and branches that are \
                  applications stand in parentheses: `(if (< x y) then x else (f y))`";
const CASE: &str = "write `(case e (Some x (+ x 1)) (None 0))`: an expression, then an arm for each \
                    constructor";
const ARM: &str = "an arm is `(Constructor x body)`, `(Constructor (a, b) body)`, `(Constructor \
                   body)` or `(_ body)`";

impl<'a> Parser<'a> {
    fn misplaced_section(&mut self, _: &'a [DatumId], span: Span) -> ExpressionId {
        let message = "a section of the program cannot stand inside an expression";
        let help = "`types`, `foreign`, `import`, `define` and `entry` stand at the top level of \
                    the file; inside expressions use `let`";
        self.bad_form(span, message, help);
        self.placeholder(span)
    }

    fn foreach(&mut self, _: &'a [DatumId], span: Span) -> ExpressionId {
        self.not_supported("foreach", span);
        self.placeholder(span)
    }

    fn up(&mut self, _: &'a [DatumId], span: Span) -> ExpressionId {
        self.not_supported("up", span);
        self.placeholder(span)
    }

    fn dn(&mut self, _: &'a [DatumId], span: Span) -> ExpressionId {
        self.not_supported("dn", span);
        self.placeholder(span)
    }

    fn lambda(&mut self, items: &'a [DatumId], span: Span) -> ExpressionId {
        let colon = self.position(items, Kind::Colon);
        let Some((&body, before)) = items.split_last() else {
            self.bad_form(
                span,
                "this `lambda` has neither parameters nor a body",
                LAMBDA,
            );
            return self.placeholder(span);
        };
        let (parameters, result) = match colon {
            None => (before, None),
            Some(colon) if colon + 2 < items.len() => {
                let ty = &items[colon + 1..items.len() - 1];
                (&items[..colon], Some((ty, self.span(items[colon]))))
            }
            Some(colon) => {
                let at = self.span(items[colon]);
                let message = "the result type or the body after this `:` is missing";
                self.bad_form(at, message, LAMBDA);
                self.lose(items);
                return self.placeholder(span);
            }
        };
        let patterns = self.parameters(parameters);
        let result = result.map(|(ty, colon)| self.type_sequence(ty, colon));
        let body = self.expression(body);
        if patterns.is_empty() {
            let message = match parameters {
                [] if items.len() == 1 => "this `lambda` has no parameters, or no body",
                _ => "this `lambda` has no parameters",
            };
            let help = format!("{LAMBDA}; one that needs none takes `(_ : unit)`");
            // Parameters with errors have been reported.
            if parameters.iter().all(|&p| self.kind(p) == Kind::List(&[])) {
                self.bad_form(span, message, help);
            }
            self.lose(items);
            return self.wrong(vec![body], span);
        }
        let kind = ExpressionKind::Lambda {
            parameters: patterns,
            result,
            body,
        };
        self.program.add(kind, span)
    }

    /// Parses the parameters of a lambda: `(x : T)`, `(x y)`, `(a, b)`, `x`, `_`.
    fn parameters(&mut self, items: &'a [DatumId]) -> Vec<Pattern> {
        let mut parts = Vec::new();
        for &item in items {
            match self.kind(item) {
                Kind::List(inner) if self.is_parameter_list(inner) => parts.extend(inner),
                _ => parts.push(item),
            }
        }
        self.patterns(&parts)
    }

    /// True if parentheses hold several parameters, not the parts of one.
    fn is_parameter_list(&self, items: &[DatumId]) -> bool {
        self.position(items, Kind::Comma).is_none() && self.position(items, Kind::Colon).is_none()
    }

    fn let_form(&mut self, items: &'a [DatumId], span: Span) -> ExpressionId {
        let (bindings, body) = match self.position_of(items, "in") {
            Some(at) => (&items[..at], self.let_body(&items[at + 1..], items[at])),
            None => match items.split_last() {
                Some((&last, before)) => (before, Some(last)),
                None => (items, None),
            },
        };
        let found: Vec<_> = bindings
            .iter()
            .filter_map(|&binding| self.binding(binding))
            .collect();
        if bindings.is_empty() {
            let message = match items {
                [] => "this `let` has neither bindings nor a body",
                _ => "this `let` has no body, or no bindings",
            };
            self.bad_form(span, message, LET);
            self.lose(items);
        }
        let body = match body {
            Some(body) => self.expression(body),
            None => self.placeholder(span),
        };
        if found.is_empty() {
            return body;
        }
        let kind = ExpressionKind::Let {
            bindings: found,
            body,
        };
        self.program.add(kind, span)
    }

    /// Parses the one item after `in`.
    fn let_body(&mut self, items: &'a [DatumId], word: DatumId) -> Option<DatumId> {
        match items {
            [body] => return Some(*body),
            [] => self.bad_form(self.span(word), "the body after `in` is missing", LET),
            [_, ..] => {
                let at = self.span_of(items, self.span(word));
                let help = "put an application into parentheses: `(let (x 1) in (+ x x))`";
                self.bad_form(
                    at,
                    "expected one body after `in`, found several items",
                    help,
                );
                self.recover(items, at);
            }
        }
        None
    }

    /// Parses `(p e)` and `(p : T e)`.
    fn binding(&mut self, id: DatumId) -> Option<(Pattern, ExpressionId)> {
        let span = self.span(id);
        let Kind::List(items) = self.kind(id) else {
            let message = format!(
                "expected a binding `(name value)`, found {}",
                self.describe(id)
            );
            self.bad_form(span, message, LET);
            self.lose(&[id]);
            return None;
        };
        match items {
            [pattern, value] if !self.is_list_of_bindings(items) => {
                let pattern = self.pattern(*pattern);
                let value = self.expression(*value);
                Some((pattern, value))
            }
            [pattern, colon, ty @ .., value] if self.kind(*colon) == Kind::Colon => {
                let ty = self.type_sequence(ty, self.span(*colon));
                let mut pattern = self.pattern(*pattern);
                let value = self.expression(*value);
                self.annotate(&mut pattern, ty);
                Some((pattern, value))
            }
            _ => {
                self.lose(&[id]);
                let value = self.bad_binding(items, span);
                let pattern = Pattern {
                    kind: PatternKind::Wildcard,
                    annotation: None,
                    span,
                };
                Some((pattern, value))
            }
        }
    }

    /// True for `((x 1) (y 2))`, the notation of Scheme.
    fn is_list_of_bindings(&self, items: &[DatumId]) -> bool {
        let is_binding = |&item: &DatumId| match self.kind(item) {
            Kind::List(&[name, second]) => {
                self.data.as_symbol(name).is_some() && self.kind(second) != Kind::Comma
            }
            _ => false,
        };
        items.first().is_some_and(is_binding)
    }

    /// Reports a binding that is none. Returns an expression for its value.
    fn bad_binding(&mut self, items: &'a [DatumId], span: Span) -> ExpressionId {
        if self.is_list_of_bindings(items) {
            let message = "the bindings of `let` stand without parentheses around them all";
            self.bad_form(span, message, LET);
            return self.placeholder(span);
        }
        let message = match items {
            [] => "this binding is empty".to_string(),
            [only] => match self.data.as_symbol(*only) {
                Some(name) => format!("the value of `{name}` is missing"),
                None => "this binding has no value".into(),
            },
            [first, ..] => match self.data.as_symbol(*first) {
                Some(name) => format!("expected one value for `{name}`, found several items"),
                None => "expected a name and one value, found more items".into(),
            },
        };
        let help = "a binding is `(name value)`; an application stands in parentheses of its own: \
                    `(y (f x))`, a function is bound with `lambda`: `(f (lambda (x) (+ x 1)))`";
        self.bad_form(span, message, help);
        match items {
            [_, .., value] => self.recover(&[*value], span),
            [] | [_] => self.placeholder(span),
        }
    }

    fn mu(&mut self, items: &'a [DatumId], span: Span) -> ExpressionId {
        let &[parameter, value] = items else {
            let message = "`mu` takes the function's name with its type, and a `lambda`";
            self.bad_form(span, message, MU);
            self.lose(&items[..items.len().min(1)]);
            return self.recover(items.get(1..).unwrap_or_default(), span);
        };
        let (name, ty) = match self.kind(parameter) {
            Kind::List([name, colon, ty @ ..]) if self.kind(*colon) == Kind::Colon => {
                let ty = self.type_sequence(ty, self.span(*colon));
                (self.name(*name, "a recursive function"), Some(ty))
            }
            Kind::List(&[name]) => (self.name(name, "a recursive function"), None),
            _ => (self.name(parameter, "a recursive function"), None),
        };
        let value = self.expression(value);
        match name {
            Some(name) => self
                .program
                .add(ExpressionKind::Mu { name, ty, value }, span),
            None => {
                self.lose(&[parameter]);
                self.wrong(vec![value], span)
            }
        }
    }

    fn if_form(&mut self, items: &'a [DatumId], span: Span) -> ExpressionId {
        let is_word = |index: usize, word: &str| {
            items
                .get(index)
                .is_some_and(|&item| self.data.is_symbol(item, word))
        };
        let then = 1 + usize::from(is_word(1, "then"));
        let otherwise = then + 1 + usize::from(is_word(then + 1, "else"));
        if items.len() == otherwise + 1 && !is_word(then, "else") {
            let condition = self.expression(items[0]);
            let then = self.expression(items[then]);
            let otherwise = self.expression(items[otherwise]);
            let kind = ExpressionKind::If {
                condition,
                then,
                otherwise,
            };
            return self.program.add(kind, span);
        }
        let has_else = self.position_of(items, "else").is_some();
        let branches = items.iter().filter(|&&item| {
            let word = self.data.as_symbol(item);
            !matches!(word, Some("then" | "else"))
        });
        let message = match branches.count() {
            0 => "this `if` is empty",
            1 => "both branches of this `if` are missing",
            2 if has_else => "the condition or a branch of this `if` is missing",
            2 => "the `else` branch of this `if` is missing",
            _ => "`if` takes a condition and two branches, here are more items",
        };
        self.bad_form(span, message, IF);
        self.recover(items, span)
    }

    fn case(&mut self, items: &'a [DatumId], span: Span) -> ExpressionId {
        let Some((&scrutinee, arms)) = items.split_first() else {
            self.bad_form(span, "this `case` is empty", CASE);
            return self.placeholder(span);
        };
        let scrutinee = self.expression(scrutinee);
        if arms.is_empty() {
            self.bad_form(span, "this `case` has no arms", CASE);
            return self.placeholder(span);
        }
        let arms = arms.iter().map(|&arm| self.arm_or_wrong(arm)).collect();
        self.program
            .add(ExpressionKind::Case { scrutinee, arms }, span)
    }

    /// Parses an arm. An arm with an error matches any value.
    fn arm_or_wrong(&mut self, id: DatumId) -> Arm {
        let before = self.program.arena.len();
        if let Some(arm) = self.arm(id) {
            return arm;
        }
        self.lose(&[id]);
        let span = self.span(id);
        // The last expression parsed is the arm's value, if it could be read.
        let value = self.program.arena.len().checked_sub(1);
        let value = value.filter(|&last| last >= before);
        let parts = value.map(|last| ExpressionId(last as u32));
        Arm {
            constructor: None,
            payload: None,
            body: self.wrong(parts.into_iter().collect(), span),
            span,
        }
    }

    fn arm(&mut self, id: DatumId) -> Option<Arm> {
        let span = self.span(id);
        let (constructor, payload, body) = match self.kind(id) {
            Kind::List(&[constructor, body]) => (constructor, None, body),
            Kind::List(&[constructor, payload, body]) => (constructor, Some(payload), body),
            Kind::List(&[constructor, _, _, .., body])
                if self.data.as_symbol(constructor).is_some() =>
            {
                let message = "too many items in this arm";
                let help = format!("{ARM}; several parts of a payload are a tuple");
                self.bad_form(span, message, help);
                self.recover(&[body], span);
                return None;
            }
            _ => {
                let message = format!("expected an arm, found {}", self.describe(id));
                self.bad_form(span, message, ARM);
                return None;
            }
        };
        let wildcard = self.data.is_symbol(constructor, "_");
        let payload = payload.map(|payload| (self.span(payload), self.pattern(payload)));
        let name = if wildcard {
            None
        } else if self.data.as_symbol(constructor).is_some() {
            match self.constructor(constructor) {
                Some(name) => Some(name),
                None => {
                    self.recover(&[body], span);
                    return None;
                }
            }
        } else {
            let message = format!(
                "expected a constructor, found {}",
                self.describe(constructor)
            );
            self.bad_form(self.span(constructor), message, ARM);
            self.recover(&[body], span);
            return None;
        };
        let body = self.expression(body);
        let payload = match payload {
            Some((at, _)) if wildcard => {
                self.bad_form(at, "the arm `_` takes no payload", ARM);
                None
            }
            Some((_, pattern)) => Some(pattern),
            None => None,
        };
        Some(Arm {
            constructor: name,
            payload,
            body,
            span,
        })
    }

    /// Parses the constructor of an arm.
    fn constructor(&mut self, id: DatumId) -> Option<crate::ast::Name> {
        let name = self.name(id, "a constructor")?;
        if name.text.len() > 1 && name.text.ends_with('*') {
            let message = format!("the node constructor `{}` is not supported yet", name.text);
            self.report(
                Diagnostic::error(codes::NOT_SUPPORTED, name.span, message)
                    .help("node types belong to `foreach`, which is reserved"),
            );
            return None;
        }
        Some(name)
    }
}
