//! Number literals: their values at their types, and a check that they are exact (language §1).

use crate::inference::Inference;
use crate::solver::Solver;
use crate::types::{Shallow, TyNode};
use nova_core::{Scalar, ScalarValue};
use nova_diag::{Diagnostic, Span, codes};
use nova_syntax::ast::{ExpressionId, ExpressionKind, Number, NumberValue};

/// Returns the value of a literal at a type, or `None` when the type cannot hold it.
pub(crate) fn literal(number: &Number, scalar: Scalar) -> Option<ScalarValue> {
    match &number.value {
        NumberValue::Integer(value) => integer((*value)?, scalar),
        NumberValue::Decimal(text) => match scalar {
            Scalar::F32 => text
                .parse::<f32>()
                .ok()
                .filter(|value| value.is_finite())
                .map(ScalarValue::F32),
            Scalar::F64 => text
                .parse::<f64>()
                .ok()
                .filter(|value| value.is_finite())
                .map(ScalarValue::F64),
            _ => None,
        },
    }
}

fn integer(value: i128, scalar: Scalar) -> Option<ScalarValue> {
    if scalar == Scalar::Bool {
        return None;
    }
    let held = ScalarValue::from_integer_wrapping(scalar, value);
    let exact = match held {
        // The bounds keep the conversion back from saturating.
        ScalarValue::F32(float) => float.abs() < 1.7e38 && float as i128 == value,
        ScalarValue::F64(float) => float.abs() < 1.7e38 && float as i128 == value,
        _ => held.as_integer() == Some(value),
    };
    exact.then_some(held)
}

/// Returns the error for a literal that its type cannot hold.
pub(crate) fn bad_literal(number: &Number, scalar: Scalar, span: Span) -> Diagnostic {
    let name = scalar.info().name;
    let message = match &number.value {
        NumberValue::Integer(Some(value)) => {
            let exactly = match scalar.is_float() {
                true => " exactly",
                false => "",
            };
            format!("`{name}` cannot hold {value}{exactly}")
        }
        NumberValue::Integer(None) => format!("`{name}` cannot hold a number of this size"),
        NumberValue::Decimal(text) if scalar.is_float() => {
            format!("{text} is too large for `{name}`")
        }
        NumberValue::Decimal(text) => format!("`{name}` cannot hold {text}"),
    };
    let diagnostic =
        Diagnostic::error(codes::BAD_LITERAL, span, message).label(format!("this is `{name}`"));
    match larger(number, scalar).or_else(|| range(scalar)) {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// Returns the range of an integer type.
fn range(scalar: Scalar) -> Option<String> {
    if !scalar.is_integer() {
        return None;
    }
    let bits = scalar.bits();
    let (least, most) = match scalar.is_signed() {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    Some(format!("`{}` holds {least} to {most}", scalar.info().name))
}

/// Returns a type that can hold a number that `scalar` cannot, where the program leaves the type
/// open.
fn larger(number: &Number, scalar: Scalar) -> Option<String> {
    let open = number.suffix.is_some() || matches!(scalar, Scalar::I32 | Scalar::F32);
    if !open {
        return None;
    }
    let candidates: &[(Scalar, &str)] = match (&number.value, scalar.is_float()) {
        (NumberValue::Integer(_), false) => &[(Scalar::I64, "i64"), (Scalar::U64, "u64")],
        (NumberValue::Integer(_), true) | (NumberValue::Decimal(_), true) => &[(Scalar::F64, "L")],
        (NumberValue::Decimal(_), false) => return Some("leave out the suffix".to_string()),
    };
    candidates
        .iter()
        .find(|(wider, _)| *wider != scalar && literal(number, *wider).is_some())
        .map(|(wider, suffix)| {
            format!(
                "`{}`, written with the suffix `{suffix}`, can",
                wider.info().name
            )
        })
}

impl Inference<'_> {
    /// Reports the literals that do not fit their known type.
    pub fn check_literals(&mut self) {
        for id in std::mem::take(&mut self.literals) {
            let mut ty = self.expressions[id.0 as usize];
            if let Shallow::Node(TyNode::Lanes(_, element)) = self.solver.types.shallow(ty) {
                ty = element;
            }
            if let Shallow::Node(TyNode::Scalar(scalar)) = self.solver.types.shallow(ty) {
                self.solver.check_literal(id, scalar);
            }
        }
    }
}

impl Solver<'_> {
    fn check_literal(&mut self, id: ExpressionId, scalar: Scalar) {
        let expression = self.source.program.expression(id);
        if let ExpressionKind::Number(number) = &expression.kind
            && literal(number, scalar).is_none()
        {
            let diagnostic = bad_literal(number, scalar, expression.span);
            self.diagnostics.push(diagnostic);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: i128) -> Number {
        Number {
            value: NumberValue::Integer(Some(value)),
            suffix: None,
        }
    }

    #[test]
    fn an_integer_literal_must_be_exact() {
        assert!(literal(&number(127), Scalar::I8).is_some());
        assert!(literal(&number(128), Scalar::I8).is_none());
        assert!(literal(&number(-1), Scalar::U64).is_none());
        assert!(literal(&number(1 << 24), Scalar::F32).is_some());
        assert!(literal(&number((1 << 24) + 1), Scalar::F32).is_none());
        assert!(literal(&number((1 << 24) + 1), Scalar::F64).is_some());
        assert!(literal(&number(i128::MAX), Scalar::F64).is_none());
    }

    #[test]
    fn a_decimal_literal_must_not_overflow() {
        let decimal = |text: &str| Number {
            value: NumberValue::Decimal(text.into()),
            suffix: None,
        };
        assert!(literal(&decimal("1e39"), Scalar::F32).is_none());
        assert!(literal(&decimal("1e39"), Scalar::F64).is_some());
        assert!(literal(&decimal("1e-60"), Scalar::F32).is_some());
    }
}
