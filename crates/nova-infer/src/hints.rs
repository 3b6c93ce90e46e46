//! The likely mistake behind two types that differ: an argument forgotten, a conversion, a
//! constructor, an element instead of its vector.

use crate::calls::{call_of, too_few};
use crate::reasons::Because;
use crate::source::Source;
use crate::types::{Shallow, Ty, TyNode, Types};
use nova_core::Scalar;
use nova_syntax::ast::{ExpressionId, ExpressionKind, Number, NumberValue};
use std::sync::Arc;

/// Finds the likely mistake behind two types that differ.
pub(crate) struct Hints<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) types: &'a mut Types,
}

impl<'a> Hints<'a> {
    /// Creates the search for a program.
    pub fn new(source: Source<'a>, types: &'a mut Types) -> Self {
        Hints { source, types }
    }

    /// Returns the remedy of a mismatch, where it is known.
    pub fn help(
        &mut self,
        expected: Ty,
        found: Ty,
        at: Option<ExpressionId>,
        because: &Because,
    ) -> Option<String> {
        let at = at?;
        match because {
            Because::Operand { function, first } => self
                .hint_of_elements([expected, found], *function, [*first, at])
                .or_else(|| self.hint_for_pair(expected, found, *first, at)),
            // Either of the two can be the wrong one.
            Because::Branch { first } | Because::Element { first } | Because::Arm { first } => {
                self.hint_for_pair(expected, found, *first, at)
            }
            Because::Index { rank } if *rank > 1 => {
                let names = ["i", "j", "k", "l"].into_iter().cycle();
                let indices: Vec<&str> = names.take(*rank as usize).collect();
                Some(format!(
                    "give {rank} indices: `(m ! ({}))`",
                    indices.join(", ")
                ))
            }
            Because::Index { .. } => self
                .hint_of_index(found, at)
                .or_else(|| self.hint(expected, found, at)),
            Because::Indexed => self.hint_for_indexed(found, at),
            Because::Argument { function, .. } => self
                .hint_of_scalar_operation(found, *function, at)
                .or_else(|| self.hint(expected, found, at))
                .or_else(|| self.hint_of_builtin(expected, found, *function)),
            _ => self.hint(expected, found, at),
        }
    }

    /// Returns which of two expressions of one type should be changed, namely the one that loses no
    /// precision.
    fn hint_for_pair(
        &mut self,
        of_first: Ty,
        of_second: Ty,
        first: ExpressionId,
        second: ExpressionId,
    ) -> Option<String> {
        let (a, b) = (
            self.nearest_scalar(of_first),
            self.nearest_scalar(of_second),
        );
        let (Some(a), Some(b)) = (a, b) else {
            return self.hint(of_first, of_second, second);
        };
        let literal = |this: &Self, id: ExpressionId| match number(this.source, id) {
            Some(number) => matches!(number.value, NumberValue::Integer(_)),
            None => false,
        };
        // An integer literal takes any number type when its suffix is left out.
        let change_first = match (literal(self, first), literal(self, second)) {
            (true, false) => true,
            (false, true) => false,
            (true, true) | (false, false) => width(a) < width(b),
        };
        if change_first {
            self.hint(of_second, of_first, first)
        } else {
            self.hint(of_first, of_second, second)
        }
    }

    /// Returns the likely mistake when `found` stands where `expected` must be.
    fn hint(&mut self, expected: Ty, found: Ty, at: ExpressionId) -> Option<String> {
        let text = text_of(self.source, at);
        if let Some(hint) = self.scalar_hint(expected, found, at, &text) {
            return Some(hint);
        }
        let (missing, result, _) = self.types.peel(found);
        let (taken, _, _) = self.types.peel(expected);
        if missing.len() > taken.len() && self.similar(expected, result) {
            let count = missing.len() - taken.len();
            if let Some(too_few) = too_few(self.source, at, count) {
                return Some(format!("{}: {}", too_few.message, too_few.help));
            }
            let arguments = match count {
                1 => "an argument seems".to_string(),
                _ => format!("{count} arguments seem"),
            };
            return Some(format!(
                "{arguments} to be missing: this is still a function"
            ));
        }
        if let Some(hint) = self.hint_of_parameters(expected, found, at) {
            return Some(hint);
        }
        self.sum_hint(expected, found, &text)
            .or_else(|| self.vector_hint(expected, found, &text))
            .or_else(|| self.tuple_hint(expected, found, &text))
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
        if let Some(number) = number(self.source, at) {
            return literal_hint(number, wanted);
        }
        if wanted == Scalar::Bool {
            return Some(format!("compare it, as in `(~= {text} 0)`"));
        }
        let name = wanted.info().name;
        if let Some(conversion) = conversion(self.source, at) {
            return Some(format!("use `to_{name}` instead of `{conversion}`"));
        }
        let truncates = match given.is_float() && wanted.is_integer() {
            true => ", which truncates",
            false => "",
        };
        Some(format!("convert it with `(to_{name} {text})`{truncates}"))
    }

