//! Counted loops with a condition. The condition is `i < n` or `i ≠ n` where each iteration adds 1
//! to `i`. It is `i > n` or `i ≠ n` where each iteration subtracts 1. The limit `n` is known before
//! the loop. The number of iterations is then known, so these loops become operations.

use super::added::added_to;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Program, Statement, Type, Variable,
};
use nova_flat::visit::used_variables;

/// The direction in which a loop counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

/// A loop whose number of iterations is known.
struct Counted {
    way: Way,
    /// True if it ends only where it meets its limit, perhaps after the counter has wrapped around.
    meets: bool,
    scalar: Scalar,
    start: Atom,
    limit: Atom,
}

/// Turns a counted loop into an operation. Returns the statements that must precede it.
pub(super) fn make_operation(program: &mut Program, statement: &mut Statement) -> Vec<Statement> {
    let mut before = Vec::new();
    let Some(counted) = Counted::of(program, &statement.expression) else {
        return before;
    };
    let Expression::While {
        parameters,
        condition,
        body,
    } = &mut statement.expression
    else {
        return before;
    };
    // The condition is evaluated before anything else, so the operands of its comparison are
    // computed in any case.
    condition.statements.pop();
    before.append(&mut condition.statements);
    let (carries, body) = (std::mem::take(parameters), std::mem::take(body));
    let iterations = counted.iterations(program, &statement.place, &mut before);
    let index = program.add_variable("round", Type::Scalar(Scalar::I64));
    statement.expression = Expression::Operation(ArrayOperation {
        shape: vec![iterations],
        indices: vec![index],
        level: Level::Sequential,
        strategy: None,
        carries,
        body,
        outputs: Vec::new(),
    });
    before
}

impl Counted {
    fn of(program: &Program, expression: &Expression) -> Option<Counted> {
        let Expression::While {
            parameters,
            condition,
            body,
        } = expression
        else {
            return None;
        };
        let (
            Statement {
                pattern,
                expression,
                ..
            },
            others,
        ) = condition.statements.split_last()?;
        let ([holds], [result]) = (&pattern[..], &condition.results[..]) else {
            return None;
        };
        let state = |atom: Atom| {
            let is = |(v, _): &(Variable, Atom)| Atom::Variable(*v) == atom;
            parameters.iter().position(is)
        };
        let may_move = |s: &Statement| is_plain(&s.expression) && !uses(s, parameters);
        if *result != Atom::Variable(*holds) || !others.iter().all(may_move) {
            return None;
        }
        let Expression::Scalar {
            operation,
            operand,
            arguments,
        } = expression
        else {
            return None;
        };
        let [left, right] = arguments[..] else {
            return None;
        };
        let (k, limit) = match (state(left), state(right)) {
            (Some(k), None) => (k, right),
            (None, Some(k)) => (k, left),
            (_, _) => return None,
        };
        let is_left = limit == right;
        let (counter, start) = *parameters.get(k)?;
        let (change, step) = added_to(counter, body, *body.results.get(k)?)?;
        let number = |value| Atom::Constant(ScalarValue::from_integer_wrapping(*operand, value));
        let way = match change {
            ScalarOperation::Add if step == number(1) => Way::Up,
            ScalarOperation::Add if step == number(-1) => Way::Down,
            ScalarOperation::Subtract if step == number(1) => Way::Down,
            _ => return None,
        };
        let meets = match (operation, way) {
            (ScalarOperation::NotEqual, _) => true,
            (ScalarOperation::Less, Way::Up) | (ScalarOperation::Greater, Way::Down) if is_left => {
                false
            }
            (ScalarOperation::Greater, Way::Up) | (ScalarOperation::Less, Way::Down)
                if !is_left =>
            {
                false
            }
            (_, _) => return None,
        };
        let counted = Counted {
            way,
            meets,
            scalar: *operand,
            start,
            limit,
        };
        let known = program.scalar_of(start) == Some(*operand) && counted.is_exact();
        known.then_some(counted)
    }

    /// True if the number of iterations between both ends is an `i64`. It always is for a loop that
    /// only ends where it meets its limit: 2⁶³ iterations never end.
    fn is_exact(&self) -> bool {
        let is_natural = |atom: Atom| match atom {
            Atom::Constant(value) => value.as_integer().is_some_and(|number| number >= 0),
            Atom::Variable(_) => false,
        };
        let lowest = match self.way {
            Way::Up => self.start,
            Way::Down => self.limit,
        };
        self.scalar.is_integer()
            && (self.scalar.bits() < 64
                || self.meets
                || self.scalar == Scalar::I64 && is_natural(lowest))
    }

    /// Returns the number of iterations of the loop.
    fn iterations(
        &self,
        program: &mut Program,
        place: &Place,
        before: &mut Vec<Statement>,
    ) -> Atom {
        let mut write = Writer {
            program,
            place,
            statements: before,
        };
        let [start, limit] = [self.start, self.limit].map(|number| match self.scalar {
            Scalar::I64 => number,
            scalar => {
                let operation = match scalar {
                    Scalar::U64 => ScalarOperation::Wrap(Scalar::I64),
                    _ => ScalarOperation::Convert(Scalar::I64),
                };
                let widened = Expression::Scalar {
                    operation,
                    operand: scalar,
                    arguments: vec![number],
                };
                write.bound("end", Scalar::I64, widened)
            }
        });
        if self.meets {
            let distance = match self.way {
                Way::Up => [limit, start],
                Way::Down => [start, limit],
            };
            let distance = write.scalar("distance", ScalarOperation::Subtract, distance);
            return self.around(distance, &mut write);
        }
        let farther = match self.way {
            Way::Up => ScalarOperation::Maximum,
            Way::Down => ScalarOperation::Minimum,
        };
        let end = write.scalar("end", farther, [limit, start]);
        let distance = match self.way {
            Way::Up => [end, start],
            Way::Down => [start, end],
        };
        write.scalar("rounds", ScalarOperation::Subtract, distance)
    }

    /// Returns the number of iterations for a distance that may wrap around the range of the type.
    fn around(&self, distance: Atom, write: &mut Writer) -> Atom {
        let is_around = write.scalar("around", ScalarOperation::Less, [distance, Atom::index(0)]);
        let mut then = Body::default();
        let iterations = match self.scalar.bits() {
            64.. => Atom::index(i64::MAX),
            bits => Writer {
                program: &mut *write.program,
                place: write.place,
                statements: &mut then.statements,
            }
            .scalar(
                "rounds",
                ScalarOperation::Add,
                [distance, Atom::index(1 << bits)],
            ),
        };
        then.results = vec![iterations];
        let choice = Expression::If {
            condition: is_around,
            then,
            otherwise: Body {
                statements: Vec::new(),
                results: vec![distance],
            },
        };
        write.bound("rounds", Scalar::I64, choice)
    }
}

/// True if evaluating an expression several times, one after the other, is the same as once.
fn is_plain(expression: &Expression) -> bool {
    matches!(
        expression,
        Expression::Atom(_)
            | Expression::Scalar { .. }
            | Expression::Check { .. }
            | Expression::Index { .. }
            | Expression::View { .. }
    )
}

/// True if a statement without bodies uses states of a loop.
fn uses(statement: &Statement, parameters: &[(Variable, Atom)]) -> bool {
    let mut found = false;
    used_variables(&statement.expression, &mut |v| {
        found |= parameters.iter().any(|(state, _)| *state == v);
    });
    found
}
