//! Histograms in chunks: each chunk fills bins of its own (it is privatised), and these are combined,
//! bin by bin, in the order of the chunks. Bins cost as much as elements, so there are so few chunks
//! that all their bins together are fewer than the elements.
//!
//! A device has many more chunks than a processor, and combines their bins in two steps. First a thread
//! for each bin combines those of some neighbouring chunks, and then the results are combined. If there
//! are few bins, a device has groups of threads in place of chunks ([`crate::privatised_histogram`]).

use crate::code::Code;
use crate::freedom::neutral;
use crate::grid::{Begin, Bins, Grid};
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{Atom, Bracketing, Lambda, Level, Output, Variable};
use nova_flat::visit::{Substitution, fresh_lambda};

/// The least number of elements for each bin of a chunk.
pub const ELEMENTS: i64 = 16;
/// The most sets of bins that are combined in sequence, and so the most chunks for threads of a
/// processor.
const SETS: i64 = 64;
/// The most chunks for threads of a kernel, which are combined in two steps.
pub(crate) const CHUNKS: i64 = SETS * SETS;
/// Numbers of bins are capped at this, which is beyond any memory.
const MOST: i64 = 1 << 40;

/// Returns the number of bins of an output, and the number of its components.
fn bins_of(output: &Output) -> Option<(Atom, i64)> {
    match output {
        Output::Histogram { start, bins, .. } => Some((*bins, start.len() as i64)),
        Output::Map
        | Output::Reduce { .. }
        | Output::Scan { .. }
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => None,
    }
}

