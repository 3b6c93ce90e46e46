//! Histograms in chunks: each chunk fills bins of its own (it is privatised), and these are combined,
//! bin by bin, in the order of the chunks. Bins cost as much as elements, so there are so few chunks
//! that all their bins together are fewer than the elements.
//!
//! A device has many more chunks than a processor, and combines their bins in two steps. First a thread
//! for each bin combines those of some neighbouring chunks, and then the results are combined. If there
//! are few bins, a device has groups of threads in place of chunks ([`crate::privatised_histogram`]).

use crate::costs::BEYOND_MEMORY;
use crate::grid::{Begin, Bins, Grid};
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{ArrayOperation, Atom, Lambda, Level, Output, Variable};
use nova_flat::neutral::neutral;
use nova_flat::visit::{Substitution, fresh_lambda};
use nova_machine::figures;

/// The least number of elements for each bin of a chunk of a kernel's thread.
pub(crate) const ELEMENTS: i64 = figures::HISTOGRAMS.elements;

/// Returns the least number of elements for each bin of a chunk.
pub(crate) const fn elements_of_bin(kernels: bool) -> i64 {
    match kernels {
        true => ELEMENTS,
        false => figures::HISTOGRAMS.processor_elements,
    }
}
/// The most sets of bins that are combined in sequence, and so the most chunks for threads of a
/// processor.
const SETS: i64 = figures::HISTOGRAMS.sets;
/// The most chunks for threads of a kernel, which are combined in two steps.
pub(crate) const CHUNKS: i64 = SETS * SETS;

/// Returns the number of bins of an output, and the number of its components.
fn bins_of(output: &Output) -> Option<(Atom, i64)> {
    match output {
        Output::Histogram { start, bins, .. } => Some((*bins, start.len() as i64)),
        _others => None,
    }
}

/// Returns the size of chunks of an operation over `n` rows, which are larger if there are histograms.
pub(crate) fn size_for_bins(
    code: &mut Writer,
    operation: &ArrayOperation,
    n: Atom,
    size: Atom,
) -> Atom {
    let outputs = &operation.outputs;
    let mut all: Option<Atom> = None;
    for (bins, components) in outputs.iter().filter_map(bins_of) {
        let bins = code.scalar(ScalarOperation::Minimum, bins, Atom::index(BEYOND_MEMORY));
        let least = elements_of_bin(code.parallelism.kernels);
        let own = Atom::index(components.saturating_mul(least));
        let own = code.scalar(ScalarOperation::Multiply, bins, own);
        all = Some(match all {
            Some(all) => code.scalar(ScalarOperation::Add, all, own),
            None => own,
        });
    }
    let Some(mut all) = all else {
        return size;
    };
    let one = Atom::index(1);
    // Each row has as many elements.
    for extent in operation.shape.iter().skip(1) {
        let extent = code.scalar(ScalarOperation::Maximum, *extent, one);
        all = code.quotient_up(all, extent);
    }
    let all = code.scalar(ScalarOperation::Maximum, all, one);
    let most = code.scalar(ScalarOperation::Divide, n, all);
    let most = code.scalar(ScalarOperation::Maximum, most, one);
    let chunks = if code.parallelism.kernels {
        CHUNKS
    } else {
        SETS
    };
    let most = code.scalar(ScalarOperation::Minimum, most, Atom::index(chunks));
    let least = code.quotient_up(n, most);
    code.scalar(ScalarOperation::Maximum, size, least)
}

/// Computes the number of bins that the chunks have together, for each histogram.
pub(crate) fn begin_bins(code: &mut Writer, outputs: &[Output], count: Atom, begins: &mut [Begin]) {
    for (output, begin) in outputs.iter().zip(begins) {
        if let Some((bins, _)) = bins_of(output) {
            *begin = Begin::Bins(code.scalar(ScalarOperation::Multiply, count, bins));
        }
    }
}

/// Writes the histogram of a chunk, in bins of its own. The first chunk starts with the start
/// values of the whole.
pub(crate) fn parallelise_histogram(
    code: &mut Writer,
    (lambda, start, bins): (&Lambda, &mut Vec<Atom>, Atom),
    total: Atom,
    own: Vec<Variable>,
    grid: &mut Grid,
) {
    let neutral = neutral(lambda, start);
    let chunk = Atom::Variable(grid.chunk);
    let is_first = code.compare(ScalarOperation::Equal, chunk, Atom::index(0));
    let begin = code.scalars_like(&own, "start");
    let begins = begin.iter();
    let begins = begins.map(|start| Atom::Variable(*start)).collect();
    let whole = std::mem::replace(start, begins);
    code.choose(begin, is_first, |_| whole, |_| neutral);
    let first = code.scalar(ScalarOperation::Multiply, chunk, bins);
    let mut partial = Vec::new();
    for array in &own {
        let values = code.like(*array, vec![bins]);
        let joined = code.like(*array, vec![total]);
        grid.outputs.push(Output::Join { shape: vec![total] });
        grid.pattern.push(joined);
        grid.made.push(values);
        grid.results.extend([first, Atom::Variable(values)]);
        partial.push(joined);
    }
    grid.bins.push(Bins {
        lambda: fresh_lambda(code.program, lambda, &mut Substitution::default()),
        bins,
        partial,
        combined: own,
    });
}

/// Combines the bins of the chunks, in order.
pub(crate) fn combine_bins(code: &mut Writer, all: Vec<Bins>, count: Atom) {
    for bins in all {
        match code.parallelism.kernels {
            true => combine_in_steps(code, bins, count),
            false => combine(code, &bins, count),
        }
    }
}

