//! Expressions that are computed at once.

use super::{
    Activation, Machine, Slots, Stop, array, bind, extent, extents, integer, integers, read_all,
    read_variable, scalar, set,
};
use crate::error::Failure;
use crate::ir::{Atom, Expression, SliceDimension, Statement, Variable, View};
use crate::representation::components;
use crate::values::{
    ArrayValue, Fault, FlatValue, Node, count, filled, from_components, internal, to_components,
};
use nova_core::{
    Elements, ErrorKind, RuntimeError, Scalar, ScalarOperation, ScalarValue, SumId, Type, Value,
    operations, order,
};
use nova_diag::Place;
use std::sync::Arc;

impl<'a> Machine<'a> {
    /// Executes a statement that is no conditional and no call.
    pub(super) fn execute(
        &mut self,
        activation: &mut Activation<'a>,
        statement: &'a Statement,
    ) -> Result<(), Stop> {
        let slots = &mut activation.slots;
        let value = match &statement.expression {
            Expression::Atom(atom) => super::read(slots, *atom)?,
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => FlatValue::Scalar(self.apply(slots, *operation, *operand, arguments)?),
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
            Expression::Index { array, indices } => index(slots, *array, indices)?,
            Expression::View {
                array: source,
                view,
            } => {
                let source = array(slots, *source)?;
                FlatValue::Array(Box::new(apply_view(slots, source, view)?))
            }
            Expression::Literal { element, elements } => literal(slots, *element, elements)?,
            Expression::Bytes(bytes) => {
                FlatValue::array(Elements::U8(Arc::new(bytes.to_vec())), vec![bytes.len()])
            }
            Expression::Iota { count, start, step } => self.iota(slots, *count, *start, *step)?,
            Expression::Replicate { shape, value } => {
                let shape = extents(slots, shape)?;
                let value = scalar(slots, *value)?;
                FlatValue::array(filled(value, count(&shape)?)?, shape)
            }
            Expression::Copy(source) => read_variable(slots, *source)?,
            Expression::Concat { arrays, count } => concat(slots, arrays, *count)?,
            Expression::Update {
                array: source,
                indices,
                value,
            } => {
                let mut source = array(slots, *source)?.into_packed()?;
                source.set(&integers(slots, indices)?, scalar(slots, *value)?)?;
                FlatValue::Array(Box::new(source))
            }
            Expression::Sort { .. } => return self.sort(activation, statement),
            Expression::Operation(operation) => {
                return self.operation(activation, operation, &statement.pattern);
            }
            Expression::While { .. } => return self.while_loop(activation, statement),
            Expression::Foreign { foreign, arguments } => {
                let results = self.foreign(slots, *foreign, arguments, &statement.place)?;
                return Ok(bind(slots, &statement.pattern, results)?);
            }
            Expression::NodeNew {
                sum,
                constructor,
                payload,
            } => {
                let payload = read_all(slots, payload)?;
                let node = Node {
                    constructor: *constructor,
                    payload,
                };
                FlatValue::Scalar(ScalarValue::I64(self.tables.add(*sum, node)))
            }
            Expression::NodeTag { sum, link } => {
                let node = self.tables.node(*sum, integer(slots, *link)?)?;
                FlatValue::Scalar(ScalarValue::I32(node.constructor as i32))
            }
            Expression::NodePayload {
                sum,
                constructor,
                link,
            } => {
                let payload = self.payload(*sum, *constructor, integer(slots, *link)?)?;
                return Ok(bind(slots, &statement.pattern, payload)?);
            }
            Expression::Trace {
                text,
                ty,
                components,
            } => {
                return self.trace(slots, text, ty, components);
            }
            Expression::Allocate { .. } => internal("an allocation in Flat")?,
            // The machine's loop executes these.
            Expression::If { .. } | Expression::Switch { .. } | Expression::Call { .. } => {
                internal("a statement that is not computed at once")?
            }
        };
        match statement.pattern.as_slice() {
            [variable] => Ok(set(slots, *variable, value)?),
            _ => Ok(internal("a pattern with another number of values")?),
        }
    }

