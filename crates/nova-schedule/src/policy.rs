//! The policy by which operations are parallelised.

use nova_flat::ir::{Expression, Statement};
use nova_machine::{DEVICE, PROCESSOR};
use nova_opt::vectors::is_vector;
use nova_plan::{Choice, Plan};

/// The policy by which operations are parallelised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parallelism {
    /// True if reductions keep the order of docs/order.md.
    pub strict: bool,
    /// The least cost of a chunk, in scalar operations.
    pub grain: i64,
    /// The factor of the grain for operations that run as vector instructions: so many of their scalar operations
    /// take the time of one.
    pub vectors: i64,
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
        vectors: PROCESSOR.vector_operations,
        chunks: PROCESSOR.chunks,
        kernels: false,
        ordered: false,
    };
    /// Threads of a kernel, which are worth starting if there are thousands.
    pub const KERNELS: Parallelism = Parallelism {
        strict: false,
        grain: DEVICE.thread_work,
        vectors: 1,
        chunks: DEVICE.chunks,
        kernels: true,
        ordered: false,
    };
    /// Chunks so small that short arrays are parallelised, too; for tests.
    pub const SMALL: Parallelism = Parallelism {
        strict: true,
        grain: 2,
        vectors: 1,
        chunks: 4,
        kernels: false,
        ordered: false,
    };

    /// Returns the policy for what a statement computes, by a plan.
    pub(crate) fn planned(self, plan: &Plan, statement: &Statement) -> Parallelism {
        let place = &statement.place;
        let factor = match &statement.expression {
            Expression::Operation(operation) if !self.kernels && is_vector(operation) => {
                self.vectors
            }
            _other => 1,
        };
        let grain = self.grain.saturating_mul(factor);
        Parallelism {
            grain: plan.choose(place, Choice::Grain, grain),
            chunks: plan.choose(place, Choice::Chunks, self.chunks),
            ..self
        }
    }
}
