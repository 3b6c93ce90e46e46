//! A pass on Loop that takes the iterations of a loop some at a time, in lockstep, where each iteration
//! contains loops of its own (outer-loop vectorisation; Karrenberg and Hack 2011 call it whole-function
//! vectorisation). C compilers make vectors of innermost loops only, so that a loop for each element of a
//! map stays scalar otherwise.
//!
//! ```text
//! for i in 0 .. n {            for block in 0 .. ⌈n/32⌉ {
//!     x = f(i);                    base = min(32 block, n - 32);
//!     loop {                       for lane in 0 .. 32 { x[lane] = f(base + lane) }
//!         if !c(x) { break }  ⇒    loop {
//!         x = g(x);                    for lane { active[lane] &= c(x[lane]); any |= active[lane] }
//!     }                                if !any { break }
//!     a[i] = x;                        for lane { x[lane] = active[lane] ? g(x[lane]) : x[lane] } }
//! }                                for lane { a[base + lane] = x[lane] } }
//! ```
//!
//! Variables that may differ between iterations become local arrays with an element for each lane
//! ([`varying`]; scalar expansion). Commands between loops become loops over the lanes, which have a constant
//! length ([`block`]). Conditionals and loops that lanes leave at different times run under masks, so that a
//! lane computes nothing that its iteration would not.
//!
//! Arrays that an iteration allocates for itself are private to its lane ([`private`]). They are allocated once
//! for all lanes, with the lanes of an element side by side.
//!
//! Rows that lanes read apart, and again in each iteration of a loop, are packed before their first use, so that
//! lanes read neighbours ([`packed`]).
//!
//! **Which loops.** The translation marks loops as independent where this gains. The pass looks at marked loops
//! that contain others. The last block begins early enough to be full, so that some iterations may run twice.
//! That is harmless: the loop writes only memory of its own, which it does not read. Loops that do anything else
//! are left in order, and so are loops of fewer iterations than there are lanes.
//!
//! **Errors.** A check whose condition is the same in all lanes stops the program as before. Where another check
//! fails in a lane, this lane does nothing more, and all iterations from the block on run once more in order.
//! So the first iteration that fails is the one that reports.

mod agreement;
mod batches;
mod block;
mod conditionals;
mod endless;
mod grown;
mod packed;
mod private;
mod scalars;
mod scattered;
mod transposed;
mod values;
mod varying;

use crate::strip_mining::memory::Memory;
use crate::strip_mining::non_temporal::when;
use block::Block;
use nova_core::ScalarOperation;
use nova_diag::{Place, deep};
use nova_loop::copies;
use nova_loop::functions::each_function;
use nova_loop::ir::{Command, Expression, Level, Program, Variable};
use nova_loop::walk;
use nova_machine::PROCESSOR;
use std::collections::{BTreeMap, BTreeSet};

/// Rewrites the functions of a program that do not recurse. Recursive ones stay as they are, since lanes need
/// room on the stack.
pub fn run(program: &mut Program) {
    let lanes = match program.lanes {
        0 => PROCESSOR.lockstep_lanes,
        lanes => i64::from(lanes),
    };
    each_function(program, |program, function| {
        let memory = Memory::of(program, function);
        let rewrites = !function.recursive;
        let rows = grown::Rows::of(program, function);
        let mut pass = Lockstep {
            program,
            memory,
            rows,
            lanes,
            rewrites,
        };
        function.body = pass.list(std::mem::take(&mut function.body));
    });
}

/// The state of the walk over a function.
struct Lockstep<'a> {
    program: &'a mut Program,
    memory: Memory,
    /// The rows at the end of arrays that grow.
    rows: grown::Rows,
    /// The number of lanes.
    lanes: i64,
    /// False if the function may call itself.
    rewrites: bool,
}

