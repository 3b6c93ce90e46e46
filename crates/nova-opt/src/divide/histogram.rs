//! Histograms in parts: each part fills bins of its own (it is privatised), and these are combined,
//! bin by bin, in the order of the parts. Bins cost as much as elements, so there are so few parts
//! that all their bins together are fewer than the elements; with one part its bins are the result.

use super::parts::{Code, Grid, neutral};
use super::running::Begin;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{Atom, Expression, Lambda, Level, Output, SliceDimension, Variable, View};
use nova_flat::visit::{Substitution, fresh_lambda};

/// How many elements there are for each bin of a part, at least.
const ELEMENTS: i64 = 16;
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
    combined: Vec<Variable>,
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
    /// Larger parts where there are histograms, and how many there are; at least one, since its
    /// bins are the result.
    pub(super) fn parts_for_bins(
        &mut self,
        outputs: &[Output],
        n: Atom,
        (size, count): (Atom, Atom),
    ) -> (Atom, Atom) {
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
            return (size, count);
        };
        let one = Atom::index(1);
        let all = self.scalar(ScalarOperation::Maximum, all, one);
        let most = self.scalar(ScalarOperation::Divide, n, all);
        let most = self.scalar(ScalarOperation::Maximum, most, one);
        let most = self.scalar(ScalarOperation::Minimum, most, Atom::index(PARTS));
        let least = self.quotient_up(n, most);
        let size = self.scalar(ScalarOperation::Maximum, size, least);
        let count = self.quotient_up(n, size);
        (size, self.scalar(ScalarOperation::Maximum, count, one))
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

    /// Combines the bins of the parts, unless there is one part.
    pub(super) fn combine_bins(&mut self, all: Vec<Bins>, count: Atom) {
        for bins in all {
            let combined = bins.combined.clone();
            let single = self.compare(ScalarOperation::Equal, count, Atom::index(1));
            self.choose(
                combined,
                single,
                |code| code.first_bins(&bins),
                |code| code.all_bins(&bins, count),
            );
        }
    }

    /// The bins of the first part.
    fn first_bins(&mut self, bins: &Bins) -> Vec<Atom> {
        let slice = SliceDimension {
            start: Atom::index(0),
            step: Atom::index(1),
            count: bins.bins,
        };
        let mut views = Vec::new();
        for array in &bins.partial {
            let view = self.like(*array, vec![bins.bins]);
            self.push(
                vec![view],
                Expression::View {
                    array: *array,
                    view: View::Slice(vec![slice]),
                },
            );
            views.push(Atom::Variable(view));
        }
        views
    }

    /// For each bin those of the parts, in order: the first part's, then the others combined with it.
    fn all_bins(&mut self, bins: &Bins, count: Atom) -> Vec<Atom> {
        let others = self.scalar(ScalarOperation::Subtract, count, Atom::index(1));
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
            };
            code.operation(totals, others, other, Level::Sequential, body, vec![output]);
            results
        });
        let arrays = bins.partial.iter();
        let arrays: Vec<Variable> = arrays.map(|a| self.like(*a, vec![bins.bins])).collect();
        let results = arrays.iter().map(|array| Atom::Variable(*array)).collect();
        let outputs = arrays.iter().map(|_| Output::Map).collect();
        self.operation(arrays, bins.bins, bin, Level::Sequential, body, outputs);
        results
    }

    fn all_at(&mut self, arrays: &[Variable], index: Atom) -> Vec<Atom> {
        let arrays = arrays.iter();
        arrays.map(|array| self.element(*array, index)).collect()
    }
}
