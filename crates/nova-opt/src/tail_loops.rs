//! Functions that call themselves last become loops. `(define go … (if (< i n) (go … (+ i 1)) a))`
//! becomes what `while` is. Passes that handle loops then apply to it, and it is inlined in its
//! callers.
//!
//! Such a function ends in conditionals whose branches call it, or end it. The loop's condition
//! follows the conditionals to tell whether a call is at the end. An iteration follows them to the
//! calls and gives the arguments, which are the next parameters. After the loop, the rest of the
//! function ends it. All three evaluate the statements before the conditionals. So functions that
//! do more there than [`is_repeatable`] allows stay calls, as do functions that also call
//! themselves elsewhere.

use crate::limits::STATEMENTS_BEFORE_A_TAIL_CALL;
use crate::tail_calls::each_tail_call;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, FunctionId, Program, Statement, Type, Variable};
use nova_flat::pure_expressions;
use nova_flat::recursion;
use nova_flat::visit::{
    Substitution, bodies, bodies_mut, each_statement, fresh_copy, fresh_variables, size,
};

/// Turns functions that call themselves last and nowhere else into loops.
pub fn run(program: &mut Program) {
    for k in 0..program.functions.len() {
        let own = FunctionId(k as u32);
        if let Some(body) = Recursion::of(program, own).and_then(|found| found.as_loop(program)) {
            program.functions[k].body = body;
        }
    }
    recursion::mark(program);
}

/// The ends of a body: calls of its own function, something else, or some of both.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Calls,
    Exits,
    Both,
}

/// A function whose calls of itself are all at its ends.
struct Recursion {
    own: FunctionId,
    body: Body,
    /// The parameters that some call changes.
    states: Vec<Variable>,
    /// A flag for each parameter: true if it is one of the states.
    is_state: Vec<bool>,
}

impl Recursion {
    fn of(program: &Program, own: FunctionId) -> Option<Recursion> {
        let function = program.functions.get(own.index())?;
        let mut all = 0;
        each_statement(&function.body, &mut |statement| {
            all += usize::from(is_call(own, statement));
        });
        if all == 0 {
            return None;
        }
        let mut body = function.body.clone();
        let mut calls = Vec::new();
        each_tail_call(&mut body, &mut |callee, arguments, _| {
            if *callee == own {
                calls.push(arguments.clone());
            }
        });
        if all > calls.len() {
            return None;
        }
        let parameters = function.parameters.iter().enumerate();
        let is_state: Vec<bool> = parameters
            .map(|(k, own)| {
                calls
                    .iter()
                    .any(|given| given.get(k) != Some(&Atom::Variable(*own)))
            })
            .collect();
        let states = function.parameters.iter().zip(&is_state);
        let found = Recursion {
            own,
            body,
            states: states.filter(|(_, is)| **is).map(|(v, _)| *v).collect(),
            is_state,
        };
        let mut length = 0;
        let is_loop =
            found.ends(&found.body) == Ends::Both && found.may_repeat(&found.body, &mut length);
        is_loop.then_some(found)
    }

    /// Returns the function as a loop.
    fn as_loop(&self, program: &mut Program) -> Option<Body> {
        let condition = self.condition(program, &self.body);
        let iteration = self.only(Ends::Calls, program, self.body.clone())?;
        let rest = self.only(Ends::Exits, program, self.body.clone())?;
        let place = self.body.statements.last()?.place.clone();

        let mut now = Substitution::default();
        let parameters = fresh_variables(program, &self.states, &mut now);
        let condition = fresh_copy(program, &condition, &mut now.clone());
        let iteration = fresh_copy(program, &iteration, &mut now);
        let mut after = Substitution::default();
        let pattern = fresh_variables(program, &self.states, &mut after);
        let mut rest = fresh_copy(program, &rest, &mut after);
        let starts = self.states.iter().map(|v| Atom::Variable(*v));
        let repeated = Statement {
            pattern,
            expression: Expression::While {
                parameters: parameters.into_iter().zip(starts).collect(),
                condition,
                body: iteration,
            },
            place,
        };
        rest.statements.insert(0, repeated);
        Some(rest)
    }

    fn ends(&self, body: &Body) -> Ends {
        let Some(last) = last_statement(body) else {
            return Ends::Exits;
        };
        if is_call(self.own, last) {
            return Ends::Calls;
        }
        let mut found = None;
        branches(last, &mut |branch| {
            let here = deep(|| self.ends(branch));
            found = match found {
                Some(before) if before != here => Some(Ends::Both),
                _ => Some(here),
            };
        });
        found.unwrap_or(Ends::Exits)
    }

    /// True if the statements before conditionals that lead to both ends may be computed more than
    /// once. Adds the number of these statements to `length`.
    fn may_repeat(&self, body: &Body, length: &mut usize) -> bool {
        let (Ends::Both, Some((last, others))) = (self.ends(body), body.statements.split_last())
        else {
            return true;
        };
        let mut may = others.iter().all(|s| is_repeatable(&s.expression));
        *length += others.len() + 1;
        may = may && *length <= STATEMENTS_BEFORE_A_TAIL_CALL;
        branches(last, &mut |branch| {
            may = may && deep(|| self.may_repeat(branch, length));
        });
        may
    }

