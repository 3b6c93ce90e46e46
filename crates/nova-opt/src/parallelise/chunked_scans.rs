//! Scans and filters in parts: what a part begins with depends on all parts before it. So a first
//! grid computes what each part reduces to, or how many elements it keeps; these are scanned one
//! after the other; and the second grid begins each part with what it found. The body is computed
//! twice, which costs less than storing its values where it is short.

use super::chunking::{Bounds, Chunks};
use super::code::{Code, fresh_operation};
use super::grid::Grid;
use super::ordered::{Freedom, freedom};
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Bracketing, Expression, Lambda, Level, Output, Statement, Variable,
};

/// Bodies that cost more are not computed twice.
pub(super) const MOST_EXPENSIVE: i64 = 48;

/// What the parts of an output begin with, by part.
pub(super) enum Begin {
    /// It does not depend on other parts.
    Alone,
    /// Of a scan the running result, for each component.
    Scan(Vec<Variable>),
    /// Of a strict scan the running result at the beginning of each block, for each component.
    Blocks(Vec<Variable>),
    /// Of a filter the index of the first element kept.
    Filter(Variable),
    /// Of a histogram how many bins all parts have together.
    Bins(Atom),
}

/// What the parts of an operation begin with: for each carry the running result, by part, and for
/// each output.
pub(super) struct Begins {
    pub(super) carries: Vec<Variable>,
    pub(super) outputs: Vec<Begin>,
}

/// True if an output is a scan: then parts depend on the values of those before them.
pub(super) fn is_scan(output: &Output) -> bool {
    matches!(output, Output::Scan { .. })
}

/// True if an output is a filter: then parts may depend on how many elements those before them keep.
fn is_filter(output: &Output) -> bool {
    matches!(output, Output::Filter { .. })
}

/// The two steps before the grid, in the making.
#[derive(Default)]
pub(super) struct Steps {
    /// The results of the body of a part, and their reductions.
    values: Vec<Atom>,
    reductions: Vec<Output>,
    /// What each part reduces to.
    pub(super) partial: Vec<Variable>,
    /// What becomes of these, one after the other: which of them each output consumes, the outputs,
    /// and what they give.
    pub(super) consumed: Vec<usize>,
    pub(super) outputs: Vec<Output>,
    pub(super) pattern: Vec<Variable>,
}

