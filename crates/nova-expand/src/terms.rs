//! Terms: expressions with the facts that decide where they may be evaluated.

use nova_flat::ir as flat;
use nova_loop::ir::{Expression, Variable};

/// An expression with the facts that decide where it may be evaluated.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    /// The expression.
    pub(crate) expression: Expression,
    /// The number of its nodes.
    pub(crate) size: u32,
    /// The blocks of the source that it reads.
    pub(crate) loads: Vec<flat::Variable>,
}

/// The translation of a scalar of the source.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// A variable or constant.
    Simple(Expression),
    /// A pending expression with a single use.
    Pending {
        term: Term,
        /// The number of open command lists that enclose the one where it is pending.
        list: usize,
        scope: u32,
    },
}

impl Term {
    /// Returns a term that reads no memory of the source.
    pub(crate) fn new(expression: Expression) -> Self {
        Term {
            expression,
            size: 1,
            loads: Vec::new(),
        }
    }

    /// Returns a variable as a term.
    pub(crate) fn variable(variable: Variable) -> Self {
        Term::new(Expression::Variable(variable))
    }

    /// Returns the selection of one of two terms.
    pub(crate) fn select(condition: Term, then: Term, otherwise: Term) -> Self {
        let mut loads = [&condition.loads[..], &then.loads, &otherwise.loads].concat();
        loads.sort();
        loads.dedup();
        Term {
            size: 1 + condition.size + then.size + otherwise.size,
            loads,
            expression: Expression::Select {
                condition: Box::new(condition.expression),
                then: Box::new(then.expression),
                otherwise: Box::new(otherwise.expression),
            },
        }
    }

    /// Returns a term over operands.
    pub(crate) fn over(
        operands: Vec<Term>,
        build: impl FnOnce(Vec<Expression>) -> Expression,
    ) -> Self {
        let mut size = 1;
        let mut loads = Vec::new();
        let mut expressions = Vec::with_capacity(operands.len());
        for operand in operands {
            size += operand.size;
            loads.extend(operand.loads);
            expressions.push(operand.expression);
        }
        loads.sort();
        loads.dedup();
        Term {
            expression: build(expressions),
            size,
            loads,
        }
    }
}

/// Returns variables as operands.
pub(crate) fn variables_as_terms(variables: &[Variable]) -> Vec<Term> {
    variables.iter().map(|v| Term::variable(*v)).collect()
}
