//! The sizes of blocks: products of extents, which may overflow.

use crate::MARK;
use nova_core::ScalarOperation;
use nova_diag::Place;
use nova_flat::ir::{Atom, Body, Expression, Program, Statement, Type};
use std::sync::Arc;

/// Emits the statements that compute sizes.
pub(crate) struct Sizes<'a> {
    pub(crate) program: &'a mut Program,
    pub(crate) place: &'a Place,
}

type Statements = Vec<Statement>;

impl Sizes<'_> {
    /// Emits the product of extents. It is negative on overflow, so that the allocation fails.
    pub(crate) fn of(&mut self, shape: &[Atom], out: &mut Statements) -> Atom {
        let mut product = Atom::index(1);
        for extent in shape {
            product = match (product.as_i64(), extent.as_i64()) {
                (Some(1), _) => *extent,
                (_, Some(1)) => product,
                (Some(0), _) | (_, Some(0)) => Atom::index(0),
                (Some(a), Some(b)) => Atom::index(a.checked_mul(b).unwrap_or(-1)),
                (Some(_), None) | (None, _) => self.product(product, *extent, out),
            };
        }
        product
    }

    /// Emits `a · b` for extents, or -1 on overflow. `a` may be -1 already.
    ///
    /// `if b = 0 then 0 else if MAX / b < a then -1 else a·b`
    fn product(&mut self, a: Atom, b: Atom, out: &mut Statements) -> Atom {
        let mut fits = Body::default();
        let product = self.scalar(ScalarOperation::Multiply, [a, b], &mut fits.statements);
        fits.results.push(product);
        let mut filled = Body::default();
        let largest = Atom::index(i64::MAX);
        let most = self.scalar(
            ScalarOperation::Divide,
            [largest, b],
            &mut filled.statements,
        );
        let over = self.scalar(ScalarOperation::Less, [most, a], &mut filled.statements);
        let chosen = self.choose(over, give(-1), fits, &mut filled.statements);
        filled.results.push(chosen);
        let empty = self.scalar(ScalarOperation::Equal, [b, Atom::index(0)], out);
        self.choose(empty, give(0), filled, out)
    }

    fn scalar(
        &mut self,
        operation: ScalarOperation,
        arguments: [Atom; 2],
        out: &mut Statements,
    ) -> Atom {
        let operand = nova_core::Scalar::I64;
        let ty = Type::Scalar(operation.result(operand));
        let arguments = arguments.to_vec();
        self.push(
            ty,
            Expression::Scalar {
                operation,
                operand,
                arguments,
            },
            out,
        )
    }

    fn choose(
        &mut self,
        condition: Atom,
        then: Body,
        otherwise: Body,
        out: &mut Statements,
    ) -> Atom {
        let ty = Type::Scalar(nova_core::Scalar::I64);
        self.push(
            ty,
            Expression::If {
                condition,
                then,
                otherwise,
            },
            out,
        )
    }

    fn push(&mut self, ty: Type, expression: Expression, out: &mut Statements) -> Atom {
        let name: Arc<str> = format!("{MARK}size").into();
        let variable = self.program.add_variable(name, ty);
        let pattern = vec![variable];
        out.push(Statement {
            pattern,
            expression,
            place: self.place.clone(),
        });
        Atom::Variable(variable)
    }
}

fn give(value: i64) -> Body {
    Body {
        statements: Vec::new(),
        results: vec![Atom::index(value)],
    }
}
