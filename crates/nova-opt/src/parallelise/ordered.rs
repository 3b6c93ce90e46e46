//! Reductions and scans in which the bracketing matters, or whose operators nothing is known of.
//!
//! Where it is free, a part of an unknown operator folds its elements from the first one on, since
//! no value is known that changes nothing. Where it is that of docs/order.md, parts of a reduction are
//! subtrees of the tree of adjacent pairs: `2^k` blocks each. A scan needs what each block folds to,
//! which is found in parts, and carried from block to block before the parts run.

use super::chunked_scans::Begin;
use super::chunking::{Bounds, Chunks};
use super::code::{Code, fresh_operation};
use super::grid::{Grid, neutral};
use nova_core::order::{BLOCK, LANES};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Bracketing, Expression, Lambda, Level, Output, Variable,
};
use nova_flat::operators::by_component;
use nova_flat::visit::{Substitution, fresh_lambda};
use std::ops::Range;

/// How the values of a reduction or scan may be bracketed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freedom {
    /// In any way, and a value is known that changes nothing.
    Neutral,
    /// In any way.
    Any,
    /// As docs/order.md says; whether a value is known that changes nothing.
    Strict { neutral: bool },
}

/// How the values of a reduction or scan with this operator may be bracketed.
pub(super) fn freedom(lambda: &Lambda, strict: bool) -> Freedom {
    match by_component(lambda) {
        Some(all) if !strict || all.iter().all(|o| o.exact) => Freedom::Neutral,
        Some(_) => Freedom::Strict { neutral: true },
        None if strict => Freedom::Strict { neutral: false },
        None => Freedom::Any,
    }
}

/// True if a reduction or scan over a space of this rank may be divided.
pub(super) fn is_orderly(output: &Output, rank: usize, strict: bool) -> bool {
    match output {
        Output::Reduce {
            lambda, bracketing, ..
        } => {
            // Blocks are ones of elements, not of rows.
            let any_rank = freedom(lambda, strict) == Freedom::Neutral;
            *bracketing == Bracketing::Whole && (any_rank || rank == 1)
        }
        Output::Scan { .. } => true,
        Output::Histogram { lambda, .. } => freedom(lambda, strict) == Freedom::Neutral,
        Output::Map
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => false,
    }
}

/// Where parts may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Alignment {
    /// Anywhere.
    Free,
    /// Where a block of docs/order.md begins.
    Block,
    /// Where a subtree of blocks begins: a power of two many blocks from each other.
    Subtree,
}

