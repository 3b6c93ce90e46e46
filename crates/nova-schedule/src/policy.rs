//! The policy by which operations are parallelised.

use nova_diag::Place;
use nova_machine::{DEVICE, PROCESSOR};
use nova_plan::{Choice, Plan};

/// The policy by which operations are parallelised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parallelism {
    /// True if reductions keep the order of docs/order.md.
    pub strict: bool,
    /// The least cost of a chunk, in scalar operations.
    pub grain: i64,
    /// The most chunks of an operation.
    pub chunks: i64,
    /// True if an index or a chunk is a thread of a kernel. Then there are as many threads as there is
    /// work, and no threads inside of one.
    pub kernels: bool,
    /// True if work-groups of kernels may propagate prefixes in ordered regions.
    pub ordered: bool,
}

impl Parallelism {
    /// Threads of a processor: chunks that are worth the time of distributing them, and enough chunks
    /// for many threads.
    pub const DEFAULT: Parallelism = Parallelism {
        strict: false,
        grain: PROCESSOR.thread_work,
        chunks: PROCESSOR.chunks,
        kernels: false,
        ordered: false,
    };
    /// Threads of a kernel, which are worth starting if there are thousands.
    pub const KERNELS: Parallelism = Parallelism {
        strict: false,
        grain: DEVICE.thread_work,
        chunks: DEVICE.chunks,
        kernels: true,
        ordered: false,
    };
    /// Chunks so small that short arrays are parallelised, too; for tests.
    pub const SMALL: Parallelism = Parallelism {
        strict: true,
        grain: 2,
        chunks: 4,
        kernels: false,
        ordered: false,
    };

    /// Returns the policy for the operation at a place, by a plan.
    pub(crate) fn planned(self, plan: &Plan, place: &Place) -> Parallelism {
        Parallelism {
            grain: plan.choose(place, Choice::Grain, self.grain),
            chunks: plan.choose(place, Choice::Chunks, self.chunks),
            ..self
        }
    }
}
