//! Loops that change the elements of an array in place.

use nova_loop::ir::{Command, Expression, Variable};
use nova_loop::walk;

/// True if a loop's iterations write the elements of one array with the index of the loop, and read no other
/// memory than these elements, each before it is written. So the iterations of a strip may read all of them
/// before one is written.
pub(super) fn changes_one_array(body: &[Command], index: Variable) -> bool {
    let mut written = None;
    for command in body {
        if let (Some(_), Command::Store { .. }) = (written, command) {
            return false;
        }
        if let Command::Store {
            pointer, index: i, ..
        } = command
        {
            if *i != Expression::Variable(index) {
                return false;
            }
            written = Some(*pointer);
        }
    }
    let Some(array) = written else {
        return false;
    };
    let mut is_done = false;
    body.iter().all(|command| {
        let mut suits = true;
        walk::reads(command, &mut |e| {
            suits &= reads_only(e, array, index) && (!is_done || !e.reads_memory());
        });
        is_done |= matches!(command, Command::Store { .. });
        suits
    })
}

/// True if an expression reads no memory but the elements of an array with this index.
fn reads_only(expression: &Expression, array: Variable, index: Variable) -> bool {
    let itself = match expression {
        Expression::Load { pointer, index: i } => {
            **pointer == Expression::Variable(array) && **i == Expression::Variable(index)
        }
        Expression::NodeTag { .. } => false,
        _others => true,
    };
    let mut children = expression.children().into_iter();
    itself && children.all(|e| nova_diag::deep(|| reads_only(e, array, index)))
}
