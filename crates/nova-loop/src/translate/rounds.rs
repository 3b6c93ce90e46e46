//! The rounds that compute the elements of joined rows ([`super::joined`]): all checks of a round come
//! first, then its elements. A full round checks indices where they lie, and what its elements read
//! with gaps or at such indices is put into local arrays first ([`crate::ir::Round`]): the loops that
//! compilers make of both are slower. The last round has fewer elements, and plain loops.

use super::joined::{BOOL, Strip};
use super::operation::split;
use super::prefetch::{Ahead, Streams};
use super::{INDEX, Result, Translator};
use crate::ir::{Command, Expression, Level, Program, ROUND, Round, Type, Variable};
use crate::ir::{gathers_few, indexes_few, strides_few};
use crate::walk;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_flat::ir as flat;
use std::collections::BTreeSet;

/// More local arrays than this are not made for a round: they are as many loads and stores.
const MOST: usize = 8;
/// How far apart elements lie of which the others are left out by vector instructions.
const STRIDE: u32 = 2;
/// Indices further apart than this are no fields of neighbouring structures.
const MOST_APART: i64 = 8;

/// The body of a loop over elements of a round.
struct Elements {
    /// The index of the loop.
    offset: Variable,
    /// The index in the strip.
    index: Variable,
    body: Vec<Command>,
}

/// Elements of an array that a round reads, one behind the other or with gaps.
struct Read {
    pointer: Variable,
    element: Scalar,
    /// The first one.
    first: Expression,
    stride: u32,
}

impl Read {
    fn address(&self) -> Expression {
        Expression::offset(self.pointer, self.first.clone())
    }
}

/// Elements of an array that a round reads at indices.
struct Gather {
    pointer: Variable,
    element: Scalar,
    indices: Read,
}

/// What a local array of a round is filled with.
enum Source {
    Stride(Read),
    Gather(Gather),
}

impl Source {
    /// The array that it is filled from, and the type of its elements.
    fn array(&self) -> (Variable, Scalar) {
        match self {
            Source::Stride(read) => (read.pointer, read.element),
            Source::Gather(gather) => (gather.pointer, gather.element),
        }
    }

    /// The command that fills a local array.
    fn fill(self, to: Expression) -> Round {
        match self {
            Source::Stride(read) => Round::Stride {
                to,
                from: read.address(),
                element: read.element,
                stride: read.stride,
            },
            Source::Gather(gather) => Round::Gather {
                to,
                from: Expression::Variable(gather.pointer),
                element: gather.element,
                indices: gather.indices.address(),
                index: gather.indices.element,
                stride: gather.indices.stride,
            },
        }
    }
}

impl<'a> Translator<'a> {
    /// Computes the elements of a full round from element `first` of a strip on, if no check fails;
    /// else notes that one does, and leaves. Whether one does is a variable of the round's own, which
    /// is faster than one that rounds share.
    pub(super) fn full_round(
        &mut self,
        strip: &Strip<'_, 'a>,
        first: &Expression,
        leave: impl FnOnce(&mut Self),
    ) -> Result<()> {
        let fails = self.declare("fails", BOOL, Expression::bool(false));
        let mut check = self.checks(strip, fails, first)?;
        self.check_where_they_lie(&mut check, fails);
        let count = Expression::index(i64::from(ROUND));
        if !check.body.is_empty() {
            self.each_element(check, count.clone(), strip);
        }
        self.choose(
            Expression::Variable(fails),
            |this| {
                this.assign(strip.fails, Expression::bool(true));
                leave(this);
                Ok(())
            },
            |this| {
                let mut compute = this.computed(strip, first)?;
                this.read_first(&mut compute, gathered);
                drop_unused(&mut compute.body);
                this.read_first(&mut compute, with_gaps);
                this.each_element(compute, count, strip);
                Ok(())
            },
        )
    }