impl Lockstep<'_> {
    fn list(&mut self, commands: Vec<Command>) -> Vec<Command> {
        let mut made = Vec::with_capacity(commands.len());
        for command in commands {
            deep(|| self.command(command, &mut made));
        }
        made
    }

    fn command(&mut self, mut command: Command, made: &mut Vec<Command>) {
        self.memory.note(&command);
        if let Command::For {
            variable,
            count,
            level: level @ Level::Independent,
            body,
            place,
        } = &mut command
        {
            // Innermost loops may have vectors as they are.
            if has_loops(body) {
                if self.rewrites
                    && let Some(blocks) = self.blocks(*variable, count, body, place)
                {
                    made.extend(blocks);
                    return;
                }
                *level = Level::Sequential;
            }
        }
        for list in command.lists_mut() {
            *list = self.list(std::mem::take(list));
        }
        made.push(command);
    }

    /// Returns the loops that replace a loop, if that is possible: over blocks of lanes, and over the
    /// iterations that are not in blocks.
    fn blocks(
        &mut self,
        index: Variable,
        count: &Expression,
        body: &[Command],
        place: &Place,
    ) -> Option<Vec<Command>> {
        let private = private::arrays(&self.memory, body);
        if !self.memory.is_apart_but(body, &private) || !self.writes_own(body, &private) {
            return None;
        }
        let packing = packed::of(self.program, index, body, self.lanes);
        let private: BTreeSet<Variable> = private.into_iter().chain(packing.arrays()).collect();
        let original = body;
        let body = &packing.body[..];
        let varying = varying::of(self.program, index, body, &private)?;
        let may_part = varying::may_part(&varying, body, false);
        let mut made = Vec::new();
        let count = self.named("length", count.clone(), &mut made);
        let is_long =
            Expression::index(self.lanes).compare(ScalarOperation::LessEqual, count.clone());
        let is_long = packing.conditions().fold(is_long, Expression::and);
        let (number, base, first) = (self.index("block"), self.index("base"), self.index("first"));
        let start = Expression::Variable(number).times(Expression::index(self.lanes));
        let last = count.clone().minus(Expression::index(self.lanes));
        let start = start.compare(ScalarOperation::Minimum, last);
        let mut lanes = vec![Command::declare(base, start)];
        let variables = [index, base, first];
        lanes.extend(Block::of(
            self.program,
            self.lanes,
            variables,
            (varying, private),
            body,
            place,
        )?);
        let shift = Expression::index(i64::from(self.lanes.trailing_zeros()));
        let blocks = count.clone().plus(Expression::index(self.lanes - 1));
        let blocks = blocks.compare(ScalarOperation::ShiftRight, shift);
        let blocks = Command::sequential(number, blocks, lanes, place);
        let in_order = |body| Command::sequential(index, count.clone(), body, place);
        let own = self.copy(original);
        if !may_part {
            made.push(Command::If {
                condition: is_long,
                then: vec![blocks],
                otherwise: vec![in_order(own)],
            });
            return Some(made);
        }
        made.push(Command::declare(first, Expression::index(0)));
        let all = Command::Assign {
            variable: first,
            value: count.clone(),
        };
        made.push(when(is_long, vec![all, blocks]));
        let (from, at) = (Expression::Variable(first), Expression::Variable(index));
        let is_left = from.clone().compare(ScalarOperation::Less, count.clone());
        let runs = from.compare(ScalarOperation::LessEqual, at);
        made.push(when(is_left, vec![in_order(vec![when(runs, own)])]));
        Some(made)
    }

    /// Returns a copy of a loop's body for the loop with the same index.
    fn copy(&mut self, body: &[Command]) -> Vec<Command> {
        copies::copy(self.program, body, &mut BTreeMap::new())
    }

    /// Returns an expression itself if it is simple, otherwise a new variable with its value.
    fn named(&mut self, name: &str, value: Expression, made: &mut Vec<Command>) -> Expression {
        if value.is_simple() {
            return value;
        }
        let variable = self.index(name);
        made.push(Command::declare(variable, value));
        Expression::Variable(variable)
    }

    fn index(&mut self, name: &str) -> Variable {
        self.program.add_variable(name, varying::INDEX)
    }

    /// True if commands write only memory to which a single pointer leads, or rows of which they read nothing.
    fn writes_own(&self, body: &[Command], private: &BTreeSet<Variable>) -> bool {
        let mut own = true;
        walk::each_command(body, |command| {
            if let Command::Store { pointer, .. } = command {
                own &= private.contains(pointer)
                    || self.memory.is_own(*pointer)
                    || self.rows.is_own(*pointer, body);
            }
        });
        own
    }
}

/// True if there is a loop among commands.
fn has_loops(body: &[Command]) -> bool {
    let mut found = false;
    walk::each_command(body, |command| {
        found |= matches!(command, Command::For { .. } | Command::Loop { .. });
    });
    found
}
