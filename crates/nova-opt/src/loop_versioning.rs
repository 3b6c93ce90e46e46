//! Loop versioning: loops whose state gets its extents in the first iteration are copied for the usual case that
//! it has them before.
//!
//! In `iterate n (lambda (T) (tabulate (r, c) …)) start`, `T` has the extents of `start` in the first iteration,
//! and `r` and `c` in all others. Nothing says that they are equal, though they nearly always are. So checks of
//! indices of `T` cannot be proved, and `T` cannot be changed in place. The loop becomes two. The one for equal
//! extents gets `start` as an array of the extents `r` and `c`, and the state loses extents of its own
//! ([`crate::simplify`] finds that they do not change). The other one stays as it was.
//!
//! An extent may also become the same again where a condition holds that is the same in all iterations, and 0
//! otherwise: rows that are mapped have no columns where there are no rows. The version for that condition keeps the
//! extent.
//!
//! A loop is copied only where its body computes with such an extent, as checks of indices do, and as long as the
//! copies of a function are short.

use crate::limits::STATEMENTS_OF_VERSIONS;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::{Place, deep};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Program, Statement, Type, Variable, View,
};
use nova_flat::visit::{
    Substitution, binders, bodies, bodies_mut, choice_of_versions, each_statement, fresh_copy,
    holds_strategies, size,
};
use std::collections::HashSet;

/// Versions the loops of every function.
pub fn run(program: &mut Program) {
    for k in 0..program.functions.len() {
        let mut body = std::mem::take(&mut program.functions[k].body);
        let mut versions = Versions {
            program,
            copied: 0,
            conditionals: Vec::new(),
        };
        versions.body(&mut body);
        program.functions[k].body = body;
    }
}

struct Versions<'a> {
    program: &'a mut Program,
    /// The number of statements that have been copied.
    copied: usize,
    /// The places of the conditionals around a statement. Versions have the place of their conditional.
    conditionals: Vec<Place>,
}

/// An extent in the state of a loop: its position there.
enum Extent {
    /// The extent is the same from the second iteration on.
    Settled(usize),
    /// The extent stays what it is if a condition holds, or does not, that is the same in all iterations.
    Kept(usize, Atom, bool),
}

impl Extent {
    fn position(&self) -> usize {
        match self {
            Extent::Settled(at) | Extent::Kept(at, ..) => *at,
        }
    }
}

/// The state of a loop: its variables, their starts, and the values that the next iteration gets.
struct State {
    parameters: Vec<Variable>,
    starts: Vec<Atom>,
    next: Vec<Atom>,
}

