//! The sizes of tiles.

use nova_machine::PROCESSOR;

/// The sizes of tiles, and of units of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileSizes {
    /// The bytes of accumulators in one tile: as many as the registers of a processor hold.
    pub accumulators: u32,
    /// The bytes of accumulators in one tile that reads other elements at each step.
    pub step_accumulators: u32,
    /// The bytes of accumulators in one tile whose rows share a panel.
    pub panel_accumulators: u32,
    /// The minimum number of results in a row of such a tile.
    pub panel_lanes: u32,
    /// The number of steps of the reduction in a block, a power of two. Floats are added in single precision
    /// for so many steps.
    pub steps: u32,
    /// The number of rows of results that share a panel of elements: a power of two and a multiple of
    /// four.
    pub rows: u32,
    /// The maximum number of groups of rows, and of rows of lanes, in a block of a contraction with few steps, and
    /// with many.
    pub contracted_groups: [i64; 2],
    pub contracted_tiles: [i64; 2],
    /// The minimum number of elements in the chunks of a scatter.
    pub stored: u32,
    /// The bytes of a cache line.
    pub line: u32,
    /// The number of iterations that are taken in lockstep, a power of two.
    pub lanes: u32,
    /// The number of keys from which a sort counts digits rather than merging.
    pub radix_keys: i64,
}

impl Default for TileSizes {
    /// Returns the sizes for processors with vectors of 16 to 64 bytes.
    fn default() -> Self {
        TileSizes {
            accumulators: PROCESSOR.accumulator_bytes(),
            step_accumulators: PROCESSOR.step_accumulator_bytes,
            panel_accumulators: PROCESSOR.panel_accumulator_bytes,
            panel_lanes: PROCESSOR.panel_lanes,
            steps: 128,
            rows: 64,
            contracted_groups: PROCESSOR.contracted_groups,
            contracted_tiles: PROCESSOR.contracted_tiles,
            stored: 1 << 12,
            line: PROCESSOR.line_bytes as u32,
            lanes: PROCESSOR.lockstep_lanes as u32,
            radix_keys: PROCESSOR.radix_keys,
        }
    }
}
