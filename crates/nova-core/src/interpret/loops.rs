//! The built-ins that call functions. Each reports the first of its errors in the order documented
//! here, and errors of its functions in the order of the elements.

use super::code::{Block, Site};
use super::machine::{Frame, Machine};
use super::operands::{
    Operands, Result, advance, as_bool, as_integer, as_scalar, at, element_type, extents, in_range,
    integer_at, non_negative, same_length, shaped, stop,
};
use crate::error::internal;
use crate::order::{self, Order};
use crate::value::grow;
use crate::{Builtin, Elements, ErrorKind, Scalar, ScalarValue, Value};

/// Returns an index as a value.
fn index_value(scalar: Scalar, k: usize) -> Value {
    Value::Scalar(ScalarValue::from_integer_wrapping(scalar, k as i128))
}

/// The result of a built-in that takes no functions, where it has one.
fn takes_no_function() -> Result<Value> {
    Err(internal("a function for a built-in that takes none"))
}

impl Machine<'_> {
    /// Applies a built-in that takes functions, which are blocks of `frame`'s function.
    pub fn loop_builtin(&mut self, frame: &mut Frame, site: &Site) -> Result<Value> {
        let operands = self.pop_many(site.operands);
        let [block, ..] = site.blocks[..] else {
            return Err(internal("a built-in without its function"));
        };
        if let Builtin::Map { .. } = site.builtin {
            return self.map(frame, site, block, operands);
        }
        let mut o = Operands::new(operands);
        match site.builtin {
            Builtin::Imap => self.imap(frame, site, block, o.elements()?),
            Builtin::Reduce { commutes } => {
                let order = self.order(site, commutes);
                self.reduce(frame, block, order, o)
            }
            Builtin::Scan { exclusive } => self.scan(frame, site, block, exclusive, o),
            Builtin::Foldl | Builtin::ReduceSeq { .. } => {
                let (mut state, elements) = (o.value()?, o.elements()?);
                for x in elements.iter() {
                    state = self.block(frame, block, [state, x])?;
                }
                Ok(state)
            }
            Builtin::Scanl => self.states(frame, site, block, o),
            Builtin::Filter => {
                let elements = o.elements()?;
                let (those, _) = self.partition(frame, block, &elements)?;
                Ok(Value::Vector(elements.pick(those.into_iter())?))
            }
            Builtin::Partition => {
                let elements = o.elements()?;
                let (those, others) = self.partition(frame, block, &elements)?;
                Ok(Value::tuple(vec![
                    Value::Vector(elements.pick(those.into_iter())?),
                    Value::Vector(elements.pick(others.into_iter())?),
                ]))
            }
            Builtin::Histogram => self.histogram(frame, site, block, o),
            Builtin::Sort => self.sort(frame, block, o.elements()?),
            Builtin::Tabulate => self.tabulate(frame, site, block, &[o.value()?]),
            Builtin::TabulateArray => {
                let given: Vec<Value> = (0..site.operands)
                    .map(|_| o.value())
                    .collect::<Result<_>>()?;
                self.tabulate(frame, site, block, &given)
            }
            Builtin::Iterate => {
                let (n, mut state) = (o.integer()?, o.value()?);
                for _ in 0..n {
                    state = self.block(frame, block, [state])?;
                }
                Ok(state)
            }
            Builtin::While => self.repeat(frame, site, o.value()?),
            Builtin::Map { .. } | Builtin::Scalar(_) | Builtin::Permute | Builtin::Gather => {
                takes_no_function()
            }
            Builtin::Slice | Builtin::Range | Builtin::Trace | Builtin::Length => {
                takes_no_function()
            }
            Builtin::Index | Builtin::ArrayIndex | Builtin::Scatter => takes_no_function(),
            Builtin::Zip | Builtin::Unzip | Builtin::Concat | Builtin::Reverse => {
                takes_no_function()
            }
            Builtin::Replicate | Builtin::Rotate | Builtin::Update => takes_no_function(),
            Builtin::ArraySlice | Builtin::ArrayUpdate | Builtin::Count => takes_no_function(),
            Builtin::UpdateSlice | Builtin::ArrayUpdateSlice => takes_no_function(),
            Builtin::Shape | Builtin::Reshape | Builtin::Transpose => takes_no_function(),
            Builtin::Flatten | Builtin::Rows | Builtin::Unrows => takes_no_function(),
            Builtin::Segments | Builtin::Unflatten | Builtin::Split => takes_no_function(),
            Builtin::AsVector { .. } | Builtin::AsScalar => takes_no_function(),
            Builtin::Table { .. } | Builtin::Datum { .. } | Builtin::NodeAt => takes_no_function(),
        }
    }

    /// Runs a step while the condition holds.
    fn repeat(&mut self, frame: &mut Frame, site: &Site, mut state: Value) -> Result<Value> {
        let [condition, step] = site.blocks[..] else {
            return Err(internal("`while` without its step"));
        };
        while as_bool(&self.block(frame, condition, [state.clone()])?)? {
            state = self.block(frame, step, [state])?;
        }
        Ok(state)
    }

    /// Returns the states of a fold after each element.
    fn states(
        &mut self,
        frame: &mut Frame,
        site: &Site,
        block: Block,
        mut o: Operands,
    ) -> Result<Value> {
        let (mut state, elements) = (o.value()?, o.elements()?);
        let mut states = Elements::with_capacity(element_type(&site.result), elements.len())?;
        for x in elements.iter() {
            state = self.block(frame, block, [state, x])?;
            states.push(state.clone())?;
        }
        Ok(Value::Vector(states))
    }

    fn sort(&mut self, frame: &mut Frame, block: Block, elements: Elements) -> Result<Value> {
        let sorted = order::sort(elements.len(), |a, b| {
            let pair = [at(&elements, a)?, at(&elements, b)?];
            as_bool(&self.block(frame, block, pair)?)
        })?;
        Ok(Value::Vector(elements.pick(sorted.into_iter())?))
    }

    fn order(&self, site: &Site, commutes: bool) -> Order {
        Order {
            commutes,
            strict: self.options.strict,
            scalars_only: site.scalars_only,
        }
    }

    /// Checks that the lengths, from left to right, are that of the first.
    fn map(
        &mut self,
        frame: &mut Frame,
        site: &Site,
        block: Block,
        operands: Vec<Value>,
    ) -> Result<Value> {
        let count = operands.len();
        let mut o = Operands::new(operands);
        let vectors: Vec<Elements> = (0..count).map(|_| o.elements()).collect::<Result<_>>()?;
        let n = vectors.first().map_or(0, Elements::len);
        for vector in &vectors {
            same_length(n, vector.len())?;
        }
        let mut results = Elements::with_capacity(element_type(&site.result), n)?;
        for k in 0..n {
            for (parameter, vector) in vectors.iter().enumerate() {
                self.set_parameter(frame, block, parameter, at(vector, k)?);
            }
            results.push(self.run_block(frame, block)?)?;
        }
        Ok(Value::Vector(results))
    }

    /// Checks that the length fits `int`.
    fn imap(
        &mut self,
        frame: &mut Frame,
        site: &Site,
        block: Block,
        elements: Elements,
    ) -> Result<Value> {
        let n = elements.len();
        if i32::try_from(n).is_err() {
            return Err(stop(ErrorKind::LengthOverflow, &[n as i128]));
        }
        let mut results = Elements::with_capacity(element_type(&site.result), n)?;
        for k in 0..n {
            let pair = [index_value(Scalar::I32, k), at(&elements, k)?];
            results.push(self.block(frame, block, pair)?)?;
        }
        Ok(Value::Vector(results))
    }

    fn reduce(
        &mut self,
        frame: &mut Frame,
        block: Block,
        order: Order,
        mut o: Operands,
    ) -> Result<Value> {
        let (start, elements) = (o.value()?, o.elements()?);
        let element = |k| at(&elements, k);
        order::reduce(elements.len(), order, start, element, |a, b| {
            self.block(frame, block, [a, b])
        })
    }

    fn scan(
        &mut self,
        frame: &mut Frame,
        site: &Site,
        block: Block,
        exclusive: bool,
        mut o: Operands,
    ) -> Result<Value> {
        let (start, elements) = (o.value()?, o.elements()?);
        let n = elements.len();
        let mut results = Elements::with_capacity(element_type(&site.result), n)?;
        let order = self.order(site, false);
        let element = |k| at(&elements, k);
        let combine = |a, b| self.block(frame, block, [a, b]);
        let emit = |y| Ok(results.push(y)?);
        order::scan(n, exclusive, order, start, element, combine, emit)?;
        Ok(Value::Vector(results))
    }

    /// Returns the elements for which the function holds, and the others.
    fn partition(
        &mut self,
        frame: &mut Frame,
        block: Block,
        elements: &Elements,
    ) -> Result<(Vec<usize>, Vec<usize>)> {
        let (mut those, mut others) = (Vec::new(), Vec::new());
        for (k, x) in elements.iter().enumerate() {
            let list = match as_bool(&self.block(frame, block, [x])?)? {
                true => &mut those,
                false => &mut others,
            };
            if list.len() == list.capacity() {
                grow(list, 1)?;
            }
            list.push(k);
        }
        Ok((those, others))
    }

    /// Checks that n is not negative, then that the lengths of I and X agree. Bins that hold vectors are folded
    /// one after the other, so that an error is that of the first bin that has one (docs/order.md).
    fn histogram(
        &mut self,
        frame: &mut Frame,
        site: &Site,
        block: Block,
        mut o: Operands,
    ) -> Result<Value> {
        let (start, n) = (o.value()?, non_negative(o.integer()?)?);
        let (indices, elements) = (o.elements()?, o.elements()?);
        same_length(indices.len(), elements.len())?;
        let mut bins = Vec::new();
        grow(&mut bins, n)?;
        bins.resize(n, start);
        let mut folded = Vec::with_capacity(elements.len());
        for k in 0..elements.len() {
            if let Some(bin) = in_range(integer_at(&indices, k)?, n) {
                folded.push((bin, k));
            }
        }
        if !site.scalars_only {
            folded.sort_by_key(|(bin, _)| *bin);
        }
        for (bin, k) in folded {
            let so_far = std::mem::replace(&mut bins[bin], Value::Unit);
            bins[bin] = self.block(frame, block, [so_far, at(&elements, k)?])?;
        }
        Ok(Value::from_elements(element_type(&site.result), bins))
    }

    /// Checks that the extents, from left to right, are not negative.
    fn tabulate(
        &mut self,
        frame: &mut Frame,
        site: &Site,
        block: Block,
        given: &[Value],
    ) -> Result<Value> {
        let scalars: Vec<Scalar> = given
            .iter()
            .map(|value| Ok(as_scalar(value)?.scalar()))
            .collect::<Result<_>>()?;
        let wanted: Vec<i128> = given.iter().map(as_integer).collect::<Result<_>>()?;
        let extents = extents(&wanted, None)?;
        let count: usize = if extents.contains(&0) {
            0
        } else {
            extents.iter().product()
        };
        let mut results = Elements::with_capacity(element_type(&site.result), count)?;
        let mut indices = vec![0; extents.len()];
        for _ in 0..count {
            for (d, index) in indices.iter().enumerate() {
                self.set_parameter(frame, block, d, index_value(scalars[d], *index));
            }
            results.push(self.run_block(frame, block)?)?;
            advance(&mut indices, &extents);
        }
        Ok(shaped(&extents, results))
    }
}
