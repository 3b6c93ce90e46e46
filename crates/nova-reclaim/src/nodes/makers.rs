//! The nodes that commands make, themselves and in the functions that they call.

use nova_core::SumId;
use nova_diag::deep;
use nova_loop::call_graph::called;
use nova_loop::ir::{Command, Expression, FunctionId, Program, TableCommand};
use nova_loop::walk::{each_command, reads};
use std::collections::BTreeSet;

/// Returns the sums whose nodes commands and the functions that they call make or read.
pub(super) fn used(program: &Program, commands: &[Command]) -> BTreeSet<SumId> {
    let mut found = BTreeSet::new();
    let mut see = |command: &Command| {
        if let Command::NodeNew { sum, .. } | Command::NodePayload { sum, .. } = command {
            found.insert(*sum);
        }
        reads(command, &mut |expression| tags(expression, &mut found));
    };
    each_command(commands, &mut see);
    for id in called(program, commands) {
        if let Some(function) = program.functions.get(id.index()) {
            each_command(&function.body, &mut see);
        }
    }
    found
}

/// Adds the sums whose nodes an expression reads.
fn tags(expression: &Expression, found: &mut BTreeSet<SumId>) {
    if let Expression::NodeTag { sum, .. } = expression {
        found.insert(*sum);
    }
    for child in expression.children() {
        deep(|| tags(child, found));
    }
}

/// The nodes that some commands make.
#[derive(Clone, Default)]
pub(super) struct Made {
    /// The sums of which nodes are appended or reserved.
    pub(super) sums: BTreeSet<SumId>,
    /// The sums of which places are reserved.
    reserved: BTreeSet<SumId>,
    /// The sums of which reserved places are filled.
    filled: BTreeSet<SumId>,
    /// True if a foreign function may append nodes.
    imports: bool,
}

impl Made {
    /// True if all nodes are appended, or reserved and filled, by the commands themselves.
    pub(super) fn is_complete(&self) -> bool {
        !self.imports && self.filled.is_subset(&self.reserved)
    }

    fn extend(&mut self, other: &Made) {
        self.sums.extend(&other.sums);
        self.reserved.extend(&other.reserved);
        self.filled.extend(&other.filled);
        self.imports |= other.imports;
    }
}

/// The nodes that functions make themselves, and the functions that each function calls.
pub(super) struct Makers {
    own: Vec<Made>,
    calls: Vec<BTreeSet<FunctionId>>,
}

impl Makers {
    pub(super) fn of(program: &Program) -> Makers {
        let functions = program.functions.iter();
        Makers {
            own: functions
                .clone()
                .map(|f| made_by(program, &f.body))
                .collect(),
            calls: functions
                .map(|f| called(program, &f.body).into_iter().collect())
                .collect(),
        }
    }

    /// Returns the nodes that commands make, and the functions that they call.
    pub(super) fn made(&self, program: &Program, commands: &[Command]) -> Made {
        let mut made = made_by(program, commands);
        let mut functions = BTreeSet::new();
        each_command(commands, |command| {
            if let Command::Call { function, .. } = command {
                functions.insert(*function);
                functions.extend(self.calls.get(function.index()).into_iter().flatten());
            }
        });
        for function in functions {
            if let Some(own) = self.own.get(function.index()) {
                made.extend(own);
            }
        }
        made
    }
}

/// Returns the nodes that commands themselves make.
fn made_by(program: &Program, commands: &[Command]) -> Made {
    let mut made = Made::default();
    each_command(commands, |command| match command {
        // Nodes that hold nothing are made once and for all.
        Command::NodeNew { payload, .. } if payload.is_empty() => {}
        Command::NodeNew { sum, .. } => {
            made.sums.insert(*sum);
        }
        Command::Table(TableCommand::Reserve { sum, .. }) => {
            made.sums.insert(*sum);
            made.reserved.insert(*sum);
        }
        Command::Table(TableCommand::Store { sum, .. }) => {
            made.filled.insert(*sum);
        }
        Command::Foreign { foreign, .. } => {
            let foreign = program.foreigns.get(*foreign as usize);
            made.imports |= foreign.is_none_or(|f| f.result.holds_links(&program.sums));
        }
        _others => {}
    });
    made
}
