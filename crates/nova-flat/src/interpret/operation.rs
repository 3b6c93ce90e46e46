//! The array operation: executes its body for every index, and feeds the results to its outputs.

use super::expressions::{Indices, take_all};
use super::{
    Activation, Arrays, Held, Machine, SlotInfo, Slots, Stop, array, extent, extents, index_value,
    integers, read_all, scalar, slot,
};
use crate::ir::{ArrayOperation, Atom, Bracketing, Lambda, Output, Positions, Variable};
use crate::values::{Fault, element_type, internal};
use nova_core::operations::evaluate_unchecked;
use nova_core::order::{self, Order};
use nova_core::{Elements, ScalarOperation, ScalarValue, Type, Value};

/// The state of an output during the operation.
enum Gathered<A: Arrays> {
    /// The result of `Map`.
    Map(A::Array),
    /// The values that `Reduce` and `Scan` are to combine.
    Columns(Vec<Elements>),
    /// The number of survivors of `Filter`, and its results.
    Survivors(usize, Vec<A::Array>),
    /// The results of `Histogram`, and of `Join`, all of whose extents are known.
    Arrays(Vec<A::Array>),
    /// The results of `Scatter`, and the arrays that they replace in the same memory.
    Replaced(Vec<A::Array>, Vec<Option<A::Array>>),
    /// For `Collect`: the starts and ends, the number of rows written, their total length, the rows.
    Rows {
        descriptor: [A::Array; 2],
        count: usize,
        total: i64,
        rows: Vec<Elements>,
    },
}

/// An output, the variables of its results, and its state.
struct Progress<'a, A: Arrays> {
    output: &'a Output,
    given: &'a [Variable],
    gathered: Gathered<A>,
}

impl<'a, A: Arrays> Machine<'a, A> {
    /// Executes an array operation and binds its results.
    pub(super) fn operation(
        &mut self,
        activation: &mut Activation<'a, A>,
        operation: &'a ArrayOperation,
        pattern: &'a [Variable],
    ) -> Result<(), Stop> {
        let shape = extents(&activation.slots, &operation.shape)?;
        let names: Vec<Variable> = operation.carries.iter().map(|c| c.0).collect();
        let starts: Vec<Atom> = operation.carries.iter().map(|c| c.1).collect();
        let starts = read_all(&mut activation.slots, &starts)?;
        let gives: usize = operation.outputs.iter().map(Output::gives).sum();
        let (carried, mut given) = match pattern.split_at_checked(names.len()) {
            Some((carried, given)) if given.len() == gives => (carried, given),
            Some(_) | None => return Ok(internal("an operation with other results")?),
        };
        let mut outputs = Vec::new();
        for output in &operation.outputs {
            let (own, rest) = given.split_at(output.gives());
            let gathered = begin(activation, output, own, &shape)?;
            outputs.push(Progress {
                output,
                given: own,
                gathered,
            });
            given = rest;
        }
        activation.bind(&names, starts)?;
        let mut indices = Indices::new(shape);
        while let Some(index) = indices.next_index()? {
            for (variable, index) in operation.indices.iter().zip(index) {
                activation.set(*variable, Held::Scalar(ScalarValue::I64(*index)))?;
            }
            let mut results = self.body(activation, &operation.body)?;
            if results.len() < names.len() {
                return Ok(internal("a body with too few results")?);
            }
            let consumed = results.split_off(names.len());
            self.gather(activation, &mut outputs, index, consumed)?;
            activation.bind(&names, results)?;
        }
        let finals = take_all(&mut activation.slots, &names)?;
        activation.bind(carried, finals)?;
        outputs
            .into_iter()
            .try_for_each(|progress| self.finish(activation, progress))
    }

