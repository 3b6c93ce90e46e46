//! The one array operation: its body for every index, and what its outputs make of the results.

use super::expressions::take_all;
use super::{Activation, Machine, Stop, array, bind, extent, extents, read_all, scalar};
use crate::ir::{ArrayOperation, Lambda, Output, Variable};
use crate::values::{ArrayValue, Fault, FlatValue, count, filled, internal, zero};
use nova_core::order::{self, Order};
use nova_core::{Elements, Scalar, ScalarValue, Type, Value};
use std::sync::Arc;

/// What an output has so far.
enum Gathered {
    /// The values of `Map`, `Reduce` and `Scan`, and those that `Filter` keeps.
    Columns(Vec<Elements>),
    /// The destinations of `Scatter`, the bins of `Histogram`.
    Arrays(Vec<ArrayValue>),
    /// Of `Collect`.
    Rows {
        starts: Vec<i64>,
        ends: Vec<i64>,
        columns: Vec<Elements>,
    },
}

impl<'a> Machine<'a> {
    /// Executes an array operation and binds its results.
    pub(super) fn operation(
        &mut self,
        activation: &mut Activation<'a>,
        operation: &'a ArrayOperation,
        pattern: &[Variable],
    ) -> Result<(), Stop> {
        let shape = extents(&activation.slots, &operation.shape)?;
        let total = count(&shape)?;
        let names: Vec<Variable> = operation.carries.iter().map(|c| c.0).collect();
        let starts: Vec<_> = operation.carries.iter().map(|c| c.1).collect();
        let starts = read_all(&mut activation.slots, &starts)?;
        let gives: usize = operation.outputs.iter().map(Output::gives).sum();
        let Some((carried, given)) = pattern.split_at_checked(names.len()) else {
            return Ok(internal("an operation with another number of results")?);
        };
        if given.len() != gives {
            return Ok(internal("an operation with another number of results")?);
        }
        let mut gathered = begin(activation, operation, given, total)?;
        bind(&mut activation.slots, &names, starts)?;
        let mut index = vec![0usize; shape.len()];
        for _ in 0..total {
            let indices = index.iter().map(|i| FlatValue::index(*i)).collect();
            bind(&mut activation.slots, &operation.indices, indices)?;
            let mut results = self.body(activation, &operation.body)?;
            if results.len() < names.len() {
                return Ok(internal("a body with too few results")?);
            }
            let consumed = results.split_off(names.len());
            bind(&mut activation.slots, &names, results)?;
            self.gather(activation, operation, &mut gathered, consumed)?;
            for (index, extent) in index.iter_mut().zip(&shape).rev() {
                *index += 1;
                if *index < *extent {
                    break;
                }
                *index = 0;
            }
        }
        let finals = take_all(&mut activation.slots, &names)?;
        bind(&mut activation.slots, carried, finals)?;
        let mut given = given;
        for (output, gathered) in operation.outputs.iter().zip(gathered) {
            let (own, rest) = given.split_at(output.gives());
            let results = self.finish(activation, output, gathered, &shape)?;
            bind(&mut activation.slots, own, results)?;
            given = rest;
        }
        Ok(())
    }

    /// Hands the results of one index to the outputs.
    fn gather(
        &mut self,
        activation: &mut Activation<'a>,
        operation: &'a ArrayOperation,
        gathered: &mut [Gathered],
        consumed: Vec<FlatValue>,
    ) -> Result<(), Stop> {
        let mut values = consumed.into_iter();
        for (output, gathered) in operation.outputs.iter().zip(gathered) {
            let own: Vec<FlatValue> = values.by_ref().take(output.consumes()).collect();
            match (output, gathered) {
                (
                    Output::Map | Output::Reduce { .. } | Output::Scan { .. },
                    Gathered::Columns(c),
                ) => {
                    push(c, &own)?;
                }
                (Output::Filter { .. }, Gathered::Columns(columns)) => match own.split_first() {
                    Some((FlatValue::Scalar(ScalarValue::Bool(true)), own)) => push(columns, own)?,
                    Some((FlatValue::Scalar(ScalarValue::Bool(false)), _)) => {}
                    _ => internal("a filter without bool")?,
                },
                (Output::Scatter { .. }, Gathered::Arrays(arrays)) => scatter(arrays, &own)?,
                (Output::Histogram { lambda, .. }, Gathered::Arrays(bins)) => {
                    self.histogram(activation, lambda, bins, &own)?;
                }
                (
                    Output::Collect { .. },
                    Gathered::Rows {
                        starts,
                        ends,
                        columns,
                    },
                ) => {
                    collect(starts, ends, columns, &own)?;
                }
                _ => internal("an output with the state of another")?,
            }
        }
        match values.next() {
            None => Ok(()),
            Some(_) => Ok(internal("a body with too many results")?),
        }
    }

