//! Histograms in parts: each part fills bins of its own (it is privatised), and these are combined,
//! bin by bin, in the order of the parts. Bins cost as much as elements, so there are so few parts
//! that all their bins together are fewer than the elements.

use super::grid::{Grid, neutral};
use super::parts::Code;
use super::running::Begin;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{Atom, Bracketing, Lambda, Level, Output, Variable};
use nova_flat::visit::{Substitution, fresh_lambda};

/// How many elements there are for each bin of a part, at least.
pub const ELEMENTS: i64 = 16;
/// How many parts there are at most: bins are combined in sequence.
const PARTS: i64 = 64;
/// Bins are counted up to this, beyond any memory.
const MOST: i64 = 1 << 40;

/// The bins of all parts of one output.
pub(super) struct Bins {
    lambda: Lambda,
    bins: Atom,
    /// For each component, the bins of the parts behind each other.
    partial: Vec<Variable>,
    /// What they are combined to.
    pub(super) combined: Vec<Variable>,
}

/// How many bins an output has, in all components.
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
    /// Larger parts where there are histograms.
    pub(super) fn size_for_bins(&mut self, outputs: &[Output], n: Atom, size: Atom) -> Atom {
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
        let most = self.scalar(ScalarOperation::Minimum, most, Atom::index(PARTS));
        let least = self.quotient_up(n, most);
        self.scalar(ScalarOperation::Maximum, size, least)
    }

    /// How many bins the parts have together, for each histogram.
    pub(super) fn begin_bins(&mut self, outputs: &[Output], count: Atom, begins: &mut [Begin]) {
        for (output, begin) in outputs.iter().zip(begins) {
            if let Some((bins, _)) = bins_of(output) {
                *begin = Begin::Bins(self.scalar(ScalarOperation::Multiply, count, bins));
            }
        }
    }

    /// The histogram of a part, in bins of its own. The first part starts with what the whole starts
    /// with.
    pub(super) fn divide_histogram(
        &mut self,
        (lambda, start, bins): (&Lambda, &mut Vec<Atom>, Atom),
        total: Atom,
        own: Vec<Variable>,
        grid: &mut Grid,
    ) {
        let neutral = neutral(lambda, start);
        let part = Atom::Variable(grid.part);
        let is_first = self.compare(ScalarOperation::Equal, part, Atom::index(0));
        let begin: Vec<Variable> = own.iter().map(|array| self.fresh_scalar(*array)).collect();
        let begins = begin.iter();
        let begins = begins.map(|start| Atom::Variable(*start)).collect();
        let whole = std::mem::replace(start, begins);
        self.choose(begin, is_first, |_| whole, |_| neutral);
        let first = self.scalar(ScalarOperation::Multiply, part, bins);
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

    /// For each bin those of the parts, in order: the first part's, then the others combined with it.
    pub(super) fn combine_bins(&mut self, all: Vec<Bins>, count: Atom) {
        let others = self.scalar(ScalarOperation::Subtract, count, Atom::index(1));
        for bins in all {
            self.combine(bins, others);
        }
    }

    fn combine(&mut self, bins: Bins, others: Atom) {
        let bin = self.fresh("bin", Scalar::I64);
        let body = self.body(|code| {
            let first = code.all_at(&bins.partial, Atom::Variable(bin));
            let other = code.fresh("other", Scalar::I64);
            let body = code.body(|code| {
                let part = code.scalar(ScalarOperation::Add, Atom::Variable(other), Atom::index(1));
                let before = code.scalar(ScalarOperation::Multiply, part, bins.bins);
                let at = code.scalar(ScalarOperation::Add, before, Atom::Variable(bin));
                code.all_at(&bins.partial, at)
            });
            let totals: Vec<Variable> =
                bins.partial.iter().map(|a| code.fresh_scalar(*a)).collect();
            let results = totals.iter().map(|total| Atom::Variable(*total)).collect();
            let output = Output::Reduce {
                lambda: fresh_lambda(code.program, &bins.lambda, &mut Substitution::default()),
                start: first,
                commutes: true,
                bracketing: Bracketing::Whole,
            };
            code.operation(totals, others, other, Level::Sequential, body, vec![output]);
            results
        });
        let outputs = bins.combined.iter().map(|_| Output::Map).collect();
        let level = Level::Sequential;
        self.operation(bins.combined, bins.bins, bin, level, body, outputs);
    }

    fn all_at(&mut self, arrays: &[Variable], index: Atom) -> Vec<Atom> {
        let arrays = arrays.iter();
        arrays.map(|array| self.element(*array, index)).collect()
    }
}
