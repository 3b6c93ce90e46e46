//! Translation of conditionals and loops.

use crate::env::Env;
use crate::limits::NODES_OF_A_SELECTED_TERM;
use crate::places::{State, variables};
use crate::references::{Held, Moving};
use crate::states::{add_states, bind_states, declare_states, deliver, replace, start_states};
use crate::terms::Term;
use crate::translator::{Flow, Translator};
use crate::writer::{Nesting, Result};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir as flat;
use nova_flat::{
    array_expressions, call_expressions, node_expressions, other_expressions, pure_expressions,
};
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression, Type};

/// The translated body of a case.
struct Branch {
    code: Vec<Command>,
    end: End,
    /// The references of the enclosing body that have moved into its results.
    taken: Vec<Held>,
}

/// The end of a case.
enum End {
    /// The results are computed without a command, and not yet assigned.
    Pure(Vec<Term>),
    /// The results are assigned.
    Assigned,
    /// The end is never reached.
    Diverges,
}

/// Translates a control structure.
pub(crate) fn control_statement<'a>(
    cx: &mut Translator<'a>,
    statement: &'a flat::Statement,
) -> Result<Flow> {
    let pattern = &statement.pattern;
    match &statement.expression {
        flat::Expression::If {
            condition,
            then,
            otherwise,
        } => {
            let condition = cx.term(*condition)?;
            conditional(cx, pattern, condition, then, otherwise)
        }
        flat::Expression::Switch { scrutinee, cases } => match cases.as_slice() {
            [first, second] => {
                let scrutinee = cx.term(*scrutinee)?;
                let condition = Term::over(vec![scrutinee], |mut arguments| {
                    arguments.push(Expression::Constant(ScalarValue::I32(0)));
                    Expression::Scalar {
                        operation: ScalarOperation::Equal,
                        operand: Scalar::I32,
                        arguments,
                    }
                });
                conditional(cx, pattern, condition, first, second)
            }
            cases => switch(cx, pattern, *scrutinee, cases),
        },
        flat::Expression::While {
            parameters,
            condition,
            body,
        } => repeat(cx, pattern, parameters, condition, body, &statement.place),
        pure_expressions!()
        | array_expressions!()
        | call_expressions!()
        | node_expressions!()
        | other_expressions!() => Err(internal("no control structure")),
    }
}

fn conditional<'a>(
    cx: &mut Translator<'a>,
    pattern: &[flat::Variable],
    condition: Term,
    then: &'a flat::Body,
    otherwise: &'a flat::Body,
) -> Result<Flow> {
    cx.flush_loads()?;
    let states = add_states(cx, pattern)?;
    let then = branch(cx, then, &states)?;
    let otherwise = branch(cx, otherwise, &states)?;
    if let ([variable], Some(a), Some(b)) = (pattern, then.selected(), otherwise.selected()) {
        let term = Term::select(condition, a.clone(), b.clone());
        cx.bind_term(*variable, term)?;
        return Ok(Flow::Continues);
    }
    declare_states(cx, &states);
    let diverges = then.diverges() && otherwise.diverges();
    let taken = take_all(cx, [&then, &otherwise].into_iter());
    let then = then.finish(&states, &taken);
    let otherwise = otherwise.finish(&states, &taken);
    if !then.is_empty() || !otherwise.is_empty() {
        cx.emit(if then.is_empty() {
            Command::If {
                condition: condition.expression.negated(),
                then: otherwise,
                otherwise: then,
            }
        } else {
            Command::If {
                condition: condition.expression,
                then,
                otherwise,
            }
        });
    }
    after_cases(cx, pattern, &states, diverges)
}

fn switch<'a>(
    cx: &mut Translator<'a>,
    pattern: &[flat::Variable],
    scrutinee: flat::Atom,
    cases: &'a [flat::Body],
) -> Result<Flow> {
    let scrutinee = cx.scalar(scrutinee)?;
    cx.flush_loads()?;
    let states = add_states(cx, pattern)?;
    let mut diverges = true;
    let mut branches = Vec::with_capacity(cases.len());
    for case in cases {
        let branch = branch(cx, case, &states)?;
        diverges &= branch.diverges();
        branches.push(branch);
    }
    let taken = take_all(cx, branches.iter());
    let branches = branches.into_iter();
    let lists = branches
        .map(|branch| branch.finish(&states, &taken))
        .collect();
    declare_states(cx, &states);
    cx.emit(Command::Switch {
        scrutinee,
        cases: lists,
    });
    after_cases(cx, pattern, &states, diverges)
}

