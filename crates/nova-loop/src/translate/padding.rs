//! Which loops may run further than their arrays reach: elements behind the last one are computed
//! from padding, and must come out as what changes nothing in the reduction that they go to.

use super::prefetch::Streams;
use crate::ir::{Command, Expression, Program, Type, Variable};
use nova_core::{Scalar, ScalarOperation, ScalarValue, operations};
use nova_diag::deep;
use std::collections::BTreeMap;

/// More copies than this are not made for a loop.
const MOST: usize = 4;

/// The padding for an operation.
pub(super) struct Padding {
    operation: ScalarOperation,
    /// True if a sum may be either zero.
    any_zero: bool,
}

/// An array that is read from front to back, and its copy.
pub(super) struct Source {
    pub(super) pointer: Variable,
    /// The index of its first element.
    pub(super) first: Expression,
    /// The local array that the loop reads instead.
    pub(super) copy: Variable,
    /// What the copy has behind the last element.
    pub(super) pad: ScalarValue,
}

impl Padding {
    /// Of reductions by an operation.
    pub(super) fn new(operation: ScalarOperation, any_zero: bool) -> Self {
        Padding {
            operation,
            any_zero,
        }
    }

    /// Makes the body of a loop over `index` from 0 on, which stores elements of reductions, read
    /// copies of its arrays, if it reads each from front to back, does nothing else, and computes
    /// from padding what changes nothing.
    pub(super) fn pad(
        &self,
        program: &mut Program,
        index: Variable,
        body: &mut [Command],
    ) -> Option<Vec<Source>> {
        let mut sources = Vec::new();
        {
            let streams = Streams::of(index, body);
            let mut all = true;
            for command in body.iter() {
                crate::walk::reads(command, &mut |e| {
                    all &= self.find(program, &streams, e, &mut sources).is_some();
                });
            }
            if !all || sources.len() > MOST {
                return None;
            }
        }
        let mut copies = sources.iter();
        for command in body.iter_mut() {
            crate::walk::reads_mut(command, &mut |e| replace(e, index, &mut copies));
        }
        self.changes_nothing(body, &sources).then_some(sources)
    }

    /// What changes nothing in a type.
    fn neutral(&self, scalar: Scalar) -> Option<ScalarValue> {
        let value = match self.operation {
            ScalarOperation::Add => -0.0,
            ScalarOperation::Multiply => 1.0,
            _ => return None,
        };
        match scalar {
            Scalar::F32 => Some(ScalarValue::F32(value as f32)),
            Scalar::F64 => Some(ScalarValue::F64(value)),
            _ => None,
        }
    }

    /// Notes what an expression loads, outermost first; nothing if something is not from front to
    /// back.
    fn find(
        &self,
        program: &mut Program,
        streams: &Streams<'_>,
        expression: &Expression,
        sources: &mut Vec<Source>,
    ) -> Option<()> {
        if let Expression::Load { pointer, index } = expression {
            let Expression::Variable(pointer) = **pointer else {
                return None;
            };
            let (before, stride) = streams.linear(index)?;
            let Type::Pointer(element) = program.variable(pointer).ty else {
                return None;
            };
            let pad = self.neutral(element).filter(|_| stride == 1)?;
            let name = program.variable(pointer).name.clone();
            sources.push(Source {
                pointer,
                first: before.unwrap_or(Expression::index(0)),
                copy: program.add_variable(name, Type::Pointer(element)),
                pad,
            });
            return Some(());
        }
        for child in expression.children() {
            deep(|| self.find(program, streams, child, sources))?;
        }
        Some(())
    }

    /// True if commands only compute elements, and such that change nothing from padding.
    fn changes_nothing(&self, body: &[Command], sources: &[Source]) -> bool {
        let mut known = BTreeMap::new();
        for source in sources {
            known.insert(source.copy, source.pad);
        }
        body.iter().all(|command| match command {
            Command::Declare {
                variable,
                value: Some(value),
            } => {
                if let Some(value) = constant(value, &known) {
                    known.insert(*variable, value);
                }
                true
            }
            Command::Store { value, .. } => {
                constant(value, &known).is_some_and(|value| self.is_neutral(value))
            }
            _ => false,
        })
    }

    fn is_neutral(&self, value: ScalarValue) -> bool {
        let zero = self.any_zero && self.operation == ScalarOperation::Add;
        match (value, self.neutral(value.scalar())) {
            (ScalarValue::F32(x), Some(ScalarValue::F32(y))) => {
                x.to_bits() == y.to_bits() || (zero && x == 0.0)
            }
            (ScalarValue::F64(x), Some(ScalarValue::F64(y))) => {
                x.to_bits() == y.to_bits() || (zero && x == 0.0)
            }
            _ => false,
        }
    }
}

/// Replaces loads, outermost first, by those of copies.
fn replace<'s>(
    expression: &mut Expression,
    index: Variable,
    copies: &mut impl Iterator<Item = &'s Source>,
) {
    if let Expression::Load { .. } = expression {
        if let Some(source) = copies.next() {
            *expression = Expression::load(source.copy, Expression::Variable(index));
        }
        return;
    }
    for child in expression.children_mut() {
        deep(|| replace(child, index, copies));
    }
}

/// The value of an expression over known variables and arrays of equal elements, if it has only
/// such.
fn constant(
    expression: &Expression,
    known: &BTreeMap<Variable, ScalarValue>,
) -> Option<ScalarValue> {
    let constant = |e: &Expression| deep(|| constant(e, known));
    match expression {
        Expression::Constant(value) => Some(*value),
        Expression::Variable(variable) => known.get(variable).copied(),
        Expression::Load { pointer, .. } => constant(pointer),
        Expression::Scalar {
            operation,
            arguments,
            ..
        } => {
            let values: Option<Vec<ScalarValue>> = arguments.iter().map(constant).collect();
            let values = values?;
            operations::evaluate(*operation, &values, true).ok()
        }
        Expression::Select {
            condition,
            then,
            otherwise,
        } => match constant(condition)? {
            ScalarValue::Bool(true) => constant(then),
            ScalarValue::Bool(false) => constant(otherwise),
            _ => None,
        },
        Expression::Bytes(_)
        | Expression::Data(..)
        | Expression::Offset { .. }
        | Expression::NullPointer(_)
        | Expression::NullBlock
        | Expression::NodeTag { .. } => None,
    }
}