    /// Computes the `count` elements from element `first` of a strip on, if no check fails; else
    /// notes that one does.
    pub(super) fn last_round(
        &mut self,
        strip: &Strip<'_, 'a>,
        first: &Expression,
        count: Expression,
    ) -> Result<()> {
        let fails = self.declare("fails", BOOL, Expression::bool(false));
        let check = self.checks(strip, fails, first)?;
        self.each_element(check, count.clone(), strip);
        self.choose(
            Expression::Variable(fails),
            |this| {
                this.assign(strip.fails, Expression::bool(true));
                Ok(())
            },
            |this| {
                let compute = this.computed(strip, first)?;
                this.each_element(compute, count, strip);
                Ok(())
            },
        )
    }

    fn each_element(&mut self, elements: Elements, count: Expression, strip: &Strip<'_, 'a>) {
        self.emit(Command::For {
            variable: elements.offset,
            count,
            level: Level::Sequential,
            body: elements.body,
            place: strip.place.clone(),
        });
    }

    /// The checks of elements; asks for what the next rounds will read.
    fn checks(
        &mut self,
        strip: &Strip<'_, 'a>,
        fails: Variable,
        first: &Expression,
    ) -> Result<Elements> {
        let check = self.elements(strip, first, |this, _| this.any_failure(strip, fails))?;
        let ahead = Ahead::of(i64::from(ROUND));
        self.prefetch_row(&check.body, check.index, first, ahead, strip.place);
        Ok(check)
    }

    /// The elements without their checks.
    fn computed(&mut self, strip: &Strip<'_, 'a>, first: &Expression) -> Result<Elements> {
        self.elements(strip, first, |this, index| {
            this.unchecked_element(strip, index)
        })
    }

    /// What `write` writes for each element from element `first` of a strip on.
    fn elements(
        &mut self,
        strip: &Strip<'_, 'a>,
        first: &Expression,
        write: impl FnOnce(&mut Self, Variable) -> Result<()>,
    ) -> Result<Elements> {
        let offset = self.add_variable("l", INDEX);
        let (body, index) = self.nested(|this| {
            let index = first.clone().plus(Expression::Variable(offset));
            let index = this.declare("j", INDEX, index);
            this.bind_simple(strip.grouping.inner, Expression::Variable(index))?;
            this.scope(|this| write(this, index))?;
            Ok(index)
        })?;
        Ok(Elements {
            offset,
            index,
            body,
        })
    }

    /// Notes if a check of an element fails.
    fn any_failure(&mut self, strip: &Strip<'_, 'a>, fails: Variable) -> Result<()> {
        for statement in &strip.joined.needed {
            self.statements(std::slice::from_ref(*statement))?;
        }
        for condition in &strip.joined.conditions {
            let this_one = self.scalar(*condition)?.negated();
            let any = Expression::Variable(fails).or(this_one);
            self.assign(fails, any);
        }
        Ok(())
    }

    /// Computes the element of a strip at an index, without its checks.
    fn unchecked_element(&mut self, strip: &Strip<'_, 'a>, index: Variable) -> Result<()> {
        let reduction = strip.grouping.nest.reduction;
        for statement in &reduction.body.statements {
            if !matches!(statement.expression, flat::Expression::Check { .. }) {
                self.statements(std::slice::from_ref(statement))?;
            }
        }
        let mut rest = &reduction.body.results[..];
        for (output, buffers) in reduction.outputs.iter().zip(&strip.buffers) {
            let (values, others) = split(rest, output.consumes())?;
            rest = others;
            let values = self.scalars(values)?;
            for (buffer, value) in buffers.iter().zip(values) {
                self.set_element(*buffer, Expression::Variable(index), value);
            }
        }
        Ok(())
    }

