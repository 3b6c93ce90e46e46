//! Reductions of few elements inside other loops. There the lanes of [`super::lanes`] cost more than
//! they save, and so do branches on the number of elements, which nobody can predict when it is
//! another in each round. So a loop looks at the number once, and takes few elements another way.

use super::lanes::RowLoops;
use super::operation::{Filling, Rows};
use super::prefetch::Ahead;
use super::{INDEX, Result, Translator};
use crate::ir::{Command, Expression, Level};
use nova_core::ScalarOperation;

/// No more elements than this are few.
const FEW: i64 = 64;
/// What few elements with checks read ahead: more would cost more than it saves.
const AHEAD_OF_CHECKS: Ahead = Ahead {
    elements: 32,
    most_lines: 2,
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
        if !filling.folds_few {
            return many(self, rows);
        }
        let (few, ()) = self.nested(|this| this.fold_few(rows, count))?;
        let (many, ()) = self.nested(|this| many(this, rows))?;
        let limit = Expression::index(FEW);
        self.emit(Command::If {
            condition: count.clone().compare(ScalarOperation::LessEqual, limit),
            then: few,
            otherwise: many,
        });
        Ok(())
    }

    /// Folds elements from left to right: one loop, the end of which is the only branch that depends
    /// on their number. The additions of one round overlap with what the next ones read.
    fn fold_few(&mut self, rows: &mut RowLoops<'a>, count: &Expression) -> Result<()> {
        let index = self.add_variable(self.name(rows.index), INDEX);
        let (body, ()) = self.nested(|this| this.element_of_row(rows, Rows::Alone, index))?;
        let place = rows.space.place.clone();
        let start = Expression::index(0);
        self.prefetch_row(&body, index, &start, AHEAD_OF_CHECKS, &place);
        self.emit(Command::For {
            variable: index,
            count: count.clone(),
            level: Level::Sequential,
            body,
            place,
        });
        Ok(())
    }
}
