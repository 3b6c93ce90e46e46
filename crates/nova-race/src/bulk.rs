//! The elements that commands on many elements read and write: those that move or combine elements.

use crate::loop_nest::Effect;
use crate::symbolic::{Base, Polynomial, Spot, Value};
use crate::walk::Walk;
use nova_core::Scalar;
use nova_loop::ir::{
    Combined, Command, Expression, FIXED_BLOCK, GATHER_WIDTH, Gather, PARTIAL_LANES, PREFIX_WIDTH,
    Variable, errors, jumps,
};

impl<'p> Walk<'p> {
    /// Walks over a command on many elements.
    pub(crate) fn bulk_command(&mut self, command: &'p Command) {
        let none = Polynomial::default();
        match command {
            Command::Copy {
                to, from, count, ..
            } => {
                let count = self.state.number(count);
                self.access_many(from, &none, Some(&count), Effect::Reads);
                self.access_many(to, &none, Some(&count), Effect::Writes);
            }
            Command::PlanNonTemporal { shift, width, .. } => {
                self.state.forget(*shift);
                let symbol = self.state.facts.fresh(Scalar::I64);
                let value = Polynomial::variable(symbol);
                self.state.facts.define(symbol, value.plus_number(1));
                self.state.facts.define(
                    symbol,
                    Polynomial::constant(i64::from(*width) - 1).minus(&value),
                );
                self.state.values.insert(*shift, Value::Number(value));
            }
            Command::NonTemporalStore {
                fields,
                start,
                from,
                count,
                ..
            } => self.non_temporal_store(fields, start, from, count),
            Command::PaddedCopy {
                to, from, count, ..
            } => {
                let count = self.state.number(count);
                self.access_many(from, &none, Some(&count), Effect::Reads);
                self.access(to, &none, Some(i64::from(FIXED_BLOCK)), Effect::Writes);
            }
            Command::TreeReduce { pointer, into, .. } => {
                let count = match into {
                    Combined::One | Combined::Lanes | Combined::Rows => i64::from(FIXED_BLOCK),
                };
                let pointer = Expression::Variable(*pointer);
                self.access(&pointer, &none, Some(count), Effect::Writes);
            }
            Command::PlanRows { joins } => self.state.forget(*joins),
            Command::LaneReduce {
                to, from, count, ..
            } => {
                let count = self.state.number(count);
                self.access_many(from, &none, Some(&count), Effect::Reads);
                self.access(to, &none, Some(i64::from(PARTIAL_LANES)), Effect::Writes);
            }
            Command::PrefixScan { to, from, last, .. } => {
                self.access(from, &none, Some(i64::from(PREFIX_WIDTH)), Effect::Reads);
                self.access(to, &none, Some(i64::from(PREFIX_WIDTH)), Effect::Writes);
                self.state.forget(*last);
            }
            Command::Gather(gather) => self.gather(gather),
            nova_loop::variable_commands!()
            | nova_loop::block_commands!()
            | nova_loop::structures!()
            | nova_loop::calls!()
            | errors!()
            | jumps!()
            | nova_loop::remarks!() => {}
        }
    }

    fn gather(&mut self, gather: &Gather) {
        let none = Polynomial::default();
        let (dense, strided) = (i64::from(GATHER_WIDTH), |stride: u32| {
            i64::from(GATHER_WIDTH) * i64::from(stride)
        });
        match gather {
            Gather::Strided {
                to, from, stride, ..
            } => {
                self.access(from, &none, Some(strided(*stride)), Effect::Reads);
                self.access(to, &none, Some(dense), Effect::Writes);
            }
            Gather::Precheck {
                outside,
                indices,
                stride,
                ..
            } => {
                self.access(indices, &none, Some(strided(*stride)), Effect::Reads);
                self.state.forget(*outside);
            }
            Gather::Indexed {
                to,
                from,
                indices,
                stride,
                ..
            } => {
                self.access(indices, &none, Some(strided(*stride)), Effect::Reads);
                self.access(from, &none, None, Effect::Reads);
                self.access(to, &none, Some(dense), Effect::Writes);
            }
        }
    }

    /// Walks over a non-temporal store of structures to the memory of the result, which writes the elements
    /// of each field at its stride.
    fn non_temporal_store(
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