impl Versions<'_> {
    fn body(&mut self, body: &mut Body) {
        for statement in std::mem::take(&mut body.statements) {
            match self.extents(&statement) {
                Some(extents) => self.version(statement, &extents, body),
                None => {
                    let mut statement = statement;
                    let around = self.conditionals.len();
                    if matches!(statement.expression, Expression::If { .. }) {
                        self.conditionals.push(statement.place.clone());
                    }
                    bodies_mut(&mut statement.expression, &mut |inner| {
                        deep(|| self.body(inner));
                    });
                    self.conditionals.truncate(around);
                    body.statements.push(statement);
                }
            }
        }
    }

    /// Returns the extents in the state of a loop that a version of it knows, if it is worth a copy.
    fn extents(&self, statement: &Statement) -> Option<Vec<Extent>> {
        let state = state(&statement.expression)?;
        if self.conditionals.contains(&statement.place) {
            return None;
        }
        let mut inside = HashSet::new();
        binders(&statement.expression, &mut |variable| {
            inside.insert(*variable);
        });
        let mut copied = 0;
        let mut operands = HashSet::new();
        let mut is_prescribed = false;
        bodies(&statement.expression, &mut |body| {
            copied += size(body);
            is_prescribed |= holds_strategies(body);
            each_statement(body, &mut |inner| {
                inside.extend(&inner.pattern);
                binders(&inner.expression, &mut |variable| {
                    inside.insert(*variable);
                });
                if let Expression::Scalar { arguments, .. } = &inner.expression {
                    operands.extend(arguments.iter().filter_map(|a| a.as_variable()));
                }
            });
        });
        if is_prescribed || self.copied + copied > STATEMENTS_OF_VERSIONS {
            return None;
        }
        let shapes = state.parameters.iter().map(|v| self.program.ty(*v).shape());
        let sizes: HashSet<Variable> = shapes.flatten().filter_map(|a| a.as_variable()).collect();
        let extent = |k: usize| {
            let (parameter, start) = (state.parameters[k], state.starts[k]);
            let next = *state.next.get(k).filter(|_| sizes.contains(&parameter))?;
            match next {
                Atom::Constant(_) => {
                    (start.as_variable().is_some() && next != start).then_some(Extent::Settled(k))
                }
                Atom::Variable(variable) if !inside.contains(&variable) => {
                    (next != start).then_some(Extent::Settled(k))
                }
                Atom::Variable(variable) => {
                    let (condition, holds) = keeps(&statement.expression, variable, parameter)?;
                    (!inside.contains(&condition.as_variable()?))
                        .then_some(Extent::Kept(k, condition, holds))
                }
            }
        };
        let found: Vec<Extent> = (0..state.parameters.len()).filter_map(extent).collect();
        let computes = found
            .iter()
            .any(|extent| operands.contains(&state.parameters[extent.position()]));
        computes.then_some(found)
    }

    /// Adds a conditional between two versions of a loop.
    fn version(&mut self, statement: Statement, extents: &[Extent], body: &mut Body) {
        let place = statement.place.clone();
        let pattern = statement.pattern.clone();
        let whole = Body {
            results: pattern.iter().map(|v| Atom::Variable(*v)).collect(),
            statements: vec![statement],
        };
        self.copied += size(&whole);
        let mut settled = fresh_copy(self.program, &whole, &mut Substitution::default());
        self.settle(&mut settled, extents);
        let condition = self.equal(&whole, extents, &place, body);
        deep(|| self.body(&mut settled));
        body.statements.push(choice_of_versions(
            self.program,
            condition,
            settled,
            whole,
            (pattern, place),
        ));
    }

    /// Gives the loop at the end of a body the extents of its second iteration from the start, and lets it keep others.
    fn settle(&mut self, body: &mut Body, extents: &[Extent]) {
        let Some(mut statement) = body.statements.pop() else {
            return;
        };
        if let Some(state) = state(&statement.expression) {
            let mut starts = state.starts.clone();
            for extent in extents {
                match extent {
                    Extent::Settled(k) => starts[*k] = state.next[*k],
                    Extent::Kept(k, ..) => {
                        keep(
                            &mut statement.expression,
                            state.next[*k],
                            state.parameters[*k],
                        );
                    }
                }
            }
            for (k, parameter) in state.parameters.iter().enumerate() {
                let shape = self.program.ty(*parameter).shape();
                let settled = |extent: &Atom| {
                    let at = state
                        .parameters
                        .iter()
                        .position(|p| Atom::Variable(*p) == *extent);
                    at.map_or(*extent, |at| starts[at])
                };
                let changes = shape.iter().any(|extent| {
                    extents.iter().any(|settled| {
                        matches!(settled, Extent::Settled(k) if Atom::Variable(state.parameters[*k]) == *extent)
                    })
                });
                let (Some(array), true) = (state.starts[k].as_variable(), changes) else {
                    continue;
                };
                let shape: Vec<Atom> = shape.iter().map(settled).collect();
                starts[k] = Atom::Variable(self.reshaped(array, shape, &statement.place, body));
            }
            set_starts(&mut statement.expression, &starts);
        }
        body.statements.push(statement);
    }

    /// Adds an array of other extents with the elements of an array.
    fn reshaped(
        &mut self,
        array: Variable,
        shape: Vec<Atom>,
        place: &Place,
        body: &mut Body,
    ) -> Variable {
        let info = self.program.variable(array);
        let (name, ty) = (info.name.clone(), info.ty.clone());
        let ty = match ty {
            Type::Array(scalar, _) => Type::Array(scalar, shape.clone()),
            other => other,
        };
        let variable = self.program.add_variable(name, ty);
        let view = View::Reshape(shape);
        let expression = Expression::View { array, view };
        body.statements
            .push(Statement::binding(variable, expression, place.clone()));
        variable
    }

    /// Adds code that tests whether the starts of extents are what they become. Returns the result.
    fn equal(&mut self, whole: &Body, extents: &[Extent], place: &Place, body: &mut Body) -> Atom {
        let state = whole.statements.last().and_then(|s| state(&s.expression));
        let Some(state) = state else {
            return Atom::Constant(ScalarValue::Bool(false));
        };
        let mut all = Atom::Constant(ScalarValue::Bool(true));
        for extent in extents {
            let (operation, operand, arguments) = match extent {
                Extent::Settled(k) => {
                    let both = vec![state.starts[*k], state.next[*k]];
                    (ScalarOperation::Equal, Scalar::I64, both)
                }
                Extent::Kept(_, condition, false) => {
                    (ScalarOperation::Not, Scalar::Bool, vec![*condition])
                }
                Extent::Kept(_, condition, true) => {
                    all = self.both(all, *condition, place, body);
                    continue;
                }
            };
            let test = Expression::Scalar {
                operation,
                operand,
                arguments,
            };
            let same = self.bind(test, place, body);
            all = self.both(all, same, place, body);
        }
        all
    }

    /// Adds code that tests whether both of two conditions hold. Returns the result.
    fn both(&mut self, one: Atom, other: Atom, place: &Place, body: &mut Body) -> Atom {
        if matches!(one, Atom::Constant(_)) {
            return other;
        }
        let gives = |result| Body {
            statements: Vec::new(),
            results: vec![result],
        };
        let both = Expression::If {
            condition: one,
            then: gives(other),
            otherwise: gives(Atom::Constant(ScalarValue::Bool(false))),
        };
        self.bind(both, place, body)
    }

    /// Binds a truth value.
    fn bind(&mut self, expression: Expression, place: &Place, body: &mut Body) -> Atom {
        let ty = Type::Scalar(Scalar::Bool);
        let variable = self.program.add_variable("settled", ty);
        body.statements
            .push(Statement::binding(variable, expression, place.clone()));
        Atom::Variable(variable)
    }
}

