//! Loops with a condition on what they count: `i < n`, where each round adds 1 to `i`, or `i > n`, where it takes 1
//! away, and `n` is known before. How often they run is known, so that they are operations.

use super::added_to;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir::{ArrayOperation, Atom, Expression, Level, Program, Statement, Type, Variable};
use nova_flat::visit::used_variables;

/// Which way a loop counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

/// A loop of which it is known how often it runs.
struct Counted {
    way: Way,
    scalar: Scalar,
    start: Atom,
    limit: Atom,
}

/// Makes an operation of a loop that counts; gives what has to stand before it.
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
    // The condition is asked before anything else is done, so what its comparison needs is computed in any case.
    condition.statements.pop();
    before.append(&mut condition.statements);
    let (carries, body) = (std::mem::take(parameters), std::mem::take(body));
    let rounds = counted.rounds(program, &statement.place, &mut before);
    let index = program.add_variable("round", Type::Scalar(Scalar::I64));
    statement.expression = Expression::Operation(ArrayOperation {
        shape: vec![rounds],
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
        let (k, limit, way) = match (operation, state(left), state(right)) {
            (ScalarOperation::Less, Some(k), None) => (k, right, Way::Up),
            (ScalarOperation::Greater, None, Some(k)) => (k, left, Way::Up),
            (ScalarOperation::Greater, Some(k), None) => (k, right, Way::Down),
            (ScalarOperation::Less, None, Some(k)) => (k, left, Way::Down),
            (_, _, _) => return None,
        };
        let (counter, start) = *parameters.get(k)?;
        let (change, step) = added_to(counter, body, *body.results.get(k)?)?;
        let number = |value| Atom::Constant(ScalarValue::from_integer_wrapping(*operand, value));
        let counts = match way {
            Way::Up => change == ScalarOperation::Add && step == number(1),
            Way::Down => {
                change == ScalarOperation::Subtract && step == number(1)
                    || change == ScalarOperation::Add && step == number(-1)
            }
        };
        let counted = Counted {
            way,
            scalar: *operand,
            start,
            limit,
        };
        let known = program.scalar_of(start) == Some(*operand) && counted.is_exact();
        (counts && known).then_some(counted)
    }

    /// Whether the distance between both ends is an `i64`.
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
            && (self.scalar.bits() < 64 || self.scalar == Scalar::I64 && is_natural(lowest))
    }

    /// How often the loop runs.
    fn rounds(&self, program: &mut Program, place: &Place, before: &mut Vec<Statement>) -> Atom {
        let mut write = Writer {
            program,
            place,
            statements: before,
        };
        let [start, limit] = [self.start, self.limit].map(|number| match self.scalar {
            Scalar::I64 => number,
            scalar => {
                let widened = Expression::Scalar {
                    operation: ScalarOperation::Convert(Scalar::I64),
                    operand: scalar,
                    arguments: vec![number],
                };
                write.bound("end", Scalar::I64, widened)
            }
        });
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
}

/// Whether it is the same to do something once or several times, one after the other.
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

/// Whether a statement without bodies uses states of a loop.
fn uses(statement: &Statement, parameters: &[(Variable, Atom)]) -> bool {
    let mut found = false;
    used_variables(&statement.expression, &mut |v| {
        found |= parameters.iter().any(|(state, _)| *state == v);
    });
    found
}
