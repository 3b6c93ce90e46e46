//! The stable bottom-up merge sort of docs/order.md. It sorts indices in two buffers.

use crate::terms::Term;
use crate::translator::{INDEX, Result, Translator};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::ir::{Command, Expression, Type, Variable};

/// The variables of a sort.
struct Sort {
    count: Expression,
    /// The width of the sorted runs.
    width: Variable,
    from: Variable,
    to: Variable,
    place: Place,
}

/// The variables of a merge: the next elements of the left and the right run, and the ends of the runs.
struct Merge {
    first: Variable,
    left: Variable,
    middle: Variable,
    right: Variable,
    last: Variable,
}

impl<'a> Translator<'a> {
    /// Sorts the indices 0..count.
    pub(crate) fn sort(
        &mut self,
        pattern: flat::Variable,
        count: flat::Atom,
        compare: &'a flat::Lambda,
        place: &Place,
    ) -> Result<()> {
        let count = self.simple(count)?;
        let to = self.destination(pattern, count.clone(), place)?;
        self.flush_loads()?;
        let result = self.pointer_to(pattern)?;
        let pointer = Type::Pointer(Scalar::I64);
        let from = self.declare("from", pointer, result.clone());
        self.each_index(std::slice::from_ref(&count), place, |this, indices| {
            let index = indices.into_iter().next().unwrap_or(Expression::index(0));
            this.store_at(from, index.clone(), index);
            Ok(())
        })?;
        let scratch = self.add_variable("scratch", pointer);
        let scratch_block = self.add_variable("scratch_block", Type::Block);
        self.allocate_here(scratch, scratch_block, count.clone(), None, place)?;
        let sort = Sort {
            count: count.clone(),
            width: self.declare("width", INDEX, Expression::index(1)),
            from,
            to: self.declare("to", pointer, Expression::Variable(scratch)),
            place: place.clone(),
        };
        let away = self.declare(
            "in_scratch",
            Type::Scalar(Scalar::Bool),
            Expression::bool(false),
        );
        let (code, ()) = self.nested(|this| this.sort_pass(&sort, away, compare))?;
        let place = place.clone();
        self.emit(Command::Loop { body: code, place });
        self.when(Expression::Variable(away), |this| {
            this.flush_conflicts(to.block)?;
            this.emit(Command::Copy {
                to: result,
                from: Expression::Variable(scratch),
                element: Scalar::I64,
                count,
            });
            Ok(())
        })?;
        self.emit(Command::Release(scratch_block));
        Ok(())
    }

    fn store_at(&mut self, pointer: Variable, index: Expression, value: Expression) {
        self.emit(Command::Store {
            pointer,
            index,
            value,
        });
    }

    /// Leaves the loop if a variable has reached the count.
    fn leave_at_count(&mut self, sort: &Sort, variable: Variable) -> Result<()> {
        let done = Expression::Variable(variable);
        let done = done.compare(ScalarOperation::GreaterEqual, sort.count.clone());
        self.when(done, |this| {
            this.emit(Command::Break);
            Ok(())
        })
    }

    /// Merges all pairs of runs, then swaps the buffers.
    fn sort_pass(&mut self, sort: &Sort, away: Variable, compare: &'a flat::Lambda) -> Result<()> {
        self.leave_at_count(sort, sort.width)?;
        let first = self.declare("first", INDEX, Expression::index(0));
        let (code, ()) = self.nested(|this| this.sort_pair(sort, first, compare))?;
        self.emit(Command::Loop {
            body: code,
            place: sort.place.clone(),
        });
        let from = (sort.from, Expression::Variable(sort.to));
        let to = (sort.to, Expression::Variable(sort.from));
        self.assign_together(vec![from, to]);
        self.assign(away, Expression::Variable(away).negated());
        let twice = Expression::Variable(sort.width).times(Expression::index(2));
        self.assign(sort.width, twice);
        Ok(())
    }

    /// Merges the two runs that start at `first`.
    fn sort_pair(&mut self, sort: &Sort, first: Variable, compare: &'a flat::Lambda) -> Result<()> {
        self.leave_at_count(sort, first)?;
        let variable = Expression::Variable;
        let end = |from: Variable| {
            let end = variable(from).plus(variable(sort.width));
            end.compare(ScalarOperation::Minimum, sort.count.clone())
        };
        let middle = self.declare("middle", INDEX, end(first));
        let merge = Merge {
            first,
            middle,
            last: self.declare("last", INDEX, end(middle)),
            left: self.declare("left", INDEX, variable(first)),
            right: self.declare("right", INDEX, variable(middle)),
        };
        let length = variable(merge.last).minus(variable(first));
        self.each_index(&[length], &sort.place, |this, indices| {
            let index = indices.into_iter().next().unwrap_or(Expression::index(0));
            this.merge_step(sort, &merge, index, compare)
        })?;
        self.assign(first, variable(merge.last));
        Ok(())
    }

    /// Takes the next index: the right one only if the left one may not come before it.
    fn merge_step(
        &mut self,
        sort: &Sort,
        merge: &Merge,
        index: Expression,
        compare: &'a flat::Lambda,
    ) -> Result<()> {
        let variable = Expression::Variable;
        let take_left = self.declare(
            "take_left",
            Type::Scalar(Scalar::Bool),
            variable(merge.left).compare(ScalarOperation::Less, variable(merge.middle)),
        );
        let both = variable(merge.right).compare(ScalarOperation::Less, variable(merge.last));
        let both = variable(take_left).and(both);
        self.when(both, |this| {
            let left = Expression::load(sort.from, variable(merge.left));
            let right = Expression::load(sort.from, variable(merge.right));
            let arguments = [left, right].into_iter().map(|value| Term {
                size: 3,
                ..Term::new(value)
            });
            this.apply_to(compare, arguments.collect(), &[take_left])
        })?;
        let at = variable(merge.first).plus(index);
        let take = |source: Variable| {
            let at = at.clone();
            move |this: &mut Self| {
                this.store_at(sort.to, at, Expression::load(sort.from, variable(source)));
                this.assign(source, variable(source).plus(Expression::index(1)));
                Ok(())
            }
        };
        self.choose(variable(take_left), take(merge.left), take(merge.right))
    }
}
