//! A pass on Loop that rewrites loops so that C compilers can use vector instructions:
//!
//! - Indices computed in narrow types become sums of `i64`s where they cannot wrap.
//! - Loops whose first or last iterations differ from the others are split ([`split`]; index-set
//!   splitting).
//! - Conditionals in innermost loops become expressions ([`straighten`]), and conditions there are
//!   joined without branches ([`junctions`]).
//!
//! The pass walks once over each function. It knows ranges of integers that are never assigned
//! again, from their types, from checks, loops and conditions ([`facts`], [`conditions`]).

mod chunks;
mod conditions;
mod expressions;
mod facts;
mod guarded;
mod junctions;
mod split;
mod straighten;

use chunks::Chunks;
use expressions::Undecided;
pub(crate) use expressions::expression_size;
use facts::{Facts, Integer, from, range_of};
use guarded::Guarded;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_flat::representation::components;
use nova_loop::ir::{Command, Expression, Function, Program, Type, Variable};
use nova_loop::walk;
use nova_loop::{calls, copies, errors, jumps, memory_commands, remarks, variable_commands};
use std::collections::{BTreeMap, BTreeSet};

/// Rewrites all functions of a program.
pub fn run(program: &mut Program) {
    rewrite_all(program, false);
}

/// Rewrites functions as [`run`] does, but splits no loop that threads of a device share. A few of
/// its iterations alone would be a loop of the host, or of one thread.
pub fn run_for_device(program: &mut Program) {
    rewrite_all(program, true);
}

fn rewrite_all(program: &mut Program, on_device: bool) {
    let sizes = sizes(program);
    let mut functions = std::mem::take(&mut program.functions);
    let mut splitter = Splitter {
        facts: Facts::new(program.variables.len()),
        constant: constants(program, &functions),
        program,
        on_device,
        decided: BTreeMap::new(),
        named: BTreeMap::new(),
        followed: 0,
        undecided: Vec::new(),
        chunks: Chunks::default(),
        guarded: Vec::new(),
    };
    for function in &mut functions {
        let mark = splitter.facts.mark();
        for parameter in &function.parameters {
            splitter.add_root(*parameter);
            if sizes.contains(parameter) {
                let size = Integer::variable(*parameter);
                splitter.facts.narrow(size, from(0));
            }
        }
        let body = std::mem::take(&mut function.body);
        function.body = splitter.list(body);
        splitter.facts.forget(mark);
        splitter.undecided.clear();
        splitter.guarded.clear();
    }
    program.functions = functions;
}

/// Returns the parameters that are sizes of arrays of entries. Code at the FFI boundary has checked
/// that they are not negative.
fn sizes(program: &Program) -> BTreeSet<Variable> {
    let mut sizes = BTreeSet::new();
    for entry in &program.entries {
        let Some(function) = program.functions.get(entry.function.index()) else {
            continue;
        };
        let mut parameters = function.parameters.iter();
        for (_, ty) in &entry.inputs {
            let mut own: Vec<Variable> = Vec::new();
            for component in components(ty, &program.sums) {
                own.extend(parameters.next());
                if !component.shape.is_empty() {
                    parameters.next();
                }
                sizes.extend(component.shape.iter().filter_map(|k| own.get(*k).copied()));
            }
        }
    }
    sizes
}

/// Returns for each variable whether it never changes: it is declared with a value, an index or a
/// parameter, and not assigned.
fn constants(program: &Program, functions: &[Function]) -> Vec<bool> {
    let mut constant = vec![true; program.variables.len()];
    let mut left: Vec<&[Command]> = functions.iter().map(|f| &f.body[..]).collect();
    while let Some(commands) = left.pop() {
        for command in commands {
            let declares = matches!(
                command,
                Command::Declare { value: Some(_), .. }
                    | Command::For { .. }
                    | Command::Local { .. }
                    | Command::Shared { .. }
                    | Command::Spare { .. }
            );
            if !declares {
                walk::each_assigned(command, &mut |v| constant[v.index()] = false);
            }
            left.extend(command.lists().into_iter().map(|list| &list[..]));
        }
    }
    for result in functions.iter().flat_map(|f| &f.results) {
        constant[result.index()] = false;
    }
    constant
}

/// The state of the walk.
struct Splitter<'a> {
    program: &'a mut Program,
    facts: Facts,
    /// True if a variable never changes, by variable.
    constant: Vec<bool>,
    /// True if threads of a device share parallel loops.
    on_device: bool,
    /// The conditions with a name whose outcome is known. They never change.
    decided: BTreeMap<Variable, bool>,
    /// The conditions with a name, by it.
    named: BTreeMap<Variable, Expression>,
    /// The number of names that are being followed.
    followed: usize,
    /// The undecided comparisons of the current innermost loop.
    undecided: Vec<Undecided>,
    /// Facts about loops over chunks.
    chunks: Chunks,
    /// Facts that hold in loops, from the commands that enclose the current one.
    guarded: Vec<Guarded>,
}

