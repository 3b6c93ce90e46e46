//! Translation of arrays that are made without an array operation: literals, ranges, replicates, copies,
//! concatenations, updates.

use crate::allocation::destination;
use crate::env::Env;
use crate::loops::each_index;
use crate::places::Place;
use crate::source::{array_block, info_of, name_of};
use crate::strided::{copy_array, copy_block};
use crate::writer::{INDEX, Result, Writer};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir as flat;
use nova_flat::memory::polynomial_of;
use nova_flat::{
    call_expressions, control_expressions, node_expressions, other_expressions, pure_expressions,
};
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression, Type};
use nova_machine::Machine;

/// Translates a statement that makes the array `pattern`.
pub(crate) fn array_statement<'a>(
    env: &mut Env<'a>,
    statement: &'a flat::Statement,
    pattern: flat::Variable,
) -> Result<()> {
    use flat::Expression as E;
    let place = &statement.place;
    if let E::Bytes(bytes) = &statement.expression {
        return copy_bytes(env, pattern, bytes);
    }
    let count = match &info_of(env.source, pattern)?.ty {
        flat::Type::Array(_, shape) => env.product(shape)?,
        flat::Type::Scalar(_) | flat::Type::Block(_) => {
            return Err(internal("an array without an array type"));
        }
    };
    let to = destination(env, pattern, count, place)?;
    match &statement.expression {
        E::Literal { elements, .. } => literal(env, to, elements),
        E::Iota { start, step, .. } => iota(env, to, *start, *step, place),
        E::Replicate { value, .. } => fill(env, to, *value, place),
        E::Copy(from) => {
            let from = env.place(*from)?;
            copy_unless_same(env, to, from, place)
        }
        E::Concat { arrays, .. } => concat(env, to, arrays, place),
        E::Update {
            array,
            indices,
            value,
        } => {
            let from = env.place(*array)?;
            let indices = env.scalars(indices)?;
            let value = env.scalar(*value)?;
            let (indices, value) = before_copy(env, to, from, indices, value)?;
            copy_unless_same(env, to, from, place)?;
            env.store(to, indices, value)
        }
        E::Bytes(_)
        | pure_expressions!()
        | control_expressions!()
        | call_expressions!()
        | node_expressions!()
        | other_expressions!() => Err(internal("an expression that makes no array")),
    }
}

fn literal(env: &mut Env<'_>, to: Place<'_>, elements: &[flat::Atom]) -> Result<()> {
    if let Some(values) = data(env.machine, to, elements) {
        let offset = env.polynomial(&to.lmad.offset)?;
        env.flush_conflicts(to.block)?;
        env.emit(Command::Copy {
            to: Expression::offset(to.pointer, offset),
            from: Expression::Data(to.element, values.into()),
            element: to.element,
            count: Expression::index(elements.len() as i64),
        });
        return Ok(());
    }
    for (index, element) in elements.iter().enumerate() {
        let value = env.scalar(*element)?;
        env.store(to, vec![Expression::index(index as i64)], value)?;
    }
    Ok(())
}

/// Returns the elements of a long literal if all are constants. Copying them takes one command instead
/// of one for each.
fn data(machine: Machine, to: Place<'_>, elements: &[flat::Atom]) -> Option<Vec<ScalarValue>> {
    if elements.len() < machine.literal_elements() || !to.lmad.is_row_major() {
        return None;
    }
    let constant = |element: &flat::Atom| match element {
        flat::Atom::Constant(value) if value.scalar() == to.element => Some(*value),
        flat::Atom::Constant(_) | flat::Atom::Variable(_) => None,
    };
    elements.iter().map(constant).collect()
}

fn copy_bytes(
    env: &mut Env<'_>,
    pattern: flat::Variable,
    bytes: &std::sync::Arc<[u8]>,
) -> Result<()> {
    let block = array_block(env.source, flat::Atom::Variable(pattern))?;
    let block = block.ok_or_else(|| internal("bytes in a scalar"))?;
    if env.facts.block(block).origin == crate::facts::Origin::Allocated {
        let to = env.place(pattern)?;
        let from = Expression::Bytes(bytes.clone());
        let offset = env.polynomial(&to.lmad.offset)?;
        env.flush_conflicts(block)?;
        env.emit(Command::Copy {
            to: Expression::offset(to.pointer, offset),
            from,
            element: Scalar::U8,
            count: Expression::index(bytes.len() as i64),
        });
        return Ok(());
    }
    let name = name_of(env.source, pattern);
    let pointer = env.declare(
        name.clone(),
        Type::Pointer(Scalar::U8),
        Expression::Bytes(bytes.clone()),
    );
    let handle = env.declare(format!("{name}_block"), Type::Block, Expression::NullBlock);
    env.bind_block(block, pointer, handle)?;
    env.own(block)
}

fn iota(
    env: &mut Env<'_>,
    to: Place<'_>,
    start: flat::Atom,
    step: flat::Atom,
    place: &nova_diag::Place,
) -> Result<()> {
    let start = env.simple(start)?;
    let step = env.simple(step)?;
    let extents = env.scalars(to.shape)?;
    let element = to.element;
    env.flush_conflicts(to.block)?;
    each_index(env, &extents, place, |env, indices| {
        let index = indices.first().cloned();
        let index = index.ok_or_else(|| internal("a range without extent"))?;
        let index = convert_index(index, element);
        let scaled = arithmetic(ScalarOperation::Multiply, element, index, step);
        let value = arithmetic(ScalarOperation::Add, element, start, scaled);
        env.store(to, indices, value)
    })
}

