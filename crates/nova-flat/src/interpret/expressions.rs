//! Expressions that are evaluated in one step.

use super::arrays::{vector, view_value};
use super::{
    Activation, Arrays, Held, Machine, SlotInfo, Slots, Stop, ViewValue, adopt_all, array, extent,
    extents, index_value, integer, integers, pack_all, read_all, read_variable, scalar, slot,
};
use crate::ir::{Atom, Expression, Sorted, Statement, Variable};
use crate::representation::components;
use crate::values::{Fault, Node, count, from_components, internal, to_components};
use nova_core::error::Failure;
use nova_core::{
    Elements, ErrorKind, RuntimeError, Scalar, ScalarOperation, ScalarValue, SumId, Type,
    operations, order,
};
use nova_diag::Place;
use std::sync::Arc;

impl<'a, A: Arrays> Machine<'a, A> {
    /// Executes a statement that is neither a conditional nor a call.
    pub(super) fn execute(
        &mut self,
        activation: &mut Activation<'a, A>,
        statement: &'a Statement,
    ) -> Result<(), Stop> {
        let slots = &mut activation.slots;
        let handed = match &statement.expression {
            Expression::Check {
                condition,
                error,
                arguments,
            } => {
                return match scalar(slots, *condition)? {
                    ScalarValue::Bool(true) => Ok(()),
                    ScalarValue::Bool(false) => fail(slots, *error, arguments, &statement.place),
                    _ => Ok(internal("a condition that is no bool")?),
                };
            }
            Expression::Fail { error, arguments } => {
                return fail(slots, *error, arguments, &statement.place);
            }
            Expression::Trace {
                text,
                ty,
                components,
            } => {
                return self.trace(slots, text, ty, components);
            }
            Expression::Sort { .. } => return self.sort(activation, statement),
            Expression::SortKeys { .. } => return Ok(sort_keys(activation, statement)?),
            Expression::While { .. } => return self.while_loop(activation, statement),
            Expression::Operation(operation) => {
                return self.operation(activation, operation, &statement.pattern);
            }
            Expression::Bytes(bytes) => vec![vector(Elements::U8(Arc::new(bytes.to_vec())))?],
            Expression::Unique(source) => {
                let source = array(slots, *source)?;
                vec![Held::Array(A::adopt(A::packed(&source)?)?)]
            }
            Expression::Foreign { foreign, arguments } => {
                self.foreign(slots, *foreign, arguments, &statement.place)?
            }
            Expression::NodePayload {
                sum,
                constructor,
                link,
            } => self.payload(*sum, *constructor, integer(slots, *link)?)?,
            Expression::TableOpen { .. }
            | Expression::TableClose { .. }
            | Expression::TableShrink { .. } => {
                self.table_of_datum(slots, &statement.expression)?
            }
            Expression::NodesReached { .. }
            | Expression::NodesReserve { .. }
            | Expression::NodeStore { .. }
            | Expression::NodesSeal { .. }
            | Expression::NodesAcyclic { .. } => self.on_tables(slots, &statement.expression)?,
            scalar_or_array => {
                return match self.scalar_expression(slots, scalar_or_array)? {
                    Some(value) => Ok(activation.set(single(&statement.pattern)?, value)?),
                    None => Ok(array_expression(activation, statement)?),
                };
            }
        };
        Ok(activation.bind(&statement.pattern, handed)?)
    }

    /// Evaluates an expression that gives a scalar or a block.
    fn scalar_expression(
        &mut self,
        slots: &mut Slots<A>,
        expression: &Expression,
    ) -> Result<Option<Held<A>>, Fault> {
        Ok(Some(match expression {
            Expression::Atom(Atom::Constant(value)) => Held::Scalar(*value),
            Expression::MaySplit => {
                // The answer alternates, so that both cases are tested.
                self.splits = !self.splits;
                Held::Scalar(ScalarValue::Bool(self.splits))
            }
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => Held::Scalar(self.apply(slots, *operation, *operand, arguments)?),
            Expression::Index { array, indices } => index(slots, *array, indices)?,
            Expression::NodeNew {
                sum,
                constructor,
                payload,
            } => {
                let payload = pack_all(&read_all(slots, payload)?)?;
                let node = Node {
                    constructor: *constructor,
                    payload,
                };
                Held::Scalar(ScalarValue::I64(self.tables.add(*sum, node)))
            }
            Expression::NodeTag { sum, link } => {
                let node = self.tables.node(*sum, integer(slots, *link)?)?;
                Held::Scalar(ScalarValue::I32(node.constructor as i32))
            }
            Expression::Allocate {
                element,
                count,
                destination,
            } => {
                let count = usize::try_from(integer(slots, *count)?).map_err(|_| Fault::Memory)?;
                let stride = destination.map_or(1, |d| d.stride as usize);
                let count = count.checked_mul(stride).ok_or(Fault::Memory)?;
                Held::Block(A::allocate(*element, count)?)
            }
            _ => return Ok(None),
        }))
    }

