//! Figures of algorithms: the sizes and thresholds with which one algorithm loses least on the processors and devices of
//! this crate. Each says whether it is measured or an estimate. Passes give them names of their own.

/// The figures of sorts.
#[derive(Clone, Copy, Debug)]
pub struct Sorts {
    /// The work of a merge step besides the comparison. An estimate.
    pub merge_work: i64,
    /// Merge steps of each element. An estimate.
    pub merge_steps: i64,
    /// The maximum number of chunks of a sort by merges: each doubling of their number adds a pass. An
    /// estimate.
    pub merge_chunks: i64,
    /// The work of sorting a key. An estimate.
    pub key_work: i64,
    /// The maximum number of chunks of a sort of keys. An estimate.
    pub key_chunks: i64,
    /// The logarithm of the samples of a chunk. An estimate.
    pub sample_bits: u32,
    /// The least keys are sorted for themselves where a chunk may have so many times as many. An estimate.
    pub least_keys_share: i64,
    /// The number of elements from which those are sorted that are words of a key and what it carries: a few are
    /// placed by their ranks.
    pub words: i64,
    /// The largest range of numbers that are marked in a table: so many for each element. An estimate.
    pub marked_range: i64,
    /// The keys that are looked at together for a selected one: some vectors. An estimate.
    pub selected_block: i64,
    /// The maximum number of bits of a digit of many keys: with more, the ends of the sequences that are
    /// written fill the caches of addresses and of lines. Measured (docs/decisions/sorts.md).
    pub digit_bits: i64,
    /// The maximum number of bits of a digit of fewer keys, and of keys beside positions, which are two
    /// arrays that are written. Measured (docs/decisions/sorts.md).
    pub fewer_digit_bits: i64,
    /// The share of keys below which the others are left out before the sort: one in so many. An estimate.
    pub selected_share: i64,
    /// The share of keys that are counted by their leading bits: one in so many. An estimate.
    pub sampled_share: i64,
    /// The logarithm of the number of counts of leading bits, which lie in the first cache. An estimate.
    pub bucket_bits: i64,
    /// The first elements of a sort are selected where there may be at least so many times as many. An estimate.
    pub first_share: i64,
    /// The least number of elements that are sampled for them, as a multiple of those that keys are worth. An
    /// estimate.
    pub first_sampled: i64,
    /// The logarithm of the least number of elements of such a sample. An estimate.
    pub first_least_bits: i64,
    /// The places between the elements of a sample, if there are so many elements. An estimate.
    pub first_distance: i64,
    /// The logarithm of the greatest number of elements of a sample. An estimate.
    pub first_most_bits: i64,
    /// The elements of a sample up to its limit, beside twice those that are expected among the ones that are
    /// used. With three the limit is hardly ever too low. An estimate.
    pub first_spare: i64,
    /// The most keys that are found as the least ones of those that are left, and the most keys of which they are
    /// found: each takes the time of a pass over keys in the first cache. An estimate.
    pub minima: i64,
    pub minima_keys: i64,
    /// The bits of a digit on a device. An estimate.
    pub device_digit_bits: u64,
    /// The elements of a tile of a device. A thread's counts and the table of runs are small beside them,
    /// there are many threads, and a byte holds the position of an element. An estimate.
    pub device_tile: i64,
    /// The elements that a thread of a device takes from runs. An estimate.
    pub device_taken: i64,
    /// The least block of the table of runs of a device, a power of two. An estimate.
    pub device_run_block: i64,
}

/// The figures of sorts.
pub const SORTS: Sorts = Sorts {
    merge_work: 8,
    merge_steps: 16,
    merge_chunks: 64,
    key_work: 4,
    key_chunks: 128,
    sample_bits: 5,
    least_keys_share: 8,
    words: 2,
    marked_range: 8,
    selected_block: 64,
    digit_bits: 10,
    fewer_digit_bits: 8,
    selected_share: 8,
    sampled_share: 16,
    bucket_bits: 11,
    first_share: 8,
    first_sampled: 16,
    first_least_bits: 5,
    first_distance: 64,
    first_most_bits: 12,
    first_spare: 3,
    minima: 16,
    minima_keys: 1 << 13,
    device_digit_bits: 4,
    device_tile: 1 << 8,
    device_taken: 64,
    device_run_block: 16,
};