    fn histogram(
        &mut self,
        activation: &mut Activation<'a>,
        lambda: &'a Lambda,
        bins: &mut [ArrayValue],
        own: &[FlatValue],
    ) -> Result<(), Stop> {
        let Some((bin, values)) = own.split_first() else {
            return Ok(internal("a histogram without index")?);
        };
        let bin = bin.as_i64()?;
        if !in_range(bin, bins) {
            return Ok(());
        }
        let so_far: Result<Vec<_>, Fault> = bins.iter().map(|b| b.get(&[bin])).collect();
        let values: Result<Vec<_>, Fault> = values.iter().map(FlatValue::scalar).collect();
        let sum = self.combine(activation, lambda, so_far?, values?)?;
        for (bins, value) in bins.iter_mut().zip(sum) {
            bins.set(&[bin], value)?;
        }
        Ok(())
    }

    /// An operator applied to two operands of any number of scalars.
    fn combine(
        &mut self,
        activation: &mut Activation<'a>,
        lambda: &'a Lambda,
        left: Vec<ScalarValue>,
        right: Vec<ScalarValue>,
    ) -> Result<Vec<ScalarValue>, Stop> {
        let arguments = left
            .into_iter()
            .chain(right)
            .map(FlatValue::Scalar)
            .collect();
        bind(&mut activation.slots, &lambda.parameters, arguments)?;
        let results = self.body(activation, &lambda.body)?;
        let results: Result<Vec<_>, Fault> = results.iter().map(FlatValue::scalar).collect();
        Ok(results?)
    }

    /// The results of an output.
    fn finish(
        &mut self,
        activation: &mut Activation<'a>,
        output: &'a Output,
        gathered: Gathered,
        shape: &[usize],
    ) -> Result<Vec<FlatValue>, Stop> {
        let arrays = |columns: Vec<Elements>, shape: &[usize]| {
            let array = |elements| FlatValue::array(elements, shape.to_vec());
            columns.into_iter().map(array).collect()
        };
        match (output, gathered) {
            (Output::Map, Gathered::Columns(columns)) => Ok(arrays(columns, shape)),
            (
                Output::Reduce {
                    lambda,
                    start,
                    commutes,
                },
                Gathered::Columns(columns),
            ) => self.reduce(activation, lambda, start, *commutes, &columns),
            (
                Output::Scan {
                    lambda,
                    start,
                    exclusive,
                },
                Gathered::Columns(columns),
            ) => {
                let scanned = self.scan(activation, lambda, start, *exclusive, &columns)?;
                Ok(arrays(scanned, shape))
            }
            (Output::Filter { .. }, Gathered::Columns(columns)) => {
                // The first column counts; see `begin`.
                let kept = columns.first().map_or(0, Elements::len);
                let mut results = vec![FlatValue::index(kept)];
                results.extend(arrays(columns.into_iter().skip(1).collect(), &[kept]));
                Ok(results)
            }
            (Output::Scatter { .. } | Output::Histogram { .. }, Gathered::Arrays(arrays)) => {
                let value = |array| FlatValue::Array(Box::new(array));
                Ok(arrays.into_iter().map(value).collect())
            }
            (
                Output::Collect { .. },
                Gathered::Rows {
                    starts,
                    ends,
                    columns,
                },
            ) => {
                let total = ends.last().copied().unwrap_or(0) as usize;
                let integers =
                    |list| FlatValue::array(Elements::I64(Arc::new(list)), shape.to_vec());
                let mut results = vec![integers(starts), integers(ends), FlatValue::index(total)];
                results.extend(arrays(columns, &[total]));
                Ok(results)
            }
            _ => Ok(internal("an output with the state of another")?),
        }
    }

    fn reduce(
        &mut self,
        activation: &mut Activation<'a>,
        lambda: &'a Lambda,
        start: &[crate::ir::Atom],
        commutes: bool,
        columns: &[Elements],
    ) -> Result<Vec<FlatValue>, Stop> {
        let order = Order {
            commutes,
            strict: self.options.strict,
            scalars_only: true,
        };
        let start: Result<Vec<_>, _> = start
            .iter()
            .map(|a| scalar(&activation.slots, *a))
            .collect();
        let n = columns.first().map_or(0, Elements::len);
        let combine = |left, right| self.combine(activation, lambda, left, right);
        let sum = order::reduce(n, order, start?, |k| row(columns, k), combine)?;
        Ok(sum.into_iter().map(FlatValue::Scalar).collect())
    }

    fn scan(
        &mut self,
        activation: &mut Activation<'a>,
        lambda: &'a Lambda,
        start: &[crate::ir::Atom],
        exclusive: bool,
        columns: &[Elements],
    ) -> Result<Vec<Elements>, Stop> {
        let order = Order {
            commutes: false,
            strict: self.options.strict,
            scalars_only: true,
        };
        let start: Result<Vec<_>, _> = start
            .iter()
            .map(|a| scalar(&activation.slots, *a))
            .collect();
        let start: Vec<ScalarValue> = start?;
        let n = columns.first().map_or(0, Elements::len);
        let mut scanned = Vec::new();
        for value in &start {
            scanned.push(Elements::with_capacity(&Type::Scalar(value.scalar()), n)?);
        }
        let combine = |left, right| self.combine(activation, lambda, left, right);
        let emit = |values: Vec<ScalarValue>| {
            for (column, value) in scanned.iter_mut().zip(values) {
                column.push(Value::Scalar(value))?;
            }
            Ok(())
        };
        order::scan(
            n,
            exclusive,
            order,
            start,
            |k| row(columns, k),
            combine,
            emit,
        )?;
        Ok(scanned)
    }
}

