//! Histograms whose bins lie in local memory, for devices. Each thread of a work-group has bins of its
//! own there, into which it folds elements of the group at a fixed stride, so that neighbouring threads
//! read neighbouring elements. Then a thread for each bin combines those of the threads and writes the
//! bins of the group. The bins of groups are combined as those of chunks are ([`crate::histogram`]).
//!
//! This is done if bins are so few that those of [`FEWEST_THREADS`] threads fit into local memory, which the
//! program may find out when it runs. With more bins, each thread has its bins in the device's memory.
//! Histograms are parallelised only if their order is free and the identity of the operator is known.
//! The bins of the threads begin with the identity.

use crate::chunked::grid;
use crate::chunks::{Bounds, even_bounds};
use crate::cost::cost_by_row;
use crate::costs::cost_of_index;
use crate::grid::{Bins, restrict_in_steps};
use crate::histogram::{CHUNKS, combine_bins, fold_values};
use crate::policy::Parallelism;
use crate::way::Way;
use crate::writer::Writer;
use nova_core::strategy::Space;
use nova_core::{Scalar, ScalarOperation as Operation, ScalarValue};
use nova_flat::ir::{ArrayOperation, Atom, Lambda, Output, Program, Variable};
use nova_flat::kinds::computes_numbers;
use nova_flat::neutral::neutral;
use nova_machine::{DEVICE, figures};

/// The fewest threads of a group that have bins: half a warp.
const FEWEST_THREADS: i64 = DEVICE.warp / 2;

/// The least number of elements of a thread for each of its bins. It estimates the cost of starting a
/// bin in local memory and combining it with others.
pub const LOCAL_ELEMENTS: i64 = figures::HISTOGRAMS.local_elements;

/// The histogram of an operation that gives nothing else.
struct Histogram<'a> {
    lambda: &'a Lambda,
    start: &'a [Atom],
    bins: Atom,
}

/// Work-groups that have bins.
struct Groups {
    /// The number of indices, the number of indices of a group, and the number of groups.
    n: Atom,
    size: Atom,
    count: Atom,
    /// The number of threads of a group that have bins, and the distance between the bins of threads.
    threads: Atom,
    stride: Atom,
}

fn histogram_of(operation: &ArrayOperation) -> Option<Histogram<'_>> {
    match operation.outputs.as_slice() {
        [
            Output::Histogram {
                lambda,
                start,
                bins,
                guarded: _,
            },
        ] => Some(Histogram {
            lambda,
            start,
            bins: *bins,
        }),
        _several_or_others => None,
    }
}

/// Returns the number of bytes of a bin, in all components.
fn bytes_of_bin(program: &Program, histogram: &Histogram) -> i64 {
    let bytes = |atom: &Atom| {
        let scalar = program.scalar_of(*atom).unwrap_or(Scalar::I64);
        i64::from(scalar.info().bytes)
    };
    histogram.start.iter().map(bytes).sum::<i64>().max(1)
}

/// Returns the most bins of this many bytes that a thread has, if the fewest threads have bins. The
/// number is odd, as the distance between the bins of threads is.
fn most_bins(bytes: i64) -> i64 {
    let all = DEVICE.bin_bytes() / bytes.saturating_mul(FEWEST_THREADS);
    all - i64::from(all % 2 == 0)
}

/// Returns the number of bins of a histogram in all components, if it is known before the program runs.
pub(crate) fn known_bins(operation: &ArrayOperation) -> Option<i64> {
    let histogram = histogram_of(operation)?;
    match histogram.bins {
        Atom::Constant(ScalarValue::I64(bins)) => {
            Some(bins.saturating_mul(histogram.start.len() as i64))
        }
        Atom::Constant(_) | Atom::Variable(_) => None,
    }
}

/// Returns the most bins of an operation that [has them](has_local_bins) in local memory.
pub(crate) fn most_local_bins(program: &Program, operation: &ArrayOperation) -> i64 {
    let bytes = histogram_of(operation).map(|histogram| bytes_of_bin(program, &histogram));
    bytes.map_or(0, most_bins)
}

