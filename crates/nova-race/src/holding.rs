//! The blocks that nodes may hold, and the time from which they may. No node holds a new block until it is
//! given to one, so an array that is read from a node before that is another block ([`Bases::meet`]).

use crate::bases::Bases;
use crate::state::State;
use crate::symbolic::Value;
use nova_loop::ir::Command;
use nova_loop::walk::each_command;

/// Records that nodes may hold from now on the blocks that a command gives them.
pub(crate) fn hold(bases: &mut Bases, command: &Command) {
    let given = bases.blocks.given_to_nodes(command);
    if given.is_empty() {
        return;
    }
    let now = bases.infos.len();
    for info in &mut bases.infos {
        if bases.blocks.meet(&given, &info.roots) {
            info.held.get_or_insert(now);
        }
    }
}

/// Records that nodes may already hold the results of a function that appends nodes.
pub(crate) fn hold_results(state: &mut State, command: &Command) {
    let Command::Call {
        function, results, ..
    } = command
    else {
        return;
    };
    if !state.bases.blocks.appends(*function) {
        return;
    }
    for result in results {
        if let Some(Value::Spots(spots)) = state.values.get(result) {
            for spot in spots {
                state.bases[spot.base].held = Some(0);
            }
        }
    }
}

/// Records the blocks that the body of a loop gives to nodes: in its later iterations nodes hold what
/// earlier ones have given them.
pub(crate) fn hold_all(bases: &mut Bases, body: &[Command]) {
    each_command(body, |command| hold(bases, command));
}