    /// Evaluates a scalar operation.
    fn apply(
        &self,
        slots: &Slots<A>,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: &[Atom],
    ) -> Result<ScalarValue, Fault> {
        let mut values = [ScalarValue::Bool(false); 2];
        let Some(values) = values.get_mut(..arguments.len()) else {
            return internal("a scalar operation with too many arguments");
        };
        for (value, argument) in values.iter_mut().zip(arguments) {
            *value = scalar(slots, *argument)?;
            if value.scalar() != operand {
                return internal("a scalar operation on another type than its own");
            }
        }
        match operations::failure(operation, values) {
            None => Ok(operations::evaluate_unchecked(
                operation,
                values,
                self.options.strict,
            )),
            Some(kind) => internal(format!("an operation without check: {}", kind.info().word)),
        }
    }

    /// Returns the payload of a node, which must have this constructor.
    fn payload(&self, sum: SumId, constructor: u32, link: i64) -> Result<Vec<Held<A>>, Fault> {
        let node = self.tables.node(sum, link)?;
        if node.constructor != constructor {
            return internal("the payload of another constructor");
        }
        adopt_all(node.payload.clone())
    }

    fn trace(
        &self,
        slots: &mut Slots<A>,
        text: &[u8],
        ty: &Type,
        components: &[Atom],
    ) -> Result<(), Stop> {
        let components = pack_all(&read_all(slots, components)?)?;
        let sums = &self.program.sums;
        let value = from_components(&components, ty, &self.layouts, &|sum, link| {
            self.tables.read(sum, link)
        })?;
        let value = nova_core::text::print_value(&value, ty, sums);
        (self.options.trace)(&format!("{} {value}", String::from_utf8_lossy(text)));
        Ok(())
    }

    fn foreign(
        &mut self,
        slots: &mut Slots<A>,
        foreign: u32,
        arguments: &[Atom],
        place: &Place,
    ) -> Result<Vec<Held<A>>, Stop> {
        let Some(foreign) = self.program.foreigns.get(foreign as usize) else {
            return Ok(internal("there is no such foreign function")?);
        };
        let sums = &self.program.sums;
        let arguments = pack_all(&read_all(slots, arguments)?)?;
        let mut rest = arguments.as_slice();
        let mut values = Vec::new();
        for ty in &foreign.parameters {
            let taken = rest.split_at_checked(components(ty, sums).len());
            let Some((first, others)) = taken else {
                return Ok(internal("a foreign call with too few arguments")?);
            };
            values.push(from_components(first, ty, &self.layouts, &|sum, link| {
                self.tables.read(sum, link)
            })?);
            rest = others;
        }
        let result = match self.options.foreign {
            Some(handler) => handler(foreign, &values),
            None => Err(ErrorKind::Memory),
        };
        match result {
            Ok(value) => {
                let results =
                    to_components(&value, &foreign.result, &self.layouts, &mut self.tables)?;
                Ok(adopt_all(results)?)
            }
            Err(kind) => Err(runtime(kind, Vec::new(), place)),
        }
    }

    fn sort(
        &mut self,
        activation: &mut Activation<'a, A>,
        statement: &'a Statement,
    ) -> Result<(), Stop> {
        let (Expression::Sort { count, compare }, [result]) =
            (&statement.expression, statement.pattern.as_slice())
        else {
            return Ok(internal("a sort with another number of results")?);
        };
        let n = extent(&activation.slots, *count)?;
        let sorted: Result<Vec<usize>, Stop> = order::sort(n, |left, right| {
            let arguments = [left, right].map(index_value).into();
            activation.bind(&compare.parameters, arguments)?;
            match self.body(activation, &compare.body)?.as_slice() {
                [Held::Scalar(ScalarValue::Bool(first))] => Ok(*first),
                _ => Ok(internal("a comparison that gives no bool")?),
            }
        });
        let sorted = sorted?;
        let mut target = A::place(&activation.slots, activation.info(*result)?, &[n])?;
        for (k, index) in sorted.into_iter().enumerate() {
            A::write(&mut target, &[k as i64], ScalarValue::I64(index as i64))?;
        }
        Ok(activation.set(*result, Held::Array(target))?)
    }

