//! Kernels: the form that an operation takes on a device.

use crate::blocks::{blocking, kernel_in_blocks};
use crate::plain_kernels::plain_kernel;
use crate::segmented_reduction::{kernel_of_segmented_reduction, segmented_reduction};
use crate::stencil::Stencil;
use crate::stencil::halo_tiles::kernel_of_stencil;
use crate::way::Way;
use crate::writer::Writer;
use nova_flat::ir::{ArrayOperation, Variable};

/// Writes an operation whose indices, or chunks, are threads of a kernel.
///
/// A map has a thread for each index, so that neighbouring threads read and write neighbouring
/// elements. The same holds of lanes ([`crate::lanes`]), tiles ([`crate::tiles`]) and groups with
/// bins ([`crate::privatised_histogram`]). Threads may bring to their group what all of them read
/// ([`crate::blocks`]), or what neighbours read ([`crate::stencil`]). Rows that are reduced have
/// several threads ([`crate::segmented_reduction`]). If there are too few indices and operations in
/// the body, these become kernels instead.
pub(crate) fn kernel(
    code: &mut Writer,
    (operation, stencil): (ArrayOperation, Option<&Stencil>),
    pattern: &[Variable],
    way: Way,
) {
    if let Some(stencil) = stencil {
        return kernel_of_stencil(code, (operation, stencil), pattern, way);
    }
    if let Some(blocks) = blocking(code.program, &operation, code.parallelism) {
        return kernel_in_blocks(code, (operation, &blocks), pattern, way);
    }
    match segmented_reduction(code.program, &operation, code.parallelism) {
        Some(rows) => kernel_of_segmented_reduction(code, (operation, &rows), pattern, way),
        None => plain_kernel(code, operation, pattern, way),
    }
}
