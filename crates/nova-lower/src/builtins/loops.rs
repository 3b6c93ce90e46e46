//! `iterate` and `while`.

use super::Argument;
use crate::builder::Lowerer;
use crate::error::Result;
use nova_flat::ir::{Atom, Expression};

impl Lowerer<'_> {
    pub(super) fn iterate(
        &mut self,
        [count, function, start]: &[Argument; 3],
    ) -> Result<Vec<Atom>> {
        let (count, scalar) = count.scalar()?;
        let count = self.bound_from(count, scalar);
        let count = match scalar.is_signed() {
            true => self.maximum(count, Atom::index(0)),
            false => count,
        };
        let first = (&start.ty, start.atoms.clone());
        self.carry(None, count, first, |b, _, state| {
            b.inline(function.id, vec![state])
        })
    }

    pub(super) fn while_loop(
        &mut self,
        [predicate, function, start]: &[Argument; 3],
    ) -> Result<Vec<Atom>> {
        let parameters = self.fresh(&start.ty);
        let state = Self::atoms(&parameters);
        let condition = self.body(|b| b.inline(predicate.id, vec![state.clone()]))?;
        let body = self.body(|b| b.inline(function.id, vec![state]))?;
        let parameters = parameters.into_iter().zip(start.atoms.iter().copied());
        let expression = Expression::While {
            parameters: parameters.collect(),
            condition,
            body,
        };
        Ok(self.bind_value(&start.ty, expression))
    }
}
