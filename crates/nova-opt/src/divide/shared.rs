//! What belongs to a whole call of the program, so that threads cannot share it: the tables to which
//! nodes of recursive data are appended.

use nova_flat::ir::{Body, Expression, FunctionId, Program};
use nova_flat::visit::each_statement;
use std::collections::BTreeSet;

/// The functions that append nodes to tables, by themselves or by those that they call.
pub(super) struct NodeMakers(BTreeSet<FunctionId>);

impl NodeMakers {
    pub(super) fn new(program: &Program) -> NodeMakers {
        let mut callers = vec![Vec::new(); program.functions.len()];
        let mut left = Vec::new();
        for (k, function) in program.functions.iter().enumerate() {
            let caller = FunctionId(k as u32);
            each_statement(
                &function.body,
                &mut |statement| match &statement.expression {
                    Expression::NodeNew { .. } => left.push(caller),
                    Expression::Call { function, .. } => {
                        if let Some(callers) = callers.get_mut(function.index()) {
                            callers.push(caller);
                        }
                    }
                    _others_make_none => {}
                },
            );
        }
        let mut found = BTreeSet::new();
        while let Some(function) = left.pop() {
            if found.insert(function)
                && let Some(callers) = callers.get(function.index())
            {
                left.extend(callers);
            }
        }
        NodeMakers(found)
    }

    /// Whether running a body may append nodes.
    pub(super) fn may_run_in(&self, body: &Body) -> bool {
        let mut found = false;
        each_statement(body, &mut |statement| {
            found |= match &statement.expression {
                Expression::NodeNew { .. } => true,
                Expression::Call { function, .. } => self.0.contains(function),
                _others_make_none => false,
            };
        });
        found
    }
}
