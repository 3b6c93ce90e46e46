//! `range` and `slice`: arithmetic progressions, counted without overflow.

use super::Argument;
use crate::builder::{Lowerer, constant};
use crate::error::Result;
use crate::values::Vector;
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

impl Lowerer<'_> {
    pub(super) fn range(&mut self, [begin, step, end]: &[Argument; 3]) -> Result<Vec<Atom>> {
        let (begin, scalar) = begin.scalar()?;
        let (end, _) = end.scalar()?;
        let (step, _) = step.scalar()?;
        self.check_step(step, scalar);
        let length = match scalar {
            Scalar::U64 => self.count_unsigned(begin, end, step)?,
            Scalar::I8
            | Scalar::I16
            | Scalar::I32
            | Scalar::I64
            | Scalar::U8
            | Scalar::U16
            | Scalar::U32
            | Scalar::F32
            | Scalar::F64
            | Scalar::Bool => {
                let narrow = [begin, end, step].iter().all(|a| is_narrow(*a, scalar));
                let progression = Progression {
                    begin: self.index_from(begin, scalar),
                    end: self.index_from(end, scalar),
                    step: self.index_from(step, scalar),
                    narrow,
                };
                self.count(progression)?
            }
        };
        let length = self.check_longest(length, scalar);
        let expression = Expression::Iota {
            count: length,
            start: begin,
            step,
        };
        let numbers = self.bind_array("range", scalar, vec![length], expression);
        Ok(vec![length, numbers])
    }

    pub(super) fn slice_builtin(
        &mut self,
        [begin, step, end, x]: &[Argument; 4],
    ) -> Result<Vec<Atom>> {
        let x = x.vector()?;
        let SliceDimension { start, step, count } = self.sliced([begin, step, end], x.length)?;
        let lifted = self.slice(&x.element, &x.lifted, start, step, count)?;
        let vector = Vector {
            length: count,
            element: x.element,
            lifted,
        };
        Ok(vector.atoms())
    }

    /// Returns the slice of a dimension of extent `n`, checked to be in range.
    pub(super) fn sliced(&mut self, bounds: [&Argument; 3], n: Atom) -> Result<SliceDimension> {
        let [begin, step, end] = bounds;
        let bounds = [begin.scalar()?, step.scalar()?, end.scalar()?];
        let (step, step_type) = bounds[1];
        self.check_step(step, step_type);
        let [begin, step, end] = bounds.map(|(atom, scalar)| self.bound_from(atom, scalar));
        let progression = Progression {
            begin,
            end,
            step,
            narrow: bounds
                .iter()
                .all(|(atom, scalar)| is_narrow(*atom, *scalar)),
        };
        let count = self.count(progression)?;
        self.check_slice(progression, count, n)?;
        let start = begin;
        Ok(SliceDimension { start, step, count })
    }

    /// Returns the start of a block of `count` elements in a dimension of extent `n`, checked to be in
    /// range.
    pub(super) fn block_start(&mut self, begin: &Argument, count: Atom, n: Atom) -> Result<Atom> {
        let (begin, scalar) = begin.scalar()?;
        let progression = Progression {
            begin: self.bound_from(begin, scalar),
            end: count,
            step: Atom::index(1),
            narrow: false,
        };
        self.check_slice(progression, count, n)?;
        Ok(progression.begin)
    }

    fn check_step(&mut self, step: Atom, scalar: Scalar) {
        let zero = Self::literal_of(scalar, 0);
        if let Atom::Constant(value) = step
            && value.as_integer() != Some(0)
        {
            return;
        }
        let condition = self.scalar(ScalarOperation::NotEqual, scalar, vec![step, zero]);
        self.check(condition, ErrorKind::Step, Vec::new());
    }

    /// Returns the number of elements of a progression.
    fn count(&mut self, p: Progression) -> Result<Atom> {
        match constant(p.step) {
            Some(step) if step > 0 => self.count_up(p.begin, p.end, p.step, p),
            Some(step) if step > i64::MIN => self.count_up(p.end, p.begin, Atom::index(-step), p),
            _ => {
                let up = self.compare(ScalarOperation::Greater, p.step, Atom::index(0));
                self.select(
                    Scalar::I64,
                    up,
                    |b| b.count_up(p.begin, p.end, p.step, p),
                    |b| {
                        let step = b.subtract(Atom::index(0), p.step);
                        b.count_up(p.end, p.begin, step, p)
                    },
                )
            }
        }
    }

    /// Returns ⌈(high − low) / step⌉ or 0. The step is positive, or the smallest `i64`, which
    /// represents its own negation.
    fn count_up(&mut self, low: Atom, high: Atom, step: Atom, p: Progression) -> Result<Atom> {
        if p.narrow || (step == Atom::index(1) && constant(low).is_some_and(|l| l >= 0)) {
            if step == Atom::index(1) && p.narrow {
                let span = self.subtract(high, low);
                return Ok(self.maximum(span, Atom::index(0)));
            }
            let some = self.compare(ScalarOperation::Greater, high, low);
            return self.select(
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
        let some = self.compare(ScalarOperation::Greater, high, low);
        self.select(
            Scalar::I64,
            some,
            |b| {
                let [low, high, step] = [low, high, step].map(|a| b.unsigned_from(a));
                let span = b.scalar(ScalarOperation::Subtract, Scalar::U64, vec![high, low]);
                b.steps(span, step)
            },
            |_| Ok(Atom::index(0)),
        )
    }

    /// Returns (span − 1) / step + 1 of `u64`, span ≥ 1, as an `i64`, at most the largest.
    fn steps(&mut self, span: Atom, step: Atom) -> Result<Atom> {
        let one = Self::literal_of(Scalar::U64, 1);
        let before = self.scalar(ScalarOperation::Subtract, Scalar::U64, vec![span, one]);
        let steps = self.scalar(ScalarOperation::Divide, Scalar::U64, vec![before, step]);
        let largest = Self::literal_of(Scalar::U64, i64::MAX - 1);
        let least = self.scalar(ScalarOperation::Minimum, Scalar::U64, vec![steps, largest]);
        let count = self.index_from(least, Scalar::U64);
        Ok(self.add(count, Atom::index(1)))
    }

    fn count_unsigned(&mut self, begin: Atom, end: Atom, step: Atom) -> Result<Atom> {
        let operands = vec![end, begin];
        let some = self.scalar(ScalarOperation::Greater, Scalar::U64, operands.clone());
        self.select(
            Scalar::I64,
            some,
            |b| {
                let span = b.scalar(ScalarOperation::Subtract, Scalar::U64, operands);
                b.steps(span, step)
            },
            |_| Ok(Atom::index(0)),
        )
    }

    /// Checks that a progression of `count` numbers is in range. The error names the first that is not.
    fn check_slice(&mut self, p: Progression, count: Atom, n: Atom) -> Result<()> {
        let some = self.compare(ScalarOperation::Greater, count, Atom::index(0));
        let then = self.body(|b| {
            b.check_index(p.begin, Scalar::I64, n);
            let steps = b.subtract(count, Atom::index(1));
            let distance = b.multiply(steps, p.step);
            let last = b.add(p.begin, distance);
            let inside = b.in_range(last, Scalar::I64, n);
            let outside = b.body(|b| b.fail_at_first_outside(p, n))?;
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
        self.emit(
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
    fn fail_at_first_outside(&mut self, p: Progression, n: Atom) -> Result<Vec<Atom>> {
        let up = self.compare(ScalarOperation::Greater, p.step, Atom::index(0));
        let inside = self.select(
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
        let steps = self.add(inside, Atom::index(1));
        let distance = self.multiply(steps, p.step);
        let first = self.add(p.begin, distance);
        let expression = Expression::Fail {
            error: ErrorKind::Index,
            arguments: vec![first, n],
        };
        self.emit(Vec::new(), expression);
        Ok(Vec::new())
    }
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
