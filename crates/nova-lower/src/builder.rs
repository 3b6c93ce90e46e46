//! The emission of statements.
//!
//! [`Builder`] holds the program being written and the bodies that are open. Emission folds trivial cases of index arithmetic, so that code written for the
//! general case yields the special one where it applies.

use crate::error::{LowerError, Result};
use crate::facts::Fact;
use nova_core::ir::Foreign;
use nova_core::{ErrorKind, Scalar, ScalarOperation, ScalarValue, SumType, Type as CoreType};
use nova_diag::Place;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Lambda, Level, Output, Program, Statement, Type,
    Variable,
};
use nova_flat::representation::{Component, components};
use std::collections::HashMap;
use std::rc::Rc;

/// Writes a program of Flat: appends statements to the open bodies and makes fresh variables.
pub(crate) struct Builder {
    /// The program being written.
    pub output: Program,
    /// The place of the expression being lowered.
    pub place: Place,
    /// The facts about rows, by the variable of their starts, and about arrays.
    facts: HashMap<Variable, Fact>,
    /// The statements of the open bodies, the innermost last.
    open: Vec<Vec<Statement>>,
    /// The representations computed so far.
    representations: HashMap<CoreType, Rc<[Component]>>,
}

impl Builder {
    /// Creates a builder of a program with these sums and foreign functions, at some place.
    pub fn new(sums: Vec<SumType>, foreigns: Vec<Foreign>, place: Place) -> Self {
        Builder {
            output: Program {
                sums,
                foreigns,
                ..Program::default()
            },
            place,
            facts: HashMap::new(),
            open: Vec::new(),
            representations: HashMap::new(),
        }
    }

    /// Creates a builder that changes a program, at some place.
    pub fn of(program: Program, place: Place) -> Self {
        Builder {
            output: program,
            ..Builder::new(Vec::new(), Vec::new(), place)
        }
    }

    /// Returns the components of a type.
    pub fn components(&mut self, ty: &CoreType) -> Rc<[Component]> {
        if let Some(found) = self.representations.get(ty) {
            return found.clone();
        }
        let found: Rc<[Component]> = components(ty, &self.output.sums).into();
        self.representations.insert(ty.clone(), found.clone());
        found
    }

    /// Adds variables for the components of a type. Sizes are earlier ones among them.
    pub fn fresh(&mut self, ty: &CoreType) -> Vec<Variable> {
        let list = self.components(ty);
        let mut variables: Vec<Variable> = Vec::with_capacity(list.len());
        for component in list.iter() {
            let ty = match component.shape.as_slice() {
                [] => Type::Scalar(component.scalar),
                shape => {
                    let extents = shape.iter().map(|k| Atom::Variable(variables[*k]));
                    Type::Array(component.scalar, extents.collect())
                }
            };
            let name = match component.name.as_str() {
                "" => "t",
                name => name,
            };
            variables.push(self.output.add_variable(name, ty));
        }
        variables
    }

    /// Runs `build` with a new open body, and closes it with the atoms that `build` returns.
    pub fn body(&mut self, build: impl FnOnce(&mut Self) -> Result<Vec<Atom>>) -> Result<Body> {
        self.open.push(Vec::new());
        let results = build(self);
        let Some(statements) = self.open.pop() else {
            return Err(LowerError::new("a body that was not begun"));
        };
        Ok(Body {
            statements,
            results: results?,
        })
    }

    /// Emits a statement.
    pub fn emit(&mut self, pattern: Vec<Variable>, expression: Expression) {
        let place = self.place.clone();
        if let Some(statements) = self.open.last_mut() {
            statements.push(Statement {
                pattern,
                expression,
                place,
            });
        }
    }

    /// Emits a statement that has a place.
    pub fn append(&mut self, statement: Statement) {
        if let Some(statements) = self.open.last_mut() {
            statements.push(statement);
        }
    }

    /// Emits a statement with one result.
    pub fn bind(&mut self, name: &str, ty: Type, expression: Expression) -> Variable {
        let variable = self.output.add_variable(name, ty);
        self.emit(vec![variable], expression);
        variable
    }

    /// Emits a statement with a scalar result.
    pub fn bind_scalar(&mut self, name: &str, scalar: Scalar, expression: Expression) -> Atom {
        Atom::Variable(self.bind(name, Type::Scalar(scalar), expression))
    }

    /// Emits a statement with an array result.
    pub fn bind_array(
        &mut self,
        name: &str,
        scalar: Scalar,
        shape: Vec<Atom>,
        expression: Expression,
    ) -> Atom {
        Atom::Variable(self.bind(name, Type::Array(scalar, shape), expression))
    }