    /// A scalar operation.
    fn apply(
        &self,
        slots: &Slots,
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

    fn iota(
        &self,
        slots: &Slots,
        count: Atom,
        start: Atom,
        step: Atom,
    ) -> Result<FlatValue, Fault> {
        let n = extent(slots, count)?;
        let (mut next, step) = (scalar(slots, start)?, scalar(slots, step)?);
        let ty = Type::Scalar(next.scalar());
        let mut elements = Elements::with_capacity(&ty, n)?;
        for _ in 0..n {
            elements.push(Value::Scalar(next))?;
            next = operations::evaluate_unchecked(ScalarOperation::Add, &[next, step], true);
        }
        Ok(FlatValue::array(elements, vec![n]))
    }

    /// The payload of a node, which must have this constructor.
    fn payload(&self, sum: SumId, constructor: u32, link: i64) -> Result<Vec<FlatValue>, Fault> {
        let node = self.tables.node(sum, link)?;
        if node.constructor != constructor {
            return internal("the payload of another constructor");
        }
        Ok(node.payload.clone())
    }

    fn trace(
        &self,
        slots: &mut Slots,
        text: &[u8],
        ty: &Type,
        components: &[Atom],
    ) -> Result<(), Stop> {
        let components = read_all(slots, components)?;
        let sums = &self.program.sums;
        let value = from_components(&components, ty, sums, &self.tables)?;
        let value = nova_core::text::print_value(&value, ty, sums);
        (self.options.trace)(&format!("{} {value}", String::from_utf8_lossy(text)));
        Ok(())
    }

    fn foreign(
        &mut self,
        slots: &mut Slots,
        foreign: u32,
        arguments: &[Atom],
        place: &Place,
    ) -> Result<Vec<FlatValue>, Stop> {
        let Some(foreign) = self.program.foreigns.get(foreign as usize) else {
            return Ok(internal("there is no such foreign function")?);
        };
        let sums = &self.program.sums;
        let arguments = read_all(slots, arguments)?;
        let mut rest = arguments.as_slice();
        let mut values = Vec::new();
        for ty in &foreign.parameters {
            let taken = rest.split_at_checked(components(ty, sums).len());
            let Some((first, others)) = taken else {
                return Ok(internal("a foreign call with too few arguments")?);
            };
            values.push(from_components(first, ty, sums, &self.tables)?);
            rest = others;
        }
        let result = match self.options.foreign {
            Some(handler) => handler(foreign, &values),
            None => Err(ErrorKind::Memory),
        };
        match result {
            Ok(value) => Ok(to_components(
                &value,
                &foreign.result,
                sums,
                &mut self.tables,
            )?),
            Err(kind) => Err(runtime(kind, Vec::new(), place)),
        }
    }

    fn sort(
        &mut self,
        activation: &mut Activation<'a>,
        statement: &'a Statement,
    ) -> Result<(), Stop> {
        let (Expression::Sort { count, compare }, [result]) =
            (&statement.expression, statement.pattern.as_slice())
        else {
            return Ok(internal("a sort with another number of results")?);
        };
        let n = extent(&activation.slots, *count)?;
        let sorted: Result<Vec<usize>, Stop> = order::sort(n, |left, right| {
            let arguments = [left, right].map(FlatValue::index).to_vec();
            bind(&mut activation.slots, &compare.parameters, arguments)?;
            match self.body(activation, &compare.body)?.as_slice() {
                [FlatValue::Scalar(ScalarValue::Bool(first))] => Ok(*first),
                _ => Ok(internal("a comparison that gives no bool")?),
            }
        });
        let sorted: Vec<i64> = sorted?.into_iter().map(|k| k as i64).collect();
        let sorted = FlatValue::array(Elements::I64(Arc::new(sorted)), vec![n]);
        Ok(set(&mut activation.slots, *result, sorted)?)
    }

    fn while_loop(
        &mut self,
        activation: &mut Activation<'a>,
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
        bind(&mut activation.slots, &names, starts)?;
        loop {
            match self.body(activation, condition)?.as_slice() {
                [FlatValue::Scalar(ScalarValue::Bool(true))] => {}
                [FlatValue::Scalar(ScalarValue::Bool(false))] => break,
                _ => return Ok(internal("a condition that gives no bool")?),
            }
            let next = self.body(activation, body)?;
            bind(&mut activation.slots, &names, next)?;
        }
        let last = take_all(&mut activation.slots, &names)?;
        Ok(bind(&mut activation.slots, &statement.pattern, last)?)
    }
}

/// The values of variables that nothing uses again.
pub(super) fn take_all(slots: &mut Slots, variables: &[Variable]) -> Result<Vec<FlatValue>, Fault> {
    let last = |v: &Variable| read_variable(slots, Variable(v.0 | super::LAST));
    variables.iter().map(last).collect()
}

fn index(slots: &mut Slots, array: Variable, indices: &[Atom]) -> Result<FlatValue, Fault> {
    let mut values = [0; 8];
    let few = values.get_mut(..indices.len());
    let value = match (few, slots.get(super::slot(array))) {
        (Some(values), Some(Some(FlatValue::Array(array)))) => {
            for (value, atom) in values.iter_mut().zip(indices) {
                *value = integer(slots, *atom)?;
            }
            array.get(values)?
        }
        (None, Some(Some(FlatValue::Array(array)))) => array.get(&integers(slots, indices)?)?,
        _ => return internal("an index into what has no value or is no array"),
    };
    if array.0 & super::LAST != 0 {
        slots[super::slot(array)] = None;
    }
    Ok(FlatValue::Scalar(value))
}

fn apply_view(slots: &Slots, source: ArrayValue, view: &View) -> Result<ArrayValue, Fault> {
    match view {
        View::Slice(dimensions) => {
            let dimension = |d: &SliceDimension| {
                let start = integer(slots, d.start)?;
                Ok((start, integer(slots, d.step)?, integer(slots, d.count)?))
            };
            let dimensions: Result<Vec<_>, Fault> = dimensions.iter().map(dimension).collect();
            source.slice(&dimensions?)
        }
        View::Transpose(permutation) => source.transpose(permutation),
        View::Reshape(shape) => source.reshape(extents(slots, shape)?),
        View::Row(indices) => source.row(&integers(slots, indices)?),
    }
}

fn literal(slots: &Slots, element: Scalar, atoms: &[Atom]) -> Result<FlatValue, Fault> {
    let mut elements = Elements::with_capacity(&Type::Scalar(element), atoms.len())?;
    for atom in atoms {
        let value = scalar(slots, *atom)?;
        if value.scalar() != element {
            return internal("an element of another type");
        }
        elements.push(Value::Scalar(value))?;
    }
    Ok(FlatValue::array(elements, vec![atoms.len()]))
}

fn concat(slots: &mut Slots, arrays: &[Variable], count: Atom) -> Result<FlatValue, Fault> {
    let n = extent(slots, count)?;
    let mut all: Option<Elements> = None;
    for source in arrays {
        let part = array(slots, *source)?.packed()?;
        match &mut all {
            Some(elements) => elements.append(&part)?,
            None => all = Some(part),
        }
    }
    match all {
        Some(elements) if elements.len() == n => Ok(FlatValue::array(elements, vec![n])),
        Some(_) | None => internal("a concatenation of another length"),
    }
}

/// An error of the program.
fn runtime(kind: ErrorKind, arguments: Vec<i64>, place: &Place) -> Stop {
    let place = Some(place.clone());
    Stop::Failure(Box::new(Failure::Runtime(RuntimeError {
        kind,
        arguments,
        place,
    })))
}

fn fail(slots: &Slots, kind: ErrorKind, arguments: &[Atom], place: &Place) -> Result<(), Stop> {
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
