//! Statements that are being written, whose definitions are noted.

use super::definitions::Definitions;
use super::form::Sum;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir::{Atom, Body, Expression, Program, Statement, Type, Variable};

/// A writer of statements at one place of a program.
pub(super) struct Code<'a> {
    pub(super) program: &'a mut Program,
    pub(super) definitions: &'a mut Definitions,
    pub(super) place: Place,
    pub(super) out: Vec<Statement>,
}

impl<'a> Code<'a> {
    /// Returns a writer that has written nothing.
    pub(super) fn new(
        program: &'a mut Program,
        definitions: &'a mut Definitions,
        place: &Place,
    ) -> Code<'a> {
        Code {
            program,
            definitions,
            place: place.clone(),
            out: Vec::new(),
        }
    }

    /// Appends a statement.
    pub(super) fn push(&mut self, pattern: Vec<Variable>, expression: Expression) {
        let place = self.place.clone();
        let statement = Statement {
            pattern,
            expression,
            place,
        };
        self.definitions.note_statement(&statement);
        self.out.push(statement);
    }

    /// Binds a new scalar to the value of an expression.
    pub(super) fn bind(&mut self, name: &str, scalar: Scalar, expression: Expression) -> Variable {
        let variable = self.program.add_variable(name, Type::Scalar(scalar));
        self.push(vec![variable], expression);
        variable
    }

    /// Binds a new variable to the result of an operation on `i64`s.
    pub(super) fn test(&mut self, operation: ScalarOperation, arguments: [Atom; 2]) -> Variable {
        let scalar = operation.result(Scalar::I64);
        self.bind("row", scalar, scalar_of(operation, Scalar::I64, &arguments))
    }

    /// Returns the result of an operation on `i64`s. Sums with 0 and products with 1 need none.
    pub(super) fn scalar(&mut self, operation: ScalarOperation, arguments: [Atom; 2]) -> Atom {
        let [one, other] = arguments;
        let is = |atom: Atom, number: i64| atom.as_i64() == Some(number);
        match operation {
            ScalarOperation::Add if is(one, 0) => return other,
            ScalarOperation::Multiply if is(one, 1) => return other,
            ScalarOperation::Add | ScalarOperation::Subtract if is(other, 0) => return one,
            ScalarOperation::Multiply if is(other, 1) => return one,
            _ => {}
        }
        Atom::Variable(self.test(operation, arguments))
    }

    /// Returns an integer as an `i64`.
    pub(super) fn wide(&mut self, atom: Atom) -> Atom {
        match (atom, self.program.scalar_of(atom)) {
            (Atom::Constant(value), _) => match value.as_integer().map(i64::try_from) {
                Some(Ok(number)) => Atom::index(number),
                Some(Err(_)) | None => atom,
            },
            (Atom::Variable(_), Some(Scalar::I64) | None) => atom,
            (Atom::Variable(_), Some(from)) => {
                let convert = scalar_of(ScalarOperation::Convert(Scalar::I64), from, &[atom]);
                Atom::Variable(self.bind("row", Scalar::I64, convert))
            }
        }
    }

    /// Returns a conditional that gives one scalar.
    pub(super) fn choice(&mut self, condition: Atom, scalar: Scalar, both: [Body; 2]) -> Variable {
        let [then, otherwise] = both;
        let choice = Expression::If {
            condition,
            then,
            otherwise,
        };
        self.bind("row", scalar, choice)
    }

    /// Returns the conjunction of two truth values.
    pub(super) fn both(&mut self, one: Atom, other: Atom) -> Atom {
        let no = gives(Atom::Constant(ScalarValue::Bool(false)));
        Atom::Variable(self.choice(one, Scalar::Bool, [gives(other), no]))
    }
}

/// Adds an array with the name and the elements of another one.
pub(super) fn like(program: &mut Program, array: Variable, shape: Vec<Atom>) -> Variable {
    let info = program.variable(array);
    let (name, element) = (info.name.clone(), info.ty.element());
    program.add_variable(name, Type::Array(element, shape))
}

/// Returns a scalar operation.
pub(super) fn scalar_of(
    operation: ScalarOperation,
    operand: Scalar,
    arguments: &[Atom],
) -> Expression {
    Expression::Scalar {
        operation,
        operand,
        arguments: arguments.to_vec(),
    }
}

/// Returns a body without statements.
pub(super) fn gives(result: Atom) -> Body {
    Body {
        statements: Vec::new(),
        results: vec![result],
    }
}

/// Writes a sum as an `i64`.
pub(super) fn sum(code: &mut Code<'_>, sum: &Sum) -> Atom {
    let number = |number: i128| Atom::index(i64::try_from(number).unwrap_or_default());
    let mut total = Atom::index(0);
    for (symbol, coefficient) in sum.terms() {
        let symbol = code.wide(Atom::Variable(*symbol));
        let term = code.scalar(ScalarOperation::Multiply, [number(coefficient), symbol]);
        total = code.scalar(ScalarOperation::Add, [total, term]);
    }
    code.scalar(ScalarOperation::Add, [total, number(sum.number())])
}
