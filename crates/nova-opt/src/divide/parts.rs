//! What divided operations are written with.

use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Lambda, Level, Output, Program, Statement, Type,
    Variable,
};
use nova_flat::visit::{Substitution, fresh_copy, fresh_lambda, fresh_variable};

/// Writes statements.
pub(super) struct Code<'a> {
    pub(super) program: &'a mut Program,
    pub(super) place: Place,
    pub(super) out: Vec<Statement>,
    /// Whether reductions keep the order of docs/order.md.
    pub(super) strict: bool,
}

/// An operation without outputs like another one, with new variables for all that it binds.
pub(super) fn fresh_operation(program: &mut Program, operation: &ArrayOperation) -> ArrayOperation {
    let mut substitution = Substitution::default();
    let indices = operation.indices.iter();
    let indices = indices
        .map(|index| fresh_variable(program, *index, &mut substitution))
        .collect();
    ArrayOperation {
        shape: operation.shape.clone(),
        indices,
        level: Level::Sequential,
        carries: Vec::new(),
        body: fresh_copy(program, &operation.body, &mut substitution),
        outputs: Vec::new(),
    }
}

impl Code<'_> {
    /// The same operation with new variables for all that it binds.
    pub(super) fn fresh_whole(&mut self, operation: &ArrayOperation) -> ArrayOperation {
        let mut copy = fresh_operation(self.program, operation);
        copy.outputs = self.fresh_outputs(&operation.outputs);
        copy
    }

    /// The same outputs with new variables for all that they bind.
    pub(super) fn fresh_outputs(&mut self, outputs: &[Output]) -> Vec<Output> {
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

    /// A body of which the results are variables like those of a pattern; `write` binds them.
    pub(super) fn branch(
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

    pub(super) fn fresh(&mut self, name: &str, scalar: Scalar) -> Variable {
        self.program.add_variable(name, Type::Scalar(scalar))
    }

    /// An array of the elements, and with the name, of what another variable is or holds.
    pub(super) fn like(&mut self, variable: Variable, shape: Vec<Atom>) -> Variable {
        let info = self.program.variable(variable);
        let (name, element) = (info.name.clone(), info.ty.element());
        self.program.add_variable(name, Type::Array(element, shape))
    }

    /// The statements that `write` writes, apart from the others, and what it gives.
    pub(super) fn apart<R>(&mut self, write: impl FnOnce(&mut Self) -> R) -> (Vec<Statement>, R) {
        let before = std::mem::take(&mut self.out);
        let result = write(self);
        (std::mem::replace(&mut self.out, before), result)
    }

    pub(super) fn push(&mut self, pattern: Vec<Variable>, expression: Expression) {
        self.out.push(Statement {
            pattern,
            expression,
            place: self.place.clone(),
        });
    }

    /// A scalar operation that cannot fail where it stands, or its value.
    fn compute(
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

    /// A scalar operation on integers that cannot fail where it stands.
    pub(super) fn scalar(&mut self, operation: ScalarOperation, left: Atom, right: Atom) -> Atom {
        self.compute(operation, Scalar::I64, &[left, right], Scalar::I64)
    }

    /// A comparison of integers.
    pub(super) fn compare(&mut self, operation: ScalarOperation, left: Atom, right: Atom) -> Atom {
        self.compute(operation, Scalar::I64, &[left, right], Scalar::Bool)
    }

    /// How large an integer is.
    pub(super) fn magnitude(&mut self, integer: Atom) -> Atom {
        let operation = ScalarOperation::Absolute;
        self.compute(operation, Scalar::I64, &[integer], Scalar::I64)
    }

    /// 1 for true and 0 for false.
    pub(super) fn as_integer(&mut self, bool: Atom) -> Atom {
        let operation = ScalarOperation::Convert(Scalar::I64);
        self.compute(operation, Scalar::Bool, &[bool], Scalar::I64)
    }

    /// One of two scalars of a type, the first by code of its own.
    pub(super) fn choose(
        &mut self,
        condition: Atom,
        then: impl FnOnce(&mut Self) -> Atom,
        otherwise: Atom,
        ty: Scalar,
    ) -> Atom {
        let (statements, result) = self.apart(then);
        let then = Body {
            statements,
            results: vec![result],
        };
        let otherwise = Body {
            statements: Vec::new(),
            results: vec![otherwise],
        };
        let result = self.fresh("t", ty);
        let expression = Expression::If {
            condition,
            then,
            otherwise,
        };
        self.push(vec![result], expression);
        Atom::Variable(result)
    }

    /// `⌈a / b⌉` for `a` from 0 on and `b` from 1 on.
    pub(super) fn quotient_up(&mut self, a: Atom, b: Atom) -> Atom {
        let less = self.scalar(ScalarOperation::Subtract, b, Atom::index(1));
        let sum = self.scalar(ScalarOperation::Add, a, less);
        self.scalar(ScalarOperation::Divide, sum, b)
    }

    /// An element of an array of integers.
    pub(super) fn index(&mut self, array: Variable, index: Atom) -> Atom {
        let value = self.fresh("value", self.program.ty(array).element());
        let indices = vec![index];
        self.push(vec![value], Expression::Index { array, indices });
        Atom::Variable(value)
    }

    /// An operation over a space of one dimension.
    pub(super) fn operation(
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
                carries: Vec::new(),
                body,
                outputs,
            }),
        );
    }

    /// An operation on two integers.
    pub(super) fn lambda(&mut self, operation: ScalarOperation) -> Lambda {
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
}