/// The figures of histograms.
#[derive(Clone, Copy, Debug)]
pub struct Histograms {
    /// The least number of elements for each bin of a chunk of a device. An estimate.
    pub elements: i64,
    /// The same of a processor, whose threads fill and combine bins in vectors. An estimate.
    pub processor_elements: i64,
    /// The maximum number of sets of bins that are combined in sequence, and so of chunks for threads of a
    /// processor. An estimate.
    pub sets: i64,
    /// The least number of elements of a thread of a device for each of its bins in local memory: the cost of
    /// starting a bin and combining it with others. An estimate.
    pub local_elements: i64,
}

/// The figures of histograms.
pub const HISTOGRAMS: Histograms = Histograms {
    elements: 16,
    processor_elements: 8,
    sets: 64,
    local_elements: 4,
};

/// The figures of chunks of an operation, which threads take.
#[derive(Clone, Copy, Debug)]
pub struct Chunks {
    /// Sizes of larger even chunks are multiples of this, so that vectors and tiles fit.
    pub round: i64,
    /// Chunks of indices with loops of their own grow as long as there are so many. An estimate.
    pub enough: i64,
    /// The number of rows to which chunks of a map grow whose elements are reductions: at least, and at most while
    /// there are enough chunks. Blocks of a contraction have at least six rows, and what rows share is packed for
    /// each chunk. Estimates.
    pub rows_of_sums: [i64; 2],
    /// The factor by which scans have more chunks: their chunks are read twice, and then lie in a cache. An
    /// estimate.
    pub scanned: i64,
    /// The rows that are tested for whether they follow each other in memory. An estimate.
    pub samples: i64,
}

/// The figures of chunks of an operation, which threads take.
pub const CHUNKS: Chunks = Chunks {
    round: 64,
    enough: 16,
    rows_of_sums: [16, 256],
    scanned: 4,
    samples: 32,
};

/// The figures of reductions of columns whose rows threads share.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// The maximum number of columns. More of them are shared as they are, several lines of a cache for each thread.
    /// An estimate.
    pub most: i64,
    /// The maximum number of chunks of rows. An estimate.
    pub chunks: i64,
}

/// The figures of reductions of columns whose rows threads share.
pub const COLUMNS: Columns = Columns {
    most: 1024,
    chunks: 64,
};

/// The figures of tiles of results and of scans.
#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    /// The maximum number of values of a tile that a thread of a device has. It is odd, since threads that
    /// read at odd distances read from different banks of local memory. An estimate.
    pub values: i64,
    /// The minimum number of these values, odd as well.
    pub fewest_values: i64,
    /// The maximum number of these values in a single pass. Larger tiles are faster there, since prefixes
    /// pass from tile to tile at a limited rate. Measured on an H200: running sums of 2²⁸ integers took 1.27
    /// times as long with 9 values.
    pub single_pass_values: i64,
    /// The possible numbers of a reduction's indices in a tile, for a map of one dimension on a device. There
    /// are no more of these than threads, since a group has as many threads as its longest loop over threads
    /// has iterations. Estimates.
    pub line_tiles: [i64; 2],
    /// The number of a reduction's indices in a tile, for a map of two dimensions on a device. An estimate.
    pub side_tile: i64,
    /// The possible numbers of indices that a thread of a device has in each direction of two dimensions.
    /// Estimates.
    pub each: [[i64; 2]; 4],
    /// The maximum number of rows of results in one tile of a processor, if rows share elements. An estimate.
    pub rows: u32,
    /// The number of rows of results from which elements that lie far from each other are copied into a panel.
    /// An estimate.
    pub copied_rows: u32,
    /// The number of neighbouring results from which these are computed side by side. An estimate.
    pub few: u32,
    /// The factor by which a narrow tile has fewer lanes, for results that do not fill a tile. An estimate.
    pub narrow: u32,
    /// The maximum number of left factors of a contraction that are kept for the loops around. An estimate of
    /// memory that a user spares.
    pub shared_factors: i64,
    /// The maximum number of padded copies for a loop. An estimate.
    pub padded_copies: usize,
}

