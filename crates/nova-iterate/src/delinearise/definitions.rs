//! The scalar operations of a function, by the variable that holds the result.

use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{Atom, Body, Expression, Statement, Variable};
use nova_flat::visit::each_statement;
use std::collections::HashMap;

/// A scalar operation.
#[derive(Clone)]
pub(super) struct Definition {
    pub(super) operation: ScalarOperation,
    pub(super) operand: Scalar,
    pub(super) arguments: Vec<Atom>,
}

/// The scalar operations of a function.
#[derive(Default)]
pub(super) struct Definitions(HashMap<Variable, Definition>);

impl Definitions {
    /// Notes all operations below a body.
    pub(super) fn note(&mut self, body: &Body) {
        each_statement(body, &mut |statement| self.note_statement(statement));
    }

    /// Notes the operation of a statement, if it is one.
    pub(super) fn note_statement(&mut self, statement: &Statement) {
        if let (
            [variable],
            Expression::Scalar {
                operation,
                operand,
                arguments,
            },
        ) = (&statement.pattern[..], &statement.expression)
        {
            let (operation, operand, arguments) = (*operation, *operand, arguments.clone());
            let definition = Definition {
                operation,
                operand,
                arguments,
            };
            self.0.insert(*variable, definition);
        }
    }

    /// Returns the operation that gives an atom.
    pub(super) fn of(&self, atom: Atom) -> Option<&Definition> {
        self.0.get(&atom.as_variable()?)
    }

    /// Returns all operations.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Variable, &Definition)> {
        self.0.iter()
    }

    /// Returns what an integer was converted from, and clamped to 0 from, at first.
    pub(super) fn source(&self, atom: Atom) -> Atom {
        let mut source = atom;
        while let Some(definition) = self.of(source) {
            let zero = |a: &Atom| a.as_constant().and_then(ScalarValue::as_integer) == Some(0);
            source = match (definition.operation, &definition.arguments[..]) {
                (ScalarOperation::Convert(to) | ScalarOperation::Wrap(to), [from])
                    if is_index(to) && is_index(definition.operand) =>
                {
                    *from
                }
                (ScalarOperation::Maximum, [one, other]) if zero(other) => *one,
                (ScalarOperation::Maximum, [one, other]) if zero(one) => *other,
                _ => return source,
            };
        }
        source
    }
}

/// True for the types in which programs compute indices.
pub(super) fn is_index(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::I32 | Scalar::I64)
}