/// Combines the bins of some neighbouring chunks first, if there are many chunks.
fn combine_in_steps(code: &mut Writer, bins: Bins, count: Atom) {
    let many = code.compare(ScalarOperation::Greater, count, Atom::index(SETS));
    let of_branch = |combined: Vec<Variable>| Bins {
        lambda: bins.lambda.clone(),
        bins: bins.bins,
        partial: bins.partial.clone(),
        combined,
    };
    code.choose_way(
        &bins.combined,
        many,
        |code, own| {
            let (bins, groups) = combine_groups(code, of_branch(own), count);
            combine(code, &bins, groups);
        },
        |code, own| {
            combine(code, &of_branch(own), count);
        },
    );
}

/// Combines the bins of each [`SETS`] neighbouring chunks; the last group may have fewer. Returns
/// the combined bins, and the number of groups.
fn combine_groups(code: &mut Writer, bins: Bins, count: Atom) -> (Bins, Atom) {
    let groups = code.quotient_up(count, Atom::index(SETS));
    let groups = code.within(groups, 1, CHUNKS / SETS);
    let all = code.scalar(ScalarOperation::Multiply, groups, bins.bins);
    let thread = code.fresh("thread", Scalar::I64);
    let body = code.body(|code| {
        let place = Atom::Variable(thread);
        let group = code.scalar(ScalarOperation::Divide, place, bins.bins);
        let bin = code.scalar(ScalarOperation::Remainder, place, bins.bins);
        let first = code.scalar(ScalarOperation::Multiply, group, Atom::index(SETS));
        let left = code.scalar(ScalarOperation::Subtract, count, first);
        let length = code.scalar(ScalarOperation::Minimum, left, Atom::index(SETS));
        combine_bin(code, &bins, bin, (first, length))
    });
    let partial: Vec<Variable> = bins
        .partial
        .iter()
        .map(|array| code.like(*array, vec![all]))
        .collect();
    let outputs = partial.iter().map(|_| Output::Map).collect();
    code.operation(partial.clone(), all, thread, Level::Grid, body, outputs);
    (Bins { partial, ..bins }, groups)
}

/// Combines the bins of `count` chunks.
fn combine(code: &mut Writer, bins: &Bins, count: Atom) {
    let bin = code.fresh("bin", Scalar::I64);
    let body = code.body(|code| {
        let all = (Atom::index(0), count);
        combine_bin(code, bins, Atom::Variable(bin), all)
    });
    let outputs = bins.combined.iter().map(|_| Output::Map).collect();
    let level = match code.parallelism.kernels {
        true => Level::Grid,
        false => {
            // There may be so many bins that combining them is worth parallelising.
            code.to_parallelise.extend(bins.combined.first());
            Level::Sequential
        }
    };
    code.operation(bins.combined.clone(), bins.bins, bin, level, body, outputs);
}

/// Combines a bin of `count` chunks, one at least, from the chunk `first` on: the first chunk's
/// bin, then the others. There are few of them, so a reduction in lanes would take longer.
fn combine_bin(
    code: &mut Writer,
    bins: &Bins,
    bin: Atom,
    (first, count): (Atom, Atom),
) -> Vec<Atom> {
    let base = code.scalar(ScalarOperation::Multiply, first, bins.bins);
    let base = code.scalar(ScalarOperation::Add, base, bin);
    let start = all_at(code, &bins.partial, base);
    let others = code.scalar(ScalarOperation::Subtract, count, Atom::index(1));
    let other = code.fresh("other", Scalar::I64);
    let values = |code: &mut Writer| {
        let chunk = code.scalar(ScalarOperation::Add, Atom::Variable(other), Atom::index(1));
        let before = code.scalar(ScalarOperation::Multiply, chunk, bins.bins);
        let at = code.scalar(ScalarOperation::Add, before, base);
        all_at(code, &bins.partial, at)
    };
    fold_values(code, &bins.lambda, (others, other), start, values)
}

/// Combines `start` with a value for each index, in a loop with loop-carried results.
pub(crate) fn fold_values(
    code: &mut Writer,
    lambda: &Lambda,
    indices: (Atom, Variable),
    start: Vec<Atom>,
    values: impl FnOnce(&mut Writer) -> Vec<Atom>,
) -> Vec<Atom> {
    let carries = scalars_of_atoms(code, &start);
    let body = code.body(|code| {
        let mut operands: Vec<Atom> = carries.iter().map(|v| Atom::Variable(*v)).collect();
        operands.extend(values(code));
        code.apply(lambda, &operands)
    });
    let totals = scalars_of_atoms(code, &start);
    let carries = carries.into_iter().zip(start).collect();
    code.loop_of_thread(totals.clone(), indices, carries, body, Vec::new());
    totals.into_iter().map(Atom::Variable).collect()
}

/// Creates variables for numbers of the types of these atoms.
fn scalars_of_atoms(code: &mut Writer, atoms: &[Atom]) -> Vec<Variable> {
    let mut scalars = Vec::with_capacity(atoms.len());
    for atom in atoms {
        let scalar = code.program.scalar_of(*atom).unwrap_or(Scalar::I64);
        scalars.push(code.fresh("start", scalar));
    }
    scalars
}

fn all_at(code: &mut Writer, arrays: &[Variable], index: Atom) -> Vec<Atom> {
    let arrays = arrays.iter();
    arrays.map(|array| code.element(*array, index)).collect()
}