    /// Returns code that tests whether a body ends in a call.
    fn condition(&self, program: &mut Program, body: &Body) -> Body {
        let constant = |value| Atom::Constant(ScalarValue::Bool(value));
        let mut asked = Body::default();
        let last = match self.ends(body) {
            Ends::Calls | Ends::Exits => None,
            Ends::Both => body.statements.split_last(),
        };
        let Some((last, others)) = last else {
            asked.results = vec![constant(self.ends(body) == Ends::Calls)];
            return asked;
        };
        asked.statements.extend_from_slice(others);
        let mut is = Vec::new();
        branches(last, &mut |branch| is.push(self.ends(branch)));
        let holds = program.add_variable("calls", Type::Scalar(Scalar::Bool));
        let mut expression = last.expression.clone();
        match (&expression, &is[..]) {
            (Expression::If { condition, .. }, [Ends::Calls, Ends::Exits]) => {
                asked.results = vec![*condition];
                return asked;
            }
            (Expression::If { condition, .. }, [Ends::Exits, Ends::Calls]) => {
                expression = Expression::Scalar {
                    operation: ScalarOperation::Not,
                    operand: Scalar::Bool,
                    arguments: vec![*condition],
                };
            }
            (_, _) => bodies_mut(&mut expression, &mut |branch| {
                *branch = deep(|| self.condition(program, branch));
            }),
        }
        asked.results = vec![Atom::Variable(holds)];
        asked
            .statements
            .push(Statement::binding(holds, expression, last.place.clone()));
        asked
    }

    /// Returns a body that certainly has one kind of end. It gives the next parameters if it ends
    /// in a call, and results if it does not. Cases that lead elsewhere are never taken, and the
    /// shortest other one replaces them.
    fn only(&self, wanted: Ends, program: &mut Program, mut body: Body) -> Option<Body> {
        if wanted == Ends::Exits && self.ends(&body) == wanted {
            return Some(body);
        }
        let mut last = body.statements.pop()?;
        if let (Expression::Call { arguments, .. }, true) =
            (&last.expression, is_call(self.own, &last))
        {
            let given = arguments.iter().zip(&self.is_state);
            let states = given.filter(|(_, is)| **is);
            body.results = states.map(|(atom, _)| *atom).collect();
            return Some(body);
        }
        let mut all = Vec::new();
        bodies_mut(&mut last.expression, &mut |branch| {
            all.push(std::mem::take(branch));
        });
        let leads = |branch: &Body| [wanted, Ends::Both].contains(&self.ends(branch));
        let (leading, others): (Vec<usize>, Vec<usize>) =
            (0..all.len()).partition(|k| leads(&all[*k]));
        let shortest = *leading.iter().min_by_key(|k| size(&all[**k]))?;
        if leading.len() == 1 {
            let mut inner = deep(|| self.only(wanted, program, all.swap_remove(shortest)))?;
            body.statements.append(&mut inner.statements);
            body.results = std::mem::take(&mut inner.results);
            return Some(body);
        }
        for other in others {
            all[other] = fresh_copy(program, &all[shortest], &mut Substitution::default());
        }
        let mut taken = all.into_iter();
        let mut whole = true;
        bodies_mut(&mut last.expression, &mut |branch| {
            let inner = taken
                .next()
                .and_then(|taken| deep(|| self.only(wanted, program, taken)));
            whole &= inner.is_some();
            *branch = inner.unwrap_or_default();
        });
        if wanted == Ends::Calls {
            last.pattern = fresh_variables(program, &self.states, &mut Substitution::default());
            body.results = last.pattern.iter().map(|v| Atom::Variable(*v)).collect();
        }
        body.statements.push(last);
        whole.then_some(body)
    }
}

/// The last statement of a body, if its results are the body's.
fn last_statement(body: &Body) -> Option<&Statement> {
    let last = body.statements.last()?;
    let given = last.pattern.iter().map(|v| Atom::Variable(*v));
    given.eq(body.results.iter().copied()).then_some(last)
}

fn is_call(own: FunctionId, statement: &Statement) -> bool {
    matches!(&statement.expression, Expression::Call { function, .. } if *function == own)
}

/// Calls `visit` with the branches of a conditional.
fn branches<'a>(statement: &'a Statement, visit: &mut dyn FnMut(&'a Body)) {
    if let Expression::If { .. } | Expression::Switch { .. } = &statement.expression {
        bodies(&statement.expression, visit);
    }
}

/// True if an expression may be computed any number of times: it gives the same, does nothing else,
/// and costs little.
fn is_repeatable(expression: &Expression) -> bool {
    let mut may = match expression {
        Expression::If { .. } | Expression::Switch { .. } => {
            size_of(expression) <= STATEMENTS_BEFORE_A_TAIL_CALL
        }
        Expression::View { .. }
        | Expression::Check { .. }
        | Expression::Fail { .. }
        | Expression::NodePayload { .. }
        | pure_expressions!() => true,
        _ => false,
    };
    bodies(expression, &mut |body| {
        let mut statements = body.statements.iter();
        may = may && statements.all(|s| deep(|| is_repeatable(&s.expression)));
    });
    may
}

/// Returns the number of statements inside an expression.
fn size_of(expression: &Expression) -> usize {
    let mut all = 0;
    bodies(expression, &mut |body| all += size(body));
    all
}