    /// Returns the scalar that a type is, or the default of its class.
    pub(crate) fn nearest_scalar(&mut self, ty: Ty) -> Option<Scalar> {
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

    /// Returns the constructor of the sum `outer` whose payload `inner` could be.
    fn constructor_of(&mut self, outer: Ty, inner: Ty) -> Option<Arc<str>> {
        let Shallow::Node(TyNode::Sum(sum, arguments)) = self.types.shallow(outer) else {
            return None;
        };
        let declaration = self.source.declarations.sum(sum);
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
        let wanted = self.vector_element(expected);
        let given = self.vector_element(found);
        if wanted.is_some() && self.array_rank(found).is_some() {
            return Some(format!("view it as a vector of rows: `(rows {text})`"));
        }
        if let (Some(2), Some(row)) = (self.array_rank(expected), given) {
            let rectangular = self.vector_element(row).is_some();
            return rectangular.then(|| format!("make it rectangular: `(unrows {text})`"));
        }
        match (wanted, given) {
            (Some(wanted), Some(given)) => {
                let (wanted, given) = (self.nearest_scalar(wanted)?, self.nearest_scalar(given)?);
                let (name, other) = (wanted.info().name, given.info().name);
                if given.is_float() && wanted.is_integer() {
                    // The other direction would lose the fractions.
                    return Some(format!(
                        "its elements are floating: convert the `{name}` with `to_{other}`"
                    ));
                }
                (wanted != given && wanted != Scalar::Bool)
                    .then(|| format!("convert its elements with `(map to_{name} {text})`"))
            }
            (Some(element), None) => self
                .element_like(element, found)
                .then(|| format!("a vector of one element is written `[{text}]`")),
            (None, Some(element)) => self
                .similar(expected, element)
                .then(|| format!("read an element with `({text} ! 0)`")),
            (None, None) => None,
        }
    }

    fn vector_element(&mut self, ty: Ty) -> Option<Ty> {
        if let Shallow::Node(TyNode::Vector(element)) = self.types.shallow(ty) {
            return Some(element);
        }
        None
    }

    fn array_rank(&mut self, ty: Ty) -> Option<u32> {
        if let Shallow::Node(TyNode::Array(rank, _)) = self.types.shallow(ty) {
            return Some(rank);
        }
        None
    }

    /// True if a value could be the element of a vector.
    fn element_like(&mut self, element: Ty, found: Ty) -> bool {
        let scalar = self.nearest_scalar(found).is_some();
        let open = matches!(self.types.shallow(element), Shallow::Unbound(..));
        (open && scalar) || self.similar(element, found)
    }

    fn tuple_hint(&mut self, expected: Ty, found: Ty, text: &str) -> Option<String> {
        let Shallow::Node(TyNode::Tuple(elements)) = self.types.shallow(found) else {
            return None;
        };
        if let Shallow::Unbound(_, unbound) = self.types.shallow(expected) {
            let class = unbound.constraint.scalars.is_some();
            return class.then(|| format!("operate on its elements, as `{text}.0`"));
        }
        let position = elements
            .iter()
            .position(|element| self.similar(expected, *element))?;
        Some(format!("take an element: `{text}.{position}`"))
    }

    fn hint_for_indexed(&mut self, found: Ty, at: ExpressionId) -> Option<String> {
        let ExpressionKind::Index(collection, _) = &self.source.program.expression(at).kind else {
            return None;
        };
        let text = text_of(self.source, *collection);
        match self.types.shallow(found) {
            Shallow::Node(TyNode::Tuple(_)) => {
                Some(format!("an element of a tuple is read with `{text}.0`"))
            }
            Shallow::Unbound(..) | Shallow::Node(_) => None,
        }
    }

    /// Returns the type of a built-in when an argument is a function where data must be, or the
    /// reverse. The arguments are probably in the wrong order.
    fn hint_of_builtin(
        &mut self,
        expected: Ty,
        found: Ty,
        function: ExpressionId,
    ) -> Option<String> {
        let is_function = |this: &mut Self, ty| {
            matches!(this.types.shallow(ty), Shallow::Node(TyNode::Function(..)))
        };
        if is_function(self, expected) == is_function(self, found) {
            return None;
        }
        let name = self.source.name_of(function)?;
        let builtin = self.source.builtin_named(function)?;
        let ty = builtin.get().shown_type();
        Some(match call_of(&name) {
            Some(call) => format!("write `{call}`: `{name}` has the type `{ty}`"),
            None => format!("`{name}` has the type `{ty}`"),
        })
    }

    /// True if two types could be equal, judged by their outermost constructors.
    pub(crate) fn similar(&mut self, a: Ty, b: Ty) -> bool {
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

fn number(source: Source<'_>, id: ExpressionId) -> Option<&Number> {
    if let ExpressionKind::Number(number) = &source.program.expression(id).kind {
        return Some(number);
    }
    None
}

fn text_of(source: Source, id: ExpressionId) -> String {
    source.source_text(id).unwrap_or_else(|| "…".to_string())
}

/// Returns the conversion that an expression applies.
fn conversion(source: Source, id: ExpressionId) -> Option<Arc<str>> {
    let ExpressionKind::Apply(function, _) = &source.program.expression(id).kind else {
        return None;
    };
    source
        .name_of(*function)
        .filter(|name| name.starts_with("to_"))
}

fn literal_hint(number: &Number, wanted: Scalar) -> Option<String> {
    match (&number.value, wanted.is_float()) {
        (NumberValue::Integer(Some(value)), true) if number.suffix.is_none() => {
            Some(format!("write `{value}.0`"))
        }
        (NumberValue::Integer(Some(value)), _) if wanted != Scalar::Bool => {
            Some(format!("write `{value}`"))
        }
        (NumberValue::Decimal(text), true) => Some(format!("write `{text}`")),
        (NumberValue::Decimal(_), false) if wanted != Scalar::Bool => {
            Some("write an integer".to_string())
        }
        (NumberValue::Integer(_), _) | (NumberValue::Decimal(_), false) => None,
    }
}

/// Returns a key that orders the scalar types by the numbers they can hold.
fn width(scalar: Scalar) -> (bool, u32) {
    match scalar {
        Scalar::Bool => (false, 0),
        _ => (scalar.is_float(), scalar.bits()),
    }
}