fn after_cases(
    env: &mut Env<'_>,
    pattern: &[flat::Variable],
    states: &[State],
    diverges: bool,
) -> Result<Flow> {
    if diverges {
        return Ok(Flow::Diverges);
    }
    bind_states(env, pattern, states, true)?;
    Ok(Flow::Continues)
}

/// Returns the references that any branch has taken from the enclosing body. Whichever branch runs, the
/// enclosing body does not hold them afterwards.
fn take_all<'b>(env: &mut Env<'_>, branches: impl Iterator<Item = &'b Branch>) -> Vec<Held> {
    let mut all: Vec<Held> = Vec::new();
    for held in branches.flat_map(|branch| &branch.taken) {
        if !all.contains(held) {
            all.push(*held);
            env.lifetimes.take(*held);
        }
    }
    all
}

fn branch<'a>(cx: &mut Translator<'a>, body: &'a flat::Body, states: &[State]) -> Result<Branch> {
    cx.lifetimes.begin_branch();
    let (code, end) = cx.nested(|cx| {
        cx.body(body, |cx, results| {
            let scalars = states.iter().all(|s| matches!(s, State::Scalar(_)));
            if scalars && cx.commands.is_empty() && !cx.lifetimes.owns_any() {
                let terms = results.iter().map(|r| cx.term(*r)).collect::<Result<_>>();
                return Ok(End::Pure(terms?));
            }
            deliver(cx, results, states, Moving::Branch)?;
            Ok(End::Assigned)
        })
    })?;
    let end = end.unwrap_or(End::Diverges);
    let taken = cx.lifetimes.end_branch();
    Ok(Branch { code, end, taken })
}

fn repeat<'a>(
    cx: &mut Translator<'a>,
    pattern: &[flat::Variable],
    parameters: &'a [(flat::Variable, flat::Atom)],
    condition: &'a flat::Body,
    body: &'a flat::Body,
    place: &nova_diag::Place,
) -> Result<Flow> {
    let states = start_states(cx, parameters)?;
    cx.flush_loads()?;
    cx.loops += 1;
    cx.endless_loop(place, |cx| {
        let condition = cx.body(condition, |cx, results| {
            let [result] = results else {
                return Err(internal("a condition of several results"));
            };
            let condition = cx.scalar(*result)?;
            Ok(match cx.lifetimes.owns_any() {
                true => cx.simplify(condition, "goes_on", Type::Scalar(Scalar::Bool)),
                false => condition,
            })
        })?;
        let Some(condition) = condition else {
            return Ok(());
        };
        cx.break_if(condition.negated());
        cx.body(body, |cx, results| {
            replace(cx, results, &states, Moving::Body)
        })?;
        Ok(())
    })?;
    cx.loops -= 1;
    bind_states(cx, pattern, &states, true)?;
    Ok(Flow::Continues)
}

impl Branch {
    fn diverges(&self) -> bool {
        matches!(self.end, End::Diverges)
    }

    /// Returns its only result if that is an expression that may be an operand of `Select`.
    fn selected(&self) -> Option<&Term> {
        match &self.end {
            End::Pure(terms) => match terms.as_slice() {
                [term] if term.size <= NODES_OF_A_SELECTED_TERM => Some(term),
                _ => None,
            },
            End::Assigned | End::Diverges => None,
        }
    }

    /// Returns its commands, which assign the results. They also release the references that other branches
    /// have taken but this one has not.
    fn finish(self, states: &[State], taken: &[Held]) -> Vec<Command> {
        let diverges = self.diverges();
        let mut code = self.code;
        if let End::Pure(terms) = self.end {
            for (variable, term) in variables(states).into_iter().zip(terms) {
                code.push(Command::Assign {
                    variable,
                    value: term.expression,
                });
            }
        }
        let left = taken.iter().filter(|held| !self.taken.contains(held));
        if !diverges {
            code.extend(left.map(|held| Command::Release(held.handle)));
        }
        code
    }
}
