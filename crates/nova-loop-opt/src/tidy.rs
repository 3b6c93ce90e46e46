//! Dead-code elimination after the translation of Mem. It removes scalar and pointer variables that are never
//! read, and the conditionals and loops that this leaves empty. Commands with side effects stay.

use crate::limits::TIDY_ITERATIONS;
use nova_diag::deep;
use nova_loop::functions::each_function;
use nova_loop::ir::{Command, Expression, Function, Program, Type, Variable};
use nova_loop::walk;

/// Removes unused variables from all functions.
pub fn run(program: &mut Program) {
    let mut uses = Uses {
        live: vec![false; program.variables.len()],
        definitions: vec![Vec::new(); program.variables.len()],
        work: Vec::new(),
        seen: Vec::new(),
    };
    each_function(program, |program, function| {
        // An iteration can only empty conditionals that enclosed what the last one removed; few do.
        for _ in 0..TIDY_ITERATIONS {
            if !tidy_function(program, function, &mut uses) {
                break;
            }
        }
    });
}

/// Runs one iteration. Returns true if it removed a conditional or a loop.
fn tidy_function(program: &Program, function: &mut Function, uses: &mut Uses) -> bool {
    uses.forget();
    for result in &function.results {
        uses.need(*result);
    }
    uses.list(&function.body, program);
    while let Some(variable) = uses.work.pop() {
        let definitions = std::mem::take(&mut uses.definitions[variable.index()]);
        definitions.into_iter().for_each(|read| uses.need(read));
    }
    let mut removed = false;
    sweep(&mut function.body, &uses.live, &mut removed);
    removed
}

/// The variables that are needed. All functions share it, since its tables are as long as the program.
struct Uses {
    live: Vec<bool>,
    /// The variables that the definitions of each variable read.
    definitions: Vec<Vec<Variable>>,
    work: Vec<Variable>,
    /// The variables with entries in the tables.
    seen: Vec<Variable>,
}

impl Uses {
    /// Resets the tables.
    fn forget(&mut self) {
        for variable in self.seen.drain(..) {
            self.live[variable.index()] = false;
            self.definitions[variable.index()].clear();
        }
    }

    fn need(&mut self, variable: Variable) {
        if !std::mem::replace(&mut self.live[variable.index()], true) {
            self.work.push(variable);
            self.seen.push(variable);
        }
    }

    fn read(&mut self, expression: &Expression) {
        expression.each_variable(&mut |v| self.need(v));
    }

    fn define(&mut self, variable: Variable, value: &Expression, program: &Program) {
        // References are counted through handles, so all handles stay.
        if program.variable(variable).ty == Type::Block {
            self.need(variable);
        }
        self.seen.push(variable);
        let definitions = &mut self.definitions[variable.index()];
        value.each_variable(&mut |read| definitions.push(read));
    }

    fn list(&mut self, commands: &[Command], program: &Program) {
        for command in commands {
            match command {
                Command::Declare { variable, value } => {
                    if let Some(value) = value {
                        self.define(*variable, value, program);
                    }
                }
                Command::Assign { variable, value } => self.define(*variable, value, program),
                other => {
                    walk::reads(other, &mut |e| self.read(e));
                    walk::writes(other, &mut |v| self.need(v));
                }
            }
            for list in command.lists() {
                deep(|| self.list(list, program));
            }
        }
    }
}

fn sweep(commands: &mut Vec<Command>, live: &[bool], removed: &mut bool) {
    for command in commands.iter_mut() {
        for list in command.lists_mut() {
            deep(|| sweep(list, live, removed));
        }
    }
    let mut emptied = 0;
    commands.retain(|command| match command {
        Command::Declare { variable, .. } | Command::Assign { variable, .. } => {
            live[variable.index()]
        }
        Command::If {
            then, otherwise, ..
        } => {
            let empty = then.is_empty() && otherwise.is_empty();
            emptied += usize::from(empty);
            !empty
        }
        Command::For { body, count, .. } => {
            let empty = body.is_empty() || count.as_index() == Some(0);
            emptied += usize::from(empty);
            !empty
        }
        Command::Switch { cases, .. } => {
            let empty = cases.iter().all(|c| c.is_empty());
            emptied += usize::from(empty);
            !empty
        }
        _others => true,
    });
    *removed |= emptied > 0;
}
