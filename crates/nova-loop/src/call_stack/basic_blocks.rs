//! The body of a function in pieces: commands between which a function of the group is called. What
//! contains no such call stays as it is; conditionals and loops that contain one become pieces that
//! say which comes next.

use crate::ir::{Command, Expression, FunctionId, Program, Type, Variable};
use crate::walk::{each_command, reads, writes};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use std::collections::BTreeSet;

/// The piece that a function ends with: who called it goes on.
pub(super) const RETURN: usize = 0;

/// A call of a function of the group.
pub(super) struct Site {
    pub(super) callee: FunctionId,
    pub(super) arguments: Vec<Expression>,
    /// The piece behind it.
    pub(super) next: usize,
}

/// What comes behind a piece.
pub(super) enum End {
    /// Another one.
    Jump(usize),
    /// One of two.
    Branch {
        condition: Expression,
        then: usize,
        otherwise: usize,
    },
    /// One of several.
    Switch {
        scrutinee: Expression,
        cases: Vec<usize>,
    },
    /// The function that is called.
    Call(Site),
    /// The caller.
    Return,
}

/// A piece.
pub(super) struct Piece {
    /// The results of the call that it stands behind.
    pub(super) results: Option<(FunctionId, Vec<Variable>)>,
    pub(super) commands: Vec<Command>,
    pub(super) end: End,
}

/// Where the pieces of a function go.
pub(super) struct Cutter<'a> {
    pub(super) program: &'a mut Program,
    /// The functions of the group.
    pub(super) group: &'a BTreeSet<FunctionId>,
    /// The variable that says which piece comes next.
    pub(super) state: Variable,
    /// What assigns the results of this function for its caller.
    pub(super) leave: Vec<Command>,
    /// The pointers whose allocation begins a piece.
    pub(super) stacked: &'a BTreeSet<Variable>,
    /// The loops that were cut, each with the piece that begins it, the variables declared in it, and
    /// where a round of it begins.
    pub(super) rounds: Vec<(usize, usize, BTreeSet<Variable>)>,
    pub(super) pieces: Vec<Piece>,
    /// For each cut loop around, where it begins and what comes behind it.
    pub(super) loops: Vec<(usize, usize)>,
}

/// The label of a piece.
pub(super) fn label(piece: usize) -> Expression {
    Expression::Constant(ScalarValue::I32(piece as i32))
}

impl Cutter<'_> {
    /// A piece without commands, whose end is still to be said.
    fn piece(&mut self) -> usize {
        self.pieces.push(Piece {
            results: None,
            commands: Vec::new(),
            end: End::Return,
        });
        self.pieces.len() - 1
    }

    /// Cuts the body of a function; gives its first piece.
    pub(super) fn function(&mut self, body: Vec<Command>) -> usize {
        let first = self.piece();
        self.list(body, first);
        first
    }

    fn end(&mut self, piece: usize, end: End) {
        self.pieces[piece].end = end;
    }

    /// Adds commands to a piece; gives the piece that goes on behind them, if one does.
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
                let next = self.piece();
                self.end(at, End::Jump(next));
                self.pieces[next].commands.push(command);
                return Some(next);
            }
            _others => {}
        }
        if !self.is_cut(&command) {
            self.redirect(std::slice::from_mut(&mut command));
            self.pieces[at].commands.push(command);
            return Some(at);
        }
        self.cut(command, at)
    }

    /// Cuts a command.
    fn cut(&mut self, command: Command, at: usize) -> Option<usize> {
        match command {
            Command::Call {
                function,
                arguments,
                results,
            } => {
                let next = self.piece();
                self.pieces[next].results = Some((function, results));
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
                let (cases, behind) = self.ways(cases);
                self.end(at, End::Switch { scrutinee, cases });
                Some(behind)
            }
            Command::Loop { body, .. } => {
                let (head, behind) = (self.piece(), self.piece());
                self.end(at, End::Jump(head));
                self.rounds.push((at, head, declared(&body)));
                self.loops.push((head, behind));
                if let Some(last) = deep(|| self.list(body, head)) {
                    self.end(last, End::Jump(head));
                }
                self.loops.pop();
                Some(behind)
            }
            Command::For {
                variable,
                count,
                body,
                ..
            } => Some(self.counted(variable, count, body, at)),
            other => {
                self.pieces[at].commands.push(other);
                Some(at)
            }
        }
    }

    /// A loop whose rounds are counted.
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
        let start = &mut self.pieces[at].commands;
        start.push(Command::declare(limit, count));
        start.push(Command::declare(index, Expression::index(0)));
        let (head, inside, behind) = (self.piece(), self.piece(), self.piece());
        self.end(at, End::Jump(head));
        let limit = Expression::Variable(limit);
        let condition = Expression::Variable(index).compare(ScalarOperation::Less, limit);
        self.end(
            head,
            End::Branch {
                condition,
                then: inside,
                otherwise: behind,
            },
        );
        self.rounds.push((at, inside, declared(&body)));
        if let Some(last) = deep(|| self.list(body, inside)) {
            self.pieces[last].commands.push(Command::Assign {
                variable: index,
                value: Expression::Variable(index).plus(Expression::index(1)),
            });
            self.end(last, End::Jump(head));
        }
        behind
    }

    /// Pieces for several ways, and the one where they meet.
    fn ways(&mut self, lists: Vec<Vec<Command>>) -> (Vec<usize>, usize) {
        let behind = self.piece();
        let mut first = Vec::new();
        for list in lists {
            let way = self.piece();
            first.push(way);
            if let Some(last) = deep(|| self.list(list, way)) {
                self.end(last, End::Jump(behind));
            }
        }
        (first, behind)
    }

    /// Where a jump leads.
    fn jump(&self, command: &Command) -> End {
        match (command, self.loops.last()) {
            (Command::Break, Some((_, behind))) => End::Jump(*behind),
            (Command::Continue, Some((head, _))) => End::Jump(*head),
            _return => End::Return,
        }
    }

    /// True if a command must be cut: it contains a call of the group, a loop that the function is left
    /// from, or an allocation that begins a piece.
    fn is_cut(&self, command: &Command) -> bool {
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

    /// Makes the jumps out of commands that stay as they are say which piece comes next.
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

/// True if commands leave the function.
fn returns(commands: &[Command]) -> bool {
    let mut found = false;
    each_command(commands, |command| {
        found |= matches!(command, Command::Return)
    });
    found
}

/// The variables that commands declare.
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

impl Piece {
    /// Calls `visit` on all variables that the piece mentions, its results left out.
    pub(super) fn mentions(&self, visit: &mut dyn FnMut(Variable)) {
        each_command(&self.commands, |command| {
            reads(command, &mut |e| e.each_variable(visit));
            writes(command, visit);
        });
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

    /// The pieces of the same function that may come behind it.
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
