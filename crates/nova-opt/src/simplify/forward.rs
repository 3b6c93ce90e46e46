//! The walk from the beginning. It handles copies, constants, and invariant values.

use super::fold::fold;
use super::state::{Definition, Forward};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::{Place, deep};
use nova_flat::ir::{
    Atom, Body, Expression, Program, SliceDimension, Statement, Type, Variable, View,
};
use nova_flat::visit::{Substitution, binders, bodies_mut, each_function, type_variables};
use std::collections::{HashMap, HashSet};

/// Simplifies every function.
pub(super) fn run(program: &mut Program) {
    each_function(program, |program, body| {
        let mut forward = Forward {
            program,
            substitution: Substitution::default(),
            definitions: HashMap::new(),
            positive: Vec::new(),
        };
        forward.body(body);
    });
}

impl Forward<'_> {
    fn body(&mut self, body: &mut Body) {
        let mut statements = std::mem::take(&mut body.statements).into_iter();
        for statement in statements.by_ref() {
            self.statement(statement, &mut body.statements);
            if body.statements.last().is_some_and(always_fails) {
                break;
            }
        }
        let unreachable: Vec<Statement> = statements.collect();
        if !unreachable.is_empty() {
            self.give_by_failing(body, &unreachable);
        }
        for result in &mut body.results {
            *result = self.substitution.atom(*result);
        }
    }

    /// Binds the results of a body whose last statement always fails. That statement binds the
    /// variables that the statements after it were to bind for the results.
    fn give_by_failing(&mut self, body: &mut Body, unreachable: &[Statement]) {
        let bound: HashSet<Variable> = unreachable
            .iter()
            .flat_map(|s| s.pattern.iter().copied())
            .collect();
        let mut pattern = Vec::new();
        for result in &mut body.results {
            *result = self.substitution.atom(*result);
            match result {
                Atom::Variable(variable) => {
                    self.bind_with_sizes(*variable, &bound, &mut pattern);
                }
                // A size that a check refused.
                Atom::Constant(ScalarValue::I64(value)) => *value = (*value).max(0),
                Atom::Constant(_) => {}
            }
        }
        let Some(last) = body.statements.last_mut() else {
            return;
        };
        fail(last);
        last.pattern.extend(pattern);
    }

    /// Adds a variable to a pattern, after its sizes, if it is one of `bound`.
    fn bind_with_sizes(
        &mut self,
        variable: Variable,
        bound: &HashSet<Variable>,
        pattern: &mut Vec<Variable>,
    ) {
        if !bound.contains(&variable) || pattern.contains(&variable) {
            return;
        }
        self.substitution.info(self.program, variable);
        if let Type::Array(_, shape) = &mut self.program.variables[variable.0 as usize].ty {
            for extent in shape {
                if let Atom::Constant(ScalarValue::I64(value)) = extent {
                    *value = (*value).max(0);
                }
            }
        }
        let mut sizes = Vec::new();
        type_variables(self.program.ty(variable), None, &mut |v| sizes.push(v));
        for size in sizes {
            self.bind_with_sizes(size, bound, pattern);
        }
        pattern.push(variable);
    }

    /// Simplifies a statement and adds what remains of it.
    fn statement(&mut self, mut statement: Statement, out: &mut Vec<Statement>) {
        self.substitution.operands(&mut statement.expression);
        for variable in &statement.pattern {
            self.substitution.info(self.program, *variable);
        }
        self.negate_comparison(&mut statement.expression);
        match &mut statement.expression {
            Expression::Check { condition, .. } if is_bool(*condition, true) => return,
            Expression::If {
                condition: Atom::Constant(ScalarValue::Bool(value)),
                ..
            } => {
                let branch = usize::from(!*value);
                return self.splice(statement, branch, out);
            }
            Expression::Switch {
                scrutinee: Atom::Constant(ScalarValue::I32(value)),
                cases,
            } => {
                let last = cases.len().saturating_sub(1);
                let branch = usize::try_from(*value).map_or(last, |k| k.min(last));
                return self.splice(statement, branch, out);
            }
            Expression::Index { array, indices } => {
                self.through_views(array, indices, &statement.place, out);
            }
            Expression::View {
                array,
                view: View::Reshape(_),
            } => {
                // A reshape keeps the order of the elements, so one of a reshape needs only the array before both.
                if let Some(Definition::View(source, View::Reshape(_))) =
                    self.definitions.get(array)
                {
                    *array = *source;
                }
            }
            Expression::Scalar { arguments, .. } => {
                for atom in arguments {
                    *atom = self.chosen_in_iterations(*atom);
                }
            }
            Expression::While { .. } => self.drop_invariant_parameters(&mut statement),
            Expression::Operation(_) => self.drop_invariant_carries(&mut statement),
            _ => {}
        }
        for variable in &statement.pattern {
            self.substitution.info(self.program, *variable);
        }
        self.inner_bodies(&mut statement);
        self.drop_equal_results(&mut statement);
        self.simplify_survivors(&mut statement);
        if !self.replace(&statement, out) {
            self.define(&statement);
            out.push(statement);
        }
    }

    fn inner_bodies(&mut self, statement: &mut Statement) {
        let substitution = &self.substitution;
        let program = &mut *self.program;
        binders(&statement.expression, &mut |v| {
            substitution.info(program, *v)
        });
        let known = self.positive.len();
        if let Expression::Operation(operation) = &statement.expression {
            self.positive.extend(&operation.shape);
        }
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| self.body(inner));
        });
        self.positive.truncate(known);
    }

    /// Replaces a conditional by the branch that is taken.
    fn splice(&mut self, mut statement: Statement, branch: usize, out: &mut Vec<Statement>) {
        let mut taken = Body::default();
        let mut k = 0;
        bodies_mut(&mut statement.expression, &mut |inner| {
            if k == branch {
                taken = std::mem::take(inner);
            }
            k += 1;
        });
        for inner in std::mem::take(&mut taken.statements) {
            deep(|| self.statement(inner, out));
        }
        for (variable, result) in statement.pattern.iter().zip(&taken.results) {
            let result = self.substitution.atom(*result);
            self.copy(*variable, result, &statement.place, out);
        }
    }

    /// Replaces `variable` by `atom`. Uses a view where the extents of an array are written
    /// differently.
    fn copy(&mut self, variable: Variable, atom: Atom, place: &Place, out: &mut Vec<Statement>) {
        self.substitution.info(self.program, variable);
        if self.same_type(variable, atom) {
            self.substitution.insert(variable, atom);
            return;
        }
        let expression = match (self.program.ty(variable), atom) {
            (Type::Array(_, shape), Atom::Variable(array)) => Expression::View {
                array,
                view: View::Reshape(shape.clone()),
            },
            _ => Expression::Atom(atom),
        };
        out.push(Statement::binding(variable, expression, place.clone()));
    }

    /// True if an atom has a variable's type.
    pub fn same_type(&self, variable: Variable, atom: Atom) -> bool {
        match atom {
            Atom::Constant(_) => true,
            Atom::Variable(other) => self.program.ty(variable) == self.program.ty(other),
        }
    }

    /// Replaces the only result of a statement by another atom. Returns true if the statement is
    /// then not needed.
    fn replace(&mut self, statement: &Statement, out: &mut Vec<Statement>) -> bool {
        let [variable] = *statement.pattern.as_slice() else {
            return is_empty(&statement.expression) && statement.pattern.is_empty();
        };
        let known = match &statement.expression {
            Expression::Atom(atom) => Some(*atom),
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => fold(*operation, *operand, arguments)
                .or_else(|| self.converted_back(*operation, arguments))
                .or_else(|| self.cancelled(*operation, *operand, arguments)),
            Expression::Index { array, indices } => {
                self.known_element(*array, indices, &statement.place, out)
            }
            Expression::View { array, view } => self
                .is_identity(*array, view)
                .then_some(Atom::Variable(*array)),
            Expression::If {
                condition,
                then,
                otherwise,
            } => return self.replace_select(statement, *condition, [then, otherwise], out),
            _ => None,
        };
        let known = known.filter(|atom| self.same_type(variable, *atom));
        if let Some(atom) = known {
            self.substitution.insert(variable, atom);
        }
        known.is_some()
    }

    /// Replaces a conditional that gives `true` or `false` by its condition or the negation.
    fn replace_select(
        &mut self,
        statement: &Statement,
        condition: Atom,
        bodies: [&Body; 2],
        out: &mut Vec<Statement>,
    ) -> bool {
        let [variable] = *statement.pattern.as_slice() else {
            return false;
        };
        if bodies.iter().any(|b| !b.statements.is_empty()) {
            return false;
        }
        let results = bodies.map(|b| b.results.first().copied());
        let [Some(then), Some(otherwise)] = results else {
            return false;
        };
        if is_bool(then, true) && is_bool(otherwise, false) {
            self.substitution.insert(variable, condition);
            return true;
        }
        if is_bool(then, false) && is_bool(otherwise, true) {
            out.push(Statement::binding(
                variable,
                Expression::Scalar {
                    operation: ScalarOperation::Not,
                    operand: Scalar::Bool,
                    arguments: vec![condition],
                },
                statement.place.clone(),
            ));
            return true;
        }
        false
    }

    /// An operation on `i64`.
    pub(super) fn arithmetic(
        &mut self,
        operation: ScalarOperation,
        left: Atom,
        right: Atom,
        place: &Place,
        out: &mut Vec<Statement>,
    ) -> Atom {
        self.operation(operation, Scalar::I64, vec![left, right], place, out)
    }

    /// Returns the result of an operation on scalars. Adds a statement where it is not known.
    pub(super) fn operation(
        &mut self,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: Vec<Atom>,
        place: &Place,
        out: &mut Vec<Statement>,
    ) -> Atom {
        if let Some(known) = fold(operation, operand, &arguments) {
            return known;
        }
        let ty = Type::Scalar(operation.result(operand));
        let variable = self.program.add_variable("t", ty);
        out.push(Statement::binding(
            variable,
            Expression::Scalar {
                operation,
                operand,
                arguments,
            },
            place.clone(),
        ));
        Atom::Variable(variable)
    }

    /// True if a view covers all of its array, in order.
    fn is_identity(&self, array: Variable, view: &View) -> bool {
        let Type::Array(_, shape) = self.program.ty(array) else {
            return false;
        };
        match view {
            View::Slice(dimensions) => dimensions.iter().zip(shape).all(|(d, extent)| {
                let SliceDimension { start, step, count } = *d;
                start == Atom::index(0) && step == Atom::index(1) && count == *extent
            }),
            View::Transpose(order) => order.iter().enumerate().all(|(k, d)| k == *d as usize),
            View::Reshape(extents) => extents == shape,
            View::Row(indices) => indices.is_empty(),
        }
    }
}