    fn while_loop(
        &mut self,
        activation: &mut Activation<'a, A>,
        statement: &'a Statement,
    ) -> Result<(), Stop> {
        let Expression::While {
            parameters,
            condition,
            body,
        } = &statement.expression
        else {
            return Ok(internal("no loop")?);
        };
        let starts: Vec<Atom> = parameters.iter().map(|p| p.1).collect();
        let names: Vec<Variable> = parameters.iter().map(|p| p.0).collect();
        let starts = read_all(&mut activation.slots, &starts)?;
        activation.bind(&names, starts)?;
        loop {
            match self.body(activation, condition)?.as_slice() {
                [Held::Scalar(ScalarValue::Bool(true))] => {}
                [Held::Scalar(ScalarValue::Bool(false))] => break,
                _ => return Ok(internal("a condition that gives no bool")?),
            }
            let next = self.body(activation, body)?;
            activation.bind(&names, next)?;
        }
        let last = take_all(&mut activation.slots, &names)?;
        Ok(activation.bind(&statement.pattern, last)?)
    }
}

/// Returns the values of variables that nothing uses again.
pub(super) fn take_all<A: Arrays>(
    slots: &mut Slots<A>,
    variables: &[Variable],
) -> Result<Vec<Held<A>>, Fault> {
    let last = |v: &Variable| read_variable(slots, Variable(v.0 | super::LAST));
    variables.iter().map(last).collect()
}

fn single(pattern: &[Variable]) -> Result<Variable, Fault> {
    match pattern {
        [variable] => Ok(*variable),
        _ => internal("a pattern with another number of values"),
    }
}

/// Sorts keys: gives the positions of the least ones, the keys themselves, or both.
fn sort_keys<A: Arrays>(
    activation: &mut Activation<'_, A>,
    statement: &Statement,
) -> Result<(), Fault> {
    let Expression::SortKeys {
        count,
        first,
        keys,
        low,
        gives,
    } = &statement.expression
    else {
        return internal("no sort by keys");
    };
    let [n, first] = [*count, *first].map(|atom| extent(&activation.slots, atom));
    let (n, first) = (n?, first?);
    if first > n {
        return internal("more of the least keys than there are keys");
    }
    let source = array(&mut activation.slots, *keys)?;
    let mut sorted = Vec::with_capacity(n);
    for k in 0..n as i64 {
        let bits = match A::element(&source, &[k])? {
            ScalarValue::U32(word) => u64::from(word),
            ScalarValue::U64(word) => word,
            _ => return internal("a key that is no u32 or u64"),
        };
        sorted.push((bits, k));
    }
    sorted.sort_by_key(|(bits, _)| bits >> low);
    for (result, given) in statement.pattern.iter().zip(gives) {
        let info = activation.info(*result)?;
        let element = info.element;
        let mut target = A::place(&activation.slots, info, &[first])?;
        for (k, (bits, position)) in sorted.iter().take(first).enumerate() {
            let value = match (given, element) {
                (Sorted::Positions, _) => ScalarValue::I64(*position),
                (Sorted::Keys, Scalar::U64) => ScalarValue::U64(*bits),
                (Sorted::Keys, _) => ScalarValue::U32(*bits as u32),
            };
            A::write(&mut target, &[k as i64], value)?;
        }
        activation.set(*result, Held::Array(target))?;
    }
    Ok(())
}

/// Executes a statement that makes one array, or gives a value another name.
fn array_expression<A: Arrays>(
    activation: &mut Activation<'_, A>,
    statement: &Statement,
) -> Result<(), Fault> {
    let result = single(&statement.pattern)?;
    let Some(info) = activation.code.infos.get(slot(result)) else {
        return internal("a variable without slot");
    };
    let slots = &mut activation.slots;
    let made = match &statement.expression {
        Expression::Atom(Atom::Variable(variable)) => match read_variable(slots, *variable)? {
            Held::Array(array) => A::view(slots, info, array, ViewValue::Same)?,
            value @ (Held::Scalar(_) | Held::Block(_)) => return activation.set(result, value),
        },
        Expression::View {
            array: source,
            view,
        } => {
            let view = view_value(slots, view)?;
            let source = array(slots, *source)?;
            A::view(slots, info, source, view)?
        }
        Expression::Copy(source) => {
            let source = array(slots, *source)?;
            A::copy(slots, info, source)?
        }
        Expression::Update {
            array: source,
            indices,
            value,
        } => {
            let (indices, value) = (integers(slots, indices)?, scalar(slots, *value)?);
            let source = array(slots, *source)?;
            let mut made = A::copy(slots, info, source)?;
            A::write(&mut made, &indices, value)?;
            made
        }
        Expression::Concat { arrays, count } => {
            let mut made = A::place(slots, info, &[extent(slots, *count)?])?;
            concat(slots, arrays, &mut made)?;
            made
        }
        new => new_array(slots, info, new)?,
    };
    activation.set(result, Held::Array(made))
}

