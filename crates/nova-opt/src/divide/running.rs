//! Scans and filters in parts: what a part begins with depends on all parts before it. So a first
//! grid computes what each part reduces to, or how many elements it keeps; these are scanned one
//! after the other; and the second grid begins each part with what it found. The body is computed
//! twice, which costs less than storing its values where it is short.

use super::parts::{Code, Grid, neutral};
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Lambda, Level, Output, Statement, Variable,
};
use nova_flat::visit::{Substitution, fresh_copy, fresh_lambda, fresh_variable};

/// Bodies that cost more are not computed twice.
pub(super) const DEAREST: i64 = 48;

/// What the parts of an output begin with, by part.
pub(super) enum Begin {
    /// It does not depend on other parts.
    Alone,
    /// Of a scan the running result, for each component.
    Scan(Vec<Variable>),
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

/// Whether an output's parts depend on those before them.
pub(super) fn is_running(output: &Output) -> bool {
    match output {
        Output::Scan { .. } | Output::Filter { .. } => true,
        Output::Map
        | Output::Reduce { .. }
        | Output::Scatter { .. }
        | Output::Histogram { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => false,
    }
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
        size: Atom,
        count: Atom,
    ) -> Begins {
        let carries = operation.carries.as_slice();
        if carries.is_empty() && !operation.outputs.iter().any(is_running) {
            return Begins {
                carries: Vec::new(),
                outputs: operation.outputs.iter().map(|_| Begin::Alone).collect(),
            };
        }
        let mut copy = self.fresh_operation(operation);
        let mut steps = Steps::default();
        let mut begins = Vec::new();
        let (last, mut given) = pattern.split_at(carries.len().min(pattern.len()));
        let carried = self.begin_carries(carries, &mut copy.body, last, count, &mut steps);
        let mut rest = copy.body.results.get(carries.len()..).unwrap_or_default();
        let mut kept = Vec::new();
        for output in &operation.outputs {
            let (consumed, others) = rest.split_at(output.consumes().min(rest.len()));
            let (own, behind) = given.split_at(output.gives().min(given.len()));
            (rest, given) = (others, behind);
            begins.push(match output {
                Output::Scan { lambda, start, .. } => {
                    Begin::Scan(self.begin_scan((lambda, start), consumed, own, count, &mut steps))
                }
                Output::Filter { .. } => {
                    self.begin_filter((consumed, own), count, &mut kept, &mut steps)
                }
                Output::Map
                | Output::Reduce { .. }
                | Output::Scatter { .. }
                | Output::Histogram { .. }
                | Output::Collect { .. }
                | Output::Join { .. } => Begin::Alone,
            });
        }
        copy.body.statements.extend(kept);
        copy.body.results = std::mem::take(&mut steps.values);
        copy.outputs = std::mem::take(&mut steps.reductions);
        self.reduce_parts(copy, size, count, &steps);
        self.run_through_parts(count, steps);
        Begins {
            carries: carried,
            outputs: begins,
        }
    }

    /// The same operation with new variables for all that it binds.
    fn fresh_operation(&mut self, operation: &ArrayOperation) -> ArrayOperation {
        let mut substitution = Substitution::default();
        let indices = operation.indices.iter();
        let indices = indices
            .map(|index| fresh_variable(self.program, *index, &mut substitution))
            .collect();
        ArrayOperation {
            shape: operation.shape.clone(),
            indices,
            level: Level::Sequential,
            carries: Vec::new(),
            body: fresh_copy(self.program, &operation.body, &mut substitution),
            outputs: Vec::new(),
        }
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
        let fresh =
            |code: &mut Self| fresh_lambda(code.program, lambda, &mut Substitution::default());
        steps.reductions.push(Output::Reduce {
            lambda: fresh(self),
            start: neutral(lambda, start),
            commutes: false,
        });
        steps.outputs.push(Output::Scan {
            lambda: fresh(self),
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
            lambda: code.addition(),
            start: vec![Atom::index(0)],
            commutes: true,
        };
        let first = Output::Scan {
            lambda: self.addition(),
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

    /// The sum of two `i64`.
    pub(super) fn addition(&mut self) -> Lambda {
        let [left, right, sum] = ["a", "b", "sum"].map(|name| self.fresh(name, Scalar::I64));
        let (statements, ()) = self.apart(|code| {
            code.push(
                vec![sum],
                Expression::Scalar {
                    operation: ScalarOperation::Add,
                    operand: Scalar::I64,
                    arguments: vec![Atom::Variable(left), Atom::Variable(right)],
                },
            );
        });
        Lambda {
            parameters: vec![left, right],
            body: Body {
                statements,
                results: vec![Atom::Variable(sum)],
            },
        }
    }

    /// The first grid: what each part reduces to.
    fn reduce_parts(&mut self, operation: ArrayOperation, size: Atom, count: Atom, steps: &Steps) {
        let n = operation.shape.first().copied().unwrap_or(Atom::index(0));
        let part = self.fresh("part", Scalar::I64);
        let (statements, results) = self.apart(|code| {
            let (first, length) = code.bounds(part, n, size);
            let mut values = Vec::new();
            for array in &steps.partial {
                let element = code.program.ty(*array).element();
                values.push(code.fresh("value", element));
            }
            let results = values.iter().map(|v| Atom::Variable(*v)).collect();
            code.restrict(operation, first, length, values);
            results
        });
        let body = Body {
            statements,
            results,
        };
        let outputs = steps.partial.iter().map(|_| Output::Map).collect();
        let pattern = steps.partial.clone();
        self.operation(pattern, count, part, Level::Grid, body, outputs);
    }

    /// What each part begins with, from what those before it reduce to.
    fn run_through_parts(&mut self, count: Atom, steps: Steps) {
        let part = self.fresh("part", Scalar::I64);
        let (statements, values) = self.apart(|code| {
            let arrays = steps.partial.iter();
            let values: Vec<Atom> = arrays.map(|array| code.of_part(*array, part)).collect();
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
        bounds: (Atom, Atom),
        grid: &mut Grid,
    ) {
        *start = begin
            .iter()
            .map(|array| self.of_part(*array, grid.part))
            .collect();
        self.join_all(own, bounds, grid);
    }

    /// The output of a part that begins with what those before it give: of a filter its place.
    pub(super) fn continue_filter(&mut self, begin: Variable, own: &[Variable], grid: &mut Grid) {
        let Some((total, arrays)) = own.split_first() else {
            return;
        };
        let first = self.of_part(begin, grid.part);
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
