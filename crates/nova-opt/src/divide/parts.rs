//! What a divided operation is written as: the sizes of parts, the grid, and the operation of a part.

use super::Division;
use super::cost::Cost;
use super::histogram::Bins;
use super::running::Begin;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Lambda, Level, Output, Program, Statement, Type,
    Variable,
};
use nova_flat::operators::{Operator, by_component};
use nova_flat::visit::{Substitution, fresh_lambda};

/// Sizes of larger parts are multiples of this, so that vectors and tiles fit in.
const ROUND: i64 = 64;

/// A grid in the making.
pub(super) struct Grid {
    /// The number of a part, and how many there are.
    pub(super) part: Variable,
    pub(super) count: Atom,
    /// The extents of the whole.
    pub(super) shape: Vec<Atom>,
    /// What the operation of a part gives, what the grid's body gives of that, and what becomes of
    /// it.
    pub(super) made: Vec<Variable>,
    pub(super) results: Vec<Atom>,
    pub(super) outputs: Vec<Output>,
    pub(super) pattern: Vec<Variable>,
    /// The arrays of what each part reduces to, the reductions of these, and what they give.
    pub(super) partial: Vec<Variable>,
    pub(super) reductions: Vec<Output>,
    pub(super) reduced: Vec<Variable>,
    /// The histograms of the parts.
    pub(super) bins: Vec<Bins>,
}

impl Grid {
    pub(super) fn new(part: Variable, count: Atom, shape: Vec<Atom>) -> Grid {
        Grid {
            part,
            count,
            shape,
            made: Vec::new(),
            results: Vec::new(),
            outputs: Vec::new(),
            pattern: Vec::new(),
            partial: Vec::new(),
            reductions: Vec::new(),
            reduced: Vec::new(),
            bins: Vec::new(),
        }
    }
}

/// What the reduction of a part starts with: what changes nothing. Where the whole starts with a
/// number, the parts of a minimum or maximum of floats start with the farthest one, so that later
/// stages know that they keep no nan.
pub(super) fn neutral(lambda: &Lambda, start: &[Atom]) -> Vec<Atom> {
    let is_number = |atom: &Atom| match atom {
        Atom::Constant(ScalarValue::F32(x)) => !x.is_nan(),
        Atom::Constant(ScalarValue::F64(x)) => !x.is_nan(),
        Atom::Constant(_) | Atom::Variable(_) => false,
    };
    let operators = by_component(lambda).unwrap_or_default();
    let value = |(operator, start): (&Operator, &Atom)| match operator.bound {
        Some(bound) if is_number(start) => bound.farthest,
        Some(_) | None => operator.identity,
    };
    let values = operators.iter().zip(start).map(value);
    values.map(Atom::Constant).collect()
}

/// Writes statements.
pub(super) struct Code<'a> {
    pub(super) program: &'a mut Program,
    pub(super) place: Place,
    pub(super) out: Vec<Statement>,
}

