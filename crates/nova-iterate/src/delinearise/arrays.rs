//! Gives two dimensions to the arrays whose accesses are proved to be in range.

use super::code::like;
use super::state::Found;
use nova_core::ScalarValue;
use nova_diag::{Place, deep};
use nova_flat::ir::{Atom, Body, Expression, Program, Statement, Variable, View};
use nova_flat::visit::{binders, bodies_mut, each_statement};
use std::collections::{HashMap, HashSet};

/// Rewrites the accesses of a function.
pub(super) fn rewrite(
    program: &mut Program,
    found: &Found,
    parameters: &[Variable],
    body: &mut Body,
) {
    let mut shapes = HashMap::new();
    each_statement(body, &mut |statement| {
        if let ([element], Expression::Index { array, .. }) =
            (&statement.pattern[..], &statement.expression)
            && let Some(access) = found.accesses.get(element)
        {
            shapes.insert(*array, access.shape);
        }
    });
    let mut arrays = Arrays {
        program,
        found,
        shapes,
        matrices: found.matrices.clone(),
        scope: parameters.iter().copied().collect(),
    };
    arrays.body(body);
}

struct Arrays<'a> {
    program: &'a mut Program,
    found: &'a Found,
    /// The extents of the vectors that are read as matrices.
    shapes: HashMap<Variable, [Atom; 2]>,
    /// The matrices of which vectors are views.
    matrices: HashMap<Variable, Variable>,
    /// The variables that have been bound so far.
    scope: HashSet<Variable>,
}

impl Arrays<'_> {
    fn body(&mut self, body: &mut Body) {
        for mut statement in std::mem::take(&mut body.statements) {
            let mut after = Vec::new();
            self.statement(&mut statement, &mut body.statements, &mut after);
            binders(&statement.expression, &mut |variable| {
                self.scope.insert(*variable);
            });
            bodies_mut(&mut statement.expression, &mut |inner| {
                deep(|| self.body(inner));
            });
            self.scope.extend(&statement.pattern);
            body.statements.push(statement);
            body.statements.append(&mut after);
        }
    }

    fn statement(
        &mut self,
        statement: &mut Statement,
        before: &mut Vec<Statement>,
        after: &mut Vec<Statement>,
    ) {
        if let Expression::Operation(_) = statement.expression {
            return self.carries(statement, before, after);
        }
        let place = statement.place.clone();
        let access = match statement.pattern[..] {
            [result] => self.found.accesses.get(&result),
            _ => None,
        };
        let Some(access) = access else { return };
        match &mut statement.expression {
            Expression::Index { array, indices } => {
                *array = self.matrix(*array, access.shape, &place, before);
                *indices = vec![access.row, access.column];
            }
            test => *test = Expression::Atom(Atom::Constant(ScalarValue::Bool(true))),
        }
    }

    /// Returns a vector as a matrix, and writes that view if there is no matrix of which the vector is a view.
    fn matrix(
        &mut self,
        vector: Variable,
        shape: [Atom; 2],
        place: &Place,
        out: &mut Vec<Statement>,
    ) -> Variable {
        if let Some(matrix) = self.matrices.get(&vector)
            && self.program.ty(*matrix).shape() == shape
        {
            return *matrix;
        }
        self.view(vector, shape.to_vec(), place, out)
    }

    fn view(
        &mut self,
        array: Variable,
        shape: Vec<Atom>,
        place: &Place,
        out: &mut Vec<Statement>,
    ) -> Variable {
        let made = like(self.program, array, shape.clone());
        let view = View::Reshape(shape);
        let expression = Expression::View { array, view };
        out.push(Statement::binding(made, expression, place.clone()));
        made
    }

    /// Keeps the state of a loop as a matrix if its iterations read it as one.
    fn carries(
        &mut self,
        statement: &mut Statement,
        before: &mut Vec<Statement>,
        after: &mut Vec<Statement>,
    ) {
        let place = statement.place.clone();
        let Expression::Operation(operation) = &mut statement.expression else {
            return;
        };
        for k in 0..operation.carries.len() {
            let (carry, start) = operation.carries[k];
            let shape = self.shapes.get(&carry).copied();
            let is_known = |atom: &Atom| atom.as_variable().is_none_or(|v| self.scope.contains(&v));
            let Some(shape) = shape.filter(|shape| shape.iter().all(is_known)) else {
                continue;
            };
            let next = operation.body.results.get(k).and_then(|a| a.as_variable());
            let result = statement.pattern.get(k).copied();
            let (Some(start), Some(next), Some(result)) = (start.as_variable(), next, result)
            else {
                continue;
            };
            let count = self.program.ty(carry).shape().to_vec();
            let matrix = like(self.program, carry, shape.to_vec());
            let start = self.matrix(start, shape, &place, before);
            operation.carries[k] = (matrix, Atom::Variable(start));
            let view = View::Reshape(count.clone());
            let vector = Expression::View {
                array: matrix,
                view: view.clone(),
            };
            let statements = &mut operation.body.statements;
            statements.insert(0, Statement::binding(carry, vector, place.clone()));
            self.matrices.insert(carry, matrix);
            let next = self.matrix(next, shape, &place, &mut operation.body.statements);
            operation.body.results[k] = Atom::Variable(next);
            let made = like(self.program, result, shape.to_vec());
            statement.pattern[k] = made;
            self.matrices.insert(result, made);
            let vector = Expression::View { array: made, view };
            after.push(Statement::binding(result, vector, place.clone()));
        }
    }
}
