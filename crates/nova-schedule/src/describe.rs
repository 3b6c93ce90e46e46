//! Describes how operations and sorts are parallelised, for the notes on them.

use crate::blocks::blocking;
use crate::chunking::{ROUND, least_work, wants_idle};
use crate::cost::{Cost, cost_by_row};
use crate::histogram::{ELEMENTS, elements_of_bin};
use crate::lanes::{alone, has_lanes};
use crate::notes::{Chunking, Parallelised, Step};
use crate::policy::Parallelism;
use crate::privatised_histogram::{has_local_bins, known_bins, most_local_bins};
use crate::radix::least;
use crate::segmented_reduction::{SegmentedReduction, few_rows, segmented_reduction};
use crate::short_dimensions::has_rows;
use crate::sort::least_chunk_of_keys;
use crate::tiles::{has_tiles, is_filter, is_single_pass, tile_size};
use nova_core::order::BLOCK;
use nova_flat::freedom::{Alignment, alignment, freedom, is_free};
use nova_flat::ir::{ArrayOperation, Atom, Output, Program};
use nova_flat::kinds::makes_apart;
use nova_machine::{DEVICE, PROCESSOR};

impl Parallelised {
    /// Describes an operation that stores into arrays from enclosing code. Threads claim elements for
    /// its values if these differ.
    pub(crate) fn storing(parallelism: Parallelism, claims: bool) -> Parallelised {
        Parallelised {
            chunking: match parallelism.kernels {
                true => Chunking::Arrays {
                    from: 2 * parallelism.grain,
                },
                false => Chunking::Stores,
            },
            grain: parallelism.grain,
            steps: claims.then_some(Step::Claims).into_iter().collect(),
            idle: false,
            inside: None,
        }
    }

    /// Describes how a sort by comparisons is parallelised, or one by keys.
    pub(crate) fn sort(by_keys: bool, parallelism: Parallelism) -> Parallelised {
        let (chunking, steps) = match (by_keys, parallelism.kernels) {
            (true, true) => {
                let from = least(parallelism).saturating_add(1);
                (Chunking::Radix { from }, Vec::new())
            }
            (true, false) => {
                let from = least_chunk_of_keys(parallelism).saturating_add(1);
                (Chunking::Keys { from }, vec![Step::Pieces])
            }
            (false, _) => (Chunking::Runs, vec![Step::Merge]),
        };
        Parallelised {
            chunking,
            grain: parallelism.grain,
            steps,
            idle: false,
            inside: None,
        }
    }
}

/// Describes how an operation is parallelised; `inside` and `twice` are as in [`crate::way::Way`].
pub(crate) fn parallelised(
    program: &Program,
    operation: &ArrayOperation,
    (inside, twice): (bool, bool),
    parallelism: Parallelism,
) -> Parallelised {
    let (cost, rows) = cost_by_row(program, operation, parallelism.strict);
    let cost_unknown = cost.unknown;
    let local = has_local_bins(program, operation, parallelism);
    let known = known_bins(operation).filter(|_| local);
    let single_pass = is_single_pass(operation, parallelism);
    let chunking = match (rows, known) {
        _ if parallelism.kernels && makes_apart(operation) => Chunking::Each,
        _ if has_lanes(program, operation, parallelism) => lanes(&cost, parallelism),
        _ if has_tiles(program, operation, parallelism) => {
            let cost = cost.fixed.max(1);
            Chunking::Tiles {
                from: quotient_up(2 * parallelism.grain, cost),
                size: tile_size(program, operation, single_pass),
                cost,
            }
        }
        _ if cost_unknown => Chunking::Asked,
        (_, Some(bins)) => in_groups(bins, &cost, parallelism),
        (Some(_), None) => Chunking::Elements {
            row: cost.fixed.max(1),
            element: cost.element,
        },
        (None, None) => even(operation, cost, parallelism),
    };
    let mut steps = Vec::new();
    let blocks = blocking(program, operation, parallelism);
    let segmented = match &blocks {
        Some(_) => None,
        None => segmented_reduction(program, operation, parallelism),
    };
    steps.extend(segmented.iter().map(|_| SegmentedReduction::step()));
    let few = match (&segmented, parallelism.kernels) {
        (Some(_), _) => few_rows(parallelism),
        (None, true) => DEVICE.threads,
        (None, false) => PROCESSOR.threads,
    };
    steps.extend(blocks.map(|blocks| blocks.step()));
    if has_rows(program, operation, parallelism) {
        steps.push(Step::FewRows(PROCESSOR.threads));
    }
    if !operation.carries.is_empty() && !matches!(chunking, Chunking::Tiles { .. }) {
        steps.push(Step::State);
    }
    if local {
        steps.push(Step::LocalBins(most_local_bins(program, operation)));
    }
    for output in &operation.outputs {
        let step = match chunking {
            Chunking::Lanes { .. } => Some(Step::Lanes(alone(parallelism))),
            Chunking::Tiles { .. } => Some(step_of_tiles(operation, single_pass)),
            Chunking::Bins { .. } => None,
            Chunking::Each
            | Chunking::Even { .. }
            | Chunking::Elements { .. }
            | Chunking::Asked
            | Chunking::Stores
            | Chunking::Arrays { .. }
            | Chunking::Radix { .. }
            | Chunking::Keys { .. }
            | Chunking::Rows
            | Chunking::Runs => step(output, twice, parallelism),
        };
        let new = step.filter(|step| !steps.contains(step));
        steps.extend(new);
    }
    Parallelised {
        chunking,
        grain: parallelism.grain,
        steps,
        idle: !cost_unknown && wants_idle(operation, parallelism),
        inside: inside.then_some(few),
    }
}