    /// Emits a scalar operation.
    pub fn scalar(
        &mut self,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: Vec<Atom>,
    ) -> Atom {
        let result = operation.result(operand);
        let expression = Expression::Scalar {
            operation,
            operand,
            arguments,
        };
        self.bind_scalar("t", result, expression)
    }

    /// Emits a check, unless its condition is the constant `true`.
    pub fn check(&mut self, condition: Atom, error: ErrorKind, arguments: Vec<Atom>) {
        if constant_bool(condition) == Some(true) {
            return;
        }
        let expression = Expression::Check {
            condition,
            error,
            arguments,
        };
        self.emit(Vec::new(), expression);
    }

    /// Builds a lambda of scalar parameters.
    pub fn lambda(
        &mut self,
        parameters: &[Scalar],
        build: impl FnOnce(&mut Self, &[Atom]) -> Result<Vec<Atom>>,
    ) -> Result<Lambda> {
        let parameters: Vec<Variable> = parameters
            .iter()
            .map(|scalar| self.output.add_variable("t", Type::Scalar(*scalar)))
            .collect();
        let atoms: Vec<Atom> = parameters.iter().map(|p| Atom::Variable(*p)).collect();
        let body = self.body(|b| build(b, &atoms))?;
        Ok(Lambda { parameters, body })
    }

    /// Emits an operation that is only run for its checks.
    pub fn for_each(
        &mut self,
        count: Atom,
        build: impl FnOnce(&mut Self, Atom) -> Result<()>,
    ) -> Result<()> {
        let index = self.index_variable(0);
        let body = self.body(|b| {
            build(b, Atom::Variable(index))?;
            Ok(Vec::new())
        })?;
        self.emit(
            Vec::new(),
            operation(vec![count], vec![index], body, Vec::new()),
        );
        Ok(())
    }

    /// Emits an operation over `[count]` that gives one array of scalars.
    pub fn map_scalar(
        &mut self,
        name: &str,
        count: Atom,
        scalar: Scalar,
        build: impl FnOnce(&mut Self, Atom) -> Result<Atom>,
    ) -> Result<Atom> {
        let index = self.index_variable(0);
        let body = self.body(|b| Ok(vec![build(b, Atom::Variable(index))?]))?;
        let operation = operation(vec![count], vec![index], body, vec![Output::Map]);
        Ok(self.bind_array(name, scalar, vec![count], operation))
    }

    /// Creates a variable for an array.
    pub fn array_variable(&mut self, name: &str, scalar: Scalar, shape: Vec<Atom>) -> Variable {
        self.output.add_variable(name, Type::Array(scalar, shape))
    }

    /// Adds an index variable for dimension `k` of an operation.
    pub fn index_variable(&mut self, k: usize) -> Variable {
        let name = ["i", "j", "k"].get(k).copied().unwrap_or("l");
        self.output.add_variable(name, Type::Scalar(Scalar::I64))
    }

    /// Returns the variable of an array and its element type.
    pub fn array(&self, atom: Atom) -> Result<(Variable, Scalar)> {
        if let Atom::Variable(variable) = atom
            && let Type::Array(scalar, _) = self.output.ty(variable)
        {
            return Ok((variable, *scalar));
        }
        Err(LowerError::new("a component is no array"))
    }

    /// Emits a read of an element of an array.
    pub fn index(&mut self, array: Atom, indices: &[Atom]) -> Result<Atom> {
        let (array, scalar) = self.array(array)?;
        let indices = indices.to_vec();
        Ok(self.bind_scalar("t", scalar, Expression::Index { array, indices }))
    }

    /// Records a fact about the rows with these starts, or about an array.
    pub fn note(&mut self, starts: Atom, fact: Fact) {
        if let Some(variable) = starts.as_variable() {
            self.facts.insert(variable, fact);
        }
    }

    /// Returns the fact about the rows with these starts, or about an array.
    pub fn fact(&self, starts: Atom) -> Option<Fact> {
        starts
            .as_variable()
            .and_then(|v| self.facts.get(&v).cloned())
    }

    /// True if the rows with these starts are known to be dense.
    pub fn is_dense(&self, starts: Atom) -> bool {
        match self.fact(starts) {
            Some(Fact::Dense | Fact::Rows(_)) => true,
            Some(Fact::Constant(_) | Fact::Uniform(_)) | None => false,
        }
    }

    /// Binds the components of the value of an expression.
    pub fn bind_value(&mut self, ty: &CoreType, expression: Expression) -> Vec<Atom> {
        let pattern = self.fresh(ty);
        let atoms = pattern.iter().map(|v| Atom::Variable(*v)).collect();
        self.emit(pattern, expression);
        atoms
    }
}

