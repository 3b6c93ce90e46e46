//! Homes that an entry hands to its caller.

use super::classes::{Class, Home};
use super::found::{Found, block};
use crate::alias::is_inside;
use crate::uses::Uses;
use nova_flat::ir::{Atom, Destination, Function, Program, Variable};
use nova_flat::memory::Lmad;

/// The results of a function, and the memory in which they are handed to the caller.
pub(super) struct Results<'a> {
    pub(super) uses: &'a Uses,
    pub(super) found: &'a Found,
    pub(super) function: &'a Function,
    pub(super) destinations: &'a [Option<Destination>],
    pub(super) extents: &'a [bool],
}

impl Results<'_> {
    /// Returns the memory for the caller in which the arrays of a class can lie. One result must be all
    /// that leaves the class, it must have the size of the home, and the home must be allocated in the
    /// function's own body.
    pub(super) fn destination(
        &self,
        program: &Program,
        class: &Class,
        home: &Home,
    ) -> Option<Destination> {
        let of_class = |(_, result): &(usize, &Atom)| match result {
            Atom::Variable(v) => block(program, *v).is_some_and(|b| class.blocks.contains(&b)),
            Atom::Constant(_) => false,
        };
        let mut results = self
            .function
            .body
            .results
            .iter()
            .enumerate()
            .filter(of_class);
        let (component, Atom::Variable(result)) = results.next()? else {
            return None;
        };
        let destination = self.destinations.get(component).copied().flatten()?;
        let dense = Lmad::of_shape(program.ty(*result).shape())?;
        let memory = program.variable(*result).memory.as_ref()?;
        let fits = results.next().is_none()
            && destination.stride == 1
            && memory.lmad == dense
            && self.leaves_once(class)
            && match home {
                Home::Block(home, _) => {
                    self.is_bound_here(*home) && self.is_filled(program, *home, &dense)
                }
                Home::CopyOf(state) => self.is_bound_here(self.found.states[*state].last),
            };
        fits.then_some(destination)
    }

    /// True if one array of a class is passed on elsewhere, once.
    fn leaves_once(&self, class: &Class) -> bool {
        let handed: usize = class
            .blocks
            .iter()
            .map(|b| self.uses.handed(*b).count())
            .sum();
        handed == class.flows_handed() + 1
    }

    /// True if the function's own body binds a variable, outside of all nested bodies.
    fn is_bound_here(&self, variable: Variable) -> bool {
        let mut statements = self.function.body.statements.iter();
        statements.any(|statement| statement.pattern.contains(&variable))
    }

    /// True if an array at the start of a block has all elements of the block, so that all arrays there
    /// lie inside of it.
    fn is_filled(&self, program: &Program, home: Variable, dense: &Lmad) -> bool {
        let is_extent = |v: Variable| self.extents.get(v.index()) == Some(&true);
        let arrays = self.uses.block(home).map(|b| b.arrays.as_slice());
        let mut arrays = arrays.unwrap_or_default().iter();
        arrays.all(|array| {
            let memory = program.variable(*array).memory.as_ref();
            memory.is_some_and(|m| is_inside(&m.lmad, dense, &is_extent))
        })
    }
}
