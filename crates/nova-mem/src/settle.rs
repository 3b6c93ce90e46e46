//! Settling: the state of a loop stays at one LMAD of one block, if that can be proved at compile time.
//!
//! A state of a loop is bound together with a block, since an iteration may pass on another array than
//! the one it was given. So [`crate::reuse`] leaves it to `Unique` to find its holders at run time.
//! Often the state has no other holder: the loop starts with an array that is made for it alone, and
//! each iteration passes on an array that it has written over the state. Then the start, the state, the
//! array that an iteration makes and the last state have one block. Nothing reads a reference count,
//! and arrays made for the loop can be built where its result is to lie ([`crate::short_circuit`]).
//!
//! Arrays flow from starts to states, from results of iterations to states, from states to last states,
//! through `Unique`, and through conditionals between these. Blocks between which arrays flow form a
//! class. A class can be settled under three conditions. One of its blocks is allocated and the others
//! are bound by the flows. An array is dead once it has flowed on. All arrays that are passed on
//! elsewhere are passed on after the last change.
//!
//! If the start belongs to another holder, the first iteration would copy it. It is copied before the
//! loop instead. If the result of an entry is all that is passed on from a class, the class lies in the
//! memory in which the result is handed to the caller. A state that prevents its class from being
//! settled is left as it is.

mod classes;
mod found;
mod results;

use crate::alias::{Rebasing, extents};
use crate::mistakes::Mistakes;
use crate::sizes::Sizes;
use crate::uses::Uses;
use crate::{MARK, ffi};
use classes::{Class, Classes, Home};
use found::Found;
use nova_flat::ir::{
    Atom, Destination, Expression, Function, FunctionId, Program, Statement, Type, Variable,
};
use nova_flat::memory::{Lmad, Memory};
use nova_flat::visit;
use results::Results;
use std::collections::BTreeMap;

/// Settles the states of loops.
pub fn run(program: &mut Program) {
    run_with(program, Mistakes::default());
}

/// As [`run`], with a mistake if a test asks for one.
#[doc(hidden)]
pub fn run_with(program: &mut Program, mistakes: Mistakes) {
    let uses = Uses::of(program);
    let expected = ffi::destinations(program);
    let extents = extents(program);
    let mut functions = std::mem::take(&mut program.functions);
    for (index, function) in functions.iter_mut().enumerate() {
        let found = Found::of(program, index, function, &uses);
        let classes = Classes {
            program,
            uses: &uses,
            found: &found,
            mistakes,
        };
        let settled = classes.settled();
        let expected = expected.get(&FunctionId(index as u32));
        let results = Results {
            uses: &uses,
            found: &found,
            function,
            destinations: expected.map_or(&[], Vec::as_slice),
            extents: &extents,
        };
        let destination = |(class, home)| results.destination(program, class, home);
        let destinations: Vec<_> = settled.iter().map(|(c, h)| destination((c, h))).collect();
        let mut changes = Changes::default();
        for ((class, home), destination) in settled.iter().zip(destinations) {
            let home = changes.place(program, &uses, &found, class, home);
            if let (Some(home), Some(destination)) = (home, destination) {
                changes.destinations.insert(home, destination);
            }
        }
        changes.apply(program, function);
    }
    program.functions = functions;
}

/// The changes to a function besides the memory of its arrays.
#[derive(Default)]
struct Changes {
    /// Maps the result of each `Unique` that is dropped to its operand.
    soles: BTreeMap<Variable, Variable>,
    /// The copies with which states start, by the last state.
    copies: BTreeMap<Variable, Copy>,
    /// The homes that become memory of the caller.
    destinations: BTreeMap<Variable, Destination>,
}

/// A copy of the start value of a state.
#[derive(Clone, Copy)]
struct Copy {
    of: Variable,
    copy: Variable,
    block: Variable,
}