/// The figures of tiles of results and of scans.
pub const TILES: Tiles = Tiles {
    values: 9,
    fewest_values: 1,
    single_pass_values: 15,
    line_tiles: [128, 64],
    side_tile: 16,
    each: [[4, 4], [4, 2], [2, 2], [1, 1]],
    rows: 4,
    copied_rows: 16,
    few: 8,
    narrow: 4,
    shared_factors: 1 << 27,
    padded_copies: 4,
};

/// The figures of stencils on devices.
#[derive(Clone, Copy, Debug)]
pub struct Stencils {
    /// The possible numbers of neighbouring elements that a group of a device computes. The largest one for
    /// which there is room is taken. Estimates.
    pub tile_sizes: [i64; 3],
    /// The largest distance of a neighbour. An estimate.
    pub reach: i64,
    /// The minimum number of neighbours in one array. An estimate.
    pub reads: usize,
    /// The minimum average number of times that a thread reads what it brings. An estimate.
    pub times: i64,
    /// Distances beyond this are given up. An estimate.
    pub far: i64,
}

/// The figures of stencils on devices.
pub const STENCILS: Stencils = Stencils {
    tile_sizes: [1024, 512, 256],
    reach: 8,
    reads: 3,
    times: 2,
    far: 64,
};

/// The figures of reductions of rows of different lengths.
#[derive(Clone, Copy, Debug)]
pub struct Segments {
    /// The minimum average number of elements of rows that are worth lanes of a device. A lane has two
    /// elements at least. An estimate.
    pub lanes_from: i64,
    /// With fewer rows than this many times the operations that are worth a thread, all threads of a device
    /// share the elements of each row, if they can. An estimate.
    pub few_rows: i64,
    /// Long rows have this many times the mean number of elements. An estimate.
    pub long_times: i64,
    /// Long rows have this many times as many elements as operations are worth a thread: enough to keep a
    /// group at work for a while. An estimate.
    pub group_work: i64,
    /// Long rows are looked for in at least this many times as many elements as operations are worth a
    /// thread. An estimate.
    pub search_work: i64,
}

/// The figures of reductions of rows of different lengths.
pub const SEGMENTS: Segments = Segments {
    lanes_from: 8,
    few_rows: 2,
    long_times: 16,
    group_work: 64,
    search_work: 1 << 12,
};

/// The figures of rows that are taken together.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// The logarithm of the number of rows that are reduced together. Measured
    /// (docs/benchmarks/2026-11-26-amd-zen4.md).
    pub together_bits: i64,
    /// The maximum number of statements of an element of these rows. Longer ones are limited by more than
    /// memory. An estimate.
    pub together_statements: usize,
    /// Blocks of a reduction of docs/order.md that are added up together where the order is free. Lanes of 128
    /// numbers are still precise. They are combined a quarter as often, and combining them takes the time of
    /// sixty elements and more. An estimate.
    pub free_blocks: usize,
    /// The maximum number of components of reductions of rows in a strip. An estimate.
    pub strip_components: usize,
    /// The minimum number of lanes of a loop that is marked for vector instructions. An estimate.
    pub fewest_vector: i64,
    /// The number of rows that are taken together by unroll-and-jam: a power of two. An estimate.
    pub unroll_and_jam: i64,
    /// The maximum number of distinct elements that these rows together read, as a percentage of what they
    /// read one by one. An estimate.
    pub distinct_percent: usize,
    /// The minimum number of iterations of a loop with narrow accumulators. An estimate.
    pub narrowed_iterations: i64,
    /// The minimum number of rows that are added to narrow lanes before the lanes are added to the totals. An
    /// estimate.
    pub fewest_narrowed: i64,
    /// The maximum number of these rows. An estimate.
    pub most_narrowed: i64,
}

/// The figures of rows that are taken together.
pub const ROWS: Rows = Rows {
    together_bits: 2,
    together_statements: 16,
    free_blocks: 4,
    strip_components: 4,
    fewest_vector: 8,
    unroll_and_jam: 4,
    distinct_percent: 75,
    narrowed_iterations: 1024,
    fewest_narrowed: 16,
    most_narrowed: 1 << 12,
};

