//! Loops with a meaning of their own, for which the runtime has a function. Passes write them as plain loops, so
//! that interpreters and the checker of races need to know nothing of them. The emitter of C writes a call.

use crate::ir::{Command, Expression, Program, Type, Variable};
use nova_core::{Scalar, ScalarOperation};

/// The meaning of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idiom {
    /// The elements of an array become their reciprocal square roots.
    ReciprocalRoots { array: Variable, element: Scalar },
    /// The elements whose flag is 1 move to the front of their array. Their number is added to `taken`, which
    /// is 0 before the loop.
    Compaction {
        array: Variable,
        kept: Variable,
        taken: Variable,
        bits: u32,
    },
}

impl Idiom {
    /// Returns the meaning of a loop over an index, if it has one.
    pub fn of(program: &Program, index: Variable, body: &[Command]) -> Option<Idiom> {
        match body {
            [store] => Self::reciprocal_roots(index, store),
            [store, count] => Self::compaction(program, index, store, count),
            _others => None,
        }
    }

    fn reciprocal_roots(index: Variable, store: &Command) -> Option<Idiom> {
        let Command::Store {
            pointer,
            index: Expression::Variable(to),
            value:
                Expression::Scalar {
                    operation: ScalarOperation::ReciprocalSqrt,
                    operand,
                    arguments,
                },
        } = store
        else {
            return None;
        };
        let same = load_of(arguments.first()?) == Some((*pointer, index)) && *to == index;
        same.then_some(Idiom::ReciprocalRoots {
            array: *pointer,
            element: *operand,
        })
    }

    fn compaction(
        program: &Program,
        index: Variable,
        store: &Command,
        count: &Command,
    ) -> Option<Idiom> {
        let Command::Store {
            pointer,
            index: Expression::Variable(taken),
            value,
        } = store
        else {
            return None;
        };
        let Command::Assign {
            variable,
            value:
                Expression::Scalar {
                    operation: ScalarOperation::Add,
                    arguments,
                    ..
                },
        } = count
        else {
            return None;
        };
        let [
            Expression::Variable(before),
            Expression::Scalar {
                operation: ScalarOperation::Convert(Scalar::I64),
                operand: Scalar::U8,
                arguments: flags,
            },
        ] = &arguments[..]
        else {
            return None;
        };
        let (kept, at) = load_of(flags.first()?)?;
        let moves = load_of(value) == Some((*pointer, index));
        let counts = variable == taken && before == taken && at == index;
        let Type::Pointer(element) = program.variable(*pointer).ty else {
            return None;
        };
        let bits = element.bits();
        let is_wide = bits == 32 || bits == 64;
        (moves && counts && is_wide && *taken != index && kept != *pointer).then_some(
            Idiom::Compaction {
                array: *pointer,
                kept,
                taken: *taken,
                bits,
            },
        )
    }
}

/// Returns the array and the index of a load, if both are variables.
fn load_of(expression: &Expression) -> Option<(Variable, Variable)> {
    match expression {
        Expression::Load { pointer, index } => match (&**pointer, &**index) {
            (Expression::Variable(pointer), Expression::Variable(index)) => {
                Some((*pointer, *index))
            }
            _others => None,
        },
        _others => None,
    }
}
