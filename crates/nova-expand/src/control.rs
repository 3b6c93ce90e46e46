//! Translation of conditionals and loops.

use crate::places::{State, variables};
use crate::references::{Held, Moving};
use crate::terms::Term;
use crate::translator::{Flow, Result, Translator};
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

impl<'a> Translator<'a> {
    /// Translates a control structure.
    pub(crate) fn control(&mut self, statement: &'a flat::Statement) -> Result<Flow> {
        let pattern = &statement.pattern;
        match &statement.expression {
            flat::Expression::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.term(*condition)?;
                self.conditional(pattern, condition, then, otherwise)
            }
            flat::Expression::Switch { scrutinee, cases } => match cases.as_slice() {
                [first, second] => {
                    let scrutinee = self.term(*scrutinee)?;
                    let condition = Term::over(vec![scrutinee], |mut arguments| {
                        arguments.push(Expression::Constant(ScalarValue::I32(0)));
                        Expression::Scalar {
                            operation: ScalarOperation::Equal,
                            operand: Scalar::I32,
                            arguments,
                        }
                    });
                    self.conditional(pattern, condition, first, second)
                }
                cases => self.switch(pattern, *scrutinee, cases),
            },
            flat::Expression::While {
                parameters,
                condition,
                body,
            } => self.repeat(pattern, parameters, condition, body, &statement.place),
            pure_expressions!()
            | array_expressions!()
            | call_expressions!()
            | node_expressions!()
            | other_expressions!() => Err(internal("no control structure")),
        }
    }

    fn conditional(
        &mut self,
        pattern: &[flat::Variable],
        condition: Term,
        then: &'a flat::Body,
        otherwise: &'a flat::Body,
    ) -> Result<Flow> {
        self.flush_loads()?;
        let states = self.add_states(pattern)?;
        let then = self.branch(then, &states)?;
        let otherwise = self.branch(otherwise, &states)?;
        if let ([variable], Some(a), Some(b)) = (pattern, then.selected(), otherwise.selected()) {
            let term = Term::select(condition, a.clone(), b.clone());
            self.bind_term(*variable, term)?;
            return Ok(Flow::Continues);
        }
        self.declare_states(&states);
        let diverges = then.diverges() && otherwise.diverges();
        let taken = self.take_all([&then, &otherwise].into_iter());
        let then = then.finish(&states, &taken);
        let otherwise = otherwise.finish(&states, &taken);
        if !then.is_empty() || !otherwise.is_empty() {
            self.emit(if then.is_empty() {
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
        self.after_cases(pattern, &states, diverges)
    }

    fn switch(
        &mut self,
        pattern: &[flat::Variable],
        scrutinee: flat::Atom,
        cases: &'a [flat::Body],
    ) -> Result<Flow> {
        let scrutinee = self.scalar(scrutinee)?;
        self.flush_loads()?;
        let states = self.add_states(pattern)?;
        let mut diverges = true;
        let mut branches = Vec::with_capacity(cases.len());
        for case in cases {
            let branch = self.branch(case, &states)?;
            diverges &= branch.diverges();
            branches.push(branch);
        }
        let taken = self.take_all(branches.iter());
        let branches = branches.into_iter();
        let lists = branches
            .map(|branch| branch.finish(&states, &taken))
            .collect();
        self.declare_states(&states);
        self.emit(Command::Switch {
            scrutinee,
            cases: lists,
        });
        self.after_cases(pattern, &states, diverges)
    }

    fn after_cases(
        &mut self,
        pattern: &[flat::Variable],
        states: &[State],
        diverges: bool,
    ) -> Result<Flow> {
        if diverges {
            return Ok(Flow::Diverges);
        }
        self.bind_states(pattern, states, true)?;
        Ok(Flow::Continues)
    }

    /// Returns the references that any branch has taken from the enclosing body. Whichever branch runs, the
    /// enclosing body does not hold them afterwards.
    fn take_all<'b>(&mut self, branches: impl Iterator<Item = &'b Branch>) -> Vec<Held> {
        let mut all: Vec<Held> = Vec::new();
        for held in branches.flat_map(|branch| &branch.taken) {
            if !all.contains(held) {
                all.push(*held);
                self.take(*held);
            }
        }
        all
    }

    fn branch(&mut self, body: &'a flat::Body, states: &[State]) -> Result<Branch> {
        self.lifetimes.begin_branch();
        let (code, end) = self.nested(|this| {
            this.body(body, |this, results| {
                let scalars = states.iter().all(|s| matches!(s, State::Scalar(_)));
                if scalars && this.code.is_empty() && !this.lifetimes.owns_any() {
                    let terms = results.iter().map(|r| this.term(*r)).collect::<Result<_>>();
                    return Ok(End::Pure(terms?));
                }
                this.deliver(results, states, Moving::Branch)?;
                Ok(End::Assigned)
            })
        })?;
        let end = end.unwrap_or(End::Diverges);
        let taken = self.lifetimes.end_branch();
        Ok(Branch { code, end, taken })
    }

    fn repeat(
        &mut self,
        pattern: &[flat::Variable],
        parameters: &'a [(flat::Variable, flat::Atom)],
        condition: &'a flat::Body,
        body: &'a flat::Body,
        place: &nova_diag::Place,
    ) -> Result<Flow> {
        let states = self.start_states(parameters)?;
        self.flush_loads()?;
        self.loops += 1;
        let (code, ()) = self.nested(|this| {
            let condition = this.body(condition, |this, results| {
                let [result] = results else {
                    return Err(internal("a condition of several results"));
                };
                let condition = this.scalar(*result)?;
                Ok(match this.lifetimes.owns_any() {
                    true => this.simplify(condition, "goes_on", Type::Scalar(Scalar::Bool)),
                    false => condition,
                })
            })?;
            let Some(condition) = condition else {
                return Ok(());
            };
            this.when(condition.negated(), |this| {
                this.emit(Command::Break);
                Ok(())
            })?;
            this.body(body, |this, results| {
                this.replace(results, &states, Moving::Body)
            })?;
            Ok(())
        })?;
        self.loops -= 1;
        let place = place.clone();
        self.emit(Command::Loop { body: code, place });
        self.bind_states(pattern, &states, true)?;
        Ok(Flow::Continues)
    }
}

impl Branch {
    fn diverges(&self) -> bool {
        matches!(self.end, End::Diverges)
    }

    /// Returns its only result if that is an expression that may be an operand of `Select`.
    fn selected(&self) -> Option<&Term> {
        const LARGEST: u32 = 12;
        match &self.end {
            End::Pure(terms) => match terms.as_slice() {
                [term] if term.size <= LARGEST => Some(term),
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
