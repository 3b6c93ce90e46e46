//! A writer for the statements of parallelised operations.

use crate::policy::Parallelism;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Lambda, Level, Output, Program, Statement, Type,
    Variable,
};
use nova_flat::visit::{Substitution, fresh_copy, fresh_lambda, fresh_variable};
use std::collections::BTreeSet;

/// Appends statements to a list, and makes the variables that they bind.
pub struct Writer<'a> {
    /// The program, whose variables it adds to.
    pub program: &'a mut Program,
    pub(crate) place: Place,
    /// The statements so far.
    pub out: Vec<Statement>,
    /// The policy by which operations are parallelised.
    pub(crate) parallelism: Parallelism,
    /// The first results of the operations written here that are worth parallelising in turn.
    pub(crate) to_parallelise: BTreeSet<Variable>,
}

/// Returns an operation without outputs like another one, with new variables for all that it binds.
pub(crate) fn fresh_operation(program: &mut Program, operation: &ArrayOperation) -> ArrayOperation {
    let mut substitution = Substitution::default();
    let indices = operation.indices.iter();
    let indices = indices
        .map(|index| fresh_variable(program, *index, &mut substitution))
        .collect();
    let carries = operation.carries.iter();
    let carries = carries
        .map(|(carry, start)| (fresh_variable(program, *carry, &mut substitution), *start))
        .collect();
    ArrayOperation {
        shape: operation.shape.clone(),
        indices,
        level: Level::Sequential,
        strategy: operation.strategy,
        carries,
        body: fresh_copy(program, &operation.body, &mut substitution),
        outputs: Vec::new(),
    }
}

/// Sets a known extent that is negative to 0. Numbers of chunks and remainders are computed for
/// operations with indices; what they are for an operation without indices never runs.
fn never_negative(extent: &mut Atom) {
    if let Atom::Constant(ScalarValue::I64(value)) = extent {
        *value = (*value).max(0);
    }
}

