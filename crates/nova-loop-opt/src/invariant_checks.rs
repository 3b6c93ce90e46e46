//! A pass on Loop that makes checks before a loop that are the same in each iteration, with what they need.
//!
//! ```text
//! for j in m { let y = floor(i * s); check fits(y); let k = int(y); check k < n; a[i * m + j] = b[k * m + j] }
//! ```
//!
//! becomes
//!
//! ```text
//! if m > 0 {
//!   let y = floor(i * s); check fits(y); let k = int(y); check k < n;
//!   for j in m { a[i * m + j] = b[k * m + j] }
//! }
//! ```
//!
//! Maps of several dimensions are one operation until they are loops, so that no earlier pass can move what depends
//! on their rows only. The loop has an iteration, and the first one makes the checks too. A check may pass others,
//! so that another of several errors may be reported. What is defined only behind a check that stays, stays too.

use crate::strip_mining::memory::{Memory, reads_through_variables};
use nova_core::ScalarOperation;
use nova_diag::deep;
use nova_loop::calls;
use nova_loop::ir::{Command, Expression, Level, Program, Variable};
use nova_loop::jumps;
use nova_loop::uses::written;
use nova_loop::walk::{each_assigned, each_command, reads, writes};
use std::collections::BTreeSet;

/// Takes checks out of the loops of a program.
pub fn run(program: &mut Program) {
    for number in 0..program.functions.len() {
        let memory = Memory::of(program, &program.functions[number]);
        in_list(&memory, &mut program.functions[number].body);
    }
}

/// Rewrites commands, inner loops first.
fn in_list(memory: &Memory, commands: &mut Vec<Command>) {
    for mut command in std::mem::take(commands) {
        for list in command.lists_mut() {
            deep(|| in_list(memory, list));
        }
        let before = taken_out(memory, &mut command);
        match (before.is_empty(), &command) {
            (false, Command::For { count, .. }) => {
                let zero = Expression::index(0);
                let condition = count.clone().compare(ScalarOperation::Greater, zero);
                let mut then = before;
                then.push(command);
                commands.push(Command::If {
                    condition,
                    then,
                    otherwise: Vec::new(),
                });
            }
            _ => commands.push(command),
        }
    }
}

/// Takes the checks out of a loop that are the same in each iteration, with what they need. Returns them.
fn taken_out(memory: &Memory, command: &mut Command) -> Vec<Command> {
    let Command::For {
        variable,
        level: Level::Sequential | Level::Independent,
        body,
        ..
    } = command
    else {
        return Vec::new();
    };
    let Some(mut same) = Same::of(memory, *variable, body) else {
        return Vec::new();
    };
    let moves: Vec<bool> = body.iter().map(|command| same.moves(command)).collect();
    let is_check = |command: &Command| matches!(command, Command::Check { .. });
    if !body
        .iter()
        .zip(&moves)
        .any(|(c, moves)| *moves && is_check(c))
    {
        return Vec::new();
    }
    let (mut before, mut inside) = (Vec::new(), Vec::new());
    for (command, moves) in std::mem::take(body).into_iter().zip(moves) {
        match moves {
            true => before.push(command),
            false => inside.push(command),
        }
    }
    *body = inside;
    before
}

/// The values of a loop that are the same in each iteration.
struct Same {
    /// The variables that change.
    changing: BTreeSet<Variable>,
    /// The variables that are assigned somewhere in the loop.
    assigned: BTreeSet<Variable>,
    /// True if the loop changes no memory that it may read.
    is_apart: bool,
    /// True if a check that stays may guard what follows.
    is_guarded: bool,
}

impl Same {
    /// Returns the facts about a loop, unless its iterations do what others see, or may end it.
    fn of(memory: &Memory, variable: Variable, body: &[Command]) -> Option<Same> {
        let mut changing = BTreeSet::from([variable]);
        let (mut assigned, mut stored) = (BTreeSet::new(), BTreeSet::new());
        let (mut is_plain, mut is_known) = (true, true);
        each_command(body, |command| {
            writes(command, &mut |variable| {
                changing.insert(variable);
            });
            if !matches!(command, Command::Declare { .. }) {
                each_assigned(command, &mut |variable| {
                    assigned.insert(variable);
                });
            }
            is_plain &= !matches!(command, calls!() | jumps!() | Command::Loop { .. });
            for pointer in written(command) {
                match pointer {
                    Expression::Variable(pointer) => {
                        stored.insert(pointer);
                    }
                    _computed => is_known = false,
                }
            }
        });
        is_plain.then(|| Same {
            changing,
            assigned,
            is_apart: is_known && stored.iter().all(|pointer| memory.is_own(*pointer)),
            is_guarded: false,
        })
    }

    /// True if a command of the loop's body can stand before the loop. Commands are asked for in their order.
    fn moves(&mut self, command: &Command) -> bool {
        let moves = match command {
            Command::Declare {
                variable,
                value: Some(value),
            } => {
                let moves = !self.assigned.contains(variable) && self.is_same(value);
                if moves {
                    self.changing.remove(variable);
                }
                return moves;
            }
            Command::Check { .. } => {
                let mut same = true;
                reads(command, &mut |value| same &= self.is_same(value));
                same
            }
            Command::Declare { .. } | Command::Store { .. } | Command::Comment(_) => return false,
            _others => false,
        };
        self.is_guarded |= !moves;
        moves
    }

    /// True if an expression has one value, which is defined before the loop.
    fn is_same(&self, expression: &Expression) -> bool {
        let mut found = true;
        expression.each_variable(&mut |variable| found &= !self.changing.contains(&variable));
        let reads = expression.reads_memory();
        found
            && (!self.is_guarded || !reads && is_total(expression))
            && (!reads || self.is_apart && reads_through_variables(expression))
    }
}

/// True if an expression has a value wherever its variables have one.
fn is_total(expression: &Expression) -> bool {
    let itself = match expression {
        Expression::Constant(_) | Expression::Variable(_) | Expression::Select { .. } => true,
        Expression::Scalar {
            operation, operand, ..
        } => operation.is_total(*operand),
        _others => false,
    };
    let mut children = expression.children().into_iter();
    itself && children.all(|child| deep(|| is_total(child)))
}