    /// Takes out of the checks of a full round those of indices that lie in memory, and makes them
    /// there.
    fn check_where_they_lie(&mut self, check: &mut Elements, fails: Variable) {
        let streams = Streams::of(check.offset, &check.body);
        let mut found = Vec::new();
        let mut kept = Vec::new();
        for command in &check.body {
            let outside = match command {
                Command::Assign { variable, value } if *variable == fails => {
                    outside(&self.program, &streams, value)
                }
                _others => None,
            };
            kept.push(outside.is_none());
            found.extend(outside);
        }
        let mut kept = kept.into_iter();
        check.body.retain(|_| kept.next().unwrap_or(true));
        drop_unused(&mut check.body);
        for (number, (indices, limit)) in found.into_iter().enumerate() {
            let outside = match number {
                0 => fails,
                _others => self.declare("outside", BOOL, Expression::bool(false)),
            };
            self.emit(Command::Round(Round::Outside {
                outside,
                index: indices.element,
                stride: indices.stride,
                indices: indices.address(),
                limit,
            }));
            if outside != fails {
                let any = Expression::Variable(fails).or(Expression::Variable(outside));
                self.assign(fails, any);
            }
        }
    }

    /// Puts what the elements of a full round read into local arrays, where there is a source for
    /// that.
    fn read_first(&mut self, compute: &mut Elements, source: Find) {
        let streams = Streams::of(compute.offset, &compute.body);
        let mut loads = Vec::new();
        for command in &compute.body {
            walk::reads(command, &mut |e| {
                each_load(e, &mut |pointer, index| {
                    loads.push(source(&self.program, &streams, pointer, index));
                });
            });
        }
        if loads.iter().flatten().count() > MOST {
            return;
        }
        let mut arrays = Vec::with_capacity(loads.len());
        for source in loads {
            let Some(source) = source else {
                arrays.push(None);
                continue;
            };
            let (pointer, element) = source.array();
            let name = self.program.variable(pointer).name.clone();
            let array = self.add_variable(name, Type::Pointer(element));
            self.emit(Command::Local {
                pointer: array,
                count: ROUND,
            });
            self.emit(Command::Round(source.fill(Expression::Variable(array))));
            arrays.push(Some(array));
        }
        let mut arrays = arrays.into_iter();
        for command in &mut compute.body {
            walk::reads_mut(command, &mut |e| {
                replace_loads(e, compute.offset, &mut arrays);
            });
        }
    }
}

/// Calls `see` for the loads through variables that an expression always makes, each before those
/// that its index makes.
fn each_load<'e>(expression: &'e Expression, see: &mut dyn FnMut(Variable, &'e Expression)) {
    match expression {
        Expression::Load { pointer, index } => {
            if let Expression::Variable(pointer) = **pointer {
                see(pointer, index);
            }
            deep(|| each_load(index, see));
        }
        Expression::Select { condition, .. } => deep(|| each_load(condition, see)),
        other => {
            for child in other.children() {
                deep(|| each_load(child, see));
            }
        }
    }
}

/// Replaces the loads of [`each_load`] by those of local arrays, where there is one.
fn replace_loads(
    expression: &mut Expression,
    offset: Variable,
    arrays: &mut dyn Iterator<Item = Option<Variable>>,
) {
    match expression {
        Expression::Load { pointer, index } => {
            let array = match &**pointer {
                Expression::Variable(_) => arrays.next().flatten(),
                _others => None,
            };
            deep(|| replace_loads(index, offset, arrays));
            if let Some(array) = array {
                *expression = Expression::load(array, Expression::Variable(offset));
            }
        }
        Expression::Select { condition, .. } => {
            deep(|| replace_loads(condition, offset, arrays));
        }
        other => {
            for child in other.children_mut() {
                deep(|| replace_loads(child, offset, arrays));
            }
        }
    }
}

/// Leaves out what is declared and not used.
fn drop_unused(body: &mut Vec<Command>) {
    let mut used = BTreeSet::new();
    let mut kept = Vec::with_capacity(body.len());
    for command in body.drain(..).rev() {
        if let Command::Declare { variable, .. } = &command {
            if !used.contains(variable) {
                continue;
            }
        } else {
            walk::each_command(std::slice::from_ref(&command), |inner| {
                walk::writes(inner, &mut |v| {
                    used.insert(v);
                });
            });
        }
        walk::each_command(std::slice::from_ref(&command), |inner| {
            used.extend(walk::read_variables(std::slice::from_ref(inner)));
        });
        kept.push(command);
    }
    kept.reverse();
    *body = kept;
}

