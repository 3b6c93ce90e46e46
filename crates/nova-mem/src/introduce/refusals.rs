//! Checks that may refuse the size of an array. Memory for the array is allocated behind them, so that a program
//! with a wrong size fails with their error and not for lack of memory.

use nova_core::{ErrorKind, ScalarOperation};
use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, Function, Program, Statement, Variable};
use nova_flat::visit::{bodies, each_statement};
use std::collections::{HashMap, HashSet};

/// The scalars of a function.
pub(super) struct Refusals<'a> {
    program: &'a Program,
    /// The expressions that compute scalars, and the number of the result.
    definitions: HashMap<Variable, (&'a Expression, usize)>,
}

impl<'a> Refusals<'a> {
    /// Notes what the scalars of a function are computed from.
    pub(super) fn of(program: &'a Program, function: &'a Function) -> Refusals<'a> {
        let mut definitions = HashMap::new();
        each_statement(&function.body, &mut |statement| {
            use Expression as E;
            if let E::Scalar { .. } | E::Atom(_) | E::If { .. } = statement.expression {
                let results = statement.pattern.iter().enumerate();
                definitions.extend(results.map(|(k, v)| (*v, (&statement.expression, k))));
            }
        });
        Refusals {
            program,
            definitions,
        }
    }

    /// True if a check in a statement may refuse the size of an array. A divisor that must not be 0 is no upper
    /// bound, and neither is anything else that is computed from other values than the extents are.
    pub(super) fn refuses(&self, statement: &Statement, array: Variable) -> bool {
        match &statement.expression {
            Expression::Check {
                error: ErrorKind::Division,
                ..
            } => false,
            Expression::Check { condition, .. } => {
                let (mut of_check, mut of_size) = (HashSet::new(), HashSet::new());
                self.sources(*condition, &mut of_check);
                for extent in self.program.ty(array).shape() {
                    self.sources(*extent, &mut of_size);
                }
                !of_check.is_disjoint(&of_size)
            }
            Expression::Fail { .. } => true,
            Expression::If { .. } | Expression::Switch { .. } => {
                let mut found = false;
                bodies(&statement.expression, &mut |body| {
                    let mut inside = body.statements.iter();
                    found |= deep(|| inside.any(|s| self.refuses(s, array)));
                });
                found
            }
            _computes => false,
        }
    }

    /// Adds the variables that a value is computed from, where they are known, and all on the way. That a value is 0
    /// is no upper bound, so that what is compared with 0 does not count.
    fn sources(&self, atom: Atom, found: &mut HashSet<Variable>) {
        let Atom::Variable(variable) = atom else {
            return;
        };
        let definition = self.definitions.get(&variable);
        if let Some((
            Expression::Scalar {
                operation,
                arguments,
                ..
            },
            _,
        )) = definition
            && let (ScalarOperation::Equal, Some(0)) =
                (*operation, arguments.get(1).and_then(|a| a.as_i64()))
        {
            return;
        }
        if !found.insert(variable) {
            return;
        }
        match definition {
            Some((Expression::Scalar { arguments, .. }, _)) => {
                for argument in arguments {
                    deep(|| self.sources(*argument, found));
                }
            }
            Some((Expression::Atom(source), _)) => deep(|| self.sources(*source, found)),
            Some((
                Expression::If {
                    condition,
                    then,
                    otherwise,
                },
                k,
            )) => {
                deep(|| self.sources(*condition, found));
                let result = |body: &Body| body.results.get(*k).copied();
                for atom in [result(then), result(otherwise)].into_iter().flatten() {
                    deep(|| self.sources(atom, found));
                }
            }
            _unknown => {}
        }
    }
}
