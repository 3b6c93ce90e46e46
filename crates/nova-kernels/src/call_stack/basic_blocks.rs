//! The basic blocks of a function: runs of commands between calls of functions of the group. A
//! command without such a call stays as it is. Conditionals and loops with such a call become basic
//! blocks that assign the number of the next one.

use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, FunctionId, Program, Type, Variable};
use nova_loop::walk::{each_command, each_mentioned};
use std::collections::BTreeSet;

/// The basic block that a function ends with, after which its caller continues.
pub(super) const RETURN: usize = 0;

/// A call of a function of the group.
pub(super) struct Site {
    pub(super) callee: FunctionId,
    pub(super) arguments: Vec<Expression>,
    /// The basic block after it.
    pub(super) next: usize,
}

/// The successor of a basic block.
pub(super) enum End {
    /// Another basic block.
    Jump(usize),
    /// One of two basic blocks.
    Branch {
        condition: Expression,
        then: usize,
        otherwise: usize,
    },
    /// One of several basic blocks.
    Switch {
        scrutinee: Expression,
        cases: Vec<usize>,
    },
    /// The function that is called.
    Call(Site),
    /// The caller.
    Return,
}

/// A basic block.
pub(super) struct BasicBlock {
    /// The function and the results of the call before it, if there is one.
    pub(super) results: Option<(FunctionId, Vec<Variable>)>,
    pub(super) commands: Vec<Command>,
    pub(super) end: End,
}

/// Splits the body of a function into basic blocks.
pub(super) struct BasicBlockBuilder<'a> {
    pub(super) program: &'a mut Program,
    /// The functions of the group.
    pub(super) group: &'a BTreeSet<FunctionId>,
    /// The variable with the number of the next basic block.
    pub(super) state: Variable,
    /// The commands that assign the results of this function for its caller.
    pub(super) leave: Vec<Command>,
    /// The pointers whose allocation begins a basic block.
    pub(super) stacked: &'a BTreeSet<Variable>,
    /// The loops that were split. Each has the basic block before it, the basic block that begins
    /// an iteration, and the variables declared in it.
    pub(super) split_loops: Vec<(usize, usize, BTreeSet<Variable>)>,
    pub(super) basic_blocks: Vec<BasicBlock>,
    /// For each enclosing split loop, its first basic block and the one after it.
    pub(super) enclosing: Vec<(usize, usize)>,
}

/// Returns the label of a basic block.
pub(super) fn label(basic_block: usize) -> Expression {
    Expression::Constant(ScalarValue::I32(basic_block as i32))
}

