//! Variables for the components of values that are passed on: the results of conditionals and calls, and the
//! states of loops, which each iteration replaces.

use crate::facts::Origin;
use crate::places::{State, variables};
use crate::references::Moving;
use crate::translator::{Result, Translator};
use nova_flat::ir as flat;
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression, Type};
use std::collections::HashSet;

impl Translator<'_> {
    /// Adds variables, not yet declared, for a variable of the source.
    pub(crate) fn add_state(&mut self, variable: flat::Variable) -> Result<State> {
        let info = self.info(variable)?;
        match &info.ty {
            flat::Type::Scalar(scalar) => {
                let added = self.add_variable(self.name(variable), Type::Scalar(*scalar));
                Ok(State::Scalar(added))
            }
            flat::Type::Array(..) if self.is_placed(variable)? => Ok(State::Placed),
            flat::Type::Array(element, _) => {
                let pointer = self.add_variable(self.name(variable), Type::Pointer(*element));
                let handle =
                    self.add_variable(format!("{}_block", self.name(variable)), Type::Block);
                Ok(State::Array { pointer, handle })
            }
            flat::Type::Block(_) => Err(internal("a block among components")),
        }
    }

    /// True if an array that is passed on has its own memory: an allocated block, or the block of an array
    /// that has a single holder.
    fn is_placed(&self, array: flat::Variable) -> Result<bool> {
        let block = self.array_block(flat::Atom::Variable(array))?;
        Ok(block.is_some_and(|b| {
            matches!(self.facts.block(b).origin, Origin::Allocated | Origin::Sole)
        }))
    }

    /// Adds variables for several variables of the source, as [`Translator::add_state`] does.
    pub(crate) fn add_states(&mut self, variables: &[flat::Variable]) -> Result<Vec<State>> {
        variables.iter().map(|v| self.add_state(*v)).collect()
    }

    /// Declares the variables, which are assigned later.
    pub(crate) fn declare_states(&mut self, states: &[State]) {
        for variable in variables(states) {
            self.declare_later(variable);
        }
    }

    /// Binds a variable of the source to these variables.
    pub(crate) fn bind_state(&mut self, variable: flat::Variable, state: State) -> Result<()> {
        match state {
            State::Scalar(scalar) => self.bind_simple(variable, Expression::Variable(scalar)),
            State::Placed => Ok(()),
            State::Array { pointer, handle } => {
                let atom = flat::Atom::Variable(variable);
                match self.array_block(atom)? {
                    Some(block) => self.bind_block(block, pointer, handle),
                    None => Err(internal("a scalar where an array is expected")),
                }
            }
        }
    }

    /// Binds a pattern to variables; the innermost body owns the arrays if `owned`.
    pub(crate) fn bind_states(
        &mut self,
        pattern: &[flat::Variable],
        states: &[State],
        owned: bool,
    ) -> Result<()> {
        for (variable, state) in pattern.iter().zip(states) {
            self.bind_state(*variable, *state)?;
            if owned
                && state.handle().is_some()
                && let Some(block) = self.array_block(flat::Atom::Variable(*variable))?
            {
                self.own(block)?;
            }
        }
        Ok(())
    }

    /// Binds the parameters of a function; with `takes` its body owns the arrays.
    pub(crate) fn bind_parameters(
        &mut self,
        parameters: &[flat::Variable],
        states: &[State],
        takes: bool,
    ) -> Result<()> {
        self.bind_states(parameters, states, false)?;
        for (parameter, state) in parameters.iter().zip(states) {
            let block = self.array_block(flat::Atom::Variable(*parameter))?;
            if let (true, Some(block), Some(handle)) = (takes, block, state.handle()) {
                let last_use = self.facts.block(block).last_use;
                self.lifetimes.own_parameter(block, last_use, handle);
            }
        }
        Ok(())
    }

    /// Declares the states of a loop with their first values. Takes over the references of arrays that
    /// nothing else needs.
    pub(crate) fn start_states(
        &mut self,
        parameters: &[(flat::Variable, flat::Atom)],
    ) -> Result<Vec<State>> {
        let mut states = Vec::with_capacity(parameters.len());
        for (parameter, start) in parameters {
            let state = self.add_state(*parameter)?;
            let values = self.state_values(*start, state)?;
            if let Some(Expression::Variable(handle)) = values.get(1)
                && !self.give_up(*start)?
            {
                self.emit(Command::Retain(*handle));
            }
            for (variable, value) in state.variables().into_iter().zip(values) {
                self.emit(Command::Declare {
                    variable,
                    value: Some(value),
                });
            }
            states.push(state);
        }
        for ((parameter, _), state) in parameters.iter().zip(&states) {
            self.bind_state(*parameter, *state)?;
            let block = self.array_block(flat::Atom::Variable(*parameter))?;
            if let (Some(block), Some(handle)) = (block, state.handle()) {
                self.lifetimes.hold(block, handle);
            }
        }
        Ok(states)
    }

    /// Returns a component as arguments: a scalar, or pointer and handle.
    pub(crate) fn components(&mut self, atom: flat::Atom) -> Result<Vec<Expression>> {
        match (self.array_block(atom)?, atom) {
            (Some(block), flat::Atom::Variable(array)) => {
                let handle = self.block(block)?.handle;
                Ok(vec![self.pointer_to(array)?, Expression::Variable(handle)])
            }
            (Some(_), flat::Atom::Constant(_)) | (None, _) => Ok(vec![self.scalar(atom)?]),
        }
    }

    /// Returns the values for the variables of a state.
    fn state_values(&mut self, atom: flat::Atom, state: State) -> Result<Vec<Expression>> {
        match state {
            State::Placed => Ok(Vec::new()),
            State::Scalar(_) | State::Array { .. } => self.components(atom),
        }
    }

    /// Returns several components as arguments, as [`Translator::components`] does.
    pub(crate) fn arguments(&mut self, atoms: &[flat::Atom]) -> Result<Vec<Expression>> {
        let mut arguments = Vec::new();
        for atom in atoms {
            arguments.extend(self.components(*atom)?);
        }
        Ok(arguments)
    }

    /// Assigns the results of a body, at its end, to variables that have no value yet.
    pub(crate) fn deliver(
        &mut self,
        results: &[flat::Atom],
        states: &[State],
        moving: Moving,
    ) -> Result<()> {
        self.provide_references(results, states, false, moving)?;
        for (result, state) in results.iter().zip(states) {
            let values = self.state_values(*result, *state)?;
            for (variable, value) in state.variables().into_iter().zip(values) {
                self.assign(variable, value);
            }
        }
        Ok(())
    }

    /// Replaces the states by the next ones in parallel, at the end of an iteration. Returns the blocks whose
    /// references have moved into the states.
    pub(crate) fn replace(
        &mut self,
        next: &[flat::Atom],
        states: &[State],
        moving: Moving,
    ) -> Result<HashSet<flat::Variable>> {
        let mut assignments = Vec::new();
        let mut released = Vec::new();
        for (atom, state) in next.iter().zip(states) {
            if let (Some(block), Some(handle)) = (self.array_block(*atom)?, state.handle())
                && self.block(block)?.handle != handle
                && !self.lifetimes.is_gone(handle)
            {
                released.push(handle);
            }
        }
        for (atom, state) in next.iter().zip(states) {
            let values = match state {
                // Values that are read from a released state must be read before.
                State::Scalar(_) if !released.is_empty() || moving == Moving::Everything => {
                    let term = self.term(*atom)?;
                    let scalar = self.scalar_type(*atom)?;
                    let expression = match term.loads.is_empty() {
                        true => term.expression,
                        false => self.simplify(term.expression, "next", Type::Scalar(scalar)),
                    };
                    vec![expression]
                }
                State::Scalar(_) | State::Array { .. } | State::Placed => {
                    self.state_values(*atom, *state)?
                }
            };
            assignments.extend(state.variables().into_iter().zip(values));
        }
        let moved = self.provide_references(next, states, true, moving)?;
        for handle in released {
            self.emit(Command::Release(handle));
        }
        self.assign_together(assignments);
        Ok(moved)
    }
}
