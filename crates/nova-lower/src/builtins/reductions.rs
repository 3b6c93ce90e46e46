//! `reduce`, `scan`, `foldl` and `scanl`.
//!
//! Over values without vectors the first two are outputs of an operation, whose bracketing is free.
//! Over values with vectors, and for `foldl` and `scanl` always, they are an operation that carries the
//! state.

use super::Argument;
use crate::builder::Lowerer;
use crate::error::Result;
use crate::values::{Vector, has_rows};
use nova_core::{Scalar, Strategy, Type};
use nova_flat::ir::{
    ArrayOperation, Atom, Bracketing, Expression, Lambda, Level, Output, Type as FlatType, Variable,
};

impl Lowerer<'_> {
    /// Returns the scalars of a value that has only scalars, and at least one.
    pub(super) fn only_scalars(&mut self, ty: &Type) -> Option<Vec<Scalar>> {
        if has_rows(ty, &self.output.sums) {
            return None;
        }
        let scalars: Vec<Scalar> = self.components(ty).iter().map(|c| c.scalar).collect();
        (!scalars.is_empty()).then_some(scalars)
    }

    /// Converts a lambda of Core over two values of these scalars to one of Flat.
    pub(super) fn operator(&mut self, function: &Argument, scalars: &[Scalar]) -> Result<Lambda> {
        let parameters = [scalars, scalars].concat();
        self.lambda(&parameters, |b, atoms| {
            let (left, right) = atoms.split_at(scalars.len());
            b.inline(function.id, vec![left.to_vec(), right.to_vec()])
        })
    }

    pub(super) fn reduce(
        &mut self,
        [function, start, x]: &[Argument; 3],
        commutes: bool,
    ) -> Result<Vec<Atom>> {
        let vector = x.vector()?;
        let Some(scalars) = self.only_scalars(&start.ty) else {
            return self.fold(function, start, &vector, None);
        };
        let index = self.index_variable(0);
        let body =
            self.body(|b| b.element(&vector.element, &vector.lifted, &[Atom::Variable(index)]))?;
        let lambda = self.operator(function, &scalars)?;
        let output = Output::Reduce {
            lambda,
            start: start.atoms.clone(),
            commutes,
            bracketing: Bracketing::Whole,
        };
        let operation = self.over(vector.length, index, body, output);
        Ok(self.bind_value(&start.ty, operation))
    }

    pub(super) fn scan(
        &mut self,
        [function, start, x]: &[Argument; 3],
        exclusive: bool,
    ) -> Result<Vec<Atom>> {
        let x = x.vector()?;
        let Some(scalars) = self.only_scalars(&start.ty) else {
            return self.scan_in_order(function, start, x, exclusive);
        };
        let index = self.index_variable(0);
        let body = self.body(|b| b.element(&x.element, &x.lifted, &[Atom::Variable(index)]))?;
        let lambda = self.operator(function, &scalars)?;
        let output = Output::Scan {
            lambda,
            start: start.atoms.clone(),
            exclusive,
        };
        let operation = self.over(x.length, index, body, output);
        let mut pattern: Vec<Variable> = Vec::with_capacity(scalars.len());
        for scalar in scalars {
            let ty = FlatType::Array(scalar, vec![x.length]);
            pattern.push(self.output.add_variable("scan", ty));
        }
        let lifted = Self::atoms(&pattern);
        self.emit(pattern, operation);
        let vector = Vector { lifted, ..x };
        Ok(vector.atoms())
    }

    /// Returns an operation over a vector with one output.
    pub(super) fn over(
        &self,
        count: Atom,
        index: Variable,
        body: nova_flat::ir::Body,
        output: Output,
    ) -> Expression {
        Expression::Operation(ArrayOperation {
            shape: vec![count],
            indices: vec![index],
            level: Level::Sequential,
            strategy: None,
            carries: Vec::new(),
            body,
            outputs: vec![output],
        })
    }

    fn scan_in_order(
        &mut self,
        function: &Argument,
        start: &Argument,
        x: Vector,
        exclusive: bool,
    ) -> Result<Vec<Atom>> {
        let (state, first) = (&start.ty, start.atoms.clone());
        let (_, lifted) = self.build_carrying(
            None,
            &[x.length],
            (state, first),
            state,
            |b, index, state| {
                let value = b.element(&x.element, &x.lifted, index)?;
                let next = b.inline(function.id, vec![state.clone(), value])?;
                let shown = if exclusive { state } else { next.clone() };
                Ok((next, shown))
            },
        )?;
        let vector = Vector {
            length: x.length,
            element: state.clone(),
            lifted,
        };
        Ok(vector.atoms())
    }

    pub(super) fn scanl(&mut self, [function, start, x]: &[Argument; 3]) -> Result<Vec<Atom>> {
        let x = x.vector()?;
        self.scan_in_order(function, start, x, false)
    }

    pub(super) fn foldl(
        &mut self,
        [function, start, x]: &[Argument; 3],
        strategy: Option<Strategy>,
    ) -> Result<Vec<Atom>> {
        let x = x.vector()?;
        self.fold(function, start, &x, strategy)
    }

    /// Emits a fold in order.
    fn fold(
        &mut self,
        function: &Argument,
        start: &Argument,
        x: &Vector,
        strategy: Option<Strategy>,
    ) -> Result<Vec<Atom>> {
        let first = (&start.ty, start.atoms.clone());
        self.carry(strategy, x.length, first, |b, index, state| {
            let value = b.element(&x.element, &x.lifted, &[index])?;
            b.inline(function.id, vec![state, value])
        })
    }

    /// Emits `count` steps from a state to the next one.
    pub(super) fn carry(
        &mut self,
        strategy: Option<Strategy>,
        count: Atom,
        start: (&Type, Vec<Atom>),
        step: impl FnOnce(&mut Self, Atom, Vec<Atom>) -> Result<Vec<Atom>>,
    ) -> Result<Vec<Atom>> {
        let (last, _) =
            self.build_carrying(strategy, &[count], start, &Type::Unit, |b, index, state| {
                Ok((step(b, index[0], state)?, Vec::new()))
            })?;
        Ok(last)
    }
}
