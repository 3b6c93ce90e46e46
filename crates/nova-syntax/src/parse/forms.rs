//! Expressions that begin with a keyword: `lambda let mu if case`.

use super::bindings::{Binder, binding};
use super::parser::Parser;
use super::patterns;
use super::questions::{describe, position, position_of, span_of};
use super::recursion;
use super::types::type_sequence;
use crate::ast::{Arm, ExpressionId, ExpressionKind, Pattern};
use crate::datum::{Data, DatumId, Kind};
use nova_diag::Span;

/// Parses the items after a form's word. The span is that of the whole form.
pub(super) type Form = for<'a> fn(&mut Parser<'a>, &'a [DatumId], Span) -> ExpressionId;

/// The forms by their words.
const FORMS: [(&str, Form); 13] = [
    ("lambda", lambda),
    ("let", let_form),
    ("mu", mu),
    ("if", if_form),
    ("case", case),
    ("types", misplaced_section),
    ("foreign", misplaced_section),
    ("define", misplaced_section),
    ("entry", misplaced_section),
    ("import", misplaced_section),
    ("foreach", recursion::foreach),
    ("up", recursion::up),
    ("dn", recursion::down),
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
const LET_BINDER: Binder = Binder {
    word: "let",
    help: LET,
    one: "a binding is `(name value)`; an application stands in parentheses of its own: `(y (f x))`, \
          a function is bound with `lambda`: `(f (lambda (x) (+ x 1)))`",
};
const MU: &str = "a recursive function is `(mu (f : int -> int) (lambda (n : int) : int …))`";
const IF: &str = "write `(if condition then a else b)`; conditions and branches that are \
                  applications stand in parentheses: `(if (< x y) then x else (f y))`";
const CASE: &str = "write `(case e (Some x (+ x 1)) (None 0))`: an expression, then an arm for each \
                    constructor";
const ARM: &str = "an arm is `(Constructor x body)`, `(Constructor (a, b) body)`, `(Constructor \
                   body)` or `(_ body)`";

fn misplaced_section<'a>(parser: &mut Parser<'a>, _: &'a [DatumId], span: Span) -> ExpressionId {
    let message = "a section of the program cannot stand inside an expression";
    let help = "`types`, `foreign`, `import`, `define` and `entry` stand at the top level of \
                the file; inside expressions use `let`";
    parser.bad_form(span, message, help);
    parser.placeholder(span)
}

fn lambda<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], span: Span) -> ExpressionId {
    let colon = position(parser.data, items, Kind::Colon);
    let Some((&body, before)) = items.split_last() else {
        parser.bad_form(
            span,
            "this `lambda` has neither parameters nor a body",
            LAMBDA,
        );
        return parser.placeholder(span);
    };
    let (parameters, result) = match colon {
        None => (before, None),
        Some(colon) if colon + 2 < items.len() => {
            let ty = &items[colon + 1..items.len() - 1];
            (&items[..colon], Some((ty, parser.data.span(items[colon]))))
        }
        Some(colon) => {
            let at = parser.data.span(items[colon]);
            let message = "the result type or the body after this `:` is missing";
            parser.bad_form(at, message, LAMBDA);
            parser.lose(items);
            return parser.placeholder(span);
        }
    };
    let patterns = parameter_patterns(parser, parameters);
    let result = result.map(|(ty, colon)| type_sequence(parser, ty, colon));
    let body = parser.expression(body);
    if patterns.is_empty() {
        let message = match parameters {
            [] if items.len() == 1 => "this `lambda` has no parameters, or no body",
            _ => "this `lambda` has no parameters",
        };
        let help = format!("{LAMBDA}; one that needs none takes `(_ : unit)`");
        // Parameters with errors have been reported.
        if parameters
            .iter()
            .all(|&p| parser.data.kind(p) == Kind::List(&[]))
        {
            parser.bad_form(span, message, help);
        }
        parser.lose(items);
        return parser.wrong(vec![body], span);
    }
    let kind = ExpressionKind::Lambda {
        parameters: patterns,
        result,
        body,
    };
    parser.program.add(kind, span)
}

