//! Kernels: the form that an operation takes on a device.

use crate::blocks::{blocking, kernel_in_blocks};
use crate::chunked::grid;
use crate::chunking::are_few_threads;
use crate::code::Code;
use crate::grid::completed;
use crate::kinds::makes_apart;
use crate::lanes::{has_lanes, reduce_in_lanes};
use crate::privatised_histogram::{has_local_bins, histogram_of_few_or_many};
use crate::segmented_reduction::{kernel_of_segmented_reduction, segmented_reduction};
use crate::stencil::Stencil;
use crate::stencil::halo_tiles::kernel_of_stencil;
use crate::tiles::{has_tiles, in_tiles};
use crate::way::Way;
use nova_flat::ir::{ArrayOperation, Expression, Level, Variable};

/// Writes an operation whose indices, or chunks, are threads of a kernel.
///
/// A map has a thread for each index, so that neighbouring threads read and write neighbouring
/// elements. The same holds of lanes ([`crate::lanes`]), tiles ([`crate::tiles`]) and groups with
/// bins ([`crate::privatised_histogram`]). Threads may bring to their group what all of them read
/// ([`crate::blocks`]), or what neighbours read ([`crate::stencil`]). Rows that are reduced have
/// several threads ([`crate::segmented_reduction`]). If there are too few indices and operations in
/// the body, these become kernels instead.
pub(crate) fn kernel(
    code: &mut Code,
    (operation, stencil): (ArrayOperation, Option<&Stencil>),
    pattern: &[Variable],
    way: Way,
) {
    if let Some(stencil) = stencil {
        return kernel_of_stencil(code, (operation, stencil), pattern, way);
    }
    if let Some(blocks) = blocking(code, &operation, way.parallelism) {
        return kernel_in_blocks(code, (operation, &blocks), pattern, way);
    }
    match segmented_reduction(code, &operation, way.parallelism) {
        Some(rows) => kernel_of_segmented_reduction(code, (operation, &rows), pattern, way),
        None => kernel_of_indices(code, operation, pattern, way),
    }
}

/// Writes such a kernel without blocks, halo tiles and segmented reductions.
pub(crate) fn kernel_of_indices(
    code: &mut Code,
    mut operation: ArrayOperation,
    pattern: &[Variable],
    mut way: Way,
) {
    if let Some(inside) = way.inside.take() {
        let few = are_few_threads(code, &operation);
        let inside = completed(code, inside, &operation);
        return code.choose_way(
            pattern,
            few,
            |code, own| {
                code.push(own, Expression::Operation(inside));
            },
            |code, own| kernel_of_indices(code, operation, &own, way),
        );
    }
    if makes_apart(&operation) {
        operation.level = Level::Grid;
        return code.push(pattern.to_vec(), Expression::Operation(operation));
    }
    if has_lanes(code, &operation, way.parallelism) {
        return reduce_in_lanes(code, operation, pattern, way.parallelism);
    }
    if has_tiles(code, &operation, way.parallelism) {
        return in_tiles(code, operation, pattern, way.parallelism);
    }
    if has_local_bins(code, &operation, way.parallelism) {
        return histogram_of_few_or_many(code, operation, pattern, way);
    }
    grid(code, operation, pattern, way);
}