impl BasicBlockBuilder<'_> {
    /// Adds a basic block without commands, whose end is set later.
    fn add_basic_block(&mut self) -> usize {
        self.basic_blocks.push(BasicBlock {
            results: None,
            commands: Vec::new(),
            end: End::Return,
        });
        self.basic_blocks.len() - 1
    }

    /// Splits the body of a function. Returns its first basic block.
    pub(super) fn function(&mut self, body: Vec<Command>) -> usize {
        let first = self.add_basic_block();
        self.list(body, first);
        first
    }

    fn end(&mut self, basic_block: usize, end: End) {
        self.basic_blocks[basic_block].end = end;
    }

    /// Adds commands to a basic block. Returns the basic block in which the code after them
    /// continues, if it does.
    fn list(&mut self, commands: Vec<Command>, mut at: usize) -> Option<usize> {
        for command in commands {
            at = self.command(command, at)?;
        }
        Some(at)
    }

    fn command(&mut self, mut command: Command, at: usize) -> Option<usize> {
        match &command {
            Command::Break | Command::Continue | Command::Return => {
                let end = self.jump(&command);
                self.end(at, end);
                return None;
            }
            Command::Allocate { pointer, .. } if self.stacked.contains(pointer) => {
                let next = self.add_basic_block();
                self.end(at, End::Jump(next));
                self.basic_blocks[next].commands.push(command);
                return Some(next);
            }
            _others => {}
        }
        if !self.needs_split(&command) {
            self.redirect(std::slice::from_mut(&mut command));
            self.basic_blocks[at].commands.push(command);
            return Some(at);
        }
        self.split(command, at)
    }

    /// Splits a command.
    fn split(&mut self, command: Command, at: usize) -> Option<usize> {
        match command {
            Command::Call {
                function,
                arguments,
                results,
            } => {
                let next = self.add_basic_block();
                self.basic_blocks[next].results = Some((function, results));
                let callee = function;
                self.end(
                    at,
                    End::Call(Site {
                        callee,
                        arguments,
                        next,
                    }),
                );
                Some(next)
            }
            Command::If {
                condition,
                then,
                otherwise,
            } => {
                let ways = self.ways(vec![then, otherwise]);
                self.end(
                    at,
                    End::Branch {
                        condition,
                        then: ways.0[0],
                        otherwise: ways.0[1],
                    },
                );
                Some(ways.1)
            }
            Command::Switch { scrutinee, cases } => {
                let (cases, after) = self.ways(cases);
                self.end(at, End::Switch { scrutinee, cases });
                Some(after)
            }
            Command::Loop { body, .. } => {
                let (head, after) = (self.add_basic_block(), self.add_basic_block());
                self.end(at, End::Jump(head));
                self.split_loops.push((at, head, declared(&body)));
                self.enclosing.push((head, after));
                if let Some(last) = deep(|| self.list(body, head)) {
                    self.end(last, End::Jump(head));
                }
                self.enclosing.pop();
                Some(after)
            }
            Command::For {
                variable,
                count,
                body,
                ..
            } => Some(self.counted(variable, count, body, at)),
            other => {
                self.basic_blocks[at].commands.push(other);
                Some(at)
            }
        }
    }

    /// Splits a counted loop.
    fn counted(
        &mut self,
        index: Variable,
        count: Expression,
        body: Vec<Command>,
        at: usize,
    ) -> usize {
        let limit = self
            .program
            .add_variable("limit", Type::Scalar(Scalar::I64));
        let start = &mut self.basic_blocks[at].commands;
        start.push(Command::declare(limit, count));
        start.push(Command::declare(index, Expression::index(0)));
        let (head, inside, after) = (
            self.add_basic_block(),
            self.add_basic_block(),
            self.add_basic_block(),
        );
        self.end(at, End::Jump(head));
        let limit = Expression::Variable(limit);
        let condition = Expression::Variable(index).compare(ScalarOperation::Less, limit);
        self.end(
            head,
            End::Branch {
                condition,
                then: inside,
                otherwise: after,
            },
        );
        self.split_loops.push((at, inside, declared(&body)));
        if let Some(last) = deep(|| self.list(body, inside)) {
            self.basic_blocks[last].commands.push(Command::Assign {
                variable: index,
                value: Expression::Variable(index).plus(Expression::index(1)),
            });
            self.end(last, End::Jump(head));
        }
        after
    }

    /// Adds basic blocks for several branches. Returns their first ones, and the one where the
    /// branches join.
    fn ways(&mut self, lists: Vec<Vec<Command>>) -> (Vec<usize>, usize) {
        let after = self.add_basic_block();
        let mut first = Vec::new();
        for list in lists {
            let way = self.add_basic_block();
            first.push(way);
            if let Some(last) = deep(|| self.list(list, way)) {
                self.end(last, End::Jump(after));
            }
        }
        (first, after)
    }

    /// Returns the end of a basic block for a jump.
    fn jump(&self, command: &Command) -> End {
        match (command, self.enclosing.last()) {
            (Command::Break, Some((_, after))) => End::Jump(*after),
            (Command::Continue, Some((head, _))) => End::Jump(*head),
            _return => End::Return,
        }
    }

    /// True if a command must be split: it contains a call of the group, a loop from which the
    /// function returns, or an allocation that begins a basic block.
    fn needs_split(&self, command: &Command) -> bool {
        let list = std::slice::from_ref(command);
        let mut found = false;
        each_command(list, |inner| match inner {
            Command::Call { function, .. } => found |= self.group.contains(function),
            Command::Allocate { pointer, .. } => found |= self.stacked.contains(pointer),
            Command::For { body, .. } | Command::Loop { body, .. } => found |= returns(body),
            _others => {}
        });
        found
    }

    /// Makes jumps out of commands that stay as they are assign the number of the next basic block.
    fn redirect(&self, commands: &mut [Command]) {
        for command in commands {
            if !matches!(command, Command::If { .. } | Command::Switch { .. }) {
                continue;
            }
            for list in command.lists_mut() {
                let jump = list.iter().position(|c| {
                    matches!(c, Command::Break | Command::Continue | Command::Return)
                });
                if let Some(at) = jump {
                    let (mut before, target) = match self.jump(&list[at]) {
                        End::Jump(target) => (Vec::new(), target),
                        _return => (self.leave.clone(), RETURN),
                    };
                    before.push(Command::Assign {
                        variable: self.state,
                        value: label(target),
                    });
                    before.push(Command::Continue);
                    list.truncate(at);
                    list.extend(before);
                }
                deep(|| self.redirect(list));
            }
        }
    }
}

/// True if commands return from the function.
fn returns(commands: &[Command]) -> bool {
    let mut found = false;
    each_command(commands, |command| {
        found |= matches!(command, Command::Return)
    });
    found
}

/// Returns the variables that commands declare.
pub(super) fn declared(commands: &[Command]) -> BTreeSet<Variable> {
    let mut found = BTreeSet::new();
    each_command(commands, |command| match command {
        Command::Declare { variable, .. } | Command::For { variable, .. } => {
            found.insert(*variable);
        }
        Command::Local { pointer, .. }
        | Command::Shared { pointer, .. }
        | Command::Spare { pointer, .. } => {
            found.insert(*pointer);
        }
        _others => {}
    });
    found
}

impl BasicBlock {
    /// Calls `visit` on all variables that the basic block mentions, the results of the call before
    /// it included.
    pub(super) fn mentions(&self, visit: &mut dyn FnMut(Variable)) {
        each_command(&self.commands, |command| each_mentioned(command, visit));
        self.end.reads(&mut |e| e.each_variable(visit));
        if let Some((_, results)) = &self.results {
            results.iter().copied().for_each(visit);
        }
    }
}

impl End {
    /// Calls `visit` on the expressions of an end.
    pub(super) fn reads<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
        match self {
            End::Branch { condition, .. } => visit(condition),
            End::Switch { scrutinee, .. } => visit(scrutinee),
            End::Call(site) => site.arguments.iter().for_each(visit),
            End::Jump(_) | End::Return => {}
        }
    }

    /// Returns the basic blocks of the same function that may follow.
    pub(super) fn next(&self) -> Vec<usize> {
        match self {
            End::Jump(next) => vec![*next],
            End::Branch {
                then, otherwise, ..
            } => vec![*then, *otherwise],
            End::Switch { cases, .. } => cases.clone(),
            End::Call(site) => vec![site.next],
            End::Return => Vec::new(),
        }
    }
}