impl Splitter<'_> {
    fn is_constant(&self, variable: Variable) -> bool {
        self.constant.get(variable.index()) == Some(&true)
    }

    fn add_root(&mut self, variable: Variable) {
        if self.is_constant(variable) {
            self.facts.add_root(self.program, variable);
        }
    }

    /// Adds a variable that never changes.
    fn add_constant(&mut self, like: Variable) -> Variable {
        let variable = copies::copy_of(self.program, like);
        self.constant.resize(variable.index() + 1, true);
        variable
    }

    /// True if a variable is an `i64`.
    fn is_index(&self, variable: Variable) -> bool {
        self.program.variable(variable).ty == Type::Scalar(Scalar::I64)
    }

    /// Returns the type of a scalar expression.
    fn type_of(&self, expression: &Expression) -> Option<Scalar> {
        match expression {
            Expression::Constant(value) => Some(value.scalar()),
            Expression::Variable(variable) => match self.program.variable(*variable).ty {
                Type::Scalar(scalar) => Some(scalar),
                Type::Pointer(_) | Type::Block => None,
            },
            Expression::Scalar {
                operation, operand, ..
            } => Some(operation.result(*operand)),
            _others => None,
        }
    }

    /// Rewrites a list of commands, then forgets the facts that it has added.
    fn list(&mut self, commands: Vec<Command>) -> Vec<Command> {
        let mark = self.facts.mark();
        let guarded = self.guarded.len();
        let mut made = Vec::with_capacity(commands.len());
        self.commands(commands, &mut made);
        self.facts.forget(mark);
        self.guarded.truncate(guarded);
        made
    }

    fn commands(&mut self, commands: Vec<Command>, made: &mut Vec<Command>) {
        for command in commands {
            deep(|| self.command(command, made));
        }
    }

    fn command(&mut self, mut command: Command, made: &mut Vec<Command>) {
        match &mut command {
            Command::If {
                condition,
                then,
                otherwise,
            } => {
                self.rewrite(condition);
                let (then, otherwise) = (std::mem::take(then), std::mem::take(otherwise));
                return self.conditional(condition.clone(), then, otherwise, made);
            }
            Command::For { .. } => return self.counted_loop(command, made),
            Command::Switch { cases, scrutinee } => {
                self.rewrite(scrutinee);
                for case in cases {
                    *case = self.list(std::mem::take(case));
                }
            }
            Command::Loop { body, .. } => *body = self.list(std::mem::take(body)),
            variable_commands!()
            | memory_commands!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => {
                let mut value = None;
                walk::reads_mut(&mut command, &mut |e| value = self.rewrite(e));
                if self.learn(&command, value) {
                    return;
                }
            }
        }
        made.push(command);
    }

    /// Adds the facts that a command states about integers. Returns true if the command has nothing
    /// left to do.
    fn learn(&mut self, command: &Command, value: Option<Integer>) -> bool {
        match command {
            Command::Declare {
                variable,
                value: Some(expression),
            } if self.is_constant(*variable) => {
                if let Expression::Constant(ScalarValue::Bool(holds)) = expression {
                    self.decided.insert(*variable, *holds);
                } else if self.program.variable(*variable).ty == Type::Scalar(Scalar::Bool) {
                    self.named.insert(*variable, expression.clone());
                }
                match (value, self.program.variable(*variable).ty) {
                    (Some(value), Type::Scalar(scalar)) if range_of(scalar).is_some() => {
                        self.facts.define(*variable, value);
                    }
                    (None, Type::Scalar(_)) => {
                        self.add_root(*variable);
                        if let Some(range) = self.range(expression) {
                            self.facts.narrow(Integer::variable(*variable), range);
                        }
                        self.learn_chunk(*variable, expression);
                        self.note_choice(*variable, expression);
                    }
                    _ => {}
                }
            }
            Command::Check { condition, .. } => {
                if let Expression::Constant(ScalarValue::Bool(true)) = condition {
                    return true;
                }
                self.learn_check(condition);
                self.note_check(condition);
            }
            _ => {}
        }
        false
    }

    /// Adds what is known of integers once a check has passed.
    fn learn_check(&mut self, condition: &Expression) {
        match condition {
            Expression::Scalar {
                operation: ScalarOperation::Fits(to),
                arguments,
                ..
            } => {
                let argument = arguments.first().and_then(|a| self.facts.affine(a));
                if let (Some(value), Some(range)) = (argument, range_of(*to)) {
                    self.facts.narrow(value, range);
                }
            }
            condition => self.assume(condition, true),
        }
    }

    /// Adds a conditional whose condition has been rewritten. If the condition is decided, only the
    /// chosen branch is added.
    fn conditional(
        &mut self,
        condition: Expression,
        then: Vec<Command>,
        otherwise: Vec<Command>,
        made: &mut Vec<Command>,
    ) {
        if let Expression::Constant(ScalarValue::Bool(holds)) = condition {
            let chosen = if holds { &then } else { &otherwise };
            if !chosen.last().is_some_and(leaves) {
                let chosen = if holds { then } else { otherwise };
                return self.commands(chosen, made);
            }
        }
        let then = self.list_where(&condition, true, then);
        let otherwise = self.list_where(&condition, false, otherwise);
        // What follows is reached through a branch that does not leave.
        for (branch, other) in [(&then, false), (&otherwise, true)] {
            if branch.last().is_some_and(leaves) {
                self.assume(&condition, other);
            }
        }
        made.push(Command::If {
            condition,
            then,
            otherwise,
        });
    }

    /// Rewrites a list of commands that runs where a condition has this outcome.
    fn list_where(
        &mut self,
        condition: &Expression,
        holds: bool,
        commands: Vec<Command>,
    ) -> Vec<Command> {
        let mark = self.facts.mark();
        self.assume(condition, holds);
        let branch = self.list(commands);
        self.facts.forget(mark);
        branch
    }
}

/// True if what follows a command is never reached.
fn leaves(command: &Command) -> bool {
    matches!(command, jumps!() | Command::Fail { .. })
}
