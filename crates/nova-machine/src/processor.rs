//! Processors: their vectors, caches, memory and threads.

use crate::cost;

/// The figures of a processor.
#[derive(Clone, Copy, Debug)]
pub struct Processor {
    /// Bytes of a vector register, where these are largest: those of AVX-512.
    pub vector_bytes: u32,
    /// The number of vector registers: those of AVX-512 and AArch64.
    pub vector_registers: u32,
    /// Bytes of a cache line, the unit of transfer to memory: those of x86-64.
    pub line_bytes: i64,
    /// Bytes of the first-level data cache: those of a Zen 4.
    pub first_cache_bytes: i64,
    /// Bytes of a thread's stack that the tiles of one function may take: an eighth of the usual 8 MiB.
    pub tile_stack_bytes: u32,

    /// The prefetch distance of an array in bytes, in a loop with other accesses: what memory delivers
    /// during its latency. Measured (docs/decisions/memory-order.md).
    pub prefetch_bytes: i64,
    /// The sum of the prefetch distances in bytes, in a loop that only reads arrays from front to back.
    /// Measured (docs/decisions/reduction-order.md).
    pub linear_prefetch_bytes: i64,
    /// The maximum number of arrays with software prefetch in a loop. More are left to the processor. An
    /// estimate.
    pub prefetched_arrays: usize,
    /// Instructions of an iteration up to which memory limits a loop that writes every element of a
    /// result. With more, non-temporal stores save nothing. An estimate.
    pub memory_bound_work: u32,
    /// Bytes of a strip of non-temporal stores for which the loop is set up anew. Longer strips delay the
    /// reads, shorter ones the loop. Measured (docs/decisions/strip-mining.md).
    pub non_temporal_strip_bytes: u32,
    /// Rows that are stored before the first of them is read again, so that its elements have left the
    /// store queue. An estimate, with rows of a few elements.
    pub store_queue_rows: u32,
    /// Lines of a tile of a transposed copy, along the neighbours in the source and along those in the
    /// destination. Measured on a Zen 4 (docs/decisions/transposed-copies.md).
    pub transposed_lines: [i64; 2],

    /// Bytes of the accumulators of a tile that reads other elements at each step: half of the first-level cache.
    /// An estimate.
    pub step_accumulator_bytes: u32,
    /// Bytes of the accumulators of a tile whose rows share a panel: twelve of the sixteen vectors of AVX2.
    /// Measured (docs/decisions/tiles.md).
    pub panel_accumulator_bytes: u32,
    /// The minimum number of results in a row of such a tile: more than the sixteen up to which gcc unrolls a
    /// loop before it looks for vectors, and whole vectors. Measured (docs/decisions/tiles.md).
    pub panel_lanes: u32,
    /// Groups of six rows in a block of a contraction, and rows of lanes of 128 bytes, with few steps and with
    /// many. The panels and totals of the smaller block take less than the second-level cache; of the larger
    /// one only the left panel does. Measured (docs/decisions/contractions.md).
    pub contracted_groups: [i64; 2],
    pub contracted_tiles: [i64; 2],
    /// Blocks of steps from which a contraction has many. An estimate.
    pub far_total_blocks: i64,
    /// Products of a sum from which panels are worth their making. An estimate.
    pub contracted_steps: i64,
    /// Iterations of a loop that are taken in lockstep: more than the sixteen up to which gcc unrolls a loop
    /// before it looks for vectors, a power of two. Measured (docs/decisions/lockstep.md).
    pub lockstep_lanes: i64,
    /// The maximum number of bytes of a row of each lane that is packed, so that the rows of all lanes take half of
    /// the first-level cache.
    pub packed_row_bytes: i64,
    /// The most steps of lanes between two looks at whether any lane is left. Measured (docs/decisions/lockstep.md).
    pub batched_steps: i64,
    /// The steps before a batch for each of its steps, as a power of two, so that at most an eighth is wasted. An
    /// estimate.
    pub batch_shift: i64,
    /// The most instructions of a step next to which a look is expensive. An estimate.
    pub batched_work: u32,
    /// Lanes of a short reduction inside a loop: a vector register of floats. Measured
    /// (docs/decisions/reduction-order.md).
    pub few_lanes: u32,
    /// The maximum number of elements of such a reduction. An estimate.
    pub few_elements: i64,
    /// Iterations of a strip in which vector instructions look for something better: some vectors. An
    /// estimate.
    pub selection_strip: i64,
    /// The least number of iterations that pay for several loops in place of one: each ends with a mispredicted
    /// branch. An estimate.
    pub decoupled_iterations: i64,
    /// Keys from which a sort counts digits rather than merging. Measured (docs/decisions/sorts.md).
    pub radix_keys: i64,
    /// The cost of a branch that is sometimes mispredicted, in simple operations. An estimate.
    pub branch_work: u32,
    /// Instructions of an iteration, below which the processor overlaps iterations by itself. An estimate
    /// of a part of the reorder buffer.
    pub overlapped_work: u32,
    /// Cycles of the longest chain of an iteration, below which the processor hides it. An estimate.
    pub hidden_latency: u32,
    /// Cycles in which a value is stored by one loop and loaded by the next. An estimate.
    pub store_and_load: u32,

