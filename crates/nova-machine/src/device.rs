//! Devices: their threads, the memory of work-groups, and the start of kernels.

/// The figures of a device.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    /// Threads of a warp, whose reads memory serves together: those of NVIDIA's. A power of two.
    pub warp: i64,
    /// Threads of a work-group that shares a tile: a square, and the default of `NOVA_BLOCK_SIZE`.
    pub group_threads: i64,
    /// Threads of a work-group of a blocked nest of one dimension. An estimate.
    pub row_group_threads: i64,
    /// Threads of a work-group that have bins: the groups that then fit a multiprocessor have all the
    /// threads that it runs.
    pub bin_threads: i64,
    /// Bytes of local memory that any device of OpenCL has.
    pub group_bytes: i64,
    /// Bytes of shared memory that a device of CUDA has without an attribute.
    pub shared_bytes: i64,
    /// Bytes of a group's memory that tiles leave to other arrays, such as the sums of sixteen threads. An
    /// estimate.
    pub reserved_bytes: i64,
    /// Bytes of local memory in which a group notes whether one of its threads has failed.
    pub failure_bytes: i64,

    /// The number of threads that a device may want. With fewer indices, it is idle in part. An estimate.
    pub threads: i64,
    /// Warps that a large device runs at a time. More would only leave more values. An estimate.
    pub warps: i64,
    /// Simple operations that are worth a thread. An estimate.
    pub thread_work: i64,
    /// The maximum number of chunks of an operation. An estimate.
    pub chunks: i64,
    /// Work-groups are enough if there are this many times as many indices as operations that are worth a
    /// thread. An estimate.
    pub groups_from: i64,
    /// The maximum number of values that all threads keep in global memory until they are combined. An
    /// estimate.
    pub kept_values: i64,

    /// Values that a thread reads one after the other while another kernel would start. An estimate.
    pub launch_reads: i64,
    /// The work of the host during the start of a kernel, in multiples of the work worth a thread. An estimate.
    pub launch_work: i64,
    /// Elements below which the host, or a thread, has sorted before the kernels of a sort would have
    /// started, in multiples of what is worth a thread. An estimate.
    pub sort_work: i64,
    /// The minimum number of elements that threads of the device copy. An estimate.
    pub copied_elements: i64,
    /// The maximum number of elements of an array that are transferred one by one. An estimate.
    pub single_transfers: u32,
    /// The minimum number of elements of a literal that becomes constant data of the host. Kernels cannot
    /// read that, so shorter ones are stored by the kernel. An estimate.
    pub literal_elements: usize,

    /// Neighbouring elements of a thread in a short kernel, for vectors of 16 bytes. Measured on an H200
    /// (docs/decisions/thread-coarsening.md).
    pub thread_elements: usize,
    /// Instructions of an iteration up to which a kernel waits for memory alone. With more, several
    /// iterations need too many registers. An estimate.
    pub memory_bound_work: u32,
}

/// The figures of the devices for which code is generated.
pub const DEVICE: Device = Device {
    warp: 32,
    group_threads: 256,
    row_group_threads: 128,
    bin_threads: 128,
    group_bytes: 32 << 10,
    shared_bytes: 48 << 10,
    reserved_bytes: 4 << 10,
    failure_bytes: 1 << 10,
    threads: 2048,
    warps: 1 << 12,
    thread_work: 1 << 6,
    chunks: 1 << 14,
    groups_from: 32,
    kept_values: 1 << 24,
    launch_reads: 32,
    launch_work: 16,
    sort_work: 64,
    copied_elements: 128,
    single_transfers: 4,
    literal_elements: 1024,
    thread_elements: 4,
    memory_bound_work: 24,
};

impl Device {
    /// Returns the bytes of local memory for a tile, which grows with the number of threads.
    pub const fn tile_bytes(&self) -> i64 {
        self.group_bytes - self.reserved_bytes
    }

    /// Returns the bytes of shared memory for a tile of a single pass, which only devices of CUDA have.
    pub const fn single_pass_tile_bytes(&self) -> i64 {
        self.shared_bytes - self.reserved_bytes
    }

    /// Returns the bytes of local memory for bins.
    pub const fn bin_bytes(&self) -> i64 {
        self.group_bytes - self.failure_bytes
    }

    /// Returns the number of threads that combine the values of all threads of a group, each those of as
    /// many threads.
    pub const fn group_side(&self) -> i64 {
        self.group_threads.isqrt()
    }
}
