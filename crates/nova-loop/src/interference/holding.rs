//! Which blocks nodes may hold, and from when on. A new block is held by none until it is given to one,
//! so what is read from a node before that is another block ([`Walk::meet`]).

use super::values::Value;
use super::walk::Walk;
use crate::ir::Command;
use crate::walk::each_command;

impl Walk<'_> {
    /// Nodes may hold from now on what a command gives them.
    pub(super) fn hold(&mut self, command: &Command) {
        let given = self.blocks.given_to_nodes(command);
        if given.is_empty() {
            return;
        }
        let now = self.bases.len();
        for info in &mut self.bases {
            if self.blocks.meet(&given, &info.roots) {
                info.held.get_or_insert(now);
            }
        }
    }

    /// The same of what a function gives that appends nodes: they may hold it already.
    pub(super) fn hold_results(&mut self, command: &Command) {
        let Command::Call {
            function, results, ..
        } = command
        else {
            return;
        };
        if !self.blocks.appends(*function) {
            return;
        }
        for result in results {
            if let Some(Value::Spots(spots)) = self.values.get(result) {
                for spot in spots {
                    self.bases[spot.base.index()].held = Some(0);
                }
            }
        }
    }

    /// The same of a loop, in whose later rounds they hold what earlier ones give them.
    pub(super) fn hold_all(&mut self, body: &[Command]) {
        each_command(body, |command| self.hold(command));
    }
}
