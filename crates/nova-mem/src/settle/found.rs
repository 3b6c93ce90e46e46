//! The loops, conditionals and uses of `Unique` between which arrays flow in a function.

use crate::uses::{Span, Uses};
use nova_flat::ir::{Atom, Body, Expression, Function, Program, Statement, Variable};
use nova_flat::visit;
use std::collections::{BTreeMap, BTreeSet};

/// A state of a loop.
pub(super) struct State {
    pub(super) start: Variable,
    pub(super) parameter: Variable,
    pub(super) result: Variable,
    pub(super) last: Variable,
    /// The loop.
    pub(super) span: Span,
    /// True if each iteration takes the state's block to overwrite it.
    pub(super) changes: bool,
    /// True if the last state is a result of the function.
    pub(super) is_result: bool,
}

/// The findings about a function.
#[derive(Default)]
pub(super) struct Found {
    pub(super) states: Vec<State>,
    /// The operand and the result of each `Unique`.
    pub(super) soles: Vec<(Variable, Variable)>,
    /// By result of a conditional, the arrays that its cases give.
    pub(super) cases: BTreeMap<Variable, Vec<Variable>>,
    /// The blocks that are allocated for the function itself.
    pub(super) allocated: BTreeSet<Variable>,
    /// The blocks that surely have another holder.
    pub(super) borrowed: BTreeSet<Variable>,
    /// The times at which loops begin and end.
    pub(super) loops: Vec<(u32, u32)>,
}

impl Found {
    /// Analyses the function at this index.
    pub(super) fn of(program: &Program, index: usize, function: &Function, uses: &Uses) -> Found {
        let mut found = Found::default();
        let mut calls_itself = false;
        visit::each_statement(&function.body, &mut |statement| {
            calls_itself |= matches!(statement.expression,
                Expression::Call { function, tail: true, .. } if function.index() == index);
            found.statement(program, statement, uses);
        });
        for state in &mut found.states {
            let is_last = |result: &Atom| array(program, *result) == Some(state.last);
            state.is_result = function.body.results.iter().any(is_last);
        }
        if !calls_itself && !function.takes {
            let parameters = function.parameters.iter();
            found
                .borrowed
                .extend(parameters.filter_map(|p| block(program, *p)));
        }
        found
    }

    /// True if a time lies in a loop that begins after another time.
    pub(super) fn is_in_loop_since(&self, time: u32, since: u32) -> bool {
        let mut loops = self.loops.iter();
        loops.any(|(enter, exit)| since < *enter && *enter < time && time <= *exit)
    }

    fn statement(&mut self, program: &Program, statement: &Statement, uses: &Uses) {
        let pattern = &statement.pattern;
        let span = pattern.first().and_then(|made| uses.span(*made));
        let loops = |states: &mut Self, parameters: &[(Variable, Atom)], body: &Body| {
            if let Some(span) = span {
                states.states(program, (parameters, body, pattern), span);
            }
        };
        match &statement.expression {
            Expression::While {
                parameters, body, ..
            } => loops(self, parameters, body),
            Expression::Operation(operation) => {
                loops(self, &operation.carries, &operation.body);
            }
            Expression::If { .. } | Expression::Switch { .. } => {
                visit::bodies(&statement.expression, &mut |body| {
                    for (to, result) in pattern.iter().zip(&body.results) {
                        if let Some(from) = array(program, *result) {
                            self.cases.entry(*to).or_default().push(from);
                        }
                    }
                });
            }
            Expression::Unique(of) => self.soles.extend(pattern.iter().map(|to| (*of, *to))),
            Expression::NodePayload { .. } | Expression::Bytes(_) => {
                let blocks = pattern.iter().filter_map(|v| block(program, *v));
                self.borrowed.extend(blocks);
            }
            allocation if allocation.is_allocation() && !allocation.is_destination() => {
                self.allocated.extend(pattern);
            }
            _no_flow => {}
        }
        if let Some(span) = span.filter(|_| statement.expression.repeats()) {
            self.loops.push((span.enter, span.exit));
        }
    }

    fn states(
        &mut self,
        program: &Program,
        (parameters, body, pattern): (&[(Variable, Atom)], &Body, &[Variable]),
        span: Span,
    ) {
        let results = body.results.iter();
        for (((parameter, start), result), last) in parameters.iter().zip(results).zip(pattern) {
            let (Some(start), Some(result)) = (array(program, *start), array(program, *result))
            else {
                continue;
            };
            let own = block(program, *parameter);
            let takes = |s: &Statement| match &s.expression {
                Expression::Unique(of) => block(program, *of) == own,
                _others => false,
            };
            self.states.push(State {
                start,
                parameter: *parameter,
                result,
                last: *last,
                span,
                changes: body.statements.iter().any(takes),
                is_result: false,
            });
        }
    }
}

/// Returns the array that an atom is, if it is one.
fn array(program: &Program, atom: Atom) -> Option<Variable> {
    match atom {
        Atom::Variable(variable) if program.ty(variable).is_array() => Some(variable),
        Atom::Variable(_) | Atom::Constant(_) => None,
    }
}

/// Returns the block of an array.
pub(super) fn block(program: &Program, array: Variable) -> Option<Variable> {
    let info = program.variables.get(array.index())?;
    info.memory.as_ref().map(|memory| memory.block)
}