/// Makes an array of scalars.
fn new_array<A: Arrays>(
    slots: &Slots<A>,
    info: &SlotInfo,
    expression: &Expression,
) -> Result<A::Array, Fault> {
    match expression {
        Expression::Literal { elements, .. } => {
            let mut made = A::place(slots, info, &[elements.len()])?;
            for (k, element) in elements.iter().enumerate() {
                A::write(&mut made, &[k as i64], scalar(slots, *element)?)?;
            }
            Ok(made)
        }
        Expression::Iota { count, start, step } => {
            let n = extent(slots, *count)?;
            let (mut next, step) = (scalar(slots, *start)?, scalar(slots, *step)?);
            let mut made = A::place(slots, info, &[n])?;
            for k in 0..n {
                A::write(&mut made, &[k as i64], next)?;
                next = operations::evaluate_unchecked(ScalarOperation::Add, &[next, step], true);
            }
            Ok(made)
        }
        Expression::Replicate { shape, value } => {
            let shape = extents(slots, shape)?;
            let value = scalar(slots, *value)?;
            let mut made = A::place(slots, info, &shape)?;
            let mut indices = Indices::new(shape);
            while let Some(index) = indices.next_index()? {
                A::write(&mut made, index, value)?;
            }
            Ok(made)
        }
        // These are executed by the callers.
        _ => internal("an expression that makes no array"),
    }
}

/// The indices of a space in row-major order.
pub(super) struct Indices {
    shape: Vec<usize>,
    index: Vec<i64>,
    started: bool,
}

impl Indices {
    pub(super) fn new(shape: Vec<usize>) -> Indices {
        Indices {
            index: vec![0; shape.len()],
            shape,
            started: false,
        }
    }

    /// Returns the next index, or a fault if the space is larger than memory.
    pub(super) fn next_index(&mut self) -> Result<Option<&[i64]>, Fault> {
        if !std::mem::replace(&mut self.started, true) {
            return Ok((count(&self.shape)? > 0).then_some(&self.index));
        }
        for (index, extent) in self.index.iter_mut().zip(&self.shape).rev() {
            *index += 1;
            if *index < *extent as i64 {
                return Ok(Some(&self.index));
            }
            *index = 0;
        }
        Ok(None)
    }
}

fn index<A: Arrays>(
    slots: &mut Slots<A>,
    array: Variable,
    indices: &[Atom],
) -> Result<Held<A>, Fault> {
    let mut values = [0; 8];
    let buffer = values.get_mut(..indices.len());
    let value = match (buffer, slots.get(slot(array))) {
        (Some(values), Some(Some(Held::Array(array)))) => {
            for (value, atom) in values.iter_mut().zip(indices) {
                *value = integer(slots, *atom)?;
            }
            A::element(array, values)?
        }
        (None, Some(Some(Held::Array(array)))) => A::element(array, &integers(slots, indices)?)?,
        _ => return internal("an index into what has no value or is no array"),
    };
    if array.0 & super::LAST != 0 {
        slots[slot(array)] = None;
    }
    Ok(Held::Scalar(value))
}

/// Writes vectors one after another.
fn concat<A: Arrays>(
    slots: &mut Slots<A>,
    arrays: &[Variable],
    made: &mut A::Array,
) -> Result<(), Fault> {
    let mut at = 0;
    for source in arrays {
        let source = array(slots, *source)?;
        let &[n] = A::shape(&source) else {
            return internal("a concatenation of no vectors");
        };
        for k in 0..n as i64 {
            A::write(made, &[at + k], A::element(&source, &[k])?)?;
        }
        at += n as i64;
    }
    match A::shape(made) {
        [n] if *n as i64 == at => Ok(()),
        _ => internal("a concatenation of another length"),
    }
}

/// Returns a run-time error of the program.
fn runtime(kind: ErrorKind, arguments: Vec<i64>, place: &Place) -> Stop {
    let place = Some(place.clone());
    Stop::Failure(Box::new(Failure::Runtime(RuntimeError {
        kind,
        arguments,
        place,
    })))
}

fn fail<A: Arrays>(
    slots: &Slots<A>,
    kind: ErrorKind,
    arguments: &[Atom],
    place: &Place,
) -> Result<(), Stop> {
    let mut shown = Vec::new();
    for argument in arguments {
        match scalar(slots, *argument)?.as_integer() {
            Some(value) => {
                let (least, most) = (i128::from(i64::MIN), i128::from(i64::MAX));
                shown.push(value.clamp(least, most) as i64);
            }
            None => return Ok(internal("an error that shows what is no integer")?),
        }
    }
    Err(runtime(kind, shown, place))
}