/// The figures of strips of a loop.
#[derive(Clone, Copy, Debug)]
pub struct Strips {
    /// Iterations of a strip whose recurrence is decoupled from costly work. An estimate.
    pub decoupled: u32,
    /// Iterations of a strip of a filter. A byte counts them. An estimate.
    pub packed: u32,
    /// The part of a strip, as a divisor, up to which its survivors are taken one by one. An estimate.
    pub packed_share: i64,
    /// The maximum work of a value that a strip with survivors computes again. An estimate.
    pub packed_work: u32,
    /// The part of a strip's iterations that take a branch, as a divisor, from which on its work is computed
    /// for all. A vector has so many doubles at least.
    pub taken: i64,
    /// Iterations of a strip of a loop that is split. An estimate.
    pub split: u32,
    /// The maximum cost of a split, as a percentage of the longest chain of the whole loop. An estimate.
    pub worth_percent: u32,
    /// The maximum number of vectors whose reciprocal roots are refined together, few enough for registers. An
    /// estimate.
    pub refined_vectors: i64,
    /// The maximum number of factors of a product that replaces a quotient. A division costs as much as these. An
    /// estimate.
    pub quotient_factors: usize,
    /// The maximum number of values that are stored between the halves of a split. An estimate.
    pub expanded_values: usize,
    /// Iterations of a strip in which all angles are bounded. An estimate.
    pub angled: u32,
    /// The maximum number of different angles of its body. An estimate.
    pub angles: usize,
    /// Values of no more work are computed again in each loop of a strip that needs them. An estimate.
    pub again_work: u32,
    /// The maximum number of local arrays of a strip. An estimate.
    pub arrays: usize,
    /// The cost of an element that does not lie beside that of the next iteration, in instructions. An
    /// estimate.
    pub gather_work: u32,
    /// The minimum number of iterations, where it is known, of a loop whose indices are split. Compilers
    /// unroll shorter ones. An estimate.
    pub shortest_split: i64,
    /// The maximum number of arrays of a filter that are staged. Chunks of more arrays would not stay in the
    /// cache. An estimate.
    pub staged_arrays: usize,
    /// The maximum number of local arrays of an iteration that gathers. Each costs as many loads and stores
    /// again. An estimate.
    pub gathered_arrays: usize,
    /// The stride that vector instructions support.
    pub gathered_stride: u32,
}

/// The figures of strips of a loop.
pub const STRIPS: Strips = Strips {
    decoupled: 128,
    packed: 128,
    packed_share: 8,
    packed_work: 24,
    taken: 4,
    split: 128,
    worth_percent: 75,
    refined_vectors: 4,
    quotient_factors: 7,
    expanded_values: 6,
    angled: 256,
    angles: 4,
    again_work: 3,
    arrays: 12,
    gather_work: 4,
    shortest_split: 32,
    staged_arrays: 4,
    gathered_arrays: 8,
    gathered_stride: 2,
};

/// Estimates of work that nothing tells.
#[derive(Clone, Copy, Debug)]
pub struct Estimates {
    /// The cost of a call.
    pub call: i64,
    /// The cost of a call of a foreign function.
    pub foreign: i64,
    /// The iterations of a loop of unknown length.
    pub iterations: i64,
    /// The cost of a call of a recursive function, if nothing tells how much work it has.
    pub recursion: i64,
    /// Bodies that cost more are not computed twice.
    pub computed_twice: i64,
    /// The maximum number of elements, known when the program is compiled, with which a statement inside a
    /// loop has no row of a profile: taking its time would take longer.
    pub profiled: i64,
    /// The iterations of the first part of a loop whose tables shrink.
    pub first_part: i64,
    /// The factor by which these parts get longer.
    pub growth: i64,
}

/// Estimates of work that nothing tells.
pub const ESTIMATES: Estimates = Estimates {
    call: 64,
    foreign: 1024,
    iterations: 16,
    recursion: 1 << 20,
    computed_twice: 48,
    profiled: 64,
    first_part: 1,
    growth: 4,
};