impl Code<'_> {
    /// Computes what the parts of each output of an operation begin with; `pattern` is what the
    /// operation gives, of which this binds how many elements filters keep.
    pub(super) fn begin_parts(
        &mut self,
        operation: &ArrayOperation,
        pattern: &[Variable],
        twice: bool,
        cut: &Chunks,
    ) -> Begins {
        let count = cut.count;
        let is_running = |output: &Output| is_scan(output) || twice && is_filter(output);
        let carries = operation.carries.len();
        if carries == 0 && !operation.outputs.iter().any(is_running) {
            return Begins {
                carries: Vec::new(),
                outputs: operation.outputs.iter().map(|_| Begin::Alone).collect(),
            };
        }
        let mut copy = fresh_operation(self.program, operation);
        let mut steps = Steps::default();
        let mut begins = Vec::new();
        let (last, mut given) = pattern.split_at(carries.min(pattern.len()));
        let own = std::mem::take(&mut copy.carries);
        let carried = self.begin_carries(&own, &mut copy.body, last, count, &mut steps);
        let mut at = carries;
        let mut kept = Vec::new();
        for output in &operation.outputs {
            let range = at..at + output.consumes();
            let consumed = copy.body.results.get(range.clone()).unwrap_or_default();
            let (own, behind) = given.split_at(output.gives().min(given.len()));
            (at, given) = (range.end, behind);
            begins.push(match output {
                Output::Scan { lambda, start, .. } => match freedom(lambda, self.strict) {
                    Freedom::Neutral | Freedom::Any => {
                        let scan = (lambda, &start[..]);
                        Begin::Scan(self.begin_scan(scan, consumed, own, count, &mut steps))
                    }
                    Freedom::Strict { .. } => {
                        let (scan, values) = ((lambda, &start[..]), (range, own));
                        self.begin_blocks(operation, scan, values, cut)
                    }
                },
                Output::Filter { .. } if twice => {
                    self.begin_filter((consumed, own), count, &mut kept, &mut steps)
                }
                Output::Map
                | Output::Filter { .. }
                | Output::Reduce { .. }
                | Output::Scatter { .. }
                | Output::Histogram { .. }
                | Output::Collect { .. }
                | Output::Join { .. } => Begin::Alone,
            });
        }
        let begins = Begins {
            carries: carried,
            outputs: begins,
        };
        if steps.partial.is_empty() {
            return begins;
        }
        copy.body.statements.extend(kept);
        copy.body.results = std::mem::take(&mut steps.values);
        copy.outputs = std::mem::take(&mut steps.reductions);
        self.reduce_parts(copy, cut, &steps);
        self.run_through_parts(count, steps);
        begins
    }

    /// Adds to the steps what a scan begins with, by part; gives that for each component.
    pub(super) fn begin_scan(
        &mut self,
        (lambda, start): (&Lambda, &[Atom]),
        consumed: &[Atom],
        own: &[Variable],
        count: Atom,
        steps: &mut Steps,
    ) -> Vec<Variable> {
        steps.reductions.push(self.reduction_of_scan(lambda, start));
        steps.outputs.push(Output::Scan {
            lambda: self.fresh_operator(lambda),
            start: start.to_vec(),
            exclusive: true,
        });
        let mut begin = Vec::new();
        for (value, array) in consumed.iter().zip(own) {
            steps.values.push(*value);
            steps.consumed.push(steps.partial.len());
            steps.partial.push(self.like(*array, vec![count]));
            begin.push(self.like(*array, vec![count]));
        }
        steps.pattern.extend(&begin);
        begin
    }

    fn begin_filter(
        &mut self,
        (consumed, own): (&[Atom], &[Variable]),
        count: Atom,
        kept: &mut Vec<Statement>,
        steps: &mut Steps,
    ) -> Begin {
        let (Some(condition), Some(total)) = (consumed.first(), own.first()) else {
            return Begin::Alone;
        };
        let one = self.fresh("kept", Scalar::I64);
        kept.push(Statement {
            pattern: vec![one],
            expression: Expression::Scalar {
                operation: ScalarOperation::Convert(Scalar::I64),
                operand: Scalar::Bool,
                arguments: vec![*condition],
            },
            place: self.place.clone(),
        });
        let sum = |code: &mut Self| Output::Reduce {
            lambda: code.lambda(ScalarOperation::Add),
            start: vec![Atom::index(0)],
            commutes: true,
            bracketing: Bracketing::Whole,
        };
        let first = Output::Scan {
            lambda: self.lambda(ScalarOperation::Add),
            start: vec![Atom::index(0)],
            exclusive: true,
        };
        steps.values.push(Atom::Variable(one));
        steps.reductions.push(sum(self));
        steps.consumed.extend([steps.partial.len(); 2]);
        steps.partial.push(self.like(one, vec![count]));
        let begin = self.like(one, vec![count]);
        steps.outputs.extend([first, sum(self)]);
        steps.pattern.extend([begin, *total]);
        Begin::Filter(begin)
    }

    /// The first grid: what each part reduces to.
    fn reduce_parts(&mut self, operation: ArrayOperation, cut: &Chunks, steps: &Steps) {
        let part = self.fresh("part", Scalar::I64);
        let (statements, results) = self.apart(|code| {
            let bounds = code.bounds(cut, part);
            let mut values = Vec::new();
            for array in &steps.partial {
                let element = code.program.ty(*array).element();
                values.push(code.fresh("value", element));
            }
            let results = values.iter().map(|v| Atom::Variable(*v)).collect();
            code.restrict(operation, &bounds, values);
            results
        });
        let body = Body {
            statements,
            results,
        };
        let outputs = steps.partial.iter().map(|_| Output::Map).collect();
        let pattern = steps.partial.clone();
        self.operation(pattern, cut.count, part, Level::Grid, body, outputs);
    }

    /// What each part begins with, from what those before it reduce to.
    fn run_through_parts(&mut self, count: Atom, steps: Steps) {
        let part = self.fresh("part", Scalar::I64);
        let (statements, values) = self.apart(|code| {
            let arrays = steps.partial.iter();
            let values: Vec<Atom> = arrays
                .map(|array| code.element(*array, Atom::Variable(part)))
                .collect();
            values
        });
        let chosen = steps.consumed.iter().filter_map(|k| values.get(*k));
        let body = Body {
            statements,
            results: chosen.copied().collect(),
        };
        let (pattern, outputs) = (steps.pattern, steps.outputs);
        self.operation(pattern, count, part, Level::Sequential, body, outputs);
    }

    /// The output of a part that begins with what those before it give: of a scan its start.
    pub(super) fn continue_scan(
        &mut self,
        (start, begin): (&mut Vec<Atom>, &[Variable]),
        own: Vec<Variable>,
        bounds: &Bounds,
        grid: &mut Grid,
    ) {
        *start = begin
            .iter()
            .map(|array| self.element(*array, Atom::Variable(grid.part)))
            .collect();
        self.join_all(own, bounds, grid);
    }

    /// The output of a part that begins with what those before it give: of a filter its place.
    pub(super) fn continue_filter(&mut self, begin: Variable, own: &[Variable], grid: &mut Grid) {
        let Some((total, arrays)) = own.split_first() else {
            return;
        };
        let first = self.element(begin, Atom::Variable(grid.part));
        let kept = self.fresh("kept", Scalar::I64);
        grid.made.push(kept);
        for array in arrays {
            let values = self.like(*array, vec![Atom::Variable(kept)]);
            grid.outputs.push(Output::Join {
                shape: vec![Atom::Variable(*total)],
            });
            grid.pattern.push(*array);
            grid.made.push(values);
            grid.results.extend([first, Atom::Variable(values)]);
        }
    }
}