/// Keeps the elements that are marked.
pub(super) fn retain<T>(list: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    list.retain(|_| keep.next().copied().unwrap_or(true));
}

fn is_bool(atom: Atom, value: bool) -> bool {
    atom == Atom::Constant(ScalarValue::Bool(value))
}

/// True if a construct without results does nothing.
fn is_empty(expression: &Expression) -> bool {
    match expression {
        Expression::If {
            then, otherwise, ..
        } => then.statements.is_empty() && otherwise.statements.is_empty(),
        Expression::Switch { cases, .. } => cases.iter().all(|c| c.statements.is_empty()),
        Expression::Operation(operation) => {
            operation.body.statements.is_empty() && operation.outputs.is_empty()
        }
        _ => false,
    }
}

/// True if a body fails at its end, whatever its results are.
pub(super) fn ends_in_failure(body: &Body) -> bool {
    body.statements.last().is_some_and(always_fails)
}

/// Turns a check that never holds into a failure.
pub(super) fn fail(statement: &mut Statement) {
    if let Expression::Check {
        error, arguments, ..
    } = &mut statement.expression
    {
        statement.expression = Expression::Fail {
            error: *error,
            arguments: std::mem::take(arguments),
        };
    }
}

fn always_fails(statement: &Statement) -> bool {
    match &statement.expression {
        Expression::Fail { .. } => true,
        Expression::Check { condition, .. } => is_bool(*condition, false),
        _ => false,
    }
}
