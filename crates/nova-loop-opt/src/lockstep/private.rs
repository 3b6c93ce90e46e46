//! Arrays that are private to a lane: those that an iteration makes for itself and reads and writes element by
//! element. There is one block for all lanes, in which the elements of an index lie side by side.

use super::block::Block;
use super::varying::reads;
use crate::limits::BYTES_OF_LANES;
use crate::strip_mining::memory::Memory;
use nova_loop::ir::{Command, Expression, Type, Variable};
use nova_loop::walk;
use std::collections::BTreeSet;

/// Returns the pointers to arrays that commands make, to each of which no other pointer leads.
pub(super) fn arrays(memory: &Memory, body: &[Command]) -> BTreeSet<Variable> {
    let mut found = BTreeSet::new();
    walk::each_command(body, |command| match command {
        Command::Allocate {
            pointer,
            destination: None,
            ..
        } if memory.is_own(*pointer) => {
            found.insert(*pointer);
        }
        Command::Local { pointer, .. } if memory.is_local(*pointer) => {
            found.insert(*pointer);
        }
        _others => {}
    });
    found
}

impl Block<'_> {
    /// Adds a command that makes an array for all lanes, or frees it.
    pub(super) fn room(&mut self, command: &Command) -> Option<()> {
        let mut command = command.clone();
        let width = self.width;
        match &mut command {
            Command::Allocate { count, pointer, .. } => {
                if !self.private.contains(pointer) || reads(&self.varying, count) {
                    return None;
                }
                let one = std::mem::replace(count, Expression::index(0));
                *count = self.for_some_lane(one.times(Expression::index(width)));
            }
            Command::Local { count, pointer } => {
                let lanes = i64::from(*count).checked_mul(width)?;
                let Type::Pointer(scalar) = self.program.variable(*pointer).ty else {
                    return None;
                };
                if lanes * i64::from(scalar.bits() / 8) > BYTES_OF_LANES {
                    return None;
                }
                *count = u32::try_from(lanes).ok()?;
            }
            _release => self.end_group(),
        }
        self.made.push(command);
        Some(())
    }

    /// Returns a number that some lane needs, or 0 if no lane runs the command: then it may be no number.
    fn for_some_lane(&mut self, number: Expression) -> Expression {
        let Some(mask) = self.mask() else {
            return number;
        };
        let none = self.end_group_with_any(mask);
        Expression::Select {
            condition: Box::new(none),
            then: Box::new(Expression::index(0)),
            otherwise: Box::new(number),
        }
    }

    /// Returns the place of an index in a private array, for the lane.
    pub(super) fn place_of(&self, pointer: Variable, index: Expression) -> Expression {
        match self.private.contains(&pointer) {
            true => {
                let lane = Expression::Variable(self.lane);
                index.times(Expression::index(self.width)).plus(lane)
            }
            false => index,
        }
    }
}
