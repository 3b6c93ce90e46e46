//! Short reductions inside other loops. For few elements the lanes of [`crate::lanes`] cost more than they
//! save. So do branches on the number of elements, which cannot be predicted if it varies between
//! iterations. So the code tests the number once, and short reductions take another path: elements with
//! checks are folded from left to right, and others fill an array of constant length. Where the number
//! is the same in all iterations, the branches are predicted, and elements without checks fill few lanes
//! ([`crate::few_rows`]).

use crate::accumulators::{Kind, firsts, zero};
use crate::few_rows::reduce_few;
use crate::output::Output;
use crate::padding::{Padding, Source};
use crate::prefetch::{Ahead, prefetch_row};
use crate::row_loops::{RowLoops, element_of_row, fold, row_lanes};
use crate::rows::combine_alone;
use crate::space::{LaneSchedule, Rows, ShortRows};
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result, Writer};
use nova_core::{ScalarOperation, ScalarValue};
use nova_loop::ir::{Combined, Command, Expression, FIXED_BLOCK, Type, Variable};
use nova_machine::PROCESSOR;

/// The elements that short reductions with checks prefetch. More would cost more than they save.
const AHEAD_OF_CHECKS: Ahead = Ahead {
    elements: 32,
    most_lines: 2,
};
/// The elements that short reductions without checks prefetch.
const AHEAD_OF_VECTORS: Ahead = Ahead {
    elements: FIXED_BLOCK as i64,
    most_lines: 3,
};

/// Writes a reduction: `long`, which reduces any number of elements, and where it pays off another path
/// for few elements.
pub(crate) fn short_or_long<'a>(
    cx: &mut Translator<'a>,
    schedule: LaneSchedule,
    rows: &mut RowLoops<'a>,
    count: &Expression,
    long: impl FnOnce(&mut Translator<'a>, &mut RowLoops<'a>) -> Result<()>,
) -> Result<()> {
    let few = i64::from(FIXED_BLOCK);
    let all = || (zero(), count.clone());
    let (code, limit) = cx.nested(|cx| match schedule.short {
        ShortRows::AsLong => Ok(None),
        ShortRows::Fold => fold(cx, rows, all(), Some(AHEAD_OF_CHECKS)).map(|()| Some(few)),
        ShortRows::Steady => reduce_few(cx, rows, count).map(|()| Some(PROCESSOR.few_elements)),
        ShortRows::FixedBlock(operation) => {
            let helps = reduce_fixed_block(cx, rows, count, operation)?;
            Ok(helps.then_some(few))
        }
    })?;
    let Some(limit) = limit else {
        return long(cx, rows);
    };
    let (otherwise, ()) = cx.nested(|cx| long(cx, rows))?;
    let limit = Expression::index(limit);
    cx.emit(Command::If {
        condition: count.clone().compare(ScalarOperation::LessEqual, limit),
        then: code,
        otherwise,
    });
    Ok(())
}

/// Reduces elements as a fixed-size block: copies their operands to arrays of constant length, computes
/// all elements from these, and combines them. Elements after the last one must be neutral. Returns
/// true if they are.
fn reduce_fixed_block<'a>(
    cx: &mut Translator<'a>,
    rows: &mut RowLoops<'a>,
    count: &Expression,
    operation: ScalarOperation,
) -> Result<bool> {
    if !fill_block(cx, rows, count, operation)? {
        return Ok(false);
    }
    for output in &rows.outputs {
        if let Output::Reduction(reduction) = output
            && let Kind::Rows(lanes) = &reduction.kind
        {
            tree_reduce(cx, &lanes.fixed_block, operation, Combined::One);
            combine_alone(cx, reduction, lanes, firsts(&lanes.fixed_block))?;
        }
    }
    Ok(true)
}

/// Fills the fixed-size blocks of all reductions. Returns true if that is possible.
pub(crate) fn fill_block<'a>(
    cx: &mut Translator<'a>,
    rows: &mut RowLoops<'a>,
    count: &Expression,
    operation: ScalarOperation,
) -> Result<bool> {
    for output in &mut rows.outputs {
        if let Some((scalars, lanes)) = row_lanes(output) {
            lanes.fixed_block = cx.buffers("few", scalars, FIXED_BLOCK);
        }
    }
    let lane = cx.add_variable("lane", INDEX);
    let to = Rows::FixedBlock {
        lane: Expression::Variable(lane),
    };
    let (mut body, ()) = cx.nested(|cx| element_of_row(cx, rows, to, lane))?;
    let padding = Padding::new(operation, any_zero(rows));
    let ahead = body.clone();
    let Some(sources) = padding.pad(&mut cx.program, lane, &mut body) else {
        return Ok(false);
    };
    let place = rows.space.place.clone();
    prefetch_row(cx, &ahead, lane, &zero(), AHEAD_OF_VECTORS, &place);
    for source in sources {
        padded_copy(cx, source, count);
    }
    cx.emit(Command::sequential(
        lane,
        Expression::index(i64::from(FIXED_BLOCK)),
        body,
        &place,
    ));
    Ok(true)
}

fn padded_copy(out: &mut Writer, source: Source, count: &Expression) {
    let copy: Variable = source.copy;
    out.emit(Command::Local {
        pointer: copy,
        count: FIXED_BLOCK,
    });
    out.emit(Command::PaddedCopy {
        to: Expression::Variable(copy),
        from: Expression::offset(source.pointer, source.first),
        element: source.pad.scalar(),
        count: count.clone(),
        pad: Expression::Constant(source.pad),
    });
}

/// Writes a tree reduction for each of these arrays.
pub(crate) fn tree_reduce(
    out: &mut Writer,
    arrays: &[Variable],
    operation: ScalarOperation,
    into: Combined,
) {
    for pointer in arrays {
        if let Type::Pointer(element) = out.program.variable(*pointer).ty {
            out.emit(Command::TreeReduce {
                pointer: *pointer,
                element,
                operation,
                into,
            });
        }
    }
}

/// True if the results do not depend on the sign of sums that are zero, because all sums are added to
/// constants other than -0.0.
fn any_zero(rows: &RowLoops<'_>) -> bool {
    use nova_flat::ir::{Atom, Output};
    rows.operation.outputs.iter().all(|output| match output {
        Output::Reduce { start, .. } => start.iter().all(|atom| match atom {
            Atom::Constant(ScalarValue::F32(x)) => x.to_bits() != (-0.0f32).to_bits(),
            Atom::Constant(ScalarValue::F64(x)) => x.to_bits() != (-0.0f64).to_bits(),
            Atom::Constant(_) | Atom::Variable(_) => false,
        }),
        _others => false,
    })
}
