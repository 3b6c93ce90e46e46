//! The likely mistake behind a call: arguments that are missing, a tuple in place of several arguments, an
//! operator where its elements must be meant.

use crate::application::spine;
use crate::builtins::Arity;
use crate::hints::Hints;
use crate::messages::innermost;
use crate::resolve::Resolution;
use crate::source::Source;
use crate::types::{Shallow, Ty, TyNode};
use nova_diag::Span;
use nova_syntax::ast::{ExpressionId, ExpressionKind, Pattern, PatternKind};

/// Calls of built-ins as they are written, with the names that the reference gives their arguments.
const CALLS: &[&str] = &[
    "(reduce f z X)",
    "(reduce_comm f z X)",
    "(scan f z X)",
    "(exscan f z X)",
    "(foldl f z X)",
    "(scanl f z X)",
    "(filter p X)",
    "(partition p X)",
    "(imap f X)",
    "(permute I X)",
    "(gather I X)",
    "(scatter D I X)",
    "(histogram f z n I X)",
    "(count n I)",
    "(sort le X)",
    "(slice b s e X)",
    "(zip X Y)",
    "(concat X Y)",
    "(rotate k X)",
    "(replicate n v)",
    "(update X i v)",
    "(update_slice X b V)",
    "(tabulate n f)",
    "(reshape (n, m) X)",
    "(unflatten L X)",
    "(iterate n f x)",
    "(while p f x)",
    "(trace \"text\" x)",
    "(datum r V)",
    "(pow x y)",
    "(atan2 y x)",
    "(min x y)",
    "(max x y)",
];

/// A call with too few arguments, as a sentence, and what to write.
pub(crate) struct TooFew {
    pub message: String,
    pub help: String,
    /// The arguments that are given.
    pub arguments: Vec<ExpressionId>,
}

/// Describes a call whose value is a function that takes `missing` more arguments.
pub(crate) fn too_few(source: Source, at: ExpressionId, missing: usize) -> Option<TooFew> {
    let (head, arguments) = spine(source.program, source.resolved, innermost(source, at));
    let name = source.name_of(head)?;
    let given = arguments.len();
    let is_parameter = matches!(
        source.resolved.names[head.0 as usize],
        Resolution::Binding(_)
    );
    if missing == 0 || given == 0 || is_parameter {
        return None;
    }
    let is_builtin = source.builtin_named(head).is_some();
    if is_builtin && name.starts_with("map") {
        let vectors = given - 1;
        let operator = arguments.first().and_then(|f| source.name_of(*f));
        let reduces = match operator {
            Some(operator) if vectors == 1 => {
                format!("; `(reduce {operator} z X)` combines the elements of one")
            }
            Some(_) | None => String::new(),
        };
        return Some(TooFew {
            message: format!(
                "the function of this `{name}` takes {}, but {} given",
                counted(vectors + missing, "argument"),
                are_given(vectors, "vector")
            ),
            help: format!(
                "`{name}` takes as many vectors as its function takes arguments{reduces}"
            ),
            arguments,
        });
    }
    let call = call_of(&name).filter(|_| is_builtin);
    Some(TooFew {
        message: format!(
            "`{name}` takes {}, but {} given",
            counted(given + missing, "argument"),
            are_given(given, "")
        ),
        help: match (call, &*name) {
            (Some(call), _) => format!("write `{call}`"),
            (None, "-") if is_builtin => "`(neg x)` is the negative of a number".to_string(),
            (None, _) => format!("give it {}", counted(missing, "more argument")),
        },
        arguments,
    })
}

/// Returns the remedy of a call with too many arguments.
pub(crate) fn too_many(source: Source, call: ExpressionId) -> Option<String> {
    let (head, arguments) = spine(source.program, source.resolved, call);
    let name = source.name_of(head)?;
    let texts: Option<Vec<String>> = arguments.iter().map(|a| source.source_text(*a)).collect();
    let texts = texts?;
    if let Resolution::Constructor(..) = source.resolved.names[head.0 as usize] {
        return Some(format!(
            "it takes one tuple: `({name} ({}))`",
            texts.join(", ")
        ));
    }
    let builtin = source.builtin_named(head)?;
    let [first, second, third] = texts.as_slice() else {
        return call_of(&name).map(|call| format!("write `{call}`"));
    };
    match (&*name, builtin.scalar_operation()) {
        ("<" | "<=" | ">" | ">=" | "=" | "~=", Some(_)) => Some(format!(
            "write `(and ({name} {first} {second}) ({name} {second} {third}))`"
        )),
        ("concat", _) => Some(format!(
            "nest them: `(concat {first} (concat {second} {third}))`"
        )),
        (_, Some(_)) if builtin.arity() == Arity::Fixed(2) => Some(format!(
            "nest them: `({name} ({name} {first} {second}) {third})`"
        )),
        _ => call_of(&name).map(|call| format!("write `{call}`")),
    }
}

/// Returns a call of a built-in as it is written.
pub(crate) fn call_of(builtin: &str) -> Option<&'static str> {
    let name_in = |call: &str| call.trim_start_matches('(').split(' ').next() == Some(builtin);
    CALLS.iter().find(|call| name_in(call)).copied()
}

/// Returns a number of things in words: `1 argument`, `2 arguments`.
fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

fn are_given(count: usize, thing: &str) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    match thing {
        "" => format!("{count} {verb}"),
        _ => format!("{} {verb}", counted(count, thing)),
    }
}