/// Returns the state of a loop.
fn state(expression: &Expression) -> Option<State> {
    let (parameters, next) = match expression {
        Expression::Operation(operation) => (&operation.carries, &operation.body.results),
        Expression::While {
            parameters, body, ..
        } => (parameters, &body.results),
        _no_loop => return None,
    };
    Some(State {
        parameters: parameters.iter().map(|(variable, _)| *variable).collect(),
        starts: parameters.iter().map(|(_, start)| *start).collect(),
        next: next.clone(),
    })
}

/// Returns the condition by which the next extent of a loop is the one before, and whether it must hold, if the body of
/// the loop chooses between it and 0.
fn keeps(expression: &Expression, next: Variable, parameter: Variable) -> Option<(Atom, bool)> {
    let (Expression::Operation(ArrayOperation { body, .. }) | Expression::While { body, .. }) =
        expression
    else {
        return None;
    };
    let choice = body.statements.iter().find(|s| s.pattern == [next])?;
    let Expression::If {
        condition,
        then,
        otherwise,
    } = &choice.expression
    else {
        return None;
    };
    let gives = |case: &Body, atom| case.statements.is_empty() && case.results == [atom];
    let (own, none) = (Atom::Variable(parameter), Atom::index(0));
    match (gives(then, own), gives(otherwise, own)) {
        (true, false) if gives(otherwise, none) => Some((*condition, true)),
        (false, true) if gives(then, none) => Some((*condition, false)),
        _ => None,
    }
}

/// Makes the next extent of a loop the one before.
fn keep(expression: &mut Expression, next: Atom, parameter: Variable) {
    bodies_mut(expression, &mut |body| {
        for statement in &mut body.statements {
            if statement.pattern.iter().any(|v| Atom::Variable(*v) == next) {
                statement.expression = Expression::Atom(Atom::Variable(parameter));
            }
        }
    });
}

/// Replaces the starts of the state of a loop.
fn set_starts(expression: &mut Expression, starts: &[Atom]) {
    let parameters = match expression {
        Expression::Operation(operation) => &mut operation.carries,
        Expression::While { parameters, .. } => parameters,
        _no_loop => return,
    };
    for ((_, start), other) in parameters.iter_mut().zip(starts) {
        *start = *other;
    }
}