/// True if an operation that may be parallelised is a histogram whose bins are in local memory if
/// they are few. It does nothing else, it does about the same work for each index of one dimension,
/// and its body computes numbers.
pub(crate) fn has_local_bins(
    program: &Program,
    operation: &ArrayOperation,
    parallelism: Parallelism,
) -> bool {
    let Some(histogram) = histogram_of(operation) else {
        return false;
    };
    let most = most_bins(bytes_of_bin(program, &histogram));
    let fit = match histogram.bins {
        Atom::Constant(ScalarValue::I64(bins)) => bins <= most,
        Atom::Constant(_) | Atom::Variable(_) => most > 0,
    };
    let (cost, rows) = cost_by_row(program, operation, parallelism.strict);
    parallelism.kernels
        && fit
        && operation.shape.len() == 1
        && operation.carries.is_empty()
        && rows.is_none()
        && cost.loops.is_empty()
        && !cost.unknown
        && computes_numbers(&operation.body)
}

/// Writes a histogram that [has bins in local memory](has_local_bins) if they are few.
pub(crate) fn histogram_of_few_or_many(
    code: &mut Writer,
    operation: ArrayOperation,
    pattern: &[Variable],
    way: Way,
) {
    let most = Atom::index(most_local_bins(code.program, &operation));
    let few = match histogram_of(&operation) {
        Some(histogram) => code.compare(Operation::LessEqual, histogram.bins, most),
        None => Atom::Constant(ScalarValue::Bool(false)),
    };
    if let Atom::Constant(ScalarValue::Bool(true)) = few {
        return histogram_in_groups(code, &operation, pattern);
    }
    let copy = code.fresh_whole(&operation);
    code.choose_way(
        pattern,
        few,
        |code, own| histogram_in_groups(code, &copy, &own),
        |code, own| grid(code, operation, &own, way),
    );
}

/// Writes a histogram of few bins as a grid of work-groups, and the combination of their bins.
fn histogram_in_groups(code: &mut Writer, operation: &ArrayOperation, pattern: &[Variable]) {
    let Some(histogram) = histogram_of(operation) else {
        return;
    };
    let groups = groups_with_bins(code, operation, &histogram);
    let all = code.scalar(Operation::Multiply, groups.count, histogram.bins);
    let number = code.fresh("group", Scalar::I64);
    let body = code.body(|code| {
        // The position must be known before the bins that lie there are made.
        let place = Atom::Variable(number);
        let first = code.scalar(Operation::Multiply, place, histogram.bins);
        let own = fill_own_bins(code, operation, &histogram, (&groups, number), pattern);
        let begin = begin_of_group(code, &histogram, number, pattern);
        let bins = combine_own_bins(code, &histogram, &groups, &own, begin);
        let bins = bins.into_iter();
        bins.flat_map(|v| [first, Atom::Variable(v)]).collect()
    });
    let partial: Vec<Variable> = pattern.iter().map(|v| code.like(*v, vec![all])).collect();
    let join = |_: &Variable| Output::Join { shape: vec![all] };
    let outputs = partial.iter().map(join).collect();
    let indices = (groups.count, number);
    code.map_groups(partial.clone(), indices, Vec::new(), body, outputs);
    let bins = Bins {
        lambda: code.fresh_operator(histogram.lambda),
        bins: histogram.bins,
        partial,
        combined: pattern.to_vec(),
    };
    combine_bins(code, vec![bins], groups.count);
}

/// Computes the number of groups, and the number of threads of each that have bins.
fn groups_with_bins(
    code: &mut Writer,
    operation: &ArrayOperation,
    histogram: &Histogram,
) -> Groups {
    let n = operation.shape.first().copied().unwrap_or(Atom::index(0));
    let bytes = bytes_of_bin(code.program, histogram);
    let bins = code.within(histogram.bins, 0, most_bins(bytes));
    // The distance is odd, so that the same bins of neighbouring threads lie in different banks.
    let stride = code.scalar(Operation::BitOr, bins, Atom::index(1));
    let threads = code.scalar(
        Operation::Divide,
        Atom::index(DEVICE.bin_bytes() / bytes),
        stride,
    );
    let threads = code.within(threads, FEWEST_THREADS, DEVICE.bin_threads);
    let (cost, _) = cost_by_row(code.program, operation, code.parallelism.strict);
    let cost = cost_of_index(code, operation, &cost);
    let worth = code.quotient_up(Atom::index(code.parallelism.grain), cost);
    let for_bins = code.scalar(Operation::Multiply, bins, Atom::index(LOCAL_ELEMENTS));
    let least = code.scalar(Operation::Maximum, worth, for_bins);
    let all_threads = code.scalar(Operation::Multiply, threads, Atom::index(CHUNKS));
    let even = code.quotient_up(n, all_threads);
    let iterations = code.scalar(Operation::Maximum, least, even);
    let size = code.scalar(Operation::Multiply, iterations, threads);
    let count = code.quotient_up(n, size);
    Groups {
        n,
        size,
        count: code.within(count, 1, CHUNKS),
        threads,
        stride,
    }
}

