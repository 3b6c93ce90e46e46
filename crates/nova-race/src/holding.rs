//! The blocks that nodes may hold, and the time from which they may. No node holds a new block until it is
//! given to one, so an array that is read from a node before that is another block ([`Walk::meet`]).

use crate::symbolic::Value;
use crate::walk::Walk;
use nova_loop::ir::Command;
use nova_loop::walk::each_command;

impl Walk<'_> {
    /// Records that nodes may hold from now on the blocks that a command gives them.
    pub(crate) fn hold(&mut self, command: &Command) {
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

    /// Records that nodes may already hold the results of a function that appends nodes.
    pub(crate) fn hold_results(&mut self, command: &Command) {
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

    /// Records the blocks that the body of a loop gives to nodes: in its later iterations nodes hold what
    /// earlier ones have given them.
    pub(crate) fn hold_all(&mut self, body: &[Command]) {
        each_command(body, |command| self.hold(command));
    }
}
