//! Bounds of what operations on bits give.

use super::affine::Affine;
use super::state::Bounds;
use nova_core::ScalarOperation;
use nova_flat::ir::Variable;

/// Notes bounds of a mask, a shift or a number of bits.
pub(super) fn bound_bits(
    bounds: &mut Bounds<'_>,
    variable: Variable,
    operation: ScalarOperation,
    operands: &[Affine],
) {
    let mut most: Vec<Affine> = match operation {
        ScalarOperation::BitAnd => operands.to_vec(),
        ScalarOperation::ShiftRight => operands.iter().take(1).cloned().collect(),
        ScalarOperation::PopCount => vec![Affine::constant(u64::BITS.into())],
        _others => Vec::new(),
    };
    most.retain(|sum| bounds.facts.is_not_negative(sum));
    for sum in most {
        bounds.facts.at_least(variable, Affine::constant(0));
        bounds.facts.at_most(variable, sum.clone());
        if let (ScalarOperation::ShiftRight, Some(shift @ 0..=62)) =
            (operation, operands.last().and_then(Affine::as_constant))
        {
            bounds.bound_quotient(variable, &sum, 1 << shift);
        }
    }
}