impl Hints<'_> {
    /// Returns the remedy where an operator is applied to a vector, or to two.
    pub(crate) fn hint_of_elements(
        &mut self,
        types: [Ty; 2],
        function: ExpressionId,
        operands: [ExpressionId; 2],
    ) -> Option<String> {
        let operator = self.source.name_of(function)?;
        let [a, b] = types.map(|ty| self.is_vector_of_numbers(ty));
        let text = |id| self.source.source_text(id);
        let (first, second) = (text(operands[0])?, text(operands[1])?);
        let map = match (a, b) {
            (false, true) => format!("(map ({operator} {first}) {second})"),
            (true, false) => format!("(map (lambda (a) ({operator} a {second})) {first})"),
            (true, true) => format!("(map {operator} {first} {second})"),
            (false, false) => return None,
        };
        Some(format!("`{operator}` takes numbers: `{map}`"))
    }

    /// Returns the remedy where a tuple is the index of a vector.
    pub(crate) fn hint_of_index(&mut self, found: Ty, at: ExpressionId) -> Option<String> {
        self.tuple_length(found)?;
        let ExpressionKind::Tuple(indices) = &self.source.program.expression(at).kind else {
            return None;
        };
        let indices: Option<Vec<String>> = indices
            .iter()
            .map(|i| self.source.source_text(*i))
            .collect();
        let read = indices?
            .iter()
            .fold("m".to_string(), |of, index| format!("({of} ! {index})"));
        Some(format!(
            "an element of a vector in a vector is `{read}`; `(m ! (i, j))` reads a `vector#2`"
        ))
    }

    /// Returns the remedy where a scalar operation is given a vector.
    pub(crate) fn hint_of_scalar_operation(
        &mut self,
        found: Ty,
        function: ExpressionId,
        at: ExpressionId,
    ) -> Option<String> {
        let builtin = self.source.builtin_named(function)?;
        builtin.scalar_operation()?;
        if !self.is_vector_of_numbers(found) {
            return None;
        }
        let (name, vector) = (self.source.name_of(function)?, self.source.source_text(at)?);
        Some(match builtin.arity() {
            Arity::Fixed(1) => format!("`(map {name} {vector})` applies it to each element"),
            _ => format!(
                "`(map {name} X Y)` applies it to the elements of two vectors, `(reduce {name} z {vector})` \
                 to all elements of one"
            ),
        })
    }

    /// Returns the remedy where a function takes a tuple in place of several arguments, or the reverse.
    pub(crate) fn hint_of_parameters(
        &mut self,
        expected: Ty,
        found: Ty,
        at: ExpressionId,
    ) -> Option<String> {
        let (wanted, given) = (self.parameters(expected)?, self.parameters(found)?);
        let tuple_of = |this: &mut Self, parameters: &[Ty]| match parameters {
            [one] => this.tuple_length(*one),
            _ => None,
        };
        if tuple_of(self, &wanted) == Some(given.len()) {
            let names = self.names_of_lambda(at, false);
            let names = names.unwrap_or_else(|| "(a, b)".to_string());
            return Some(format!("take one tuple: `(lambda ({names}) …)`"));
        }
        if tuple_of(self, &given) == Some(wanted.len()) {
            let names = self.names_of_lambda(at, true);
            let names = names.unwrap_or_else(|| "a b".to_string());
            let count = wanted.len();
            return Some(format!("take {count} arguments: `(lambda ({names}) …)`"));
        }
        None
    }

    fn parameters(&mut self, function: Ty) -> Option<Vec<Ty>> {
        let (parameters, _, _) = self.types.peel(function);
        (!parameters.is_empty()).then_some(parameters)
    }

    fn tuple_length(&mut self, ty: Ty) -> Option<usize> {
        match self.types.shallow(ty) {
            Shallow::Node(TyNode::Tuple(elements)) => Some(elements.len()),
            Shallow::Node(_) | Shallow::Unbound(..) => None,
        }
    }

    fn is_vector_of_numbers(&mut self, ty: Ty) -> bool {
        let element = match self.types.shallow(ty) {
            Shallow::Node(TyNode::Vector(element)) => element,
            Shallow::Node(_) | Shallow::Unbound(..) => return false,
        };
        self.nearest_scalar(element).is_some()
    }

    /// Returns the parameters of a lambda in the other form: those of a tuple apart, or several as a tuple.
    fn names_of_lambda(&self, at: ExpressionId, apart: bool) -> Option<String> {
        let ExpressionKind::Lambda { parameters, .. } = &self.source.program.expression(at).kind
        else {
            return None;
        };
        let written = |pattern: &Pattern| self.written(pattern.span);
        match (apart, parameters.as_slice()) {
            (false, _) => {
                let names: Option<Vec<&str>> = parameters.iter().map(written).collect();
                names.map(|names| format!("({})", names.join(", ")))
            }
            (true, [one]) => match &one.kind {
                PatternKind::Tuple(elements) => {
                    let names: Option<Vec<&str>> = elements.iter().map(written).collect();
                    names.map(|names| names.join(" "))
                }
                PatternKind::Name(_) | PatternKind::Wildcard => None,
            },
            (true, _) => None,
        }
    }

    fn written(&self, span: Span) -> Option<&str> {
        self.source.sources.written(span)
    }
}
