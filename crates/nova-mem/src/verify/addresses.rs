//! The rules of LMADs. An LMAD has the rank and the extents of its array, over variables in scope. If
//! the size of the block and all addresses are constants, the elements lie inside of the block.

use super::{Result, Verifier};
use nova_flat::ir::{Type, Variable};
use nova_flat::memory::{Memory, Polynomial, polynomial_of};
use nova_flat::visit::type_variables;

impl Verifier<'_> {
    pub(super) fn check_lmad(&self, variable: Variable, memory: &Memory) -> Result<()> {
        let shape = self.program.ty(variable).shape();
        let dimensions = &memory.lmad.dimensions;
        self.require(shape.len() == dimensions.len(), || {
            format!("{} and its LMAD have different ranks", self.show(variable))
        })?;
        for (extent, (own, _)) in shape.iter().zip(dimensions) {
            let same = polynomial_of(*extent).is_some_and(|e| self.same(&e, own));
            self.require(same, || {
                format!(
                    "{} and its LMAD have different extents",
                    self.show(variable)
                )
            })?;
        }
        let mut missing = None;
        type_variables(
            &Type::Scalar(nova_core::Scalar::Bool),
            Some(memory),
            &mut |v| {
                let known = self.program.variables.get(v.index()).map(|info| &info.ty);
                let right =
                    v == memory.block || known == Some(&Type::Scalar(nova_core::Scalar::I64));
                if !right || !self.in_scope[v.index()] {
                    missing = Some(v);
                }
            },
        );
        if let Some(missing) = missing {
            let (missing, variable) = (self.show(missing), self.show(variable));
            return self.fail(format!(
                "{missing} in the LMAD of {variable} is no `i64` in scope"
            ));
        }
        Ok(())
    }

    /// Checks that the elements of an array that is written lie inside of its block. A view may lie outside
    /// after a check that always fails; so may what is written in its place.
    pub(super) fn check_range(&self, variable: Variable, memory: &Memory) -> Result<()> {
        let is_unreachable = self
            .exceeded
            .iter()
            .any(|(_, block)| *block == memory.block);
        self.require(is_unreachable || !self.exceeds(memory), || {
            format!("{} lies outside of its block", self.show(variable))
        })
    }

    /// True if elements lie outside of the block, and all addresses are constants.
    pub(super) fn exceeds(&self, memory: &Memory) -> bool {
        let constant = |p: &Polynomial| self.renames.polynomial(p).as_constant().map(i128::from);
        let size = self.sizes[memory.block.index()].as_ref().and_then(constant);
        let (Some(size), Some(offset)) = (size, constant(&memory.lmad.offset)) else {
            return false;
        };
        let (mut least, mut most) = (offset, offset);
        for (extent, stride) in &memory.lmad.dimensions {
            let (Some(extent), Some(stride)) = (constant(extent), constant(stride)) else {
                return false;
            };
            // After a check that always fails an extent may be negative. Nothing lies there.
            if extent <= 0 {
                return false;
            }
            let reach = (extent - 1).saturating_mul(stride);
            least = least.saturating_add(reach.min(0));
            most = most.saturating_add(reach.max(0));
        }
        least < 0 || most >= size
    }
}