/// Fills the bins of the threads of a group, which are concatenated, for each component.
fn fill_own_bins(
    code: &mut Writer,
    operation: &ArrayOperation,
    histogram: &Histogram,
    (groups, number): (&Groups, Variable),
    like: &[Variable],
) -> Vec<Variable> {
    let (base, length) = even_bounds(code, Atom::Variable(number), groups.n, groups.size);
    let all = code.scalar(Operation::Multiply, groups.threads, groups.stride);
    let thread = code.fresh("thread", Scalar::I64);
    let body = code.body(|code| {
        let place = Atom::Variable(thread);
        let first = code.scalar(Operation::Multiply, place, groups.stride);
        let left = code.scalar(Operation::Subtract, length, place);
        let bounds = Bounds {
            first: code.scalar(Operation::Add, base, place),
            length: code.quotient_up(left, groups.threads),
            long_row: None,
        };
        let mut own = code.fresh_whole(operation);
        for output in &mut own.outputs {
            if let Output::Histogram { start, bins, .. } = output {
                *start = neutral(histogram.lambda, histogram.start);
                *bins = groups.stride;
            }
        }
        let bins: Vec<Variable> = like
            .iter()
            .map(|v| code.like(*v, vec![groups.stride]))
            .collect();
        restrict_in_steps(code, own, &bounds, Some(groups.threads), bins.clone());
        let bins = bins.into_iter();
        bins.flat_map(|v| [first, Atom::Variable(v)]).collect()
    });
    let own: Vec<Variable> = like.iter().map(|v| code.like(*v, vec![all])).collect();
    let join = |_: &Variable| Output::Join { shape: vec![all] };
    let outputs = own.iter().map(join).collect();
    let indices = (groups.threads, thread);
    code.map_threads(own.clone(), indices, body, outputs, Some(Space::Local));
    own
}

/// Returns the start values of the bins of a group. Those of the first group are the start values
/// of the whole.
fn begin_of_group(
    code: &mut Writer,
    histogram: &Histogram,
    number: Variable,
    like: &[Variable],
) -> Vec<Atom> {
    let whole = histogram.start.to_vec();
    let neutral = neutral(histogram.lambda, histogram.start);
    let is_same = |(a, b): (&Atom, &Atom)| match (a, b) {
        (Atom::Constant(a), Atom::Constant(b)) => a.same(*b),
        (Atom::Variable(_), _) | (_, Atom::Variable(_)) => false,
    };
    if whole.iter().zip(&neutral).all(is_same) {
        return neutral;
    }
    let number = Atom::Variable(number);
    let is_first = code.compare(Operation::Equal, number, Atom::index(0));
    let begin = code.scalars_like(like, "start");
    code.choose(begin.clone(), is_first, |_| whole, |_| neutral);
    begin.into_iter().map(Atom::Variable).collect()
}

/// Combines the bins of the threads of a group, in the order of the threads.
fn combine_own_bins(
    code: &mut Writer,
    histogram: &Histogram,
    groups: &Groups,
    own: &[Variable],
    begin: Vec<Atom>,
) -> Vec<Variable> {
    let bin = code.fresh("bin", Scalar::I64);
    let body = code.body(|code| {
        let thread = code.fresh("k", Scalar::I64);
        let indices = (groups.threads, thread);
        fold_values(code, histogram.lambda, indices, begin, |code| {
            let thread = Atom::Variable(thread);
            let first = code.scalar(Operation::Multiply, thread, groups.stride);
            let at = code.scalar(Operation::Add, first, Atom::Variable(bin));
            own.iter().map(|array| code.element(*array, at)).collect()
        })
    });
    let bins: Vec<Variable> = own
        .iter()
        .map(|v| code.like(*v, vec![histogram.bins]))
        .collect();
    let outputs = bins.iter().map(|_| Output::Map).collect();
    code.map_threads(bins.clone(), (histogram.bins, bin), body, outputs, None);
    bins
}