/// Index arithmetic on `i64`.
impl Builder {
    /// Returns the sum.
    pub fn add(&mut self, left: Atom, right: Atom) -> Atom {
        match (left.as_i64(), right.as_i64()) {
            (Some(a), Some(b)) => Atom::index(a.wrapping_add(b)),
            (Some(0), None) => right,
            (None, Some(0)) => left,
            _ => self.scalar(ScalarOperation::Add, Scalar::I64, vec![left, right]),
        }
    }

    /// Returns the difference.
    pub fn subtract(&mut self, left: Atom, right: Atom) -> Atom {
        match (left.as_i64(), right.as_i64()) {
            (Some(a), Some(b)) => Atom::index(a.wrapping_sub(b)),
            (None, Some(0)) => left,
            _ => self.scalar(ScalarOperation::Subtract, Scalar::I64, vec![left, right]),
        }
    }

    /// Returns the product.
    pub fn multiply(&mut self, left: Atom, right: Atom) -> Atom {
        match (left.as_i64(), right.as_i64()) {
            (Some(a), Some(b)) => Atom::index(a.wrapping_mul(b)),
            (Some(0), None) | (None, Some(0)) => Atom::index(0),
            (Some(1), None) => right,
            (None, Some(1)) => left,
            _ => self.scalar(ScalarOperation::Multiply, Scalar::I64, vec![left, right]),
        }
    }

    /// Returns the quotient. The divisor is not 0.
    pub fn divide(&mut self, left: Atom, right: Atom) -> Atom {
        match (left.as_i64(), right.as_i64()) {
            (Some(a), Some(b)) if b != 0 => Atom::index(a.wrapping_div(b)),
            (None, Some(1)) => left,
            _ => self.scalar(ScalarOperation::Divide, Scalar::I64, vec![left, right]),
        }
    }

    /// Returns the larger of two values.
    pub fn maximum(&mut self, left: Atom, right: Atom) -> Atom {
        match (left.as_i64(), right.as_i64()) {
            (Some(a), Some(b)) => Atom::index(a.max(b)),
            _ => self.scalar(ScalarOperation::Maximum, Scalar::I64, vec![left, right]),
        }
    }

    /// Returns the smaller of two values.
    pub fn minimum(&mut self, left: Atom, right: Atom) -> Atom {
        match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => Atom::index(left.min(right)),
            _ => self.scalar(ScalarOperation::Minimum, Scalar::I64, vec![left, right]),
        }
    }

    /// Returns a comparison.
    pub fn compare(&mut self, operation: ScalarOperation, left: Atom, right: Atom) -> Atom {
        if let (Some(a), Some(b)) = (left.as_i64(), right.as_i64()) {
            let arguments = [a, b].map(ScalarValue::I64);
            return Atom::Constant(nova_core::operations::evaluate_unchecked(
                operation, &arguments, true,
            ));
        }
        if left == right && operation == ScalarOperation::Equal {
            return Atom::Constant(ScalarValue::Bool(true));
        }
        self.scalar(operation, Scalar::I64, vec![left, right])
    }

    /// Returns the product of extents.
    pub fn product(&mut self, extents: &[Atom]) -> Atom {
        let mut product = Atom::index(1);
        for extent in extents {
            product = self.multiply(product, *extent);
        }
        product
    }

    /// Emits a conditional that gives one scalar.
    pub fn select(
        &mut self,
        scalar: Scalar,
        condition: Atom,
        then: impl FnOnce(&mut Self) -> Result<Atom>,
        otherwise: impl FnOnce(&mut Self) -> Result<Atom>,
    ) -> Result<Atom> {
        match constant_bool(condition) {
            Some(true) => return then(self),
            Some(false) => return otherwise(self),
            None => {}
        }
        let then = self.body(|b| Ok(vec![then(b)?]))?;
        let otherwise = self.body(|b| Ok(vec![otherwise(b)?]))?;
        let expression = Expression::If {
            condition,
            then,
            otherwise,
        };
        Ok(self.bind_scalar("t", scalar, expression))
    }
}

/// Returns the value of a bool constant.
pub(crate) fn constant_bool(atom: Atom) -> Option<bool> {
    match atom {
        Atom::Constant(ScalarValue::Bool(value)) => Some(value),
        Atom::Constant(_) | Atom::Variable(_) => None,
    }
}

/// Returns an operation over a shape that carries no state.
pub(crate) fn operation(
    shape: Vec<Atom>,
    indices: Vec<Variable>,
    body: Body,
    outputs: Vec<Output>,
) -> Expression {
    Expression::Operation(ArrayOperation {
        shape,
        indices,
        level: Level::Sequential,
        strategy: None,
        carries: Vec::new(),
        body,
        outputs,
    })
}

/// Returns variables as atoms.
pub(crate) fn atoms(variables: &[Variable]) -> Vec<Atom> {
    variables.iter().map(|v| Atom::Variable(*v)).collect()
}
