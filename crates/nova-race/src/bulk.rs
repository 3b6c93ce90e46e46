//! The elements that commands read and write, by the table of commands, and the variables that they assign.

use crate::loop_nest::Effect;
use crate::symbolic::{Base, Polynomial, Spot, Value};
use crate::walk::Walk;
use nova_core::Scalar;
use nova_loop::ir::{Command, Expression, Extent, Type, Use, Variable};
use nova_loop::uses::{Access, accesses};
use nova_loop::walk::each_assigned;

impl<'p> Walk<'p> {
    /// Records the elements that a command reads and then writes, and forgets the variables that it assigns.
    pub(crate) fn by_table(&mut self, command: &'p Command) {
        let (reads, writes): (Vec<_>, Vec<_>) = accesses(command)
            .into_iter()
            .partition(|access| access.used == Use::Read);
        for access in reads.into_iter().chain(writes) {
            self.by_extent(command, &access);
        }
        each_assigned(command, &mut |variable| self.state.forget(variable));
    }

    /// Returns the effect of a command on the elements that it writes.
    fn effect(&mut self, command: &Command) -> Effect {
        match command {
            Command::Store { pointer, value, .. } => {
                match self.state.program.variable(*pointer).ty == Type::Pointer(Scalar::I64) {
                    true => Effect::Stores(self.state.number(value)),
                    false => Effect::Writes,
                }
            }
            Command::Contend { stays, .. } => Effect::Contends(*stays),
            _others => Effect::Writes,
        }
    }

    fn by_extent(&mut self, command: &Command, access: &Access) {
        let none = Polynomial::default();
        let (first, count) = match access.extent {
            Extent::At(index) => (self.state.number(index), Some(Polynomial::constant(1))),
            Extent::Count(count) => (none, Some(self.state.number(count))),
            Extent::Groups(count, size) => (none, self.state.number(count).scaled(i64::from(size))),
            Extent::Fixed(count) => (none, Some(Polynomial::constant(count))),
            Extent::Any => (none, None),
        };
        let effect = match access.used {
            Use::Read => Effect::Reads,
            Use::Written | Use::Value => self.effect(command),
        };
        self.access_many(&access.pointer, &first, count.as_ref(), effect);
    }

    /// Walks over the decision about non-temporal stores, which gives a number from -1 to one less than the
    /// width.
    pub(crate) fn plan_non_temporal(&mut self, shift: Variable, width: u32) {
        self.state.forget(shift);
        let symbol = self.state.facts.fresh(Scalar::I64);
        let value = Polynomial::variable(symbol);
        self.state.facts.define(symbol, value.plus_number(1));
        let most = Polynomial::constant(i64::from(width) - 1);
        self.state.facts.define(symbol, most.minus(&value));
        self.state.values.insert(shift, Value::Number(value));
    }

    /// Walks over a non-temporal store of structures to the memory of the result, which writes the elements
    /// of each field at its stride.
    pub(crate) fn non_temporal_store(
        &mut self,
        fields: &[Variable],
        start: &Expression,
        from: &Expression,
        count: &Expression,
    ) {
        let (start, count) = (self.state.number(start), self.state.number(count));
        let width = fields.len() as i64;
        if let Some(all) = count.scaled(width) {
            self.access_many(from, &Polynomial::default(), Some(&all), Effect::Reads);
        }
        let one = Polynomial::constant(1);
        for field in fields {
            let first = Spot {
                base: Base(0),
                index: Polynomial::default(),
            };
            let structure = self.state.facts.within(&first, Some(&count));
            if let Some(offset) = structure.scaled(width) {
                let field = Expression::Variable(*field);
                let at = self.state.facts.sum(&start, &offset);
                self.access_many(&field, &at, Some(&one), Effect::Writes);
            }
        }
    }
}