/// Parses the parameters of a lambda: `(x : T)`, `(x y)`, `(a, b)`, `x`, `_`.
fn parameter_patterns<'a>(parser: &mut Parser<'a>, items: &'a [DatumId]) -> Vec<Pattern> {
    let mut parts = Vec::new();
    for &item in items {
        match parser.data.kind(item) {
            Kind::List(inner) if is_parameter_list(parser.data, inner) => parts.extend(inner),
            _ => parts.push(item),
        }
    }
    patterns::patterns(parser, &parts)
}

/// True if parentheses hold several parameters, not the parts of one.
fn is_parameter_list(data: &Data, items: &[DatumId]) -> bool {
    position(data, items, Kind::Comma).is_none() && position(data, items, Kind::Colon).is_none()
}

fn let_form<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], span: Span) -> ExpressionId {
    let (bindings, body) = match position_of(parser.data, items, "in") {
        Some(at) => (&items[..at], let_body(parser, &items[at + 1..], items[at])),
        None => match items.split_last() {
            Some((&last, before)) => (before, Some(last)),
            None => (items, None),
        },
    };
    let found: Vec<_> = bindings
        .iter()
        .filter_map(|&id| binding(parser, id, &LET_BINDER))
        .collect();
    if bindings.is_empty() {
        let message = match items {
            [] => "this `let` has neither bindings nor a body",
            _ => "this `let` has no body, or no bindings",
        };
        parser.bad_form(span, message, LET);
        parser.lose(items);
    }
    let body = match body {
        Some(body) => parser.expression(body),
        None => parser.placeholder(span),
    };
    if found.is_empty() {
        return body;
    }
    let kind = ExpressionKind::Let {
        bindings: found,
        body,
    };
    parser.program.add(kind, span)
}

/// Parses the one item after `in`.
fn let_body<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], word: DatumId) -> Option<DatumId> {
    match items {
        [body] => return Some(*body),
        [] => parser.bad_form(
            parser.data.span(word),
            "the body after `in` is missing",
            LET,
        ),
        [_, ..] => {
            let at = span_of(parser.data, items, parser.data.span(word));
            let help = "put an application into parentheses: `(let (x 1) in (+ x x))`";
            parser.bad_form(
                at,
                "expected one body after `in`, found several items",
                help,
            );
            parser.recover(items, at);
        }
    }
    None
}

fn mu<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], span: Span) -> ExpressionId {
    let &[parameter, value] = items else {
        let message = "`mu` takes the function's name with its type, and a `lambda`";
        parser.bad_form(span, message, MU);
        parser.lose(&items[..items.len().min(1)]);
        return parser.recover(items.get(1..).unwrap_or_default(), span);
    };
    let (name, ty) = match parser.data.kind(parameter) {
        Kind::List([name, colon, ty @ ..]) if parser.data.kind(*colon) == Kind::Colon => {
            let ty = type_sequence(parser, ty, parser.data.span(*colon));
            (parser.name(*name, "a recursive function"), Some(ty))
        }
        Kind::List(&[name]) => (parser.name(name, "a recursive function"), None),
        _ => (parser.name(parameter, "a recursive function"), None),
    };
    let value = parser.expression(value);
    match name {
        Some(name) => parser
            .program
            .add(ExpressionKind::Mu { name, ty, value }, span),
        None => {
            parser.lose(&[parameter]);
            parser.wrong(vec![value], span)
        }
    }
}

