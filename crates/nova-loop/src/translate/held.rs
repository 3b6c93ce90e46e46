//! Filters that may not write behind what they have kept: threads fill one array, and what stands behind is
//! another's. Pieces of the indices are filtered to local arrays, where there is room for all of them, without
//! a branch that a processor would predict wrongly; what a piece has kept is stored behind what those before
//! it have.
//!
//! ```text
//! for piece in n / 512 {
//!   held = 0
//!   for i in piece { local[held] = x; held = held + (c ? 1 : 0) }
//!   for k in held { kept[count] = local[k]; count = count + 1 }
//! }
//! ```

use super::outputs::Output;
use super::stored::{binary, quotient_up};
use super::{INDEX, Result, Translator};
use crate::Machine;
use crate::ir::{Command, Expression, Level, Type, Variable};
use nova_core::ScalarOperation;
use nova_diag::Place;
use nova_flat::ir as flat;

/// The number of indices of a piece.
const PIECE: u32 = 512;

/// Operations that keep more arrays than this have branches: pieces of so many would not stay in the cache.
const MOST_ARRAYS: usize = 4;

/// The place where a filter stores.
pub(super) enum Keeping {
    /// The array, for what is kept, behind a branch.
    Kept,
    /// The array, for all, since there is room for what is not kept, too.
    All,
    /// Local arrays, for all.
    Held(Held),
}

/// The elements that a piece has kept so far.
pub(super) struct Held {
    /// The local arrays.
    pub(super) locals: Vec<Variable>,
    /// The number of their elements.
    pub(super) count: Variable,
}

/// True of an output that is kept in local arrays first.
pub(super) fn is_held(output: &Output) -> bool {
    matches!(
        output,
        Output::Filter {
            keeping: Keeping::Held(_),
            ..
        }
    )
}

impl<'a> Translator<'a> {
    /// Has an operation of filters alone keep what it keeps in local arrays first, if it would take branches.
    pub(super) fn hold(
        &mut self,
        operation: &flat::ArrayOperation,
        outputs: &mut [Output<'a>],
    ) -> Result<()> {
        let is_short = |extent: &flat::Atom| match extent {
            flat::Atom::Constant(extent) => extent.as_integer() < Some(PIECE.into()),
            flat::Atom::Variable(_) => false,
        };
        let is_loop = self.machine == Machine::Processor
            && operation.level == flat::Level::Sequential
            && operation.carries.is_empty()
            && matches!(&operation.shape[..], [extent] if !is_short(extent));
        let arrays_kept = |output: &Output| match output {
            Output::Filter {
                arrays,
                keeping: Keeping::Kept,
                ..
            } => Some(arrays.len()),
            _others => None,
        };
        let kept = outputs.iter().map(arrays_kept).sum::<Option<usize>>();
        if !is_loop || !kept.is_some_and(|kept| (1..=MOST_ARRAYS).contains(&kept)) {
            return Ok(());
        }
        for output in outputs {
            if let Output::Filter {
                arrays, keeping, ..
            } = output
            {
                let mut locals = Vec::with_capacity(arrays.len());
                for array in *arrays {
                    let element = self.info(*array)?.ty.element();
                    locals.push(self.add_variable("held", Type::Pointer(element)));
                }
                let count = self.add_variable("held", INDEX);
                *keeping = Keeping::Held(Held { locals, count });
            }
        }
        Ok(())
    }

    /// Stores a value into each local array.
    pub(super) fn store_local(
        &mut self,
        locals: &[Variable],
        index: &Expression,
        values: &[flat::Atom],
    ) -> Result<()> {
        for (local, value) in locals.iter().zip(values) {
            let value = self.scalar(*value)?;
            self.emit(Command::Store {
                pointer: *local,
                index: index.clone(),
                value,
            });
        }
        Ok(())
    }

    /// Writes a loop around the code of a round, and behind the rounds of a piece what stores the elements
    /// that it has kept.
    pub(super) fn wrap_in_pieces(
        &mut self,
        outputs: &[Output<'a>],
        (extent, index): (&Expression, Variable),
        code: Vec<Command>,
        place: &Place,
    ) -> Result<()> {
        let width = || Expression::index(PIECE.into());
        let [piece, first, own] =
            ["piece", "first", "own"].map(|name| self.add_variable(name, INDEX));
        let begin = Expression::Variable(first);
        let mut round = vec![Command::declare(
            index,
            begin.clone().plus(Expression::Variable(own)),
        )];
        round.extend(code);
        let start = Expression::Variable(piece).times(width());
        let mut body = vec![Command::declare(first, start)];
        let mut stores = Vec::with_capacity(outputs.len());
        for output in outputs {
            let Output::Filter {
                count,
                arrays,
                keeping: Keeping::Held(held),
            } = output
            else {
                continue;
            };
            body.extend(held.locals.iter().map(|local| Command::Local {
                pointer: *local,
                count: PIECE,
            }));
            body.push(Command::declare(held.count, Expression::index(0)));
            stores.push(self.store_held(held, *count, arrays, place)?);
        }
        let left = binary(
            ScalarOperation::Minimum,
            extent.clone().minus(begin),
            width(),
        );
        body.push(in_order(own, left, round, place));
        body.append(&mut stores);
        let pieces = quotient_up(extent.clone(), width());
        self.emit(in_order(piece, pieces, body, place));
        Ok(())
    }

    /// The loop that stores what a piece has kept behind what has been kept before.
    fn store_held(
        &mut self,
        held: &Held,
        kept: Variable,
        arrays: &'a [flat::Variable],
        place: &Place,
    ) -> Result<Command> {
        let from = self.add_variable("k", INDEX);
        let (body, ()) = self.nested(|this| {
            let at = Expression::Variable(kept);
            for (array, local) in arrays.iter().zip(&held.locals) {
                let place = this.place(*array)?;
                let value = Expression::load(*local, Expression::Variable(from));
                this.store(place, vec![at.clone()], value)?;
            }
            // One by one, as the checker of races and that of parts know it.
            this.assign(kept, at.plus(Expression::index(1)));
            Ok(())
        })?;
        Ok(in_order(
            from,
            Expression::Variable(held.count),
            body,
            place,
        ))
    }
}

fn in_order(variable: Variable, count: Expression, body: Vec<Command>, place: &Place) -> Command {
    Command::For {
        variable,
        count,
        level: Level::Sequential,
        body,
        place: place.clone(),
    }
}
