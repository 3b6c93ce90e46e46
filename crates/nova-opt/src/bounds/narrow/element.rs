//! Spans of one element in each dimension. The map is an update where that element exists.

use super::super::affine::Affine;
use super::{Span, Unchanged, decide};
use crate::bounds::code::Code;
use crate::bounds::state::Bounds;
use nova_core::ScalarOperation::{Less, LessEqual};
use nova_core::ScalarValue;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Variable};
use std::collections::HashMap;

impl Span {
    /// Returns the only index of the span, if there is exactly one.
    fn only(&self) -> Option<&Affine> {
        match (&self.least[..], &self.ends[..]) {
            ([first], [end]) if first.shifted(1).as_ref() == Some(end) => Some(first),
            (_, _) => None,
        }
    }
}

impl Bounds<'_> {
    /// Returns an expression that gives the arrays with one element replaced. Adds the code that
    /// must precede it. Returns `None` where spans may have several elements. The element is
    /// computed before it is stored, so it may depend on any elements.
    pub(super) fn element(
        &mut self,
        operation: &ArrayOperation,
        unchanged: &Unchanged,
        spans: &[Span],
        decided: &HashMap<Variable, bool>,
        code: &mut Code,
    ) -> Option<Expression> {
        let indices: Option<Vec<&Affine>> = spans.iter().map(Span::only).collect();
        let mut exists = Atom::Constant(ScalarValue::Bool(true));
        let mut body = operation.body.clone();
        let mut at = Vec::new();
        for ((sum, extent), index) in indices?
            .iter()
            .zip(&operation.shape)
            .zip(&operation.indices)
        {
            let number = self.sum(sum, code)?;
            let zero = Affine::constant(0);
            if !self.is_at_most(&zero, sum) {
                let holds = self.compute(LessEqual, vec![Atom::index(0), number], code);
                exists = self.and(exists, holds, code);
            }
            let last = self.value(*extent).and_then(|extent| extent.shifted(-1));
            if !last.is_some_and(|last| self.is_at_most(sum, &last)) {
                let holds = self.compute(Less, vec![number, *extent], code);
                exists = self.and(exists, holds, code);
            }
            body.statements
                .insert(0, code.statement(vec![*index], Expression::Atom(number)));
            at.push(number);
        }
        decide(&mut body, decided);
        let values = std::mem::take(&mut body.results);
        for (array, value) in unchanged.arrays.iter().zip(values) {
            let ty = self.program.ty(*array).clone();
            let result = self.program.add_variable("t", ty);
            let update = Expression::Update {
                array: *array,
                indices: at.clone(),
                value,
            };
            body.statements.push(code.statement(vec![result], update));
            body.results.push(Atom::Variable(result));
        }
        let same = Body {
            statements: Vec::new(),
            results: unchanged
                .arrays
                .iter()
                .map(|a| Atom::Variable(*a))
                .collect(),
        };
        Some(Expression::If {
            condition: exists,
            then: body,
            otherwise: same,
        })
    }
}