impl Code<'_> {
    /// Returns the size of chunks, which are larger if there are histograms.
    pub(crate) fn size_for_bins(&mut self, outputs: &[Output], n: Atom, size: Atom) -> Atom {
        let mut all: Option<Atom> = None;
        for (bins, components) in outputs.iter().filter_map(bins_of) {
            let bins = self.scalar(ScalarOperation::Minimum, bins, Atom::index(MOST));
            let own = Atom::index(components.saturating_mul(ELEMENTS));
            let own = self.scalar(ScalarOperation::Multiply, bins, own);
            all = Some(match all {
                Some(all) => self.scalar(ScalarOperation::Add, all, own),
                None => own,
            });
        }
        let Some(all) = all else {
            return size;
        };
        let one = Atom::index(1);
        let all = self.scalar(ScalarOperation::Maximum, all, one);
        let most = self.scalar(ScalarOperation::Divide, n, all);
        let most = self.scalar(ScalarOperation::Maximum, most, one);
        let chunks = if self.kernels { CHUNKS } else { SETS };
        let most = self.scalar(ScalarOperation::Minimum, most, Atom::index(chunks));
        let least = self.quotient_up(n, most);
        self.scalar(ScalarOperation::Maximum, size, least)
    }

    /// Computes the number of bins that the chunks have together, for each histogram.
    pub(crate) fn begin_bins(&mut self, outputs: &[Output], count: Atom, begins: &mut [Begin]) {
        for (output, begin) in outputs.iter().zip(begins) {
            if let Some((bins, _)) = bins_of(output) {
                *begin = Begin::Bins(self.scalar(ScalarOperation::Multiply, count, bins));
            }
        }
    }

    /// Writes the histogram of a chunk, in bins of its own. The first chunk starts with the start
    /// values of the whole.
    pub(crate) fn parallelise_histogram(
        &mut self,
        (lambda, start, bins): (&Lambda, &mut Vec<Atom>, Atom),
        total: Atom,
        own: Vec<Variable>,
        grid: &mut Grid,
    ) {
        let neutral = neutral(lambda, start);
        let chunk = Atom::Variable(grid.chunk);
        let is_first = self.compare(ScalarOperation::Equal, chunk, Atom::index(0));
        let begin: Vec<Variable> = own.iter().map(|array| self.fresh_scalar(*array)).collect();
        let begins = begin.iter();
        let begins = begins.map(|start| Atom::Variable(*start)).collect();
        let whole = std::mem::replace(start, begins);
        self.choose(begin, is_first, |_| whole, |_| neutral);
        let first = self.scalar(ScalarOperation::Multiply, chunk, bins);
        let mut partial = Vec::new();
        for array in &own {
            let values = self.like(*array, vec![bins]);
            let joined = self.like(*array, vec![total]);
            grid.outputs.push(Output::Join { shape: vec![total] });
            grid.pattern.push(joined);
            grid.made.push(values);
            grid.results.extend([first, Atom::Variable(values)]);
            partial.push(joined);
        }
        grid.bins.push(Bins {
            lambda: fresh_lambda(self.program, lambda, &mut Substitution::default()),
            bins,
            partial,
            combined: own,
        });
    }

    fn fresh_scalar(&mut self, array: Variable) -> Variable {
        let scalar = self.program.ty(array).element();
        self.fresh("start", scalar)
    }

    /// Combines the bins of the chunks, in order.
    pub(crate) fn combine_bins(&mut self, all: Vec<Bins>, count: Atom) {
        for bins in all {
            match self.kernels {
                true => self.combine_in_steps(bins, count),
                false => self.combine(&bins, count),
            }
        }
    }

    /// Combines the bins of some neighbouring chunks first, if there are many chunks.
    fn combine_in_steps(&mut self, bins: Bins, count: Atom) {
        let many = self.compare(ScalarOperation::Greater, count, Atom::index(SETS));
        let of_branch = |combined: Vec<Variable>| Bins {
            lambda: bins.lambda.clone(),
            bins: bins.bins,
            partial: bins.partial.clone(),
            combined,
        };
        self.choose_way(
            &bins.combined,
            many,
            |code, own| {
                let (bins, groups) = code.combine_groups(of_branch(own), count);
                code.combine(&bins, groups);
            },
            |code, own| {
                code.combine(&of_branch(own), count);
            },
        );
    }

    /// Combines the bins of each [`SETS`] neighbouring chunks; the last group may have fewer. Returns
    /// the combined bins, and the number of groups.
    fn combine_groups(&mut self, bins: Bins, count: Atom) -> (Bins, Atom) {
        let groups = self.quotient_up(count, Atom::index(SETS));
        let groups = self.within(groups, 1, CHUNKS / SETS);
        let all = self.scalar(ScalarOperation::Multiply, groups, bins.bins);
        let thread = self.fresh("thread", Scalar::I64);
        let body = self.body(|code| {
            let place = Atom::Variable(thread);
            let group = code.scalar(ScalarOperation::Divide, place, bins.bins);
            let bin = code.scalar(ScalarOperation::Remainder, place, bins.bins);
            let first = code.scalar(ScalarOperation::Multiply, group, Atom::index(SETS));
            let left = code.scalar(ScalarOperation::Subtract, count, first);
            let length = code.scalar(ScalarOperation::Minimum, left, Atom::index(SETS));
            code.combine_bin(&bins, bin, (first, length))
        });
        let partial: Vec<Variable> = bins
            .partial
            .iter()
            .map(|array| self.like(*array, vec![all]))
            .collect();
        let outputs = partial.iter().map(|_| Output::Map).collect();
        self.operation(partial.clone(), all, thread, Level::Grid, body, outputs);
        (Bins { partial, ..bins }, groups)
    }

    /// Combines the bins of `count` chunks.
    fn combine(&mut self, bins: &Bins, count: Atom) {
        let bin = self.fresh("bin", Scalar::I64);
        let body = self.body(|code| {
            let all = (Atom::index(0), count);
            code.combine_bin(bins, Atom::Variable(bin), all)
        });
        let outputs = bins.combined.iter().map(|_| Output::Map).collect();
        let level = match self.kernels {
            true => Level::Grid,
            false => {
                // There may be so many bins that combining them is worth parallelising.
                self.to_parallelise.extend(bins.combined.first());
                Level::Sequential
            }
        };
        self.operation(bins.combined.clone(), bins.bins, bin, level, body, outputs);
    }

    /// Combines a bin of `count` chunks, one at least, from the chunk `first` on: the first chunk's
    /// bin, then the others.
    fn combine_bin(&mut self, bins: &Bins, bin: Atom, (first, count): (Atom, Atom)) -> Vec<Atom> {
        let base = self.scalar(ScalarOperation::Multiply, first, bins.bins);
        let base = self.scalar(ScalarOperation::Add, base, bin);
        let start = self.all_at(&bins.partial, base);
        let others = self.scalar(ScalarOperation::Subtract, count, Atom::index(1));
        let other = self.fresh("other", Scalar::I64);
        let values = |code: &mut Self| {
            let chunk = code.scalar(ScalarOperation::Add, Atom::Variable(other), Atom::index(1));
            let before = code.scalar(ScalarOperation::Multiply, chunk, bins.bins);
            let at = code.scalar(ScalarOperation::Add, before, base);
            code.all_at(&bins.partial, at)
        };
        match self.kernels {
            // As reductions, those of floats would get lanes.
            true => self.fold_values(&bins.lambda, (others, other), start, values),
            false => self.reduce_values(&bins.lambda, (others, other), start, values),
        }
    }

    /// Combines `start` with a value for each index, in a loop with loop-carried results.
    pub(crate) fn fold_values(
        &mut self,
        lambda: &Lambda,
        indices: (Atom, Variable),
        start: Vec<Atom>,
        values: impl FnOnce(&mut Self) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let carries = self.scalars_of_atoms(&start);
        let body = self.body(|code| {
            let mut operands: Vec<Atom> = carries.iter().map(|v| Atom::Variable(*v)).collect();
            operands.extend(values(code));
            code.apply(lambda, &operands)
        });
        let totals = self.scalars_of_atoms(&start);
        let carries = carries.into_iter().zip(start).collect();
        self.loop_of_thread(totals.clone(), indices, carries, body, Vec::new());
        totals.into_iter().map(Atom::Variable).collect()
    }

    /// Does the same as [`Code::fold_values`], as a reduction.
    fn reduce_values(
        &mut self,
        lambda: &Lambda,
        (count, index): (Atom, Variable),
        start: Vec<Atom>,
        values: impl FnOnce(&mut Self) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let body = self.body(values);
        let totals = self.scalars_of_atoms(&start);
        let results = totals.iter().map(|total| Atom::Variable(*total)).collect();
        let output = Output::Reduce {
            lambda: self.fresh_operator(lambda),
            start,
            commutes: true,
            bracketing: Bracketing::Whole,
        };
        self.operation(totals, count, index, Level::Sequential, body, vec![output]);
        results
    }

    /// Creates variables for numbers of the types of these atoms.
    fn scalars_of_atoms(&mut self, atoms: &[Atom]) -> Vec<Variable> {
        let mut scalars = Vec::with_capacity(atoms.len());
        for atom in atoms {
            let scalar = self.program.scalar_of(*atom).unwrap_or(Scalar::I64);
            scalars.push(self.fresh("start", scalar));
        }
        scalars
    }

    fn all_at(&mut self, arrays: &[Variable], index: Atom) -> Vec<Atom> {
        let arrays = arrays.iter();
        arrays.map(|array| self.element(*array, index)).collect()
    }
}