    /// The number of threads that share a loop, at least: with fewer indices, threads may want more than
    /// there are. An estimate.
    pub threads: i64,
    /// Simple operations that are worth a thread's time: several times the start of a region. An estimate.
    pub thread_work: i64,
    /// The simple operations of a loop of vector instructions that take the time of one of other loops. Measured on a
    /// Zen 4 (docs/decisions/work-assisting.md).
    pub vector_operations: i64,
    /// The number of chunks of a scan that are worth several threads' time: each chunk is computed twice, and
    /// waits for the one before. An estimate.
    pub running_chunks: i64,
    /// The maximum number of chunks of an operation: some for each of many threads, so that they end
    /// together. An estimate.
    pub chunks: i64,
    /// Elements of a row of a block that are worth a thread. An estimate.
    pub stored_row: i64,
    /// The minimum number of elements of a literal that becomes constant data. Shorter ones are stored
    /// one by one, from registers. An estimate.
    pub literal_elements: usize,
}

/// The figures of the processors for which code is generated.
pub const PROCESSOR: Processor = Processor {
    vector_bytes: 64,
    vector_registers: 32,
    line_bytes: 64,
    first_cache_bytes: 32 << 10,
    tile_stack_bytes: 1 << 20,
    prefetch_bytes: 2048,
    linear_prefetch_bytes: 8192,
    prefetched_arrays: 4,
    memory_bound_work: 60,
    non_temporal_strip_bytes: 256,
    store_queue_rows: 32,
    transposed_lines: [4, 1],
    step_accumulator_bytes: 16 << 10,
    panel_accumulator_bytes: 384,
    panel_lanes: 24,
    contracted_groups: [16, 64],
    contracted_tiles: [8, 32],
    far_total_blocks: 4,
    contracted_steps: 8,
    lockstep_lanes: 32,
    packed_row_bytes: 512,
    batched_steps: 8,
    batch_shift: 3,
    batched_work: 32,
    few_lanes: 8,
    few_elements: 128,
    selection_strip: 64,
    decoupled_iterations: 32,
    radix_keys: 128,
    branch_work: 8,
    overlapped_work: 60,
    hidden_latency: 100,
    store_and_load: 4,
    threads: 32,
    thread_work: 1 << 15,
    vector_operations: 4,
    running_chunks: 16,
    chunks: 256,
    stored_row: 512,
    literal_elements: 32,
};

impl Processor {
    /// Returns the number of elements of so many bytes in a vector register.
    pub const fn lanes(&self, bytes: u32) -> u32 {
        self.vector_bytes / bytes
    }

    /// Returns the bytes of the accumulators of a tile: half of the registers. The others hold elements.
    pub const fn accumulator_bytes(&self) -> u32 {
        self.vector_registers * self.vector_bytes / 2
    }

    /// Returns the number of independent sums that keep an adder busy, which begins one addition in each
    /// cycle.
    pub const fn independent_sums(&self) -> u32 {
        cost::SIMPLE.latency
    }

    /// Returns the maximum stride of neighbouring elements. Those of eight bytes that are so far apart
    /// are still in lines that follow each other.
    pub const fn neighbour_stride(&self) -> i64 {
        self.line_bytes / 8
    }

    /// Returns the number of elements of so many bytes that take half of the first-level cache. The rest
    /// is for what is read and written beside them.
    pub const fn cached_elements(&self, bytes: i64) -> i64 {
        self.first_cache_bytes / 2 / bytes
    }
}
