//! The parser of expressions: a table of their forms.

use super::Parser;
use crate::ir::{Combined, Expression};
use nova_core::forms::read::named_constant;
use nova_core::{ScalarOperation, ScalarValue, SumId};
use nova_diag::deep;
use nova_syntax::{DatumId, Kind};

/// Reads the items of a form.
type Rule = for<'a> fn(&mut Parser<'a>, DatumId, &'a [DatumId]) -> Option<Expression>;

/// Every form except scalar operations, whose keywords are those of [`ScalarOperation::short`].
const EXPRESSIONS: [(&str, Rule); 7] = [
    ("bytes", |p, at, items| {
        let [text] = p.text.exactly(at, items)?;
        p.text.bytes(text).map(Expression::Bytes)
    }),
    ("data", |p, at, items| {
        let [element, values] = p.text.exactly(at, items)?;
        let element = p.text.scalar(element)?;
        let values = p.arguments(values)?.into_iter().map(|value| match value {
            Expression::Constant(value) if value.scalar() == element => Some(value),
            _others => None,
        });
        match values.collect::<Option<Vec<ScalarValue>>>() {
            Some(values) => Some(Expression::Data(element, values.into())),
            None => p.text.error(at, "data are constants of their type"),
        }
    }),
    ("null", |p, at, items| {
        let [element] = p.text.exactly(at, items)?;
        p.text.scalar(element).map(Expression::NullPointer)
    }),
    ("select", |p, at, items| {
        let [condition, then, otherwise] = p.text.exactly(at, items)?;
        Some(Expression::Select {
            condition: Box::new(p.expression(condition)?),
            then: Box::new(p.expression(then)?),
            otherwise: Box::new(p.expression(otherwise)?),
        })
    }),
    ("load", |p, at, items| {
        let [pointer, index] = p.text.exactly(at, items)?;
        Some(Expression::Load {
            pointer: Box::new(p.expression(pointer)?),
            index: Box::new(p.expression(index)?),
        })
    }),
    ("offset", |p, at, items| {
        let (extent, items) = match items {
            [rest @ .., extent] if rest.len() == 2 => (Some(p.expression(*extent)?), rest),
            items => (None, items),
        };
        let [pointer, index] = p.text.exactly(at, items)?;
        Some(Expression::Offset {
            pointer: Box::new(p.expression(pointer)?),
            index: Box::new(p.expression(index)?),
            extent: extent.map(Box::new),
        })
    }),
    ("tag", |p, at, items| {
        let [sum, link] = p.text.exactly(at, items)?;
        Some(Expression::NodeTag {
            sum: SumId(p.text.index(sum)?),
            link: Box::new(p.expression(link)?),
        })
    }),
];

impl<'a> Parser<'a> {
    /// Reads an expression.
    pub(super) fn expression(&mut self, id: DatumId) -> Option<Expression> {
        deep(|| match self.text.data.kind(id) {
            Kind::Number(_) => self.text.number(id).map(Expression::Constant),
            Kind::Symbol(symbol) if &**symbol == "null" => Some(Expression::NullBlock),
            Kind::Symbol(symbol) => match named_constant(symbol) {
                Some(value) => Some(Expression::Constant(value)),
                None => self.variable(id).map(Expression::Variable),
            },
            Kind::List(_) => self.form(id),
            Kind::TypeVariable(_)
            | Kind::Text(_)
            | Kind::Colon
            | Kind::Comma
            | Kind::Vector(_)
            | Kind::Project(..) => self.text.error(id, "an expression is expected here"),
        })
    }

    /// Reads a sequence of expressions.
    pub(super) fn expressions(&mut self, items: &[DatumId]) -> Option<Vec<Expression>> {
        items.iter().map(|item| self.expression(*item)).collect()
    }

    /// `[a b c]`.
    pub(super) fn arguments(&mut self, id: DatumId) -> Option<Vec<Expression>> {
        let items = self.text.items(id)?;
        self.expressions(items)
    }

    /// Reads the keyword of a scalar operation.
    pub(super) fn operation(&mut self, id: DatumId) -> Option<ScalarOperation> {
        let word = match self.text.data.kind(id) {
            Kind::Symbol(symbol) => ScalarOperation::by_short(symbol),
            _ => None,
        };
        match word {
            Some(operation) => Some(operation),
            None => self.text.error(id, "an operation is expected here"),
        }
    }

    /// Reads the keyword for the results of a tree reduction.
    pub(super) fn combined(&mut self, id: DatumId) -> Option<Combined> {
        let word = match self.text.data.kind(id) {
            Kind::Symbol(symbol) => Combined::ALL.into_iter().find(|c| c.name() == &**symbol),
            _ => None,
        };
        match word {
            Some(combined) => Some(combined),
            None => self
                .text
                .error(id, "`tree`, `tree_lanes` or `tree_rows` is expected here"),
        }
    }

    fn form(&mut self, id: DatumId) -> Option<Expression> {
        let Some((word, items)) = self.text.data.form(id) else {
            return self.text.error(id, "an expression starts with a word");
        };
        if let Some((_, rule)) = EXPRESSIONS.iter().find(|e| e.0 == word) {
            return rule(self, id, items);
        }
        let Some(operation) = ScalarOperation::by_short(word) else {
            return self.text.error(id, "there is no such expression");
        };
        let Some((operand, arguments)) = items.split_first() else {
            return self
                .text
                .error(id, "an operation names the type of its operands");
        };
        Some(Expression::Scalar {
            operation,
            operand: self.text.scalar(*operand)?,
            arguments: self.expressions(arguments)?,
        })
    }
}