/// Writes the same value to all elements.
pub(crate) fn fill(
    env: &mut Env<'_>,
    to: Place<'_>,
    value: flat::Atom,
    place: &nova_diag::Place,
) -> Result<()> {
    let value = env.simple(value)?;
    if to.lmad.is_row_major() && to.shape.len() > 1 {
        let count = env.product(to.shape)?;
        let offset = env.polynomial(&to.lmad.offset)?;
        env.flush_conflicts(to.block)?;
        return each_index(env, &[count], place, |env, indices| {
            let index = indices.into_iter().fold(offset, Expression::plus);
            env.set_element(to.pointer, index, value);
            Ok(())
        });
    }
    let extents = env.scalars(to.shape)?;
    env.flush_conflicts(to.block)?;
    each_index(env, &extents, place, |env, indices| {
        env.store(to, indices, value)
    })
}

/// Copies an array unless source and destination are the same memory.
pub(crate) fn copy_unless_same(
    env: &mut Env<'_>,
    to: Place<'_>,
    from: Place<'_>,
    place: &nova_diag::Place,
) -> Result<()> {
    if to.block == from.block && to.lmad == from.lmad {
        return Ok(());
    }
    copy_array(env, to, from, place)
}

/// Evaluates the operands of an update before the copy, which might change what they read.
fn before_copy(
    out: &mut Writer,
    to: Place<'_>,
    from: Place<'_>,
    indices: Vec<Expression>,
    value: Expression,
) -> Result<(Vec<Expression>, Expression)> {
    if to.block == from.block {
        return Ok((indices, value));
    }
    let indices = indices.into_iter();
    let indices = indices.map(|i| out.simplify(i, "index", INDEX)).collect();
    let value = out.simplify(value, "value", Type::Scalar(to.element));
    Ok((indices, value))
}

fn concat(
    env: &mut Env<'_>,
    to: Place<'_>,
    arrays: &[flat::Variable],
    place: &nova_diag::Place,
) -> Result<()> {
    let mut first = Expression::index(0);
    let mut address = to.lmad.offset.clone();
    for array in arrays {
        let from = env.place(*array)?;
        let (Some(extent), [(_, stride)]) = (one(from.shape), &to.lmad.dimensions[..]) else {
            return Err(internal("a concatenation of no vectors"));
        };
        let length = env.scalar(extent)?;
        let strides = from.lmad.dimensions.iter().map(|d| &d.1);
        let in_place = from.block == to.block
            && from.lmad.offset == address
            && strides.eq(std::iter::once(stride));
        if !in_place {
            copy_to(env, to, first.clone(), from, length.clone(), place)?;
        }
        first = first.plus(length);
        let extent = polynomial_of(extent).unwrap_or_default();
        address = address.plus(&extent.times(stride));
    }
    Ok(())
}

/// Copies a vector to the elements of another from `first` on. `first` must not read memory.
pub(crate) fn copy_to(
    env: &mut Env<'_>,
    to: Place<'_>,
    first: Expression,
    from: Place<'_>,
    length: Expression,
    place: &nova_diag::Place,
) -> Result<()> {
    env.flush_conflicts(to.block)?;
    if to.lmad.is_row_major() && from.lmad.is_row_major() {
        return copy_block(env, to, first, from, length);
    }
    each_index(env, &[length], place, |env, indices| {
        let value = env.load(from, indices.clone())?;
        let indices = indices.into_iter().map(|i| first.clone().plus(i)).collect();
        env.store(to, indices, value)
    })
}

/// Returns the only extent of a vector.
fn one(shape: &[flat::Atom]) -> Option<flat::Atom> {
    match shape {
        [extent] => Some(*extent),
        _ => None,
    }
}

/// Converts an index to the element type of a range.
fn convert_index(index: Expression, to: Scalar) -> Expression {
    match to {
        Scalar::I64 => index,
        Scalar::F32 | Scalar::F64 | Scalar::Bool => unary(ScalarOperation::Convert(to), index),
        Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::U64 => unary(ScalarOperation::Wrap(to), index),
    }
}

fn unary(operation: ScalarOperation, argument: Expression) -> Expression {
    Expression::Scalar {
        operation,
        operand: Scalar::I64,
        arguments: vec![argument],
    }
}

/// Returns a sum or product without a neutral operand. Floats keep both operands, for the sign of zero.
fn arithmetic(
    operation: ScalarOperation,
    operand: Scalar,
    left: Expression,
    right: Expression,
) -> Expression {
    let neutral = match operation {
        ScalarOperation::Multiply => 1,
        _ => 0,
    };
    let is_neutral = |e: &Expression| match e {
        Expression::Constant(value) if operand.is_integer() => {
            value.same(ScalarValue::from_integer_wrapping(operand, neutral))
        }
        _ => false,
    };
    if is_neutral(&left) {
        return right;
    }
    if is_neutral(&right) {
        return left;
    }
    Expression::Scalar {
        operation,
        operand,
        arguments: vec![left, right],
    }
}
