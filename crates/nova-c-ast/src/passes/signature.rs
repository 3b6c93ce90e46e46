//! Removes parameters of static functions that their bodies do not read, and the arguments for them:
//! above all the handles of the blocks of arguments, and the context of functions that cannot fail.

use crate::ast::{Block, Expression, Functions, Name, Program};
use crate::passes::prune::prune;
use nova_diag::deep;
use std::collections::{HashMap, HashSet};

/// Removes what functions of the host and of a device do not read.
pub fn run(program: &mut Program) {
    prune_all(&mut program.host);
    prune_all(&mut program.device);
}

/// Prunes functions in their order: callees before their callers where there is no cycle.
fn prune_all(functions: &mut Functions) {
    let mut signatures = Signatures::default();
    for function in &mut functions.list {
        if let Some(body) = &mut function.body {
            signatures.block(body);
        }
        // Calls before the function, or inside it, pass all arguments.
        let may_go =
            functions.own.contains(&function.name) && !signatures.called.contains(&function.name);
        let unread = prune(function, may_go);
        if may_go {
            let mut flags = unread.iter();
            function
                .parameters
                .retain(|_| !flags.next().is_some_and(|unread| *unread));
            signatures.gone.insert(function.name.clone(), unread);
        }
    }
}

#[derive(Default)]
struct Signatures {
    /// The functions that are done; `true` for parameters that are removed.
    gone: HashMap<Name, Vec<bool>>,
    /// The functions that were called before they were done.
    called: HashSet<Name>,
}

impl Signatures {
    fn block(&mut self, block: &mut Block) {
        for statement in &mut block.0 {
            for expression in statement.expressions_mut() {
                self.expression(expression);
            }
            for inner in statement.blocks_mut() {
                deep(|| self.block(inner));
            }
        }
    }

    fn expression(&mut self, expression: &mut Expression) {
        if let Expression::Call(name, arguments) = expression {
            match self.gone.get(name) {
                Some(gone) => {
                    let mut flags = gone.iter();
                    arguments.retain(|_| !flags.next().is_some_and(|gone| *gone));
                }
                None => {
                    self.called.insert(name.clone());
                }
            }
        }
        for operand in expression.operands_mut() {
            deep(|| self.expression(operand));
        }
    }
}