fn if_form<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], span: Span) -> ExpressionId {
    let is_word = |index: usize, word: &str| {
        items
            .get(index)
            .is_some_and(|&item| parser.data.is_symbol(item, word))
    };
    let then = 1 + usize::from(is_word(1, "then"));
    let otherwise = then + 1 + usize::from(is_word(then + 1, "else"));
    if items.len() == otherwise + 1 && !is_word(then, "else") {
        let condition = parser.expression(items[0]);
        let then = parser.expression(items[then]);
        let otherwise = parser.expression(items[otherwise]);
        let kind = ExpressionKind::If {
            condition,
            then,
            otherwise,
        };
        return parser.program.add(kind, span);
    }
    let has_else = position_of(parser.data, items, "else").is_some();
    let branches = items.iter().filter(|&&item| {
        let word = parser.data.as_symbol(item);
        !matches!(word, Some("then" | "else"))
    });
    let message = match branches.count() {
        0 => "this `if` is empty",
        1 => "both branches of this `if` are missing",
        2 if has_else => "the condition or a branch of this `if` is missing",
        2 => "the `else` branch of this `if` is missing",
        _ => "`if` takes a condition and two branches, here are more items",
    };
    parser.bad_form(span, message, IF);
    parser.recover(items, span)
}

fn case<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], span: Span) -> ExpressionId {
    let Some((&scrutinee, arms)) = items.split_first() else {
        parser.bad_form(span, "this `case` is empty", CASE);
        return parser.placeholder(span);
    };
    let scrutinee = parser.expression(scrutinee);
    if arms.is_empty() {
        parser.bad_form(span, "this `case` has no arms", CASE);
        return parser.placeholder(span);
    }
    let arms = arms.iter().map(|&arm| arm_or_wrong(parser, arm)).collect();
    parser
        .program
        .add(ExpressionKind::Case { scrutinee, arms }, span)
}

/// Parses an arm. An arm with an error matches any value.
fn arm_or_wrong(parser: &mut Parser, id: DatumId) -> Arm {
    let before = parser.program.arena.len();
    if let Some(arm) = arm(parser, id) {
        return arm;
    }
    let span = parser.data.span(id);
    // The last expression parsed is the arm's value, if it could be read.
    let value = parser.program.arena.len().checked_sub(1);
    let value = value.filter(|&last| last >= before);
    let parts = value.map(|last| ExpressionId(last as u32));
    let items = parser.data.as_list(id).unwrap_or_default();
    match items.split_last() {
        Some((_, others)) if parts.is_some() => parser.lose(others),
        Some(_) | None => parser.lose(&[id]),
    }
    Arm {
        constructor: None,
        payload: None,
        body: parser.wrong(parts.into_iter().collect(), span),
        span,
    }
}

fn arm(parser: &mut Parser, id: DatumId) -> Option<Arm> {
    let span = parser.data.span(id);
    let (constructor, payload, body) = match parser.data.kind(id) {
        Kind::List(&[constructor, body]) => (constructor, None, body),
        Kind::List(&[constructor, payload, body]) => (constructor, Some(payload), body),
        Kind::List(&[constructor, _, _, .., body])
            if parser.data.as_symbol(constructor).is_some() =>
        {
            let message = "too many items in this arm";
            let help = format!("{ARM}; several parts of a payload are a tuple");
            parser.bad_form(span, message, help);
            parser.recover(&[body], span);
            return None;
        }
        _ => {
            let message = format!("expected an arm, found {}", describe(parser.data, id));
            parser.bad_form(span, message, ARM);
            return None;
        }
    };
    let wildcard = parser.data.is_symbol(constructor, "_");
    let payload = payload.map(|payload| {
        (
            parser.data.span(payload),
            patterns::pattern(parser, payload),
        )
    });
    let name = if wildcard {
        None
    } else if parser.data.as_symbol(constructor).is_some() {
        match parser.name(constructor, "a constructor") {
            Some(name) => Some(name),
            None => {
                parser.recover(&[body], span);
                return None;
            }
        }
    } else {
        let message = format!(
            "expected a constructor, found {}",
            describe(parser.data, constructor)
        );
        parser.bad_form(parser.data.span(constructor), message, ARM);
        parser.recover(&[body], span);
        return None;
    };
    let body = parser.expression(body);
    let payload = match payload {
        Some((at, _)) if wildcard => {
            parser.bad_form(at, "the arm `_` takes no payload", ARM);
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
