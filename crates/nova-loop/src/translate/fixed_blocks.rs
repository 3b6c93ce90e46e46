//! Reductions of few elements inside other loops. There the lanes of [`super::lanes`] cost more than
//! they save, and so do branches on the number of elements, which nobody can predict when it is
//! another in each round. So the number is looked at once, and few elements go another way: those
//! with checks are folded from left to right, others fill an array of constant length.

use super::lanes::RowLoops;
use super::operation::{Few, Filling, Rows};
use super::outputs::Output;
use super::padding::{Padding, Source};
use super::prefetch::Ahead;
use super::reduction::{Kind, Reduction, firsts, zero};
use super::rows::RowLanes;
use super::{INDEX, Result, Translator};
use crate::ir::{Combined, Command, Expression, FIXED_BLOCK, Level, Type, Variable};
use nova_core::{Scalar, ScalarOperation, ScalarValue};

/// What few elements with checks read ahead: more would cost more than it saves.
const AHEAD_OF_CHECKS: Ahead = Ahead {
    elements: 32,
    most_lines: 2,
};
/// What few elements without checks read ahead.
const AHEAD_OF_VECTORS: Ahead = Ahead {
    elements: FIXED_BLOCK as i64,
    most_lines: 3,
};

impl<'a> Translator<'a> {
    /// Writes `many`, which reduces any number of elements, and where it helps another way for few.
    pub(super) fn few_or_many(
        &mut self,
        filling: Filling,
        rows: &mut RowLoops<'a>,
        count: &Expression,
        many: impl FnOnce(&mut Self, &mut RowLoops<'a>) -> Result<()>,
    ) -> Result<()> {
        let (code, helps) = self.nested(|this| match filling.few {
            Few::AsMany => Ok(false),
            Few::Fold => this.fold_block(rows, count).map(|()| true),
            Few::Vectors(operation) => this.vectors_of_few(rows, count, operation),
        })?;
        if !helps {
            return many(self, rows);
        }
        let (otherwise, ()) = self.nested(|this| many(this, rows))?;
        let limit = Expression::index(i64::from(FIXED_BLOCK));
        self.emit(Command::If {
            condition: count.clone().compare(ScalarOperation::LessEqual, limit),
            then: code,
            otherwise,
        });
        Ok(())
    }

    /// Folds elements from left to right: one loop, the end of which is the only branch that depends
    /// on their number. The additions of one round overlap with what the next ones read.
    fn fold_block(&mut self, rows: &mut RowLoops<'a>, count: &Expression) -> Result<()> {
        let index = self.add_variable(self.name(rows.index), INDEX);
        let (body, ()) = self.nested(|this| this.element_of_row(rows, Rows::Alone, index))?;
        let place = rows.space.place.clone();
        self.prefetch_row(&body, index, &zero(), AHEAD_OF_CHECKS, &place);
        self.emit(Command::For {
            variable: index,
            count: count.clone(),
            level: Level::Sequential,
            body,
            place,
        });
        Ok(())
    }

    /// Copies what the elements read to arrays of constant length, computes all elements of these,
    /// and combines them, where the elements behind the last one change nothing; says whether that
    /// is so.
    fn vectors_of_few(
        &mut self,
        rows: &mut RowLoops<'a>,
        count: &Expression,
        operation: ScalarOperation,
    ) -> Result<bool> {
        if !self.fill_block(rows, count, operation)? {
            return Ok(false);
        }
        for output in &rows.outputs {
            if let Output::Reduction(reduction) = output
                && let Kind::Rows(lanes) = &reduction.kind
            {
                self.tree_reduce(&lanes.few, operation, Combined::One);
                self.combine_alone(reduction, lanes, firsts(&lanes.few))?;
            }
        }
        Ok(true)
    }

    /// Fills the arrays of few elements of all reductions; says whether that could be done.
    pub(super) fn fill_block(
        &mut self,
        rows: &mut RowLoops<'a>,
        count: &Expression,
        operation: ScalarOperation,
    ) -> Result<bool> {
        for output in &mut rows.outputs {
            if let Some((scalars, lanes)) = row_lanes(output) {
                lanes.few = self.buffers("few", scalars, FIXED_BLOCK);
            }
        }
        let lane = self.add_variable("lane", INDEX);
        let to = Rows::Few {
            lane: Expression::Variable(lane),
        };
        let (mut body, ()) = self.nested(|this| this.element_of_row(rows, to, lane))?;
        let padding = Padding::new(operation, any_zero(rows));
        let ahead = body.clone();
        let Some(sources) = padding.pad(&mut self.program, lane, &mut body) else {
            return Ok(false);
        };
        let place = rows.space.place.clone();
        self.prefetch_row(&ahead, lane, &zero(), AHEAD_OF_VECTORS, &place);
        for source in sources {
            self.padded_copy(source, count);
        }
        self.emit(Command::For {
            variable: lane,
            count: Expression::index(i64::from(FIXED_BLOCK)),
            level: Level::Sequential,
            body,
            place,
        });
        Ok(true)
    }

    fn padded_copy(&mut self, source: Source, count: &Expression) {
        let copy: Variable = source.copy;
        self.emit(Command::Local {
            pointer: copy,
            count: FIXED_BLOCK,
        });
        self.emit(Command::PaddedCopy {
            to: Expression::Variable(copy),
            from: Expression::offset(source.pointer, source.first),
            element: source.pad.scalar(),
            count: count.clone(),
            pad: Expression::Constant(source.pad),
        });
    }

    /// Combines the elements of each of these arrays.
    pub(super) fn tree_reduce(
        &mut self,
        arrays: &[Variable],
        operation: ScalarOperation,
        into: Combined,
    ) {
        for pointer in arrays {
            if let Type::Pointer(element) = self.program.variable(*pointer).ty {
                self.emit(Command::TreeReduce {
                    pointer: *pointer,
                    element,
                    operation,
                    into,
                });
            }
        }
    }
}

/// The lanes of an output that is a reduction which has them, with their types.
fn row_lanes<'o>(output: &'o mut Output<'_>) -> Option<(&'o [Scalar], &'o mut RowLanes)> {
    match output {
        Output::Reduction(Reduction {
            scalars,
            kind: Kind::Rows(lanes),
            ..
        }) => Some((scalars, lanes)),
        Output::Reduction(_)
        | Output::Map(_)
        | Output::Scan(_)
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Histogram { .. }
        | Output::Collect(_)
        | Output::Join(_) => None,
    }
}

/// True if it makes no difference to the results if sums are 0.0 or -0.0: they are added to
/// constants other than -0.0.
fn any_zero(rows: &RowLoops<'_>) -> bool {
    use nova_flat::ir::{Atom, Output};
    rows.operation.outputs.iter().all(|output| match output {
        Output::Reduce { start, .. } => start.iter().all(|atom| match atom {
            Atom::Constant(ScalarValue::F32(x)) => x.to_bits() != (-0.0f32).to_bits(),
            Atom::Constant(ScalarValue::F64(x)) => x.to_bits() != (-0.0f64).to_bits(),
            Atom::Constant(_) | Atom::Variable(_) => false,
        }),
        Output::Map
        | Output::Scan { .. }
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Histogram { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => false,
    })
}
