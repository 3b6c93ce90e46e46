//! Elements of rows that are a matrix by now. The data of the rows are a reshape of the matrix, and an element at
//! `row × length + place` is read from the matrix itself. Fusion can then compute it there.

use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, Program, Statement, Variable, View};
use nova_flat::visit::bodies_mut;
use std::collections::{HashMap, HashSet};

/// Reads elements from matrices in a body. Adds these matrices to `read`.
pub(super) fn run(program: &Program, body: &mut Body, read: &mut HashSet<Variable>) {
    let mut walk = Walk {
        program,
        read,
        matrices: HashMap::new(),
        operations: HashMap::new(),
        unless: HashMap::new(),
        equal: Vec::new(),
        extents: Vec::new(),
    };
    walk.body(body);
}

/// The state of a walk over a function.
struct Walk<'p> {
    program: &'p Program,
    /// The matrices whose elements are read.
    read: &'p mut HashSet<Variable>,
    /// The matrices by the arrays that have their elements one after the other.
    matrices: HashMap<Variable, Variable>,
    /// The sums, products and comparisons of `i64`.
    operations: HashMap<Variable, (ScalarOperation, [Atom; 2])>,
    /// The values that are true if one variable is, and otherwise another one.
    unless: HashMap<Variable, [Variable; 2]>,
    /// Numbers that checks have found to be equal, where a third number is not zero.
    equal: Vec<([Atom; 2], Option<Atom>)>,
    /// The indices of the operations around, with their extents.
    extents: Vec<(Variable, Atom)>,
}

impl Walk<'_> {
    fn body(&mut self, body: &mut Body) {
        let known = self.equal.len();
        for statement in &mut body.statements {
            deep(|| self.statement(statement));
        }
        self.equal.truncate(known);
    }

    fn statement(&mut self, statement: &mut Statement) {
        self.note(statement);
        match &mut statement.expression {
            Expression::Index { array, indices } => {
                if let [index] = indices[..]
                    && let Some((matrix, element)) = self.element(*array, index)
                {
                    self.read.insert(matrix);
                    *array = matrix;
                    *indices = element.to_vec();
                }
            }
            other => {
                let around = self.extents.len();
                if let Expression::Operation(operation) = &*other {
                    let own = operation.indices.iter().zip(&operation.shape);
                    self.extents
                        .extend(own.map(|(index, extent)| (*index, *extent)));
                }
                bodies_mut(other, &mut |body| self.body(body));
                self.extents.truncate(around);
            }
        }
    }

    /// Notes what a statement computes or checks.
    fn note(&mut self, statement: &Statement) {
        match (&statement.expression, &statement.pattern[..]) {
            (
                Expression::View {
                    array,
                    view: View::Reshape(shape),
                },
                [made],
            ) => {
                let rank = self.program.ty(*array).shape().len();
                if shape.len() == 1 && rank == 2 {
                    self.matrices.insert(*made, *array);
                }
            }
            (
                Expression::Scalar {
                    operation,
                    operand: Scalar::I64,
                    arguments,
                },
                [made],
            ) => {
                if let [left, right] = arguments[..] {
                    self.operations.insert(*made, (*operation, [left, right]));
                }
            }
            (
                Expression::If {
                    condition,
                    then,
                    otherwise,
                },
                [made],
            ) => {
                if let (Atom::Variable(condition), [value], [Atom::Variable(other)]) =
                    (condition, &then.results[..], &otherwise.results[..])
                    && *value == Atom::Constant(ScalarValue::Bool(true))
                {
                    self.unless.insert(*made, [*condition, *other]);
                }
            }
            (
                Expression::Check {
                    condition: Atom::Variable(condition),
                    ..
                },
                _,
            ) => {
                self.learn(*condition);
            }
            (_, _) => {}
        }
    }

    /// Learns from a condition that holds from now on.
    fn learn(&mut self, condition: Variable) {
        let comparison = |of: Variable| match self.operations.get(&of) {
            Some((ScalarOperation::Equal, sides)) => Some(*sides),
            _others => None,
        };
        let fact = match self.unless.get(&condition) {
            None => comparison(condition).map(|sides| (sides, None)),
            Some([empty, other]) => match (comparison(*empty), comparison(*other)) {
                (Some([count, zero]), Some(sides)) if zero.as_i64() == Some(0) => {
                    Some((sides, Some(count)))
                }
                (_, _) => None,
            },
        };
        self.equal.extend(fact);
    }

    /// True if two numbers are equal in the operations around.
    fn is_same(&self, left: Atom, right: Atom) -> bool {
        let is_known = |(sides, unless): &([Atom; 2], Option<Atom>)| {
            let runs = |count: &Atom| self.extents.iter().any(|(_, extent)| extent == count);
            (*sides == [left, right] || *sides == [right, left]) && unless.as_ref().is_none_or(runs)
        };
        left == right || self.equal.iter().any(is_known)
    }

    /// Returns the matrix that has an element of an array, and its indices there.
    fn element(&self, array: Variable, index: Atom) -> Option<(Variable, [Atom; 2])> {
        let matrix = *self.matrices.get(&array)?;
        let length = *self.program.ty(matrix).shape().get(1)?;
        for [product, place] in orders(self.operands(index, ScalarOperation::Add)?) {
            let Some(factors) = self.operands(product, ScalarOperation::Multiply) else {
                continue;
            };
            let is_place = |(index, extent): &(Variable, Atom)| {
                place == Atom::Variable(*index) && self.is_same(*extent, length)
            };
            for [row, factor] in orders(factors) {
                if self.is_same(factor, length) && self.extents.iter().any(is_place) {
                    return Some((matrix, [row, place]));
                }
            }
        }
        None
    }

    /// Returns the operands of the operation that computes a number, if it is this one.
    fn operands(&self, number: Atom, operation: ScalarOperation) -> Option<[Atom; 2]> {
        let (of, operands) = self.operations.get(&number.as_variable()?)?;
        (*of == operation).then_some(*operands)
    }
}

/// Returns two operands in both orders.
fn orders([left, right]: [Atom; 2]) -> [[Atom; 2]; 2] {
    [[left, right], [right, left]]
}
