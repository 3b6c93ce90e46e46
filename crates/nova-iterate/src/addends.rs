//! Conditional additions to states of loops: `(if c (+ s e) s)` becomes `(+ s (if c e 0))`. The
//! addend then does not depend on the state, so the state is a running result. Threads can share
//! it, and C compilers have vector instructions for it.
//!
//! Integers wrap around, so nothing changes for them. A float plus -0.0 is itself, zeros of either
//! sign and NaN included. A float less a number is the float plus the negated number.

use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Program, Statement, Type, Variable};
use nova_flat::visit::{binding, binds, each_body_mut, each_function, each_variable};

/// Changes the loops of every function.
pub fn run(program: &mut Program) {
    each_function(program, |program, body| {
        each_body_mut(body, &mut |inner| {
            for statement in &mut inner.statements {
                if let Expression::Operation(operation) = &mut statement.expression
                    && !operation.is_marked()
                {
                    in_operation(program, operation);
                }
            }
        });
    });
}

fn in_operation(program: &mut Program, operation: &mut ArrayOperation) {
    for k in 0..operation.carries.len() {
        let (Some((carry, _)), Some(result)) =
            (operation.carries.get(k), operation.body.results.get(k))
        else {
            return;
        };
        let (carry, result) = (*carry, *result);
        // The extents of other states may name this one.
        let mut arrays = operation
            .carries
            .iter()
            .map(|(state, _)| program.ty(*state));
        let is_extent = |ty: &Type| ty.shape().contains(&Atom::Variable(carry));
        if !arrays.any(is_extent)
            && let Some(state) = State::of(program, carry)
            && state.is_changed_by_choice(program, &operation.body, result)
        {
            state.add_outside(program, &mut operation.body, result, k);
        }
    }
}

/// A state, and the addend where the state does not change.
struct State {
    carry: Variable,
    nothing: ScalarValue,
}

/// A number that an iteration adds to a state, or subtracts from it.
#[derive(Clone, Copy)]
enum Change {
    More(Atom),
    Less(Atom),
}

impl State {
    fn of(program: &Program, carry: Variable) -> Option<State> {
        let Type::Scalar(scalar) = *program.ty(carry) else {
            return None;
        };
        let nothing = match scalar {
            Scalar::F32 => ScalarValue::F32(-0.0),
            Scalar::F64 => ScalarValue::F64(-0.0),
            scalar if scalar.is_integer() => ScalarValue::from_integer_wrapping(scalar, 0),
            _others => return None,
        };
        Some(State { carry, nothing })
    }

    /// True if conditionals of a body make a result by choosing an addend of the state, and nothing
    /// else in the body reads the state.
    fn is_changed_by_choice(&self, program: &Program, body: &Body, result: Atom) -> bool {
        let chosen =
            binding(body, result).is_some_and(|s| matches!(s.expression, Expression::If { .. }));
        let mut uses = 0;
        each_variable(program, body, &mut |_| {}, &mut |v| {
            uses += usize::from(v == self.carry);
        });
        chosen && self.reads(body, result) == Some(uses)
    }

    /// Returns the number of reads of the state that give a result. The result must be the state,
    /// as it is or with something added.
    fn reads(&self, body: &Body, result: Atom) -> Option<usize> {
        if result == Atom::Variable(self.carry) {
            return Some(1);
        }
        let statement = binding(body, result)?;
        match &statement.expression {
            Expression::Scalar {
                operation,
                arguments,
                ..
            } => self.change(*operation, arguments).map(|_| 1),
            Expression::If {
                then, otherwise, ..
            } => {
                let k = statement
                    .pattern
                    .iter()
                    .position(|v| Atom::Variable(*v) == result)?;
                let one = deep(|| self.reads(then, *then.results.get(k)?))?;
                let other = deep(|| self.reads(otherwise, *otherwise.results.get(k)?))?;
                Some(one + other)
            }
            _others => None,
        }
    }

    fn change(&self, operation: ScalarOperation, arguments: &[Atom]) -> Option<Change> {
        let own = Atom::Variable(self.carry);
        match (operation, arguments) {
            (ScalarOperation::Add, [left, right]) if *left == own && *right != own => {
                Some(Change::More(*right))
            }
            (ScalarOperation::Add, [left, right]) if *right == own && *left != own => {
                Some(Change::More(*left))
            }
            (ScalarOperation::Subtract, [left, right]) if *left == own && *right != own => {
                Some(Change::Less(*right))
            }
            (_, _) => None,
        }
    }

    /// Computes a result of a body, that of state `k`, from the addends that its conditionals give.
    fn add_outside(&self, program: &mut Program, body: &mut Body, result: Atom, k: usize) {
        let Some(addend) = self.added(program, body, result) else {
            return;
        };
        let place = binding(body, result).map(|s| s.place.clone());
        let (Some(place), Some(scalar)) = (place, program.scalar_of(addend)) else {
            return;
        };
        let next = program.add_variable("next", Type::Scalar(scalar));
        body.statements.push(Statement {
            pattern: vec![next],
            expression: Expression::Scalar {
                operation: ScalarOperation::Add,
                operand: scalar,
                arguments: vec![Atom::Variable(self.carry), addend],
            },
            place,
        });
        if let Some(result) = body.results.get_mut(k) {
            *result = Atom::Variable(next);
        }
    }

    /// Returns the addend of the state that gives a result. Conditionals give it as an additional
    /// result.
    fn added(&self, program: &mut Program, body: &mut Body, result: Atom) -> Option<Atom> {
        if result == Atom::Variable(self.carry) {
            return Some(Atom::Constant(self.nothing));
        }
        let at = body.statements.iter().position(|s| binds(s, result))?;
        let statement = body.statements.get_mut(at)?;
        match &mut statement.expression {
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => match self.change(*operation, arguments)? {
                Change::More(atom) => Some(atom),
                Change::Less(atom) => {
                    let ty = Type::Scalar(*operand);
                    let negated = program.add_variable("added", ty);
                    let negate = Statement {
                        pattern: vec![negated],
                        expression: Expression::Scalar {
                            operation: ScalarOperation::Negate,
                            operand: *operand,
                            arguments: vec![atom],
                        },
                        place: statement.place.clone(),
                    };
                    body.statements.insert(at, negate);
                    Some(Atom::Variable(negated))
                }
            },
            Expression::If {
                then, otherwise, ..
            } => {
                let k = statement
                    .pattern
                    .iter()
                    .position(|v| Atom::Variable(*v) == result)?;
                for branch in [then, otherwise] {
                    let own = *branch.results.get(k)?;
                    let added = deep(|| self.added(program, branch, own))?;
                    branch.results.push(added);
                }
                let ty = Type::Scalar(self.nothing.scalar());
                let chosen = program.add_variable("added", ty);
                statement.pattern.push(chosen);
                Some(Atom::Variable(chosen))
            }
            _others => None,
        }
    }
}