    /// Gives the results of one index to the outputs.
    fn gather(
        &mut self,
        activation: &mut Activation<'a, A>,
        outputs: &mut [Progress<'a, A>],
        index: &[i64],
        consumed: Vec<Held<A>>,
    ) -> Result<(), Stop> {
        let mut rest = consumed.as_slice();
        for progress in outputs {
            let Some((own, others)) = rest.split_at_checked(progress.output.consumes()) else {
                return Ok(internal("a body with too few results")?);
            };
            rest = others;
            match (progress.output, &mut progress.gathered) {
                (Output::Map, Gathered::Map(array)) => {
                    A::write(array, index, scalar_at(own, 0)?)?;
                }
                (Output::Reduce { .. } | Output::Scan { .. }, Gathered::Columns(columns)) => {
                    push(columns, own)?;
                }
                (Output::Filter { .. }, Gathered::Survivors(count, arrays)) => {
                    if scalar_at(own, 0)? == ScalarValue::Bool(true) {
                        write_all::<A>(arrays, *count as i64, &scalars(&own[1..])?)?;
                        *count += 1;
                    }
                }
                (Output::Scatter { positions, .. }, Gathered::Replaced(arrays, _)) => {
                    match positions {
                        Positions::Given | Positions::Unordered => {
                            let index = first_integer(own)?;
                            if in_range::<A>(index, arrays) {
                                write_all::<A>(arrays, index, &scalars(&own[1..])?)?;
                            }
                        }
                        Positions::Greatest => {
                            let index = first_integer(own)?;
                            if in_range::<A>(index, arrays) {
                                raise::<A>(arrays, index, &scalars(&own[1..])?)?;
                            }
                        }
                        Positions::Block(starts) => {
                            let starts = integers(&activation.slots, starts)?;
                            let pairs = index.iter().zip(starts);
                            let place: Vec<i64> =
                                pairs.map(|(i, start)| i.wrapping_add(start)).collect();
                            for (array, value) in arrays.iter_mut().zip(scalars(own)?) {
                                A::write(array, &place, value)?;
                            }
                        }
                    }
                }
                (
                    Output::Histogram {
                        lambda, guarded, ..
                    },
                    Gathered::Arrays(bins),
                ) => {
                    if !guarded {
                        self.histogram(activation, lambda, bins, own)?;
                    } else if scalar_at(own, 0)? == ScalarValue::Bool(true) {
                        if !in_range::<A>(first_integer(&own[1..])?, bins) {
                            internal("a guarded index that is out of range")?;
                        }
                        self.histogram(activation, lambda, bins, &own[1..])?;
                    }
                }
                (Output::Collect { .. }, gathered @ Gathered::Rows { .. }) => {
                    collect(gathered, own)?;
                }
                (Output::Join { .. }, Gathered::Arrays(arrays)) => join::<A>(arrays, own)?,
                _ => internal("an output with the state of another")?,
            }
        }
        match rest {
            [] => Ok(()),
            _ => Ok(internal("a body with too many results")?),
        }
    }

    fn histogram(
        &mut self,
        activation: &mut Activation<'a, A>,
        lambda: &'a Lambda,
        bins: &mut [A::Array],
        own: &[Held<A>],
    ) -> Result<(), Stop> {
        let bin = first_integer(own)?;
        if !in_range::<A>(bin, bins) {
            return Ok(());
        }
        let so_far: Result<Vec<_>, Fault> = bins.iter().map(|b| A::element(b, &[bin])).collect();
        let sum = self.combine(activation, lambda, so_far?, scalars(&own[1..])?)?;
        Ok(write_all::<A>(bins, bin, &sum)?)
    }

    /// Applies an operator to two operands of any number of scalars.
    fn combine(
        &mut self,
        activation: &mut Activation<'a, A>,
        lambda: &'a Lambda,
        left: Vec<ScalarValue>,
        right: Vec<ScalarValue>,
    ) -> Result<Vec<ScalarValue>, Stop> {
        let arguments = left.into_iter().chain(right).map(Held::Scalar).collect();
        activation.bind(&lambda.parameters, arguments)?;
        Ok(scalars(&self.body(activation, &lambda.body)?)?)
    }

    /// Binds the results of an output.
    fn finish(
        &mut self,
        activation: &mut Activation<'a, A>,
        progress: Progress<'a, A>,
    ) -> Result<(), Stop> {
        let Progress {
            output,
            given,
            gathered,
        } = progress;
        let mut values = Vec::new();
        match (output, gathered) {
            (Output::Map, Gathered::Map(array)) => values.push(Held::Array(array)),
            (
                Output::Reduce {
                    lambda,
                    start,
                    commutes,
                    bracketing,
                },
                Gathered::Columns(columns),
            ) => {
                let order = self.order(*commutes);
                let start = operands(&activation.slots, start)?;
                let n = columns.first().map_or(0, Elements::len);
                let element = |k| row(&columns, k);
                let combine = |left, right| self.combine(activation, lambda, left, right);
                let sum = match bracketing {
                    Bracketing::Whole => order::reduce(n, order, start, element, combine)?,
                    Bracketing::Chunk => order::reduce_chunk(n, order, start, element, combine)?,
                    Bracketing::Pairs => order::reduce_pairs(n, start, element, combine)?,
                    Bracketing::Left => order::reduce_left(n, start, element, combine)?,
                };
                values.extend(sum.into_iter().map(Held::Scalar));
            }
            (Output::Scan { .. }, Gathered::Columns(columns)) => {
                let scanned = self.scan(activation, output, given, &columns)?;
                values.extend(scanned.into_iter().map(Held::Array));
            }
            (Output::Filter { .. }, Gathered::Survivors(count, arrays)) => {
                values.push(index_value(count));
                for array in arrays {
                    values.push(Held::Array(A::truncate(array, count)?));
                }
            }
            (Output::Scatter { .. }, Gathered::Replaced(arrays, sources)) => {
                for (mut array, source) in arrays.into_iter().zip(sources) {
                    if let Some(source) = source {
                        A::take_over(&mut array, &source)?;
                    }
                    values.push(Held::Array(array));
                }
            }
            (Output::Histogram { .. } | Output::Join { .. }, Gathered::Arrays(arrays)) => {
                values.extend(arrays.into_iter().map(Held::Array));
            }
            (
                Output::Collect { .. },
                Gathered::Rows {
                    descriptor,
                    total,
                    rows,
                    ..
                },
            ) => {
                values.extend(descriptor.map(Held::Array));
                values.push(Held::Scalar(ScalarValue::I64(total)));
                return Ok(finish_collect(activation, given, values, rows)?);
            }
            _ => internal("an output with the state of another")?,
        }
        Ok(set_all(activation, given, values)?)
    }

    fn order(&self, commutes: bool) -> Order {
        Order {
            commutes,
            strict: self.options.strict,
            scalars_only: true,
        }
    }

    fn scan(
        &mut self,
        activation: &mut Activation<'a, A>,
        output: &'a Output,
        given: &[Variable],
        columns: &[Elements],
    ) -> Result<Vec<A::Array>, Stop> {
        let Output::Scan {
            lambda,
            start,
            exclusive,
        } = output
        else {
            return Ok(internal("no scan")?);
        };
        let start = operands(&activation.slots, start)?;
        let n = columns.first().map_or(0, Elements::len);
        let mut scanned = place_all(activation, given, &[n])?;
        let order = self.order(false);
        let combine = |left, right| self.combine(activation, lambda, left, right);
        let mut next = 0;
        let emit = |values: Vec<ScalarValue>| {
            next += 1;
            Ok(write_all::<A>(&mut scanned, next - 1, &values)?)
        };
        order::scan(
            n,
            *exclusive,
            order,
            start,
            |k| row(columns, k),
            combine,
            emit,
        )?;
        Ok(scanned)
    }
}

/// Binds the results of `Collect`: the descriptor and the total first, then the rows.
fn finish_collect<A: Arrays>(
    activation: &mut Activation<'_, A>,
    given: &[Variable],
    descriptor: Vec<Held<A>>,
    rows: Vec<Elements>,
) -> Result<(), Fault> {
    let (fixed, own) = given.split_at(descriptor.len().min(given.len()));
    set_all(activation, fixed, descriptor)?;
    let rows: Result<Vec<_>, Fault> = rows.into_iter().map(super::arrays::vector).collect();
    activation.bind(own, rows?)
}

/// Gives variables values that already have the right memory.
fn set_all<A: Arrays>(
    activation: &mut Activation<'_, A>,
    variables: &[Variable],
    values: Vec<Held<A>>,
) -> Result<(), Fault> {
    if variables.len() != values.len() {
        return internal("an output with other results");
    }
    let mut pairs = variables.iter().zip(values);
    pairs.try_for_each(|(variable, value)| activation.set(*variable, value))
}

/// Returns the arrays to which the values of some variables are to be written.
fn place_all<A: Arrays>(
    activation: &Activation<'_, A>,
    variables: &[Variable],
    shape: &[usize],
) -> Result<Vec<A::Array>, Fault> {
    let place = |v: &Variable| A::place(&activation.slots, activation.info(*v)?, shape);
    variables.iter().map(place).collect()
}

/// Returns the state of an output before the first index. `given` are the variables of its results.
fn begin<A: Arrays>(
    activation: &mut Activation<'_, A>,
    output: &Output,
    given: &[Variable],
    shape: &[usize],
) -> Result<Gathered<A>, Stop> {
    let code = activation.code;
    let infos = given.iter().filter_map(|v| code.infos.get(slot(*v)));
    let column = |info: &SlotInfo| Elements::new(&Type::Scalar(info.element));
    let n = shape.first().copied().unwrap_or(0);
    Ok(match output {
        Output::Map => match place_all(activation, given, shape)?.pop() {
            Some(array) => Gathered::Map(array),
            None => internal("a map without result")?,
        },
        Output::Reduce { .. } | Output::Scan { .. } => {
            Gathered::Columns(infos.map(column).collect())
        }
        Output::Filter { .. } => {
            // The results have room for all elements until the count is known.
            let Some((count, arrays)) = given.split_first() else {
                return Ok(internal("a filter without count")?);
            };
            activation.set(*count, index_value(n))?;
            Gathered::Survivors(0, place_all(activation, arrays, &[n])?)
        }
        Output::Scatter {
            destinations,
            positions,
        } => {
            let (mut arrays, mut sources) = (Vec::new(), Vec::new());
            for (destination, info) in destinations.iter().zip(infos) {
                let source = array(&mut activation.slots, *destination)?;
                let (mut array, source) = A::replace(&activation.slots, info, source)?;
                if let (Positions::Greatest, Some(source)) = (positions, &source) {
                    // The old elements are read before they are replaced.
                    A::take_over(&mut array, source)?;
                }
                arrays.push(array);
                sources.push(source);
            }
            Gathered::Replaced(arrays, sources)
        }
        Output::Histogram { start, bins, .. } => {
            let bins = extent(&activation.slots, *bins)?;
            let start = operands(&activation.slots, start)?;
            let mut arrays = place_all(activation, given, &[bins])?;
            for bin in 0..bins {
                write_all::<A>(&mut arrays, bin as i64, &start)?;
            }
            Gathered::Arrays(arrays)
        }
        Output::Join { shape } => {
            let shape = extents(&activation.slots, shape)?;
            Gathered::Arrays(place_all(activation, given, &shape)?)
        }
        Output::Collect { .. } => {
            let (descriptor, _) = given.split_at(given.len().min(2));
            match <[A::Array; 2]>::try_from(place_all(activation, descriptor, &[n])?) {
                Ok(descriptor) => Gathered::Rows {
                    descriptor,
                    count: 0,
                    total: 0,
                    rows: infos.skip(3).map(column).collect(),
                },
                Err(_) => internal("a collect without descriptor")?,
            }
        }
    })
}

/// Writes a chunk into a larger array.
fn join<A: Arrays>(arrays: &mut [A::Array], own: &[Held<A>]) -> Result<(), Fault> {
    let ([joined], [first, Held::Array(chunk)]) = (arrays, own) else {
        return internal("a join of no array");
    };
    let ScalarValue::I64(first) = first.scalar()? else {
        return internal("an index that is no `i64`");
    };
    let mut indices = Indices::new(A::shape(chunk).to_vec());
    while let Some(index) = indices.next_index()? {
        let value = A::element(chunk, index)?;
        let mut at = index.to_vec();
        if let Some(outermost) = at.first_mut() {
            *outermost = outermost.wrapping_add(first);
        }
        A::write(joined, &at, value)?;
    }
    Ok(())
}

/// Returns row `k` of columns of scalars.
fn row(columns: &[Elements], k: usize) -> Result<Vec<ScalarValue>, Stop> {
    let value = |column: &Elements| match column.get(k).and_then(|v| v.as_scalar()) {
        Some(value) => Ok(value),
        None => internal("a value that is missing"),
    };
    let row: Result<Vec<_>, Fault> = columns.iter().map(value).collect();
    Ok(row?)
}

fn operands<A: Arrays>(slots: &Slots<A>, atoms: &[Atom]) -> Result<Vec<ScalarValue>, Fault> {
    atoms.iter().map(|atom| scalar(slots, *atom)).collect()
}

fn scalars<A: Arrays>(values: &[Held<A>]) -> Result<Vec<ScalarValue>, Fault> {
    values.iter().map(Held::scalar).collect()
}

fn scalar_at<A: Arrays>(values: &[Held<A>], k: usize) -> Result<ScalarValue, Fault> {
    match values.get(k) {
        Some(value) => value.scalar(),
        None => internal("a value that is missing"),
    }
}

fn first_integer<A: Arrays>(values: &[Held<A>]) -> Result<i64, Fault> {
    match scalar_at(values, 0)? {
        ScalarValue::I64(value) => Ok(value),
        _ => internal("an index that is no `i64`"),
    }
}

/// Appends a row to columns.
fn push<A: Arrays>(columns: &mut [Elements], values: &[Held<A>]) -> Result<(), Fault> {
    if columns.len() != values.len() {
        return internal("a body with another number of results");
    }
    for (column, value) in columns.iter_mut().zip(values) {
        let value = value.scalar()?;
        if element_type(column) != Some(value.scalar()) {
            return internal("a result of another type than its array");
        }
        column.push(Value::Scalar(value))?;
    }
    Ok(())
}

/// Writes a scalar into each vector.
fn write_all<A: Arrays>(
    arrays: &mut [A::Array],
    index: i64,
    values: &[ScalarValue],
) -> Result<(), Fault> {
    if arrays.len() != values.len() {
        return internal("an output with another number of values");
    }
    let mut pairs = arrays.iter_mut().zip(values);
    pairs.try_for_each(|(array, value)| A::write(array, &[index], *value))
}

/// Replaces the element of each vector by the greater of it and a scalar.
fn raise<A: Arrays>(
    arrays: &mut [A::Array],
    index: i64,
    values: &[ScalarValue],
) -> Result<(), Fault> {
    let mut greatest = Vec::with_capacity(values.len());
    for (array, value) in arrays.iter().zip(values) {
        let operands = [A::element(array, &[index])?, *value];
        greatest.push(evaluate_unchecked(
            ScalarOperation::Maximum,
            &operands,
            true,
        ));
    }
    write_all::<A>(arrays, index, &greatest)
}

fn in_range<A: Arrays>(index: i64, arrays: &[A::Array]) -> bool {
    let extent = arrays.first().and_then(|a| A::shape(a).first()).copied();
    let index = usize::try_from(index).ok();
    extent
        .zip(index)
        .is_some_and(|(extent, index)| index < extent)
}

fn collect<A: Arrays>(gathered: &mut Gathered<A>, own: &[Held<A>]) -> Result<(), Fault> {
    let Gathered::Rows {
        descriptor: [starts, ends],
        count,
        total,
        rows,
    } = gathered
    else {
        return internal("an output with the state of another");
    };
    let length = first_integer(own)?;
    let Some(end) = total.checked_add(length) else {
        return Err(Fault::Memory);
    };
    A::write(starts, &[*count as i64], ScalarValue::I64(*total))?;
    A::write(ends, &[*count as i64], ScalarValue::I64(end))?;
    (*count, *total) = (*count + 1, end);
    for (column, array) in rows.iter_mut().zip(&own[1..]) {
        let Held::Array(array) = array else {
            return internal("a row that is no array");
        };
        let row = A::packed(array)?.packed()?;
        if i64::try_from(row.len()) != Ok(length) {
            return internal("a row of another length");
        }
        column.append(&row)?;
    }
    Ok(())
}