impl Changes {
    /// Puts the arrays of a class into its home, and returns the block of that.
    fn place(
        &mut self,
        program: &mut Program,
        uses: &Uses,
        found: &Found,
        class: &Class,
        home: &Home,
    ) -> Option<Variable> {
        let (home, rebasing) = match home {
            Home::Block(home, rebasing) => (*home, rebasing.clone()),
            Home::CopyOf(state) => {
                let state = &found.states[*state];
                let (copy, rebasing) = copy_of(program, state.start)?;
                self.copies.insert(state.last, copy);
                (copy.block, rebasing)
            }
        };
        for block in class.blocks.iter().filter(|block| **block != home) {
            let arrays = uses.block(*block).map(|b| b.arrays.as_slice());
            for array in arrays.unwrap_or_default() {
                let info = &mut program.variables[array.index()];
                info.memory = info.memory.as_ref().map(|m| rebasing.memory(m, home));
            }
        }
        let soles = found.soles.iter();
        let dropped = soles.filter(|(_, sole)| class.soles.contains(sole));
        self.soles.extend(dropped.map(|(of, sole)| (*sole, *of)));
        Some(home)
    }

    /// Removes the uses of `Unique`, and puts the copies before their loops.
    fn apply(&self, program: &mut Program, function: &mut Function) {
        if self.soles.is_empty() {
            return;
        }
        visit::each_body_mut(&mut function.body, &mut |body| {
            for mut statement in std::mem::take(&mut body.statements) {
                if statement.pattern.iter().any(|v| self.soles.contains_key(v)) {
                    continue;
                }
                for last in statement.pattern.clone() {
                    if let Some(copy) = self.copies.get(&last) {
                        let to = self.destinations.get(&copy.block).copied();
                        copy.write(program, to, (&mut statement, last), &mut body.statements);
                    }
                }
                let made = statement.pattern.first();
                if let Expression::Allocate { destination, .. } = &mut statement.expression
                    && let Some(to) = made.and_then(|block| self.destinations.get(block))
                {
                    *destination = Some(*to);
                }
                body.statements.push(statement);
            }
        });
        let mut instead = visit::Substitution::default();
        for (sole, of) in &self.soles {
            let mut of = *of;
            while let Some(before) = self.soles.get(&of) {
                of = *before;
            }
            instead.insert(*sole, Atom::Variable(of));
        }
        visit::substitute(program, &mut function.body, &instead);
    }
}

/// Adds a copy of an array in a block of its own. Returns it with the map that moves arrays of other
/// blocks there.
fn copy_of(program: &mut Program, of: Variable) -> Option<(Copy, Rebasing)> {
    let info = program.variable(of).clone();
    let lmad = Lmad::of_shape(info.ty.shape())?;
    let rebasing = Rebasing::between(&lmad, &lmad)?;
    let name = info.name.trim_start_matches(MARK);
    let block = Type::Block(info.ty.element());
    let block = program.add_variable(format!("{name}_block"), block);
    let copy = program.add_variable(format!("{MARK}{name}"), info.ty);
    program.variables[copy.index()].memory = Some(Memory { block, lmad });
    Some((Copy { of, copy, block }, rebasing))
}

impl Copy {
    /// Writes the copy before the loop, and lets the loop start with it.
    fn write(
        self,
        program: &mut Program,
        destination: Option<Destination>,
        (statement, last): (&mut Statement, Variable),
        before: &mut Vec<Statement>,
    ) {
        let place = statement.place.clone();
        let k = statement.pattern.iter().position(|v| *v == last);
        let states = match &mut statement.expression {
            Expression::While { parameters, .. } => parameters,
            Expression::Operation(operation) => &mut operation.carries,
            _no_loop => return,
        };
        if let Some((_, start)) = k.and_then(|k| states.get_mut(k)) {
            *start = Atom::Variable(self.copy);
        }
        let (element, shape) = match program.ty(self.of) {
            Type::Array(element, shape) => (*element, shape.clone()),
            Type::Scalar(_) | Type::Block(_) => return,
        };
        let mut sizes = Sizes {
            program,
            place: &place,
        };
        let count = sizes.of(&shape, before);
        let mut write = |variable: Variable, expression: Expression| {
            before.push(Statement::binding(variable, expression, place.clone()));
        };
        let allocation = Expression::Allocate {
            element,
            count,
            destination,
        };
        write(self.block, allocation);
        write(self.copy, Expression::Copy(self.of));
    }
}