impl<'a> Writer<'a> {
    /// Returns a writer of statements at a place, that has written nothing.
    pub fn new(program: &'a mut Program, place: Place, parallelism: Parallelism) -> Writer<'a> {
        Writer {
            program,
            place,
            out: Vec::new(),
            parallelism,
            to_parallelise: BTreeSet::new(),
        }
    }

    /// Returns the same operation with new variables for all that it binds.
    pub fn fresh_whole(&mut self, operation: &ArrayOperation) -> ArrayOperation {
        let mut copy = fresh_operation(self.program, operation);
        copy.outputs = self.fresh_outputs(&operation.outputs);
        copy
    }

    /// Returns the same outputs with new variables for all that they bind.
    pub fn fresh_outputs(&mut self, outputs: &[Output]) -> Vec<Output> {
        let mut copies = outputs.to_vec();
        for output in &mut copies {
            match output {
                Output::Reduce { lambda, .. }
                | Output::Scan { lambda, .. }
                | Output::Histogram { lambda, .. } => {
                    *lambda = fresh_lambda(self.program, lambda, &mut Substitution::default());
                }
                Output::Map
                | Output::Filter { .. }
                | Output::Scatter { .. }
                | Output::Collect { .. }
                | Output::Join { .. } => {}
            }
        }
        copies
    }

    /// Returns a body whose results are variables like those of a pattern; `write` binds them.
    pub(crate) fn branch(
        &mut self,
        pattern: &[Variable],
        write: impl FnOnce(&mut Self, Vec<Variable>),
    ) -> Body {
        let mut substitution = Substitution::default();
        let own = pattern.iter();
        let own: Vec<Variable> = own
            .map(|v| fresh_variable(self.program, *v, &mut substitution))
            .collect();
        let results = own.iter().map(|v| Atom::Variable(*v)).collect();
        let (statements, ()) = self.apart(|code| write(code, own));
        Body {
            statements,
            results,
        }
    }

    /// Returns a new scalar variable.
    pub fn fresh(&mut self, name: &str, scalar: Scalar) -> Variable {
        self.program.add_variable(name, Type::Scalar(scalar))
    }

    pub(crate) fn fresh_array(&mut self, name: &str, scalar: Scalar, count: Atom) -> Variable {
        let ty = Type::Array(scalar, vec![count]);
        self.program.add_variable(name, ty)
    }

    /// Creates an array with the name of another variable, and with elements of its type.
    pub fn like(&mut self, variable: Variable, mut shape: Vec<Atom>) -> Variable {
        shape.iter_mut().for_each(never_negative);
        let info = self.program.variable(variable);
        let (name, element) = (info.name.clone(), info.ty.element());
        self.program.add_variable(name, Type::Array(element, shape))
    }

    /// Creates a scalar with the name and the element type of another variable.
    pub fn like_scalar(&mut self, variable: Variable) -> Variable {
        let info = self.program.variable(variable);
        let (name, scalar) = (info.name.clone(), info.ty.element());
        self.program.add_variable(name, Type::Scalar(scalar))
    }

    /// Returns a number that is known to be at most this, under its own name.
    pub(crate) fn at_most(&mut self, number: Atom, most: i64) -> Atom {
        let Atom::Variable(variable) = number else {
            return number;
        };
        let least = self.like_scalar(variable);
        let expression = Expression::Scalar {
            operation: ScalarOperation::Minimum,
            operand: Scalar::I64,
            arguments: vec![number, Atom::index(most)],
        };
        self.push(vec![least], expression);
        Atom::Variable(least)
    }

    /// Returns the statements that `write` writes, apart from the others, and its result.
    pub fn apart<R>(&mut self, write: impl FnOnce(&mut Self) -> R) -> (Vec<Statement>, R) {
        let before = std::mem::take(&mut self.out);
        let result = write(self);
        (std::mem::replace(&mut self.out, before), result)
    }

    /// Appends a statement that binds these variables.
    pub fn push(&mut self, pattern: Vec<Variable>, mut expression: Expression) {
        if let Expression::Operation(operation) = &mut expression {
            operation.shape.iter_mut().for_each(never_negative);
        }
        self.out.push(Statement {
            pattern,
            expression,
            place: self.place.clone(),
        });
    }

    /// Writes a scalar operation that cannot fail where it stands, or returns its value if that is
    /// known.
    pub fn compute(
        &mut self,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: &[Atom],
        result: Scalar,
    ) -> Atom {
        let values = arguments.iter().map(|atom| match atom {
            Atom::Constant(value) => Some(*value),
            Atom::Variable(_) => None,
        });
        if let Some(values) = values.collect::<Option<Vec<ScalarValue>>>()
            && let Ok(value) = nova_core::operations::evaluate(operation, &values, true)
        {
            return Atom::Constant(value);
        }
        let result = self.fresh("t", result);
        self.push(
            vec![result],
            Expression::Scalar {
                operation,
                operand,
                arguments: arguments.to_vec(),
            },
        );
        Atom::Variable(result)
    }

    /// Writes a scalar operation on integers that cannot fail where it stands.
    pub fn scalar(&mut self, operation: ScalarOperation, left: Atom, right: Atom) -> Atom {
        self.compute(operation, Scalar::I64, &[left, right], Scalar::I64)
    }

    /// Computes the absolute value of an integer.
    pub(crate) fn magnitude(&mut self, integer: Atom) -> Atom {
        let operation = ScalarOperation::Absolute;
        self.compute(operation, Scalar::I64, &[integer], Scalar::I64)
    }

    /// Computes `⌈a / b⌉` for `a` from 0 on and `b` from 1 on.
    pub fn quotient_up(&mut self, a: Atom, b: Atom) -> Atom {
        let less = self.scalar(ScalarOperation::Subtract, b, Atom::index(1));
        let sum = self.scalar(ScalarOperation::Add, a, less);
        self.scalar(ScalarOperation::Divide, sum, b)
    }

    /// Writes an operation over a space of one dimension.
    pub fn operation(
        &mut self,
        pattern: Vec<Variable>,
        count: Atom,
        index: Variable,
        level: Level,
        body: Body,
        outputs: Vec<Output>,
    ) {
        self.push(
            pattern,
            Expression::Operation(ArrayOperation {
                shape: vec![count],
                indices: vec![index],
                level,
                strategy: None,
                carries: Vec::new(),
                body,
                outputs,
            }),
        );
    }

    /// Returns an operator on two integers.
    pub(crate) fn lambda(&mut self, operation: ScalarOperation) -> Lambda {
        let [left, right] = ["a", "b"].map(|name| self.fresh(name, Scalar::I64));
        let (statements, result) =
            self.apart(|code| code.scalar(operation, Atom::Variable(left), Atom::Variable(right)));
        Lambda {
            parameters: vec![left, right],
            body: Body {
                statements,
                results: vec![result],
            },
        }
    }

    /// Returns the same operator with new variables.
    pub(crate) fn fresh_operator(&mut self, lambda: &Lambda) -> Lambda {
        fresh_lambda(self.program, lambda, &mut Substitution::default())
    }

    /// Creates variables for elements of arrays.
    pub(crate) fn scalars_like(&mut self, arrays: &[Variable], name: &str) -> Vec<Variable> {
        let mut scalars = Vec::with_capacity(arrays.len());
        for array in arrays {
            let scalar = self.program.ty(*array).element();
            scalars.push(self.fresh(name, scalar));
        }
        scalars
    }
}
