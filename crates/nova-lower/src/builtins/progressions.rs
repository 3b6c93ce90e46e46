//! `range` and `slice`: arithmetic progressions, counted without overflow.

use super::argument::Argument;
use crate::builder::Builder;
use crate::error::Result;
use crate::scalars::{
    bound_from, check_index, check_longest, in_range, index_from, literal_of, unsigned_from,
};
use crate::values;
use nova_core::{ErrorKind, Scalar, ScalarOperation};
use nova_flat::ir::{Atom, Body, Expression, SliceDimension};

/// A progression from `begin` to before `end` by `step`, which is not 0.
#[derive(Clone, Copy)]
struct Progression {
    begin: Atom,
    end: Atom,
    step: Atom,
    /// True if all three are small enough for their differences to be `i64`.
    narrow: bool,
}

pub(super) fn range(b: &mut Builder, [begin, step, end]: &[Argument; 3]) -> Result<Vec<Atom>> {
    let (begin, scalar) = begin.scalar()?;
    let (end, _) = end.scalar()?;
    let (step, _) = step.scalar()?;
    check_step(b, step, scalar);
    let length = match scalar {
        Scalar::U64 => count_unsigned(b, begin, end, step)?,
        _ => {
            let narrow = [begin, end, step].iter().all(|a| is_narrow(*a, scalar));
            let progression = Progression {
                begin: index_from(b, begin, scalar),
                end: index_from(b, end, scalar),
                step: index_from(b, step, scalar),
                narrow,
            };
            count(b, progression)?
        }
    };
    let length = check_longest(b, length, scalar);
    let expression = Expression::Iota {
        count: length,
        start: begin,
        step,
    };
    let numbers = b.bind_array("range", scalar, vec![length], expression);
    Ok(vec![length, numbers])
}

pub(super) fn slice(b: &mut Builder, [begin, step, end, x]: &[Argument; 4]) -> Result<Vec<Atom>> {
    let x = x.vector()?;
    let SliceDimension { start, step, count } = sliced(b, [begin, step, end], x.length)?;
    let lifted = values::slice(b, &x.element, &x.lifted, start, step, count)?;
    Ok(values::with_extents(vec![count], lifted))
}

/// Returns the slice of a dimension of extent `n`, checked to be in range.
pub(super) fn sliced(b: &mut Builder, bounds: [&Argument; 3], n: Atom) -> Result<SliceDimension> {
    let [begin, step, end] = bounds;
    let bounds = [begin.scalar()?, step.scalar()?, end.scalar()?];
    let (step, step_type) = bounds[1];
    check_step(b, step, step_type);
    let [begin, step, end] = bounds.map(|(atom, scalar)| bound_from(b, atom, scalar));
    let progression = Progression {
        begin,
        end,
        step,
        narrow: bounds
            .iter()
            .all(|(atom, scalar)| is_narrow(*atom, *scalar)),
    };
    let count = count(b, progression)?;
    check_slice(b, progression, count, n)?;
    let start = begin;
    Ok(SliceDimension { start, step, count })
}

/// Returns the start of a block of `count` elements in a dimension of extent `n`, checked to be in
/// range.
pub(super) fn block_start(b: &mut Builder, begin: &Argument, count: Atom, n: Atom) -> Result<Atom> {
    let (begin, scalar) = begin.scalar()?;
    let progression = Progression {
        begin: bound_from(b, begin, scalar),
        end: count,
        step: Atom::index(1),
        narrow: false,
    };
    check_slice(b, progression, count, n)?;
    Ok(progression.begin)
}

fn check_step(b: &mut Builder, step: Atom, scalar: Scalar) {
    let zero = literal_of(scalar, 0);
    if let Atom::Constant(value) = step
        && value.as_integer() != Some(0)
    {
        return;
    }
    let condition = b.scalar(ScalarOperation::NotEqual, scalar, vec![step, zero]);
    b.check(condition, ErrorKind::Step, Vec::new());
}

/// Returns the number of elements of a progression.
fn count(b: &mut Builder, p: Progression) -> Result<Atom> {
    match p.step.as_i64() {
        Some(step) if step > 0 => count_up(b, p.begin, p.end, p.step, p),
        Some(step) if step > i64::MIN => count_up(b, p.end, p.begin, Atom::index(-step), p),
        _ => {
            let up = b.compare(ScalarOperation::Greater, p.step, Atom::index(0));
            b.select(
                Scalar::I64,
                up,
                |b| count_up(b, p.begin, p.end, p.step, p),
                |b| {
                    let step = b.subtract(Atom::index(0), p.step);
                    count_up(b, p.end, p.begin, step, p)
                },
            )
        }
    }
}