/// Row `k` of columns of scalars.
fn row(columns: &[Elements], k: usize) -> Result<Vec<ScalarValue>, Stop> {
    let value = |column: &Elements| match column.get(k).and_then(|v| v.as_scalar()) {
        Some(value) => Ok(value),
        None => internal("a value that is missing"),
    };
    let row: Result<Vec<_>, Fault> = columns.iter().map(value).collect();
    Ok(row?)
}

/// The state of each output before the first index. `given` are the variables of the results.
fn begin(
    activation: &mut Activation<'_>,
    operation: &ArrayOperation,
    given: &[Variable],
    total: usize,
) -> Result<Vec<Gathered>, Stop> {
    let code = activation.code;
    let slots = &mut activation.slots;
    let element = |v: &Variable| code.elements.get(super::slot(*v)).copied();
    let column = |v: &Variable| Elements::new(&Type::Scalar(element(v).unwrap_or(Scalar::Bool)));
    let mut gathered = Vec::new();
    let mut given = given;
    for output in &operation.outputs {
        let (own, rest) = given.split_at(output.gives());
        given = rest;
        gathered.push(match output {
            Output::Map => {
                let scalar = own.first().and_then(element).unwrap_or(Scalar::Bool);
                let elements = Elements::with_capacity(&Type::Scalar(scalar), total)?;
                Gathered::Columns(vec![elements])
            }
            // A filter's first column stands for the count: of `i64`, it takes the bool's place.
            Output::Reduce { .. } | Output::Scan { .. } | Output::Filter { .. } => {
                Gathered::Columns(own.iter().map(column).collect())
            }
            Output::Scatter { destinations } => {
                let mut arrays = Vec::new();
                for destination in destinations {
                    arrays.push(array(slots, *destination)?.into_packed()?);
                }
                Gathered::Arrays(arrays)
            }
            Output::Histogram { start, bins, .. } => {
                let bins = extent(slots, *bins)?;
                let mut arrays = Vec::new();
                for start in start {
                    let elements = filled(scalar(slots, *start)?, bins)?;
                    arrays.push(ArrayValue::row_major(elements, vec![bins]));
                }
                Gathered::Arrays(arrays)
            }
            Output::Collect { .. } => Gathered::Rows {
                starts: Vec::new(),
                ends: Vec::new(),
                columns: own.iter().skip(3).map(column).collect(),
            },
        });
    }
    Ok(gathered)
}

/// Adds a row to columns. A column more than values is a filter's count.
fn push(columns: &mut [Elements], values: &[FlatValue]) -> Result<(), Fault> {
    let counts = columns.len().checked_sub(values.len());
    let (count, columns) = match counts {
        Some(extra @ (0 | 1)) => columns.split_at_mut(extra),
        Some(_) | None => return internal("a body with another number of results"),
    };
    for column in count {
        column.push(Value::Scalar(zero(Scalar::I64)))?;
    }
    for (column, value) in columns.iter_mut().zip(values) {
        let value = value.scalar()?;
        if crate::values::element_type(column) != Some(value.scalar()) {
            return internal("a result of another type than its array");
        }
        column.push(Value::Scalar(value))?;
    }
    Ok(())
}

fn in_range(index: i64, arrays: &[ArrayValue]) -> bool {
    let extent = arrays.first().and_then(|a| a.shape().first()).copied();
    let index = usize::try_from(index).ok();
    extent
        .zip(index)
        .is_some_and(|(extent, index)| index < extent)
}

fn scatter(arrays: &mut [ArrayValue], own: &[FlatValue]) -> Result<(), Fault> {
    let Some((index, values)) = own.split_first() else {
        return internal("a scatter without index");
    };
    let index = index.as_i64()?;
    if !in_range(index, arrays) {
        return Ok(());
    }
    let mut pairs = arrays.iter_mut().zip(values);
    pairs.try_for_each(|(array, value)| array.set(&[index], value.scalar()?))
}

fn collect(
    starts: &mut Vec<i64>,
    ends: &mut Vec<i64>,
    columns: &mut [Elements],
    own: &[FlatValue],
) -> Result<(), Fault> {
    let Some((length, arrays)) = own.split_first() else {
        return internal("a collect without length");
    };
    let length = length.as_i64()?;
    let start = ends.last().copied().unwrap_or(0);
    let Some(end) = start.checked_add(length) else {
        return Err(Fault::Memory);
    };
    starts.push(start);
    ends.push(end);
    for (column, array) in columns.iter_mut().zip(arrays) {
        let row = array.as_array()?.packed()?;
        if i64::try_from(row.len()) != Ok(length) {
            return internal("a row of another length");
        }
        column.append(&row)?;
    }
    Ok(())
}
