//! The forms of expressions.

use super::Parser;
use crate::ir::Expression;
use nova_core::{Scalar, ScalarOperation, ScalarValue, SumId};
use nova_diag::deep;
use nova_syntax::ast::{NumberValue, Suffix};
use nova_syntax::{DatumId, Kind};

/// Reads the items of a form.
type Rule = for<'a> fn(&mut Parser<'a>, DatumId, &'a [DatumId]) -> Option<Expression>;

/// Every form but scalar operations, whose words are those of [`ScalarOperation::short`].
const EXPRESSIONS: [(&str, Rule); 6] = [
    ("bytes", |p, at, items| {
        let [text] = p.exactly(at, items)?;
        p.bytes(text).map(Expression::Bytes)
    }),
    ("null", |p, at, items| {
        let [element] = p.exactly(at, items)?;
        p.scalar(element).map(Expression::NullPointer)
    }),
    ("select", |p, at, items| {
        let [condition, then, otherwise] = p.exactly(at, items)?;
        Some(Expression::Select {
            condition: Box::new(p.expression(condition)?),
            then: Box::new(p.expression(then)?),
            otherwise: Box::new(p.expression(otherwise)?),
        })
    }),
    ("load", |p, at, items| {
        let [pointer, index] = p.exactly(at, items)?;
        Some(Expression::Load {
            pointer: Box::new(p.expression(pointer)?),
            index: Box::new(p.expression(index)?),
        })
    }),
    ("offset", |p, at, items| {
        let [pointer, index] = p.exactly(at, items)?;
        Some(Expression::Offset {
            pointer: Box::new(p.expression(pointer)?),
            index: Box::new(p.expression(index)?),
        })
    }),
    ("tag", |p, at, items| {
        let [sum, link] = p.exactly(at, items)?;
        Some(Expression::NodeTag {
            sum: SumId(p.index(sum)?),
            link: Box::new(p.expression(link)?),
        })
    }),
];

/// Constants that are symbols.
const CONSTANTS: [(&str, ScalarValue); 8] = [
    ("true", ScalarValue::Bool(true)),
    ("false", ScalarValue::Bool(false)),
    ("nan.f32", ScalarValue::F32(f32::NAN)),
    ("nan.f64", ScalarValue::F64(f64::NAN)),
    ("inf.f32", ScalarValue::F32(f32::INFINITY)),
    ("inf.f64", ScalarValue::F64(f64::INFINITY)),
    ("-inf.f32", ScalarValue::F32(f32::NEG_INFINITY)),
    ("-inf.f64", ScalarValue::F64(f64::NEG_INFINITY)),
];

impl<'a> Parser<'a> {
    /// An expression.
    pub(super) fn expression(&mut self, id: DatumId) -> Option<Expression> {
        deep(|| match self.data.kind(id) {
            Kind::Number(_) => self.number(id).map(Expression::Constant),
            Kind::Symbol(symbol) if &**symbol == "null" => Some(Expression::NullBlock),
            Kind::Symbol(symbol) => match CONSTANTS.iter().find(|c| c.0 == &**symbol) {
                Some((_, value)) => Some(Expression::Constant(*value)),
                None => self.variable(id).map(Expression::Variable),
            },
            Kind::List(_) => self.form(id),
            Kind::TypeVariable(_)
            | Kind::Text(_)
            | Kind::Colon
            | Kind::Comma
            | Kind::Vector(_)
            | Kind::Project(..) => self.error(id, "an expression is expected here"),
        })
    }

    /// Expressions behind each other.
    pub(super) fn expressions(&mut self, items: &[DatumId]) -> Option<Vec<Expression>> {
        items.iter().map(|item| self.expression(*item)).collect()
    }

    /// `[a b c]`.
    pub(super) fn arguments(&mut self, id: DatumId) -> Option<Vec<Expression>> {
        let items = self.items(id)?;
        self.expressions(items)
    }

    fn form(&mut self, id: DatumId) -> Option<Expression> {
        let Some((word, items)) = self.data.form(id) else {
            return self.error(id, "an expression starts with a word");
        };
        if let Some((_, rule)) = EXPRESSIONS.iter().find(|e| e.0 == word) {
            return rule(self, id, items);
        }
        let Some(operation) = ScalarOperation::by_short(word) else {
            return self.error(id, "there is no such expression");
        };
        let Some((operand, arguments)) = items.split_first() else {
            return self.error(id, "an operation names the type of its operands");
        };
        Some(Expression::Scalar {
            operation,
            operand: self.scalar(*operand)?,
            arguments: self.expressions(arguments)?,
        })
    }

    /// A number; without suffix an `i64`.
    fn number(&mut self, id: DatumId) -> Option<ScalarValue> {
        let number = self.data.as_number(id)?;
        let value = match number.suffix {
            Some(Suffix::Double) => self.data.as_float(id).map(ScalarValue::F64),
            // Read as a float at once: by way of a double it would be rounded twice.
            Some(Suffix::Float) => match &number.value {
                NumberValue::Decimal(text) => text.parse().ok().map(ScalarValue::F32),
                NumberValue::Integer(value) => value.map(|v| ScalarValue::F32(v as f32)),
            },
            Some(Suffix::Signed(bits)) => self.integer(id, &format!("i{bits}")),
            Some(Suffix::Unsigned(bits)) => self.integer(id, &format!("u{bits}")),
            None => self.integer(id, "i64"),
        };
        match value {
            Some(value) => Some(value),
            None => self.error(id, "no number of its type: a decimal one needs `f` or `L`"),
        }
    }

    /// An integer that its type holds.
    fn integer(&self, id: DatumId, short: &str) -> Option<ScalarValue> {
        let value = self.data.as_integer(id)?;
        let scalar = Scalar::by_short(short)?;
        let held = ScalarValue::from_integer_wrapping(scalar, value);
        (held.as_integer() == Some(value)).then_some(held)
    }
}
