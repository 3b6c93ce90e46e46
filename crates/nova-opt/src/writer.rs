//! A writer of Flat statements at one place in the source. Passes use it for code that computes
//! sizes and positions.

use nova_core::{ErrorKind, Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir::{Atom, Expression, Program, Statement, Type, Variable};

/// The statements being written.
pub struct Writer<'a> {
    pub program: &'a mut Program,
    pub place: &'a Place,
    pub statements: &'a mut Vec<Statement>,
}

impl<'a> Writer<'a> {
    /// Creates a writer that adds to these statements.
    pub fn new(
        program: &'a mut Program,
        place: &'a Place,
        statements: &'a mut Vec<Statement>,
    ) -> Self {
        Writer {
            program,
            place,
            statements,
        }
    }
}

impl Writer<'_> {
    /// Binds variables to the results of an expression.
    pub fn push(&mut self, pattern: Vec<Variable>, expression: Expression) {
        self.statements.push(Statement {
            pattern,
            expression,
            place: self.place.clone(),
        });
    }

    /// Binds a variable to an operation on `i64`s.
    pub fn bind(&mut self, variable: Variable, operation: ScalarOperation, arguments: [Atom; 2]) {
        let expression = Expression::Scalar {
            operation,
            operand: Scalar::I64,
            arguments: arguments.to_vec(),
        };
        self.push(vec![variable], expression);
    }

    /// Binds the value of an expression to a new variable.
    pub fn bound(&mut self, name: &str, scalar: Scalar, expression: Expression) -> Atom {
        let variable = self.program.add_variable(name, Type::Scalar(scalar));
        self.push(vec![variable], expression);
        Atom::Variable(variable)
    }

    /// Binds the result of an operation on `i64`s to a new variable.
    pub fn scalar(&mut self, name: &str, operation: ScalarOperation, arguments: [Atom; 2]) -> Atom {
        let ty = Type::Scalar(operation.result(Scalar::I64));
        let variable = self.program.add_variable(name, ty);
        self.bind(variable, operation, arguments);
        Atom::Variable(variable)
    }

    /// Adds a check that stops the program with error memory unless one `i64` is at most another.
    pub fn check_fits(&mut self, number: Atom, most: Atom) {
        let condition = self.scalar("fits", ScalarOperation::LessEqual, [number, most]);
        let check = Expression::Check {
            condition,
            error: ErrorKind::Memory,
            arguments: Vec::new(),
        };
        self.push(Vec::new(), check);
    }
}
