//! The rules of passing on. They hold for arguments, results of bodies, starts and next states of
//! loops, payloads and traced components. If the receiver has a block of its own, the array is
//! row-major. If the receiver lies in a block in scope, the array lies at the same LMAD of that block.

use super::{Result, Verifier};
use crate::ffi;
use nova_flat::ir::{Atom, Variable};
use nova_flat::memory::Lmad;
use nova_flat::visit::Substitution;

impl Verifier<'_> {
    /// Checks operands whose receivers have blocks of their own.
    pub(super) fn row_major_all(&self, atoms: &[Atom]) -> Result<()> {
        atoms.iter().try_for_each(|atom| self.row_major(*atom))
    }

    pub(super) fn row_major(&self, atom: Atom) -> Result<()> {
        let Atom::Variable(variable) = atom else {
            return Ok(());
        };
        if !self.program.ty(variable).is_array() {
            return Ok(());
        }
        let lmad = &self.memory(variable)?.lmad;
        self.require(
            lmad.is_row_major() || self.renames.lmad(lmad).is_row_major(),
            || format!("{} is passed on and not row-major", self.show(variable)),
        )
    }

    /// Checks operands that are handed to `binders`.
    pub(super) fn hand_all(&self, atoms: &[Atom], binders: &[Variable]) -> Result<()> {
        let mut values = Substitution::default();
        for (atom, binder) in atoms.iter().zip(binders) {
            if let (Atom::Variable(array), Some(to)) =
                (atom, &self.program.variable(*binder).memory)
                && self.is_target(to.block)
            {
                let from = self.memory(*array)?;
                let same =
                    from.block == to.block && self.same_lmad(&from.lmad, &values.lmad(&to.lmad));
                self.require(same, || {
                    let (array, binder) = (self.show(*array), self.show(*binder));
                    format!("{array} does not lie where {binder} does")
                })?;
            } else if let (Atom::Variable(array), Some(stride)) = (atom, self.strides.get(binder)) {
                let lmad = &self.memory(*array)?.lmad;
                let dense = Lmad::of_shape(self.program.ty(*array).shape());
                let expected = dense.map(|lmad| ffi::spread(lmad, *stride));
                self.require(expected.is_some_and(|l| self.same_lmad(&l, lmad)), || {
                    format!("{} is no field of structures", self.show(*array))
                })?;
            } else {
                self.row_major(*atom)?;
            }
            values.insert(*binder, *atom);
        }
        Ok(())
    }
}
