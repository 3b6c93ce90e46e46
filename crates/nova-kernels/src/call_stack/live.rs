//! Liveness of variables between basic blocks.

use super::basic_blocks::{BasicBlock, RETURN};
use nova_core::ScalarValue;
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Variable};
use nova_loop::walk::{reads, writes};
use std::collections::BTreeSet;

/// A set of variables.
pub(super) type Set = BTreeSet<Variable>;

/// Returns for each basic block the variables whose values it, or a later basic block, may need.
/// `state` is the variable with the number of the next basic block.
pub(super) fn needed(basic_blocks: &[BasicBlock], state: Variable) -> Vec<Set> {
    let mut needed = vec![Set::new(); basic_blocks.len()];
    loop {
        let mut grown = false;
        for (k, basic_block) in basic_blocks.iter().enumerate().rev() {
            let mut walk = Walk {
                needed: &needed,
                state,
                found: Set::new(),
            };
            let mut defined = Set::from([state]);
            if let Some((_, results)) = &basic_block.results {
                defined.extend(results);
            }
            walk.list(&basic_block.commands, &mut defined);
            basic_block.end.reads(&mut |e| walk.read(e, &defined));
            for next in basic_block.end.next() {
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

    /// Walks over commands. Returns whether their end can be reached.
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

    /// Walks over the branches of a conditional. The variables that all branches define are defined
    /// after it.
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

    /// Adds the variables that a command itself defines, and those that it uses.
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
