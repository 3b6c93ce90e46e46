//! What variables are known to be, so that what is computed from them needs less.

use super::forward::Forward;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir::{Atom, Expression, Statement, Variable, View};
use nova_flat::{call_expressions, control_expressions, node_expressions, pure_expressions};

/// What a variable is known to be.
pub(super) enum Definition {
    /// The same integer in another type.
    Converted(Atom, Scalar),
    Iota {
        start: Atom,
        step: Atom,
    },
    Replicate(Atom),
    Literal(Vec<Atom>),
    /// The elements of another array, elsewhere.
    View(Variable, View),
}

impl Forward<'_> {
    /// Notes what a statement makes its variable.
    pub(super) fn define(&mut self, statement: &Statement) {
        let [variable] = *statement.pattern.as_slice() else {
            return;
        };
        let definition = match &statement.expression {
            Expression::Iota { start, step, .. } => Definition::Iota {
                start: *start,
                step: *step,
            },
            Expression::Scalar {
                operation: ScalarOperation::Convert(to),
                operand,
                arguments,
            } if to.is_integer() && operand.is_integer() => match arguments[..] {
                [source] => Definition::Converted(source, *operand),
                _ => return,
            },
            Expression::Replicate { value, .. } => Definition::Replicate(*value),
            Expression::Literal { elements, .. } => Definition::Literal(elements.clone()),
            Expression::View { array, view } => Definition::View(*array, view.clone()),
            Expression::Copy(array) => Definition::View(*array, View::Row(Vec::new())),
            Expression::Bytes(_)
            | Expression::Concat { .. }
            | Expression::Update { .. }
            | Expression::Check { .. }
            | Expression::Fail { .. }
            | Expression::Allocate { .. }
            | Expression::Unique(_)
            | Expression::Sort { .. }
            | Expression::Operation(_)
            | pure_expressions!()
            | control_expressions!()
            | call_expressions!()
            | node_expressions!() => return,
        };
        self.definitions.insert(variable, definition);
    }

    /// An integer that is converted to the type that it was converted from.
    pub(super) fn converted_back(
        &self,
        operation: ScalarOperation,
        arguments: &[Atom],
    ) -> Option<Atom> {
        let (ScalarOperation::Convert(to), [Atom::Variable(converted)]) = (operation, arguments)
        else {
            return None;
        };
        match self.definitions.get(converted)? {
            Definition::Converted(source, from) => (*from == to).then_some(*source),
            Definition::Iota { .. }
            | Definition::Replicate(_)
            | Definition::Literal(_)
            | Definition::View(..) => None,
        }
    }

    /// An element of an array that is known without it.
    pub(super) fn known_element(
        &mut self,
        array: Variable,
        indices: &[Atom],
        place: &Place,
        out: &mut Vec<Statement>,
    ) -> Option<Atom> {
        match (self.definitions.get(&array)?, indices) {
            (Definition::Replicate(value), _) => Some(*value),
            (Definition::Literal(elements), [Atom::Constant(ScalarValue::I64(k))]) => {
                elements.get(usize::try_from(*k).ok()?).copied()
            }
            (Definition::Iota { start, step }, [index]) => {
                let (start, step, index) = (*start, *step, *index);
                let scalar = self.program.scalar_of(start).filter(|s| s.is_integer())?;
                let mut compute = |operation, operand, arguments| {
                    self.operation(operation, operand, arguments, place, out)
                };
                let wrap = ScalarOperation::Wrap(scalar);
                let index = compute(wrap, Scalar::I64, vec![index]);
                let distance = compute(ScalarOperation::Multiply, scalar, vec![index, step]);
                Some(compute(ScalarOperation::Add, scalar, vec![start, distance]))
            }
            (Definition::Literal(_) | Definition::Iota { .. } | Definition::View(..), _)
            | (Definition::Converted(..), _) => None,
        }
    }
}