/// Returns ⌈(high − low) / step⌉ or 0. The step is positive, or the smallest `i64`, which
/// represents its own negation.
fn count_up(b: &mut Builder, low: Atom, high: Atom, step: Atom, p: Progression) -> Result<Atom> {
    if p.narrow || (step == Atom::index(1) && low.as_i64().is_some_and(|l| l >= 0)) {
        if step == Atom::index(1) && p.narrow {
            let span = b.subtract(high, low);
            return Ok(b.maximum(span, Atom::index(0)));
        }
        let some = b.compare(ScalarOperation::Greater, high, low);
        return b.select(
            Scalar::I64,
            some,
            |b| {
                let span = b.subtract(high, low);
                if step == Atom::index(1) {
                    return Ok(span);
                }
                let before = b.subtract(span, Atom::index(1));
                let steps = b.divide(before, step);
                Ok(b.add(steps, Atom::index(1)))
            },
            |_| Ok(Atom::index(0)),
        );
    }
    let some = b.compare(ScalarOperation::Greater, high, low);
    b.select(
        Scalar::I64,
        some,
        |b| {
            let [low, high, step] = [low, high, step].map(|a| unsigned_from(b, a));
            let span = b.scalar(ScalarOperation::Subtract, Scalar::U64, vec![high, low]);
            steps(b, span, step)
        },
        |_| Ok(Atom::index(0)),
    )
}

/// Returns (span − 1) / step + 1 of `u64`, span ≥ 1, as an `i64`, at most the largest.
fn steps(b: &mut Builder, span: Atom, step: Atom) -> Result<Atom> {
    let one = literal_of(Scalar::U64, 1);
    let before = b.scalar(ScalarOperation::Subtract, Scalar::U64, vec![span, one]);
    let steps = b.scalar(ScalarOperation::Divide, Scalar::U64, vec![before, step]);
    let largest = literal_of(Scalar::U64, i64::MAX - 1);
    let least = b.scalar(ScalarOperation::Minimum, Scalar::U64, vec![steps, largest]);
    let count = index_from(b, least, Scalar::U64);
    Ok(b.add(count, Atom::index(1)))
}

fn count_unsigned(b: &mut Builder, begin: Atom, end: Atom, step: Atom) -> Result<Atom> {
    let operands = vec![end, begin];
    let some = b.scalar(ScalarOperation::Greater, Scalar::U64, operands.clone());
    b.select(
        Scalar::I64,
        some,
        |b| {
            let span = b.scalar(ScalarOperation::Subtract, Scalar::U64, operands);
            steps(b, span, step)
        },
        |_| Ok(Atom::index(0)),
    )
}

/// Checks that a progression of `count` numbers is in range. The error names the first that is not.
fn check_slice(b: &mut Builder, p: Progression, count: Atom, n: Atom) -> Result<()> {
    let some = b.compare(ScalarOperation::Greater, count, Atom::index(0));
    let then = b.body(|b| {
        check_index(b, p.begin, Scalar::I64, n);
        let steps = b.subtract(count, Atom::index(1));
        let distance = b.multiply(steps, p.step);
        let last = b.add(p.begin, distance);
        let inside = in_range(b, last, Scalar::I64, n);
        let outside = b.body(|b| fail_at_first_outside(b, p, n))?;
        b.emit(
            Vec::new(),
            Expression::If {
                condition: inside,
                then: Body::default(),
                otherwise: outside,
            },
        );
        Ok(Vec::new())
    })?;
    b.emit(
        Vec::new(),
        Expression::If {
            condition: some,
            then,
            otherwise: Body::default(),
        },
    );
    Ok(())
}

/// Fails for the first number outside 0..n of a progression that begins inside.
fn fail_at_first_outside(b: &mut Builder, p: Progression, n: Atom) -> Result<Vec<Atom>> {
    let up = b.compare(ScalarOperation::Greater, p.step, Atom::index(0));
    let inside = b.select(
        Scalar::I64,
        up,
        |b| {
            let last = b.subtract(n, Atom::index(1));
            let room = b.subtract(last, p.begin);
            Ok(b.divide(room, p.step))
        },
        |b| {
            let step = b.subtract(Atom::index(0), p.step);
            Ok(b.divide(p.begin, step))
        },
    )?;
    let steps = b.add(inside, Atom::index(1));
    let distance = b.multiply(steps, p.step);
    let first = b.add(p.begin, distance);
    let expression = Expression::Fail {
        error: ErrorKind::Index,
        arguments: vec![first, n],
    };
    b.emit(Vec::new(), expression);
    Ok(Vec::new())
}

/// True if the differences of such numbers are `i64`.
fn is_narrow(atom: Atom, scalar: Scalar) -> bool {
    match atom {
        Atom::Constant(value) => value
            .as_integer()
            .is_some_and(|v| v.unsigned_abs() < 1 << 32),
        Atom::Variable(_) => scalar.bits() <= 32,
    }
}