/// Finds what a local array is filled with that replaces a load, if that is faster.
type Find = fn(&Program, &Streams<'_>, Variable, &Expression) -> Option<Source>;

/// Elements with gaps between them.
fn with_gaps(
    program: &Program,
    streams: &Streams<'_>,
    pointer: Variable,
    index: &Expression,
) -> Option<Source> {
    let read = read(program, streams, pointer, index)?;
    let fits = read.stride == STRIDE && strides_few(read.element);
    fits.then_some(Source::Stride(read))
}

/// Elements at indices.
fn gathered(
    program: &Program,
    streams: &Streams<'_>,
    pointer: Variable,
    index: &Expression,
) -> Option<Source> {
    let Type::Pointer(element) = program.variable(pointer).ty else {
        return None;
    };
    let fits = gathers_few(element) && streams.is_outside(pointer);
    fits.then_some(Source::Gather(Gather {
        pointer,
        element,
        indices: indices(program, streams, index)?,
    }))
}

/// The elements that a round reads at an index, if each lies as far behind the one before.
fn read(
    program: &Program,
    streams: &Streams<'_>,
    pointer: Variable,
    index: &Expression,
) -> Option<Read> {
    let Type::Pointer(element) = program.variable(pointer).ty else {
        return None;
    };
    let (first, stride) = streams.linear(index)?;
    let fits = streams.is_outside(pointer) && (1..=MOST_APART).contains(&stride);
    fits.then_some(Read {
        pointer,
        element,
        first: first.unwrap_or(Expression::index(0)),
        stride: stride as u32,
    })
}

/// The integers that an expression is, as 64-bit numbers, if they lie in memory.
fn indices(program: &Program, streams: &Streams<'_>, expression: &Expression) -> Option<Read> {
    let expression = match streams.value(expression) {
        Expression::Scalar {
            operation: ScalarOperation::Convert(Scalar::I64),
            operand: Scalar::I32,
            arguments,
        } => streams.value(arguments.first()?),
        other => other,
    };
    let Expression::Load { pointer, index } = expression else {
        return None;
    };
    let Expression::Variable(pointer) = **pointer else {
        return None;
    };
    read(program, streams, pointer, index).filter(|read| indexes_few(read.element))
}

/// The indices and the limit of `fails or (index as a u64) >= limit`, where the indices lie in memory.
fn outside(
    program: &Program,
    streams: &Streams<'_>,
    value: &Expression,
) -> Option<(Read, Expression)> {
    let Expression::Select {
        then, otherwise, ..
    } = value
    else {
        return None;
    };
    let Expression::Constant(ScalarValue::Bool(true)) = **then else {
        return None;
    };
    let (test, is_negated) = match streams.value(otherwise) {
        Expression::Scalar {
            operation: ScalarOperation::Not,
            arguments,
            ..
        } => (streams.value(arguments.first()?), true),
        other => (other, false),
    };
    let Expression::Scalar {
        operation,
        operand: Scalar::U64,
        arguments,
    } = test
    else {
        return None;
    };
    let fits = match operation {
        ScalarOperation::Less => is_negated,
        ScalarOperation::GreaterEqual => !is_negated,
        _others => false,
    };
    let [index, limit] = &arguments[..] else {
        return None;
    };
    let Expression::Scalar {
        operation: ScalarOperation::Wrap(Scalar::U64),
        operand: Scalar::I64,
        arguments,
    } = streams.value(index)
    else {
        return None;
    };
    let read = indices(program, streams, arguments.first()?)?;
    let limit = streams.value(limit);
    (fits && streams.is_constant(limit)).then(|| (read, limit.clone()))
}