/// Where parts of an operation may begin.
pub(super) fn alignment(operation: &ArrayOperation, strict: bool) -> Alignment {
    let of_output = |output: &Output| match output {
        Output::Reduce { lambda, .. } => match freedom(lambda, strict) {
            Freedom::Strict { .. } => Alignment::Subtree,
            Freedom::Neutral | Freedom::Any => Alignment::Free,
        },
        Output::Scan { lambda, .. } => match freedom(lambda, strict) {
            Freedom::Strict { .. } => Alignment::Block,
            Freedom::Neutral | Freedom::Any => Alignment::Free,
        },
        Output::Map
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Histogram { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => Alignment::Free,
    };
    let all = operation.outputs.iter().map(of_output);
    all.max().unwrap_or(Alignment::Free)
}

/// True if parts of an operation may be empty, and begin anywhere.
pub(super) fn is_free(operation: &ArrayOperation, strict: bool) -> bool {
    operation.outputs.iter().all(|output| match output {
        Output::Reduce { lambda, .. } | Output::Scan { lambda, .. } => {
            freedom(lambda, strict) == Freedom::Neutral
        }
        Output::Map
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => true,
        // Each part has bins of its own.
        Output::Histogram { .. } => false,
    })
}

/// True if no bracketing makes a difference, so that parts need not be those that sizes say.
pub(super) fn is_exact(operation: &ArrayOperation) -> bool {
    let is_exact = |lambda: &Lambda| {
        let operators = by_component(lambda);
        operators.is_some_and(|all| all.iter().all(|operator| operator.exact))
    };
    operation.outputs.iter().all(|output| match output {
        Output::Reduce { lambda, .. }
        | Output::Scan { lambda, .. }
        | Output::Histogram { lambda, .. } => is_exact(lambda),
        Output::Map
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => true,
    })
}

/// What fills the place of a start value that is used for no elements only.
fn unused(code: &Code, start: &[Atom]) -> Vec<Atom> {
    let zero = |atom: &Atom| {
        let scalar = code.program.scalar_of(*atom).unwrap_or(Scalar::I64);
        Atom::Constant(ScalarValue::from_integer_wrapping(scalar, 0))
    };
    start.iter().map(zero).collect()
}

impl Code<'_> {
    /// The size of parts that begin where they may.
    pub(super) fn align(&mut self, size: Atom, alignment: Alignment) -> Atom {
        let block = Atom::index(BLOCK as i64);
        match alignment {
            Alignment::Free => size,
            Alignment::Block => {
                let blocks = self.blocks(size);
                self.scalar(ScalarOperation::Multiply, blocks, block)
            }
            Alignment::Subtree => {
                let size = self.scalar(ScalarOperation::Maximum, size, block);
                self.power_of_two(size)
            }
        }
    }

    /// How many blocks so many elements are.
    fn blocks(&mut self, count: Atom) -> Atom {
        self.groups(count, BLOCK)
    }

    /// How many groups of a power of two so many elements are.
    fn groups(&mut self, count: Atom, size: usize) -> Atom {
        let most = Atom::index(size as i64 - 1);
        let sum = self.scalar(ScalarOperation::Add, count, most);
        let shift = Atom::index(i64::from(size.trailing_zeros()));
        self.scalar(ScalarOperation::ShiftRight, sum, shift)
    }

    /// The first of `count` elements that group number `group` has, and how many it has.
    fn group_bounds(&mut self, group: Variable, count: Atom, size: usize) -> (Atom, Atom) {
        self.even_bounds(Atom::Variable(group), count, Atom::index(size as i64))
    }

    /// The same operator with new variables.
    pub(super) fn fresh_operator(&mut self, lambda: &Lambda) -> Lambda {
        fresh_lambda(self.program, lambda, &mut Substitution::default())
    }

    /// Makes a reduction that of a part; gives that of what the parts give.
    pub(super) fn divide_reduction(&mut self, reduction: &mut Output) -> Option<Output> {
        let Output::Reduce {
            lambda,
            start,
            commutes,
            bracketing,
        } = reduction
        else {
            return None;
        };
        let freedom = freedom(lambda, self.strict);
        let (of_part, of_all) = match freedom {
            Freedom::Neutral => (Bracketing::Whole, Bracketing::Whole),
            Freedom::Any => (Bracketing::Part, Bracketing::Whole),
            Freedom::Strict { neutral: true } => (Bracketing::Whole, Bracketing::Pairs),
            Freedom::Strict { neutral: false } => (Bracketing::Part, Bracketing::Pairs),
        };
        let first = match of_part {
            Bracketing::Whole => neutral(lambda, start),
            Bracketing::Part | Bracketing::Pairs | Bracketing::Left => unused(self, start),
        };
        *bracketing = of_part;
        Some(Output::Reduce {
            lambda: self.fresh_operator(lambda),
            start: std::mem::replace(start, first),
            commutes: *commutes && freedom != Freedom::Any,
            bracketing: of_all,
        })
    }

    /// What a part of a scan reduces to, for the parts behind it, where the bracketing is free.
    pub(super) fn reduction_of_scan(&mut self, lambda: &Lambda, start: &[Atom]) -> Output {
        let (start, bracketing) = match by_component(lambda) {
            Some(_) => (neutral(lambda, start), Bracketing::Whole),
            None => (unused(self, start), Bracketing::Left),
        };
        Output::Reduce {
            lambda: self.fresh_operator(lambda),
            start,
            commutes: false,
            bracketing,
        }
    }

    /// Computes what each block of a scan begins with: what the blocks fold to, in parts, and then
    /// the carries from block to block. The scan consumes `consumed` of the body's results and
    /// gives `own`.
    pub(super) fn begin_blocks(
        &mut self,
        operation: &ArrayOperation,
        (lambda, start): (&Lambda, &[Atom]),
        (consumed, own): (Range<usize>, &[Variable]),
        cut: &Chunks,
    ) -> Begin {
        let mut copy = fresh_operation(self.program, operation);
        copy.body.results = copy.body.results.get(consumed).unwrap_or_default().to_vec();
        let blocks = self.blocks(cut.n);
        let folds: Vec<Variable> = own.iter().map(|v| self.like(*v, vec![blocks])).collect();
        let part = self.fresh("part", Scalar::I64);
        let (statements, results) = self.apart(|code| {
            let bounds = code.bounds(cut, part);
            let first = code.block_of(bounds.first);
            let values = code.fold_blocks(copy, lambda, own, (bounds.first, bounds.length));
            let values = values.into_iter();
            values.flat_map(|v| [first, Atom::Variable(v)]).collect()
        });
        let join = |_| Output::Join {
            shape: vec![blocks],
        };
        let outputs = folds.iter().map(join).collect();
        let body = Body {
            statements,
            results,
        };
        self.operation(folds.clone(), cut.count, part, Level::Grid, body, outputs);
        Begin::Blocks(self.carry_through(&folds, lambda, start, blocks))
    }

    /// The number of the block that begins with an element.
    fn block_of(&mut self, first: Atom) -> Atom {
        let shift = Atom::index(i64::from(BLOCK.trailing_zeros()));
        self.scalar(ScalarOperation::ShiftRight, first, shift)
    }

    /// What each block of `length` elements from `first` on folds to.
    fn fold_blocks(
        &mut self,
        operation: ArrayOperation,
        lambda: &Lambda,
        own: &[Variable],
        (first, length): (Atom, Atom),
    ) -> Vec<Variable> {
        let count = self.blocks(length);
        let block = self.fresh("block", Scalar::I64);
        let (statements, results) = self.apart(|code| {
            let (base, length) = code.group_bounds(block, length, BLOCK);
            let first = code.scalar(ScalarOperation::Add, first, base);
            code.fold_pieces(operation, lambda, own, (first, length))
        });
        let values: Vec<Variable> = own.iter().map(|v| self.like(*v, vec![count])).collect();
        let outputs = own.iter().map(|_| Output::Map).collect();
        let body = Body {
            statements,
            results,
        };
        let level = Level::Sequential;
        self.operation(values.clone(), count, block, level, body, outputs);
        values
    }

    /// What a block of `length` elements from `first` on folds to: its pieces from left to right,
    /// each from left to right.
    fn fold_pieces(
        &mut self,
        mut operation: ArrayOperation,
        lambda: &Lambda,
        own: &[Variable],
        (first, length): (Atom, Atom),
    ) -> Vec<Atom> {
        let start = self.zeros(own);
        let count = self.groups(length, LANES);
        let piece = self.fresh("piece", Scalar::I64);
        operation.outputs = vec![self.left(lambda, &start)];
        let (statements, results) = self.apart(|code| {
            let (base, length) = code.group_bounds(piece, length, LANES);
            let first = code.scalar(ScalarOperation::Add, first, base);
            let values = code.scalars_like(own, "value");
            let bounds = Bounds {
                first,
                length,
                long_row: None,
            };
            code.restrict(operation, &bounds, values.clone());
            values.into_iter().map(Atom::Variable).collect()
        });
        let values = self.scalars_like(own, "value");
        let outputs = vec![self.left(lambda, &start)];
        let body = Body {
            statements,
            results,
        };
        let level = Level::Sequential;
        self.operation(values.clone(), count, piece, level, body, outputs);
        values.into_iter().map(Atom::Variable).collect()
    }

    /// A fold from left to right, from the first element on.
    fn left(&mut self, lambda: &Lambda, start: &[Atom]) -> Output {
        Output::Reduce {
            lambda: self.fresh_operator(lambda),
            start: start.to_vec(),
            commutes: false,
            bracketing: Bracketing::Left,
        }
    }

    /// Zeros of the types of the elements of arrays.
    pub(super) fn zeros(&self, arrays: &[Variable]) -> Vec<Atom> {
        let zero =
            |v: &Variable| ScalarValue::from_integer_wrapping(self.program.ty(*v).element(), 0);
        arrays.iter().map(|v| Atom::Constant(zero(v))).collect()
    }

    /// Variables for elements of arrays.
    pub(super) fn scalars_like(&mut self, arrays: &[Variable], name: &str) -> Vec<Variable> {
        let mut scalars = Vec::with_capacity(arrays.len());
        for array in arrays {
            let scalar = self.program.ty(*array).element();
            scalars.push(self.fresh(name, scalar));
        }
        scalars
    }

    /// For each block what the scan has come to before it: `start ⊕ f0 ⊕ f1 …` from left to right.
    fn carry_through(
        &mut self,
        folds: &[Variable],
        lambda: &Lambda,
        start: &[Atom],
        blocks: Atom,
    ) -> Vec<Variable> {
        let carries = self.scalars_like(folds, "carry");
        let block = self.fresh("block", Scalar::I64);
        let operator = self.fresh_operator(lambda);
        let (statements, mut results) = self.apart(|code| {
            let mut operands: Vec<Atom> = carries.iter().map(|c| Atom::Variable(*c)).collect();
            for fold in folds {
                operands.push(code.element(*fold, Atom::Variable(block)));
            }
            for (parameter, operand) in operator.parameters.iter().zip(operands) {
                code.push(vec![*parameter], Expression::Atom(operand));
            }
            code.out.extend(operator.body.statements.iter().cloned());
            operator.body.results.clone()
        });
        results.extend(carries.iter().map(|c| Atom::Variable(*c)));
        let mut pattern = self.scalars_like(folds, "carry");
        let begin: Vec<Variable> = folds.iter().map(|v| self.like(*v, vec![blocks])).collect();
        pattern.extend(&begin);
        let operation = ArrayOperation {
            shape: vec![blocks],
            indices: vec![block],
            level: Level::Sequential,
            strategy: None,
            carries: carries.into_iter().zip(start.iter().copied()).collect(),
            body: Body {
                statements,
                results,
            },
            outputs: folds.iter().map(|_| Output::Map).collect(),
        };
        self.push(pattern, Expression::Operation(operation));
        begin
    }

    /// The scan of a part, which starts as its first block does.
    pub(super) fn continue_blocks(
        &mut self,
        (start, begin): (&mut Vec<Atom>, &[Variable]),
        own: Vec<Variable>,
        bounds: &Bounds,
        grid: &mut Grid,
    ) {
        let block = self.block_of(bounds.first);
        *start = begin
            .iter()
            .map(|array| self.element(*array, block))
            .collect();
        self.join_all(own, bounds, grid);
    }
}