impl Code<'_> {
    pub(super) fn fresh(&mut self, name: &str, scalar: Scalar) -> Variable {
        self.program.add_variable(name, Type::Scalar(scalar))
    }

    /// An array of the elements, and with the name, of what another variable is or holds.
    pub(super) fn like(&mut self, variable: Variable, shape: Vec<Atom>) -> Variable {
        let info = self.program.variable(variable);
        let (name, element) = (info.name.clone(), info.ty.element());
        self.program.add_variable(name, Type::Array(element, shape))
    }

    /// A scalar with the name and the type of another.
    pub(super) fn like_scalar(&mut self, variable: Variable) -> Variable {
        let info = self.program.variable(variable);
        let (name, scalar) = (info.name.clone(), info.ty.element());
        self.program.add_variable(name, Type::Scalar(scalar))
    }

    /// The statements that `write` writes, apart from the others, and what it gives.
    pub(super) fn apart<R>(&mut self, write: impl FnOnce(&mut Self) -> R) -> (Vec<Statement>, R) {
        let before = std::mem::take(&mut self.out);
        let result = write(self);
        (std::mem::replace(&mut self.out, before), result)
    }

    pub(super) fn push(&mut self, pattern: Vec<Variable>, expression: Expression) {
        self.out.push(Statement {
            pattern,
            expression,
            place: self.place.clone(),
        });
    }

    /// A scalar operation on integers that cannot fail where it stands.
    pub(super) fn scalar(&mut self, operation: ScalarOperation, left: Atom, right: Atom) -> Atom {
        let values = [left, right].map(|atom| match atom {
            Atom::Constant(value) => Some(value),
            Atom::Variable(_) => None,
        });
        if let [Some(left), Some(right)] = values
            && let Ok(value) = nova_core::operations::evaluate(operation, &[left, right], true)
        {
            return Atom::Constant(value);
        }
        let result = self.fresh("t", Scalar::I64);
        let arguments = vec![left, right];
        let operand = Scalar::I64;
        self.push(
            vec![result],
            Expression::Scalar {
                operation,
                operand,
                arguments,
            },
        );
        Atom::Variable(result)
    }

    /// `⌈a / b⌉` for `a` from 0 on and `b` from 1 on.
    pub(super) fn quotient_up(&mut self, a: Atom, b: Atom) -> Atom {
        let less = self.scalar(ScalarOperation::Subtract, b, Atom::index(1));
        let sum = self.scalar(ScalarOperation::Add, a, less);
        self.scalar(ScalarOperation::Divide, sum, b)
    }

    /// How many of `n` indices a part has: as many as cost the grain, and so many that there are not
    /// too many parts.
    pub(super) fn part_size(
        &mut self,
        n: Atom,
        operation: &ArrayOperation,
        division: Division,
    ) -> Atom {
        let cost = self.cost(operation);
        let least = self.quotient_up(Atom::index(division.grain), cost);
        let even = self.quotient_up(n, Atom::index(division.parts));
        let size = self.scalar(ScalarOperation::Maximum, least, even);
        let size = self.scalar(ScalarOperation::Maximum, size, Atom::index(1));
        // Up to ROUND as it is, then in multiples: `(size + r) & ~r` with r = ROUND - 1 if larger.
        let above = self.scalar(ScalarOperation::ShiftRight, size, Atom::index(6));
        let some = self.scalar(ScalarOperation::Minimum, above, Atom::index(1));
        let rest = self.scalar(ScalarOperation::Multiply, some, Atom::index(ROUND - 1));
        let sum = self.scalar(ScalarOperation::Add, size, rest);
        let flipped = self.scalar(ScalarOperation::BitXor, rest, Atom::index(-1));
        self.scalar(ScalarOperation::BitAnd, sum, flipped)
    }

    /// What an index of the first dimension costs.
    fn cost(&mut self, operation: &ArrayOperation) -> Atom {
        let sum = self.cost_of(&Cost::of(operation));
        let inner: Vec<Atom> = operation.shape.iter().skip(1).copied().collect();
        let rounds = self.extent_product(&inner);
        let all = self.scalar(ScalarOperation::Multiply, sum, rounds);
        self.scalar(ScalarOperation::Maximum, all, Atom::index(1))
    }

    /// A cost as a number.
    pub(super) fn cost_of(&mut self, cost: &Cost) -> Atom {
        let mut sum = Atom::index(cost.fixed);
        for (extents, each) in &cost.loops {
            let product = self.extent_product(extents);
            let all = self.scalar(ScalarOperation::Multiply, product, Atom::index(*each));
            sum = self.scalar(ScalarOperation::Add, sum, all);
        }
        sum
    }

    /// The product of extents, each cut off where it is large enough for any purpose.
    fn extent_product(&mut self, extents: &[Atom]) -> Atom {
        let mut product = Atom::index(1);
        for extent in extents {
            let most = Atom::index(1 << 16);
            let cut = self.scalar(ScalarOperation::Minimum, *extent, most);
            product = self.scalar(ScalarOperation::Multiply, product, cut);
            product = self.scalar(ScalarOperation::Minimum, product, most);
        }
        product
    }

    /// The first of `n` indices that a part has, and how many it has.
    pub(super) fn bounds(&mut self, part: Variable, n: Atom, size: Atom) -> (Atom, Atom) {
        let first = self.scalar(ScalarOperation::Multiply, Atom::Variable(part), size);
        let left = self.scalar(ScalarOperation::Subtract, n, first);
        (first, self.scalar(ScalarOperation::Minimum, left, size))
    }

    /// The element of an array for a part.
    pub(super) fn of_part(&mut self, array: Variable, part: Variable) -> Atom {
        let value = self.fresh("value", self.program.ty(array).element());
        let indices = vec![Atom::Variable(part)];
        self.push(vec![value], Expression::Index { array, indices });
        Atom::Variable(value)
    }

    /// Arrays over the whole space, which are joined of what parts give.
    pub(super) fn join_all(
        &mut self,
        arrays: Vec<Variable>,
        (first, length): (Atom, Atom),
        grid: &mut Grid,
    ) {
        for array in arrays {
            let mut extents = grid.shape.clone();
            if let Some(outermost) = extents.first_mut() {
                *outermost = length;
            }
            let values = self.like(array, extents);
            grid.outputs.push(Output::Join {
                shape: grid.shape.clone(),
            });
            grid.pattern.push(array);
            grid.made.push(values);
            grid.results.extend([first, Atom::Variable(values)]);
        }
    }

    /// What becomes of an output, which gives `own`, in a part with these first index and length.
    pub(super) fn divide_output(
        &mut self,
        (output, begin): (&mut Output, &Begin),
        own: Vec<Variable>,
        bounds: (Atom, Atom),
        grid: &mut Grid,
    ) {
        match (output, begin) {
            (Output::Map, _) => self.join_all(own, bounds, grid),
            (Output::Scan { start, .. }, Begin::Scan(begin)) => {
                self.continue_scan((start, begin), own, bounds, grid);
            }
            (Output::Filter { .. }, Begin::Filter(begin)) => {
                self.continue_filter(*begin, &own, grid);
            }
            (
                Output::Histogram {
                    lambda,
                    start,
                    bins,
                },
                Begin::Bins(total),
            ) => self.divide_histogram((lambda, start, *bins), *total, own, grid),
            (
                Output::Reduce {
                    lambda,
                    start,
                    commutes,
                },
                _,
            ) => {
                let neutral = neutral(lambda, start);
                grid.reductions.push(Output::Reduce {
                    lambda: fresh_lambda(self.program, lambda, &mut Substitution::default()),
                    start: std::mem::replace(start, neutral),
                    commutes: *commutes,
                });
                for result in own {
                    let scalar = self.program.ty(result).element();
                    let value = self.fresh("value", scalar);
                    let partial = self.like(result, vec![grid.count]);
                    grid.outputs.push(Output::Map);
                    grid.pattern.push(partial);
                    grid.partial.push(partial);
                    grid.made.push(value);
                    grid.results.push(Atom::Variable(value));
                    grid.reduced.push(result);
                }
            }
            // An operation with others is not divided.
            (
                Output::Scan { .. }
                | Output::Filter { .. }
                | Output::Scatter { .. }
                | Output::Histogram { .. }
                | Output::Collect { .. }
                | Output::Join { .. },
                _,
            ) => {}
        }
    }

    /// Writes an operation that runs only over the `length` indices from `first` on, of its first
    /// dimension.
    pub(super) fn restrict(
        &mut self,
        mut operation: ArrayOperation,
        first: Atom,
        length: Atom,
        pattern: Vec<Variable>,
    ) {
        let own = self.fresh("i", Scalar::I64);
        if let (Some(extent), Some(index)) =
            (operation.shape.first_mut(), operation.indices.first_mut())
        {
            *extent = length;
            let whole = std::mem::replace(index, own);
            operation.body.statements.insert(
                0,
                Statement {
                    pattern: vec![whole],
                    expression: Expression::Scalar {
                        operation: ScalarOperation::Add,
                        operand: Scalar::I64,
                        arguments: vec![first, Atom::Variable(own)],
                    },
                    place: self.place.clone(),
                },
            );
        }
        self.push(pattern, Expression::Operation(operation));
    }

    /// Reduces what the parts have given.
    pub(super) fn reduce_partial(&mut self, grid: Grid) {
        if grid.reductions.is_empty() {
            return;
        }
        let index = self.fresh("part", Scalar::I64);
        let (statements, results) = self.apart(|code| {
            let arrays = grid.partial.iter();
            let results: Vec<Atom> = arrays.map(|array| code.of_part(*array, index)).collect();
            results
        });
        let body = Body {
            statements,
            results,
        };
        let (pattern, outputs) = (grid.reduced, grid.reductions);
        self.operation(pattern, grid.count, index, Level::Sequential, body, outputs);
    }

    /// An operation over a space of one dimension.
    pub(super) fn operation(
        &mut self,
        pattern: Vec<Variable>,
        count: Atom,
        index: Variable,
        level: Level,
        body: Body,
        outputs: Vec<Output>,
    ) {
        self.push(
            pattern,
            Expression::Operation(ArrayOperation {
                shape: vec![count],
                indices: vec![index],
                level,
                carries: Vec::new(),
                body,
                outputs,
            }),
        );
    }
}
