//! Padding of loops: the analysis of loops that may run past the ends of their arrays. Elements after the
//! last one are computed from padding, and must be neutral in the reduction that they go to.

use nova_core::{Scalar, ScalarOperation, ScalarValue, operations};
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Program, Type, Variable};
use nova_loop::streams::LinearReads;
use nova_machine::figures;
use std::collections::BTreeMap;

/// The maximum number of copies for a loop.
const PADDED_COPIES: usize = figures::TILES.padded_copies;

/// The padding for an operation.
pub(crate) struct Padding {
    operation: ScalarOperation,
    /// True if the sign of a sum that is zero does not matter.
    any_zero: bool,
}

/// An array that is read from front to back, and its padded copy.
pub(crate) struct Source {
    pub(crate) pointer: Variable,
    /// The index of its first element.
    pub(crate) first: Expression,
    /// The local array that the loop reads instead.
    pub(crate) copy: Variable,
    /// The padding after the last element of the copy.
    pub(crate) pad: ScalarValue,
}

impl Padding {
    /// Returns the padding for reductions by an operation.
    pub(crate) fn new(operation: ScalarOperation, any_zero: bool) -> Self {
        Padding {
            operation,
            any_zero,
        }
    }

    /// Changes the body of a loop over `index` from 0 on, which stores elements of reductions, to read padded
    /// copies of its arrays. The loop must read each array from front to back, do nothing else, and compute
    /// neutral elements from padding. Returns the arrays, or `None` if these conditions do not hold.
    pub(crate) fn pad(
        &self,
        program: &mut Program,
        index: Variable,
        body: &mut [Command],
    ) -> Option<Vec<Source>> {
        let mut sources = Vec::new();
        {
            let reads = LinearReads::of(index, body);
            let mut all = true;
            for command in body.iter() {
                nova_loop::walk::reads(command, &mut |e| {
                    all &= self.find(program, &reads, e, &mut sources).is_some();
                });
            }
            if !all || sources.len() > PADDED_COPIES {
                return None;
            }
        }
        let mut copies = sources.iter();
        for command in body.iter_mut() {
            nova_loop::walk::reads_mut(command, &mut |e| replace(e, index, &mut copies));
        }
        self.is_neutral_on_padding(body, &sources)
            .then_some(sources)
    }

    /// Returns the neutral element of the operation in a type.
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

    /// Collects the loads of an expression, outermost first. Returns `None` if one of them is not from front
    /// to back.
    fn find(
        &self,
        program: &mut Program,
        reads: &LinearReads<'_>,
        expression: &Expression,
        sources: &mut Vec<Source>,
    ) -> Option<()> {
        if let Expression::Load { pointer, index } = expression {
            let Expression::Variable(pointer) = **pointer else {
                return None;
            };
            let (before, stride) = reads.linear(index)?;
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
            deep(|| self.find(program, reads, child, sources))?;
        }
        Some(())
    }

    /// True if commands only compute elements, and neutral ones from padding.
    fn is_neutral_on_padding(&self, body: &[Command], sources: &[Source]) -> bool {
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

/// Replaces loads, outermost first, by loads of copies.
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

/// Returns the value of an expression over known variables and arrays of equal elements, if it contains no
/// others.
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
        _others => None,
    }
}
