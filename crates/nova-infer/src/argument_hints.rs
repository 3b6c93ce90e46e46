//! The likely mistake behind the arguments of a call: an operator where its elements must be meant, a tuple in
//! place of several arguments or of an index. Where the text of an argument is a front end's own, the rule is
//! given in words.

use crate::builtins::Arity;
use crate::hints::Hints;
use crate::types::{Shallow, Ty, TyNode};
use nova_diag::Span;
use nova_syntax::ast::{ExpressionId, ExpressionKind, Pattern, PatternKind};

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
        if !(a || b) {
            return None;
        }
        let [first, second] = operands.map(|id| self.source.source_text(id));
        let (Some(first), Some(second)) = (first, second) else {
            return Some(format!(
                "`{operator}` takes numbers: `map` applies it to the elements of vectors"
            ));
        };
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
        let Some(indices) = indices else {
            let rule = "an element of a vector in a vector is read by a `!` for each index";
            return Some(format!("{rule}; `(m ! (i, j))` reads a `vector#2`"));
        };
        let read = indices
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
        let name = self.source.name_of(function)?;
        let vector = self
            .source
            .source_text(at)
            .unwrap_or_else(|| "X".to_string());
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
