//! What a piece needs of what other pieces have assigned.

use super::basic_blocks::{Piece, RETURN};
use crate::ir::{Command, Expression, Variable};
use crate::walk::{reads, writes};
use nova_core::ScalarValue;
use nova_diag::deep;
use std::collections::BTreeSet;

/// Variables.
pub(super) type Set = BTreeSet<Variable>;

/// For each piece the variables whose values it, or a piece behind it, may need. `state` says which
/// piece comes next.
pub(super) fn needed(pieces: &[Piece], state: Variable) -> Vec<Set> {
    let mut needed = vec![Set::new(); pieces.len()];
    loop {
        let mut grown = false;
        for (k, piece) in pieces.iter().enumerate().rev() {
            let mut walk = Walk {
                needed: &needed,
                state,
                found: Set::new(),
            };
            let mut defined = Set::from([state]);
            if let Some((_, results)) = &piece.results {
                defined.extend(results);
            }
            walk.list(&piece.commands, &mut defined);
            piece.end.reads(&mut |e| walk.read(e, &defined));
            for next in piece.end.next() {
                walk.jump(next, &defined);
            }
            let found = walk.found;
            grown |= found.len() > needed[k].len();
            needed[k] = found;
        }
        if !grown {
            return needed;
        }
    }
}

struct Walk<'a> {
    needed: &'a [Set],
    state: Variable,
    found: Set,
}

impl Walk<'_> {
    fn read(&mut self, expression: &Expression, defined: &Set) {
        expression.each_variable(&mut |v| {
            if !defined.contains(&v) {
                self.found.insert(v);
            }
        });
    }

    fn jump(&mut self, next: usize, defined: &Set) {
        if next != RETURN
            && let Some(needed) = self.needed.get(next)
        {
            self.found.extend(needed.difference(defined));
        }
    }

    /// Goes through commands; gives whether their end can be reached.
    fn list(&mut self, commands: &[Command], defined: &mut Set) -> bool {
        for command in commands {
            reads(command, &mut |e| self.read(e, defined));
            self.names(command, defined);
            match command {
                Command::Break | Command::Continue | Command::Return | Command::Fail { .. } => {
                    return false;
                }
                Command::Assign {
                    variable,
                    value: Expression::Constant(ScalarValue::I32(next)),
                } if *variable == self.state => self.jump(*next as usize, defined),
                Command::If { .. } | Command::Switch { .. } if !self.ways(command, defined) => {
                    return false;
                }
                Command::For { body, .. } | Command::Loop { body, .. } => {
                    deep(|| self.list(body, &mut defined.clone()));
                }
                _others => {}
            }
        }
        true
    }

    /// Goes through the ways of a conditional; behind it is defined what all of them define.
    fn ways(&mut self, command: &Command, defined: &mut Set) -> bool {
        let mut met: Option<Set> = None;
        for list in command.lists() {
            let mut own = defined.clone();
            if deep(|| self.list(list, &mut own)) {
                met = Some(match met {
                    None => own,
                    Some(before) => before.intersection(&own).copied().collect(),
                });
            }
        }
        let goes_on = met.is_some();
        *defined = met.unwrap_or_default();
        goes_on
    }

    /// What a command itself names: what it defines, and what it uses.
    fn names(&mut self, command: &Command, defined: &mut Set) {
        match command {
            Command::Declare { .. }
            | Command::Assign { .. }
            | Command::Local { .. }
            | Command::Allocate { .. }
            | Command::For { .. }
            | Command::Call { .. }
            | Command::NodeNew { .. }
            | Command::NodePayload { .. } => writes(command, &mut |v| {
                defined.insert(v);
            }),
            Command::Buffer {
                pointer, pieces, ..
            } => {
                if !defined.contains(pieces) {
                    self.found.insert(*pieces);
                }
                defined.insert(*pointer);
            }
            others => writes(others, &mut |v| {
                if !defined.contains(&v) {
                    self.found.insert(v);
                }
            }),
        }
    }
}
