//! Kernels: the form that an operation takes on a device.

use crate::code::Code;
use crate::kinds::makes_apart;
use crate::stencil::Stencil;
use crate::way::Way;
use nova_flat::ir::{ArrayOperation, Expression, Level, Variable};

impl Code<'_> {
    /// Writes an operation whose indices, or chunks, are threads of a kernel.
    ///
    /// A map has a thread for each index, so that neighbouring threads read and write neighbouring
    /// elements. The same holds of lanes ([`crate::lanes`]), tiles ([`crate::tiles`]) and groups with
    /// bins ([`crate::privatised_histogram`]). Threads may bring to their group what all of them read
    /// ([`crate::blocks`]), or what neighbours read ([`crate::stencil`]). Rows that are reduced have
    /// several threads ([`crate::segmented_reduction`]). If there are too few indices and operations in
    /// the body, these become kernels instead.
    pub(crate) fn kernel(
        &mut self,
        (operation, stencil): (ArrayOperation, Option<&Stencil>),
        pattern: &[Variable],
        way: Way,
    ) {
        if let Some(stencil) = stencil {
            return self.kernel_of_stencil((operation, stencil), pattern, way);
        }
        if let Some(blocks) = self.blocking(&operation, way.parallelism) {
            return self.kernel_in_blocks((operation, &blocks), pattern, way);
        }
        match self.segmented_reduction(&operation, way.parallelism) {
            Some(rows) => self.kernel_of_segmented_reduction((operation, &rows), pattern, way),
            None => self.kernel_of_indices(operation, pattern, way),
        }
    }

    /// Writes such a kernel without blocks, halo tiles and segmented reductions.
    pub(crate) fn kernel_of_indices(
        &mut self,
        mut operation: ArrayOperation,
        pattern: &[Variable],
        mut way: Way,
    ) {
        if let Some(inside) = way.inside.take() {
            let few = self.are_few_threads(&operation);
            let inside = self.completed(inside, &operation);
            return self.choose_way(
                pattern,
                few,
                |code, own| {
                    code.push(own, Expression::Operation(inside));
                },
                |code, own| code.kernel_of_indices(operation, &own, way),
            );
        }
        if makes_apart(&operation) {
            operation.level = Level::Grid;
            return self.push(pattern.to_vec(), Expression::Operation(operation));
        }
        if self.has_lanes(&operation, way.parallelism) {
            return self.reduce_in_lanes(operation, pattern, way.parallelism);
        }
        if self.has_tiles(&operation, way.parallelism) {
            return self.in_tiles(operation, pattern, way.parallelism);
        }
        if self.has_local_bins(&operation, way.parallelism) {
            return self.histogram_of_few_or_many(operation, pattern, way);
        }
        self.grid(operation, pattern, way);
    }
}