/// Returns the step of an operation in tiles.
fn step_of_tiles(operation: &ArrayOperation, single_pass: bool) -> Step {
    match (is_filter(operation), single_pass) {
        (true, true) => Step::OrderedCompaction,
        (true, false) => Step::Compaction,
        (false, true) => Step::OrderedTiles,
        (false, false) => Step::Tiles,
    }
}

fn even(operation: &ArrayOperation, cost: Cost, parallelism: Parallelism) -> Chunking {
    let Cost { fixed, loops, .. } = cost;
    let inner = operation.shape.get(1..).unwrap_or_default();
    let grain = parallelism.grain;
    let each = fixed.max(1);
    let sizes = (loops.is_empty() && inner.is_empty()).then(|| {
        let least = even_size(grain, each, alignment(operation, parallelism.strict));
        let worth = quotient_up(least_work(operation, parallelism), each);
        match is_free(operation, parallelism.strict) {
            true => (worth, least),
            false => (worth.max(least + 1), least),
        }
    });
    match inner.is_empty() {
        true => Chunking::Even {
            sizes,
            cost: each,
            loops,
        },
        // Everything is done for each index of the inner dimensions.
        false => {
            let of_all = |(extents, each): (Vec<Atom>, i64)| ([inner, &extents].concat(), each);
            let own = (inner.to_vec(), each);
            let loops = loops.into_iter().map(of_all);
            Chunking::Even {
                sizes,
                cost: 0,
                loops: std::iter::once(own).chain(loops).collect(),
            }
        }
    }
}

/// Returns the chunking into lanes of an operation whose indices have this cost.
fn lanes(cost: &Cost, parallelism: Parallelism) -> Chunking {
    let cost = cost.fixed.max(1);
    Chunking::Lanes {
        from: quotient_up(2 * parallelism.grain, cost),
        least: quotient_up(parallelism.grain, cost),
        cost,
    }
}

/// Returns the chunking of a histogram whose bins are known to fit into local memory.
fn in_groups(bins: i64, cost: &Cost, parallelism: Parallelism) -> Chunking {
    let each = cost.fixed.max(1);
    let least = even_size(parallelism.grain, each, Alignment::Free);
    let worth = quotient_up(2 * parallelism.grain, each).max(least + 1);
    Chunking::Bins {
        from: worth.max(bins.saturating_mul(2 * ELEMENTS)),
        cost: each,
    }
}

/// `⌈a / b⌉` for `a` from 0 on and `b` from 1 on.
fn quotient_up(a: i64, b: i64) -> i64 {
    a.div_euclid(b) + i64::from(a % b > 0)
}

/// Returns the least number of indices of an even chunk, if an index has this cost.
fn even_size(grain: i64, cost: i64, alignment: Alignment) -> i64 {
    let block = BLOCK as i64;
    let up = |size: i64, to: i64| (size + to - 1) / to * to;
    let size = up(grain, cost) / cost;
    let size = match size < ROUND {
        true => size,
        false => up(size, ROUND),
    };
    match alignment {
        Alignment::Free => size,
        Alignment::Block => up(size, block),
        Alignment::Subtree => {
            let size = size.max(block).unsigned_abs();
            size.next_power_of_two() as i64
        }
    }
}

/// Returns the step apart from the chunks that an output needs.
fn step(output: &Output, twice: bool, parallelism: Parallelism) -> Option<Step> {
    let strict = parallelism.strict;
    match output {
        Output::Map | Output::Scatter { .. } | Output::Join { .. } => None,
        Output::Reduce { lambda, .. } => Some(Step::Reduce(freedom(lambda, strict))),
        Output::Scan { lambda, .. } => Some(Step::Scan(freedom(lambda, strict))),
        Output::Filter { .. } if twice => Some(Step::Count),
        Output::Filter { .. } => Some(Step::Survivors),
        Output::Histogram { .. } => Some(Step::Bins(elements_of_bin(parallelism.kernels))),
        Output::Collect { .. } => Some(Step::Rows),
    }
}
