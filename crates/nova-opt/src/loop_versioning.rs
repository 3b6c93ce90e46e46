//! Loop versioning: loops whose state gets its extents in the first iteration are copied for the usual case that
//! it has them before.
//!
//! In `iterate n (lambda (T) (tabulate (r, c) …)) start`, `T` has the extents of `start` in the first iteration,
//! and `r` and `c` in all others. Nothing says that they are equal, though they nearly always are. So checks of
//! indices of `T` cannot be proved, and `T` cannot be changed in place. The loop becomes two. The one for equal
//! extents gets `start` as an array of the extents `r` and `c`, and the state loses extents of its own
//! ([`crate::simplify`] finds that they do not change). The other one stays as it was.
//!
//! A loop is copied only where its body computes with such an extent, as checks of indices do, and as long as the
//! copies of a function are short.

use crate::limits::STATEMENTS_OF_VERSIONS;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::{Place, deep};
use nova_flat::ir::{Atom, Body, Expression, Program, Statement, Type, Variable, View};
use nova_flat::visit::{
    Substitution, binders, bodies, bodies_mut, each_statement, fresh_copy, fresh_variables,
    holds_strategies, size,
};
use std::collections::HashSet;

/// Versions the loops of every function.
pub fn run(program: &mut Program) {
    for k in 0..program.functions.len() {
        let mut body = std::mem::take(&mut program.functions[k].body);
        let mut versions = Versions { program, copied: 0 };
        versions.body(&mut body);
        program.functions[k].body = body;
    }
}

struct Versions<'a> {
    program: &'a mut Program,
    /// The number of statements that have been copied.
    copied: usize,
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
                    bodies_mut(&mut statement.expression, &mut |inner| {
                        deep(|| self.body(inner));
                    });
                    body.statements.push(statement);
                }
            }
        }
    }

    /// Returns the positions of the extents in the state of a loop that are the same from the second iteration on,
    /// if it is worth a copy.
    fn extents(&self, statement: &Statement) -> Option<Vec<usize>> {
        let state = state(&statement.expression)?;
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
        let settles = |k: &usize| {
            let (parameter, start) = (state.parameters[*k], state.starts[*k]);
            let is_outside = |next: &Atom| match next {
                Atom::Variable(variable) => !inside.contains(variable),
                Atom::Constant(_) => start.as_variable().is_some(),
            };
            sizes.contains(&parameter)
                && state
                    .next
                    .get(*k)
                    .is_some_and(|next| *next != start && is_outside(next))
        };
        let found: Vec<usize> = (0..state.parameters.len()).filter(settles).collect();
        let computes = found
            .iter()
            .any(|k| operands.contains(&state.parameters[*k]));
        computes.then_some(found)
    }

    /// Adds a conditional between two versions of a loop.
    fn version(&mut self, statement: Statement, extents: &[usize], body: &mut Body) {
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
        // The results are bound by the conditional, and have other names in its branches.
        let mut otherwise = whole;
        let mut renamed = Substitution::default();
        let fresh = fresh_variables(self.program, &pattern, &mut renamed);
        otherwise.results = fresh.iter().map(|v| Atom::Variable(*v)).collect();
        if let Some(last) = otherwise.statements.last_mut() {
            last.pattern = fresh;
        }
        body.statements.push(Statement {
            pattern,
            expression: Expression::If {
                condition,
                then: settled,
                otherwise,
            },
            place,
        });
    }

    /// Gives the loop at the end of a body the extents of its second iteration from the start.
    fn settle(&mut self, body: &mut Body, extents: &[usize]) {
        let Some(mut statement) = body.statements.pop() else {
            return;
        };
        if let Some(state) = state(&statement.expression) {
            let mut starts = state.starts.clone();
            for k in extents {
                starts[*k] = state.next[*k];
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
                    extents
                        .iter()
                        .any(|k| Atom::Variable(state.parameters[*k]) == *extent)
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
    fn equal(&mut self, whole: &Body, extents: &[usize], place: &Place, body: &mut Body) -> Atom {
        let state = whole.statements.last().and_then(|s| state(&s.expression));
        let Some(state) = state else {
            return Atom::Constant(ScalarValue::Bool(false));
        };
        let mut all = Atom::Constant(ScalarValue::Bool(true));
        for k in extents {
            let test = Expression::Scalar {
                operation: ScalarOperation::Equal,
                operand: Scalar::I64,
                arguments: vec![state.starts[*k], state.next[*k]],
            };
            let same = self.bind(test, place, body);
            let gives = |result| Body {
                statements: Vec::new(),
                results: vec![result],
            };
            all = match all {
                Atom::Constant(_) => same,
                Atom::Variable(_) => {
                    let both = Expression::If {
                        condition: all,
                        then: gives(same),
                        otherwise: gives(Atom::Constant(ScalarValue::Bool(false))),
                    };
                    self.bind(both, place, body)
                }
            };
        }
        all
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
