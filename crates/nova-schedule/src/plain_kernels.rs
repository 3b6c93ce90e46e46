//! Kernels of operations whose threads read nothing together: the indices, or lanes, tiles, groups with
//! bins, or chunks of them, are threads.

use crate::chunked::grid;
use crate::chunking::are_few_threads;
use crate::grid::completed;
use crate::lanes::{has_lanes, reduce_in_lanes};
use crate::privatised_histogram::{has_local_bins, histogram_of_few_or_many};
use crate::tiles::{has_tiles, in_tiles};
use crate::way::Way;
use crate::writer::Writer;
use nova_flat::ir::{ArrayOperation, Expression, Level, Variable};
use nova_flat::kinds::makes_apart;

/// Writes a kernel without blocks, halo tiles and segmented reductions.
pub(crate) fn plain_kernel(
    code: &mut Writer,
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
            |code, own| plain_kernel(code, operation, &own, way),
        );
    }
    if makes_apart(&operation) {
        operation.level = Level::Grid;
        return code.push(pattern.to_vec(), Expression::Operation(operation));
    }
    if has_lanes(code.program, &operation, code.parallelism) {
        return reduce_in_lanes(code, operation, pattern);
    }
    if has_tiles(code.program, &operation, code.parallelism) {
        return in_tiles(code, operation, pattern);
    }
    if has_local_bins(code.program, &operation, code.parallelism) {
        return histogram_of_few_or_many(code, operation, pattern, way);
    }
    grid(code, operation, pattern, way);
}
